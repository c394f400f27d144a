//! Waiting for a record: threads that sleep, deadlines, tasks, and waits for handles of any kind.

use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::bytes;
use annulus::{
    LossyRecvError, LossyTryRecvError, RecvError, RecvTimeoutError, Select, TryRecvError, WaitStrategy,
    Worker, select,
};

use super::records::record;

const STRATEGIES: [WaitStrategy; 4] = [
    WaitStrategy::PauseSpin,
    WaitStrategy::BackoffSpin,
    WaitStrategy::Monitor,
    WaitStrategy::block_after(0, 0),
];

/// Two threads answer each other: each record is waited for.
#[test]
fn record_wakes_its_waiter() {
    for strategy in STRATEGIES {
        let settings = Settings::new(256).wait_strategy(strategy);
        let ((mut ask, asked), (mut answer, answered)) =
            (bytes::lossy_with(settings.clone()).unwrap(), bytes::lossy_with(settings).unwrap());
        let (mut questions, mut answers) = (asked.subscribe(), answered.subscribe());
        let other = thread::spawn(move || {
            let mut buffer = Vec::new();
            while questions.recv(&mut buffer).is_ok() {
                answer.publish(&buffer).unwrap();
            }
        });
        let mut buffer = Vec::new();
        for number in 0..if cfg!(miri) { 5 } else { 500 } {
            let question = record(number, (number % 128) as usize);
            ask.publish(&question).unwrap();
            assert_eq!(answers.recv_or_lag(&mut buffer), Ok(question.len()));
            assert_eq!(buffer, question);
        }
        drop(ask);
        other.join().unwrap();
        assert_eq!(answers.recv(&mut buffer), Err(RecvError::CLOSED));
        assert_eq!(answers.recv_or_lag(&mut buffer), Err(LossyRecvError::Closed));
    }
}

#[test]
fn close_wakes_waiters() {
    let (_publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, closer) = (subscribable.subscribe(), subscribable.closer());
    let waiting = thread::spawn(move || subscriber.recv(&mut Vec::new()));
    thread::sleep(Duration::from_millis(10));
    closer.close();
    assert_eq!(waiting.join().unwrap(), Err(RecvError::CLOSED));
}

#[test]
fn wait_ends_at_its_deadline_and_goes_on_after_a_lag() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    let timeout = Duration::from_millis(5);
    let begun = Instant::now();
    assert_eq!(subscriber.recv_timeout(&mut buffer, timeout), Err(RecvTimeoutError::Timeout));
    assert!(begun.elapsed() >= timeout);
    for number in 0..5 {
        publisher.publish(&record(number, 32)).unwrap();
    }
    // What is there is received even after the deadline, and the lag is counted.
    assert_eq!(subscriber.recv_until(&mut buffer, begun), Ok(32));
    assert_eq!(buffer, record(3, 32));
    assert_eq!(subscriber.recv_timeout(&mut buffer, Duration::MAX), Ok(32));
    assert_eq!(subscriber.total_lagged(), 3);
    drop(publisher);
    assert_eq!(subscriber.recv_until(&mut buffer, begun), Err(RecvTimeoutError::Closed));
}

