//! `annulus pub`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Builder, Publisher};
use annulus::shm::broadcast;

use super::arguments::PublishArguments;
use super::piece::{Piece, pieces};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings;
use crate::signals::Signals;
use crate::text::{counted, quoted};

/// Publishes all lines of the input.
pub(crate) fn run(arguments: &PublishArguments) -> Result<Outcome, Failure> {
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
    let builder = Builder::new(arguments.capacity.get());
    let (mut publisher, _, invitation) =
        broadcast::lossy::<Piece>(builder).map_err(|error| failed(&error))?;
    let name = invitation.publish(&directory, &arguments.name).map_err(|error| failed(&error))?;
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
    publisher.close();
    drop(name.lock().unwrap_or_else(PoisonError::into_inner).take());
    published.map(|_| Outcome::Passed)
}

/// Publishes each line, and returns how many they were.
fn publish_all(
    arguments: &PublishArguments,
    mut input: impl BufRead,
    publisher: &mut Publisher<Piece>,
) -> Result<u64, Failure> {
    let begun = Instant::now();
    let mut line = Vec::new();
    for number in 0.. {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(|error| unreadable(arguments, &error))? == 0 {
            return Ok(number);
        }
        if let Some(rate) = arguments.rate {
            let nanos = u128::from(number) * 1_000_000_000 / u128::from(rate.get());
            let due = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            thread::sleep(due.saturating_sub(begun.elapsed()));
        }
        pieces(number, &line).for_each(|piece| publisher.publish(piece));
    }
    unreachable!("nobody has so many lines")
}

fn unreadable(arguments: &PublishArguments, error: &io::Error) -> Failure {
    let from =
        arguments.file.as_ref().map_or("the standard input".into(), |path| quoted(&path.to_string_lossy()));
    Failure::new(format!("{from} can't be read: {error}"))
}
