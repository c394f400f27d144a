//! `annulus sub --json`, of rings that carry no lines.

use std::io::{self, BufWriter, StdoutLock, Write};

use annulus::schema::Schema;
use annulus::shm::blocks::MessageType;
use annulus::shm::broadcast::Mark;
use annulus::shm::dynamic::{OpenError, Receiver, Start};
use annulus::shm::{Invitation, PeerState, RingInfo};
use annulus::{RecvTimeoutError, TryRecvError, WaitStrategy};

use super::super::arguments::SubscribeArguments;
use super::super::printing::{SHOWN_EACH, STOP_INTERVAL};
use super::{reason, schema_of};
use crate::count::Count;
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::stop::Stop;
use crate::text::{counted, grouped, quoted};
use crate::values::decode;

/// Prints each message as a line of JSON.
pub(in crate::lines) fn run(
    arguments: &SubscribeArguments,
    invitation: &Invitation,
    info: &RingInfo,
    start: Start,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let name = quoted(&arguments.name);
    let schema = schema_of(&arguments.name, info)?;
    let of = MessageType::described(schema.clone(), info.payload_alignment());
    let receiver = Receiver::join(invitation, &of, WaitStrategy::default(), start);
    let receiver = receiver.map_err(|error| {
        Failure::new(match error {
            OpenError::Kind(kind) => format!("{name} is a {kind}, whose messages have no fields"),
            error => format!("{name} can't be used: {}", reason(&error)),
        })
    })?;
    stop.count().are("message");
    stop.look();
    let lost_before = receiver.total_lagged();
    let mut printer = Printer {
        // Without a mark it does its work as well.
        mark: receiver.mark().and_then(Result::ok),
        message: vec![0; of.bytes()],
        schema,
        output: BufWriter::new(io::stdout().lock()),
        printed: 0,
        corrupt: 0,
        lost: lost_before,
        lost_before,
        receiver,
    };
    let is_over = match printer.print_all(arguments.count, stop) {
        Ok(is_over) => is_over,
        Err(error) => return ended(&error),
    };
    printer.count(stop.count());
    stop.count().tell_if(stop.outcome().is_some());
    if let Some(outcome) = stop.outcome() {
        return Ok(outcome);
    }
    if is_over && printer.receiver.state() == PeerState::Dead {
        say(format_args!("the publisher of {name} has died"));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Passed)
}

/// Receives messages, and prints them.
struct Printer {
    receiver: Receiver,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    /// The last one that was received.
    message: Vec<u8>,
    schema: Schema,
    output: BufWriter<StdoutLock<'static>>,
    printed: u64,
    corrupt: u64,
    /// So many messages of the ring, of which the user was told.
    lost: u64,
    /// So many were lost when it began.
    lost_before: u64,
}

impl Printer {
    /// Prints messages until the ring ends, the count is reached, or a signal comes. Returns whether the ring
    /// has ended.
    fn print_all(&mut self, count: Option<u64>, stop: &Stop) -> io::Result<bool> {
        self.show();
        let (mut left, mut is_over) = (None, false);
        while count.is_none_or(|count| self.printed < count) {
            if stop.outcome().is_some() {
                // What had come until then.
                let waiting = left.map_or_else(|| self.receiver.len(), |left: usize| left - 1);
                left = Some(waiting);
                if waiting == 0 {
                    break;
                }
            }
            match self.receive()? {
                Ok(()) => {
                    self.print()?;
                    self.count(stop.count());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Closed) => {
                    is_over = true;
                    break;
                }
            }
        }
        self.output.flush()?;
        Ok(is_over)
    }

    /// Receives the next message. Where none is there, the user sees what was printed, before it waits.
    fn receive(&mut self) -> io::Result<Result<(), RecvTimeoutError>> {
        match self.receiver.try_recv(&mut self.message) {
            Ok(()) => Ok(Ok(())),
            Err(TryRecvError::Closed) => Ok(Err(RecvTimeoutError::Closed)),
            Err(TryRecvError::Empty) => {
                self.output.flush()?;
                self.show();
                Ok(self.receiver.recv_timeout(&mut self.message, STOP_INTERVAL))
            }
        }
    }

    /// Prints the message that was received, and says what was lost before.
    fn print(&mut self) -> io::Result<()> {
        let lost = self.receiver.total_lagged();
        if lost != self.lost {
            let more = counted(lost - self.lost, "message");
            say(format_args!("lost {more} before message {}", grouped(self.printed)));
            self.lost = lost;
        }
        match decode(&self.schema, &self.message) {
            Ok(value) => {
                writeln!(self.output, "{value}")?;
                self.printed += 1;
            }
            Err(what) => {
                self.corrupt += 1;
                let before = grouped(self.printed);
                say(format_args!("corrupt, and left out, before message {before}: {what}"));
            }
        }
        if self.printed.is_multiple_of(SHOWN_EACH) {
            self.show();
        }
        Ok(())
    }

    /// Says how many it has printed, and how many were lost.
    fn count(&self, count: &Count) {
        count.set(self.printed, self.lost - self.lost_before + self.corrupt);
    }

    /// Shows how far it is, to `annulus top`.
    fn show(&self) {
        if let (Some(mark), Some(cursor)) = (&self.mark, self.receiver.cursor()) {
            mark.set(cursor);
        }
    }
}
