//! Messages between threads, tasks and processes, through rings that are allocated once.
//!
//! # Which ring?
//!
//! 1. **Which readers get a message?** One reader: a *queue*. Each reader: a *broadcast* ring. Only the
//!    newest value counts: [`watch`]. It is the reply to one question: [`oneshot`]. Each message is a
//!    question, which is to be answered: [`service`].
//! 2. **May the slowest reader lose some?** Yes: *lossy*, and no writer waits. No: *lossless*, and the writer
//!    waits for the slowest.
//! 3. **What is a message?** Plain data, such as numbers, and structs that derive [`Message`](trait@Message):
//!    [`broadcast`]. It owns memory, or is large: [`event`], which is written and read in place. Bytes of any
//!    length: `bytes`. Anything that is `Send`: any queue.
//!
//! | | one writer | many writers |
//! | --- | --- | --- |
//! | one reader | [`spsc`], [`queue::bytes`] | [`mpsc`] |
//! | one of several readers gets it | [`spmc`] | [`mpmc`]; with one order: [`queue::ordered`] |
//! | each reader, which may lose old ones | [`broadcast::lossy`](fn@broadcast::lossy), [`broadcast::bytes`] | [`broadcast::mp_lossy`] |
//! | each reader, and none is lost | [`broadcast::lossless`](fn@broadcast::lossless), [`broadcast::bytes`], [`event::channel`] | [`broadcast::mp_lossless`], [`event::mp_channel`] |
//! | the newest value; one reply | [`watch`]; [`oneshot`] | [`watch`] |
//! | one reader, which answers each message | [`service`] | [`service`] |
//!
//! The ends are *publishers* and *subscribers* where each reader sees all, and *producers* and *consumers* in
//! queues. They are *senders* and *receivers* where handles are shared, or used once.
//!
//! On these rings stand a [`Bus`] of topics, a [`Pipeline`](pipeline::Pipeline) and a [`Worker`], which have
//! threads of their own, and a [`pool`](pool::BufferPool) of buffers. Rings between processes are in [`shm`]
//! (Linux). The [guide] helps to choose, and says what follows from the choice.
//!
//! # Six beginnings
//!
//! A queue moves any value that is `Send` to one reader:
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
//! A broadcast ring copies plain data to each reader. A reader that falls behind learns how much it lost:
//!
//! ```
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(1024);
//! let mut subscriber = subscribable.subscribe();
//! let reader = std::thread::spawn(move || {
//!     let sum: u64 = subscriber.iter().sum(); // waits for messages; ends when the ring is closed
//!     (sum, subscriber.total_lagged())
//! });
//! (1..=1000).for_each(|number| publisher.publish(number)); // never waits
//! drop(publisher);
//! assert_eq!(reader.join().unwrap(), (500_500, 0));
//! ```
//!
//! Events own memory. They are written and read in place, and none is lost:
//!
//! ```
//! let (mut publisher, subscribable) = annulus::event::channel(8, Vec::<u8>::new);
//! let mut journal = subscribable.subscribe_tracked();
//! let mut execute = subscribable.subscribe().after(&[&journal]); // sees it when the journal is done with it
//! publisher.publish(|frame| frame.extend([1, 2, 3])).unwrap();
//! assert_eq!(journal.process(|frame| frame.len()), Ok(3));
//! assert_eq!(execute.process(|frame| frame[0]), Ok(1));
//! ```
//!
//! One reply, and the newest value:
//!
//! ```
//! let (reply, answer) = annulus::oneshot::channel();
//! let (config, mut seen) = annulus::watch::channel("slow");
//! std::thread::spawn(move || reply.send(42));
//! assert_eq!(answer.recv(), Ok(42));
//! config.send("fast").unwrap();
//! seen.changed()?;
//! assert_eq!(*seen.borrow(), "fast");
//! # Ok::<(), annulus::RecvError>(())
//! ```
//!
//! Waiting, for as long and in the way that you choose, and at several handles at once:
//!
//! ```
//! use annulus::{Until, WaitStrategy, select, spsc};
//! use std::time::Duration;
//!
//! let (mut orders, mut gateway) = spsc::channel::<u64>(8);
//! let (_quotes, mut prices) = spsc::channel::<u64>(8);
//! orders.send(7)?;
//! let briefly = Until::from(Duration::from_micros(50)).by(WaitStrategy::BusySpin);
//! assert!(prices.recv_until(briefly).is_err()); // nothing came
//! select! {
//!     recv(gateway) -> order => assert_eq!(order, Ok(7)),
//!     recv(prices) -> price => panic!("{price:?}"),
//! }
//! # Ok::<(), annulus::SendError<u64>>(())
//! ```
//!
//! Settings are the same for each ring. Where they are taken, an error is returned in place of a panic:
//!
//! ```
//! use annulus::{Settings, WaitStrategy, broadcast};
//!
//! let settings = Settings::new(4096).wait_strategy(WaitStrategy::BusySpin).statistics(true);
//! let (mut publisher, subscribable) = broadcast::lossy_with::<u64>(settings)?;
//! # publisher.publish(1);
//! # Ok::<(), annulus::CapacityError>(())
//! ```
//!
//! # What holds for every ring
//!
//! - **There is no data race**, by the letter of Rust's memory model: a copied message is read through
//!   relaxed atomic words, which become a value only after the slot's stamp has proved that they belong
//!   together.
//! - **Loss is counted exactly.** Plain verbs count what was lost and go on; verbs that end in `_or_lag`
//!   report it. On a lossless ring nothing is lost, and the error types say so.
//! - **A message allocates nothing and frees nothing**, and takes no lock. A thread calls the operating
//!   system only to sleep, or to wake a sleeper.
//! - **Queues move each value** and drop it exactly once. A send that runs at the same time as a close either
//!   succeeds, or gives its value back.
//! - **Close is seen.** Any ring can be closed from any thread (by `close` of a handle, a [`Closer`], or a
//!   [`Shutdown`]), and every thread that sleeps in it wakes up.
//! - **Waiting can cost nothing.** A thread that waits sleeps in the kernel, and until it sleeps the other
//!   side pays one load for it. See [`WaitStrategy`].
//!
//! [`guide::limits`] says which handles allocate when they are made, and what does not hold.
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
//! - `shm`: rings between processes (module `shm`), on Linux with pointers of 64 bits. Elsewhere it changes
//!   nothing.
//! - `schema`: reads and compares schemas of messages, and checks bytes by them (module `schema`).
//! - `metrics`: exports the numbers of rings by the facade of that name (module `metrics`). It adds the
//!   dependency `metrics`.
//!
//! # What a new version may change
//!
//! Versions follow Cargo's rules. Before 1.0, only a new minor version may break a program; after that, only
//! a new major one.
//!
//! - *In a patch*: the texts of errors and of `Debug`, how long a spin takes, the sizes of handles, what is
//!   hidden from this documentation, and where a message of a ring within one process lies in memory.
//! - *In a minor version*: new items, new methods, new features, new variants of an enum that is
//!   `#[non_exhaustive]`, new fields of such a struct, and a newer compiler. The oldest one that builds this
//!   version is Rust 1.85.
//! - *Complete enums*: what a verb can answer. ([`TryRecvError`], `RecvTimeoutError`, [`TrySendError`],
//!   `SendTimeoutError`, [`LossyRecvError`], [`LossyTryRecvError`], and the errors of writing bytes.) A
//!   `match` needs no arm for others, as in `std`.
//! - *Errors* are `Clone`, unless an error of the system is in them. Their text contains the cause, so their
//!   `source` is `None`, and a program that prints a chain of sources says nothing twice. The cause is in the
//!   variant.
//! - *Sealed traits*: all of them. [`Message`] is derived, and no other trait of this crate can be
//!   implemented elsewhere. So a trait may get a method.
//! - *Handles* are `Unpin` and `UnwindSafe`, and `Send` if their messages are. What is `Sync` stays so.
//! - *Texts that are formats*: `Display` and `FromStr` of [`WaitStrategy`] and of a
//!   [`Schema`](schema::Schema). A form that is read stays readable.
//! - *Other crates in signatures*: [`bytemuck`] 1, and with `async` `futures_core` 0.3, both exported here. A
//!   new major version of one is a breaking change. A recorder of `metrics` gets numbers if it is of version
//!   0.24 of that facade.
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
#![cfg_attr(
    all(feature = "shm", not(all(target_os = "linux", target_pointer_width = "64"))),
    allow(dead_code, unreachable_pub, unused_imports, reason = "what only the module `shm` uses")
)]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "annulus needs 64-bit atomics (a stamp is 64 bits wide), and this target has none: `target_has_atomic = \"64\"` is not set"
);

