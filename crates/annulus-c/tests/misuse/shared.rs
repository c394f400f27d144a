//! Rings between processes, both sides of which are this one.

use std::ptr;

use annulus_c::annulus_status::ANNULUS_OK;
use annulus_c::*;

use super::Program;

impl Program {
    /// Options, of which each is now and then one that can't be.
    pub(super) fn shared_options(&mut self) -> annulus_shared_options {
        let (bad, described) = (self.dice.below(20), self.dice.below(4));
        let message_size =
            if bad == 2 { self.dice.one_of(&[0, 5000]) } else { self.dice.one_of(&[8, 8, 24]) };
        annulus_shared_options {
            size: if bad == 0 { 1 } else { size_of::<annulus_shared_options>() },
            capacity: if bad == 1 { 0 } else { 2 + self.dice.below(7) },
            message_size,
            message_alignment: if bad == 3 { self.dice.one_of(&[0, 3, 8192]) } else { 8 },
            schema: match (bad, described, message_size) {
                (5, ..) => c"u65".as_ptr(),
                (_, 0, _) => ptr::null(),
                (_, _, 24) => c"[u64;3]".as_ptr(),
                (_, 1 | 2, _) => c"[enum u8{none_of_these=2};8]".as_ptr(),
                _ => c"u64".as_ptr(),
            },
            wait: annulus_wait::default(),
            places: self.dice.below(3) as u32,
            flags: if bad == 4 { 32 } else { self.dice.below(32) as u32 },
            receivers: self.dice.below(3) as u32,
            deadline_ns: self.dice.one_of(&[0, 0, 1, u64::MAX]),
            // Names that are none: nothing is left behind.
            numbering: if bad == 6 { self.dice.one_of(&[c"".as_ptr(), c"/".as_ptr()]) } else { ptr::null() },
            numbering_directory: concat!(env!("CARGO_TARGET_TMPDIR"), "/annulus-c-names\0").as_ptr().cast(),
        }
    }

    pub(super) fn shared(&mut self) {
        let options = self.shared_options();
        let options = if self.dice.below(20) == 0 { ptr::null() } else { &raw const options };
        let invitation = self.one_of(|program| &program.invitations);
        let (producer, consumer) = (self.producer(), self.consumer());
        let subscriber = self.one_of(|program| &program.subscribers);
        let (mut sends, mut takes, mut publishes) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut makes, mut invites) = (ptr::null_mut(), ptr::null_mut());
        let mut peer = annulus_peer::ANNULUS_PEER_NONE;
        // SAFETY: all zero is such a struct.
        let mut error = unsafe { std::mem::zeroed::<annulus_shared_error>() };
        error.size = if self.dice.below(20) == 0 { 1 } else { size_of::<annulus_shared_error>() };
        let error = self.place(&mut error);
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(14) {
                0 => annulus_shared_producer_new(options, self.place(&mut sends), &raw mut invites, error),
                1 => annulus_shared_consumer_new(options, self.place(&mut takes), &raw mut invites, error),
                2 => {
                    let kind = 10 + self.dice.below(6) as u32;
                    let places = (self.place(&mut publishes), &raw mut invites);
                    annulus_shared_publisher_new(kind, options, places.0, places.1, error)
                }
                3 => annulus_invitation_producer(invitation, options, self.place(&mut sends), error),
                4 | 5 => annulus_invitation_consumer(invitation, options, self.place(&mut takes), error),
                6 => annulus_invitation_publisher(invitation, options, self.place(&mut publishes), error),
                7 | 8 => annulus_invitation_subscribable(invitation, options, self.place(&mut makes), error),
                9 => annulus_producer_peer(producer, self.place(&mut peer)),
                10 => annulus_consumer_peer(consumer, self.place(&mut peer)),
                11 => {
                    _ = (annulus_subscriber_deadline(subscriber), annulus_subscriber_overdue(subscriber));
                    _ = annulus_subscriber_cursor(subscriber);
                    annulus_subscriber_peer(subscriber, self.place(&mut peer))
                }
                12 => {
                    let name = self.dice.one_of(&[c"none".as_ptr(), c"/".as_ptr(), ptr::null()]);
                    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/annulus-c-names\0").as_ptr().cast();
                    annulus_invitation_find(folder, name, 0, &raw mut invites, error)
                }
                _ => annulus_invitation_free(invitation),
            }
        };
        let made =
            [sends.is_null(), takes.is_null(), publishes.is_null(), makes.is_null(), invites.is_null()];
        assert!(status == ANNULUS_OK || made == [true; 5]);
        self.producers.extend((!sends.is_null()).then_some(sends));
        self.consumers.extend((!takes.is_null()).then_some(takes));
        self.publishers.extend((!publishes.is_null()).then_some(publishes));
        self.subscribables.extend((!makes.is_null()).then_some(makes));
        self.invitations.extend((!invites.is_null()).then_some(invites));
        self.saw(status);
    }
}
