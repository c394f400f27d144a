//! Closing a ring, and stopping threads.
//!
//! A ring closes by itself when its last writer is gone. Lossless rings and queues also close when their last
//! reader is gone. Any ring can also be closed from anywhere. What was sent before the close can still be
//! received. No handle waits for a peer that is gone.
//!
//! | ring | the writers are gone | the readers are gone |
//! | --- | --- | --- |
//! | lossy broadcast | readers receive what is left, then `Closed` | publishing still succeeds; nobody receives |
//! | lossless broadcast, events | the same | publishing fails and gives the message back |
//! | queue | the same | sending fails and gives the value back |
//!
//! The readers of a lossless ring are gone when every subscriber *and* every
//! [`Subscribable`](crate::broadcast::Subscribable) is dropped. While there is a `Subscribable`, somebody may
//! still join. So drop it after the last `subscribe`, if publishers should notice that nobody listens any
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
//! A `pipeline::Pipeline` is such a chain, with branches and joins, and makes the threads
//! and the rings. Its output is the last queue of the chain. If you drop that, each stage ends with its next
//! message, and `let (_, pipeline) = stages.build()` drops it at once. Keep it in a variable and receive from
//! it, or end the pipeline with a `sink`, which has no output.
//!
//! # Closing a ring early
//!
//! Every publisher and every handle of a queue has a method `close`. It wakes all threads that wait in the
//! ring. What was sent before is still received, by all subscribers up to the same message. What comes later
//! fails and gives its value back. (Only `publish` on a lossy ring returns nothing, so it drops the message.
//! Ask `is_closed` there. Its `publish_batch` says how many were published, and drops the rest.)
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
//! # Closing a ring from another thread
//!
//! A [`Closer`](crate::Closer) closes one ring from anywhere. Publishers, all handles of a queue, and
//! `Subscribable` have a method `closer` that makes one. Clone it and send it where you like. A `Closer` does
//! not keep its ring open, and dropping it closes nothing.
//!
//! ```
//! let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
//! let mut subscriber = subscribable.subscribe();
//! let closer = publisher.closer();
//!
//! publisher.publish(1).unwrap();
//! let reader = std::thread::spawn(move || (subscriber.recv(), subscriber.recv()));
//! closer.close(); // wakes the reader, if it sleeps
//! assert_eq!(reader.join().unwrap(), (Ok(1), Err(annulus::RecvError::CLOSED)));
//! assert_eq!(publisher.publish(2).unwrap_err().into_inner(), 2);
//! ```
//!
//! # Stopping everything at once
//!
//! A [`Shutdown`](crate::Shutdown) is a flag for threads that produce, compute or poll. Each clone sees it. A
//! thread that waits in `recv` does not look at the flag, so [attach](crate::Shutdown::attach) the closer of
//! its ring. Then `trigger` also closes the ring, and wakes the thread. You may attach any number of rings. A
//! ring that is attached after the trigger is closed at once.
//!
//! ```
//! use annulus::{Shutdown, broadcast};
//!
//! let shutdown = Shutdown::new();
//! let (mut publisher, subscribable) = broadcast::lossy::<u64>(64);
//! let mut subscriber = subscribable.subscribe();
//! shutdown.attach(publisher.closer());
//!
//! let reader = std::thread::spawn(move || {
//!     let mut received = 0;
//!     while subscriber.recv().is_ok() {
//!         received += 1;
//!     }
//!     received + subscriber.total_lagged()
//! });
//! let writer = std::thread::spawn({
//!     let shutdown = shutdown.clone();
//!     move || {
//!         while !shutdown.is_shutdown() {
//!             publisher.publish(7);
//!         }
//!     }
//! });
//!
//! shutdown.trigger();
//! writer.join().unwrap();
//! reader.join().unwrap(); // it was woken, whether or not a message came
//! ```
