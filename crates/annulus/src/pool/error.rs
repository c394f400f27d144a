//! The errors of a pool.

use core::error::Error;
use core::fmt;

use crate::memory::MemoryError;

/// Why a pool of the requested size can't be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// A slab needs at least one byte.
    EmptySlab,
    /// A pool needs at least one slab.
    NoSlab,
    /// A 4-byte handle has no room for the index of so many slabs and a generation of 8 bits.
    TooMany {
        /// What was asked for.
        count: usize,
        /// The most that would do.
        largest: usize,
    },
    /// That many slabs of that size do not fit into memory.
    TooLarge {
        /// What a slab was to hold, in bytes.
        slab_bytes: usize,
        /// How many were asked for.
        count: usize,
    },
    /// The memory of the slabs can't be as it was required: see [`MemoryError`].
    Memory(MemoryError),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptySlab => f.write_str("slabs of 0 bytes hold nothing: a slab needs at least 1"),
            Self::NoSlab => f.write_str("a pool of 0 slabs gives nothing away: it needs at least 1"),
            Self::TooMany { count, largest } => {
                write!(f, "{count} slabs are too many for handles of 4 bytes: a pool has {largest} at most")
            }
            Self::TooLarge { slab_bytes, count } => {
                write!(f, "no memory for {count} slabs of {slab_bytes} bytes")
            }
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl Error for PoolError {}

/// Why a handle could not be redeemed. The attempt changes nothing: a handle that is out stays good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HandleError {
    /// The handle names a slab that the pool does not have, so this pool did not make it.
    NoSuchSlab {
        /// Which one.
        slab: usize,
        /// How many there are, from 0 on.
        count: usize,
    },
    /// The handle was redeemed already, or this pool never made it: the slab has another generation.
    Stale {
        /// Which one.
        slab: usize,
        /// The generation in the handle.
        generation: u32,
        /// The generation of the slab: its handle's, if one is out, or else its next handle's.
        current: u32,
    },
    /// No handle of this slab is out. Its next handle would look like this one.
    NotOut {
        /// Which one.
        slab: usize,
    },
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSlab { slab, count } => {
                write!(
                    f,
                    "the handle names slab {slab} of a pool that has {count}: it is of another pool, or forged"
                )
            }
            Self::Stale { slab, generation, current } => {
                write!(
                    f,
                    "the handle has generation {generation} of slab {slab}, which is at {current}: it was redeemed before, or is of another pool"
                )
            }
            Self::NotOut { slab } => {
                write!(f, "no handle of slab {slab} is out: this one is of another pool, or forged")
            }
        }
    }
}

impl Error for HandleError {}