/// A ring of records beside one of numbers, in one wait. A lag is something to receive, and so is the end.
#[test]
fn select_waits_for_records_too() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut numbers, number_subscribable) = annulus::broadcast::lossy(4);
    let (mut records, mut others) = (subscribable.subscribe(), number_subscribable.subscribe());
    let mut buffer = Vec::new();
    let ready = |records: &mut _, others: &mut _, timeout| {
        let mut select = Select::new();
        select.recv(records);
        select.recv(others);
        select.ready_timeout(timeout)
    };
    let (soon, late) = (Duration::from_millis(1), Duration::from_secs(60));
    assert_eq!(ready(&mut records, &mut others, soon), None);
    numbers.publish(7);
    assert_eq!(ready(&mut records, &mut others, late), Some(1));
    assert_eq!(others.try_recv(), Ok(7));
    let writer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        publisher.publish(b"a record").unwrap();
        publisher
    });
    assert_eq!(ready(&mut records, &mut others, late), Some(0));
    assert_eq!(records.try_recv(&mut buffer), Ok(8));
    let mut publisher = writer.join().unwrap();
    for number in 0..5 {
        publisher.publish(&record(number, 32)).unwrap();
    }
    assert_eq!(ready(&mut records, &mut others, late), Some(0));
    assert_eq!(records.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 3 }));
    assert_eq!((records.recv(&mut buffer), records.recv(&mut buffer)), (Ok(32), Ok(32)));
    assert_eq!(ready(&mut records, &mut others, soon), None);
    drop(publisher);
    assert_eq!(ready(&mut records, &mut others, late), Some(0));
    assert_eq!(records.try_recv(&mut buffer), Err(TryRecvError::Closed));
}

/// An arm gets a copy of the record. One arm goes on after a lag, the other reports it.
#[test]
fn select_receives_records() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let (mut producer, mut numbers) = annulus::spsc::channel(4);
    let mut records = subscribable.subscribe();
    let mut next = |records: &mut bytes::Subscriber| {
        select! {
            recv(records) -> record => record.map(Some),
            recv(numbers) -> number => { assert_eq!(number, Ok(7)); Ok(None) }
            default => panic!("nothing is there"),
        }
    };
    producer.send(7).unwrap();
    assert_eq!(next(&mut records), Ok(None));
    let mut tells = records.clone();
    (0..5).for_each(|number| publisher.publish(&record(number, 32)).unwrap());
    assert_eq!(next(&mut records), Ok(Some(record(3, 32).into())));
    assert_eq!(records.total_lagged(), 3);
    let mut or_lag = || {
        select! {
            recv_or_lag(tells) -> record => record,
            default => panic!("nothing is there"),
        }
    };
    assert_eq!(or_lag(), Err(LossyRecvError::Lagged { skipped: 3 }));
    assert_eq!(or_lag(), Ok(record(3, 32).into()));
    assert_eq!(or_lag(), Ok(record(4, 32).into()));
    // Both wait, and are woken.
    assert_eq!(next(&mut records), Ok(Some(record(4, 32).into())));
    let reader = thread::spawn(move || {
        let first = select! { recv(records) -> record => record };
        let second = select! { recv_or_lag(tells) -> record => record };
        (first, second, records, tells)
    });
    thread::sleep(Duration::from_millis(5));
    publisher.publish(b"").unwrap();
    let (first, second, mut records, mut tells) = reader.join().unwrap();
    assert_eq!((first, second), (Ok([].into()), Ok([].into())));
    drop(publisher);
    assert_eq!(select! { recv(records) -> record => record }, Err(RecvError::CLOSED));
    assert_eq!(select! { recv_or_lag(tells) -> record => record }, Err(LossyRecvError::Closed));
}

