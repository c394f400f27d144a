//! Claims: numbers that one of many takes for itself, by one step of the counter that all of them have.
//!
//! ```text
//! claim: is the slot of the counter's number ready? ─▶ counter: n → n + count, if nobody was faster ─▶ its own
//!                    └─ no: nothing to claim            └─ somebody was: again, from where the counter is
//! ```

use core::num::NonZeroUsize;

use super::Number;
use crate::sync::{AtomicU64, Ordering, seeded};

/// The number that is claimed next. It is on two cache lines of its own, because processors fetch lines in
/// pairs.
#[repr(align(128))]
pub(super) struct NextNumber(AtomicU64);

impl NextNumber {
    pub(super) fn new(number: Number) -> Self {
        Self(AtomicU64::new(number.get()))
    }

    /// The number as it lies there, for a thread that watches it.
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.0
    }

    #[inline(always)]
    pub(super) fn load(&self, ordering: Ordering) -> Number {
        Number::new(self.0.load(ordering))
    }

    /// Moves it to `new`, if it is `current`; else returns what it is.
    #[inline(always)]
    pub(super) fn compare_exchange(
        &self,
        current: Number,
        new: Number,
        success: Ordering,
        failure: Ordering,
    ) -> Result<(), Number> {
        let now = self.0.compare_exchange(current.get(), new.get(), success, failure);
        now.map(drop).map_err(Number::new)
    }
}

/// What a [claim](claim()) took: `count` messages, or free slots, from number `first` on, which belongs in
/// `slot`.
pub(super) struct Claim<S> {
    pub(super) first: Number,
    pub(super) slot: S,
    pub(super) count: usize,
    /// Whether others moved the counter meanwhile, or may have.
    pub(super) raced: bool,
}

/// stamped.take5, and ordered.tail1 of `many_to_many.rs`: moves `counter` behind up to `most` messages, from
/// where it is on, whose slots `ready` returns where they are the caller's once that was done. Where there
/// was none, returns which would be the first.
// Decision 0065: the slot is handed on.
#[inline(always)]
pub(super) fn claim<S>(
    counter: &NextNumber,
    most: NonZeroUsize,
    ready: impl Fn(Number) -> Option<S>,
) -> Result<Claim<S>, Number> {
    // Acquire: as a failure below.
    let mut first = counter.load(Ordering::Acquire);
    let mut raced = false;
    loop {
        let Some(slot) = ready(first) else {
            // Nothing, if the number was not an old one.
            let now = counter.load(Ordering::Acquire);
            if now == first {
                return Err(first);
            }
            // Unreached: two threads claim at the same moment: a matter of luck; loom shared and claimed
            (first, raced) = (now, true);
            // Unreached: two threads claim at the same moment: a matter of luck; loom shared and claimed
            continue;
        };
        let is_ready = |&count: &u64| ready(first.plus(count)).is_some();
        let count = 1 + (1..most.get() as u64).take_while(is_ready).count();
        let behind = first.plus(count as u64);
        if seeded!("one_to_many_claim_not_atomic") {
            counter.word().store(behind.get(), Ordering::Release);
            return Ok(Claim { first, slot, count, raced });
        }
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        // The stamps order the messages. Acquire and Release: pair with divide.settle1, and on with the next
        // claim; and with ordered.close2.
        match counter.compare_exchange(first, behind, success, failure) {
            Ok(()) => return Ok(Claim { first, slot, count, raced }),
            // Unreached: two threads claim at the same moment: a matter of luck; loom shared and claimed
            Err(now) => (first, raced) = (now, !seeded!("race_untold")),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// A reader that is slower than another learns of it.
    #[test]
    fn claim_reports_a_race() {
        for another in [false, true] {
            let counter = NextNumber::new(Number::new(0));
            let is_first = Cell::new(true);
            let look = |number: Number| {
                if is_first.replace(false) && another {
                    counter.word().store(1, Ordering::Relaxed);
                }
                Some(number)
            };
            let Ok(Claim { first, slot, raced, .. }) = claim(&counter, NonZeroUsize::MIN, look) else {
                unreachable!("all are ready");
            };
            assert_eq!(first, Number::new(u64::from(another)));
            assert_eq!(slot, first);
            assert_eq!(raced, another);
        }
    }
}
