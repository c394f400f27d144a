//! One producer, one consumer, one ring: the fastest way from one thread to another.
//!
//! ```
//! let (mut producer, mut consumer) = annulus::spsc::channel(64);
//! let reader = std::thread::spawn(move || consumer.iter().map(|s: String| s.len()).sum::<usize>());
//! producer.send("any type".to_string()).unwrap();
//! producer.send("that is Send".to_string()).unwrap();
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 20);
//! ```

use super::builder::channels;
pub use super::kind::Spsc;

channels!(Spsc, holds: "Makes a queue that holds exactly `capacity` messages.");
