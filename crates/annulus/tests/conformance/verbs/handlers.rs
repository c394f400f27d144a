//! Publishing inside a closure that processes a message of the same ring.
//!
//! The message is not processed before the closure returns. So what waits for room there may wait for the
//! closure that it runs in: a `publish` would do so for ever. What only tries is told that the ring is full,
//! what waits for a time ends in time, and where there is room all of them publish.

use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Staged, Subscriber};
use annulus::event;
use annulus::{SendTimeoutError, TrySendError, WaitStrategy};

use crate::every::without_standing_still;

const SHORT: Duration = Duration::from_millis(2);

/// Long enough that only a fault takes it.
const LONG: Duration = Duration::from_secs(120);

/// Hands the next event, and no other, to a closure, by one verb each.
type Process = fn(&mut event::Subscriber<u64>, &mut dyn FnMut(u64));

const PROCESSES: [Process; 11] = [
    |subscriber, look| subscriber.try_process(|event| look(*event)).unwrap(),
    |subscriber, look| subscriber.process(|event| look(*event)).unwrap(),
    |subscriber, look| subscriber.process_until(WaitStrategy::BusySpin, |event| look(*event)).unwrap(),
    |subscriber, look| subscriber.process_timeout(LONG, |event| look(*event)).unwrap(),
    |subscriber, look| subscriber.process_until(Instant::now(), |event| look(*event)).unwrap(),
    |subscriber, look| assert_eq!(subscriber.try_process_batch(1, |event, _| look(*event)), Ok(1)),
    |subscriber, look| assert_eq!(subscriber.process_batch(1, |event, _| look(*event)), Ok(1)),
    |subscriber, look| {
        let strategy = WaitStrategy::BusySpin;
        assert_eq!(subscriber.process_batch_until(1, strategy, |event, _| look(*event)), Ok(1));
    },
    |subscriber, look| {
        assert_eq!(subscriber.process_batch_timeout(1, LONG, |event, _| look(*event)), Ok(1));
    },
    |subscriber, look| {
        assert_eq!(subscriber.process_batch_until(1, Instant::now(), |event, _| look(*event)), Ok(1));
    },
    |subscriber, look| {
        let event = subscriber.peek().unwrap();
        look(*event);
        event.pass();
    },
];

/// Its own ring is full: the event that the closure looks at is the oldest of it.
#[test]
fn event_publisher_in_a_handler() {
    without_standing_still(|| {
        for process in PROCESSES {
            let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
            let mut subscriber = subscribable.subscribe();
            publisher.publish(|event| *event = 0).unwrap();
            for lap in 0..4 {
                process(&mut subscriber, &mut |number| {
                    assert_eq!(number, lap);
                    // There is room for one.
                    publisher.publish(|event| *event = lap + 1).unwrap();
                    let change = |event: &mut u64| *event = 9;
                    assert!(matches!(publisher.try_publish(change), Err(TrySendError::Full(()))));
                    let begun = Instant::now();
                    let timeout = publisher.publish_timeout(SHORT, change);
                    assert!(matches!(timeout, Err(SendTimeoutError::Timeout(()))));
                    let timeout = publisher.publish_until(Instant::now(), change);
                    assert!(matches!(timeout, Err(SendTimeoutError::Timeout(()))));
                    assert!(begun.elapsed() < LONG);
                });
                assert_eq!(publisher.published(), lap + 2);
            }
        }
    });
}

/// One of many publishers, which runs its closure before it looks for room.
#[test]
fn one_of_many_event_publishers_in_a_handler() {
    without_standing_still(|| {
        for process in PROCESSES {
            let (mut publisher, subscribable) = annulus::event::mp_channel(2, || 0_u64);
            let mut subscriber = subscribable.subscribe();
            publisher.publish(|event| *event = 0).unwrap();
            for lap in 0..4 {
                process(&mut subscriber, &mut |number| {
                    assert_eq!(number, lap);
                    publisher.publish(|event| *event = lap + 1).unwrap();
                    assert_eq!(publisher.try_publish(|event| *event = 9), Err(TrySendError::Full(())));
                    let timeout = publisher.publish_timeout(SHORT, |event| *event = 9);
                    assert_eq!(timeout, Err(SendTimeoutError::Timeout(())));
                });
            }
        }
    });
}

