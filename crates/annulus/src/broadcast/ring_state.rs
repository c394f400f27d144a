//! [`RingState`]: a ring, as all its handles share it: the slots, how far the publishers are
//! (`frontier.rs`), the gate, and the eventcounts at which handles sleep.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::receivers::{Left, Receivers};
use crate::base::allocation::Before;
use crate::base::common::Common;
use crate::base::handle_count::HandleCount;
use crate::base::index::Index;
use crate::base::link::Link;
use crate::base::sequence::{Sequence, Stamp};
use crate::close::Close;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::observer::{Listing, Observe};
use crate::ring::{Claims, Gate, Head, MIN_CAPACITY, Mirror, Seats, Slots, Store, WithoutSlot, Writers};
use crate::stats::{self, Counting, FollowedStats, Name, Stats};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence, seeded};
#[cfg(feature = "shm")]
use crate::wait::Remote;
use crate::wait::{EventCount, NewWord, WaitStrategy};

/// A ring of stamped slots: the slots, the head, the gate, the sleepers, and the counts of handles. All but
/// the slots, the head and the gate is constant while no handle sleeps, comes or goes.
///
/// In this order: what is before the head is constant after construction, so its lines stay shared between
/// all caches.
#[repr(C)]
pub(crate) struct RingState<S> {
    store: S,
    index: Index,
    /// Of the store: units from one slot to the next.
    stride: usize,
    /// The sequence of the ring's first message.
    first: Sequence,
    /// How far the publishers have come.
    pub(super) head: Head,
    /// The cursors that publishers may not overtake; empty in a lossy ring.
    pub(super) gate: Gate,
    /// Where subscribers sleep that wait for a message.
    pub(super) published: EventCount,
    /// Where handles sleep that wait for a cursor to move: publishers at the gate, stages behind others.
    // Decision 0020: one eventcount for all cursors.
    pub(super) released: EventCount,
    /// Tells it from other rings, once somebody asks.
    identity: Link<Identity>,
    /// What is counted, if somebody wants that. Constant.
    pub(super) counters: Counting,
    pub(super) name: Name,
    /// In the list of rings that have a name.
    listing: Listing,
    pub(super) publishers: HandleCount,
    /// Subscribers, and what can make new ones.
    receivers: Receivers,
    /// How handles wait where a verb does not say.
    pub(super) strategy: WaitStrategy,
    /// Set once nothing comes any more: all publishers are gone, or somebody has closed the ring. Where many
    /// publishers wait for nobody, a hint that it may be so, or that a message was passed over.
    over: AtomicBool,
}

/// What a ring is made of. (A ring is as large as four lines, and is written where it stays.)
pub(super) struct RingParts<S> {
    store: S,
    capacity: usize,
    /// The sequence of the ring's first message.
    first: Sequence,
    writers: Writers,
    stride: usize,
    /// Of a ring whose publishers claim and wait for nobody, or whose slots other processes have.
    mirror: Option<Box<Mirror>>,
}

impl<S: Store> RingParts<S> {
    /// The parts of a ring around a store of `capacity` slots of a stride, whose first message is number
    /// `first`.
    #[inline(always)]
    pub(super) fn new(
        capacity: usize,
        first: Sequence,
        (writers, stride): (Writers, usize),
        store: S,
    ) -> Self {
        debug_assert!(capacity >= MIN_CAPACITY, "builders say so before");
        if first > Sequence::FIRST {
            let index = Index::new(capacity);
            let slots = Slots::<S>::new(store.start(), &index, stride, writers);
            // As if all laps before had been written.
            for sequence in (0..capacity as u64).map(|slot| first.plus(slot)) {
                let stamp = Stamp::of_the_lap_before(sequence, capacity);
                // SAFETY: the store and the index live. Relaxed: nobody else has the store yet.
                unsafe { slots.stamp_word(sequence) }.store(stamp.bits(), Ordering::Relaxed);
            }
        }
        Self { store, capacity, first, writers, stride, mirror: None }
    }

    /// The parts of the same ring, with what its publishers share.
    pub(super) fn mirrored(self, mirror: Mirror) -> Self {
        Self { mirror: Some(Box::new(mirror)), ..self }
    }

