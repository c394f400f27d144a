//! Which handles may be moved after they were pinned: all of them, whatever they carry.
//!
//! A handle leads to its messages, and none of them is ever pinned in it. Nothing in this crate makes a
//! pinned part of a pinned handle. The compiler finds that out by itself where a handle has no `T` and no
//! part that depends on its kind. The others are here, so that no `T`, and no kind that is new, takes it
//! from them.
//!
//! What keeps something of its user's choice is what that is: an [`Iter`](crate::Iter), a notifier, a builder
//! of a worker, an error that gives back a value.

use crate::broadcast::{self, Mode, MpPublisher, Subscriber, SubscriberGroup};
#[cfg(feature = "bus")]
use crate::bus::{TopicPublisher, TopicRing};
use crate::event;
#[cfg(feature = "bus")]
use crate::message::Message;
use crate::queue::kind::{AnyKind, InPlace};
use crate::queue::{self, Consumer, Producer, ordered};

/// For each type.
macro_rules! moves_after_a_pin {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Unpin for $type {}
    )*};
}

moves_after_a_pin! {
    [T, M: Mode] MpPublisher<T, M>;
    [T, M: Mode] Subscriber<T, M>;
    [T, const N: usize, M: Mode] SubscriberGroup<T, N, M>;
    [M: Mode] broadcast::bytes::Subscriber<M>;
    [T, R] event::Publisher<T, R>;
    [T, R] event::MpPublisher<T, R>;
    [T] event::Subscribable<T>;
    [T, M: Mode] event::Subscriber<T, M>;
    [T: Send, K: AnyKind] Producer<T, K>;
    [T: Send, K: AnyKind] Consumer<T, K>;
    [K: InPlace] queue::bytes::Producer<K>;
    [K: InPlace] queue::bytes::Consumer<K>;
    [T: Send] ordered::Sender<T>;
    [T: Send] ordered::Receiver<T>;
}

#[cfg(feature = "bus")]
moves_after_a_pin! {
    [T: Message, K: TopicRing] TopicPublisher<T, K>;
}

#[cfg(feature = "std")]
moves_after_a_pin! {
    [T: Send + Sync] crate::watch::Sender<T>;
    [T: Send + Sync] crate::watch::Receiver<T>;
}
