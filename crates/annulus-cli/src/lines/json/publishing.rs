//! `annulus pub --json`.

use std::process::exit;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::SendTimeoutError;
use annulus::schema::Schema;
use annulus::shm::blocks::MessageType;
use annulus::shm::{Directory, Invitation, PublishedName};

use super::super::arguments::PublishArguments;
use super::super::publishing::{await_subscribers, input, line_of, pace, stay_a_moment, unreadable};
use super::ends::{Refused, Sink, make, sink};
use super::schema_of;
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings::{self, SEATS};
use crate::signals::Signals;
use crate::text::{counted, grouped, quoted};
use crate::values::encode;

/// So long a signal waits at most where the ring is full.
const PATIENCE: Duration = Duration::from_millis(50);

/// No number is aligned to more.
const MOST_ALIGNMENT: usize = 16;

/// What a signal gives back: its place in the ring, and the name if the ring is its own.
struct Held {
    sink: Box<dyn Sink>,
    name: Option<PublishedName>,
    published: u64,
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
    signals.then(move |outcome| {
        // (The main thread lets go of the ring at once.)
        let _ = told.set(());
        end(&taken);
        exit(outcome.code().into());
    })?;
    let is_own = arguments.schema.is_some();
    if is_own {
        let path = directory.path().to_string_lossy().into_owned();
        say(format_args!("publishing messages to {} in {}", quoted(&arguments.name), quoted(&path)));
    }
    let awaited =
        if is_own && arguments.lossless { await_subscribers(arguments, &directory) } else { Ok(()) };
    let published = awaited.and_then(|()| publish_all(arguments, &mut input, &schema, &held, &stopped));
    if published.is_ok() && arguments.stay {
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

/// Leaves the ring, and says how many messages it has had.
fn end(held: &Mutex<Option<Held>>) {
    if let Some(Held { sink, name, published }) = held.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // (Whoever finds the name finds the ring.)
        drop(name);
        drop(sink);
        say(format_args!("published {}", counted(published, "message")));
    }
}

/// A ring that is there.
fn joined(arguments: &PublishArguments) -> Result<(Held, Schema, Directory), Failure> {
    let name = &arguments.name;
    let directory = rings::open(&arguments.directory)?;
    let named = directory.find(name).map_err(|error| Failure::new(error.to_string()))?;
    let invitation = Invitation::find(&named).map_err(|error| rings::unusable(name, &error))?;
    let unusable =
        |error: &dyn std::fmt::Display| Failure::new(format!("{} can't be used: {error}", quoted(name)));
    let info = invitation.info().map_err(|error| unusable(&error))?;
    let schema = schema_of(name, &info)?;
    let of = MessageType::described(schema.clone(), info.payload_alignment());
    let sink = sink(&invitation, &of).map_err(|refused| match refused {
        Refused::Attach(error) => unusable(&error),
        Refused::Other(error) => unusable(&error),
        Refused::Size => too_large(&schema),
        Refused::Kind => Failure::new(format!(
            "{} is a {}, and has its one publisher: a broadcast ring of several publishers or a queue of several \
             producers takes this one too; or make a ring of another name by --schema",
            quoted(name),
            info.kind()
        )),
    })?;
    Ok((Held { sink, name: None, published: 0 }, schema, directory))
}

/// A ring of its own.
fn own(arguments: &PublishArguments, schema: &Schema) -> Result<(Held, Schema, Directory), Failure> {
    let directory = rings::open_or_make(&arguments.directory)?;
    // As much as any type of that size: a process that joins may want no more.
    let alignment = 1 << schema.size().trailing_zeros().min(MOST_ALIGNMENT.ilog2());
    let of = MessageType::described(schema.clone(), alignment);
    let made = make(arguments.capacity, &of, arguments.lossless.then_some(SEATS));
    let (sink, invitation) = made.map_err(|refused| match refused {
        Refused::Attach(error) => Failure::new(error.to_string()),
        Refused::Other(error) => Failure::new(format!("--capacity {}: {error}", arguments.capacity)),
        Refused::Size | Refused::Kind => too_large(schema),
    })?;
    let name = invitation.publish(&directory, &arguments.name);
    let name = name.map_err(|error| Failure::new(error.to_string()))?;
    Ok((Held { sink, name: Some(name), published: 0 }, schema.clone(), directory))
}

fn too_large(schema: &Schema) -> Failure {
    let bytes = grouped(schema.size() as u64);
    Failure::new(format!("a message has {bytes} bytes: this program publishes those of up to 4,096"))
}

fn publish_all(
    arguments: &PublishArguments,
    input: &mut dyn std::io::BufRead,
    schema: &Schema,
    held: &Mutex<Option<Held>>,
    stopped: &OnceLock<()>,
) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut line = String::new();
    for number in 0.. {
        line.clear();
        if input.read_line(&mut line).map_err(|error| unreadable(arguments, &error))? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: &str| Failure::new(format!("{}: {what}", line_of(arguments, number + 1)));
        let value = serde_json::from_str(&line).map_err(|error| wrong(&format!("it is no JSON: {error}")))?;
        let message = encode(schema, &value).map_err(|what| wrong(&what))?;
        pace(arguments, number, begun);
        loop {
            while stopped.get().is_some() {
                // A signal ends the process.
                thread::park();
            }
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            // (None: a signal has come just now.)
            let Some(held) = held.as_mut() else { continue };
            match held.sink.put(&message, PATIENCE) {
                Ok(()) => {
                    held.published += 1;
                    break;
                }
                Err(SendTimeoutError::Timeout(())) => {}
                Err(SendTimeoutError::Closed(())) => {
                    say(format_args!("{} is closed", quoted(&arguments.name)));
                    return Ok(Outcome::Failed);
                }
            }
        }
    }
    Ok(Outcome::Passed)
}
