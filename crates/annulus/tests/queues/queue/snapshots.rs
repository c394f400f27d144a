//! What a snapshot says of each producer, and how long messages lay in the ring.

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::{mpsc, spsc};

#[test]
fn snapshot_counts_for_each_producer() {
    let (mut first, mut consumer) = mpsc::with(Settings::new(8).first(u64::MAX - 1)).unwrap();
    let mut second = first.clone();
    first.send_batch(&[1, 2, 3]).unwrap();
    assert_eq!(consumer.consume(usize::MAX, drop), 3);
    second.send_batch(&[4, 5]).unwrap();
    drop(first);
    consumer.recv().unwrap();
    assert!(consumer.try_recv().is_ok());
    // The first one's ring goes to a third producer, which starts from nothing.
    assert!(consumer.try_recv().is_err());
    let mut third = second.clone();
    third.send(6).unwrap();
    let stats = consumer.stats();
    let counts: Vec<_> =
        stats.producers.iter().map(|stats| (stats.id, stats.sent, stats.received, stats.pending)).collect();
    assert_eq!(counts, [(1, 2, 2, 0), (2, 1, 0, 1)]);
    assert_eq!((stats.pending, stats.closed), (Some(1), false));
    assert!(second.is_empty() && !third.is_empty());
    third.send_batch(&[7, 8]).unwrap();
    assert_eq!(consumer.stats().pending, Some(3));
    assert!(stats.producers.iter().all(|stats| stats.latency.is_none()), "not asked for");
    assert_eq!(consumer.rings(), 2);
}

/// A producer that left is in the snapshot as long as its messages are; the next producer of its ring has
/// received none of them.
#[test]
fn snapshot_shows_messages_of_a_producer_that_left() {
    let (mut first, mut consumer) = mpsc::channel(8);
    let mut second = first.clone();
    let counts = |consumer: &mut mpsc::Consumer<u8>| -> Vec<_> {
        let producers = consumer.stats().producers;
        producers.iter().map(|stats| (stats.id, stats.sent, stats.received, stats.pending)).collect()
    };
    first.send_batch(&[1, 2, 3]).unwrap();
    second.send(4).unwrap();
    drop(second);
    assert_eq!(counts(&mut consumer), [(0, 3, 0, 3), (1, 1, 0, 1)]);
    assert_eq!(consumer.consume(usize::MAX, drop), 4);
    assert_eq!(counts(&mut consumer), [(0, 3, 3, 0)]);
    // The ring goes on with three messages of its last producer.
    first.send_batch(&[5, 6, 7]).unwrap();
    let mut third = first.clone();
    third.send_batch(&[8, 9, 10]).unwrap();
    drop(third);
    let mut fourth = first.clone();
    fourth.send(11).unwrap();
    assert_eq!(counts(&mut consumer)[1..], [(3, 1, 0, 4)]);
    assert_eq!(consumer.consume(usize::MAX, drop), 7);
    assert_eq!(counts(&mut consumer)[1..], [(3, 1, 1, 0)]);
}

#[test]
fn latency_is_measured_where_that_is_asked_for() {
    let wait = Duration::from_millis(5);
    let (mut producer, mut consumer) = spsc::with(Settings::new(1024).statistics(true)).unwrap();
    for number in 0..300 {
        producer.send(number).unwrap();
    }
    thread::sleep(wait);
    for number in 0..300 {
        assert_eq!(consumer.recv(), Ok(number));
    }
    // Batches are as large as ever.
    let numbers: Vec<_> = (0..1000).collect();
    for _ in 0..10 {
        producer.try_send_batch(&numbers).unwrap();
        assert_eq!(consumer.consume(usize::MAX, drop), 1000);
        assert!(producer.try_send(0).is_ok());
        assert_eq!(consumer.try_iter().count(), 1);
    }
    let latency = consumer.stats().producers[0].latency.unwrap();
    assert!(latency.samples >= 2, "{latency:?}");
    assert!(latency.min_ns <= latency.mean_ns && latency.mean_ns <= latency.max_ns, "{latency:?}");
    assert!(u128::from(latency.max_ns) >= wait.as_nanos(), "{latency:?}");
    assert!(latency.max_ns < 60_000_000_000, "{latency:?}");
}