#[test]
fn worker_handles_records() {
    for stops in [false, true] {
        let (mut publisher, subscribable) = bytes::lossy(64);
        let records = if cfg!(miri) { 10 } else { 1000 };
        let worker = Worker::builder(subscribable.subscribe(), Vec::new())
            .spawn(|seen: &mut Vec<Box<[u8]>>, bytes, _| seen.push(bytes))
            .unwrap();
        (0..records).for_each(|number| publisher.publish(&record(number, 32)).unwrap());
        if stops {
            worker.stop();
        } else {
            drop(publisher);
        }
        let finished = worker.join().unwrap();
        let mut last = None;
        for bytes in &finished.context {
            let number = u64::from_le_bytes(*bytes.first_chunk().unwrap());
            assert_eq!(**bytes, *record(number, 32));
            assert!(last < Some(number), "{number} after {last:?}");
            last = Some(number);
        }
        // The newest one stands for ever.
        assert_eq!((last, finished.messages), (Some(records - 1), finished.context.len() as u64));
    }
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn notifier_tells_of_records() {
    let (mut publisher, subscribable) = bytes::lossy(64);
    let mut notifier = annulus::Notifier::new(subscribable.subscribe()).unwrap();
    assert_eq!(notifier.arm(), annulus::Readiness::Armed);
    publisher.publish(b"a record").unwrap();
    assert_eq!(notifier.arm(), annulus::Readiness::Ready);
    assert_eq!(notifier.get_mut().try_recv(&mut Vec::new()), Ok(8));
}

#[cfg(feature = "async")]
mod tasks {
    use super::*;

    #[test]
    fn task_waits_for_records() {
        let (mut publisher, subscribable) = bytes::lossy(1024);
        let mut subscriber = subscribable.subscribe();
        let records = if cfg!(miri) { 5 } else { 1000 };
        let writer = thread::spawn(move || {
            for number in 0..records {
                publisher.publish(&record(number, 40)).unwrap();
                if number % 16 == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut buffer = Vec::new();
        pollster::block_on(async {
            while let Ok(bytes) = subscriber.recv_async(&mut buffer).await {
                assert_eq!(bytes, 40);
                assert_eq!(buffer, record(subscriber.cursor() - 1, 40));
            }
            assert_eq!(subscriber.recv_or_lag_async(&mut buffer).await, Err(LossyRecvError::Closed));
        });
        assert_eq!(subscriber.total_received() + subscriber.total_lagged(), records);
        writer.join().unwrap();
    }

    #[test]
    fn stream_has_the_records_and_ends() {
        use futures_util::StreamExt;
        use futures_util::stream::FusedStream;

        let (mut publisher, subscribable) = bytes::lossy(64);
        let mut subscriber = subscribable.subscribe();
        (0..5).for_each(|number| publisher.publish(&record(number, 32)).unwrap());
        // A stream that is dropped leaves what it has not returned.
        assert_eq!(pollster::block_on(subscriber.stream().next()), Some(record(3, 32).into()));
        let mut stream = subscriber.into_stream();
        assert_eq!(pollster::block_on(stream.next()), Some(record(4, 32).into()));
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            publisher.publish(&record(5, 32)).unwrap();
        });
        assert_eq!(pollster::block_on(stream.next()), Some(record(5, 32).into()));
        assert!(!stream.is_terminated());
        writer.join().unwrap();
        assert_eq!((pollster::block_on(stream.next()), stream.is_terminated()), (None, true));
        assert_eq!(pollster::block_on(stream.next()), None);
    }

    /// Futures that `tokio::select!` drops at random points: each record comes once, in order, or is
    /// counted as lost.
    #[test]
    #[cfg(not(miri))]
    fn select_that_drops_futures_loses_nothing() {
        use crate::support::Pauses;
        use crate::support::runtime::{FUTURES, soon, tokio_of};

        let (mut publisher, subscribable) = bytes::lossy(256);
        let mut subscriber = subscribable.subscribe();
        let runtime = tokio_of(3);
        let writer = runtime.spawn(async move {
            for number in 0..FUTURES {
                publisher.publish(&record(number, 16)).unwrap();
                if number % 4 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        });
        let reader = runtime.spawn(async move {
            let (mut random, mut buffer, mut received) = (Pauses::new(2), Vec::new(), 0);
            loop {
                tokio::select! {
                    found = subscriber.recv_async(&mut buffer) => match found {
                        Ok(bytes) => {
                            assert_eq!((bytes, &buffer), (16, &record(subscriber.cursor() - 1, 16)));
                            received += 1;
                        }
                        Err(_) => break,
                    },
                    () = soon(&mut random) => {}
                }
            }
            assert_eq!(subscriber.total_received(), received);
            assert_eq!(subscriber.total_received() + subscriber.total_lagged(), FUTURES);
        });
        runtime.block_on(async {
            writer.await.unwrap();
            reader.await.unwrap();
        });
    }
}
