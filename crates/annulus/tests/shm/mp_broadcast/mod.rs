//! Rings that several processes publish to.
//!
//! ```text
//! by_hand.rs      publishers that follow the page of the format step by step, and die or stop at each
//! one_process.rs  publishers that join, leave and close; the places
//! processes.rs    publishers that are killed and stopped; child.rs is one
//! names.rs        rings by name
//! observer.rs     what somebody sees who only looks
//! hostile.rs      memory in which another process writes what it likes
//! lossless.rs     lossless rings: room, seats, publishers that stop or die at each step
//! lossless_processes.rs  their publishers and subscribers, killed and stopped at random moments
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

pub(crate) mod by_hand;
mod child;
mod hostile;
mod lossless;
mod lossless_processes;
mod names;
mod observer;
mod one_process;
mod processes;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use annulus::Message;
use annulus::Settings as Ring;
use annulus::shm::mp_broadcast::{self, Builder, Publisher};
use annulus::shm::{Invitation, recv_fd};
use bytemuck::Pod;

/// Its publisher and its number, and what follows from these.
pub(crate) type Payload = [u64; 5];

pub(crate) fn payload(sender: u64, number: u64) -> Payload {
    [sender, number, !number, number.rotate_left(32) ^ sender, number.wrapping_mul(3)]
}

/// It is whole.
pub(crate) fn check(message: &Payload) {
    assert_eq!(*message, payload(message[0], message[1]), "torn");
}

pub(crate) fn ring(capacity: usize, places: usize) -> Builder {
    Builder::new(Ring::new(capacity)).publishers(places)
}

pub(crate) fn joined<T: Message + Pod>(invitation: &Invitation) -> Publisher<T> {
    mp_broadcast::publisher(invitation).unwrap()
}

/// The memory of a ring, by the offsets of the page.
pub(crate) struct Memory(pub(crate) File);

impl Memory {
    pub(crate) fn of(invitation: &Invitation) -> Self {
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let ring = recv_fd(&there).unwrap();
        let _ = recv_fd(&there).unwrap();
        Self(ring.into())
    }

    /// The sleepers' page of it.
    pub(crate) fn page_of(invitation: &Invitation) -> Self {
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let _ = recv_fd(&there).unwrap();
        Self(recv_fd(&there).unwrap().into())
    }

    pub(crate) fn word(&self, at: u64) -> u64 {
        let mut word = [0; 8];
        self.0.read_exact_at(&mut word, at).unwrap();
        u64::from_ne_bytes(word)
    }

    pub(crate) fn put(&self, at: u64, word: u64) {
        self.0.write_all_at(&word.to_ne_bytes(), at).unwrap();
    }

    /// The slot of a message.
    pub(crate) fn slot(&self, message: u64) -> u64 {
        self.word(40) + message % self.word(56) * self.word(48)
    }

    /// What the intent of a place says: its first message, and how many.
    pub(crate) fn intent(&self, place: u64) -> (u64, u64) {
        let intent = self.word(512 + 384 * place);
        (intent >> 7, intent & 127)
    }

    pub(crate) fn put_intent(&self, place: u64, (first, count): (u64, u64)) {
        self.put(512 + 384 * place, first << 7 | count);
    }

    /// The first message that was claimed from this place, and is not there.
    pub(crate) fn open_claim_of(&self, place: u64) -> Option<u64> {
        let (first, count) = self.intent(place);
        let end = (first + count).min(self.word(128));
        (first..end).find(|&message| self.word(self.slot(message)) < 2 * message + 2)
    }
}
