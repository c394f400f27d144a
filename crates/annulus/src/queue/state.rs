//! The queue state: what all handles of a queue share. It has the lanes, the sleepers, and whether the queue
//! is closed.
//!
//! A queue has one lane, or one lane for each producer. Each lane is a [`LaneNode`] and lives as long as the
//! queue state. The [`Roster`] knows which producer has a lane, and which lanes are active: those at which
//! consumers look.
//!
//! ```text
//! an end                          the queue state
//! ┌───────────────────┐          ┌──────────────────────────────────────────────────┐
//! │ LaneShare: a node │─────────▶│ LaneNode: the lane │ active, released │ state ──┐ │
//! │ its own numbers   │          │ published, roster …  ◀────────────────────────┘ │
//! └───────────────────┘          └──────────────────────────────────────────────────┘
//! ```
//!
//! So the lane is one step from an end, and the queue state another one.
//!
//! *After a send* (lane.send4) a producer checks three things, which change rarely. Does a consumer sleep? Is
//! the queue closed? (Both are in one word, `published`.) Is its lane still `active`? (This is not checked
//! where there is only one lane.) One fence serves all three. A thread that changes one of them then calls
//! [`EventCount::barrier`] and looks at the lane. Either it sees the message, or the producer sees the
//! change.

#[cfg(all(feature = "std", not(annulus_loom)))]
use alloc::sync::Arc;
use core::mem::{ManuallyDrop, offset_of};
use core::ops::Deref;
use core::ptr::NonNull;

use super::lane_node::{KeptPlan, LaneNode, NewLane, QueueLane};
use super::roster::{Roster, Round};
use crate::base::allocation::Before;
use crate::base::common::{Common, CommonAllocation};
use crate::base::handle_count::HandleCount;
#[cfg(all(feature = "std", not(annulus_loom)))]
use crate::close::NotifyOnClose;
use crate::close::{Close, Closer};
use crate::error::{CapacityError, RecvError};
use crate::lane::{Cells, OneToOne, OtherSide};
use crate::memory::Memory;
#[cfg(feature = "numa")]
use crate::memory::MemoryError;
use crate::observer::{Listing, Observe, Observer};
use crate::settings::Settings;
use crate::stats::{Counters, Counting, Stats};
#[cfg(feature = "numa")]
use crate::sync::AtomicUsize;
use crate::sync::{AtomicU64, Ordering, seeded};
#[cfg(feature = "shm")]
use crate::wait::Remote;
use crate::wait::{EventCount, NewWord};

/// A share in a queue state, and a reference to one of its lane nodes: what a `Common` of the one and a
/// reference to the other would be, in one pointer. Each end of a lane has one, and nothing else keeps a
/// queue state alive.
// Decision 0004: a handle has no more than four numbers.
pub(super) struct LaneShare<L: QueueLane> {
    /// A node of a queue state of which this owns one share. A node lives as long as its queue state.
    node: NonNull<LaneNode<L>>,
}

// SAFETY: as an `Arc` of the queue state, and a shared reference to a part of it.
unsafe impl<L: QueueLane> Send for LaneShare<L> {}
// SAFETY: as above.
unsafe impl<L: QueueLane> Sync for LaneShare<L> {}

impl<L: QueueLane> Deref for LaneShare<L> {
    type Target = LaneNode<L>;

    #[inline(always)]
    fn deref(&self) -> &LaneNode<L> {
        // SAFETY: this has a share in the node's queue state. A node is only borrowed shared.
        unsafe { self.node.as_ref() }
    }
}

impl<L: QueueLane> LaneShare<L> {
    #[inline(always)]
    pub(super) fn state(&self) -> &QueueState<L> {
        state_of(self)
    }
}