// Pages of documentation, and no code.
#[cfg(any(doc, doctest))]
pub mod guide;

#[cfg(feature = "affinity")]
pub mod affinity;
mod auto_traits;
mod base;
pub mod broadcast;
#[cfg(feature = "bus")]
pub mod bus;
mod close;
mod error;
pub mod event;
#[cfg(all(test, feature = "std"))]
#[path = "../tests/support/hang.rs"]
mod hang;
mod lane;
pub mod memory;
mod message;
#[cfg(all(feature = "metrics", not(annulus_loom)))]
pub mod metrics;
#[cfg(all(target_os = "linux", feature = "std"))]
mod notifier;
mod observer;
pub mod oneshot;
mod os;
#[cfg(all(feature = "pipeline", not(annulus_loom)))]
pub mod pipeline;
pub mod pool;
mod processor;
pub mod queue;
mod receive;
mod ring;
#[cfg(feature = "std")]
mod select;
pub mod service;
mod settings;
#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "shm", not(annulus_loom)))]
pub mod shm;
#[cfg(all(test, target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod short_lived_rings;
#[cfg(all(test, feature = "std"))]
#[path = "../tests/support/sleeping.rs"]
mod sleeping;
pub mod stats;
mod sync;
mod transmit;
mod unavailable_verbs;
pub mod wait;
#[cfg(feature = "std")]
pub mod watch;
#[cfg(feature = "pipeline")]
pub mod worker;

