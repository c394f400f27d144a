//! Real threads, a publisher that laps its subscribers, and records that would show a mixture of two.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use annulus::LossyTryRecvError;
use annulus::broadcast::bytes::{self, Subscriber};

use super::records::{check, fill};

/// How long each ring is written, and longer where a reader has not met the writer yet.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 150 } else { 300 });

/// How long a reader that never meets the writer is given. Miri counts records, not time.
const PATIENCE: Duration = Duration::from_secs(if cfg!(miri) { 0 } else { 60 });

/// Miri has no hurry: it counts records instead of time.
const RECORDS: u64 = if cfg!(miri) { 25 } else { u64::MAX };

/// Lengths that follow each other, as a stream of numbers decides.
fn length(number: u64, longest: usize) -> usize {
    let mix = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as usize;
    if mix % 4 == 0 { mix / 4 % (longest + 1) } else { mix / 4 % (longest / 8 + 1) }
}

/// Receives until the close; checks each record against its number, and the account. Calls `met` for what it
/// received before the close. Returns what was received and what was lost.
fn read(mut subscriber: Subscriber, longest: usize, mut met: impl FnMut()) -> (u64, u64) {
    let (mut buffer, mut expected) = (Vec::new(), Vec::new());
    let (start, mut received, mut lagged) = (subscriber.cursor(), 0, 0);
    loop {
        let number = subscriber.cursor();
        match subscriber.try_recv_or_lag(&mut buffer) {
            Ok(bytes) => {
                received += 1;
                assert_eq!((bytes, buffer.len()), (length(number, longest), bytes), "record {number}");
                check(&buffer, number, &mut expected);
                if !subscriber.is_closed() {
                    met();
                }
            }
            Err(LossyTryRecvError::Lagged { skipped }) => lagged += skipped,
            Err(LossyTryRecvError::Empty) => thread::yield_now(),
            Err(LossyTryRecvError::Closed) => break,
        }
    }
    assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (received, lagged));
    assert_eq!(subscriber.cursor(), start + received + lagged);
    (received, lagged)
}

/// One writer, two readers, and one that joins while they run.
fn race(capacity: usize, longest: usize) {
    let (mut publisher, subscribable) = bytes::lossy(capacity);
    let ready = Arc::new(Barrier::new(4));
    // How many of the two readers have received beside the writer.
    let met = Arc::new(AtomicUsize::new(0));
    let readers = [subscribable.subscribe(), subscribable.subscribe()].map(|subscriber| {
        let (ready, met) = (Arc::clone(&ready), Arc::clone(&met));
        thread::spawn(move || {
            ready.wait();
            let mut first = true;
            read(subscriber, longest, || {
                if std::mem::take(&mut first) {
                    met.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
    });
    let late = thread::spawn({
        let ready = Arc::clone(&ready);
        move || {
            ready.wait();
            thread::sleep(TIME / 4);
            let subscriber = subscribable.subscribe_from_oldest();
            let start = subscriber.cursor();
            let (received, lagged) = read(subscriber, longest, || ());
            start + received + lagged
        }
    });
    ready.wait();
    let (begun, mut record) = (Instant::now(), Vec::new());
    let limit = |met| if met == 2 { TIME } else { TIME.max(PATIENCE) };
    while begun.elapsed() < limit(met.load(Ordering::Relaxed))
        && publisher.published() < RECORDS
        // Only one that found an error ends before the close.
        && !readers.iter().any(JoinHandle::is_finished)
    {
        for _ in 0..if cfg!(miri) { 1 } else { 16 } {
            let number = publisher.published();
            fill(&mut record, number, length(number, longest));
            publisher.publish(&record).unwrap();
        }
    }
    let published = publisher.published();
    drop(publisher);
    for reader in readers {
        let (received, lagged) = reader.join().unwrap();
        assert_eq!(received + lagged, published);
    }
    assert_eq!(late.join().unwrap(), published);
    assert!(
        cfg!(miri) || met.load(Ordering::Relaxed) == 2,
        "a reader that did not meet the writer proves nothing"
    );
}

#[test]
fn records_of_a_small_ring() {
    race(64, 32);
}

#[test]
fn records_of_a_few_words() {
    race(256, 128);
}

/// Most of these go by vectors.
#[test]
fn records_of_some_hundred_bytes() {
    race(if cfg!(miri) { 256 } else { 4096 }, if cfg!(miri) { 100 } else { 2048 });
}

/// Fewer bytes than places: the place of a record is overwritten before its bytes are.
#[test]
fn records_of_a_word_or_none() {
    race(128, 8);
}

/// A reader right behind the writer, which never laps it. Nothing depends on time.
#[test]
fn right_behind_the_writer() {
    let (mut publisher, subscribable) = bytes::lossy(if cfg!(miri) { 64 } else { 1024 });
    let longest = publisher.max_len();
    let records = if cfg!(miri) { 30 } else { 20_000 };
    let received = Arc::new(AtomicUsize::new(0));
    let reader = thread::spawn({
        let (subscriber, received) = (subscribable.subscribe(), Arc::clone(&received));
        move || {
            read(subscriber, longest, || {
                received.fetch_add(1, Ordering::Relaxed);
            })
        }
    });
    let mut record = Vec::new();
    for number in 0..records {
        fill(&mut record, number, length(number, longest));
        publisher.publish(&record).unwrap();
        // Only one that found an error ends before the close.
        while received.load(Ordering::Relaxed) < number as usize && !reader.is_finished() {
            thread::yield_now();
        }
    }
    drop(publisher);
    assert_eq!(reader.join().unwrap(), (records, 0));
}
