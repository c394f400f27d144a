//! The consumer of many lanes: one for each producer, which join and leave while it runs.
//!
//! It looks at the lanes that were lately busy, in turn, and takes a budget from each. Lanes in which it found nothing for long it takes
//! off its list, once looks at them have cost about as much as that does: it unlists a lane (M1), calls a barrier (M2) and looks once more
//! (M3). A producer that finds its lane unlisted, after its store and a fence (L4), calls the consumer (`Hub::call`). So either M3 sees the
//! message or the producer sees M1, no message is ever hidden from the next poll once its send is over, and in the long run a poll costs what there
//! is to take and one load, however many producers have joined.
//!
//! Every lane is in one place: on the list, on the stack of those that call, with a producer that is about to call, or, unlisted, nowhere. Only who
//! turns `listed` to true brings it to the next. A lane that M3 finds busy stays on the list though its producer may be about to call:
//! then it is not unlisted before that call has come (`ReadEnd::calls`).
//!
//! A lane whose producer has left goes back to the hub when it is empty. A producer leaves after its last call, so no other one has the lane then.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::hub::{Hub, Member};
use super::kind::{Read, take_up_to};
use super::read::ReadEnd;
use crate::ring::Lane;
use crate::sync::mutated;
use crate::wait::{Event, Pace};

/// Messages from one lane before the others have their turn.
const BUDGET: usize = if cfg!(annulus_loom) { 1 } else { 128 };

/// Looks in a row that found nothing, before a lane may be taken off the list.
const QUIET: u32 = if cfg!(annulus_loom) { 1 } else { 32 };

/// Lanes beside the current one that stay on the list though they are quiet …
const KEPT: usize = if cfg!(annulus_loom) { 0 } else { 2 };

/// … until so many searches found something elsewhere. Where all are quiet, nobody gains by taking them off.
const LONG: u64 = 128;

/// What it takes to take lanes off, in looks at lanes in vain: a barrier is some microseconds, on the producers' cores too. After as many, it
/// is time to see whether some are quiet. (Sooner in debug builds, so that tests and fuzzers come by there in a few steps.)
const PRICE: usize = if cfg!(debug_assertions) { 32 } else { 2048 };

/// Room on the list from the start.
const ROOM: usize = 64;

/// The consumer of all lanes of a hub.
pub(crate) struct FanIn<T> {
    pub(super) hub: Arc<Hub<Lane<T>>>,
    /// The lane to take from next. It is the last to be given up.
    pub(super) current: ReadEnd<T>,
    /// The others on the list.
    others: Vec<ReadEnd<T>>,
    /// Whose turn is next.
    turn: usize,
    /// How many searches have found something.
    found: u64,
    /// Looks in vain since the last time: those before a look that found something, and at more than the lanes that stay anyway.
    vain: usize,
    /// How many lanes on the list have a call that is yet to come.
    calls: usize,
    /// Whether it is decided where each lane ends.
    settled: bool,
    pace: Pace,
}

// SAFETY: a share in a hub and members of it, which may go where messages may go.
unsafe impl<T: Send> Send for FanIn<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for FanIn<T> {}

impl<T> FanIn<T> {
    /// The one consumer of `hub`, which begins with `current`.
    pub(super) fn new(hub: Arc<Hub<Lane<T>>>, current: ReadEnd<T>) -> Self {
        Self {
            hub,
            current,
            others: Vec::with_capacity(ROOM),
            turn: 0,
            found: 0,
            vain: 0,
            calls: 0,
            settled: false,
            pace: Pace::new(),
        }
    }

    /// Whether something is there; then it is in the current lane.
    #[inline(always)]
    pub(super) fn has_some(&mut self) -> bool {
        self.current.known() != 0 || self.find()
    }

    /// Looks for a lane with a message, from the next on.
    #[inline(never)]
    fn find(&mut self) -> bool {
        self.meet_callers();
        // Here, because a search that finds something in the first lane never comes to an end.
        if self.is_crowded() && self.thin_out() {
            return true;
        }
        loop {
            // The current one comes last: it had its turn.
            for before in 0..=self.others.len() {
                self.change_turns();
                let some = self.current.learn(BUDGET);
                self.count(some);
                if some {
                    self.vain += before;
                    self.rest_if_alone();
                    self.current.begin_one_by_one();
                    return true;
                }
                self.give_up_if_left();
            }
            self.vain += self.others.len().saturating_sub(KEPT);
            if !self.meet_callers() {
                self.pace.found_nothing();
                return false;
            }
        }
    }

