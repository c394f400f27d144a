//! Graphs of stages on threads: nobody sees a message that was not processed by all before it, and nothing is
//! lost where nothing may be.
//!
//! ```text
//! publisher ─┬─ parse ─┬─ store ─┬─ reply
//!            └─ audit ─┘         │
//!                      └─ print ─┘
//! ```

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use annulus::broadcast::{DependencyBarrier, Lossless, Staged, Subscriber, Unstaged};
use annulus::event;

use crate::every::{join, without_standing_still};

const MESSAGES: u64 = if cfg!(miri) {
    20
} else if cfg!(debug_assertions) {
    3_000
} else {
    20_000
};

/// What a stage has handled, told by its own thread: the number after its last message. Relaxed on purpose:
/// the ring must order it.
type Handled = Arc<AtomicU64>;

/// What a stage received and lost; and the stage. A stage whose upstream is gone need not pass over what that
/// one lost.
type Ended = ((u64, u64), Box<dyn Send>);

/// A stage that hands each message, with its sequence, to a function. What it passes over it reports.
trait Runs: Sized + Send + 'static {
    fn run(self, handle: impl FnMut(u64) + Send + 'static) -> JoinHandle<Ended>;
}

impl<M: Unstaged> Runs for Subscriber<u64, Staged<M>>
where
    Subscriber<u64, Staged<M>>: Send,
{
    fn run(mut self, mut handle: impl FnMut(u64) + Send + 'static) -> JoinHandle<Ended> {
        thread::spawn(move || {
            while self.recv().is_ok() {
                handle(self.cursor() - 1);
            }
            ((self.total_received(), self.total_lagged()), Box::new(self) as Box<dyn Send>)
        })
    }
}

impl Runs for event::Subscriber<Vec<u64>, Staged<Lossless>> {
    fn run(mut self, mut handle: impl FnMut(u64) + Send + 'static) -> JoinHandle<Ended> {
        thread::spawn(move || {
            loop {
                let sequence = self.cursor();
                if self.process(|_| handle(sequence)).is_err() {
                    return ((self.total_received(), 0), Box::new(self) as Box<dyn Send>);
                }
            }
        })
    }
}

/// Runs `stage`, which must see only what all `before` have handled; returns what it has handled.
fn start(stage: impl Runs, before: &[&Handled]) -> (Handled, JoinHandle<Ended>) {
    let handled = Handled::default();
    let before: Vec<Handled> = before.iter().map(|&before| Arc::clone(before)).collect();
    let thread = stage.run({
        let handled = Arc::clone(&handled);
        move |sequence| {
            for before in &before {
                let reached = before.load(Ordering::Relaxed);
                assert!(reached > sequence, "saw message {sequence}, and one before it is at {reached}");
            }
            handled.store(sequence + 1, Ordering::Relaxed);
        }
    });
    (handled, thread)
}

/// The graph above, of one ring, and publishers that publish all; what each stage received and lost.
macro_rules! graph {
    ($subscribable:ident, $publish:expr) => {{
        let parse = $subscribable.subscribe_tracked();
        let audit = $subscribable.subscribe_tracked();
        let first = DependencyBarrier::new(&[&parse, &audit]);
        let store = $subscribable.subscribe().after_barrier(&first);
        let print = $subscribable.subscribe().after_barrier(&first);
        let reply = $subscribable.subscribe().after(&[&store, &print]);
        drop($subscribable);
        let (parsed, parse) = start(parse, &[]);
        let (audited, audit) = start(audit, &[]);
        let (stored, store) = start(store, &[&parsed, &audited]);
        let (printed, print) = start(print, &[&parsed, &audited]);
        let (_, reply) = start(reply, &[&stored, &printed, &parsed, &audited]);
        $publish;
        let ended = [parse, audit, store, print, reply].map(|thread| thread.join().unwrap());
        ended.map(|(numbers, _stage)| numbers)
    }};
}

/// On a lossless ring every stage sees everything.
fn all_of(stages: [(u64, u64); 5], messages: u64) {
    assert_eq!(stages, [(messages, 0); 5]);
}

#[test]
fn one_publisher() {
    without_standing_still(|| {
        for capacity in [2, 7, 256] {
            let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(capacity);
            let stages = graph!(subscribable, {
                (0..MESSAGES).for_each(|number| publisher.publish(number).unwrap());
                drop(publisher);
            });
            all_of(stages, MESSAGES);
        }
    });
}

#[test]
fn many_publishers() {
    without_standing_still(|| {
        for capacity in [2, 7, 256] {
            let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(capacity);
            let stages = graph!(subscribable, {
                let publishers = [publisher.clone(), publisher].map(|publisher| {
                    thread::spawn(move || {
                        (0..MESSAGES / 2).for_each(|number| publisher.publish(number).unwrap());
                    })
                });
                join(publishers);
            });
            all_of(stages, MESSAGES);
        }
    });
}

#[test]
fn events() {
    without_standing_still(|| {
        for capacity in [2, 256] {
            let (mut publisher, subscribable) = annulus::event::channel(capacity, Vec::<u64>::new);
            let stages = graph!(subscribable, {
                (0..MESSAGES).for_each(|number| publisher.publish(|event| *event = vec![number]).unwrap());
                drop(publisher);
            });
            all_of(stages, MESSAGES);
        }
    });
}

#[test]
fn events_of_many_publishers() {
    without_standing_still(|| {
        for capacity in [2, 256] {
            let (publisher, subscribable) = annulus::event::mp_channel(capacity, Vec::<u64>::new);
            let stages = graph!(subscribable, {
                let publishers = [publisher.clone(), publisher].map(|mut publisher| {
                    thread::spawn(move || {
                        (0..MESSAGES / 2)
                            .for_each(|number| publisher.publish(|event| *event = vec![number]).unwrap());
                    })
                });
                join(publishers);
            });
            all_of(stages, MESSAGES);
        }
    });
}

/// On a lossy ring each stage loses for itself, and what one before it lost; still nobody sees what was not
/// handled before, and every account is exact.
#[test]
fn lossy() {
    without_standing_still(|| {
        for capacity in [2, 64, 256] {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(capacity);
            let stages = graph!(subscribable, {
                (0..10 * MESSAGES).for_each(|number| {
                    publisher.publish(number);
                    if number % 64 == 0 {
                        thread::yield_now();
                    }
                });
                drop(publisher);
            });
            for (received, lagged) in stages {
                assert_eq!(received + lagged, 10 * MESSAGES);
            }
            let [(parse, _), (audit, _), (store, _), (print, _), (reply, _)] = stages;
            assert!(reply <= store.min(print) && store.max(print) <= parse.min(audit));
        }
    });
}
