//! [`Miss`]: why a subscriber has no next message.

use core::convert::Infallible;
use core::mem::MaybeUninit;

use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::message::Message;
use crate::ring::{Copied, Kept, Missing, Whole};
use crate::sync::mutated;

/// The largest message that a poll moves once more, in bytes: the next poll finds a larger one sooner.
const MOVED_BYTES: usize = 64;

/// Why there is no next message.
pub(super) enum Miss<C> {
    Empty,
    Lapped,
    Closed,
    /// Another process has written what is no message.
    Corrupt(C),
}

impl Miss<Infallible> {
    /// The same where something may be corrupt.
    #[inline(always)]
    pub(super) fn or_corrupt<C>(self) -> Miss<C> {
        match self {
            Self::Empty => Miss::Empty,
            Self::Lapped => Miss::Lapped,
            Self::Closed => Miss::Closed,
        }
    }
}

impl<C> From<Missing> for Miss<C> {
    #[inline(always)]
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::NotYet => Self::Empty,
            Missing::Overwritten => Self::Lapped,
        }
    }
}

/// What an empty slot means once [`may_be_closed`](RingState::may_be_closed) was true; or the message, if it
/// came meanwhile, and may be looked at.
// By value: a message whose address goes to a function would live in memory in each poll.
#[cold]
#[inline(never)]
pub(super) fn why_nothing<T: Message>(
    shared: &RingState<Copied<T>>,
    cursor: Sequence,
    admitted: bool,
) -> Result<Kept<T>, Miss<Infallible>> {
    if shared.is_drained_here(cursor) {
        return Err(Miss::Closed);
    }
    if shared.ring.never_comes(cursor) {
        return Err(Miss::Lapped);
    }
    // Decision 0133: what came while this asked is found by the same poll.
    // Mutants: `> with ==`, `> with >=`: it moves a large one, too.
    if !admitted || size_of::<T::Wire>() > MOVED_BYTES || mutated!("poll_looks_once") {
        return Err(Miss::Empty);
    }
    let mut message = MaybeUninit::uninit();
    shared.ring.read(cursor, &mut message).map(Whole::keep).map_err(|(missing, _)| missing.into())
}
