//! What an observer sees of a ring: exact while no thread uses it, and never impossible while threads do. An
//! observer keeps no ring open, and no publisher waits for it.

use std::thread;

use annulus::Observer;
use annulus::stats::Stats;

use super::{CAPACITIES, STARTS, join, spawn};
use crate::rings::{Publish, Receive, Ring};

/// Messages of each publisher.
const MESSAGES: u64 = if cfg!(miri) { 20 } else { 3_000 };

/// The numbers, and what holds for them at every moment.
fn look(observer: &Observer) -> Option<Stats> {
    let stats = observer.stats()?;
    let most = (stats.capacity * stats.producers.len().max(1)) as u64;
    assert_eq!(stats.received.is_some(), stats.pending.is_some());
    if let (Some(received), Some(pending)) = (stats.received, stats.pending) {
        assert!(received <= stats.published, "{stats}");
        assert_eq!(pending, stats.published - received, "{stats}");
        assert!(pending <= most, "{stats}");
    }
    for producer in &stats.producers {
        assert!(producer.received <= producer.sent, "{stats}");
        assert!(producer.pending <= stats.capacity as u64, "{stats}");
    }
    for reader in &stats.followed {
        assert!(reader.lag <= stats.capacity as u64, "{stats}");
        assert_eq!(
            reader.position + reader.lag,
            stats.followed[0].position + stats.followed[0].lag,
            "{stats}"
        );
    }
    assert!(stats.writers.joined >= stats.writers.now as u64, "{stats}");
    assert!(stats.readers.joined >= stats.readers.now as u64, "{stats}");
    Some(stats)
}

/// While no thread is in the ring, each number is what it should be, from the first message to the end of the
/// ring, and the observer is nobody.
pub(crate) fn numbers_of_a_resting_ring_are_exact<R: Ring>() {
    for &capacity in CAPACITIES {
        let start = STARTS[capacity % STARTS.len()];
        let (mut publisher, source) = R::begin(capacity, start);
        let observer = publisher.observer();
        let mut subscriber = R::subscribe(&source);
        let now = || look(&observer.clone()).expect("the ring is there");
        let mut number = 0;
        for burst in 0..2 * capacity + 3 {
            for _ in 0..=burst % (capacity + 1) {
                number += u64::from(publisher.try_publish(number).is_ok());
            }
            let stats = now();
            assert_eq!((stats.capacity, stats.published, stats.closed), (capacity, number, false));
            assert_eq!((stats.writers.now, &stats.name, &stats.counted), (1, &None, &None));
            assert!(stats.readers.now >= 1 && stats.readers.joined >= 1, "{stats}");
            assert_eq!(stats.received.is_some(), R::LOSSLESS, "who waits for nobody knows of nobody");
            // A stage is done with a message once it asks for the next.
            let come = subscriber.cursor() - start;
            if let Some(received) = stats.received {
                assert!(received <= come && come - received <= 1, "{come} and\n{stats}");
            }
            for _ in 0..=burst % 3 {
                let _ = subscriber.try_recv();
            }
        }
        let before = now();
        drop(subscriber);
        if publisher.is_closed() {
            // A queue goes with its consumer.
            assert!(now().closed && observer.is_closed());
        } else {
            // Nobody waits for an observer.
            (0..3 * capacity).for_each(|_| publisher.publish(number).unwrap());
            let delta = now().since(&before);
            assert_eq!((delta.published, delta.readers_joined), (3 * capacity as u64, 0));
            assert_eq!((now().followed.len(), now().received), (0, None));
            assert!(!observer.is_closed());
        }
        drop(publisher);
        assert!(observer.is_closed() && look(&observer).is_none_or(|stats| stats.closed));
        drop(source);
        assert!(observer.is_gone() && observer.is_closed() && observer.stats().is_none(), "{observer:?}");
    }
}

/// While others publish, receive and leave, no snapshot says what can't be, and none says less than an
/// earlier one.
pub(crate) fn numbers_of_a_busy_ring_are_consistent<R: Ring>() {
    for (capacity, start) in [(2, 0), (7, (1 << 62) - 3), (64, 1)] {
        let (publisher, source) = R::begin(capacity, start);
        let observer = publisher.observer();
        let subscriber = R::subscribe(&source);
        let other = subscriber.fork().filter(|_| R::LOSSLESS);
        let publishers: Vec<_> = [publisher.another(), Some(publisher)].into_iter().flatten().collect();
        let total = publishers.len() as u64 * MESSAGES;
        let watcher = spawn(move || {
            let mut earlier = None::<Stats>;
            while let Some(stats) = look(&observer) {
                if let Some(earlier) = &earlier {
                    assert!(stats.published >= earlier.published, "{earlier}\n{stats}");
                    if let (Some(before), Some(now)) = (earlier.received, stats.received) {
                        assert!(now >= before, "{earlier}\n{stats}");
                    }
                    assert!(stats.closed || !earlier.closed);
                }
                assert!(stats.published <= total || R::PASSES_OVER);
                earlier = Some(stats);
                thread::yield_now();
            }
            earlier
        });
        let readers: Vec<_> = [other, Some(subscriber)]
            .into_iter()
            .flatten()
            .map(|mut subscriber| {
                spawn(move || {
                    while subscriber.recv().is_ok() {}
                    subscriber
                })
            })
            .collect();
        let writers: Vec<_> = publishers
            .into_iter()
            .map(|mut publisher| {
                spawn(move || {
                    for number in 0..MESSAGES {
                        publisher.publish(number).unwrap();
                    }
                    publisher
                })
            })
            .collect();
        // All of them stay until the last message is there.
        let publishers = join(writers);
        let observer = publishers[0].observer();
        let published = look(&observer).unwrap().published;
        assert!(published == total || R::PASSES_OVER && published > total, "{published} of {total}");
        drop(publishers);
        let readers = join(readers);
        let stats = look(&observer).unwrap();
        assert_eq!((stats.published, stats.closed), (published, true));
        assert_eq!(stats.received, R::LOSSLESS.then_some(total));
        drop((readers, source));
        let last = join([watcher]).remove(0);
        assert!(observer.is_gone() && last.is_none_or(|stats| stats.published <= published));
    }
}
