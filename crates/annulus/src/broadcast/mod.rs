//! Broadcast: every subscriber sees every message.
//!
//! ```text
//! channel       the public constructors; builder: where rings are made
//! publisher     the one who writes; lossless: what it does behind the gate
//! mp_publisher  one of many who write; single: the only one, behind the gate
//! event/        owned messages: changed in place, read by reference
//! subscribable  from which subscribers are made, at any time, on any thread
//! subscriber    one reader: receiving, lag, waiting; iter: drain, and the iterators that wait
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

mod builder;
mod channel;
mod event;
mod group;
mod handle;
mod iter;
mod lapse;
mod lossless;
mod mode;
mod mp_publisher;
mod process;
mod publisher;
mod room;
mod shared;
mod single;
mod stage;
mod subscribable;
mod subscriber;

#[doc(hidden)]
pub use builder::Builder;
pub use channel::{
    channel, channel_bounded, channel_mpmc, channel_mpmc_bounded, event_channel, event_channel_mpmc,
    try_channel, try_channel_bounded, try_channel_mpmc, try_channel_mpmc_bounded, try_event_channel,
    try_event_channel_mpmc,
};
pub use event::{EventPublisher, EventSubscribable, EventSubscriber, MpEventPublisher, Ref};
pub use group::SubscriberGroup;
pub use iter::{Drain, IntoIter, Iter};
pub use mode::{Lossless, Lossy, Mode, Unstaged};
pub use mp_publisher::MpPublisher;
pub use publisher::Publisher;
pub use stage::{DependencyBarrier, Staged, Upstream};
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;
