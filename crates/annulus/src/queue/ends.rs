//! The two ends of a lane, or of several: what a producer and a consumer of any kind can do.

use super::roster::Round;
use super::state::QueueState;
use crate::error::Refusal;
use crate::wait::{Deadline, Event, WaitStrategy};

/// A producer's end. `put` and its like never wait.
pub(crate) trait Write<T> {
    /// What the queue state has for lanes.
    type Lane;

    fn state(&self) -> &QueueState<Self::Lane>;

    /// Sends `value` if there is nothing else to do; gives it back otherwise, not sent, for the caller to take the long way: by
    /// [`has_free_slot`](Self::has_free_slot) and [`put`](Self::put), [`outlined`](super::outlined::outlined).
    fn put_plainly(&mut self, value: T) -> Result<(), T>;

    /// Whether a slot is free. If so, nobody else takes it.
    fn has_free_slot(&mut self) -> bool;

    /// Sends `value`, or gives it back where the queue was closed before.
    ///
    /// # Safety
    ///
    /// The last call of this end was [`has_free_slot`](Self::has_free_slot), which said so, or a [`wait`](Self::wait) that succeeded.
    unsafe fn put(&mut self, value: T) -> Result<(), T>;

    /// Sends as many of `values` as there are free slots, from the first on; none where the queue is closed.
    fn put_some(&mut self, values: &[T]) -> usize
    where
        T: Copy;

    /// Waits for a free slot.
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal>;

    /// How many messages lie in its lane.
    fn len(&self) -> usize;
}

/// A consumer's end.
pub(crate) trait Read<T> {
    /// What the queue state has for lanes.
    type Lane;

    fn state(&self) -> &QueueState<Self::Lane>;

    /// Where to wait for a message.
    fn event(&self) -> &Event;

    /// The caller looks for the next message again and again, and wants it as soon as it is there: its line may come beside the look, not after
    /// it, and the look is not followed by a rest.
    fn expect(&mut self) {}

    /// The caller has looked for the next message in vain, and goes on to do so.
    fn ask(&mut self) {}

    /// Takes the next message, if it takes no more than that; where it does not, the caller takes the long way: by [`try_take`](Self::try_take),
    /// [`outlined`](super::outlined::outlined).
    fn take_plainly(&mut self) -> Option<T>;

    /// Takes the next message, if there is one.
    fn try_take(&mut self) -> Option<T>;

    /// Hands up to `most` messages of one lane to `each`, as [`try_take`](Self::try_take) would take them, and says how many that were; 0
    /// means that nothing was there. If `each` panics, the messages it got count as taken, and the others stay.
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize;

    /// As [`take_some`](Self::take_some), but from the lane that is the next to take from, and from no other.
    #[inline]
    fn take_here(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        self.take_some(most, each)
    }

    /// As [`take_some`](Self::take_some), but from one lane after the other, until there are `most` or nothing is left.
    #[inline]
    fn take_up_to(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        take_up_to(most, |left| self.take_some(left, &mut each))
    }

    /// Moves messages into `buffer`, from the first on, and returns how many; what was there before is dropped.
    fn take_into(&mut self, buffer: &mut [T]) -> usize;

    /// Begins to visit every lane once.
    fn begin_round(&mut self) -> Round;

    /// Makes the next lane of `round` the next to take from; false where there is no other.
    fn next_in_round(&mut self, round: &mut Round) -> bool;

    /// How many messages lie in the lane that is the next to take from.
    fn here(&mut self) -> usize;

    /// Once the queue is closed: whether nothing is left nor will come, for good. After a first false something may be there.
    fn settle(&mut self) -> bool;

    /// How many messages lie in all its lanes.
    fn len(&self) -> usize;
}

/// Calls `take` with how many messages are left of `count`, until it has taken them all, or none.
#[inline]
pub(super) fn take_up_to(count: usize, mut take: impl FnMut(usize) -> usize) -> usize {
    let mut left = count;
    while left > 0 {
        match take(left) {
            0 => break,
            taken => left -= taken,
        }
    }
    count - left
}
