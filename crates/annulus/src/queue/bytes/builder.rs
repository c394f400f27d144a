//! [`channel`] and [`Builder`]: they make queues of bytes.

use super::layout::{max_len, ring_words};
use super::{Consumer, Producer};
use crate::error::CapacityError;
#[cfg(feature = "std")]
use crate::memory::Memory;
use crate::spsc;
#[cfg(feature = "std")]
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// Settings of a queue of bytes, and the verb that makes it. [`channel`] is the short form.
///
/// ```
/// use annulus::queue::bytes;
///
/// let (mut producer, mut consumer) = bytes::Builder::new(4096).build()?;
/// producer.write(b"seven").unwrap();
/// assert_eq!(*consumer.read().unwrap(), *b"seven");
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    capacity: usize,
    /// The builder of the queue of words.
    pub(crate) words: spsc::Builder,
}

impl Builder {
    /// A queue for records of up to `capacity / 2` bytes. The ring has so many bytes, and up to 24 more. Any
    /// number from 2 up is allowed.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, words: spsc::Builder::new(ring_words(capacity)) }
    }

    /// What the memory of the ring is to be like: see [`memory`](crate::memory). Without this setting it
    /// comes from the global allocator.
    ///
    /// [`build`](Self::build) returns [`CapacityError::Memory`] if a required option can't be met.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::queue::bytes;
    ///
    /// let (producer, _consumer) = bytes::Builder::new(4096).memory(Memory::prefer().lock()).build()?;
    /// println!("{}", producer.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        if !seeded!("bytes_memory_unheard") {
            self.words = self.words.memory(memory);
        }
        self
    }

    /// How the handles of this queue wait. Verbs that end in `_by` use the strategy of their argument
    /// instead. Without this setting it is [`WaitStrategy::default`].
    #[must_use]
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.words = self.words.wait_strategy(strategy);
        self
    }

    /// Counts what happens rarely ([`Stats::counted`](crate::Stats::counted)), as
    /// [`statistics`](crate::queue::Builder::statistics) of other queues does. Where that counts messages,
    /// this counts words of 8 bytes: see [`Producer::stats`].
    ///
    /// ```
    /// use annulus::queue::bytes;
    ///
    /// let (mut producer, consumer) = bytes::Builder::new(4096).statistics(true).named("log").build()?;
    /// producer.write(b"ten bytes!").unwrap();
    /// let stats = consumer.stats();
    /// assert_eq!((stats.name.as_deref(), stats.published), (Some("log"), 3)); // its length, and 10 bytes
    /// assert_eq!(stats.counted.unwrap().high_water, 3);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(mut self, on: bool) -> Self {
        if !seeded!("bytes_statistics_unheard") {
            self.words = self.words.statistics(on);
        }
        self
    }

    /// Gives the queue a name, which its [`Stats`](crate::Stats) have. A queue with a name is in the list of
    /// `Observers`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.words = self.words.named(name);
        self
    }

    /// The number of the first word. Nothing shows it; tests begin shortly before the numbers wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first(mut self, first: u64) -> Self {
        self.words = self.words.first(first);
        self
    }

    /// The capacity, if there can be a record.
    pub(crate) fn checked(&self) -> Result<usize, CapacityError> {
        let capacity = self.capacity;
        if max_len(capacity) == 0 {
            return Err(CapacityError::TooSmall { capacity, minimum: 2 });
        }
        Ok(capacity)
    }

    /// How many slots the ring has; `None` if there can be no record.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn slots(&self) -> Option<usize> {
        self.checked().is_ok().then_some(self.words.plan.capacity)
    }

    /// Makes the queue. Allocates its ring and touches it.
    ///
    /// # Errors
    ///
    /// [`CapacityError`]: the capacity is below 2, or memory has no room for so many bytes, or a required
    /// option of the memory can't be met.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{CapacityError, queue::bytes};
    ///
    /// let error = bytes::Builder::new(1).build().unwrap_err();
    /// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
    /// ```
    pub fn build(self) -> Result<(Producer, Consumer), CapacityError> {
        let capacity = self.checked()?;
        // The slots of the lane are words, and the slots of the caller are bytes.
        let too_large = CapacityError::TooLarge { capacity, slot_bytes: 1 };
        let is_too_large = |error: &CapacityError| matches!(error, CapacityError::TooLarge { .. });
        let built = self.words.build();
        let (producer, consumer) =
            built.map_err(|error| if is_too_large(&error) { too_large } else { error })?;
        Ok((Producer { words: producer, capacity }, Consumer { words: consumer, capacity }))
    }
}

/// Makes a queue for records of up to `capacity / 2` bytes. See [how much fits](super#how-much-fits).
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for so many bytes. [`Builder::build`] returns an error
/// instead.
#[must_use]
#[track_caller]
pub fn channel(capacity: usize) -> (Producer, Consumer) {
    Builder::new(capacity).build().unwrap_or_else(|error| panic!("{error}"))
}