    /// After a search that found something: where there is one lane, its reader may be right behind the writer. (Where there are several, there is
    /// something else to do.)
    fn rest_if_alone(&mut self) {
        if self.others.is_empty() {
            let end = &mut self.current;
            self.pace.found(end.known(), BUDGET / 2, || {
                end.learn(BUDGET);
                end.known()
            });
        }
    }

    /// After a look at the current lane.
    #[inline(always)]
    fn count(&mut self, some: bool) {
        if some {
            self.found = self.found.wrapping_add(1);
            (self.current.quiet, self.current.found) = (0, self.found);
        } else {
            self.current.quiet = (self.current.quiet + 1).min(QUIET);
        }
    }

    /// Whether it is time to take lanes off the list, and there are some.
    fn is_crowded(&mut self) -> bool {
        if self.vain < PRICE && !cfg!(annulus_loom) {
            return false;
        }
        self.vain = 0;
        let many = self.others.len() > KEPT;
        self.others.iter().any(|end| is_idle(end) && (many || is_idle_for_long(end, self.found)))
    }

    /// Makes the next lane the current one.
    fn change_turns(&mut self) {
        if self.turn >= self.others.len() {
            self.turn = 0;
        }
        // So the turn is at least 1 afterwards, if there are others.
        if let Some(next) = self.others.get_mut(self.turn) {
            core::mem::swap(next, &mut self.current);
            self.turn += 1;
        }
    }

    /// Gives the current lane back to the hub, if its producer has left and it is empty, and there is another.
    fn give_up_if_left(&mut self) {
        if self.others.is_empty() || !is_over(&mut self.current) {
            return;
        }
        // It came from where the one before it is now: that one is current again, and the order of the others stays.
        self.turn -= 1;
        let before = self.others.remove(self.turn);
        let left = core::mem::replace(&mut self.current, before);
        left.member().give_up();
    }

    /// Puts the lanes that call on the list; says whether there were any.
    #[inline]
    fn meet_callers(&mut self) -> bool {
        if self.settled || !self.hub.is_called() {
            return false;
        }
        for member in self.hub.callers() {
            if self.calls == 0 || !self.has_come(member) || mutated!("call_lists_twice") {
                let mut end = ReadEnd::new(member);
                end.found = self.found;
                self.others.push(end);
            }
        }
        true
    }

    /// Whether `member`, which calls, is on the list already.
    #[cold]
    fn has_come(&mut self, member: NonNull<Member<Lane<T>>>) -> bool {
        let on_list =
            core::iter::once(&mut self.current).chain(&mut self.others).find(|end| end.member == member);
        if let Some(end) = on_list {
            end.calls = false;
            self.calls -= 1;
            return true;
        }
        false
    }

    /// Takes quiet lanes off the list. Says whether one of them had something after all; it is the current one then.
    #[cold]
    #[inline(never)]
    fn thin_out(&mut self) -> bool {
        // M1.
        let mut spare = self.others.len().saturating_sub(KEPT);
        for end in self.others.iter_mut().filter(|end| is_idle(end)) {
            if spare > 0 || is_idle_for_long(end, self.found) {
                spare = spare.saturating_sub(1);
                end.member().unlist();
                end.quiet = UNLISTED;
            }
        }
        // M2. Pairs with the fence of L4.
        let fenced = mutated!("unlist_no_barrier") || self.hub.sent.barrier();
        let mut index = 0;
        while index < self.others.len() {
            let end = &mut self.others[index];
            if end.quiet == UNLISTED {
                end.quiet = 0;
                // M3. Where there was no barrier, nothing can be told from what is not there.
                let stays = !fenced || end.look(BUDGET) || end.member().is_leaving();
                if !stays || mutated!("unlist_no_second_look") {
                    self.others.swap_remove(index);
                    continue;
                }
                // It stays also where its producer was faster and calls: that may take its time, and earlier messages may be there.
                if !end.member().relist() {
                    if mutated!("call_hides_the_lane") {
                        self.others.swap_remove(index);
                        continue;
                    }
                    end.calls = true;
                    self.calls += 1;
                }
            }
            index += 1;
        }
        // Those that stayed are looked at again, by the next call.
        match self.others.iter().position(|end| end.known() != 0) {
            Some(busy) => {
                core::mem::swap(&mut self.others[busy], &mut self.current);
                true
            }
            None => false,
        }
    }
}

