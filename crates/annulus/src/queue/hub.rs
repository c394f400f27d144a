//! The hub: what all handles of a queue share. Its lanes, who sleeps, whether it is closed.
//!
//! A queue has one lane or, where every producer has a ring of its own, one for each producer. A lane is a [`Member`] of the hub for as
//! long as the hub lives: when its producer has left and it is empty, the next producer to come takes it over.
//!
//! *After a send* (L4) a producer has three things to look at, which others change rarely: does the consumer sleep, is the queue closed (one
//! word says both, `sent`), has the consumer stopped to look at this lane (`listed`; not where it is the only one). One fence serves all three. Who
//! changes one of them then calls [`Event::barrier`] and looks at the lane: it sees the message, or the producer sees the change.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::probe::Probe;
use super::stats::ProducerStats;
use crate::error::CapacityError;
use crate::os::numa::Node;
use crate::ring::Lane;
use crate::side::Side;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU64, Ordering, mutated};
use crate::wait::{Event, Mark};

/// What all handles of a queue share.
#[repr(C, align(128))]
pub(crate) struct Hub<L> {
    /// Where consumers sleep. [`CLOSED`] and [`HANDS_OFF`] are its marks.
    pub(super) sent: Event,
    producers: Side,
    consumers: Side,
    /// All lanes there ever were: a list that only grows, at its beginning.
    members: AtomicPtr<Member<L>>,
    /// Lanes that want the consumer's attention: a stack (Treiber's; all are taken at once, so there is no ABA).
    calling: AtomicPtr<Member<L>>,
    /// How many producers have joined.
    joined: AtomicU64,
    pub(super) plan: Plan,
}

/// Set once, by whoever closes: nothing is sent from now on.
const CLOSED: Mark = Mark::Over;

/// Constant, as in the [`Plan`]: here too, so that one look before a send tells both.
const HANDS_OFF: Mark = Mark::Other;

/// How lanes are to be. Constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(super) capacity: usize,
    /// The number of a lane's first message.
    pub(super) first: u64,
    /// Where its slots are to lie.
    pub(super) node: Node,
    /// Whether a consumer that waits asks for the next message (`ring/hand_off.rs`).
    pub(super) hand_off: bool,
    /// Whether its producer and its consumer measure how long messages take.
    pub(super) statistics: bool,
}

/// A lane in its hub.
#[repr(C)]
pub(crate) struct Member<L> {
    pub(super) lane: L,
    /// The hub, with the right to give back a share in it. Constant.
    pub(super) hub: NonNull<Hub<L>>,
    /// Where its producer sleeps.
    pub(super) taken: Event,
    /// Whether the consumer looks at this lane by itself. If not, the producer calls it.
    listed: AtomicBool,
    /// Whether nobody sends, so that a producer that joins may take the lane over.
    free: AtomicBool,
    /// Whether the producer is about to leave, so that the lane stays on the list.
    leaving: AtomicBool,
    /// Whether the producer has left, and calls no more.
    left: AtomicBool,
    /// Which producer this is; counted in the order of joining.
    pub(super) id: AtomicU64,
    /// The number of its producer's first message.
    pub(super) base: AtomicU64,
    /// Where that is asked for: what measures how long messages take.
    pub(super) probe: Option<Probe>,
    /// Below it on the stack of those that call.
    below: AtomicPtr<Member<L>>,
    /// The next in the list of all. Constant once it is in there.
    next: AtomicPtr<Member<L>>,
}

// SAFETY: the pointers are to members, which are shared like borrows and freed with the hub.
unsafe impl<L: Send + Sync> Send for Hub<L> {}
// SAFETY: as above.
unsafe impl<L: Send + Sync> Sync for Hub<L> {}

impl<L> Hub<L> {
    /// A hub without a lane, and with one handle on each side.
    pub(super) fn new(plan: Plan) -> Self {
        let sent = Event::new();
        if plan.hand_off {
            sent.mark(HANDS_OFF, Ordering::Relaxed);
        }
        Self {
            sent,
            producers: Side::new(),
            consumers: Side::new(),
            members: AtomicPtr::new(core::ptr::null_mut()),
            calling: AtomicPtr::new(core::ptr::null_mut()),
            joined: AtomicU64::new(0),
            plan,
        }
    }

