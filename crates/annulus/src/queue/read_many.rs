//! A consumer among many, of one one-to-many lane or of many: stamped.take4 to stamped.take6 of
//! `lane/stamped.rs`.
//!
//! ```text
//! plain path                                              slow path, outlined
//! take_plainly:  the turn of this lane is not over?  no ─▶ the caller waits, and search: the next lanes
//! stamped.take4 to stamped.take6: one message of it
//! say_released:  does its producer sleep?           yes ─▶ wake it
//! ```
//!
//! Each consumer goes round the lanes on the [roster's](super::roster) list by itself, and takes at most a
//! budget of messages of one before it looks at the others. So a lane with a message has its turn after one
//! turn of every other, with each consumer that continues.

use core::convert::Infallible;

use super::ends::Read;
use super::lane_node::LaneNode;
use super::roster::{BUDGET, Round};
use super::state::LaneShare;
use super::thinning::Thinning;
use crate::base::drop_all::drop_all;
use crate::lane::{Number, OneToMany, Taken};
use crate::sync::{AtomicU64, seeded};

/// A consumer of all one-to-many lanes of a queue state.
pub(crate) struct ReadMany<T> {
    /// The lane whose turn it is.
    local: LaneShare<OneToMany<T>>,
    /// Its number in the roster.
    turn: usize,
    /// Messages that it may take from there before it looks at others.
    budget: usize,
    /// Messages that a round saw here when the turn began, and has not taken.
    left: usize,
    thinning: Thinning,
    /// Whether it has called the barrier since the queue was closed: what it does not find then will not
    /// come.
    settled: bool,
    /// Whether all lanes are ended.
    over: bool,
}

impl<T> Read<T> for ReadMany<T> {
    type Lane = OneToMany<T>;
    type Corrupt = Infallible;

    #[inline(always)]
    fn node(&self) -> &LaneNode<OneToMany<T>> {
        &self.local
    }