/// The queue state that `node` belongs to.
#[inline(always)]
pub(super) fn state_of<L: QueueLane>(node: &LaneNode<L>) -> &QueueState<L> {
    // SAFETY: `QueueState::lane_for_producer` put the address of the queue state there. A borrow
    // of a node is a borrow of a share, or of the queue state, which the node is a part of.
    unsafe { node.state.cast().as_ref() }
}

/// What all handles of a queue share.
#[repr(C, align(128))]
pub(crate) struct QueueState<L: QueueLane> {
    /// Where consumers sleep. Its flag is set by the close: nothing is sent from then on.
    pub(super) published: EventCount,
    producers: HandleCount,
    consumers: HandleCount,
    pub(super) roster: Roster<L>,
    /// How many producers have joined.
    joined: AtomicU64,
    pub(super) plan: KeptPlan,
    /// What is counted, if somebody wants that. Constant.
    pub(super) counters: Counting,
    /// In the list of those that have a name.
    listing: Listing,
    /// The process that has the other side, if that is another one. Constant.
    other_side: L::OtherSide,
    /// Itself, as a share has it. Constant.
    me: NonNull<Self>,
    /// The pipeline of which this is an output. It is told of the end.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    end_listener: std::sync::OnceLock<Arc<dyn NotifyOnClose>>,
    /// The NUMA node to which a consumer has moved the lanes; [`NOWHERE`] before that.
    #[cfg(feature = "numa")]
    reader_node: AtomicUsize,
}

/// No consumer has moved the lanes.
#[cfg(feature = "numa")]
const NOWHERE: usize = usize::MAX;

// The word that each send looks at begins the first line (docs/LAYOUT.md).
const _: () = assert!(offset_of!(QueueState<OneToOne<u64>>, published) == 0);

// SAFETY: the pointers are to nodes, which are borrowed shared only, and freed with the queue state. What
// makes a queue state asks for lanes that are `Send` and `Sync`, so there is none of others. (A bound here
// would be one of the handles' types, too.)
unsafe impl<L: QueueLane> Send for QueueState<L> {}
// SAFETY: as above.
unsafe impl<L: QueueLane> Sync for QueueState<L> {}

/// What a message looks at.
impl<L: QueueLane> QueueState<L> {
    /// Whether the queue may be closed: a hint.
    #[inline(always)]
    pub(super) fn may_be_closed(&self) -> bool {
        self.published.is_closed(Ordering::Relaxed) || self.other_side.may_have_closed()
    }

    /// lane.send4 of a queue whose other side is of another process, and which has one lane: whether somebody
    /// may sleep, or the queue may be closed.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(super) fn needs_slow_path_across(&self) -> bool {
        // The fence in the first look comes before the second look, too.
        self.published.needs_slow_path_across() || self.other_side.may_have_closed()
    }

    /// As [`may_be_closed`](Self::may_be_closed), for a consumer that found nothing: also whether the process
    /// of the other side is gone.
    #[inline(always)]
    pub(super) fn may_be_over(&self) -> bool {
        self.may_be_closed() || self.other_side.has_closed()
    }

    /// Whether the queue is closed. A caller that sees true also sees what the closing thread did
    /// before.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`.
        self.published.is_closed(Ordering::Acquire) || self.other_side.has_closed()
    }

    /// Why nothing is left to receive of a queue that is closed.
    #[inline]
    pub(super) fn end(&self) -> RecvError {
        RecvError::of(self.other_side.producers_have_died())
    }

    /// Called on a closed queue. A look at a lane afterwards sees every message of a producer that may not
    /// have seen the close before its send. No system call where the queue is young, which a queue for a
    /// reply always is.
    // Mutants: `with ()`: only a model sees it: end_no_barrier.
    pub(super) fn await_sends(&self) {
        // Where all producers are gone, their sends are over (`is_zero` is Acquire), and no barrier is
        // needed.
        // Mutants: `delete !`: only a model sees it: end_no_barrier.
        if !self.is_without_producers() {
            self.published.barrier_behind_flag();
        }
    }
}

