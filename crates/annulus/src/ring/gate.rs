//! The gate: the cursors that publishers of a lossless ring may not overtake.
//!
//! Each subscriber that counts has a cell with its cursor; publishers look at all of them only when they come
//! to their limit, and subscribers join and leave without a lock while publishers run. Where the cells are is
//! the registry's business (`registry.rs`).
//!
//! ```text
//! publisher at its limit, head h                  subscriber that joins
//! gate.scan1  scanned := h                        gate.join1  cell := an early cursor
//! gate.scan2  fence                 SeqCst        gate.join2  fence                       SeqCst
//! gate.scan3  load every cell       Acquire       gate.join3  s = scanned                 Acquire
//! gate.scan4  limit = min(slowest + usable,       gate.join4  start at or after s + window − usable;
//!                         h + window)                         cell := start               Release
//! ```
//!
//! *Why a subscriber that joins misses nothing from its start on.* If gate.join2 comes before gate.scan2 in
//! the one order of the fences, gate.scan3 sees the cell, whose cursor is at or before the start: the limit
//! is at most a ring past it. If gate.scan2 comes first, gate.join3 sees h or a later one; that scan's limit
//! is at most h + window, so nothing from s + window − capacity on is overwritten under it, and the next scan
//! is of the first kind. (Usable is the capacity less the headroom: the subscriber is not further behind than
//! others may be.)
//!
//! *Why a publisher never overwrites what a subscriber reads.* A subscriber stores its cursor when it is done
//! with a message (Release); gate.scan3 loads it (Acquire). So the reads come before all that the publisher
//! writes under the new limit. A limit that many publishers share is stored with Release and loaded with
//! Acquire for the same reason. A limit never becomes wrong: cursors only grow.
//!
//! *Clearing.* The one publisher of a ring may also clear the messages that everybody has passed, before it
//! writes over them. A limit is not enough for that: publishers may write over a message a lap later, but
//! until then a subscriber that joins at the oldest message may still begin with it. So there is a floor, and
//! nobody joins before it.
//!
//! ```text
//! publisher that clears                           subscriber that joins
//! gate.clear1  floor := slowest, or the head      gate.join1  cell := an early cursor
//! gate.clear2  fence                SeqCst        gate.join2  fence                       SeqCst
//! gate.clear3  load every cell      Acquire       gate.join3  load floor; start at or after it
//! clear what is before the floor and the slowest
//! ```
//!
//! Where subscribers are of other processes, the floor lies beside `scanned`: both are what the publisher
//! says to subscribers that join.
//!
//! The argument is the same as for a limit. If gate.join2 comes before gate.clear2 in the one order of the
//! fences, gate.clear3 sees the cell, whose cursor is at or before the start: nothing from there on is
//! cleared. If gate.clear2 comes first, gate.join3 sees the floor. And what a subscriber read comes before
//! what is cleared, because gate.clear3 is an Acquire like gate.scan3.
//!
//! *Forks.* A subscriber that is cloned hands its cursor to a new cell before it moves on. A scan might load
//! the new cell before the clone and the old one after it, and see neither at that cursor; so gate.scan3
//! counts forks before and after, and looks again if there was one.
//!
//! A subscriber that is slow to get from gate.join1 to gate.join4 holds the publisher at the early cursor, as
//! any slow subscriber does.

use core::ops::Range;

use super::registry::{FREE, Pass, Registry};
use super::seats::Seats;
use crate::base::common::written;
use crate::base::sequence::Sequence;
use crate::stats::Counting;
use crate::sync::{AtomicU64, Ordering, fence, ordering, seeded};

/// The gate of one ring. In a ring whose publishers never wait it stays empty.
#[repr(C, align(128))]
pub(crate) struct Gate {
    /// The latest head with which a publisher looked at the cells.
    scanned: AtomicU64,
    /// Many publishers: the largest limit found so far.
    limit: AtomicU64,
    /// How many times a cursor went on in a second cell.
    forks: AtomicU64,
    /// The cells.
    registry: Registry,
    /// What was cleared.
    clearing: Clearing,
    /// The cells, where subscribers are of other processes. Constant.
    seats: Option<Seats>,
    /// How far publishers may be ahead of the slowest cursor. Constant.
    usable: u64,
    /// How far publishers may go on without another look. Constant.
    window: u64,
    /// Constant.
    capacity: u64,
    /// Where it is counted how many messages wait, if somebody wants that. Constant.
    counters: Counting,
}

