//! Which handles may be used after a panic that was caught, and may be moved after they were pinned: all of
//! them, whatever they carry.
//!
//! # After a panic
//!
//! A panic can only come out of what is not the library's: a closure, a `clone`, a
//! destructor, a factory. None of them runs while a ring is in between two states:
//!
//! - A closure that makes a message runs before its slot is touched. A closure that changes an event runs
//!   while its slot belongs to the publisher alone; if it panics, the event is not published, and its place
//!   is free as before.
//! - A closure that gets a message runs after the message was moved out, or while the cursor holds it in
//!   place; if it panics, the cursor moves on.
//! - A waker is called and dropped in the middle of a verb. If it panics, the panic ends there
//!   (`base/drop_all.rs`). It is cloned after a look that took nothing, and before the task is registered.
//! - What a batch has claimed is dropped, and its places are given back, also while a destructor panics.
//!   Where several values are dropped, all of them are, and then the first panic goes on
//!   (`base/drop_all.rs`).
//!
//! - The handler of a worker and the functions of a pipeline run on threads of their own. A panic ends
//!   that thread, and comes out of `join` as a value.
//! - A bus runs no code of its user. Its map is replaced as a whole, so nobody sees half of a change.
//! - A record of bytes that is being written belongs to its producer alone. If the closure or the code that
//!   writes it panics, it is not sent.
//! - What keeps a receiving handle, such as a notifier, calls nothing of the user while it is armed or
//!   disarmed but the waker of its own descriptor.
//! - A builder's verbs take it by value. If the closure of a verb that adds to a pipeline panics, what was
//!   added is dropped with it. What is built keeps no part of a builder.
//! - A `select` that panics gives up its registrations first, as it does at any end of a wait.
//!
//! So a ring is whole after each panic, and no other thread sees a message that is not. Messages that are
//! copied or moved are no more reached by a panic than those in the channels of `std`, whose handles are
//! `UnwindSafe` whatever they carry. So is what borrows a handle, such as an iterator, a reservation or a
//! `Select`: code that catches the panic finds the handle as the verb of any other thread would find it.
//!
//! Two are different. An event is changed in place, and the next closure sees it as the one that panicked
//! left it; the value of a `watch`, too. So their handles are only what their `T` is. And what keeps a
//! receiving handle of its user's choice, such as a notifier, is only what that handle is: it may be a
//! `&mut`.
//!
//! An error may have one of the system in it, which nobody changes.
//!
//! A future borrows its handle by `&mut`, so it is `UnwindSafe` exactly when a `&mut` is: never. A stream
//! that owns its handle is as `UnwindSafe` as the handle.
//!
//! # After a pin
//!
//! A handle leads to its messages, and none of them is ever pinned in it. Nothing in this crate makes a
//! pinned part of a pinned handle. The compiler finds that out by itself where a handle has no `T` and no
//! part that depends on its kind. The others are here, so that no `T`, and no kind that is new, takes it
//! from them.
//!
//! What keeps something of its user's choice is what that is: an [`Iter`](crate::Iter), a notifier, a builder
//! of a worker, an error that gives back a value.

use core::panic::{RefUnwindSafe, UnwindSafe};

use crate::broadcast::{
    self, DependencyBarrier, Mode, MpPublisher, Publisher, Subscribable, Subscriber, SubscriberGroup,
};
#[cfg(feature = "bus")]
use crate::bus::{Bus, MatchingSubscriber, TopicBuilder, TopicPublisher, TopicRing, TypedBus};
use crate::event;
use crate::message::Message;
use crate::pool::{Buffer, BufferPool};
use crate::queue::kind::{AnyKind, InPlace};
use crate::queue::{self, Consumer, Producer, ordered};
use crate::{Closer, Observer, Shutdown};

// What is made of these alone, such as the handles of bytes, is so by itself. `tests/system/unwind.rs` names
// all public types.

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
    [T, M: Mode] broadcast::TryIter<'_, T, M>;
    [T, R] event::Publisher<T, R>, where T;
    [T, R] event::MpPublisher<T, R>, where T;
    [T] event::Subscribable<T>, where T;
    [T, M: Mode] event::Subscriber<T, M>, where T;
    [T, M: Mode] event::TryIter<'_, T, M>, where T;
    [T, M: Mode] event::Ref<'_, T, M>, where T;
    [T, K: AnyKind] Producer<T, K>;
    [T, K: AnyKind] Consumer<T, K>;
    [T, K: AnyKind] queue::TryIter<'_, T, K>;
    [T, K: AnyKind] queue::Reservation<'_, T, K>;
    [K: InPlace] queue::bytes::Record<'_, K>;
    [K: InPlace] queue::bytes::Reservation<'_, K>;
    [T] ordered::Sender<T>;
    [T] ordered::Receiver<T>;
    [T] crate::oneshot::Sender<T>;
    [T] crate::oneshot::Receiver<T>;
    [] BufferPool;
    [] Buffer;
    [] Closer;
    [] Observer;
    [] Shutdown;
}

/// What an iterator has: a receiving handle, owned or borrowed.
pub(crate) trait Handle {}

