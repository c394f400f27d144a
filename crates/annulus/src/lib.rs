//! Messages between threads, through rings that are allocated once.
//!
//! # Which ring?
//!
//! | you have | you want | ring | made by |
//! | --- | --- | --- | --- |
//! | one writer | every reader sees every message; the writer never waits; who is too slow loses the oldest and knows how many | lossy broadcast | [`channel`] |
//!
//! More rings (lossless and multi-producer broadcast, queues) are on their way; the README says what exists.
//!
//! # Ten lines
//!
//! ```
//! let (mut publisher, subscribable) = annulus::channel::<u64>(1024);
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
//! - **Loss is counted**, exactly: received + lagged is how far a subscriber has come.
//! - **Nothing is allocated** after the ring is made, and no lock is taken on the way of a message.
//! - **Close is seen**: no handle waits for a peer that is gone.
//! - **Waiting can cost nothing**: a subscriber in [`recv`](Subscriber::recv) sleeps in the kernel, and its publisher pays
//!   one load for that until it does. See [`WaitStrategy`].
//!
//! # Features
//!
//! - `std` (default): [`WaitStrategy::Block`], timeouts and deadlines. Without it the crate needs `alloc` and 64-bit
//!   atomics only, and blocking calls spin.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "annulus needs 64-bit atomics (a stamp is 64 bits wide), and this target has none: `target_has_atomic = \"64\"` is not set"
);

mod broadcast;
mod error;
mod hint;
mod message;
mod ring;
mod shutdown;
mod sync;
mod wait;

#[doc(hidden)]
pub use broadcast::Builder;
pub use broadcast::{
    DependencyBarrier, Drain, EventPublisher, EventSubscribable, EventSubscriber, IntoIter, Iter, Lossless,
    Lossy, Mode, MpEventPublisher, MpPublisher, Publisher, Ref, Staged, Subscribable, Subscriber,
    SubscriberGroup, Upstream, channel, channel_bounded, channel_mpmc, channel_mpmc_bounded, event_channel,
    event_channel_mpmc, try_channel, try_channel_bounded, try_channel_mpmc, try_channel_mpmc_bounded,
    try_event_channel, try_event_channel_mpmc,
};
pub use error::{
    CapacityError, Closed, PollError, PublishError, TryPublishError, TryRecvError, UpstreamError,
};
#[cfg(feature = "std")]
pub use error::{PublishTimeoutError, RecvTimeoutError};
pub use message::Message;
pub use shutdown::Shutdown;
pub use wait::WaitStrategy;

/// What `ci/clippy` must refuse: an atomic that loom can't see.
#[cfg(annulus_mutant = "atomic_outside_sync")]
#[allow(dead_code)]
pub(crate) type OutsideSync = core::sync::atomic::AtomicU64;

/// The quick start of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
