//! What happens when a reader is slow.
//!
//! A ring has a fixed number of slots. When a writer is about to reuse a slot that a reader still needs, one
//! of the two must give way. Which one is decided when the ring is made.
//!
//! | ring | when a reader is a whole ring behind |
//! | --- | --- |
//! | lossy broadcast | the publisher overwrites; the reader loses the oldest messages and learns how many |
//! | lossless broadcast, events | the publisher waits for the slowest reader |
//! | queue | the producer waits until a consumer takes a message from its ring |
//!
//! # A lossy ring counts the loss
//!
//! A subscriber that falls behind loses the oldest messages. There is one rule for all verbs:
//!
//! - A plain verb, such as [`recv`](crate::broadcast::Subscriber::recv) or
//!   [`try_recv`](crate::broadcast::Subscriber::try_recv), counts the loss and goes on with the oldest
//!   message that is left. So a loop over `recv` ends only when the ring is closed, and a loop over
//!   `try_recv` when nothing is there.
//! - A verb with `or_lag`, such as [`recv_or_lag`](crate::broadcast::Subscriber::recv_or_lag) or
//!   [`try_recv_or_lag`](crate::broadcast::Subscriber::try_recv_or_lag), reports the loss, once:
//!   `Lagged { skipped }`.
//!
//! At every moment, `total_received() + total_lagged()` is how far the subscriber has come.
//!
//! ```
//! use annulus::LossyTryRecvError;
//!
//! let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish_batch(&[1, 2, 3, 4, 5, 6]); // two more than there are slots
//!
//! assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
//! assert_eq!(subscriber.try_recv(), Ok(3)); // the oldest message that is left
//! publisher.publish_batch(&[7, 8, 9]);
//! assert_eq!(subscriber.try_recv(), Ok(7)); // 4 and 5 are lost, and 6 would be overwritten next
//! assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (2, 5));
//! ```
//!
//! If only the newest value matters, do not read the messages before it.
//! [`latest`](crate::broadcast::Subscriber::latest) passes over the older messages and counts them as lagged:
//!
//! ```
//! let (mut publisher, subscribable) = annulus::broadcast::lossy(64);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish_batch(&[10, 20, 30]);
//! assert_eq!(subscriber.latest(), Some(30));
//! assert_eq!(subscriber.latest(), None);
//! ```
//!
//! # A lossless ring makes the publisher wait
//!
//! The publisher decides what to do when there is no room:
//!
//! - `publish` waits.
//! - `try_publish` returns at once and gives the message back.
//! - `publish_timeout` waits for a limited time and then gives the message back.
//!
//! ```
//! use annulus::{TrySendError, broadcast};
//!
//! let (mut publisher, subscribable) = broadcast::lossless(2);
//! let mut slow = subscribable.subscribe();
//! let mut tap = subscribable.subscribe_lossy(); // nobody waits for a tap
//! publisher.publish_batch(&[1, 2]).unwrap();
//! assert!(publisher.try_publish(3) == Err(TrySendError::Full(3)));
//!
//! assert_eq!(slow.recv(), Ok(1));
//! assert!(publisher.try_publish(3).is_ok());
//! assert_eq!((tap.recv(), tap.total_lagged()), (Ok(2), 1));
//! ```
//!
//! One slow subscriber holds up everybody. When it is dropped, also by a panic of its thread, the publisher
//! no longer waits for it. A subscriber that is never dropped (`mem::forget`, a cycle of `Arc`s) holds up the
//! publisher for ever. Use taps for readers that nobody should wait for.
//!
//! Stages make this wait longer: a publisher waits for the last stage of a chain, and each stage waits for
//! the stages before it.
//!
//! # A queue makes the producer wait
//!
//! `send` waits while the producer's ring is full. `try_send` and `send_timeout` give the value back. With
//! several producers in [`mpsc`](crate::mpsc) or [`mpmc`](crate::mpmc), each producer waits for room in its
//! own ring only, and the consumer visits the rings in turn. So a busy producer does not keep the messages of
//! others from being received: [`Consumer`](crate::queue::Consumer) states the bound.
//!
//! ```
//! use annulus::{TrySendError, spsc};
//!
//! let (mut producer, mut consumer) = spsc::channel(1);
//! producer.send("first").unwrap();
//! assert!(producer.try_send("second") == Err(TrySendError::Full("second")));
//! assert_eq!(consumer.recv(), Ok("first"));
//! assert!(producer.try_send("second").is_ok());
//! ```
