//! The public modules of the four kinds of queue within one process. Each has the kind, names for its
//! handles, and `channel`, the short form of its builder. What a kind is made of: `kind.rs`.

/// What the module of each kind has: names for its handles, and the short form of its builder. `holds` says
/// what a capacity is the capacity of.
macro_rules! channels {
    ($kind:ident, holds: $holds:literal) => {
        /// A producer of such a queue.
        pub type Producer<T> = crate::queue::Producer<T, $kind>;

        /// A consumer of such a queue.
        pub type Consumer<T> = crate::queue::Consumer<T, $kind>;

        /// The builder of such a queue.
        pub type Builder = crate::queue::Builder<$kind>;

        #[doc = $holds]
        ///
        /// # Panics
        ///
        /// If `capacity` is 0, or memory has no room for so many slots. [`Builder::build`] returns an error
        /// instead.
        #[doc(alias = "unbounded")]
        #[doc(alias = "unbounded_channel")]
        #[doc(alias = "sync_channel")]
        #[doc(alias = "try_channel")]
        #[doc(alias = "bounded")]
        #[doc(alias = "MpmcChannel")]
        #[doc(alias = "RingBuffer")]
        #[must_use]
        #[track_caller]
        pub fn channel<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
            Builder::new(capacity).build_or_panic()
        }
    };
}

pub mod spsc {
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

    pub use crate::queue::kind::Spsc;

    channels!(Spsc, holds: "Makes a queue that holds exactly `capacity` messages.");
}

pub mod mpsc {
    //! Many producers, one consumer: each producer has a ring of its own, so producers do not disturb each
    //! other.
    //!
    //! A producer can be cloned, or [registered](crate::queue::Producer::register), at any time, and this
    //! stops nobody. When a producer is dropped, its messages are still received. The next producer that
    //! joins takes over its ring, and sends behind those messages. Messages of one producer arrive in the
    //! order of sending. The consumer takes from the rings in turn, and no message waits for ever: see
    //! [`queue::Consumer`](crate::queue::Consumer).
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

    pub use crate::queue::kind::Mpsc;

    channels!(Mpsc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");
}

pub mod spmc {
    //! One producer, many consumers, one ring: for work that is shared out.
    //!
    //! A consumer can be cloned at any time. Each message reaches one consumer. A consumer claims a message
    //! before it moves it out, so no other consumer touches that message, and any type will do. A consumer
    //! that is held up between the claim and the move holds up only the slots that it has claimed, and no
    //! other consumer. One message wakes one sleeping consumer.
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

    pub use crate::queue::kind::Spmc;

    channels!(Spmc, holds: "Makes a queue that holds exactly `capacity` messages.");
}

pub mod mpmc {
    //! Many producers, many consumers: each producer has a ring of its own, and consumers take from all
    //! rings.
    //!
    //! Each consumer visits the rings in turn, so no message waits for ever: see
    //! [`queue::Consumer`](crate::queue::Consumer). One message wakes one sleeping consumer. Producers and
    //! consumers can be cloned at any time, and this stops nobody. When a producer is dropped, the next
    //! producer that joins takes over its ring, with the messages in it. Messages of one producer are taken
    //! in the order of sending. Two consumers may process what they took in any order.
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

    pub use crate::queue::kind::Mpmc;

    channels!(Mpmc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");
}
