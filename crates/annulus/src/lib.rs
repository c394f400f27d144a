//! Messages between threads, through rings that are allocated when they are made.
//!
//! # Which ring?
//!
//! | you have | you want | ring | made by |
//! | --- | --- | --- | --- |
//! | one writer | every reader sees every message; the writer never waits; who is too slow loses the oldest and knows how many | lossy broadcast | [`broadcast::lossy`](fn@broadcast::lossy) |
//! | one writer | every reader sees every message; nobody loses any; the writer waits for the slowest | lossless broadcast | [`broadcast::lossless`](fn@broadcast::lossless) |
//! | many writers | the same, lossy | lossy broadcast, one order for all | [`broadcast::mp_lossy`] |
//! | many writers | the same, lossless | lossless broadcast, one order for all | [`broadcast::mp_lossless`] |
//! | messages that own something, or are large | changed in place, read by reference, nobody loses any | owned events | [`event::channel`], [`event::mp_channel`] |
//!
//! And for readers:
//!
//! | you want | use |
//! | --- | --- |
//! | several consumers on one thread for the price of one | [`SubscriberGroup`](broadcast::SubscriberGroup) |
//! | a reader that sees a message only after others have processed it | [`Subscriber::after`](broadcast::Subscriber::after), [`DependencyBarrier`](broadcast::DependencyBarrier) |
//! | a reader on a lossless ring that nobody waits for | [`subscribe_lossy`](broadcast::Subscribable::subscribe_lossy) |
//!
//! What is too large to be copied is an [`event`], filled in place and read by reference; or, where each has one reader, a buffer of a [`pool`], whose 4-byte handle
//! goes through a [`queue`].
//!
//! And where each message is to reach one consumer, a [`queue`]:
//!
//! | producers | consumers | ring | made by |
//! | --- | --- | --- | --- |
//! | one | one | the fastest way from thread to thread; written and read in place | [`spsc::channel`] |
//! | many, who come and go | one | a ring for each producer, so that none is in another's way | [`mpsc::channel`] |
//! | one | many, who come and go | one ring, from which consumers take what they claim | [`spmc::channel`] |
//! | many | many | a ring for each producer, and consumers who take from whichever has something | [`mpmc::channel`] |
//! | many | many | one ring, one order and one bound for all, handles that are shared by reference or cloned for each message | [`queue::shared::channel`] |
//!
//! A ring for each producer is the fastest, and takes the memory: 64 producers of an `mpmc` queue with 65,536 slots of `[u64; 8]` have 64 rings, a quarter of a gigabyte; the last one takes 5 MB. Where
//! producers come and go by the thousand, or messages of different producers must keep their order, take that.
//!
//! # Ten lines
//!
//! ```
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(1024);
//! let mut subscriber = subscribable.subscribe();
//!
//! let reader = std::thread::spawn(move || {
//!     let sum: u64 = subscriber.iter().sum(); // waits; ends when the publisher is gone
//!     (sum, subscriber.total_lagged())
//! });
//! for number in 1..=1000 {
//!     publisher.publish(number);
//! }
//! drop(publisher);
//! assert_eq!(reader.join().unwrap(), (500_500, 0));
//! ```
//!
//! # What holds for every ring here
//!
//! - **No data race**, by the letter of Rust's memory model. Payloads are copied through relaxed atomic words (or, when
//!   large, by an `asm!` block that stands for them), and become a value only once the slot's stamp has proved them whole.
//! - **Loss is counted**, exactly: received + lagged is how far a subscriber has come. On a lossless ring there is none, and the types say so.
//! - **Nothing is allocated** on the way of a message, nor freed, and no lock is taken to send, to receive, to join or to leave. To sleep, and to wake
//!   a sleeper, takes the system's means: a futex on Linux, a lock and a condition variable elsewhere.
//! - **Queues move any `Send` type**, and drop each message exactly once. A send beside a close is received, or gives its value back.
//! - **Close is seen**: no handle waits for a peer that is gone.
//! - **Waiting can cost nothing**: a subscriber in [`recv`](broadcast::Subscriber::recv) sleeps in the kernel, and its publisher pays
//!   one load for that until it does. See [`WaitStrategy`].
//!
//! # Who joins may allocate
//!
//! | nothing | a place for its cursor, if none is free | something of its own |
//! | --- | --- | --- |
//! | lossy subscribers, and lossy taps; clones of publishers, of consumers, of both handles of [`queue::shared`], of [`Subscribable`](broadcast::Subscribable), of a pool, of [`Shutdown`] | lossless subscribers, of events too, their clones, and a group's members that [pause](broadcast::SubscriberGroup::pause) there | stages, [`subscribe_tracked`](broadcast::Subscribable::subscribe_tracked) and [`DependencyBarrier`](broadcast::DependencyBarrier): their progress; [`SubscriberGroup`](broadcast::SubscriberGroup): its readers; producers of [`mpsc`] and [`mpmc`]: a ring, and what the queue keeps of each |
//!
//! The allocator may take locks of its own. `tests/allocation.rs` holds this list against the code.
//!
//! # What does not hold
//!
//! - **A thread that stops in the middle of a write** (a debugger, a priority that starves it) holds up who needs that message. Of many publishers, the one whose
//!   claim falls on the same slot a lap later waits for it and does not write its own, so in turn it holds up who needs that: each lap takes one more, until
//!   the thread goes on.
//! - **`fork()`** copies a ring; it does not share it. The handles that threads of the parent have never move in the child, so a lossless publisher waits for them for
//!   ever there. Use no handle in the child before `exec`.
//! - **Real-time priorities**: strategies that spin, also those that yield, can keep a thread of lower priority off the core for which they wait. See
//!   [`WaitStrategy`].
//! - **Large messages by value**: they lie on the stacks of both sides, some times over in builds without optimization. See [`Message`].
//!
//! # Features
//!
//! - `std` (default): `WaitStrategy::Block`, timeouts and deadlines. Without it the crate needs `alloc` and 64-bit
//!   atomics only, and blocking calls spin.
//! - `derive`: `#[derive(annulus::Message)]`, for structs and enums of your own. See [`Message`].
//! - `numa`: `queue::Builder::numa_node`, on Linux.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "annulus needs 64-bit atomics (a stamp is 64 bits wide), and this target has none: `target_has_atomic = \"64\"` is not set"
);

