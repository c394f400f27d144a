//! Without the feature `async` no task waits.

/// Nobody.
pub(super) struct Waiters;

#[allow(clippy::unused_self, reason = "the same shape as those that wait")]
impl Waiters {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn count(&self) -> usize {
        0
    }

    pub(super) fn wake_all(&self) -> bool {
        false
    }

    pub(super) fn wake_some(&self, _most: u32) -> u32 {
        0
    }
}
