//! [`Topics`]: the topics of a bus by name, which all its handles share.
//!
//! The map is a [trie](super::trie) that is never changed. A look-up borrows the current
//! [version](super::versions). To make or to remove a topic puts another version in its place.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::type_name;

use super::error::{RemoveError, TopicError};
use super::info::TopicInfo;
use super::kind::{Ends, Kind, MakeTopic};
use super::topic::{AnyEnds, Kept, Topic};
use super::trie::{Entry, Trie, hash};
use super::versions::Versions;
use crate::broadcast::Builder;
use crate::message::Message;

/// All topics.
pub(super) struct Topics {
    // Decision 0075: replaced as a whole.
    map: Versions<Trie<Arc<Topic>>>,
    /// Of the hash.
    seed: u64,
}

/// A look-up of one topic.
#[derive(Clone, Copy)]
pub(super) struct Request<'n> {
    pub(super) name: &'n str,
    /// What a new topic's ring is made by.
    pub(super) builder: Builder,
    /// The capacity that the topic must have.
    pub(super) capacity: Option<usize>,
}

impl Topics {
    pub(super) fn new() -> Self {
        Self { map: Versions::new(Trie::Empty), seed: seed() }
    }

    /// A handle of a topic, which is made if it is not there: `hand_out` makes the handle from the topic's
    /// ends. On a hit it allocates nothing, and waits for nobody.
    #[inline]
    pub(super) fn get<T: Message, K: Kind, H>(
        &self,
        request: Request<'_>,
        hand_out: impl Fn(&Ends<T, K>, &Arc<Topic>) -> Result<H, TopicError>,
    ) -> Result<H, TopicError> {
        let hash = hash(request.name, self.seed);
        let mut made = None;
        loop {
            let current = self.map.borrow();
            let found = current.look(|topics| {
                let topic = topics.find(request.name, hash)?;
                let Some(ends) = topic.ends::<Ends<T, K>>() else {
                    return (!topic.is_removed()).then(|| Err(mismatch::<T, K>(topic)));
                };
                if request.capacity.is_some_and(|capacity| capacity != ends.capacity()) {
                    return (!topic.is_removed()).then(|| Err(request.other_capacity(ends.capacity())));
                }
                ends.hand_out(hand_out(ends, topic))
            });
            if let Some(found) = found {
                return found;
            }
            // It is not there, or was removed and will be gone soon.
            let topic = match made.take() {
                Some(topic) => topic,
                None => request.make::<T, K>(hash)?,
            };
            let with = current.look(|topics| topics.with(Arc::clone(&topic)));
            if current.replace(with).is_err() {
                made = Some(topic);
            }
        }
    }

    /// Whether there is a topic of that name.
    pub(super) fn contains(&self, name: &str) -> bool {
        let find = |topics: &Trie<Arc<Topic>>| {
            topics.find(name, hash(name, self.seed)).is_some_and(|topic| !topic.is_removed())
        };
        self.map.borrow().look(find)
    }

    /// What is to be said of each topic, in the order of their names.
    pub(super) fn all(&self) -> Vec<TopicInfo> {
        let mut all = Vec::new();
        self.map.borrow().look(|topics| {
            topics.each(&mut |topic| {
                if !topic.is_removed() {
                    all.push(TopicInfo::of(topic));
                }
            });
        });
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Removes a topic that is closed, or of which nobody has a handle.
    pub(super) fn remove(&self, name: &str) -> Result<(), RemoveError> {
        let hash = hash(name, self.seed);
        let unknown = || RemoveError::Unknown { topic: name.to_owned() };
        let found = self.map.borrow().look(|topics| topics.find(name, hash).cloned());
        let topic = found.ok_or_else(unknown)?;
        match topic.remove() {
            Ok(()) => {}
            Err(Kept::Removed) => return Err(unknown()),
            Err(Kept::Held(holders)) => {
                let (publishers, receivers) = (holders.publishers, holders.receivers);
                return Err(RemoveError::InUse { topic: name.to_owned(), publishers, receivers });
            }
        }
        loop {
            let current = self.map.borrow();
            // Somebody may have put a new topic in its place meanwhile.
            let is_there = |topics: &Trie<Arc<Topic>>| {
                topics.find(name, hash).is_some_and(|there| Arc::ptr_eq(there, &topic))
            };
            if !current.look(is_there) {
                return Ok(());
            }
            let without = current.look(|topics| topics.without(name, hash));
            if current.replace(without).is_ok() {
                return Ok(());
            }
        }
    }
}

impl Request<'_> {
    #[cold]
    fn make<T: Message, K: Kind>(self, hash: u64) -> Result<Arc<Topic>, TopicError> {
        Topic::make::<T, K>(self.name, hash, self.builder)
            .map_err(|error| TopicError::Ring { topic: self.topic(), error })
    }

    #[cold]
    fn other_capacity(self, has: usize) -> TopicError {
        TopicError::Capacity { topic: self.topic(), has, requested: self.capacity.unwrap_or(has) }
    }

    fn topic(self) -> String {
        self.name.to_owned()
    }
}

/// What is wrong where the ends are of other types.
#[cold]
fn mismatch<T: Message, K: Kind>(topic: &Arc<Topic>) -> TopicError {
    let (ends, topic) = (topic.any_ends(), Entry::name(topic).to_owned());
    let (has, requested) = (ends.message(), type_name::<T>());
    if has.0 == core::any::TypeId::of::<T>() {
        TopicError::Kind { topic, has: ends.kind(), requested: <K as MakeTopic>::KIND }
    } else {
        TopicError::Type { topic, has: has.1, requested }
    }
}

/// What the hash begins with: a random number, where the system has one.
fn seed() -> u64 {
    #[cfg(feature = "std")]
    {
        use core::hash::BuildHasher;

        std::hash::RandomState::new().hash_one(0)
    }
    #[cfg(not(feature = "std"))]
    0x243F_6A88_85A3_08D3
}
