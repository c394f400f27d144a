//! Instructions of the hot paths.

mod common;

use annulus::Settings;
use annulus::broadcast::{Lossless, Lossy, Publisher, Staged, Subscriber};
use annulus::{mpsc, spsc};
use common::{CAPACITY, MESSAGES, at_most, message, take};
use gungraun::prelude::*;

const BATCH: usize = 64;

type Ring = (Publisher<u64>, Subscriber<u64>);
type LosslessRing = (Publisher<u64, Lossless>, Subscriber<u64, Lossless>);
type Stage = (Publisher<u64>, Subscriber<u64, Staged<Lossy>>);
type Queue = (spsc::Producer<u64>, spsc::Consumer<u64>);
type ManyQueue = (mpsc::Producer<u64>, mpsc::Consumer<u64>);

/// The first messages of a ring have fences. One lap later it is as it was after one message.
fn grown(each: impl FnMut()) {
    std::iter::repeat_with(each).take(CAPACITY + 1).for_each(drop);
}

fn ring() -> Ring {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    grown(|| {
        publisher.publish(0);
        subscriber.try_recv().expect("it was published");
    });
    (publisher, subscriber)
}

fn unused_ring() -> Ring {
    let (publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    (publisher, subscribable.subscribe())
}

/// Its capacity is no power of two.
fn unused_odd_ring() -> Ring {
    let (publisher, subscribable) = annulus::broadcast::lossy(CAPACITY - 1);
    (publisher, subscribable.subscribe())
}

fn full_ring() -> Ring {
    let mut ring = ring();
    (0..MESSAGES as u64).for_each(|number| ring.0.publish(number));
    ring
}

fn lossless_ring() -> LosslessRing {
    let (mut publisher, subscribable) = annulus::broadcast::lossless(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    grown(|| {
        publisher.publish(0).expect("it is open");
        subscriber.try_recv().expect("it was published");
    });
    (publisher, subscriber)
}

fn full_lossless_ring() -> LosslessRing {
    let mut ring = lossless_ring();
    (0..MESSAGES as u64).for_each(|number| ring.0.publish(number).expect("there is room"));
    ring
}

fn full_stage() -> Stage {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    let mut stage = subscribable.subscribe_tracked();
    grown(|| {
        publisher.publish(0);
        stage.try_process(|_| ()).expect("it was published");
    });
    (0..MESSAGES as u64).for_each(|number| publisher.publish(number));
    (publisher, stage)
}

fn queue() -> Queue {
    let (mut producer, mut consumer) = spsc::channel(CAPACITY);
    grown(|| {
        producer.try_send(0).expect("the queue is empty");
        consumer.try_recv().expect("it was sent");
    });
    (producer, consumer)
}

fn full_queue() -> Queue {
    let mut queue = queue();
    (0..MESSAGES as u64).for_each(|number| queue.0.try_send(number).expect("there is room"));
    queue
}

fn queue_of_many() -> ManyQueue {
    let (mut producer, mut consumer) = mpsc::channel(CAPACITY);
    grown(|| {
        producer.try_send(0).expect("the queue is empty");
        consumer.try_recv().expect("it was sent");
    });
    (producer, consumer)
}

fn full_queue_of_many() -> ManyQueue {
    let mut queue = queue_of_many();
    (0..MESSAGES as u64).for_each(|number| queue.0.try_send(number).expect("there is room"));
    queue
}

/// With statistics.
fn counting_ring() -> Ring {
    let (mut publisher, subscribable) =
        annulus::broadcast::lossy_with(annulus::Settings::new(CAPACITY).statistics(true))
            .expect("it has slots");
    let mut subscriber = subscribable.subscribe();
    grown(|| {
        publisher.publish(0);
        subscriber.try_recv().expect("it was published");
    });
    (publisher, subscriber)
}

/// With statistics.
fn counting_queue() -> Queue {
    let (mut producer, mut consumer) =
        spsc::with(Settings::new(CAPACITY).statistics(true)).expect("it has slots");
    grown(|| {
        producer.try_send(0).expect("the queue is empty");
        consumer.try_recv().expect("it was sent");
    });
    (producer, consumer)
}

fn full_counting_queue() -> Queue {
    let mut queue = counting_queue();
    (0..MESSAGES as u64).for_each(|number| queue.0.try_send(number).expect("there is room"));
    queue
}

#[library_benchmark(setup = ring, config = at_most(27_200))]
fn publish(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|number| ring.0.publish(message(number)));
    ring
}

#[library_benchmark(setup = full_ring, config = at_most(25_100))]
fn try_recv(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_ok()));
    ring
}

#[library_benchmark(setup = ring, config = at_most(27_200))]
fn try_recv_empty(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_err()));
    ring
}

// An empty poll, where the next message is that of the first slot, as in a ring that nobody has used yet.
// (Whether a slot is the first one is a question of its own, which the others never ask.)

#[library_benchmark(setup = unused_ring, config = at_most(31_400))]
fn try_recv_unused(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_err()));
    ring
}

