//! Snapshots: which numbers belong together, beside threads that change them.
#![cfg(annulus_loom)]

use annulus::{broadcast, spsc};
use annulus_loom::{Checked, check, receive_lossless};
use loom::thread;

/// A cursor that a snapshot has is not behind the end that it has. Where many publish, the end is only a
/// count of claims.
#[test]
fn no_cursor_is_beyond_the_published_end() {
    check(|| {
        let (publisher, subscribable) = broadcast::mp_lossless::<u64>(2);
        let (observer, mut subscriber) = (subscribable.observer(), subscribable.subscribe());
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0)).unwrap();
            publisher
        });
        let reader = thread::spawn(move || {
            receive_lossless(&mut subscriber, 2);
            subscriber
        });
        let watcher = observer.clone();
        let watcher = thread::spawn(move || {
            let stats = watcher.stats().expect("the ring is there");
            let received = stats.received.expect("somebody is waited for");
            assert!(received <= stats.published, "{stats}");
        });
        watcher.join().unwrap();
        let handles = (writer.join().unwrap(), reader.join().unwrap());
        let stats = observer.stats().expect("the ring is there");
        assert_eq!((stats.published, stats.received), (1, Some(handles.1.cursor())));
        drop((handles, subscribable));
        assert!(observer.is_gone());
    });
}

/// The same of a lane.
#[test]
fn no_message_is_received_before_it_is_sent() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<u64>(1);
        let observer = consumer.observer();
        let writer = thread::spawn(move || {
            for number in 0..2 {
                _ = producer.try_send(number);
            }
            producer
        });
        let reader = thread::spawn(move || {
            for _ in 0..3 {
                if consumer.try_recv().is_err() {
                    thread::yield_now();
                }
            }
            consumer
        });
        let watcher = thread::spawn(move || {
            let stats = observer.stats().expect("the queue is there");
            let (received, pending) = (stats.received.expect("it is a queue"), stats.pending.unwrap());
            assert!(received <= stats.published && pending == stats.published - received, "{stats}");
            assert!(pending <= 1, "{stats}");
        });
        watcher.join().unwrap();
        drop((writer.join().unwrap(), reader.join().unwrap()));
    });
}
