//! A lossless ring: a fast publisher waits for a slow consumer, asleep, and never for the tap beside it.
//!
//! `cargo run --release -p annulus --example slow_reader`

use std::thread;
use std::time::{Duration, Instant};

const MESSAGES: u64 = 300;

fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(64);

    let mut subscriber = subscribable.subscribe();
    let consumer = thread::spawn(move || {
        for expected in 0..MESSAGES {
            assert_eq!(subscriber.recv(), Ok(expected), "nothing is lost, nothing comes twice");
            thread::sleep(Duration::from_millis(1)); // slow
        }
        assert!(subscriber.recv().is_err(), "the publisher is gone");
        subscriber.total_received()
    });

    // A display looks at the newest message a few times. The publisher does not wait for it, so it is told
    // how many it passed over.
    let mut tap = subscribable.subscribe_lossy();
    let display = thread::spawn(move || {
        let mut shown = 0;
        loop {
            let is_last_look = tap.is_closed(); // asked first, so that the last look sees the last message
            if let Some(number) = tap.latest() {
                println!("  tap: at message {number}");
                shown += 1;
            }
            if is_last_look {
                return (shown, tap.total_lagged());
            }
            thread::sleep(Duration::from_millis(50));
        }
    });

    let begun = Instant::now();
    for number in 0..MESSAGES {
        publisher.publish(number).expect("somebody can receive"); // sleeps while there is no room
    }
    println!("publisher: {MESSAGES} messages in {:.1?}, the pace of the consumer", begun.elapsed());
    drop(publisher);

    let received = consumer.join().unwrap();
    let (shown, passed_over) = display.join().unwrap();
    println!("consumer: received {received}, lost none");
    println!("tap: received {shown}, passed over {passed_over}");
    assert_eq!((received, shown + passed_over), (MESSAGES, MESSAGES));
}
