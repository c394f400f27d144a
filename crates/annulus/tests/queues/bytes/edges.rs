//! Ends of either side, closes, records that are kept or forgotten, and what handles say of themselves.

use annulus::Settings;
use annulus::memory::Memory;
use annulus::queue::bytes;
use annulus::queue::bytes::{TryWriteError, WriteError, channel};
use annulus::{RecvError, TryRecvError};

use crate::bytes::pattern;

#[test]
fn dropped_producer_leaves_its_records() {
    let (mut producer, mut consumer) = channel(256);
    for len in 0..5 {
        producer.write(&pattern(len, 0)).unwrap();
    }
    drop(producer);
    assert!(consumer.is_closed() && !consumer.is_fully_drained());
    for len in 0..5 {
        assert_eq!(*consumer.read().unwrap(), *pattern(len, 0));
    }
    assert!(consumer.is_fully_drained());
    assert_eq!(consumer.read().unwrap_err(), RecvError::CLOSED);
    assert_eq!(consumer.try_read().unwrap_err(), TryRecvError::Closed);
}

#[test]
fn dropped_consumer_ends_all_writes() {
    let (mut producer, mut consumer) = channel(64);
    producer.write(b"unread").unwrap();
    producer.write(b"read").unwrap();
    drop(consumer.read().unwrap());
    drop(consumer);
    assert!(producer.is_closed());
    assert_eq!(producer.write(b""), Err(WriteError::Closed));
    assert_eq!(producer.try_write(b""), Err(TryWriteError::Closed));
    assert_eq!(producer.reserve(1).unwrap_err(), WriteError::Closed);
    assert_eq!(producer.try_reserve(1).unwrap_err(), TryWriteError::Closed);
}

/// A close by any handle, or by a closer; before it everything is read.
#[test]
fn handles_and_closers_may_close() {
    for closes in 0..4 {
        let (mut producer, mut consumer) = channel(64);
        producer.write(b"before").unwrap();
        match closes {
            0 => producer.close(),
            1 => consumer.close(),
            2 => producer.closer().close(),
            _ => consumer.closer().close(),
        }
        assert!(producer.is_closed() && consumer.is_closed());
        assert_eq!(producer.write(b"after"), Err(WriteError::Closed));
        assert_eq!(*consumer.read().unwrap(), *b"before");
        assert_eq!(consumer.read().unwrap_err(), RecvError::CLOSED);
    }
}

/// What lies over the ring's end is read after a close, too, and a ring is dropped with it.
#[test]
fn padding_and_its_record_outlive_a_close() {
    for is_read in [false, true] {
        let (mut producer, mut consumer) = channel(48);
        // Of seven words: four, then at the fifth another four, which do not fit there.
        producer.write(&pattern(24, 1)).unwrap();
        drop(consumer.read().unwrap());
        producer.write(&pattern(24, 2)).unwrap();
        assert_eq!(producer.try_write(&[]), Err(TryWriteError::Full));
        producer.close();
        if is_read {
            assert_eq!(*consumer.read().unwrap(), *pattern(24, 2));
            assert!(consumer.is_fully_drained());
        } else {
            drop(consumer);
            assert!(producer.is_empty());
        }
    }
}

