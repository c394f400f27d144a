//! Messages between threads, through rings that are allocated once. In a *broadcast* ring every subscriber
//! sees every message; in a *queue* each message reaches one consumer.
//!
//! ```
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(1024);
//! let mut subscriber = subscribable.subscribe();
//!
//! let reader = std::thread::spawn(move || {
//!     let sum: u64 = subscriber.iter().sum(); // waits for messages; ends when the ring is closed
//!     (sum, subscriber.total_lagged())
//! });
//! for number in 1..=1000 {
//!     publisher.publish(number);
//! }
//! drop(publisher);
//! assert_eq!(reader.join().unwrap(), (500_500, 0)); // nothing was lost
//! ```
//!
//! ```
//! let (producer, mut consumer) = annulus::mpsc::channel::<String>(64);
//! for name in ["ada", "grace"] {
//!     let mut producer = producer.clone(); // a ring of its own
//!     std::thread::spawn(move || producer.send(format!("hello from {name}")).unwrap());
//! }
//! drop(producer); // the queue closes with its last producer
//! assert_eq!(consumer.iter().count(), 2);
//! ```
//!
//! # Which ring?
//!
//! | writers | readers | what happens | made by |
//! | --- | --- | --- | --- |
//! | one | many, each sees all | the writer never waits; a slow reader loses the oldest messages and is told how many | [`broadcast::lossy`](fn@broadcast::lossy) |
//! | one | many, each sees all | nobody loses a message; the writer waits for the slowest reader | [`broadcast::lossless`](fn@broadcast::lossless) |
//! | many | many, each sees all | the same two, with one order for all writers | [`broadcast::mp_lossy`], [`broadcast::mp_lossless`] |
//! | one | many, each sees all | byte strings of any length; the writer never waits, as with `broadcast::lossy` | [`broadcast::bytes::lossy`] |
//! | one or many | many, each sees all | messages stay in the ring: changed in place, read by reference; nobody loses one | [`event::channel`], [`event::mp_channel`] |
//! | one | one | a queue, written and read in place | [`spsc::channel`] |
//! | many | one | a queue; each producer has a ring of its own | [`mpsc::channel`] |
//! | one | many, each message to one | a queue; consumers claim messages from one ring | [`spmc::channel`] |
//! | many | many, each message to one | a queue; each producer has a ring of its own | [`mpmc::channel`] |
//! | many | many, each message to one | a queue with one ring, one order and one bound; handles are shared or cloned freely | [`queue::ordered::channel`] |
//! | one | one | one value, as the reply to a question | [`oneshot::channel`] |
//! | one or many | many, each sees the newest | one value of any type, replaced or changed in place; readers wait for a change | `watch::channel` (with `std`) |
//! | one | one | a queue of byte records of any length, each in one piece | [`queue::bytes::channel`] |
//! | one or many | many, each sees all | broadcast rings by name, made on first use | [`Bus`], [`TypedBus`] |
//! | | | buffers of one size, for bytes that are too large to copy; their 4-byte handles go through a queue | [`pool::BufferPool`] |
//!
//! A `pipeline::Pipeline` (with `std`) chooses the rings between its stages by itself, and has their threads.
//!
//! Readers of a broadcast ring can share one read ([`SubscriberGroup`](broadcast::SubscriberGroup)), or
//! follow each other ([`Subscriber::after`](broadcast::Subscriber::after)). With `std`, a `Worker` is a
//! thread that receives from any of these rings and calls a handler, and `affinity` keeps threads on cores of
//! their own. The [guide] helps to choose, and says what follows from the choice.
//!
//! Between processes (Linux, feature `shm`) there are both kinds of broadcast ring for one writer, lossy ones
//! for several, and queues from one producer, or from several, to one consumer: see the module `shm`.
//!
//! # What holds for every ring
//!
//! - **There is no data race**, by the letter of Rust's memory model. A copied message is read through
//!   relaxed atomic words. (Large messages use an `asm!` block that stands for such words.) The words become
//!   a value only after the slot's stamp has proved that they belong to one message.
//! - **Loss is counted exactly.** What a subscriber received and what it lost add up to how far it has come.
//!   On a lossless ring nothing is lost, and the error types say so.
//! - **A message allocates nothing and frees nothing.** No lock is taken to send, to receive, to join or to
//!   leave, except to wake a sleeper where there is no futex. A thread calls the operating system only to
//!   sleep, or to wake a sleeper: by a futex on Linux (an eventfd, for a `Notifier`), by a lock and a
//!   condition variable elsewhere.
//! - **Queues move any `Send` type** and drop each message exactly once. A send that runs at the same time as
//!   a close either succeeds, or gives its value back.
//! - **Close is seen.** No handle waits for a peer that is gone. Any ring can be closed from any thread (by
//!   `close` of a handle, a [`Closer`], or a [`Shutdown`]), and every thread that sleeps in it wakes up.
//! - **Waiting can cost nothing.** A subscriber in [`recv`](broadcast::Subscriber::recv) sleeps in the
//!   kernel, and until it sleeps its publisher pays one load for it. See [`WaitStrategy`].
//!
//! # Which handles allocate
//!
//! Making a ring allocates its memory. Later, making another handle may allocate too:
//!
//! | what joins | what it allocates |
//! | --- | --- |
//! | lossy subscribers and taps; clones of other publishers, of consumers, of [`queue::ordered`] handles, of [`Subscribable`](broadcast::Subscribable), of a pool, of [`Shutdown`] | nothing |
//! | clones of a publisher of [`broadcast::mp_lossy`] | a place for what it claims, unless one is free |
//! | lossless subscribers, subscribers of events, their clones, and members of a group that [pause](broadcast::SubscriberGroup::pause) on a lossless ring | a place for the cursor, unless one is free |
//! | stages, [`subscribe_tracked`](broadcast::Subscribable::subscribe_tracked), [`DependencyBarrier`](broadcast::DependencyBarrier) | their progress |
//! | a [`SubscriberGroup`](broadcast::SubscriberGroup) | its members |
//! | the first handle of a topic of a [`Bus`] or a [`TypedBus`] | the ring, and its place among the topics |
//! | producers of [`mpsc`] and [`mpmc`] | a ring, unless one is free, and what the queue keeps for each ring |
//!
//! The allocator may take locks of its own. `tests/system/allocation/joins.rs` checks this table.
//!
//! # What does not hold
//!
//! - **A thread that stops in the middle of a write** holds up the receivers of that message. (A debugger can
//!   stop it, or a priority that starves it.) On a lossy ring they wait until the others have published a
//!   whole ring, and then lose the message; publishers wait for nobody. On a lossless ring with many
//!   publishers these wait, too, if they come to the same slot one lap later.
//! - **Seqlocks are not wait-free**: a reader of a lossy ring makes no progress as long as publishers
//!   overwrite the *whole ring* during each copy of one message.
//! - **A subscriber that joins a lossless ring at the oldest message** finds at least half of those that are
//!   still in it, and not always all: publishers look at their subscribers only once in half a ring.
//! - **A lossless subscriber that is forgotten** (`mem::forget`) holds up its publishers for ever.
//! - **`fork()`** copies a ring; it does not share it. In the child, the other handles never move, so a
//!   lossless publisher waits for ever. Use no handle in the child before `exec`.
//! - **Real-time priorities**: a strategy that spins, even one that yields, can keep the thread it waits for
//!   off the core. See [`WaitStrategy`].
//! - **Large messages by value** lie on the stacks of both threads, several times over in builds without
//!   optimization. See [`Message`].
//!
//! # Features
//!
//! - `std` (default): `WaitStrategy::Block`, timeouts and deadlines, and on Linux `Notifier`. Without it
//!   the crate needs `alloc` and 64-bit atomics only, and blocking calls spin.
//! - `full`: all of those below but `shm`.
//! - `affinity`: CPUs, and threads pinned to them (module `affinity`).
//! - `bus`: broadcast rings by name, within one process (module `bus`).
//! - `pipeline`: threads that run functions between rings (`pipeline::Pipeline`, `Worker`); with
//!   `affinity`.
//! - `derive`: `#[derive(annulus::Message)]`, for your own structs and enums. See [`Message`].
//! - `async`: verbs for tasks (`recv_async`, `send_async`, `stream` and so on), with any executor, with `std`
//!   or without. See [`guide::waiting`]. It adds the dependency `futures-core`.
//! - `numa`: memory of a ring on a NUMA node of one's choice, on Linux: see `memory`.
//! - `shm`: rings between processes, on Linux (module `shm`). Elsewhere it does not compile.
//! - `schema`: reads and compares schemas of messages, and checks bytes by them (module `schema`).
//! - `metrics`: exports the numbers of rings by the facade of that name (module `metrics`). It adds the
//!   dependency `metrics`.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Decision 0156: a program compiles the rings that it asks for.
#![cfg_attr(
    not(all(feature = "affinity", feature = "bus", feature = "pipeline", feature = "schema")),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        reason = "what only one of these uses, and links to them, anywhere in the crate"
    )
)]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "annulus needs 64-bit atomics (a stamp is 64 bits wide), and this target has none: `target_has_atomic = \"64\"` is not set"
);

