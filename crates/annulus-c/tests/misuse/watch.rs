//! Newest values between processes, both sides of which are this one.

use std::ptr;

use annulus_c::annulus_status::ANNULUS_OK;
use annulus_c::*;

use super::Program;

/// Handles of newest values, some of which were freed.
pub(super) struct Watches {
    pub(super) senders: Vec<*mut annulus_watch_sender>,
    pub(super) readers: Vec<*mut annulus_watch_reader>,
    pub(super) changes: Vec<*mut annulus_watch_changes>,
    pub(super) invitations: Vec<*mut annulus_invitation>,
}

impl Watches {
    pub(super) fn new() -> Self {
        Self {
            senders: vec![ptr::null_mut()],
            readers: vec![ptr::null_mut()],
            changes: vec![ptr::null_mut()],
            invitations: vec![ptr::null_mut()],
        }
    }
}

impl Program {
    pub(super) fn watch(&mut self) {
        let options = self.shared_options();
        let options = if self.dice.below(20) == 0 { ptr::null() } else { &raw const options };
        let invitation = self.one_of(|program| &program.watches.invitations);
        let (mut sends, mut reads, mut follows) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut invites, error) = (ptr::null_mut(), ptr::null_mut());
        let (sender, reader) = self.watch_ends();
        let cell = self.dice.one_of(&[0, 1, 2, usize::MAX]);
        // SAFETY: handles that were made, or null; memory of that size, or null. One thread uses all of them.
        let status = unsafe {
            match self.dice.below(8) {
                0 => annulus_shared_watch_new(options, self.place(&mut sends), &raw mut invites, error),
                1 | 2 => annulus_invitation_watch(invitation, options, self.place(&mut reads), error),
                3 | 4 => annulus_watch_reader_changes(reader, cell, self.place(&mut follows)),
                5 if self.dice.below(4) == 0 => annulus_watch_sender_free(sender),
                6 if self.dice.below(4) == 0 => annulus_watch_reader_free(reader),
                7 if self.dice.below(4) == 0 => {
                    annulus_watch_changes_free(self.one_of(|program| &program.watches.changes))
                }
                _ => ANNULUS_OK,
            }
        };
        let made = [sends.is_null(), reads.is_null(), follows.is_null(), invites.is_null()];
        assert!(status == ANNULUS_OK || made == [true; 4]);
        self.watches.senders.extend((!sends.is_null()).then_some(sends));
        self.watches.readers.extend((!reads.is_null()).then_some(reads));
        self.watches.changes.extend((!follows.is_null()).then_some(follows));
        self.watches.invitations.extend((!invites.is_null()).then_some(invites));
        self.saw(status);
    }

    fn watch_ends(&mut self) -> (*mut annulus_watch_sender, *mut annulus_watch_reader) {
        let sender = self.one_of(|program| &program.watches.senders);
        (sender, self.one_of(|program| &program.watches.readers))
    }

    pub(super) fn newest_values(&mut self) {
        let ((sender, reader), changes) =
            (self.watch_ends(), self.one_of(|program| &program.watches.changes));
        let (value, size) = (self.message(), self.dice.one_of(&[8, 8, 8, 8, 24, 0, 4097]));
        let cell = self.dice.one_of(&[0, 0, 0, 1, 2, usize::MAX]);
        let key = self.dice.one_of(&[
            c"one".as_ptr(),
            c"two".as_ptr(),
            c"\xff".as_ptr(),
            c"".as_ptr(),
            ptr::null(),
        ]);
        let (mut text, mut found, mut fd, mut ready) = ([0; ANNULUS_WATCH_KEY_SIZE], 0, 0, false);
        let mut peer = annulus_peer::ANNULUS_PEER_NONE;
        let timeout = self.dice.below(2) as u64;
        // SAFETY: as above.
        let status = unsafe {
            match self.dice.below(14) {
                0..=2 => annulus_watch_sender_send(sender, cell, value, size),
                3 => annulus_watch_sender_get(sender, cell, value, size),
                4 => annulus_watch_sender_cell(sender, key, self.place(&mut found)),
                5 | 6 => annulus_watch_reader_get(reader, cell, value, size),
                7 => annulus_watch_reader_cell(reader, key, self.place(&mut found)),
                8 => {
                    let text = if self.dice.below(20) == 0 { ptr::null_mut() } else { text.as_mut_ptr() };
                    annulus_watch_reader_key(reader, cell, text)
                }
                9 => annulus_watch_reader_peer(reader, self.place(&mut peer)),
                10 | 11 => annulus_watch_changes_recv(changes, timeout, value, size, self.place(&mut found)),
                12 => {
                    _ = (annulus_watch_sender_cells(sender), annulus_watch_reader_cells(reader));
                    _ = annulus_watch_changes_corrupt(changes);
                    annulus_watch_changes_fd(changes, self.place(&mut fd))
                }
                _ => annulus_watch_changes_arm(changes, self.place(&mut ready)),
            }
        };
        self.saw(status);
    }
}
