//! A shutdown closes the queue while producers run. No send that returned `Ok` is lost, and no producer
//! hangs.
//!
//! `cargo run --release -p annulus --example graceful_shutdown`

use std::thread;

use annulus::{Shutdown, mpsc};

const PRODUCERS: u64 = 3;
/// How many messages the consumer receives before it closes the queue.
const ENOUGH: u64 = 100_000;

fn main() {
    let (producer, mut consumer) = mpsc::channel::<u64>(64);
    let workers: Vec<_> = (0..PRODUCERS)
        .map(|_| {
            let mut producer = producer.clone();
            thread::spawn(move || {
                let mut acknowledged = 0;
                loop {
                    // Waits while the ring is full. A close wakes it, and gives the message back.
                    match producer.send(acknowledged) {
                        Ok(()) => acknowledged += 1,
                        Err(refused) => {
                            assert_eq!(refused.into_inner(), acknowledged, "what was not sent");
                            return acknowledged;
                        }
                    }
                }
            })
        })
        .collect();
    drop(producer);

    // A shutdown closes the rings that are attached to it, from any thread.
    let shutdown = Shutdown::new();
    shutdown.attach(consumer.closer());
    for _ in 0..ENOUGH {
        consumer.recv().expect("the producers never stop");
    }
    // From here on every send fails. What was sent before is still received, until `recv` says that nothing
    // is left.
    shutdown.trigger();
    let mut rest = 0;
    while consumer.recv().is_ok() {
        rest += 1;
    }
    assert!(consumer.is_fully_drained());

    let acknowledged: Vec<u64> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    println!("sends that returned Ok: {acknowledged:?}");
    println!("received: {ENOUGH} before the close, {rest} after it");
    assert_eq!(acknowledged.iter().sum::<u64>(), ENOUGH + rest, "each was received, and nothing else");
}
