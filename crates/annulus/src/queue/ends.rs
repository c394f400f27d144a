//! The two ends of one lane or of several: what a producer and a consumer of any kind can do. And
//! [`outlined`]: how a handle stays in registers although some of its functions are not inlined.
//!
//! *Is a message there?* Each question has one name, in all ends:
//!
//! | name | what it does |
//! | --- | --- |
//! | `cached_len` | how many messages the end knows of; loads nothing (`cached_free`: how many free slots) |
//! | `refresh…` | lane.take5: loads the tail, so that the end knows of more (lane.send1: loads the head) |
//! | `lane_len` | how many messages lie in the lane, up to a number: refreshes, if it knows of fewer |
//! | `has_message` | whether a message is there: first by `cached_len`, then by a refresh or a search |
//! | `has_certain_message` | the same, but false if another consumer may take the message first |
//! | `is_plainly_empty` | whether the plain path can tell that nothing is there |
//! | `before_spin` | asks nothing: it prefetches what the next refresh will need |

use core::mem::ManuallyDrop;
use core::ptr;

use super::lane_node::{LaneNode, QueueLane};
use super::roster::Round;
use super::state::{QueueState, state_of};
use crate::error::Refusal;
use crate::sync::AtomicU64;
use crate::wait::{Deadline, WaitStrategy};

/// The end of a producer. Only [`wait`](Self::wait) waits.
pub(crate) trait Write<T> {
    /// What the queue state has for lanes.
    type Lane: QueueLane;

    /// Its lane.
    fn node(&self) -> &LaneNode<Self::Lane>;

    #[inline(always)]
    fn state(&self) -> &QueueState<Self::Lane> {
        state_of(self.node())
    }

    /// Sends `value` on the plain path, if that will do. Otherwise it gives the value back, and the caller
    /// takes the slow path: [`has_free_slot`](Self::has_free_slot) and [`send`](Self::send),
    /// [`outlined`].
    fn send_plainly(&mut self, value: T) -> Result<(), T>;

    /// Whether a slot is free. If so, it stays free until this end fills it.
    fn has_free_slot(&mut self) -> bool;

    /// Sends `value`, or gives it back where the queue was closed before.
    ///
    /// # Safety
    ///
    /// The last call of this end was [`has_free_slot`](Self::has_free_slot), which said so, or a
    /// [`wait`](Self::wait) that succeeded.
    unsafe fn send(&mut self, value: T) -> Result<(), T>;

    /// Sends as many of `values` as there are free slots, from the first on. Sends none where the queue is
    /// closed.
    fn send_some(&mut self, values: &[T]) -> usize
    where
        T: Copy;

    /// The word that changes when a slot becomes free, where none is.
    fn watched(&self) -> &AtomicU64;

    /// Waits for a free slot.
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal>;
}

/// The end of a consumer.
pub(crate) trait Read<T> {
    /// What the queue state has for lanes.
    type Lane: QueueLane;

    /// What is said of a corrupt message: [`AnyKind::Corrupt`](super::kind::AnyKind::Corrupt).
    type Corrupt;

    /// The lane whose turn it is.
    fn node(&self) -> &LaneNode<Self::Lane>;

    #[inline(always)]
    fn state(&self) -> &QueueState<Self::Lane> {
        state_of(self.node())
    }

    /// Called before each look of a caller that spins until the next message is there. It may prefetch the
    /// line of that message, and no rest follows the look.
    fn before_spin(&mut self) {}

    /// Whether the queue is open and has no message, if the plain path can tell. Otherwise false, and the
    /// caller looks.
    fn is_plainly_empty(&mut self) -> bool {
        false
    }

    /// The one word that decides whether a message is there, if there is one.
    fn watched(&self) -> Option<&AtomicU64>;

    /// Whether a message is there for [`try_take`](Self::try_take). Where other consumers share the lanes,
    /// one of them may be faster.
    fn has_message(&mut self) -> bool;

    /// As [`has_message`](Self::has_message), but false where another consumer may be faster.
    fn has_certain_message(&mut self) -> bool {
        self.has_message()
    }

    /// A copy of the next message, which [`has_certain_message`](Self::has_certain_message) has seen.
    #[cfg(feature = "shm")]
    // Unreached: an end whose messages are not checked is not asked
    fn peek(&mut self) -> Option<T>
    where
        T: Copy,
    {
        None
    }

    /// Takes the next message on the plain path, if that will do. Otherwise the caller takes the slow path:
    /// [`try_take`](Self::try_take), [`outlined`].
    fn take_plainly(&mut self) -> Option<T>;

