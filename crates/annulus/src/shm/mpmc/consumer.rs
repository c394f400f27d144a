//! [`Consumer`]: receives messages, or claims them. [`Claimed`]: a message that is this consumer's until it
//! is done, or given back.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::memory::Board;
use crate::base::common::Common;
use crate::base::peer_liveness::{Gone, NowAndThen};
use crate::close::Closer;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, if_there, in_time};
use crate::lane::{ClaimedSlot, InLane, Number, PlaceTable, WorkReader};
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::queue::Cell;
use crate::receive::{Receive, Waitable, iterates};
use crate::shm::error::AttachError;
use crate::shm::invitation::Invitation;
use crate::shm::message_type::MessageType;
use crate::shm::places::Places;
use crate::shm::queue::PlaceLock;
use crate::shm::sleepers;
use crate::sync::seeded;
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, look_now, wait_until};

/// Receives from a queue of several consumers. Made by [`consumer`](fn@super::consumer).
///
/// Each message reaches one consumer. [`recv`](Self::recv) returns it, and has received it then.
/// [`claim`](Self::claim) returns a [`Claimed`] one, which is received when that says so: if this process
/// ends before, another consumer has the message.
///
/// Beside these verbs it has those of [`Receive`], and works wherever a receiving handle does: in tasks,
/// selects, workers and notifiers. It may move to another thread.
pub struct Consumer<T: Message> {
    reader: WorkReader<Cell<T>>,
    share: Arc<ConsumerShare<T>>,
    /// How many messages it takes before it looks whether another consumer has died.
    left_to_look: u32,
    /// Whether it has seen the close, and had a barrier since.
    is_behind_close: bool,
    /// How many messages were corrupt, and the last of them.
    corrupt: (u64, Option<BadValue>),
    strategy: WaitStrategy,
}

/// So many messages are taken between two looks at the clock.
const BETWEEN_LOOKS: u32 = 64;

/// What a consumer and its claimed messages share.
struct ConsumerShare<T: Message> {
    board: Common<Board<T>>,
    place: usize,
    /// Where this consumer waits for messages.
    sent: EventCount,
    /// Whether all producers are gone, and the queue ends with them.
    gone: Gone,
    /// When to ask whether other consumers have died.
    asks: NowAndThen,
    /// The ledger of the place has one writer.
    ledger: Mutex<()>,
    _lock: PlaceLock,
}

impl<T: Message> ConsumerShare<T> {
    /// The message is received.
    #[inline]
    fn done(&self, lane: usize, slot: ClaimedSlot) {
        let board = &self.board;
        board.lanes[lane].done(slot);
        board.received[lane].notify_across();
        if board.may_be_closed() {
            // Others may wait for the end.
            board.sent.notify_across();
        }
    }

    /// The message is given again.
    #[cold]
    fn give_back(&self, lane: usize, slot: ClaimedSlot) {
        let _one = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let board = &self.board;
        WorkReader::give_back(&board.lanes, board.ledger(self.place), lane, slot);
        board.sent.notify_across();
    }
}

impl<T: Message> Drop for ConsumerShare<T> {
    /// Nothing is claimed any more. The place is free then.
    fn drop(&mut self) {
        let (board, place) = (&self.board, self.place);
        let (came, _) = board.consumers.numbers(place).producers();
        board.ledger(place).set_swept(came);
        if board.consumers.leave(place) {
            board.close(false);
        }
    }
}

impl<T: Message> Consumer<T> {
    pub(in crate::shm) fn join(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, AttachError> {
        let board = Board::<T>::attach(invitation, of)?.in_common();
        let (place, lock) = Board::<T>::place(&board.consumers)?;
        // What a dead one in this place has left. Then it is counted as one that has come.
        let found = board.sweep_place(place);
        board.consumers.numbers(place).producer_comes();
        if found > 0 {
            board.wake_all();
        }
        let page = &board.consumers.page;
        let (sent, _) = sleepers::remotes_of_places(page, 0);
        let watched = Arc::clone(&board.producers);
        let is_gone = move || watched.is_over();
        // Another process that closes the queue, or a consumer that dies, wakes no task: so the helper looks.
        let (asks, over) = (board.clone(), is_gone.clone());
        let has_news = move || asks.has_ended() || over() || asks.has_unswept(place);
        let sent = EventCount::across(sent.woken_from_elsewhere(has_news), None);
        let reader = WorkReader::new(Arc::clone(&board.lanes), place);
        let (gone, asks) = (Gone::new(is_gone), NowAndThen::new());
        let share = ConsumerShare { board, place, sent, gone, asks, ledger: Mutex::new(()), _lock: lock };
        Ok(Self {
            reader,
            share: Arc::new(share),
            left_to_look: BETWEEN_LOOKS,
            is_behind_close: false,
            corrupt: (0, None),
            strategy,
        })
    }

    /// Receives the next message. Waits for it.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and nothing is left. As long as another consumer holds a message,
    /// that is not so: it may come back, and so this call waits.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        Receive::recv(self)
    }

