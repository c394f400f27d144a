//! [`Source`]: what every receiving handle has, for code that waits at handles of any kind, or receives in
//! the place of a user. [`EndMark`]: the end of what was sent before a moment.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{EventCount, WaitStrategy};
#[cfg(feature = "std")]
use super::{Look, Poll};
use crate::sync::AtomicU64;

/// A handle at which one can wait for something to receive.
///
/// # Safety
///
/// Each eventcount that [`wait_point`](Self::wait_point) returns lives, and stays where it is, as long as the
/// handle lives, wherever the handle is moved to.
#[cfg_attr(
    not(feature = "std"),
    allow(dead_code, reason = "only threads wait and receive in the place of others")
)]
pub(crate) unsafe trait Source {
    /// Where it waits. Only [`is_ready`](Self::is_ready) and a receive change it. A thread that makes
    /// `is_ready` true calls [`EventCount::notify`] on it, or its like, *after* the store that `is_ready`
    /// looks for.
    fn wait_point(&self) -> &EventCount;

    /// Whether a receive would return something now, and not "empty": a message, a lag, or the end. Takes
    /// nothing. Where several consumers share a queue, another one may be faster than the receive that
    /// follows. In a stage it counts as the beginning of a receive, so what was received before is processed.
    fn is_ready(&mut self) -> bool;

    /// The one word that decides whether something is there, if there is one: as
    /// [`Poll::watched`], for [`is_ready`](Self::is_ready).
    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        None
    }

    /// How the handle's ring waits.
    fn strategy(&self) -> WaitStrategy;

    /// Whether the handle is a stage. A receive then tells others that the message before is processed, so
    /// a caller that takes several at once tells it too early. And others say what it may receive: if the
    /// message that it was to receive next is lost, nothing may come for ever.
    // Decision 0031: processed is not received.
    fn is_staged(&self) -> bool {
        false
    }

    /// Whether another message is there, which only this handle can take. So a receive finds that message, or
    /// after a lag a later one. Where other handles may take it, this is false. It takes nothing, and unlike
    /// [`is_ready`](Self::is_ready) it is not the beginning of a receive.
    fn has_more(&mut self) -> bool;

    /// The end of the messages whose sending happens before this call. Allocates at most two words for each
    /// lane or ring.
    fn mark(&mut self) -> EndMark;

    /// Whether no message from before `mark` is left: this handle has received or lost them, or others have
    /// received them. If not, the next one is there, or is being written. However many lanes or rings the
    /// mark is of, calls for the same mark take a few steps each, and one more for each lane or ring.
    fn has_passed(&self, mark: &mut EndMark) -> bool;

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

/// A handle at which one waits as at a part of it, which it owns or borrows: a field of it, or what it points
/// to. `lost` and `left` say what the part does not know.
macro_rules! source_of_part {
    (
        [$($generics:tt)*] $Handle:ty,
        |$handle:ident| $part:expr $(, lost: $lost:expr)? $(, left: $left:expr)?
    ) => {
        // SAFETY: the part lives as long as the handle, or longer, and its eventcounts stay where they are.
        unsafe impl<$($generics)*> $crate::wait::Source for $Handle {
            fn wait_point(&self) -> &$crate::wait::EventCount {
                let $handle = self;
                $crate::wait::Source::wait_point(&$part)
            }

            fn is_ready(&mut self) -> bool {
                let $handle = self;
                $crate::wait::Source::is_ready(&mut $part)
            }

            // Unreached: where the processor waits by the word (the strategy Monitor)
            fn watched(&self) -> Option<&$crate::sync::AtomicU64> {
                let $handle = self;
                $crate::wait::Source::watched(&$part)
            }

            fn strategy(&self) -> $crate::wait::WaitStrategy {
                let $handle = self;
                $crate::wait::Source::strategy(&$part)
            }

            fn is_staged(&self) -> bool {
                let $handle = self;
                $crate::wait::Source::is_staged(&$part)
            }

            fn has_more(&mut self) -> bool {
                let $handle = self;
                $crate::wait::Source::has_more(&mut $part)
            }

            fn mark(&mut self) -> $crate::wait::EndMark {
                let $handle = self;
                $crate::wait::Source::mark(&mut $part)
            }

            fn has_passed(&self, mark: &mut $crate::wait::EndMark) -> bool {
                let $handle = self;
                $crate::wait::Source::has_passed(&$part, mark)
            }

            fn lost(&self) -> u64 {
                let $handle = self;
                $crate::wait::source_of_part!(@or [$($lost)?] $crate::wait::Source::lost(&$part))
            }

            fn left(&self) -> Option<u64> {
                let $handle = self;
                $crate::wait::source_of_part!(@or [$($left)?] $crate::wait::Source::left(&$part))
            }
        }
    };
    (@or [] $usual:expr) => { $usual };
    (@or [$given:expr] $usual:expr) => { $given };
}
pub(crate) use source_of_part;

source_of_part!([S: Source + ?Sized] &mut S, |handle| **handle);
source_of_part!([S: Source + ?Sized] Box<S>, |handle| **handle);

/// Where the messages end that were sent before a moment, in each lane or ring of a handle: the number of
/// the lane or ring, and the number of the first message behind that end. What was passed leaves it.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as of `Source`"))]
pub(crate) struct EndMark(Vec<(u64, u64)>);

#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "as of `Source`"))]
impl EndMark {
    /// Of a handle that receives from one ring or lane.
    pub(crate) fn at(end: u64) -> Self {
        Self::of([(0, end)])
    }

    /// Of several.
    pub(crate) fn of(ends: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self(ends.into_iter().collect())
    }

    /// Whether all of it is passed, as `has_passed` says of each number with its end. Takes what is passed
    /// off the list, from its end up to a number that is not passed.
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

/// Until there is something to receive, at a handle which is borrowed or owned. Nothing is taken.
#[cfg(feature = "std")]
pub(crate) struct UntilReady<S>(pub(crate) S);

#[cfg(feature = "std")]
impl<S: Source> Poll for UntilReady<S> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    fn poll(&mut self) -> Look<()> {
        if self.0.is_ready() { Look::Found(()) } else { Look::Nothing }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::ops::ControlFlow;

    use super::*;
    use crate::receive::{Numbered, ReceiveRef};

    /// What a handle knows before and after it receives all that is there.
    fn check<S: Source>(mut handle: S, receive: impl FnOnce(&mut S)) {
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
    fn passed_mark_is_not_looked_at_again() {
        const COUNT: u64 = 100;
        let (mut mark, mut looks) = (EndMark::of((0..COUNT).map(|number| (number, 7 * number))), 0);
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
    fn borrowed_handle_is_the_source_that_its_owner_is() {
        let (mut publisher, subscribable) = crate::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        assert!(!Source::has_more(&mut &mut subscriber));
        publisher.publish(|number| *number = 1).unwrap();
        publisher.publish(|number| *number = 2).unwrap();
        let mut seen = std::vec::Vec::new();
        assert!(!Source::is_staged(&&mut subscriber));
        assert!(Source::is_staged(&&mut subscribable.subscribe_tracked()));
        check(&mut subscriber, |handle| {
            let look = |number: &i32, sequence, end_of_batch| {
                seen.push((*number, sequence, end_of_batch));
                ControlFlow::Continue(())
            };
            assert_eq!(handle.lend(8, look), Look::Found(Ok(())));
        });
        assert_eq!(seen, [(1, 0, false), (2, 1, true)]);
        assert_eq!(Numbered::next_sequence(&&mut subscriber), 2);
    }
}