    /// A lane for a producer that joins: one that is free, or one that `make` makes.
    pub(super) fn join(
        self: &Arc<Self>,
        make: impl FnOnce(Plan) -> Result<L, CapacityError>,
    ) -> Result<NonNull<Member<L>>, CapacityError> {
        // Relaxed: it only has to be different for each.
        let id = self.joined.fetch_add(1, Ordering::Relaxed);
        if let Some(member) = self.members().find(|member| member.take_over()) {
            member.id.store(id, Ordering::Relaxed);
            return Ok(NonNull::from(member));
        }
        let member = Box::into_raw(Box::new(Member::new(make(self.plan)?, id, self)));
        let mut next = self.members.load(Ordering::Relaxed);
        loop {
            // SAFETY: allocated above, and freed with the hub.
            unsafe { &*member }.next.store(next, Ordering::Relaxed);
            // Release: pairs with the Acquire in `members`, for the member's fields.
            match self.members.compare_exchange_weak(next, member, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: a box is never null.
                Ok(_) => return Ok(unsafe { NonNull::new_unchecked(member) }),
                Err(now) => next = now,
            }
        }
    }

    /// All lanes there ever were.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member<L>> {
        // Acquire: pairs with the Release in `join`. Those further on were added before.
        let mut at = self.members.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            // SAFETY: null, or a member, which lives as long as the hub.
            let member = unsafe { at.as_ref() }?;
            at = member.next.load(Ordering::Relaxed);
            Some(member)
        })
    }

    /// Calls the consumer to `member`, if it does not look there by itself. Whoever wakes a sleeping consumer does so after this.
    pub(super) fn call(&self, member: NonNull<Member<L>>) {
        // SAFETY: a member lives as long as its hub.
        let called = unsafe { member.as_ref() };
        // Acquire and Release: of those that find it unlisted at once (the producer, and the consumer that looks once more), one is first.
        if called.listed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut below = self.calling.load(Ordering::Relaxed);
        loop {
            called.below.store(below, Ordering::Relaxed);
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            // Release: pairs with the Acquire in `callers`. What lies below may have been taken and called anew meanwhile: it is then as good.
            match self.calling.compare_exchange_weak(below, member.as_ptr(), success, failure) {
                Ok(_) => return,
                Err(now) => below = now,
            }
        }
    }

    /// Whether some lane calls.
    #[inline]
    pub(super) fn is_called(&self) -> bool {
        // Relaxed: `callers` looks again.
        !self.calling.load(Ordering::Relaxed).is_null()
    }

    /// Takes all lanes that call, the latest first. The caller is the one consumer.
    pub(super) fn callers(&self) -> Callers<L> {
        // Acquire: pairs with the Release in `call`.
        Callers(self.calling.swap(core::ptr::null_mut(), Ordering::Acquire))
    }

    /// Whether somebody may have closed the queue: a hint.
    #[inline(always)]
    pub(super) fn may_be_closed(&self) -> bool {
        self.sent.is_marked(CLOSED, Ordering::Relaxed)
    }

    /// Whether a send is no plain one: somebody [may have closed](Self::may_be_closed) the queue, or the message may be asked for.
    #[inline(always)]
    pub(super) fn is_to_be_heeded(&self) -> bool {
        self.sent.has_marks()
    }

    /// Whether somebody has closed the queue. Who sees true also sees what that one did before.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`.
        self.sent.is_marked(CLOSED, Ordering::Acquire)
    }

    /// Closes the queue and wakes everybody.
    #[cold]
    pub(super) fn close(&self) {
        let ordering = if mutated!("hub_close_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in `is_closed`.
        self.sent.mark(CLOSED, ordering);
        if mutated!("hub_close_wakes_nobody") {
            return;
        }
        self.sent.notify();
        self.members().for_each(|member| member.taken.notify());
    }

    /// One producer more; the caller has one.
    pub(super) fn producer_comes(&self) {
        self.producers.one_more();
    }

    /// One producer less. With the last, the queue is closed.
    pub(super) fn producer_goes(&self) {
        if self.producers.one_less() {
            self.close();
        }
    }

    /// One consumer more; the caller has one.
    pub(super) fn consumer_comes(&self) {
        self.consumers.one_more();
    }

    /// One consumer less. With the last, the queue is closed; says whether it was.
    pub(super) fn consumer_goes(&self) -> bool {
        let last = self.consumers.one_less();
        if last {
            self.close();
        }
        last
    }
}

impl<T> Hub<Lane<T>> {
    /// What the producers have done, in the order of joining: those that are there, and those that have left messages behind.
    pub(super) fn producers_now(&self) -> Vec<ProducerStats> {
        let mut producers: Vec<_> = self
            .members()
            .filter(|member| !member.is_free())
            .map(|member| {
                let base = member.base.load(Ordering::Relaxed);
                // In this order, as for the length.
                let (tail, head) = (member.lane.tail(), member.lane.head());
                let (sent, received) = (tail.wrapping_sub(base), head.wrapping_sub(base));
                ProducerStats {
                    id: member.id.load(Ordering::Relaxed),
                    sent,
                    received,
                    pending: sent.saturating_sub(received),
                    latency: member.probe.as_ref().and_then(Probe::latency),
                }
            })
            .collect();
        producers.sort_unstable_by_key(|producer| producer.id);
        producers
    }
}

