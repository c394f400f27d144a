//! [`Sleepers`]: who waits at an event, with `std` or without.

/// What a waker finds at an event behind its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(any(feature = "std", feature = "async")), allow(dead_code, reason = "nobody sleeps"))]
pub(crate) enum Sleepers {
    /// Nobody waits, and the event is not closed: there is nothing to do.
    Nobody,
    /// Tasks of this process and nobody else, and the event is not closed.
    Tasks,
    /// Threads wait, or others may wait in other processes, or the event is closed.
    More,
}
