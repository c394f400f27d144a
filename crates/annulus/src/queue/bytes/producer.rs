//! [`Producer`]: the writing verbs.

use core::fmt;
#[cfg(feature = "std")]
use std::time::Duration;

use super::layout::{max_len, padding_before, words_of};
use super::{Reservation, TryWriteError, WriteError, WriteTimeoutError};
use crate::Closer;
use crate::error::{GiveBack, Refusal, TooLong};
use crate::lane::ControlBlock;
#[cfg(feature = "std")]
use crate::memory::Placement;
use crate::observer::observable;
use crate::queue;
use crate::queue::ends::Write;
use crate::queue::kind::InPlace;
use crate::queue::write::WriteEnd;
use crate::spsc::Spsc;
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm};
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EventCount, Look, Poll};
use crate::wait::{Until, WaitStrategy};

/// The writing end of a [queue of bytes](super).
///
/// The verbs that write copy a record into the ring. Those that reserve lend free words of the ring, so that
/// the record is made there. An error leaves everything as it was.
pub struct Producer<K: InPlace = Spsc> {
    pub(crate) words: queue::Producer<u64, K>,
    pub(crate) capacity: usize,
}

impl<K: InPlace> Producer<K> {
    /// Writes `record`. Waits with the [`WaitStrategy`] of the queue while there is no room for it.
    ///
    /// # Errors
    ///
    /// [`Closed`](WriteError::Closed): the queue is closed, or was closed while this waited.
    /// [`TooLong`](WriteError::TooLong): it is longer than [`max_len`](Self::max_len). It never waits then.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::bytes::{WriteError, channel};
    ///
    /// let (mut producer, mut consumer) = channel(64);
    /// producer.write(b"hello")?;
    /// assert_eq!(*consumer.read().unwrap(), *b"hello");
    ///
    /// let error = producer.write(&[0; 33]).unwrap_err();
    /// assert!(matches!(error, WriteError::TooLong(error) if error.len == 33 && error.max == 32));
    /// # Ok::<(), WriteError>(())
    /// ```
    #[inline]
    pub fn write(&mut self, record: &[u8]) -> Result<(), WriteError> {
        self.write_as(record, Until::FOREVER)
    }

    /// Writes `record` if there is room. Never waits, allocates nothing; O(its length).
    ///
    /// # Errors
    ///
    /// [`Full`](TryWriteError::Full): there is no room now. [`Closed`](TryWriteError::Closed) and
    /// [`TooLong`](TryWriteError::TooLong): as of [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::bytes::{TryWriteError, channel};
    ///
    /// let (mut producer, mut consumer) = channel(64);
    /// producer.try_write(&[1; 32])?;
    /// assert_eq!(producer.try_write(&[2; 32]), Err(TryWriteError::Full));
    /// drop(consumer.try_read());
    /// producer.try_write(&[2; 32])?;
    /// # Ok::<(), TryWriteError>(())
    /// ```
    #[inline]
    pub fn try_write(&mut self, record: &[u8]) -> Result<(), TryWriteError> {
        let mut reservation = self.try_reserve(record.len())?;
        reservation.write_at(0, record);
        Ok(reservation.commit()?)
    }

    /// As [`write`](Self::write), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still writes if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](WriteTimeoutError::Timeout): no room came in time. The others are as of
    /// [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::bytes::{WriteTimeoutError, channel};
    /// use std::time::Duration;
    ///
    /// let (mut producer, consumer) = channel(64);
    /// producer.write(&[1; 32]).unwrap();
    /// let error = producer.write_timeout(&[2; 32], Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, WriteTimeoutError::Timeout);
    /// # drop(consumer);
    /// ```
    #[cfg(feature = "std")]
    pub fn write_timeout(&mut self, record: &[u8], timeout: Duration) -> Result<(), WriteTimeoutError> {
        self.write_until(record, timeout)
    }

    /// As [`write`](Self::write), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`write_timeout`](Self::write_timeout).
    pub fn write_until(&mut self, record: &[u8], until: impl Into<Until>) -> Result<(), WriteTimeoutError> {
        self.write_as(record, until.into())
    }

