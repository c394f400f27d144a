//! `annulus pub --json`.

use std::io::BufRead;
use std::mem;
use std::ops::ControlFlow;
use std::process::exit;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::schema::Schema;
use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{OpenError, Sender};
use annulus::shm::{Directory, Invitation, PublishedName, Shared, ShmKind};
use annulus::{SendTimeoutError, WaitStrategy};

use super::super::arguments::PublishArguments;
use super::super::publishing::{await_subscribers, each_line, input, line_of, stay_a_moment};
use super::{reason, schema_of};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings::{self, SEATS};
use crate::signals::Signals;
use crate::text::{counted, quoted};
use crate::values::encode;

/// So long a signal waits at most where the ring is full.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a signal gives back: its place in the ring, and the name if the ring is its own.
struct Held {
    sender: Sender,
    name: Option<PublishedName>,
    published: u64,
    /// Whether all of the input is published.
    has_all: bool,
}

/// Publishes each line of the input as a message.
pub(in crate::lines) fn run(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    // Before the name: an input that is not there publishes nothing.
    let mut input = input(arguments)?;
    let signals = Signals::watch()?;
    let (held, schema, directory) = match &arguments.schema {
        Some(schema) => own(arguments, schema)?,
        None => joined(arguments)?,
    };
    let begun = Instant::now();
    let held = Arc::new(Mutex::new(Some(held)));
    let stopped = Arc::new(OnceLock::new());
    let (taken, told) = (Arc::clone(&held), Arc::clone(&stopped));
    let on_signal = move |outcome: Outcome| {
        // (The main thread lets go of the ring at once.)
        let _ = told.set(());
        end(&taken);
        exit(outcome.code().into());
    };
    signals.then(on_signal, || {})?;
    let is_own = arguments.schema.is_some();
    if is_own {
        let path = directory.path().to_string_lossy().into_owned();
        say(format_args!("publishing messages to {} in {}", quoted(&arguments.name), quoted(&path)));
    }
    let awaited =
        if is_own && arguments.lossless { await_subscribers(arguments, &directory) } else { Ok(()) };
    let published = awaited.and_then(|()| publish_all(arguments, &mut input, &schema, &held, &stopped));
    // (Otherwise the ring was closed before.)
    let has_all = matches!(published, Ok(Outcome::Passed));
    with(&held, &stopped, |held| held.has_all = has_all);
    if has_all && arguments.stay {
        say(format_args!("staying until Ctrl-C or SIGTERM"));
        loop {
            thread::park();
        }
    }
    if is_own && !arguments.lossless {
        stay_a_moment(&directory, &arguments.name, begun);
    }
    end(&held);
    published
}

/// Does it with the ring. After a signal this does not return: the process ends.
fn with<R>(held: &Mutex<Option<Held>>, stopped: &OnceLock<()>, act: impl FnOnce(&mut Held) -> R) -> R {
    while stopped.get().is_none() {
        // (None: a signal has come just now.)
        if let Some(held) = &mut *held.lock().unwrap_or_else(PoisonError::into_inner) {
            return act(held);
        }
    }
    loop {
        thread::park();
    }
}

/// Leaves the ring, and says how many messages it has had.
fn end(held: &Mutex<Option<Held>>) {
    // (To the end, so that neither thread ends the process while the other one leaves the ring.)
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Held { sender, name, published, has_all }) = held.take() else { return };
    let is_own = name.is_some();
    // Before the ring: the name never leads to none.
    drop(name);
    if is_own && !has_all {
        // The ring is not closed: its subscribers find that this process has died.
        mem::forget(sender);
    } else {
        drop(sender);
    }
    say(format_args!("published {}", counted(published, "message")));
}

/// A ring that is there.
fn joined(arguments: &PublishArguments) -> Result<(Held, Schema, Directory), Failure> {
    let name = &arguments.name;
    let options = [
        (arguments.lossless, "--lossless"),
        (arguments.capacity.is_some(), "--capacity"),
        (arguments.deadline.is_some(), "--deadline"),
    ];
    if let Some((_, option)) = options.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::new(format!(
            "{option} is for a ring of its own: leave it out, or make one with --schema"
        )));
    }
    let directory = rings::open(&arguments.directory)?;
    let named = rings::find(&directory, name)?;
    let invitation = Invitation::find(&named).map_err(|error| rings::unusable(name, &error))?;
    let unusable =
        |error: &dyn std::fmt::Display| Failure::new(format!("{} can't be used: {error}", quoted(name)));
    let info = invitation.info().map_err(|error| unusable(&error))?;
    let schema = schema_of(name, &info)?;
    let of = MessageType::described(schema.clone(), info.payload_alignment());
    let sender = Sender::join(&invitation, &of, WaitStrategy::default()).map_err(|error| match error {
        OpenError::Kind(ShmKind::Service) => {
            Failure::new(format!("{} is a service: `annulus call` asks it", quoted(name)))
        }
        OpenError::Kind(ShmKind::Watch) => Failure::new(format!(
            "{} has newest values, which only its sender changes: {}",
            quoted(name),
            rings::verb_for(ShmKind::Watch),
        )),
        OpenError::Kind(kind) => Failure::new(format!(
            "{} is a {kind}, and has its one publisher: a broadcast ring of several publishers or a queue of \
             several producers takes this one too; or make a ring of another name by --schema",
            quoted(name),
        )),
        error => unusable(&reason(&error)),
    })?;
    Ok((Held { sender, name: None, published: 0, has_all: false }, schema, directory))
}

/// A ring of its own.
fn own(arguments: &PublishArguments, schema: &Schema) -> Result<(Held, Schema, Directory), Failure> {
    let directory = rings::open_or_make(&arguments.directory)?;
    let of = MessageType::described(schema.clone(), 1);
    let settings = arguments.settings();
    let made = if arguments.lossless {
        Sender::lossless(settings, &of, SEATS.into())
    } else {
        Sender::lossy(settings, &of)
    };
    let Shared { handle: sender, invitation, .. } = made.map_err(|error| match error {
        OpenError::Share(error) => rings::not_made(arguments.capacity(), &error),
        error => Failure::new(format!("{}: {}", quoted(&arguments.name), reason(&error))),
    })?;
    let name = invitation.publish(&directory, &arguments.name);
    let name = name.map_err(|error| Failure::new(error.to_string()))?;
    Ok((Held { sender, name: Some(name), published: 0, has_all: false }, schema.clone(), directory))
}

/// Publishes each line.
fn publish_all(
    arguments: &PublishArguments,
    input: impl BufRead,
    schema: &Schema,
    held: &Mutex<Option<Held>>,
    stopped: &OnceLock<()>,
) -> Result<Outcome, Failure> {
    each_line(arguments, arguments.size()?, input, |number, line| {
        if line.trim_ascii().is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let wrong = |what: &str| Failure::new(format!("{}: {what}", line_of(arguments, number)));
        let value =
            serde_json::from_slice(line).map_err(|error| wrong(&format!("it is no JSON: {error}")))?;
        let message = encode(schema, &value).map_err(|what| wrong(&what))?;
        loop {
            let sent = with(held, stopped, |held| {
                let sent = held.sender.send_timeout(&message, PATIENCE);
                held.published += u64::from(sent.is_ok());
                sent
            });
            match sent {
                Ok(()) => return Ok(ControlFlow::Continue(())),
                Err(SendTimeoutError::Timeout(())) => {}
                Err(SendTimeoutError::Closed(())) => {
                    say(format_args!("{} is closed", quoted(&arguments.name)));
                    return Ok(ControlFlow::Break(Outcome::Failed));
                }
            }
        }
    })
}
