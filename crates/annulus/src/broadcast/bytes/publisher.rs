//! [`Publisher`]: the only handle that writes records.
//!
//! ```text
//! publish, lossy ring ────▶ area.w1 to area.w3, then the extent
//! publish, lossless ring ─▶ a slot for the extent? (`slot_access`)    words for the bytes? (`ring/area`)
//!                           no: wait for the slowest cursor            no: AwaitWords, then as a lossy one
//! ```

use alloc::sync::Arc;
use core::fmt;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::Duration;

use super::{Subscribable, Subscriber};
use crate::base::sequence::Sequence;
use crate::broadcast::await_subscribers::awaits_subscribers;
use crate::broadcast::publisher::SolePublisher;
#[cfg(feature = "async")]
use crate::broadcast::publisher::admitted;
use crate::broadcast::subscribable::subscribes;
use crate::broadcast::{Lossless, Lossy, Mode};
use crate::error::{GiveBack, Refusal, TooLong, TryWriteError, WriteError, WriteTimeoutError};
use crate::observer::observable;
use crate::ring::{Area, Copied, Extent, Pen, WORD};
use crate::sync::seeded;
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{EventCount, Look, Poll, Until, WriterBackoff, wait_until};
use crate::{Closer, broadcast};

/// The writing end of a ring of records, made by [`lossy`](fn@super::lossy) or
/// [`lossless`](fn@super::lossless).
///
/// Each ring has one publisher. It is not `Clone`, and publishing takes `&mut self`. It may move to another
/// thread. The publisher of a lossy ring never waits for anybody; the one of a [`Lossless`] ring waits for
/// the slowest subscriber. Waking a sleeping subscriber costs one system call, however many records come
/// before the subscriber runs.
///
/// Dropping it closes the ring. Subscribers receive what is left, then `Closed`.
pub struct Publisher<M: Mode = Lossy> {
    /// Publishes where the records lie.
    pub(in crate::broadcast) extents: broadcast::Publisher<Extent, M>,
    pub(in crate::broadcast) area: Arc<Area>,
    pen: Pen,
}

impl Publisher {
    /// Publishes a copy of `record` to every subscriber. Never waits, and allocates nothing;
    /// O(`record.len()`).
    ///
    /// It overwrites the oldest records. A subscriber that has not read them by now has lost them. Once
    /// somebody has [closed](Self::close) the ring, this drops the record and returns `Ok`.
    /// [`is_closed`](Self::is_closed) says whether the ring is closed.
    ///
    /// There is no verb that lends the bytes in the ring to a closure. Subscribers may be looking at it, and
    /// a `&mut [u8]` would be a data race.
    ///
    /// # Errors
    ///
    /// [`TooLong`]: the record is longer than [`max_len`](Self::max_len). Nothing was published.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::bytes;
    ///
    /// let (mut publisher, _subscribable) = bytes::lossy(64);
    /// assert_eq!(publisher.publish(&[7; 32]), Ok(()));
    /// let error = publisher.publish(&[7; 33]).unwrap_err();
    /// assert_eq!((error.len, error.max), (33, 32));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "33 bytes are too many: there may be 32 at most"
    /// );
    /// ```
    #[inline]
    pub fn publish(&mut self, record: &[u8]) -> Result<(), TooLong> {
        self.check_len(record)?;
        // Where nothing is published any more, nothing may be overwritten.
        if !self.is_closed() || seeded!("bytes_written_past_close") {
            let extent = self.area.write(&mut self.pen, record);
            // A record that comes after a close is dropped.
            let _ = self.extents.put(&extent);
        }
        Ok(())
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, records that are published from now on are
    /// dropped. A ring without subscribers is not closed.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.extents.is_closed()
    }

    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);",
        |handle| Subscribable: Subscribable::new(handle.extents.subscribable(), Arc::clone(&handle.area)),
        Subscriber
    }
}