/// A consumer that goes round the lanes.
impl<L: QueueLane> QueueState<L> {
    /// All lanes that were ever made.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &LaneNode<L>> {
        self.roster.nodes()
    }

    /// How many lanes may have messages: the first ones, in the order in which they were made.
    #[inline(always)]
    pub(super) fn lanes_in_use(&self) -> usize {
        let made = self.roster.count();
        self.other_side
            .lanes()
            .map_or(made, |used| if seeded!("lanes_believed") { used } else { used.min(made) })
    }
}

impl<L: QueueLane> LaneShare<L> {
    /// Moves on to the next lane of `round` that `is_wanted` accepts, and returns its number. Stays where it
    /// is if there is none.
    #[inline(always)]
    pub(super) fn move_on(
        &mut self,
        round: &mut Round,
        mut is_wanted: impl FnMut(&LaneNode<L>) -> bool,
    ) -> Option<usize> {
        loop {
            let (index, node) = self.state().roster.next(round)?;
            if is_wanted(node) {
                self.node = NonNull::from(node);
                return Some(index);
            }
        }
    }
}

/// How a queue begins.
impl<L: QueueLane> LaneShare<L> {
    /// The first two shares in a new queue state, which has one lane, of these slots. The lane is active. The
    /// queue state counts one producer and one consumer, which are still to be made.
    #[inline(always)]
    pub(super) fn first(slots: Cells<L::Cell>, plan: &Settings) -> [Self; 2]
    where
        L: NewLane<OtherSide = ()> + Send + Sync,
    {
        // (Leaked by a panic: nothing can fail here but the allocator. So no step takes the address of the
        // slots, and they are in registers.)
        let mut slots = ManuallyDrop::new(slots);
        let new_word = NewWord::of_events();
        let event = |counters| EventCount::begun(new_word, counters);
        let allocation = slots.block_mut().allocation_before();
        // SAFETY: `made` has memory for it.
        let lane = |dst| unsafe { L::write_at(dst, ManuallyDrop::into_inner(slots), plan) };
        let shares = QueueState::made(allocation, plan, [event; 2], lane, 1, ());
        shares[0].list(2);
        shares.map(Self::of_first)
    }

    /// The first share in a new queue state, whose other side is of another process, and which has the lane
    /// `first` and the lanes of `others`. The queue state counts a handle of the other side, too. All lanes
    /// are active. The consumer sleeps at `published`, and each producer at the place that comes with its
    /// lane.
    #[cfg(feature = "shm")]
    pub(super) fn across(
        plan: &Settings,
        first: (L, Remote),
        others: impl IntoIterator<Item = (L, Remote)>,
        published: Remote,
        other_side: L::OtherSide,
    ) -> Self
    where
        L: Send + Sync,
    {
        let (lane, released) = first;
        let event = |remote| |counters| EventCount::across(remote, counters);
        let events = [published, released].map(event);
        // SAFETY: `made` has memory for it.
        let lane = |dst: *mut L| unsafe { dst.write(lane) };
        let [state] = QueueState::made(Common::allocation(), plan, events, lane, 0, other_side);
        for ((lane, released), number) in others.into_iter().zip(1..) {
            let released = EventCount::across(released, state.counters.clone());
            // SAFETY: `add_lane` has memory for it.
            state.roster.activate(state.add_lane(|dst| unsafe { dst.write(lane) }, released, number));
        }
        Self::of_first(state)
    }

    /// A share at the first lane.
    #[inline(always)]
    fn of_first(state: Common<QueueState<L>>) -> Self {
        let node = NonNull::from(state.roster.first());
        // `give_up` drops it.
        let _ = state.into_raw();
        Self { node }
    }
}

impl<L: QueueLane> QueueState<L> {
    /// The slots of the first lane. They lie in one allocation with the queue state, if they are small.
    #[inline(always)]
    pub(super) fn first_slots(plan: &Settings) -> Result<Cells<L::Cell>, CapacityError>
    where
        L: NewLane,
    {
        L::slots(plan, Common::<Self>::BEFORE)
    }