    /// Takes the next message, if there is one. Passes a corrupt message and returns `None`.
    fn try_take(&mut self) -> Option<T>;

    /// How many messages were corrupt.
    #[inline(always)]
    fn corrupt(&self) -> u64 {
        0
    }

    /// The last of them.
    fn last_corrupt(&self) -> Option<Self::Corrupt> {
        None
    }

    /// Hands up to `most` messages of one lane to `each`, in the order of [`try_take`](Self::try_take), and
    /// returns how many. 0 means that no message was there. If `each` panics, the messages that it got count
    /// as taken, and the others stay. Corrupt messages count, and `each` does not get them.
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize;

    /// As [`take_some`](Self::take_some), but only from the lane from which the next message comes.
    #[inline]
    fn take_from_lane(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        self.take_some(most, each)
    }

    /// As [`take_some`](Self::take_some), but from one lane after another, until `each` got `most` messages
    /// or no lane has one. Returns how many `each` got.
    #[inline]
    fn take_up_to(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        take_up_to(most, |left| self.take_some(left, &mut each))
    }

    /// Moves messages into `buffer`, from the first slot on, and returns how many. Drops what was there
    /// before. Passes corrupt messages.
    fn take_into(&mut self, buffer: &mut [T]) -> usize;

    /// Begins a round of all lanes.
    fn begin_round(&mut self) -> Round;

    /// Moves on to the next lane of `round`; false where there is none.
    fn next_in_round(&mut self, round: &mut Round) -> bool;

    /// How many messages the turn of the current lane may still take, if a round cut it short.
    fn left_of_turn(&self) -> usize {
        0
    }

    /// Looks how many messages lie in the lane from which the next message comes: `most`, if it knows of so
    /// many.
    fn lane_len(&mut self, most: usize) -> usize;

    /// Called on a closed queue. Returns whether no message is left and none will come; this stays so. After
    /// the first false a message may be there.
    fn settle(&mut self) -> bool;

    /// How many messages lie in all its lanes.
    fn len(&self) -> usize;
}

/// Calls `take` with the number of messages that are left of `count`, until none is left or `take` returns 0.
#[inline]
pub(super) fn take_up_to(count: usize, mut take: impl FnMut(usize) -> usize) -> usize {
    let mut left = count;
    // Mutants: `> with >=`: it looks for no message.
    while left > 0 {
        match take(left) {
            0 => break,
            taken => left -= taken,
        }
    }
    count - left
}

/// Runs a slow path on a copy of an end.
///
/// A handle whose methods are inlined is a few numbers in registers. If something takes its address, it is in
/// memory, and each message writes it there. So a rare step works on a copy of the handle. The copy has an
/// address, and is moved back afterwards.
///
/// Runs `slow_path` on a copy of `end`, and moves the copy back. Where `slow_path` panics, `end` is as
/// `slow_path` left it.
#[inline(always)]
pub(super) fn outlined<E, R>(end: &mut E, slow_path: impl FnOnce(&mut E) -> R) -> R {
    // SAFETY: a move, because nobody uses `end` before `MoveBack` has moved it back, whatever happens.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(end) });
    // The two are not fields of one structure. Otherwise a function that gets the address of the copy could
    // also reach `end`, as far as the compiler knows.
    let copy = &raw mut copy;
    let back = MoveBack { end, copy };
    // SAFETY: the copy lives as long as this function, and `MoveBack` looks at it later.
    let result = slow_path(unsafe { &mut *copy });
    drop(back);
    result
}

/// Moves `copy` to `end`, on drop.
struct MoveBack<'a, E> {
    end: &'a mut E,
    copy: *const ManuallyDrop<E>,
}

impl<E> Drop for MoveBack<'_, E> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: both are memory for an `E` (`outlined`), and nobody uses the copy afterwards.
        unsafe { ptr::copy_nonoverlapping(self.copy.cast(), self.end, 1) };
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn outlined_moves_the_copy_back() {
        let mut text = String::from("a");
        assert_eq!(outlined(&mut text, |text| (text.push('b'), text.len()).1), 2);
        assert_eq!(text, "ab");
    }

    #[test]
    fn outlined_moves_the_copy_back_after_a_panic() {
        let mut text = String::from("a");
        let panic = catch_unwind(AssertUnwindSafe(|| {
            outlined(&mut text, |text| {
                text.push('b');
                panic!("on purpose");
            });
        }));
        assert!(panic.is_err());
        assert_eq!(text, "ab");
    }
}
