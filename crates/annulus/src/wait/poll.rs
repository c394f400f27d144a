//! What a wait is made of: polls, each of which finds a [`Look`], until a [`Deadline`], which an
//! [`Until`] says.

use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

use super::WaitStrategy;
use crate::error::{LossyRecvError, LossyTryRecvError, RecvError, TryRecvError};

/// What a poll found.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub enum Look<F> {
    /// What is waited for.
    Found(F),
    /// Nothing is there; the thread that brings something notifies.
    Nothing,
    /// Something may be there, and its notify may be long over: look again, and do not sleep.
    Again,
}

impl<T> From<Result<T, TryRecvError>> for Look<Result<T, RecvError>> {
    /// What a receive that does not wait has found.
    #[inline(always)]
    fn from(received: Result<T, TryRecvError>) -> Self {
        match received {
            Ok(value) => Self::Found(Ok(value)),
            Err(TryRecvError::Empty) => Self::Nothing,
            Err(TryRecvError::Closed) => Self::Found(Err(RecvError::CLOSED)),
        }
    }
}

impl<T, C> From<Result<T, LossyTryRecvError<C>>> for Look<Result<T, LossyRecvError<C>>> {
    /// The same of one that reports what it lost.
    #[inline(always)]
    fn from(received: Result<T, LossyTryRecvError<C>>) -> Self {
        Self::Found(match received {
            Ok(value) => Ok(value),
            Err(LossyTryRecvError::Empty) => return Self::Nothing,
            Err(LossyTryRecvError::Lagged { skipped }) => Err(LossyRecvError::Lagged { skipped }),
            Err(LossyTryRecvError::Corrupt(corrupt)) => Err(LossyRecvError::Corrupt(corrupt)),
            Err(LossyTryRecvError::Closed) => Err(LossyRecvError::Closed),
        })
    }
}

impl<F> Look<F> {
    /// What was found, changed by `change`.
    pub(crate) fn map<G>(self, change: impl FnOnce(F) -> G) -> Look<G> {
        match self {
            Self::Found(found) => Look::Found(change(found)),
            Self::Nothing => Look::Nothing,
            Self::Again => Look::Again,
        }
    }
}

/// When a wait gives up. Without `std` there is no clock, and no wait ever does.
#[cfg(feature = "std")]
pub(crate) type Deadline = Option<Instant>;
#[cfg(not(feature = "std"))]
pub(crate) type Deadline = Option<core::convert::Infallible>;

/// How a verb that ends in `_until` waits, and how long at most.
///
/// It is made from a [`Duration`], which each verb counts from its own beginning; from an `Instant` of the
/// monotonic clock; or from a [`WaitStrategy`], which sets no limit. [`by`](Self::by) gives a limit a
/// strategy, too. What it leaves open is as in the verb without a suffix: no limit, and the strategy of the
/// handle.
///
/// A duration that is too long for the clock is no limit. Once the time has passed, even before the verb
/// begins, the verb still takes what is there. Only a verb that finds nothing looks at the clock.
///
/// ```
/// use annulus::{RecvTimeoutError, Until, WaitStrategy, spsc};
/// use std::time::{Duration, Instant};
///
/// let (mut producer, mut consumer) = spsc::channel(4);
/// for number in 1..=3 {
///     producer.send(number)?;
/// }
/// assert_eq!(consumer.recv_until(Duration::from_millis(1)), Ok(1));
/// assert_eq!(consumer.recv_until(Instant::now()), Ok(2)); // it is there
/// assert_eq!(consumer.recv_until(WaitStrategy::BusySpin), Ok(3));
///
/// // Spin, at most 50 microseconds.
/// let briefly = Until::from(Duration::from_micros(50)).by(WaitStrategy::BusySpin);
/// assert_eq!(consumer.recv_until(briefly), Err(RecvTimeoutError::Timeout));
/// # Ok::<(), annulus::SendError<i32>>(())
/// ```
// Decision 0158: one value, not a suffix for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "durations need `std`"))]
#[must_use = "it does nothing until a verb gets it"]
pub struct Until {
    strategy: Option<WaitStrategy>,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Limit {
    #[default]
    None,
    #[cfg(feature = "std")]
    Lasts(Duration),
    #[cfg(feature = "std")]
    At(Instant),
}

impl Until {
    /// No limit, and the strategy of the handle: as a verb without a suffix waits.
    pub const FOREVER: Self = Self { strategy: None, limit: Limit::None };

    /// The same limit, waiting by `strategy`.
    ///
    /// ```
    /// use annulus::{Until, WaitStrategy};
    ///
    /// assert_eq!(Until::FOREVER.by(WaitStrategy::Monitor), Until::from(WaitStrategy::Monitor));
    /// ```
    #[doc(alias = "recv_with")]
    pub const fn by(self, strategy: WaitStrategy) -> Self {
        Self { strategy: Some(strategy), limit: self.limit }
    }

    /// The strategy, where the handle's own is `own`.
    pub(crate) fn strategy_or(self, own: impl FnOnce() -> WaitStrategy) -> WaitStrategy {
        self.strategy.unwrap_or_else(own)
    }

    /// The same for several waits, of which the first begins now: a duration counts from here.
    #[cfg(feature = "std")]
    pub(crate) fn begun(self) -> Self {
        Self { limit: self.deadline().map_or(Limit::None, Limit::At), ..self }
    }

    /// There is no duration.
    #[cfg(not(feature = "std"))]
    pub(crate) fn begun(self) -> Self {
        self
    }

    /// The same strategy, until then.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn ending(self, at: Instant) -> Self {
        Self { limit: Limit::At(at), ..self }
    }

    /// When a wait that begins now gives up. A verb asks once: a duration counts from here.
    #[cfg(feature = "std")]
    pub(crate) fn deadline(self) -> Deadline {
        match self.limit {
            Limit::None => None,
            Limit::Lasts(duration) => Instant::now().checked_add(duration),
            Limit::At(deadline) => Some(deadline),
        }
    }

    #[cfg(not(feature = "std"))]
    pub(crate) fn deadline(self) -> Deadline {
        let Limit::None = self.limit;
        None
    }
}

/// So long at most.
#[cfg(feature = "std")]
impl From<Duration> for Until {
    fn from(duration: Duration) -> Self {
        Self { strategy: None, limit: Limit::Lasts(duration) }
    }
}

/// Until that time at most.
#[cfg(feature = "std")]
impl From<Instant> for Until {
    fn from(deadline: Instant) -> Self {
        Self { strategy: None, limit: Limit::At(deadline) }
    }
}

/// By this strategy, however long it takes.
impl From<WaitStrategy> for Until {
    fn from(strategy: WaitStrategy) -> Self {
        Self::FOREVER.by(strategy)
    }
}

/// How much time is left, at most `most`.
#[cfg(feature = "std")]
pub(super) fn left(deadline: Deadline, most: Duration) -> Duration {
    deadline.map_or(most, |deadline| deadline.saturating_duration_since(Instant::now()).min(most))
}

/// `most`, without a clock.
#[cfg(not(feature = "std"))]
pub(super) fn left(_: Deadline, most: Duration) -> Duration {
    most
}

/// Whether it has passed.
#[cfg(feature = "std")]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Never, without a clock.
// Mutants: `with true`: not in this build: without std.
#[cfg(not(feature = "std"))]
pub(super) fn has_passed(_: Deadline) -> bool {
    false
}