    // Mutants: `with None`: costs or saves time.
    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        self.take_next_here()
    }

    fn try_take(&mut self) -> Option<T> {
        self.take_next_here().or_else(|| self.search(Self::take_next_here))
    }

    fn has_message(&mut self) -> bool {
        let here = |end: &mut Self| {
            let is_here = end.budget() != 0 && !end.local.lane.is_empty();
            is_here.then_some(())
        };
        here(self).or_else(|| self.search(here)).is_some()
    }

    fn has_certain_message(&mut self) -> bool {
        seeded!("batch_of_many_readers") && self.has_message()
    }

    /// As of a [`FanIn`](super::fan_in::FanIn).
    fn watched(&self) -> Option<&AtomicU64> {
        (self.state().roster.count() == 1).then(|| self.local.lane.next_word())
    }

    /// One by one: what is claimed can't be put back, and `each` may panic.
    #[inline]
    fn take_some(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        if most == 0 {
            // Unreached: nobody asks for no message; the trait allows it
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
    fn take_from_lane(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        if most == 0 {
            // Unreached: nobody asks for no message; the trait allows it
            return 0;
        }
        let Some(Taken { value, .. }) = self.local.lane.take_next() else { return 0 };
        self.left = self.left.saturating_sub(1);
        say_released(&self.local);
        each(value);
        1
    }

    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        let mut filled = 0;
        // Mutants: `< with <=`: it looks for one more message than there is room for.
        while filled < buffer.len() {
            let rest = &mut buffer[filled..];
            let moved = self.move_here(rest).or_else(|| self.search(|end| end.move_here(rest)));
            let Some(count) = moved else { break };
            filled += count;
        }
        filled
    }

    fn begin_round(&mut self) -> Round {
        // Where the queue is closed, what is in no list is found, too, before divide.end2 ends it.
        self.state().roster.round_beside_others(self.turn, self.settled)
    }

    #[inline]
    fn next_in_round(&mut self, round: &mut Round) -> bool {
        let Some(turn) = self.local.move_on(round, |_| true) else { return false };
        (self.turn, self.budget, self.left) = (turn, BUDGET, 0);
        true
    }

    fn left_of_turn(&self) -> usize {
        self.left
    }

    fn lane_len(&mut self, most: usize) -> usize {
        self.left = self.local.lane.len();
        most.min(self.left)
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.over {
            return true;
        }
        if self.settled {
            self.over = if seeded!("one_to_many_closed_unsealed") {
                // Mutants: `== with !=`: only a seeded bug comes here.
                self.len() == 0
            } else {
                // divide.end2, in each of them. (One that comes now has a producer that sees the close before
                // it sends.)
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

/// The plain path: a message of the local lane.
impl<T> ReadMany<T> {
    /// Takes the next message of the local lane, if that has not had its turn.
    #[inline(always)]
    fn take_next_here(&mut self) -> Option<T> {
        if self.budget() == 0 {
            return None;
        }
        let Taken { value, raced, .. } = self.local.lane.take_next()?;
        self.budget = self.budget.saturating_sub(1);
        if raced {
            self.leave_to_others();
        }
        say_released(&self.local);
        Some(value)
    }

    /// How many messages it may take from the local lane before it looks at the others.
    #[inline(always)]
    fn budget(&self) -> usize {
        if seeded!("steals_without_end") { usize::MAX } else { self.budget }
    }

    /// Another consumer takes from the local lane, too. Ends the turn of that lane, where there are others:
    /// two at different lanes do not slow each other down.
    // Decision 0111: what a race costs, and which consumer gives way.
    #[cold]
    fn leave_to_others(&mut self) {
        if self.state().roster.count() > 1 {
            self.budget = 0;
        }
    }
}

/// Wakes the producer of `node` if it waits for a free slot.
#[inline(always)]
fn say_released<T>(node: &LaneNode<OneToMany<T>>) {
    if !seeded!("one_to_many_take_wakes_nobody") {
        node.released.notify();
    }
}

/// The slow path: the lanes in turn.
impl<T> ReadMany<T> {
    /// Looks at the lanes, from the next on, until `take` takes something of one, which is the local one
    /// then. The lane that is local now comes last: it had its turn, or nothing was there.
    #[cold]
    #[inline(never)]
    fn search<R>(&mut self, mut take: impl FnMut(&mut Self) -> Option<R>) -> Option<R> {
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
            if let Some(taken) = take(self) {
                self.thinning.found(&self.local, looked);
                return Some(taken);
            }
            looked += 1;
        }
        self.thinning.found_nothing(looked);
        None
    }
}

/// Batches, and what is dropped.
impl<T> ReadMany<T> {
    /// Moves messages of the local lane into `buffer`, if that lane has not had its turn. Returns how many,
    /// `None` where there is none.
    #[inline]
    fn move_here(&mut self, buffer: &mut [T]) -> Option<usize> {
        let budget = self.budget();
        let claimed = self.local.lane.claim(buffer.len().min(budget))?;
        let count = claimed.len();
        self.budget = self.budget.saturating_sub(count);
        let _leaving = LeavingLane(&self.local);
        for (slot, value) in buffer.iter_mut().zip(claimed) {
            *slot = value;
        }
        Some(count)
    }

    /// Drops the next message of the local lane where it is, if that lane has not had its turn.
    fn discard_next_here(&mut self) -> Option<()> {
        let claimed = self.local.lane.claim(self.budget().min(1))?;
        self.budget = self.budget.saturating_sub(1);
        let _leaving = LeavingLane(&self.local);
        drop(claimed);
        Some(())
    }
}

/// Says on drop that slots of this lane were left, also if a destructor panicked.
struct LeavingLane<'a, T>(&'a LaneNode<OneToMany<T>>);

impl<T> Drop for LeavingLane<'_, T> {
    #[inline]
    fn drop(&mut self) {
        say_released(self.0);
    }
}

/// How a consumer begins.
impl<T> ReadMany<T> {
    /// A consumer that begins with `local`, which has the number of the next message: not always the first
    /// one. The queue state counts the consumer already.
    #[inline(always)]
    pub(super) fn at(local: LaneShare<OneToMany<T>>, _first: Number) -> Self {
        Self {
            local,
            turn: 0,
            budget: BUDGET,
            left: 0,
            thinning: Thinning::new(),
            settled: false,
            over: false,
        }
    }

    /// Another consumer, which begins with the next lane.
    pub(super) fn another(&self) -> Self {
        self.state().consumer_comes();
        let mut other = Self::at(self.local.clone(), self.state().plan.first);
        let mut round = self.state().roster.round(self.turn, true);
        other.next_in_round(&mut round);
        other
    }
}

impl<T> Drop for ReadMany<T> {
    fn drop(&mut self) {
        if self.state().consumer_goes() {
            self.state().await_sends();
            self.settled = true;
            drop_all(|| self.discard_next_here().or_else(|| self.search(Self::discard_next_here)).is_some());
        }
    }
}

#[cfg(test)]
impl<T> ReadMany<T> {
    /// As if the local lane had had its turn.
    pub(super) fn end_turn_for_test(&mut self) {
        self.budget = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::mpmc;

    /// Two consumers that meet at a lane would slow each other down, and leave another one alone.
    #[test]
    fn consumer_that_meets_another_moves_to_the_next_lane() {
        let (mut first, mut consumer) = mpmc::channel(4);
        (0..3).for_each(|_| first.try_send(1).unwrap());
        consumer.end.leave_to_others();
        assert_eq!(consumer.end.budget, BUDGET, "there is no other lane");
        let mut second = first.clone();
        second.try_send(2).unwrap();
        assert_eq!(consumer.try_recv(), Ok(1));
        consumer.end.leave_to_others();
        assert_eq!([(); 3].map(|()| consumer.try_recv()), [Ok(2), Ok(1), Ok(1)]);
    }
}
