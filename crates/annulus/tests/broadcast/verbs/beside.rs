//! What a subscriber finds beside a publisher that is faster than it.

use std::thread;
use std::time::{Duration, Instant};

use super::MESSAGES;
use crate::support::without_standing_still;
use annulus::{RecvError, RecvTimeoutError, Shutdown, WaitStrategy};

/// Runs `read` again and again beside a publisher that never pauses, for a while.
fn beside_a_fast_publisher(mut read: impl FnMut(&mut annulus::broadcast::Subscriber<u64>)) {
    let time = Duration::from_millis(if cfg!(miri) { 0 } else { 200 });
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let mut subscriber = subscribable.subscribe();
    let stop = Shutdown::new();
    let writer = thread::spawn({
        let stop = stop.clone();
        move || {
            let mut next = 0;
            while !stop.is_shutdown() {
                publisher.publish(next);
                next += 1;
            }
            next
        }
    });
    let begun = Instant::now();
    loop {
        read(&mut subscriber);
        if begun.elapsed() >= time {
            break;
        }
    }
    stop.trigger();
    let published = writer.join().unwrap();
    subscriber.try_iter().for_each(drop);
    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), published);
}

/// What could be received, also after a lag, and of events.
#[test]
fn len_counts_messages_that_can_be_received() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.is_empty());
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!((subscriber.len(), subscriber.is_empty()), (4, false));
    assert_eq!(subscriber.try_iter().count(), 4);
    assert!(subscriber.is_empty());

    let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.is_empty());
    publisher.publish(|event| *event = 7).unwrap();
    assert_eq!((subscriber.len(), subscriber.is_empty()), (1, false));
    assert_eq!(subscriber.process(|event| *event), Ok(7));
    assert!(subscriber.is_empty());
}

/// A receive that waits, and says what was lost instead of going on: at once, and where it was lapped while
/// it waited.
#[test]
fn a_lag_is_said() {
    use annulus::LossyRecvError;
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 2 }));
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    // The first batch is longer than the ring, and there before the reader.
    publisher.publish_batch(&(6..16).collect::<Vec<_>>());
    let reader = thread::spawn(move || {
        let (mut next, mut lost) = (6, 0);
        loop {
            match subscriber.recv_or_lag() {
                Ok(number) => {
                    assert_eq!(number, next);
                    next += 1;
                }
                Err(LossyRecvError::Lagged { skipped }) => {
                    next += skipped;
                    lost += skipped;
                }
                Err(LossyRecvError::Closed) => return (next, lost, subscriber.total_lagged()),
            }
        }
    });
    for first in (16..6 + MESSAGES).step_by(10) {
        publisher.publish_batch(&(first..first + 10).collect::<Vec<_>>());
        if first % 1_000 == 6 {
            thread::yield_now();
        }
    }
    drop(publisher);
    let (next, lost, counted) = reader.join().unwrap();
    assert_eq!((next, lost + 2), (6 + MESSAGES, counted));
    assert!(lost >= 6, "{lost}: the first batch is longer than the ring");
}

/// A drain ends at the head it began with. (A ring that only asks "is there more?" never ends here.)
#[test]
fn a_drain_ends_although_the_publisher_is_faster() {
    beside_a_fast_publisher(|subscriber| {
        let before = subscriber.cursor();
        let drained: Vec<u64> = subscriber.try_iter().collect();
        assert!(drained.is_sorted_by(|a, b| a < b));
        assert!(drained.first().is_none_or(|&first| first >= before));
    });
}

/// The same without a race: for each message drained, one more is published.
#[test]
fn a_drain_ends_at_the_head_it_began_with() {
    for (published, drained) in [(3, 3), (20, 6)] {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
        let mut subscriber = subscribable.subscribe();
        (0..published).for_each(|number| publisher.publish(number));
        let mut count = 0;
        for _ in subscriber.try_iter() {
            publisher.publish(99);
            publisher.publish(99);
            count += 1;
            assert!(count <= published);
        }
        // Of twenty, sixteen stood. Each one drained let two others overwrite the next.
        assert_eq!(count, drained);
        assert_eq!(publisher.published(), published + 2 * count);
    }
}

#[test]
fn batch_ends_although_the_publisher_is_faster() {
    let mut buffer = vec![0; 1000];
    beside_a_fast_publisher(|subscriber| {
        let count = subscriber.try_recv_batch(&mut buffer);
        assert!(buffer[..count].is_sorted_by(|a, b| a < b));
        // Not equal: it may have been lapped after the last one.
        assert!(buffer[..count].last().is_none_or(|&last| last < subscriber.cursor()));
    });
}

