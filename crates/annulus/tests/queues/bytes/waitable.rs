//! Wherever a receiving handle may stand: selects, notifiers, workers.

use annulus::Settings;
use annulus::queue::bytes;
use annulus::queue::bytes::{WriteError, channel};
use annulus::{Select, TooLong, WaitStrategy, Worker, select, spsc};

use crate::bytes::pattern;
use crate::support::{STUCK, join, spawn};

const RECORDS: u64 = if cfg!(miri) { 20 } else { 2_000 };

#[test]
fn select_takes_a_copy() {
    let (mut producer, mut consumer) = channel(64);
    let (mut other, mut numbers) = spsc::channel(8);
    let writer = spawn(move || {
        for number in 0..RECORDS {
            producer.write(&pattern(number as usize % 33, number)).unwrap();
            other.send(number).unwrap();
        }
    });
    let (mut records, mut sent, mut is_open) = (0, 0, true);
    while is_open || sent < RECORDS {
        select! {
            recv(consumer) -> record => match record {
                Ok(record) => {
                    assert_eq!(*record, *pattern(records as usize % 33, records));
                    records += 1;
                }
                Err(_) => is_open = false,
            },
            recv(numbers) -> number => if let Ok(number) = number {
                assert_eq!(number, sent);
                sent += 1;
            },
        }
    }
    assert_eq!((records, sent), (RECORDS, RECORDS));
    join([writer]);
}

#[test]
fn select_says_that_it_is_ready() {
    let (mut producer, mut consumer) = channel(64);
    let ready = |consumer: &mut _| {
        let mut select = Select::new();
        select.recv(consumer);
        select.try_ready().is_some()
    };
    for number in 0..RECORDS {
        assert!(!ready(&mut consumer));
        producer.write(&pattern(number as usize % 33, number)).unwrap();
        assert!(ready(&mut consumer) && ready(&mut consumer), "it takes nothing");
        assert_eq!(*consumer.try_read().unwrap(), *pattern(number as usize % 33, number));
    }
    drop(producer);
    assert!(ready(&mut consumer), "the end counts");

    let (mut producer, mut consumer) =
        bytes::with(Settings::new(64).wait_strategy(WaitStrategy::Monitor)).unwrap();
    let reader = spawn(move || {
        let mut select = Select::new();
        select.recv(&mut consumer);
        let ready = select.ready_timeout(STUCK);
        drop(select);
        (ready, consumer.try_read().map(|record| record.len()))
    });
    producer.write(b"wakes").unwrap();
    assert_eq!(join([reader]), [(Some(0), Ok(5))]);
}

/// An arm reserves room for a record of the length that it is told, and nothing is sent before the commit.
#[test]
fn select_reserves_room() {
    let (mut producer, mut consumer) = channel(64);
    let (mut other, mut numbers) = spsc::channel(8);
    producer.write(&[1; 32]).unwrap();
    producer.write(&[]).unwrap();
    let full = |producer: &mut _, len| {
        let mut select = Select::new();
        select.reserve(producer, len);
        select.try_ready().is_none()
    };
    assert!(full(&mut producer, 32) && !full(&mut producer, 1) && !full(&mut producer, 33));
    select! {
        reserve(producer, 32) -> room => panic!("there is none: {room:?}"),
        recv(numbers) -> number => panic!("nobody sent {number:?}"),
        default => {}
    }
    other.send(7).unwrap();
    let sent = select! {
        reserve(producer, 32) -> room => panic!("there is none: {room:?}"),
        recv(numbers) -> number => number,
    };
    assert_eq!(sent, Ok(7));
    // Another one reads, as soon as this one sleeps.
    let reader = spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(*consumer.read().unwrap(), [1; 32]);
        consumer
    });
    select! {
        reserve(producer, 32) -> room => {
            let mut room = room.unwrap();
            room.copy_from_slice(&[2; 32]);
            room.commit_len(5).unwrap();
        }
        recv(numbers) -> number => panic!("nobody sent {number:?}"),
    }
    let mut consumer = join([reader]).remove(0);
    assert_eq!(*consumer.read().unwrap(), []);
    assert_eq!(*consumer.read().unwrap(), [2; 5]);
    select! {
        reserve(producer, 3) -> room => drop(room.unwrap()),
        default => panic!("there is room"),
    }
    assert!(consumer.is_empty(), "it was not committed");
    let error = select! { reserve(producer, 33) -> room => room.unwrap_err() };
    assert_eq!(error, WriteError::TooLong(TooLong::new(33, 32)));
    producer.write(&[3; 32]).unwrap();
    let closer = spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(2));
        consumer.close();
        consumer
    });
    let error = select! { reserve(producer, 32) -> room => room.unwrap_err() };
    assert_eq!(error, WriteError::Closed);
    assert!(!full(&mut producer, 32), "the end counts");
    join([closer]);
}

/// A stop comes after the records that were written before it, and an end after all.
#[test]
fn worker_gets_copies() {
    for stops in [false, true] {
        let (mut producer, consumer) = channel(64);
        let add = |seen: &mut Vec<Box<[u8]>>, record, _| seen.push(record);
        let worker = Worker::builder(consumer, Vec::new()).spawn(add).unwrap();
        for number in 0..RECORDS {
            producer.write(&pattern(number as usize % 33, number)).unwrap();
        }
        if stops {
            worker.stop();
        } else {
            producer.close();
        }
        let finished = worker.join().unwrap();
        assert_eq!(finished.messages, RECORDS);
        for (number, record) in (0..).zip(&finished.context) {
            assert_eq!(**record, *pattern(number as usize % 33, number));
        }
    }
}

#[cfg(all(target_os = "linux", not(miri), not(annulus_loom)))]
#[test]
fn notifier_makes_its_descriptor_readable() {
    use annulus::{Notifier, Readiness, TryRecvError};
    use rustix::event::{PollFd, PollFlags, poll};

    let (mut producer, consumer) = channel(64);
    let mut notifier = Notifier::new(consumer).unwrap();
    let writer = spawn(move || {
        for number in 0..RECORDS {
            producer.write(&pattern(number as usize % 33, number)).unwrap();
        }
    });
    let mut records = 0;
    'read: loop {
        loop {
            match notifier.get_mut().try_read() {
                Ok(record) => assert_eq!(*record, *pattern(records as usize % 33, records)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Closed) => break 'read,
            }
            records += 1;
        }
        if notifier.arm() == Readiness::Armed {
            poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
        }
    }
    assert_eq!(records, RECORDS);
    join([writer]);
}
