//! [`channel`]: a queue in one order in one call.

use super::{Builder, Receiver, Sender};

/// Makes a queue that holds exactly `capacity` messages, whoever sent them.
///
/// # Panics
///
/// If `capacity` is 0, or memory has no room for so many slots. [`Builder::build`] returns an error instead.
#[doc(alias = "ArrayQueue")]
#[doc(alias = "SegQueue")]
#[doc(alias = "unbounded_channel")]
#[doc(alias = "bounded")]
#[doc(alias = "unbounded")]
#[must_use]
#[track_caller]
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Builder::new(capacity).build_or_panic()
}
