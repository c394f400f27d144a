//! What a publisher is told when a lossless ring has no room: its message comes back, at once or after a
//! while.
//!
//! `cargo run --release -p annulus --example backpressure`

use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast;
use annulus::{SendTimeoutError, TrySendError};

const PATIENCE: Duration = Duration::from_millis(10);

fn main() {
    // Two of eight slots stay free, so the publisher may be six messages ahead of its slowest subscriber.
    let (mut publisher, subscribable) =
        broadcast::lossless_with::<u64>(Settings::new(8).headroom(2)).unwrap();
    let mut subscriber = subscribable.subscribe();
    let mut tap = subscribable.subscribe_lossy(); // nobody waits for a tap

    for number in 0..6 {
        publisher.try_publish(number).expect("there is room");
    }
    assert_eq!(publisher.try_publish(6), Err(TrySendError::Full(6)));
    println!("try_publish: 6 messages went in, and the next one came back at once");

    let begun = Instant::now();
    assert_eq!(publisher.publish_timeout(6, PATIENCE), Err(SendTimeoutError::Timeout(6)));
    assert!(begun.elapsed() >= PATIENCE);
    println!("publish_timeout: it came back after {:.1?}; the publisher slept meanwhile", begun.elapsed());

    // One message is received, so there is room for one.
    assert_eq!(subscriber.recv(), Ok(0));
    publisher.publish_timeout(6, PATIENCE).expect("there is room");

    // A batch goes in as far as there is room, and the rest comes back.
    assert_eq!(subscriber.try_iter().count(), 6);
    let numbers: Vec<u64> = (7..17).collect();
    let rest = publisher.publish_batch_timeout(&numbers, PATIENCE).unwrap_err().into_inner();
    println!("publish_batch_timeout: of {} messages {} came back", numbers.len(), rest.len());
    assert_eq!(rest, [13, 14, 15, 16]);

    // The tap has received nothing so far, and held up nobody. It goes on with the newest message.
    assert_eq!(tap.latest(), Some(12));
    println!("the tap: at message 12, and it passed over {}", tap.total_lagged());
    assert_eq!(tap.total_received() + tap.total_lagged(), publisher.published());
}
