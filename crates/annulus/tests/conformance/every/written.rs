//! Readers go by what is written. What publishers have claimed and not yet written is neither lost nor passed
//! over.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use annulus::{LossyTryRecvError, Shutdown};

use super::{join, spawn};
use crate::rings::{Publish, Receive, Ring};

/// Messages of a batch: many times the rings below.
const LENGTH: usize = if cfg!(miri) { 20 } else { 1 << 18 };

/// Looks beside running publishers.
const LOOKS: usize = if cfg!(miri) {
    5
} else if cfg!(debug_assertions) {
    300
} else {
    3_000
};

/// With fewer slots two publishers may be writing all there are.
const CAPACITIES: [usize; 2] = [8, 64];

/// Publishers in batches, two where there may be many, until `stop` is triggered or nobody is left to
/// receive.
fn publishing<R: Ring>(publisher: R::Publisher, stop: &Shutdown) -> Vec<JoinHandle<()>> {
    let publishers = publisher.another().into_iter().chain([publisher]);
    publishers
        .map(|mut publisher| {
            let stop = stop.clone();
            spawn(move || {
                let batch = vec![7; LENGTH];
                while !stop.is_shutdown() && publisher.publish_batch(&batch).is_ok() {}
            })
        })
        .collect()
}

/// A subscriber that joins begins no later than with the first message that is yet to be written: everything
/// that is published after it joined is received, or counted as lost. And a lag counts what was overwritten:
/// it ends no later than there.
///
/// `early` tells where that is: once it has received everything there is, it stands there.
pub(crate) fn subscriber_does_not_pass_an_unwritten_message<R: Ring>() {
    // A joiner of such a ring may be promised less while a publisher is stopped in the middle of a write.
    if R::LOSSLESS && R::MANY {
        return;
    }
    for capacity in CAPACITIES {
        let (publisher, source) = R::new(capacity);
        let mut early = R::subscribe(&source);
        let stop = Shutdown::new();
        let writers = publishing::<R>(publisher, &stop);
        for _ in 0..LOOKS {
            let joiner = R::subscribe(&source);
            for _ in 0..4 * capacity {
                let before = early.cursor();
                match early.try_recv() {
                    Ok(_) => {}
                    Err(LossyTryRecvError::Lagged { skipped }) => {
                        let (there, written) = (early.cursor(), R::subscribe(&source).cursor());
                        assert_eq!(there, before + skipped);
                        assert!(there <= written, "lost up to {there}, where {written} is yet to be written");
                    }
                    Err(LossyTryRecvError::Empty) => {
                        let (begin, written) = (joiner.cursor(), early.cursor());
                        // (`early` may not have noticed yet that what it waits for was passed over.)
                        let is_due = begin <= written || R::PASSES_OVER;
                        assert!(is_due, "begins with {begin}, {written} is yet to be written");
                        break;
                    }
                    Err(LossyTryRecvError::Closed) => panic!("publishers go on"),
                }
            }
        }
        stop.trigger();
        drop((early, source));
        join(writers);
    }
}

/// A subscriber that begins with the oldest message finds one while publishers publish, however much they
/// have claimed. (But where one of them was stopped in the middle of a write and the other has filled the
/// ring, which is rare.)
pub(crate) fn oldest_message_exists_while_publishers_publish<R: Ring>() {
    for capacity in CAPACITIES {
        let (mut publisher, source) = R::new(capacity);
        if R::from_oldest(&source).is_none() {
            return;
        }
        publisher.publish(7).unwrap();
        let stop = Shutdown::new();
        let writers = publishing::<R>(publisher, &stop);
        while R::subscribe(&source).cursor() < 2 {
            thread::yield_now();
        }
        let mut found = 0;
        for _ in 0..LOOKS {
            let mut subscriber = R::from_oldest(&source).expect("it has this form");
            if black_box(subscriber.try_recv()) == Err(LossyTryRecvError::Empty) {
                // The one that was stopped is to go on, where threads share cores.
                thread::sleep(Duration::from_micros(200));
            } else {
                found += 1;
            }
        }
        assert!(found > LOOKS / 10, "the oldest of {capacity} was there {found} times of {LOOKS}");
        stop.trigger();
        drop(source);
        join(writers);
    }
}

/// Whatever publishers do, a receive with a timeout of nothing returns a message where one is there: one that
/// was published, and not received. Also where the subscriber is lapped again and again.
pub(crate) fn zero_timeout_receives_a_standing_message<R: Ring>() {
    for capacity in CAPACITIES {
        let (mut publisher, source) = R::new(capacity);
        let mut subscriber = R::subscribe(&source);
        let progress = Arc::new(AtomicU64::new(0));
        let (count, stop) = (Arc::clone(&progress), Shutdown::new());
        let stopped = stop.clone();
        let writer = spawn(move || {
            let mut published = 0;
            while !stopped.is_shutdown() && publisher.publish(published).is_ok() {
                published += 1;
                count.store(published, Ordering::Release);
            }
        });
        for _ in 0..10 * LOOKS {
            let (published, cursor) = (progress.load(Ordering::Acquire), subscriber.cursor());
            let result = subscriber.recv_timeout(Duration::ZERO);
            assert!(
                result.is_ok() || published <= cursor,
                "{result:?} at {cursor}, {published} are published"
            );
        }
        stop.trigger();
        drop((subscriber, source));
        join([writer]);
    }
}
