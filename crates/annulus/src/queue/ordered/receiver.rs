//! [`Receiver`]: the receiving verbs, and the iterators over its messages.

use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::iter::FusedIterator;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::state::State;
use crate::Closer;
use crate::base::common::Common;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::lane::Number;
#[cfg(feature = "std")]
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};
use crate::observer::{Observer, observable};
#[cfg(feature = "std")]
use crate::receive::Next;
use crate::receive::{Iter, Receive, Waitable};
use crate::sync::AtomicU64;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice};
use crate::wait::{EndMark, EventCount, Look, Source, Until, WaitStrategy, own_strategy};
#[cfg(feature = "async")]
use crate::wait::{Poll, Streaming, Waiting};

/// The receiving end of an [ordered queue](super): each message reaches one receiver.
///
/// It may be cloned, or shared by reference, at any time: all verbs take `&self`. You may mix all verbs.
pub struct Receiver<T> {
    pub(super) state: Common<State<T>>,
    /// How it waits, if not as its queue. Only slow paths look at it.
    pub(super) strategy: Option<WaitStrategy>,
}

impl<T: Send> Receiver<T> {
    /// Receives the next message. Waits for one with the [`WaitStrategy`] of the queue.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// let writer = std::thread::spawn(move || sender.send("hello"));
    /// assert_eq!(receiver.recv(), Ok("hello"));
    /// writer.join().unwrap().unwrap();
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        if let Some(value) = self.state.take() {
            return Ok(value);
        }
        self.state.take_late(self.wait_strategy(), None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// Receives the next message if it is there. Never waits, allocates nothing. Takes O(`size_of::<T>()`),
    /// and repeats its claim if another receiver was faster.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing is there, or the next message is still being written (see [who
    /// waits for whom](super#who-waits-for-whom)). [`Closed`](TryRecvError::Closed): the queue is closed, and
    /// everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    /// use annulus::queue::ordered;
    ///
    /// let (sender, receiver) = ordered::channel(4);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(5).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.state.poll()
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a message that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = annulus::queue::ordered::channel::<u32>(4);
    /// let error = receiver.recv_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, annulus::RecvTimeoutError::Timeout);
    /// # drop(sender);
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    #[inline]
    pub fn recv_until(&self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        if let Some(value) = self.state.take() {
            return Ok(value);
        }
        let until = until.into();
        in_time(self.state.take_late(until.strategy_or(|| self.wait_strategy()), until.deadline()))
    }

    /// Receives as many messages into `values` as are there and fit, from the front on, and returns how many.
    /// Never waits. The values that were in these places are dropped. Returns 0 if no message is there,
    /// whether the queue is closed or not. One claim takes all messages that are there.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 2];
    /// assert_eq!(receiver.try_recv_batch(&mut values), 2);
    /// assert_eq!(values, [1, 2]);
    /// assert_eq!(receiver.try_recv_batch(&mut values), 1);
    /// ```
    #[doc(alias = "recv_many")]
    #[inline]
    pub fn try_recv_batch(&self, values: &mut [T]) -> usize {
        self.state.take_into(values)
    }

    /// As [`try_recv_batch`](Self::try_recv_batch), but waits for a first message with the [`WaitStrategy`]
    /// of the queue. So it returns 0 only if `values` is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// let mut values = [0; 8];
    /// assert_eq!(receiver.recv_batch(&mut values), Ok(3));
    /// assert_eq!(values[..3], [1, 2, 3]);
    /// assert_eq!(receiver.recv_batch(&mut values), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv_batch(&self, values: &mut [T]) -> Result<usize, RecvError> {
        self.batch_from(values, Self::recv)
    }

    /// As [`recv_batch`](Self::recv_batch), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    #[cfg(feature = "std")]
    pub fn recv_batch_timeout(&self, values: &mut [T], timeout: Duration) -> Result<usize, RecvTimeoutError> {
        self.recv_batch_until(values, timeout)
    }

