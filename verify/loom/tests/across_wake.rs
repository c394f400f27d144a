//! Rings between processes: a publisher of one, and subscribers of another, which have nothing in common
//! but the slots, what the publisher shows, and the word where all sleep. In a model the two processes are
//! threads.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::RecvError;
use annulus::Settings;
use annulus::broadcast::{Foreign, Publisher, Subscribable};
use annulus_loom::{BLOCK, Checked, SPIN, check, check_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// `is_asymmetric`: the publisher has a light fence, and sleepers ask for a barrier in its process.
fn ring<T: Checked>(is_asymmetric: bool) -> (Publisher<T>, Subscribable<T, Foreign>) {
    Settings::new(2).wait_strategy(BLOCK).lossy_for_two_processes(is_asymmetric, || false)
}

/// Full fences on both sides, and a light one on one side.
const BOTH_FENCES: [bool; 2] = [false, true];

/// Nothing but the message wakes the sleeper: the publisher lives on.
#[test]
fn a_message_wakes_a_sleeper() {
    for is_asymmetric in BOTH_FENCES {
        check(move || {
            let (mut publisher, subscribable) = ring::<u64>(is_asymmetric);
            let mut subscriber = subscribable.subscribe();
            let reader = thread::spawn(move || (subscriber.recv(), subscriber));
            publisher.publish(u64::of(0));
            assert_eq!(reader.join().unwrap().0, Ok(u64::of(0)));
            drop(publisher);
        });
    }
}

/// The second message wakes a subscriber that went back to sleep after the first.
#[test]
fn second_message_wakes_a_subscriber_again() {
    for is_asymmetric in BOTH_FENCES {
        check(move || {
            let (mut publisher, subscribable) = ring::<u64>(is_asymmetric);
            let mut subscriber = subscribable.subscribe();
            let reader = thread::spawn(move || ([subscriber.recv(), subscriber.recv()], subscriber));
            publisher.publish(u64::of(0));
            publisher.publish(u64::of(1));
            assert_eq!(reader.join().unwrap().0, [Ok(u64::of(0)), Ok(u64::of(1))]);
            drop(publisher);
        });
    }
}

/// One message wakes every sleeper.
#[test]
fn a_message_wakes_two_sleepers() {
    for is_asymmetric in BOTH_FENCES {
        check_up_to(2, move || {
            let (mut publisher, subscribable) = ring::<u64>(is_asymmetric);
            let readers = [(); 2].map(|()| {
                let mut subscriber = subscribable.subscribe();
                thread::spawn(move || (subscriber.recv(), subscriber))
            });
            publisher.publish(u64::of(0));
            for reader in readers {
                assert_eq!(reader.join().unwrap().0, Ok(u64::of(0)));
            }
            drop(publisher);
        });
    }
}

/// The end wakes, and it comes after the last message, for subscribers that sleep and that do not.
#[test]
fn end_comes_after_the_last_message() {
    for (strategy, is_asymmetric) in [(BLOCK, false), (BLOCK, true), (SPIN, true)] {
        check(move || {
            let (mut publisher, subscribable) = Settings::new(2)
                .wait_strategy(strategy)
                .lossy_for_two_processes::<[u64; 2]>(is_asymmetric, || false);
            let mut subscriber = subscribable.subscribe();
            let reader = thread::spawn(move || ([subscriber.recv(), subscriber.recv()], subscriber));
            publisher.publish(Checked::of(0));
            drop(publisher);
            assert_eq!(reader.join().unwrap().0, [Ok(Checked::of(0)), Err(RecvError::CLOSED)]);
        });
    }
}

/// A subscriber that knows that the ring is closed finds the message that was published before.
#[test]
fn subscriber_that_sees_the_end_sees_the_messages() {
    check(|| {
        let (mut publisher, subscribable) = ring::<u64>(true);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || {
            let is_closed = subscriber.is_closed();
            let received = subscriber.try_recv();
            assert!(!is_closed || received == Ok(u64::of(0)), "{received:?}");
            subscriber
        });
        publisher.publish(u64::of(0));
        drop(publisher);
        drop(reader.join().unwrap());
    });
}

/// A subscriber joins while the publisher goes on: it receives from some message on, in order, until the end.
#[test]
fn late_subscriber() {
    check(|| {
        let (mut publisher, subscribable) = ring::<u64>(true);
        let reader = thread::spawn(move || {
            let mut subscriber = subscribable.subscribe_from_oldest();
            let mut seen = Vec::new();
            while let Ok(message) = subscriber.recv() {
                seen.push(message.number());
            }
            (seen, subscriber.total_lagged(), subscriber.cursor(), subscriber, subscribable)
        });
        publisher.publish(u64::of(0));
        publisher.publish(u64::of(1));
        drop(publisher);
        let (seen, lagged, end, ..) = reader.join().unwrap();
        assert_eq!(end, 2);
        assert!(seen.is_sorted() && seen.len() as u64 + lagged <= 2, "{seen:?}, {lagged}");
    });
}

/// The publisher's process ends without a word: what it had published is received, and then comes the end.
#[test]
fn publisher_that_dies() {
    check(|| {
        let is_gone = Arc::new(AtomicBool::new(false));
        let kernel = Arc::clone(&is_gone);
        let (mut publisher, subscribable) =
            Settings::new(2).wait_strategy(SPIN).lossy_for_two_processes::<u64>(true, move || {
                // The kernel says so after all that the process has done.
                kernel.load(Ordering::Acquire)
            });
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || ([subscriber.recv(), subscriber.recv()], subscriber));
        publisher.publish(u64::of(0));
        is_gone.store(true, Ordering::Release);
        let [first, second] = reader.join().unwrap().0;
        assert_eq!(first, Ok(u64::of(0)));
        assert!(second.is_err_and(|error| error.peer_died()));
        core::mem::forget(publisher);
    });
}
