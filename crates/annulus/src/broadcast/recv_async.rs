//! Receiving in tasks: the async verbs of subscribers, groups and stages.

use core::future::Future;

use futures_core::FusedStream;

use super::lossy::OrLag;
use super::process::Processing;
use super::{LossyMode, Mode, Staged, Subscriber, SubscriberGroup, Unstaged};
use crate::error::{LossyRecvError, RecvError};
use crate::message::Message;
use crate::wait::{Streaming, Waiting};

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by a publisher, by an
/// upstream, or by the close.
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread. After
    /// a lag it goes on with the oldest message that is still in the ring.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted.)
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); the first poll of the future is such a receive.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// let writer = std::thread::spawn(move || publisher.publish_batch(&[1, 2, 3]));
    /// pollster::block_on(async {
    ///     let mut sum = 0;
    ///     while let Ok(number) = subscriber.recv_async().await {
    ///         sum += number;
    ///     }
    ///     assert_eq!(sum, 6);
    /// });
    /// # writer.join().unwrap();
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages behind it
    /// into the front of `buffer`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least
    /// one. If `buffer` is empty, it returns 0 at once, whether the ring is open or closed.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// let mut buffer = [0; 8];
    /// pollster::block_on(async {
    ///     assert_eq!(subscriber.recv_batch_async(&mut buffer).await, Ok(3));
    ///     assert_eq!(subscriber.recv_batch_async(&mut buffer).await, Err(annulus::RecvError));
    /// });
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, rest)) = buffer.split_first_mut() else { return Ok(0) };
        *first = self.recv_async().await?;
        Ok(1 + self.take_batch(rest))
    }

    /// A stream of the messages. It ends when the ring is closed and nothing is left, not on a lag, and not
    /// while there is no message. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// drop(publisher);
    /// let all = pollster::block_on(subscriber.stream().collect::<Vec<_>>());
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the subscriber.
    ///
    /// *Cancel safety*: that of [`stream`](Self::stream). A stream that is dropped drops the subscriber.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let stream = subscribable.subscribe().into_stream();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(stream.map(|number| 2 * number).collect::<Vec<_>>()), [2, 4, 6]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// Receives the next message like [`recv_async`](Self::recv_async), but reports a lag, like
    /// [`recv_or_lag`](Self::recv_or_lag). After a lag the next call goes on with the oldest message that is
    /// still in the ring.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. A lag that it has
    /// not reported is reported by the next receive.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): messages were lost since the last receive. It says how many.
    /// [`Closed`](LossyRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// pollster::block_on(async {
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Err(LossyRecvError::Lagged { skipped: 1 }));
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Ok(2));
    /// });
    /// ```
    pub fn recv_or_lag_async(
        &mut self,
    ) -> impl Future<Output = Result<T, LossyRecvError<M::Corrupt>>> + Unpin {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(OrLag(self)) }
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message, M: Unstaged> Subscriber<T, Staged<M>> {
    /// Hands the next message to `look`, like [`process`](Self::process), in a task: the task waits, not its
    /// thread. The message counts as processed as soon as `look` returns or panics. `look` must not wait for
    /// room in the same ring: see [`try_process`](Self::try_process).
    ///
    /// *Cancel safety*: a future that is dropped has processed nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut first = subscribable.subscribe_tracked();
    /// let mut second = subscribable.subscribe().after(&[&first]);
    /// publisher.publish(7).unwrap();
    /// pollster::block_on(async {
    ///     assert_eq!(first.process_async(|number| number + 1).await, Ok(8));
    ///     assert_eq!(second.process_async(|number| number + 2).await, Ok(9));
    /// });
    /// ```
    pub async fn process_async<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        let message = self.recv_async().await?;
        let _processing = Processing(self);
        Ok(look(&message))
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message, const N: usize, M: Unstaged> SubscriberGroup<T, N, M> {
    /// Receives the next message for all aligned members, like [`recv`](Self::recv), in a task: the task
    /// waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the message.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish(7);
    /// assert_eq!(pollster::block_on(group.recv_async()), Ok(7));
    /// assert_eq!(group.total_received(2), 1);
    /// ```
    #[track_caller]
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        self.someone_is_aligned();
        self.lead.recv_async()
    }

    /// Receives the messages that are there, at least one, for all aligned members, like
    /// [`Subscriber::recv_batch_async`].
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// At its first poll, if no member is aligned.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2]);
    /// let mut buffer = [0; 8];
    /// assert_eq!(pollster::block_on(group.recv_batch_async(&mut buffer)), Ok(2));
    /// assert_eq!(buffer[..2], [1, 2]);
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        self.someone_is_aligned();
        self.lead.recv_batch_async(buffer).await
    }

    /// A stream of the messages, each received for all aligned members. It ends when the ring is closed and
    /// nothing is left, not on a lag. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Panics
    ///
    /// When it is polled, if no member is aligned.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(group.stream().collect::<Vec<_>>()), [1, 2]);
    /// assert_eq!(group.total_received(2), 2);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the group.
    ///
    /// *Cancel safety*: that of [`stream`](Self::stream). A stream that is dropped drops the group.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let stream = subscribable.subscribe_group::<3>().into_stream();
    /// publisher.publish_batch(&[1, 2]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(stream.collect::<Vec<_>>()), [1, 2]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}