impl<S: UnwindSafe> Handle for &mut S {}
impl<S: RefUnwindSafe> Handle for &S {}
impl<T, M: Mode> Handle for Subscriber<T, M> {}
impl<T: UnwindSafe + RefUnwindSafe, M: Mode> Handle for event::Subscriber<T, M> {}
impl<T, K: AnyKind> Handle for Consumer<T, K> {}
impl<T> Handle for ordered::Receiver<T> {}
impl<T, const N: usize, M: Mode> Handle for SubscriberGroup<T, N, M> {}
impl<M: Mode> Handle for broadcast::bytes::Subscriber<M> {}
impl<K: InPlace> Handle for queue::bytes::Consumer<K> {}
#[cfg(feature = "bus")]
impl<T: Message> Handle for MatchingSubscriber<T> {}
#[cfg(feature = "std")]
impl<T: UnwindSafe + RefUnwindSafe> Handle for crate::watch::Receiver<T> {}

whole_after_a_panic! {
    [R: Handle] crate::Iter<R>;
}

#[cfg(feature = "bus")]
whole_after_a_panic! {
    [T, K: TopicRing] Bus<T, K>;
    [K: TopicRing] TypedBus<K>;
    [T, K: TopicRing] TopicBuilder<'_, T, K>;
    [T: Message, K: TopicRing] TopicPublisher<T, K>;
    [T: Message] MatchingSubscriber<T>;
}

#[cfg(feature = "std")]
whole_after_a_panic! {
    [T] crate::watch::Sender<T>, where T;
    [T] crate::watch::Receiver<T>, where T;
    [] crate::Select<'_>;
}

#[cfg(feature = "async")]
whole_after_a_panic! {
    [W: crate::wait::Poll] crate::wait::Waiting<W>, where W;
}

#[cfg(all(target_os = "linux", feature = "std"))]
whole_after_a_panic! {
    [R: crate::Waitable] crate::Notifier<R>, where R;
}

#[cfg(feature = "pipeline")]
whole_after_a_panic! {
    [C] crate::worker::Worker<C>;
    [R, C] crate::worker::Builder<R, C>, where R;
    [R, C, H] crate::worker::SpawnError<R, C, H>, where R;
}

#[cfg(all(feature = "pipeline", not(annulus_loom)))]
whole_after_a_panic! {
    [T: Send] crate::pipeline::Input<T>;
    [T, K] crate::pipeline::Stages<T, K>;
    [E, P] crate::pipeline::Fork<E, P>;
    [] crate::pipeline::Sunk;
    [] crate::pipeline::BuildError;
    [] crate::pipeline::Pipeline;
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "shm", not(annulus_loom)))]
whole_after_a_panic! {
    [] crate::shm::AttachError;
    [M] crate::shm::broadcast::bytes::AcceptedBytes<M>;
    [T: Message, M: Mode] broadcast::FellowPublisher<T, M>;
    [] crate::shm::DirectoryError;
    [] crate::shm::dynamic::Claimed;
    [] crate::shm::dynamic::Client;
    [] crate::shm::dynamic::OpenError;
    [] crate::shm::dynamic::PendingAnswer;
    [] crate::shm::dynamic::Receiver;
    [] crate::shm::dynamic::Request;
    [] crate::shm::dynamic::Reserved<'_>;
    [] crate::shm::dynamic::Ring;
    [] crate::shm::dynamic::Sender;
    [] crate::shm::dynamic::WorkQueue;
    [] crate::shm::dynamic::watch::AcceptedWatch;
    [] crate::shm::dynamic::watch::Changes;
    [] crate::shm::dynamic::watch::Sender;
    [] crate::shm::dynamic::Server;
    [] crate::shm::FindError;
    [M] crate::shm::frames::AcceptedFrames<M>;
    [] crate::shm::frames::Frame;
    [M: Mode] crate::shm::frames::Loan<'_, M>;
    [M: Mode] crate::shm::frames::Publisher<M>;
    [] crate::shm::frames::SubscribeError;
    [M: Mode] crate::shm::frames::Subscriber<M>;
    [T: Message] crate::shm::mpmc::Claimed<T>;
    [T: Message] crate::shm::mpmc::Consumer<T>;
    [T: Message] crate::shm::mpmc::Producer<T>;
    [T: Message] crate::shm::mpmc::Queue<T>;
    [] crate::shm::NameError;
    [Q: crate::shm::service::Question, A: Message] crate::shm::service::Client<Q, A>;
    [] crate::shm::service::ServerError;
    [Q: Message, A: Message] crate::shm::service::NamedClient<Q, A>;
    [A: Message] crate::shm::service::PendingAnswer<A>;
    [Q: crate::shm::service::Question, A: Message] crate::shm::service::Request<Q, A>;
    [Q: crate::shm::service::Question, A: Message] crate::shm::service::Server<Q, A>;
    [] crate::shm::ShareError;
    [T: Message] crate::shm::watch::AcceptedWatch<T>;
    [T: Message] crate::shm::watch::Changes<T>;
    [T: Message] crate::shm::watch::Receiver<T>;
    [T: Message] crate::shm::watch::Sender<T>;
}

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
