//! `annulus pub`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::mem;
use std::ops::ControlFlow;
use std::process::exit;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Lossy, Publisher};
use annulus::shm::{Directory, PublishedName};

use super::arguments::PublishArguments;
use crate::count::Count;
use crate::measure::Schedule;
use crate::messages::piece::{Piece, pieces};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings::{self, Ring};
use crate::signals::Signals;
use crate::text::{counted, grouped, quoted, shell_word};

/// A lossy ring is there for so long at least. A process that waits for the name comes a moment after it: if
/// all lines were published by then, and the name gone, it would find nothing.
const LEAST: Duration = Duration::from_millis(250);

/// If no other process has joined the ring by then, it is there for so long, as a program takes a while to
/// begin.
const LEAST_UNREAD: Duration = Duration::from_secs(1);

/// So long a signal waits at most where a lossless ring is full.
const PATIENCE: Duration = Duration::from_millis(50);

/// So long it waits for room for the last piece, which says that this is not all of the input.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// The time between two looks at which processes have joined.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Publishes all lines of the input.
pub(super) fn run(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    if arguments.lossless { run_in::<Lossless>(arguments) } else { run_in::<Lossy>(arguments) }
}

/// A ring and its name, until one of two threads takes them: the one that publishes, or a signal's.
struct Held<M: Ring> {
    publisher: Publisher<Piece, M>,
    name: PublishedName,
    /// Whether subscribers can tell how the input ended: all of it is published, or a piece says that it
    /// failed.
    end_is_told: bool,
}

/// What both threads have.
struct Shared<M: Ring> {
    held: Mutex<Option<Held<M>>>,
    count: Count,
    /// There is a signal: the publishing thread lets go of the ring at once.
    is_stopped: OnceLock<()>,
}

/// As [`run`], in a ring of this mode.
fn run_in<M: Ring>(arguments: &PublishArguments) -> Result<Outcome, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    let size = arguments.size()?;
    // Before the name: an input that is not there publishes nothing.
    let input = input(arguments)?;
    // (From here on, so that none ends the process between the name and what takes it back.)
    let signals = Signals::watch()?;
    let directory = rings::open_or_make(&arguments.directory)?;
    let (publisher, invitation) = M::make::<Piece>(arguments.settings())
        .map_err(|error| rings::not_made(arguments.capacity(), &error))?;
    let name = invitation.publish(&directory, &arguments.name).map_err(|error| failed(&error))?;
    let begun = Instant::now();
    let shared = Arc::new(Shared {
        held: Mutex::new(Some(Held { publisher, name, end_is_told: false })),
        count: Count::published(),
        is_stopped: OnceLock::new(),
    });
    // A signal takes the name back and ends the ring, so that subscribers see no death.
    let (stopped, last) = (Arc::clone(&shared), Arc::clone(&shared));
    let end = move |outcome: Outcome| {
        let _ = stopped.is_stopped.set(());
        stopped.end();
        exit(outcome.code().into());
    };
    signals.then(end, move || last.count.tell())?;
    let path = directory.path().to_string_lossy().into_owned();
    say(format_args!("publishing lines to {} in {}", quoted(&arguments.name), quoted(&path)));
    let awaited = if M::LOSSLESS { await_subscribers(arguments, &directory) } else { Ok(()) };
    let published = awaited.and_then(|()| publish_all(arguments, size, input, &shared));
    if published.is_ok() {
        shared.with(|held| held.end_is_told = true);
    }
    shared.count.tell();
    if published.is_ok() && arguments.stay {
        say(format_args!("staying until Ctrl-C or SIGTERM"));
        loop {
            thread::park();
        }
    }
    if published.is_err() {
        shared.publish(Piece::failed(shared.count.get()));
        shared.with(|held| held.end_is_told = true);
    }
    if !M::LOSSLESS {
        stay_a_moment(&directory, &arguments.name, begun);
    }
    shared.end();
    published
}

impl<M: Ring> Shared<M> {
    /// Does it with the ring. After a signal this does not return: the process ends.
    fn with<R>(&self, act: impl FnOnce(&mut Held<M>) -> R) -> R {
        while self.is_stopped.get().is_none() {
            // (None: a signal has come just now.)
            if let Some(held) = &mut *self.held.lock().unwrap_or_else(PoisonError::into_inner) {
                return act(held);
            }
        }
        loop {
            thread::park();
        }
    }

    /// Publishes a piece. A lossless ring that is full waits.
    fn publish(&self, piece: Piece) {
        let sends = |held: &mut Held<M>| M::publish_timeout(&mut held.publisher, piece, PATIENCE);
        while !self.with(sends) {}
    }

