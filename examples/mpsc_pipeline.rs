//! Many producers, one consumer: each producer has a ring of its own, so they are not in each other's way, and what one of them sends
//! arrives in order. Producers come and go while the queue runs.
//!
//! `cargo run --release -p annulus --example mpsc_pipeline`

use std::thread;
use std::time::Duration;

use annulus::mpsc;

/// Producers that stay.
const LONG: usize = 3;
const MESSAGES: u64 = 50_000;
/// Producers that come after them, one at a time, for a few messages each.
const BRIEF: usize = 100;
const FEW: u64 = 100;

/// Who sent it, and how many that one sent before.
struct Message {
    producer: usize,
    number: u64,
}

fn main() {
    let (first, mut consumer) = mpsc::channel::<Message>(256);

    let mut threads = Vec::new();
    for producer in 0..LONG {
        let mut handle = first.clone();
        threads.push(thread::spawn(move || {
            for number in 0..MESSAGES {
                // Waits while its own ring is full, whatever the others do.
                handle.send(Message { producer, number }).expect("the consumer is there");
            }
        }));
    }
    threads.push(thread::spawn(move || {
        for producer in LONG..LONG + BRIEF {
            thread::sleep(Duration::from_micros(200));
            // As `clone`, but says so if there is no memory for a ring. Once what a producer sent is received, its ring goes to the next.
            let mut handle = first.register().expect("there is memory for 256 messages");
            for number in 0..FEW {
                handle.send(Message { producer, number }).expect("the consumer is there");
            }
        }
        // `first` is dropped here. The queue is closed when the last producer is gone.
    }));

    let mut next = [0; LONG + BRIEF];
    let mut handle = |message: Message| {
        let due = &mut next[message.producer];
        assert_eq!(message.number, *due, "what one producer sends arrives in order");
        *due += 1;
    };
    // Sleep for one message, then take all that are there: slots are given back, and a producer is woken, once for many.
    let (mut batches, mut largest) = (0, 0);
    while let Ok(message) = consumer.recv() {
        handle(message);
        largest = largest.max(1 + consumer.consume(&mut handle));
        batches += 1;
    }
    for thread in threads {
        thread.join().unwrap();
    }

    let total: u64 = next.iter().sum();
    println!("{total} messages in {batches} batches, the largest of {largest}");
    println!("{} producers in all, {} rings", 1 + LONG + BRIEF, consumer.rings());
    assert_eq!(next[..LONG], [MESSAGES; LONG]);
    assert_eq!(next[LONG..], [FEW; BRIEF]);
}
