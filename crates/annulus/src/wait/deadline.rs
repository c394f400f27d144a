//! When a wait gives up.

use core::time::Duration;

/// When a wait gives up. Without `std` there is no clock, and no wait ever does.
#[cfg(feature = "std")]
pub(crate) type Deadline = Option<std::time::Instant>;
#[cfg(not(feature = "std"))]
pub(crate) type Deadline = Option<core::convert::Infallible>;

/// How much time is left, at most `most`.
#[cfg(feature = "std")]
pub(super) fn left(deadline: Deadline, most: Duration) -> Duration {
    deadline.map_or(most, |deadline| deadline.saturating_duration_since(std::time::Instant::now()).min(most))
}

/// `most`, without a clock.
#[cfg(not(feature = "std"))]
pub(super) fn left(_: Deadline, most: Duration) -> Duration {
    most
}

/// Whether it is over.
#[cfg(feature = "std")]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
}

/// Never, without a clock.
// Mutants: `with true`: not in this build: without std.
#[cfg(not(feature = "std"))]
pub(super) fn has_passed(_: Deadline) -> bool {
    false
}