    /// Receives the next message if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): none is there. [`Closed`](TryRecvError::Closed): as of
    /// [`recv`](Self::recv).
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        Receive::try_recv(self)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): none came in time. [`Closed`](RecvTimeoutError::Closed): as of
    /// [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// Receives messages that are there into `values`, as many as it has places at most. How many. Never
    /// waits.
    pub fn try_recv_batch(&mut self, values: &mut [T]) -> usize {
        let received =
            values.iter_mut().map_while(|value| self.try_recv().ok().map(|message| *value = message));
        received.count()
    }

    /// Waits for a message, and receives it and what else is there into `values`, as many as it has places at
    /// most. How many: none only if there are no places. See
    /// [`send_batch`](super::Producer::send_batch).
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv).
    pub fn recv_batch(&mut self, values: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, rest)) = values.split_first_mut() else { return Ok(0) };
        *first = self.recv()?;
        Ok(1 + self.try_recv_batch(rest))
    }

    /// Claims the next message: it is this consumer's, and received when it is [done](Claimed::done). Waits
    /// for it. A consumer may hold several, until the rings are full of held ones.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv). Messages that this consumer holds do not count as left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::mpmc;
    ///
    /// let invitation = mpmc::Builder::new(annulus::Settings::new(8)).build::<u32>()?.invitation;
    /// let mut producer = mpmc::producer::<u32>(&invitation)?;
    /// let (mut first, mut second) = (mpmc::consumer::<u32>(&invitation)?,
    /// mpmc::consumer::<u32>(&invitation)?); producer.send(7)?;
    ///
    /// let job = first.claim()?;
    /// assert_eq!((*job, job.given_before()), (7, 0));
    /// assert!(second.try_claim().is_err(), "it is the first one's");
    /// drop(job); // not done
    /// let job = second.claim()?;
    /// assert_eq!((*job, job.given_before()), (7, 1));
    /// assert_eq!(job.done(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn claim(&mut self) -> Result<Claimed<T>, RecvError> {
        // (A wait without a deadline finds something.)
        self.claim_late(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))
    }

    /// Claims the next message if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// As of [`try_recv`](Self::try_recv).
    #[inline]
    pub fn try_claim(&mut self) -> Result<Claimed<T>, TryRecvError> {
        if_there(look_now(|| self.poll_claim()))
    }

    /// As [`claim`](Self::claim), but waits as [`Until`] says: so long at most, for example.
    ///
    /// # Errors
    ///
    /// As of [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvTimeoutError;
    /// use annulus::shm::mpmc;
    /// use std::time::Duration;
    ///
    /// let invitation = mpmc::Builder::new(annulus::Settings::new(8)).build::<u32>()?.invitation;
    /// let mut consumer = mpmc::consumer::<u32>(&invitation)?;
    /// let claimed = consumer.claim_until(Duration::from_millis(1));
    /// assert_eq!(claimed.unwrap_err(), RecvTimeoutError::Timeout);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn claim_until(&mut self, until: impl Into<Until>) -> Result<Claimed<T>, RecvTimeoutError> {
        in_time(self.claim_late(until.into()))
    }

    /// As [`claim`](Self::claim), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has claimed nothing.
    ///
    /// # Errors
    ///
    /// As of [`claim`](Self::claim).
    #[cfg(feature = "async")]
    pub fn claim_async(&mut self) -> impl Future<Output = Result<Claimed<T>, RecvError>> + Send + Unpin {
        // SAFETY: the eventcount is in the share, which the consumer keeps.
        unsafe { Waiting::new(NextClaim(self)) }
    }

    /// Closes the queue, for all processes. What was sent before is received.
    pub fn close(&self) {
        self.share.board.close(false);
    }

    /// A [`Closer`], which [closes](Self::close) the queue from any thread. It keeps nothing open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::from_weak(self.share.board.downgrade())
    }

    /// The places for producers.
    pub(in crate::shm) fn producers(&self) -> Places {
        Places(Arc::clone(&self.share.board.producers))
    }

    /// Whether the queue is closed. Messages may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.share.board.is_closed(&self.share.gone)
    }

    /// How many messages wait to be received for the first time. O(places that were ever used).
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.share.board.len()
    }

    /// How many messages each producer's ring has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.share.board.lanes[0].capacity()
    }

    /// Its place: a number below the number of places for consumers.
    #[must_use]
    pub fn place(&self) -> usize {
        self.share.place
    }

    /// How many messages this consumer has thrown away because they are no `T`: another process has written
    /// into the memory what it must not.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.corrupt.0
    }

    /// What was wrong with the last of [these](Self::total_corrupt).
    #[must_use]
    pub fn last_corrupt(&self) -> Option<BadValue> {
        self.corrupt.1
    }

    crate::wait::own_strategy! {
        make: "let invitation = annulus::shm::mpmc::Builder::new(annulus::Settings::new(1)).build::<u8>().unwrap().invitation;\nlet mut reader = annulus::shm::mpmc::consumer::<u8>(&invitation).unwrap();",
        |handle| own: handle.strategy
    }

    fn claim_late(&mut self, until: Until) -> Option<Result<Claimed<T>, RecvError>> {
        if let Look::Found(found) = self.poll_claim() {
            return Some(found);
        }
        let strategy = until.strategy_or(|| self.strategy);
        wait_until(&mut NextClaim(self), strategy, until.deadline())
    }

    /// Claims a message, and copies it out.
    #[inline]
    fn poll_claim(&mut self) -> Look<Result<Claimed<T>, RecvError>> {
        self.poll_slot().map(|found| {
            found.map(|(lane, slot, message)| Claimed { message, lane, slot, share: Arc::clone(&self.share) })
        })
    }

    /// Claims a message, and copies it out: its lane, its slot, and the message.
    #[inline]
    fn poll_slot(&mut self) -> Look<Result<(usize, ClaimedSlot, T), RecvError>> {
        self.left_to_look -= 1;
        if self.left_to_look == 0 {
            self.left_to_look = BETWEEN_LOOKS;
            self.look_for_deaths();
        }
        match self.reader.claim(self.share.board.used()) {
            InLane::There((lane, slot)) => self.take(lane, slot),
            InLane::More => Look::Again,
            InLane::Nothing => self.poll_end(),
        }
    }

    /// The message of this slot. One that is no `T` is thrown away.
    #[inline]
    fn take(&mut self, lane: usize, slot: ClaimedSlot) -> Look<Result<(usize, ClaimedSlot, T), RecvError>> {
        let share = &self.share;
        // SAFETY: it was claimed just now.
        match unsafe { share.board.lanes[lane].value(&slot) }.checked() {
            Ok(message) => Look::Found(Ok((lane, slot, message))),
            Err(bad) => {
                share.done(lane, slot);
                self.corrupt = (self.corrupt.0 + 1, Some(bad));
                Look::Again
            }
        }
    }

    /// Asks the kernel now and then whether another consumer has died. Whether there is something to find.
    fn look_for_deaths(&self) -> bool {
        self.share.asks.is_due() && self.share.board.sweep(self.share.place) > 0
    }

    /// Nothing was found: is it the end?
    #[cold]
    #[inline(never)]
    fn poll_end(&mut self) -> Look<Result<(usize, ClaimedSlot, T), RecvError>> {
        let share = &self.share;
        if self.look_for_deaths() {
            return Look::Again;
        }
        if !share.board.is_closed(&share.gone) {
            return Look::Nothing;
        }
        if !self.is_behind_close {
            // mpmc.barrier2: pairs with mpmc.fence1. Each message is seen from now on, or its producer takes
            // it back.
            share.sent.barrier_at_any_price();
            self.is_behind_close = true;
            return Look::Again;
        }
        if let Some((lane, slot)) = self.reader.claim_last() {
            return self.take(lane, slot);
        }
        match self.left_at_end() {
            InLane::There(()) => Look::Nothing,
            InLane::More => Look::Again,
            InLane::Nothing => Look::Found(Err(RecvError::CLOSED)),
        }
    }

    /// What is left in a closed queue, but what this consumer holds: [`There`](InLane::There) is a message
    /// that another one may hold, which is there, or has died, and nobody has looked after it. O(all slots).
    fn left_at_end(&self) -> InLane<()> {
        let (board, own) = (&self.share.board, self.share.place);
        if seeded!("mpmc_ends_early") {
            return InLane::Nothing;
        }
        let may_hold = |place| place != own && board.may_hold(place);
        let mut lanes = board.lanes.iter().map(|lane| lane.left_at_end(may_hold));
        lanes.find(|left| !matches!(left, InLane::Nothing)).unwrap_or(InLane::Nothing)
    }
}

