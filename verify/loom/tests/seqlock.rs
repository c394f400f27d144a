//! The slot: no torn message, no message of another sequence, exact lag, with a writer that laps its reader.
#![cfg(annulus_loom)]

use annulus_loom::{Checked, check, check_up_to, receive_batch, receive_checked};
use loom::thread;

/// The writer fills the ring and laps it; the reader, from the beginning, looks three times.
fn lapping_writer<T: Checked>(published: u64) {
    check(move || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<T>(2);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            for sequence in 0..published {
                publisher.publish(T::of(sequence));
            }
            publisher
        });
        let received = receive_checked(&mut subscriber, 3);
        assert!(received.is_sorted_by(|a, b| a < b));
        drop(writer.join().unwrap());
    });
}

#[test]
fn one_word_payload() {
    lapping_writer::<u64>(3);
}

#[test]
fn two_word_payload() {
    lapping_writer::<[u64; 2]>(3);
}

/// A batch takes the same steps.
#[test]
fn batch_laps_its_reader() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || publisher.publish_batch(&[0, 1, 2].map(Checked::of)));
        receive_checked(&mut subscriber, 3);
        writer.join().unwrap();
    });
}

/// A reader of batches reads runs here too (only under loom where it may be lapped): the writer overwrites
/// both messages of one while they are copied, and nothing of it is received.
#[test]
fn a_run_is_whole_or_nothing() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 2]>(2);
        let mut subscriber = subscribable.subscribe();
        publisher.publish_batch(&[0, 1].map(Checked::of));
        let writer = thread::spawn(move || publisher.publish_batch(&[2, 3].map(Checked::of)));
        let received = receive_batch::<_, _, 2>(&mut subscriber);
        assert!(received.is_sorted_by(|a, b| a < b) && received.last() < Some(&subscriber.cursor()));
        assert_eq!(subscriber.total_received(), received.len() as u64);
        writer.join().unwrap();
    });
}

/// `latest` never goes back, never delivers twice, and what it passes over counts.
#[test]
fn latest_moves_forward() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 2]>(2);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            for sequence in 0..3 {
                publisher.publish(Checked::of(sequence));
            }
            publisher
        });
        let mut before = 0;
        for _ in 0..2 {
            match subscriber.latest() {
                Some(message) => {
                    let newest = subscriber.cursor() - 1;
                    assert_eq!(message, <[u64; 2]>::of(newest));
                    assert!(newest >= before, "delivered twice");
                }
                None => assert_eq!(subscriber.cursor(), before),
            }
            before = subscriber.cursor();
        }
        assert_eq!(subscriber.total_received() + subscriber.total_lagged(), before);
        drop(writer.join().unwrap());
    });
}
