//! `annulus pub` and `annulus sub`: lines of text through a ring between processes, and messages of any such
//! ring as JSON (Linux).
//!
//! ```text
//! arguments   what the user says
//! publishing  `annulus pub`
//! printing    `annulus sub`
//! following   `annulus sub --follow`
//! records     `annulus sub`, of a ring of records
//! json        both of them with `--json`, for messages of any ring
//! ```

mod arguments;
mod following;
mod json;
mod printing;
mod publishing;
mod records;

use std::process::exit;
use std::sync::Arc;

use annulus::schema::Fingerprint;
use annulus::shm::{Directory, FindError, Invitation, ShmKind};

pub(crate) use arguments::{PublishArguments, SubscribeArguments};

use crate::messages::piece::Piece;
use crate::outcome::{Failure, Outcome};
use crate::rings;
use crate::signals::Signals;
use crate::stop::Stop;

/// `annulus pub`.
pub(crate) fn publish(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    if arguments.json { json::publish(arguments) } else { publishing::run(arguments) }
}

/// `annulus sub`.
pub(crate) fn subscribe(arguments: &SubscribeArguments) -> Result<Outcome, Failure> {
    if arguments.follow {
        return following::run(arguments);
    }
    let stop = Arc::new(Stop::default());
    let (told, unread) = (Arc::clone(&stop), Arc::clone(&stop));
    let end = move |outcome: Outcome| {
        if !told.stop(outcome) {
            told.count().tell();
            exit(outcome.code().into());
        }
    };
    Signals::watch()?.then(end, move || unread.count().tell_unread())?;
    let directory = if arguments.wait { rings::open_or_make } else { rings::open }(&arguments.directory)?;
    let start = arguments.begin(&directory);
    if arguments.wait {
        printing::say_if_waiting(arguments, &directory);
    } else {
        rings::find(&directory, &arguments.name)?;
    }
    let invitation = find(arguments, &directory)?;
    let info = invitation.info().map_err(|error| Failure::new(error.to_string()))?;
    if let Some(failure) = printing::unprinted(&arguments.name, info.kind()) {
        return Err(failure);
    }
    if matches!(info.kind(), ShmKind::BroadcastBytes | ShmKind::LosslessBytes) {
        return records::run(arguments, &invitation, info.kind(), start, &stop);
    }
    if arguments.json && info.fingerprint() != Fingerprint::of::<Piece>() {
        return json::print(arguments, &invitation, &info, start, &stop);
    }
    printing::run(arguments, &invitation, info, start, &stop)
}

/// The ring, as soon as it is there if the user wants to wait for it.
fn find(arguments: &SubscribeArguments, directory: &Directory) -> Result<Invitation, Failure> {
    let name = &arguments.name;
    let found = if arguments.wait {
        Invitation::wait_for(directory, name, None)
    } else {
        directory.find(name).map_err(FindError::from).and_then(|named| Invitation::find(&named))
    };
    found.map_err(|error| rings::unusable(name, &error))
}
