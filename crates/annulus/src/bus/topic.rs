//! [`Topic`]: a name, the ends of a ring that stay in the bus, and whether the topic was removed.
//!
//! A topic is removed only while nobody has a handle of it, or when it is closed. A look-up that hands out a
//! handle may run at the same time. The ring counts its receiving handles, and that count decides. (A
//! publisher of a bus has a receiving handle beside it, so it counts, too.)
//!
//! ```text
//! hand out                                           remove
//! bus.join7  count + 1: a new handle    Relaxed      bus.seal9  count: 1 → 1, sealed      Relaxed
//! bus.join8  count: is it sealed?       Relaxed                 (the 1 is the topic's own; more? then: no)
//!            then drop the handle, and
//!            look for a new topic
//! ```
//!
//! *Why no handle is handed out of a removed topic.* All three are accesses to one word, whose changes have
//! one order. If bus.join7 comes before bus.seal9, bus.seal9 finds the handle in the count. If it comes
//! after, bus.join8 reads a value that is sealed, because nothing takes a seal off.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::{Any, TypeId, type_name};

use super::any_subscriber::AnySubscriber;
use super::kind::{Ends, MakeTopic, Ring, TopicKind, TopicRing};
use super::trie::Entry;
use crate::broadcast::Builder;
use crate::error::CapacityError;
use crate::message::Message;

/// A topic, as it is in the bus.
// Decision 0075: a thin pointer to the ends, so that a look-up needs no look at their table.
pub(super) struct Topic {
    name: Arc<str>,
    /// The same, if it is so short; otherwise anything.
    // Decision 0075: here, so that a look-up need not follow one pointer more.
    short_name: [u8; SHORT],
    hash: u64,
    /// The type of `ends`.
    ends_type: TypeId,
    ends: Box<dyn AnyEnds>,
}

/// The length of a short name.
const SHORT: usize = 24;

/// The ends of a ring of any message and any kind.
pub(super) trait AnyEnds: Send + Sync {
    fn kind(&self) -> TopicKind;

    /// The type of the messages, and its name.
    fn message(&self) -> (TypeId, &'static str);

    fn capacity(&self) -> usize;

    fn is_closed(&self) -> bool;

    fn subscribers(&self) -> usize;

    fn holders(&self) -> Holders;

    /// As [`Topic::remove`].
    fn remove(&self) -> Result<(), Kept>;

    fn is_removed(&self) -> bool;

    /// Puts a new subscriber into `place`, an `Option` of an [`AnySubscriber`]. Does nothing if that is for
    /// messages of another type.
    fn subscribe(&self, place: &mut dyn Any);
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

impl<T: Message, K: TopicRing> AnyEnds for Ends<T, K> {
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
        let publishers = K::publishers(&self.kept, self.subscribable.publisher_count());
        // One is the topic's own, and each publisher has one.
        let receivers = self.subscribable.receivers().count().saturating_sub(1 + publishers);
        Holders { publishers, receivers }
    }

    fn remove(&self) -> Result<(), Kept> {
        let only = if self.is_closed() { None } else { Some(1) };
        if only.is_some() && K::publishers(&self.kept, self.subscribable.publisher_count()) > 0 {
            return Err(Kept::Held(self.holders()));
        }
        self.subscribable.receivers().seal(only).map_err(|count| match count {
            Some(_) => Kept::Held(self.holders()),
            // Unreached: two remove one topic at once: two threads have to meet there; test bus
            // threads::a_removal_never_takes
            None => Kept::Removed,
        })
    }

    fn is_removed(&self) -> bool {
        self.subscribable.receivers().is_sealed()
    }

    fn subscribe(&self, place: &mut dyn Any) {
        if let Some(place) = place.downcast_mut() {
            *place = Some(Ring::any(Ring::subscribe(&self.subscribable)));
        }
    }
}

impl Topic {
    /// A topic with a ring of its own, which nobody knows yet.
    pub(super) fn make<T: Message, K: TopicRing>(
        name: &str,
        hash: u64,
        builder: Builder,
    ) -> Result<Arc<Self>, CapacityError> {
        let ends: Ends<T, K> = K::make(builder, name)?;
        let ends_type = TypeId::of::<Ends<T, K>>();
        let mut short_name = [0; SHORT];
        if let Some(bytes) = short_name.get_mut(..name.len()) {
            bytes.copy_from_slice(name.as_bytes());
        }
        Ok(Arc::new(Self { name: name.into(), short_name, hash, ends_type, ends: Box::new(ends) }))
    }

    /// Its ends, if they are of this type.
    #[inline]
    pub(super) fn ends<E: 'static>(&self) -> Option<&E> {
        // As `Any` does it, without a call by a table.
        // SAFETY: `make` stores the type of what is in the box, and nothing changes it.
        (self.ends_type == TypeId::of::<E>()).then(|| unsafe { &*(&raw const *self.ends).cast() })
    }

    /// Its ends, whatever they are of.
    pub(super) fn any_ends(&self) -> &dyn AnyEnds {
        &*self.ends
    }

    /// A new subscriber; `None` if the messages are of another type, or the topic was removed.
    pub(super) fn subscribe<T: Message>(&self) -> Option<AnySubscriber<T>> {
        let mut place = None;
        self.ends.subscribe(&mut place);
        place.filter(|_| !self.is_removed())
    }

    /// Whether it was removed.
    pub(super) fn is_removed(&self) -> bool {
        self.ends.is_removed()
    }

    /// From now on it hands out nothing, if it is closed, or nobody has a handle of it.
    pub(super) fn remove(&self) -> Result<(), Kept> {
        self.ends.remove()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The same, for others to keep.
    pub(super) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }
}

impl<T: Message, K: TopicRing> Ends<T, K> {
    /// `handle`, which is a new handle of this topic (bus.join7); `None` if the topic was removed
    /// (bus.join8).
    #[inline]
    pub(super) fn hand_out<H>(&self, handle: H) -> Option<H> {
        (!self.subscribable.receivers().is_sealed()).then_some(handle)
    }
}

impl Entry for Arc<Topic> {
    #[inline]
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.short_name.get(..self.name.len()).unwrap_or(self.name.as_bytes())
    }

    #[inline]
    fn hash(&self) -> u64 {
        self.hash
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::broadcast::Lossy;

    #[test]
    fn names_of_each_length_are_kept() {
        let builder = Builder::new(2);
        for length in 0..2 * SHORT {
            let name: String = ('a'..='z').cycle().take(length).collect();
            let topic = Topic::make::<u64, Lossy>(&name, 0, builder).unwrap();
            assert_eq!(Entry::bytes(&topic), name.as_bytes());
            assert_eq!(Entry::name(&topic), name);
        }
    }
}
