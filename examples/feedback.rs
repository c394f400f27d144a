//! A handler that makes more work for its own ring: each event above 1 splits into two halves, which go into
//! the same ring.
//!
//! An event is not processed before its closure returns. So a `publish` in the closure, on a full ring, would
//! wait for ever for the closure that it runs in. This one tries. It keeps what finds no room, and publishes
//! that when the closure has returned, with a timeout: another subscriber may be slow.
//!
//! `cargo run --release -p annulus --example feedback`

use std::collections::VecDeque;
use std::time::Duration;

use annulus::SendTimeoutError;

fn main() {
    let (mut publisher, subscribable) = annulus::event::channel(4, || 0_u32);
    let mut worker = subscribable.subscribe();
    let mut auditor = subscribable.subscribe();
    let audit = std::thread::spawn(move || {
        let mut sum = 0;
        while auditor.process(|number| sum += u64::from(*number)).is_ok() {
            std::thread::yield_now(); // it is in no hurry
        }
        sum
    });

    publisher.publish(|number| *number = 1000).expect("somebody receives");
    let (mut kept, mut ones) = (VecDeque::new(), 0);
    // When all that was published is processed, and nothing is kept, it is done.
    while worker.cursor() < publisher.published() || !kept.is_empty() {
        // Never `publish` in here: the ring may be full, also of this very event.
        let _ = worker.try_process(|&number| match number {
            1 => ones += 1,
            number => {
                for half in [number / 2, number - number / 2] {
                    if !kept.is_empty() || publisher.try_publish(|next| *next = half).is_err() {
                        kept.push_back(half);
                    }
                }
            }
        });
        // The worker goes on even where there is no room: its own next event may be what takes the room.
        while let Some(&half) = kept.front() {
            match publisher.publish_timeout(Duration::from_micros(50), |next| *next = half) {
                Ok(()) => _ = kept.pop_front(),
                Err(SendTimeoutError::Timeout(())) => break,
                Err(SendTimeoutError::Closed(())) => unreachable!("the worker receives"),
            }
        }
    }
    drop(publisher);
    println!("{ones} ones; the auditor saw {} in all", audit.join().expect("it does not panic"));
    assert_eq!(ones, 1000);
}
