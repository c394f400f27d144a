//! Records of bytes between two threads that sleep: a record wakes the reader, and a writer sleeps until
//! there is room for all of its record.
//!
//! A lost wake-up is a deadlock, which loom reports. A close is here, too: it uses the waker's fence.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::queue::bytes;
use annulus::queue::bytes::{Consumer, Producer, WriteTimeoutError};
use annulus::{RecvTimeoutError, TryRecvError};
use annulus_loom::{BLOCK, check};
use loom::thread;

/// A ring of three words, for records of two.
fn ring() -> (Producer, Consumer) {
    bytes::with(Settings::new(16)).unwrap()
}

#[test]
fn record_wakes_the_reader() {
    check(|| {
        let (mut producer, mut consumer) = ring();
        let reader = thread::spawn(move || {
            assert_eq!(*consumer.read_until(BLOCK).unwrap(), [1; 8]);
            consumer
        });
        producer.try_write(&[1; 8]).unwrap();
        reader.join().unwrap();
    });
}

/// The ring has empty records, and the writer needs two words, or, with padding, all three. So what is read
/// first is not enough for it: it is woken, and sleeps again.
#[test]
fn enough_room_wakes_the_writer() {
    for held in [3, 2] {
        check(move || {
            let (mut producer, mut consumer) = ring();
            for _ in 0..held {
                producer.try_write(&[]).unwrap();
            }
            let writer = thread::spawn(move || (producer.write_until(&[1; 8], BLOCK), producer));
            for _ in 0..2 {
                assert!(consumer.try_read().unwrap().is_empty());
            }
            let (written, _producer) = writer.join().unwrap();
            assert_eq!(written, Ok(()));
        });
    }
}

#[test]
fn close_wakes_either_side() {
    check(|| {
        let (producer, mut consumer) = ring();
        let reader = thread::spawn(move || consumer.read_until(BLOCK).map(|record| record.len()));
        producer.close();
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
    });
    check(|| {
        let (mut producer, consumer) = ring();
        producer.try_write(&[1; 8]).unwrap();
        let writer = thread::spawn(move || producer.write_until(&[2; 8], BLOCK));
        consumer.close();
        assert_eq!(writer.join().unwrap(), Err(WriteTimeoutError::Closed));
    });
}

/// A close beside a record with padding, and one without: what was acknowledged is read, and nothing else.
#[test]
fn close_beside_a_record() {
    for is_padded in [false, true] {
        check(move || {
            let (mut producer, mut consumer) = ring();
            if is_padded {
                producer.try_write(&[9; 8]).unwrap();
                assert_eq!(*consumer.try_read().unwrap(), [9; 8]);
            }
            let writer = thread::spawn(move || (producer.try_write(&[1; 8]).is_ok(), producer));
            consumer.close();
            let read = match consumer.try_read() {
                Ok(record) => *record == [1; 8],
                Err(error) => {
                    assert_eq!(error, TryRecvError::Closed);
                    false
                }
            };
            assert!(consumer.is_fully_drained());
            let (written, producer) = writer.join().unwrap();
            assert_eq!(read, written);
            assert!(consumer.is_empty() && producer.is_empty());
        });
    }
}
