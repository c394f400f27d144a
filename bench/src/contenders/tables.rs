//! The newest value between processes: one writes it, and another one reads it.
//!
//! It is words that all have one value: a reader looks at every one.

use std::os::unix::net::UnixStream;

use annulus::shm::{Invitation, Shared, watch};

use super::between::{THERE, receive};

pub trait Table<const WORDS: usize> {
    type Writer: Writes;
    type Reader: Reads<WORDS>;
    /// What the reader needs.
    type Offer;
    fn make() -> (Self::Writer, Self::Offer);
    fn offer(offer: &Self::Offer, socket: &UnixStream);
    /// In the process to which it was offered.
    fn join(socket: &UnixStream) -> Self::Reader;
}

pub trait Writes {
    /// Replaces it by words of this value.
    fn put(&mut self, value: u64);
}

pub trait Reads<const WORDS: usize> {
    /// A copy of it.
    fn get(&self) -> [u64; WORDS];
}

/// Ours.
pub enum Watch {}

impl<const WORDS: usize> Table<WORDS> for Watch {
    type Writer = watch::Sender<[u64; WORDS]>;
    type Reader = watch::Receiver<[u64; WORDS]>;
    type Offer = Invitation;

    fn make() -> (Self::Writer, Invitation) {
        let made = watch::sender([0; WORDS]);
        let Shared { handle: sender, invitation, .. } = made.expect("such a table can be made");
        (sender, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::Reader {
        receive(socket).accept_watch().expect("it is such a table").receiver()
    }
}

impl<const WORDS: usize> Writes for watch::Sender<[u64; WORDS]> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        self.send([value; WORDS]).expect("nobody has closed it");
    }
}

impl<const WORDS: usize> Reads<WORDS> for watch::Receiver<[u64; WORDS]> {
    #[inline(always)]
    fn get(&self) -> [u64; WORDS] {
        watch::Receiver::get(self).expect("no writer is so much faster")
    }
}
