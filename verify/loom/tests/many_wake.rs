//! Many publishers that sleep: who claimed a slot sleeps until the writer a lap before has left it, and is
//! woken then.
#![cfg(annulus_loom)]

use annulus_loom::{BLOCK, Checked, check, check_up_to};
use loom::thread;

/// Two publishers share the three messages of a ring of two slots, so the third message may have to wait for
/// the other publisher. Both live on: only that one's message can wake the sleeper.
#[test]
fn the_writer_a_lap_before_wakes_who_claimed_its_slot() {
    check(|| {
        let (publisher, _subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let other = publisher.clone();
        let first = thread::spawn(move || {
            other.publish_by(Checked::of(10), BLOCK);
            other
        });
        publisher.publish_by(Checked::of(20), BLOCK);
        publisher.publish_by(Checked::of(21), BLOCK);
        drop(first.join().unwrap());
        assert_eq!(publisher.published(), 3);
    });
}

/// A message of any publisher wakes a subscriber.
#[test]
fn a_message_of_each_wakes_a_subscriber() {
    check_up_to(2, || {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        let first = thread::spawn(move || {
            other.publish_by(Checked::of(10), BLOCK);
            other
        });
        let reader = thread::spawn(move || [(); 2].map(|()| subscriber.recv_by(BLOCK).unwrap().number()));
        publisher.publish_by(Checked::of(20), BLOCK);
        let received = reader.join().unwrap();
        assert!(received == [10, 20] || received == [20, 10], "{received:?}");
        drop(first.join().unwrap());
    });
}

/// The last publisher to leave wakes a subscriber, whichever it is.
#[test]
fn the_last_one_out_wakes_a_subscriber() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        let first = thread::spawn(move || drop(other));
        let reader = thread::spawn(move || subscriber.recv_by(BLOCK));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(annulus::RecvError));
        first.join().unwrap();
    });
}
