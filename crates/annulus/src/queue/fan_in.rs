//! The consumer of many lanes: one for each producer, which join and leave while it runs.
//!
//! It takes from the lanes on the [roster's](super::roster) list, round and round: a *turn* of one lane is at most a budget of messages or, where they
//! are read in place, ends with the slice in which that is reached. So whatever other producers do, a lane with a message has its turn after one turn
//! of every other. What it knows of a lane it forgets with the turn: the lane's head says where it was.

use alloc::sync::Arc;

use super::ends::{Read, take_up_to};
use super::hub::Hub;
use super::member::{MemberRef, Quiet};
use super::read::ReadEnd;
use super::roster::Round;
use super::thinning::Thinning;
use crate::lane::Lane;
use crate::sync::mutated;
use crate::wait::{Event, Pace};

/// Messages from one lane before the others have their turn.
const BUDGET: usize = if cfg!(annulus_loom) { 1 } else { 128 };

/// The consumer of all lanes of a hub.
pub(crate) struct FanIn<T> {
    pub(super) hub: Arc<Hub<Lane<T>>>,
    /// The lane whose turn it is.
    pub(super) current: ReadEnd<T>,
    /// Its number in the roster.
    turn: usize,
    /// The number of its next message when the turn began.
    begun: u64,
    thinning: Thinning,
    /// Whether it is decided where each lane ends.
    settled: bool,
    pace: Pace,
}

// SAFETY: a share in a hub and a member of it, which may go where messages may go.
unsafe impl<T: Send> Send for FanIn<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for FanIn<T> {}

impl<T> FanIn<T> {
    /// The one consumer of `hub`, which begins with `current`, its first lane.
    pub(super) fn new(hub: Arc<Hub<Lane<T>>>, current: ReadEnd<T>) -> Self {
        let begun = current.next();
        Self { hub, current, turn: 0, begun, thinning: Thinning::new(), settled: false, pace: Pace::new() }
    }

    /// Whether something is there; then it is in the current lane.
    #[inline(always)]
    pub(super) fn has_some(&mut self) -> bool {
        self.current.known() != 0 || self.find()
    }

    /// Looks for a lane with a message, from the next on. The current one comes last: it had its turn.
    #[inline(never)]
    fn find(&mut self) -> bool {
        self.thinning.thin_out(&self.hub.roster, &self.hub.sent);
        let mut round = self.begin_round();
        let mut looked = 0;
        while self.next_lane(&mut round, &mut looked) {
            let budget = if mutated!("turn_without_end") { usize::MAX } else { BUDGET };
            if self.current.learn(budget) {
                self.thinning.found(&self.current.member, looked);
                if looked == 0 && round.is_over() {
                    self.rest();
                }
                self.current.begin_one_by_one();
                return true;
            }
            looked += 1;
        }
        self.thinning.found_nothing(looked);
        self.pace.found_nothing();
        false
    }

    /// Makes the next lane of `round` the current one. Passes over others in which nothing lies, and counts them.
    #[inline(always)]
    fn next_lane(&mut self, round: &mut Round, looked: &mut usize) -> bool {
        while let Some((index, member)) = self.hub.roster.next(round) {
            // SAFETY: this end has a share in the hub.
            let member = unsafe { MemberRef::new(member) };
            if member != self.current.member {
                if member.lane.is_quiet() {
                    *looked += 1;
                    continue;
                }
                self.current = ReadEnd::new(member);
                if self.settled {
                    self.current.seal();
                }
            }
            (self.turn, self.begun) = (index, self.current.next());
            return true;
        }
        false
    }

    /// After a search that found something in the one lane on the list: its reader may be right behind the writer. (Where there are several, there is
    /// something else to do.)
    fn rest(&mut self) {
        let end = &mut self.current;
        self.pace.found(end.known(), BUDGET / 2, || {
            end.learn(BUDGET);
            end.known()
        });
    }

    /// Looks for a lane whose messages are to be read in place; if there is one, all of them are known afterwards. Stays with the current one until its
    /// turn is over.
    #[inline]
    pub(super) fn look_in_place(&mut self) {
        let taken = self.current.next().wrapping_sub(self.begun);
        let stays = self.current.known() != 0 && (taken < BUDGET as u64 || mutated!("in_place_for_ever"));
        if stays || self.find() {
            self.current.look(usize::MAX);
        }
    }

    /// The current lane has had its turn.
    #[inline]
    pub(super) fn end_turn(&mut self) {
        self.begun = self.current.next().wrapping_sub(BUDGET as u64);
    }
}

impl<T> Read<T> for FanIn<T> {
    type Lane = Lane<T>;

    #[inline(always)]
    fn hub(&self) -> &Hub<Lane<T>> {
        &self.hub
    }

    fn event(&self) -> &Event {
        &self.hub.sent
    }

    fn expect(&mut self) {
        self.pace.hurry();
    }

    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        self.current.take_on()
    }

    fn try_take(&mut self) -> Option<T> {
        // SAFETY: something is there, in the current lane.
        self.has_some().then(|| unsafe { self.current.take() })
    }

    #[inline]
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        if self.has_some() { self.current.take_some(most, each) } else { 0 }
    }

    #[inline]
    fn take_here(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        self.current.take_some(most, each)
    }

    #[inline]
    fn take_into(&mut self, places: &mut [T]) -> usize {
        let count = places.len();
        take_up_to(count, |left| {
            if self.has_some() { self.current.move_some(&mut places[count - left..]) } else { 0 }
        })
    }

    fn begin_round(&mut self) -> Round {
        // Where it is decided where each lane ends, on the list or not, that is looked at in all of them.
        self.hub.roster.round(self.turn, self.settled)
    }

    fn next_in_round(&mut self, round: &mut Round) -> bool {
        self.next_lane(round, &mut 0)
    }

    fn here(&mut self) -> usize {
        if self.current.look(usize::MAX) {
            self.thinning.found(&self.current.member, 0);
        }
        self.current.known()
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.settled {
            return !self.has_some();
        }
        if self.hub.is_closed() {
            self.hub.await_sends();
            self.settled = true;
            // A producer that joins from now on sees the close before it sends.
            for member in self.hub.members() {
                // SAFETY: this end has a share in the hub.
                ReadEnd::new(unsafe { MemberRef::new(member) }).seal();
            }
            self.current.seal();
        }
        false
    }

    fn len(&self) -> usize {
        self.hub.members().map(|member| member.lane.len()).sum()
    }
}

impl<T> Drop for FanIn<T> {
    fn drop(&mut self) {
        self.hub.consumer_goes();
        self.settle();
        while self.has_some() {
            self.current.learn(usize::MAX);
            self.current.drop_some(self.current.known());
        }
    }
}
