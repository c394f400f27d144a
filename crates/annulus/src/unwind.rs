//! Which handles may be used after a panic that was caught: all of them.
//!
//! *Why that is right.* A panic can only come out of what is not the library's: a closure, a `clone`, a
//! destructor, a factory. None of them runs while a ring is in between two states:
//!
//! - A closure that makes a message runs before its slot is touched. A closure that changes an event runs
//!   while its slot belongs to the publisher alone; if it panics, the event is not published, and its place
//!   is free as before.
//! - A closure that gets a message runs after the message was moved out, or while the cursor holds it in
//!   place; if it panics, the cursor moves on.
//! - A waker runs in the middle of a verb. If it panics, the panic ends where it was called
//!   (`wait/waiters.rs`).
//! - What a batch has claimed is dropped, and its places are given back, also while a destructor panics.
//!
//! - The handler of an event loop and the functions of a pipeline run on threads of their own. A panic ends
//!   that thread, and comes out of `join` as a value.
//! - A bus runs no code of its user. Its map is replaced as a whole, so nobody sees half of a change.
//! - A record of bytes that is being written belongs to its producer alone. If the closure or the code that
//!   writes it panics, it is not sent.
//! - What keeps a receiving handle, such as a notifier, calls nothing of the user while it is armed or
//!   disarmed but the waker of its own descriptor.
//!
//! So a ring is whole after each panic, and no other thread sees a message that is not. Messages that are
//! copied or moved are no more reached by a panic than those in the channels of `std`, whose handles are
//! `UnwindSafe` whatever they carry. An event is different: it is changed in place, and the next closure sees
//! it as the one that panicked left it. So handles of events are only what their `T` is.
//!
//! What borrows a handle, such as an iterator by `iter`, a reservation, or a `Select`, is as a `&mut` is: not
//! `UnwindSafe`, because whoever catches the panic sees the handle as it was left. So are builders that have
//! closures of their user, as the `Stages` of a pipeline.

use core::panic::{RefUnwindSafe, UnwindSafe};

use crate::broadcast::{
    DependencyBarrier, Mode, MpPublisher, Publisher, Subscribable, Subscriber, SubscriberGroup,
};
use crate::bus::{Bus, Kind, MatchingSubscriber, TopicPublisher, TypedBus};
use crate::event::{EventPublisher, EventSubscribable, EventSubscriber, MpEventPublisher};
use crate::message::Message;
use crate::pool::{Buffer, BufferPool};
use crate::queue::{AnyKind, Consumer, Producer, shared};
use crate::{Closer, Observer, Shutdown};

// What is made of these alone, such as the handles of bytes, is so by itself.
// `tests/broadcast/verbs/ends.rs` names all.

/// Both, for each type.
macro_rules! whole_after_a_panic {
    ($([$($generics:tt)*] $type:ty $(, where $value:ident)?;)*) => {$(
        impl<$($generics)*> UnwindSafe for $type $(where $value: UnwindSafe + RefUnwindSafe)? {}
        impl<$($generics)*> RefUnwindSafe for $type $(where $value: UnwindSafe + RefUnwindSafe)? {}
    )*};
}

whole_after_a_panic! {
    [T, M: Mode] Publisher<T, M>;
    [T, M: Mode] MpPublisher<T, M>;
    [T, M: Mode] Subscribable<T, M>;
    [T, M: Mode] Subscriber<T, M>;
    [T, const N: usize, M: Mode] SubscriberGroup<T, N, M>;
    [] DependencyBarrier;
    [T, R] EventPublisher<T, R>, where T;
    [T, R] MpEventPublisher<T, R>, where T;
    [T] EventSubscribable<T>, where T;
    [T, M: Mode] EventSubscriber<T, M>, where T;
    [T: Send, K: AnyKind] Producer<T, K>;
    [T: Send, K: AnyKind] Consumer<T, K>;
    [T: Send] shared::Sender<T>;
    [T: Send] shared::Receiver<T>;
    [T: Send] crate::oneshot::Sender<T>;
    [T: Send] crate::oneshot::Receiver<T>;
    [T, K: Kind] Bus<T, K>;
    [K: Kind] TypedBus<K>;
    [T: Message, K: Kind] TopicPublisher<T, K>;
    [T: Message] MatchingSubscriber<T>;
    [] BufferPool;
    [] Buffer;
    [] Closer;
    [] Observer;
    [] Shutdown;
}

#[cfg(feature = "std")]
whole_after_a_panic! {
    [C] crate::event_loop::EventLoop<C>;
}

#[cfg(all(target_os = "linux", feature = "std"))]
whole_after_a_panic! {
    [R: crate::Waitable] crate::EventNotifier<R>, where R;
}

#[cfg(all(feature = "std", not(annulus_loom)))]
whole_after_a_panic! {
    [T: Send] crate::topology::Input<T>;
    [] crate::topology::Pipeline;
}
