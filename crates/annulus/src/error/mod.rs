//! Errors: small, comparable, and each says what to do about it.
// (The crate's page says which text and which source an error has. An `io::Error` with a step of this library
// keeps the system's error as its source: the number is there.)

mod records;
mod refused;

use core::convert::Infallible;
use core::error::Error;
use core::fmt;

use crate::memory::{MemoryError, NoBlock};
use crate::message::schema::BadValue;
use crate::sync::seeded;

pub use crate::message::TooLong;
pub use records::{TryWriteError, WriteError, WriteTimeoutError};
pub(crate) use refused::{GiveBack, Refusal, if_admitted};
pub use refused::{SendError, SendTimeoutError, TrySendError};

/// Why [`try_recv_or_lag`](crate::broadcast::Subscriber::try_recv_or_lag) or
/// [`recv_or_lag_until`](crate::broadcast::Subscriber::recv_or_lag_until) returned no message.
///
/// Within one process no message is corrupt: `C` is [`Infallible`] then, and a `match` needs no arm for it.
/// Between processes it is a [`BadValue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossyTryRecvError<C = Infallible> {
    /// There is no new message, or none came in time. The ring is not closed.
    Empty,
    /// The publisher overwrote `skipped` messages before this subscriber read them. The next receive goes on
    /// with the oldest message that was still in the ring. Each lost message is reported exactly once.
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// Another process has written something that is no message. The next receive goes on behind it.
    Corrupt(C),
    /// All publishers are gone, or somebody closed the ring, and everything that was published was received
    /// or counted.
    Closed,
}

impl<C: fmt::Display> fmt::Display for LossyTryRecvError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no new message"),
            Self::Lagged { skipped } => {
                write!(f, "lagged behind the publisher: {skipped} messages were overwritten unread")
            }
            Self::Corrupt(bad) => write!(f, "what another process has written is no message: {bad}"),
            Self::Closed => RecvError::CLOSED.fmt(f),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> Error for LossyTryRecvError<C> {}

/// Why there is no next message.
#[doc(alias = "PopError")]
#[doc(alias = "PollError")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// There is no new message. The ring is not closed.
    #[doc(alias = "NoEvents")]
    Empty,
    /// As [`RecvError`].
    #[doc(alias = "Disconnected")]
    #[doc(alias = "Shutdown")]
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => LossyTryRecvError::Empty::<Infallible>.fmt(f),
            Self::Closed => RecvError::CLOSED.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

impl<C> From<TryRecvError> for LossyTryRecvError<C> {
    fn from(error: TryRecvError) -> Self {
        match error {
            TryRecvError::Empty => Self::Empty,
            TryRecvError::Closed => Self::Closed,
        }
    }
}

/// The other side is gone, or closed the ring, and nothing is left to receive.
#[doc(alias = "Closed")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecvError {
    has_died: bool,
}

impl RecvError {
    /// The error of every ring within one process, for comparisons.
    ///
    /// ```
    /// use annulus::{RecvError, spsc};
    ///
    /// let (producer, mut consumer) = spsc::channel::<u64>(8);
    /// drop(producer);
    /// assert_eq!(consumer.recv(), Err(RecvError::CLOSED));
    /// ```
    pub const CLOSED: Self = Self { has_died: false };

    /// As [`CLOSED`](Self::CLOSED), or of a process that has died.
    pub(crate) const fn of(has_died: bool) -> Self {
        Self { has_died }
    }

    /// Whether the other side is a process that died before it closed the ring. Where the other side is
    /// several processes: whether none of them is left, and one at least has died, and nobody closed the
    /// ring. Within one process it is `false`.
    ///
    /// Verbs that wait without a limit say it. In the errors of the others, `Closed` is all there is: the
    /// [state](crate::shm#when-the-other-process-is-gone) of the other process tells there.
    #[doc(alias = "PeerDied")]
    #[must_use]
    pub fn peer_died(&self) -> bool {
        self.has_died
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.has_died {
            "the process at the other side died, and every message was received"
        } else {
            "the other side is gone, or closed the ring, and every message was received"
        })
    }
}

impl Error for RecvError {}

/// For programs that receive from both kinds of ring.
impl From<LossyTryRecvError> for LossyTryRecvError<BadValue> {
    fn from(error: LossyTryRecvError) -> Self {
        match error {
            LossyTryRecvError::Empty => Self::Empty,
            LossyTryRecvError::Lagged { skipped } => Self::Lagged { skipped },
            LossyTryRecvError::Closed => Self::Closed,
        }
    }
}

impl<C> From<RecvError> for LossyTryRecvError<C> {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// Why [`recv_or_lag`](crate::broadcast::Subscriber::recv_or_lag) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossyRecvError<C = Infallible> {
    /// As [`LossyTryRecvError::Lagged`].
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// As [`LossyTryRecvError::Corrupt`].
    Corrupt(C),
    /// All publishers are gone, or somebody closed the ring, and everything that was published was received
    /// or counted.
    Closed,
}

