//! Lossless rings of records: each subscriber receives each record from where it began, and the publisher
//! waits exactly while there is no room.

use std::thread;
use std::time::Duration;

use annulus::broadcast::Lossless;
use annulus::broadcast::bytes::{self, Publisher, Subscribable, Subscriber};
use annulus::broadcast::bytes::{TryWriteError, WriteError, WriteTimeoutError};
use annulus::{CapacityError, Settings, TooLong, TryRecvError};
use proptest::prelude::*;

use super::records::record;

const CASES: u32 = if cfg!(miri) { 2 } else { 400 };
const STEPS: usize = if cfg!(miri) { 25 } else { 300 };
const RECORDS: u64 = if cfg!(miri) { 30 } else { 5_000 };

#[derive(Clone, Copy, Debug)]
enum Step {
    Publish(usize),
    Receive(usize),
    Subscribe,
    SubscribeFromOldest,
    Clone(usize),
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..20_usize).prop_map(Step::Publish),
        3 => any::<usize>().prop_map(Step::Publish),
        6 => any::<usize>().prop_map(Step::Receive),
        1 => Just(Step::Subscribe),
        1 => Just(Step::SubscribeFromOldest),
        1 => any::<usize>().prop_map(Step::Clone),
        1 => any::<usize>().prop_map(Step::Leave),
    ]
}

/// What was published.
struct Model {
    /// Where each record begins, in words, and its length in bytes.
    records: Vec<(u64, usize)>,
    next: u64,
}

impl Model {
    /// Whether there is room for a record of so many bytes behind the slowest of these.
    fn has_room(
        &self,
        publisher: &Publisher<Lossless>,
        readers: &[Subscriber<Lossless>],
        length: usize,
    ) -> bool {
        let published = self.records.len() as u64;
        let slowest = readers.iter().map(Subscriber::cursor).min().unwrap_or(published);
        let begin = self.records.get(slowest as usize).map_or(self.next, |&(begin, _)| begin);
        let words = self.next + length.div_ceil(8) as u64 - begin;
        published - slowest < publisher.max_records() as u64 && words <= publisher.capacity() as u64 / 8
    }

