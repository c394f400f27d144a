//! The consumer of many lanes, one for each producer. Producers join and leave while it runs.
//!
//! It takes from the active lanes (see [roster](super::roster)), round and round. A *turn* of one lane is at
//! most a budget of messages. Where messages are read in place, the turn ends with the slice that reaches the
//! budget. So whatever other producers do, a lane with a message has its turn after at most one turn of every
//! other. The consumer keeps nothing about a lane after its turn: the head in the lane says where it was.

use core::convert::Infallible;

use super::ends::{Read, take_up_to};
use super::lane_node::{LaneNode, QueueLane};
use super::read::{ReadEnd, note_rest, seal};
use super::roster::{BUDGET, Round};
use super::state::LaneShare;
use super::thinning::Thinning;
use crate::base::drop_all::drop_all;
use crate::lane::{ControlBlock, Number, OneToOne, Own};
use crate::sync::{AtomicU64, seeded};
use crate::wait::ReaderBackoff;

/// The consumer of all lanes of a queue state.
pub(crate) struct FanIn<T, C: ControlBlock = Own> {
    /// The lane whose turn it is.
    pub(super) current: ReadEnd<T, C>,
    /// Its number in the roster.
    turn: usize,
    /// The number of its next message when the turn began.
    begun: Number,
    thinning: Thinning,
    /// Whether all lanes are sealed.
    settled: bool,
    backoff: ReaderBackoff,
}

impl<T, C: ControlBlock> Read<T> for FanIn<T, C> {
    type Lane = OneToOne<T, C>;
    type Corrupt = Infallible;

    #[inline(always)]
    fn node(&self) -> &LaneNode<OneToOne<T, C>> {
        &self.current.node
    }

    // Mutants: `with None`: costs or saves time.
    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        self.current.take_in_run()
    }

    fn try_take(&mut self) -> Option<T> {
        // SAFETY: something is there, in the current lane.
        self.has_message().then(|| unsafe { self.current.take() })
    }

    /// If so, one is in the current lane.
    #[inline(always)]
    fn has_message(&mut self) -> bool {
        self.current.cached_len() != 0 || self.find()
    }

    /// Where there is one lane, there is nothing to search.
    // Mutants: `with false`: costs or saves time.
    #[inline(always)]
    fn is_plainly_empty(&mut self) -> bool {
        // The tail first: what was sent before the end is found before the end. The number of lanes behind
        // it: a lane that is made later is its producer's to tell of.
        let is_empty = !C::ACROSS
            && self.current.is_plainly_empty()
            && self.state().lanes_in_use() <= 1
            && (!self.state().may_be_closed() || seeded!("empty_though_closed"));
        if is_empty {
            self.backoff.found_nothing();
        }
        is_empty
    }

    fn before_spin(&mut self) {
        self.backoff.skip_next_rest();
        // Decision 0052: as in a queue of one lane.
        if C::ACROSS {
            self.current.prefetch();
        }
    }

    /// Where there is one lane, which then stays active. (The first message of a producer that joins
    /// meanwhile is found a little later.)
    fn watched(&self) -> Option<&AtomicU64> {
        (self.state().lanes_in_use() <= 1).then(|| self.current.lane().tail_word())
    }

    #[cfg(feature = "shm")]
    fn peek(&mut self) -> Option<T>
    where
        T: Copy,
    {
        self.current().peek()
    }

    #[inline]
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        if self.has_message() { self.current.take_some(most, each) } else { 0 }
    }

    #[inline]
    fn take_from_lane(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        self.current.take_some(most, each)
    }

    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        let count = buffer.len();
        take_up_to(count, |left| {
            if self.has_message() { self.current.move_some(&mut buffer[count - left..]) } else { 0 }
        })
    }

    fn begin_round(&mut self) -> Round {
        let state = self.state();
        // Once all lanes are sealed, it looks at all of them, active or not.
        let lanes = if self.settled { state.roster.count() } else { state.lanes_in_use() };
        Round::of(self.turn, lanes, self.settled)
    }

    fn next_in_round(&mut self, round: &mut Round) -> bool {
        self.next_lane(round, &mut 0)
    }

    /// What was known when it began.
    fn left_of_turn(&self) -> usize {
        self.current.cached_len()
    }

    fn lane_len(&mut self, most: usize) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.current.cached_len() < most && self.current.refresh_to_take_all(usize::MAX) {
            self.thinning.found(&self.current.node, 0);
        }
        most.min(self.current.cached_len())
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.settled {
            return !self.has_message();
        }
        if self.state().is_closed() {
            self.state().await_sends();
            self.settled = true;
            // A producer that joins from now on sees the close before it sends.
            for node in self.state().nodes() {
                seal(&node.lane, node.lane.head());
            }
            self.current.seal();
        }
        false
    }

    fn len(&self) -> usize {
        self.state().nodes().map(|node| node.lane.len()).sum()
    }
}

