//! Patterns of a bus: a sleeper for all topics that match wakes for a new one, and for the end. A lost
//! wake-up leaves a thread asleep, which loom reports as a deadlock.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::bus::Bus;
use annulus_loom::{BLOCK, check_up_to};
use loom::thread;

/// Nothing but the new topic wakes the sleeper: its publisher, and the bus, live on.
#[test]
fn a_new_topic_wakes() {
    check_up_to(2, || {
        let bus = Bus::<u64>::with(Settings::new(2).wait_strategy(BLOCK));
        let mut matching = bus.subscribe_matching("*").unwrap();
        let reader = thread::spawn(move || (matching.recv().map(|(_, number)| number), matching));
        let mut publisher = bus.publisher("a");
        publisher.publish(7);
        assert_eq!(reader.join().unwrap().0, Ok(7));
        drop(publisher);
    });
}

/// The bus goes, without a topic.
#[test]
fn the_end_of_the_bus_wakes() {
    check_up_to(2, || {
        let bus = Bus::<u64>::with(Settings::new(2).wait_strategy(BLOCK));
        let mut matching = bus.subscribe_matching("*").unwrap();
        // It comes back, because loom does not see that the last of an `Arc` comes after the others.
        let reader = thread::spawn(move || (matching.recv().is_err(), matching));
        drop(bus);
        assert!(reader.join().unwrap().0);
    });
}

/// A message in a topic that was there wakes the sleeper: the message of one of two topics, and nothing else.
#[test]
fn a_message_wakes() {
    check_up_to(2, || {
        let bus = Bus::<u64>::with(Settings::new(2).wait_strategy(BLOCK));
        let mut publisher = bus.publisher("a");
        let mut matching = bus.subscribe_matching("*").unwrap();
        let reader = thread::spawn(move || {
            let first = matching.recv().map(|(_, number)| number);
            let second = matching.recv().map(|(_, number)| number);
            (first, second, matching)
        });
        publisher.publish(7);
        publisher.publish(8);
        let (first, second, _matching) = reader.join().unwrap();
        assert_eq!((first, second), (Ok(7), Ok(8)));
        drop((publisher, bus));
    });
}

/// The close of a topic wakes the sleeper, which finds that it was the last.
#[test]
fn the_end_of_a_topic_wakes() {
    check_up_to(2, || {
        let bus = Bus::<u64>::with(Settings::new(2).wait_strategy(BLOCK));
        let publisher = bus.publisher("a");
        // Keeps the ring until both have let go of it, for the same reason as above.
        let ring = bus.subscribable("a");
        let mut matching = bus.subscribe_matching("*").unwrap();
        drop(bus);
        let reader = thread::spawn(move || (matching.recv().is_err(), matching));
        drop(publisher);
        assert!(reader.join().unwrap().0);
        drop(ring);
    });
}
