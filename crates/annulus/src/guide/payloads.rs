//! Owned messages and large payloads.
//!
//! | what you send | to many readers | to one reader |
//! | --- | --- | --- |
//! | numbers, structs, enums | a [broadcast](crate::broadcast) ring, copied | a [queue](crate::queue) |
//! | short text | a broadcast ring of [`Text<N>`](crate::Text) | a queue of `Text<N>` or `String` |
//! | `String`, `Vec`, `Box`, `Arc` | a ring of [events](crate::event) | a queue: the value is moved |
//! | records of bytes of any length | a ring of events | a [queue of bytes](crate::queue::bytes): each record in one piece |
//! | blocks of bytes, frames | a ring of events, filled in place | a [pool](crate::pool); the queue carries handles |
//!
//! # Copied messages
//!
//! A message of a broadcast ring is copied in once, and copied out by each reader. So it must be `Copy` and
//! own nothing. With the feature `derive`, structs and enums of your own become messages; the page of
//! [`Message`](trait@crate::Message) has a table of what to write for which type. For text there is
//! [`Text<N>`](crate::Text):
//!
//! ```
//! use annulus::Text;
//!
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<Text<16>>(64);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish("XETR:SAP".try_into()?);
//! assert_eq!(subscriber.recv().unwrap(), "XETR:SAP");
//! # Ok::<(), annulus::TooLong>(())
//! ```
//!
//! All `N` bytes of a text are copied, so choose `N` no larger than you need. A copied message also lies on
//! the stack of both threads. A few KiB are fine. For much larger messages use events or a pool.
//!
//! # A queue moves values
//!
//! A queue takes any `Send` type. The value is moved in and moved out; what it owns stays where it is. A
//! value that nobody receives is dropped, exactly once.
//!
//! ```
//! let (mut producer, mut consumer) = annulus::spsc::channel::<Vec<u8>>(8);
//! producer.send(vec![0; 1_000_000]).unwrap(); // moves three words
//! assert_eq!(consumer.recv().unwrap().len(), 1_000_000);
//! ```
//!
//! # Events stay in the ring
//!
//! An event ring keeps one value in each slot. The publisher changes the value in place, and readers get a
//! reference to it. Nothing is copied or allocated for a message, so a `String` keeps its buffer from lap to
//! lap. For the same reason, a closure of the publisher finds the content of an earlier message.
//! [`with_reset`](crate::event::Publisher::with_reset) clears it first:
//!
//! ```
//! use annulus::event;
//!
//! let (publisher, subscribable) = event::channel(2, String::new);
//! let mut publisher = publisher.with_reset(String::clear);
//! let mut subscriber = subscribable.subscribe();
//! for word in ["one", "two", "three"] {
//!     publisher.publish(|text| text.push_str(word)).unwrap();
//!     assert_eq!(subscriber.process(|text| text.len()), Ok(word.len()));
//! }
//! ```
//!
//! A value that exists already goes in with `send`, and each reader gets a clone with `recv`:
//!
//! ```
//! let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
//! let (mut one, mut two) = (subscribable.subscribe(), subscribable.subscribe());
//! publisher.send("to everybody".to_owned()).unwrap();
//! assert_eq!((one.recv().unwrap(), two.recv().unwrap()), ("to everybody".into(), "to everybody".into()));
//! ```
//!
//! Event rings are always lossless; the [`event`](crate::event) module says why.
//!
//! # Frames
//!
//! A frame that many readers look at is an event. Each slot holds one frame, made once. It is filled again
//! after the slowest reader has finished with it:
//!
//! ```
//! use annulus::event;
//!
//! let (mut camera, subscribable) = event::channel(4, || vec![0_u8; 640 * 480]);
//! let mut viewer = subscribable.subscribe();
//! let mut recorder = subscribable.subscribe();
//! camera.publish(|frame| frame.fill(7)).unwrap();
//! assert_eq!(viewer.process(|frame| frame[0]), Ok(7));
//! assert_eq!(recorder.process(|frame| frame.len()), Ok(640 * 480));
//! ```
//!
//! Between processes, and where a reader keeps frames for as long as it likes, a ring of frames:
//! `shm::frames`.
//!
//! A block that one reader consumes is a buffer of a [pool](crate::pool). Only its 4-byte handle goes through
//! the queue. The buffer goes back to the pool when the reader drops it:
//!
//! ```
//! use annulus::pool::{BufferPool, Handle};
//!
//! let pool = BufferPool::new(9000, 64); // 64 buffers of 9,000 bytes, allocated here
//! let (mut producer, mut consumer) = annulus::spsc::channel::<Handle>(64);
//!
//! let mut packet = pool.alloc().expect("a buffer is free");
//! packet[..4].copy_from_slice(b"ping");
//! producer.send(packet.into_handle()).unwrap();
//!
//! let packet = pool.redeem(consumer.recv().unwrap()).unwrap();
//! assert_eq!(&packet[..4], b"ping");
//! drop(packet);
//! assert_eq!(pool.available(), 64);
//! ```
//!
//! A handle can be redeemed once, so it is not a message of a broadcast ring. A queue of `Copy` values can
//! also be written and read as slices, without a buffer between: see
//! [`Producer::try_reserve`](crate::queue::Producer::try_reserve) and
//! [`Consumer::readable`](crate::queue::Consumer::readable).
