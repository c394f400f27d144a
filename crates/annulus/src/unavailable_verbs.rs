//! Verbs that a program may ask a handle for, and that it does not have: where one is called the program does
//! not compile, and the error says what to write. The documentation has none of these.
//!
//! Only names of this library's own verbs are here. Any other name may belong to a trait of a user's, whose
//! method this one would hide.

use alloc::vec::Vec;
#[cfg(not(feature = "async"))]
use {
    crate::broadcast::MayLose,
    crate::error::{LossyRecvError, SendError},
    crate::queue::kind::{AnyKind, InPlace},
    crate::{Message, oneshot, queue},
    alloc::boxed::Box,
    core::future::Pending,
};
#[cfg(all(feature = "bus", not(feature = "async")))]
use {crate::bus::MatchingSubscriber, alloc::sync::Arc};

use crate::broadcast::{self, Mode};
use crate::error::{RecvError, TryRecvError};
use crate::event;

/// Never.
#[diagnostic::on_unimplemented(
    message = "a `Subscribable` receives nothing: it makes subscribers",
    label = "this is a verb of a subscriber",
    note = "`let mut subscriber = subscribable.subscribe();`, before the messages that it is to receive are published; then `subscriber.recv()`",
    note = "what is in the ring already, too: `subscribable.subscribe_from_oldest()`"
)]
pub trait Receives {}

/// Never.
#[cfg(not(feature = "async"))]
#[diagnostic::on_unimplemented(
    message = "verbs for tasks need the feature `async` of `annulus`",
    label = "this verb comes with the feature `async`",
    note = "in `Cargo.toml`: `annulus = {{ version = \"…\", features = [\"async\"] }}`, or `cargo add annulus --features async`",
    note = "the verbs that wait without a task have no `_async` in their names"
)]
pub trait HasTasks {}

/// Verbs that need what no handle has. Each returns what the real one does, so that there is no second error.
macro_rules! verbs {
    (need $needed:ident: $(impl<$({$($parameters:tt)*})?> $handle:ty {
        $($verb:ident$(<{$($generics:tt)*}>)?($($arguments:tt)*) -> $output:ty;)*
    })*) => {
        $(impl<$($($parameters)*)?> $handle {
            $(
                // Unreached: as it says
                #[doc(hidden)]
                #[allow(clippy::unused_self, clippy::needless_pass_by_value, reason = "nobody can call it")]
                pub fn $verb$(<$($generics)*>)?($($arguments)*) -> $output
                // Unreached: as above
                where
                    // It depends on a lifetime only so that the compiler asks at each call, and not here.
                    // Unreached: as above
                    for<'call> &'call Self: $needed,
                {
                    unreachable!("nobody can call it")
                }
            )*
        })*
    };
}

verbs! {
    need Receives:
    impl<{T, M: Mode}> broadcast::Subscribable<T, M> {
        recv(&self) -> Result<T, RecvError>;
        try_recv(&self) -> Result<T, TryRecvError>;
    }
    impl<{T}> event::Subscribable<T> {
        recv(&self) -> Result<T, RecvError>;
        try_recv(&self) -> Result<T, TryRecvError>;
    }
    impl<{M: Mode}> broadcast::bytes::Subscribable<M> {
        recv(&self, _: &mut Vec<u8>) -> Result<usize, RecvError>;
        try_recv(&self, _: &mut Vec<u8>) -> Result<usize, TryRecvError>;
    }
}

