//! One [turn](Spin::turn) of a spinning strategy, and [`pauses`] that last as long on each processor.
//!
//! A pause instruction takes three or four times as long on one processor as on another. So the first waiter
//! measures once how long it takes here. Until then, and where there is no clock, it is taken for as long as
//! on the processor on which the numbers were chosen.

#[cfg(all(feature = "std", not(any(annulus_loom, annulus_lines, miri))))]
use clock::measure;
use clock::of_a_rest;

#[cfg(feature = "std")]
use super::give_way::{GiveWay, give_up_time_slice};
use super::{EventCount, WaitStrategy};
use crate::processor::ProcessorWait;
use crate::sync::{pause, seeded};

/// The spinning part of one wait.
pub(super) struct Spin {
    strategy: WaitStrategy,
    /// Turns taken so far; stops at the top rather than wrapping.
    turns: u32,
    #[cfg(feature = "std")]
    give_way: GiveWay,
}

/// What a turn did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It spent a moment.
    Spun,
    /// It let others have the core.
    GaveWay,
    /// Nothing: the processor is to wait until a word changes, by `watch`.
    Watch,
    /// Nothing: the strategy would rather sleep now.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "no strategy sleeps"))]
    Sleep,
}

/// So many turns come before the first wait of [`WaitStrategy::Monitor`]: what comes soon is found sooner by
/// polls.
// Decision 0081: what a wait costs to begin and to end.
const TURNS_BEFORE_WATCH: u32 = 8;

/// So many turns are enough before [`WaitStrategy::Block`] gives way where that has helped the last time.
#[cfg(feature = "std")]
const TURNS_BEFORE_HELP: u32 = 16;

impl Spin {
    pub(super) fn new(strategy: WaitStrategy) -> Self {
        measure();
        Self {
            strategy,
            turns: 0,
            #[cfg(feature = "std")]
            give_way: GiveWay::Before,
        }
    }

    /// Spends a moment, or says that it is time to sleep. `event`: where to.
    #[inline]
    #[cfg_attr(not(feature = "std"), expect(unused_variables, reason = "nobody sleeps"))]
    pub(super) fn turn(&mut self, event: &EventCount) -> Turn {
        let turn = self.turns;
        self.count(1);
        match self.strategy {
            WaitStrategy::BusySpin => yield_under_loom(),
            WaitStrategy::PauseSpin => pause(),
            WaitStrategy::Monitor => {
                if turn >= TURNS_BEFORE_WATCH && ProcessorWait::of_this_processor() != ProcessorWait::Pause {
                    // Unreached: where the processor waits by the word (the strategy Monitor)
                    return Turn::Watch;
                }
                pause();
            }
            WaitStrategy::BackoffSpin => {
                // Mutants: `<< with >>`: costs or saves time.
                pauses(1 << turn.min(5));
                // Mutants: `> with ==`, `> with <`, `> with >=`: costs or saves time.
                if turn > 5 {
                    return give_way();
                }
            }
            WaitStrategy::Adaptive { spin_iters, pause_iters } => {
                match phase(turn, spin_iters, pause_iters) {
                    Phase::Bare => yield_under_loom(),
                    Phase::Paused => pause(),
                    Phase::Over => {
                        pauses(8);
                        return give_way();
                    }
                }
            }
            #[cfg(feature = "std")]
            WaitStrategy::Block { spin_iters: 0, pause_iters: 0 } => return sleep(),
            #[cfg(feature = "std")]
            WaitStrategy::Block { spin_iters, pause_iters } => {
                let phase = phase(turn, spin_iters, pause_iters);
                let hint = event.give_way_hint();
                let is_time =
                    matches!(phase, Phase::Over) || (turn >= TURNS_BEFORE_HELP && hint.has_helped());
                if is_time && self.give_way.turn(hint) {
                    return Turn::GaveWay;
                }
                match phase {
                    Phase::Bare => yield_under_loom(),
                    Phase::Paused => pause(),
                    Phase::Over => return sleep(),
                }
            }
        }
        Turn::Spun
    }

    /// Counts `turns` that the waiter has spent by itself.
    pub(super) fn count(&mut self, turns: u32) {
        self.turns = self.turns.saturating_add(turns);
    }

    /// What was waited for is there. `event`: as for [`turn`](Self::turn).
    #[cfg_attr(not(feature = "std"), expect(unused_variables, clippy::unused_self, reason = "nobody sleeps"))]
    pub(super) fn end(&self, event: &EventCount) {
        #[cfg(feature = "std")]
        self.give_way.end(event.give_way_hint());
    }

    /// It is not there, and the time is over. `event`: as for [`turn`](Self::turn).
    #[cfg_attr(not(feature = "std"), expect(unused_variables, clippy::unused_self, reason = "nobody sleeps"))]
    pub(super) fn give_up(&self, event: &EventCount) {
        #[cfg(feature = "std")]
        self.give_way.give_up(event.give_way_hint());
    }
}

#[cfg(feature = "std")]
fn sleep() -> Turn {
    if seeded!("block_never_sleeps") { Turn::Spun } else { Turn::Sleep }
}

enum Phase {
    Bare,
    Paused,
    Over,
}

#[inline]
fn phase(turn: u32, spin_iters: u32, pause_iters: u32) -> Phase {
    if turn < spin_iters {
        Phase::Bare
    } else if turn - spin_iters < pause_iters {
        Phase::Paused
    } else {
        Phase::Over
    }
}

/// Lets another thread have the core, where there is somebody to ask.
pub(super) fn give_way() -> Turn {
    // Decision 0012: spinning gives up its time slice.
    #[cfg(feature = "std")]
    give_up_time_slice();
    Turn::GaveWay
}