impl Gate {
    /// Writes the gate of a ring of `capacity` slots, of which `headroom` stay free of messages that somebody
    /// still needs. `seats`: its subscribers are of other processes.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(crate) unsafe fn write_at(
        dst: *mut Self,
        capacity: usize,
        headroom: usize,
        first: Sequence,
        counters: Counting,
        seats: Option<Seats>,
    ) {
        debug_assert!(headroom < capacity);
        let usable = (capacity - headroom) as u64;
        // Half of the usable slots: a subscriber that joins at the oldest message then finds at least half of
        // what stands.
        // Decision 0017: not the whole ring.
        let window = (usable / 2).max(1);
        // SAFETY: the caller's promise.
        unsafe {
            written!(
                dst,
                Self {
                    scanned: AtomicU64::new(first.get()),
                    limit: AtomicU64::new(first.get()),
                    forks: AtomicU64::new(0),
                    registry: Registry::new(),
                    clearing: Clearing::new(first),
                    seats: None,
                    usable: usable,
                    window: window,
                    capacity: capacity as u64,
                    counters: counters,
                }
            );
            // (Most rings have none: only that is written then, and not all that seats are.)
            if seats.is_some() {
                (&raw mut (*dst).seats).write(seats);
            }
        }
    }

    /// How far publishers may be ahead of the slowest cursor.
    pub(crate) fn usable(&self) -> u64 {
        self.usable
    }
}

// A publisher: how far it may go.
impl Gate {
    /// The largest limit that a look has found: messages before it may be written.
    #[inline]
    pub(crate) fn limit(&self) -> Sequence {
        // Acquire: pairs with the Release in `look`; what that look saw read comes before what is written
        // now.
        Sequence::new(self.limit.load(ordering!(Acquire unless "gate_limit_relaxed")))
    }

    /// Looks at every cursor, for a publisher that is about to write message `head` or claim it: messages
    /// before the result may be written. Takes the steps of [`Registry::fold`], and those again for each time
    /// that a subscriber is cloned meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(&self, head: Sequence) -> Sequence {
        // gate.scan1. A maximum, because of many publishers one may come late. Release: a subscriber that
        // joins sees the messages before `head`.
        self.scanned().fetch_max(head.get(), ordering!(Release unless "gate_scanned_relaxed"));
        if !seeded!("gate_no_publisher_fence") {
            // gate.scan2. Pairs with gate.join2.
            fence(Ordering::SeqCst);
        }
        let slowest = self.slowest_of_all();
        if let (Some(counters), true) = (&self.counters, slowest != FREE) {
            counters.saw_waiting(head.since(Sequence::new(slowest)));
        }
        // Mutants: `* with +`, `* with /`: only a seeded bug comes here.
        let window = if seeded!("gate_blind_for_a_lap_more") { 2 * self.capacity } else { self.window };
        let limit = slowest.saturating_add(self.usable).min(head.plus(window).get());
        if limit <= head.get() && self.sweep() {
            // A subscriber that it waited for is gone.
            return self.look(head);
        }
        // Release: pairs with the Acquire in `limit`.
        self.limit.fetch_max(limit, Ordering::Release);
        Sequence::new(limit)
    }

    /// gate.scan3: the smallest cursor, or `FREE`, also while subscribers fork.
    fn slowest_of_all(&self) -> u64 {
        loop {
            // Acquire: pairs with the Release in `fork`; the new cell is then seen.
            let forks = self.forks.load(Ordering::Acquire);
            let slowest = self.slowest();
            // The loads of gate.scan3 (tree.scan7) are Acquire, so this one comes after them. If one of them
            // saw a subscriber after its fork, so does this.
            if self.forks.load(Ordering::Relaxed) == forks || seeded!("gate_forks_unseen") {
                return slowest;
            }
        }
    }

    /// One look at the cells.
    fn slowest(&self) -> u64 {
        match &self.seats {
            Some(seats) => seats.slowest(),
            None => self.registry.fold(FREE, u64::min),
        }
    }

    /// Messages for which it is worth to look: a quarter of the window, at least one.
    // Mutants: `with 0`, `with 1`: costs or saves time.
    pub(crate) fn preferred(&self) -> u64 {
        // Mutants: `/ with *`: costs or saves time.
        (self.window / 4).max(1)
    }

    /// The messages that everybody has passed, and that were not cleared before; only the messages that still
    /// lie in the ring. `head` is the next message to be published. From now on nobody looks at them, until
    /// the publisher has written over them. For the one publisher of a ring.
    ///
    /// Takes the steps of two [looks](Self::look).
    pub(crate) fn take_clearable(&self, head: Sequence) -> Range<u64> {
        self.clearing.take_clearable(self.floor(), head, self.capacity, || self.slowest_of_all())
    }

    /// Frees the [seats](Seats) of subscribers that are gone, for a publisher that has no room, and says
    /// whether there was one. Asks the kernel now and then.
    pub(crate) fn sweep(&self) -> bool {
        self.seats.as_ref().is_some_and(Seats::sweep)
    }
}

