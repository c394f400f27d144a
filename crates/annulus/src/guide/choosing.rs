//! Choosing a ring.
//!
//! Four questions lead to the right ring. The [front page](crate#which-ring) has the answers in a table.
//!
//! **1. Does every reader need every message, or does each message go to one reader?** If every reader needs
//! it, take a [broadcast](crate::broadcast) ring. If one reader is enough, take a [queue](crate::queue).
//!
//! **2. For a broadcast ring: may a slow reader lose messages?** If a newer message replaces an older one
//! (prices, positions, sensor values), take a *lossy* ring: its publisher never waits. If every message must
//! arrive (orders, a journal), take a *lossless* ring: its publisher waits for the slowest reader.
//!
//! **3. Can the message be copied?** Copied messages are the fastest. Numbers, and structs and enums that
//! derive [`Message`](trait@crate::Message), can be copied. A `String`, a `Vec`, and anything else that owns
//! memory, needs a ring of [events](crate::event) or a queue. Byte strings of any length can go through a
//! ring of [records](crate::broadcast::bytes), which copies them. See [payloads](super::payloads).
//!
//! **4. How many threads write?** For one writer take the plain constructor. For several take the `mp_`
//! constructor of a broadcast or event ring, or one of the queues for many producers. A ring for one writer
//! is faster, and the compiler checks that there is only one.
//!
//! **Is each message a question, which is to be answered?** Then take a [service](crate::service). One
//! answer alone is a [oneshot](crate::oneshot).
//!
//! **Do the threads find their rings by name?** Then take a [bus](crate::bus). It makes each ring when
//! somebody first asks for it, and hands out the ring's own handles.
//!
//! **Are they threads of several processes?** Then take a ring of the module `shm` (Linux, feature `shm`). It
//! has lossy and lossless broadcast rings for one publisher, and queues from one producer, or from several,
//! to one consumer. A lossless ring is made with a number of seats, which is how many subscribers its
//! publisher waits for, and a queue of several producers with a number of places. When a process dies, its
//! seat or its place is free again. Processes meet by a name (`shm::publish`, `shm::subscribe`). A subscriber
//! that should outlive its publisher is a `NamedSubscriber`, which then joins the next one. Questions are
//! asked of `shm::service`, or of several servers of one name (`NamedClient`).
//!
//! Here prices go to every strategy, and the orders of all strategies go to one gateway:
//!
//! ```
//! use annulus::{broadcast, mpsc};
//!
//! // Every strategy sees every price. A slow strategy loses the oldest prices.
//! let (mut prices, subscribable) = broadcast::lossy::<u64>(1024);
//! // Each order reaches the gateway. No order is lost.
//! let (orders, mut gateway) = mpsc::channel::<(u32, u64)>(64);
//!
//! for strategy in 0..2 {
//!     let mut subscriber = subscribable.subscribe();
//!     let mut orders = orders.clone();
//!     std::thread::spawn(move || {
//!         for price in subscriber.iter().filter(|price| price % 50 == 0) {
//!             orders.send((strategy, price)).unwrap();
//!         }
//!     });
//! }
//! drop(orders);
//! for price in 1..=100 {
//!     prices.publish(price);
//! }
//! drop(prices);
//! assert_eq!(gateway.iter().count(), 4); // two strategies, two orders each
//! ```
//!
//! # Which queue for many producers?
//!
//! [`mpsc`](crate::mpsc) and [`mpmc`](crate::mpmc) give each producer a ring of its own, so producers do not
//! disturb each other. [`queue::ordered`](crate::queue::ordered) has one ring for all of them.
//!
//! | you need | take |
//! | --- | --- |
//! | the highest rate from a few threads that live long | [`mpsc`](crate::mpsc), [`mpmc`](crate::mpmc) |
//! | messages read and written in place, as slices | [`spsc`](crate::spsc), [`mpsc`](crate::mpsc), within one process |
//! | one order over the messages of all producers | [`queue::ordered`](crate::queue::ordered) |
//! | one capacity for the messages of all producers | [`queue::ordered`](crate::queue::ordered) |
//! | handles behind `&`, or a clone for each message | [`queue::ordered`](crate::queue::ordered) |
//! | little memory with many producers | [`queue::ordered`](crate::queue::ordered) |
//!
//! # Which kind of reader?
//!
//! A plain [`Subscriber`](crate::broadcast::Subscriber) sees each message once. Three other kinds exist:
//!
//! - A [`SubscriberGroup`](crate::broadcast::SubscriberGroup) is several readers on one thread. The thread
//!   reads each message once for all of them.
//! - A *stage* ([`Subscriber::after`](crate::broadcast::Subscriber::after)) sees a message only after other
//!   readers have processed it. For example, an order is executed only after it is in the journal.
//! - A *tap* ([`subscribe_lossy`](crate::broadcast::Subscribable::subscribe_lossy)) reads a lossless ring,
//!   but the publisher does not wait for it. It suits logs and monitors.
//!
//! # Code for any ring
//!
//! A function that need not know which ring its messages come from takes a [`Receive`](crate::Receive), and
//! one that sends takes a [`Transmit`](crate::Transmit). Both have the verbs of the handles: those that wait,
//! those that do not, with a timeout, and in tasks. Handles of several kinds in one collection are
//! `Box<dyn Receive<Item = T>>` and `Box<dyn Transmit<Item = T>>`.
//!
//! ```
//! use annulus::{Receive, SendError, Transmit, broadcast, mpsc};
//!
//! /// Takes the even ones to the next stage, whatever lies between them.
//! fn pass_even(
//!     from: &mut impl Receive<Item = u64>,
//!     to: &mut impl Transmit<Item = u64>,
//! ) -> Result<(), SendError<u64>> {
//!     while let Ok(number) = from.recv() {
//!         if number % 2 == 0 {
//!             to.send(number)?;
//!         }
//!     }
//!     Ok(())
//! }
//!
//! let (mut publisher, subscribable) = broadcast::lossy(8);
//! let mut subscriber = subscribable.subscribe();
//! let (mut producer, mut consumer) = mpsc::channel(8);
//! publisher.publish_batch(&[1, 2, 3, 4]);
//! drop(publisher);
//! pass_even(&mut subscriber, &mut producer)?;
//! assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [2, 4]);
//! # Ok::<(), SendError<u64>>(())
//! ```
//!
//! # How large?
//!
//! The capacity is exactly what you ask for: from 2 up for broadcast and event rings, from 1 up for queues.
//!
//! - A **lossy** ring should hold everything that is published while a reader is busy with something else. If
//!   the publisher sends a million messages a second, and a reader may pause for a millisecond, take 1,000
//!   slots and some more.
//! - A **lossless** ring or a **queue** should hold the largest burst. More slots do not help if readers are
//!   slower than writers all the time. They only delay the moment when the writer has to wait.
//! - A ring that fits into a cache is faster than one that does not.
//!
//! A slot of a copied message takes the message and 8 bytes, rounded up; see
//! [`lossy`](fn@crate::broadcast::lossy). Functions that take
//! [`Settings`](crate::Settings) return an error; the short constructors panic instead:
//!
//! ```
//! use annulus::{CapacityError, Settings, broadcast};
//!
//! let error = broadcast::lossy_with::<u64>(Settings::new(1)).unwrap_err();
//! assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
//! ```
