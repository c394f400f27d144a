//! [`Topics`]: the topics of a bus by name, which all its handles share.
//!
//! The map is a [trie](super::trie) that is never changed. A look-up borrows the current
//! [version](super::versions). To make or to remove a topic puts another version in its place.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::{TypeId, type_name};
use core::{ptr, slice};

use super::error::{RemoveError, TopicError};
use super::inbox::Watcher;
use super::kind::{Ends, TopicRing};
use super::topic::{NotRemoved, Topic, TopicInfo};
use super::trie::{Trie, hash};
use super::versions::{Borrowed, Versions};
use crate::message::Message;
use crate::settings::Settings;
use crate::sync::seeded;

/// All topics.
pub(super) struct Topics {
    // Decision 0075: replaced as a whole.
    map: Versions<Map>,
    /// Of the hash.
    seed: u64,
}

/// What a version holds.
struct Map {
    topics: Trie,
    watchers: Watchers,
}

/// What is told of new topics, in the order in which the watchers came.
type Watchers = Arc<Vec<Arc<dyn Watcher>>>;

/// A look-up of one topic.
pub(super) struct Request<'n> {
    pub(super) name: &'n str,
    /// What a new topic's ring is made by.
    pub(super) settings: RingSettings<'n>,
    /// The capacity that the topic must have.
    pub(super) capacity: Option<usize>,
}

/// What a ring is made by.
// Decision 0075: settings are large, and a look-up that finds its topic needs none.
pub(super) enum RingSettings<'n> {
    OfTheBus(&'n Settings),
    Own(Settings),
}

impl Topics {
    pub(super) fn new() -> Self {
        let map = Map { topics: Trie::Empty, watchers: Arc::default() };
        Self { map: Versions::new(map), seed: seed() }
    }

    /// A handle of a topic, which is made if it is not there: `hand_out` makes the handle from the topic's
    /// ends. On a hit it never waits.
    #[inline]
    pub(super) fn get<T: Message, K: TopicRing, H>(
        &self,
        request: &Request<'_>,
        hand_out: impl Fn(&Ends<T, K>, &Arc<Topic>) -> Result<H, TopicError>,
    ) -> Result<H, TopicError> {
        let hash = hash(request.name, self.seed);
        // Decision 0075: what is wrong is found out once more, so that this way has no room for an error.
        let found = self.map.borrow().look(|map| map.hand_out(request, hash, &hand_out)?.ok());
        match found {
            Some(handle) => Ok(handle),
            None => self.get_or_make(request, hash, hand_out),
        }
    }

    /// The same where it was not found, or not as requested: makes it, unless another thread has done so
    /// meanwhile, or says what is wrong.
    #[cold]
    #[inline(never)]
    fn get_or_make<T: Message, K: TopicRing, H>(
        &self,
        request: &Request<'_>,
        hash: u64,
        hand_out: impl Fn(&Ends<T, K>, &Arc<Topic>) -> Result<H, TopicError>,
    ) -> Result<H, TopicError> {
        // A topic, and the watchers that were told of it.
        let mut made: Option<(_, Watchers)> = None;
        loop {
            let current = self.map.borrow();
            if let Some(found) = current.look(|map| map.hand_out(request, hash, &hand_out)) {
                return found;
            }
            // It is not there, or was removed and will be gone soon.
            let (topic, told) = match made.take() {
                Some(made) => made,
                None => (request.make::<T, K>(hash)?, Watchers::default()),
            };
            // Before another look-up can find the topic. Watchers that came since the last telling are behind
            // the others.
            let watchers = current.look(|map| Arc::clone(&map.watchers));
            let mut told = told.iter();
            let new = watchers.iter().filter(|new| !told.any(|told| Arc::ptr_eq(told, new)));
            let tell = || new.for_each(|watcher| watcher.join(&topic));
            let with = current.look(|map| map.with_topics(map.topics.with(Arc::clone(&topic))));
            if seeded!("matching_joins_late") {
                let _ = current.replace(with);
                tell();
                continue;
            }
            tell();
            if current.replace(with).is_err() {
                made = Some((topic, watchers));
            }
        }
    }

    /// Whether there is a topic of that name.
    pub(super) fn contains(&self, name: &str) -> bool {
        let hash = hash(name, self.seed);
        self.map.borrow().look(|map| map.topics.find(name, hash).is_some_and(|topic| !topic.is_removed()))
    }

