//! [`Consumer`]: the reading verbs.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::Record;
use super::layout::max_len;
use super::record::next_len;
use crate::Closer;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
#[cfg(feature = "numa")]
use crate::memory::MemoryError;
#[cfg(feature = "std")]
use crate::memory::Placement;
use crate::observer::observable;
use crate::queue;
use crate::queue::consumer::find_or_end;
use crate::queue::kind::InPlace;
use crate::receive::{Receive, Waitable, iterates};
use crate::spsc::Spsc;
use crate::sync::AtomicU64;
#[cfg(feature = "async")]
use crate::wait::Streaming;
use crate::wait::{EndMark, EventCount, Look, Source, Until, WaitStrategy, own_strategy};

/// The reading end of a [queue of bytes](super).
///
/// A [`Record`] borrows it: there is one at a time. Right behind a producer that writes without a break it
/// may [rest](crate::guide::waiting#rests) before a look. (What is said there of messages is true of words
/// of 8 bytes here.)
pub struct Consumer<K: InPlace = Spsc> {
    pub(crate) words: queue::Consumer<u64, K>,
    pub(crate) capacity: usize,
}

impl<K: InPlace> Consumer<K> {
    /// The next record. Waits for one with the [`WaitStrategy`] of the queue.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was written was read.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let writer = std::thread::spawn(move || producer.write(b"hello"));
    /// assert_eq!(*consumer.read()?, *b"hello");
    /// writer.join().unwrap().unwrap();
    /// assert!(consumer.read().is_err());
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    #[inline]
    pub fn read(&mut self) -> Result<Record<'_, K>, RecvError> {
        let len = match next_len::<K>(&mut self.words.end) {
            Some(len) => len,
            None => self.wait(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))?,
        };
        Ok(Record::new(&mut self.words.end, len))
    }

    /// The next record, if there is one. Never waits for anybody, allocates and copies nothing; O(1).
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing is there. [`Closed`](TryRecvError::Closed): the queue is
    /// closed, and everything that was written was read.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// assert_eq!(consumer.try_read().unwrap_err(), TryRecvError::Empty);
    /// producer.write(b"one").unwrap();
    /// drop(producer);
    /// let record = consumer.try_read()?;
    /// assert_eq!((record.len(), record[0]), (3, b'o'));
    /// drop(record);
    /// assert_eq!(consumer.try_read().unwrap_err(), TryRecvError::Closed);
    /// # Ok::<(), annulus::TryRecvError>(())
    /// ```
    #[inline]
    pub fn try_read(&mut self) -> Result<Record<'_, K>, TryRecvError> {
        match find_or_end::<u64, _, _>(&mut self.words.end, next_len::<K>) {
            Look::Found(Ok(len)) => Ok(Record::new(&mut self.words.end, len)),
            Look::Found(Err(_)) => Err(TryRecvError::Closed),
            // (Any word is one, so none is corrupt.)
            Look::Nothing | Look::Again => Err(TryRecvError::Empty),
        }
    }

    /// As [`read`](Self::read), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still reads a record that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let error = consumer.read_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, annulus::RecvTimeoutError::Timeout);
    /// # drop(producer);
    /// ```
    #[cfg(feature = "std")]
    pub fn read_timeout(&mut self, timeout: Duration) -> Result<Record<'_, K>, RecvTimeoutError> {
        self.read_until(timeout)
    }

    /// As [`read`](Self::read), but waits as [`Until`] says. With [`BusySpin`](WaitStrategy::BusySpin),
    /// [`PauseSpin`](WaitStrategy::PauseSpin) and [`Monitor`](WaitStrategy::Monitor) it never rests.
    ///
    /// # Errors
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{WaitStrategy, queue::bytes};
    ///
    /// let (mut producer, mut consumer) = bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// assert_eq!(*consumer.read_until(WaitStrategy::BusySpin)?, *b"one");
    /// # Ok::<(), annulus::RecvTimeoutError>(())
    /// ```
    #[inline]
    pub fn read_until(&mut self, until: impl Into<Until>) -> Result<Record<'_, K>, RecvTimeoutError> {
        let len = match next_len::<K>(&mut self.words.end) {
            Some(len) => len,
            None => in_time(self.wait(until.into()))?,
        };
        Ok(Record::new(&mut self.words.end, len))
    }

    /// Receives the record of so many bytes that was read last and [forgotten](core::mem::forget): for
    /// bindings to other languages. Between processes, the other one may have changed its length since.
    ///
    /// # Panics
    ///
    /// If fewer bytes are there.
    #[doc(hidden)]
    pub fn receive_forgotten(&mut self, len: usize) {
        drop(Record::<K>::new(&mut self.words.end, len));
    }

    /// Waits for the next record, and returns its length; or for the end. `None` once the time has passed.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, until: Until) -> Option<Result<usize, RecvError>> {
        self.words.wait_for(next_len::<K>, until)
    }

    /// Whether there is no record. This is a snapshot: the producer may have written one when it returns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The length of the longest record that this queue takes: half the capacity.
    ///
    /// ```
    /// let (_producer, consumer) = annulus::queue::bytes::channel(64);
    /// let buffer = Vec::<u8>::with_capacity(consumer.max_len()); // has room for each
    /// assert_eq!(buffer.capacity(), 32);
    /// ```
    #[must_use]
    pub fn max_len(&self) -> usize {
        max_len(self.capacity)
    }

    /// The capacity that was requested, in bytes: see [how much fits](super#how-much-fits).
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Closes the queue and wakes both sides. Writes fail from now on. What was written before can still be
    /// read. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// consumer.close();
    /// assert!(producer.write(b"two").is_err());
    /// assert_eq!(*consumer.read().unwrap(), *b"one");
    /// assert!(consumer.read().is_err());
    /// ```
    pub fn close(&self) {
        self.words.close();
    }

    own_strategy! {
        make: "let (_producer, mut reader) = annulus::queue::bytes::channel(64);",
        |handle| as: handle.words
    }

    /// A [`Closer`], which closes the queue from any thread. It does not keep the queue open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.words.closer()
    }

    // Decision 0101: nothing counts records.
    observable! {
        ///
        /// Here they count words of 8 bytes in place of messages: `published`, `received` and `pending`, and
        /// the `capacity`, too. A record takes a word for its length, and a word for each 8 bytes that it
        /// begins. What stays empty at the end of the ring counts as well.
        |handle| stats: handle.words.stats(),
        observer: handle.words.observer()
    }

    /// Whether the queue is closed. There may be records left.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.words.is_closed()
    }

    /// Whether the queue is closed and every record that was written was read. If so, this stays true.
    #[must_use]
    pub fn is_fully_drained(&mut self) -> bool {
        self.words.is_fully_drained()
    }
}