    /// Room for a record of up to `len` bytes, to be written in place. Waits with the [`WaitStrategy`] of the
    /// queue while there is none. Nothing is sent until the [`Reservation`] is committed.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let mut record = producer.reserve(8)?;
    /// record.copy_from_slice(&1.5_f64.to_le_bytes());
    /// record.commit()?;
    /// drop(producer.reserve(30)?); // this one is not sent
    /// assert_eq!(*consumer.read().unwrap(), 1.5_f64.to_le_bytes());
    /// assert!(consumer.is_empty());
    /// # Ok::<(), annulus::queue::bytes::WriteError>(())
    /// ```
    #[inline]
    pub fn reserve(&mut self, len: usize) -> Result<Reservation<'_, K>, WriteError> {
        self.reserve_as(len, Until::FOREVER)
    }

    /// Like [`reserve`](Self::reserve), but never waits.
    ///
    /// # Errors
    ///
    /// As [`try_write`](Self::try_write).
    #[inline]
    pub fn try_reserve(&mut self, len: usize) -> Result<Reservation<'_, K>, TryWriteError> {
        Reservation::new(self.end_for::<TryWriteError>(len)?, len).ok_or(TryWriteError::Full)
    }

    /// Like [`reserve`](Self::reserve), but gives up after `timeout`, like
    /// [`write_timeout`](Self::write_timeout).
    ///
    /// # Errors
    ///
    /// As [`write_timeout`](Self::write_timeout).
    #[cfg(feature = "std")]
    pub fn reserve_timeout(
        &mut self,
        len: usize,
        timeout: Duration,
    ) -> Result<Reservation<'_, K>, WriteTimeoutError> {
        self.reserve_until(len, timeout)
    }

    /// As [`reserve`](Self::reserve), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`reserve_timeout`](Self::reserve_timeout).
    pub fn reserve_until(
        &mut self,
        len: usize,
        until: impl Into<Until>,
    ) -> Result<Reservation<'_, K>, WriteTimeoutError> {
        self.reserve_as(len, until.into())
    }

    #[inline]
    fn write_as<E: GiveBack<()> + From<TooLong>>(&mut self, record: &[u8], until: Until) -> Result<(), E> {
        let mut reservation = self.reserve_as::<E>(record.len(), until)?;
        reservation.write_at(0, record);
        if reservation.publish(record.len()) { Ok(()) } else { Err(E::of(Refusal::Closed, ())) }
    }

    #[inline]
    fn reserve_as<E: GiveBack<()> + From<TooLong>>(
        &mut self,
        len: usize,
        until: Until,
    ) -> Result<Reservation<'_, K>, E> {
        let end = self.end_for::<E>(len)?;
        let slots = slots_for(end, len);
        if !end.has_free_slots(slots) {
            let strategy = until.strategy_or(|| Write::state(end).plan.strategy);
            end.wait_for(slots, strategy, until.deadline()).map_err(|refusal| E::of(refusal, ()))?;
        }
        Ok(Reservation::new(end, len).expect("there is room, and it stays"))
    }

    /// The end of the lane, if the queue is open and takes a record of `len` bytes.
    #[inline]
    pub(super) fn end_for<E: GiveBack<()> + From<TooLong>>(
        &mut self,
        len: usize,
    ) -> Result<&mut WriteEnd<K::Cell<u64>, K::ControlBlock>, E> {
        let limit = self.max_len();
        if len > limit {
            return Err(TooLong::new(len, limit).into());
        }
        // (A hint will do: a commit decides.)
        if self.words.end.state().may_be_closed() {
            return Err(E::of(Refusal::Closed, ()));
        }
        Ok(K::write_end(&mut self.words.end))
    }

    /// The length of the longest record that this queue takes: half the capacity.
    #[must_use]
    pub fn max_len(&self) -> usize {
        max_len(self.capacity)
    }

    /// Whether every record was read. If so, this stays true until this producer writes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The capacity that was requested, in bytes: see [how much fits](super#how-much-fits).
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Closes the queue, and wakes both sides. The consumer reads what was written before. No effect on a
    /// closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(b"one").unwrap();
    /// producer.close();
    /// assert_eq!(producer.write(b"two"), Err(annulus::queue::bytes::WriteError::Closed));
    /// assert_eq!(*consumer.read().unwrap(), *b"one");
    /// assert!(consumer.read().is_err());
    /// ```
    pub fn close(&self) {
        self.words.close();
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

    /// Whether the queue is closed. If so, every write fails from now on.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.words.is_closed()
    }
}

