//! One turn of a spinning strategy.

use super::WaitStrategy;
#[cfg(feature = "std")]
use crate::sync::mutated;
use crate::sync::pause;

/// The spinning part of one wait.
pub(super) struct Spin {
    strategy: WaitStrategy,
    /// Turns taken so far; stops at the top rather than wrapping.
    turns: u32,
}

impl Spin {
    pub(super) fn new(strategy: WaitStrategy) -> Self {
        Self { strategy, turns: 0 }
    }

    /// Spends a moment; false where the strategy would rather sleep now.
    #[inline]
    pub(super) fn turn(&mut self) -> bool {
        let turn = self.turns;
        self.turns = turn.saturating_add(1);
        match self.strategy {
            WaitStrategy::BusySpin => yield_under_loom(),
            WaitStrategy::YieldSpin => pause(),
            WaitStrategy::BackoffSpin => {
                pauses(1 << turn.min(6));
                if turn > 6 {
                    give_way();
                }
            }
            WaitStrategy::Adaptive { spin_iters, yield_iters } => {
                match phase(turn, spin_iters, yield_iters) {
                    Phase::Bare => yield_under_loom(),
                    Phase::Paused => pause(),
                    Phase::Over => {
                        pauses(8);
                        give_way();
                    }
                }
            }
            #[cfg(feature = "std")]
            WaitStrategy::Block { spin_iters, yield_iters } => match phase(turn, spin_iters, yield_iters) {
                Phase::Bare => yield_under_loom(),
                Phase::Paused => pause(),
                Phase::Over => return mutated!("block_never_sleeps"),
            },
        }
        true
    }
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

fn pauses(count: u32) {
    for _ in 0..count {
        pause();
    }
}

/// Lets another thread have the core, where there is somebody to ask.
fn give_way() {
    // Decision 0012: spinning gives up its time slice.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    std::thread::yield_now();
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

    /// More than any strategy here spins before it sleeps.
    const MANY: usize = if cfg!(miri) { 50 } else { 1000 };

    fn turns_before_sleep(strategy: WaitStrategy) -> usize {
        let mut spin = Spin::new(strategy);
        (0..MANY).take_while(|_| spin.turn()).count()
    }

    #[test]
    #[cfg(feature = "std")]
    fn block_spins_as_often_as_asked() {
        for (spin_iters, yield_iters) in [(0, 0), (3, 0), (0, 4), (3, 4)] {
            let strategy = WaitStrategy::Block { spin_iters, yield_iters };
            assert_eq!(turns_before_sleep(strategy), (spin_iters + yield_iters) as usize);
        }
    }

    #[test]
    fn settings_at_the_top_do_not_overflow() {
        let most = u32::MAX;
        for (spin_iters, yield_iters) in [(most, most), (most, 0), (0, most)] {
            let mut spin = Spin::new(WaitStrategy::Adaptive { spin_iters, yield_iters });
            spin.turns = most - 1;
            assert!((0..5).all(|_| spin.turn()));
        }
    }

    #[test]
    fn spinning_strategies_never_ask_to_sleep() {
        for strategy in [
            WaitStrategy::BusySpin,
            WaitStrategy::YieldSpin,
            WaitStrategy::BackoffSpin,
            WaitStrategy::Adaptive { spin_iters: 2, yield_iters: 2 },
        ] {
            assert_eq!(turns_before_sleep(strategy), MANY, "{strategy:?}");
        }
    }
}