    /// The parts of the ring of another process, over the same slots.
    #[cfg(feature = "shm")]
    pub(super) fn of_another(
        (store, stride): (S, usize),
        capacity: usize,
        first: Sequence,
        mirror: Mirror,
    ) -> Self {
        let writers = if mirror.claims().is_some() { Writers::Claimants } else { Writers::One };
        Self { store, capacity, first, writers, stride, mirror: None }.mirrored(mirror)
    }

    pub(super) fn first(&self) -> Sequence {
        self.first
    }

    /// The words of its slots, the stride and the capacity.
    pub(super) fn words(&self) -> (NonNull<S::Unit>, usize, usize) {
        (self.store.start(), self.stride, self.capacity)
    }
}

/// What a ring has that several processes have.
#[cfg(feature = "shm")]
pub(super) struct Elsewhere {
    /// Where subscribers sleep that wait for a message.
    pub(super) sleepers: Remote,
    /// Of a lossless ring: the cursors that its publisher may not overtake, and where it sleeps.
    pub(super) gate: Option<(Seats, Remote)>,
}

impl<S: Store> RingState<S> {
    /// What has to be before the slots, so that they lie in one allocation with it.
    pub(super) const BEFORE: Before = Common::<Self>::BEFORE;

    /// The first shares of it, with one handle on each side.
    #[inline(always)]
    pub(super) fn made<const SHARES: usize>(
        parts: RingParts<S>,
        headroom: usize,
        strategy: WaitStrategy,
        counters: Counting,
        name: Name,
    ) -> [Common<Self>; SHARES] {
        let parts = ManuallyDrop::new(parts);
        let new_word = NewWord::of_events();
        let event = |counters| EventCount::begun(new_word, counters);
        Self::in_place(parts, headroom, None, [event; 2], strategy, counters, name)
    }

    /// As [`made`](Self::made), for a ring that other processes have, too.
    #[cfg(feature = "shm")]
    pub(super) fn across<const SHARES: usize>(
        parts: RingParts<S>,
        headroom: usize,
        elsewhere: Elsewhere,
        strategy: WaitStrategy,
        counters: Counting,
        name: Name,
    ) -> [Common<Self>; SHARES] {
        let Elsewhere { sleepers, gate } = elsewhere;
        let (seats, released) = gate.unzip();
        let event = |remote: Option<Remote>| {
            |counters| match remote {
                Some(remote) => EventCount::across(remote, counters),
                None => EventCount::counting(counters),
            }
        };
        let events = [Some(sleepers), released].map(event);
        Self::in_place(ManuallyDrop::new(parts), headroom, seats, events, strategy, counters, name)
    }

    // Decision 0130: it is written where it stays. Decision 0143: a panic leaks the parts.
    #[inline(always)]
    fn in_place<const SHARES: usize>(
        mut parts: ManuallyDrop<RingParts<S>>,
        headroom: usize,
        seats: Option<Seats>,
        [published, released]: [impl FnOnce(Counting) -> EventCount; 2],
        strategy: WaitStrategy,
        counters: Counting,
        name: Name,
    ) -> [Common<Self>; SHARES] {
        let listing = Listing::new(name.as_deref());
        let allocation = parts.store.block_mut().allocation_before::<Self>();
        let dst = allocation.dst().as_ptr();
        let RingParts { store, capacity, first, writers, stride, mirror } = ManuallyDrop::into_inner(parts);
        // SAFETY: the allocation is new, and `dst` is in it. These are all fields.
        unsafe {
            (&raw mut (*dst).store).write(store);
            (&raw mut (*dst).index).write(Index::new(capacity));
            (&raw mut (*dst).stride).write(stride);
            (&raw mut (*dst).first).write(first);
            Head::write_at(&raw mut (*dst).head, capacity, first, writers, mirror);
            Gate::write_at(&raw mut (*dst).gate, capacity, headroom, first, counters.clone(), seats);
            // No handle here knows when another process's ring ends: a subscriber that finds nothing asks.
            let is_seen = (*dst).is_of_others();
            (&raw mut (*dst).published).write(published(counters.clone()));
            (&raw mut (*dst).released).write(released(counters.clone()));
            (&raw mut (*dst).strategy).write(strategy);
            (&raw mut (*dst).identity).write(Link::empty());
            (&raw mut (*dst).counters).write(counters);
            (&raw mut (*dst).listing).write(listing);
            (&raw mut (*dst).name).write(name);
            (&raw mut (*dst).publishers).write(HandleCount::new());
            (&raw mut (*dst).over).write(AtomicBool::new(is_seen));
            (&raw mut (*dst).receivers).write(Receivers::new());
            if (*dst).published.needs_fence() {
                // Unreached: for systems without membarrier
                (*dst).head.always_take_slow_path();
            }
            allocation.filled()
        }
    }

    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    /// The sequence of the ring's first message.
    pub(super) fn first(&self) -> Sequence {
        self.first
    }

