//! One slow subscriber holds up nobody. It is told exactly what it lost, and goes on with the newest.
//!
//! `cargo run --release -p annulus --example slow_consumer`

use std::thread;
use std::time::{Duration, Instant};

use annulus::LossyTryRecvError;
use annulus::broadcast::Subscriber;

const BURSTS: u64 = 200;
const BURST: u64 = 500;
const MESSAGES: u64 = BURSTS * BURST;
/// What the slow one does with each message it receives.
const WORK: Duration = Duration::from_millis(20);

fn main() {
    // The ring has room for eight bursts: who is away for less than that loses nothing.
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4096);
    let (fast, slow) = (subscribable.subscribe(), subscribable.subscribe());
    let fast = thread::spawn(move || receive_all(fast));
    let slow = thread::spawn(move || receive_some(slow));

    let begun = Instant::now();
    let mut longest = Duration::ZERO;
    for burst in 0..BURSTS {
        let burst_begun = Instant::now();
        (0..BURST).for_each(|number| publisher.publish(burst * BURST + number));
        longest = longest.max(burst_begun.elapsed());
        thread::sleep(Duration::from_millis(1));
    }
    let elapsed = begun.elapsed();
    let published = publisher.published();
    drop(publisher);

    let (fast_received, fast_lost) = fast.join().unwrap();
    let (slow_received, slow_lost) = slow.join().unwrap();
    println!("publisher: {published} messages in {elapsed:.1?}, longest burst of {BURST}: {longest:.1?}");
    println!("           (at the slow one's pace it would have taken {:.0?})", WORK * MESSAGES as u32);
    println!("fast:      {fast_received} received, {fast_lost} lost");
    println!("slow:      {slow_received} received, {slow_lost} lost or passed over");
    assert_eq!(fast_received + fast_lost, published);
    assert_eq!(slow_received + slow_lost, published);
    assert!(slow_received < fast_received);
}

/// Receives whatever it can get; returns how much that was, and how much it lost.
fn receive_all(mut subscriber: Subscriber<u64>) -> (u64, u64) {
    let mut gaps = 0;
    let mut expected = 0;
    while let Ok(number) = subscriber.recv() {
        gaps += number - expected;
        expected = number + 1;
    }
    // The gaps in the numbers are what it was told.
    assert_eq!(gaps, subscriber.total_lagged());
    (subscriber.total_received(), subscriber.total_lagged())
}

/// Takes its time for each message, and goes on with the newest when it has lost some.
fn receive_some(mut subscriber: Subscriber<u64>) -> (u64, u64) {
    let (mut lost, mut passed_over) = (0, 0);
    while !subscriber.is_closed() {
        match subscriber.try_recv() {
            Ok(_) => thread::sleep(WORK),
            Err(LossyTryRecvError::Lagged { skipped }) => {
                lost += skipped;
                // What still stands is old too: only the newest is worth the work.
                let old = subscriber.skip_to_latest();
                passed_over += old;
                println!("slow: lost {skipped:>5}, passes over {old:>4}, goes on at {}", subscriber.cursor());
            }
            Err(LossyTryRecvError::Empty) => thread::sleep(Duration::from_micros(100)),
            Err(LossyTryRecvError::Closed) => break,
        }
    }
    assert_eq!(lost + passed_over, subscriber.total_lagged());
    // The publisher is gone, so this is the last message, unless it was received before.
    assert!(subscriber.latest().is_none_or(|number| number == MESSAGES - 1));
    (subscriber.total_received(), subscriber.total_lagged())
}
