//! What the two sides of a ring share.

use alloc::sync::Arc;
use core::mem::ManuallyDrop;

use super::receivers::{Left, Receivers};
use crate::base::allocation::Before;
use crate::base::common::Common;
use crate::base::handle_count::HandleCount;
use crate::base::link::Link;
use crate::base::sequence::{Sequence, Stamp};
use crate::close::Close;
use crate::observer::{Listing, Observe};
use crate::ring::{Gate, Ring, RingParts, Seats, Store, WithoutSlot, Writers};
use crate::stats::{Counting, FollowedStats, Handles, Name, Stats};
use crate::sync::{AtomicBool, Ordering, fence, seeded};
#[cfg(feature = "shm")]
use crate::wait::Remote;
use crate::wait::{EventCount, NewWord, WaitStrategy};

/// The ring, its gate, who sleeps where, and who is still there. All but the slots, the head and the gate is
/// constant while nobody sleeps, comes or goes.
pub(crate) struct RingState<S> {
    pub(super) ring: Ring<S>,
    /// Whom publishers may not overtake; empty in a lossy ring.
    pub(super) gate: Gate,
    /// Where those sleep who wait for a message.
    pub(super) published: EventCount,
    /// Where those sleep who wait for a cursor to move: publishers at the gate, stages behind others.
    // Decision 0020: one event for all cursors.
    pub(super) released: EventCount,
    /// How handles wait where a verb does not say.
    pub(super) strategy: WaitStrategy,
    /// Tells it from other rings, once somebody asks.
    identity: Link<Identity>,
    /// What is counted, if somebody wants that. Constant.
    pub(super) counters: Counting,
    pub(super) name: Name,
    /// In the list of those that have a name.
    listing: Listing,
    pub(super) publishers: HandleCount,
    /// Set once nothing comes any more: all publishers are gone, or somebody has closed the ring. Of a ring
    /// of fellows, a hint that it may be so, or that a message was passed over.
    over: AtomicBool,
    /// Subscribers, and what can make new ones.
    receivers: Receivers,
}

/// What a ring has that several processes have.
#[cfg(feature = "shm")]
pub(super) struct Elsewhere {
    /// Where those sleep who wait for a message.
    pub(super) sleepers: crate::wait::Remote,
    /// Of a lossless ring: whom its publisher may not overtake, and where it sleeps.
    pub(super) gate: Option<(crate::ring::Seats, crate::wait::Remote)>,
}

impl<S: Store> RingState<S> {
    /// What has to be before the slots, so that they lie in one room with it.
    pub(super) const BEFORE: Before = Common::<Self>::BEFORE;

    /// The first shares of it, with one handle on each side.
    #[inline(always)]
    pub(super) fn made<const SHARES: usize>(
        ring: RingParts<S>,
        headroom: usize,
        strategy: WaitStrategy,
        counters: Counting,
        name: Name,
    ) -> [Common<Self>; SHARES] {
        let ring = ManuallyDrop::new(ring);
        let new_word = NewWord::of_events();
        let event = |counters| EventCount::begun(new_word, counters);
        Self::in_place(ring, headroom, None, [event; 2], strategy, counters, name)
    }

    /// The same of a ring that other processes have, too.
    #[cfg(feature = "shm")]
    pub(super) fn across<const SHARES: usize>(
        ring: RingParts<S>,
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
        Self::in_place(ManuallyDrop::new(ring), headroom, seats, events, strategy, counters, name)
    }

    // Decision 0130: it is written where it stays. Decision 0143: a panic leaks the parts.
    #[inline(always)]
    fn in_place<const SHARES: usize>(
        mut ring: ManuallyDrop<RingParts<S>>,
        headroom: usize,
        seats: Option<Seats>,
        [published, released]: [impl FnOnce(Counting) -> EventCount; 2],
        strategy: WaitStrategy,
        counters: Counting,
        name: Name,
    ) -> [Common<Self>; SHARES] {
        let listing = Listing::new(name.as_deref());
        let (capacity, first) = (ring.capacity(), ring.first());
        let room = ring.block_mut().allocation_before::<Self>();
        let place = room.place().as_ptr();
        // SAFETY: the room is new, and the place is in it. These are all fields.
        unsafe {
            Ring::write_at(&raw mut (*place).ring, ManuallyDrop::into_inner(ring));
            Gate::write_at(&raw mut (*place).gate, capacity, headroom, first, counters.clone(), seats);
            // Of another process's ring nobody here knows when it ends: whoever finds nothing asks for that.
            let is_seen = (*place).ring.is_of_others();
            (&raw mut (*place).published).write(published(counters.clone()));
            (&raw mut (*place).released).write(released(counters.clone()));
            (&raw mut (*place).strategy).write(strategy);
            (&raw mut (*place).identity).write(Link::empty());
            (&raw mut (*place).counters).write(counters);
            (&raw mut (*place).listing).write(listing);
            (&raw mut (*place).name).write(name);
            (&raw mut (*place).publishers).write(HandleCount::new());
            (&raw mut (*place).over).write(AtomicBool::new(is_seen));
            (&raw mut (*place).receivers).write(Receivers::new());
            if (*place).published.needs_fence() {
                // Unreached: for systems without membarrier
                (*place).ring.head().always_take_slow_path();
            }
            room.filled()
        }
    }

