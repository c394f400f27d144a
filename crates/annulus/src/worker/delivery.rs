//! [`Delivery`]: what a handler is told of a message, and [`HandlerInfo`]: that, or less.

use crate::receive::Numbered;

/// What a handler gets with each message, from [`spawn_numbered`](super::Builder::spawn_numbered) and
/// [`spawn_ref_numbered`](super::Builder::spawn_ref_numbered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Delivery {
    /// The number of the message in its ring. They are numbered from 0, so all subscribers of a ring have the
    /// same number for the same message. After a lag it is larger by what was lost.
    pub sequence: u64,
    /// Whether the message is the last one of its [batch](super#batches).
    pub end_of_batch: bool,
}

/// What a handler is told of a message from a `R`.
pub(super) trait HandlerInfo<R> {
    /// Of the message that `receiver` has received last.
    fn of_last(receiver: &R, end_of_batch: bool) -> Self;

    /// Of the message with this number.
    fn of(sequence: u64, end_of_batch: bool) -> Self;
}

/// The end of the batch only.
impl<R> HandlerInfo<R> for bool {
    #[inline(always)]
    fn of_last(_: &R, end_of_batch: bool) -> Self {
        end_of_batch
    }

    #[inline(always)]
    fn of(_: u64, end_of_batch: bool) -> Self {
        end_of_batch
    }
}

impl<R: Numbered> HandlerInfo<R> for Delivery {
    #[inline(always)]
    fn of_last(receiver: &R, end_of_batch: bool) -> Self {
        HandlerInfo::<R>::of(receiver.next_sequence() - 1, end_of_batch)
    }

    #[inline(always)]
    fn of(sequence: u64, end_of_batch: bool) -> Self {
        Self { sequence, end_of_batch }
    }
}
