//! What a ring's memory is like, as each of its handles says it, and how it is moved to a reader.

use super::event::{EventPublisher, EventSubscribable, EventSubscriber, MpEventPublisher, Reset};
use super::{Mode, MpPublisher, Publisher, Subscribable, Subscriber, SubscriberGroup};
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};
use crate::message::Message;

/// The verb `placement` of a handle whose ring is `$ring`.
macro_rules! placement {
    ([$($parameters:tt)*] $Handle:ty, $($ring:ident).+) => {
        impl<$($parameters)*> $Handle {
            /// What the memory of the ring's slots is like now, and which options of
            /// [`Builder::memory`](crate::broadcast::Builder::memory) were refused. Asks the kernel: see
            /// [`Placement`].
            #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
            #[must_use]
            pub fn placement(&self) -> Placement {
                self.$($ring).+.block().placement()
            }
        }
    };
}

placement!([T: Message, M: Mode] Publisher<T, M>, single.shared.ring);
placement!([T: Message, M: Mode] MpPublisher<T, M>, shared.ring);
placement!([T: Message, M: Mode] Subscribable<T, M>, shared.ring);
placement!([T: Message, M: Mode] Subscriber<T, M>, shared.ring);
placement!([T: Message, const N: usize, M: Mode] SubscriberGroup<T, N, M>, lead.shared.ring);
placement!([T: Send + Sync, R: Reset<T>] EventPublisher<T, R>, single.shared.ring);
placement!([T: Send + Sync, R: Reset<T>] MpEventPublisher<T, R>, shared.ring);
placement!([T: Send + Sync] EventSubscribable<T>, shared.ring);
placement!([T: Send + Sync, M: Mode] EventSubscriber<T, M>, shared.ring);

/// The verb `bring_memory_here` of a handle that receives.
#[cfg(feature = "numa")]
macro_rules! bring_memory_here {
    ([$($parameters:tt)*] $Handle:ty, $($ring:ident).+) => {
        impl<$($parameters)*> $Handle {
            /// Moves the ring's slots to the NUMA node of the core on which the calling thread runs
            /// now. Pin the thread before. The ring must have the option
            /// [`near_reader`](crate::memory::Memory::near_reader). Where several subscribers call
            /// this, the last call decides.
            ///
            /// This takes system calls, and handles that use a slot meanwhile wait for its page. No
            /// message is lost.
            ///
            /// # Errors
            ///
            /// [`MemoryError`]: the ring was made without that option, or some slots can't be moved.
            /// They stay where they are then.
            #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
            pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
                self.$($ring).+.block().bring_to(node_here()?)
            }
        }
    };
}

#[cfg(feature = "numa")]
bring_memory_here!([T: Message, M: Mode] Subscriber<T, M>, shared.ring);
#[cfg(feature = "numa")]
bring_memory_here!([T: Message, const N: usize, M: Mode] SubscriberGroup<T, N, M>, lead.shared.ring);
#[cfg(feature = "numa")]
bring_memory_here!([T: Send + Sync, M: Mode] EventSubscriber<T, M>, shared.ring);
