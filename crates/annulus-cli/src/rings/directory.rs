//! The directory of the names, as the user says where it is, and the ring that has a name there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use annulus::shm::{
    AttachError, Directory, DirectoryError, FindError, NameError, NamedRing, RingInfo, RingObserver,
};
use clap::Args;

use crate::messages::described;
use crate::outcome::Failure;
use crate::text::{printable, quoted};

/// Where the names are.
#[derive(Args)]
pub(crate) struct DirectoryOption {
    /// The directory of the names [default: `$XDG_RUNTIME_DIR/annulus`, or /dev/shm/annulus-UID]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,

    /// What the group and others may do in that directory, at most, as `chmod` has it
    ///
    /// A directory that is made has this mode; without it, it is the user's alone (700). One that is there
    /// may be open to a group, and to all for reading (775). Users of a group share rings by a directory of
    /// that group: `install -d -g GROUP -m 2770 PATH`.
    #[arg(long, value_name = "OCTAL", value_parser = mode, requires = "directory")]
    mode: Option<u32>,
}

/// Of a directory that is there, where the user names none.
const MOST_OPEN: u32 = 0o775;

fn mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 && mode & 0o700 == 0o700 => Ok(mode),
        _ => {
            Err("three octal digits, of which the first is 7: 700, 750, 770, 775 or 777, for example".into())
        }
    }
}

impl DirectoryOption {
    /// What a subcommand was given that has it as an option of its own.
    pub(crate) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, mode: None }
    }

    /// As it was given, for a process that this one starts.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let directory = self.directory.iter().flat_map(|path| ["--directory".into(), path.into()]);
        let mode = self.mode.iter().flat_map(|mode| ["--mode".into(), format!("{mode:o}").into()]);
        directory.chain(mode).collect()
    }

    /// Of the directory that was named: one that is there, or one that is to be made.
    fn mode(&self, is_there: bool) -> u32 {
        self.mode.unwrap_or(if is_there { MOST_OPEN } else { 0o700 })
    }

    /// As the user gave it.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.directory.as_deref()
    }
}

/// The directory of the names, which must be there if it is named.
pub(crate) fn open(option: &DirectoryOption) -> Result<Directory, Failure> {
    match &option.directory {
        // (It would be made.)
        Some(path) if !path.exists() => {
            let path = quoted(&path.to_string_lossy());
            Err(Failure::new(format!("there is no directory {path}")))
        }
        _ => open_or_make(option),
    }
}

/// The directory of the names. If it is not there, it is made.
pub(crate) fn open_or_make(option: &DirectoryOption) -> Result<Directory, Failure> {
    let opened: Result<Directory, DirectoryError> = match &option.directory {
        Some(path) => Directory::with_mode(path, option.mode(path.exists())),
        None => Directory::of_user(),
    };
    opened.map_err(|error| {
        let advice = match &error {
            DirectoryError::Mode { mode, .. } if option.directory.is_some() => {
                format!(" (--mode {:o} allows it)", mode | 0o700)
            }
            _ => String::new(),
        };
        Failure::new(format!("{error}{advice}"))
    })
}

/// The ring that has this name.
///
/// # Errors
///
/// There is no such ring, or its process is dead.
pub(crate) fn find(directory: &Directory, name: &str) -> Result<NamedRing, Failure> {
    directory.find(name).map_err(|error| not_found(directory, &error))
}

/// What keeps this process from the name of a ring. Where there is none of that name, it says where it has
/// looked, and what else to do.
pub(crate) fn not_found(directory: &Directory, error: &NameError) -> Failure {
    let NameError::NotFound { .. } = error else { return Failure::new(error.to_string()) };
    let path = printable(&directory.path().to_string_lossy());
    Failure::new(format!(
        "{error} in `{path}`: `annulus ls` lists the rings of a directory, and --directory names another one"
    ))
}

/// The ring of this name, to be looked at.
///
/// # Errors
///
/// There is no such ring, its process is dead, or it can't be understood.
pub(crate) fn observe(directory: &Directory, name: &str) -> Result<(NamedRing, RingObserver), Failure> {
    let named = find(directory, name)?;
    let observer = RingObserver::of(&named).map_err(|error| unusable(name, &error))?;
    Ok((named, observer))
}

/// What keeps this process from the ring of this name.
pub(crate) fn unusable(name: &str, error: &FindError) -> Failure {
    Failure::new(match error {
        FindError::Attach(error) => format!("{} can't be used: {error}", quoted(name)),
        // It has the name in it.
        error => error.to_string(),
    })
}

/// Why a ring carries something else: what its messages are, where the error has numbers of types.
pub(crate) fn mismatch(info: Option<RingInfo>, error: &AttachError) -> String {
    use AttachError::{PayloadAlignment, PayloadSize, Type};
    match (error, info) {
        (PayloadSize { .. } | PayloadAlignment { .. } | Type { .. }, Some(info)) => {
            format!("its messages are {}", described(&info))
        }
        _ => error.to_string(),
    }
}
