//! A consumer among many, of one shared lane or of many: V4 to V6 of `lane/shared_lane.rs`.
//!
//! Each consumer goes round the lanes on the [roster's](super::roster) list by itself, and takes at most a
//! budget of messages of one before it looks at the others. So a lane with a message has its turn after one
//! turn of every other, with each consumer that goes on.

use super::ends::Read;
use super::rest::fill;
use super::roster::Round;
use super::share::LaneShare;
use super::state::QueueState;
use super::thinning::Thinning;
use crate::lane::SharedLane;
use crate::sync::mutated;

/// Messages from one lane before the others have their turn.
const BUDGET: usize = if cfg!(annulus_loom) { 1 } else { 128 };

/// A consumer of all shared lanes of a queue state.
pub(crate) struct Claimer<T> {
    /// The lane whose turn it is.
    local: LaneShare<SharedLane<T>>,
    /// Its number in the roster.
    turn: usize,
    /// Messages that it may take from there before it looks at others.
    budget: usize,
    thinning: Thinning,
    /// Whether it has called the barrier since the queue was closed: what it does not find then will not
    /// come.
    settled: bool,
    /// Whether all lanes are ended.
    over: bool,
}

impl<T> Claimer<T> {
    /// A consumer that begins with `local`. The queue state counts it already.
    pub(super) fn new(local: LaneShare<SharedLane<T>>) -> Self {
        Self { local, turn: 0, budget: BUDGET, thinning: Thinning::new(), settled: false, over: false }
    }

    /// Another consumer, which begins with the next lane.
    pub(super) fn another(&self) -> Self {
        self.state().consumer_comes();
        let mut other = Self::new(self.local.clone());
        let mut round = self.state().roster.round(self.turn, true);
        other.next_in_round(&mut round);
        other
    }

    /// Claims up to `most` messages of one lane, which is the local one then; returns the first and how many.
    #[inline]
    fn claim(&mut self, most: usize) -> Option<(u64, usize)> {
        self.claim_here(most).or_else(|| self.claim_elsewhere(most))
    }

    /// As [`claim`](Self::claim), of the local lane, if it has not had its turn.
    #[inline(always)]
    fn claim_here(&mut self, most: usize) -> Option<(u64, usize)> {
        let budget = if mutated!("steals_without_end") { usize::MAX } else { self.budget };
        if budget == 0 {
            return None;
        }
        let (first, count) = self.local.lane.claim(most.min(budget))?;
        self.budget = self.budget.saturating_sub(count);
        Some((first, count))
    }

    /// Looks at the lanes, from the next on. The local one comes last: it had its turn, or nothing was there.
    #[cold]
    #[inline(never)]
    fn claim_elsewhere(&mut self, most: usize) -> Option<(u64, usize)> {
        if self.budget != 0 && self.state().roster.count() == 1 {
            // Decision 0051: no look at how full it is.
            // Nothing was there, and there is no other.
            return None;
        }
        let state = self.local.state();
        self.thinning.thin_out(&state.roster, &state.published);
        let mut round = self.begin_round();
        let mut looked = 0;
        while self.next_in_round(&mut round) {
            if let Some(claimed) = self.claim_here(most) {
                self.thinning.found(&self.local, looked);
                return Some(claimed);
            }
            looked += 1;
        }
        self.thinning.found_nothing(looked);
        None
    }

    /// Moves message `number` of the local lane out.
    ///
    /// # Safety
    ///
    /// This end has claimed it, and does so once.
    #[inline(always)]
    unsafe fn take(&self, number: u64) -> T {
        let local = &*self.local;
        // SAFETY: the caller's promise.
        let value = unsafe { local.lane.take(number) };
        if !mutated!("shared_take_wakes_nobody") {
            local.released.notify();
        }
        value
    }
}

impl<T> Read<T> for Claimer<T> {
    type Lane = SharedLane<T>;

    #[inline(always)]
    fn state(&self) -> &QueueState<SharedLane<T>> {
        self.local.state()
    }

    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        let (number, _) = self.claim_here(1)?;
        // SAFETY: claimed just now.
        Some(unsafe { self.take(number) })
    }

    fn try_take(&mut self) -> Option<T> {
        let (number, _) = self.claim(1)?;
        // SAFETY: claimed just now.
        Some(unsafe { self.take(number) })
    }

    /// One by one: what is claimed can't be put back, and `each` may panic.
    #[inline]
    fn take_some(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        if most == 0 {
            return 0;
        }
        // Decision 0045: one by one for a handler.
        match self.try_take() {
            Some(value) => {
                each(value);
                1
            }
            None => 0,
        }
    }

    /// From the local lane only: a round that went on elsewhere, where others were faster, would pass lanes
    /// over.
    #[inline]
    fn take_here(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let Some((number, _)) = self.local.lane.claim(most.min(1)) else { return 0 };
        // SAFETY: claimed just now.
        each(unsafe { self.take(number) });
        1
    }

    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        let mut filled = 0;
        while filled < buffer.len() {
            let Some((first, count)) = self.claim(buffer.len() - filled) else { break };
            // SAFETY: claimed just now, and each is taken once.
            fill(&mut buffer[filled..filled + count], first, |number| unsafe { self.take(number) });
            filled += count;
        }
        filled
    }

    fn begin_round(&mut self) -> Round {
        // Where the queue is closed, what is in no list is found, too, before E4 ends it.
        self.state().roster.round_beside_others(self.turn, self.settled)
    }

    #[inline]
    fn next_in_round(&mut self, round: &mut Round) -> bool {
        let Some(turn) = self.local.move_on(round, |_| true) else { return false };
        (self.turn, self.budget) = (turn, BUDGET);
        true
    }

    fn here(&mut self) -> usize {
        self.local.lane.len()
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.over {
            return true;
        }
        if self.settled {
            self.over = if mutated!("shared_closed_unsealed") {
                self.len() == 0
            } else {
                // E4, in each of them. (One that comes now has a producer that sees the close before it
                // sends.)
                self.state().nodes().all(|node| node.lane.seal())
            };
            return self.over;
        }
        if self.state().is_closed() {
            self.state().await_sends();
            self.settled = true;
        }
        false
    }

    fn len(&self) -> usize {
        self.state().nodes().map(|node| node.lane.len()).sum()
    }
}

impl<T> Drop for Claimer<T> {
    fn drop(&mut self) {
        if self.state().consumer_goes() {
            self.state().await_sends();
            self.settled = true;
            while let Some(value) = self.try_take() {
                drop(value);
            }
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
impl<T> Claimer<T> {
    /// As if the local lane had had its turn.
    pub(super) fn end_turn_for_test(&mut self) {
        self.budget = 0;
    }
}
