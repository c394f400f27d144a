//! The hub: what all handles of a queue share. Its rings, who sleeps, whether it is closed.
//!
//! A queue has one ring or, where every producer has a ring of its own, one for each producer. A ring is a [`Member`] of the hub for as
//! long as the hub lives; which producer has it, and whether consumers look at it, is the business of the [`Roster`].
//!
//! *After a send* (L4) a producer has three things to look at, which others change rarely: does a consumer sleep, is the queue closed (one
//! word says both, `sent`), do consumers still look at this ring (`listed`; not where it is the only one). One fence serves all three. Who
//! changes one of them then calls [`Event::barrier`] and looks at the lane: it sees the message, or the producer sees the change.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::member::{Member, MemberRef};
use super::plan::Plan;
use super::probe::Probe;
use super::roster::Roster;
use super::stats::ProducerStats;
use crate::error::CapacityError;
use crate::lane::Lane;
use crate::side::Side;
use crate::sync::{AtomicU64, Ordering, mutated, ordering};
use crate::wait::{Event, Mark, Marked};

/// What all handles of a queue share.
#[repr(C, align(128))]
pub(crate) struct Hub<L> {
    /// Where consumers sleep. [`CLOSED`] and [`HANDS_OFF`] are its marks.
    pub(super) sent: Event,
    producers: Side,
    consumers: Side,
    pub(super) roster: Roster<L>,
    /// How many producers have joined.
    joined: AtomicU64,
    pub(super) plan: Plan,
}

/// Set once, by whoever closes: nothing is sent from now on.
const CLOSED: Mark = Mark::Over;

/// Constant, as in the [`Plan`]: here too, so that one look before a send tells both.
const HANDS_OFF: Mark = Mark::Other;

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
    ) -> Result<MemberRef<L>, CapacityError> {
        // Relaxed: it only has to be different for each.
        let id = self.joined.fetch_add(1, Ordering::Relaxed);
        let free = if mutated!("rings_for_all_who_come") { None } else { self.roster.take_free() };
        if let Some(member) = free {
            member.id.store(id, Ordering::Relaxed);
            member.taken_over.store(true, Ordering::Relaxed);
            // SAFETY: the caller has a share.
            return Ok(unsafe { MemberRef::new(member) });
        }
        let lane = make(self.plan)?;
        let hub = NonNull::new(Arc::as_ptr(self).cast_mut().cast()).expect("an Arc points to something");
        let member = self.roster.add(|index| Box::new(Member::new(lane, index, id, hub, &self.plan)));
        // SAFETY: as above.
        Ok(unsafe { MemberRef::new(member) })
    }

    /// The producer of `member` leaves. From now on the lane may be another one's.
    pub(super) fn leave(&self, member: &Member<L>) {
        member.taken_over.store(false, Ordering::Relaxed);
        // Decision 0056: at once, with its messages.
        self.roster.give_back(member);
        self.producer_goes();
    }

    /// The hub that `member` is of.
    #[inline(always)]
    pub(super) fn of(member: &Member<L>) -> &Self {
        // SAFETY: `join` put the hub's address there, and whoever borrows a member keeps its hub alive.
        unsafe { member.hub.cast().as_ref() }
    }

    /// A share in the hub that `member` is of.
    ///
    /// # Safety
    ///
    /// The caller has one that it gave up without dropping it (`mem::forget`), and has it back by this.
    pub(super) unsafe fn share(member: &Member<L>) -> Arc<Self> {
        // SAFETY: the pointer is that of the `Arc` in `join`; the rest is the caller's promise.
        unsafe { Arc::from_raw(member.hub.as_ptr().cast()) }
    }

    /// All lanes there ever were.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member<L>> {
        self.roster.members()
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
        // Release: pairs with the Acquire in `is_closed`.
        self.sent.mark(CLOSED, ordering!(Release unless "hub_close_relaxed"));
        if mutated!("hub_close_wakes_nobody") {
            return;
        }
        self.sent.notify();
        self.members().for_each(|member| member.taken.notify());
    }

    /// On a closed queue: who looks at a lane after this sees every message whose producer may not have seen the close before.
    pub(super) fn await_sends(&self) {
        // Where all producers are gone, so are their sends (`are_gone` is Acquire), and nobody has to be interrupted.
        if !self.producers.are_gone() {
            self.sent.barrier_at_any_price();
        }
    }

    /// One producer more; the caller has one.
    pub(super) fn producer_comes(&self) {
        self.producers.one_more();
    }

    /// One producer less. With the last, the queue is closed.
    fn producer_goes(&self) {
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
    /// What the producers have done, in the order of joining: those that are there, and those that have left messages behind and whose ring has no
    /// other producer yet.
    pub(super) fn producers_now(&self) -> Vec<ProducerStats> {
        let mut producers: Vec<_> = self
            .members()
            .filter(|member| member.taken_over.load(Ordering::Relaxed) || member.lane.len() > 0)
            .map(|member| {
                let base = member.base.load(Ordering::Relaxed);
                // In this order, as for the length.
                let (tail, head) = (member.lane.tail(), member.lane.head());
                let sent = tail.wrapping_sub(base);
                // What lies before its first message is another one's.
                let before = base.wrapping_sub(head);
                let received = if before <= u64::MAX / 2 { 0 } else { before.wrapping_neg() };
                ProducerStats {
                    id: member.id.load(Ordering::Relaxed),
                    sent,
                    received,
                    pending: member.lane.len() as u64,
                    latency: member.probe.as_ref().and_then(Probe::latency),
                }
            })
            .collect();
        producers.sort_unstable_by_key(|producer| producer.id);
        producers
    }
}

/// What a new queue's handles start from.
pub(super) struct Start<L> {
    pub(super) hub: Arc<Hub<L>>,
    pub(super) member: MemberRef<L>,
}

impl<L> Start<L> {
    /// A hub with one lane, whose producer's handle is yet to be made.
    pub(super) fn new(
        plan: Plan,
        make: impl FnOnce(Plan) -> Result<L, CapacityError>,
    ) -> Result<Self, CapacityError> {
        let hub = Arc::new(Hub::new(plan));
        let member = hub.join(make)?;
        hub.roster.list(&member);
        Ok(Self { hub, member })
    }
}
