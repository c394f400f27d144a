//! Queues: each message reaches one consumer.
//!
//! | producers | consumers | module | rings | messages |
//! | --- | --- | --- | --- | --- |
//! | one | one | [`spsc`] | one | are written and read in place, as slices |
//! | many | one | [`mpsc`] | one for each producer | are written and read in place, as slices |
//! | one | many | [`spmc`] | one | are claimed by a consumer, then moved |
//! | many | many | [`mpmc`] | one for each producer | are claimed by a consumer, then moved |
//! | many | many | [`ordered`] | one | are claimed by a producer and written, then claimed by a consumer and moved |
//! | one | one | [`bytes`] | one | are records of bytes of any length, written and read in place |
//!
//! Two queues have many producers and many consumers. [`ordered`] has one order and one capacity for all
//! producers, verbs that take `&self`, and the memory of one ring, however many producers there are. In
//! [`mpmc`] producers do not disturb each other, but each has a ring of its own. For example, with 64
//! producers and 65,536 slots of `[u64; 8]`, [`mpmc`] takes a quarter of a gigabyte and [`ordered`] takes 5
//! MB.
//!
//! [`mpsc`] and [`mpmc`] have as many rings as there were producers at one time. When a producer leaves, the
//! next producer that joins takes over its ring, with the messages in it. A [`Consumer`] takes from the rings
//! in turn. The guide says [how long a message may wait](crate::guide::waiting#many-rings-in-turn), and what
//! a poll costs.
//!
//! The handles of the first four are a [`Producer`] and a [`Consumer`] of some [`kind`]. They have the
//! same verbs, except those that make no sense for a kind.

#[cfg(feature = "shm")]
pub(crate) mod across;
pub mod bytes;
#[cfg(feature = "shm")]
mod checked;
mod consumer;
mod ends;
mod fan_in;
mod free_slot;
pub mod kind;
mod lane_node;
mod latency_sampler;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod lent;
#[doc(alias = "shared")]
pub mod ordered;
mod producer;
mod read;
mod read_many;
mod reservation;
mod roster;
mod shared_slice;
mod state;
mod thinning;
mod write;
mod write_many;

// For models, which know of no module `shm`.
#[cfg(all(feature = "shm", annulus_loom))]
#[doc(hidden)]
pub use across::{Across, Joins, ManyAcross};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use checked::Cell;
pub use consumer::{Consumer, TryIter};
#[cfg(all(feature = "std", not(annulus_loom)))]
#[doc(hidden)]
pub use lent::Lent;
pub use producer::Producer;
pub use reservation::Reservation;
pub use shared_slice::SharedSlice;

use crate::error::CapacityError;
use crate::lane::Cells;
use crate::settings::Settings;
use kind::QueueKind;

// The public modules of the four kinds of queue within one process are below: each has the kind, names for
// its handles, `channel`, and `with`, which takes settings. What a kind is made of: `kind.rs`.

/// Makes a queue of kind `K` with these settings. Allocates its slots and touches them.
///
/// Usually the kind is named: [`spsc::with`], [`mpsc::with`], [`spmc::with`], [`mpmc::with`]. This function
/// takes it from the use.
///
/// # Errors
///
/// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots, or a required option of
/// their memory can't be met, or the settings have a headroom.
///
/// # Examples
///
/// ```
/// use annulus::{CapacityError, Settings, mpmc, queue};
///
/// struct Work {
///     to_do: mpmc::Producer<u64>,
///     workers: mpmc::Consumer<u64>,
/// }
///
/// let (to_do, workers) = queue::with(Settings::new(64))?;
/// let mut work = Work { to_do, workers };
/// work.to_do.send(1).unwrap();
/// assert_eq!(work.workers.recv(), Ok(1));
///
/// let error = mpmc::with::<u8>(Settings::new(0)).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
/// # Ok::<(), CapacityError>(())
/// ```
#[allow(clippy::needless_pass_by_value, reason = "as the makers of all rings")]
#[allow(clippy::type_complexity, reason = "a producer and a consumer")]
#[inline(always)]
pub fn with<T: Send, K: QueueKind>(
    settings: Settings,
) -> Result<(Producer<T, K>, Consumer<T, K>), CapacityError> {
    settings.without_headroom()?;
    Ok(made_of(K::slots(&settings)?, &settings))
}

#[inline(always)]
fn made_of<T: Send, K: QueueKind>(
    slots: Cells<K::Cell<T>>,
    settings: &Settings,
) -> (Producer<T, K>, Consumer<T, K>) {
    let (write, read) = K::ends(slots, settings);
    (Producer { end: write }, Consumer { end: read, strategy: None })
}

/// As [`with`], for the short forms that can't fail.
#[track_caller]
#[inline(always)]
fn with_or_panic<T: Send, K: QueueKind>(settings: &Settings) -> (Producer<T, K>, Consumer<T, K>) {
    // (Slots alone are what may not be there: two ends would be copied out of the result.)
    match K::slots(settings) {
        Ok(slots) => made_of(slots, settings),
        Err(error) => panic!("{error}"),
    }
}

/// What the module of each kind has: names for its handles, and the functions that make it. `holds` says what
/// a capacity is the capacity of.
macro_rules! channels {
    ($kind:ident, holds: $holds:literal) => {
        /// A producer of such a queue.
        pub type Producer<T> = crate::queue::Producer<T, $kind>;

        /// A consumer of such a queue.
        pub type Consumer<T> = crate::queue::Consumer<T, $kind>;

        #[doc = $holds]
        ///
        /// # Panics
        ///
        /// If `capacity` is 0, or memory has no room for so many slots. [`with`] returns an error instead.
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
            super::with_or_panic(&crate::Settings::new(capacity))
        }

        /// Makes such a queue with these settings. Allocates its slots and touches them.
        ///
        /// # Errors
        ///
        /// The errors of [`queue::with`](crate::queue::with).
        #[doc(alias = "Builder")]
        #[inline(always)]
        pub fn with<T: Send>(
            settings: crate::Settings,
        ) -> Result<(Producer<T>, Consumer<T>), crate::CapacityError> {
            super::with(settings)
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
