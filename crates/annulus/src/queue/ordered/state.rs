//! The state that all handles of an ordered queue have in common: the lane, the sleepers, and the handle
//! counts. The verbs of both sides call the functions of this file.
//!
//! *One wakes one.* A sender that has written a message wakes one receiver, and a receiver that has left a
//! slot wakes one sender. But messages may be written in another order than they are received. If message 8
//! is written before message 7, the receiver that was woken for 8 finds nothing at 7, and sleeps again. So
//! the writer of 7 looks how many messages stand in a row from there on, and wakes as many receivers. Between
//! each write and that look there is a `SeqCst` fence on both sides (only if somebody sleeps). So the writer
//! of 7 sees 8, or the receiver that is woken for 8 sees 7. It is the same with slots: a receiver that leaves
//! a slot looks how many slots are free in a row.
//!
//! *The end.* A close puts the tail where no message will be (`lane/many_to_many.rs`), so a send that comes
//! later is refused, and one that came earlier is received. A message that is claimed and not yet written
//! when the queue is closed is written soon. Its sender then wakes all receivers: they receive it, or see
//! that nothing is left.
//!
//! The last receiver drops the messages that lie in the queue. A sender that writes a message later drops
//! that message. This matters because a message may own something that its sender waits for (the other end of
//! an answer's queue, for example).

use core::mem::ManuallyDrop;

use crate::base::common::Common;
use crate::base::common::written;
use crate::base::drop_all::drop_all;
use crate::base::handle_count::HandleCount;
use crate::close::Close;
use crate::error::{RecvError, Refusal, TryRecvError};
use crate::lane::{Cells, FreeSlot, ManyToMany, Number, Sent, StampedSlot};
use crate::observer::{Listing, Observe};
use crate::settings::Settings;
use crate::stats::{Counters, Counting, Name, Stats};
use crate::sync::{AtomicU64, Ordering, seeded, unlikely};
use crate::transmit::in_parts;
use crate::wait::{
    Deadline, EventCount, Look, NewWord, Poll, SleeperKind, Until, WaitStrategy, WriterBackoff,
    preferred_slots, wait_until,
};

/// Slots that a batch claims at once: what is claimed and not yet written holds up all receivers.
const PIECE: usize = if cfg!(annulus_loom) { 2 } else { 64 };

/// What all handles share.
#[repr(C, align(128))]
pub(super) struct State<T> {
    pub(super) lane: ManyToMany<T>,
    /// Where receivers sleep. Its flag is set by the close, before the lane is ended: a look at it is cheaper
    /// than one at the tail.
    pub(super) published: EventCount,
    /// Where senders sleep.
    pub(super) released: EventCount,
    pub(super) senders: HandleCount,
    pub(super) receivers: HandleCount,
    /// How handles wait if a verb does not say.
    pub(super) strategy: WaitStrategy,
    /// The number of the first message. Constant.
    first: Number,
    /// What is counted, if somebody wants that. Constant.
    counters: Counting,
    name: Name,
    /// In the list of those that have a name.
    listing: Listing,
}

impl<T> State<T> {
    /// Two shares in the state of a queue with these slots, which has one handle on each side.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(super) fn made(slots: Cells<StampedSlot<T>>, settings: &Settings) -> [Common<Self>; 2]
    where
        T: Send,
    {
        // As in `LaneShare::first`.
        let mut slots = ManuallyDrop::new(slots);
        let (new_word, counters) = (NewWord::of_events(), Counters::new(settings.statistics));
        let (first, listing) = (Number::new(settings.first), Listing::new(settings.name.as_deref()));
        let allocation = slots.block_mut().allocation_before::<Self>();
        // SAFETY: the allocation is new, `dst` is in it, and all fields are written.
        let shares = unsafe {
            written!(
                allocation.dst().as_ptr(),
                Self {
                    lane: ManyToMany::new(ManuallyDrop::into_inner(slots), first),
                    published: EventCount::begun(new_word, counters.clone()),
                    released: EventCount::begun(new_word, counters.clone()),
                    senders: HandleCount::new(),
                    receivers: HandleCount::new(),
                    strategy: settings.strategy,
                    first: first,
                    counters: counters,
                    name: settings.name.clone(),
                    listing: listing,
                }
            );
            allocation.filled()
        };
        Self::list(&shares[0]);
        shares
    }

