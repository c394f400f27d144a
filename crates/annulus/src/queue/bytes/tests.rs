//! Every head, every length, in rings of every number of words, also those that no builder makes.

use alloc::vec::Vec;

use super::layout::words_of;
use super::{Consumer, Producer, TryWriteError};
use crate::settings::Settings;
use crate::spsc;

/// A queue whose ring has exactly `slots` words, for all records for which that is enough.
fn of_words(slots: usize) -> (Producer, Consumer, usize) {
    // The numbers wrap, too.
    let (producer, consumer) = spsc::with(Settings::new(slots).first(u64::MAX - 5)).unwrap();
    // The longest record of `n` words with 2 n - 1 <= slots.
    let most = (slots.div_ceil(2) - 1) * size_of::<u64>();
    let capacity = 2 * most + 1;
    (Producer { words: producer, capacity }, Consumer { words: consumer, capacity }, most)
}

/// Bytes that tell their place and `seed`, and none of which is 0.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 7 + seed) % 255) as u8 + 1).collect()
}

/// Moves the head to slot `wanted` by empty records. `at` is the slot where it is.
fn go_to((producer, consumer): (&mut Producer, &mut Consumer), slots: usize, at: usize, wanted: usize) {
    for _ in 0..(wanted + slots - at) % slots {
        producer.try_write(&[]).unwrap();
        assert!(consumer.try_read().unwrap().is_empty());
    }
}

/// In an empty ring there is room for each record, wherever the head is; and it comes whole.
#[test]
fn empty_ring_takes_every_record_at_every_head() {
    let rings = if cfg!(miri) { [1, 2, 5, 8].to_vec() } else { (1..=64).collect() };
    for slots in rings {
        let (mut producer, mut consumer, most) = of_words(slots);
        let mut at = 0;
        for head in 0..slots {
            for len in 0..=most {
                go_to((&mut producer, &mut consumer), slots, at, head);
                assert!(consumer.is_empty());
                let record = pattern(len, head);
                assert_eq!(producer.try_write(&record), Ok(()), "{len} bytes at {head} of {slots}");
                assert_eq!(*consumer.try_read().unwrap(), *record);
                let left = slots - head;
                let words = words_of(len);
                at = if words > left { words } else { head + words } % slots;
            }
        }
    }
}

/// As many records as there is room for, of any two lengths, from every head: none is refused that would fit,
/// and none overwrites another.
#[test]
fn ring_is_filled_from_every_head() {
    let rings = if cfg!(miri) { [5, 8].to_vec() } else { (1..=24).collect() };
    for slots in rings {
        let (mut producer, mut consumer, most) = of_words(slots);
        let step = if cfg!(miri) { 7 } else { 3 };
        let mut at = 0;
        for head in 0..slots {
            for (first, second) in (0..=most)
                .step_by(step)
                .flat_map(|first| (0..=most).step_by(step).map(move |other| (first, other)))
            {
                go_to((&mut producer, &mut consumer), slots, at, head);
                // What the ring is to hold, and where the next record goes.
                let (mut held, mut used, mut tail) = (Vec::new(), 0, head);
                loop {
                    let record = pattern(if held.len() % 2 == 0 { first } else { second }, held.len());
                    let words = words_of(record.len());
                    let padding = if words > slots - tail { slots - tail } else { 0 };
                    let written = producer.try_write(&record);
                    if used + padding + words > slots {
                        assert_eq!(written, Err(TryWriteError::Full));
                        break;
                    }
                    assert_eq!(written, Ok(()), "{} bytes at {tail} of {slots}", record.len());
                    used += padding + words;
                    tail = (tail + padding + words) % slots;
                    held.push(record);
                }
                if first == second && 3 * words_of(first) - 1 <= slots {
                    assert!(held.len() >= 2, "a third of the ring is room for two");
                }
                for record in held {
                    assert_eq!(*consumer.try_read().unwrap(), *record);
                }
                assert!(consumer.try_read().is_err());
                at = tail;
            }
        }
    }
}

/// The bytes behind a record in its last word are 0, whatever was there before.
#[test]
fn bytes_behind_a_record_are_zero() {
    let (mut producer, mut consumer, most) = of_words(5);
    for len in (0..=most).cycle().take(100) {
        producer.try_write(&pattern(most, len)).unwrap();
        drop(consumer.try_read().unwrap());
        let mut reservation = producer.try_reserve(most).unwrap();
        reservation.fill(0xFF);
        reservation.commit_len(len).unwrap();
        // Padding first, if there is any.
        let words = words_of(len);
        assert_eq!(super::record::next_len::<crate::spsc::Spsc>(&mut consumer.words.end), Some(len));
        let bytes: &[u8] = bytemuck::cast_slice(&consumer.words.readable()[..words]);
        assert!(bytes[8 + len..].iter().all(|&byte| byte == 0), "{len}");
        drop(consumer.try_read().unwrap());
    }
}
