//! Queues that several consumers share, all sides of which are this process: handles that were freed, of
//! other types, null, and wrong sizes.

use std::ffi::c_void;
use std::ptr;

use annulus_c::annulus_status::{ANNULUS_OK, ANNULUS_PANICKED};
use annulus_c::*;

use super::{Dice, STATUSES};

/// Handles, of which some were freed. The first of each is null.
struct Sides {
    dice: Dice,
    queues: Vec<*mut annulus_shared_queue>,
    producers: Vec<*mut annulus_producer>,
    consumers: Vec<*mut annulus_consumer>,
    claimed: Vec<*mut annulus_claimed>,
    invitations: Vec<*mut annulus_invitation>,
    bytes: [u8; 64],
    found: [u32; STATUSES],
}

impl Sides {
    /// One of them, mostly a late one; now and then one of another type.
    fn one_of<H>(dice: &mut Dice, handles: &[*mut H], other: *mut c_void) -> *mut H {
        match dice.below(20) {
            0 => other.cast(),
            1..=3 => handles[dice.below(handles.len())],
            _ => handles[handles.len() - 1 - dice.below(handles.len().min(4))],
        }
    }

    fn options(&mut self) -> annulus_shared_options {
        let bad = self.dice.below(24);
        let message_size = if bad == 0 { self.dice.one_of(&[0, 5000, 4]) } else { 8 };
        annulus_shared_options {
            size: if bad == 1 { 1 } else { size_of::<annulus_shared_options>() },
            capacity: if bad == 2 { 0 } else { 1 + self.dice.below(3) },
            message_size,
            message_alignment: if bad == 3 { 3 } else { 1 },
            schema: match (bad, self.dice.below(3)) {
                (4, _) => c"u65".as_ptr(),
                (5, _) => c"i64".as_ptr(),
                (_, 0) if message_size == 8 => c"[bool;8]".as_ptr(),
                _ => ptr::null(),
            },
            wait: annulus_wait::default(),
            places: 1 + self.dice.below(2) as u32,
            flags: if bad == 6 { 64 } else { self.dice.below(32) as u32 },
            receivers: if bad == 7 { 1025 } else { 1 + self.dice.below(2) as u32 },
            deadline_ns: u64::from(bad == 8),
            numbering: if bad == 9 { c"numbers".as_ptr() } else { ptr::null() },
            numbering_directory: ptr::null(),
        }
    }

