//! One producer, many consumers, one ring: for work that is shared out.
//!
//! A consumer can be cloned at any time. Each message reaches one consumer. A consumer claims a message
//! before it moves it out, so no other consumer touches that message, and any type will do. A consumer that
//! is held up between the claim and the move holds up only the slots that it has claimed, and no other
//! consumer. One message wakes one sleeping consumer.
//!
//! ```
//! let (mut producer, consumer) = annulus::spmc::channel(64);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let mut consumer = consumer.clone();
//!         std::thread::spawn(move || consumer.iter().sum::<u64>())
//!     })
//!     .collect();
//! drop(consumer);
//! producer.send_batch(&[1; 100]).unwrap();
//! drop(producer);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 100);
//! ```

use super::builder::channels;
pub use super::kind::Spmc;

channels!(Spmc, holds: "Makes a queue that holds exactly `capacity` messages.");
