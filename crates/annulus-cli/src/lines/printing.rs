//! `annulus sub`, of one publisher.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use annulus::broadcast::{Foreign, MayLose, Mode, Subscriber};
use annulus::shm::broadcast::Mark;
use annulus::shm::dynamic::Start;
use annulus::shm::{AttachError, Directory, Invitation, NameError, PeerState, RingInfo, ShmKind};
use annulus::{LossyTryRecvError, RecvTimeoutError};
use serde::Serialize;

use super::arguments::SubscribeArguments;
use crate::messages::piece::{Line, Lines, Piece};
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::rings;
use crate::stop::Stop;
use crate::text::{counted, quoted};

/// A line, as JSON.
#[derive(Serialize)]
struct Object<'a> {
    line: u64,
    text: std::borrow::Cow<'a, str>,
    lost: u64,
}

/// After so many pieces it shows how far it is, to `annulus top`: so rarely that it costs nothing.
pub(super) const SHOWN_EACH: u64 = 64;

/// How long a subscriber that nothing can close waits without a look whether it is to stop.
pub(super) const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Says what a subscriber waits for, if there is no such ring.
pub(super) fn say_if_waiting(arguments: &SubscribeArguments, directory: &Directory) {
    let name = &arguments.name;
    let found = directory.find(name);
    if arguments.wait && matches!(found, Err(NameError::NotFound { .. } | NameError::Dead { .. })) {
        let path = directory.path().to_string_lossy();
        say(format_args!("waiting for a ring {} in {}", quoted(name), quoted(&path)));
    }
}

/// Prints all lines up to the end.
pub(super) fn run(
    arguments: &SubscribeArguments,
    invitation: &Invitation,
    info: RingInfo,
    start: Start,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let name = &arguments.name;
    let (end, publisher) = if rings::is_lossless(info.kind()) {
        let ring =
            invitation.accept_lossless::<Piece>().map_err(|error| no_lines(name, Some(info), &error))?;
        stop.look();
        let (subscriber, lines) = match start {
            Start::Oldest => (ring.subscribe_from_oldest(), Lines::all()),
            Start::Newest => (ring.subscribe(), Lines::from_now()),
            Start::Last(count) => {
                let newest = newest(&mut ring.subscribe_lossy_from_oldest());
                (ring.subscribe_from_oldest(), Lines::last(newest.as_ref(), count))
            }
        };
        let subscriber = subscriber.map_err(|error| Failure::new(error.to_string()))?;
        let source = Source { subscriber, mark: None, interval: Some(STOP_INTERVAL) };
        (print_all(arguments, source, lines, stop)?, ring.state())
    } else {
        let ring = invitation.accept::<Piece>().map_err(|error| no_lines(name, Some(info), &error))?;
        stop.give(ring.subscribable().closer());
        let mut subscriber = ring.subscribable().subscribe_from_oldest();
        let lines = match start {
            Start::Oldest => Lines::all(),
            Start::Newest => Lines::after(newest(&mut subscriber).as_ref()),
            Start::Last(count) => Lines::last(newest(&mut subscriber.clone()).as_ref(), count),
        };
        // Without a mark it does its work as well.
        let source = Source { subscriber, mark: ring.mark().ok(), interval: None };
        (print_all(arguments, source, lines, stop)?, ring.state())
    };
    if let Some(outcome) = stop.outcome() {
        return Ok(outcome);
    }
    let how = match end {
        End::Failed => "has failed or was stopped: not all of its input was published",
        End::Closed if publisher == PeerState::Dead => "has died",
        End::Closed | End::Enough => return Ok(Outcome::Passed),
    };
    say(format_args!("the publisher of {} {how}", quoted(name)));
    Ok(Outcome::Failed)
}

/// Why nothing more is printed.
enum End {
    /// `--count` lines were printed, a signal came, or nobody reads the output any more.
    Enough,
    /// The ring has come to its end.
    Closed,
    /// As [`Closed`](Self::Closed), and the publisher has said that it failed.
    Failed,
}

/// Where the pieces come from.
struct Source<M: Mode> {
    subscriber: Subscriber<Piece, M>,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    /// How often it looks whether it is to stop. None: then it is closed.
    interval: Option<Duration>,
}

impl<M: Mode> Source<M> {
    /// How far it is, for `annulus top`.
    fn show(&self) {
        if let Some(mark) = &self.mark {
            mark.set(self.subscriber.cursor());
        }
    }

    /// Waits for the next piece; `None` at the end.
    fn wait(&mut self, stop: &Stop) -> Option<Piece> {
        let Some(interval) = self.interval else { return self.subscriber.recv().ok() };
        loop {
            match self.subscriber.recv_timeout(interval) {
                Ok(piece) => return Some(piece),
                Err(RecvTimeoutError::Timeout) if stop.outcome().is_none() => {}
                Err(_) => return None,
            }
        }
    }
}

/// What comes next.
enum Next {
    Piece(Piece),
    /// Pieces were lost. The subscriber has counted them.
    Lagged,
    /// No piece.
    Corrupt,
    End,
}

