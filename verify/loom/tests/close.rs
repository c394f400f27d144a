//! Close: a subscriber that sees it has seen, or still finds, everything that came before it.
#![cfg(annulus_loom)]

use annulus::{LossyTryRecvError, TryRecvError};
use annulus_loom::{Checked, check};
use loom::thread;

/// The last message is never lost to a close that overtakes it.
#[test]
fn messages_before_the_close_are_received() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            publisher.publish(Checked::of(1));
        });
        let mut received = Vec::new();
        loop {
            match subscriber.try_recv_or_lag() {
                Ok(message) => received.push(message),
                Err(LossyTryRecvError::Empty) => thread::yield_now(),
                Err(LossyTryRecvError::Closed) => break,
                Err(error @ LossyTryRecvError::Lagged { .. }) => panic!("{error}"),
            }
        }
        assert_eq!(received, [u64::of(0), u64::of(1)]);
        writer.join().unwrap();
    });
}

/// A subscriber that joins a closed ring finds what stands there, then the close.
#[test]
fn joining_while_the_publisher_leaves() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        publisher.publish(Checked::of(0));
        let writer = thread::spawn(move || drop(publisher));
        let mut subscriber = subscribable.subscribe_from_oldest();
        assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
        writer.join().unwrap();
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
        assert!(subscriber.is_closed());
    });
}