    /// Receives, if there is something.
    fn receive(&self, reader: &mut Subscriber<Lossless>) {
        let (cursor, mut buffer) = (reader.cursor(), Vec::new());
        assert_eq!(reader.len() as u64, self.records.len() as u64 - cursor);
        match self.records.get(cursor as usize) {
            Some(&(_, length)) => {
                assert_eq!(reader.try_recv(&mut buffer), Ok(length));
                assert!(buffer == record(cursor, length), "record {cursor} of {length} bytes");
                assert_eq!(reader.cursor(), cursor + 1);
            }
            None => assert_eq!(reader.try_recv(&mut buffer), Err(TryRecvError::Empty)),
        }
        assert_eq!(reader.total_lagged(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// A record is refused exactly where it has no room, and everything else is received.
    #[test]
    fn agrees_with_the_model(power in 6..12_u32, steps in prop::collection::vec(step(), 1..STEPS)) {
        let (mut publisher, subscribable) = bytes::lossless(1 << power);
        let mut model = Model { records: Vec::new(), next: 0 };
        let mut readers = vec![subscribable.subscribe()];
        for step in steps {
            let published = model.records.len() as u64;
            match step {
                Step::Publish(length) => {
                    let length = length % (publisher.max_len() + 1);
                    let told = publisher.try_publish(&record(published, length));
                    if model.has_room(&publisher, &readers, length) {
                        prop_assert_eq!(told, Ok(()));
                        model.records.push((model.next, length));
                        model.next += length.div_ceil(8) as u64;
                    } else {
                        prop_assert_eq!(told, Err(TryWriteError::Full));
                    }
                }
                Step::Receive(reader) if !readers.is_empty() => {
                    let reader = reader % readers.len();
                    model.receive(&mut readers[reader]);
                }
                Step::Subscribe => {
                    readers.push(subscribable.subscribe());
                    prop_assert_eq!(readers.last().unwrap().cursor(), published);
                }
                Step::SubscribeFromOldest => {
                    readers.push(subscribable.subscribe_from_oldest());
                    let begin = readers.last().unwrap().cursor();
                    prop_assert!(begin <= published && published - begin <= publisher.max_records() as u64);
                }
                Step::Clone(reader) if !readers.is_empty() => {
                    readers.push(readers[reader % readers.len()].clone());
                }
                Step::Leave(reader) if !readers.is_empty() => {
                    readers.swap_remove(reader % readers.len());
                }
                _ => {}
            }
            readers.truncate(6);
        }
        drop(publisher);
        for mut reader in readers {
            while reader.cursor() < model.records.len() as u64 {
                model.receive(&mut reader);
            }
            prop_assert_eq!(reader.try_recv(&mut Vec::new()), Err(TryRecvError::Closed));
        }
    }
}

/// Lengths of all kinds, up to the longest.
fn length(number: u64, most: usize) -> usize {
    (number as usize * 97 + number as usize / 7) % (most + 1)
}

fn publish_all(publisher: &mut Publisher<Lossless>) {
    for number in 0..RECORDS {
        publisher.publish(&record(number, length(number, publisher.max_len()))).unwrap();
    }
}

/// Receives to the end; returns from which record on, and how many.
fn read(mut subscriber: Subscriber<Lossless>) -> (u64, u64) {
    let (first, most, mut buffer) = (subscriber.cursor(), subscriber.max_len(), Vec::new());
    while subscriber.recv(&mut buffer).is_ok() {
        let number = subscriber.cursor() - 1;
        assert!(buffer == record(number, length(number, most)), "record {number}");
    }
    (first, subscriber.total_received())
}

/// Subscribers that are there from the beginning, that join, and a tap for which nobody waits.
fn race(capacity: usize) {
    let (mut publisher, subscribable) = bytes::lossless(capacity);
    let early = [subscribable.subscribe(), subscribable.subscribe()];
    let mut tap = subscribable.subscribe_lossy();
    thread::scope(|scope| {
        let early = early.map(|subscriber| scope.spawn(|| read(subscriber)));
        let late = [false, true].map(|from_oldest| {
            let subscribable: &Subscribable<Lossless> = &subscribable;
            scope.spawn(move || {
                while subscribable.stats().published < RECORDS / 4 {
                    thread::yield_now();
                }
                read(if from_oldest {
                    subscribable.subscribe_from_oldest()
                } else {
                    subscribable.subscribe()
                })
            })
        });
        let tap = scope.spawn(move || {
            let (most, mut buffer) = (tap.max_len(), Vec::new());
            while tap.recv(&mut buffer).is_ok() {
                let number = tap.cursor() - 1;
                assert!(buffer == record(number, length(number, most)), "record {number}");
            }
            tap.total_received() + tap.total_lagged()
        });
        publish_all(&mut publisher);
        drop(publisher);
        for reader in early {
            assert_eq!(reader.join().unwrap(), (0, RECORDS));
        }
        for reader in late {
            let (first, received) = reader.join().unwrap();
            assert_eq!(first + received, RECORDS);
        }
        assert_eq!(tap.join().unwrap(), RECORDS);
    });
}

#[test]
fn subscribers_receive_everything_from_a_small_ring() {
    race(64);
}

#[test]
fn subscribers_receive_everything_from_a_large_ring() {
    race(8192);
}

/// Records without bytes take slots.
#[test]
fn empty_records_are_limited_by_slots() {
    let (mut publisher, subscribable) = bytes::lossless(128);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    let mut published = 0;
    while publisher.try_publish(b"").is_ok() {
        published += 1;
    }
    assert_eq!((published, publisher.max_records()), (4, 4));
    assert_eq!(subscriber.try_recv(&mut buffer), Ok(0));
    assert_eq!(publisher.try_publish(b""), Ok(()));
}

#[test]
fn record_that_is_too_long_is_refused_by_each_verb() {
    let (mut publisher, _subscribable) = bytes::lossless(64);
    let (record, error) = ([7; 33], TooLong::clone(&bytes::lossy(64).0.publish(&[7; 33]).unwrap_err()));
    assert_eq!(publisher.publish(&record), Err(WriteError::TooLong(error)));
    assert_eq!(publisher.try_publish(&record), Err(TryWriteError::TooLong(error)));
    assert_eq!(publisher.publish_until(&record, Duration::ZERO), Err(WriteTimeoutError::TooLong(error)));
    assert_eq!(publisher.published(), 0);
}

/// A ring in which a publisher has to wait for words, or for a slot.
fn full(by_slots: bool) -> (Publisher<Lossless>, Subscribable<Lossless>, Subscriber<Lossless>) {
    let (mut publisher, subscribable) = bytes::lossless(256);
    let subscriber = subscribable.subscribe();
    let record: &[u8] = if by_slots { b"" } else { &[1; 128] };
    while publisher.try_publish(record).is_ok() {}
    (publisher, subscribable, subscriber)
}

/// A publisher that waits is woken by a receive, by the slowest subscriber that leaves, and by a close.
#[test]
fn publisher_that_waits_is_woken() {
    for by_slots in [false, true] {
        for event in 0..3 {
            let (mut publisher, subscribable, mut subscriber) = full(by_slots);
            let closer = publisher.closer();
            let timeout = Duration::from_millis(1);
            assert_eq!(publisher.publish_timeout(&[2; 100], timeout), Err(WriteTimeoutError::Timeout));
            let writer = thread::spawn(move || publisher.publish(&[2; 100]));
            thread::sleep(Duration::from_millis(20));
            match event {
                0 => assert!(subscriber.try_recv(&mut Vec::new()).is_ok()),
                1 => drop(subscriber.clone()),
                _ => closer.close(),
            }
            if event == 1 {
                drop(subscriber);
            }
            let wanted = if event < 2 { Ok(()) } else { Err(WriteError::Closed) };
            assert_eq!(writer.join().unwrap(), wanted, "{by_slots} {event}");
            drop(subscribable);
        }
    }
}

/// What is published after the close is refused, and overwrites nothing.
#[test]
fn publish_after_close_is_refused() {
    let (mut publisher, subscribable) = bytes::lossless(64);
    let (mut tap, mut buffer) = (subscribable.subscribe_lossy(), Vec::new());
    publisher.publish(&[1; 32]).unwrap();
    publisher.publish(&[2; 32]).unwrap();
    publisher.close();
    assert_eq!(publisher.publish(&[3; 32]), Err(WriteError::Closed));
    assert_eq!(publisher.try_publish(b""), Err(TryWriteError::Closed));
    for number in 1..=2 {
        assert_eq!(tap.try_recv(&mut buffer), Ok(32));
        assert_eq!(buffer, [number; 32]);
    }
    assert_eq!(tap.try_recv(&mut buffer), Err(TryRecvError::Closed));
}

/// When nobody can receive any more, a publisher does not wait.
#[test]
fn ring_without_receivers_is_closed() {
    let (mut publisher, subscribable, subscriber) = full(false);
    assert!(!publisher.is_closed());
    drop((subscriber, subscribable));
    assert!(publisher.is_closed());
    assert_eq!(publisher.publish(b"one"), Err(WriteError::Closed));
    let subscriber = publisher.subscribe();
    assert_eq!(publisher.publish(b"one"), Ok(()));
    drop(subscriber);
}

#[cfg(feature = "async")]
#[test]
fn tasks_wait_for_room() {
    for by_slots in [false, true] {
        let (mut publisher, _subscribable, mut subscriber) = full(by_slots);
        let reader = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            let (mut buffer, mut received) = (Vec::new(), 0);
            while subscriber.recv(&mut buffer).is_ok() {
                received += buffer.len();
            }
            received
        });
        pollster::block_on(async {
            for _ in 0..10 {
                publisher.publish_async(&[3; 100]).await.unwrap();
            }
        });
        drop(publisher);
        assert_eq!(reader.join().unwrap(), 1000 + if by_slots { 0 } else { 256 });
    }
}

#[test]
fn headroom_is_for_other_rings() {
    let refused = bytes::lossless_with(Settings::new(1024).headroom(1)).map(drop).unwrap_err();
    assert!(matches!(refused, CapacityError::NoHeadroom { headroom: 1 }), "{refused}");
    let refused = bytes::lossless_with(Settings::new(usize::MAX)).map(drop).unwrap_err();
    assert!(matches!(refused, CapacityError::TooLarge { .. }), "{refused}");
}
