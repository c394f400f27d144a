//! Many producers, many consumers: each producer has a ring of its own, and consumers take from all rings.
//!
//! Each consumer visits the rings in turn, so no message waits for ever: see
//! [`queue::Consumer`](super::Consumer). One message wakes one sleeping consumer. Producers and consumers can
//! be cloned at any time, and this stops nobody. When a producer is dropped, the next producer that joins
//! takes over its ring, with the messages in it. Messages of one producer are taken in the order of sending.
//! Two consumers may process what they took in any order.
//!
//! ```
//! let (producer, consumer) = annulus::mpmc::channel(64);
//! let workers: Vec<_> = (0..2)
//!     .map(|_| {
//!         let mut consumer = consumer.clone();
//!         std::thread::spawn(move || consumer.iter().sum::<u64>())
//!     })
//!     .collect();
//! drop(consumer);
//! for _ in 0..2 {
//!     let mut producer = producer.clone();
//!     std::thread::spawn(move || producer.send_batch(&[1; 100]).unwrap());
//! }
//! drop(producer);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 200);
//! ```

use super::builder::channels;
pub use super::kind::Mpmc;

channels!(Mpmc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");
