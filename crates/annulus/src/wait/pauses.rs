//! [`pauses`]: pauses that last as long on each processor.
//!
//! A pause instruction takes three or four times as long on one processor as on another. So whoever waits
//! first measures once how long it takes here. Until then, and where there is no clock, it is taken for as
//! long as on the processor on which the numbers were chosen.

#[cfg(all(feature = "std", not(any(annulus_loom, annulus_lines, miri))))]
pub(super) use clock::measure;
use clock::of_a_rest;

use crate::sync::{mutated, pause};

/// A rest in pause instructions of the processor on which the numbers were chosen.
pub(super) const REST: u32 = 32;

/// Pauses for as long as `count` pause instructions take on that processor: at least by one instruction,
/// where `count` is not 0. `count` is at most [`REST`].
// Mutants: `with ()`: costs or saves time.
#[inline(always)]
pub(super) fn pauses(count: u32) {
    (0..scaled(count, of_a_rest())).for_each(|_| pause());
}

/// In place of `count` instructions, where a rest takes so many here.
#[inline(always)]
fn scaled(count: u32, of_a_rest: u32) -> u32 {
    if mutated!("pauses_unscaled") { count } else { (count * of_a_rest / REST).max(count.min(1)) }
}

/// Nobody measures.
#[cfg(not(all(feature = "std", not(any(annulus_loom, annulus_lines, miri)))))]
mod clock {
    pub(super) fn of_a_rest() -> u32 {
        super::REST
    }
}
#[cfg(not(all(feature = "std", not(any(annulus_loom, annulus_lines, miri)))))]
pub(super) fn measure() {}

#[cfg(all(feature = "std", not(any(annulus_loom, annulus_lines, miri))))]
mod clock {
    use std::time::{Duration, Instant};

    use super::REST;
    use crate::sync::{AtomicU32, Ordering, pause};

    /// How long a rest takes on the processor on which the numbers were chosen.
    // Decision 0096: on which one, and which pauses are not scaled.
    const LENGTH: Duration = Duration::from_nanos(740);

    /// Whatever the clock says, a rest is no less and no more than that.
    const LEAST: u32 = 4;
    const MOST: u32 = 8 * REST;

    /// Instructions that are timed at once, and how often. (The least time counts: in the others this thread
    /// lost its core, or the processor had to wake up.)
    const TIMED: u32 = 16;
    const TIMES: u32 = 8;

    /// Instructions of a rest, once somebody has measured; 0 before. Its writers are those who wait first,
    /// beside each other if it so happens.
    static OF_A_REST: AtomicU32 = AtomicU32::new(0);

    #[inline(always)]
    pub(super) fn of_a_rest() -> u32 {
        // Relaxed, here and below: a number, on which no order depends.
        match OF_A_REST.load(Ordering::Relaxed) {
            0 => REST,
            known => known,
        }
    }

    /// Measures, if nobody has. Takes some microseconds, once in a process.
    #[inline]
    pub(in super::super) fn measure() {
        if OF_A_REST.load(Ordering::Relaxed) == 0 {
            measure_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn measure_now() {
        let time = |_| {
            let begun = Instant::now();
            (0..TIMED).for_each(|_| pause());
            begun.elapsed()
        };
        let least = (0..TIMES).map(time).min().unwrap_or(Duration::ZERO);
        OF_A_REST.store(in_a_rest(least), Ordering::Relaxed);
    }

    /// How many instructions a rest is, where [`TIMED`] of them take so long.
    pub(super) fn in_a_rest(timed: Duration) -> u32 {
        let count = LENGTH.as_nanos() * u128::from(TIMED) / timed.as_nanos().max(1);
        u32::try_from(count).unwrap_or(MOST).clamp(LEAST, MOST)
    }

    /// What was measured.
    #[cfg(test)]
    pub(super) fn known() -> u32 {
        OF_A_REST.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_fewer_where_each_takes_longer() {
        for (of_a_rest, expected) in
            [(32, [0, 1, 3, 8, 31, 32]), (9, [0, 1, 1, 2, 8, 9]), (128, [0, 4, 12, 32, 124, 128])]
        {
            assert_eq!([0, 1, 3, 8, 31, 32].map(|count| scaled(count, of_a_rest)), expected, "{of_a_rest}");
        }
    }

    #[test]
    #[cfg(all(feature = "std", not(miri)))]
    fn what_is_measured_is_within_bounds() {
        use std::time::Duration;

        use super::clock::in_a_rest;
        for (ns, expected) in [(0, 256), (1, 256), (185, 64), (370, 32), (740, 16), (1_300, 9), (1 << 40, 4)]
        {
            assert_eq!(in_a_rest(Duration::from_nanos(ns)), expected, "{ns} ns");
        }
    }

    /// Whoever waits first measures, and nobody does so again.
    #[test]
    #[cfg(all(feature = "std", not(miri)))]
    fn who_waits_measures_once() {
        use super::super::spin::Spin;
        use crate::WaitStrategy;

        let mut known = (0..3).map(|_| {
            Spin::new(WaitStrategy::default());
            super::clock::known()
        });
        let first = known.next().unwrap();
        assert!((4..=256).contains(&first), "{first}");
        // (Threads of other tests that waited first at the same time may store theirs a little later.)
        assert!(known.all(|later| (4..=256).contains(&later)));
        pauses(REST);
    }
}
