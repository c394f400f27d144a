//! The gate: publishers of a lossless ring never overwrite what a subscriber needs, whichever subscriber
//! joins, leaves or is cloned meanwhile.
//!
//! A subscriber that was overwritten would be told by the slot's stamps, and the library panics there. The
//! publishers here try a few times instead of waiting, so nobody has to be woken.
#![cfg(annulus_loom)]

use annulus::broadcast::{Lossless, Publisher, Subscriber};
use annulus_loom::{Checked, check, check_up_to, publish_tries, receive, receive_batch, receive_lossless};
use loom::thread::{self, JoinHandle};

/// A thread that tries to publish, from message `first` on, and closes the ring. It returns how many messages
/// there are now.
fn publishing<T: Checked>(
    mut publisher: Publisher<T, Lossless>,
    first: u64,
    tries: usize,
) -> JoinHandle<u64> {
    thread::spawn(move || publish_tries(&mut publisher, first, tries))
}

/// Receives a few times under the running publisher, then what is left, and asserts that it was all from the
/// cursor on.
fn misses_nothing<T: Checked>(
    subscriber: &mut Subscriber<T, Lossless>,
    times: usize,
    writer: JoinHandle<u64>,
) {
    let start = subscriber.cursor();
    let mut received = receive_lossless(subscriber, times);
    let end = writer.join().unwrap();
    received.extend(receive_lossless(subscriber, usize::MAX));
    assert_eq!(received, (start..end).collect::<Vec<_>>());
}

/// The publisher comes to its limit while the subscriber receives.
#[test]
fn the_publisher_does_not_overtake() {
    for headroom in [0, 1] {
        check(move || {
            let (publisher, subscribable) =
                annulus::broadcast::lossless_with::<[u64; 2]>(annulus::Settings::new(2).headroom(headroom))
                    .unwrap();
            let mut subscriber = subscribable.subscribe();
            let writer = publishing(publisher, 0, 4);
            misses_nothing(&mut subscriber, 2, writer);
        });
    }
}

/// A batch is read in runs, of which the last stamp is looked at, and is as whole and in order as what is
/// read one by one.
#[test]
fn a_batch_beside_the_publisher() {
    for headroom in [0, 1] {
        check(move || {
            let (publisher, subscribable) =
                annulus::broadcast::lossless_with::<[u64; 2]>(annulus::Settings::new(2).headroom(headroom))
                    .unwrap();
            let mut subscriber = subscribable.subscribe();
            let writer = publishing(publisher, 0, 4);
            let mut received = receive_batch::<_, _, 2>(&mut subscriber);
            received.extend(receive_batch::<_, _, 2>(&mut subscriber));
            let end = writer.join().unwrap();
            received.extend(receive_lossless(&mut subscriber, usize::MAX));
            assert_eq!(received, (0..end).collect::<Vec<_>>());
        });
    }
}

/// Four are there, or fewer: a batch ends where the publisher is, in the middle of a run too.
#[test]
fn a_batch_ends_where_the_publisher_is() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<[u64; 2]>(4);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(Checked::of(0)).unwrap();
        let writer = thread::spawn(move || publisher.publish_batch(&[1, 2, 3].map(Checked::of)).unwrap());
        let mut received = receive_batch::<_, _, 4>(&mut subscriber);
        assert!(!received.is_empty(), "message 0 happens before");
        writer.join().unwrap();
        received.extend(receive_batch::<_, _, 4>(&mut subscriber));
        assert_eq!(received, [0, 1, 2, 3]);
    });
}

/// A subscriber that joins at the next message misses nothing from its start on.
#[test]
fn joining_at_the_next() {
    for headroom in [0, 1] {
        check(move || {
            let (mut publisher, subscribable) =
                annulus::broadcast::lossless_with::<u64>(annulus::Settings::new(2).headroom(headroom))
                    .unwrap();
            publisher.publish(Checked::of(0)).unwrap();
            let writer = publishing(publisher, 1, 3);
            let mut subscriber = subscribable.subscribe();
            assert!(subscriber.cursor() > 0, "message 0 happens before");
            misses_nothing(&mut subscriber, 1, writer);
        });
    }
}

/// A subscriber that joins at the oldest message has what it was promised at once, and misses nothing from
/// there on.
#[test]
fn joining_at_the_oldest() {
    for headroom in [0, 1] {
        check(move || {
            let (publisher, subscribable) =
                annulus::broadcast::lossless_with::<u64>(annulus::Settings::new(2).headroom(headroom))
                    .unwrap();
            let writer = publishing(publisher, 0, 4);
            let mut subscriber = subscribable.subscribe_from_oldest();
            let start = subscriber.cursor();
            // (With a room of one message, none is promised.)
            if start > 0 && headroom == 0 {
                // The publisher looked at the gate after this message.
                assert_eq!(receive_lossless(&mut subscriber, 1), [start]);
            }
            misses_nothing(&mut subscriber, 1, writer);
        });
    }
}

