//! [`Number`]: the number of a message in a lane, and the only home of its arithmetic, which wraps.

use core::fmt;

/// The number of a message in a lane: one more for each.
///
/// A lane may begin anywhere, and its numbers wrap at 2^64. So they have no order of their own; two numbers
/// that are [compared](Self::is_before) are less than half of all numbers apart.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Number(u64);

/// As the bare number: builders show it.
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Number {
    #[inline(always)]
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    #[inline(always)]
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn next(self) -> Self {
        self.plus(1)
    }

    /// The number `count` before this one.
    #[inline(always)]
    pub(crate) const fn back(self, count: u64) -> Self {
        Self(self.0.wrapping_sub(count))
    }

    /// The number `count` after this one.
    #[inline(always)]
    pub(crate) const fn plus(self, count: u64) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// How many messages lie from `earlier` up to this one, modulo 2^64.
    #[inline(always)]
    pub(crate) const fn since(self, earlier: Self) -> u64 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether this number comes before `other`.
    #[inline(always)]
    pub(crate) const fn is_before(self, other: Self) -> bool {
        self.since(other) > u64::MAX / 2
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    const FIRSTS: [Number; 4] =
        [Number::new(0), Number::new(7), Number::new(u64::MAX / 2), Number::new(u64::MAX - 1)];

    #[test]
    fn steps_wrap() {
        for first in FIRSTS {
            assert_eq!(first.next().next(), first.plus(2));
            assert_eq!(first.plus(5).back(4), first.next());
            assert_eq!(first.plus(5).since(first.back(3)), 8);
            assert_eq!(first.since(first), 0);
        }
        assert_eq!(Number::new(u64::MAX).next().get(), 0);
        assert_eq!(Number::new(1).back(3).get(), u64::MAX - 1);
    }

    #[test]
    fn the_earlier_number_is_before_the_later_one() {
        // As far apart as two numbers may be that are compared.
        const FAR: u64 = u64::MAX / 2;
        for first in FIRSTS {
            assert!(!first.is_before(first));
            for later in [1, 2, 1 << 61, FAR].map(|count| first.plus(count)) {
                assert!(first.is_before(later) && !later.is_before(first));
            }
        }
    }
}