/// How far messages were cleared.
struct Clearing {
    /// Nobody joins before it. Written by the publisher only. Unused where there are [seats](Seats).
    floor: AtomicU64,
    /// Messages before it are cleared: the publisher's own.
    cleared: AtomicU64,
}

impl Clearing {
    fn new(first: Sequence) -> Self {
        Self { floor: AtomicU64::new(first.get()), cleared: AtomicU64::new(first.get()) }
    }

    /// The messages that everybody has passed, and that were not cleared before; only the messages that still
    /// lie in a ring of `capacity` slots, of which `head` is the next message to be published. `slowest`
    /// looks at all cursors, and `floor` is [there](Gate::floor). For the ring's one publisher.
    fn take_clearable(
        &self,
        floor: &AtomicU64,
        head: Sequence,
        capacity: u64,
        slowest: impl Fn() -> u64,
    ) -> Range<u64> {
        let passed = slowest().min(head.get());
        // gate.clear1. A maximum, because somebody may have joined late at an earlier one. Release: as
        // gate.scan1.
        floor.fetch_max(passed, Ordering::Release);
        if !seeded!("gate_no_clearing_fence") {
            // gate.clear2. Pairs with gate.join2.
            fence(Ordering::SeqCst);
        }
        // gate.clear3.
        let passed = if seeded!("gate_clears_unseen") { passed } else { slowest().min(passed) };
        // Relaxed, both: this thread's own, or handed over with the publisher.
        let before = self.cleared.load(Ordering::Relaxed);
        let cleared = passed.max(before);
        self.cleared.store(cleared, Ordering::Relaxed);
        before.max(head.back(capacity).get())..cleared
    }
}

// A subscriber joins, is cloned, leaves.
impl Gate {
    /// Joins at what `start` chooses: it is called with the oldest message that can be promised, and must not
    /// choose an earlier one. From there on nothing is overwritten until the pass moves on. `None` if all
    /// [seats](Seats) are taken.
    pub(crate) fn join(
        &self,
        from_oldest: bool,
        start: impl FnOnce(Sequence) -> Sequence,
    ) -> Option<(Pass, Sequence)> {
        // Acquire: pairs with the Release of gate.scan1. (Of another process no number is believed that is
        // too large to count on from.)
        let seen = || Sequence::new(self.scanned().load(Ordering::Acquire)).min(Sequence::LAST_BELIEVED);
        let promised = |scanned: Sequence| {
            if seeded!("gate_promises_too_much") {
                scanned.back(self.capacity)
            } else {
                // The usable slots, not the capacity: nobody is to be further behind than that.
                let usable = if seeded!("gate_promises_the_headroom") { self.capacity } else { self.usable };
                scanned.plus(self.window).back(usable)
            }
        };
        // gate.join1.
        let early = if from_oldest { promised(seen()) } else { seen() };
        let pass = match &self.seats {
            Some(seats) => seats.enter(early)?,
            None => self.registry.enter(early),
        };
        if !seeded!("gate_no_joiner_fence") {
            // gate.join2. Pairs with gate.scan2.
            fence(Ordering::SeqCst);
        }
        // gate.join3, gate.join4.
        let start = start(promised(seen()).max(self.first_standing())).max(early);
        // SAFETY: `self` is the gate, and the pass is new.
        unsafe { pass.advance(start) };
        if let Some(seats) = &self.seats {
            seats.begin(pass);
        }
        Some((pass, start))
    }

