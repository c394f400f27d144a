//! Owned events, where somebody sleeps: an event wakes a subscriber, and a subscriber that is done with one,
//! or leaves, wakes a publisher.
#![cfg(annulus_loom)]

use annulus::RecvTimeoutError;
use annulus_loom::{BLOCK, check};
use loom::thread;

/// The publisher lives on: only its event can wake the subscriber.
#[test]
fn event_wakes_a_subscriber() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || subscriber.process_until(BLOCK, |&number| number));
        assert!(publisher.publish(|number| *number = 1).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(1));
        drop(publisher);
    });
}

#[test]
fn event_of_one_of_many_wakes_a_subscriber() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::mp_channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || subscriber.process_until(BLOCK, |&number| number));
        assert!(publisher.publish(|number| *number = 1).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(1));
        drop(publisher);
    });
}

#[test]
fn close_wakes_a_subscriber() {
    check(|| {
        let (publisher, subscribable) = annulus::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || subscriber.wait_until(BLOCK));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
    });
}

/// The subscriber lives on: only its cursor can wake the publisher.
#[test]
fn processed_event_wakes_a_publisher() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        for next in [1, 2] {
            assert!(publisher.publish(|number| *number = next).is_ok());
        }
        let writer = thread::spawn(move || publisher.publish_until(BLOCK, |number| *number = 3).is_ok());
        assert_eq!(subscriber.try_process(|&number| number), Ok(1));
        assert!(writer.join().unwrap());
        drop(subscriber);
    });
}

#[test]
fn processed_event_wakes_one_of_many_publishers() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::mp_channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        for next in [1, 2] {
            assert!(publisher.publish(|number| *number = next).is_ok());
        }
        let writer = thread::spawn(move || publisher.publish_until(BLOCK, |number| *number = 3).is_ok());
        assert_eq!(subscriber.try_process(|&number| number), Ok(1));
        assert!(writer.join().unwrap());
        drop(subscriber);
    });
}

/// A subscriber that leaves wakes the publisher too; the ring is not abandoned, because more may subscribe.
#[test]
fn leaving_subscriber_wakes_a_publisher() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let subscriber = subscribable.subscribe();
        for next in [1, 2] {
            assert!(publisher.publish(|number| *number = next).is_ok());
        }
        let writer = thread::spawn(move || publisher.publish_until(BLOCK, |number| *number = 3).is_ok());
        drop(subscriber);
        assert!(writer.join().unwrap());
        drop(subscribable);
    });
}
