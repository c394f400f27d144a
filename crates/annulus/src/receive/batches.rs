//! [`Batches`]: where a batch of a receiving handle ends, and what was sent before a moment. [`Lend`]:
//! batches by reference. [`HasSequence`]: the numbers of messages. For those who receive in the place of a
//! user: event loops.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::base::sequence::Sequence;
use crate::error::RecvError;
use crate::wait::{Look, Source};

/// What a handle knows of the messages that it has not received yet.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "only threads receive in the place of others"))]
pub(crate) trait Batches: Source {
    /// Whether the handle is a stage. A receive then tells others that the message before is processed, so
    /// whoever takes several at once tells it too early. And others say what it may receive: if what it was
    /// to receive next is lost, nothing may come for ever.
    // Decision 0031: processed is not received.
    fn is_staged(&self) -> bool {
        false
    }

    /// Whether another message is there, which only this handle can take. So a receive finds that message, or
    /// after a lag a later one. Where other handles may take it, this is false. It takes nothing, and unlike
    /// [`is_ready`](Source::is_ready) it is not the beginning of a receive.
    fn has_more(&mut self) -> bool;

    /// The end of the messages whose sending happens before this call. Allocates at most two words for each
    /// lane or ring.
    fn mark(&mut self) -> Mark;

    /// Whether no message from before `mark` is left: this handle has received or lost them, or others have
    /// received them. If not, the next one is there, or is being written. However many lanes or rings the
    /// mark is of, calls for the same mark take a few steps each, and one more for each lane or ring.
    fn has_passed(&self, mark: &mut Mark) -> bool;

    /// How many messages the handle has lost since it was made.
    fn lost(&self) -> u64 {
        0
    }

    /// How many messages are there and not received yet, if the handle can tell.
    #[cfg_attr(any(not(feature = "std"), annulus_loom), allow(dead_code, reason = "for pipelines"))]
    fn left(&self) -> Option<u64> {
        None
    }
}

/// Where the messages end that were sent before a moment, in each lane or ring of a handle: the number of
/// the lane or ring, and the number of the first message behind that end. What was passed leaves it.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as below"))]
pub(crate) struct Mark(Vec<(u64, u64)>);

#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as below"))]
impl Mark {
    /// Of a handle that receives from one ring or lane.
    pub(crate) fn at(end: u64) -> Self {
        Self::of([(0, end)])
    }

    /// Of several.
    pub(crate) fn of(ends: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self(ends.into_iter().collect())
    }

    /// Whether all of it is passed, as `has_passed` says of each number with its end. Takes those off the
    /// list that are, from its end up to one that is not.
    pub(crate) fn is_passed(&mut self, mut has_passed: impl FnMut(u64, u64) -> bool) -> bool {
        while let Some(&(number, end)) = self.0.last() {
            if !has_passed(number, end) {
                return false;
            }
            self.0.pop();
        }
        true
    }
}

/// A handle of a ring that numbers its messages.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as above"))]
pub(crate) trait HasSequence: Batches {
    /// The number behind that of the message that was received last.
    fn next_sequence(&self) -> Sequence;
}

/// A handle whose messages can be read in place.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as above"))]
pub(crate) trait Lend: Batches {
    /// What is lent.
    type Lent;

    /// Hands up to `most` messages that are there to `look`, one after the other, until it breaks that off,
    /// each with its number. The flag is true for the last one of those that were there.
    fn lend(
        &mut self,
        most: usize,
        look: impl FnMut(&Self::Lent, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>>;
}

/// Of handles that are borrowed, or in a box.
macro_rules! by_pointer {
    ($($Pointer:ty),*) => {$(
        impl<S: Batches + ?Sized> Batches for $Pointer {
            fn is_staged(&self) -> bool {
                (**self).is_staged()
            }

            fn has_more(&mut self) -> bool {
                (**self).has_more()
            }

            fn mark(&mut self) -> Mark {
                (**self).mark()
            }

            fn has_passed(&self, mark: &mut Mark) -> bool {
                (**self).has_passed(mark)
            }

            fn lost(&self) -> u64 {
                (**self).lost()
            }

            // Unreached: a pipeline asks, and its source lives as long as the program, which no borrowed
            // handle of the tests does
            fn left(&self) -> Option<u64> {
                (**self).left()
            }
        }

        impl<S: HasSequence + ?Sized> HasSequence for $Pointer {
            fn next_sequence(&self) -> Sequence {
                (**self).next_sequence()
            }
        }
    )*};
}
by_pointer!(&mut S, Box<S>);

impl<S: Lend> Lend for &mut S {
    type Lent = S::Lent;

    fn lend(
        &mut self,
        most: usize,
        look: impl FnMut(&S::Lent, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>> {
        (**self).lend(most, look)
    }
}

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests {
    use super::*;

    /// What a handle knows before and after it receives all that is there.
    fn check<S: Batches>(mut handle: S, receive: impl FnOnce(&mut S)) {
        assert!(handle.has_more());
        let mut end = handle.mark();
        assert!(!handle.has_passed(&mut end));
        receive(&mut handle);
        assert!(!handle.has_more());
        assert!(handle.has_passed(&mut end));
        assert_eq!(handle.lost(), 0);
    }

    /// However many marks there are, and in whatever order they are passed, each is looked at once, and one
    /// more at each call.
    #[test]
    fn what_was_passed_is_not_looked_at_again() {
        const COUNT: u64 = 100;
        let (mut mark, mut looks) = (Mark::of((0..COUNT).map(|number| (number, 7 * number))), 0);
        for passed in 0..=COUNT {
            // 37, 74, 11, 48 …
            let has_passed = |number| (1..=passed).any(|count| count * 37 % COUNT == number);
            let all = mark.is_passed(|number, end| {
                assert_eq!(end, 7 * number);
                looks += 1;
                has_passed(number)
            });
            assert_eq!(all, passed == COUNT);
            assert!(all || !has_passed(mark.0.last().unwrap().0));
        }
        assert!(mark.0.is_empty());
        assert_eq!(looks, 2 * COUNT);
    }

    /// A handle that is borrowed knows what its owner knows.
    #[test]
    fn of_a_borrowed_handle() {
        let (mut publisher, subscribable) = crate::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        assert!(!Batches::has_more(&mut &mut subscriber));
        publisher.publish(|number| *number = 1).unwrap();
        publisher.publish(|number| *number = 2).unwrap();
        let mut seen = std::vec::Vec::new();
        check(&mut subscriber, |handle| {
            let look = |number: &i32, sequence, end_of_batch| {
                seen.push((*number, sequence, end_of_batch));
                ControlFlow::Continue(())
            };
            assert_eq!(handle.lend(8, look), Look::Found(Ok(())));
        });
        assert_eq!(seen, [(1, 0, false), (2, 1, true)]);
    }
}