/// Verbs of the publisher of a lossless ring. A record that is not published is still the caller's.
impl Publisher<Lossless> {
    /// Publishes a copy of `record` to every subscriber. Waits while there is no room: until the slowest
    /// subscriber has received as many of the oldest records as it takes. O(`record.len()`); allocates
    /// nothing.
    ///
    /// It waits with the [strategy](crate::WaitStrategy) of the ring. It does not wait while there is no
    /// subscriber, as long as one may still come.
    ///
    /// # Errors
    ///
    /// [`TooLong`](WriteError::TooLong): the record is longer than [`max_len`](Self::max_len).
    /// [`Closed`](WriteError::Closed): nobody can receive it any more, or somebody has
    /// [closed](Self::close) the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::bytes;
    ///
    /// let (mut publisher, subscribable) = bytes::lossless(64);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || {
    ///     let (mut buffer, mut bytes) = (Vec::new(), 0);
    ///     while let Ok(length) = subscriber.recv(&mut buffer) {
    ///         bytes += length;
    ///     }
    ///     bytes
    /// });
    /// for _ in 0..100 {
    ///     publisher.publish(&[7; 30])?; // there is room for two
    /// }
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), 3000);
    /// # Ok::<(), annulus::broadcast::bytes::WriteError>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, record: &[u8]) -> Result<(), WriteError> {
        self.publish_as(record, Until::FOREVER)
    }

    /// Publishes a copy of `record` if there is room for it. Never waits; O(`record.len()`), and a look at
    /// all subscribers if there is no room.
    ///
    /// # Errors
    ///
    /// [`Full`](TryWriteError::Full): the slowest subscriber has to receive first. The others are those of
    /// [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::bytes::{self, TryWriteError};
    ///
    /// let (mut publisher, subscribable) = bytes::lossless(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.try_publish(&[1; 32])?;
    /// publisher.try_publish(&[2; 32])?;
    /// assert_eq!(publisher.try_publish(&[3; 32]), Err(TryWriteError::Full));
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(32));
    /// assert_eq!(publisher.try_publish(&[3; 32]), Ok(()));
    /// drop((subscriber, subscribable));
    /// assert_eq!(publisher.try_publish(&[4; 32]), Err(TryWriteError::Closed));
    /// # Ok::<(), TryWriteError>(())
    /// ```
    pub fn try_publish(&mut self, record: &[u8]) -> Result<(), TryWriteError> {
        self.check_len(record)?;
        let admitted = self.try_admit(record.len());
        self.put_admitted(admitted, record)
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. A timeout that is
    /// too long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// [`Timeout`](WriteTimeoutError::Timeout): there was no room in time. The others are those of
    /// [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::bytes::{self, WriteTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = bytes::lossless(64);
    /// let _subscriber = subscribable.subscribe();
    /// publisher.publish_timeout(&[1; 32], Duration::ZERO)?;
    /// publisher.publish_timeout(&[2; 32], Duration::ZERO)?;
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(publisher.publish_timeout(&[3; 32], timeout), Err(WriteTimeoutError::Timeout));
    /// # Ok::<(), WriteTimeoutError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn publish_timeout(&mut self, record: &[u8], timeout: Duration) -> Result<(), WriteTimeoutError> {
        self.publish_until(record, timeout)
    }

    /// As [`publish`](Self::publish), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](WriteTimeoutError::Timeout): there was no room in time. The others are those of
    /// [`publish`](Self::publish).
    pub fn publish_until(&mut self, record: &[u8], until: impl Into<Until>) -> Result<(), WriteTimeoutError> {
        self.publish_as(record, until.into())
    }

    /// Publishes a copy of `record`, like [`publish`](Self::publish), in a task: the task waits, not its
    /// thread. (Feature `async`.)
    ///
    /// *Cancel safety*: a future that is dropped has not published the record.
    ///
    /// # Errors
    ///
    /// The errors of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossless(1024);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// pollster::block_on(async {
    ///     publisher.publish_async(b"hello").await?;
    ///     assert_eq!(subscriber.recv_async(&mut buffer).await, Ok(5));
    ///     Ok::<(), annulus::broadcast::bytes::WriteError>(())
    /// })?;
    /// # Ok::<(), annulus::broadcast::bytes::WriteError>(())
    /// ```
    #[cfg(feature = "async")]
    pub async fn publish_async(&mut self, record: &[u8]) -> Result<(), WriteError> {
        self.check_len(record)?;
        let mut admitted = admitted(&mut self.extents.sole).await;
        if admitted.is_ok() && !self.area.has_room(&self.pen, record.len()) {
            let words = self.await_words(record.len(), WriterBackoff::new(0, None));
            // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps
            // alive.
            admitted = unsafe { Waiting::new(words) }.await;
        }
        self.put_admitted(admitted, record)
    }

    /// Whether records are refused: nobody receives, or ever will, or somebody has [closed](Self::close) the
    /// ring.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.extents.is_closed()
    }

    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::bytes::lossless(1024);",
        |handle| Subscribable<Lossless>: Subscribable::new(handle.extents.subscribable(), Arc::clone(&handle.area)),
        Subscriber<Lossless>
    }

    fn publish_as<E: GiveBack<()> + From<TooLong>>(&mut self, record: &[u8], until: Until) -> Result<(), E> {
        self.check_len(record)?;
        let admitted = match self.try_admit(record.len()) {
            Err(Refusal::Full) => self.wait_for_room(record.len(), until),
            admitted => admitted,
        };
        self.put_admitted(admitted, record)
    }

    fn put_admitted<E: GiveBack<()>>(
        &mut self,
        admitted: Result<(), Refusal>,
        record: &[u8],
    ) -> Result<(), E> {
        let put = admitted.and_then(|()| {
            // As in a lossy ring: a lossy subscriber may still need what is there.
            if self.extents.sole.shared.is_ending() {
                // Unreached: somebody closes the ring behind the look for room: threads have to meet there
                return Err(Refusal::Closed);
            }
            let extent = self.area.write(&mut self.pen, record);
            self.extents.put(&extent)
        });
        put.map_err(|refusal| E::of(refusal, ()))
    }

    /// Makes sure that a record of so many bytes may be written, if that takes no waiting.
    #[inline]
    fn try_admit(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.extents.sole.try_admit()?;
        if self.area.has_room(&self.pen, bytes) {
            return Ok(());
        }
        self.await_words(bytes, WriterBackoff::new(0, None)).look().map(|_| ())
    }

    /// Waits for the same, as `until` says.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self, bytes: usize, until: Until) -> Result<(), Refusal> {
        let strategy = until.strategy_or(|| self.extents.sole.shared.strategy);
        // Once: a duration is for both waits.
        let deadline = until.deadline();
        // The slot for the extent comes first. Nobody takes it away again.
        self.extents.sole.admit_by(strategy, deadline)?;
        if self.area.has_room(&self.pen, bytes) {
            return Ok(());
        }
        // A sixteenth of the area: as far as its writer looks ahead.
        let preferred = (self.area.bytes() / WORD / 16) as u64;
        let backoff = WriterBackoff::new(preferred, deadline);
        wait_until(&mut self.await_words(bytes, backoff), strategy, deadline).unwrap_or(Err(Refusal::Full))
    }

    fn await_words(&mut self, bytes: usize, backoff: WriterBackoff) -> AwaitWords<'_> {
        let Self { extents, area, pen } = self;
        AwaitWords { sole: &extents.sole, area, pen, bytes, backoff }
    }
}