    /// Sends `value` if a slot is free.
    #[inline(always)]
    pub(super) fn try_put(&self, value: T) -> Result<(), (Refusal, T)> {
        let number = self.lane.send(value)?;
        self.announce(number);
        Ok(())
    }

    /// After messages from number `first` on were written.
    #[inline(always)]
    fn announce(&self, first: Number) {
        if unlikely(self.published.needs_slow_path()) {
            self.wake_receivers(first);
        }
    }

    /// What [`announce`](Self::announce) does if there is something to do.
    #[cold]
    #[inline(never)]
    fn wake_receivers(&self, first: Number) {
        let early = seeded!("ordered_counts_early").then(|| self.lane.written_from(first));
        // Full: pairs with this fence of another sender, and with the barriers of a sleeper and of `discard`.
        self.published.fence_fully();
        if self.published.sleepers() == SleeperKind::Nobody {
            return;
        }
        // Unreached: a send beside a close, or beside the drop of the last receiver; loom claimed_wake
        if self.may_be_closed() && !seeded!("ordered_close_unseen") {
            // All: one takes this message, and the others see that nothing is left.
            self.published.notify();
            if self.receivers.is_zero() {
                self.discard();
            }
            return;
        }
        let count = early.unwrap_or_else(|| self.lane.written_from(first));
        let count = if seeded!("ordered_wakes_one_only") { count.min(1) } else { count };
        self.published.notify_some_fenced(count);
    }

    /// Sends `value`; waits for a free slot, but not beyond `deadline`.
    #[cold]
    #[inline(never)]
    pub(super) fn send_late(&self, value: T, until: Until) -> Result<(), (Refusal, T)> {
        match self.wait_for_free_slot(until.strategy_or(|| self.strategy), until.deadline()) {
            Ok(slot) => {
                self.fill(slot, value);
                Ok(())
            }
            Err(refusal) => Err((refusal, value)),
        }
    }

    /// Sends `value` in a slot that was claimed for it.
    pub(super) fn fill(&self, slot: FreeSlot<'_, T>, value: T) {
        self.announce(slot.write(value));
    }

    /// Claims a slot for one message, once one is free.
    #[cold]
    fn wait_for_free_slot(
        &self,
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<FreeSlot<'_, T>, Refusal> {
        if let Some(counters) = &self.counters {
            counters.saw_waiting(self.lane.capacity() as u64);
        }
        let preferred = preferred_slots(self.lane.capacity());
        let mut full = FullQueue { state: self, preferred, backoff: WriterBackoff::new(preferred, deadline) };
        wait_until(&mut full, strategy, deadline).unwrap_or(Err(Refusal::Full))
    }

    /// Sends as many of `values` as there are free slots, from the first on. `Err` if the queue is closed and
    /// none was sent.
    pub(super) fn try_send_some(&self, values: &[T]) -> Result<usize, Refusal>
    where
        T: Copy,
    {
        let mut sent = 0;
        while sent < values.len() {
            let rest = &values[sent..];
            match self.lane.send_some(&rest[..rest.len().min(PIECE)]) {
                Ok(Sent { first, count }) => {
                    self.announce(first);
                    sent += count;
                }
                Err(refusal) if sent == 0 => return Err(refusal),
                Err(_) => break,
            }
        }
        Ok(sent)
    }