/// A closure in the middle of a batch: none of the batch is processed before its end.
#[test]
fn publisher_in_a_batch() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = annulus::event::channel(3, || 0_u64);
        let mut subscriber = subscribable.subscribe();
        (0..3).for_each(|number| publisher.publish(|event| *event = number).unwrap());
        let count = subscriber.process_batch(3, |_, _| {
            assert!(publisher.try_publish(|event| *event = 9).unwrap_err().is_full());
            assert!(publisher.publish_timeout(SHORT, |event| *event = 9).is_err());
        });
        assert_eq!((count, publisher.published()), (Ok(3), 3));
        publisher.publish(|event| *event = 3).unwrap();
    });
}

/// A stage's message is a copy, and its slot is free; but those behind it wait for the closure, and
/// publishers for them.
#[test]
fn publisher_in_a_stage() {
    /// Hands the next message, and no other, to a closure, by one verb each.
    type Process = fn(&mut Subscriber<u64, Staged<Lossless>>, &mut dyn FnMut(u64));
    let processes: [Process; 10] = [
        |stage, look| stage.try_process(|number| look(*number)).unwrap(),
        |stage, look| stage.process(|number| look(*number)).unwrap(),
        |stage, look| stage.process_until(WaitStrategy::BusySpin, |number| look(*number)).unwrap(),
        |stage, look| stage.process_timeout(LONG, |number| look(*number)).unwrap(),
        |stage, look| stage.process_until(Instant::now(), |number| look(*number)).unwrap(),
        |stage, look| assert_eq!(stage.try_process_batch(1, |number, _| look(*number)), Ok(1)),
        |stage, look| assert_eq!(stage.process_batch(1, |number, _| look(*number)), Ok(1)),
        |stage, look| {
            let strategy = WaitStrategy::BusySpin;
            assert_eq!(stage.process_batch_until(1, strategy, |number, _| look(*number)), Ok(1));
        },
        |stage, look| assert_eq!(stage.process_batch_timeout(1, LONG, |number, _| look(*number)), Ok(1)),
        |stage, look| {
            assert_eq!(stage.process_batch_until(1, Instant::now(), |number, _| look(*number)), Ok(1));
        },
    ];
    without_standing_still(move || {
        for process in processes {
            // Without one behind it, the closure waits for nobody.
            let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
            let mut first = subscribable.subscribe_tracked();
            publisher.publish_batch(&[0, 1]).unwrap();
            process(&mut first, &mut |number| publisher.publish(number + 2).unwrap());
            assert!(publisher.try_publish(9).is_err());
            first.try_iter().for_each(drop);

            let mut second = subscribable.subscribe().after(&[&first]);
            for lap in 0..4 {
                publisher.publish(lap).unwrap();
                process(&mut first, &mut |number| {
                    assert_eq!(number, lap);
                    publisher.publish(100).unwrap();
                    assert_eq!(publisher.try_publish(9), Err(TrySendError::Full(9)));
                    assert_eq!(publisher.publish_timeout(9, SHORT), Err(SendTimeoutError::Timeout(9)));
                    let batch = publisher.publish_batch_timeout(&[9, 9], SHORT);
                    assert_eq!(batch, Err(SendTimeoutError::Timeout(&[9, 9][..])));
                });
                assert_eq!(first.process(|number| *number), Ok(100));
                assert_eq!(second.try_iter().collect::<Vec<_>>(), [lap, 100]);
            }

            let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(2);
            let mut first = subscribable.subscribe_tracked();
            let mut second = subscribable.subscribe().after(&[&first]);
            publisher.publish(0).unwrap();
            process(&mut first, &mut |_| {
                publisher.publish(1).unwrap();
                assert_eq!(publisher.try_publish(9), Err(TrySendError::Full(9)));
                assert_eq!(publisher.publish_timeout(9, SHORT), Err(SendTimeoutError::Timeout(9)));
            });
            assert_eq!(second.try_recv(), Ok(0));
        }
    });
}

/// A publish in a handler may wait for others, whose processing gives it room. So that it runs in a handler
/// is no fault by itself.
#[test]
fn publisher_in_a_handler_waits_for_others() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = annulus::event::channel(4, || 0_u64);
        let mut slow = subscribable.subscribe();
        let mut subscriber = subscribable.subscribe();
        (0..4).for_each(|number| publisher.publish(|event| *event = number).unwrap());
        (0..3).for_each(|number| assert_eq!(subscriber.process(|event| *event), Ok(number)));
        let other = thread::spawn(move || {
            thread::sleep(SHORT);
            (0..4).for_each(|number| assert_eq!(slow.process(|event| *event), Ok(number)));
            slow
        });
        // At event 3; the slow one is at 0.
        let published = subscriber.process(|_| publisher.publish(|event| *event = 4).is_ok());
        assert_eq!(published, Ok(true));
        drop(other.join().unwrap());
    });
}
