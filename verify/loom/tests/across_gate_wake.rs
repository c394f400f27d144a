//! Lossless rings between processes: a publisher of one, and subscribers of another, for which it waits. In a
//! model the two processes are threads, and the lock of a seat is a bool: setting it to false kills the
//! process that has the seat.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::broadcast::{Awaited, Foreign, Lossless, Publisher, Subscribable, Subscriber};
use annulus::{RecvError, TryRecvError, TrySendError};
use annulus_loom::{BLOCK, Checked, check, check_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

type Locks = Arc<[AtomicBool]>;

/// A ring of two slots with so many seats. `is_asymmetric`: wakers have a light fence, and sleepers ask for a
/// barrier in their process.
fn ring(is_asymmetric: bool, seats: usize) -> (Publisher<u64, Lossless>, Subscribable<u64, Foreign>, Locks) {
    let locks: Locks = (0..seats).map(|_| AtomicBool::new(false)).collect();
    let settings = Settings::new(2).wait_strategy(BLOCK);
    let (publisher, subscribable) = settings.lossless_for_two_processes(is_asymmetric, &locks);
    (publisher, subscribable, locks)
}

/// The same with one subscriber, which is a ring behind.
fn full(is_asymmetric: bool) -> (Publisher<u64, Lossless>, Subscriber<u64, Awaited>, Locks) {
    let (mut publisher, subscribable, locks) = ring(is_asymmetric, 1);
    let subscriber = subscribable.awaited(false).unwrap();
    (0..2).for_each(|number| publisher.try_publish(u64::of(number)).unwrap());
    (publisher, subscriber, locks)
}

/// The process that has this seat ends. (An exchange, because loom would let a later one miss a store.)
fn kill(locks: &Locks, seat: usize) {
    locks[seat].swap(false, Ordering::AcqRel);
}

/// Runs a model with full fences on both sides, and with a light one on one side.
fn check_both(model: fn(is_asymmetric: bool)) {
    for is_asymmetric in [false, true] {
        check(move || model(is_asymmetric));
    }
}

/// The subscriber lives on after it has received: only that can wake the publisher.
#[test]
fn a_receive_wakes_the_publisher() {
    check_both(|is_asymmetric| {
        let (mut publisher, mut subscriber, _) = full(is_asymmetric);
        let reader = thread::spawn(move || {
            assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
            subscriber
        });
        publisher.publish(Checked::of(2)).unwrap();
        let mut subscriber = reader.join().unwrap();
        assert_eq!([subscriber.try_recv(), subscriber.try_recv()], [Ok(u64::of(1)), Ok(u64::of(2))]);
    });
}

#[test]
fn leaving_subscriber_wakes_the_publisher() {
    check_both(|is_asymmetric| {
        let (mut publisher, subscriber, _) = full(is_asymmetric);
        let leaver = thread::spawn(move || drop(subscriber));
        publisher.publish(Checked::of(2)).unwrap();
        leaver.join().unwrap();
    });
}

/// A subscriber dies while it receives, at any moment. The publisher comes to learn it when it has no room.
#[test]
fn publisher_does_not_wait_for_a_dead_subscriber() {
    check(|| {
        let (mut publisher, mut subscriber, locks) = full(true);
        let reader = thread::spawn(move || {
            assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
            core::mem::forget(subscriber);
            kill(&locks, 0);
        });
        let mut published = 2;
        while published < 5 {
            match publisher.try_publish(Checked::of(published)) {
                Ok(()) => published += 1,
                Err(error) => {
                    assert!(error == TrySendError::Full(Checked::of(published)));
                    thread::yield_now();
                }
            }
        }
        reader.join().unwrap();
    });
}

/// One joins in the seat of a dead one, beside the publisher that frees it: it misses nothing.
#[test]
fn joiner_in_a_dead_seat_misses_nothing() {
    check_up_to(3, || {
        let (mut publisher, subscribable, locks) = ring(true, 1);
        let dead = subscribable.awaited(false).unwrap();
        (0..2).for_each(|number| publisher.try_publish(u64::of(number)).unwrap());
        core::mem::forget(dead);
        kill(&locks, 0);
        let joiner = thread::spawn(move || {
            // While the publisher has the lock, there is no seat.
            let Some(mut subscriber) = subscribable.awaited(true) else { return };
            let mut next = subscriber.cursor();
            loop {
                match subscriber.try_recv() {
                    Ok(message) => assert_eq!(message, u64::of(next)),
                    Err(TryRecvError::Empty) => {
                        thread::yield_now();
                        continue;
                    }
                    Err(TryRecvError::Closed) => break,
                }
                next += 1;
            }
            assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
            assert_eq!((next, subscriber.total_lagged()), (4, 0));
        });
        let mut published = 2;
        while published < 4 {
            match publisher.try_publish(Checked::of(published)) {
                Ok(()) => published += 1,
                Err(_) => thread::yield_now(),
            }
        }
        drop(publisher);
        joiner.join().unwrap();
    });
}