    /// Where the latest head is with which a publisher looked.
    fn scanned(&self) -> &AtomicU64 {
        match &self.seats {
            Some(seats) => seats.scanned(),
            None => &self.scanned,
        }
    }

    /// Where the floor is: nobody joins before it.
    fn floor(&self) -> &AtomicU64 {
        match &self.seats {
            Some(seats) if !seeded!("seats_have_no_floor") => seats.floor(),
            _ => &self.clearing.floor,
        }
    }

    /// gate.join3: the first message with which one may begin, as far as the floor tells.
    fn first_standing(&self) -> Sequence {
        if seeded!("joiner_below_the_floor") {
            return Sequence::FIRST;
        }
        // Acquire: pairs with the Release of gate.clear1: a subscriber that begins there sees the messages
        // before it. (Of another process no number is believed, as above.)
        Sequence::new(self.floor().load(Ordering::Acquire)).min(Sequence::LAST_BELIEVED)
    }

    /// A second pass at `cursor`, for a subscriber that stands there with a pass of its own and does not move
    /// meanwhile. Not where there are [seats](Seats).
    pub(crate) fn fork(&self, cursor: Sequence) -> Pass {
        let pass = self.registry.enter(cursor);
        // Release: pairs with the Acquire in `look`.
        self.forks.fetch_add(1, ordering!(Release unless "gate_fork_relaxed"));
        pass
    }

    /// Gives a pass up: no publisher waits for it any more.
    ///
    /// # Safety
    ///
    /// The pass is of this gate, and was not given up; it is now.
    pub(crate) unsafe fn leave(&self, pass: Pass) {
        match &self.seats {
            Some(seats) => seats.leave(pass),
            // SAFETY: the caller's promise.
            None => unsafe { Registry::leave(pass) },
        }
    }
}

// Other processes, and numbers for any thread.
impl Gate {
    /// Whether the cursors are in [seats](Seats).
    pub(crate) fn has_seats(&self) -> bool {
        self.seats.is_some()
    }

    /// How many subscribers of all processes have seats, and know where they begin; `None` if the cursors are
    /// not in seats.
    pub(crate) fn seated(&self) -> Option<usize> {
        self.seats.as_ref().map(Seats::seated)
    }

    /// Frees the seats of dead subscribers: a system call for each seat that is in use.
    pub(crate) fn free_dead_seats(&self) {
        if let Some(seats) = &self.seats {
            seats.free_dead();
        }
    }

