//! [`Sender`]: the sending verbs.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
#[cfg(feature = "std")]
use std::time::Duration;

use super::state::State;
use crate::Closer;
use crate::base::common::Common;
#[cfg(any(feature = "std", feature = "async"))]
use crate::error::Refusal;
use crate::error::{GiveBack, SendError, SendTimeoutError, TrySendError};
#[cfg(feature = "std")]
use crate::lane::FreeSlot;
#[cfg(feature = "std")]
use crate::memory::Placement;
use crate::observer::{Observer, observable};
#[cfg(feature = "std")]
use crate::sync::AtomicU64;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
#[cfg(feature = "std")]
use crate::transmit::room::SoleSender;
use crate::transmit::{in_parts, transmits};
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm, fill_claim};
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EventCount, Look, Poll};
use crate::wait::{Until, WaitStrategy};

/// The sending end of an [ordered queue](super): each message reaches one receiver.
///
/// It may be cloned, or shared by reference, at any time: all verbs take `&self`, and all senders have one
/// capacity and one order.
pub struct Sender<T> {
    pub(super) state: Common<State<T>>,
}

impl<T: Send> Sender<T> {
    /// Sends `value`. Waits with the [`WaitStrategy`] of the queue while the queue is full.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::ordered;
    ///
    /// let (sender, receiver) = ordered::channel(2);
    /// let reader = std::thread::spawn(move || receiver.into_iter().sum::<u64>());
    /// for number in 1..=100 {
    ///     sender.send(number)?; // waits for the reader
    /// }
    /// drop(sender);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    #[doc(alias = "blocking_send")]
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let Err((_, value)) = self.state.try_put(value) else {
            return Ok(());
        };
        self.state.send_late(value, Until::FOREVER).map_err(|(_, value)| SendError(value))
    }

    /// Sends `value` if there is room. Never waits, allocates nothing. Takes O(`size_of::<T>()`), and repeats
    /// its claim if another sender was faster.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the queue holds as many messages as its capacity, or a receiver has not
    /// left the next slot yet (see [which thread waits for which](super#which-thread-waits-for-which)).
    /// [`Closed`](TrySendError::Closed): the queue is closed. Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    /// use annulus::queue::ordered;
    ///
    /// let (sender, receiver) = ordered::channel(1);
    /// assert!(sender.try_send("one").is_ok());
    /// assert!(sender.clone().try_send("two") == Err(TrySendError::Full("two")));
    /// assert_eq!(receiver.recv(), Ok("one"));
    /// drop(receiver);
    /// assert!(sender.try_send("two") == Err(TrySendError::Closed("two")));
    /// ```
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.state.try_put(value).map_err(|(refusal, value)| TrySendError::of(refusal, value))
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still sends if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{SendTimeoutError, queue::ordered};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = ordered::channel(1);
    /// sender.send(1).unwrap();
    /// let error = sender.send_timeout(2, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(2));
    /// # drop(receiver);
    /// ```
    #[cfg(feature = "std")]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, timeout)
    }

    /// As [`send`](Self::send), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    #[inline]
    pub fn send_until(&self, value: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        let Err((_, value)) = self.state.try_put(value) else {
            return Ok(());
        };
        self.state
            .send_late(value, until.into())
            .map_err(|(refusal, value)| SendTimeoutError::of(refusal, value))
    }

    /// Sends as many of `values` as there is room for, from the first on. Never waits.
    ///
    /// One claim covers up to 64 of them. No messages of other senders come between those.
    ///
    /// # Errors
    ///
    /// Both give back the values that were not sent. [`Full`](TrySendError::Full): there was no room for all.
    /// [`Closed`](TrySendError::Closed): the queue is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    ///
    /// let (sender, receiver) = annulus::queue::ordered::channel(3);
    /// assert_eq!(sender.try_send_batch(&[1, 2, 3, 4]), Err(TrySendError::Full(&[4][..])));
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn try_send_batch<'v>(&self, values: &'v [T]) -> Result<(), TrySendError<&'v [T]>>
    where
        T: Copy,
    {
        in_parts(values, |rest| self.state.try_send_some(rest))
            .map_err(|(rest, refusal)| TrySendError::of(refusal, rest))
    }

    /// Sends all of `values`, in order. Waits for room with the [`WaitStrategy`] of the queue as often as
    /// necessary. There may be more values than the queue holds. Messages of other senders may come between
    /// them.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the values that were not sent: the queue is closed, or was closed meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(2);
    /// let reader = std::thread::spawn(move || receiver.into_iter().collect::<Vec<_>>());
    /// sender.send_batch(&[1, 2, 3, 4, 5]).unwrap();
    /// drop(sender);
    /// assert_eq!(reader.join().unwrap(), [1, 2, 3, 4, 5]);
    /// ```
    #[inline]
    pub fn send_batch<'v>(&self, values: &'v [T]) -> Result<(), SendError<&'v [T]>>
    where
        T: Copy,
    {
        self.state.send_all(values, Until::FOREVER).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`send_batch`](Self::send_batch), but gives up after `timeout`, like
    /// [`send_timeout`](Self::send_timeout). The time is for all of them together.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout). Both give back the values that were not sent.
    #[cfg(feature = "std")]
    pub fn send_batch_timeout<'v>(
        &self,
        values: &'v [T],
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<&'v [T]>>
    where
        T: Copy,
    {
        self.send_batch_until(values, timeout)
    }

    /// As [`send_batch`](Self::send_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`send_batch_timeout`](Self::send_batch_timeout).
    pub fn send_batch_until<'v>(
        &self,
        values: &'v [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'v [T]>>
    where
        T: Copy,
    {
        self.state
            .send_all(values, until.into())
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// How many messages have been sent, by all senders, and not received yet. A message that is being
    /// written counts. This is a snapshot, and never more than the capacity. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lane.len()
    }

    /// Whether every message has been received. This is a snapshot: others may have sent one when it returns.
    /// O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the queue is full. This is a snapshot: others may have sent or received when it returns. O(1).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(1);
    /// assert!(!sender.is_full());
    /// sender.send(1).unwrap();
    /// assert!(sender.is_full());
    /// receiver.recv().unwrap();
    /// assert!(!sender.is_full());
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many messages the queue holds: exactly the number that was requested.
    #[doc(alias = "max_capacity")]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.state.lane.capacity()
    }

    /// Closes the queue for all its senders, and wakes all threads that wait. Receivers receive what was sent
    /// before. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send(1).unwrap();
    /// sender.close();
    /// assert_eq!(sender.send(2).unwrap_err().into_inner(), 2);
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&self) {
        self.state.close();
    }

    /// A [`Closer`], which closes the queue from any thread. It does not keep the queue open.
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        Closer::from_weak(self.state.downgrade())
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.state.stats(),
        observer: Observer::from_weak(handle.state.downgrade())
    }

    /// Whether the queue is closed. If so, every send fails from now on.
    #[doc(alias = "is_disconnected")]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.lane.is_ended()
    }
}

