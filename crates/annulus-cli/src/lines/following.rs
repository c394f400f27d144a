//! `annulus sub --follow`: the lines of one publisher after the other.

use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::Arc;

use annulus::shm::dynamic::Start;
use annulus::shm::{Directory, FindError, NamedSubscriber, PeerState, ProcessId, Received};
use serde::Serialize;

use super::arguments::SubscribeArguments;
use super::printing::{SHOWN_EACH, STOP_INTERVAL, no_lines, print, say_if_waiting};
use crate::count::Count;
use crate::messages::piece::{Lines, Piece};
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::rings;
use crate::signals::first_signal;
use crate::text::{counted, quoted};

/// A change of publishers, as JSON.
#[derive(Serialize)]
struct Change {
    change: &'static str,
    process: u32,
}

/// No more pieces than this are skipped before the first line, or printed after a signal: a publisher may be
/// as fast as we are.
const MOST_PIECES: u32 = 1 << 20;

/// Prints all lines of all publishers, up to `--count` or a signal.
pub(super) fn run(arguments: &SubscribeArguments) -> Result<Outcome, Failure> {
    let count = Arc::new(Count::printed());
    let unread = Arc::clone(&count);
    let stopped = first_signal(move || unread.tell_unread())?;
    let name = &arguments.name;
    let directory = if arguments.wait { rings::open_or_make } else { rings::open }(&arguments.directory)?;
    let start = arguments.begin(&directory);
    say_if_waiting(arguments, &directory);
    let subscriber = NamedSubscriber::<Piece>::new(&directory, name).map_err(|error| failed(&error))?;
    let mut subscriber = subscriber.begin_with_oldest();
    let mut first = None;
    if !arguments.wait {
        first = subscriber.try_recv().map_err(|error| unusable(&directory, name, error))?;
        if first.is_none() {
            return Err(missing(&directory, name));
        }
    }

    let mut printer = Printer::new(arguments, start);
    let (mut unshown, mut left_to_print) = (0, MOST_PIECES);
    while arguments.count.is_none_or(|count| printer.printed < count) && left_to_print > 0 {
        let is_stopped = stopped.get().is_some();
        left_to_print -= u32::from(is_stopped);
        let there = match first.take() {
            None => subscriber.try_recv().map_err(|error| unusable(&directory, name, error))?,
            some => some,
        };
        let received = match there {
            Some(received) => received,
            None if is_stopped => break,
            None if printer.ends_skipping() => continue,
            // Nothing more is there now: what was printed is to be seen.
            None => {
                if let Err(error) = printer.output.flush() {
                    return ended(&error);
                }
                _ = subscriber.show_position();
                let waited = subscriber.recv_timeout(STOP_INTERVAL);
                let Some(received) = waited.map_err(|error| unusable(&directory, name, error))? else {
                    continue;
                };
                received
            }
        };
        if let Received::Message(_) = received {
            show_now_and_then(&mut subscriber, &mut unshown);
        }
        if let Err(error) = printer.take(received) {
            return ended(&error);
        }
        count.set(printer.printed, printer.lost);
    }
    if let Err(error) = printer.output.flush() {
        return ended(&error);
    }
    count.tell_if(stopped.get().is_some());
    Ok(stopped.get().copied().unwrap_or(Outcome::Passed))
}

