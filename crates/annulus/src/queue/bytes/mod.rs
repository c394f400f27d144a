//! Records of bytes, of any length: one producer, one consumer, one ring, and each record lies in one piece.
//!
//! A queue of a type has a slot of one size for each message. Here each record takes what it needs: 8 bytes
//! for its length, and its bytes, rounded up to 8. It may be as long as half the capacity. It is never split,
//! also where the ring ends, so both sides use it in place, as a slice. (Between processes, in
//! `annulus::shm::bytes`, it is in one piece, too, but [no slice](Record).)
//!
//! ```
//! use annulus::queue::bytes;
//!
//! let (mut producer, mut consumer) = bytes::channel(1 << 16);
//! let reader = std::thread::spawn(move || {
//!     let mut lengths = Vec::new();
//!     while let Ok(record) = consumer.read() {
//!         lengths.push(record.len()); // the record is given back at the end of its scope
//!     }
//!     lengths
//! });
//! producer.write(b"hello")?; // copied into the ring
//! producer.write(b"")?;
//! let mut record = producer.reserve(100)?; // written in the ring
//! record[..4].copy_from_slice(&7_u32.to_le_bytes());
//! record.commit_len(4)?;
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), [5, 0, 4]);
//! # Ok::<(), bytes::WriteError>(())
//! ```
//!
//! For messages of one type, use the [queues of types](super): their slots need no header, and their batches
//! are slices. If records are so large that even one copy costs too much, use a [pool](crate::pool).
//!
//! # How much fits
//!
//! A queue of capacity `c` takes records of up to `c / 2` bytes ([`Producer::max_len`]); a longer one is an
//! error at once. A record that would run over the end of the ring begins at its front, and what is left at
//! the end stays empty until the next lap. That can be almost as much as the record takes. So if the consumer
//! keeps up, any record finds room. But two records are sure to find room beside each other only if each
//! takes no more than a third of the capacity. As a rule, make the ring several times as large as what is to
//! lie in it.
//!
//! # In order, whole, and once
//!
//! Records arrive in the order in which they were written. A record is either there as a whole, or not at
//! all: a [`Reservation`] that is dropped has sent nothing. A [`Record`] stays in the ring while the consumer
//! looks at it, and the room is free again when it is dropped.
//!
//! # Close
//!
//! As in the other queues: when either side is gone, or somebody calls `close`, every write fails from then
//! on. What was written before can still be read. A write at the same time as a close either succeeds, and is
//! then read unless the consumer is gone, or says that the queue is closed.
//!
//! # Waiting
//!
//! Both sides wait with the [`WaitStrategy`](crate::WaitStrategy) of the queue, for a time, or in a task. A
//! consumer works wherever a receiving handle (`Waitable`) does: in a `select!`, a `Select`, a `Worker`,
//! and a `Notifier`. There, a message is a copy of the record, a `Box<[u8]>`. The producer has an arm
//! of `select!` that reserves room for a record of a given length.

mod consumer;
mod layout;
mod producer;
mod record;
mod reservation;
#[cfg(test)]
mod tests;

pub use crate::error::{TryWriteError, WriteError, WriteTimeoutError};
pub use consumer::Consumer;
pub use producer::Producer;
pub use record::Record;
pub use reservation::Reservation;

use crate::error::CapacityError;
use crate::memory::Memory;
use crate::queue::kind::{QueueKind, Spsc};
use crate::queue::made_of;
use crate::settings::Settings;
use crate::sync::seeded;
use layout::{max_len, ring_words};

/// Makes a queue for records of up to `capacity / 2` bytes. See [how much fits](self#how-much-fits).
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for so many bytes. [`with`] returns an error instead.
#[must_use]
#[track_caller]
pub fn channel(capacity: usize) -> (Producer, Consumer) {
    with(Settings::new(capacity)).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a queue of bytes with these settings. Allocates its ring and touches it.
///
/// The capacity is in bytes: from 2 up, and none is rounded. The queue is for records of up to `capacity / 2`
/// bytes, and its ring has up to 24 bytes more. See [how much fits](self#how-much-fits). Where statistics
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
    let settings = in_words(settings)?;
    settings.without_headroom()?;
    let mut slots = Spsc::slots(&settings).map_err(|error| match error {
        // The slots of the lane are words, and the slots of the caller are bytes.
        CapacityError::TooLarge { .. } => CapacityError::TooLarge { capacity, slot_bytes: 1 },
        error => error,
    })?;
    // Each is a word from here on, of which a record may write a part.
    slots.fill(0_u64);
    let (producer, consumer) = made_of::<_, Spsc>(slots, &settings);
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
