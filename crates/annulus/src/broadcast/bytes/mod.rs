//! Broadcast of records: byte strings of any length, each seen by every subscriber.
//!
//! [`bytes::lossy`](fn@lossy) makes a lossy ring with one publisher, which never waits. The ring holds a
//! number of bytes, and a record may be of any length up to half of them, also empty. A subscriber copies
//! each record into a buffer of its own. If the publisher overwrites a record before or during that copy, the
//! subscriber is told that it lost the record. It never gets a part of one, or a mixture. Records are
//! numbered, so each one that was lost is counted, exactly once.
//!
//! [`bytes::lossless`](fn@lossless) makes a ring whose publisher waits for the slowest subscriber. Nobody
//! loses a record.
//!
//! Between processes: [`shm::broadcast::bytes`](crate::shm::broadcast::bytes) (Linux).
//!
//! For messages that are all of one type, a typed ring ([`broadcast::lossy`](fn@crate::broadcast::lossy)) is
//! simpler and faster. It takes no buffer, and less memory for each message.
//!
//! ```
//! use annulus::broadcast::bytes;
//!
//! let (mut publisher, subscribable) = bytes::lossy(64 * 1024);
//! let mut subscriber = subscribable.subscribe();
//!
//! let reader = std::thread::spawn(move || {
//!     let mut buffer = Vec::with_capacity(subscriber.max_len()); // never has to grow
//!     let mut lines = 0;
//!     while subscriber.recv(&mut buffer).is_ok() {
//!         assert!(buffer.starts_with(b"line "));
//!         lines += 1;
//!     }
//!     (lines, subscriber.total_lagged())
//! });
//! for number in 0..100 {
//!     publisher.publish(format!("line {number}").as_bytes())?;
//! }
//! drop(publisher); // closes the ring
//! assert_eq!(reader.join().unwrap(), (100, 0)); // nothing was lost
//! # Ok::<(), annulus::TooLong>(())
//! ```
//!
//! # What a ring holds
//!
//! The capacity in bytes is rounded up to a power of two, and is at least 64. A record takes its length,
//! rounded up to a multiple of 8. The ring also keeps where each record lies, for one record in 32 bytes of
//! capacity; this takes as much memory as the bytes. So the ring holds the newest records, as long as two
//! things hold:
//!
//! - together they have at most 15/16 of the capacity (all of it, if the capacity is below 128 bytes);
//! - they are at most [`max_records`](Subscribable::max_records): a 32nd of the capacity.
//!
//! The newest record stands at least until the publisher begins with the second one after it, whatever their
//! lengths.
//!
//! A lossless ring holds as many bytes, and as many records. The bytes of a record are free once all
//! subscribers have received it.
//!
//! # Source
//!
//! The bytes are read as a seqlock's (Boehm, "Can seqlocks get along with programming language memory
//! models?", MSPC 2012), and overwritten behind a word that says so beforehand, as in Agrona's
//! `BroadcastTransmitter`. The extents travel as messages of a ring of stamped slots (after Photon Ring), as
//! in every broadcast ring here.

mod publisher;
mod subscribable;
mod subscriber;

pub use crate::error::{TryWriteError, WriteError, WriteTimeoutError};
pub use publisher::Publisher;
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;

use alloc::sync::Arc;

use super::{Lossless, ends_of, lossy_with as ring_with};
use crate::error::CapacityError;
use crate::memory::Memory;
use crate::ring::{Area, Extent, MIN_CAPACITY, WORD};
use crate::settings::Settings;
use crate::sync::seeded;

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
/// [`max_len`](Publisher::max_len). See [the module](self) on how much a ring holds.
///
/// This function allocates and touches the memory of the whole ring, which is about twice the capacity.
/// Records allocate nothing later, if the buffers of the subscribers are large enough.
///
/// # Panics
///
/// If memory has no room for the ring. [`lossy_with`] returns an error instead.
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
    ends_of("broadcast::bytes::lossy", lossy_with(Settings::new(capacity)))
}