    fn step(&mut self) {
        let options = self.options();
        let options = if self.dice.below(40) == 0 { ptr::null() } else { &raw const options };
        let other = self.queues[self.queues.len() - 1].cast::<c_void>();
        let other = if self.dice.below(2) == 0 { ptr::null_mut() } else { other };
        let queue = Self::one_of(&mut self.dice, &self.queues, other);
        let producer = Self::one_of(&mut self.dice, &self.producers, other);
        let consumer = Self::one_of(&mut self.dice, &self.consumers, other);
        let claimed = Self::one_of(&mut self.dice, &self.claimed, other);
        let invitation = Self::one_of(&mut self.dice, &self.invitations, other);
        let size = self.dice.one_of(&[8, 8, 8, 8, 0, 7, 4097]);
        self.bytes[0] = self.dice.below(3) as u8;
        let bytes: *mut c_void =
            if self.dice.below(20) == 0 { ptr::null_mut() } else { self.bytes.as_mut_ptr().cast() };
        let timeout = self.dice.below(2) as u64;
        let (mut made, mut sends, mut takes) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut invites, mut claims, error) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut count, mut fd, mut ready) = (0, 0, false);
        let (mut at, mut end) = (ptr::null_mut(), ptr::null_mut());
        let (mut peer, mut stats) = (annulus_peer::ANNULUS_PEER_NONE, annulus_stats::default());
        // SAFETY: handles that were made, or null; memory of that size (8 of 64 bytes), or null; a larger
        // size is refused before. One thread uses all of them.
        let status = unsafe {
            match self.dice.below(40) {
                0 => annulus_shared_queue_new(options, &raw mut made, &raw mut invites, error),
                1 => annulus_invitation_queue(invitation, options, &raw mut made, error),
                2 | 3 => annulus_invitation_producer(invitation, options, &raw mut sends, error),
                4 | 5 => annulus_invitation_consumer(invitation, options, &raw mut takes, error),
                6..=13 => annulus_producer_send_timeout(producer, bytes, size, timeout),
                14..=16 => annulus_consumer_recv_timeout(consumer, bytes, size, timeout),
                17..=22 => annulus_consumer_claim(consumer, bytes, size, timeout, &raw mut claims),
                23 => annulus_consumer_claim(consumer, bytes, size, timeout, ptr::null_mut()),
                24..=26 => annulus_claimed_done(claimed),
                27 | 28 => annulus_claimed_free(claimed),
                29 => {
                    _ = (annulus_shared_queue_len(queue), annulus_shared_queue_producers(queue));
                    _ = (annulus_shared_queue_consumers(queue), annulus_shared_queue_given_again(queue));
                    _ = (annulus_shared_queue_dropped(queue), annulus_shared_queue_is_closed(queue));
                    _ = (annulus_claimed_given_before(claimed), annulus_consumer_corrupt(consumer));
                    _ = (annulus_producer_len(producer), annulus_consumer_len(consumer));
                    ANNULUS_OK
                }
                30 => annulus_producer_reserve(producer, 1, timeout, &raw mut at, &raw mut count),
                31 => annulus_consumer_clone(consumer, &raw mut end),
                32 => annulus_consumer_stats(consumer, &raw mut stats),
                33 => annulus_producer_peer(producer, &raw mut peer),
                34 => annulus_consumer_fd(consumer, &raw mut fd),
                35 => annulus_consumer_arm(consumer, &raw mut ready),
                36 if self.dice.below(4) == 0 => annulus_shared_queue_close(queue),
                37 if self.dice.below(4) == 0 => annulus_shared_queue_free(queue),
                38 if self.dice.below(2) == 0 => annulus_producer_free(producer),
                39 if self.dice.below(2) == 0 => annulus_consumer_free(consumer),
                _ => ANNULUS_OK,
            }
        };
        assert_ne!(status, ANNULUS_PANICKED);
        let is_none = made.is_null() && sends.is_null() && takes.is_null() && invites.is_null();
        assert!(status == ANNULUS_OK || is_none && claims.is_null());
        assert!(end.is_null(), "a consumer of another process has no clones");
        self.found[status as usize] += 1;
        self.queues.extend((!made.is_null()).then_some(made));
        self.producers.extend((!sends.is_null()).then_some(sends));
        self.consumers.extend((!takes.is_null()).then_some(takes));
        self.invitations.extend((!invites.is_null()).then_some(invites));
        self.claimed.extend((!claims.is_null()).then_some(claims));
    }

    /// Frees each; those that were freed say so.
    fn end(self) {
        // SAFETY: handles that were made, or null.
        unsafe {
            self.claimed.iter().for_each(|&handle| _ = annulus_claimed_free(handle));
            self.producers.iter().for_each(|&handle| _ = annulus_producer_free(handle));
            self.consumers.iter().for_each(|&handle| _ = annulus_consumer_free(handle));
            self.queues.iter().for_each(|&handle| _ = annulus_shared_queue_free(handle));
            self.invitations.iter().for_each(|&handle| _ = annulus_invitation_free(handle));
        }
    }
}

#[test]
fn shared_queues_refuse_what_cannot_be() {
    let mut queues = Sides {
        dice: Dice(0x5EED),
        queues: vec![ptr::null_mut()],
        producers: vec![ptr::null_mut()],
        consumers: vec![ptr::null_mut()],
        claimed: vec![ptr::null_mut()],
        invitations: vec![ptr::null_mut()],
        bytes: [1; 64],
        found: [0; STATUSES],
    };
    for _ in 0..20_000 {
        queues.step();
    }
    // OK, empty, full, timeout, closed, invalid, wrong size, no handle, unsupported, mismatch, occupied,
    // corrupt.
    for status in [0, 1, 3, 4, 5, 6, 7, 8, 15, 16] {
        assert!(queues.found[status] > 0, "{status} in {:?}", queues.found);
    }
    let corrupt = annulus_status::ANNULUS_CORRUPT as usize;
    assert!(queues.found[corrupt] > 0, "{:?}", queues.found);
    queues.end();
}
