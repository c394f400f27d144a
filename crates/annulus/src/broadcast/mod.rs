//! Broadcast: every subscriber sees every message.
//!
//! | publishers | lossy | lossless |
//! | --- | --- | --- |
//! | one | [`lossy`](fn@lossy) | [`lossless`](fn@lossless) |
//! | many, in one order | [`mp_lossy`] | [`mp_lossless`] |
//!
//! On a *lossy* ring publishers wait for no subscriber. A subscriber that falls behind loses the oldest
//! messages. It counts them, and its verbs with `or_lag` report how many. On a *lossless* ring publishers
//! wait for the slowest subscriber, and nobody loses a message.
//!
//! These rings copy their messages, which are of any type that is a [`Message`](trait@crate::Message). Values
//! that own memory, or are large, go through a ring of [events](crate::event). Byte strings of any length go
//! through a ring of [records](bytes).
//!
//! ```
//! use annulus::broadcast;
//!
//! let (mut publisher, subscribable) = broadcast::lossless(64);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(42).unwrap();
//! assert_eq!(subscriber.recv(), Ok(42));
//! ```

// In the order of a page: rustdoc shows the verbs of a handle in the order of these modules.
mod publisher;
mod subscriber;

mod await_subscribers;
mod batch;
pub mod bytes;
mod channels;
pub(crate) mod event;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod ffi_view;
mod frontier;
mod group;
mod handle;
mod iter;
mod lossy_subscriber;
mod mode;
mod mp_publisher;
mod process;
mod progress;
mod receivers;
mod ring_state;
#[cfg(feature = "shm")]
mod shm_publisher;
#[cfg(feature = "shm")]
mod shm_ring;
mod slot_access;
mod stage;
mod subscribable;

// Last on each page.
#[cfg(feature = "std")]
mod placement;

pub(crate) use channels::ends_of;
pub use channels::{
    lossless, lossless_with, lossy, lossy_with, mp_lossless, mp_lossless_with, mp_lossy, mp_lossy_with,
};
// For the C library.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[doc(hidden)]
pub use ffi_view::{LentPublisher, LentSubscriber};
pub use group::SubscriberGroup;
pub use iter::TryIter;
#[cfg(feature = "shm")]
pub use mode::{Awaited, Foreign};
pub use mode::{Lossless, Lossy, LossyMode, MayLose, Mode, Unstaged};
pub use mp_publisher::MpPublisher;
pub use progress::{DependencyBarrier, Upstream};
pub use publisher::Publisher;
#[cfg(feature = "shm")]
pub use shm_publisher::FellowPublisher;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use shm_ring::FellowRing;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use shm_ring::{Across, Awaiting, FellowParts, fellow_of_another, of_another};
pub use stage::Staged;
pub use subscribable::Subscribable;
pub(crate) use subscribable::SubscribableShare;
pub use subscriber::Subscriber;
