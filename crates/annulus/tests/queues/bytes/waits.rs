//! Timeouts of both sides, and what wakes each side.

use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue::bytes;
use annulus::queue::bytes::{WriteError, WriteTimeoutError, channel};
use annulus::{RecvError, RecvTimeoutError, TooLong, WaitStrategy};

use crate::bytes::pattern;
use crate::support::{STUCK, join, spawn};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn reader_gives_up_in_time() {
    let (mut producer, mut consumer) = channel(64);
    let begun = Instant::now();
    assert_eq!(consumer.read_timeout(SHORT).unwrap_err(), RecvTimeoutError::Timeout);
    assert_eq!(consumer.read_until(begun + 2 * SHORT).unwrap_err(), RecvTimeoutError::Timeout);
    assert!(begun.elapsed() >= 2 * SHORT);
    producer.write(b"a").unwrap();
    producer.write(b"b").unwrap();
    assert_eq!(*consumer.read_timeout(Duration::ZERO).unwrap(), *b"a");
    assert_eq!(*consumer.read_until(begun).unwrap(), *b"b");
    drop(producer);
    assert_eq!(consumer.read_timeout(STUCK).unwrap_err(), RecvTimeoutError::Closed);
    assert_eq!(consumer.read_until(begun).unwrap_err(), RecvTimeoutError::Closed);
}

#[test]
fn writer_gives_up_in_time() {
    let (mut producer, mut consumer) = channel(64);
    let begun = Instant::now();
    producer.write_timeout(&pattern(32, 1), Duration::ZERO).unwrap();
    assert_eq!(producer.write_timeout(&pattern(32, 2), SHORT), Err(WriteTimeoutError::Timeout));
    assert_eq!(producer.reserve_timeout(32, SHORT).unwrap_err(), WriteTimeoutError::Timeout);
    assert_eq!(producer.write_until(&pattern(32, 2), begun), Err(WriteTimeoutError::Timeout));
    assert!(begun.elapsed() >= 2 * SHORT);
    let too_long = TooLong::new(33, 32);
    assert_eq!(producer.write_timeout(&[0; 33], STUCK), Err(WriteTimeoutError::TooLong(too_long)));
    // Less room is enough for a shorter one.
    producer.write_until(&[3], begun).unwrap();
    assert_eq!(*consumer.read().unwrap(), *pattern(32, 1));
    assert_eq!(*consumer.read().unwrap(), [3]);
    producer.reserve_timeout(32, SHORT).unwrap().commit_len(0).unwrap();
    consumer.close();
    assert_eq!(producer.write_timeout(&[], STUCK), Err(WriteTimeoutError::Closed));
    assert_eq!(WriteTimeoutError::from(WriteError::Closed), WriteTimeoutError::Closed);
    assert_eq!(WriteTimeoutError::from(WriteError::TooLong(too_long)), WriteTimeoutError::TooLong(too_long));
    for error in [WriteTimeoutError::Closed, WriteTimeoutError::Timeout, too_long.into()] {
        assert!(!error.to_string().is_empty());
    }
}

/// A writer that needs much room sleeps on while there is little.
#[test]
fn a_writer_waits_for_all_the_room_that_it_needs() {
    let block = WaitStrategy::block_after(0, 0);
    for strategy in [block, WaitStrategy::default(), WaitStrategy::PauseSpin, WaitStrategy::Monitor] {
        let (mut producer, mut consumer) = bytes::with(Settings::new(64).wait_strategy(strategy)).unwrap();
        let mut small = 0;
        while producer.try_write(&[7]).is_ok() {
            small += 1;
        }
        let writer = spawn(move || producer.write(&pattern(32, 1)));
        for _ in 0..small {
            thread::sleep(SHORT / 8);
            assert_eq!(*consumer.read().unwrap(), [7]);
        }
        assert_eq!(*consumer.read().unwrap(), *pattern(32, 1));
        assert_eq!(join([writer]), [Ok(())]);
    }
}

#[test]
fn close_wakes_either_side() {
    for closes in 0..3 {
        let (producer, mut consumer) = channel(64);
        let reader = spawn(move || consumer.read().map(|record| record.len()));
        thread::sleep(SHORT);
        match closes {
            0 => drop(producer),
            1 => producer.close(),
            _ => producer.closer().close(),
        }
        assert_eq!(join([reader]), [Err(RecvError::CLOSED)]);

        let (mut producer, consumer) = channel(64);
        producer.write(&[0; 32]).unwrap();
        let writer = spawn(move || producer.write(&[0; 32]));
        thread::sleep(SHORT);
        match closes {
            0 => drop(consumer),
            1 => consumer.close(),
            _ => consumer.closer().close(),
        }
        assert_eq!(join([writer]), [Err(WriteError::Closed)]);
    }
}

#[cfg(feature = "async")]
mod tasks {
    use super::*;
    use crate::support::tasks::Counting;
    use std::pin::pin;
    use std::task::Poll;

    /// A task is woken by a record, by enough room, and by a close; and leaves no waker behind.
    #[test]
    fn task_waits_for_a_record() {
        let (mut producer, mut consumer) = channel(64);
        let count = Counting::new();
        {
            let mut read = pin!(consumer.read_async());
            assert!(matches!(count.poll(&mut read), Poll::Pending));
            producer.write(b"abc").unwrap();
            assert_eq!(count.wakes(), 1);
            let Poll::Ready(Ok(record)) = count.poll(&mut read) else { panic!("it is there") };
            assert_eq!(*record, *b"abc");
        }
        // A future that is dropped takes nothing.
        drop(Box::pin(consumer.read_async()));
        {
            let mut read = Box::pin(consumer.read_async());
            assert!(matches!(count.poll(&mut read), Poll::Pending));
            producer.write(b"d").unwrap();
        }
        assert_eq!(*consumer.try_read().unwrap(), *b"d");
        drop(producer);
        assert!(matches!(count.poll(&mut pin!(consumer.read_async())), Poll::Ready(Err(RecvError::CLOSED))));
        assert_eq!(count.alive(), 0, "a waker is left");
    }

