//! Errors: small, comparable, and each says what to do about it.

mod refused;

use core::error::Error;
use core::fmt;

pub(crate) use refused::Refusal;
pub use refused::{PublishError, SendError, TryPublishError, TrySendError};
#[cfg(feature = "std")]
pub use refused::{PublishTimeoutError, SendTimeoutError};

/// Why [`try_recv`](crate::broadcast::Subscriber::try_recv) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossyTryRecvError {
    /// Nothing new is there; the publisher lives.
    Empty,
    /// The publisher lapped this subscriber. `skipped` messages were overwritten before they were read; the next
    /// receive continues at the oldest one that still stood. Each lost message is reported exactly once.
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// The publisher is gone and everything it published was received (or counted as lagged).
    Closed,
}

impl fmt::Display for LossyTryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no new message"),
            Self::Lagged { skipped } => {
                write!(f, "lagged behind the publisher: {skipped} messages were overwritten unread")
            }
            Self::Closed => RecvError.fmt(f),
        }
    }
}

impl Error for LossyTryRecvError {}

/// Why there is no next message on a ring that loses none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// Nothing new is there; a publisher lives.
    Empty,
    /// All publishers are gone, and everything they published was received.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => LossyTryRecvError::Empty.fmt(f),
            Self::Closed => RecvError.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

impl From<TryRecvError> for LossyTryRecvError {
    fn from(error: TryRecvError) -> Self {
        match error {
            TryRecvError::Empty => Self::Empty,
            TryRecvError::Closed => Self::Closed,
        }
    }
}

/// The other side is gone, and nothing is left to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other side is gone, or closed the ring, and every message was received")
    }
}

impl Error for RecvError {}

impl From<RecvError> for LossyTryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// Why [`recv_or_lag`](crate::broadcast::Subscriber::recv_or_lag) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossyRecvError {
    /// As [`LossyTryRecvError::Lagged`].
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// The publisher is gone and everything it published was received (or counted as lagged).
    Closed,
}

impl fmt::Display for LossyRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LossyTryRecvError::from(*self).fmt(f)
    }
}

impl Error for LossyRecvError {}

impl From<LossyRecvError> for LossyTryRecvError {
    fn from(error: LossyRecvError) -> Self {
        match error {
            LossyRecvError::Lagged { skipped } => Self::Lagged { skipped },
            LossyRecvError::Closed => Self::Closed,
        }
    }
}

impl From<RecvError> for LossyRecvError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// Why [`recv_timeout`](crate::broadcast::Subscriber::recv_timeout) or [`recv_deadline`](crate::broadcast::Subscriber::recv_deadline)
/// returned no message.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecvTimeoutError {
    /// The time passed and nothing came.
    Timeout,
    /// The publisher is gone and everything it published was received (or counted as lagged).
    Closed,
}

#[cfg(feature = "std")]
impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("no message came in time"),
            Self::Closed => RecvError.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl Error for RecvTimeoutError {}

#[cfg(feature = "std")]
impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// Why a ring of the asked-for capacity can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CapacityError {
    /// A broadcast ring needs at least two slots: one to read while the other is written.
    TooSmall {
        /// What was asked for.
        capacity: usize,
        /// The smallest capacity that would do.
        minimum: usize,
    },
    /// That many slots of this message do not fit into memory.
    TooLarge {
        /// What was asked for.
        capacity: usize,
        /// What one slot takes, in bytes.
        slot_bytes: usize,
    },
    /// A headroom keeps slots free, and at least one must be left for messages.
    Headroom {
        /// What was asked for.
        headroom: usize,
        /// The capacity, which must be larger.
        capacity: usize,
    },
    /// A lossy ring has no use for free slots: its publisher waits for nobody.
    LossyHeadroom {
        /// What was asked for.
        headroom: usize,
    },
    /// The ring's memory can't be on that NUMA node.
    NumaNode {
        /// What was asked for.
        node: usize,
        /// The system's error number (`EINVAL` for a node that it does not have); `None` where it can't be asked.
        os_error: Option<i32>,
    },
    /// The numbers of messages would run out.
    FirstSequence {
        /// What was asked for.
        first: u64,
        /// The largest that would do.
        largest: u64,
    },
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { capacity, minimum } => {
                write!(f, "capacity {capacity} is too small: this ring needs at least {minimum} slots")
            }
            Self::TooLarge { capacity, slot_bytes: 0 } => {
                write!(f, "capacity {capacity} is too large: a ring has at most {} slots", isize::MAX)
            }
            Self::TooLarge { capacity, slot_bytes } => {
                write!(
                    f,
                    "capacity {capacity} is too large: no memory for {capacity} slots of {slot_bytes} bytes"
                )
            }
            Self::Headroom { headroom, capacity } => {
                write!(
                    f,
                    "headroom {headroom} leaves no slot for messages: with a capacity of {capacity} it may be {} at most",
                    capacity.saturating_sub(1)
                )
            }
            Self::LossyHeadroom { headroom } => {
                write!(
                    f,
                    "a lossy ring has no use for a headroom of {headroom}: its publisher waits for nobody; a lossless one has"
                )
            }
            Self::NumaNode { node, os_error: Some(error) } => {
                write!(
                    f,
                    "no memory for this ring on NUMA node {node}: the system says error {error}; the nodes it has are in \
                     /sys/devices/system/node"
                )
            }
            Self::NumaNode { node, os_error: None } => {
                write!(f, "no memory for this ring on NUMA node {node}: this system has no way to ask for it")
            }
            Self::FirstSequence { first, largest } => {
                write!(
                    f,
                    "a ring can't begin with message {first}: the largest number to begin with is {largest}"
                )
            }
        }
    }
}

impl Error for CapacityError {}

/// Why a subscriber can't follow an upstream that was given to [`after`](crate::broadcast::Subscriber::after) or to a
/// [`DependencyBarrier`](crate::broadcast::DependencyBarrier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpstreamError {
    /// It belongs to another ring: sequences of different rings have nothing to do with each other.
    AnotherRing {
        /// Which one, in the order given.
        index: usize,
    },
    /// It may lose messages, and who follows it may not: what an upstream lost it has not processed.
    Lossy {
        /// Which one, in the order given.
        index: usize,
    },
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherRing { index } => {
                write!(f, "upstream {index} is of another ring: all must be of the ring of who follows them")
            }
            Self::Lossy { index } => {
                write!(
                    f,
                    "upstream {index} may lose messages: a lossless subscriber can follow lossless ones only"
                )
            }
        }
    }
}

impl Error for UpstreamError {}

/// Why no producer could join a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegisterError {
    /// The queue is closed: nobody will receive what it would send.
    Closed,
    /// There is no memory for its ring.
    Capacity(CapacityError),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => SendError(()).fmt(f),
            Self::Capacity(error) => error.fmt(f),
        }
    }
}

impl Error for RegisterError {}