    /// What is to be said of each topic, in the order of their names.
    pub(super) fn all(&self) -> Vec<TopicInfo> {
        let mut all = Vec::new();
        self.map.borrow().look(|map| {
            map.topics.each(&mut |topic| {
                if !topic.is_removed() {
                    all.push(topic.any_ends().info(topic.name()));
                }
            });
        });
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Removes a topic that is closed, or of which there is no handle.
    pub(super) fn remove(&self, name: &str) -> Result<(), RemoveError> {
        let hash = hash(name, self.seed);
        let unknown = || RemoveError::Unknown { topic: name.to_owned() };
        let found = self.map.borrow().look(|map| map.topics.find(name, hash).cloned());
        let topic = found.ok_or_else(unknown)?;
        match topic.remove() {
            Ok(()) => {}
            // Unreached: two remove one topic at once: two threads have to meet there; test bus
            // threads::removal_never_takes
            Err(NotRemoved::Removed) => return Err(unknown()),
            Err(NotRemoved::Held(holders)) => {
                let (publishers, receivers) = (holders.publishers, holders.receivers);
                return Err(RemoveError::InUse { topic: name.to_owned(), publishers, receivers });
            }
        }
        loop {
            let current = self.map.borrow();
            // Another thread may have put a new topic in its place meanwhile.
            let is_there =
                |map: &Map| map.topics.find(name, hash).is_some_and(|there| Arc::ptr_eq(there, &topic));
            if !current.look(is_there) {
                // Unreached: somebody makes the topic anew while it is removed: two threads have to meet
                // there; test bus threads::removal_never_takes
                return Ok(());
            }
            let without = current.look(|map| map.with_topics(map.topics.without(name, hash)));
            if current.replace(without).is_ok() {
                return Ok(());
            }
        }
    }
}

impl Topics {
    /// Tells `watcher` of all topics, in the order of their names, and of those that come. A topic that
    /// comes meanwhile may come before the others.
    pub(super) fn watch(&self, watcher: &Arc<dyn Watcher>) {
        // First of those that come: a topic is in the version that this replaces, or its maker knows the
        // watcher. So what takes long, the telling, is done once, whatever changes meanwhile.
        let before = self.replace_watchers(|there| there.chain([watcher]).cloned().collect());
        before.look(|map| {
            let mut topics = Vec::new();
            map.topics.each(&mut |topic| topics.push(topic));
            topics.sort_unstable_by(|a, b| a.name().cmp(b.name()));
            // If one was removed, a topic that takes its place will come.
            for topic in topics {
                watcher.join(topic);
            }
        });
    }

    /// Tells `watcher` nothing any more.
    pub(super) fn forget(&self, watcher: &dyn Watcher) {
        let others = |other: &&Arc<dyn Watcher>| !ptr::addr_eq(Arc::as_ptr(other), watcher);
        self.replace_watchers(|there| there.filter(others).cloned().collect());
    }

    /// Changes which watchers are told of new topics. Returns the version that was replaced.
    fn replace_watchers(
        &self,
        change: impl Fn(slice::Iter<'_, Arc<dyn Watcher>>) -> Vec<Arc<dyn Watcher>>,
    ) -> Borrowed<'_, Map> {
        loop {
            let current = self.map.borrow();
            let changed = current.look(|map| Map {
                topics: map.topics.clone(),
                watchers: Arc::new(change(map.watchers.iter())),
            });
            if current.replace(changed).is_ok() {
                return current;
            }
        }
    }
}

impl Drop for Topics {
    fn drop(&mut self) {
        self.map.borrow().look(|map| map.watchers.iter().for_each(|watcher| watcher.end()));
    }
}

impl Map {
    /// A handle of a topic, or why there is none; `None` if the topic is not there, or was removed.
    #[inline]
    fn hand_out<T: Message, K: TopicRing, H>(
        &self,
        request: &Request<'_>,
        hash: u64,
        hand_out: impl Fn(&Ends<T, K>, &Arc<Topic>) -> Result<H, TopicError>,
    ) -> Option<Result<H, TopicError>> {
        let topic = self.topics.find(request.name, hash)?;
        let Some(ends) = topic.ends::<Ends<T, K>>() else {
            return (!topic.is_removed()).then(|| Err(mismatch::<T, K>(topic)));
        };
        if request.capacity.is_some_and(|capacity| capacity != ends.subscribable.capacity()) {
            return (!topic.is_removed()).then(|| Err(request.other_capacity(ends.subscribable.capacity())));
        }
        ends.hand_out(hand_out(ends, topic))
    }

    /// These topics, for the same watchers.
    fn with_topics(&self, topics: Trie) -> Self {
        Self { topics, watchers: Arc::clone(&self.watchers) }
    }
}

impl Request<'_> {
    #[cold]
    fn make<T: Message, K: TopicRing>(&self, hash: u64) -> Result<Arc<Topic>, TopicError> {
        Topic::make::<T, K>(self.name, hash, self.settings.get())
            .map_err(|error| TopicError::Ring { topic: self.topic(), error })
    }

    #[cold]
    fn other_capacity(&self, has: usize) -> TopicError {
        TopicError::Capacity { topic: self.topic(), has, requested: self.capacity.unwrap_or(has) }
    }

    fn topic(&self) -> String {
        self.name.to_owned()
    }
}

impl RingSettings<'_> {
    pub(super) fn get(&self) -> Settings {
        match self {
            Self::OfTheBus(settings) => (*settings).clone(),
            Self::Own(settings) => settings.clone(),
        }
    }
}

/// What is wrong where the ends are of other types.
#[cold]
fn mismatch<T: Message, K: TopicRing>(topic: &Topic) -> TopicError {
    let is_kind = topic.any_ends().message() == TypeId::of::<T>();
    let TopicInfo { name: topic, kind, message, .. } = topic.any_ends().info(topic.name());
    if is_kind {
        TopicError::Kind { topic, has: kind, requested: K::KIND }
    } else {
        TopicError::Type { topic, has: message, requested: type_name::<T>() }
    }
}

/// What the hash begins with: a random number, where the system has one. Where it has none, names
/// of topics can be chosen that collide.
fn seed() -> u64 {
    #[cfg(feature = "std")]
    {
        use core::hash::BuildHasher;

        std::hash::RandomState::new().hash_one(0)
    }
    #[cfg(not(feature = "std"))]
    0x243F_6A88_85A3_08D3
}