/// A search: the lanes in turn.
impl<T, C: ControlBlock> FanIn<T, C> {
    /// Looks for a lane with a message, from the next lane on. The current lane comes last, because it had
    /// its turn.
    #[inline(never)]
    fn find(&mut self) -> bool {
        let state = self.current.node.state();
        // (A producer of another process can't make its lane active again.)
        if !C::ACROSS {
            self.thinning.thin_out(&state.roster, &state.published);
        }
        let mut round = self.begin_round();
        let mut looked = 0;
        while self.next_lane(&mut round, &mut looked) {
            let budget = if seeded!("turn_without_end") { usize::MAX } else { BUDGET };
            if self.current.refresh(budget) {
                self.thinning.found(&self.current.node, looked);
                // Mutants: `&& with ||`, `== with !=`: it rests before it receives, or does not.
                if looked == 0 && round.is_over() {
                    self.rest();
                }
                self.current.limit_to_sample();
                return true;
            }
            looked += 1;
        }
        self.thinning.found_nothing(looked);
        self.backoff.found_nothing();
        false
    }

    /// Makes the next lane of `round` the current one. Passes over empty lanes, and counts them.
    #[inline(always)]
    fn next_lane(&mut self, round: &mut Round, looked: &mut usize) -> bool {
        let here = self.turn;
        let found = self.current.move_on(round, here, |node| {
            let is_wanted = node.index as usize == here || !node.lane.is_quiet();
            *looked += usize::from(!is_wanted);
            is_wanted
        });
        let Some(index) = found else { return false };
        if index != here && self.settled {
            self.current.seal();
        }
        (self.turn, self.begun) = (index, self.current.next());
        true
    }

    /// After a search that found messages in the only active lane: its reader may be right behind the writer.
    /// (With several active lanes the reader has other work.)
    fn rest(&mut self) {
        let end = &mut self.current;
        self.backoff.found(end.cached_len(), BUDGET / 2, || {
            note_rest(&end.node);
            end.refresh(BUDGET);
            end.cached_len()
        });
    }
}

/// In place.
impl<T, C: ControlBlock> FanIn<T, C> {
    /// Looks for a lane whose messages are to be read in place. Where there is one, all its messages are
    /// known afterwards. Stays with the current lane until its turn is over.
    #[inline]
    pub(super) fn refresh_in_place(&mut self) {
        let taken = self.current.next().since(self.begun);
        let stays = self.current.cached_len() != 0 && taken < BUDGET as u64;
        if stays || self.find() {
            self.current.refresh_to_take_all(usize::MAX);
        }
    }

    /// The end of the lane that the last look was at.
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut ReadEnd<T, C> {
        &mut self.current
    }

    /// Where the message lay that was taken last: the number of its lane, and its own.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    #[inline(always)]
    pub(super) fn last_place(&self) -> (usize, Number) {
        (self.turn, self.current.lane().message_before(self.current.next()))
    }

    /// The current lane has had its turn.
    #[inline]
    pub(super) fn end_turn(&mut self) {
        self.begun = self.current.next().back(BUDGET as u64);
    }
}

impl<T, C: ControlBlock> FanIn<T, C> {
    /// The one consumer of a queue, which begins with the first lane. The next message there is `next`.
    #[inline(always)]
    pub(super) fn at(first: LaneShare<OneToOne<T, C>>, next: Number) -> Self {
        Self {
            current: ReadEnd::at(first, next),
            turn: 0,
            begun: next,
            thinning: Thinning::new(),
            settled: false,
            backoff: ReaderBackoff::new(),
        }
    }
}

impl<T, C: ControlBlock> Drop for FanIn<T, C> {
    fn drop(&mut self) {
        self.state().consumer_goes();
        if self.state().is_without_producers() {
            if self.state().roster.count() == 1 {
                return self.current.drop_rest();
            }
            // Where nobody sends any more, the tails are the ends.
            self.settled = true;
        } else {
            self.settle();
        }
        // One round: nothing is sent any more.
        let mut round = self.begin_round();
        drop_all(|| {
            let is_lane = self.next_in_round(&mut round);
            if is_lane {
                self.current.refresh(usize::MAX);
                self.current.drop_some(self.current.cached_len());
            }
            is_lane
        });
    }
}
