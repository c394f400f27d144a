//! What a queue can tell of itself while it runs: which producer sent how much, what waits, and how long
//! messages lay there.
//!
//! `cargo run --release -p annulus --example statistics`

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::mpsc;

fn main() {
    let (first, mut consumer) = mpsc::with::<u64>(Settings::new(1024).statistics(true)).unwrap();
    let producers: Vec<_> = (1..=3)
        .map(|share| {
            let mut producer = first.clone();
            thread::spawn(move || {
                for number in 0..share * 5_000 {
                    producer.send(number).expect("the consumer is there");
                }
            })
        })
        .collect();
    drop(first);

    let (mut received, mut shown) = (0, 0);
    while consumer.recv().is_ok() {
        received += 1;
        if received % 5_000 == 0 {
            thread::sleep(Duration::from_millis(5)); // it falls behind
            let stats = consumer.stats();
            println!("received {received}, waiting {}", stats.pending.unwrap_or(0));
            // Those that are there, and those that left something behind.
            for producer in stats.producers {
                println!("  producer {}: sent {}, waited {:?}", producer.id, producer.sent, producer.latency);
                shown += 1;
            }
        }
    }
    for producer in producers {
        producer.join().unwrap();
    }
    assert_eq!((received, consumer.stats().pending), (30_000, Some(0)));
    assert!(shown > 0, "each snapshot was of an empty queue");
}
