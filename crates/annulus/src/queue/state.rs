//! The queue state: what all handles of a queue share. It has the lanes, the sleepers, and whether the queue
//! is closed.
//!
//! A queue has one lane, or one lane for each producer. Each lane is a [`LaneNode`] and lives as long as the
//! queue state. The [`Roster`] knows which producer has a lane, and which lanes are active: those at which
//! consumers look.
//!
//! *After a send* (L4) a producer checks three things, which change rarely. Does a consumer sleep? Is the
//! queue closed? (Both are in one word, `published`.) Is its lane still `active`? (This is not checked where
//! there is only one lane.) One fence serves all three. Whoever changes one of them then calls
//! [`Event::barrier`] and looks at the lane. Either it sees the message, or the producer sees the change.

use alloc::boxed::Box;
use alloc::sync::Weak;
use alloc::vec::Vec;
use core::mem::offset_of;
use core::ptr::NonNull;

use super::latency_sampler::LatencySampler;
use super::node::{LaneNode, QueueLane};
use super::plan::Plan;
use super::roster::Roster;
use super::stats::ProducerStats;
use crate::closer::{Close, Closer};
use crate::error::CapacityError;
use crate::handle_count::HandleCount;
use crate::lane::{Lane, Number};
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
    /// Itself, for who is to close it from elsewhere.
    me: Weak<Self>,
}

// The word that each send looks at begins the first line (docs/LAYOUT.md).
const _: () = assert!(offset_of!(QueueState<Lane<u64>>, published) == 0);

/// Set once, by the close. Nothing is sent from then on.
const CLOSED: Flag = Flag::Closed;

/// Constant, and also in the [`Plan`]. It is here, too, so that one look before a send tells both.
const HANDS_OFF: Flag = Flag::User;

// SAFETY: the pointers are to nodes, which are borrowed shared only, and freed with the queue state.
unsafe impl<L: Send + Sync> Send for QueueState<L> {}
// SAFETY: as above.
unsafe impl<L: Send + Sync> Sync for QueueState<L> {}

impl<L> QueueState<L> {
    /// A queue state without a lane, and with one handle on each side.
    pub(super) fn new(plan: Plan, me: Weak<Self>) -> Self {
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
            me,
        }
    }

    /// A lane for a producer that joins. It is a lane that nobody has, with what its last producer left in
    /// it, or a new one. O(1), or O(capacity) for a new one.
    pub(super) fn lane_for_producer(&self) -> Result<&LaneNode<L>, CapacityError>
    where
        L: QueueLane,
    {
        // Relaxed: each producer only needs another number.
        let id = self.joined.fetch_add(1, Ordering::Relaxed);
        let free = if mutated!("lanes_for_all_who_join") { None } else { self.roster.take_free() };
        if let Some(node) = free {
            node.id.store(id, Ordering::Relaxed);
            node.has_producer.store(true, Ordering::Relaxed);
            return Ok(node);
        }
        let lane = L::new(&self.plan)?;
        let state = NonNull::new(self.me.as_ptr().cast_mut().cast()).expect("an Arc points to something");
        Ok(self.roster.add(|index| Box::new(LaneNode::new(lane, index, id, state, &self.plan))))
    }

    /// The producer of `node` leaves. From now on another producer may have the lane.
    pub(super) fn leave(&self, node: &LaneNode<L>) {
        node.has_producer.store(false, Ordering::Relaxed);
        // Decision 0056: at once, with its messages.
        self.roster.give_back(node);
        self.producer_goes();
    }

    /// All lanes that were ever made.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &LaneNode<L>> {
        self.roster.nodes()
    }

    /// Whether the queue may be closed: a hint.
    #[inline(always)]
    pub(super) fn may_be_closed(&self) -> bool {
        self.published.has_flag(CLOSED, Ordering::Relaxed)
    }

    /// Whether a send needs more than the plain steps: the queue [may be closed](Self::may_be_closed), or the
    /// consumer may ask for the message.
    #[inline(always)]
    pub(super) fn has_any_flag(&self) -> bool {
        self.published.has_any_flag()
    }

    /// Whether the queue is closed. Whoever sees true also sees what the closing thread did before.
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

    /// What closes the queue from anywhere.
    pub(super) fn closer(&self) -> Closer
    where
        L: QueueLane + Send + Sync + 'static,
    {
        Closer::from_weak(Weak::clone(&self.me))
    }

    /// Called on a closed queue. Whoever looks at a lane afterwards sees every message of a producer that may
    /// not have seen the close before its send.
    pub(super) fn await_sends(&self) {
        // Where all producers are gone, their sends are over (`is_zero` is Acquire), and no barrier is
        // needed.
        if !self.producers.is_zero() {
            self.published.barrier_at_any_price();
        }
    }

    /// Counts one more producer. The caller has one.
    pub(super) fn producer_comes(&self) {
        self.producers.add();
    }

    /// Counts one producer less. The last one closes the queue.
    fn producer_goes(&self) {
        if self.producers.remove() {
            self.close();
        }
    }

    /// Counts one more consumer. The caller has one.
    pub(super) fn consumer_comes(&self) {
        self.consumers.add();
    }

    /// Counts one consumer less. The last one closes the queue; returns whether it was the last.
    pub(super) fn consumer_goes(&self) -> bool {
        let last = self.consumers.remove();
        if last {
            self.close();
        }
        last
    }
}

impl<L: QueueLane + Send + Sync> Close for QueueState<L> {
    fn close(&self) {
        Self::close(self);
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    fn waiting(&self) -> Option<u64> {
        Some(self.nodes().map(|node| node.lane.count()).sum())
    }
}

impl<T> QueueState<Lane<T>> {
    /// What the producers have done, in the order of joining. It has the producers that are there, and those
    /// that left messages in a lane which no other producer has yet.
    pub(super) fn producers_now(&self) -> Vec<ProducerStats> {
        let mut producers: Vec<_> = self
            .nodes()
            .filter(|node| node.has_producer.load(Ordering::Relaxed) || node.lane.len() > 0)
            .map(|node| {
                let base = Number::new(node.base.load(Ordering::Relaxed));
                // In this order, as for the length.
                let (tail, head) = (node.lane.tail(), node.lane.head());
                let sent = tail.since(base);
                // Messages before its first one are those of an earlier producer.
                let received = if head.is_before(base) { 0 } else { head.since(base) };
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