iterates! {
    [T: Message] Consumer<T>;
}

/// Until a message is claimed, or the queue has ended.
struct NextClaim<'c, T: Message>(&'c mut Consumer<T>);

impl<T: Message> Poll for NextClaim<'_, T> {
    type Found = Result<Claimed<T>, RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.0.share.sent
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll_claim()
    }
}

// SAFETY: the eventcount is in the share, which the handle keeps.
unsafe impl<T: Message> Source for Consumer<T> {
    fn wait_point(&self) -> &EventCount {
        &self.share.sent
    }

    fn is_ready(&mut self) -> bool {
        let share = &self.share;
        self.reader.may_claim(share.board.used())
            || self.look_for_deaths()
            || share.board.is_closed(&share.gone) && !matches!(self.left_at_end(), InLane::There(()))
    }

    fn strategy(&self) -> WaitStrategy {
        self.strategy
    }

    fn has_more(&mut self) -> bool {
        false
    }

    fn mark(&mut self) -> EndMark {
        let lanes = &self.share.board.lanes;
        EndMark::of((0..).zip(lanes.iter()).map(|(number, lane)| (number, lane.end().get())))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        let lanes = &self.share.board.lanes;
        mark.is_passed(|lane, end| !lanes[lane as usize].head().is_before(Number::new(end)))
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Message> Waitable for Consumer<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message> Receive for Consumer<T> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        match self.poll_slot() {
            Look::Found(Ok((lane, slot, message))) => {
                self.share.done(lane, slot);
                Look::Found(Ok(message))
            }
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }
}

impl<T: Message> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, is_closed) = (self.len(), self.share.board.has_ended());
        f.debug_struct("Consumer").field("len", &len).field("closed", &is_closed).finish_non_exhaustive()
    }
}

