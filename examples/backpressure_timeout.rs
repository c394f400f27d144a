//! A producer that waits for room, but not for ever: the message comes back, and can be sent again.
//!
//! `cargo run --release -p annulus --example backpressure_timeout`

use std::thread;
use std::time::{Duration, Instant};

use annulus::spsc::Producer;
use annulus::{SendTimeoutError, spsc};

const PATIENCE: Duration = Duration::from_millis(10);
const MESSAGES: u64 = 20;

fn main() {
    // Boxes, to show that a message that is refused is neither lost nor copied.
    let (mut producer, mut consumer) = spsc::channel::<Box<u64>>(4);
    for number in 0..4 {
        producer.send(Box::new(number)).expect("the consumer is there");
    }

    // The ring is full, and nobody receives. The producer sleeps meanwhile.
    let begun = Instant::now();
    let Err(SendTimeoutError::Timeout(message)) = producer.send_timeout(Box::new(4), PATIENCE) else {
        unreachable!("nobody received, and nobody closed the queue");
    };
    let waited = begun.elapsed();
    println!("a full ring: number {message} came back after {waited:.1?}");
    assert!(*message == 4 && waited >= PATIENCE);

    // Somebody receives now, but stands still for a while after the first few.
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
    let mut timeouts = send_patiently(&mut producer, message);
    for number in 5..MESSAGES {
        timeouts += send_patiently(&mut producer, Box::new(number));
    }
    drop(producer);

    let received = reader.join().unwrap();
    println!("a slow consumer: {timeouts} timeouts, and it received all {} in order", received.len());
    assert!(received.into_iter().eq(0..MESSAGES));
}

/// Sends `message` however long it takes, and returns how often it timed out. Between two attempts there is time for something else: to
/// look at a flag, to say that the consumer is slow, to give up.
fn send_patiently(producer: &mut Producer<Box<u64>>, mut message: Box<u64>) -> u32 {
    for timeouts in 0.. {
        message = match producer.send_timeout(message, PATIENCE) {
            Ok(()) => return timeouts,
            Err(SendTimeoutError::Timeout(message)) => {
                println!("  number {message} waits for {PATIENCE:?} more");
                message
            }
            Err(SendTimeoutError::Closed(message)) => panic!("the consumer is gone: {message} is lost"),
        };
    }
    unreachable!("it tries for ever")
}
