//! `annulus pub`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Lossy, Publisher};

use super::arguments::PublishArguments;
use super::piece::{Piece, pieces};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings::{self, Ring};
use crate::signals::Signals;
use crate::text::{counted, grouped, quoted};

/// A lossy ring is there for so long at least. A process that waits for the name comes a moment after it: if
/// all lines were published by then, and the name gone, it would find nothing.
const LEAST: Duration = Duration::from_millis(250);

/// Publishes all lines of the input.
pub(crate) fn run(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    if arguments.lossless { run_in::<Lossless>(arguments) } else { run_in::<Lossy>(arguments) }
}

/// As [`run`], in a ring of this mode.
fn run_in<M: Ring>(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    // Before the name: an input that is not there publishes nothing.
    let input: Box<dyn BufRead> = match &arguments.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| unreadable(arguments, &error))?;
            Box::new(BufReader::new(file))
        }
        None => Box::new(io::stdin().lock()),
    };
    // (From here on, so that none ends the process between the name and what takes it back.)
    let signals = Signals::watch()?;
    let directory = rings::open_or_make(&arguments.directory)?;
    let (mut publisher, invitation) = M::make::<Piece>(arguments.capacity).map_err(|error| failed(&error))?;
    let name = invitation.publish(&directory, &arguments.name).map_err(|error| failed(&error))?;
    let begun = Instant::now();
    // A signal ends the ring and takes the name back, so that subscribers see a close and no death.
    let name = Arc::new(Mutex::new(Some(name)));
    let (closer, to_be_dropped) = (publisher.closer(), Arc::clone(&name));
    signals.then(move |outcome| {
        closer.close();
        drop(to_be_dropped.lock().unwrap_or_else(PoisonError::into_inner).take());
        exit(outcome.code().into());
    })?;
    let path = directory.path().to_string_lossy().into_owned();
    say(format_args!("publishing lines to {} in {}", quoted(&arguments.name), quoted(&path)));
    if M::LOSSLESS {
        let count = usize::from(arguments.subscribers);
        rings::wait_for_readers(&directory, &arguments.name, count).map_err(|error| failed(&error))?;
    }

    let published = publish_all(arguments, input, &mut publisher);
    if let Ok(count) = published {
        say(format_args!("published {}", counted(count, "line")));
        if arguments.stay {
            say(format_args!("staying until Ctrl-C or SIGTERM"));
            loop {
                thread::park();
            }
        }
    }
    if !M::LOSSLESS {
        thread::sleep(LEAST.saturating_sub(begun.elapsed()));
    }
    publisher.close();
    drop(name.lock().unwrap_or_else(PoisonError::into_inner).take());
    published.map(|_| Outcome::Passed)
}

/// Publishes each line, and returns how many they were.
fn publish_all<M: Ring>(
    arguments: &PublishArguments,
    mut input: impl BufRead,
    publisher: &mut Publisher<Piece, M>,
) -> Result<u64, Failure> {
    let begun = Instant::now();
    let mut line = Vec::new();
    for number in 0.. {
        line.clear();
        // (With its line feed. A file of something else may have none at all.)
        let most = (arguments.size as u64).saturating_add(1);
        let mut start = (&mut input).take(most);
        if start.read_until(b'\n', &mut line).map_err(|error| unreadable(arguments, &error))? == 0 {
            return Ok(number);
        }
        if line.len() > arguments.size && line.last() != Some(&b'\n') {
            say(format_args!("published {}", counted(number, "line")));
            return Err(too_long(arguments, number + 1));
        }
        if let Some(rate) = arguments.rate {
            let nanos = u128::from(number) * 1_000_000_000 / u128::from(rate);
            let due = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            thread::sleep(due.saturating_sub(begun.elapsed()));
        }
        for piece in pieces(number, &line) {
            // (Nobody but a signal closes it, which also ends the process.)
            M::publish(publisher, piece);
        }
    }
    unreachable!("nobody has so many lines")
}

/// Line `number`, counted from 1, as editors do.
fn too_long(arguments: &PublishArguments, number: u64) -> Failure {
    let (from, size) = (source(arguments), grouped(arguments.size as u64));
    Failure::new(format!(
        "line {} of {from} is longer than {size} bytes: say with --size how long a line may be",
        grouped(number)
    ))
}

fn unreadable(arguments: &PublishArguments, error: &io::Error) -> Failure {
    Failure::new(format!("{} can't be read: {error}", source(arguments)))
}

/// Where the lines come from.
fn source(arguments: &PublishArguments) -> String {
    arguments.file.as_ref().map_or("the standard input".into(), |path| quoted(&path.to_string_lossy()))
}
