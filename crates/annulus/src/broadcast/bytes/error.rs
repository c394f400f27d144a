//! [`TooLong`]: a record that no ring of this capacity takes.

use core::error::Error;
use core::fmt;

/// A record is longer than half of the ring's capacity, so it was not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TooLong {
    /// The length of the record, in bytes.
    pub len: usize,
    /// The length of the longest record that the ring takes, in bytes.
    pub max_len: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, max_len } = self;
        write!(
            f,
            "a record of {len} bytes is too long: this ring takes {max_len} at most, half of its capacity"
        )
    }
}

impl Error for TooLong {}
