//! A ring that loses nothing: a fast publisher waits for a slow consumer, at no cost, and never for the tap beside it.
//!
//! `cargo run --release -p annulus --example backpressure`

use std::thread;
use std::time::{Duration, Instant};

use annulus::{PublishTimeoutError, TryPublishError};

fn main() {
    step_by_step();
    with_threads();
}

/// What a publisher is told when there is no room.
fn step_by_step() {
    // Two of eight slots stay free: the publisher may be six messages ahead of its slowest subscriber.
    let (mut publisher, subscribable) =
        annulus::broadcast::Builder::new(8).headroom(2).lossless::<u64>().unwrap();
    let mut subscriber = subscribable.subscribe();

    let refused = (0..=8).find_map(|number| match publisher.try_publish(number) {
        Ok(()) => None,
        Err(TryPublishError::Full(value)) => Some(value),
        Err(TryPublishError::Closed(_)) => unreachable!("there is a subscriber"),
    });
    let refused = refused.expect("a ring of 8 has no room for 9");
    println!("try_publish: {} messages went in, and number {refused} came back", publisher.published());
    assert_eq!((publisher.published(), refused), (6, 6));

    let begun = Instant::now();
    let patience = Duration::from_millis(10);
    match publisher.publish_timeout(refused, patience) {
        Err(PublishTimeoutError::Timeout(value)) => {
            println!("publish_timeout: number {value} came back after {:.1?}", begun.elapsed());
            assert_eq!(value, refused);
        }
        other => unreachable!("nobody received meanwhile: {other:?}"),
    }
    assert!(begun.elapsed() >= patience);

    assert_eq!(subscriber.recv(), Ok(0));
    publisher.publish_timeout(refused, patience).expect("one was received, so there is room for one");
    println!("one was received: number {refused} went in\n");
}

/// Each at its own pace.
fn with_threads() {
    const MESSAGES: u64 = 300;
    let (mut publisher, subscribable) =
        annulus::broadcast::Builder::new(64).headroom(16).lossless::<u64>().unwrap();

    let mut subscriber = subscribable.subscribe();
    let consumer = thread::spawn(move || {
        for expected in 0..MESSAGES {
            assert_eq!(subscriber.recv(), Ok(expected), "nothing is lost, nothing comes twice");
            thread::sleep(Duration::from_millis(1)); // slow
        }
        assert!(subscriber.recv().is_err(), "the publisher is gone");
        subscriber.total_received()
    });

    // Looks a few times only. Nobody waits for that, so it is told what it passed over.
    let mut tap = subscribable.subscribe_lossy();
    let display = thread::spawn(move || {
        let mut shown = 0;
        loop {
            let is_last_look = tap.is_closed(); // asked first: then the look sees the last message too
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

    let (begun, cpu_before) = (Instant::now(), cpu_time());
    for number in 0..MESSAGES {
        publisher.publish(number).expect("somebody can receive"); // sleeps while there is no room
    }
    let (elapsed, cpu_after) = (begun.elapsed(), cpu_time());
    drop(publisher);

    println!("publisher: {MESSAGES} messages in {elapsed:.1?}, the pace of the consumer");
    if let (Some(before), Some(after)) = (cpu_before, cpu_after) {
        let used = after.saturating_sub(before);
        println!("publisher: {used:.1?} of that on a processor, asleep for the rest");
        assert!(used < elapsed / 2, "it waits without spinning");
    }

    let received = consumer.join().unwrap();
    println!("consumer: received {received}, lost none");
    assert_eq!(received, MESSAGES);

    let (shown, passed_over) = display.join().unwrap();
    println!("tap: received {shown}, passed over {passed_over}");
    assert_eq!(shown + passed_over, MESSAGES);
}

/// The processor time of this thread so far.
#[cfg(target_os = "linux")]
fn cpu_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Option<Duration> {
    None
}
