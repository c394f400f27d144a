//! Which exception an error of the library is.

use std::io;

use annulus::schema::Schema;
use annulus::shm::dynamic::OpenError;
use annulus::shm::{AttachError, DirectoryError, FindError, NameError, ShareError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::about::ring_of;
use crate::errors::{Which, closed, error, system_error};

/// What a process asked for, and what it found: for the text of an error.
#[derive(Default)]
pub(crate) struct Sides<'a> {
    /// The ring's name, if it has one.
    pub(crate) name: Option<&'a str>,
    /// What the ring's messages are.
    pub(crate) found: String,
    /// What was asked for.
    pub(crate) wanted: String,
}

/// What messages are, for the text of an error.
pub(crate) fn messages(schema: Option<&Schema>, bytes: usize) -> String {
    schema.map_or_else(
        || format!("{bytes} bytes each, without a schema"),
        |schema| format!("{schema} ({bytes} bytes)"),
    )
}

impl Sides<'_> {
    fn about(&self, text: &impl std::fmt::Display) -> String {
        format!("{} can't be used: {text}", ring_of(self.name))
    }

    pub(crate) fn of_open(&self, py: Python<'_>, refused: &OpenError) -> PyErr {
        match refused {
            OpenError::Attach(refused) => self.of_attach(py, refused),
            OpenError::Share(refused) => of_share(py, refused),
            OpenError::NoSeat(refused) => error(py, Which::NoSeat, self.about(refused)),
            OpenError::Kind(kind) => error(
                py,
                Which::Mismatch,
                format!("{} is a {kind}, which has no such end", ring_of(self.name)),
            ),
            OpenError::TooLong { .. } => PyValueError::new_err(refused.to_string()),
            _ => error(py, Which::Base, self.about(refused)),
        }
    }

    pub(crate) fn of_attach(&self, py: Python<'_>, refused: &AttachError) -> PyErr {
        use AttachError as E;
        let which = match refused {
            E::PayloadSize { .. } | E::PayloadAlignment { .. } | E::Type { .. } => {
                let Self { found, wanted, .. } = self;
                let text =
                    format!("{}\n  the ring's messages: {found}\n  asked for: {wanted}", self.about(refused));
                return error(py, Which::Mismatch, text);
            }
            E::Kind { .. } => Which::Mismatch,
            E::Occupied | E::NoPlace { .. } => Which::NoSeat,
            E::Closed => return closed(py, false, &self.about(refused)),
            E::System(of) if of.kind() == io::ErrorKind::PermissionDenied => {
                return system_error(py, Which::Permission, self.about(refused), of, None);
            }
            _ => Which::Base,
        };
        error(py, which, self.about(refused))
    }

    pub(crate) fn of_find(&self, py: Python<'_>, refused: &FindError) -> PyErr {
        match refused {
            FindError::Attach(refused) => self.of_attach(py, refused),
            FindError::Share(refused) => of_share(py, refused),
            FindError::Name(refused) => of_name(py, refused),
            FindError::Directory(refused) => of_directory(py, refused),
            _ => error(py, Which::Base, self.about(refused)),
        }
    }
}

pub(crate) fn of_share(py: Python<'_>, refused: &ShareError) -> PyErr {
    match refused {
        ShareError::Capacity(_)
        | ShareError::Seats { .. }
        | ShareError::Cells { .. }
        | ShareError::Producers { .. }
        | ShareError::Frames { .. }
        | ShareError::Schema { .. } => PyValueError::new_err(refused.to_string()),
        _ => error(py, Which::Base, refused.to_string()),
    }
}

pub(crate) fn of_name(py: Python<'_>, refused: &NameError) -> PyErr {
    use NameError as E;
    let which = match refused {
        E::Bad { .. } => return PyValueError::new_err(refused.to_string()),
        E::NotFound { .. } | E::Dead { .. } => Which::NotFound,
        E::Taken { .. } | E::InTheWay { .. } => Which::Taken,
        E::Owner { .. } | E::OtherNamespace { .. } | E::NotPermitted { .. } => Which::Permission,
        E::System { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
            return system_error(py, Which::Permission, refused.to_string(), error, None);
        }
        E::TimedOut { .. } => Which::Timeout,
        _ => Which::Base,
    };
    error(py, which, refused.to_string())
}

pub(crate) fn of_directory(py: Python<'_>, refused: &DirectoryError) -> PyErr {
    use DirectoryError as E;
    let text = refused.to_string();
    match refused {
        E::Owner { .. } => error(py, Which::Permission, text),
        E::System { error, path } => {
            let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
            let which = if is_denied { Which::Permission } else { Which::Directory };
            // Python shows the path behind the text.
            let begin = format!("{}: ", path.display());
            system_error(py, which, text.strip_prefix(&begin).unwrap_or(&text), error, Some(path))
        }
        _ => error(py, Which::Directory, text),
    }
}