#[cfg(feature = "derive")]
pub use annulus_derive::Message;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use base::common::Share;
// What is in signatures, so that a program has the version that fits.
#[cfg(feature = "bus")]
pub use bus::{Bus, TypedBus};
pub use bytemuck;
pub use close::{Closer, Shutdown};
pub use error::{
    CapacityError, LossyRecvError, LossyTryRecvError, RecvError, RecvTimeoutError, RegisterError, SendError,
    SendTimeoutError, TooLong, TryRecvError, TrySendError, UpstreamError,
};
#[cfg(feature = "async")]
pub use futures_core;
#[cfg(all(annulus_loom, feature = "shm"))]
#[doc(hidden)]
pub use lane::{WorkTaker, WorkWriter, work_for_a_model};
pub use message::{Message, Text, schema};
#[cfg(all(target_os = "linux", feature = "std"))]
pub use notifier::{Notifier, Readiness};
pub use observer::Observer;
#[doc(inline)]
pub use queue::{mpmc, mpsc, spmc, spsc};
pub use receive::{Iter, Numbered, Receive, ReceiveRef, Waitable};
#[cfg(all(feature = "shm", annulus_loom))]
#[doc(hidden)]
pub use ring::cells::{ValueReader, ValueWriter, cell_for_a_model};
#[cfg(all(annulus_loom, feature = "shm"))]
#[doc(hidden)]
pub use ring::frames::{FrameReader, FrameWriter, frames_for_a_model};
#[cfg(feature = "std")]
pub use select::Select;
pub use settings::Settings;
#[cfg(annulus_lines)]
#[doc(hidden)]
pub use sync::recorded as lines;
pub use transmit::Transmit;
#[cfg(feature = "std")]
pub use transmit::WaitsForRoom;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use wait::barriers_asked;
pub use wait::{Until, WaitStrategy};
#[cfg(feature = "pipeline")]
pub use worker::Worker;

/// What the derive macro's code uses. It is no part of the interface, and may change with each version.
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod __private {
    pub use crate::message::Message;
    pub use crate::message::encoded::Encoded;
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

/// What the bridge between machines uses. It is no part of the interface, and may change with each version.
#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "shm", not(annulus_loom)))]
#[doc(hidden)]
pub mod __bridge {
    use std::io;
    use std::thread::JoinHandle;

    /// Begins a thread that handles none of the program's signals, and whose own threads do so neither.
    // Unreached: the bridge alone calls it; its tests are those of `annulus-zenoh`
    pub fn spawn<T: Send + 'static>(
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        crate::os::helper_thread::spawn(name, body)
    }
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
