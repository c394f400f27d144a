//! Errors: small, comparable, and each says what to do about it.

use core::error::Error;
use core::fmt;

/// Why [`try_recv`](crate::Subscriber::try_recv) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryRecvError {
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

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no new message"),
            Self::Lagged { skipped } => {
                write!(f, "lagged behind the publisher: {skipped} messages were overwritten unread")
            }
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

/// The other side is gone, and nothing is left to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the publisher is gone and every message was received")
    }
}

impl Error for Closed {}

impl From<Closed> for TryRecvError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Why [`recv_timeout`](crate::Subscriber::recv_timeout) or [`recv_deadline`](crate::Subscriber::recv_deadline)
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
            Self::Closed => Closed.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl Error for RecvTimeoutError {}

#[cfg(feature = "std")]
impl From<Closed> for RecvTimeoutError {
    fn from(_: Closed) -> Self {
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
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { capacity, minimum } => {
                write!(f, "capacity {capacity} is too small: this ring needs at least {minimum} slots")
            }
            Self::TooLarge { capacity, slot_bytes } => {
                write!(
                    f,
                    "capacity {capacity} is too large: no memory for {capacity} slots of {slot_bytes} bytes"
                )
            }
        }
    }
}

impl Error for CapacityError {}