/// A message that a consumer has claimed: no other one has it. It is a copy; its place in the ring is taken
/// until it is [done](Self::done).
///
/// *Dropped without that, it is given again:* to any consumer, this one included, ahead of messages that come
/// later. That is so in a panic, too. If the process dies, [`unreceived`](super::Builder::unreceived)
/// decides.
///
/// It may be kept, and be done by another thread. As long as it is there its consumer has its place, also if
/// that was dropped. So do not forget one (`mem::forget`): it would be held until this process ends.
#[must_use = "its drop gives the message back"]
pub struct Claimed<T: Message> {
    message: T,
    lane: usize,
    slot: ClaimedSlot,
    share: Arc<ConsumerShare<T>>,
}

impl<T: Message> Claimed<T> {
    /// The message is received: it is never given again, and there is room for another one.
    #[inline]
    pub fn done(self) -> T {
        let mut claimed = ManuallyDrop::new(self);
        claimed.share.done(claimed.lane, claimed.slot);
        // SAFETY: it is not used any more, and not dropped. The rest of it needs no drop: a message is
        // `Copy`.
        unsafe { core::ptr::drop_in_place(&raw mut claimed.share) };
        claimed.message
    }

    /// How often the message was given before, 15 at most: to consumers that died with it, or gave it back.
    ///
    /// A message that kills each consumer that works on it would go round for ever: put one aside that was
    /// given too often.
    #[must_use]
    pub fn given_before(&self) -> u64 {
        self.slot.given()
    }

    /// The place of its producer, which no two producers have at one time. Messages of one place are claimed
    /// in the order of sending, except those that are given again.
    #[must_use]
    pub fn producer(&self) -> usize {
        self.lane
    }
}

impl<T: Message> Deref for Claimed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.message
    }
}

impl<T: Message> Drop for Claimed<T> {
    fn drop(&mut self) {
        self.share.give_back(self.lane, self.slot);
    }
}

impl<T: Message + fmt::Debug> fmt::Debug for Claimed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("message", &self.message)
            .field("given_before", &self.given_before())
            .finish_non_exhaustive()
    }
}