    /// Where its slots lie.
    #[cfg(feature = "std")]
    pub(super) fn block(&self) -> &Block {
        self.store.block()
    }

    /// Where the slots are, for a caller that keeps the ring alive.
    #[inline(always)]
    pub(super) fn slots(&self) -> Slots<S> {
        Slots::new(self.store.start(), &self.index, self.stride, self.head.writers())
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    pub(super) fn stamp(&self, sequence: Sequence) -> Stamp {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().stamp(sequence) }
    }

    /// The stamp's word, to be watched or changed.
    pub(super) fn stamp_word(&self, sequence: Sequence) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { self.slots().stamp_word(sequence) }
    }

    /// What tells it from other rings.
    pub(super) fn identity(&self) -> &Identity {
        // Stages ask for it, which few rings have.
        self.identity
            .get()
            .unwrap_or_else(|| self.identity.put(Identity(Arc::new(0))).unwrap_or_else(|theirs| theirs))
    }

    /// A publisher that waits for nobody has passed over a message: a subscriber that finds nothing asks why.
    #[cold]
    pub(super) fn note_missed(&self) {
        if !seeded!("fellow_passes_in_silence") {
            // Relaxed: a hint. A thread that sees the caller's next message sees it, too.
            self.over.store(true, Ordering::Relaxed);
        }
    }

    /// From now on it is in the list of those that have a name. This process has handles of so many `sides`.
    #[inline]
    pub(super) fn list(&self, sides: usize)
    where
        S: Send + Sync,
    {
        // SAFETY: called once, with handles on so many sides. Each has a share of this, and the last one of
        // its side calls `side_goes` before it gives its share up.
        unsafe { self.listing.begin(self, sides) };
    }

    /// Whether a handle that goes has to be told of although there is no other one: to another process, or to
    /// the list of rings that have a name.
    pub(super) fn is_known_elsewhere(&self) -> bool {
        self.head.is_mirrored() || self.gate.has_seats() || self.listing.is_there()
    }

    /// One publisher more; the caller has one.
    pub(super) fn publisher_comes(&self) {
        self.publishers.add();
    }

    /// One publisher less. With the last, no message will follow: subscribers that wait for one are woken.
    /// If others are left, one of them may wait for subscribers, and the one that goes could have made some.
    pub(super) fn publisher_goes(&self) {
        if self.publishers.remove() {
            self.listing.side_goes();
            if let Some(claims) = self.head.claims().filter(|claims| claims.is_here()) {
                claims.close();
            }
            self.end_here();
        } else if !seeded!("publisher_leaves_in_silence") && !cfg!(annulus_loom) {
            // (No model has a publisher that waits beside others, and to loom it would be more steps.)
            self.released.notify();
        }
    }

    /// Nothing comes any more: says so, and wakes all that wait.
    fn end_here(&self) {
        // Release: pairs with the Acquire in `is_closed`.
        self.over.store(true, Ordering::Release);
        if self.head.is_mirrored() {
            self.head.show_end(self.head.end().unwrap_or_else(|| self.frontier(Sequence::FIRST).head));
        }
        // event.close9. Nobody looks for the flags: a change of the word needs no fence.
        if !seeded!("close_wakes_nobody") {
            self.published.close();
        }
        if !seeded!("close_wakes_no_stage") {
            // A stage waits there for those before it, and for the end; a publisher for room.
            self.released.close();
        }
    }

    /// Closes the ring, from any thread: what was published before is received, and nothing comes after it
    /// (`ring/end.rs`).
    #[cold]
    pub(super) fn close(&self) {
        self.begin_to_end();
        // end.close3. Where all publishers are gone, all that they did is seen (Acquire).
        if self.head.writers() == Writers::One && !self.publishers.is_zero() {
            self.published.barrier_at_any_price();
        }
        self.settle();
        self.end_where_it_is_decided();
    }

    /// As [`close`](Self::close), by the thread that has the ring's one publisher, which is not at work now;
    /// or by one of many. It sees all that was announced.
    #[cold]
    pub(super) fn close_as_publisher(&self) {
        self.begin_to_end();
        self.settle();
        self.end_where_it_is_decided();
    }

    /// Begins to close the ring: end.close1 and end.close2, or end.many7. What it does to one publisher is
    /// [settled](Self::settle) after a fence.
    fn begin_to_end(&self) {
        match self.head.writers() {
            Writers::One => self.head.begin_to_end(),
            Writers::Many => self.head.end_claims(),
            Writers::Claimants => self.head.end_of_claimants(),
        }
    }

    /// end.close6: the ring of one publisher ends behind the last message that is written or announced.
    fn settle(&self) {
        if self.head.writers() == Writers::One {
            let head = self.frontier(Sequence::FIRST).head;
            let announced = self.stamp(head) >= Stamp::writing(head) && !seeded!("end_forgets_the_announced");
            self.head.settle(if announced { head.next() } else { head });
        }
    }

    /// Nothing comes any more, if it is decided where the ring ends. Where many publish, another thread that
    /// closes the ring at the same time may be about to decide it; then that thread does this.
    fn end_where_it_is_decided(&self) {
        if self.head.end().is_some() {
            self.end_here();
        }
    }

    /// end.send4 and end.send5: whether the one publisher, which has announced message `sequence`, is to
    /// publish it. No, where somebody has closed the ring.
    #[inline(always)]
    pub(super) fn may_publish(&self, sequence: Sequence) -> bool {
        !self.head.needs_slow_path(sequence) || self.may_publish_slow_path(sequence)
    }

    #[cold]
    #[inline(never)]
    fn may_publish_slow_path(&self, sequence: Sequence) -> bool {
        self.take_slow_path(sequence)
    }

    /// The slow path of a publication by the one publisher, from end.send4 on. Wakes the sleepers, too.
    /// Returns the sequence of the next message, which is the same again where the message is not published.
    /// Takes and returns values, so that a publisher whose methods are inlined can live in registers; and the
    /// sequence, so that one whose methods are not inlined need not save it.
    #[cold]
    #[inline(never)]
    pub(super) fn publish_slow_path(&self, message: WithoutSlot) -> Sequence {
        let sequence = message.sequence();
        if !self.take_slow_path(sequence) {
            return sequence;
        }
        message.at(self.stamp_word(sequence)).publish();
        self.published.notify();
        sequence.next()
    }

    /// head.pass1 and end.send5: the slow path of the one publisher, which has announced message `sequence`.
    /// It takes this path once in a while, and always on a ring that is closed. It stores how far it is, and
    /// looks whether it is to publish the message.
    #[inline]
    pub(super) fn take_slow_path(&self, sequence: Sequence) -> bool {
        self.head.note(sequence);
        // end.send4, where the light one is not enough; pairs with end.close3.
        self.published.fence();
        self.head.may_publish(sequence)
    }

    /// slot.skip1 to head.skip4: the one publisher, whose next message would be `first`, gives no message a
    /// number before `sequence`, and wakes the subscribers that sleep, so that they are told. `false`, and
    /// nothing was done, if the ring is closed.
    ///
    /// Only stamps are stored, and only of the last lap before `sequence`: a slot tells of the latest number
    /// that is its own. Messages of the lap before are gone. O(`sequence` − `first`), or O(`capacity`).
    #[cold]
    #[inline(never)]
    pub(super) fn leave_out(&self, first: Sequence, sequence: Sequence) -> bool {
        if !self.head.hold_end() {
            return false;
        }
        let mut left_out = first.max(sequence.back(self.capacity() as u64));
        // Ascending, so that a walk that meets a mark finds the marks before it.
        while left_out < sequence && !seeded!("skip_unmarked") {
            // slot.skip1. Release: pairs with slot.r1, and with every other look at a stamp: a thread that
            // sees that the number was left out sees all messages before it. No reader looks for the words
            // behind it.
            self.stamp_word(left_out).store(Stamp::left_out(left_out).bits(), Ordering::Release);
            left_out = left_out.next();
        }
        self.head.go_to(sequence);
        if !seeded!("skip_no_release_fence") {
            // head.skip4. Release: pairs with the Acquire in `walk`. A walk may find slot.w1 of the next
            // message, which is Relaxed, and then takes all before it for published: so it sees them.
            fence(Ordering::Release);
        }
        if self.head.let_end_go(sequence) {
            // Unreached: somebody closes the ring while numbers are left out: threads have to meet there
            self.end_here();
        }
        if !seeded!("skip_wakes_nobody") {
            self.published.notify();
        }
        true
    }

    /// The one publisher has announced message `sequence`, and taken that back (owned.write8).
    #[cold]
    pub(super) fn withdraw(&self, sequence: Sequence) {
        // Full: pairs with end.close3. A thread that closes the ring sees owned.write8, or this one sees the
        // close.
        fence(Ordering::SeqCst);
        if self.head.withdraw(sequence) {
            self.end_here();
        }
    }

    /// Whether somebody has closed the ring, so that nothing can be published.
    #[inline]
    pub(super) fn is_ending(&self) -> bool {
        self.head.is_ending()
    }

    /// One receiving handle more; the caller has a handle.
    pub(super) fn receiver_comes(&self) {
        if self.receivers.add() {
            self.listing.side_comes();
        }
    }

    /// One receiving handle less. With the last, nobody receives, until a publisher makes another one.
    ///
    /// A publisher that waits for subscribers is told. No other one is: it waits for a cursor at the gate,
    /// which notifies when it is given up, or for another publisher's write, which notifies when it is done.
    pub(super) fn receiver_goes(&self) {
        self.left(&self.receivers.remove());
    }

    /// One subscriber more; the caller has a receiving handle.
    pub(super) fn subscriber_comes(&self) {
        if self.receivers.add_subscriber() {
            self.released.notify();
        }
    }

    /// One subscriber less: also a receiving handle less.
    pub(super) fn subscriber_goes(&self) {
        self.left(&self.receivers.remove_subscriber());
    }

    fn left(&self, left: &Left) {
        if left.was_last {
            self.listing.side_goes();
            if left.is_awaited {
                self.released.notify();
            }
        }
    }

    /// How many subscribers there are: of this process, or those that have seats.
    pub(super) fn subscriber_count(&self) -> usize {
        self.gate.free_dead_seats();
        self.gate.seated().unwrap_or_else(|| self.receivers.subscribers())
    }

    /// Whether there are so many subscribers, as [`subscriber_count`](Self::subscriber_count) says.
    pub(super) fn has_subscribers(&self, count: usize) -> bool {
        match self.gate.seated() {
            // (Some may be dead: it asks the kernel only where they would be enough.)
            Some(seated) => seated >= count && self.subscriber_count() >= count,
            None => self.receivers.has_subscribers(count),
        }
    }

    /// How many subscribers there are, and how many there have been. Those of other processes may be dead.
    pub(super) fn subscriber_handles(&self) -> stats::HandleCount {
        self.gate.seated().map_or_else(|| self.receivers.handles(), |now| self.receivers.handles_seated(now))
    }

    /// A lossy subscriber has lost or skipped `count` messages.
    #[inline]
    pub(super) fn note_lag(&self, count: u64) {
        if let Some(counters) = &self.counters {
            counters.lagged(count);
        }
    }

    /// How many publishers there are, and how many there have been: in all processes.
    fn publisher_handles(&self) -> stats::HandleCount {
        if let Some(handles) = self.head.claims().and_then(Claims::publishers) {
            return handles;
        }
        let handles = self.publishers.handles();
        // (This process counts the one publisher of another process, and never takes it off.)
        let now = if self.head.publisher_has_ended() { 0 } else { handles.now };
        stats::HandleCount { now, ..handles }
    }

    /// How many publishers there are.
    pub(super) fn publisher_count(&self) -> usize {
        self.publishers.count()
    }

    /// The receiving handles of any kind.
    pub(super) fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    /// Whether [`is_closed`](Self::is_closed) is worth asking.
    #[inline]
    pub(super) fn may_be_closed(&self) -> bool {
        // A poll that finds nothing does no more than this. Relaxed: a hint.
        self.over.load(Ordering::Relaxed)
    }

    /// The word of [`may_be_closed`](Self::may_be_closed), for code in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(super) fn over_word(&self) -> NonNull<u8> {
        NonNull::from(&self.over).cast()
    }

    /// Whether all publishers are gone, or somebody has closed the ring.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `end_here`.
        self.over.load(Ordering::Acquire)
            && (!self.head.is_seen() || self.head.end().is_some() || self.head.publisher_is_gone())
    }

    /// Whether nobody receives, or ever will.
    #[inline]
    pub(super) fn is_abandoned(&self) -> bool {
        self.receivers.is_zero()
    }

    /// Whether nobody receives, and no publisher but the caller's could make a subscriber. (Where that comes
    /// later, a notification at `released` follows it.)
    pub(super) fn has_no_subscribing_handle(&self) -> bool {
        self.is_abandoned() && (self.publishers.count() <= 1 || seeded!("other_publishers_forgotten"))
    }

    /// Whether publishers of a lossless ring are refused: nobody receives, or somebody has closed the ring.
    pub(super) fn refuses(&self) -> bool {
        self.is_abandoned() || self.is_ending()
    }
}

