//! Ordered queues in tasks: the async verbs of senders and receivers.

use core::future::Future;

use futures_core::FusedStream;

use super::state::State;
use super::{Receiver, Sender};
use crate::error::{RecvError, Refusal, SendError};
use crate::wait::{EventCount, Look, Streaming, Wait, Waiting};

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
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
    ///     assert_eq!(receiver.recv_async().await, Err(annulus::RecvError));
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    pub fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
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
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 8];
    /// assert_eq!(pollster::block_on(receiver.recv_batch_async(&mut values)), Ok(3));
    /// ```
    pub async fn recv_batch_async(&self, values: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, others)) = values.split_first_mut() else { return Ok(0) };
        *first = self.recv_async().await?;
        Ok(1 + self.try_recv_batch(others))
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
    /// *Cancel safety*: that of [`stream`](Self::stream). A stream that is dropped drops the receiver.
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

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
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
    pub fn send_async(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + Unpin {
        // SAFETY: the events are in the queue's state, which the sender keeps alive.
        unsafe { Waiting::new(Sending { state: &self.state, value: Some(value) }) }
    }
}

/// Until a value is sent.
struct Sending<'s, T> {
    state: &'s State<T>,
    /// `None` once it is sent, or given back.
    value: Option<T>,
}

impl<T> Wait for Sending<'_, T> {
    type Found = Result<(), SendError<T>>;

    fn event(&self) -> &EventCount {
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
