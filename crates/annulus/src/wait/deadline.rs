//! When a wait gives up.

/// When a wait gives up. Without `std` there is no clock, and no wait ever does.
#[cfg(feature = "std")]
pub(crate) type Deadline = Option<std::time::Instant>;
#[cfg(not(feature = "std"))]
pub(crate) type Deadline = Option<core::convert::Infallible>;

/// Whether it is over.
#[cfg(feature = "std")]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
}

/// Never, without a clock.
#[cfg(not(feature = "std"))]
pub(super) fn has_passed(_: Deadline) -> bool {
    false
}
