//! [`TopicInfo`]: what a bus says of a topic.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;

use super::kind::TopicKind;
use super::topic::Topic;
use super::trie::Entry;

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
    /// How many subscribers there are. Those who can make subscribers are not counted.
    pub subscribers: usize,
    /// Whether somebody has closed it.
    pub is_closed: bool,
}

impl TopicInfo {
    pub(super) fn of(topic: &Arc<Topic>) -> Self {
        let ends = topic.any_ends();
        let (_, message) = ends.message();
        Self {
            name: Entry::name(topic).to_owned(),
            kind: ends.kind(),
            message,
            capacity: ends.capacity(),
            publishers: ends.holders().publishers,
            subscribers: ends.subscribers(),
            is_closed: ends.is_closed(),
        }
    }
}
