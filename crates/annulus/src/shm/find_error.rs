//! [`FindError`]: why a ring can't have a name, or can't be had by its name.

use core::error::Error;
use core::fmt;

use super::error::AttachError;
use super::name_error::{DirectoryError, NameError};
use super::share_error::ShareError;

/// Why a ring can't have a name, or can't be had by its name.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// The name is not to be had.
    Name(NameError),
    /// What is to have it, or has it, is no ring.
    Attach(AttachError),
    /// The user's directory of names can't be used.
    Directory(DirectoryError),
    /// There can be no such ring.
    Share(ShareError),
}

impl From<DirectoryError> for FindError {
    fn from(error: DirectoryError) -> Self {
        Self::Directory(error)
    }
}

impl From<ShareError> for FindError {
    fn from(error: ShareError) -> Self {
        Self::Share(error)
    }
}

impl From<NameError> for FindError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<AttachError> for FindError {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Attach(error) => error.fmt(f),
            Self::Directory(error) => error.fmt(f),
            Self::Share(error) => error.fmt(f),
        }
    }
}

impl Error for FindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Name(error) => Some(error),
            Self::Attach(error) => Some(error),
            Self::Directory(error) => Some(error),
            Self::Share(error) => Some(error),
        }
    }
}