/// A publisher that waits until readers need so many of the words no more that its record has room.
struct AwaitWords<'p> {
    sole: &'p SolePublisher<Copied<Extent>>,
    area: &'p Area,
    pen: &'p mut Pen,
    /// Of the record.
    bytes: usize,
    backoff: WriterBackoff,
}

impl AwaitWords<'_> {
    /// Looks at all cursors. Returns how many words are free, if they are enough.
    #[cold]
    fn look(&mut self) -> Result<u64, Refusal> {
        let shared = &self.sole.shared;
        if shared.refuses() {
            return Err(Refusal::Closed);
        }
        self.keep_what_is_needed();
        // One that is gone needs nothing.
        let is_again = !self.has_room() && !seeded!("words_kept_for_the_dead") && shared.gate.sweep();
        if is_again {
            self.keep_what_is_needed();
        }
        if self.has_room() { Ok(self.area.free(self.pen)) } else { Err(Refusal::Full) }
    }

    fn has_room(&self) -> bool {
        self.area.has_room(self.pen, self.bytes)
    }

    /// From now on the words before the oldest record that somebody needs are free.
    fn keep_what_is_needed(&mut self) {
        let SolePublisher { shared, next, .. } = self.sole;
        // A subscriber that joins begins at or after this one.
        let oldest = Sequence::new(shared.gate.take_clearable(*next).end);
        let mut extent = MaybeUninit::uninit();
        // (The slots of what is needed stand, as in every lossless ring.)
        // SAFETY: the handle keeps the ring alive.
        match unsafe { shared.slots.read(oldest, &mut extent) } {
            // SAFETY: the ring is of this process.
            Ok(extent) if oldest < *next => self.pen.keep_from(Some(unsafe { extent.unchecked() }.take())),
            _ if oldest == *next => self.pen.keep_from(None),
            // (Another process has written what can't be where a cursor was. As if nothing had moved.)
            _ => {}
        }
    }
}