impl<M: MayLose> Source<M> {
    /// What comes next. Where nothing is there, the user sees what was printed, before it waits.
    fn next(&mut self, output: &mut impl Write, stop: &Stop) -> io::Result<Next> {
        Ok(match self.subscriber.try_recv_or_lag() {
            Ok(piece) => {
                if self.subscriber.cursor().is_multiple_of(SHOWN_EACH) {
                    self.show();
                }
                Next::Piece(piece)
            }
            Err(LossyTryRecvError::Lagged { .. }) => Next::Lagged,
            Err(LossyTryRecvError::Corrupt(_)) => Next::Corrupt,
            Err(LossyTryRecvError::Empty | LossyTryRecvError::Closed) => {
                output.flush()?;
                self.show();
                self.wait(stop).map_or(Next::End, Next::Piece)
            }
        })
    }
}

/// Prints each line, and returns why it has stopped.
fn print_all<M: MayLose>(
    arguments: &SubscribeArguments,
    mut source: Source<M>,
    mut lines: Lines,
    stop: &Stop,
) -> Result<End, Failure> {
    source.show();
    let mut output = BufWriter::new(io::stdout().lock());
    let (mut printed, mut lost, mut lagged) = (0, 0, source.subscriber.total_lagged());
    // Of a subscriber that nothing closes: how much it still prints after a signal.
    let mut left = None;
    let mut is_over = false;
    while arguments.count.is_none_or(|count| printed < count) && left != Some(0) {
        if source.interval.is_some() && stop.outcome().is_some() {
            left = Some(left.map_or_else(|| source.subscriber.len(), |left: usize| left - 1));
            if left == Some(0) {
                break;
            }
        }
        let piece = match source.next(&mut output, stop) {
            Ok(Next::Piece(piece)) => piece,
            Ok(Next::Lagged) => continue,
            Ok(Next::Corrupt) => {
                lines.lose();
                continue;
            }
            Ok(Next::End) => {
                is_over = true;
                break;
            }
            Err(error) => return ended(&error).map(|_| End::Enough),
        };
        if source.subscriber.total_lagged() != lagged {
            lagged = source.subscriber.total_lagged();
            lines.lose();
        }
        let Some(line) = lines.take(&piece) else { continue };
        if line.lost > 0 {
            lost += line.lost;
            say(format_args!("lost {} before line {}", counted(line.lost, "line"), line.number));
        }
        if let Err(error) = print(&mut output, &line, arguments.json) {
            return ended(&error).map(|_| End::Enough);
        }
        printed += 1;
        stop.count().set(printed, lost);
    }
    if let Err(error) = output.flush() {
        return ended(&error).map(|_| End::Enough);
    }
    let at_the_end = lines.lost_at_the_end();
    if is_over && at_the_end > 0 {
        lost += at_the_end;
        say(format_args!("lost {} after the last one", counted(at_the_end, "line")));
    }
    stop.count().set(printed, lost);
    stop.count().tell_if(stop.outcome().is_some());
    Ok(match (is_over, lines.has_failed()) {
        (false, _) => End::Enough,
        (true, false) => End::Closed,
        (true, true) => End::Failed,
    })
}

/// The newest piece that is published. Those before it are skipped.
fn newest(subscriber: &mut Subscriber<Piece, Foreign>) -> Option<Piece> {
    loop {
        match subscriber.latest() {
            // (A short ring can be overwritten again and again while it is read.)
            None if !subscriber.is_empty() => {}
            found => return found,
        }
    }
}

/// Why nothing of a ring of this kind is printed, if so.
pub(super) fn unprinted(name: &str, kind: ShmKind) -> Option<Failure> {
    use ShmKind::{Bytes, Frames, LosslessFrames, Service, Watch};
    let why = match kind {
        Bytes | Frames | LosslessFrames => ", which has no form as lines",
        Watch => ", and no messages",
        Service => "",
        _ => return None,
    };
    let (name, what, verb) = (quoted(name), rings::is_a(kind), rings::verb_for(kind));
    Some(Failure::new(format!("{name} {what}{why}: {verb}")))
}

/// What has the name is something else.
pub(super) fn no_lines(name: &str, info: Option<RingInfo>, error: &AttachError) -> Failure {
    if let AttachError::Kind { found: ShmKind::Lossless | ShmKind::MpLossless, wanted: ShmKind::Lossy } =
        error
    {
        return Failure::new(format!(
            "{} is lossless, and can't be followed: leave out --follow",
            quoted(name)
        ));
    }
    if let Some(failure) = info.as_ref().and_then(|info| unprinted(name, info.kind())) {
        return failure;
    }
    let remedy = match &info {
        Some(info) if !info.schema().is_ok_and(|schema| schema.is_some()) => {
            if rings::has_messages(info.kind()) {
                "`annulus watch` prints them in hex"
            } else {
                "without a schema nobody knows what is in them"
            }
        }
        _ => "--json prints messages of any ring that says what they are",
    };
    let (bytes, why) = (size_of::<Piece>(), rings::mismatch(info, error));
    Failure::new(format!(
        "{} carries no lines of `annulus pub` (pieces of {bytes} bytes): {why}; {remedy}",
        quoted(name)
    ))
}

pub(super) fn print(output: &mut impl Write, line: &Line<'_>, as_json: bool) -> io::Result<()> {
    if !as_json {
        return output.write_all(line.text);
    }
    let text = String::from_utf8_lossy(line.text.strip_suffix(b"\n").unwrap_or(line.text));
    serde_json::to_writer(&mut *output, &Object { line: line.number, text, lost: line.lost })?;
    output.write_all(b"\n")
}