/// How many slots a record of `len` bytes takes now, with the padding before it. Only a write changes that.
#[inline]
fn slots_for<T, C: ControlBlock>(end: &WriteEnd<T, C>, len: usize) -> usize {
    let words = words_of(len);
    padding_before(words, end.to_storage_end()) + words
}

/// Looks for room, and reserves what was found: for waits that are no verb of a thread.
#[cfg(any(feature = "std", feature = "async"))]
impl<K: InPlace> Producer<K> {
    /// Whether there is room for a record of `len` bytes, or never will be; `None` if there is none now.
    fn look_for_room(&mut self, len: usize) -> Option<Result<(), WriteError>> {
        let end = match self.end_for::<WriteError>(len) {
            Ok(end) => end,
            Err(error) => return Some(Err(error)),
        };
        // Not a hint: a thread that waits is woken by the close once.
        if Write::state(end).is_closed() {
            // Unreached: a close between two looks of a thread that waits for room: threads have to meet
            // there
            return Some(Err(WriteError::Closed));
        }
        let slots = slots_for(end, len);
        end.has_free_slots(slots).then_some(Ok(()))
    }

    /// The room that the last [`look_for_room`](Self::look_for_room) has found.
    fn reserve_found(&mut self, len: usize) -> Reservation<'_, K> {
        let end = K::write_end(&mut self.words.end);
        Reservation::new(end, len).expect("there is room, and it stays")
    }
}

/// Until there is room for a record of so many bytes.
#[cfg(any(feature = "std", feature = "async"))]
struct AwaitRecordRoom<'p, K: InPlace> {
    producer: &'p mut Producer<K>,
    len: usize,
}

#[cfg(any(feature = "std", feature = "async"))]
impl<K: InPlace> Poll for AwaitRecordRoom<'_, K> {
    type Found = Result<(), WriteError>;

    fn wait_point(&self) -> &EventCount {
        &Write::<u64>::node(&self.producer.words.end).released
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.producer.look_for_room(self.len).map_or(Look::Nothing, Look::Found)
    }
}

/// In tasks.
#[cfg(feature = "async")]
impl<K: InPlace> Producer<K> {
    /// Writes `record`, like [`write`](Self::write), in a task: while there is no room, the task waits, not
    /// its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has written nothing.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
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
    /// As [`write`](Self::write).
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
            // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
            unsafe { Waiting::new(AwaitRecordRoom { producer: self, len }) }.await?;
        }
        // Nothing came between.
        Ok(self.reserve_found(len))
    }
}

#[cfg(feature = "std")]
impl<K: InPlace> Producer<K> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn reserve_in_select(
        &mut self,
        len: usize,
    ) -> impl Choice<Found = Result<Reservation<'_, K>, WriteError>> {
        let room = AwaitRecordRoom { producer: self, len };
        // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
        unsafe {
            Armed::new(room, AwaitRecordRoom::strategy, |AwaitRecordRoom { producer, len }, found| {
                // Nothing came between.
                found.map(|()| producer.reserve_found(len))
            })
        }
    }

    /// Looks whether a reservation would find room, or an error. It reserves nothing.
    pub(crate) fn room_for(&mut self, len: usize) -> RoomArm<'_> {
        // SAFETY: as above.
        unsafe { RoomArm::new(AwaitRecordRoom { producer: self, len }, AwaitRecordRoom::strategy) }
    }
}

#[cfg(feature = "std")]
impl<K: InPlace> AwaitRecordRoom<'_, K> {
    fn strategy(&self) -> WaitStrategy {
        self.producer.words.end.state().plan.strategy
    }
}

impl<K: InPlace> fmt::Debug for Producer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<K: InPlace> Producer<K> {
    /// What the memory of the ring is like now, and which options of
    /// [`Settings::memory`](crate::Settings::memory) were refused. Asks the kernel: see [`Placement`].
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.words.placement()
    }
}
