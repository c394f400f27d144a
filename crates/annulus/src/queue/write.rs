//! The producer's end of a lane: L1 to L4 of `ring/lane.rs`.

use alloc::sync::Arc;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::hub::{Hub, Member};
use super::kind::Write;
use super::room::wait_for_room;
use crate::error::{CapacityError, Refusal};
use crate::hint::unlikely;
use crate::ring::{Lane, Place};
use crate::sync::{Ordering, mutated};
use crate::wait::{Deadline, WaitStrategy};

/// How far ahead of the tail slots are fetched, in bytes.
const FETCHED: usize = 256;

/// No more bytes are fetched at once.
const MOST_FETCHED: usize = 512;

/// Bytes of a line.
const LINE: usize = 64;

/// The one producer of a lane.
///
/// What must wait, or is rare, is in functions that take and return values: so a producer whose methods are inlined lives in
/// registers, and stores nothing beside its messages and the tail.
pub(crate) struct WriteEnd<T> {
    /// A share, as by [`Arc::into_raw`]: one step nearer to what each send looks at.
    hub: NonNull<Hub<Lane<T>>>,
    member: NonNull<Member<Lane<T>>>,
    /// The next message.
    tail: Place,
    /// There is room before this one; there may be more.
    limit: u64,
}

// SAFETY: a share in a hub and a member of it, which may go where messages may go.
unsafe impl<T: Send> Send for WriteEnd<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for WriteEnd<T> {}

impl<T> WriteEnd<T> {
    /// The producer of `member`, a lane that nobody else sends on. It counts as a producer of the hub already.
    pub(super) fn new(hub: Arc<Hub<Lane<T>>>, member: NonNull<Member<Lane<T>>>) -> Self {
        // SAFETY: a member lives as long as its hub.
        let lane = unsafe { &member.as_ref().lane };
        // Nobody else writes it; whoever had it before gave it up (Release, Acquire).
        let tail = lane.place(lane.tail());
        // SAFETY: it points to something.
        let hub = unsafe { NonNull::new_unchecked(Arc::into_raw(hub).cast_mut()) };
        Self { hub, member, tail, limit: tail.number }
    }

