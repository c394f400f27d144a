//! Many producers, one consumer: each producer has a ring of its own, so producers do not disturb each other.
//!
//! A producer can be cloned, or [registered](super::Producer::register), at any time, and this stops nobody.
//! When a producer is dropped, its messages are still received. The next producer that joins takes over its
//! ring, and sends behind those messages. Messages of one producer arrive in the order of sending. The
//! consumer takes from the rings in turn, and no message waits for ever: see
//! [`queue::Consumer`](super::Consumer).
//!
//! ```
//! let (producer, mut consumer) = annulus::mpsc::channel(64);
//! for worker in 0..4 {
//!     let mut producer = producer.clone();
//!     std::thread::spawn(move || producer.send(worker * 10).unwrap());
//! }
//! drop(producer); // the queue closes with its last producer
//! assert_eq!(consumer.iter().sum::<i32>(), 60);
//! ```

use super::builder::channels;
pub use super::kind::Mpsc;

channels!(Mpsc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");