impl<C: fmt::Display> fmt::Display for LossyRecvError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged { skipped } => LossyTryRecvError::Lagged::<C> { skipped: *skipped }.fmt(f),
            Self::Corrupt(corrupt) => LossyTryRecvError::Corrupt(corrupt).fmt(f),
            Self::Closed => RecvError::CLOSED.fmt(f),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> Error for LossyRecvError<C> {}

impl<C> From<LossyRecvError<C>> for LossyTryRecvError<C> {
    fn from(error: LossyRecvError<C>) -> Self {
        match error {
            LossyRecvError::Lagged { skipped } => Self::Lagged { skipped },
            LossyRecvError::Corrupt(bad) => Self::Corrupt(bad),
            LossyRecvError::Closed => Self::Closed,
        }
    }
}

impl<C> From<RecvError> for LossyRecvError<C> {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// Why [`recv_timeout`](crate::broadcast::Subscriber::recv_timeout) or
/// [`recv_until`](crate::broadcast::Subscriber::recv_until) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecvTimeoutError {
    /// No message came in time.
    Timeout,
    /// As [`RecvError`].
    Closed,
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("no message came in time"),
            Self::Closed => RecvError::CLOSED.fmt(f),
        }
    }
}

impl Error for RecvTimeoutError {}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

/// What a look that does not wait found, or that nothing is there.
#[inline(always)]
pub(crate) fn if_there<T>(found: Option<Result<T, RecvError>>) -> Result<T, TryRecvError> {
    match found {
        Some(found) => found.map_err(TryRecvError::from),
        None => Err(TryRecvError::Empty),
    }
}

/// What a wait with a deadline found, or that the time passed.
pub(crate) fn in_time<T>(found: Option<Result<T, RecvError>>) -> Result<T, RecvTimeoutError> {
    match found {
        Some(found) => found.map_err(RecvTimeoutError::from),
        None => Err(RecvTimeoutError::Timeout),
    }
}

/// Why a ring with the requested settings can't be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapacityError {
    /// The ring needs more slots. A broadcast ring needs at least two: one can be read while the other is
    /// written. A queue needs at least one.
    TooSmall {
        /// The value that was requested.
        capacity: usize,
        /// The smallest capacity that is allowed.
        minimum: usize,
    },
    /// Memory has no room for so many slots of this message.
    TooLarge {
        /// The value that was requested.
        capacity: usize,
        /// What one slot takes, in bytes.
        slot_bytes: usize,
    },
    /// The headroom leaves no slot for messages. It must be smaller than the capacity.
    #[doc(alias = "Watermark")]
    Headroom {
        /// The value that was requested.
        headroom: usize,
        /// The capacity.
        capacity: usize,
    },
    /// A headroom was requested of a ring that has no use for it. Only lossless broadcast rings have one:
    /// publishers of lossy ones wait for nobody, and a queue has one reader for each message.
    #[doc(alias = "Watermark")]
    NoHeadroom {
        /// The value that was requested.
        headroom: usize,
    },
    /// The ring's memory can't be as it was required: see [`MemoryError`].
    Memory(MemoryError),
    /// The number of the first message, or of the one to
    /// [skip to](crate::broadcast::Publisher::skip_to), is so large that the numbers would run out.
    FirstSequence {
        /// The value that was requested.
        first: u64,
        /// The largest number that is allowed.
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
                    if seeded!("headroom_text_subtracts") {
                        capacity.wrapping_sub(1)
                    } else {
                        capacity.saturating_sub(1)
                    }
                )
            }
            Self::NoHeadroom { headroom } => {
                write!(
                    f,
                    "this ring has no use for a headroom of {headroom}: only lossless broadcast rings have"
                )
            }
            Self::Memory(error) => error.fmt(f),
            Self::FirstSequence { first, largest } => {
                write!(
                    f,
                    "a ring can't begin or go on with message {first}: the largest number for that is {largest}"
                )
            }
        }
    }
}

impl Error for CapacityError {}

impl CapacityError {
    /// Why there is no block for `capacity` slots of `slot_bytes` bytes.
    pub(crate) fn of_block(refused: NoBlock, capacity: usize, slot_bytes: usize) -> Self {
        match refused {
            NoBlock::TooLarge => Self::TooLarge { capacity, slot_bytes },
            NoBlock::Refused(error) => Self::Memory(error),
        }
    }
}

/// Why a subscriber can't follow an upstream that was given to [`after`](crate::broadcast::Subscriber::after)
/// or to a [`DependencyBarrier`](crate::broadcast::DependencyBarrier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpstreamError {
    /// The upstream belongs to another ring. A subscriber can only follow subscribers of its own ring.
    AnotherRing {
        /// The position of the upstream in the list that was given.
        index: usize,
    },
    /// The upstream may lose messages, and the subscriber that is to follow it may not. A lost message is
    /// never processed, so the subscriber could not see every message.
    Lossy {
        /// The position of the upstream in the list that was given.
        index: usize,
    },
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherRing { index } => {
                write!(f, "upstream {index} is of another ring: all must be of the ring of the stage")
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The queue is closed, so nothing can be sent.
    Closed,
    /// There is no memory for the producer's ring.
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

impl From<CapacityError> for RegisterError {
    fn from(error: CapacityError) -> Self {
        Self::Capacity(error)
    }
}
