//! Records: none is torn, none is another one, and each is received or counted, with a publisher that
//! overwrites what is being read.
#![cfg(annulus_loom)]

use annulus::broadcast::Lossless;
use annulus::broadcast::bytes::{self, Publisher, Subscriber};
use annulus::{LossyTryRecvError, TryRecvError};
use annulus_loom::{check, check_up_to};
use loom::thread;

/// The record of a number, of so many words: each tells both.
fn record(number: u64, words: u64) -> Vec<u8> {
    (0..words).flat_map(|word| (1 + 100 * number + 10 * words + word).to_le_bytes()).collect()
}

/// Publishes records of so many words each.
fn publish(publisher: &mut Publisher, words: &[u64]) {
    for &words in words {
        publisher.publish(&record(publisher.published(), words)).unwrap();
    }
}

/// Looks up to `times` times; each record is the one of its number, of so many words, and each is received or
/// counted. Returns how many were received.
fn receive(subscriber: &mut Subscriber, words: &[u64], times: usize) -> u64 {
    let (mut received, mut lagged, mut buffer) = (0, 0, Vec::new());
    for _ in 0..times {
        let number = subscriber.cursor();
        match subscriber.try_recv_or_lag(&mut buffer) {
            Ok(bytes) => {
                assert_eq!(bytes, buffer.len());
                assert_eq!(buffer, record(number, words[number as usize]), "torn, or another record");
                received += 1;
            }
            Err(LossyTryRecvError::Lagged { skipped }) => {
                assert!(skipped > 0, "a lag of nothing");
                lagged += skipped;
            }
            Err(LossyTryRecvError::Empty) => thread::yield_now(),
            Err(LossyTryRecvError::Closed) => break,
        }
    }
    assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (received, lagged));
    assert_eq!(subscriber.cursor(), received + lagged, "every record is received or counted");
    received
}

/// In a ring of four words, `before` are published, and the rest beside a reader that looks so often.
fn overwritten(before: usize, words: &'static [u64], times: usize) {
    let (mut publisher, subscribable) = bytes::lossy(32);
    let mut subscriber = subscribable.subscribe();
    publish(&mut publisher, &words[..before]);
    let writer = thread::spawn(move || {
        publish(&mut publisher, &words[before..]);
        publisher
    });
    receive(&mut subscriber, words, times);
    drop(writer.join().unwrap());
    // What stands is received, to the end.
    receive_the_rest(&mut subscriber, words);
}

/// All is quiet: what stands is received, the newest record among it, after one lag at most.
fn receive_the_rest(subscriber: &mut Subscriber, words: &[u64]) {
    let (mut lags, mut newest, mut buffer) = (0, subscriber.cursor(), Vec::new());
    loop {
        let number = subscriber.cursor();
        match subscriber.try_recv_or_lag(&mut buffer) {
            Ok(_) => {
                assert_eq!(buffer, record(number, words[number as usize]));
                newest = number + 1;
            }
            Err(LossyTryRecvError::Lagged { .. }) => lags += 1,
            Err(LossyTryRecvError::Closed) => break,
            Err(LossyTryRecvError::Empty) => panic!("it is closed"),
        }
    }
    assert_eq!((newest, subscriber.cursor()), (words.len() as u64, words.len() as u64));
    assert!(lags <= 1, "{lags} lags");
}

/// The place of the first record stands while its words are overwritten: only the word that says so tells.
#[test]
fn a_record_is_whole_or_lost() {
    check(|| overwritten(2, &[2, 2, 2], 2));
}

/// The same, where a record goes round the end of the area, and one is longer than what it overwrites.
#[test]
fn a_record_round_the_end_is_whole_or_lost() {
    check(|| overwritten(2, &[1, 2, 2], 2));
}

/// The words of a record go two records before its successor's: the places are no help.
#[test]
fn reader_that_looks_again_is_lapped_again() {
    check_up_to(2, || overwritten(1, &[2, 2, 2, 2], 3));
}

/// A reader from the beginning, beside a publisher that begins.
#[test]
fn records_come_in_order() {
    check(|| overwritten(0, &[1, 2], 3));
}

/// A subscriber that joins begins with a standing record, or with the next, and then loses nothing uncounted.
#[test]
fn joiner_at_the_oldest_finds_it_whole() {
    check_up_to(2, || {
        let words = &[2, 2, 2];
        let (mut publisher, subscribable) = bytes::lossy(32);
        publish(&mut publisher, &words[..2]);
        let writer = thread::spawn(move || {
            publish(&mut publisher, &words[2..]);
            publisher
        });
        let mut subscriber = subscribable.subscribe_from_oldest();
        let (start, mut buffer) = (subscriber.cursor(), Vec::new());
        assert!(start <= 2, "the newest stands");
        if subscriber.try_recv(&mut buffer).is_ok() {
            // (Behind what was overwritten meanwhile.)
            assert_eq!(buffer, record(subscriber.cursor() - 1, 2));
        }
        drop(writer.join().unwrap());
        receive_the_rest(&mut subscriber, words);
    });
}

/// Publishes records of so many words each in a lossless ring, as soon as there is room.
fn publish_all(publisher: &mut Publisher<Lossless>, words: &[u64]) {
    for &words in words {
        let record = record(publisher.published(), words);
        while publisher.try_publish(&record).is_err_and(|refused| refused.is_full()) {
            thread::yield_now();
        }
    }
}

/// Receives all of these records from the cursor on.
fn receive_all(subscriber: &mut Subscriber<Lossless>, words: &[u64]) {
    let mut buffer = Vec::new();
    while let Some(&words) = words.get(subscriber.cursor() as usize) {
        let number = subscriber.cursor();
        match subscriber.try_recv(&mut buffer) {
            Ok(_) => assert_eq!(buffer, record(number, words), "torn, or another record"),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => panic!("{number} is lost"),
        }
    }
}

/// Slots of a lossless ring are free, and the words of a record are not: it is read before they are written.
#[test]
fn words_of_a_lossless_ring_are_read_first() {
    const WORDS: &[u64] = &[8, 8, 2];
    check(|| {
        let (mut publisher, subscribable) = bytes::lossless(128);
        let mut subscriber = subscribable.subscribe();
        publish_all(&mut publisher, &WORDS[..2]);
        let writer = thread::spawn(move || publish_all(&mut publisher, &WORDS[2..]));
        receive_all(&mut subscriber, WORDS);
        writer.join().unwrap();
    });
}

/// The words of a record that nobody needs any more are written over beside a subscriber that joins at the
/// oldest record: it does not begin there, or the publisher waits for it.
#[test]
fn joiner_of_a_lossless_ring_loses_nothing() {
    const WORDS: &[u64] = &[8, 8, 2];
    check(|| {
        let (mut publisher, subscribable) = bytes::lossless(128);
        publish_all(&mut publisher, &WORDS[..2]);
        let writer = thread::spawn(move || publish_all(&mut publisher, &WORDS[2..]));
        let mut subscriber = subscribable.subscribe_from_oldest();
        receive_all(&mut subscriber, WORDS);
        writer.join().unwrap();
    });
}
