//! [`channel`] and [`with`]: they make queues of bytes.

use super::layout::{max_len, ring_words};
use super::{Consumer, Producer};
use crate::error::CapacityError;
use crate::memory::Memory;
use crate::settings::Settings;
use crate::spsc;
use crate::sync::seeded;

/// Makes a queue of bytes with these settings. Allocates its ring and touches it.
///
/// The capacity is in bytes: from 2 up, and none is rounded. The queue is for records of up to `capacity / 2`
/// bytes, and its ring has up to 24 bytes more. See [how much fits](super#how-much-fits). Where statistics
/// count messages in other queues, here they count words of 8 bytes: see [`Producer::stats`].
///
/// # Errors
///
/// [`CapacityError`]: the capacity is below 2, or memory has no room for so many bytes, or a required option
/// of the memory can't be met, or the settings have a headroom.
///
/// # Examples
///
/// ```
/// use annulus::queue::bytes;
/// use annulus::{CapacityError, Settings};
///
/// let (mut producer, mut consumer) = bytes::with(Settings::new(4096).statistics(true).name("log"))?;
/// producer.write(b"ten bytes!").unwrap();
/// let stats = consumer.stats();
/// assert_eq!((stats.name.as_deref(), stats.published), (Some("log"), 3)); // its length, and 10 bytes
/// assert_eq!(stats.counted.unwrap().high_water, 3);
/// assert_eq!(*consumer.read().unwrap(), *b"ten bytes!");
///
/// let error = bytes::with(Settings::new(1)).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
/// # Ok::<(), CapacityError>(())
/// ```
#[doc(alias = "Builder")]
pub fn with(settings: Settings) -> Result<(Producer, Consumer), CapacityError> {
    let capacity = settings.capacity;
    // The slots of the lane are words, and the slots of the caller are bytes.
    let too_large = CapacityError::TooLarge { capacity, slot_bytes: 1 };
    let is_too_large = |error: &CapacityError| matches!(error, CapacityError::TooLarge { .. });
    let made = spsc::with(in_words(settings)?);
    let (producer, consumer) = made.map_err(|error| if is_too_large(&error) { too_large } else { error })?;
    Ok((Producer { words: producer, capacity }, Consumer { words: consumer, capacity }))
}

/// The settings of the queue of words, if there can be a record.
pub(crate) fn in_words(settings: Settings) -> Result<Settings, CapacityError> {
    let capacity = settings.capacity;
    if max_len(capacity) == 0 {
        return Err(CapacityError::TooSmall { capacity, minimum: 2 });
    }
    let mut words = settings.with_capacity(ring_words(capacity));
    if seeded!("bytes_memory_unheard") {
        words.memory = Memory::default();
    }
    if seeded!("bytes_statistics_unheard") {
        words.statistics = false;
    }
    Ok(words)
}

/// Makes a queue for records of up to `capacity / 2` bytes. See [how much fits](super#how-much-fits).
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for so many bytes. [`with`] returns an error instead.
#[must_use]
#[track_caller]
pub fn channel(capacity: usize) -> (Producer, Consumer) {
    with(Settings::new(capacity)).unwrap_or_else(|error| panic!("{error}"))
}