    #[test]
    fn task_reserves_room() {
        let (mut producer, mut consumer) = channel(64);
        let count = Counting::new();
        producer.write(&[1; 32]).unwrap();
        {
            let mut reserve = pin!(producer.reserve_async(32));
            assert!(matches!(count.poll(&mut reserve), Poll::Pending));
            assert_eq!(*consumer.read().unwrap(), [1; 32]);
            assert_eq!(count.wakes(), 1);
            let Poll::Ready(Ok(mut record)) = count.poll(&mut reserve) else { panic!("there is room") };
            record.copy_from_slice(&[2; 32]);
            record.commit_len(3).unwrap();
        }
        assert_eq!(*consumer.read().unwrap(), [2; 3]);
        let too_long = TooLong::new(33, 32);
        let Poll::Ready(Err(error)) = count.poll(&mut pin!(producer.reserve_async(33))) else { panic!() };
        assert_eq!(error, WriteError::TooLong(too_long));
        consumer.close();
        assert!(matches!(
            count.poll(&mut pin!(producer.reserve_async(1))),
            Poll::Ready(Err(WriteError::Closed))
        ));
        assert_eq!(count.alive(), 0, "a waker is left");
    }

    #[test]
    fn stream_has_the_records_and_ends() {
        use futures_util::StreamExt;
        use futures_util::stream::FusedStream;

        let (mut producer, mut consumer) = channel(64);
        producer.write(b"a").unwrap();
        producer.write(b"bc").unwrap();
        // A stream that is dropped leaves what it has not returned.
        assert_eq!(pollster::block_on(consumer.stream().next()), Some(b"a"[..].into()));
        let mut stream = consumer.into_stream();
        assert_eq!(pollster::block_on(stream.next()), Some(b"bc"[..].into()));
        let writer = spawn(move || {
            thread::sleep(SHORT);
            producer.write(&[]).unwrap();
        });
        assert_eq!(pollster::block_on(stream.next()), Some([].into()));
        assert!(!stream.is_terminated());
        join([writer]);
        assert_eq!((pollster::block_on(stream.next()), stream.is_terminated()), (None, true));
        assert_eq!(pollster::block_on(stream.next()), None);
    }

    /// Futures of both ends that `tokio::select!` drops at random points: each record that was written comes
    /// once, in order, and no other.
    #[test]
    #[cfg(not(miri))]
    fn select_that_drops_futures_loses_nothing() {
        use crate::support::Pauses;
        use crate::support::runtime::{FUTURES, soon, tokio_of};

        let (mut producer, mut consumer) = channel(64);
        let runtime = tokio_of(3);
        let writer = runtime.spawn(async move {
            let (mut random, mut number) = (Pauses::new(1), 0_u64);
            for _ in 0..FUTURES {
                let record = pattern(number as usize % 33, number);
                tokio::select! {
                    written = producer.write_async(&record) => {
                        written.unwrap();
                        number += 1;
                    }
                    () = soon(&mut random) => {}
                }
            }
            number
        });
        let reader = runtime.spawn(async move {
            let (mut random, mut number) = (Pauses::new(2), 0_u64);
            loop {
                tokio::select! {
                    record = consumer.read_async() => match record {
                        Ok(record) => {
                            assert_eq!(*record, *pattern(number as usize % 33, number));
                            number += 1;
                        }
                        Err(_) => return number,
                    },
                    () = soon(&mut random) => {}
                }
            }
        });
        let (written, read) = runtime.block_on(async { (writer.await.unwrap(), reader.await.unwrap()) });
        assert_eq!(written, read);
        assert!(written > 0);
    }

    #[test]
    fn a_task_waits_for_room() {
        let (mut producer, mut consumer) = channel(64);
        let count = Counting::new();
        assert_eq!(count.poll(&mut pin!(producer.write_async(&[1; 32]))), Poll::Ready(Ok(())));
        {
            let mut write = pin!(producer.write_async(&[2; 32]));
            assert!(matches!(count.poll(&mut write), Poll::Pending));
            assert_eq!(*consumer.read().unwrap(), [1; 32]);
            assert_eq!(count.wakes(), 1);
            assert_eq!(count.poll(&mut write), Poll::Ready(Ok(())));
        }
        // One that is dropped has written nothing.
        assert!(matches!(count.poll(&mut pin!(producer.write_async(&[3; 32]))), Poll::Pending));
        assert_eq!(*consumer.read().unwrap(), [2; 32]);
        assert!(consumer.is_empty());
        producer.write(&[4; 32]).unwrap();
        let too_long = TooLong::new(33, 32);
        let error = count.poll(&mut pin!(producer.write_async(&[0; 33])));
        assert_eq!(error, Poll::Ready(Err(WriteError::TooLong(too_long))));
        {
            let mut write = pin!(producer.write_async(&[5; 32]));
            assert!(matches!(count.poll(&mut write), Poll::Pending));
            consumer.close();
            assert_eq!(count.poll(&mut write), Poll::Ready(Err(WriteError::Closed)));
        }
        assert_eq!(count.poll(&mut pin!(producer.write_async(&[]))), Poll::Ready(Err(WriteError::Closed)));
        assert_eq!(count.alive(), 0, "a waker is left");
    }
}