    /// As [`recv_batch`](Self::recv_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    pub fn recv_batch_until(
        &self,
        values: &mut [T],
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.batch_from(values, |receiver| receiver.recv_until(until))
    }

    /// Receives a message by `first`, and those behind it, into `values`.
    #[inline]
    fn batch_from<E>(&self, values: &mut [T], first: impl FnOnce(&Self) -> Result<T, E>) -> Result<usize, E> {
        let Some((place, others)) = values.split_first_mut() else { return Ok(0) };
        *place = first(self)?;
        Ok(1 + self.state.take_into(others))
    }

    /// As [`recv_batch`](Self::recv_batch), but appends at most `most` messages to `values`, which grows if
    /// necessary. If `most` is 0, it returns 0 at once, whether the queue is open or closed.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv). `values` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// for name in ["ada", "grace", "mary"] {
    ///     sender.send(String::from(name)).unwrap();
    /// }
    /// let mut names = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut names, 2), Ok(2));
    /// assert_eq!(names, ["ada", "grace"]);
    /// ```
    pub fn recv_many(&self, values: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        self.many_from(values, most, Self::recv)
    }

    /// As [`recv_many`](Self::recv_many), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    #[cfg(feature = "std")]
    pub fn recv_many_timeout(
        &self,
        values: &mut Vec<T>,
        most: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(values, most, timeout)
    }

    /// As [`recv_many`](Self::recv_many), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    pub fn recv_many_until(
        &self,
        values: &mut Vec<T>,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.many_from(values, most, |receiver| receiver.recv_until(until))
    }

    /// Appends a message that it receives by `first`, and up to `most - 1` of those behind it, to `values`.
    fn many_from<E>(
        &self,
        values: &mut Vec<T>,
        most: usize,
        first: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        if most == 0 {
            return Ok(0);
        }
        values.push(first(self)?);
        Ok(1 + self.state.take_up_to(most - 1, |value| values.push(value)))
    }

    /// Hands up to `most` of the messages that were there when it began to `handler`, except those that other
    /// receivers take, and returns how many they were. Never waits. For all messages that are there, `most`
    /// is [`usize::MAX`].
    ///
    /// `handler` must not wait for room in this queue. The queue may be full of messages that only this
    /// receiver would take. If `handler` panics, the messages that it got count as received, including the
    /// one at which it panicked. The others stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// let mut taken = Vec::new();
    /// assert_eq!(receiver.consume(2, |number| taken.push(number)), 2);
    /// assert_eq!(receiver.consume(usize::MAX, |number| taken.push(number)), 1);
    /// assert_eq!(taken, [1, 2, 3]);
    /// ```
    #[inline]
    pub fn consume(&self, most: usize, handler: impl FnMut(T)) -> usize {
        self.state.take_up_to(most.min(self.len()), handler)
    }

    /// Drops up to `most` messages that are there, in the order of [`try_recv`](Self::try_recv), and returns
    /// how many they were.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(receiver.skip(2), 2);
    /// assert_eq!(receiver.recv(), Ok(3));
    /// assert_eq!(receiver.skip(2), 0);
    /// ```
    pub fn skip(&self, most: usize) -> usize {
        self.state.take_up_to(most, drop)
    }

    /// How many messages have been sent, by all senders, and not received yet. A message that is being
    /// written counts. This is a snapshot, and never more than the capacity. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lane.len()
    }

    /// Whether there is no message. This is a snapshot: a sender may have sent one when it returns. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages the queue holds: exactly the number that was requested.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.state.lane.capacity()
    }

    /// Closes the queue and wakes all threads that wait. Sends fail from now on. Messages that were sent
    /// before can still be received. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send(1).unwrap();
    /// receiver.close();
    /// assert!(sender.send(2).is_err());
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1]);
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

    own_strategy! {
        make: "let (_sender, mut reader) = annulus::queue::ordered::channel::<u64>(8);",
        |handle| ring: handle.state.strategy
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.state.stats(),
        observer: Observer::from_weak(handle.state.downgrade())
    }

    /// Whether the queue is closed. There may be messages left.
    #[doc(alias = "is_disconnected")]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.lane.is_ended()
    }

    /// Whether the queue is closed and every message that was sent was received. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send(1).unwrap();
    /// drop(sender);
    /// assert!(receiver.is_closed() && !receiver.is_fully_drained());
    /// receiver.recv().unwrap();
    /// assert!(receiver.is_fully_drained());
    /// ```
    #[must_use]
    pub fn is_fully_drained(&self) -> bool {
        self.state.lane.is_done()
    }
}

/// Another receiver of the queue. Nobody has to wait for this, and it allocates nothing.
impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.state.receivers.add();
        Self { state: self.state.clone(), strategy: self.strategy }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.state.receiver_goes();
    }
}

impl<T: Send> Receiver<T> {
    /// An iterator over the messages that are there now: as many as there were when it was made, except those
    /// that other receivers take. It ends, however fast the senders are, and never waits. Messages that it is
    /// not asked for stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// assert_eq!(receiver.try_iter().next(), None);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self, left: self.len() }
    }

    /// An iterator that waits for messages until the queue is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&self) -> Iter<&Self> {
        Iter::of(self)
    }
}

/// An iterator over the messages that are there now; made by [`Receiver::try_iter`].
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'r, T> {
    receiver: &'r Receiver<T>,
    /// How many may still be there.
    left: usize,
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // Where another receiver takes them, it ends for good.
        self.left = self.left.checked_sub(1)?;
        let value = self.receiver.state.take();
        self.left = if value.is_some() { self.left } else { 0 };
        value
    }
}

impl<T> FusedIterator for TryIter<'_, T> {}

impl<T: Send> IntoIterator for &Receiver<T> {
    type Item = T;
    type IntoIter = Iter<Self>;

    fn into_iter(self) -> Iter<Self> {
        self.iter()
    }
}