/// A subscriber that leaves no longer holds the publisher up; one that stays does.
#[test]
fn leaving_under_a_publisher_at_its_limit() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let [leaver, mut stayer] = [(); 2].map(|()| subscribable.subscribe());
        assert_eq!(publish_tries(&mut publisher, 0, 2), 2);
        let writer = thread::spawn(move || {
            let next = publish_tries(&mut publisher, 2, 2);
            (next, publisher)
        });
        let leaving = thread::spawn(move || drop(leaver));
        let mut received = receive_lossless(&mut stayer, 2);
        leaving.join().unwrap();
        let (next, mut publisher) = writer.join().unwrap();
        // Both of the first two were received, so there is room for two more.
        assert_eq!(publish_tries(&mut publisher, next, 2), 4.min(next + 2));
        drop(publisher);
        received.extend(receive_lossless(&mut stayer, 3));
        assert_eq!(received, [0, 1, 2, 3]);
    });
}

/// A subscriber joins, perhaps in the cell that another leaves, while the publisher looks.
#[test]
fn joining_where_another_leaves() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let leaver = subscribable.subscribe();
        assert_eq!(publish_tries(&mut publisher, 0, 2), 2);
        let writer = publishing(publisher, 2, 2);
        let leaving = thread::spawn(move || drop(leaver));
        let mut subscriber = subscribable.subscribe_from_oldest();
        misses_nothing(&mut subscriber, 1, writer);
        leaving.join().unwrap();
    });
}

/// Two subscribers join at once and get a cell each, and room is made for both.
#[test]
fn subscribers_join_at_once() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        publisher.publish(Checked::of(0)).unwrap();
        let other = subscribable.clone();
        let joining = thread::spawn(move || other.subscribe());
        let mut here = subscribable.subscribe();
        let mut there = joining.join().unwrap();
        assert_eq!((here.cursor(), there.cursor()), (1, 1));
        let next = publish_tries(&mut publisher, 1, 3);
        assert_eq!(next, 3, "they hold the publisher up");
        assert_eq!(receive_lossless(&mut here, 2), [1, 2]);
        assert_eq!(publish_tries(&mut publisher, 3, 1), 3, "the other one still does");
        assert_eq!(receive_lossless(&mut there, 2), [1, 2]);
        assert_eq!(publish_tries(&mut publisher, 3, 1), 4);
    });
}

/// Two join where one cell is free: one takes it, the other one makes new ones, and neither waits for the
/// other.
#[test]
fn subscribers_join_where_one_left() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let [leaver, stayer, another] = [(); 3].map(|()| subscribable.subscribe());
        drop(leaver);
        publisher.publish(Checked::of(0)).unwrap();
        let other = subscribable.clone();
        let joining = thread::spawn(move || other.subscribe());
        let mut here = subscribable.subscribe();
        let mut there = joining.join().unwrap();
        drop((stayer, another));
        assert_eq!(publish_tries(&mut publisher, 1, 3), 3, "they hold the publisher up");
        assert_eq!(receive_lossless(&mut here, 2), [1, 2]);
        assert_eq!(publish_tries(&mut publisher, 3, 1), 3, "the other one still does");
        assert_eq!(receive_lossless(&mut there, 2), [1, 2]);
        assert_eq!(publish_tries(&mut publisher, 3, 1), 4);
    });
}

/// Two leave while another joins, and a publisher looks: it finds a cell whatever the two have done of their
/// leaving, and holds the publisher up.
#[test]
fn joining_where_two_leave() {
    check_up_to(1, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let [first, second] = [(); 2].map(|()| subscribable.subscribe());
        assert_eq!(publish_tries(&mut publisher, 0, 2), 2);
        let writer = publishing(publisher, 2, 2);
        let leaving = [first, second].map(|leaver| thread::spawn(move || drop(leaver)));
        let mut subscriber = subscribable.subscribe_from_oldest();
        misses_nothing(&mut subscriber, 1, writer);
        for leaver in leaving {
            leaver.join().unwrap();
        }
    });
}

/// A clone needs what its original needed, also where the original moves on at once. The clone's cell comes
/// before the original's in the list, so that a look may have passed it.
#[test]
fn a_clone_keeps_its_place() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let [leaver, mut original] = [(); 2].map(|()| subscribable.subscribe());
        drop(leaver);
        assert_eq!(publish_tries(&mut publisher, 0, 2), 2);
        let writer = publishing(publisher, 2, 1);
        let mut clone = original.clone();
        assert_eq!(receive_lossless(&mut original, 1), [0]);
        misses_nothing(&mut clone, 1, writer);
    });
}

/// The publisher does not wait for a tap, which is told what it loses; a subscriber that it waits for loses
/// nothing.
#[test]
fn tap_beside() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let mut tap = subscribable.subscribe_lossy();
        let mut subscriber = subscribable.subscribe();
        let writer = publishing(publisher, 0, 3);
        let tapping = thread::spawn(move || {
            for (sequence, number) in receive(&mut tap, 2) {
                assert_eq!(sequence, number);
            }
        });
        misses_nothing(&mut subscriber, 2, writer);
        tapping.join().unwrap();
    });
}
