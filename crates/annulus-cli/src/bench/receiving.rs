//! A subscriber's side.

use std::fmt;
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use annulus::WaitStrategy;
use annulus::broadcast::{Mode, Subscriber};
use annulus::shm::{Invitation, NameError, PeerState};
use hdrhistogram::Histogram;

use super::arguments::Arguments;
use super::report::{Part, PartReceipt, Receipt, Report};
use crate::measure::{Latency, Ledger, latencies, now_ns};
use crate::messages::described;
use crate::messages::load::{Load, Mark, with_words_of};
use crate::outcome::{Failure, Outcome};
use crate::output::{self, say};
use crate::rings;
use crate::signals::Signals;
use crate::stop::Stop;
use crate::text::quoted;

/// What a child of [`publishing`](super::publishing) says when it has joined.
pub(super) const JOINED: &str = "joined";

/// How long a child waits for the ring, whose name is there already.
const CHILD_WAITS: Duration = Duration::from_secs(10);

/// At full speed, the clock is read with each so many messages.
const CLOCK_EVERY: u64 = 1_024;

/// Receives all messages of a ring, up to its end. A child sends its receipt, and has no report.
pub(super) fn run(arguments: &Arguments) -> Result<(Option<Report>, Option<Outcome>), Failure> {
    let signals = Signals::watch()?;
    let stop = Arc::new(Stop::default());
    if !arguments.child {
        let told = Arc::clone(&stop);
        let end = move |outcome: Outcome| {
            if !told.stop(outcome) {
                exit(outcome.code().into());
            }
        };
        signals.then(end, || {})?;
    }
    // (Else they are held: Ctrl-C comes to all processes of the terminal, and the publisher ends the ring.)
    let directory = rings::open_or_make(&arguments.directory)?;
    let timeout = arguments.child.then_some(CHILD_WAITS);
    if !arguments.child && matches!(directory.find(&arguments.name), Err(NameError::NotFound { .. })) {
        say(format_args!("waiting for a publisher of {}", quoted(&arguments.name)));
    }
    let named = directory.wait_for(&arguments.name, timeout).map_err(|error| failed(&error))?;
    let invitation = Invitation::find(&named).map_err(|error| rings::unusable(&arguments.name, &error))?;
    let invitation = invitation.with_wait_strategy(strategy(arguments));
    let info = invitation.info().map_err(|error| failed(&error))?;
    let (bytes, lossless) = (info.payload_bytes(), rings::is_lossless(info.kind()));
    let received = if lossless {
        with_words_of!(bytes, receive_lossless(arguments, &invitation))
    } else {
        with_words_of!(bytes, receive(arguments, &invitation, &stop))
    };
    let Received { receipt, is_dead } = received
        .unwrap_or_else(|| Err(foreign(arguments, &format!("its messages are {}", described(&info)))))?;
    if arguments.child {
        let line = serde_json::to_string(&receipt).expect("numbers and words have a form in JSON");
        output::print(&format!("{line}\n"))?;
        return Ok((None, None));
    }
    let mut report = Report::new(&arguments.name, bytes, info.capacity());
    report.lossless = lossless;
    report.faults = receipt.faults;
    if is_dead {
        report.faults.push(format!("the publisher of {} has died", quoted(&arguments.name)));
    }
    for part in receipt.parts {
        report.parts.push(Part {
            rate: None,
            is_timed: part.latency_ns.is_some(),
            sent: None,
            subscribers: vec![part],
        });
    }
    report.is_stopped = stop.outcome().is_some();
    Ok((Some(report), stop.outcome()))
}

