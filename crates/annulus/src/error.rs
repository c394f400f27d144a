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

/// Why there is no next message on a ring that loses none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PollError {
    /// Nothing new is there; a publisher lives.
    Empty,
    /// All publishers are gone, and everything they published was received.
    Closed,
}

impl fmt::Display for PollError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => TryRecvError::Empty.fmt(f),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for PollError {}

impl From<PollError> for TryRecvError {
    fn from(error: PollError) -> Self {
        match error {
            PollError::Empty => Self::Empty,
            PollError::Closed => Self::Closed,
        }
    }
}

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
    /// A watermark keeps slots free, and at least one must be left for messages.
    Watermark {
        /// What was asked for.
        watermark: usize,
        /// The capacity, which must be larger.
        capacity: usize,
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
            Self::TooLarge { capacity, slot_bytes } => {
                write!(
                    f,
                    "capacity {capacity} is too large: no memory for {capacity} slots of {slot_bytes} bytes"
                )
            }
            Self::Watermark { watermark, capacity } => {
                write!(
                    f,
                    "watermark {watermark} leaves no slot for messages: with a capacity of {capacity} it may be {} at most",
                    capacity - 1
                )
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

/// The value that could not be published, because nobody is left who could receive it: all subscribers are gone, and everything
/// that could make one.
///
/// Of [`publish`](crate::Publisher::publish) and its like on rings whose publishers wait. For a batch it is what was not published.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublishError<T>(
    /// What was to be published.
    pub T,
);

impl<T> PublishError<T> {
    /// What was to be published.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Display for PublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody is left to receive: every subscriber is gone, and all that could make one")
    }
}

/// Says nothing of the value, which may be a closure.
impl<T> fmt::Debug for PublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishError").finish_non_exhaustive()
    }
}

impl<T> Error for PublishError<T> {}

/// Why a value could not be published at once, and the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryPublishError<T> {
    /// There is no room: the slowest subscriber, or a publisher a lap behind, has not left the slot yet.
    Full(T),
    /// Nobody is left who could receive it.
    Closed(T),
}

impl<T> TryPublishError<T> {
    /// What was to be published.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }

    /// Whether it may work later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<T> fmt::Display for TryPublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the ring is full: the slowest subscriber has to receive first"),
            Self::Closed(_) => PublishError(()).fmt(f),
        }
    }
}

/// Says nothing of the value, which may be a closure.
impl<T> fmt::Debug for TryPublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> Error for TryPublishError<T> {}

impl<T> From<PublishError<T>> for TryPublishError<T> {
    fn from(error: PublishError<T>) -> Self {
        Self::Closed(error.0)
    }
}

/// Why a value could not be published in time, and the value. For a batch it is what was not published.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum PublishTimeoutError<T> {
    /// The time passed, and there was no room.
    Timeout(T),
    /// Nobody is left who could receive it.
    Closed(T),
}

#[cfg(feature = "std")]
impl<T> PublishTimeoutError<T> {
    /// What was to be published.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(value) | Self::Closed(value) => value,
        }
    }
}

#[cfg(feature = "std")]
impl<T> fmt::Display for PublishTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(_) => {
                f.write_str("no room came in time: the slowest subscriber has to receive first")
            }
            Self::Closed(_) => PublishError(()).fmt(f),
        }
    }
}

/// Says nothing of the value, which may be a closure.
#[cfg(feature = "std")]
impl<T> fmt::Debug for PublishTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

#[cfg(feature = "std")]
impl<T> Error for PublishTimeoutError<T> {}

#[cfg(feature = "std")]
impl<T> From<PublishError<T>> for PublishTimeoutError<T> {
    fn from(error: PublishError<T>) -> Self {
        Self::Closed(error.0)
    }
}

/// Why a subscriber can't follow an upstream that was given to [`after`](crate::Subscriber::after) or to a
/// [`DependencyBarrier`](crate::DependencyBarrier).
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