    /// Another producer, with a lane of its own, which the consumer knows of. On a closed queue all its sends fail.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        let hub = self.hub();
        let member = hub.join(|plan| Lane::new(plan.capacity, plan.first, plan.node))?;
        hub.producer_comes();
        // SAFETY: as made in `new`, where this end's share is from; the other end gets one of its own.
        let share = unsafe {
            Arc::increment_strong_count(self.hub.as_ptr());
            Arc::from_raw(self.hub.as_ptr())
        };
        let end = Self::new(share, member);
        end.member().base.store(end.tail.number, Ordering::Relaxed);
        if let Some(probe) = &end.member().probe {
            probe.forget();
        }
        hub.call(member);
        // The consumer that ends the queue comes by every lane that it sees. If it may not have seen this one, its producer sees the close
        // before it sends.
        if !mutated!("join_unfenced") {
            hub.sent.fence();
        }
        Ok(end)
    }

    #[inline(always)]
    fn hub(&self) -> &Hub<Lane<T>> {
        // SAFETY: this end has a share in it.
        unsafe { self.hub.as_ref() }
    }

    #[inline(always)]
    fn member(&self) -> &Member<Lane<T>> {
        // SAFETY: a member lives as long as its hub, in which this is a share.
        unsafe { self.member.as_ref() }
    }

    #[inline(always)]
    fn lane(&self) -> &Lane<T> {
        &self.member().lane
    }

    /// How many slots are known to be free.
    #[inline(always)]
    fn room(&self) -> usize {
        self.limit.wrapping_sub(self.tail.number) as usize
    }

    /// L1. Returns where who sends one message after the other is to look again.
    #[inline(always)]
    fn look(&mut self) -> u64 {
        self.limit = self.lane().room_until();
        match &self.member().probe {
            None => self.limit,
            Some(probe) => probe.begin(self.tail.number, self.limit),
        }
    }

    /// L1, where the known room is less than `wanted`.
    #[inline(always)]
    fn look_for(&mut self, wanted: usize) {
        if self.room() < wanted {
            self.look();
        }
    }

    /// Whether the queue is closed, so that nothing is sent any more.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        unlikely(self.hub().may_be_closed()) && !mutated!("close_unsettled")
    }

    /// L3 and L4 for the messages before `after`, which lie in their slots; false where the queue was closed meanwhile: they are the caller's then.
    #[inline(always)]
    fn publish(&mut self, after: Place, is_lone: bool) -> bool {
        let is_sent = publish(self.hub(), self.member, self.tail, after, is_lone);
        if is_sent {
            self.tail = after;
        }
        is_sent
    }

    /// As [`put`](Write::put), to a queue that is not [over](Self::is_over). `is_lone` where the consumer has no other lane, and so always looks here.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline(always)]
    pub(super) unsafe fn put_open(&mut self, value: T, is_lone: bool) -> Result<(), T> {
        let slot = self.tail.slot;
        self.fetch_ahead();
        // SAFETY: there is room, so the slot is this end's alone.
        unsafe { self.lane().cells().write(slot, value) };
        if self.publish(self.tail.next(self.lane().capacity()), is_lone) {
            Ok(())
        } else {
            // SAFETY: written above, and the lane ends before it.
            Err(unsafe { self.lane().cells().take(slot) })
        }
    }

    /// Gets the line of a slot further on, if it is known to be free.
    ///
    /// The consumer had it last. A store to it waits for the line, and so do all later ones: among them the tail's, which the
    /// consumer is after meanwhile. A line at a time, the two may spend several times as long waiting for each other as they need to work.
    #[inline(always)]
    fn fetch_ahead(&self) {
        let size = size_of::<T>();
        let ahead = FETCHED.div_ceil(size.max(1));
        // Once for a line: who sends a message now and then, and waits for an answer, would only be slower for it. Never for messages of no size.
        let begins_a_line = self.tail.slot.wrapping_mul(size) % LINE < size;
        if begins_a_line && self.room() > ahead && ahead < self.lane().capacity() - self.tail.slot {
            self.lane().cells().prefetch_to_write(self.tail.slot + ahead);
        }
    }

    /// Gets the lines of the next `count` slots, as far as they are known to be free: who sends a batch sends another.
    #[inline(always)]
    fn fetch_next(&self, count: usize) {
        let slots = count.min(self.room()).min(self.lane().capacity() - self.tail.slot);
        let bytes = (slots * size_of::<T>()).min(MOST_FETCHED);
        for byte in (0..bytes).step_by(LINE) {
            self.lane().cells().prefetch_to_write(self.tail.slot + byte / size_of::<T>());
        }
    }

    /// A2: whether the consumer waits for the next message, and has asked for it.
    #[inline(always)]
    pub(super) fn is_asked_for(&self) -> bool {
        self.lane().is_asked_for(self.tail.number)
    }

    /// As [`put`](Write::put), beside the tail instead of in its slot.
    ///
    /// # Safety
    ///
    /// There is room, and the message [is asked for](Self::is_asked_for).
    #[inline(always)]
    pub(super) unsafe fn hand_over(&mut self, value: T) -> Result<(), T> {
        let after = self.tail.next(self.lane().capacity());
        // SAFETY: the caller's promise.
        unsafe { hand_over(self.hub(), self.member, self.tail, after, value)? };
        self.tail = after;
        Ok(())
    }

    /// Up to `most` contiguous free slots; empty where there is none.
    pub(super) fn free_slots(&mut self, most: usize) -> &mut [MaybeUninit<T>] {
        self.look_for(most);
        let count = most.min(self.room()).min(self.lane().capacity() - self.tail.slot);
        // SAFETY: they are behind the tail and there is room for them (L1), so the slots are this end's alone; the borrow of this end keeps it so.
        unsafe { self.lane().cells().uninit(self.tail.slot..self.tail.slot + count) }
    }

    /// Sends the first `count` of the [`free_slots`](Self::free_slots); returns how many are sent: all, or none where the queue was closed
    /// meanwhile. Then they are dropped.
    ///
    /// # Safety
    ///
    /// They were written, and there were as many.
    pub(super) unsafe fn publish_slots(&mut self, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        if !self.is_over() && self.publish(self.tail.forward(count, self.lane().capacity()), false) {
            return count;
        }
        for slot in self.tail.slot..self.tail.slot + count {
            // SAFETY: the caller wrote it; the lane ends before it (`publish`), so nobody else looks at it.
            drop(unsafe { self.lane().cells().take(slot) });
        }
        0
    }
}

/// L3 and L4 for the messages from `tail` to `after`. Returns whether they are sent; if not, the queue was closed meanwhile.
#[inline(always)]
fn publish<T>(
    hub: &Hub<Lane<T>>,
    member: NonNull<Member<Lane<T>>>,
    tail: Place,
    after: Place,
    is_lone: bool,
) -> bool {
    // SAFETY: a member lives as long as its hub.
    let ring = unsafe { member.as_ref() };
    ring.lane.publish(after.number);
    // The fence in `is_quiet` comes before the other two looks. Closed is rarely, unlisted is rarely.
    let calm = hub.sent.is_quiet() && !hub.may_be_closed() && (is_lone || ring.is_listed());
    if unlikely(!calm) && !attend(hub, member, after.number) {
        // The consumer will not look any more, and nobody else goes by the tail, but it counts.
        ring.lane.publish(tail.number);
        return false;
    }
    true
}

/// A3, L3 and L4 for the message at `tail`, which is the last before `after`, of a lane that is alone. Not inlined: who hands over waits for a line
/// anyway, and who does not keeps a short `send`.
///
/// # Safety
///
/// There is room, and the message is asked for.
#[inline(never)]
unsafe fn hand_over<T>(
    hub: &Hub<Lane<T>>,
    member: NonNull<Member<Lane<T>>>,
    tail: Place,
    after: Place,
    value: T,
) -> Result<(), T> {
    // SAFETY: a member lives as long as its hub.
    let lane = unsafe { &member.as_ref().lane };
    // SAFETY: the caller's promise.
    unsafe { lane.hand_over(tail.number, value) };
    if publish(hub, member, tail, after, true) {
        Ok(())
    } else {
        // SAFETY: handed over above, and the lane ends before it.
        Err(unsafe { lane.take_back() })
    }
}

