//! What all handles of a shared queue have in common: the lane, who sleeps, who is still there. The verbs of both sides are made of what is here.
//!
//! *One wakes one.* Who has written a message wakes one receiver, and who has left a slot wakes one sender. But messages are written in another order than
//! they are received in: where message 8 is written before message 7, the receiver that was woken for 8 finds nothing at 7, and sleeps again. So who writes 7
//! looks for how many stand in a row from there on, and wakes as many. Between each write and that look there is a `SeqCst` fence on both sides (only
//! where somebody sleeps): the writer of 7 sees 8, or whoever is woken for 8 sees 7. With slots it is the same: who leaves one looks how many are free in
//! a row.
//!
//! *The end.* A close puts the tail where no message will be (`lane/claimed_lane.rs`), so a send that comes later is refused, and one that came earlier
//! is received. What is claimed and not yet written when the queue is closed is written soon, and its sender then wakes all: they receive it, or see that nothing is left.
//!
//! Where no receiver is left, what lies in the queue is dropped by the last of them, and what is written later by whoever writes it: a message may hold what its
//! sender waits for (the other end of an answer's queue, for example).

use crate::error::{RecvError, Refusal, TryRecvError};
use crate::hint::unlikely;
use crate::lane::ClaimedLane;
use crate::queue::rest::fill;
use crate::side::Side;
use crate::sync::{Ordering, fence, mutated};
use crate::wait::{Deadline, Event, Look, Mark, Marked, Patience, Wait, WaitStrategy, wait_until};

/// Slots that a batch claims at once: what is claimed and not yet written holds up all receivers.
const PIECE: usize = if cfg!(annulus_loom) { 2 } else { 64 };

/// What all handles share.
#[repr(C, align(128))]
pub(super) struct State<T> {
    pub(super) lane: ClaimedLane<T>,
    /// Where receivers sleep. [`CLOSED`] is its mark.
    sent: Event,
    /// Where senders sleep.
    taken: Event,
    pub(super) senders: Side,
    pub(super) receivers: Side,
    /// How handles wait where a verb does not say.
    pub(super) strategy: WaitStrategy,
}

/// Set when the queue is closed, before the lane is ended: a look at it is cheaper than one at the tail.
const CLOSED: Mark = Mark::Over;

impl<T> State<T> {
    /// With one handle on each side.
    pub(super) fn new(lane: ClaimedLane<T>, strategy: WaitStrategy) -> Self {
        Self {
            lane,
            sent: Event::new(),
            taken: Event::new(),
            senders: Side::new(),
            receivers: Side::new(),
            strategy,
        }
    }

    /// Sends `value` if there is room.
    #[inline(always)]
    pub(super) fn try_put(&self, value: T) -> Result<(), (Refusal, T)> {
        let number = self.lane.send(value)?;
        self.announce(number);
        Ok(())
    }

    /// After messages from number `first` on were written.
    #[inline(always)]
    fn announce(&self, first: u64) {
        if unlikely(!self.sent.is_calm()) {
            self.attend_receivers(first);
        }
    }

    /// What [`announce`](Self::announce) does where something is to be done.
    #[cold]
    #[inline(never)]
    fn attend_receivers(&self, first: u64) {
        let early = mutated!("claimed_counts_early").then(|| self.lane.written_from(first));
        // Full: pairs with that of another sender, and with the barriers of who sleeps and of `discard`.
        fence(Ordering::SeqCst);
        if self.may_be_closed() && !mutated!("claimed_close_unattended") {
            // All: one takes this message, and the others see that nothing is left.
            self.sent.notify();
            if self.receivers.are_gone() {
                self.discard();
            }
            return;
        }
        if !self.sent.has_sleepers() {
            return;
        }
        let count = early.unwrap_or_else(|| self.lane.written_from(first));
        self.sent.notify_some(if mutated!("claimed_wakes_one_only") { count.min(1) } else { count });
    }

