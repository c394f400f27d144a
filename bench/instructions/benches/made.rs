//! Instructions of making a small ring and dropping it, with those of the allocator.

#[allow(dead_code, reason = "no message is sent here")]
mod common;

use std::hint::black_box;

use annulus::{broadcast, mpsc, queue, spsc};
use common::at_most;
use gungraun::prelude::*;

const RINGS: usize = 64;
const SLOTS: usize = 64;

/// The first ring of a kind takes memory that the others take again.
fn made<R>(make: impl Fn(usize) -> R) {
    (0..RINGS).for_each(|_| drop(black_box(make(black_box(SLOTS)))));
}

// (Not in the benchmark: callgrind would take a closure of that name for its end.)
fn with_subscriber(slots: usize) -> (broadcast::Publisher<u64>, broadcast::Subscriber<u64>) {
    let (publisher, subscribable) = broadcast::lossy(slots);
    let subscriber = subscribable.subscribe();
    (publisher, subscriber)
}

#[library_benchmark(config = at_most(53_200))]
fn spsc_queue() {
    made(spsc::channel::<u64>);
}

#[library_benchmark(config = at_most(52_000))]
fn mpsc_queue() {
    made(mpsc::channel::<u64>);
}

#[library_benchmark(config = at_most(61_000))]
fn ordered_queue() {
    made(queue::ordered::channel::<u64>);
}

#[library_benchmark(config = at_most(62_000))]
fn lossy_ring() {
    made(with_subscriber);
}

library_benchmark_group!(name = rings, benchmarks = [spsc_queue, mpsc_queue, ordered_queue, lossy_ring]);
main!(library_benchmark_groups = rings);
