//! [`channel`]: a queue of bytes in one call.

use super::{Builder, Consumer, Producer};

/// Makes a queue for records of up to `capacity / 2` bytes. See [how much fits](super#how-much-fits).
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for so many bytes. [`Builder::build`] returns an error
/// instead.
#[must_use]
#[track_caller]
pub fn channel(capacity: usize) -> (Producer, Consumer) {
    Builder::new(capacity).build().unwrap_or_else(|error| panic!("{error}"))
}
