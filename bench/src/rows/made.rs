//! What it takes to make a ring and to drop it.

use std::hint::black_box;
use std::time::Instant;

use annulus::{broadcast, event, mpmc, mpsc, oneshot, queue, spmc, spsc, watch};

use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

/// What ours may take of the best rival's time.
const LIMIT: f64 = 1.0;

/// A row: how ours of this kind is made, and how each rival's.
macro_rules! row {
    ($kind:literal, $ours:expr; $($rival:literal: $make:expr),* $(,)?) => {
        row(
            $kind,
            vec![
                Entry { name: "annulus", kind: Kind::Ours, run: |plan| made(plan, $ours) },
                $(Entry { name: $rival, kind: Kind::Rival, run: |plan| made(plan, $make) },)*
            ],
        )
    };
}

/// Beside channels that are the same for any number of threads.
macro_rules! for_many {
    ($kind:literal, $ours:expr) => {
        row!($kind, $ours;
            "crossbeam-channel": crossbeam_channel::bounded::<u64>,
            "flume": flume::bounded::<u64>,
            "std": std::sync::mpsc::sync_channel::<u64>,
            "tokio mpsc": tokio::sync::mpsc::channel::<u64>,
            "kanal": kanal::bounded::<u64>,
            "async-channel": async_channel::bounded::<u64>,
        )
    };
}

pub fn rows() -> [Row; 10] {
    [
        row!("spsc", spsc::channel::<u64>;
            "rtrb": rtrb::RingBuffer::<u64>::new,
            "crossbeam-channel": crossbeam_channel::bounded::<u64>,
            "std": std::sync::mpsc::sync_channel::<u64>,
            "kanal": kanal::bounded::<u64>,
        ),
        for_many!("mpsc", mpsc::channel::<u64>),
        for_many!("spmc", spmc::channel::<u64>),
        for_many!("mpmc", mpmc::channel::<u64>),
        for_many!("one order", queue::ordered::channel::<u64>),
        row!("broadcast", |capacity| with_reader(broadcast::lossy::<u64>(capacity), |ring| ring.subscribe());
            "photon-ring": |capacity| with_reader(photon_ring::channel::<u64>(capacity), |ring| ring.subscribe()),
            "tokio": tokio::sync::broadcast::channel::<u64>,
        ),
        row!("lossless broadcast", |capacity| with_reader(broadcast::lossless::<u64>(capacity), |ring| ring.subscribe());
            "photon-ring": |capacity| {
                with_reader(photon_ring::channel_bounded::<u64>(capacity, 0), |ring| ring.subscribe())
            },
            "async-broadcast": async_broadcast::broadcast::<u64>,
            "bus": |capacity| {
                let mut bus = bus::Bus::<u64>::new(capacity);
                let reader = bus.add_rx();
                (bus, reader)
            },
        ),
        row!("events", |capacity| with_reader(event::channel(capacity, || 0u64), |ring| ring.subscribe());
            "photon-ring": |capacity| {
                with_reader(photon_ring::event_channel(capacity, || 0u64), |ring| ring.subscribe())
            },
            "disruptor": |capacity| {
                let builder = disruptor::build_single_producer(capacity, || 0u64, disruptor::BusySpin);
                let (reader, builder) = builder.new_event_poller();
                (builder.build(), reader)
            },
        ),
        row!("oneshot", |_| oneshot::channel::<u64>();
            "oneshot": |_| ::oneshot::channel::<u64>(),
            "tokio": |_| tokio::sync::oneshot::channel::<u64>(),
        ),
        row!("watch", |_| watch::channel(0u64); "tokio": |_| tokio::sync::watch::channel(0u64)),
    ]
}

fn row(kind: &str, entries: Vec<Entry>) -> Row {
    let about = "u64: the ring is made, with one handle on each side, and both are dropped, on one thread";
    Row::new(format!("made and dropped, {kind}"), about, 64, 100_000)
        .entries(entries)
        .at_most_of_the_best(LIMIT)
}

/// A publisher, and its first subscriber.
fn with_reader<P, S, R>((publisher, subscribable): (P, S), subscribe: impl FnOnce(&S) -> R) -> (P, S, R) {
    let reader = subscribe(&subscribable);
    (publisher, subscribable, reader)
}

#[inline(never)]
fn made<R>(plan: &Plan, make: impl Fn(usize) -> R) -> Sample {
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, plan.messages) {
        begun = Instant::now();
        for _ in phase {
            drop(black_box(make(black_box(plan.capacity))));
        }
    }
    ns_each(begun, plan.messages).into()
}
