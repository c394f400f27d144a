//! Queues from many producers to many consumers.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::entries::contenders;
use crate::contenders::guests::{self, Moodycamel};
use crate::contenders::{AnnulusManyToMany, Crossbeam, Kanal, Queue, Receiver, Sender};
use crate::cores::pin;
use crate::row::{Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, ns_each};

pub fn rows() -> [Row; 2] {
    let row = |name, about| Row::new(name, about, 4096, 1_024_000);
    [
                row(
            "queue for many, one to one",
            "u64, from a producer on one core to a consumer on the other, through a queue for many of both, by verbs that wait",
        )
        .on_two_cores()
        .entries(contenders!(exchange: AnnulusManyToMany, Crossbeam, Kanal; ONE))
        .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("exchange-1", plan))),
                row(
            "queue for many, two to two",
            "the same with two producers, which share a core, and two consumers, which share the other; each consumer checks the order \
             of what it has of each producer, and both together that nothing is missing",
        )
        .threads(4)
        .entries(contenders!(exchange: AnnulusManyToMany, Crossbeam, Kanal; TWO))
        .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("exchange-2", plan))),
    ]
}

const ONE: u64 = 1;
const TWO: u64 = 2;

/// What a consumer has had.
#[derive(Default)]
struct Received {
    count: u64,
    sum: u64,
}

/// As many producers as consumers. A consumer can't know when the messages of a warm-up are over, so there
/// is none that is not timed, and the threads begin together.
#[inline(never)]
fn exchange<Q, const EACH: u64>(plan: &Plan) -> Sample
where
    Q: Queue<Sender: Sender + Clone, Receiver: Receiver + Clone>,
{
    let (sender, receiver) = Q::queue(plan.capacity);
    let messages = (LIVE_WARM_UP + plan.messages) / EACH;
    let begin = Barrier::new(2 * EACH as usize);
    let consume = |mut receiver: Q::Receiver| {
        begin.wait();
        let begun = Instant::now();
        let (mut received, mut next) = (Received::default(), [0; 2]);
        while let Some(message) = receiver.receive() {
            let next = &mut next[(message % EACH) as usize];
            assert!(message / EACH >= *next, "of each producer, in order");
            *next = message / EACH + 1;
            received.count += 1;
            received.sum = received.sum.wrapping_add(message);
        }
        (begun, received)
    };
    let (begun, all) = thread::scope(|scope| {
        for who in 0..EACH {
            let (mut sender, begin) = (sender.clone(), &begin);
            scope.spawn(move || {
                pin(plan.cores.there);
                begin.wait();
                for i in 0..messages {
                    sender.must_send(i * EACH + who);
                }
            });
        }
        drop(sender);
        // They stay on the core of this thread.
        let others: Vec<_> =
            (1..EACH).map(|_| receiver.clone()).map(|receiver| scope.spawn(|| consume(receiver))).collect();
        let (mut begun, mut all) = consume(receiver);
        for other in others {
            let (when, received) = other.join().expect("what it had was in order");
            begun = begun.min(when);
            all.count += received.count;
            all.sum = all.sum.wrapping_add(received.sum);
        }
        (begun, all)
    });
    let total = messages * EACH;
    assert!(all.count == total && all.sum == (0..total).fold(0, u64::wrapping_add));
    ns_each(begun, total).into()
}
