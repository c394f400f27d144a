//! What the Rust library's errors are in C.

use std::io;

use annulus::shm::dynamic::{self, OpenError};
use annulus::shm::{AttachError, DirectoryError, FindError, NameError, ShareError, ShmKind};

use super::error::Why;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_MISMATCH, ANNULUS_NO_MEMORY, ANNULUS_NO_RING, ANNULUS_NOT_FOUND,
    ANNULUS_OCCUPIED, ANNULUS_SYSTEM, ANNULUS_TIMEOUT, ANNULUS_WRONG_SIZE,
};
use crate::status::of_capacity;

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Self::new(ANNULUS_SYSTEM, error.to_string()).of_system(&error)
    }
}

impl From<AttachError> for Why {
    fn from(error: AttachError) -> Self {
        let text = error.to_string();
        let of = |status| Self::new(status, text.clone());
        match error {
            AttachError::PayloadSize { found, wanted } | AttachError::PayloadAlignment { found, wanted } => {
                of(ANNULUS_MISMATCH).with(found as u64, wanted as u64)
            }
            AttachError::Type { found, wanted } => {
                let found = found.map_or(0, |schema| schema.fingerprint().to_u64());
                of(ANNULUS_MISMATCH).with(found, wanted.fingerprint().to_u64())
            }
            AttachError::Kind { found, wanted } => {
                of(ANNULUS_MISMATCH).with(of_kind(found).into(), of_kind(wanted).into())
            }
            AttachError::Version { found, wanted } => of(ANNULUS_MISMATCH).with(found.into(), wanted.into()),
            AttachError::Page { found, wanted } => of(ANNULUS_MISMATCH).with(found, wanted),
            AttachError::Unknown { bits } => of(ANNULUS_MISMATCH).with(bits.into(), 0),
            AttachError::Endianness => of(ANNULUS_MISMATCH),
            AttachError::Length { found, needed } => of(ANNULUS_NO_RING).with(found, needed),
            AttachError::Damaged { value, .. } => of(ANNULUS_NO_RING).with(value, 0),
            AttachError::Occupied => of(ANNULUS_OCCUPIED),
            AttachError::NoPlace { places } => of(ANNULUS_OCCUPIED).with(places as u64, 0),
            AttachError::Closed => of(ANNULUS_CLOSED),
            AttachError::Memory(_) => of(ANNULUS_NO_MEMORY),
            AttachError::System(error) => of(ANNULUS_SYSTEM).of_system(&error),
            // It is no file in memory, not sealed, sparse, or does not begin as a ring.
            _ => of(ANNULUS_NO_RING),
        }
    }
}

/// The number of such a ring here; 0 where there is none.
fn of_kind(kind: ShmKind) -> u32 {
    match kind {
        ShmKind::Spsc => crate::ANNULUS_SPSC,
        ShmKind::Mpsc => crate::ANNULUS_MPSC,
        ShmKind::Bytes => crate::ANNULUS_BYTES,
        ShmKind::Lossy => crate::ANNULUS_LOSSY,
        ShmKind::Lossless => crate::ANNULUS_LOSSLESS,
        ShmKind::MpLossy => crate::ANNULUS_MP_LOSSY,
        ShmKind::MpLossless => crate::ANNULUS_MP_LOSSLESS,
        ShmKind::Mpmc => crate::ANNULUS_MPMC,
        _ => 0,
    }
}

impl From<ShareError> for Why {
    fn from(error: ShareError) -> Self {
        let text = error.to_string();
        match error {
            ShareError::Capacity(error) => Self::new(of_capacity(error), text),
            ShareError::Memory(_) => Self::new(ANNULUS_NO_MEMORY, text),
            ShareError::System(error) => Self::new(ANNULUS_SYSTEM, text).of_system(&error),
            ShareError::Seats { seats: places, most } | ShareError::Producers { producers: places, most } => {
                Self::new(ANNULUS_INVALID, text).with(places as u64, most as u64)
            }
            _ => Self::new(ANNULUS_INVALID, text),
        }
    }
}

impl From<OpenError> for Why {
    fn from(error: OpenError) -> Self {
        let text = error.to_string();
        match error {
            OpenError::Attach(error) => error.into(),
            OpenError::Share(error) => error.into(),
            OpenError::NoSeat(_) => Self::new(ANNULUS_OCCUPIED, text),
            OpenError::TooLong { bytes } => {
                Self::new(ANNULUS_WRONG_SIZE, text).with(bytes as u64, dynamic::LONGEST as u64)
            }
            OpenError::Kind(kind) => Self::new(ANNULUS_MISMATCH, text).with(of_kind(kind).into(), 0),
            _ => Self::new(ANNULUS_INVALID, text),
        }
    }
}

impl From<NameError> for Why {
    fn from(error: NameError) -> Self {
        let status = match error {
            NameError::NotFound { .. } | NameError::Dead { .. } => ANNULUS_NOT_FOUND,
            NameError::Taken { .. } => ANNULUS_OCCUPIED,
            NameError::TimedOut { .. } => ANNULUS_TIMEOUT,
            NameError::Bad { .. } => ANNULUS_INVALID,
            NameError::NoDescriptor { .. } => ANNULUS_NO_RING,
            _ => ANNULUS_SYSTEM,
        };
        let why = Self::new(status, error.to_string());
        match error {
            NameError::System { error, .. } => why.of_system(&error),
            _ => why,
        }
    }
}

impl From<DirectoryError> for Why {
    fn from(error: DirectoryError) -> Self {
        let why = Self::new(ANNULUS_SYSTEM, error.to_string());
        match error {
            DirectoryError::System { error, .. } => why.of_system(&error),
            _ => why,
        }
    }
}

impl From<FindError> for Why {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Name(error) => error.into(),
            FindError::Attach(error) => error.into(),
            FindError::Directory(error) => error.into(),
            FindError::Share(error) => error.into(),
            error => Self::new(ANNULUS_SYSTEM, error.to_string()),
        }
    }
}
