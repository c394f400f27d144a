//! What it takes to make a ring and to drop it.
//!
//! Each entry has a process of its own: what an allocator does for one goes by what others have left.

use std::hint::black_box;
use std::time::Instant;

use annulus::{broadcast, event, mpmc, mpsc, oneshot, queue, spmc, spsc, watch};

use crate::processes::{Child, Parent, Work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

/// What ours may take of the best rival's time.
const LIMIT: f64 = 1.0;

/// An entry, its row's kind of ring, and what its process does: so many rings of such a capacity. Returns
/// nanoseconds for one.
type Made = (Entry, &'static str, fn(usize, u64) -> f64);

/// A row: how ours of this kind is made, and how each rival's.
macro_rules! row {
    ($kind:literal, $ours:expr; $($rival:literal: $make:expr),* $(,)?) => {
        vec![
            entry!($kind, "annulus", Kind::Ours, $ours),
            $(entry!($kind, $rival, Kind::Rival, $make),)*
        ]
    };
}

macro_rules! entry {
    ($kind:literal, $name:literal, $side:expr, $make:expr) => {
        (
            Entry { name: $name, kind: $side, run: |plan| in_its_process(plan, $kind, $name) },
            $kind,
            |capacity, rings| made(capacity, rings, $make),
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

pub fn rows() -> Vec<Row> {
    kinds().into_iter().map(row).collect()
}

fn kinds() -> [Vec<Made>; 10] {
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

fn row(entries: Vec<Made>) -> Row {
    let about = "u64: the ring is made, with one handle on each side, and both are dropped, on one thread; each \
                 library in a process of its own";
    let kind = entries[0].1;
    Row::new(format!("made and dropped, {kind}"), about, 64, 100_000)
        .entries(entries.into_iter().map(|(entry, ..)| entry))
        .at_most_of_the_best(LIMIT)
}

/// Makes the rings of one entry.
pub struct Maker;

impl Work for Maker {
    fn run(parent: Parent) {
        let (kind, name): (String, String) = parent.hear();
        let mut entries = kinds().into_iter().flatten();
        let found = entries.find(|(entry, of, _)| *of == kind && entry.name == name);
        let (.., make) = found.expect("the parent has the same entries");
        parent.tell(&make(parent.order.capacity, parent.order.messages));
    }
}

fn in_its_process(plan: &Plan, kind: &str, name: &str) -> Sample {
    let maker = Child::start::<Maker>(plan, 1);
    maker.tell(&(kind, name));
    maker.last_words::<f64>().into()
}

/// A publisher, and its first subscriber.
fn with_reader<P, S, R>((publisher, subscribable): (P, S), subscribe: impl FnOnce(&S) -> R) -> (P, S, R) {
    let reader = subscribe(&subscribable);
    (publisher, subscribable, reader)
}

#[inline(never)]
fn made<R>(capacity: usize, rings: u64, make: impl Fn(usize) -> R) -> f64 {
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, rings) {
        begun = Instant::now();
        for _ in phase {
            drop(black_box(make(black_box(capacity))));
        }
    }
    ns_each(begun, rings)
}
