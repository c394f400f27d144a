//! [`ShareError`]: why a ring between processes could not be made.

use core::error::Error;
use core::fmt;
use std::io;

use crate::error::CapacityError;
use crate::memory::{MemoryError, NoMemory};
use crate::os::error::Detail;

/// Why a ring between processes could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShareError {
    /// There is no such ring: see [`CapacityError`].
    Capacity(CapacityError),
    /// An option that the builder requires of its [`Memory`](crate::memory::Memory) was refused.
    Memory(MemoryError),
    /// A lossless ring can't have so many seats.
    Seats {
        /// How many were asked for.
        seats: usize,
        /// How many there can be. There must be one at least.
        most: usize,
    },
    /// A queue can't have places for so many producers, nor a ring for so many publishers.
    Producers {
        /// How many were asked for.
        producers: usize,
        /// How many there can be. There must be one at least.
        most: usize,
    },
    /// The schema of the messages is longer than a ring can hold, even without units and comments.
    Schema {
        /// How many bytes its text has.
        bytes: usize,
        /// How many there can be.
        most: usize,
    },
    /// The system refuses it: it has no memory left, or this process may not open more files, or there is no
    /// `/proc`. The error says at which step, and what to change.
    System(io::Error),
}

impl From<CapacityError> for ShareError {
    fn from(error: CapacityError) -> Self {
        Self::Capacity(error)
    }
}

impl From<NoMemory> for ShareError {
    fn from(error: NoMemory) -> Self {
        match error {
            NoMemory::Refused(error) => Self::Memory(error),
            NoMemory::System(error) => Self::System(error),
        }
    }
}

impl From<io::Error> for ShareError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
            Self::Seats { seats, most } => {
                write!(f, "a lossless ring can't have {seats} seats: take 1 to {most}")
            }
            Self::Producers { producers, most } => {
                write!(f, "there can't be places for {producers} producers: take 1 to {most}")
            }
            Self::Schema { bytes, most } => write!(
                f,
                "the schema of the messages has {bytes} bytes as text, and a ring holds {most}: take fewer fields, or shorter names",
            ),
            Self::System(error) => {
                write!(f, "the system refuses a ring between processes: {}", Detail(error))
            }
        }
    }
}

impl Error for ShareError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Capacity(error) => Some(error),
            Self::Memory(error) => Some(error),
            Self::System(error) => Some(error),
            Self::Seats { .. } | Self::Producers { .. } | Self::Schema { .. } => None,
        }
    }
}
