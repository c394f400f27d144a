//! Broadcast: every subscriber sees every message.
//!
//! | publishers | nobody waits for a slow subscriber, which loses the oldest and is told how many | nobody loses any: publishers wait for the slowest |
//! | --- | --- | --- |
//! | one | [`lossy`](fn@lossy) | [`lossless`](fn@lossless) |
//! | many, in one order | [`mp_lossy`] | [`mp_lossless`] |
//!
//! These copy messages that are [`Message`](crate::Message). What owns something, or is large, goes through a ring of [events](crate::event).
//!
//! ```
//! use annulus::broadcast;
//!
//! let (mut publisher, subscribable) = broadcast::lossless(64);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(42).unwrap();
//! assert_eq!(subscriber.recv(), Ok(42));
//! ```
//!
//! # The files of this module
//!
//! ```text
//! channel       the short forms; builder: where rings are made
//! publisher     the one who writes; lossless: what it does behind the gate
//! mp_publisher  one of many who write; single: the only one, behind the gate
//! event/        owned messages: changed in place, read by reference
//! subscribable  from which subscribers are made, at any time, on any thread
//! subscriber    one reader: receiving, lag, waiting; iter: what is there, and the iterators that wait; lossy: what is possible where loss is allowed
//! group         several readers on one thread for one read
//! stage         readers that follow others
//! lapse         where a reader goes on after it was lapped
//! room          how a publisher gets at a slot: the gate, a claim, the writer of the lap before
//! mode          lossy, lossless, staged: what a reader does at each step
//! handle        a share in the ring, made for speed, and what ends with it
//! shared        the ring, its gate, who sleeps where, who is still there
//! ```
//!
//! Arrows point down.

// First what a page is to begin with: rustdoc shows the verbs of a handle in the order of these modules.
mod publisher;
mod subscriber;

mod builder;
mod channel;
pub(crate) mod event;
mod group;
mod handle;
mod iter;
mod lapse;
mod lossless;
mod lossy;
mod mode;
mod mp_publisher;
mod process;
mod room;
mod shared;
mod single;
mod stage;
mod subscribable;

pub use builder::Builder;
pub(crate) use channel::ends_of;
pub use channel::{lossless, lossy, mp_lossless, mp_lossy};
pub use group::SubscriberGroup;
pub use iter::{IntoIter, Iter, TryIter};
pub use mode::{Lossless, Lossy, Mode, Unstaged};
pub use mp_publisher::MpPublisher;
pub use publisher::Publisher;
pub use stage::{DependencyBarrier, Staged, Upstream};
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;