    /// Sends all of `values`, and waits for a free slot as often as it takes. If it can't, returns what was
    /// not sent, and why.
    pub(super) fn send_all<'v>(&self, values: &'v [T], until: Until) -> Result<(), (&'v [T], Refusal)>
    where
        T: Copy,
    {
        // A duration counts from the first wait.
        let mut wait = None;
        in_parts(values, |rest| match self.try_send_some(rest) {
            Err(Refusal::Full) => {
                let (strategy, deadline) =
                    *wait.get_or_insert_with(|| (until.strategy_or(|| self.strategy), until.deadline()));
                self.fill(self.wait_for_free_slot(strategy, deadline)?, rest[0]);
                Ok(1)
            }
            sent_or_closed => sent_or_closed,
        })
    }

    /// Takes the next message, if it is there.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<T> {
        let (number, value) = self.lane.take_next()?;
        self.leave(number);
        Some(value)
    }

    /// After messages from number `first` on were moved out.
    #[inline(always)]
    fn leave(&self, first: Number) {
        if unlikely(self.released.may_have_sleepers()) {
            self.wake_senders(first);
        }
    }

    /// What [`leave`](Self::leave) does if there is something to do.
    #[cold]
    #[inline(never)]
    fn wake_senders(&self, first: Number) {
        let free = first.plus(self.lane.capacity() as u64);
        let early = seeded!("ordered_counts_early").then(|| self.lane.left_from(free));
        // Full: pairs with this fence of another receiver, and with the barrier of a sleeper.
        self.released.fence_fully();
        if self.released.sleepers() == SleeperKind::Nobody {
            return;
        }
        let count = early.unwrap_or_else(|| self.lane.left_from(free));
        let count = if seeded!("ordered_wakes_one_only") { count.min(1) } else { count };
        self.released.notify_some_fenced(count);
    }

    /// Moves messages into `buffer`, from the first on, and returns how many; what was there before is
    /// dropped.
    pub(super) fn take_into(&self, buffer: &mut [T]) -> usize {
        let mut filled = 0;
        // Mutants: `< with <=`: one more look.
        while filled < buffer.len() {
            let Some(claimed) = self.lane.claim(buffer.len() - filled) else { break };
            let _leaving = LeavingSlots { state: self, first: claimed.number() };
            let rest = &mut buffer[filled..];
            filled += claimed.len();
            for (slot, value) in rest.iter_mut().zip(claimed) {
                *slot = value;
            }
        }
        filled
    }

    /// Hands messages to `each`, until that were `most`, or none is there. One by one: what is claimed can't
    /// be put back, and `each` may panic.
    #[inline]
    pub(super) fn take_up_to(&self, most: usize, mut each: impl FnMut(T)) -> usize {
        let mut taken = 0;
        while taken < most {
            let Some(value) = self.take() else { break };
            taken += 1;
            each(value);
        }
        taken
    }

    /// One look.
    #[inline]
    pub(super) fn poll(&self) -> Result<T, TryRecvError> {
        match self.take() {
            Some(value) => Ok(value),
            None if self.may_be_closed() && self.lane.is_done() => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Whether [`poll`](Self::poll) would find a message, unless another receiver is faster, or the end.
    pub(super) fn is_ready(&self) -> bool {
        !self.lane.is_empty() || self.may_be_closed() && self.lane.is_done()
    }

    /// Takes a message, or waits for one, or for the end; `None` once `deadline` has passed.
    #[cold]
    #[inline(never)]
    pub(super) fn take_late(
        &self,
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Option<Result<T, RecvError>> {
        wait_until(&mut NextOrdered { state: self }, strategy, deadline)
    }

    /// Whether somebody may have closed the queue. This is a hint: the caller then looks at the lane.
    #[inline(always)]
    fn may_be_closed(&self) -> bool {
        self.published.is_closed(Ordering::Relaxed)
    }

    /// Closes the queue and wakes all threads that wait in it.
    #[cold]
    pub(super) fn close(&self) {
        if self.lane.is_ended() {
            return;
        }
        // Relaxed: a thread that sees that the lane is ended (ordered.close2, a Release) sees the flag, too.
        self.published.set_closed(Ordering::Relaxed);
        if !seeded!("ordered_close_endless") {
            self.lane.end();
        }
        if seeded!("ordered_close_wakes_nobody") {
            return;
        }
        // Where the last sender closes the queue nobody waits for slots, and nobody for messages where the
        // last receiver does.
        if !self.receivers.is_zero() {
            self.published.notify();
        }
        if !self.senders.is_zero() {
            self.released.notify();
        }
    }

    /// From now on it is in the list of those that have a name. Both sides have a handle.
    #[inline]
    fn list(&self)
    where
        T: Send,
    {
        // SAFETY: called once, with a handle on both sides. Each has a share of this, and the last one of its
        // side calls `side_goes` before it gives its share up.
        unsafe { self.listing.begin(self, 2) };
    }

    /// One sender less. With the last, the queue is closed.
    pub(super) fn sender_goes(&self) {
        if self.senders.remove() {
            self.listing.side_goes();
            self.close();
        }
    }

    /// One receiver less. With the last, the queue is closed, and what lies in it is dropped.
    pub(super) fn receiver_goes(&self) {
        if self.receivers.remove() {
            // Before a destructor may panic.
            self.listing.side_goes();
            self.close();
            self.discard();
        }
    }

    /// Nobody receives any more: drops the messages that are there, up to the first one that is claimed and
    /// not yet written. The thread that writes that message comes here, too.
    #[cold]
    fn discard(&self) {
        // A sender that writes one after this sees that all receivers are gone, or the look below sees what
        // it wrote. Where all senders are gone, too, all that they wrote is seen (`is_zero` is Acquire).
        if !self.senders.is_zero() {
            self.published.barrier_behind_flag();
        }
        if !seeded!("ordered_keeps_what_is_left") {
            drop_all(|| {
                let Some(claimed) = self.lane.claim(1) else { return false };
                let _leaving = LeavingSlots { state: self, first: claimed.number() };
                drop(claimed);
                true
            });
        }
    }
}

impl<T: Send> Close for State<T> {
    fn close(&self) {
        Self::close(self);
    }

    fn is_closed(&self) -> bool {
        self.lane.is_ended()
    }

    fn waiting(&self) -> Option<u64> {
        Some(self.lane.len() as u64)
    }
}

impl<T> State<T> {
    /// The numbers of the queue now.
    pub(super) fn stats(&self) -> Stats {
        let span = self.lane.span();
        let mut stats = Stats::new(self.name.clone(), self.lane.capacity());
        stats.closed = self.lane.is_ended();
        stats.published = span.tail.since(self.first);
        stats.received = Some(span.head.since(self.first));
        stats.pending = Some(span.count());
        stats.writers = self.senders.handles();
        stats.readers = self.receivers.handles();
        if let Some(counters) = &self.counters {
            counters.saw_waiting(span.count());
            stats.counted = Some(counters.read());
        }
        stats
    }
}

// SAFETY: numbers of the lane and of handles.
unsafe impl<T: Send> Observe for State<T> {
    fn stats(&self) -> Stats {
        Self::stats(self)
    }

    fn is_closed(&self) -> bool {
        self.lane.is_ended()
    }
}

/// Messages from number `first` on are moved out, and on drop senders learn of it: also if a destructor
/// panics.
struct LeavingSlots<'a, T> {
    state: &'a State<T>,
    first: Number,
}

impl<T> Drop for LeavingSlots<'_, T> {
    fn drop(&mut self) {
        self.state.leave(self.first);
    }
}