    /// So many shares in a queue state, which has one handle on each side. `lane` writes the first lane,
    /// which is active, and whose producer sleeps at `released`. So many producers have joined.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(super) fn made<const SHARES: usize>(
        allocation: CommonAllocation<Self>,
        plan: &Settings,
        [published, released]: [impl FnOnce(Counting) -> EventCount; 2],
        lane: impl FnOnce(*mut L),
        joined: u64,
        other_side: L::OtherSide,
    ) -> [Common<Self>; SHARES] {
        let counters = Counters::new(plan.statistics);
        let (me, dst) = (allocation.dst(), allocation.dst().as_ptr());
        // SAFETY: the allocation is new, `dst` is in it, and all fields are written.
        unsafe {
            let roster = &raw mut (*dst).roster;
            Roster::write_at(roster, lane, me.cast(), plan, released(counters.clone()));
            (&raw mut (*dst).published).write(published(counters.clone()));
            (&raw mut (*dst).producers).write(HandleCount::new());
            (&raw mut (*dst).consumers).write(HandleCount::new());
            (&raw mut (*dst).joined).write(AtomicU64::new(joined));
            (&raw mut (*dst).plan).write(plan.kept());
            (&raw mut (*dst).counters).write(counters);
            (&raw mut (*dst).listing).write(Listing::new(plan.name.as_deref()));
            (&raw mut (*dst).other_side).write(other_side);
            (&raw mut (*dst).me).write(me);
            #[cfg(all(feature = "std", not(annulus_loom)))]
            (&raw mut (*dst).end_listener).write(std::sync::OnceLock::new());
            #[cfg(feature = "numa")]
            (&raw mut (*dst).reader_node).write(AtomicUsize::new(NOWHERE));
            allocation.filled()
        }
    }
}

/// How handles come and go.
impl<L: QueueLane> LaneShare<L> {
    /// A share in the same queue state, with a lane for a producer that joins.
    pub(super) fn join(&self) -> Result<Self, CapacityError>
    where
        L: NewLane,
    {
        let node = NonNull::from(self.state().lane_for_producer()?);
        // (A clone, with another node of the same queue state.)
        let mut share = self.clone();
        share.node = node;
        Ok(share)
    }

    /// The share at `node` that somebody has.
    ///
    /// # Safety
    ///
    /// Only one of the two is given up.
    pub(super) unsafe fn of(node: &LaneNode<L>) -> Self {
        Self { node: NonNull::from(node) }
    }
}

impl<L: QueueLane> QueueState<L> {
    /// A lane for a producer that joins. It is a lane that nobody has, with what its last producer left in
    /// it, or a new one. O(1), or O(capacity) for a new one.
    pub(super) fn lane_for_producer(&self) -> Result<&LaneNode<L>, CapacityError>
    where
        L: NewLane,
    {
        // Relaxed: each producer only needs another number.
        let id = self.joined.fetch_add(1, Ordering::Relaxed);
        if let Some(node) = self.roster.take_free() {
            node.id.store(id, Ordering::Relaxed);
            node.has_producer.store(true, Ordering::Relaxed);
            return Ok(node);
        }
        let mut plan = self.plan.again(&self.counters);
        if seeded!("joined_ring_unplaced") {
            plan.memory = Memory::default();
        }
        let (slots, released) = (self.new_slots(&plan)?, EventCount::counting(self.counters.clone()));
        // SAFETY: `add_lane` has memory for it.
        Ok(self.add_lane(|dst| unsafe { L::write_at(dst, slots, &plan) }, released, id))
    }

    /// Adds a lane, which `lane` writes to where it is to be, for producer `id`, which sleeps at `released`.
    pub(super) fn add_lane(&self, lane: impl FnOnce(*mut L), released: EventCount, id: u64) -> &LaneNode<L> {
        let plan = self.plan.again(&self.counters);
        self.roster.add(|index| LaneNode::made(lane, index, id, self.me.cast(), &plan, released))
    }