    /// Takes the name back, closes the ring, and says how many lines it has had. If not all of the input is
    /// published, its subscribers are told so before; where there is no room for that, the ring stays open
    /// until the process is gone, which they take for a death.
    fn end(&self) {
        // (To the end, so that neither thread ends the process while the other one closes the ring.)
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Held { mut publisher, name, end_is_told }) = held.take() else { return };
        let failed = Piece::failed(self.count.get());
        let end_is_told = end_is_told || M::publish_timeout(&mut publisher, failed, LAST_WAIT);
        // Before the ring: a program that is told of the end finds the next ring at the name.
        drop(name);
        if end_is_told {
            publisher.close();
        } else {
            mem::forget(publisher);
        }
        self.count.tell();
    }
}

pub(super) fn input(arguments: &PublishArguments) -> Result<Box<dyn BufRead>, Failure> {
    Ok(match &arguments.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| unreadable(arguments, &error))?;
            Box::new(BufReader::new(file))
        }
        None => Box::new(io::stdin().lock()),
    })
}

/// Waits until the subscribers of a lossless ring have come, and says so.
pub(super) fn await_subscribers(arguments: &PublishArguments, directory: &Directory) -> Result<(), Failure> {
    let (name, count) = (&arguments.name, arguments.subscribers);
    let option = arguments.directory.path().map(|path| {
        let path = shell_word(&path.to_string_lossy());
        format!(" --directory {path}")
    });
    let json = if arguments.json { " --json" } else { "" };
    let (word, options) = (shell_word(name), option.unwrap_or_default() + json);
    // (A name that begins with a hyphen would be taken for an option.)
    let arguments =
        if name.starts_with('-') { format!("{options} -- {word}") } else { format!(" {word}{options}") };
    let command = format!("`annulus sub{arguments}`");
    let each = if count == 1 { "it" } else { "each" };
    say(format_args!(
        "waiting for {} of {} before the first line: start {each} with {command}, or stop with Ctrl-C",
        counted(count.into(), "subscriber"),
        quoted(name),
    ));
    let came = rings::wait_for_readers(directory, name, count.into());
    came.map_err(|error| Failure::new(error.to_string()))
}

/// Keeps the ring for processes that wait for its name and have not come yet.
pub(super) fn stay_a_moment(directory: &Directory, name: &str, begun: Instant) {
    thread::sleep(LEAST.saturating_sub(begun.elapsed()));
    while begun.elapsed() < LEAST_UNREAD && !rings::is_read(directory, name) {
        thread::sleep(LOOK_INTERVAL);
    }
}

/// Publishes each line, and counts them.
fn publish_all<M: Ring>(
    arguments: &PublishArguments,
    size: usize,
    input: impl BufRead,
    shared: &Shared<M>,
) -> Result<Outcome, Failure> {
    each_line(arguments, size, input, |number, line| {
        pieces(number, line).for_each(|piece| shared.publish(piece));
        shared.count.set(number + 1, 0);
        Ok(ControlFlow::Continue(()))
    })
}

/// Calls `publish` for each line, with its number from 0 on and its line feed, up to the end or until it
/// breaks; for no more of them in a second than `--rate` says.
pub(super) fn each_line(
    arguments: &PublishArguments,
    size: usize,
    mut input: impl BufRead,
    mut publish: impl FnMut(u64, &[u8]) -> Result<ControlFlow<Outcome>, Failure>,
) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut line = Vec::new();
    for number in 0.. {
        line.clear();
        // (With its line feed. A file of something else may have none at all.)
        let most = size as u64 + 1;
        let mut start = (&mut input).take(most);
        if start.read_until(b'\n', &mut line).map_err(|error| unreadable(arguments, &error))? == 0 {
            return Ok(Outcome::Passed);
        }
        if line.len() > size && line.last() != Some(&b'\n') {
            let (line, size) = (line_of(arguments, number), grouped(size as u64));
            return Err(Failure::new(format!(
                "{line} is longer than {size} bytes: say with --size how long a line may be"
            )));
        }
        if let Some(rate) = arguments.rate {
            thread::sleep(Schedule::new(rate).due(number).saturating_sub(begun.elapsed()));
        }
        if let ControlFlow::Break(outcome) = publish(number, &line)? {
            return Ok(outcome);
        }
    }
    unreachable!("nobody has so many lines")
}

/// Which line it is, counted from 1, as editors do.
pub(super) fn line_of(arguments: &PublishArguments, number: u64) -> String {
    format!("line {} of {}", grouped(number + 1), source(arguments))
}

fn unreadable(arguments: &PublishArguments, error: &io::Error) -> Failure {
    Failure::new(format!("{} can't be read: {error}", source(arguments)))
}

/// Where the lines come from.
fn source(arguments: &PublishArguments) -> String {
    arguments.file.as_ref().map_or("the standard input".into(), |path| quoted(&path.to_string_lossy()))
}
