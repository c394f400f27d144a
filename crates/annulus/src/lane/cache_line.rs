//! [`CacheLine`]: a number that shares its cache line with nothing.

use super::Number;
use crate::sync::{AtomicU64, Ordering};

/// A number on two cache lines of its own, because processors fetch lines in pairs.
#[repr(align(128))]
pub(super) struct CacheLine(AtomicU64);

impl CacheLine {
    pub(super) fn new(number: Number) -> Self {
        Self(AtomicU64::new(number.get()))
    }

    /// The number as it lies there, for whoever watches it.
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.0
    }

    #[inline(always)]
    pub(super) fn load(&self, ordering: Ordering) -> Number {
        Number::new(self.0.load(ordering))
    }

    #[inline(always)]
    pub(super) fn compare_exchange(
        &self,
        current: Number,
        new: Number,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Number, Number> {
        let now = self.0.compare_exchange(current.get(), new.get(), success, failure);
        now.map(Number::new).map_err(Number::new)
    }

    /// As [`compare_exchange`](Self::compare_exchange), but it may fail for no reason.
    #[inline(always)]
    pub(super) fn compare_exchange_weak(
        &self,
        current: Number,
        new: Number,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Number, Number> {
        let now = self.0.compare_exchange_weak(current.get(), new.get(), success, failure);
        now.map(Number::new).map_err(Number::new)
    }
}
