//! Queues with one order and one capacity for all producers, from many of them to one consumer.
//!
//! What is timed checks the order of each producer. That there is one order for all of them is checked before
//! each run of ours, while no clock runs: it takes tickets that would cost more than the messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::entries::contenders;
use super::queue_many::produce;
use crate::contenders::{
    AnnulusMany, AnnulusOneOrder, Crossbeam, Crossfire, Flume, Kanal, Named, Queue, Receiver, Sender,
};
use crate::cores::pin;
use crate::row::{Entry, Kind, Plan, Row, Sample};

/// How many messages are sent with tickets.
const TICKETED: u64 = 20_000;

pub fn rows() -> [Row; 4] {
    [
        row::<1>(
            "queue with one order, one producer",
            "u64, sent to a queue with one ring for all producers and received on the other core one by one, by verbs that wait; the consumer \
             checks that each producer's messages come in order, none missing",
        ),
        row::<2>("queue with one order, two producers", "the same with two producers, which share a core"),
        row::<4>("queue with one order, four producers", "the same with four producers, which share a core"),
        row::<8>(
            "queue with one order, eight producers",
            "the same with eight producers, which share a core",
        ),
    ]
}

fn row<const PRODUCERS: u64>(name: &'static str, about: &'static str) -> Row {
    const EACH: &str = "a ring for each producer";
    let row = Row::new(name, about, 4096, 2_048_000)
        .threads(PRODUCERS as usize + 1)
        .at("producers, one order for all", PRODUCERS)
        .entries(
            contenders!(produce: AnnulusOneOrder, Crossbeam, Kanal, Crossfire, Flume; PRODUCERS)
                .map(checked::<PRODUCERS>),
        )
        .other(EACH, produce::<AnnulusMany, PRODUCERS>);
    [Crossbeam::NAME, Kanal::NAME, Crossfire::NAME, Flume::NAME]
        .into_iter()
        .fold(row, |row, rival| row.target(rival, 0.8))
}

/// Ours, with the check of its order before each run.
fn checked<const PRODUCERS: u64>(entry: Entry) -> Entry {
    if entry.kind == Kind::Ours { Entry { run: in_one_order::<PRODUCERS>, ..entry } } else { entry }
}

fn in_one_order<const PRODUCERS: u64>(plan: &Plan) -> Sample {
    let (sent, received) = with_tickets(plan, PRODUCERS);
    assert_eq!(ordered(&sent, &received), Ok(()));
    produce::<AnnulusOneOrder, PRODUCERS>(plan)
}

/// Each producer draws a ticket before its send, which it sends, and one after it. The pairs of tickets, and
/// what was received.
fn with_tickets(plan: &Plan, producers: u64) -> (BTreeMap<u64, u64>, Vec<u64>) {
    let (sender, mut receiver) = AnnulusOneOrder::queue(plan.capacity);
    let (tickets, begin) = (AtomicU64::new(0), Barrier::new(producers as usize));
    thread::scope(|scope| {
        let producers: Vec<_> = (0..producers)
            .map(|_| {
                let (mut sender, tickets, begin) = (sender.clone(), &tickets, &begin);
                scope.spawn(move || {
                    pin(plan.cores.there);
                    begin.wait();
                    let sent = (0..TICKETED / producers).map(|_| {
                        // AcqRel: a send that was over before this one began has the smaller tickets.
                        let before = tickets.fetch_add(1, Ordering::AcqRel);
                        sender.must_send(before);
                        (before, tickets.fetch_add(1, Ordering::AcqRel))
                    });
                    sent.collect::<Vec<_>>()
                })
            })
            .collect();
        drop(sender);
        let received = std::iter::from_fn(|| receiver.receive()).collect();
        let sent = producers.into_iter().flat_map(|producer| producer.join().expect("it has sent")).collect();
        (sent, received)
    })
}

/// Whether all that was sent was received, and no message came before another one whose send was over when
/// its own began. An error names the message, by its first ticket.
fn ordered(sent: &BTreeMap<u64, u64>, received: &[u64]) -> Result<(), u64> {
    let all: BTreeSet<u64> = received.iter().copied().collect();
    if let Some(lost) = sent.keys().find(|before| !all.contains(before)) {
        return Err(*lost);
    }
    // From the last on: the earliest end of those behind.
    let mut earliest = u64::MAX;
    for before in received.iter().rev() {
        if earliest < *before {
            return Err(*before);
        }
        earliest = earliest.min(*sent.get(before).ok_or(*before)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_allows_what_overlaps_and_nothing_else() {
        // Two sends at once, and one when both were over.
        let sent = BTreeMap::from([(0, 2), (1, 3), (4, 5)]);
        assert_eq!(ordered(&sent, &[0, 1, 4]), Ok(()));
        assert_eq!(ordered(&sent, &[1, 0, 4]), Ok(()));
        assert_eq!(ordered(&sent, &[1, 4, 0]), Err(4), "the first send was over before that of 4 began");
        assert_eq!(ordered(&sent, &[4, 0, 1]), Err(4));
        assert_eq!(ordered(&sent, &[0, 4]), Err(1), "one is lost");
        assert_eq!(ordered(&sent, &[0, 1, 4, 6]), Err(6), "nobody sent that");
    }
}