impl<T: Send> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = Iter<Self>;

    fn into_iter(self) -> Iter<Self> {
        Iter::of(self)
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Each is for a receiver, and for a reference to one, because its verbs take `&self`.
macro_rules! receivers {
    ($([$($borrowed:tt)*])*) => {$(
        // SAFETY: the eventcounts are in the queue's state, which the receiver keeps alive.
        unsafe impl<T: Send> Source for $($borrowed)* Receiver<T> {
            fn wait_point(&self) -> &EventCount {
                &self.state.published
            }

            fn watched(&self) -> Option<&AtomicU64> {
                Some(self.state.lane.next_word())
            }

            fn is_ready(&mut self) -> bool {
                self.state.is_ready()
            }

            fn strategy(&self) -> WaitStrategy {
                self.wait_strategy()
            }

            /// Another receiver may be faster.
            fn has_more(&mut self) -> bool {
                false
            }

            fn mark(&mut self) -> EndMark {
                EndMark::at(self.state.lane.tail().get())
            }

            fn has_passed(&self, mark: &mut EndMark) -> bool {
                mark.is_passed(|_, end| !self.state.lane.head().is_before(Number::new(end)))
            }

            fn left(&self) -> Option<u64> {
                Some(self.state.lane.len() as u64)
            }
        }

        impl<T: Send> Waitable for $($borrowed)* Receiver<T> {
            fn is_closed(&self) -> bool {
                self.state.lane.is_ended()
            }
        }

        impl<T: Send> Receive for $($borrowed)* Receiver<T> {
            type Item = T;

            #[inline]
            fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
                self.state.poll().into()
            }

            #[inline]
            fn recv(&mut self) -> Result<T, RecvError> {
                Receiver::recv(self)
            }
        }
    )*};
}

receivers! {
    []
    [&]
}

/// In tasks.
#[cfg(feature = "async")]
impl<T: Send> Receiver<T> {
    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread.
    /// Several tasks may wait with one receiver.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. If it was woken for
    /// a message, another receiver that waits is woken in its place.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// let writer = std::thread::spawn(move || sender.send("hello"));
    /// pollster::block_on(async {
    ///     assert_eq!(receiver.recv_async().await, Ok("hello"));
    ///     assert_eq!(receiver.recv_async().await, Err(annulus::RecvError::CLOSED));
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    pub fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> + Send + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages behind it
    /// into `values`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If
    /// `values` is empty, it returns 0 at once, whether the queue is open or closed.
    ///
    /// *Cancel safety*: as of [`recv_async`](Self::recv_async).
    ///
    /// # Errors
    ///
    /// As [`recv_async`](Self::recv_async). `values` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 8];
    /// assert_eq!(pollster::block_on(receiver.recv_batch_async(&mut values)), Ok(3));
    /// ```
    pub fn recv_batch_async(
        &self,
        values: &mut [T],
    ) -> impl Future<Output = Result<usize, RecvError>> + Send + Unpin {
        // SAFETY: the eventcounts are in the queue's state, which the receiver keeps alive.
        unsafe { Waiting::new(NextBatch { receiver: self, values }) }
    }

    /// A stream of the messages. It ends when the queue is closed and empty. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// assert_eq!(pollster::block_on(receiver.stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn stream(&self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the receiver.
    ///
    /// *Cancel safety*: as of [`stream`](Self::stream). A stream that is dropped drops the receiver.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// assert_eq!(pollster::block_on(receiver.into_stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

/// Until a message is there, and what is behind it.
#[cfg(feature = "async")]
struct NextBatch<'r, 'v, T> {
    receiver: &'r Receiver<T>,
    values: &'v mut [T],
}

#[cfg(feature = "async")]
impl<T: Send> Poll for NextBatch<'_, '_, T> {
    type Found = Result<usize, RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.receiver.state.published
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.receiver.batch_from(self.values, Receiver::try_recv).into()
    }
}

#[cfg(feature = "std")]
impl<T: Send> Receiver<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_in_select(&self) -> impl Choice<Found = Result<T, RecvError>> {
        // SAFETY: the eventcounts are in the queue's state, which the receiver keeps alive.
        unsafe { Armed::new(Next(self), |next| next.0.wait_strategy(), |_, found| found) }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("kind", &"shared")
            .field("len", &self.state.lane.len())
            .field("closed", &self.state.lane.is_ended())
            .finish_non_exhaustive()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<T: Send> Receiver<T> {
    /// As [`Sender::placement`](super::Sender::placement).
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.state.lane.block().placement()
    }

    /// Moves the slots to the NUMA node of the core on which the calling thread runs now. Pin the thread
    /// before. The queue must have the option [`near_reader`](crate::memory::Memory::near_reader). Where
    /// several receivers call this, the last call decides.
    ///
    /// This takes system calls, and handles that use a slot meanwhile wait for its page. No message is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or some slots can't be moved. They stay where
    /// they are then.
    #[cfg(feature = "numa")]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.state.lane.block().bring_to(node_here()?)
    }
}
