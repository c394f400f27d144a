//! Records that are written in place: what is dropped, cut, refused, or met by a close.

use std::panic::{AssertUnwindSafe, catch_unwind};

use annulus::Settings;
use annulus::TryRecvError;
use annulus::queue::bytes;
use annulus::queue::bytes::{TryWriteError, WriteError, channel};

use crate::bytes::pattern;

/// One that is dropped has sent nothing, wherever it lay, and the next one lies there again.
#[test]
fn dropped_reservation_sends_nothing() {
    let (mut producer, mut consumer) = bytes::with(Settings::new(64).first(u64::MAX - 3)).unwrap();
    for len in (0..=32).chain([32; 9]) {
        producer.try_reserve(32).unwrap().fill(0xEE);
        assert!(consumer.is_empty());
        assert_eq!(consumer.try_read().unwrap_err(), TryRecvError::Empty);
        let record = pattern(len, 5);
        let mut reservation = producer.try_reserve(len).unwrap();
        reservation.copy_from_slice(&record);
        assert_eq!(*reservation, *record);
        reservation.commit().unwrap();
        assert_eq!(*consumer.try_read().unwrap(), *record);
    }
}

/// A new queue has nothing of what lay there before it: the first of each pair leaves its bytes to the
/// second.
#[test]
fn new_queue_has_zeroes() {
    for capacity in [64, 2000, 100_000] {
        for _ in 0..2 {
            let (mut producer, _consumer) = channel(capacity);
            let mut reservation = producer.try_reserve(producer.max_len()).unwrap();
            assert!(reservation.iter().all(|&byte| byte == 0), "of {capacity} bytes");
            reservation.fill(0xEE);
        }
    }
}

/// The lengths that each side knows.
#[test]
fn longest_record_is_known_to_both_sides() {
    let (mut producer, mut consumer) = channel(64);
    assert_eq!((producer.max_len(), consumer.max_len()), (32, 32));
    let empty = producer.try_reserve(0).unwrap();
    assert!(empty.is_empty());
    empty.commit().unwrap();
    let longest = producer.try_reserve(consumer.max_len()).unwrap();
    assert_eq!((longest.len(), longest.is_empty()), (32, false));
    drop(longest);
    assert_eq!(consumer.try_read().unwrap().len(), 0);
    assert!(producer.try_reserve(consumer.max_len() + 1).is_err());
}

/// One that is cut takes only the room of what is sent.
#[test]
fn record_may_be_shorter_than_its_reservation() {
    let (mut producer, mut consumer) = channel(64);
    for round in 0..20 {
        for len in 0..=32 {
            let mut reservation = producer.try_reserve(32).unwrap();
            reservation.copy_from_slice(&pattern(32, round));
            reservation.commit_len(len).unwrap();
            assert_eq!(*consumer.try_read().unwrap(), pattern(32, round)[..len]);
        }
    }
    let mut sent = 0;
    while let Ok(reservation) = producer.try_reserve(1) {
        reservation.commit_len(0).unwrap();
        sent += 1;
    }
    // Two words are reserved, and one is taken: a few are left at the end of the ring, and before the head.
    assert!(sent > 64 / 16, "an empty record takes a word, and there are {sent}");
    assert_eq!((0..sent).filter(|_| consumer.try_read().unwrap().is_empty()).count(), sent);
}

#[test]
fn longer_one_can_t_be_committed() {
    let (mut producer, consumer) = channel(64);
    let commit = AssertUnwindSafe(|| producer.try_reserve(5).unwrap().commit_len(6));
    let panic = catch_unwind(commit).unwrap_err();
    assert_eq!(*panic.downcast::<String>().unwrap(), "can't commit 6 bytes: 5 are reserved");
    assert!(consumer.is_empty());
}

/// A close between the reservation and its commit: with padding, and without.
#[test]
fn close_meanwhile_refuses_it() {
    for is_padded in [false, true] {
        let (mut producer, mut consumer) = channel(48);
        if is_padded {
            producer.write(&pattern(24, 1)).unwrap();
            drop(consumer.read().unwrap());
        }
        let mut reservation = producer.try_reserve(24).unwrap();
        reservation.fill(1);
        consumer.close();
        assert_eq!(reservation.commit(), Err(WriteError::Closed));
        assert!(consumer.is_empty() && consumer.is_fully_drained());
        assert_eq!(producer.try_reserve(0).unwrap_err(), TryWriteError::Closed);
    }
}

/// The consumer is gone while a reservation is being written.
#[test]
fn consumer_may_go_meanwhile() {
    let (mut producer, consumer) = channel(48);
    let mut reservation = producer.try_reserve(24).unwrap();
    reservation.fill(1);
    drop(consumer);
    assert_eq!(reservation.commit(), Err(WriteError::Closed));
}

/// And the producer while a record is being read.
#[test]
fn producer_may_go_meanwhile() {
    let (mut producer, mut consumer) = channel(48);
    producer.write(&pattern(20, 7)).unwrap();
    let record = consumer.read().unwrap();
    drop(producer);
    assert_eq!(*record, *pattern(20, 7));
    drop(record);
    assert!(consumer.read().is_err());
}