// Something is there for a consumer of words just where a record is.

// SAFETY: the eventcounts belong to the consumer of words, which this has.
unsafe impl<K: InPlace> Source for Consumer<K> {
    fn wait_point(&self) -> &EventCount {
        self.words.wait_point()
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.words.watched()
    }

    fn is_ready(&mut self) -> bool {
        self.words.is_ready()
    }

    fn strategy(&self) -> WaitStrategy {
        self.words.strategy()
    }

    fn has_more(&mut self) -> bool {
        self.words.has_more()
    }

    fn mark(&mut self) -> EndMark {
        self.words.mark()
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        self.words.has_passed(mark)
    }
}

impl<K: InPlace> Waitable for Consumer<K> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// A message is a copy of a record.
impl<K: InPlace> Receive for Consumer<K> {
    type Item = Box<[u8]>;

    fn poll_recv(&mut self) -> Look<Result<Box<[u8]>, RecvError>> {
        self.try_read().map(Into::into).into()
    }
}

iterates! { [K: InPlace] Consumer<K>; }

/// In tasks.
#[cfg(feature = "async")]
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
    /// As [`read`](Self::read).
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
        let len = self.words.find_in_task(next_len::<K>).await?;
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
    /// *Cancel safety*: as of [`stream`](Self::stream). A stream that is dropped drops the consumer.
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

impl<K: InPlace> fmt::Debug for Consumer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("capacity", &self.capacity)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<K: InPlace> Consumer<K> {
    /// As [`Producer::placement`](super::Producer::placement).
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.words.placement()
    }

    /// Moves the ring to the NUMA node of the core on which the calling thread runs now. Pin the thread
    /// before. The queue must have the option [`near_reader`](crate::memory::Memory::near_reader).
    ///
    /// This takes system calls, and a producer that uses a page meanwhile waits for it. No record is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or some pages can't be moved. They stay where
    /// they are then.
    #[cfg(feature = "numa")]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.words.bring_memory_here()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::bytes::channel;
    use crate::sync::Ordering;

    /// A waiter that waits by the processor watches the word that a record changes.
    #[test]
    fn record_changes_the_word_that_is_watched() {
        let (mut producer, consumer) = channel(64);
        let word = consumer.watched().unwrap();
        let before = word.load(Ordering::Relaxed);
        producer.try_write(&[]).unwrap();
        assert_ne!(word.load(Ordering::Relaxed), before);
    }
}
