//! [`Topic`]: a name, the ends of a ring that stay in the bus, and whether the topic was removed.
//!
//! A topic is removed only while there is no handle of it, or when it is closed. A look-up that hands out a
//! handle may run at the same time. The ring counts its receiving handles, and that count decides. (A
//! publisher of a bus has a receiving handle with it, so it counts, too.)
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

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::any::{Any, TypeId, type_name};

use super::kind::{AnySubscriber, Ends, TopicKind, TopicRing};
use crate::error::CapacityError;
use crate::message::Message;
use crate::settings::Settings;

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

/// What is to be said of a topic, at the moment of [`topics`](super::Bus::topics).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicInfo {
    /// Its name.
    pub name: String,
    /// The kind of its ring.
    pub kind: TopicKind,
    /// The name of its messages' type.
    pub message: &'static str,
    /// How many messages its ring holds.
    pub capacity: usize,
    /// How many publishers there are.
    pub publishers: usize,
    /// How many subscribers there are. Handles that make subscribers are not counted.
    pub subscribers: usize,
    /// Whether it is closed.
    pub closed: bool,
}

/// The ends of a ring of any message and any kind.
pub(super) trait AnyEnds: Send + Sync {
    /// The type of the messages.
    fn message(&self) -> TypeId;

    /// What is to be said of the topic of that name.
    fn info(&self, name: &str) -> TopicInfo;

    /// As [`Topic::remove`].
    fn remove(&self) -> Result<(), NotRemoved>;

    fn is_removed(&self) -> bool;

    /// Puts a new subscriber into `dst`, an `Option` of an [`AnySubscriber`]. Does nothing if that is for
    /// messages of another type.
    fn subscribe(&self, dst: &mut dyn Any);
}

/// How many handles of a topic there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holders {
    pub(super) publishers: usize,
    /// Subscribers, and what makes subscribers.
    pub(super) receivers: usize,
}

/// Why a topic was not removed.
pub(super) enum NotRemoved {
    /// There are handles of it.
    Held(Holders),
    /// It was removed before.
    Removed,
}

impl<T: Message, K: TopicRing> Ends<T, K> {
    /// `handle`, which is a new handle of this topic (bus.join7); `None` if the topic was removed
    /// (bus.join8).
    #[inline]
    pub(super) fn hand_out<H>(&self, handle: H) -> Option<H> {
        (!self.subscribable.receivers().is_sealed()).then_some(handle)
    }

    fn publishers(&self) -> usize {
        K::publishers(&self.kept, self.subscribable.publisher_count())
    }

    fn holders(&self) -> Holders {
        // One is the topic's own, and each publisher that the bus has given has one.
        let receivers = self.subscribable.receivers().count().saturating_sub(1 + self.guards());
        Holders { publishers: self.publishers(), receivers }
    }
}

impl<T: Message, K: TopicRing> AnyEnds for Ends<T, K> {
    fn message(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn info(&self, name: &str) -> TopicInfo {
        TopicInfo {
            name: name.to_owned(),
            kind: K::KIND,
            message: type_name::<T>(),
            capacity: self.subscribable.capacity(),
            publishers: self.publishers(),
            subscribers: self.subscribable.subscriber_count(),
            closed: self.subscribable.is_closed(),
        }
    }

    fn remove(&self) -> Result<(), NotRemoved> {
        let only = if self.subscribable.is_closed() { None } else { Some(1) };
        if only.is_some() && self.publishers() > 0 {
            return Err(NotRemoved::Held(self.holders()));
        }
        self.subscribable.receivers().seal(only).map_err(|count| match count {
            Some(_) => NotRemoved::Held(self.holders()),
            // Unreached: two remove one topic at once: two threads have to meet there; test bus
            // threads::a_removal_never_takes
            None => NotRemoved::Removed,
        })
    }

    fn is_removed(&self) -> bool {
        self.subscribable.receivers().is_sealed()
    }

    fn subscribe(&self, dst: &mut dyn Any) {
        if let Some(dst) = dst.downcast_mut() {
            *dst = Some(K::any(K::subscribe(&self.subscribable)));
        }
    }
}

impl Topic {
    /// A topic with a ring of its own, which is in no map yet.
    pub(super) fn make<T: Message, K: TopicRing>(
        name: &str,
        hash: u64,
        settings: Settings,
    ) -> Result<Arc<Self>, CapacityError> {
        let ends: Ends<T, K> = K::make(settings, name)?;
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

    /// From now on it hands out nothing, if it is closed, or there is no handle of it.
    pub(super) fn remove(&self) -> Result<(), NotRemoved> {
        self.ends.remove()
    }

    #[inline]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the name.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.short_name.get(..self.name.len()).unwrap_or(self.name.as_bytes())
    }

    /// The hash of the name. A topic never asks how it is made.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// The same, for others to keep.
    pub(super) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broadcast::Lossy;

    #[test]
    fn names_of_each_length_are_kept() {
        let settings = Settings::new(2);
        for length in 0..2 * SHORT {
            let name: String = ('a'..='z').cycle().take(length).collect();
            let topic = Topic::make::<u64, Lossy>(&name, 0, settings.clone()).unwrap();
            assert_eq!(topic.bytes(), name.as_bytes());
            assert_eq!(topic.name(), name);
        }
    }
}
