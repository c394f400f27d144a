//! Queues in tasks: the async verbs of producers and consumers.

use core::future::Future;

use futures_core::FusedStream;

use super::ends::Write;
use super::free_slot::AwaitFreeSlot;
use super::kind::AnyKind;
use super::{Consumer, Producer};
use crate::error::{RecvError, SendError};
use crate::wait::{Streaming, Waiting};

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. If it was woken for
    /// a message, another consumer that waits is woken in its place.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// let writer = std::thread::spawn(move || producer.send("hello"));
    /// pollster::block_on(async {
    ///     assert_eq!(consumer.recv_async().await, Ok("hello"));
    ///     assert_eq!(consumer.recv_async().await, Err(annulus::RecvError));
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages behind it
    /// into `values`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If
    /// `values` is empty, it returns 0 at once, whether the queue is open or closed.
    ///
    /// *Cancel safety*: that of [`recv_async`](Self::recv_async).
    ///
    /// # Errors
    ///
    /// Those of [`recv_async`](Self::recv_async). `values` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 8];
    /// assert_eq!(pollster::block_on(consumer.recv_batch_async(&mut values)), Ok(3));
    /// assert_eq!(values[..3], [1, 2, 3]);
    /// ```
    pub async fn recv_batch_async(&mut self, values: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, rest)) = values.split_first_mut() else { return Ok(0) };
        *first = self.recv_async().await?;
        Ok(1 + self.try_recv_batch(rest))
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
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(pollster::block_on(consumer.stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the consumer.
    ///
    /// *Cancel safety*: that of [`stream`](Self::stream). A stream that is dropped drops the consumer.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(pollster::block_on(consumer.into_stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Send, K: AnyKind> Producer<T, K> {
    /// Sends `value`, like [`send`](Self::send), in a task: while the ring is full, the task waits, not its
    /// thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The value is
    /// dropped with it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, consumer) = annulus::spsc::channel(2);
    /// let reader = std::thread::spawn(move || consumer.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         producer.send_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// ```
    pub async fn send_async(&mut self, value: T) -> Result<(), SendError<T>> {
        let Err(value) = self.end.send_plainly(value) else {
            return Ok(());
        };
        // SAFETY: the events are in the queue state, which the producer keeps alive.
        if unsafe { Waiting::new(AwaitFreeSlot::of(&mut self.end)) }.await.is_err() {
            return Err(SendError(value));
        }
        // SAFETY: a slot is free, and stays so: nothing came between.
        unsafe { self.end.send(value) }.map_err(SendError)
    }
}
