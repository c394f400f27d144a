//! A queue from one thread to another: every message once, in order and whole, in slots that nobody else is
//! using.
//!
//! Messages move, so loom watches each slot: two threads in one of them fail the model.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::{TryRecvError, spsc};
use annulus_loom::{Checked, check, receive_all, send_tries};
use loom::thread;

/// Calls `try_recv` up to `times` times; returns the numbers that came.
fn receive_tries(consumer: &mut spsc::Consumer<[u64; 2]>, times: usize) -> Vec<u64> {
    let mut received = Vec::new();
    for _ in 0..times {
        assert!(consumer.len() <= consumer.capacity(), "more messages than slots");
        match consumer.try_recv() {
            Ok(message) => received.push(message.number()),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    received
}

/// Over the ring's end, each side with its own copy of the other's number.
#[test]
fn messages_pass_one_by_one() {
    for (capacity, tries) in [(1, 4), (2, 5), (3, 4)] {
        check(move || {
            // The numbers wrap too.
            let settings = Settings::new(capacity).first(u64::MAX);
            let (mut producer, mut consumer) = spsc::with::<[u64; 2]>(settings).unwrap();
            let writer = thread::spawn(move || (send_tries(&mut producer, 0, tries), producer));
            let mut received = receive_tries(&mut consumer, tries);
            let (sent, producer) = writer.join().unwrap();
            drop(producer);
            received.extend(receive_all(&mut consumer).iter().map(Checked::number));
            assert_eq!(received, (0..sent).collect::<Vec<_>>());
        });
    }
}

/// Several at once, written and read in place.
#[test]
fn messages_pass_in_slices_and_in_place() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<[u64; 2]>(2);
        let writer = thread::spawn(move || {
            let batch = [0, 1, 2].map(Checked::of);
            let left = producer.try_send_batch(&batch).map_or_else(|error| error.into_inner().len(), |()| 0);
            let mut next = 3 - left as u64;
            for _ in 0..3 {
                match producer.try_reserve(2) {
                    Ok(reservation) => next += reservation.write_iter((next..4).map(Checked::of)) as u64,
                    Err(_) => thread::yield_now(),
                }
            }
            (next, producer)
        });
        let mut received = Vec::new();
        for _ in 0..2 {
            let readable = consumer.readable();
            let count = readable.len();
            received.extend(readable.iter().map(Checked::number));
            thread::yield_now();
            consumer.advance(count);
        }
        consumer.consume(usize::MAX, |message| received.push(message.number()));
        let (sent, producer) = writer.join().unwrap();
        drop(producer);
        received.extend(receive_all(&mut consumer).iter().map(Checked::number));
        assert_eq!(received, (0..sent).collect::<Vec<_>>());
    });
}

/// A slice that goes round the ring's end is there as a whole or not at all.
#[test]
fn a_slice_is_seen_at_once() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<[u64; 2]>(2);
        assert!(producer.try_send(Checked::of(0)).is_ok());
        assert_eq!(consumer.try_recv().unwrap().number(), 0);
        let writer = thread::spawn(move || {
            assert!(producer.try_send_batch(&[1, 2].map(Checked::of)).is_ok());
            producer
        });
        let mut received = [0, 0].map(Checked::of);
        let count = consumer.try_recv_batch(&mut received);
        assert!(count == 0 || count == 2, "{count} of two");
        drop(writer.join().unwrap());
        assert_eq!(count + consumer.try_recv_batch(&mut received), 2);
        assert_eq!(received.map(|message| message.number()), [1, 2]);
    });
}

/// A consumer that sees the producer gone finds everything that it sent, and then the end.
#[test]
fn consumer_finds_everything_before_the_end() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<[u64; 2]>(2);
        let writer = thread::spawn(move || {
            for number in [0, 1] {
                assert!(producer.try_send(Checked::of(number)).is_ok());
            }
        });
        assert_eq!(receive_all(&mut consumer), [0, 1].map(<[u64; 2]>::of));
        writer.join().unwrap();
        assert!(consumer.is_fully_drained());
    });
}