impl Poll for AwaitWords<'_> {
    type Found = Result<(), Refusal>;

    /// A cursor that moves notifies there, a leave, and the close.
    fn wait_point(&self) -> &EventCount {
        &self.sole.shared.released
    }

    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        Some(&mut self.backoff)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.look() {
            Ok(free) => self.backoff.judge(free, Ok(())),
            Err(Refusal::Full) => Look::Nothing,
            Err(refusal) => Look::Found(Err(refusal)),
        }
    }
}

impl<M: Mode> Publisher<M> {
    pub(crate) fn new(extents: broadcast::Publisher<Extent, M>, area: Arc<Area>) -> Self {
        Self { extents, area, pen: if M::LOSSLESS { Pen::that_waits() } else { Pen::new() } }
    }

    #[inline]
    fn check_len(&self, record: &[u8]) -> Result<(), TooLong> {
        let max_len = self.max_len();
        if record.len() > max_len { Err(TooLong::new(record.len(), max_len)) } else { Ok(()) }
    }

    /// The length of the longest record that the ring takes, in bytes: half of its capacity.
    #[inline]
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.area.longest()
    }

    /// The capacity in bytes: the number given to its constructor, rounded up.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.area.bytes()
    }

    /// How many records the ring holds at most: see [the module](super).
    #[must_use]
    pub fn max_records(&self) -> usize {
        self.extents.capacity()
    }

    /// How many records have been published. Records are numbered from 0, so this is also the number that the
    /// next record will get.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.extents.published()
    }

    /// How many subscribers the ring has now, on whichever thread. A [`Subscribable`]
    /// does not count, so somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.extents.subscriber_count()
    }

    /// Closes the ring, as dropping the publisher does, but keeps the publisher. Subscribers receive what is
    /// left, then `Closed`. Threads that wait in the ring are woken. No effect on a closed ring.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"last").unwrap();
    /// publisher.close();
    /// publisher.publish(b"dropped").unwrap();
    ///
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.recv(&mut buffer), Ok(4));
    /// assert_eq!(subscriber.recv(&mut buffer), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&self) {
        self.extents.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.extents.closer()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::broadcast::bytes::lossless(1024);",
        |publisher| &publisher.extents.sole.shared
    }

    observable! {
        |handle| stats: handle.extents.stats(),
        observer: handle.extents.observer()
    }
}

impl<M: Mode> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
