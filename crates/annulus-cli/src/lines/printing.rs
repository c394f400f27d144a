//! `annulus sub`.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::sync::Arc;

use annulus::LossyTryRecvError;
use annulus::broadcast::Subscriber;
use annulus::shm::{AttachError, Invitation, PeerState};
use serde::Serialize;

use super::arguments::{From, SubscribeArguments};
use super::following;
use super::piece::{Line, Lines, Piece};
use crate::outcome::{Failure, Outcome};
use crate::output::say;
use crate::rings;
use crate::signals::Signals;
use crate::stop::Stop;
use crate::text::{counted, grouped, quoted};

/// A line, as JSON.
#[derive(Serialize)]
struct Object<'a> {
    line: u64,
    text: std::borrow::Cow<'a, str>,
    lost: u64,
}

/// After so many pieces it shows how far it is, to `annulus top`: so rarely that it costs nothing.
pub(super) const SHOWN_EACH: u64 = 64;

/// Prints all lines up to the end.
pub(crate) fn run(arguments: &SubscribeArguments) -> Result<Outcome, Failure> {
    if arguments.follow {
        return following::run(arguments);
    }
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    let stop = Arc::new(Stop::default());
    let told = Arc::clone(&stop);
    Signals::watch()?.then(move |outcome| told.stop(outcome))?;
    let name = &arguments.name;
    let named = if arguments.wait {
        rings::open_or_make(&arguments.directory)?.wait_for(name, None)
    } else {
        rings::open(&arguments.directory)?.find(name)
    };
    let named = named.map_err(|error| failed(&error))?;
    let invitation = Invitation::find(&named).map_err(|error| failed(&error))?;
    let ring = invitation.accept::<Piece>().map_err(|error| no_lines(name, &error))?;
    stop.give(ring.subscribable().closer());
    let mut subscriber = ring.subscribable().subscribe_from_oldest();
    let mut lines = match arguments.from {
        From::Oldest => Lines::all(),
        From::Newest => Lines::after(newest(&mut subscriber).as_ref()),
    };

    // Without one it does its work as well.
    let mark = ring.mark().ok();
    let show = |subscriber: &Subscriber<Piece>| {
        if let Some(mark) = &mark {
            mark.set(subscriber.cursor());
        }
    };
    show(&subscriber);
    let mut output = BufWriter::new(io::stdout().lock());
    let (mut printed, mut lost, mut lagged) = (0, 0, subscriber.total_lagged());
    let mut is_over = false;
    while arguments.count.is_none_or(|count| printed < count) {
        let piece = match subscriber.try_recv() {
            Ok(piece) => {
                if subscriber.cursor() % SHOWN_EACH == 0 {
                    show(&subscriber);
                }
                piece
            }
            // (It is noticed below.)
            Err(LossyTryRecvError::Lagged { .. }) => continue,
            // Nothing more is there now: what was printed is to be seen.
            Err(LossyTryRecvError::Empty | LossyTryRecvError::Closed) => {
                if let Err(error) = output.flush() {
                    return ended(&error);
                }
                show(&subscriber);
                let Ok(piece) = subscriber.recv() else {
                    is_over = true;
                    break;
                };
                piece
            }
        };
        if subscriber.total_lagged() != lagged {
            lagged = subscriber.total_lagged();
            lines.lose();
        }
        let Some(line) = lines.take(&piece) else { continue };
        if line.lost > 0 {
            lost += line.lost;
            say(format_args!("lost {} before line {}", counted(line.lost, "line"), line.number));
        }
        if let Err(error) = print(&mut output, &line, arguments.json) {
            return ended(&error);
        }
        printed += 1;
    }
    if let Err(error) = output.flush() {
        return ended(&error);
    }
    let at_the_end = lines.lost_at_the_end();
    if is_over && at_the_end > 0 {
        lost += at_the_end;
        say(format_args!("lost {} after the last one", counted(at_the_end, "line")));
    }
    if lost > 0 {
        say(format_args!("printed {}, lost {}", counted(printed, "line"), grouped(lost)));
    }
    if let Some(outcome) = stop.outcome() {
        return Ok(outcome);
    }
    if is_over && ring.publisher() == PeerState::Dead {
        say(format_args!("the publisher of {} has died", quoted(name)));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Passed)
}

/// The newest piece that is published. Those before it are skipped.
fn newest(subscriber: &mut Subscriber<Piece>) -> Option<Piece> {
    loop {
        match subscriber.latest() {
            // (A short ring can be overwritten again and again while it is read.)
            None if !subscriber.is_empty() => {}
            found => return found,
        }
    }
}

/// What has the name is something else.
pub(super) fn no_lines(name: &str, error: &AttachError) -> Failure {
    Failure::new(format!("{} carries no lines of `annulus pub`: {error}", quoted(name)))
}

pub(super) fn print(output: &mut impl Write, line: &Line<'_>, as_json: bool) -> io::Result<()> {
    if !as_json {
        return output.write_all(line.text);
    }
    let text = String::from_utf8_lossy(line.text.strip_suffix(b"\n").unwrap_or(line.text));
    serde_json::to_writer(&mut *output, &Object { line: line.number, text, lost: line.lost })?;
    output.write_all(b"\n")
}

/// A pipe that nobody reads any more is a quiet end.
pub(super) fn ended(error: &io::Error) -> Result<Outcome, Failure> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(format!("standard output cannot be written: {error}; give it a place with room")))
}
