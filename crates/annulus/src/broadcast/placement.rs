//! What a ring's memory is like, as each of its handles says it, and how it is moved to a reader.

use super::event::{self, Reset};
use super::{Mode, MpPublisher, Publisher, Subscribable, Subscriber, SubscriberGroup, bytes};
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};
use crate::message::Message;

/// The verb `placement` of a handle.
macro_rules! placement {
    ([$($parameters:tt)*] $Handle:ty, $what:literal, |$handle:ident| $placement:expr) => {
        impl<$($parameters)*> $Handle {
            #[doc = concat!("What the memory of ", $what, " is like now, and which options of")]
            /// [`Settings::memory`](crate::Settings::memory) were refused. Asks the kernel: see
            /// [`Placement`].
            #[must_use]
            pub fn placement(&self) -> Placement {
                let $handle = self;
                $placement
            }
        }
    };
    ([$($parameters:tt)*] $Handle:ty, $($shared:ident).+) => {
        placement!(
            [$($parameters)*] $Handle, "the ring's slots",
            |handle| handle.$($shared).+.block().placement()
        );
    };
    ([$($parameters:tt)*] $Handle:ty) => {
        placement!(
            [$($parameters)*] $Handle, "the ring, of the records and of their extents together,",
            |handle| handle.area.block().placement().and(handle.extents.placement())
        );
    };
}

placement!([T: Message, M: Mode] Publisher<T, M>, sole.shared);
placement!([T: Message, M: Mode] MpPublisher<T, M>, shared);
placement!([T: Message, M: Mode] Subscribable<T, M>, shared);
placement!([T: Message, M: Mode] Subscriber<T, M>, shared);
placement!([T: Message, const N: usize, M: Mode] SubscriberGroup<T, N, M>, lead.shared);
placement!([T: Send + Sync, R: Reset<T>] event::Publisher<T, R>, sole.shared);
placement!([T: Send + Sync, R: Reset<T>] event::MpPublisher<T, R>, shared);
placement!([T: Send + Sync] event::Subscribable<T>, shared);
placement!([T: Send + Sync, M: Mode] event::Subscriber<T, M>, shared);
placement!([M: Mode] bytes::Publisher<M>);
placement!([M: Mode] bytes::Subscribable<M>);
placement!([M: Mode] bytes::Subscriber<M>);

/// The verb `bring_memory_here` of a handle that receives.
#[cfg(feature = "numa")]
macro_rules! bring_memory_here {
    ([$($parameters:tt)*] $Handle:ty, |$handle:ident, $node:ident| $brought:expr) => {
        impl<$($parameters)*> $Handle {
            /// Moves the ring's memory to the NUMA node of the core on which the calling thread runs
            /// now. Pin the thread before. The ring must have the option
            /// [`near_reader`](crate::memory::Memory::near_reader). Where several subscribers call
            /// this, the last call decides.
            ///
            /// This takes system calls, and handles that use a page meanwhile wait for it. No message is
            /// lost.
            ///
            /// # Errors
            ///
            /// [`MemoryError`]: the ring was made without that option, or some pages can't be moved.
            /// They stay where they are then.
            pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
                let ($handle, $node) = (self, node_here()?);
                $brought
            }
        }
    };
    ([$($parameters:tt)*] $Handle:ty, $($shared:ident).+) => {
        bring_memory_here!([$($parameters)*] $Handle, |handle, node| handle.$($shared).+.block().bring_to(node));
    };
}

#[cfg(feature = "numa")]
bring_memory_here!([T: Message, M: Mode] Subscriber<T, M>, shared);
#[cfg(feature = "numa")]
bring_memory_here!([T: Message, const N: usize, M: Mode] SubscriberGroup<T, N, M>, lead.shared);
#[cfg(feature = "numa")]
bring_memory_here!([T: Send + Sync, M: Mode] event::Subscriber<T, M>, shared);
#[cfg(feature = "numa")]
bring_memory_here!([M: Mode] bytes::Subscriber<M>, |handle, node| {
    // Both, whatever the first one says.
    let records = handle.area.block().bring_to(node);
    let extents = handle.extents.shared.block().bring_to(node);
    records.and(extents)
});
