//! A producer that waits for room, but not for ever: the message comes back, and can be sent again.
//!
//! `cargo run --release -p annulus --example backpressure_timeout`

use std::thread;
use std::time::{Duration, Instant};

use annulus::{SendTimeoutError, spsc};

const PATIENCE: Duration = Duration::from_millis(10);
const MESSAGES: u64 = 20;

fn main() {
    // Boxes, to show that a refused message is neither lost nor copied.
    let (mut producer, mut consumer) = spsc::channel::<Box<u64>>(4);
    for number in 0..4 {
        producer.send(Box::new(number)).expect("the consumer is there");
    }

    // The ring is full, and nobody receives. The producer sleeps meanwhile.
    let begun = Instant::now();
    let Err(SendTimeoutError::Timeout(refused)) = producer.send_timeout(Box::new(4), PATIENCE) else {
        unreachable!("nobody received, and nobody closed the queue");
    };
    println!("a full ring: number {refused} came back after {:.1?}", begun.elapsed());

    // Somebody receives now, and stops for a while after the first few.
    let reader = thread::spawn(move || {
        let mut received = Vec::new();
        while let Ok(number) = consumer.recv() {
            received.push(*number);
            if received.len() == 6 {
                thread::sleep(5 * PATIENCE);
            }
        }
        received
    });

    let mut timeouts = 0;
    for mut message in std::iter::once(refused).chain((5..MESSAGES).map(Box::new)) {
        // Between two attempts there is time for something else: look at a flag, report a slow consumer, give
        // up.
        while let Err(error) = producer.send_timeout(message, PATIENCE) {
            assert!(matches!(error, SendTimeoutError::Timeout(_)), "the consumer is there");
            message = error.into_inner();
            println!("  number {message} waits for {PATIENCE:?} more");
            timeouts += 1;
        }
    }
    drop(producer);

    let received = reader.join().unwrap();
    println!("a slow consumer: {timeouts} timeouts, and it received all {} in order", received.len());
    assert!(received.into_iter().eq(0..MESSAGES));
}