impl<S: Store> RingState<S> {
    /// The numbers of the ring now.
    ///
    /// The cursors are loaded first (Acquire: pairs with the Release in `Pass::advance`). A subscriber that
    /// stored a cursor had seen the messages before it, and their claims. So the end that is loaded
    /// afterwards is not before any of the cursors. Until then the subscribers may go on. When the head was
    /// at the end, all cursors were at `end − usable` at least, or publishers would have waited.
    // Decision 0080: which numbers belong to one moment.
    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::new(self.name.clone(), self.capacity());
        stats.closed = self.is_closed();
        let too_early = seeded!("stats_end_first").then(|| self.end_of_published(self.first));
        let (mut farthest, mut followed) = (self.first, alloc::vec::Vec::new());
        self.gate.visit(|cell, cursor| {
            farthest = farthest.max(cursor);
            followed.push((cell, cursor));
        });
        let end = too_early.unwrap_or_else(|| self.end_of_published(farthest));
        let slowest_there_can_be = end.back(self.gate.usable());
        stats.published = end.since(self.first);
        stats.followed.extend(followed.into_iter().map(|(cell, cursor)| {
            let position = cursor.max(slowest_there_can_be);
            FollowedStats { cell, position: position.get(), lag: end.since(position) }
        }));
        let slowest = stats.followed.iter().map(|reader| reader.position).min().map(Sequence::new);
        stats.received = slowest.map(|slowest| slowest.since(self.first));
        stats.pending = slowest.map(|slowest| end.since(slowest));
        stats.writers = self.publisher_handles();
        stats.readers = self.subscriber_handles();
        if let Some(counters) = &self.counters {
            counters.saw_waiting(stats.pending.unwrap_or(0));
            stats.counted = Some(counters.read());
        }
        stats
    }
}

impl<S: Store + Send + Sync> Close for RingState<S> {
    fn close(&self) {
        Self::close(self);
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }
}

// SAFETY: stamps, cursors, and numbers of handles.
unsafe impl<S: Store + Send + Sync> Observe for RingState<S> {
    fn stats(&self) -> Stats {
        Self::stats(self)
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }
}

/// Something that no other ring has, also not one that comes later: a share in it keeps its address in use.
#[derive(Clone)]
pub(super) struct Identity(Arc<u8>);

impl Identity {
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
