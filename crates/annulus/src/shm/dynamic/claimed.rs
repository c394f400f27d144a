//! [`Claimed`]: a message that a [`Receiver`](super::Receiver) has claimed.

use core::fmt;
use std::boxed::Box;

use super::ends::DynClaim;

/// A message that a consumer has claimed: no other one has it. See
/// [`mpmc::Claimed`](crate::shm::mpmc::Claimed).
///
/// Dropped without [`done`](Self::done), it is given again. It may be done by another thread.
#[must_use = "its drop gives the message back"]
pub struct Claimed {
    pub(super) end: Box<dyn DynClaim>,
    pub(super) bytes: usize,
}

impl Claimed {
    /// The message.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.end.bytes()[..self.bytes]
    }

    /// The message is received: it is never given again, and there is room for another one.
    pub fn done(self) {
        self.end.done();
    }

    /// How often the message was given before, 15 at most: to consumers that died with it, or gave it back.
    #[must_use]
    pub fn given_before(&self) -> u64 {
        self.end.given_before()
    }

    /// The place of its producer, which no two producers have at one time.
    #[must_use]
    pub fn producer(&self) -> usize {
        self.end.producer()
    }
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("message", &self.message())
            .field("given_before", &self.given_before())
            .finish_non_exhaustive()
    }
}
