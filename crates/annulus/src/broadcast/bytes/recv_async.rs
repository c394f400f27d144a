//! Receiving records in tasks.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::Future;

use futures_core::FusedStream;

use super::Subscriber;
use super::lag::NextOrLag;
use super::subscriber::NextRecord;
use crate::error::{LossyRecvError, RecvError};
use crate::wait::{Streaming, Waiting};

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by the publisher, or by
/// the close.
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl Subscriber {
    /// Receives the next record, like [`recv`](Self::recv), in a task: the task waits, not its thread. After
    /// a lag it goes on with the oldest record that is still whole.
    ///
    /// There is no form for a batch, as there is none of [`recv`](Self::recv): each record is proved whole by
    /// itself, after its copy. Await the first one, and take those behind it by
    /// [`try_recv`](Self::try_recv), which never waits.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted.)
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let mut subscriber = subscribable.subscribe();
    /// let writer = std::thread::spawn(move || publisher.publish(b"hello"));
    /// pollster::block_on(async {
    ///     let mut buffer = Vec::new();
    ///     assert_eq!(subscriber.recv_async(&mut buffer).await, Ok(5));
    ///     assert_eq!(buffer, b"hello");
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    ///
    /// All that is there, and at least one:
    ///
    /// ```
    /// # let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// # let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.publish(b"one").unwrap();
    /// publisher.publish(b"four").unwrap();
    /// let bytes = pollster::block_on(async {
    ///     let mut bytes = subscriber.recv_async(&mut buffer).await?;
    ///     while let Ok(more) = subscriber.try_recv(&mut buffer) {
    ///         bytes += more;
    ///     }
    ///     Ok::<_, annulus::RecvError>(bytes)
    /// })?;
    /// assert_eq!(bytes, 7);
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    pub fn recv_async<'s>(
        &'s mut self,
        buffer: &'s mut Vec<u8>,
    ) -> impl Future<Output = Result<usize, RecvError>> + Unpin + 's {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(NextRecord { subscriber: self, buffer }) }
    }

    /// Receives the next record like [`recv_async`](Self::recv_async), but reports a lag, like
    /// [`recv_or_lag`](Self::recv_or_lag).
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. A lag that it has
    /// not reported is reported by the next receive.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): records were lost since the last receive. It says how many.
    /// [`Closed`](LossyRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// pollster::block_on(async {
    ///     let lagged = Err(LossyRecvError::Lagged { skipped: 1 });
    ///     assert_eq!(subscriber.recv_or_lag_async(&mut buffer).await, lagged);
    ///     assert_eq!(subscriber.recv_or_lag_async(&mut buffer).await, Ok(32));
    /// });
    /// ```
    pub fn recv_or_lag_async<'s>(
        &'s mut self,
        buffer: &'s mut Vec<u8>,
    ) -> impl Future<Output = Result<usize, LossyRecvError>> + Unpin + 's {
        // SAFETY: as above.
        unsafe { Waiting::new(NextOrLag(NextRecord { subscriber: self, buffer })) }
    }

    /// A stream of the records, each in a box of its own. It ends when the ring is closed and nothing is
    /// left, not on a lag, and not while there is no record. Once it has ended, it stays so. (To use one
    /// buffer again and again, call [`recv_async`](Self::recv_async) in a loop.)
    ///
    /// *Cancel safety*: a stream that is dropped has received no record that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"one").unwrap();
    /// publisher.publish(b"four").unwrap();
    /// drop(publisher);
    /// let lengths = subscriber.stream().map(|record| record.len());
    /// assert_eq!(pollster::block_on(lengths.collect::<Vec<_>>()), [3, 4]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = Box<[u8]>> + Unpin {
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
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let records = subscribable.subscribe().into_stream();
    /// publisher.publish(b"one").unwrap();
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(records.collect::<Vec<_>>()), [Box::from(*b"one")]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = Box<[u8]>> + Unpin {
        Streaming::messages_of(self)
    }
}
