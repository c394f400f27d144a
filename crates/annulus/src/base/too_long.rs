//! [`TooLong`]: bytes that fit nowhere.

use core::error::Error;
use core::fmt;

/// A record that is longer than any that its ring takes, or a text that is longer than its
/// [`Text`](crate::Text). To wait does not help. Nothing was written.
///
/// ```
/// let error = annulus::Text::<4>::try_from("XETR:SAP").unwrap_err();
/// assert_eq!((error.len, error.max), (8, 4));
/// assert_eq!(error.to_string(), "8 bytes are too many: there may be 4 at most");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TooLong {
    /// How many bytes it has.
    pub len: usize,
    /// How many it may have. For a record: half the capacity of its ring.
    pub max: usize,
}

impl TooLong {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(len: usize, max: usize) -> Self {
        Self { len, max }
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are too many: there may be {} at most", self.len, self.max)
    }
}

impl Error for TooLong {}