/// Prints what was received.
struct Printer<'a> {
    arguments: &'a SubscribeArguments,
    output: BufWriter<StdoutLock<'static>>,
    lines: Lines,
    printed: u64,
    lost: u64,
    publishers: u64,
    /// Of the pieces that are passed over, because they were there before: how many, and the last one.
    skipped: Option<(u32, Option<Piece>)>,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a SubscribeArguments, start: Start) -> Self {
        Self {
            arguments,
            output: BufWriter::new(io::stdout().lock()),
            lines: Lines::all(),
            printed: 0,
            lost: 0,
            publishers: 0,
            skipped: (start == Start::Newest).then_some((0, None)),
        }
    }

    /// Nothing is there now: if pieces were passed over until here, the next one is printed. Whether it is
    /// so.
    fn ends_skipping(&mut self) -> bool {
        let is_so = self.publishers > 0 && self.skipped.is_some();
        if is_so {
            self.lines = Lines::after(self.skipped.take().and_then(|(_, newest)| newest).as_ref());
        }
        is_so
    }

    fn take(&mut self, received: Received<Piece>) -> io::Result<()> {
        match received {
            Received::Message(piece) => self.take_piece(&piece),
            Received::Lagged { .. } | Received::Corrupt(_) => {
                self.lines.lose();
                Ok(())
            }
            Received::Began { process, .. } => {
                self.lines = Lines::all();
                self.publishers += 1;
                if self.publishers > 1 {
                    say(format_args!("{} has a next publisher, {process}", quoted(&self.arguments.name)));
                }
                change(&mut self.output, "began", process, self.arguments.json)
            }
            Received::Overdue { process, silence } => {
                let seconds = silence.as_secs_f64();
                let name = quoted(&self.arguments.name);
                say(format_args!(
                    "the publisher of {name}, {process}, is overdue: silent for {seconds:.1} s"
                ));
                change(&mut self.output, "overdue", process, self.arguments.json)
            }
            Received::Ended { process, state } => {
                if let Some((_, newest)) = self.skipped.take() {
                    self.lines = Lines::after(newest.as_ref());
                }
                let at_the_end = self.lines.lost_at_the_end();
                if at_the_end > 0 {
                    self.lost += at_the_end;
                    say(format_args!("lost {} after the last one", counted(at_the_end, "line")));
                }
                let what = tell_end(&self.arguments.name, process, state, self.lines.has_failed());
                change(&mut self.output, what, process, self.arguments.json)
            }
            _ => Ok(()), // of a later version
        }
    }

    /// Passes over a piece, or prints the line that it completes.
    fn take_piece(&mut self, piece: &Piece) -> io::Result<()> {
        if let Some((count, newest)) = &mut self.skipped {
            (*count, *newest) = (*count + 1, Some(*piece));
            if *count == MOST_PIECES {
                (self.lines, self.skipped) = (Lines::after(Some(piece)), None);
            }
            return Ok(());
        }
        let Some(line) = self.lines.take(piece) else { return Ok(()) };
        if line.lost > 0 {
            self.lost += line.lost;
            say(format_args!("lost {} before line {}", counted(line.lost, "line"), line.number));
        }
        self.printed += 1;
        print(&mut self.output, &line, self.arguments.json)
    }
}

/// Shows how far it is, to `annulus top`, after so many pieces. (Without that, it does its work as well.)
fn show_now_and_then(subscriber: &mut NamedSubscriber<Piece>, unshown: &mut u64) {
    *unshown += 1;
    if *unshown == SHOWN_EACH {
        *unshown = 0;
        _ = subscriber.show_position();
    }
}

/// Says how a publisher has ended, and returns the word of it.
fn tell_end(name: &str, process: ProcessId, state: PeerState, has_failed: bool) -> &'static str {
    let (how, what) = match state {
        _ if has_failed => ("has failed or was stopped", "failed"),
        PeerState::Dead => ("has died", "died"),
        _ => ("has ended", "ended"),
    };
    say(format_args!("the publisher of {}, {process}, {how}", quoted(name)));
    what
}

/// A line of its own, if the lines are JSON.
fn change(
    output: &mut impl Write,
    change: &'static str,
    process: ProcessId,
    as_json: bool,
) -> io::Result<()> {
    if !as_json {
        return Ok(());
    }
    serde_json::to_writer(&mut *output, &Change { change, process: process.pid() })?;
    output.write_all(b"\n")
}

fn failed(error: &dyn Display) -> Failure {
    Failure::new(error.to_string())
}

fn unusable(directory: &Directory, name: &str, error: FindError) -> Failure {
    match error {
        FindError::Attach(error) => {
            let info = rings::observe(directory, name).ok().map(|(_, observer)| observer.info());
            no_lines(name, info, &error)
        }
        error => failed(&error),
    }
}

/// Why there is no ring.
fn missing(directory: &Directory, name: &str) -> Failure {
    match rings::find(directory, name) {
        Err(failure) => failure,
        // It came this moment, or has gone.
        Ok(_) => Failure::new(format!("there was no ring {}; try again, or take --wait", quoted(name))),
    }
}