#[cfg(all(
    not(feature = "async"),
    target_os = "linux",
    target_pointer_width = "64",
    feature = "shm",
    not(annulus_loom)
))]
verbs! {
    need HasTasks:
    impl<> crate::shm::frames::Loan<'_, broadcast::Lossless> {
        publish_async(self) -> Pending<Result<u64, SendError<Self>>>;
    }
    impl<{T: Message}> crate::shm::mpmc::Producer<T> {
        send_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
    impl<{T: Message}> crate::shm::mpmc::Consumer<T> {
        claim_async(&mut self) -> Pending<Result<crate::shm::mpmc::Claimed<T>, RecvError>>;
    }
    impl<{T: Message}> broadcast::FellowPublisher<T, broadcast::Lossless> {
        publish_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
}

#[cfg(not(feature = "async"))]
verbs! {
    need HasTasks:
    impl<{T: Message, M: Mode}> broadcast::Subscriber<T, M> {
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
        recv_or_lag_async(&mut self) -> Pending<Result<T, LossyRecvError>>;
        recv_batch_async(&mut self, _: &mut [T]) -> Pending<Result<usize, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{T: Message, M: broadcast::Unstaged}> broadcast::Subscriber<T, broadcast::Staged<M>> {
        process_async<{R}>(&mut self, _: impl FnOnce(&T) -> R) -> Pending<Result<R, RecvError>>;
    }
    impl<{T: Message, const N: usize, M: broadcast::Unstaged}> broadcast::SubscriberGroup<T, N, M> {
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
        recv_batch_async(&mut self, _: &mut [T]) -> Pending<Result<usize, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{T: Message, M: Mode}> broadcast::Publisher<T, M> {
        publish_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
    impl<{T: Message, M: Mode}> broadcast::MpPublisher<T, M> {
        publish_async(&self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
    impl<{T: Clone + Send + Sync, M: Mode}> event::Subscriber<T, M> {
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
        recv_batch_async(&mut self, _: &mut [T]) -> Pending<Result<usize, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{T: Send + Sync, M: Mode}> event::Subscriber<T, M> {
        wait_async(&mut self) -> Pending<Result<(), RecvError>>;
        process_async<{R}>(&mut self, _: impl FnOnce(&T) -> R) -> Pending<Result<R, RecvError>>;
        process_batch_async(&mut self, _: usize, _: impl FnMut(&T, bool)) -> Pending<Result<usize, RecvError>>;
    }
    impl<{T, R}> event::Publisher<T, R> {
        publish_async(&mut self, _: impl FnOnce(&mut T)) -> Pending<Result<(), SendError<()>>>;
        send_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
    impl<{T, R}> event::MpPublisher<T, R> {
        publish_async(&mut self, _: impl FnOnce(&mut T)) -> Pending<Result<(), SendError<()>>>;
        send_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
    impl<{T: Send, K: AnyKind}> queue::Consumer<T, K> {
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
        recv_batch_async(&mut self, _: &mut [T]) -> Pending<Result<usize, RecvError>>;
        wait_readable_async(&mut self) -> Pending<Result<&[T], RecvError>>;
        wait_readable_shared_async(&mut self) -> Pending<Result<queue::SharedSlice<'_, T>, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{T: Send, K: AnyKind}> queue::Producer<T, K> {
        send_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
        send_batch_async<{'v}>(&mut self, _: &'v [T]) -> Pending<Result<(), SendError<&'v [T]>>>;
        reserve_async(&mut self, _: usize) -> Pending<Result<queue::Reservation<'_, T, K>, SendError<()>>>;
    }
    impl<{T: Send}> queue::ordered::Receiver<T> {
        recv_async(&self) -> Pending<Result<T, RecvError>>;
        recv_batch_async(&self, _: &mut [T]) -> Pending<Result<usize, RecvError>>;
        stream(&self) -> !;
        into_stream(self) -> !;
    }
    impl<{T: Send}> queue::ordered::Sender<T> {
        send_async(&self, _: T) -> Pending<Result<(), SendError<T>>>;
        send_batch_async<{'v}>(&self, _: &'v [T]) -> Pending<Result<(), SendError<&'v [T]>>>;
    }
    impl<{K: InPlace}> queue::bytes::Consumer<K> {
        read_async(&mut self) -> Pending<Result<Box<[u8]>, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{K: InPlace}> queue::bytes::Producer<K> {
        write_async(&mut self, _: &[u8]) -> Pending<Result<(), queue::bytes::WriteError>>;
        reserve_async(&mut self, _: usize) -> Pending<Result<queue::bytes::Reservation<'_, K>, queue::bytes::WriteError>>;
    }
    impl<> broadcast::bytes::Publisher<broadcast::Lossless> {
        publish_async(&mut self, _: &[u8]) -> Pending<Result<(), broadcast::bytes::WriteError>>;
    }
    impl<{M: Mode}> broadcast::bytes::Subscriber<M> {
        recv_async(&mut self, _: &mut Vec<u8>) -> Pending<Result<usize, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
    impl<{M: MayLose}> broadcast::bytes::Subscriber<M> {
        recv_or_lag_async(&mut self, _: &mut Vec<u8>) -> Pending<Result<usize, LossyRecvError>>;
    }
    impl<{T: Send}> oneshot::Receiver<T> {
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
    }
    impl<{T: Send}> oneshot::Sender<T> {
        closed_async(&self) -> Pending<()>;
    }
}

#[cfg(all(feature = "std", not(feature = "async")))]
verbs! {
    need HasTasks:
    impl<{T: Send + Sync}> crate::watch::Receiver<T> {
        changed_async(&mut self) -> Pending<Result<(), RecvError>>;
        wait_for_async(&mut self, _: impl FnMut(&T) -> bool) -> Pending<Result<crate::watch::Ref<'_, T>, RecvError>>;
        recv_async(&mut self) -> Pending<Result<T, RecvError>>;
    }
    impl<{T: Send + Sync}> crate::watch::Sender<T> {
        closed_async(&self) -> Pending<()>;
    }
    impl<> crate::Shutdown {
        wait_async(&self) -> Pending<()>;
    }
}

#[cfg(all(feature = "bus", not(feature = "async")))]
verbs! {
    need HasTasks:
    impl<{T: Message}> MatchingSubscriber<T> {
        recv_async(&mut self) -> Pending<Result<(Arc<str>, T), RecvError>>;
        recv_or_lag_async(&mut self) -> Pending<Result<(Arc<str>, T), LossyRecvError>>;
        recv_batch_async(&mut self, _: &mut [(Arc<str>, T)]) -> Pending<Result<usize, RecvError>>;
        stream(&mut self) -> !;
        into_stream(self) -> !;
    }
}

#[cfg(all(feature = "pipeline", not(feature = "async")))]
verbs! {
    need HasTasks:
    impl<{T: Send + 'static}> crate::pipeline::Input<T> {
        send_async(&mut self, _: T) -> Pending<Result<(), SendError<T>>>;
    }
}