fn failed(error: &dyn fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

fn foreign(arguments: &Arguments, why: &str) -> Failure {
    let name = quoted(&arguments.name);
    Failure::new(format!("{name} carries no messages of `annulus bench` of this version: {why}"))
}

/// What came, and how it ended.
struct Received {
    receipt: Receipt,
    is_dead: bool,
}

/// Joins the ring and receives up to its end.
fn receive<const WORDS: usize>(
    arguments: &Arguments,
    invitation: &Invitation,
    stop: &Stop,
) -> Result<Received, Failure> {
    let ring = invitation
        .accept::<Load<WORDS>>()
        .map_err(|error| foreign(arguments, &rings::mismatch(invitation.info().ok(), &error)))?;
    stop.give(ring.subscribable().closer());
    let subscriber = ring.subscribable().subscribe();
    joined(arguments)?;
    let receipt = follow(subscriber);
    let is_dead = stop.outcome().is_none() && ring.state() == PeerState::Dead;
    Ok(Received { receipt, is_dead })
}

/// As [`receive`]. Nothing closes such a ring here, so a signal ends the process at once.
fn receive_lossless<const WORDS: usize>(
    arguments: &Arguments,
    invitation: &Invitation,
) -> Result<Received, Failure> {
    let ring = invitation
        .accept_lossless::<Load<WORDS>>()
        .map_err(|error| foreign(arguments, &rings::mismatch(invitation.info().ok(), &error)))?;
    let subscriber = ring.subscribe().map_err(|error| failed(&error))?;
    joined(arguments)?;
    let receipt = follow(subscriber);
    Ok(Received { receipt, is_dead: ring.state() == PeerState::Dead })
}

fn strategy(arguments: &Arguments) -> WaitStrategy {
    if arguments.spin { WaitStrategy::PauseSpin } else { WaitStrategy::default() }
}

/// Tells the publisher's process, if that has started this one.
fn joined(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.child { output::print(&format!("{JOINED}\n")) } else { Ok(()) }
}

/// Receives and checks each message up to the end.
fn follow<M: Mode, const WORDS: usize>(mut subscriber: Subscriber<Load<WORDS>, M>) -> Receipt {
    let mut tally = Tally::new(subscriber.cursor());
    while let Ok(load) = subscriber.recv() {
        tally.enter(load.checked(), subscriber.total_lagged());
    }
    tally.close(subscriber.total_lagged())
}

/// What was received so far.
struct Tally {
    ledger: Ledger,
    parts: Vec<Running>,
    /// The number of the next message, if none is lost.
    next: u64,
    /// How many are lost, in all parts.
    lost: u64,
}

/// A part that is being received.
struct Running {
    start: u64,
    received: u64,
    lost: u64,
    begun_ns: u64,
    ended_ns: u64,
    latency_ns: Option<Histogram<u64>>,
}

impl Running {
    fn new(start: u64, is_timed: bool, now_ns: u64) -> Self {
        let latency_ns = is_timed.then(latencies);
        Self { start, received: 0, lost: 0, begun_ns: now_ns, ended_ns: now_ns, latency_ns }
    }
}

impl Tally {
    /// The next message is to be number `first`.
    fn new(first: u64) -> Self {
        Self { ledger: Ledger::from(first), parts: Vec::new(), next: first, lost: 0 }
    }

    /// Enters a message ([`Load::checked`]), after which the ring says `lagged` in all.
    #[inline]
    fn enter(&mut self, message: Option<(u64, u64, Mark)>, lagged: u64) {
        let Some((number, sent_ns, mark)) = message else {
            return self.ledger.enter_corrupt(lagged);
        };
        self.ledger.enter(number, lagged);
        if number != self.next || self.parts.last().is_none_or(|part| part.start != mark.start) {
            self.jump(number, mark);
        }
        self.next = number.wrapping_add(1);
        let Some(part) = self.parts.last_mut() else { return };
        part.received += 1;
        if let Some(latency_ns) = &mut part.latency_ns {
            part.ended_ns = now_ns();
            latency_ns.saturating_record(part.ended_ns.saturating_sub(sent_ns));
        } else if mark.is_last || part.received.is_multiple_of(CLOCK_EVERY) {
            // (The last one may be lost.)
            part.ended_ns = now_ns();
        }
    }

    /// Before message `number`, some are lost, or its part begins. A message that is lost counts for the
    /// part in which it was published. (Decision 0108.)
    #[cold]
    fn jump(&mut self, number: u64, mark: Mark) {
        let begins = self.parts.last().is_none_or(|part| part.start != mark.start);
        // (Numbers that can't be are faults by the ledger.)
        let before = mark.start.min(number).saturating_sub(self.next);
        if before > 0 {
            if self.parts.is_empty() {
                self.parts.push(Running::new(self.next, false, now_ns()));
            }
            self.lose(before);
        }
        if begins {
            self.parts.push(Running::new(mark.start, mark.is_timed, now_ns()));
        }
        self.lose(number.saturating_sub(self.next.max(mark.start)));
    }

    fn lose(&mut self, count: u64) {
        self.lost += count;
        if let Some(part) = self.parts.last_mut() {
            part.lost += count;
        }
    }

    /// The ring has ended, and says `lagged` in all.
    fn close(mut self, lagged: u64) -> Receipt {
        self.ledger.close(lagged);
        self.lose(lagged.saturating_sub(self.lost));
        let faults = self.ledger.faults(self.ledger.passed()).iter().map(ToString::to_string).collect();
        let parts = self.parts.into_iter().map(|part| PartReceipt {
            start: part.start,
            received: part.received,
            lost: part.lost,
            elapsed_ns: part.ended_ns.saturating_sub(part.begun_ns),
            latency_ns: part.latency_ns.as_ref().map(Latency::of),
        });
        Receipt { parts: parts.collect(), faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(messages: &[(u64, u64)], lagged: u64, paced_from: u64) -> Receipt {
        let mut tally = Tally::new(0);
        for &(number, lagged) in messages {
            let is_timed = number >= paced_from;
            let mark = Mark { start: if is_timed { paced_from } else { 0 }, is_last: false, is_timed };
            tally.enter(Some((number, now_ns(), mark)), lagged);
        }
        tally.close(lagged)
    }

    /// Of each part: its start, how many were received, how many were lost.
    fn sums(receipt: &Receipt) -> Vec<(u64, u64, u64)> {
        receipt.parts.iter().map(|part| (part.start, part.received, part.lost)).collect()
    }

    #[test]
    fn lost_message_is_that_of_the_part_in_which_it_was_published() {
        for (messages, lagged, expected) in [
            (&[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)][..], 0, &[(0, 4, 0), (4, 2, 0)][..]),
            // The end of one part and the beginning of the next one.
            (&[(0, 0), (5, 4), (7, 5)], 5, &[(0, 1, 3), (4, 2, 2)]),
            // All of a part.
            (&[(6, 6)], 6, &[(0, 0, 4), (4, 1, 2)]),
            // In the middle, and after the last one.
            (&[(1, 1), (3, 2)], 4, &[(0, 2, 4)]),
        ] {
            let receipt = received(messages, lagged, 4);
            assert_eq!(sums(&receipt), expected, "{messages:?}");
            assert_eq!(receipt.faults, [""; 0]);
            assert!(receipt.parts.iter().all(|part| part.latency_ns.is_some() == (part.start == 4)));
        }
    }

    #[test]
    fn faults_are_said() {
        for (messages, lagged, fault) in [
            (&[(0, 0), (0, 0)][..], 0, "1 message came twice"),
            (&[(0, 0), (2, 0)], 0, "1 gap of another size than the loss that the ring reported"),
        ] {
            assert_eq!(received(messages, lagged, 10).faults, [fault]);
        }
        let mut tally = Tally::new(0);
        tally.enter(None, 0);
        assert_eq!(tally.close(0).faults, ["1 message came corrupted"]);
    }

    /// The publisher's and the subscriber's side, in one process.
    #[test]
    fn subscriber_follows_a_ring() {
        let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
        let subscriber = subscribable.subscribe();
        for number in 0..10 {
            let mark =
                Mark { start: 8 * u64::from(number >= 8), is_last: number == 7, is_timed: number >= 8 };
            publisher.publish(Load::<4>::new(number, now_ns(), mark));
        }
        drop(publisher);
        let receipt = follow(subscriber);
        assert_eq!(sums(&receipt), [(0, 2, 6), (8, 2, 0)]);
        assert_eq!(receipt.faults, [""; 0]);
    }
}
