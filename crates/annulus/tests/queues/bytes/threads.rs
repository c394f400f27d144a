//! Two threads: every record once, whole and in order, of all lengths, by all verbs.

use std::thread;

use annulus::Settings;
use annulus::queue::bytes;
use annulus::queue::bytes::{Consumer, Producer};
use annulus::{TryRecvError, WaitStrategy};

use crate::bytes::pattern;
use crate::support::{Pauses, join, spawn, without_standing_still};

const RECORDS: u64 = if cfg!(miri) { 30 } else { 20_000 };

/// Lengths of all sizes: short ones, any, the longest.
fn len_of(pauses: &mut Pauses, most: usize) -> usize {
    let most = most as u64;
    (match pauses.next() % 8 {
        0 => 0,
        1 => most,
        2..=4 => pauses.next() % (most.min(16) + 1),
        _ => pauses.next() % (most + 1),
    }) as usize
}

/// Writes all records by any verb; each length follows from the seed.
fn write_all(producer: &mut Producer, seed: u64) {
    let (mut lengths, mut pauses) = (Pauses::new(seed), Pauses::new(!seed));
    for number in 0..RECORDS {
        let record = pattern(len_of(&mut lengths, producer.max_len()), number);
        match pauses.next() % 4 {
            0 => {
                while let Err(error) = producer.try_write(&record) {
                    assert!(error.is_full(), "{error}");
                    thread::yield_now();
                }
            }
            1 => {
                let mut reservation = producer.reserve(record.len()).unwrap();
                reservation.copy_from_slice(&record);
                reservation.commit().unwrap();
            }
            2 => producer.write_until(&record, pauses.strategy()).unwrap(),
            _ => producer.write(&record).unwrap(),
        }
        if pauses.next() % 64 == 0 {
            pauses.rest();
        }
    }
}

fn read_all(consumer: &mut Consumer, seed: u64) {
    let (mut lengths, mut pauses) = (Pauses::new(seed), Pauses::new(seed ^ 0xABCD));
    let most = consumer.capacity() / 2;
    for number in 0..RECORDS {
        let expected = pattern(len_of(&mut lengths, most), number);
        let record = match pauses.next() % 3 {
            0 => consumer.read_until(pauses.strategy()).unwrap(),
            1 => consumer.read().unwrap(),
            _ => {
                while consumer.is_empty() {
                    thread::yield_now();
                }
                consumer.try_read().unwrap()
            }
        };
        assert_eq!(*record, *expected, "record {number}");
        if pauses.next() % 64 == 0 {
            pauses.rest();
        }
        // Again, as the writer may have overwritten it meanwhile.
        assert_eq!(*record, *expected, "record {number}, a little later");
    }
    assert!(consumer.read().is_err());
}

#[test]
fn records_arrive_whole_and_in_order() {
    let longest = if cfg!(miri) { 150 } else { 1 << 14 };
    for (capacity, seed) in [(2, 1), (31, 2), (64, 3), (longest / 16, 4), (longest, 5)] {
        without_standing_still(move || {
            let (mut producer, mut consumer) =
                bytes::with(Settings::new(capacity).first(u64::MAX - 99)).unwrap();
            let writer = spawn(move || write_all(&mut producer, seed));
            read_all(&mut consumer, seed);
            join([writer]);
        });
    }
}

/// A close beside writes: all that were accepted are read, and no other.
#[test]
fn records_accepted_before_a_close_are_read() {
    for round in 0..if cfg!(miri) { 8 } else { 2_000 } {
        let (mut producer, mut consumer) = bytes::with(Settings::new(48)).unwrap();
        let closer = consumer.closer();
        let writer = spawn(move || {
            let mut sent = 0;
            while producer.write(&pattern(sent as usize % 25, sent)).is_ok() {
                sent += 1;
            }
            sent
        });
        let closing = spawn(move || {
            (0..round % 50 * 20).for_each(|_| std::hint::spin_loop());
            closer.close();
        });
        let mut read = 0;
        loop {
            match consumer.try_read() {
                Ok(record) => {
                    assert_eq!(*record, *pattern(read as usize % 25, read));
                    read += 1;
                }
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Closed) => break,
            }
        }
        join([closing]);
        assert_eq!(join([writer]), [read], "round {round}");
    }
}

/// Either side sleeps at once where it has to wait, and is woken.
#[test]
fn sleepers_of_either_side_are_woken() {
    let block = WaitStrategy::block_after(0, 0);
    without_standing_still(move || {
        let (mut producer, mut consumer) = bytes::with(Settings::new(64).wait_strategy(block)).unwrap();
        let records = if cfg!(miri) { 40 } else { 10_000 };
        let writer = spawn(move || {
            for number in 0..records {
                producer.write(&pattern(number as usize % 33, number)).unwrap();
            }
        });
        for number in 0..records {
            assert_eq!(*consumer.read().unwrap(), *pattern(number as usize % 33, number));
        }
        assert!(consumer.read().is_err());
        join([writer]);
    });
}