/// A sender that found no free slot.
struct FullQueue<'a, T> {
    state: &'a State<T>,
    preferred: u64,
    backoff: WriterBackoff,
}

impl<'a, T> Poll for FullQueue<'a, T> {
    /// A claim.
    type Found = Result<FreeSlot<'a, T>, Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.state.released
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.state.lane.free_word())
    }

    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        Some(&mut self.backoff)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let lane = &self.state.lane;
        if lane.is_ended() {
            return Look::Found(Err(Refusal::Closed));
        }
        match self.backoff.judge(lane.free_slots(self.preferred), ()) {
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
            Look::Found(()) => match lane.claim_free_slot() {
                Ok(slot) => Look::Found(Ok(slot)),
                // Unreached: a close between a look for room and the claim: two threads have to meet there;
                // loom claimed_wake
                Err(Refusal::Closed) => Look::Found(Err(Refusal::Closed)),
                // Unreached: another sender takes the room between the look and the claim: two threads have
                // to meet there; loom claimed_wake
                Err(Refusal::Full) => Look::Nothing,
            },
        }
    }
}

/// The next message, or the end.
struct NextOrdered<'a, T> {
    state: &'a State<T>,
}

impl<T> Poll for NextOrdered<'_, T> {
    type Found = Result<T, RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.state.published
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.state.lane.next_word())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.state.poll().into()
    }
}
