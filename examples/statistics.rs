//! What a queue can tell of itself while it runs: who sent how much, what waits, and how long messages lay there.
//!
//! `cargo run --release -p annulus --example statistics`

use std::thread;
use std::time::Duration;

use annulus::mpsc;

fn main() {
    let (first, mut consumer) = mpsc::Builder::new(1024).statistics(true).build::<u64>().unwrap();
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

    let mut received = 0;
    while consumer.recv().is_ok() {
        received += 1;
        if received % 10_000 == 0 {
            thread::sleep(Duration::from_millis(5)); // it falls behind
            println!("received {received}, waiting {}", consumer.snapshot().pending());
        }
    }
    producers.into_iter().for_each(|producer| producer.join().unwrap());

    let stats = consumer.snapshot();
    for (ring, producer) in stats.producers.iter().enumerate() {
        println!(
            "ring {ring}: sent {}, received {}, {:?}",
            producer.sent, producer.received, producer.latency
        );
    }
    assert_eq!(stats.producers.iter().map(|producer| producer.received).sum::<u64>(), received);
    assert_eq!((received, stats.pending(), stats.closed), (30_000, 0, true));
}