/// Whether a lane in which nothing was found may go back to the hub.
fn is_over<T>(end: &mut ReadEnd<T>) -> bool {
    // Once more after the leave: the last messages come before it.
    !end.calls && end.member().has_left() && (!end.look(BUDGET) || mutated!("left_no_second_look"))
}

/// Whether a lane may be taken off the list. Not where a call is yet to come: the producer would call a second time, with the first on the stack.
fn is_idle<T>(end: &ReadEnd<T>) -> bool {
    end.quiet >= QUIET && !end.calls
}

/// Whether others were busy for long meanwhile.
fn is_idle_for_long<T>(end: &ReadEnd<T>, found: u64) -> bool {
    found.wrapping_sub(end.found) >= LONG
}

/// In place of how long a lane was quiet: it is about to leave the list. No count comes so far.
const UNLISTED: u32 = u32::MAX;

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
    fn take_into(&mut self, places: &mut [T]) -> usize {
        let count = places.len();
        take_up_to(count, |left| {
            if self.has_some() { self.current.move_some(&mut places[count - left..]) } else { 0 }
        })
    }

    fn begin_round(&mut self) -> usize {
        self.meet_callers();
        // As `find` does.
        self.others.retain_mut(|end| {
            let goes = end.quiet > 0 && is_over(end);
            if goes {
                end.member().give_up();
            }
            !goes
        });
        if self.is_crowded() {
            self.thin_out();
        }
        1 + self.others.len()
    }

    fn next_in_round(&mut self) {
        self.change_turns();
    }

    fn here(&mut self) -> usize {
        let some = self.current.look(usize::MAX);
        self.count(some);
        self.vain += usize::from(!some);
        self.current.known()
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.settled {
            return !self.has_some();
        }
        if self.hub.is_closed() {
            self.hub.sent.barrier_at_any_price();
            self.settled = true;
            // Every lane there ever was, on the list or not: a producer that joined later sees the close before it sends.
            self.current.seal();
            self.current.calls = false;
            self.others.clear();
            for member in self.hub.members().map(NonNull::from) {
                if member != self.current.member {
                    let mut end = ReadEnd::new(member);
                    end.seal();
                    if end.look(usize::MAX) {
                        self.others.push(end);
                    }
                }
            }
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
        while self.take_some(usize::MAX, drop) != 0 {}
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::mpsc;

    #[test]
    fn quiet_lanes_leave_beside_a_busy_one_and_stay_where_all_are_quiet() {
        fn beside(consumer: &mpsc::Consumer<u64>) -> usize {
            consumer.end.others.len()
        }
        let (mut busy, mut consumer) = mpsc::channel(4);
        let mut quiet: Vec<_> = (0..6).map(|_| busy.clone()).collect();
        for producer in &mut quiet {
            producer.try_send(0).unwrap();
        }
        assert_eq!(consumer.skip(7), 6);
        // Four looks of each search are in vain, and could be spared. (A few were before.)
        let searches = (PRICE / 4).max(QUIET as usize);
        for search in 0..=2 * searches {
            assert!(beside(&consumer) == 6 || search > searches / 2, "after {search} of {searches}");
            assert!(consumer.try_recv().is_err());
        }
        assert_eq!(beside(&consumer), KEPT);
        // Where all are quiet, the others stay; beside a busy one, two looks of each search are in vain.
        for _ in 0..2 * PRICE {
            assert!(consumer.try_recv().is_err());
        }
        assert_eq!(beside(&consumer), KEPT);
        let messages = (PRICE as u64 / 2).max(LONG);
        for message in 0..=2 * messages {
            assert!(beside(&consumer) >= KEPT || message > messages / 2, "after {message} of {messages}");
            busy.try_send(message).unwrap();
            assert_eq!(consumer.try_recv(), Ok(message));
        }
        assert!(consumer.try_recv().is_err());
        assert_eq!(beside(&consumer), 0);
        // Who sends again is there again.
        quiet[0].try_send(7).unwrap();
        assert_eq!(consumer.try_recv(), Ok(7));
        assert_eq!(beside(&consumer), 1);
    }
}
