//! The lazy head: a thread that joins, or asks how far the publisher is, counts every message that happens
//! before.
#![cfg(annulus_loom)]

use annulus_loom::{Checked, check, receive_checked};
use loom::thread;

/// Sixteen slots: the head is stored once in four messages, so all of these need the walk.
const CAPACITY: usize = 16;

/// What happens before is counted exactly, wherever the stored bound stands.
#[test]
fn earlier_messages_are_counted_exactly() {
    for published in [1, 3, 4, 5] {
        check(move || {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(CAPACITY);
            let mut early = subscribable.subscribe();
            let writer = thread::spawn(move || {
                (0..published).for_each(|sequence| publisher.publish(Checked::of(sequence)));
                publisher
            });
            let _publisher = writer.join().unwrap();
            assert_eq!(early.len() as u64, published);
            assert_eq!(subscribable.subscribe().cursor(), published);
            assert_eq!(early.skip_to_latest(), published - 1);
            assert_eq!(early.try_recv(), Ok(u64::of(published - 1)));
        });
    }
}

/// A subscriber that joins under a running publisher begins where it may, and reads whole messages from
/// there.
#[test]
fn joining_under_a_running_publisher() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        publisher.publish(Checked::of(0));
        let writer = thread::spawn(move || {
            (1..3).for_each(|sequence| publisher.publish(Checked::of(sequence)));
            publisher
        });
        let mut future = subscribable.subscribe();
        assert!((1..=3).contains(&future.cursor()), "message 0 happens before");
        receive_checked(&mut future, 2);
        let mut oldest = subscribable.subscribe_from_oldest();
        receive_checked(&mut oldest, 2);
        drop(writer.join().unwrap());
    });
}

/// A drain delivers what happens before it, in order, and ends.
#[test]
fn drain_delivers_earlier_messages_in_order() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(CAPACITY);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(Checked::of(0));
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(1));
            publisher
        });
        let drained: Vec<u64> = subscriber.try_iter().collect();
        assert!(drained == [u64::of(0)] || drained == [u64::of(0), u64::of(1)], "{drained:?}");
        drop(writer.join().unwrap());
    });
}
