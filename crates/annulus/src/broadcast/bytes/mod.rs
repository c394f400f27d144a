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

mod channel;
mod publisher;
mod subscribable;
mod subscriber;

pub use crate::error::{TryWriteError, WriteError, WriteTimeoutError};
#[cfg(all(feature = "shm", annulus_loom))]
pub(crate) use channel::area_of;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use channel::in_words;
pub use channel::{lossless, lossless_with, lossy, lossy_with};
pub use publisher::Publisher;
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;