/// Another sender of the queue. Nobody has to wait for this, and it allocates nothing.
impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.state.senders.add();
        Self { state: self.state.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.state.sender_goes();
    }
}

/// In tasks.
#[cfg(feature = "async")]
impl<T: Send> Sender<T> {
    /// Sends `value`, like [`send`](Self::send), in a task: while the queue is full, the task waits, not its
    /// thread. Several tasks may wait with one sender.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The value is
    /// dropped with it. If it was woken for a free slot, another sender that waits is woken in its place.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(2);
    /// let reader = std::thread::spawn(move || receiver.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         sender.send_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(sender);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// ```
    pub fn send_async(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + Send + Unpin {
        // SAFETY: the eventcounts are in the queue's state, which the sender keeps alive.
        unsafe { Waiting::new(AwaitSent { state: &self.state, value: Some(value) }) }
    }

    /// Sends all of `values`, like [`send_batch`](Self::send_batch), in a task.
    ///
    /// *Cancel safety*: a future that is dropped has sent the first of them, and it can't be known how many.
    ///
    /// # Errors
    ///
    /// As [`send_batch`](Self::send_batch).
    pub fn send_batch_async<'v>(
        &self,
        values: &'v [T],
    ) -> impl Future<Output = Result<(), SendError<&'v [T]>>> + Unpin
    where
        T: Copy,
    {
        // SAFETY: the eventcounts are in the queue's state, which the sender keeps alive.
        unsafe { Waiting::new(AwaitAllSent { sender: self, rest: values }) }
    }
}

/// Until all of a batch is sent.
#[cfg(feature = "async")]
struct AwaitAllSent<'s, 'v, T> {
    sender: &'s Sender<T>,
    rest: &'v [T],
}

#[cfg(feature = "async")]
impl<'v, T: Copy + Send> Poll for AwaitAllSent<'_, 'v, T> {
    type Found = Result<(), SendError<&'v [T]>>;

    fn wait_point(&self) -> &EventCount {
        &self.sender.state.released
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.sender.try_send_batch(self.rest) {
            Ok(()) => Look::Found(Ok(())),
            Err(TrySendError::Closed(rest)) => Look::Found(Err(SendError(rest))),
            Err(TrySendError::Full(rest)) => {
                self.rest = rest;
                Look::Nothing
            }
        }
    }
}

/// Until a value is sent.
#[cfg(feature = "async")]
struct AwaitSent<'s, T> {
    state: &'s State<T>,
    /// `None` once it is sent, or given back.
    value: Option<T>,
}

