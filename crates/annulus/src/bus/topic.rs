//! [`Topic`]: a name, the ends of a ring that stay in the bus, and whether the topic was removed.
//!
//! A topic is removed only while nobody has a handle of it, or when it is closed. A look-up that hands out a
//! handle may run at the same time:
//!
//! ```text
//! hand out                                   remove
//!     make a handle (it counts itself)       U2  handed: load              Acquire
//! U1  handed + 1                Release          does anybody have a handle? then: no
//!     removed? drop the handle, and          U3  handed: n → n, removed    Relaxed
//!     look for a new topic
//! ```
//!
//! *Why no handle is handed out of a removed topic.* If U1 comes before U3, U3 succeeds only on the value
//! that U1 left, or on one after it. A U2 has read that value, so it sees the handle's count. If U1 comes
//! after U3, it reads the mark.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::{TypeId, type_name};

use super::kind::{Ends, Kind, MakeTopic, TopicKind};
use super::trie::Entry;
use crate::broadcast::Builder;
use crate::error::CapacityError;
use crate::message::Message;
use crate::sync::{AtomicU64, Ordering, mutated, ordering};

/// A topic, as it is in the bus.
pub(super) struct Topic<E: ?Sized = dyn AnyEnds> {
    name: Box<str>,
    hash: u64,
    /// The type of `ends`.
    ends_type: TypeId,
    /// How often a handle was handed out, times two; and in the lowest bit, whether the topic was removed.
    handed: AtomicU64,
    ends: E,
}

/// In `handed`: the topic was removed, and hands out nothing any more.
const REMOVED: u64 = 1;

/// In `handed`: one handle more.
const HANDED: u64 = 2;

/// The ends of a ring of any message and any kind.
pub(super) trait AnyEnds: Send + Sync {
    fn kind(&self) -> TopicKind;

    /// The type of the messages, and its name.
    fn message(&self) -> (TypeId, &'static str);

    fn capacity(&self) -> usize;

    fn is_closed(&self) -> bool;

    fn subscribers(&self) -> usize;

    fn holders(&self) -> Holders;
}

/// Who has handles of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holders {
    pub(super) publishers: usize,
    /// Subscribers, and what makes subscribers.
    pub(super) receivers: usize,
}

/// Why a topic was not removed.
pub(super) enum Kept {
    /// Somebody has handles of it.
    Held(Holders),
    /// It was removed before.
    Removed,
}

impl<T: Message, K: Kind> AnyEnds for Ends<T, K> {
    fn kind(&self) -> TopicKind {
        <K as MakeTopic>::KIND
    }

    fn message(&self) -> (TypeId, &'static str) {
        (TypeId::of::<T>(), type_name::<T>())
    }

    fn capacity(&self) -> usize {
        self.subscribable.capacity()
    }

    fn is_closed(&self) -> bool {
        self.subscribable.is_closed()
    }

    fn subscribers(&self) -> usize {
        self.subscribable.subscriber_count()
    }

    fn holders(&self) -> Holders {
        let (publishers, receivers) = self.subscribable.handle_counts();
        // One receiver is the topic's own.
        Holders { publishers: K::publishers(&self.place, publishers), receivers: receivers - 1 }
    }
}

impl Topic {
    /// A topic with a ring of its own, which nobody knows yet.
    pub(super) fn make<T: Message, K: Kind>(
        name: &str,
        hash: u64,
        builder: Builder,
    ) -> Result<Arc<Self>, CapacityError> {
        let ends: Ends<T, K> = K::make(builder)?;
        let (ends_type, handed) = (TypeId::of::<Ends<T, K>>(), AtomicU64::new(0));
        Ok(Arc::new(Topic { name: name.into(), hash, ends_type, handed, ends }))
    }

    /// Its ends, if they are of this type.
    #[inline]
    pub(super) fn ends<E: 'static>(&self) -> Option<&E> {
        // As `Any` does it, without a call by a table.
        // SAFETY: `make` stores the type of the ends, and nothing changes it.
        (self.ends_type == TypeId::of::<E>()).then(|| unsafe { &*(&raw const self.ends).cast() })
    }

    /// Its ends, whatever they are of.
    pub(super) fn any_ends(&self) -> &dyn AnyEnds {
        &self.ends
    }

    /// U1: `handle`, which is a new handle of this topic; `None` if the topic was removed.
    #[inline]
    pub(super) fn hand_out<H>(&self, handle: H) -> Option<H> {
        // Release: pairs with U2, which then sees the handle's count.
        let handed = self.handed.fetch_add(HANDED, ordering!(Release unless "topic_handed_relaxed"));
        (handed & REMOVED == 0 || mutated!("topic_removed_unseen")).then_some(handle)
    }

    /// Whether it was removed.
    pub(super) fn is_removed(&self) -> bool {
        // Relaxed: nothing is read by it.
        self.handed.load(Ordering::Relaxed) & REMOVED != 0
    }

    /// From now on it hands out nothing, if it is closed, or nobody has a handle of it.
    pub(super) fn remove(&self) -> Result<(), Kept> {
        // U2. Acquire: pairs with U1.
        let mut handed = self.handed.load(Ordering::Acquire);
        loop {
            if handed & REMOVED != 0 {
                return Err(Kept::Removed);
            }
            let holders = self.ends.holders();
            if holders != (Holders { publishers: 0, receivers: 0 }) && !self.ends.is_closed() {
                return Err(Kept::Held(holders));
            }
            // U3. Relaxed: it is the value that U2 read; where it fails, it is another U2.
            let order = (Ordering::Relaxed, Ordering::Acquire);
            let marked = if mutated!("topic_removed_blindly") {
                self.handed.fetch_or(REMOVED, Ordering::Relaxed);
                Ok(handed)
            } else {
                self.handed.compare_exchange(handed, handed | REMOVED, order.0, order.1)
            };
            match marked {
                Ok(_) => return Ok(()),
                Err(now) => handed = now,
            }
        }
    }
}

impl<E: ?Sized> Topic<E> {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Entry for Arc<Topic> {
    #[inline]
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn hash(&self) -> u64 {
        self.hash
    }
}
