//! Lengths and capacities at their limits, the end of a ring, and what handles say of themselves.

use annulus::Settings;
use annulus::TooLong;
use annulus::broadcast::bytes;
use annulus::{CapacityError, LossyRecvError, LossyTryRecvError, TryRecvError};

use super::records::record;

#[test]
fn capacities_are_rounded_up() {
    for (asked, capacity) in [(0, 64), (64, 64), (65, 128), (1000, 1024), (4096, 4096)] {
        let (publisher, subscribable) = bytes::lossy(asked);
        let subscriber = subscribable.subscribe();
        let places = capacity / 32;
        for said in [
            [publisher.capacity(), publisher.max_len(), publisher.max_records()],
            [subscribable.capacity(), subscribable.max_len(), subscribable.max_records()],
            [subscriber.capacity(), subscriber.max_len(), subscriber.max_records()],
        ] {
            assert_eq!(said, [capacity, capacity / 2, places], "{asked}");
        }
    }
}

#[test]
fn capacity_beyond_memory_is_refused() {
    for capacity in [usize::MAX, 1 << (usize::BITS - 1)] {
        let error = bytes::lossy_with(Settings::new(capacity)).unwrap_err();
        assert_eq!(error, CapacityError::TooLarge { capacity, slot_bytes: 1 });
    }
}

#[test]
fn records_of_every_length_come_back_from_every_place() {
    for capacity in if cfg!(miri) { vec![64] } else { vec![64, 128, 1024] } {
        let (mut publisher, subscribable) = bytes::lossy(capacity);
        let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
        let mut number = 0;
        for length in 0..=publisher.max_len() {
            // So that a record of this length begins at another word each time.
            for step in 0..if cfg!(miri) { 3 } else { 9 } {
                for length in [8 * step, length] {
                    let length = length.min(publisher.max_len());
                    assert_eq!(publisher.publish(&record(number, length)), Ok(()));
                    assert_eq!(subscriber.try_recv(&mut buffer), Ok(length));
                    assert_eq!(buffer, record(number, length));
                    number += 1;
                }
            }
        }
        assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (number, 0));
        assert_eq!((publisher.published(), subscriber.cursor()), (number, number));
    }
}

#[test]
fn record_that_is_too_long_changes_nothing() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    publisher.publish(&[1; 32]).unwrap();
    publisher.publish(&[2; 32]).unwrap();
    for len in [33, 64, 1000] {
        assert_eq!(publisher.publish(&vec![3; len]), Err(TooLong::new(len, 32)));
    }
    assert_eq!((publisher.published(), subscriber.len()), (2, 2));
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(32));
    assert_eq!(buffer, [1; 32]);
}

#[test]
fn buffer_holds_a_record_or_nothing() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), b"before".to_vec());
    assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Empty));
    assert_eq!(buffer, b"");
    publisher.publish(b"a record").unwrap();
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(8));
    for _ in 0..3 {
        publisher.publish(b"another").unwrap();
    }
    assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    assert_eq!(buffer, b"");
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(7));
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(7));
    drop(publisher);
    assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Closed));
    assert_eq!(buffer, b"");
}

#[test]
fn buffer_with_room_does_not_grow() {
    let (mut publisher, subscribable) = bytes::lossy(1024);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = Vec::with_capacity(subscriber.max_len());
    let (room, place) = (buffer.capacity(), buffer.as_ptr());
    for length in (0..=512).step_by(64).chain([512]) {
        publisher.publish(&vec![7; length]).unwrap();
        assert_eq!(subscriber.try_recv(&mut buffer), Ok(length));
    }
    assert_eq!((buffer.capacity(), buffer.as_ptr()), (room, place));
}

