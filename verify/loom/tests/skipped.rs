//! Numbers that a publisher leaves out, beside subscribers: each is counted, and no message is lost to them.
#![cfg(annulus_loom)]

use annulus::LossyTryRecvError;
use annulus_loom::{Checked, check, receive_checked};
use loom::thread;

/// A message, a gap, a message: in the smallest ring, and in one in which all of that stands. Whatever a
/// subscriber meets, the messages that it receives are those of their numbers, and the last one is found.
#[test]
fn a_gap_between_messages() {
    for (capacity, next) in [(2, 2), (2, 3), (4, 3), (2, 9)] {
        check(move || {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(capacity);
            let mut subscriber = subscribable.subscribe();
            let writer = thread::spawn(move || {
                publisher.publish(Checked::of(0));
                assert_eq!(publisher.skip_to(next), Ok(next - 1));
                publisher.publish(Checked::of(next));
                publisher
            });
            let mut received = receive_checked(&mut subscriber, 2);
            let publisher = writer.join().unwrap();
            received.extend(receive_checked(&mut subscriber, 4));
            assert_eq!(received.last(), Some(&next));
            assert_eq!(subscriber.cursor(), next + 1);
            drop(publisher);
        });
    }
}

/// `latest` beside a gap: what it finds is the message of its number, and afterwards the newest is found.
#[test]
fn newest_beside_a_gap() {
    for (capacity, next) in [(2, 2), (4, 3)] {
        check(move || {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(capacity);
            let mut subscriber = subscribable.subscribe();
            let writer = thread::spawn(move || {
                publisher.publish(Checked::of(0));
                publisher.skip_to(next).unwrap();
                publisher
            });
            let found = subscriber.latest();
            assert!(found.is_none_or(|message| message == u64::of(0)));
            let mut publisher = writer.join().unwrap();
            let stands = found.is_none() && next <= capacity as u64;
            assert_eq!(subscriber.latest(), stands.then(|| u64::of(0)));
            publisher.publish(Checked::of(next));
            assert_eq!(subscriber.latest(), Some(u64::of(next)));
            assert_eq!(subscriber.cursor(), next + 1);
        });
    }
}

/// A subscriber that joins behind a message finds it, also where the message behind the gap showed the way:
/// its first stamp comes after all that was left out.
#[test]
fn joiner_behind_a_gap_sees_earlier_messages() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let mut early = subscribable.subscribe();
        publisher.publish(Checked::of(0));
        assert_eq!(early.try_recv(), Ok(u64::of(0)));
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(1));
            publisher.skip_to(4).unwrap();
            publisher.publish(Checked::of(4));
            publisher
        });
        let joined = subscribable.subscribe().cursor();
        let found = early.try_recv_or_lag();
        assert!(joined < 2 || found != Err(LossyTryRecvError::Empty), "message 1 is before {joined}");
        drop(writer.join().unwrap());
    });
}

/// What happens before is counted exactly, wherever the stored bound stands.
#[test]
fn earlier_left_out_numbers_are_counted() {
    for gap in [1, 5, 16, 40] {
        check(move || {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
            let mut early = subscribable.subscribe();
            let writer = thread::spawn(move || {
                (0..2).for_each(|number| publisher.publish(Checked::of(number)));
                publisher.skip_to(2 + gap).unwrap();
                publisher
            });
            let mut publisher = writer.join().unwrap();
            assert_eq!(subscribable.subscribe().cursor(), 2 + gap);
            publisher.publish(Checked::of(2 + gap));
            assert_eq!(subscribable.subscribe().cursor(), 3 + gap);
            assert_eq!(early.latest(), Some(u64::of(2 + gap)));
        });
    }
}
