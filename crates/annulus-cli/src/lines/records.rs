//! `annulus sub`, of a broadcast ring of records: each record is a line.

use std::io::{self, BufWriter, Write};

use annulus::broadcast::Foreign;
use annulus::broadcast::bytes::Subscriber;
use annulus::shm::broadcast::Mark;
use annulus::shm::dynamic::Start;
use annulus::shm::{Invitation, PeerState};

use super::arguments::SubscribeArguments;
use super::printing::{SHOWN_EACH, print, tell_count};
use crate::messages::piece::Line;
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::stop::Stop;
use crate::text::{counted, quoted};

/// Prints all records up to the end.
pub(super) fn run(
    arguments: &SubscribeArguments,
    invitation: &Invitation,
    start: Start,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let name = quoted(&arguments.name);
    let ring = invitation.accept_broadcast_bytes();
    let ring = ring.map_err(|error| Failure::new(format!("{name} can't be used: {error}")))?;
    let subscribable = ring.subscribable();
    stop.give(subscribable.closer());
    let mut subscriber = match start {
        Start::Oldest | Start::Last(_) => subscribable.subscribe_from_oldest(),
        Start::Newest => subscribable.subscribe(),
    };
    if let Start::Last(count) = start {
        subscriber.begin_with_last(count);
    }
    // Without a mark it does its work as well.
    let mut printer = Printer { subscriber, mark: ring.mark().ok(), line: Vec::new(), told: 0 };
    let is_over = match printer.print_all(arguments, &mut BufWriter::new(io::stdout().lock())) {
        Ok(is_over) => is_over,
        Err(error) => return ended(&error),
    };
    let lost = printer.subscriber.total_lagged();
    tell_count("record", printer.subscriber.total_received(), lost, stop.outcome().is_some());
    if let Some(outcome) = stop.outcome() {
        return Ok(outcome);
    }
    if is_over && ring.state() == PeerState::Dead {
        say(format_args!("the publisher of {name} has died"));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Passed)
}

/// Receives records, and prints them.
struct Printer {
    subscriber: Subscriber<Foreign>,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    /// The last record.
    line: Vec<u8>,
    /// How many records it has said are lost.
    told: u64,
}

impl Printer {
    /// Prints each record as a line, and returns whether the ring has ended.
    fn print_all(&mut self, arguments: &SubscribeArguments, output: &mut impl Write) -> io::Result<bool> {
        self.show();
        while arguments.count.is_none_or(|count| self.subscriber.total_received() < count) {
            if self.subscriber.try_recv(&mut self.line).is_err() {
                // The user sees what was printed, before it waits.
                output.flush()?;
                self.show();
                if self.subscriber.recv(&mut self.line).is_err() {
                    self.tell_lost("after the last one");
                    return Ok(true);
                }
            }
            let number = self.subscriber.cursor() - 1;
            let lost = self.tell_lost(&format!("before record {number}"));
            if !arguments.json && !self.line.ends_with(b"\n") {
                self.line.push(b'\n');
            }
            print(output, &Line { number, text: &self.line, lost }, arguments.json)?;
            if self.subscriber.cursor().is_multiple_of(SHOWN_EACH) {
                self.show();
            }
        }
        output.flush()?;
        Ok(false)
    }

    /// Says how many records were lost since it was said last.
    fn tell_lost(&mut self, place: &str) -> u64 {
        let lost = self.subscriber.total_lagged() - self.told;
        self.told += lost;
        if lost > 0 {
            say(format_args!("lost {} {place}", counted(lost, "record")));
        }
        lost
    }

    /// How far it is, for `annulus top`.
    fn show(&self) {
        if let Some(mark) = &self.mark {
            mark.set(self.subscriber.cursor());
        }
    }
}
