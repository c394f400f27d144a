//! Queues of bytes in tasks: the async verbs.

use alloc::boxed::Box;

use futures_core::FusedStream;

use super::await_room::AwaitRecordRoom;
use super::record::next_len;
use super::{Consumer, Producer, Record, Reservation, WriteError};
use crate::error::RecvError;
use crate::queue::InPlace;
use crate::queue::consumer::NextMessage;
use crate::wait::{Streaming, Waiting};

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<K: InPlace> Consumer<K> {
    /// The next record, like [`read`](Self::read), in a task: the task waits, not its thread.
    ///
    /// There is no form for a batch, as there is none of [`read`](Self::read): a record borrows the consumer
    /// until it is given back. Await the first one, and take those behind it by
    /// [`try_read`](Self::try_read), which never waits.
    ///
    /// *Cancel safety*: a future that is dropped has read nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let writer = std::thread::spawn(move || producer.write(b"hello"));
    /// pollster::block_on(async {
    ///     assert_eq!(*consumer.read_async().await.unwrap(), *b"hello");
    ///     assert!(consumer.read_async().await.is_err());
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    ///
    /// All that is there, and at least one:
    ///
    /// ```
    /// # let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// producer.write(b"two").unwrap();
    /// let bytes = pollster::block_on(async {
    ///     let mut bytes = consumer.read_async().await?.to_vec();
    ///     while let Ok(record) = consumer.try_read() {
    ///         bytes.extend_from_slice(&record);
    ///     }
    ///     Ok::<_, annulus::RecvError>(bytes)
    /// })?;
    /// assert_eq!(bytes, b"onetwo");
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    pub async fn read_async(&mut self) -> Result<Record<'_, K>, RecvError> {
        let next = NextMessage { consumer: &mut self.words, find: next_len::<K>, eager: false };
        // SAFETY: the events are in the queue state, which the consumer keeps alive.
        let len = unsafe { Waiting::new(next) }.await?;
        Ok(Record::new(&mut self.words.end, len))
    }

    /// A stream of the records, each copied into a box of its own. It ends when the queue is closed and
    /// empty. Once it has ended, it stays so. (To read without a copy, call [`read_async`](Self::read_async)
    /// in a loop.)
    ///
    /// *Cancel safety*: a stream that is dropped has read no record that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// producer.write(b"four").unwrap();
    /// drop(producer);
    /// let lengths = consumer.stream().map(|record| record.len());
    /// assert_eq!(pollster::block_on(lengths.collect::<Vec<_>>()), [3, 4]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = Box<[u8]>> + Unpin {
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
    /// let (mut producer, consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// drop(producer);
    /// assert_eq!(pollster::block_on(consumer.into_stream().collect::<Vec<_>>()), [Box::from(*b"one")]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = Box<[u8]>> + Unpin {
        Streaming::messages_of(self)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<K: InPlace> Producer<K> {
    /// Writes `record`, like [`write`](Self::write), in a task: while there is no room, the task waits, not
    /// its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has written nothing.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let reader = std::thread::spawn(move || {
    ///     let mut bytes = 0;
    ///     while let Ok(record) = consumer.read() {
    ///         bytes += record.len();
    ///     }
    ///     bytes
    /// });
    /// pollster::block_on(async {
    ///     for _ in 0..100 {
    ///         producer.write_async(&[7; 32]).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 3200);
    /// ```
    pub async fn write_async(&mut self, record: &[u8]) -> Result<(), WriteError> {
        let mut reservation = self.reserve_async(record.len()).await?;
        reservation.write_at(0, record);
        reservation.commit()
    }

    /// Room for a record of up to `len` bytes, to be written in place, like [`reserve`](Self::reserve), in a
    /// task: while there is no room, the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has reserved nothing.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::bytes::{WriteError, channel};
    ///
    /// let (mut producer, mut consumer) = channel(64);
    /// pollster::block_on(async {
    ///     let mut record = producer.reserve_async(3).await?;
    ///     record.copy_from_slice(b"abc");
    ///     record.commit()
    /// })?;
    /// assert_eq!(*consumer.read().unwrap(), *b"abc");
    /// # Ok::<(), WriteError>(())
    /// ```
    pub async fn reserve_async(&mut self, len: usize) -> Result<Reservation<'_, K>, WriteError> {
        // (A look by itself: a future that finds room at once has nothing to register.)
        if let Some(found) = self.look_for_room(len) {
            found?;
        } else {
            // SAFETY: the events are in the queue state, which the producer keeps alive.
            unsafe { Waiting::new(AwaitRecordRoom { producer: self, len }) }.await?;
        }
        // Nothing came between.
        Ok(self.reserve_found(len))
    }
}