    /// Slots of its memory for a lane, near the consumer if that has said where it is.
    #[cfg_attr(not(feature = "numa"), allow(clippy::unused_self, reason = "which knows where that is"))]
    fn new_slots(&self, plan: &Settings) -> Result<Cells<L::Cell>, CapacityError>
    where
        L: NewLane,
    {
        #[cfg_attr(not(feature = "numa"), allow(unused_mut, reason = "it is moved"))]
        let mut slots = L::slots(plan, Before::NOTHING)?;
        #[cfg(feature = "numa")]
        {
            // Relaxed: it is a number and nothing else.
            let node = self.reader_node.load(Ordering::Relaxed);
            if node != NOWHERE {
                let told = slots.block_mut().bring_to(node);
                told.or_else(|error| plan.memory.if_required(error)).map_err(CapacityError::Memory)?;
            }
        }
        Ok(slots)
    }

    /// Moves all lanes to this NUMA node, and those that are made from now on.
    #[cfg(feature = "numa")]
    pub(super) fn bring_to(&self, node: usize) -> Result<(), MemoryError> {
        self.nodes().try_for_each(|lane| lane.lane.block().bring_to(node))?;
        // Relaxed: it is a number and nothing else.
        self.reader_node.store(node, Ordering::Relaxed);
        Ok(())
    }

    /// Counts one more producer. The caller has one.
    pub(super) fn producer_comes(&self) {
        self.producers.add();
    }

    /// The producer of `node` leaves. From now on another producer may have the lane.
    pub(super) fn leave(&self, node: &LaneNode<L>) {
        node.has_producer.store(false, Ordering::Relaxed);
        // After the last producer nobody joins.
        if !self.producers.is_last() {
            // Decision 0056: at once, with its messages.
            self.roster.give_back(node);
        }
        self.producer_goes();
    }

    /// Counts one producer less. The last one closes the queue, unless other processes may have some.
    fn producer_goes(&self) {
        if self.producers.remove() {
            self.listing.side_goes();
            if self.other_side.ends_with_producer() {
                self.close();
            }
        }
    }

    /// Whether all producers are gone. If so, the caller sees all that they have sent.
    pub(super) fn is_without_producers(&self) -> bool {
        self.producers.is_zero()
    }

    /// Counts one more consumer. The caller has one.
    pub(super) fn consumer_comes(&self) {
        self.consumers.add();
    }

    /// Counts one consumer less. The last one closes the queue; returns whether it was the last.
    pub(super) fn consumer_goes(&self) -> bool {
        let last = self.consumers.remove();
        if last {
            self.listing.side_goes();
            #[cfg(all(feature = "std", not(annulus_loom)))]
            if let Some(listener) = self.end_listener.get() {
                // What it drops is not taken.
                if !seeded!("dropped_counts_as_taken") {
                    listener.taken(self.received());
                }
            }
            self.close();
        }
        last
    }
}

impl<L: QueueLane> Clone for LaneShare<L> {
    fn clone(&self) -> Self {
        // SAFETY: the address belongs to a `Common`, of which this owns a share.
        let _ = unsafe { Common::another(self.state.cast::<QueueState<L>>()) }.into_raw();
        Self { node: self.node }
    }
}

impl<L: QueueLane> Drop for LaneShare<L> {
    #[inline(always)]
    fn drop(&mut self) {
        give_up(self.node);
    }
}

/// By value, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn give_up<L: QueueLane>(node: NonNull<LaneNode<L>>) {
    // SAFETY: the share that is given up here is still there.
    let state = unsafe { node.as_ref() }.state;
    // SAFETY: the address belongs to a `Common`, and the share is given up once: it is being dropped.
    drop(unsafe { Common::from_raw(state.cast::<QueueState<L>>()) });
}