/// As [`lossy`](fn@lossy), with these settings. The options of the memory are for the records and for their
/// extents. Statistics count records.
///
/// # Errors
///
/// [`CapacityError::TooLarge`] if memory has no room for the ring, `NoHeadroom` if the settings have a
/// headroom, `Memory` if a required option of its memory can't be met.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::bytes;
/// use annulus::{Settings, WaitStrategy};
///
/// let settings = Settings::new(10_000).wait_strategy(WaitStrategy::BusySpin).name("log");
/// let (publisher, subscribable) = bytes::lossy_with(settings)?;
/// assert_eq!(publisher.capacity(), 16_384);
/// assert_eq!(publisher.max_len(), 8_192);
/// assert_eq!(subscribable.max_records(), 512);
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[doc(alias = "Builder")]
pub fn lossy_with(settings: Settings) -> Result<(Publisher, Subscribable), CapacityError> {
    let (area, extents) = area_of(settings)?;
    let (publisher, subscribable) = ring_with::<Extent>(extents)?;
    Ok((Publisher::new(publisher, Arc::clone(&area)), Subscribable::new(subscribable, area)))
}

/// Makes a lossless ring of records: one publisher, any number of subscribers, and every subscriber receives
/// every record.
///
/// The publisher waits for the slowest subscriber. `capacity` is in bytes. It is rounded up to a power of
/// two, and to at least 64. A record may have up to half of it: [`max_len`](Publisher::max_len). The ring
/// holds all of its bytes in records, and at most [`max_records`](Publisher::max_records) of them.
///
/// This function allocates and touches the memory of the whole ring, which is about twice the capacity.
/// Records allocate nothing later, if the buffers of the subscribers are large enough.
///
/// # Panics
///
/// If memory has no room for the ring. [`lossless_with`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::bytes;
///
/// let (mut publisher, subscribable) = bytes::lossless(4096);
/// let (mut one, mut other) = (subscribable.subscribe(), subscribable.subscribe());
/// publisher.publish(b"hello")?;
///
/// let mut buffer = Vec::new();
/// assert_eq!((one.recv(&mut buffer), other.recv(&mut buffer)), (Ok(5), Ok(5)));
/// # Ok::<(), bytes::WriteError>(())
/// ```
#[must_use]
#[track_caller]
pub fn lossless(capacity: usize) -> (Publisher<Lossless>, Subscribable<Lossless>) {
    ends_of("broadcast::bytes::lossless", lossless_with(Settings::new(capacity)))
}

/// As [`lossless`](fn@lossless), with these settings. The options of the memory are for the records and for
/// their extents. Statistics count records.
///
/// # Errors
///
/// [`CapacityError::TooLarge`] if memory has no room for the ring, `NoHeadroom` if the settings have a
/// headroom, `Memory` if a required option of its memory can't be met.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::broadcast::bytes;
///
/// let (publisher, _subscribable) = bytes::lossless_with(Settings::new(10_000).name("log"))?;
/// assert_eq!((publisher.capacity(), publisher.max_len()), (16_384, 8_192));
/// # Ok::<(), annulus::CapacityError>(())
/// ```
pub fn lossless_with(
    settings: Settings,
) -> Result<(Publisher<Lossless>, Subscribable<Lossless>), CapacityError> {
    settings.without_headroom()?;
    let (area, extents) = area_of(settings)?;
    let (publisher, subscribable) = super::lossless_with::<Extent>(extents)?;
    Ok((Publisher::new(publisher, Arc::clone(&area)), Subscribable::new(subscribable, area)))
}

/// The area of such a ring, and the settings of its ring of extents.
#[inline(always)]
pub(crate) fn area_of(settings: Settings) -> Result<(Arc<Area>, Settings), CapacityError> {
    let capacity = settings.capacity;
    let (words, extents) = in_words(settings)?;
    let memory = if seeded!("area_memory_unheard") { Memory::default() } else { extents.memory };
    let area = Area::new(words, &memory);
    Ok((Arc::new(area.map_err(|refused| CapacityError::of_block(refused, capacity, 1))?), extents))
}

/// How many words the area of such a ring has, and the settings of its ring of extents.
#[inline(always)]
pub(crate) fn in_words(settings: Settings) -> Result<(usize, Settings), CapacityError> {
    let capacity = settings.capacity;
    let too_large = CapacityError::TooLarge { capacity, slot_bytes: 1 };
    let bytes = capacity.max(MIN_BYTES).checked_next_power_of_two().ok_or(too_large)?;
    Ok((bytes / WORD, settings.with_capacity((bytes / BYTES_PER_RECORD).max(MIN_CAPACITY))))
}
