//! Queues from many producers to one consumer.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::stream;
use crate::contenders::guests::{self, Moodycamel};
use crate::contenders::{
    AnnulusMany, Crossbeam, Kanal, Named, Queue, Receiver, Sender, StdSync, StdUnbounded,
};
use crate::cores::pin;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, ns_each, phases};

pub fn rows() -> [Row; 5] {
    const ONE: &str = "one producer joined";
    const PRODUCERS: &str = "producers, messages one by one";
    let row = |name, about| Row::new(name, about, 4096, 2_048_000).on_two_cores();
    let more = |name, about, producers: usize| {
        row(name, about).threads(producers + 1).at(PRODUCERS, producers as u64)
    };
    [
        against_all(
            row(
                "queue, one producer of many",
                "u64, sent to a queue for many producers and received on the other core one by one, by verbs that wait; the \
                 consumer checks that each producer's messages come in order, none missing",
            )
            .at(PRODUCERS, 1)
            .entries(entries::<1>())
            .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("many-1", plan))),
        ),
        against_all(
            more("queue, two producers", "the same with two producers, which share a core", 2).entries(entries::<2>())
            .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("many-2", plan))),
        ),
        against_all(
            more("queue, four producers", "the same with four producers, which share a core", 4).entries(entries::<4>())
            .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("many-4", plan))),
        ),
        against_all(
            more("queue, eight producers", "the same with eight producers, which share a core", 8).entries(entries::<8>())
            .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("many-8", plan))),
        ),
        row("queue, 64 joined, one sends", "the same with 64 producers, of which 63 never send")
            .entries([Entry { name: AnnulusMany::NAME, kind: Kind::Ours, run: one_of::<64> }])
            .other(ONE, one_of::<1>)
            .target(ONE, 1.0 / 0.9),
    ]
}

/// Below two thirds of the best of the others is below two thirds of each.
fn against_all(row: Row) -> Row {
    [Crossbeam::NAME, Kanal::NAME, StdSync::NAME].into_iter().fold(row, |row, rival| row.target(rival, 0.67))
}

fn entries<const PRODUCERS: u64>() -> [Entry; 5] {
    [
        Entry { name: AnnulusMany::NAME, kind: Kind::Ours, run: produce::<AnnulusMany, PRODUCERS> },
        Entry { name: Crossbeam::NAME, kind: Kind::Rival, run: produce::<Crossbeam, PRODUCERS> },
        Entry { name: Kanal::NAME, kind: Kind::Rival, run: produce::<Kanal, PRODUCERS> },
        Entry { name: StdSync::NAME, kind: Kind::Rival, run: produce::<StdSync, PRODUCERS> },
        Entry { name: StdUnbounded::NAME, kind: Kind::Rival, run: produce::<StdUnbounded, PRODUCERS> },
    ]
}

/// All producers on the other core, the consumer on this one.
#[inline(never)]
pub(super) fn produce<Q: Queue<Sender: Sender + Clone, Receiver: Receiver>, const PRODUCERS: u64>(
    plan: &Plan,
) -> Sample {
    let (sender, mut receiver) = Q::queue(plan.capacity);
    let [warm_up, messages] = [LIVE_WARM_UP, plan.messages].map(|messages| messages / PRODUCERS);
    let begin = Barrier::new(PRODUCERS as usize + 1);
    thread::scope(|scope| {
        for who in 0..PRODUCERS {
            let (mut sender, begin) = (sender.clone(), &begin);
            scope.spawn(move || {
                pin(plan.cores.there);
                for phase in phases(warm_up, messages) {
                    begin.wait();
                    for i in phase {
                        sender.must_send(i * PRODUCERS + who);
                    }
                }
            });
        }
        drop(sender);
        let mut next = [0; 8];
        let mut begun = Instant::now();
        for phase in phases(warm_up, messages) {
            begin.wait();
            begun = Instant::now();
            for _ in phase.start * PRODUCERS..phase.end * PRODUCERS {
                let message = receiver.must_receive();
                let next = &mut next[(message % PRODUCERS) as usize];
                assert!(message / PRODUCERS == *next);
                *next += 1;
            }
        }
        let ns = ns_each(begun, messages * PRODUCERS);
        assert!(next[..PRODUCERS as usize].iter().all(|&next| next == warm_up + messages));
        assert!(receiver.receive().is_none(), "the queue is closed, and nothing is left");
        ns.into()
    })
}

/// A stream from the first of many.
#[inline(never)]
fn one_of<const JOINED: usize>(plan: &Plan) -> Sample {
    let (sender, receiver) = AnnulusMany::queue(plan.capacity);
    let _others: Vec<_> = (1..JOINED).map(|_| sender.clone()).collect();
    stream::queue_between(plan, sender, receiver)
}