#[cfg(all(feature = "shm", not(target_os = "linux")))]
compile_error!(
    "annulus: the feature `shm` (rings between processes) is for Linux only; build without it for this target"
);

#[cfg(all(feature = "shm", target_os = "linux", not(target_pointer_width = "64")))]
compile_error!(
    "annulus: the feature `shm` needs pointers of 64 bits (a stamp is read in one access, which may be no plain load elsewhere)"
);

// Pages of documentation, and no code.
#[cfg(any(doc, doctest))]
pub mod guide;

#[cfg(feature = "affinity")]
#[cfg_attr(docsrs, doc(cfg(feature = "affinity")))]
pub mod affinity;
mod base;
pub mod broadcast;
#[cfg(feature = "bus")]
#[cfg_attr(docsrs, doc(cfg(feature = "bus")))]
pub mod bus;
mod close;
mod error;
pub mod event;
#[cfg(all(test, feature = "std", not(annulus_loom)))]
#[path = "../tests/support/hang.rs"]
mod hang;
mod lane;
pub mod memory;
mod message;
#[cfg(all(feature = "metrics", not(annulus_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
pub mod metrics;
#[cfg(all(target_os = "linux", feature = "std"))]
mod notifier;
mod observer;
pub mod oneshot;
mod os;
#[cfg(all(feature = "pipeline", not(annulus_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "pipeline")))]
pub mod pipeline;
pub mod pool;
mod processor;
pub mod queue;
mod receive;
mod ring;
#[cfg(feature = "std")]
mod select;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "shm")))]
pub mod shm;
#[cfg(all(test, target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod short_lived_rings;
#[cfg(all(test, feature = "std", not(annulus_loom)))]
#[path = "../tests/support/sleeping.rs"]
mod sleeping;
mod stats;
mod sync;
mod transmit;
mod unavailable_verbs;
mod unwind_safety;
mod wait;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub mod watch;
#[cfg(feature = "pipeline")]
#[cfg_attr(docsrs, doc(cfg(feature = "pipeline")))]
pub mod worker;

