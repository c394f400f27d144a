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

mod channel;
mod consumer;
mod layout;
mod producer;
mod record;
mod reservation;
#[cfg(test)]
mod tests;

pub use crate::error::{TryWriteError, WriteError, WriteTimeoutError};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use channel::in_words;
pub use channel::{channel, with};
pub use consumer::Consumer;
pub use producer::Producer;
pub use record::Record;
pub use reservation::Reservation;