/// L4, where something is to be done. Returns whether the messages before `tail` are sent; if not, the queue was closed before.
#[cold]
#[inline(never)]
fn attend<T>(hub: &Hub<Lane<T>>, member: NonNull<Member<Lane<T>>>, tail: u64) -> bool {
    hub.sent.fence();
    // SAFETY: a member lives as long as its hub.
    let lane = unsafe { &member.as_ref().lane };
    // E2. Messages up to the end are the consumer's; the end is behind all of these or before the first.
    let sent = !hub.may_be_closed() || mutated!("close_unsettled") || lane.seal(tail) == tail;
    // SAFETY: as above.
    if !unsafe { member.as_ref() }.is_listed() && !mutated!("call_nobody") {
        hub.call(member);
    }
    hub.sent.notify();
    sent
}

impl<T: Send> Write<T> for WriteEnd<T> {
    type Lane = Lane<T>;

    #[inline(always)]
    fn hub(&self) -> &Hub<Lane<T>> {
        self.hub()
    }

    #[inline(always)]
    fn has_room(&mut self) -> bool {
        if self.room() == 0 {
            self.limit = self.look();
        }
        self.room() != 0 || mutated!("lane_overwrites")
    }

    #[inline(always)]
    unsafe fn put(&mut self, value: T) -> Result<(), T> {
        if self.is_over() {
            return Err(value);
        }
        // SAFETY: the caller's promise.
        unsafe { self.put_open(value, false) }
    }

    #[inline]
    fn put_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        self.look_for(values.len());
        let count = values.len().min(self.room());
        if count == 0 || self.is_over() {
            return 0;
        }
        let (slot, slots) = (self.tail.slot, self.lane().capacity());
        let (first, second) = values[..count].split_at(count.min(slots - slot));
        for (range, part) in [(slot..slot + first.len(), first), (0..second.len(), second)] {
            // SAFETY: there is room for all of them (L1), so the slots are this end's alone.
            let free = unsafe { self.lane().cells().uninit(range) };
            // SAFETY: as many as the range has; a `T` is a `MaybeUninit<T>`.
            free.copy_from_slice(unsafe { core::slice::from_raw_parts(part.as_ptr().cast(), part.len()) });
        }
        if !self.publish(self.tail.forward(count, slots), false) {
            return 0;
        }
        self.fetch_next(count);
        count
    }

    #[inline(always)]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        self.limit = wait_for_limit(self.hub(), self.member, self.tail.number, strategy, deadline)?;
        Ok(())
    }

    #[inline(always)]
    fn wait_by_default(&mut self) -> Result<(), Refusal> {
        self.limit = wait_for_limit_by_default(self.hub(), self.member, self.tail.number)?;
        Ok(())
    }

    fn len(&self) -> usize {
        self.lane().len()
    }
}

/// Waits for room for message `tail`, and returns the new limit.
#[cold]
#[inline(never)]
fn wait_for_limit<T>(
    hub: &Hub<Lane<T>>,
    member: NonNull<Member<Lane<T>>>,
    tail: u64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<u64, Refusal> {
    let handful = (hub.plan.capacity as u64 / 8).max(1);
    let room = |lane: &Lane<T>| lane.room_until().wrapping_sub(tail);
    Ok(tail.wrapping_add(wait_for_room(hub, member, handful, room, strategy, deadline)?))
}

/// As [`wait_for_limit`], with fewer arguments.
#[cold]
#[inline(never)]
fn wait_for_limit_by_default<T>(
    hub: &Hub<Lane<T>>,
    member: NonNull<Member<Lane<T>>>,
    tail: u64,
) -> Result<u64, Refusal> {
    wait_for_limit(hub, member, tail, WaitStrategy::default(), None)
}

impl<T> Drop for WriteEnd<T> {
    fn drop(&mut self) {
        // SAFETY: the share of `new`, given back once, here.
        leave(unsafe { Arc::from_raw(self.hub.as_ptr()) }, self.member);
    }
}

/// By value, so that an end has no address (see `docs/ARCHITECTURE.md`).
#[cold]
#[inline(never)]
fn leave<T>(hub: Arc<Hub<Lane<T>>>, member: NonNull<Member<Lane<T>>>) {
    // SAFETY: a member lives as long as its hub.
    let lane = unsafe { member.as_ref() };
    lane.begin_to_leave();
    if mutated!("member_left_early") {
        lane.leave();
    }
    // As after a send: the consumer comes by, and takes the lane back when it is empty.
    hub.sent.fence();
    if !lane.is_listed() {
        hub.call(member);
    }
    // Not before: from now on the lane may be another producer's, whom a late call would take for called already.
    lane.leave();
    hub.producer_goes();
    drop(hub);
}
