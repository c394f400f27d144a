//! What fits: each record of up to half the capacity, wherever the head is.

use annulus::CapacityError;
use annulus::Settings;
use annulus::TooLong;
use annulus::queue::bytes;
use annulus::queue::bytes::{TryWriteError, WriteError, channel};

use crate::bytes::pattern;

/// Every capacity, every head, every length: an empty ring takes it.
#[test]
fn record_of_half_the_capacity_fits_into_an_empty_ring() {
    let capacities: Vec<usize> =
        if cfg!(miri) { vec![2, 17, 48] } else { (2..100).chain((100..=512).step_by(13)).collect() };
    for capacity in capacities {
        let (mut producer, mut consumer) = bytes::with(Settings::new(capacity).first(u64::MAX - 20)).unwrap();
        assert_eq!((producer.capacity(), producer.max_len()), (capacity, capacity / 2));
        // So many words the ring has: what the longest record takes, with padding before it.
        let words_of = |len: usize| 1 + len.div_ceil(8);
        let slots = 2 * words_of(capacity / 2) - 1;
        let mut at = 0;
        for head in 0..slots {
            for len in 0..=capacity / 2 {
                // To this head, by empty records, each of which takes a word.
                for _ in 0..(head + slots - at) % slots {
                    producer.try_write(&[]).unwrap();
                    drop(consumer.try_read().unwrap());
                }
                let record = pattern(len, head as u64);
                assert_eq!(producer.try_write(&record), Ok(()), "{len} of {capacity}, from {head}");
                assert_eq!(*consumer.try_read().unwrap(), *record);
                let words = words_of(len);
                at = if words > slots - head { words } else { (head + words) % slots };
            }
        }
    }
}

/// A longer record is refused by every verb, in a full queue as in an empty one, and nothing changes.
#[test]
fn longer_one_is_refused_with_its_length_and_the_limit() {
    for capacity in [2, 3, 16, 100] {
        let (mut producer, mut consumer) = channel(capacity);
        let limit = capacity / 2;
        for length in [limit + 1, limit + 8, 10 * capacity, usize::MAX] {
            let error = TooLong::new(length, limit);
            assert_eq!(producer.try_reserve(length).unwrap_err(), TryWriteError::TooLong(error));
            assert_eq!(producer.reserve(length).unwrap_err(), WriteError::TooLong(error));
            if length <= 1000 {
                let record = pattern(length, 1);
                assert_eq!(producer.try_write(&record), Err(TryWriteError::TooLong(error)));
                assert_eq!(producer.write(&record), Err(WriteError::TooLong(error)));
            }
            assert!(error.to_string().contains(&length.to_string()), "{error}");
            assert!(error.to_string().contains(&limit.to_string()), "{error}");
        }
        while producer.try_write(&pattern(limit, 2)).is_ok() {}
        let error = TooLong::new(limit + 1, limit);
        assert_eq!(producer.write(&pattern(limit + 1, 3)), Err(WriteError::TooLong(error)));
        while let Ok(record) = consumer.try_read() {
            assert_eq!(*record, *pattern(limit, 2));
        }
        producer.close();
        assert_eq!(
            producer.write(&pattern(limit + 1, 3)),
            Err(WriteError::TooLong(error)),
            "also when closed"
        );
    }
}

#[test]
fn ring_needs_two_bytes_and_memory() {
    for capacity in [0, 1] {
        let error = bytes::with(Settings::new(capacity)).unwrap_err();
        assert_eq!(error, CapacityError::TooSmall { capacity, minimum: 2 });
    }
    for capacity in [usize::MAX, usize::MAX / 2] {
        let error = bytes::with(Settings::new(capacity)).unwrap_err();
        assert_eq!(error, CapacityError::TooLarge { capacity, slot_bytes: 1 });
    }
    assert!(std::panic::catch_unwind(|| channel(1)).is_err());
}
