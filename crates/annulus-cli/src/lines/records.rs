//! `annulus sub`, of a broadcast ring of records, lossy or lossless: each record is a line.

use std::io::{self, BufWriter, Write};

use annulus::RecvTimeoutError;
use annulus::broadcast::Mode;
use annulus::broadcast::bytes::Subscriber;
use annulus::shm::broadcast::Mark;
use annulus::shm::dynamic::Start;
use annulus::shm::{AttachError, Invitation, PeerState, ShmKind};

use super::arguments::SubscribeArguments;
use super::printing::{SHOWN_EACH, STOP_INTERVAL, print};
use crate::messages::piece::Line;
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::stop::Stop;
use crate::text::{counted, quoted};

/// Prints all records up to the end.
pub(super) fn run(
    arguments: &SubscribeArguments,
    invitation: &Invitation,
    kind: ShmKind,
    start: Start,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let name = quoted(&arguments.name);
    let unusable = |error: AttachError| Failure::new(format!("{name} can't be used: {error}"));
    if kind == ShmKind::LosslessBytes {
        let ring = invitation.accept_lossless_bytes().map_err(unusable)?;
        stop.look();
        let subscriber = match start {
            Start::Oldest | Start::Last(_) => ring.subscribe_from_oldest(),
            Start::Newest => ring.subscribe(),
        };
        let mut subscriber = subscriber.map_err(|error| Failure::new(error.to_string()))?;
        if let Start::Last(count) = start {
            subscriber.begin_with_last(count);
        }
        let printer = Printer { subscriber, mark: None, is_looking: true, line: Vec::new(), told: 0 };
        return printer.run(arguments, stop, || ring.state());
    }
    let ring = invitation.accept_broadcast_bytes().map_err(unusable)?;
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
    let printer =
        Printer { subscriber, mark: ring.mark().ok(), is_looking: false, line: Vec::new(), told: 0 };
    printer.run(arguments, stop, || ring.state())
}

/// Receives records, and prints them.
struct Printer<M: Mode> {
    subscriber: Subscriber<M>,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    /// Whether nothing closes its ring, so that it looks whether it is to stop.
    is_looking: bool,
    /// The last record.
    line: Vec<u8>,
    /// How many records it has said are lost.
    told: u64,
}

impl<M: Mode> Printer<M> {
    /// Prints all records, and says how many these were, and how the ring ended. `state` says whether the
    /// publisher is there.
    fn run(
        mut self,
        arguments: &SubscribeArguments,
        stop: &Stop,
        state: impl FnOnce() -> PeerState,
    ) -> Result<Outcome, Failure> {
        stop.count().are("record");
        let is_over = match self.print_all(arguments, stop, &mut BufWriter::new(io::stdout().lock())) {
            Ok(is_over) => is_over,
            Err(error) => return ended(&error),
        };
        stop.count().set(self.subscriber.total_received(), self.subscriber.total_lagged());
        stop.count().tell_if(stop.outcome().is_some());
        if let Some(outcome) = stop.outcome() {
            return Ok(outcome);
        }
        if is_over && state() == PeerState::Dead {
            say(format_args!("the publisher of {} has died", quoted(&arguments.name)));
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Passed)
    }

    /// Prints each record as a line, and returns whether the ring has ended.
    fn print_all(
        &mut self,
        arguments: &SubscribeArguments,
        stop: &Stop,
        output: &mut impl Write,
    ) -> io::Result<bool> {
        self.show();
        // Where nothing closes the ring: up to which record it still prints after a signal.
        let mut end = None;
        while arguments.count.is_none_or(|count| self.subscriber.total_received() < count) {
            if self.is_looking && stop.outcome().is_some() {
                let cursor = self.subscriber.cursor();
                if cursor >= *end.get_or_insert_with(|| cursor + self.subscriber.len() as u64) {
                    break;
                }
            }
            if self.subscriber.try_recv(&mut self.line).is_err() {
                // The user sees what was printed, before it waits.
                output.flush()?;
                self.show();
                if !self.wait(stop) {
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
            stop.count().set(self.subscriber.total_received(), self.told);
            if self.subscriber.cursor().is_multiple_of(SHOWN_EACH) {
                self.show();
            }
        }
        output.flush()?;
        Ok(false)
    }

    /// Waits for the next record. False at the end, or when it is to stop.
    fn wait(&mut self, stop: &Stop) -> bool {
        if !self.is_looking {
            return self.subscriber.recv(&mut self.line).is_ok();
        }
        loop {
            match self.subscriber.recv_timeout(&mut self.line, STOP_INTERVAL) {
                Ok(_) => return true,
                Err(RecvTimeoutError::Timeout) if stop.outcome().is_none() => {}
                Err(_) => return false,
            }
        }
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
