//! `annulus ls`, `annulus info` and `annulus rm`: the rings between processes that have names (Linux).
//!
//! ```text
//! arguments   what the user says
//! listing     `annulus ls`: all names, what they stand for, and who is there; also as JSON
//! info        `annulus info`: one of them in words, or as JSON
//! sampler     looks at all rings of a directory      sample     what it has found
//! processes   who has a ring, as `/proc` says
//! bridges     what bridges say of the rings that they carry from machine to machine
//! ring        for those who publish: a ring of either mode
//! ```

mod arguments;
pub(crate) mod bridges;
mod info;
mod listing;
mod processes;
mod ring;
pub(crate) mod sample;
pub(crate) mod sampler;

use std::path::Path;

use annulus::shm::{
    AttachError, Directory, DirectoryError, Entry, FindError, NameError, NamedRing, PeerState, RingInfo,
    RingObserver,
};

pub(crate) use info::ReaderInfo;

pub(crate) use arguments::{DirectoryOption, InfoArguments, ListArguments, RemoveArguments};

pub(crate) use ring::{Ring, SEATS, is_read, wait_for_readers};

use crate::outcome::{Failure, Outcome};
use crate::output;
use crate::text::quoted;
use crate::watch::described;
use info::Info;
use listing::Listing;
use sampler::Sampler;

/// `annulus ls`.
pub(crate) fn list(arguments: &ListArguments) -> Result<Outcome, Failure> {
    let mut sampler = Sampler::new(&arguments.directory)?;
    if arguments.names {
        let names = sampler.names().map_err(Failure::new)?;
        output::print(&names.iter().flat_map(|name| [name, "\n"]).collect::<String>())?;
        return Ok(Outcome::Passed);
    }
    let sample = sampler.sample();
    if let Some(trouble) = sample.trouble {
        return Err(Failure::new(trouble));
    }
    let listing = Listing::of(sample);
    output::print(&if arguments.json { listing.to_json() } else { listing.to_text(output::room()) })?;
    Ok(Outcome::Passed)
}

/// `annulus info`.
pub(crate) fn info(arguments: &InfoArguments) -> Result<Outcome, Failure> {
    let info = Info::of(&open(&arguments.directory)?, &arguments.name)?;
    output::print(&if arguments.json { info.to_json() } else { info.to_text(output::room()) })?;
    Ok(Outcome::Passed)
}

/// `annulus rm`. Every name is tried.
pub(crate) fn remove(arguments: &RemoveArguments) -> Result<Outcome, Failure> {
    let directory = open(&arguments.directory)?;
    if arguments.dead {
        return remove_dead(&directory);
    }
    let mut refused = Vec::new();
    for name in &arguments.names {
        if let Err(error) = directory.remove(name, arguments.force) {
            refused.push(match error {
                NameError::Taken { .. } => format!("{error}, and is removed by --force only"),
                error => error.to_string(),
            });
        }
    }
    all_but(&refused)
}

/// `annulus rm --dead`. Every name is tried.
fn remove_dead(directory: &Directory) -> Result<Outcome, Failure> {
    let entries = directory.list().map_err(|error| Failure::new(error.to_string()))?;
    let (mut removed, mut refused) = (String::new(), Vec::new());
    for Entry { name, .. } in entries.into_iter().filter(|entry| entry.state == PeerState::Dead) {
        match directory.remove(&name, false) {
            Ok(()) => removed.extend([&name, "\n"]),
            // Since it was listed, another ring has taken the name, or somebody has removed it.
            Err(NameError::Taken { .. } | NameError::NotFound { .. }) => {}
            Err(error) => refused.push(error.to_string()),
        }
    }
    output::print(&removed)?;
    all_but(&refused)
}

/// What could not be removed, each on a line.
fn all_but(refused: &[String]) -> Result<Outcome, Failure> {
    if refused.is_empty() { Ok(Outcome::Passed) } else { Err(Failure::new(refused.join("\nerror: "))) }
}

/// The ring of this name, to be looked at.
///
/// # Errors
///
/// There is no such ring, its process is dead, or it can't be understood.
pub(crate) fn observe(directory: &Directory, name: &str) -> Result<(NamedRing, RingObserver), Failure> {
    let named = directory.find(name).map_err(|error| Failure::new(error.to_string()))?;
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

/// The directory of the names, which must be there if it is named.
pub(crate) fn open(option: &DirectoryOption) -> Result<Directory, Failure> {
    match &option.directory {
        // (It would be made.)
        Some(path) if !path.exists() => Err(no_directory(path)),
        _ => open_or_make(option),
    }
}

/// The user has named this one.
fn no_directory(path: &Path) -> Failure {
    Failure::new(format!("there is no directory {}", quoted(&path.to_string_lossy())))
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
