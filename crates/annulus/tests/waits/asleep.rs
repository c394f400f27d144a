//! Publishers that sleep at the gate, publishers that wait for each other, and stages that wait for those
//! before them: no wake-up is lost, whichever sleeps when.
//!
//! Everybody pauses at random, so that each is now asleep, now about to sleep, now awake when another one
//! goes on. All but the last reader wait without a deadline. A lost wake-up stands still, and the last
//! reader's clock tells.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::{Pauses, STUCK, join, soak_time};
use annulus::{RecvTimeoutError, Shutdown};

/// How many soaks share the time.
const SOAKS: u32 = 7;

/// Slots: so few that everybody waits for everybody.
const CAPACITY: usize = 2;

/// Publishes numbers, with pauses, until it is told to stop, or cannot.
fn publish(
    seed: u64,
    stop: &Shutdown,
    mut publish: impl FnMut(u64, &mut Pauses) -> bool + Send + 'static,
) -> JoinHandle<()> {
    let stop = stop.clone();
    thread::spawn(move || {
        let mut pauses = Pauses::new(seed);
        let mut number = 0;
        while !stop.is_shutdown() && publish(number, &mut pauses) {
            pauses.rest();
            number += 1;
        }
    })
}

/// Receives for the time of a soak, with pauses, and never waits long for a message.
fn soak(stop: &Shutdown, mut receive: impl FnMut() -> Result<(), RecvTimeoutError>) {
    let mut pauses = Pauses::new(99);
    let (begun, time) = (Instant::now(), soak_time(Duration::from_millis(1400)) / SOAKS);
    let mut rounds = 0_u64;
    while begun.elapsed() < time || rounds < 3 {
        pauses.rest();
        let asked = Instant::now();
        let result = receive();
        // A sleeper that nobody woke still finds its message at the deadline.
        assert!(asked.elapsed() < STUCK / 2, "round {rounds}: a wake-up was lost");
        result.unwrap_or_else(|error| panic!("round {rounds}: {error}"));
        rounds += 1;
    }
    stop.trigger();
    println!("{rounds} messages in {:?}", begun.elapsed());
}

#[test]
fn publisher_at_the_gate() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    let stop = Shutdown::new();
    let thread =
        publish(1, &stop, move |number, pauses| publisher.publish_until(number, pauses.strategy()).is_ok());
    soak(&stop, || subscriber.recv_timeout(STUCK).map(drop));
    drop(subscriber);
    thread.join().unwrap();
}

#[test]
fn many_publishers_at_the_gate() {
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    let stop = Shutdown::new();
    let threads = [1, 2, 3].map(|seed| {
        let publisher = publisher.clone();
        publish(seed, &stop, move |number, pauses| publisher.publish_until(number, pauses.strategy()).is_ok())
    });
    soak(&stop, || subscriber.recv_timeout(STUCK).map(drop));
    drop(subscriber);
    join(threads);
}

/// The others are in each one's way, a lap before, and nobody waits for them.
#[test]
fn many_publishers_at_each_others_slots() {
    /// So large that a writer is often found in the middle.
    type Large = [u64; if cfg!(miri) { 4 } else { 512 }];
    let (publisher, subscribable) = annulus::broadcast::mp_lossy::<Large>(CAPACITY);
    let mut subscriber = subscribable.subscribe();
    let stop = Shutdown::new();
    let threads = [1, 2, 3].map(|seed| {
        let mut publisher = publisher.clone();
        publish(seed, &stop, move |number, pauses| {
            let message = [number; size_of::<Large>() / 8];
            publisher.publish(message);
            pauses.rest();
            true
        })
    });
    soak(&stop, || {
        let message = subscriber.recv_timeout(STUCK)?;
        assert!(message.iter().all(|word| *word == message[0]), "torn");
        Ok(())
    });
    join(threads);
}

#[test]
fn publisher_of_events() {
    let (mut publisher, subscribable) = annulus::event::channel(CAPACITY, || 0);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    let stop = Shutdown::new();
    let thread = publish(1, &stop, move |number, pauses| {
        publisher.publish_until(pauses.strategy(), |event| *event = number).is_ok()
    });
    let mut expected = 0;
    soak(&stop, || {
        subscriber.process_timeout(STUCK, |event| assert_eq!(*event, expected))?;
        expected += 1;
        Ok(())
    });
    drop(subscriber);
    thread.join().unwrap();
}

#[test]
fn many_publishers_of_events() {
    let (publisher, subscribable) = annulus::event::mp_channel(CAPACITY, || 0);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    let stop = Shutdown::new();
    let threads = [1, 2, 3].map(|seed| {
        let mut publisher = publisher.clone();
        publish(seed, &stop, move |number, pauses| {
            publisher.publish_until(pauses.strategy(), |event| *event = number).is_ok()
        })
    });
    drop(publisher);
    soak(&stop, || subscriber.process_timeout(STUCK, |_| ()));
    drop(subscriber);
    join(threads);
}

/// A chain and a diamond, and a publisher that waits for the last of them.
#[test]
fn stages() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(CAPACITY);
    let first = subscribable.subscribe_tracked();
    let left = subscribable.subscribe().after(&[&first]);
    let right = subscribable.subscribe().after(&[&first]);
    let mut last = subscribable.subscribe().after(&[&left, &right]);
    drop(subscribable);
    let stop = Shutdown::new();
    let mut seed = 10;
    let stages = [first, left, right].map(|mut stage| {
        seed += 1;
        let mut pauses = Pauses::new(seed);
        thread::spawn(move || {
            while stage.recv_until(pauses.strategy()).is_ok() {
                pauses.rest();
                if pauses.next() % 2 == 0 {
                    stage.done();
                    pauses.rest();
                }
            }
        })
    });
    let thread =
        publish(1, &stop, move |number, pauses| publisher.publish_until(number, pauses.strategy()).is_ok());
    let mut expected = 0;
    soak(&stop, || {
        assert_eq!(last.recv_timeout(STUCK)?, expected);
        expected += 1;
        Ok(())
    });
    // The publisher may still wait for it.
    drop(last);
    thread.join().unwrap();
    join(stages);
}

/// Subscribers that come and go while publishers wait for them: a subscriber that leaves wakes the publishers
/// that it held up.
#[test]
fn subscribers_that_leave() {
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(CAPACITY);
    let stop = Shutdown::new();
    let threads = [1, 2].map(|seed| {
        let publisher = publisher.clone();
        publish(seed, &stop, move |number, pauses| publisher.publish_until(number, pauses.strategy()).is_ok())
    });
    drop(publisher);
    let mut pauses = Pauses::new(7);
    soak(&stop, || {
        let mut subscriber = subscribable.subscribe();
        let mut clone = subscriber.clone();
        for _ in 0..pauses.next() % 3 {
            let number = subscriber.recv_timeout(STUCK)?;
            assert_eq!(clone.recv_timeout(STUCK)?, number);
        }
        // They have time to fill the ring and to fall asleep.
        pauses.rest();
        Ok(())
    });
    join(threads);
}
