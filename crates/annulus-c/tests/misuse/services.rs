//! Services, both sides of which are this process: handles that were freed, of other types, null, and wrong
//! sizes.

use std::ffi::c_void;
use std::ptr;

use annulus_c::annulus_status::{ANNULUS_OK, ANNULUS_PANICKED};
use annulus_c::*;

use super::{Dice, STATUSES};

/// Handles, of which some were freed. The first of each is null.
struct Services {
    dice: Dice,
    servers: Vec<*mut annulus_server>,
    clients: Vec<*mut annulus_client>,
    requests: Vec<*mut annulus_request>,
    pending: Vec<*mut annulus_pending_answer>,
    invitations: Vec<*mut annulus_invitation>,
    bytes: [u8; 64],
    found: [u32; STATUSES],
}

impl Services {
    /// One of them, mostly a late one; now and then one of another type.
    fn one_of<H>(dice: &mut Dice, handles: &[*mut H], other: *mut c_void) -> *mut H {
        match dice.below(20) {
            0 => other.cast(),
            1..=3 => handles[dice.below(handles.len())],
            _ => handles[handles.len() - 1 - dice.below(handles.len().min(4))],
        }
    }

    fn options(&mut self) -> annulus_shared_options {
        let (bad, has_schema) = (self.dice.below(24), self.dice.below(2) == 0);
        let message_size = if bad == 0 { self.dice.one_of(&[0, 5000, 4]) } else { 8 };
        annulus_shared_options {
            size: if bad == 1 { 1 } else { size_of::<annulus_shared_options>() },
            capacity: if bad == 2 { 0 } else { 1 + self.dice.below(3) },
            message_size,
            message_alignment: if bad == 3 { 3 } else { 1 },
            schema: match (bad, has_schema) {
                (4, _) => c"u65".as_ptr(),
                (5, _) => c"i64".as_ptr(),
                (_, true) if message_size == 8 => c"u64".as_ptr(),
                _ => ptr::null(),
            },
            wait: annulus_wait::default(),
            places: 1 + self.dice.below(2) as u32,
            flags: if bad == 6 { 64 } else { 0 },
            receivers: 0,
            deadline_ns: u64::from(bad == 7),
            numbering: ptr::null(),
            numbering_directory: ptr::null(),
        }
    }

    fn step(&mut self) {
        let (questions, answers) = (self.options(), self.options());
        let (questions, answers) = (&raw const questions, &raw const answers);
        let other = self.clients[0].cast::<c_void>();
        let other = if self.dice.below(2) == 0 { other } else { self.servers[self.servers.len() - 1].cast() };
        let server = Self::one_of(&mut self.dice, &self.servers, other);
        let client = Self::one_of(&mut self.dice, &self.clients, other);
        let request = Self::one_of(&mut self.dice, &self.requests, other);
        let pending = Self::one_of(&mut self.dice, &self.pending, other);
        let invitation = Self::one_of(&mut self.dice, &self.invitations, other);
        let size = self.dice.one_of(&[8, 8, 8, 8, 0, 7, 4097]);
        let bytes: *mut c_void =
            if self.dice.below(20) == 0 { ptr::null_mut() } else { self.bytes.as_mut_ptr().cast() };
        let timeout = self.dice.below(2) as u64;
        let (mut serves, mut asks, mut invites) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut asked, mut waits) = (ptr::null_mut(), ptr::null_mut());
        let (mut fd, mut ready, mut peer) = (0, false, annulus_peer::ANNULUS_PEER_NONE);
        // SAFETY: handles that were made, or null; memory of that size (8 of 64 bytes), or null; a larger
        // size is refused before. One thread uses all of them.
        let status = unsafe {
            match self.dice.below(40) {
                0 => {
                    let places = (&raw mut serves, &raw mut invites);
                    annulus_shared_service_new(questions, answers, places.0, places.1, ptr::null_mut())
                }
                1 | 2 => {
                    let place = &raw mut asks;
                    annulus_invitation_client(invitation, questions, answers, place, ptr::null_mut())
                }
                3..=9 => annulus_server_recv(server, bytes, size, timeout, &raw mut asked),
                10..=17 => annulus_client_ask(client, bytes, size, &raw mut waits),
                18..=22 => annulus_request_answer(request, bytes, size),
                23..=29 => annulus_pending_answer_recv(pending, bytes, size, timeout),
                30 => annulus_server_fd(server, &raw mut fd),
                31 => annulus_server_arm(server, &raw mut ready),
                32 => annulus_pending_answer_fd(pending, &raw mut fd),
                33 => annulus_pending_answer_arm(pending, &raw mut ready),
                34 => annulus_client_peer(client, &raw mut peer),
                35 => {
                    _ = (annulus_server_clients(server), annulus_client_open(client));
                    _ = annulus_request_client_is_there(request);
                    annulus_server_recv(server, bytes, size, 0, ptr::null_mut())
                }
                36 => annulus_request_free(request),
                37 => annulus_pending_answer_free(pending),
                38 if self.dice.below(4) == 0 => annulus_client_free(client),
                39 if self.dice.below(8) == 0 => annulus_server_free(server),
                39 if self.dice.below(8) == 0 => annulus_server_close(server),
                _ => ANNULUS_OK,
            }
        };
        assert_ne!(status, ANNULUS_PANICKED);
        assert!(status == ANNULUS_OK || serves.is_null() && asks.is_null() && invites.is_null());
        assert!(status == ANNULUS_OK || asked.is_null() && waits.is_null());
        self.found[status as usize] += 1;
        self.servers.extend((!serves.is_null()).then_some(serves));
        self.clients.extend((!asks.is_null()).then_some(asks));
        self.invitations.extend((!invites.is_null()).then_some(invites));
        self.requests.extend((!asked.is_null()).then_some(asked));
        self.pending.extend((!waits.is_null()).then_some(waits));
    }

    /// Frees each; those that were freed say so.
    fn end(self) {
        // SAFETY: handles that were made, or null.
        unsafe {
            self.requests.iter().for_each(|&handle| _ = annulus_request_free(handle));
            self.pending.iter().for_each(|&handle| _ = annulus_pending_answer_free(handle));
            self.clients.iter().for_each(|&handle| _ = annulus_client_free(handle));
            self.servers.iter().for_each(|&handle| _ = annulus_server_free(handle));
            self.invitations.iter().for_each(|&handle| _ = annulus_invitation_free(handle));
        }
    }
}

#[test]
fn services_refuse_what_cannot_be() {
    let mut services = Services {
        dice: Dice(0x5EED),
        servers: vec![ptr::null_mut()],
        clients: vec![ptr::null_mut()],
        requests: vec![ptr::null_mut()],
        pending: vec![ptr::null_mut()],
        invitations: vec![ptr::null_mut()],
        bytes: [1; 64],
        found: [0; STATUSES],
    };
    for _ in 0..20_000 {
        services.step();
    }
    // OK, empty, full, timeout, closed, invalid, wrong size, no handle, mismatch, occupied, refused.
    for status in [0, 1, 2, 3, 4, 5, 6, 7, 15, 16, 21] {
        assert!(services.found[status] > 0, "{status} in {:?}", services.found);
    }
    services.end();
}