    /// Calls `each` with the cell and the cursor of each subscriber that publishers wait for: for any thread.
    pub(crate) fn visit(&self, each: impl FnMut(u64, Sequence)) {
        match &self.seats {
            Some(seats) => seats.visit(each),
            None => self.registry.visit(each),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::mem::MaybeUninit;

    fn gate(capacity: usize, headroom: usize) -> Gate {
        let mut gate = MaybeUninit::uninit();
        // SAFETY: there is memory for it, and it is there then.
        unsafe {
            Gate::write_at(gate.as_mut_ptr(), capacity, headroom, Sequence::FIRST, None, None);
            gate.assume_init()
        }
    }

    fn at(number: u64) -> Sequence {
        Sequence::new(number)
    }

    fn join(gate: &Gate, start: u64) -> Pass {
        gate.join(true, |promised| promised.max(at(start))).unwrap().0
    }

    #[test]
    fn window_without_subscribers_is_the_limit() {
        assert_eq!(gate(8, 0).look(at(100)), at(104));
        assert_eq!(gate(8, 5).look(at(100)), at(101));
        assert_eq!(gate(2, 1).look(at(100)), at(101));
    }

    #[test]
    fn slowest_decides_until_it_leaves() {
        let gate = gate(8, 2);
        let passes = [3, 5, 4].map(|start| join(&gate, start));
        assert_eq!(gate.look(at(8)), at(9));
        // SAFETY: the gate lives, and each pass is given up once.
        unsafe {
            passes[0].advance(at(4));
            assert_eq!(gate.look(at(9)), at(10));
            gate.leave(passes[0]);
            gate.leave(passes[2]);
        }
        assert_eq!(gate.look(at(10)), at(11), "the one at 5");
        assert_eq!(gate.limit(), at(11));
    }

    #[test]
    fn joiner_is_promised_no_less_than_half_the_ring() {
        let gate = gate(8, 0);
        gate.look(at(100));
        // Up to 103 may be written under that limit, over 95.
        assert_eq!(gate.join(true, |promised| promised).unwrap().1, at(96));
        assert_eq!(gate.look(at(104)), at(104), "and waits there for whoever joined");
    }

    /// How many cells a look visits.
    fn visited(gate: &Gate) -> usize {
        gate.registry.fold(0, |visited, _| visited + 1)
    }

    fn leave(gate: &Gate, passes: &[Pass]) {
        // SAFETY: the gate lives, and each pass is given up once.
        passes.iter().for_each(|&pass| unsafe { gate.leave(pass) });
    }

    #[test]
    fn joiner_is_no_further_behind_than_the_room() {
        let gate = gate(14, 10);
        gate.look(at(100));
        // Up to 101 may be written under that limit, four after 98.
        assert_eq!(gate.join(true, |promised| promised).unwrap().1, at(98));
    }

    #[test]
    fn look_visits_subscribers_and_few_free_cells() {
        let gate = gate(8, 0);
        assert_eq!(visited(&gate), 0);
        let most = if cfg!(miri) { 100 } else { 100_000 };
        let passes: Vec<_> = (0..most).map(|_| join(&gate, 0)).collect();
        assert_eq!(visited(&gate), most, "nobody has left");
        // The ones that came last are the farthest from the top.
        let (leavers, stayers) = passes.split_at(most - 3);
        leave(&gate, leavers);
        let levels = 2 + most.ilog(8) as usize;
        assert!((levels - 1..=3 * levels).contains(&visited(&gate)), "{} for three", visited(&gate));
        assert_eq!(gate.slowest(), 0);
        leave(&gate, stayers);
        assert_eq!((visited(&gate), gate.slowest()), (0, FREE));
        // A subscriber that comes now is at the top.
        let passes = [(); 2].map(|()| join(&gate, 0));
        assert_eq!(visited(&gate), 2);
        leave(&gate, &passes);
    }

    #[test]
    fn cells_are_no_more_than_subscribers_at_one_time() {
        let gate = gate(8, 0);
        let most = if cfg!(miri) { 20 } else { 1000 };
        let mut passes: Vec<_> = (0..most).map(|_| join(&gate, 0)).collect();
        for round in 1..most {
            // Every so many leave, and others take their cells.
            let (mut number, mut stayers) = (0, Vec::new());
            for pass in passes.drain(..) {
                number += 1;
                if number % round == 0 { leave(&gate, &[pass]) } else { stayers.push(pass) }
            }
            passes = stayers;
            passes.resize_with(most, || join(&gate, 0));
            assert!((most as u64..most as u64 + 8).contains(&gate.registry.cells()));
        }
        leave(&gate, &passes);
    }

    #[test]
    fn cells_of_threads_that_come_and_go() {
        let gate = gate(8, 0);
        let (threads, times) = if cfg!(miri) { (2, 10) } else { (4, 20_000) };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..times {
                        let pass = join(&gate, 0);
                        leave(&gate, &[pass, gate.fork(at(0))]);
                    }
                });
            }
        });
        assert!(gate.registry.cells() <= 2 * threads + 7 * threads, "{}", gate.registry.cells());
        assert_eq!(visited(&gate), 0);
    }
}