/// What is published after the close is dropped, and overwrites nothing of what is left.
#[test]
fn publish_after_close_overwrites_nothing() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    publisher.publish(&[1; 32]).unwrap();
    publisher.publish(&[2; 32]).unwrap();
    subscribable.closer().close();
    assert!(publisher.is_closed() && subscribable.is_closed() && subscriber.is_closed());
    for _ in 0..5 {
        assert_eq!(publisher.publish(&[3; 32]), Ok(()));
        assert_eq!(publisher.publish(&[3; 33]), Err(TooLong::new(33, 32)));
    }
    assert_eq!(publisher.published(), 2);
    for byte in [1, 2] {
        assert_eq!(subscriber.try_recv(&mut buffer), Ok(32));
        assert_eq!(buffer, [byte; 32]);
    }
    assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Closed));
}

#[test]
fn ring_may_begin_at_any_number() {
    let first = (1 << 63) - (1 << 32);
    let (mut publisher, subscribable) = bytes::lossy_with(Settings::new(64).first(first)).unwrap();
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    for number in 0..5 {
        publisher.publish(&record(number, 24)).unwrap();
    }
    assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 3 }));
    assert_eq!(subscriber.cursor(), first + 3);
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(24));
    assert_eq!(buffer, record(3, 24));
}

#[test]
fn handles_are_counted_and_shown() {
    let (mut publisher, subscribable) = bytes::lossy_with(Settings::new(64).name("records")).unwrap();
    let first = subscribable.subscribe();
    let second = first.clone();
    assert_eq!((publisher.subscriber_count(), subscribable.subscriber_count()), (2, 2));
    drop(second);
    assert_eq!(subscribable.clone().subscriber_count(), 1);
    for _ in 0..3 {
        publisher.publish(&[0; 32]).unwrap();
    }
    let stats = first.stats();
    assert_eq!((stats.published, stats.capacity, stats.name.as_deref()), (3, 2, Some("records")));
    let own = stats.own.unwrap();
    assert_eq!((own.received, own.lagged, own.pending), (0, 0, 2));
    for observer in [publisher.observer(), subscribable.observer(), first.observer()] {
        assert_eq!(observer.stats().unwrap().published, 3);
    }
    assert_eq!(publisher.stats().published, subscribable.stats().published);
    assert_eq!(format!("{publisher:?}"), "Publisher { published: 3, capacity: 64 }");
    assert_eq!(format!("{subscribable:?}"), "Subscribable { capacity: 64, closed: false }");
    assert_eq!(format!("{first:?}"), "Subscriber { cursor: 0, received: 0, lagged: 0, .. }");
}

#[test]
#[cfg(feature = "std")]
fn lost_records_are_counted_for_the_ring() {
    let (mut publisher, subscribable) = bytes::lossy_with(Settings::new(64).statistics(true)).unwrap();
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    for _ in 0..5 {
        publisher.publish(&[0; 8]).unwrap();
    }
    assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 3 }));
    assert_eq!(publisher.stats().counted.unwrap().lagged, 3);
}

/// A close from any side, and what it leaves.
#[test]
fn ring_is_closed_from_anywhere() {
    for by_closer in [false, true] {
        let (mut publisher, subscribable) = bytes::lossy(64);
        let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
        assert!(subscriber.is_empty());
        publisher.publish(b"last").unwrap();
        assert!(!subscriber.is_empty());
        if by_closer {
            publisher.closer().close();
        } else {
            publisher.close();
        }
        publisher.publish(b"dropped").unwrap();
        assert_eq!(subscriber.try_recv(&mut buffer), Ok(4));
        assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Closed));
    }
}

#[test]
fn lag_is_said_at_once() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    for byte in 0..3 {
        publisher.publish(&[byte; 32]).unwrap();
    }
    assert_eq!(subscriber.recv_or_lag(&mut buffer), Err(LossyRecvError::Lagged { skipped: 1 }));
    assert_eq!(subscriber.recv_or_lag(&mut buffer), Ok(32));
    assert_eq!(buffer, [1; 32]);
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(32));
    let error = publisher.publish(&[0; 33]).unwrap_err();
    assert_eq!(error.to_string(), "33 bytes are too many: there may be 32 at most");
}