/// How a queue is closed, and what is known of it elsewhere.
impl<L: QueueLane> QueueState<L> {
    /// Closes the queue and wakes everybody. Does nothing if somebody has closed it, or is about to.
    #[cold]
    pub(super) fn close(&self) {
        // Acquire: as in `is_closed`.
        if self.published.is_closed(Ordering::Acquire) {
            return;
        }
        // The other process first: a thread that is woken there looks whether this side has closed.
        self.other_side.close();
        self.published.close();
        // Where the last producer closes the queue, nobody waits for slots.
        if !self.producers.is_zero() && !seeded!("queue_close_wakes_nobody") {
            self.roster.wake_producers(&self.published);
        }
        #[cfg(all(feature = "std", not(annulus_loom)))]
        if let Some(listener) = self.end_listener.get() {
            listener.closed();
        }
    }

    /// What closes the queue from anywhere.
    pub(super) fn closer(&self) -> Closer
    where
        L: 'static,
    {
        Closer::from_weak(self.share().downgrade())
    }

    /// What takes snapshots from anywhere.
    pub(super) fn observer(&self) -> Observer
    where
        L: 'static,
    {
        Observer::from_weak(self.share().downgrade())
    }

    /// From now on it is in the list of those that have a name. This process has handles of so many `sides`.
    pub(super) fn list(&self, sides: usize)
    where
        L: Send + Sync,
    {
        // SAFETY: called once, with handles on so many sides. Each has a share of this, and the last one of
        // its side calls `side_goes` before it gives its share up.
        unsafe { self.listing.begin(self, sides) };
    }

    /// A share of itself. (The caller has one, or borrows one.)
    fn share(&self) -> Common<Self> {
        // SAFETY: `LaneShare` makes queue states as `Common`s only.
        unsafe { Common::another(self.me) }
    }
}

impl<L: QueueLane> Close for QueueState<L> {
    fn close(&self) {
        Self::close(self);
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    fn waiting(&self) -> Option<u64> {
        Some(self.nodes().map(|node| node.lane.span().count()).sum())
    }

    #[cfg(all(feature = "std", not(annulus_loom)))]
    fn notify_on_close(&self, listener: Arc<dyn NotifyOnClose>) {
        _ = self.end_listener.set(listener);
    }
}

// SAFETY: numbers of lanes and of handles.
unsafe impl<L: QueueLane> Observe for QueueState<L> {
    fn stats(&self) -> Stats {
        Self::stats(self)
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }
}

/// The numbers of a queue.
impl<L: QueueLane> QueueState<L> {
    /// The numbers of the queue now. Each lane is read [at one moment](crate::lane::Span::read), one after
    /// the other.
    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::new(self.plan.name.clone(), self.plan.capacity);
        stats.closed = self.is_closed();
        let (mut received, mut pending) = (0_u64, 0);
        for node in self.nodes() {
            let span = node.lane.span();
            // Of all its producers.
            stats.published = stats.published.wrapping_add(span.tail.since(self.plan.first));
            received = received.wrapping_add(span.head.since(self.plan.first));
            pending += span.count();
            if let Some(counters) = &self.counters {
                counters.saw_waiting(span.count());
            }
            stats.producers.extend(node.producer_now(span));
        }
        stats.producers.sort_unstable_by_key(|producer| producer.id);
        (stats.received, stats.pending) = (Some(received), Some(pending));
        stats.writers = self.other_side.producers().unwrap_or_else(|| self.producers.handles());
        stats.readers = self.other_side.consumers().unwrap_or_else(|| self.consumers.handles());
        stats.counted = self.counters.as_ref().map(|counters| counters.read());
        stats
    }

    /// How many messages consumers have taken.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    fn received(&self) -> u64 {
        let of_lanes = self.nodes().map(|node| node.lane.span().head.since(self.plan.first));
        of_lanes.fold(0, u64::wrapping_add)
    }
}
