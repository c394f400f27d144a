//! Closing a ring, and stopping threads.
//!
//! A ring closes by itself when one of its sides is gone. What was sent before the close can still be
//! received. No handle waits for a peer that is gone.
//!
//! | ring | the writers are gone | the readers are gone |
//! | --- | --- | --- |
//! | lossy broadcast | readers receive what is left, then `Closed` | the publisher goes on; nobody listens |
//! | lossless broadcast, events | the same | publishing fails and gives the message back |
//! | queue | the same | sending fails and gives the value back |
//!
//! The readers of a lossless ring are gone when every subscriber *and* every
//! [`Subscribable`](crate::broadcast::Subscribable) is dropped: while there is a `Subscribable`, somebody may
//! still join. So drop it after the last `subscribe`, if publishers shall notice that nobody listens any
//! more.
//!
//! # A chain of threads ends from its source
//!
//! Let each thread own its handles. When the first thread returns, its handles are dropped, and the ring
//! behind it closes. The next thread receives what is left, leaves its loop, and drops its own handles in
//! turn.
//!
//! ```
//! let (mut numbers, mut input) = annulus::spsc::channel::<u64>(16);
//! let (mut squares, mut output) = annulus::spsc::channel::<u64>(16);
//!
//! let source = std::thread::spawn(move || {
//!     for number in 1..=100 {
//!         numbers.send(number).unwrap();
//!     }
//! }); // `numbers` is dropped here
//! let worker = std::thread::spawn(move || {
//!     while let Ok(number) = input.recv() {
//!         squares.send(number * number).unwrap();
//!     }
//! }); // `squares` is dropped here
//!
//! assert_eq!(output.iter().sum::<u64>(), 338_350); // ends when `squares` is gone
//! source.join().unwrap();
//! worker.join().unwrap();
//! ```
//!
//! # Closing a queue early
//!
//! Every handle of a queue has a method `close`, which wakes all threads that wait. From then on every send
//! fails and gives its value back. Every send that returned `Ok` can still be received.
//!
//! ```
//! let (mut producer, mut consumer) = annulus::mpsc::channel(64);
//! producer.send(1).unwrap();
//! consumer.close();
//! assert_eq!(producer.send(2).unwrap_err().into_inner(), 2);
//! assert_eq!(consumer.recv(), Ok(1)); // it was sent before the close
//! assert!(consumer.recv().is_err());
//! assert!(consumer.is_fully_drained());
//! ```
//!
//! # Stopping threads that do not wait for a ring
//!
//! A thread that produces, computes or polls needs a flag: [`Shutdown`](crate::Shutdown). Each clone sees it.
//! A thread that waits in `recv` does not look at the flag. Close the ring for such a thread, or let it wait
//! with a timeout.
//!
//! A broadcast ring closes when its last publisher is dropped. So let the flag stop the publishing thread;
//! its subscribers then end by themselves:
//!
//! ```
//! use annulus::{Shutdown, broadcast};
//!
//! let shutdown = Shutdown::new();
//! let (mut publisher, subscribable) = broadcast::lossy::<u64>(64);
//! let mut subscriber = subscribable.subscribe();
//!
//! let writer = std::thread::spawn({
//!     let shutdown = shutdown.clone();
//!     move || {
//!         let mut count = 0;
//!         while !shutdown.is_shutdown() {
//!             publisher.publish(count);
//!             count += 1;
//!         }
//!         count
//!     }
//! }); // the publisher is dropped here
//!
//! while subscriber.recv().unwrap() < 100 {}
//! shutdown.trigger();
//! let published = writer.join().unwrap();
//! while subscriber.recv().is_ok() {} // what is left, then `Closed`
//! assert_eq!(subscriber.total_received() + subscriber.total_lagged(), published);
//! ```
