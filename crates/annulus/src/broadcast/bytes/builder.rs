//! [`Builder`]: makes rings of records. [`lossy`](fn@lossy) is its short form.

use alloc::sync::Arc;

use super::super::Builder as RingBuilder;
use super::super::builder::ends_of;
use super::{Publisher, Subscribable};
use crate::error::CapacityError;
use crate::memory::Memory;
use crate::ring::{Area, Extent, MIN_CAPACITY};
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// The smallest capacity in bytes: others are rounded up to it. (Loom's words take steps, so fewer do.)
const MIN_BYTES: usize = if cfg!(annulus_loom) { 32 } else { 64 };

/// Bytes of capacity for each record whose extent is kept.
// Decision 0084: as many bytes as its extent takes.
const BYTES_PER_RECORD: usize = 32;

/// Makes a lossy ring of records: one publisher, any number of subscribers, and every subscriber sees every
/// record.
///
/// The publisher never waits. A subscriber that falls too far behind loses the oldest records, is told how
/// many, and goes on with the oldest record that is still whole. `capacity` is in bytes. It is rounded up to
/// a power of two, and to at least 64. A record may have up to half of it:
/// [`max_len`](Publisher::max_len). See [the module](super) on how much a ring holds.
///
/// This function allocates and touches the memory of the whole ring, which is about twice the capacity.
/// Records allocate nothing later, if the buffers of the subscribers are large enough.
///
/// # Panics
///
/// If memory has no room for the ring. [`Builder::lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::bytes;
///
/// let (mut publisher, subscribable) = bytes::lossy(4096);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(b"hello")?;
/// publisher.publish(b"")?;
///
/// let mut buffer = Vec::new();
/// assert_eq!(subscriber.recv(&mut buffer), Ok(5));
/// assert_eq!(buffer, b"hello");
/// assert_eq!(subscriber.recv(&mut buffer), Ok(0));
/// # Ok::<(), annulus::TooLong>(())
/// ```
#[must_use]
#[track_caller]
pub fn lossy(capacity: usize) -> (Publisher, Subscribable) {
    ends_of("broadcast::bytes::lossy", Builder::new(capacity).lossy())
}

/// Settings of a ring of records, and the verb that makes one.
///
/// # Examples
///
/// ```
/// use annulus::WaitStrategy;
/// use annulus::broadcast::bytes;
///
/// let builder = bytes::Builder::new(10_000).wait_strategy(WaitStrategy::BusySpin).named("log");
/// let (publisher, subscribable) = builder.lossy()?;
/// assert_eq!(publisher.capacity(), 16_384);
/// assert_eq!(publisher.max_len(), 8_192);
/// assert_eq!(subscribable.max_records(), 512);
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// In bytes, as it was asked for.
    capacity: usize,
    /// Of the ring of extents; its capacity is set last.
    extents: RingBuilder,
}

impl Builder {
    /// A ring of at least `capacity` bytes: rounded up to a power of two, and to 64.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, extents: RingBuilder::new(0) }
    }

    /// How subscribers of this ring wait. Without this setting it is [`WaitStrategy::default`].
    #[must_use]
    pub fn wait_strategy(self, strategy: WaitStrategy) -> Self {
        Self { extents: self.extents.wait_strategy(strategy), ..self }
    }

    /// What the memory of the ring is to be like, for the records and for their extents: see
    /// [`memory`](crate::memory). Without this setting it comes from the global allocator.
    ///
    /// [`lossy`](Self::lossy) returns [`CapacityError::Memory`] if a required option can't be met.
    ///
    /// ```
    /// use annulus::broadcast::bytes;
    /// use annulus::memory::Memory;
    ///
    /// let memory = Memory::prefer().prefault().lock();
    /// let (publisher, _subscribable) = bytes::Builder::new(4096).memory(memory).lossy()?;
    /// println!("{}", publisher.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(self, memory: Memory) -> Self {
        Self { extents: self.extents.memory(memory), ..self }
    }

    /// Counts what happens rarely, like [`statistics`](crate::broadcast::Builder::statistics) of a ring of
    /// messages.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(self, on: bool) -> Self {
        Self { extents: self.extents.statistics(on), ..self }
    }

    /// Gives the ring a name, which its [`Stats`](crate::Stats) have. A ring with a name is in the list of
    /// `Observers`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { extents: self.extents.named(name), ..self }
    }

    /// The number of the first record; tests begin shortly before the numbers wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first(self, first: u64) -> Self {
        Self { extents: self.extents.first(first), ..self }
    }

    /// A lossy ring for one publisher: see [`lossy`](fn@lossy).
    ///
    /// # Errors
    ///
    /// [`CapacityError::TooLarge`] if memory has no room for the ring. `CapacityError::Memory` if a required
    /// option of its memory can't be met.
    pub fn lossy(self) -> Result<(Publisher, Subscribable), CapacityError> {
        let too_large = CapacityError::TooLarge { capacity: self.capacity, slot_bytes: 1 };
        let bytes = self.capacity.max(MIN_BYTES).checked_next_power_of_two().ok_or(too_large)?;
        let memory = self.extents.memory_options();
        let memory = if seeded!("area_memory_unheard") { Memory::default() } else { memory };
        let area = Area::new(bytes / size_of::<u64>(), &memory)
            .map_err(|refused| CapacityError::of_block(refused, self.capacity, 1))?;
        let extents = self.extents.with_capacity((bytes / BYTES_PER_RECORD).max(MIN_CAPACITY));
        let (publisher, subscribable) = extents.lossy::<Extent>()?;
        let area = Arc::new(area);
        Ok((Publisher::new(publisher, Arc::clone(&area)), Subscribable::new(subscribable, area)))
    }
}
