//! Lossless rings of records between processes: a publisher of one, and subscribers of another, for which it
//! waits until the bytes of their records are free. Processes and locks are as in `across_gate_wake`; the two
//! have one area, and the rest of a ring each.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::TryRecvError;
use annulus::broadcast::bytes::{Publisher, Subscribable, Subscriber};
use annulus::broadcast::{Awaited, Foreign, Lossless};
use annulus_loom::{BLOCK, check};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

type Locks = Arc<[AtomicBool]>;

/// Sixteen words, and four slots: two records of half the area each leave slots, and no words.
const WORDS: &[u64] = &[8, 8, 2];

/// A ring for these records, with one seat.
fn ring() -> (Publisher<Lossless>, Subscribable<Foreign>, Locks) {
    let locks: Locks = [AtomicBool::new(false)].into();
    let settings = Settings::new(128).wait_strategy(BLOCK);
    let (publisher, subscribable) = settings.lossless_records_for_two_processes(true, &locks);
    (publisher, subscribable, locks)
}

/// The record of a number: each word tells it.
fn record(number: u64) -> Vec<u8> {
    (0..WORDS[number as usize]).flat_map(|word| (1 + 100 * number + word).to_le_bytes()).collect()
}

fn publish_two(publisher: &mut Publisher<Lossless>) {
    (0..2).for_each(|number| publisher.try_publish(&record(number)).unwrap());
}

/// Publishes the third record as soon as there is room. Nobody sleeps.
fn publish_third(publisher: &mut Publisher<Lossless>) {
    while publisher.try_publish(&record(2)).is_err_and(|refused| refused.is_full()) {
        thread::yield_now();
    }
}

/// Receives all records from the cursor on: none is lost.
fn receive_all(subscriber: &mut Subscriber<Awaited>) {
    let mut buffer = Vec::new();
    while (subscriber.cursor() as usize) < WORDS.len() {
        let number = subscriber.cursor();
        match subscriber.try_recv(&mut buffer) {
            Ok(_) => assert_eq!(buffer, record(number), "torn, or another record"),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => panic!("{number} is lost"),
        }
    }
    assert_eq!(subscriber.total_lagged(), 0);
}

/// The words of a record are read before they are written over.
#[test]
fn words_are_read_first() {
    check(|| {
        let (mut publisher, subscribable, _) = ring();
        let mut subscriber = subscribable.awaited(false).unwrap();
        publish_two(&mut publisher);
        let writer = thread::spawn(move || {
            publish_third(&mut publisher);
            publisher
        });
        receive_all(&mut subscriber);
        drop(writer.join().unwrap());
    });
}

/// The words of a record that nobody needs are written over beside a subscriber of another process that joins
/// at the oldest record: it does not begin there, or the publisher waits for it. Each has a gate of its own.
#[test]
fn joiner_loses_nothing() {
    check(|| {
        let (mut publisher, subscribable, _) = ring();
        publish_two(&mut publisher);
        let writer = thread::spawn(move || {
            publish_third(&mut publisher);
            publisher
        });
        let mut subscriber = subscribable.awaited(true).unwrap();
        receive_all(&mut subscriber);
        drop(writer.join().unwrap());
    });
}

/// The subscriber lives on after it has received: only that can wake the publisher, which has slots.
#[test]
fn receive_wakes_the_publisher_that_waits_for_words() {
    check(|| {
        let (mut publisher, subscribable, _) = ring();
        let mut subscriber = subscribable.awaited(false).unwrap();
        publish_two(&mut publisher);
        let reader = thread::spawn(move || {
            let mut buffer = Vec::new();
            subscriber.try_recv(&mut buffer).unwrap();
            assert_eq!(buffer, record(0));
            subscriber
        });
        publisher.publish(&record(2)).unwrap();
        receive_all(&mut reader.join().unwrap());
    });
}

/// A subscriber dies while it receives, at any moment. The publisher comes to learn it when it has no words.
#[test]
fn publisher_does_not_wait_for_words_of_the_dead() {
    check(|| {
        let (mut publisher, subscribable, locks) = ring();
        let mut subscriber = subscribable.awaited(false).unwrap();
        publish_two(&mut publisher);
        let reader = thread::spawn(move || {
            let mut buffer = Vec::new();
            assert_eq!(subscriber.try_recv(&mut buffer), Ok(64));
            assert_eq!(buffer, record(0));
            core::mem::forget(subscriber);
            // An exchange, because loom would let a later one miss a store.
            locks[0].swap(false, Ordering::AcqRel);
        });
        publish_third(&mut publisher);
        // Nobody has received the second one.
        while publisher.try_publish(&[0; 64]).is_err() {
            thread::yield_now();
        }
        reader.join().unwrap();
    });
}