impl<L> Drop for Hub<L> {
    fn drop(&mut self) {
        let mut at = self.members.load(Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: made by `Box::into_raw` in `join`; all handles are gone, and the list has each member once.
            let member = unsafe { Box::from_raw(at) };
            at = member.next.load(Ordering::Relaxed);
        }
    }
}

/// Lanes that called.
pub(super) struct Callers<L>(*mut Member<L>);

impl<L> Iterator for Callers<L> {
    type Item = NonNull<Member<L>>;

    fn next(&mut self) -> Option<NonNull<Member<L>>> {
        let member = NonNull::new(self.0)?;
        // SAFETY: a member lives as long as its hub. Before anything else: when it calls again, this changes.
        self.0 = unsafe { member.as_ref() }.below.load(Ordering::Relaxed);
        Some(member)
    }
}

impl<L> Member<L> {
    fn new(lane: L, id: u64, hub: &Arc<Hub<L>>) -> Self {
        let plan = hub.plan;
        Self {
            lane,
            // SAFETY: it points to something.
            hub: unsafe { NonNull::new_unchecked(Arc::as_ptr(hub).cast_mut()) },
            taken: Event::new(),
            listed: AtomicBool::new(false),
            free: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            left: AtomicBool::new(false),
            id: AtomicU64::new(id),
            base: AtomicU64::new(plan.first),
            probe: plan.statistics.then(Probe::new),
            below: AtomicPtr::new(core::ptr::null_mut()),
            next: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Whether the caller is now the producer of a lane that nobody had.
    fn take_over(&self) -> bool {
        // Relaxed: the exchange decides.
        if !self.free.load(Ordering::Relaxed) {
            return false;
        }
        // Acquire: pairs with the Release in `give_up`.
        let taken = self.free.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            // As a new one: its producer calls when it is ready, and the call publishes these. (Who left has made its last call.)
            self.leaving.store(false, Ordering::Relaxed);
            self.left.store(false, Ordering::Relaxed);
            self.listed.store(false, Ordering::Relaxed);
        }
        taken
    }

    /// The consumer is done with the lane of a producer that has left.
    pub(super) fn give_up(&self) {
        let ordering = if mutated!("member_free_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in `take_over`.
        self.free.store(true, ordering);
    }

    /// The producer is about to leave. Then it looks, as after a send, whether to call, and then it [leaves](Self::leave).
    pub(super) fn begin_to_leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Whether the producer is about to leave, or has left.
    pub(super) fn is_leaving(&self) -> bool {
        // Relaxed: the barrier before it, and the producer's fence, decide what it sees.
        self.leaving.load(Ordering::Relaxed)
    }

    /// The producer leaves; what it sent comes before, and its last call.
    pub(super) fn leave(&self) {
        let ordering = if mutated!("member_left_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in `has_left`.
        self.left.store(true, ordering);
    }

    /// Whether nobody sends on it: its producer has left, and what it sent was received.
    pub(super) fn is_free(&self) -> bool {
        // Relaxed: an opinion; `take_over` decides.
        self.free.load(Ordering::Relaxed)
    }

    /// Whether the producer has left. Who sees true sees all that it sent.
    pub(super) fn has_left(&self) -> bool {
        // Acquire: pairs with the Release in `leave`.
        self.left.load(Ordering::Acquire)
    }

    /// Whether the consumer looks at this lane by itself.
    #[inline(always)]
    pub(super) fn is_listed(&self) -> bool {
        // Relaxed: the fence before it, and the consumer's, decide what it sees.
        self.listed.load(Ordering::Relaxed)
    }

    /// The consumer will not look at this lane by itself. It calls [`Event::barrier`] and looks once more.
    pub(super) fn unlist(&self) {
        self.listed.store(false, Ordering::Relaxed);
    }

    /// The consumer has looked once more, and goes on to look by itself; false where the producer calls.
    pub(super) fn relist(&self) -> bool {
        !self.listed.swap(true, Ordering::AcqRel)
    }
}

/// What a new queue's handles start from.
pub(super) struct Start<L> {
    pub(super) hub: Arc<Hub<L>>,
    pub(super) member: NonNull<Member<L>>,
}

impl<L> Start<L> {
    /// A hub with one lane, whose producer's handle is yet to be made.
    pub(super) fn new(
        plan: Plan,
        make: impl FnOnce(Plan) -> Result<L, CapacityError>,
    ) -> Result<Self, CapacityError> {
        let hub = Arc::new(Hub::new(plan));
        let member = hub.join(make)?;
        Ok(Self { hub, member })
    }
}