#[library_benchmark(setup = unused_odd_ring, config = at_most(41_800))]
fn try_recv_unused_odd(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_err()));
    ring
}

#[library_benchmark(setup = lossless_ring, config = at_most(26_700))]
fn try_recv_empty_lossless(mut ring: LosslessRing) -> LosslessRing {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_err()));
    ring
}

#[library_benchmark(setup = queue, config = at_most(36_300))]
fn try_recv_empty_queue(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_err()));
    queue
}

#[library_benchmark(setup = queue_of_many, config = at_most(40_200))]
fn try_recv_empty_of_many(mut queue: ManyQueue) -> ManyQueue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_err()));
    queue
}

#[library_benchmark(setup = full_stage, config = at_most(38_700))]
fn try_process(mut ring: Stage) -> Stage {
    (0..MESSAGES).for_each(|_| assert!(ring.1.try_process(|&message| _ = take(message)).is_ok()));
    ring
}

#[library_benchmark(setup = lossless_ring, config = at_most(35_700))]
fn publish_lossless(mut ring: LosslessRing) -> LosslessRing {
    (0..MESSAGES).for_each(|number| assert!(ring.0.publish(message(number)).is_ok()));
    ring
}

#[library_benchmark(setup = full_lossless_ring, config = at_most(34_300))]
fn try_recv_lossless(mut ring: LosslessRing) -> LosslessRing {
    (0..MESSAGES).for_each(|_| assert!(take(ring.1.try_recv()).is_ok()));
    ring
}

#[library_benchmark(setup = queue, config = at_most(22_000))]
fn try_send(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|number| assert!(queue.0.try_send(message(number)).is_ok()));
    queue
}

#[library_benchmark(setup = full_queue, config = at_most(25_200))]
fn try_recv_from_queue(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_ok()));
    queue
}

// (24,626. Some builds have the padding before the loop in the path of each message: a `nop`, which counts.)
#[library_benchmark(setup = queue_of_many, config = at_most(25_900))]
fn try_send_of_many(mut queue: ManyQueue) -> ManyQueue {
    (0..MESSAGES).for_each(|number| assert!(queue.0.try_send(message(number)).is_ok()));
    queue
}

#[library_benchmark(setup = full_queue_of_many, config = at_most(27_300))]
fn try_recv_of_many(mut queue: ManyQueue) -> ManyQueue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_ok()));
    queue
}

#[library_benchmark(setup = queue, config = at_most(10_750))]
fn send_slices(mut queue: Queue) -> Queue {
    for first in (0..MESSAGES).step_by(BATCH) {
        let batch: [u64; BATCH] = std::array::from_fn(|i| message(first + i));
        assert!(queue.0.try_send_batch(&batch).is_ok());
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
        assert!(queue.0.try_reserve(BATCH).expect("there is room").write_slice(&batch) == BATCH);
    }
    queue
}

#[library_benchmark(setup = full_queue, config = at_most(6_100))]
fn read_in_place(mut queue: Queue) -> Queue {
    for _ in (0..MESSAGES).step_by(BATCH) {
        let there = &queue.1.readable()[..BATCH];
        assert!(there.len() == BATCH);
        there.iter().for_each(|&received| _ = take(received));
        queue.1.advance(BATCH);
    }
    queue
}

// With statistics: the same on a ring, and little more in a queue, which measures one message in 256.

#[library_benchmark(setup = counting_ring, config = at_most(27_200))]
fn publish_counted(mut ring: Ring) -> Ring {
    (0..MESSAGES).for_each(|number| ring.0.publish(message(number)));
    ring
}

#[library_benchmark(setup = counting_queue, config = at_most(22_600))]
fn try_send_counted(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|number| assert!(queue.0.try_send(message(number)).is_ok()));
    queue
}

#[library_benchmark(setup = full_counting_queue, config = at_most(26_600))]
fn try_recv_counted(mut queue: Queue) -> Queue {
    (0..MESSAGES).for_each(|_| assert!(take(queue.1.try_recv()).is_ok()));
    queue
}

library_benchmark_group!(
    name = broadcast,
    benchmarks = [publish, try_recv, publish_lossless, try_recv_lossless, try_process]
);
library_benchmark_group!(
    name = empty,
    benchmarks = [
        try_recv_empty,
        try_recv_unused,
        try_recv_unused_odd,
        try_recv_empty_lossless,
        try_recv_empty_queue,
        try_recv_empty_of_many
    ]
);
library_benchmark_group!(
    name = queues,
    benchmarks = [
        try_send,
        try_recv_from_queue,
        try_send_of_many,
        try_recv_of_many,
        send_slices,
        recv_into_buffers,
        write_in_place,
        read_in_place
    ]
);
library_benchmark_group!(name = counted, benchmarks = [publish_counted, try_send_counted, try_recv_counted]);
main!(library_benchmark_groups = [broadcast, empty, queues, counted]);