/// Its room is free when it is dropped, and not before. One that is forgotten comes again, or is received
/// later.
#[test]
fn record_stays_until_it_is_dropped() {
    let (mut producer, mut consumer) = channel(32);
    producer.write(&pattern(16, 1)).unwrap();
    let record = consumer.read().unwrap();
    assert_eq!(producer.try_write(&pattern(16, 2)), Err(TryWriteError::Full));
    assert_eq!(*record, *pattern(16, 1));
    std::mem::forget(record);
    assert_eq!(producer.try_write(&pattern(16, 2)), Err(TryWriteError::Full));
    let record = consumer.try_read().unwrap();
    assert_eq!(record.as_ref(), pattern(16, 1));
    assert_eq!(format!("{record:?}"), format!("Record({:?})", pattern(16, 1)));
    drop(record);
    assert_eq!(producer.try_write(&pattern(16, 2)), Ok(()));
    assert_eq!(*Box::<[u8]>::from(consumer.try_read().unwrap()), *pattern(16, 2));
    producer.write(&pattern(16, 3)).unwrap();
    let len = consumer.read().map(|record| std::mem::ManuallyDrop::new(record).len()).unwrap();
    assert_eq!(producer.try_write(&pattern(16, 4)), Err(TryWriteError::Full));
    consumer.receive_forgotten(len);
    assert!(consumer.is_empty());
}

#[test]
fn record_goes_to_another_thread_and_back() {
    let (mut producer, mut consumer) = channel(32);
    producer.write(b"abc").unwrap();
    let record = consumer.read().unwrap();
    let sum = std::thread::scope(|scope| {
        scope.spawn(move || record.iter().map(|&byte| u32::from(byte)).sum::<u32>()).join().unwrap()
    });
    assert_eq!(sum, 97 + 98 + 99);
    assert!(consumer.is_empty());
}

#[test]
fn memory_is_as_it_was_asked_for() {
    let (mut producer, mut consumer) =
        bytes::with(Settings::new(4096).memory(Memory::prefer().prefault())).unwrap();
    producer.write(&pattern(2048, 1)).unwrap();
    assert_eq!(*consumer.read().unwrap(), *pattern(2048, 1));
    assert_eq!(producer.placement().to_string(), consumer.placement().to_string());
    #[cfg(feature = "numa")]
    assert!(consumer.bring_memory_here().is_err(), "it was not asked for");
}

#[test]
fn numbers_are_words() {
    let settings = Settings::new(64).name("log").statistics(true);
    let (mut producer, mut consumer) = bytes::with(settings).unwrap();
    let observer = producer.observer();
    // A word for the length, and two that it begins.
    producer.write(&pattern(9, 1)).unwrap();
    let stats = consumer.stats();
    assert_eq!((stats.published, stats.received, stats.pending), (3, Some(0), Some(3)));
    assert_eq!((stats.name.as_deref(), stats.depth()), (Some("log"), 3));
    assert_eq!(stats.counted.expect("it was asked for").high_water, 3);
    assert_eq!((stats.producers[0].sent, stats.writers.now, stats.readers.now), (3, 1, 1));
    drop(consumer.read().unwrap());
    producer.write(b"").unwrap();
    let later = producer.stats();
    assert_eq!((later.published, later.received, later.pending), (4, Some(3), Some(1)));
    assert_eq!(later.since(&stats).published, 1);
    assert_eq!(observer.stats().unwrap().pending, Some(1));
    drop((producer, consumer));
    assert!(observer.is_gone());
    let (plain, _consumer) = channel(64);
    assert_eq!((plain.stats().name, plain.stats().counted), (None, None));
}

#[test]
fn handles_and_errors_show_themselves() {
    let (mut producer, mut consumer) = channel(100);
    producer.write(b"x").unwrap();
    assert_eq!(format!("{producer:?}"), "Producer { capacity: 100, closed: false, .. }");
    assert_eq!(format!("{consumer:?}"), "Consumer { capacity: 100, closed: false, .. }");
    assert_eq!(format!("{:?}", producer.try_reserve(7).unwrap()), "Reservation { len: 7, .. }");
    assert_eq!((consumer.capacity(), consumer.read().unwrap().len()), (100, 1));
    assert!(TryWriteError::Full.is_full() && !TryWriteError::Closed.is_full());
    assert!(TryWriteError::Full.to_string().starts_with("the ring is full"));
    assert!(WriteError::Closed.to_string().ends_with("closed the ring"));
    assert_eq!(TryWriteError::from(WriteError::Closed), TryWriteError::Closed);
}
