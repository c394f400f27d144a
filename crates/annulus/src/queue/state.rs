//! The queue state: what all handles of a queue share. Its lanes, who sleeps, whether it is closed.
//!
//! A queue has one lane or, where every producer has a lane of its own, one for each producer. A lane is a [`LaneNode`] of the queue state for as
//! long as the queue state lives; which producer has it, and whether consumers look at it, is the business of the [`Roster`].
//!
//! *After a send* (L4) a producer has three things to look at, which others change rarely: does a consumer sleep, is the queue closed (one
//! word says both, `published`), do consumers still look at this lane (`active`; not where it is the only one). One fence serves all three. Who
//! changes one of them then calls [`Event::barrier`] and looks at the lane: it sees the message, or the producer sees the change.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::latency_sampler::LatencySampler;
use super::node::{LaneNode, NodeRef};
use super::plan::Plan;
use super::roster::Roster;
use super::stats::ProducerStats;
use crate::error::CapacityError;
use crate::handle_count::HandleCount;
use crate::lane::Lane;
use crate::sync::{AtomicU64, Ordering, mutated, ordering};
use crate::wait::{Event, Flag, HasFlags};

/// What all handles of a queue share.
#[repr(C, align(128))]
pub(crate) struct QueueState<L> {
    /// Where consumers sleep. [`CLOSED`] and [`HANDS_OFF`] are its flags.
    pub(super) published: Event,
    producers: HandleCount,
    consumers: HandleCount,
    pub(super) roster: Roster<L>,
    /// How many producers have joined.
    joined: AtomicU64,
    pub(super) plan: Plan,
}

/// Set once, by whoever closes: nothing is sent from now on.
const CLOSED: Flag = Flag::Closed;

/// Constant, as in the [`Plan`]: here too, so that one look before a send tells both.
const HANDS_OFF: Flag = Flag::User;

// SAFETY: the pointers are to nodes, which are shared like borrows and freed with the queue state.
unsafe impl<L: Send + Sync> Send for QueueState<L> {}
// SAFETY: as above.
unsafe impl<L: Send + Sync> Sync for QueueState<L> {}

impl<L> QueueState<L> {
    /// A queue state without a lane, and with one handle on each side.
    pub(super) fn new(plan: Plan) -> Self {
        let published = Event::new();
        if plan.hand_off {
            published.set_flag(HANDS_OFF, Ordering::Relaxed);
        }
        Self {
            published,
            producers: HandleCount::new(),
            consumers: HandleCount::new(),
            roster: Roster::new(),
            joined: AtomicU64::new(0),
            plan,
        }
    }

    /// A lane for a producer that joins: one that nobody has, with what its last producer left in it, or one that `make` makes. O(1), but for
    /// what `make` does.
    pub(super) fn join(
        self: &Arc<Self>,
        make: impl FnOnce(Plan) -> Result<L, CapacityError>,
    ) -> Result<NodeRef<L>, CapacityError> {
        // Relaxed: it only has to be different for each.
        let id = self.joined.fetch_add(1, Ordering::Relaxed);
        let free = if mutated!("lanes_for_all_who_join") { None } else { self.roster.take_free() };
        if let Some(node) = free {
            node.id.store(id, Ordering::Relaxed);
            node.has_producer.store(true, Ordering::Relaxed);
            // SAFETY: the caller has a share.
            return Ok(unsafe { NodeRef::new(node) });
        }
        let lane = make(self.plan)?;
        let state = NonNull::new(Arc::as_ptr(self).cast_mut().cast()).expect("an Arc points to something");
        let node = self.roster.add(|index| Box::new(LaneNode::new(lane, index, id, state, &self.plan)));
        // SAFETY: as above.
        Ok(unsafe { NodeRef::new(node) })
    }

    /// The producer of `node` leaves. From now on the lane may be another one's.
    pub(super) fn leave(&self, node: &LaneNode<L>) {
        node.has_producer.store(false, Ordering::Relaxed);
        // Decision 0056: at once, with its messages.
        self.roster.give_back(node);
        self.producer_goes();
    }

    /// The queue state that `node` is of.
    #[inline(always)]
    pub(super) fn of(node: &LaneNode<L>) -> &Self {
        // SAFETY: `join` put the queue state's address there, and whoever borrows a node keeps its queue state alive.
        unsafe { node.state.cast().as_ref() }
    }