#[cfg(feature = "async")]
impl<T> Poll for AwaitSent<'_, T> {
    type Found = Result<(), SendError<T>>;

    fn wait_point(&self) -> &EventCount {
        &self.state.released
    }

    /// # Panics
    ///
    /// If it has returned what it found before.
    #[inline]
    fn poll(&mut self) -> Look<Self::Found> {
        let value = self.value.take().expect("a future is not polled after its end");
        match self.state.try_put(value) {
            Ok(()) => Look::Found(Ok(())),
            Err((Refusal::Closed, value)) => Look::Found(Err(SendError(value))),
            Err((Refusal::Full, value)) => {
                self.value = Some(value);
                Look::Nothing
            }
        }
    }
}

#[cfg(feature = "std")]
impl<T: Send> Sender<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        let state = &*self.state;
        let send = |claimed, value| match claimed {
            Ok(slot) => {
                state.fill(slot, value);
                Ok(())
            }
            Err(_) => Err(SendError(value)),
        };
        let strategy = |claiming: &AwaitSlot<'_, T>| claiming.state.strategy;
        // SAFETY: the eventcounts are in the queue's state, which the sender keeps alive.
        unsafe { Armed::new(AwaitSlot { state }, strategy, move |_, claimed| fill_claim(claimed, send)) }
    }
}

/// Until a slot is claimed.
#[cfg(feature = "std")]
struct AwaitSlot<'s, T> {
    state: &'s State<T>,
}

#[cfg(feature = "std")]
impl<'s, T> Poll for AwaitSlot<'s, T> {
    type Found = Result<FreeSlot<'s, T>, Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.state.released
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.state.lane.free_word())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.state.lane.claim_free_slot() {
            Err(Refusal::Full) => Look::Nothing,
            found => Look::Found(found),
        }
    }
}

/// Until a slot is free, or the queue is closed.
#[cfg(feature = "std")]
struct AwaitOrderedRoom<'s, T> {
    state: &'s State<T>,
}

#[cfg(feature = "std")]
impl<T> Poll for AwaitOrderedRoom<'_, T> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        &self.state.released
    }

    fn poll(&mut self) -> Look<()> {
        match self.state.look_for_room() {
            Err(Refusal::Full) => Look::Nothing,
            Ok(()) | Err(Refusal::Closed) => Look::Found(()),
        }
    }
}

#[cfg(feature = "std")]
impl<T> State<T> {
    /// Whether a slot is free, or the queue is closed. It claims nothing.
    fn look_for_room(&self) -> Result<(), Refusal> {
        if self.lane.is_ended() {
            Err(Refusal::Closed)
        } else if self.lane.free_slots(1) > 0 {
            Ok(())
        } else {
            Err(Refusal::Full)
        }
    }
}

/// Each is for a sender, and for a reference to one, because its verbs take `&self`.
macro_rules! senders {
    ($([$($borrowed:tt)*])*) => {$(
        transmits! {
            [T: Send] $($borrowed)* Sender<T>: T;
            |sender, value| now: sender.state.try_put(value),
            |until| late: sender.state.send_late(value, until),
            closed: sender.state.lane.is_ended(),
            task: Sender::send_async(sender, value),
        }

        #[cfg(feature = "std")]
        impl<T: Send> WaitsForRoom for $($borrowed)* Sender<T> {
            fn room(&mut self) -> RoomArm<'_> {
                let room = AwaitOrderedRoom { state: &self.state };
                // SAFETY: the eventcounts are in the queue's state, which the sender keeps alive.
                unsafe { RoomArm::new(room, |room| room.state.strategy) }
            }
        }
    )*};
}

senders! {
    []
    [&]
}

/// For the input of a pipeline, which has the only sender of its queue.
#[cfg(feature = "std")]
impl<T: Send> SoleSender for Sender<T> {
    fn released(&self) -> &EventCount {
        &self.state.released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.state.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.state.strategy
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("kind", &"shared")
            .field("len", &self.state.lane.len())
            .field("capacity", &self.state.lane.capacity())
            .field("closed", &self.state.lane.is_ended())
            .finish()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<T: Send> Sender<T> {
    /// What the memory of the slots is like now, and which options of
    /// [`Settings::memory`](crate::Settings::memory) were refused. Asks the kernel: see [`Placement`].
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.state.lane.block().placement()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    /// A sender watches a word that changes as a receiver takes a message.
    #[test]
    fn sender_watches_the_next_slot() {
        let (sender, receiver) = super::super::channel(2);
        for number in 0..5 {
            while sender.try_send(number).is_ok() {}
            let mut claiming = AwaitSlot { state: &sender.state };
            assert!(matches!(claiming.poll(), Look::Nothing));
            let word = claiming.watched().unwrap();
            let before = word.load(Ordering::Relaxed);
            assert!(receiver.try_recv().is_ok());
            assert_ne!(word.load(Ordering::Relaxed), before);
            let Look::Found(Ok(slot)) = claiming.poll() else { panic!("a slot is free") };
            sender.state.fill(slot, number);
        }
    }
}
