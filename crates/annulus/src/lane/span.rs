//! [`Span`]: the messages of a lane at one moment, as a thread that is neither side sees them.

use super::Number;
use crate::sync::seeded;

/// The messages that lie in a lane at one moment. `head`: the first of them. `tail`: behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) head: Number,
    pub(crate) tail: Number,
}

impl Span {
    /// What lies in a lane of `capacity` slots. Both functions look at the lane, with Acquire.
    ///
    /// It is what lay there at the moment at which the tail was loaded. The head is loaded first (Acquire:
    /// pairs with lane.take7), by a thread that then sees at least the tail that the reader had seen. So the
    /// head is not behind the tail. Until the tail is loaded, the head may go on. If it went on so far that
    /// more than `capacity` messages seem to lie there, it must have been at `tail − capacity` at least, or
    /// the writer would have had no slot.
    pub(crate) fn read(capacity: usize, head: impl Fn() -> Number, tail: impl Fn() -> Number) -> Self {
        if seeded!("span_tail_first") {
            let tail = tail();
            return Self { head: head(), tail };
        }
        let head = head();
        let tail = tail();
        let capacity = capacity as u64;
        let head = if tail.since(head) > capacity && !seeded!("span_of_two_moments") {
            tail.back(capacity)
        } else {
            head
        };
        Self { head, tail }
    }

    /// How many messages these are.
    pub(crate) fn count(self) -> u64 {
        self.tail.since(self.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// With numbers that wrap, too.
    const FIRSTS: [Number; 2] = [Number::new(7), Number::new(u64::MAX - 1)];

    #[test]
    fn messages_taken_meanwhile_are_not_counted() {
        for first in FIRSTS {
            let span = |head, tail| Span::read(4, || first.plus(head), || first.plus(tail));
            assert_eq!((span(0, 0).count(), span(3, 3).count(), span(1, 5).count()), (0, 0, 4));
            // The head was loaded long before the tail.
            assert_eq!(span(0, 9), Span { head: first.plus(5), tail: first.plus(9) });
        }
    }

    #[test]
    fn span_loads_the_head_first() {
        let now = Cell::new(0);
        let tick = || {
            now.set(now.get() + 1);
            Number::new(now.get())
        };
        assert_eq!(Span::read(4, tick, tick), Span { head: Number::new(1), tail: Number::new(2) });
    }
}