    /// What tells it from other rings.
    pub(super) fn identity(&self) -> &Identity {
        // Stages ask for it, which few rings have.
        self.identity
            .get()
            .unwrap_or_else(|| self.identity.put(Identity(Arc::new(0))).unwrap_or_else(|theirs| theirs))
    }

    /// A publisher of a ring of fellows has passed over a message: whoever finds nothing asks why.
    #[cold]
    pub(super) fn note_missed(&self) {
        if !seeded!("fellow_passes_in_silence") {
            // Relaxed: a hint. Who sees the caller's next message sees it, too.
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

    /// Whether somebody has to learn of a handle that goes although there is no other one: another process,
    /// or the list of those that have a name.
    pub(super) fn is_known_elsewhere(&self) -> bool {
        self.ring.head().is_mirrored() || self.gate.has_seats() || self.listing.is_there()
    }

    /// One publisher more; the caller has one.
    pub(super) fn publisher_comes(&self) {
        self.publishers.add();
    }

    /// One publisher less. With the last, no message will follow: whoever waits for one is woken.
    pub(super) fn publisher_goes(&self) {
        if self.publishers.remove() {
            self.listing.side_goes();
            self.ring.end_with_last_fellow();
            self.end_here();
        }
    }

    /// Nothing comes any more: says so, and wakes whoever waits.
    fn end_here(&self) {
        // Release: pairs with the Acquire in `is_closed`.
        self.over.store(true, Ordering::Release);
        self.ring.show_end();
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
        self.ring.begin_to_end();
        // end.close3. Where all publishers are gone, all that they did is seen (Acquire).
        if self.ring.head().writers() == Writers::One && !self.publishers.is_zero() {
            self.published.barrier_at_any_price();
        }
        self.ring.settle();
        self.end_where_it_is_decided();
    }

    /// As [`close`](Self::close), by the thread that has the ring's one publisher, which is not at work now;
    /// or by one of many. It sees all that was announced.
    #[cold]
    pub(super) fn close_as_publisher(&self) {
        self.ring.begin_to_end();
        self.ring.settle();
        self.end_where_it_is_decided();
    }

    /// Nothing comes any more, if it is decided where the ring ends. Where many publish, another thread that
    /// closes the ring at the same time may be about to decide it; then that thread does this.
    fn end_where_it_is_decided(&self) {
        if self.ring.head().end().is_some() {
            self.end_here();
        }
    }

    /// end.send4 and end.send5: whether the one publisher, which has announced message `sequence`, is to
    /// publish it. No, where somebody has closed the ring.
    #[inline(always)]
    pub(super) fn goes_on(&self, sequence: Sequence) -> bool {
        !self.ring.head().needs_slow_path(sequence) || self.goes_on_slow_path(sequence)
    }

    #[cold]
    #[inline(never)]
    fn goes_on_slow_path(&self, sequence: Sequence) -> bool {
        self.take_slow_path(sequence)
    }

    /// The slow path of a publication by the one publisher, from end.send4 on. Wakes whoever waits for the
    /// message, too. Returns the sequence of the next message, which is the same again where the message is
    /// not published. Takes and returns values, so that a publisher whose methods are inlined can live in
    /// registers; and the sequence, so that one whose methods are not inlined need not save it.
    #[cold]
    #[inline(never)]
    pub(super) fn publish_slow_path(&self, message: WithoutSlot) -> Sequence {
        let sequence = message.sequence();
        if !self.take_slow_path(sequence) {
            return sequence;
        }
        self.ring.with_slot(message).publish();
        self.published.notify();
        sequence.next()
    }

    /// head.pass1 and end.send5: the slow path of the one publisher, which has announced message `sequence`.
    /// It takes this path once in a while, and always on a ring that is closed. It stores how far it is, and
    /// looks whether it is to publish the message.
    #[inline]
    pub(super) fn take_slow_path(&self, sequence: Sequence) -> bool {
        let head = self.ring.head();
        head.note(sequence);
        // end.send4, where the light one is not enough; pairs with end.close3.
        self.published.fence();
        head.goes_on(sequence)
    }

    /// The one publisher, whose next message would be `first`, leaves out the numbers before `sequence`, and
    /// wakes the subscribers that sleep, so that they are told. `false`, and nothing was done, if the ring is
    /// closed.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_out(&self, first: Sequence, sequence: Sequence) -> bool {
        if !self.ring.head().hold_end() {
            return false;
        }
        self.ring.leave_out(first, sequence);
        if self.ring.head().let_end_go(sequence) {
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
        // Full: pairs with end.close3. Who closes the ring sees owned.write8, or this thread sees the close.
        fence(Ordering::SeqCst);
        if self.ring.head().withdraw(sequence) {
            self.end_here();
        }
    }

    /// Whether somebody has closed the ring, so that nothing can be published.
    #[inline]
    pub(super) fn is_ending(&self) -> bool {
        self.ring.head().is_ending()
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
    pub(super) fn subscriber_handles(&self) -> Handles {
        self.gate.seated().map_or_else(|| self.receivers.handles(), |now| self.receivers.handles_seated(now))
    }

    /// A lossy subscriber has lost or skipped `count` messages.
    #[inline]
    pub(super) fn note_lag(&self, count: u64) {
        if let Some(counters) = &self.counters {
            counters.lagged(count);
        }
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
    pub(super) fn over_word(&self) -> core::ptr::NonNull<u8> {
        core::ptr::NonNull::from(&self.over).cast()
    }

    /// Whether all publishers are gone, or somebody has closed the ring.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `end_here`.
        let head = self.ring.head();
        self.over.load(Ordering::Acquire)
            && (!head.is_seen() || head.end().is_some() || head.publisher_is_gone())
    }

    /// Whether nobody receives, or ever will.
    #[inline]
    pub(super) fn is_abandoned(&self) -> bool {
        self.receivers.is_zero()
    }

    /// Whether publishers of a lossless ring are refused: nobody receives, or somebody has closed the ring.
    pub(super) fn refuses(&self) -> bool {
        self.is_abandoned() || self.is_ending()
    }

    /// What an empty slot means once [`may_be_closed`](Self::may_be_closed) was true: whether nothing more
    /// will come at `cursor`.
    ///
    /// Where somebody has closed the ring, its end decides. Where all publishers are gone, their last message
    /// comes before that, so a look at the stamp after it decides. If the message came between the caller's
    /// look and this one, the next read finds it.
    #[cold]
    #[inline(never)]
    pub(super) fn is_drained(&self, cursor: Sequence) -> bool {
        self.is_drained_here(cursor)
    }

    /// As [`is_drained`](Self::is_drained), for a function that is outlined itself.
    // Decision 0133: each poll in vain of another process's ring comes here.
    #[inline(always)]
    pub(super) fn is_drained_here(&self, cursor: Sequence) -> bool {
        // A publisher that is gone inside a write leaves it so.
        let is_half_enough = seeded!("half_written_awaited");
        let there = if is_half_enough { Stamp::writing(cursor) } else { Stamp::done(cursor) };
        self.ring.head().end().is_some_and(|end| cursor >= end || seeded!("end_overtakes"))
            || (self.publishers.is_zero() || self.ring.head().publisher_is_gone())
                && (seeded!("close_no_second_look") || self.ring.stamp(cursor) < there)
                && !self.ring.is_claimed_by_a_fellow(cursor)
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
        let mut stats = Stats::new(self.name.clone(), self.ring.capacity());
        stats.closed = self.is_closed();
        let too_early = seeded!("stats_end_first").then(|| self.end_of_published(self.ring.first()));
        let (mut farthest, mut followed) = (self.ring.first(), alloc::vec::Vec::new());
        self.gate.visit(|cell, cursor| {
            farthest = farthest.max(cursor);
            followed.push((cell, cursor));
        });
        let end = too_early.unwrap_or_else(|| self.end_of_published(farthest));
        let passed = end.back(self.gate.usable());
        stats.published = end.since(self.ring.first());
        stats.followed.extend(followed.into_iter().map(|(cell, cursor)| {
            let position = cursor.max(passed);
            FollowedStats { cell, position: position.get(), lag: end.since(position) }
        }));
        let slowest = stats.followed.iter().map(|reader| reader.position).min().map(Sequence::new);
        stats.received = slowest.map(|slowest| slowest.since(self.ring.first()));
        stats.pending = slowest.map(|slowest| end.since(slowest));
        stats.writers = self.publishers.handles();
        stats.readers = self.subscriber_handles();
        if let Some(counters) = &self.counters {
            counters.saw_waiting(stats.pending.unwrap_or(0));
            stats.counted = Some(counters.read());
        }
        stats
    }

    /// The end of what is published; with many publishers, of what is claimed. `known` is a cursor.
    fn end_of_published(&self, known: Sequence) -> Sequence {
        let head = self.ring.head();
        if head.writers() == Writers::One { self.ring.frontier(known).head } else { head.claimed() }
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

/// Something that no other ring has, also not one that comes later: who keeps a share in it keeps its address
/// in use.
#[derive(Clone)]
pub(super) struct Identity(Arc<u8>);

impl Identity {
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
