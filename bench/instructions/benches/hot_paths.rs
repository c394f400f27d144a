//! Instructions of the hot paths, by callgrind: the same in each run, so a ceiling can lie just above today's
//! number.
//!
//! A ceiling is for 1,024 messages and what is around the loop. It is about two percent above what was
//! counted with the compiler that the benchmarks were last taken with: one instruction more for each message
//! is above it. Where a change that is meant to cost something reaches a ceiling, raise it in the same commit
//! and say why.

use std::hint::black_box;

use annulus::broadcast::{Lossy, Publisher, Staged, Subscriber};
use annulus::spsc;
use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};

const MESSAGES: usize = 1024;
const CAPACITY: usize = 4 * MESSAGES;
const BATCH: usize = 64;

type Ring = (Publisher<u64>, Subscriber<u64>);
type Stage = (Publisher<u64>, Subscriber<u64, Staged<Lossy>>);
type Queue = (spsc::Producer<u64>, spsc::Consumer<u64>);

/// At most `instructions`, and nothing is compared with a run before.
fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

/// A message, which the compiler knows nothing of.
#[inline(always)]
fn message(number: usize) -> u64 {
    if cfg!(feature = "heavier") { black_box(black_box(number as u64) ^ 1) } else { black_box(number as u64) }
}

/// What was received.
#[inline(always)]
fn take<T>(received: T) -> T {
    if cfg!(feature = "heavier") {
        black_box(black_box(0_u64) ^ 1);
    }
    black_box(received)
}

fn ring() -> Ring {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(0);
    subscriber.try_recv().expect("it was published");
    (publisher, subscriber)
}

fn full_ring() -> Ring {
    let mut ring = ring();
    (0..MESSAGES as u64).for_each(|number| ring.0.publish(number));
    ring
}

fn full_stage() -> Stage {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    let mut stage = subscribable.subscribe_tracked();
    publisher.publish(0);
    stage.try_process(|_| ()).expect("it was published");
    (0..MESSAGES as u64).for_each(|number| publisher.publish(number));
    (publisher, stage)
}

fn queue() -> Queue {
    let (mut producer, mut consumer) = spsc::channel(CAPACITY);
    producer.try_send(0).expect("the queue is empty");
    consumer.try_recv().expect("it was sent");
    (producer, consumer)
}

fn full_queue() -> Queue {
    let mut queue = queue();
    (0..MESSAGES as u64).for_each(|number| queue.0.try_send(number).expect("there is room"));
    queue
}

#[library_benchmark(setup = ring, config = at_most(26_200))]
fn publish(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|number| ring.0.publish(message(number)));
    ring
}

#[library_benchmark(setup = full_ring, config = at_most(24_100))]
fn try_recv(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_ok()));
    ring
}

#[library_benchmark(setup = ring, config = at_most(24_100))]
fn try_recv_empty(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_err()));
    ring
}

#[library_benchmark(setup = full_stage, config = at_most(37_700))]
fn try_process(mut ring: Stage) -> Stage {
    (0..MESSAGES).for_each(|_| assert!(ring.1.try_process(|&message| _ = take(message)).is_ok()));
    ring
}

#[library_benchmark(setup = queue, config = at_most(22_000))]
fn try_send(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|number| assert!(queue.0.try_send(message(number)).is_ok()));
    queue
}

#[library_benchmark(setup = full_queue, config = at_most(24_200))]
fn try_recv_from_queue(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_ok()));
    queue
}

#[library_benchmark(setup = queue, config = at_most(10_750))]
fn send_slices(mut queue: Queue) -> Queue {
    for first in (0..MESSAGES).step_by(BATCH) {
        let batch: [u64; BATCH] = std::array::from_fn(|i| message(first + i));
        assert!(queue.0.try_send_batch(&batch) == BATCH);
    }
    queue
}

#[library_benchmark(setup = full_queue, config = at_most(7_200))]
fn recv_into_buffers(mut queue: Queue) -> Queue {
    let mut buffer = [0; BATCH];
    for _ in (0..MESSAGES).step_by(BATCH) {
        assert!(queue.1.try_recv_batch(&mut buffer) == BATCH);
        buffer.iter().for_each(|&received| _ = take(received));
    }
    queue
}

#[library_benchmark(setup = queue, config = at_most(10_750))]
fn write_in_place(mut queue: Queue) -> Queue {
    for first in (0..MESSAGES).step_by(BATCH) {
        let batch: [u64; BATCH] = std::array::from_fn(|i| message(first + i));
        assert!(queue.0.reserve(BATCH).expect("there is room").write_slice(&batch) == BATCH);
    }
    queue
}

#[library_benchmark(setup = full_queue, config = at_most(5_800))]
fn read_in_place(mut queue: Queue) -> Queue {
    for _ in (0..MESSAGES).step_by(BATCH) {
        let there = queue.1.peek_many(BATCH);
        assert!(there.len() == BATCH);
        there.iter().for_each(|&received| _ = take(received));
        queue.1.advance(BATCH);
    }
    queue
}

library_benchmark_group!(name = broadcast, benchmarks = [publish, try_recv, try_recv_empty, try_process]);
library_benchmark_group!(
    name = queues,
    benchmarks =
        [try_send, try_recv_from_queue, send_slices, recv_into_buffers, write_in_place, read_in_place]
);
main!(library_benchmark_groups = [broadcast, queues]);
