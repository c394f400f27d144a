//! [`Batches`]: where a batch of a receiving handle ends, and what was sent before a moment. [`Lend`]:
//! batches by reference. [`HasSequence`]: the numbers of messages. For those who receive in the place of a
//! user: event loops.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::error::RecvError;
use crate::sequence::Sequence;
use crate::wait::{Look, Source};

/// What a handle knows of the messages that it has not received yet.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "only threads receive in the place of others"))]
pub(crate) trait Batches: Source {
    /// Where the messages end that were sent before a moment. What was passed leaves it.
    type Mark;

    /// Whether the handle is a stage. A receive then tells others that the message before is processed, so
    /// whoever takes several at once tells it too early. And others say what it may receive: if what it was
    /// to receive next is lost, nothing may come for ever.
    // Decision 0031: processed is not received.
    const STAGED: bool = false;

    /// Whether another message is there, which only this handle can take. So a receive finds that message, or
    /// after a lag a later one. Where other handles may take it, this is false. It takes nothing, and unlike
    /// [`is_ready`](Source::is_ready) it is not the beginning of a receive.
    fn has_more(&mut self) -> bool;

    /// The end of the messages whose sending happens before this call. Allocates at most a word for each
    /// lane, and two for each ring.
    fn mark(&mut self) -> Self::Mark;

    /// Whether no message from before `mark` is left: this handle has received or lost them, or others have
    /// received them. If not, the next one is there, or is being written. However many lanes or rings the
    /// mark is of, calls for the same mark take a few steps each, and one more for each lane or ring.
    fn has_passed(&self, mark: &mut Self::Mark) -> bool;

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

/// A handle of a ring that numbers its messages.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as above"))]
pub(crate) trait HasSequence: Batches {
    /// The number behind that of the message that was received last.
    fn next_sequence(&self) -> Sequence;
}

/// Whether all of `marks` are passed. Takes those off the list that are, from its end up to one that is not.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as above"))]
pub(crate) fn all_have_passed<M>(marks: &mut Vec<M>, mut has_passed: impl FnMut(&M) -> bool) -> bool {
    while let Some(mark) = marks.last() {
        if !has_passed(mark) {
            return false;
        }
        marks.pop();
    }
    true
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

impl<S: Batches> Batches for &mut S {
    type Mark = S::Mark;

    const STAGED: bool = S::STAGED;

    fn has_more(&mut self) -> bool {
        (**self).has_more()
    }

    fn mark(&mut self) -> S::Mark {
        (**self).mark()
    }

    fn has_passed(&self, mark: &mut S::Mark) -> bool {
        (**self).has_passed(mark)
    }

    fn lost(&self) -> u64 {
        (**self).lost()
    }

    // Unreached: a pipeline asks, and its source lives as long as the program, which no borrowed handle of
    // the tests does
    fn left(&self) -> Option<u64> {
        (**self).left()
    }
}

impl<S: HasSequence> HasSequence for &mut S {
    fn next_sequence(&self) -> Sequence {
        (**self).next_sequence()
    }
}

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
        const COUNT: usize = 100;
        let (mut marks, mut looks) = ((0..COUNT).collect::<std::vec::Vec<_>>(), 0);
        for passed in 0..=COUNT {
            // 37, 74, 11, 48 …
            let has_passed = |mark: &usize| (1..=passed).any(|count| count * 37 % COUNT == *mark);
            let all = all_have_passed(&mut marks, |mark| {
                looks += 1;
                has_passed(mark)
            });
            assert_eq!(all, passed == COUNT);
            assert!(all || !has_passed(marks.last().unwrap()));
        }
        assert!(marks.is_empty());
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
