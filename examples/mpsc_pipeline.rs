//! Many producers, one consumer: each producer has a ring of its own, so producers are not in each other's
//! way, and what one of them sends arrives in order. Producers come and go while the queue runs.
//!
//! `cargo run --release -p annulus --example mpsc_pipeline`

use std::thread;

use annulus::mpsc;

/// Producers that stay.
const LONG: usize = 3;
const MESSAGES: u64 = 50_000;
/// Producers that come after them, one at a time, for a few messages each.
const BRIEF: usize = 100;
const FEW: u64 = 100;

/// Its producer, and how many messages that producer sent before.
struct Message {
    producer: usize,
    number: u64,
}

fn send(mut handle: mpsc::Producer<Message>, producer: usize, messages: u64) {
    for number in 0..messages {
        // Waits while its own ring is full, whatever the others do.
        assert!(handle.send(Message { producer, number }).is_ok(), "the consumer is there");
    }
}

fn main() {
    let (first, mut consumer) = mpsc::channel::<Message>(256);
    for producer in 0..LONG {
        let handle = first.clone();
        thread::spawn(move || send(handle, producer, MESSAGES));
    }
    thread::spawn(move || {
        // Each takes over the ring of the one before. `register` is a `clone` that reports if there is no
        // memory.
        (LONG..LONG + BRIEF).for_each(|producer| send(first.register().unwrap(), producer, FEW));
        // `first` is dropped here. The queue is closed when the last producer is gone.
    });

    let mut next = [0; LONG + BRIEF];
    let mut handle = |message: Message| {
        assert_eq!(message.number, next[message.producer], "what one producer sends arrives in order");
        next[message.producer] += 1;
    };
    // Sleeps for one message, then takes all that are there: slots are given back, and a producer is woken,
    // once for many.
    let (mut batches, mut largest) = (0, 0);
    while let Ok(message) = consumer.recv() {
        handle(message);
        largest = largest.max(1 + consumer.consume(usize::MAX, &mut handle));
        batches += 1;
    }
    println!("{} messages in {batches} batches, the largest of {largest}", next.iter().sum::<u64>());
    println!("{} producers in all, {} rings", 1 + LONG + BRIEF, consumer.rings());
    assert!(next[..LONG] == [MESSAGES; LONG] && next[LONG..] == [FEW; BRIEF]);
}
