//! Records of bytes from one thread to another: each one once, in order and whole, also those that begin at
//! the ring's front because they would run over its end.
//!
//! The order of the accesses is that of a lane, whose models are in `lane.rs`. What is new is what one store
//! of the tail sends: padding, a length, and bytes.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::TryRecvError;
use annulus::queue::bytes;
use annulus::queue::bytes::{Consumer, Producer};
use annulus_loom::check;
use loom::thread;

/// A ring of three words, for records of two: every other one begins at the front, behind padding. The
/// numbers wrap, too.
fn ring() -> (Producer, Consumer) {
    bytes::with(Settings::new(16).first(u64::MAX - 1)).unwrap()
}

/// Bytes that tell their number.
fn record(number: u8) -> [u8; 8] {
    [number + 1; 8]
}

/// Tries so often to write the next record; returns how many it wrote.
fn write_tries(producer: &mut Producer, tries: usize) -> u8 {
    let mut next = 0;
    for _ in 0..tries {
        match producer.try_write(&record(next)) {
            Ok(()) => next += 1,
            Err(_) => thread::yield_now(),
        }
    }
    next
}

/// Reads what comes, up to the end or for so many tries; each is the next.
fn read_tries(consumer: &mut Consumer, mut next: u8, tries: usize) -> u8 {
    for _ in 0..tries {
        match consumer.try_read() {
            Ok(found) => {
                assert_eq!(*found, record(next));
                // The writer goes on meanwhile.
                thread::yield_now();
                assert_eq!(*found, record(next));
                next += 1;
            }
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    next
}

#[test]
fn records_over_the_end() {
    check(|| {
        let (mut producer, mut consumer) = ring();
        let writer = thread::spawn(move || write_tries(&mut producer, 4));
        let read = read_tries(&mut consumer, 0, 4);
        let written = writer.join().unwrap();
        assert_eq!(read_tries(&mut consumer, read, 10), written);
    });
}

/// A reservation that is dropped has sent nothing, and the next record lies in its place.
#[test]
fn dropped_reservation_is_not_seen() {
    check(|| {
        let (mut producer, mut consumer) = ring();
        let writer = thread::spawn(move || {
            if let Ok(mut reservation) = producer.try_reserve(8) {
                reservation.fill(0xFF);
            }
            write_tries(&mut producer, 3)
        });
        let read = read_tries(&mut consumer, 0, 3);
        let written = writer.join().unwrap();
        assert_eq!(read_tries(&mut consumer, read, 10), written);
    });
}