    /// A share in the queue state that `node` is of.
    ///
    /// # Safety
    ///
    /// The caller has one that it gave up without dropping it (`mem::forget`), and has it back by this.
    pub(super) unsafe fn share(node: &LaneNode<L>) -> Arc<Self> {
        // SAFETY: the pointer is that of the `Arc` in `join`; the rest is the caller's promise.
        unsafe { Arc::from_raw(node.state.as_ptr().cast()) }
    }

    /// All lanes there ever were.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &LaneNode<L>> {
        self.roster.nodes()
    }

    /// Whether somebody may have closed the queue: a hint.
    #[inline(always)]
    pub(super) fn may_be_closed(&self) -> bool {
        self.published.has_flag(CLOSED, Ordering::Relaxed)
    }

    /// Whether a send is no plain one: somebody [may have closed](Self::may_be_closed) the queue, or the message may be asked for.
    #[inline(always)]
    pub(super) fn has_any_flag(&self) -> bool {
        self.published.has_any_flag()
    }

    /// Whether somebody has closed the queue. Who sees true also sees what that one did before.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`.
        self.published.has_flag(CLOSED, Ordering::Acquire)
    }

    /// Closes the queue and wakes everybody.
    #[cold]
    pub(super) fn close(&self) {
        // Release: pairs with the Acquire in `is_closed`.
        self.published.set_flag(CLOSED, ordering!(Release unless "queue_close_relaxed"));
        if mutated!("queue_close_wakes_nobody") {
            return;
        }
        self.published.notify();
        self.nodes().for_each(|node| node.released.notify());
    }

    /// On a closed queue: who looks at a lane after this sees every message whose producer may not have seen the close before.
    pub(super) fn await_sends(&self) {
        // Where all producers are gone, so are their sends (`is_zero` is Acquire), and nobody has to be interrupted.
        if !self.producers.is_zero() {
            self.published.barrier_at_any_price();
        }
    }

    /// One producer more; the caller has one.
    pub(super) fn producer_comes(&self) {
        self.producers.add();
    }

    /// One producer less. With the last, the queue is closed.
    fn producer_goes(&self) {
        if self.producers.remove() {
            self.close();
        }
    }

    /// One consumer more; the caller has one.
    pub(super) fn consumer_comes(&self) {
        self.consumers.add();
    }

    /// One consumer less. With the last, the queue is closed; says whether it was.
    pub(super) fn consumer_goes(&self) -> bool {
        let last = self.consumers.remove();
        if last {
            self.close();
        }
        last
    }
}

impl<T> QueueState<Lane<T>> {
    /// What the producers have done, in the order of joining: those that are there, and those that have left messages behind and whose lane has no
    /// other producer yet.
    pub(super) fn producers_now(&self) -> Vec<ProducerStats> {
        let mut producers: Vec<_> = self
            .nodes()
            .filter(|node| node.has_producer.load(Ordering::Relaxed) || node.lane.len() > 0)
            .map(|node| {
                let base = node.base.load(Ordering::Relaxed);
                // In this order, as for the length.
                let (tail, head) = (node.lane.tail(), node.lane.head());
                let sent = tail.wrapping_sub(base);
                // What lies before its first message is another one's.
                let before = base.wrapping_sub(head);
                let received = if before <= u64::MAX / 2 { 0 } else { before.wrapping_neg() };
                ProducerStats {
                    id: node.id.load(Ordering::Relaxed),
                    sent,
                    received,
                    pending: node.lane.len() as u64,
                    latency: node.sampler.as_ref().and_then(LatencySampler::latency),
                }
            })
            .collect();
        producers.sort_unstable_by_key(|producer| producer.id);
        producers
    }
}

/// What a new queue's handles start from.
pub(super) struct Start<L> {
    pub(super) state: Arc<QueueState<L>>,
    pub(super) node: NodeRef<L>,
}

impl<L> Start<L> {
    /// A queue state with one lane, whose producer's handle is yet to be made.
    pub(super) fn new(
        plan: Plan,
        make: impl FnOnce(Plan) -> Result<L, CapacityError>,
    ) -> Result<Self, CapacityError> {
        let state = Arc::new(QueueState::new(plan));
        let node = state.join(make)?;
        state.roster.activate(&node);
        Ok(Self { state, node })
    }
}