/// A batch says how many messages it brought, and leaves the places behind them as they were.
#[test]
fn batch_says_how_many_came() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    let mut subscriber = subscribable.subscribe();
    assert_eq!(subscriber.capacity(), 16);
    publisher.publish_batch(&[1, 2, 3, 4, 5, 6]);
    let mut places = [0; 3];
    assert_eq!(subscriber.recv_batch(&mut []), Ok(0));
    assert_eq!((subscriber.recv_batch(&mut places), places), (Ok(3), [1, 2, 3]));
    assert_eq!((subscriber.recv_batch(&mut places[..1]), places), (Ok(1), [4, 2, 3]));
    assert_eq!((subscriber.recv_batch(&mut places), places), (Ok(2), [5, 6, 3]));
    publisher.publish_batch(&[7, 8, 9, 10, 11, 12]);
    let mut values = vec![0];
    assert_eq!((subscriber.recv_many(&mut values, 0), values.len()), (Ok(0), 1));
    assert_eq!(subscriber.recv_many(&mut values, 1), Ok(1));
    assert_eq!(subscriber.recv_many(&mut values, 3), Ok(3));
    assert_eq!(values, [0, 7, 8, 9, 10]);
    assert_eq!(subscriber.recv_many(&mut values, 9), Ok(2));
    assert_eq!(values, [0, 7, 8, 9, 10, 11, 12]);
    assert!(!subscriber.is_closed());
    drop(publisher);
    assert!(subscriber.is_closed());
    assert_eq!((subscriber.recv_batch(&mut places), places), (Err(RecvError::CLOSED), [5, 6, 3]));
    assert_eq!((subscriber.recv_many(&mut values, 9), values.len()), (Err(RecvError::CLOSED), 7));
    assert_eq!((subscriber.recv_batch(&mut []), subscriber.recv_many(&mut values, 0)), (Ok(0), Ok(0)));
}

#[test]
fn batch_that_finds_no_message_gives_up_in_time() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let (mut places, mut values) = ([9; 3], vec![9]);
    let late = Err(RecvTimeoutError::Timeout);
    assert_eq!((subscriber.recv_batch_timeout(&mut places, Duration::ZERO), places), (late, [9; 3]));
    assert_eq!((subscriber.recv_many_timeout(&mut values, 3, Duration::ZERO), values.len()), (late, 1));
    assert_eq!(subscriber.recv_batch_timeout(&mut [], Duration::MAX), Ok(0));
    assert_eq!(subscriber.recv_many_timeout(&mut values, 0, Duration::MAX), Ok(0));
    publisher.publish_batch(&[1, 2, 3, 4, 5]);
    assert_eq!(
        (subscriber.recv_batch_until(&mut places, WaitStrategy::BusySpin), places),
        (Ok(3), [1, 2, 3])
    );
    assert_eq!(subscriber.recv_many_until(&mut values, 3, Duration::ZERO), Ok(2));
    assert_eq!(values, [9, 4, 5]);
    drop(publisher);
    let closed = Err(RecvTimeoutError::Closed);
    assert_eq!((subscriber.recv_batch_timeout(&mut places, Duration::MAX), places), (closed, [1, 2, 3]));
    assert_eq!((subscriber.recv_many_timeout(&mut values, 3, Duration::MAX), values.len()), (closed, 3));
}

/// `latest` never goes back, never delivers twice, and has an answer whenever something is new.
#[test]
fn latest_moves_forward_beside_a_fast_publisher() {
    let mut before = None;
    beside_a_fast_publisher(|subscriber| {
        let pending = subscriber.len();
        match subscriber.latest() {
            Some(number) => {
                assert!(before < Some(number), "{number} after {before:?}");
                assert_eq!(subscriber.cursor(), number + 1);
                before = Some(number);
            }
            None => assert_eq!(pending, 0, "something was new, and latest said None"),
        }
    });
}

/// A publisher that laps its reader can't keep it in `recv`: each of a thousand calls returns, although the
/// publisher never pauses.
#[test]
fn lapped_reader_makes_progress() {
    without_standing_still(|| {
        beside_a_fast_publisher(|subscriber| {
            for _ in 0..1000 {
                let cursor = subscriber.cursor();
                assert!(subscriber.recv().unwrap() >= cursor);
            }
        });
    });
}
