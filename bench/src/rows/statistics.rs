//! What it costs a ring to count (`statistics` of the builders), where nobody is waited for.

use std::time::Instant;

use annulus::Settings;
use annulus::{broadcast, mpsc, spsc};

use crate::contenders::{Annulus, Named};
use crate::messages::mix;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};

const OFF: &str = "annulus, statistics off";

pub fn rows() -> [Row; 4] {
    let row = |name, about, on, off| {
        Row::new(name, about, 4096, 2_000_000)
            .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: on }])
            .other(OFF, off)
            .target(OFF, 1.1)
    };
    [
        row(
            "statistics, lossy ring",
            "u64, one message published and then received, on one thread; ours has statistics on",
            |plan| lossy(plan, true),
            |plan| lossy(plan, false),
        ),
        row(
            "statistics, lossless ring",
            "the same on a lossless ring",
            |plan| lossless(plan, true),
            |plan| lossless(plan, false),
        ),
        row(
            "statistics, spsc",
            "the same through a queue, which also measures how long about one message of many lies in it",
            |plan| one_to_one(plan, true),
            |plan| one_to_one(plan, false),
        ),
        row(
            "statistics, mpsc",
            "the same through a queue for many producers, of which there is one",
            |plan| many_to_one(plan, true),
            |plan| many_to_one(plan, false),
        ),
    ]
}

const THERE: &str = "a ring of this capacity can be made";

#[inline(never)]
fn lossy(plan: &Plan, statistics: bool) -> Sample {
    let ring = broadcast::lossy_with(Settings::new(plan.capacity).statistics(statistics));
    let (mut publisher, subscribable) = ring.expect(THERE);
    let mut subscriber = subscribable.subscribe();
    one_by_one(plan, |message| {
        publisher.publish(message);
        subscriber.try_recv().ok()
    })
}

#[inline(never)]
fn lossless(plan: &Plan, statistics: bool) -> Sample {
    let ring = broadcast::lossless_with(Settings::new(plan.capacity).statistics(statistics));
    let (mut publisher, subscribable) = ring.expect(THERE);
    let mut subscriber = subscribable.subscribe();
    one_by_one(plan, |message| {
        publisher.try_publish(message).ok()?;
        subscriber.try_recv().ok()
    })
}

#[inline(never)]
fn one_to_one(plan: &Plan, statistics: bool) -> Sample {
    let queue = spsc::with(Settings::new(plan.capacity).statistics(statistics));
    let (mut producer, mut consumer) = queue.expect(THERE);
    one_by_one(plan, |message| {
        producer.try_send(message).ok()?;
        consumer.try_recv().ok()
    })
}

#[inline(never)]
fn many_to_one(plan: &Plan, statistics: bool) -> Sample {
    let queue = mpsc::with(Settings::new(plan.capacity).statistics(statistics));
    let (mut producer, mut consumer) = queue.expect(THERE);
    one_by_one(plan, |message| {
        producer.try_send(message).ok()?;
        consumer.try_recv().ok()
    })
}

/// Calls `through` with each message, which is to come back.
#[inline(always)]
fn one_by_one(plan: &Plan, mut through: impl FnMut(u64) -> Option<u64>) -> Sample {
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            assert!(through(mix(i)) == Some(mix(i)));
        }
    }
    ns_each(begun, plan.messages).into()
}