/// loom explores a spin only if it can tell that nothing happens in it.
#[inline]
fn yield_under_loom() {
    #[cfg(annulus_loom)]
    pause();
}

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
    if seeded!("pauses_unscaled") { count } else { (count * of_a_rest / REST).max(count.min(1)) }
}

/// Nobody measures.
#[cfg(not(all(feature = "std", not(any(annulus_loom, annulus_lines, miri)))))]
mod clock {
    pub(super) fn of_a_rest() -> u32 {
        super::REST
    }
}
#[cfg(not(all(feature = "std", not(any(annulus_loom, annulus_lines, miri)))))]
fn measure() {}

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

    /// Instructions of a rest, once somebody has measured; 0 before. Its writers are the threads that wait
    /// first, concurrently if it so happens.
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
    pub(super) fn measure() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// More than any strategy here spins before it sleeps.
    const MANY: usize = if cfg!(miri) { 150 } else { 1000 };

    fn turns_before_sleep(strategy: WaitStrategy) -> Vec<Turn> {
        turns_at(&EventCount::new(), strategy)
    }

    fn turns_at(event: &EventCount, strategy: WaitStrategy) -> Vec<Turn> {
        let mut spin = Spin::new(strategy);
        (0..MANY).map(|_| spin.turn(event)).take_while(|turn| *turn != Turn::Sleep).collect()
    }

    #[test]
    #[cfg(feature = "std")]
    fn block_spins_as_often_as_asked() {
        use super::super::give_way::TIMES;
        for (spin_iters, pause_iters) in [(0, 0), (3, 0), (0, 4), (3, 4), (64, 32)] {
            let strategy = WaitStrategy::Block { spin_iters, pause_iters };
            let (event, asked) = (EventCount::new(), (spin_iters + pause_iters) as usize);
            let first = turns_at(&event, strategy);
            assert!(first.iter().take(asked).all(|turn| *turn == Turn::Spun), "{first:?}");
            let gave_way = &first[asked..];
            assert!(gave_way.iter().all(|turn| *turn == Turn::GaveWay) && gave_way.len() <= TIMES as usize);
            assert_eq!(gave_way.is_empty(), asked == 0, "a thread that asks for nothing sleeps at once");
            assert_eq!(turns_at(&event, strategy).len(), asked, "it did not help");
        }
    }

    /// Where giving way has helped, the next wait does so early.
    #[test]
    #[cfg(feature = "std")]
    fn block_gives_way_early_where_that_helps() {
        let event = EventCount::new();
        let mut spin = Spin::new(WaitStrategy::default());
        while spin.turn(&event) == Turn::Spun {}
        // However slow this thread is, it has helped at once.
        let begun = std::time::Instant::now() + std::time::Duration::from_secs(1 << 20);
        spin.give_way = GiveWay::Since { begun, left: 1, switched: true };
        spin.end(&event);
        let turns = turns_at(&event, WaitStrategy::default());
        let at = turns.iter().position(|turn| *turn == Turn::GaveWay);
        assert_eq!(at, Some(TURNS_BEFORE_HELP as usize), "{turns:?}");
    }

    /// Pauses of the waiter's own bring the sleep nearer.
    #[test]
    #[cfg(feature = "std")]
    fn turns_of_the_waiter_count() {
        let event = EventCount::new();
        let mut spin = Spin::new(WaitStrategy::Block { spin_iters: 10, pause_iters: 10 });
        spin.count(15);
        let turns = (0..MANY).take_while(|_| spin.turn(&event) == Turn::Spun).count();
        assert_eq!(turns, 5);
    }

    #[test]
    fn settings_at_the_top_do_not_overflow() {
        let most = u32::MAX;
        for (spin_iters, pause_iters) in [(most, most), (most, 0), (0, most)] {
            let mut spin = Spin::new(WaitStrategy::Adaptive { spin_iters, pause_iters });
            spin.turns = most - 1;
            assert!((0..5).all(|_| spin.turn(&EventCount::new()) != Turn::Sleep));
        }
    }

    #[test]
    fn spinning_strategies_never_ask_to_sleep() {
        for strategy in [
            WaitStrategy::BusySpin,
            WaitStrategy::PauseSpin,
            WaitStrategy::Monitor,
            WaitStrategy::BackoffSpin,
            WaitStrategy::Adaptive { spin_iters: 2, pause_iters: 2 },
        ] {
            assert_eq!(turns_before_sleep(strategy).len(), MANY, "{strategy:?}");
        }
    }

    /// At first what comes soon is polled for, and without the instructions everything is.
    #[test]
    fn processor_waits_where_it_can() {
        let turns = turns_before_sleep(WaitStrategy::Monitor);
        let polls = match ProcessorWait::of_this_processor() {
            ProcessorWait::Pause => MANY,
            _ => TURNS_BEFORE_WATCH as usize,
        };
        assert!(turns[..polls].iter().all(|turn| *turn == Turn::Spun), "{turns:?}");
        assert!(turns[polls..].iter().all(|turn| *turn == Turn::Watch), "{turns:?}");
    }

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
    fn measured_rests_are_within_bounds() {
        use std::time::Duration;

        use super::clock::in_a_rest;
        for (ns, expected) in [(0, 256), (1, 256), (185, 64), (370, 32), (740, 16), (1_300, 9), (1 << 40, 4)]
        {
            assert_eq!(in_a_rest(Duration::from_nanos(ns)), expected, "{ns} ns");
        }
    }

    /// The thread that waits first measures, and none does so again.
    #[test]
    #[cfg(all(feature = "std", not(miri)))]
    fn giving_way_is_measured_once() {
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
