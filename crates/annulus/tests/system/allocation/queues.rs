//! Queues, and the pool whose handles go through them.

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::Joinable;

use crate::counting::{allocations, bytes, steady};

/// At no time, for nobody.
const NOW: Duration = Duration::ZERO;

#[test]
fn queues_of_one_consumer_allocate_nothing() {
    let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(16);
    let (mut many, mut one) = annulus::mpsc::channel::<u64>(16);
    let mut another = many.clone();
    let mut buffer = [0; 8];
    steady(|round| {
        producer.try_send(round).unwrap();
        producer.send(round).unwrap();
        producer.send_timeout(round, NOW).unwrap();
        producer.try_send_batch(&[round; 9]).unwrap();
        producer.send_batch(&[round; 2]).unwrap();
        assert_eq!(producer.try_reserve(2).unwrap().fill(round), 2);
        assert!(producer.try_send(round).is_err() && producer.send_timeout(round, NOW).is_err());
        assert_eq!(consumer.peek(), Some(&round));
        assert!(!consumer.readable().is_empty());
        consumer.advance(1);
        assert_eq!(consumer.skip(1), 1);
        let received = (consumer.try_recv(), consumer.recv(), consumer.recv_timeout(NOW));
        assert_eq!(received, (Ok(round), Ok(round), Ok(round)));
        assert_eq!(consumer.try_recv_batch(&mut buffer), 8);
        assert_eq!(
            consumer.consume(1, drop) + consumer.consume(usize::MAX, drop) + consumer.try_iter().count(),
            3
        );
        assert!(consumer.recv_timeout(Duration::from_micros(1)).is_err());

        many.try_send(round).unwrap();
        another.send(round).unwrap();
        another.send_batch(&[round; 4]).unwrap();
        assert_eq!(one.recv(), Ok(round));
        assert_eq!(
            one.try_recv_batch(&mut buffer) + one.consume(usize::MAX, drop) + one.try_iter().count(),
            5
        );
    });
}

/// The join has allocated all that the consumer needs to know of the producer.
#[test]
fn receive_allocates_nothing_however_many_producers_there_are() {
    let (producer, mut consumer) = annulus::mpsc::channel::<u64>(4);
    let mut producers: Vec<_> = (0..200).map(|_| producer.clone()).collect();
    let count = allocations(|| {
        for producer in &mut producers {
            producer.send(1).unwrap();
        }
        (0..200).for_each(|_| assert_eq!(consumer.try_recv(), Ok(1)));
        assert!(consumer.try_recv().is_err());
    });
    assert_eq!(count, 0);
}

/// Producers that come, send and go, one after the other.
const COMERS: u64 = if cfg!(miri) {
    50
} else if cfg!(debug_assertions) {
    20_000
} else {
    1_000_000
};

/// As much memory as the producers have that are there, whatever the consumer does.
fn comers_leave_nothing<K: Joinable>() {
    for consumes in ["always", "asleep", "never", "gone"] {
        let (first, mut consumer) = queue::with::<u64, K>(Settings::new(16)).unwrap();
        let consumer = (consumes != "gone").then(|| {
            thread::spawn(move || {
                match consumes {
                    "always" => while consumer.try_recv() != Ok(u64::MAX) {},
                    "asleep" => while consumer.recv() != Ok(u64::MAX) {},
                    _ => {}
                }
                consumer
            })
        });
        // A ring for the next producer.
        drop(first.clone());
        let before = bytes();
        for number in 0..COMERS {
            let mut producer = first.clone();
            if consumes != "asleep" || number % 1_000 == 0 {
                _ = producer.try_send(number);
            }
        }
        assert_eq!(bytes(), before, "{consumes}");
        if let Some(consumer) = consumer {
            _ = consumes != "never" && first.clone().send(u64::MAX).is_ok();
            consumer.join().unwrap();
        }
    }
}

#[test]
fn producers_that_come_and_go_leave_no_memory() {
    comers_leave_nothing::<annulus::mpsc::Mpsc>();
    comers_leave_nothing::<annulus::mpmc::Mpmc>();
}

#[test]
fn queues_of_many_consumers_allocate_nothing() {
    let (mut producer, mut consumer) = annulus::spmc::channel::<u64>(16);
    let (mut many, mut any) = annulus::mpmc::channel::<u64>(16);
    let (mut another, mut other) = (many.clone(), any.clone());
    let mut buffer = [0; 8];
    steady(|round| {
        producer.send_batch(&[round; 16]).unwrap();
        assert!(producer.try_send(round).is_err());
        let mut thief = consumer.clone();
        assert_eq!((consumer.try_recv(), thief.recv()), (Ok(round), Ok(round)));
        assert_eq!(thief.try_recv_batch(&mut buffer) + consumer.try_iter().count(), 14);
        drop(thief);

        many.send_batch(&[round; 8]).unwrap();
        another.send(round).unwrap();
        assert_eq!((any.try_recv(), other.recv_timeout(NOW)), (Ok(round), Ok(round)));
        let taken = other.try_recv_batch(&mut buffer)
            + any.consume(usize::MAX, drop)
            + other.consume(usize::MAX, drop);
        assert_eq!(taken, 7);
    });
}

#[test]
fn shared_queue_allocates_nothing() {
    let (sender, receiver) = annulus::queue::ordered::channel::<u64>(16);
    let mut buffer = [0; 8];
    steady(|round| {
        let (another, other) = (sender.clone(), receiver.clone());
        sender.send_batch(&[round; 15]).unwrap();
        another.send(round).unwrap();
        assert!(sender.try_send(round).is_err() && another.send_timeout(round, NOW).is_err());
        assert_eq!((receiver.try_recv(), other.recv()), (Ok(round), Ok(round)));
        assert_eq!((other.recv_timeout(NOW), receiver.recv_batch(&mut buffer)), (Ok(round), Ok(8)));
        assert_eq!(other.consume(1, drop) + other.try_recv_batch(&mut buffer[..2]), 3);
        assert_eq!(receiver.try_iter().count(), 2);
    });
}

#[test]
fn records_allocate_nothing() {
    let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    steady(|round| {
        let length = (round % 33) as usize;
        producer.write(&[7; 32][..length]).unwrap();
        assert_eq!(consumer.read().unwrap().len(), length);
        let mut record = producer.reserve(32).unwrap();
        record.fill(8);
        record.commit_len(length).unwrap();
        assert!(producer.try_write(&[0; 32]).is_err() || length < 32);
        assert!(producer.write_timeout(&[0; 33], NOW).is_err());
        while consumer.try_read().is_ok() {}
        assert!(consumer.read_timeout(NOW).is_err());
    });
}

#[test]
fn buffers_allocate_nothing() {
    let pool = annulus::pool::BufferPool::new(256, 2);
    let (mut producer, mut consumer) = annulus::spsc::channel(2);
    steady(|_| {
        let (buffer, freed) = (pool.alloc().unwrap(), pool.clone().alloc().unwrap());
        assert!(pool.alloc().is_none());
        drop(freed);
        producer.send(buffer.into_handle()).unwrap();
        let handle = consumer.recv().unwrap();
        drop(pool.redeem(handle).unwrap());
        assert!(pool.redeem(handle).is_err() && pool.available() == 2);
    });
}
