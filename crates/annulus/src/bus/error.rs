//! Why a bus refuses: each error names the topic.

use alloc::string::String;
use core::error::Error;
use core::fmt;

use super::kind::TopicKind;
use crate::error::CapacityError;

/// Why there is no handle of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicError {
    /// The topic has one publisher at a time, and it is taken.
    Taken {
        /// The topic's name.
        topic: String,
    },
    /// The topic is closed, so nothing can be published. [`remove`](super::Bus::remove) makes room for a new
    /// topic of that name.
    Closed {
        /// The topic's name.
        topic: String,
    },
    /// The topic's ring is of another kind.
    Kind {
        /// The topic's name.
        topic: String,
        /// The kind of the topic.
        has: TopicKind,
        /// The kind that was requested.
        requested: TopicKind,
    },
    /// The topic has messages of another type.
    Type {
        /// The topic's name.
        topic: String,
        /// The name of the type that its messages have.
        has: &'static str,
        /// The name of the type that was requested.
        requested: &'static str,
    },
    /// The topic has another capacity than was requested for it.
    Capacity {
        /// The topic's name.
        topic: String,
        /// The capacity of the topic.
        has: usize,
        /// The capacity that was requested.
        requested: usize,
    },
    /// The topic is new, and its ring can't be made.
    Ring {
        /// The topic's name.
        topic: String,
        /// Why not.
        error: CapacityError,
    },
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { topic } => {
                write!(f, "topic {topic:?} has a publisher already, and has one at a time")
            }
            Self::Closed { topic } => write!(f, "topic {topic:?} is closed: remove it to make a new one"),
            Self::Kind { topic, has, requested } => {
                write!(f, "topic {topic:?} is {has}, and was requested to be {requested}")
            }
            Self::Type { topic, has, requested } => {
                write!(f, "topic {topic:?} has messages of type {has}, and {requested} was requested")
            }
            Self::Capacity { topic, has, requested } => {
                write!(f, "topic {topic:?} has a capacity of {has}, and {requested} was requested")
            }
            Self::Ring { topic, error } => write!(f, "topic {topic:?} can't be made: {error}"),
        }
    }
}

impl Error for TopicError {}

/// Why a topic was not removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveError {
    /// There is no topic of that name.
    Unknown {
        /// The name that was given.
        topic: String,
    },
    /// The topic is open, and there are handles of it.
    InUse {
        /// The topic's name.
        topic: String,
        /// How many publishers there are.
        publishers: usize,
        /// How many subscribers there are, and handles that make subscribers.
        receivers: usize,
    },
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { topic } => write!(f, "there is no topic {topic:?}"),
            Self::InUse { topic, publishers, receivers } => write!(
                f,
                "topic {topic:?} is open and in use: publishers {publishers}, receiving handles {receivers}"
            ),
        }
    }
}

impl Error for RemoveError {}
