//! `annulus ls`, `annulus info` and `annulus rm`: the rings between processes that have names (Linux).
//!
//! ```text
//! arguments   what the user says
//! directory   where the names are, and the ring that has one
//! listing     `annulus ls`: all names, what they stand for, and their processes; also as JSON
//! info        `annulus info`: one of them in words, or as JSON
//! sampler     looks at all rings of a directory      sample     what it has found
//! processes   which processes have a ring, as `/proc` says
//! bridges     what bridges say of the rings that they carry from machine to machine
//! ring        for publishers: a ring of either mode, and why there is none
//! ```

mod arguments;
pub(crate) mod bridges;
mod directory;
mod info;
mod listing;
mod processes;
mod ring;
pub(crate) mod sample;
pub(crate) mod sampler;

use annulus::shm::{Directory, Entry, NameError, PeerState};

pub(crate) use arguments::{InfoArguments, ListArguments, RemoveArguments};
pub(crate) use directory::{
    DirectoryOption, find, mismatch, not_found, observe, open, open_or_make, unusable,
};
pub(crate) use info::{FramesInfo, ReaderInfo};
pub(crate) use ring::{Ring, SEATS, is_read, not_made, seats, wait_for_readers};
pub(crate) use sample::{has_messages, is_a, is_lossless, verb_for};

use crate::outcome::{Failure, Outcome};
use crate::output;
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
    let sample = sampler.sample_with_answers();
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
                error => not_found(&directory, &error).to_string(),
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
