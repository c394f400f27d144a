//! A handler that makes more work for its own ring: each event above 1 splits into two halves, which go into the same ring.
//!
//! The event that a closure looks at is not processed before the closure returns. So a `publish` in it, on a full ring, would wait for the closure that it runs
//! in, for ever. This one tries; what there is no room for it keeps, and publishes when the closure has returned. Beside other subscribers there may be no
//! room then either, so it waits for a little while only: `publish_timeout`.
//!
//! ```sh
//! cargo run --example feedback
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use annulus::PublishTimeoutError;
use annulus::event::EventPublisher;

fn main() {
    let (mut publisher, subscribable) = annulus::event::channel(4, || 0_u32);
    let mut worker = subscribable.subscribe();
    let mut auditor = subscribable.subscribe();
    // It shares the ring, and is in no hurry.
    let audit = std::thread::spawn(move || {
        let mut sum = 0;
        while auditor.process(|number| sum += u64::from(*number)).is_ok() {
            std::thread::yield_now();
        }
        sum
    });

    publisher.publish(|number| *number = 1000).expect("somebody receives");
    let (mut kept, mut ones) = (VecDeque::new(), 0);
    // All that was published is processed, and nothing is kept: done.
    while worker.cursor() < publisher.published() || !kept.is_empty() {
        if worker.cursor() < publisher.published() {
            let process = |number: &u32| match *number {
                1 => ones += 1,
                number => {
                    for half in [number / 2, number - number / 2] {
                        // Never `publish`: the ring may be full, also of this very event.
                        if !kept.is_empty() || publisher.try_publish(|next| *next = half).is_err() {
                            kept.push_back(half);
                        }
                    }
                }
            };
            worker.process(process).expect("the publisher is here");
        }
        publish_kept(&mut publisher, &mut kept);
    }
    drop(publisher);
    println!("{ones} ones; the auditor saw {} in all", audit.join().expect("it does not panic"));
    assert_eq!(ones, 1000);
}

/// Publishes what was kept, as far as room comes soon. The worker has to go on even where none comes: its own next event may be what takes the room.
fn publish_kept(publisher: &mut EventPublisher<u32>, kept: &mut VecDeque<u32>) {
    while let Some(&half) = kept.front() {
        match publisher.publish_timeout(|next| *next = half, Duration::from_micros(50)) {
            Ok(()) => _ = kept.pop_front(),
            Err(PublishTimeoutError::Timeout(_)) => break,
            Err(PublishTimeoutError::Closed(_)) => unreachable!("the worker receives"),
        }
    }
}
