//! One turn of a spinning strategy.

#[cfg(feature = "std")]
use super::give_way::{GiveWay, give_up_time_slice};
use super::pauses::{measure, pauses};
use super::{EventCount, WaitStrategy};
use crate::processor::ProcessorWait;
#[cfg(feature = "std")]
use crate::sync::mutated;
use crate::sync::pause;

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
    /// Nothing: the processor is to wait until a word changes, by [`watch`](super::watch::watch).
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
            WaitStrategy::YieldSpin => pause(),
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
            WaitStrategy::Adaptive { spin_iters, yield_iters } => {
                match phase(turn, spin_iters, yield_iters) {
                    Phase::Bare => yield_under_loom(),
                    Phase::Paused => pause(),
                    Phase::Over => {
                        pauses(8);
                        return give_way();
                    }
                }
            }
            #[cfg(feature = "std")]
            WaitStrategy::Block { spin_iters: 0, yield_iters: 0 } => return sleep(),
            #[cfg(feature = "std")]
            WaitStrategy::Block { spin_iters, yield_iters } => {
                let phase = phase(turn, spin_iters, yield_iters);
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
    if mutated!("block_never_sleeps") { Turn::Spun } else { Turn::Sleep }
}

enum Phase {
    Bare,
    Paused,
    Over,
}

#[inline]
fn phase(turn: u32, spin_iters: u32, yield_iters: u32) -> Phase {
    if turn < spin_iters {
        Phase::Bare
    } else if turn - spin_iters < yield_iters {
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

#[cfg(all(test, not(annulus_loom)))]
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
        for (spin_iters, yield_iters) in [(0, 0), (3, 0), (0, 4), (3, 4), (64, 32)] {
            let strategy = WaitStrategy::Block { spin_iters, yield_iters };
            let (event, asked) = (EventCount::new(), (spin_iters + yield_iters) as usize);
            let first = turns_at(&event, strategy);
            assert!(first.iter().take(asked).all(|turn| *turn == Turn::Spun), "{first:?}");
            let gave_way = &first[asked..];
            assert!(gave_way.iter().all(|turn| *turn == Turn::GaveWay) && gave_way.len() <= TIMES as usize);
            assert_eq!(gave_way.is_empty(), asked == 0, "who asks for nothing sleeps at once");
            assert_eq!(turns_at(&event, strategy).len(), asked, "it was in vain");
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
        let mut spin = Spin::new(WaitStrategy::Block { spin_iters: 10, yield_iters: 10 });
        spin.count(15);
        let turns = (0..MANY).take_while(|_| spin.turn(&event) == Turn::Spun).count();
        assert_eq!(turns, 5);
    }

    #[test]
    fn settings_at_the_top_do_not_overflow() {
        let most = u32::MAX;
        for (spin_iters, yield_iters) in [(most, most), (most, 0), (0, most)] {
            let mut spin = Spin::new(WaitStrategy::Adaptive { spin_iters, yield_iters });
            spin.turns = most - 1;
            assert!((0..5).all(|_| spin.turn(&EventCount::new()) != Turn::Sleep));
        }
    }

    #[test]
    fn spinning_strategies_never_ask_to_sleep() {
        for strategy in [
            WaitStrategy::BusySpin,
            WaitStrategy::YieldSpin,
            WaitStrategy::Monitor,
            WaitStrategy::BackoffSpin,
            WaitStrategy::Adaptive { spin_iters: 2, yield_iters: 2 },
        ] {
            assert_eq!(turns_before_sleep(strategy).len(), MANY, "{strategy:?}");
        }
    }

    /// At first what comes soon is polled for, and without the instructions everything is.
    #[test]
    fn the_processor_waits_where_it_can() {
        let turns = turns_before_sleep(WaitStrategy::Monitor);
        let polls = match ProcessorWait::of_this_processor() {
            ProcessorWait::Pause => MANY,
            _ => TURNS_BEFORE_WATCH as usize,
        };
        assert!(turns[..polls].iter().all(|turn| *turn == Turn::Spun), "{turns:?}");
        assert!(turns[polls..].iter().all(|turn| *turn == Turn::Watch), "{turns:?}");
    }
}