    /// Sends `value`; waits for room, but not beyond `deadline`.
    #[cold]
    #[inline(never)]
    pub(super) fn put_late(
        &self,
        value: T,
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<(), (Refusal, T)> {
        match self.wait_for_room(strategy, deadline) {
            Ok(number) => {
                // SAFETY: claimed just now.
                unsafe { self.lane.write(number, value) };
                self.announce(number);
                Ok(())
            }
            Err(refusal) => Err((refusal, value)),
        }
    }

    /// Claims room for one message, once there is some.
    fn wait_for_room(&self, strategy: WaitStrategy, deadline: Deadline) -> Result<u64, Refusal> {
        let handful = (self.lane.capacity() as u64 / 8).max(1);
        let mut room = Room { state: self, handful, patience: Patience::new(handful, deadline) };
        wait_until(&mut room, strategy, deadline).unwrap_or(Err(Refusal::Full))
    }

    /// Sends as many of `values` as there is room for, from the first on; `Err` where the queue is closed and none was sent.
    pub(super) fn try_put_some(&self, values: &[T]) -> Result<usize, Refusal>
    where
        T: Copy,
    {
        let mut sent = 0;
        while sent < values.len() {
            let rest = &values[sent..];
            match self.lane.claim_room(rest.len().min(PIECE).min(self.lane.capacity())) {
                Ok((first, count)) => {
                    self.put_piece(first, &rest[..count]);
                    sent += count;
                }
                Err(refusal) if sent == 0 => return Err(refusal),
                Err(_) => break,
            }
        }
        Ok(sent)
    }

    /// Writes `values` from message `first` on, for which this thread has claimed room.
    fn put_piece(&self, first: u64, values: &[T])
    where
        T: Copy,
    {
        for (number, &value) in (0..).map(|count| first.wrapping_add(count)).zip(values) {
            // SAFETY: claimed by the caller.
            unsafe { self.lane.write(number, value) };
        }
        self.announce(first);
    }

    /// Sends all of `values`, and waits for room as often as it takes. On a closed queue it returns how many were not sent.
    pub(super) fn put_all(&self, values: &[T]) -> Result<(), usize>
    where
        T: Copy,
    {
        let mut rest = values;
        while let Some((&next, others)) = rest.split_first() {
            match self.try_put_some(rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(Refusal::Closed) => return Err(rest.len()),
                Err(Refusal::Full) => {
                    self.put_late(next, self.strategy, None).map_err(|_| rest.len())?;
                    rest = others;
                }
            }
        }
        Ok(())
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
    fn leave(&self, first: u64) {
        if unlikely(self.taken.may_have_sleepers()) {
            self.attend_senders(first);
        }
    }

    /// What [`leave`](Self::leave) does where something is to be done.
    #[cold]
    #[inline(never)]
    fn attend_senders(&self, first: u64) {
        let free = first.wrapping_add(self.lane.capacity() as u64);
        let early = mutated!("claimed_counts_early").then(|| self.lane.left_from(free));
        // Full: pairs with that of another receiver, and with the barrier of who sleeps.
        fence(Ordering::SeqCst);
        if !self.taken.has_sleepers() {
            return;
        }
        let count = early.unwrap_or_else(|| self.lane.left_from(free));
        self.taken.notify_some(if mutated!("claimed_wakes_one_only") { count.min(1) } else { count });
    }

    /// Moves messages into `places`, from the first on, and returns how many; what was there before is dropped.
    pub(super) fn take_into(&self, places: &mut [T]) -> usize {
        let mut filled = 0;
        while filled < places.len() {
            let Some((first, count)) = self.lane.claim(places.len() - filled) else { break };
            let _leaving = Leaving { state: self, first };
            // SAFETY: claimed just now, and each is taken once.
            fill(&mut places[filled..filled + count], first, |number| unsafe { self.lane.take(number) });
            filled += count;
        }
        filled
    }

    /// Hands messages to `each`, until that were `most`, or none is there. One by one: what is claimed can't be put back, and `each` may panic.
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
    pub(super) fn poll(&self) -> Result<T, TryRecvError> {
        match self.take() {
            Some(value) => Ok(value),
            None if self.may_be_closed() && self.lane.is_done() => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Takes a message, or waits for one, or for the end; `None` once `deadline` has passed.
    #[cold]
    #[inline(never)]
    pub(super) fn take_late(
        &self,
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Option<Result<T, RecvError>> {
        wait_until(&mut Next { state: self }, strategy, deadline)
    }

    /// Whether somebody may have closed the queue: a hint, for who then looks at the lane.
    #[inline(always)]
    fn may_be_closed(&self) -> bool {
        self.sent.is_marked(CLOSED, Ordering::Relaxed)
    }

    /// Closes the queue and wakes everybody.
    #[cold]
    pub(super) fn close(&self) {
        // Relaxed: who sees that the lane is ended (Q2, a Release) sees the mark, too.
        self.sent.mark(CLOSED, Ordering::Relaxed);
        if !mutated!("claimed_close_endless") {
            self.lane.end();
        }
        if mutated!("claimed_close_wakes_nobody") {
            return;
        }
        self.sent.notify();
        self.taken.notify();
    }

    /// One sender less. With the last, the queue is closed.
    pub(super) fn sender_goes(&self) {
        if self.senders.one_less() {
            self.close();
        }
    }

    /// One receiver less. With the last, the queue is closed, and what lies in it is dropped.
    pub(super) fn receiver_goes(&self) {
        if self.receivers.one_less() {
            self.close();
            self.discard();
        }
    }

    /// Nobody receives any more: drops what is there, up to the first message that is claimed and not yet written; whoever writes that comes here, too.
    #[cold]
    fn discard(&self) {
        // Who writes one after this sees that all receivers are gone, or the look below sees what it wrote.
        self.sent.barrier_at_any_price();
        if !mutated!("claimed_keeps_what_is_left") {
            while let Some(value) = self.take() {
                drop(value);
            }
        }
    }
}

/// Messages from number `first` on are moved out, and on drop senders learn of it: also where a destructor panics.
struct Leaving<'a, T> {
    state: &'a State<T>,
    first: u64,
}

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        self.state.leave(self.first);
    }
}

/// A sender that found no room.
struct Room<'a, T> {
    state: &'a State<T>,
    handful: u64,
    patience: Patience,
}

impl<T> Wait for Room<'_, T> {
    /// A claim.
    type Found = Result<u64, Refusal>;

    fn event(&self) -> &Event {
        &self.state.taken
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let lane = &self.state.lane;
        if lane.is_ended() {
            return Look::Found(Err(Refusal::Closed));
        }
        self.patience.pause();
        match self.patience.judge(lane.room(self.handful), ()) {
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
            Look::Found(()) => match lane.claim_room(1) {
                Ok((number, _)) => Look::Found(Ok(number)),
                Err(Refusal::Closed) => Look::Found(Err(Refusal::Closed)),
                Err(Refusal::Full) => Look::Nothing,
            },
        }
    }
}

/// The next message, or the end.
struct Next<'a, T> {
    state: &'a State<T>,
}

impl<T> Wait for Next<'_, T> {
    type Found = Result<T, RecvError>;

    fn event(&self) -> &Event {
        &self.state.sent
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.state.poll() {
            Ok(value) => Look::Found(Ok(value)),
            Err(TryRecvError::Empty) => Look::Nothing,
            Err(TryRecvError::Closed) => Look::Found(Err(RecvError)),
        }
    }
}
