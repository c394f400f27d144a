//! Many publishers of a lossy ring: each message wakes the sleepers, and so does the last publisher.
#![cfg(annulus_loom)]

use annulus_loom::{BLOCK, Checked, check, check_up_to};
use loom::thread;

/// A publisher stands still after it has claimed a message, at which a subscriber sleeps. Another one passes
/// over its slot a lap later, and that wakes the subscriber, which goes on with what is there.
#[test]
fn message_behind_one_that_was_passed_over_wakes() {
    check_up_to(1, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let mut stopped = publisher.clone();
        stopped.stands_still_with_a_claim();
        publisher.publish(Checked::of(10));
        let writer = thread::spawn(move || publisher.publish(Checked::of(11)));
        let mut last = 0;
        while last != 11 {
            last = subscriber.recv_until(BLOCK).unwrap().number();
        }
        writer.join().unwrap();
        drop(stopped);
    });
}

/// A message of any publisher wakes a subscriber.
#[test]
fn a_message_of_each_wakes_a_subscriber() {
    check_up_to(1, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let mut other = publisher.clone();
        let first = thread::spawn(move || {
            other.publish(Checked::of(10));
            other
        });
        let reader = thread::spawn(move || [(); 2].map(|()| subscriber.recv_until(BLOCK).unwrap().number()));
        publisher.publish(Checked::of(20));
        let received = reader.join().unwrap();
        assert!(received == [10, 20] || received == [20, 10], "{received:?}");
        drop(first.join().unwrap());
    });
}

/// The last publisher to leave wakes a subscriber, whichever it is.
#[test]
fn last_one_out_wakes_a_subscriber() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        let first = thread::spawn(move || drop(other));
        let reader = thread::spawn(move || subscriber.recv_until(BLOCK));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(annulus::RecvTimeoutError::Closed));
        first.join().unwrap();
    });
}
