//! Records: byte strings of any length, each sent and received as a whole.
//!
//! ```text
//! queue       how a queue of records is made          producer, consumer      its verbs
//! broadcast   how a broadcast ring of them is made    publisher, subscriber   its verbs
//! ```
//!
//! The handles are types of their own: a record has a length, which a verb takes or returns, and a message of
//! the other rings has none. What all rings have in common is the same: options, closers, statistics.

use annulus::queue::bytes::{TryWriteError, WriteError, WriteTimeoutError};

use crate::status::annulus_status::{
    self, ANNULUS_CLOSED, ANNULUS_FULL, ANNULUS_TIMEOUT, ANNULUS_WRONG_SIZE,
};

mod queue;

mod producer;

mod consumer;

mod broadcast;

mod publisher;

mod subscriber;

pub use broadcast::*;
pub use consumer::*;
pub use producer::*;
pub use publisher::*;
pub use queue::*;
pub use subscriber::*;

pub(crate) use consumer::BytesConsumer;
pub(crate) use producer::BytesProducer;

// Of which rings between processes are made, too.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) use {consumer::Reading, producer::Writing, queue::ring_of};

/// Why a record is not written.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`, here and below")]
fn of_try_write(error: TryWriteError) -> annulus_status {
    match error {
        TryWriteError::Full => ANNULUS_FULL,
        TryWriteError::Closed => ANNULUS_CLOSED,
        TryWriteError::TooLong(_) => ANNULUS_WRONG_SIZE,
    }
}

#[allow(clippy::needless_pass_by_value, reason = "as above")]
fn of_write(error: WriteError) -> annulus_status {
    match error {
        WriteError::Closed => ANNULUS_CLOSED,
        WriteError::TooLong(_) => ANNULUS_WRONG_SIZE,
    }
}

#[allow(clippy::needless_pass_by_value, reason = "as above")]
fn of_timed_write(error: WriteTimeoutError) -> annulus_status {
    match error {
        WriteTimeoutError::Timeout => ANNULUS_TIMEOUT,
        WriteTimeoutError::Closed => ANNULUS_CLOSED,
        WriteTimeoutError::TooLong(_) => ANNULUS_WRONG_SIZE,
    }
}