pub mod broadcast;
mod error;
pub mod event;
mod free_list;
#[cfg(all(test, feature = "std", not(annulus_loom)))]
#[path = "../tests/support/hang.rs"]
mod hang;
mod hint;
mod message;
mod os;
pub mod pool;
pub mod queue;
mod ring;
mod shutdown;
mod side;
mod sync;
mod text;
mod wait;

#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
pub use annulus_derive::Message;
pub use error::{
    CapacityError, LossyRecvError, LossyTryRecvError, PublishError, RecvError, RegisterError, SendError,
    TryPublishError, TryRecvError, TrySendError, UpstreamError,
};
#[cfg(feature = "std")]
pub use error::{PublishTimeoutError, RecvTimeoutError, SendTimeoutError};
pub use message::Message;
#[doc(inline)]
pub use queue::{mpmc, mpsc, spmc, spsc};
pub use shutdown::Shutdown;
pub use text::{Text, TextTooLong};
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use wait::prepare;
pub use wait::{ParseWaitStrategyError, WaitStrategy};

/// What the derive macro's code uses. No part of the interface: it may change with each version.
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod __private {
    pub use crate::message::Message;
    pub use crate::message::padding::{is_plain, no_other_padding, no_padding_after};
    pub use crate::message::wire::{Both, Either, Several, decode, encode};
    pub use bytemuck::NoUninit;
}

/// What `ci/clippy` must refuse: an atomic that loom can't see.
#[cfg(annulus_mutant = "atomic_outside_sync")]
#[allow(dead_code)]
pub(crate) type OutsideSync = core::sync::atomic::AtomicU64;

/// The quick start of the README runs.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