#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
pub use annulus_derive::Message;
#[cfg(feature = "bus")]
#[cfg_attr(docsrs, doc(cfg(feature = "bus")))]
pub use bus::{Bus, TypedBus};
pub use close::{Closer, Shutdown};
pub use error::{
    CapacityError, LossyRecvError, LossyTryRecvError, RecvError, RecvTimeoutError, RegisterError, SendError,
    SendTimeoutError, TryRecvError, TrySendError, UpstreamError,
};
pub use message::{Message, Text, TextTooLong, schema};
#[cfg(all(target_os = "linux", feature = "std"))]
#[cfg_attr(docsrs, doc(cfg(all(target_os = "linux", feature = "std"))))]
pub use notifier::{Notifier, Readiness};
pub use observer::Observer;
#[cfg(all(feature = "std", not(annulus_loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use observer::Observers;
pub use processor::ProcessorWait;
#[doc(inline)]
pub use queue::{mpmc, mpsc, spmc, spsc};
pub use receive::{Iter, Numbered, Receive, ReceiveRef, Waitable};
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use select::Select;
pub use stats::{Counted, Delta, FollowedStats, Handles, Latency, OwnStats, ProducerStats, Stats};
#[cfg(annulus_lines)]
#[doc(hidden)]
pub use sync::recorded as lines;
pub use transmit::Transmit;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use transmit::WaitsForRoom;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use wait::barriers_asked;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use wait::prepare;
pub use wait::{ParseWaitStrategyError, Until, WaitStrategy};
#[cfg(feature = "pipeline")]
#[cfg_attr(docsrs, doc(cfg(feature = "pipeline")))]
pub use worker::Worker;

/// What the derive macro's code uses. It is no part of the interface, and may change with each version.
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod __private {
    pub use crate::message::Message;
    pub use crate::message::padding::{no_other_padding, no_padding_after};
    pub use crate::message::plain::{Filled, Plain};
    pub use crate::message::schema::{Field, Kind, KindRef, Scalar, Schema, Variant};
    pub use crate::message::wire::{Both, Either, Several, decode, decode_all, encode, encode_all};
    pub use alloc::borrow::Cow;
    pub use bytemuck::{CheckedBitPattern, NoUninit};
}

/// What the macro `select!` uses. It is no part of the interface, and may change with each version.
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod __select {
    pub use crate::select::{Choice, Choices, Chosen, Limit, Listening, Receiving, select, send};
}

/// What `ci/clippy` must refuse: an atomic that loom can't see.
#[cfg(annulus_seeded = "atomic_outside_sync")]
#[allow(dead_code)]
pub(crate) type OutsideSync = core::sync::atomic::AtomicU64;

/// The quick start of the README runs.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The programs of this page run: they are what its tables say.
#[cfg(all(doctest, feature = "derive", feature = "async", feature = "std"))]
#[doc = include_str!("../../../docs/MIGRATING.md")]
struct Migrating;
