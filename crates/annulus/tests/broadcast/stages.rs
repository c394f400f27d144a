//! Stages at their edges: which can follow which, what they keep, and where they sleep.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::DependencyBarrier;
use annulus::{LossyTryRecvError, TryRecvError, UpstreamError};

/// Long enough that only a wake-up ends a wait.
const LONG: Duration = Duration::from_secs(120);

#[test]
fn lossless_stage_does_not_follow_a_lossy_one() {
    let (_publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    let tracked = subscribable.subscribe_tracked();
    let tap = subscribable.subscribe_lossy().after(&[&tracked]);
    let error = subscribable.subscribe().try_after(&[&tracked, &tap]).unwrap_err();
    assert_eq!(error, UpstreamError::Lossy { index: 1 });
    assert!(error.to_string().contains("upstream 1 may lose messages"));
}

#[test]
fn stage_of_another_ring_is_refused_even_after_that_ring_is_gone() {
    for _ in 0..20 {
        let barrier = {
            let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
            DependencyBarrier::new(&[&subscribable.subscribe_tracked()])
        };
        // Likely at the same address.
        let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
        let error = subscribable.subscribe().try_after_barrier(&barrier).unwrap_err();
        assert_eq!(error, UpstreamError::AnotherRing { index: 0 });
    }
    let (_publisher, one) = annulus::broadcast::lossy::<u64>(8);
    let (_publisher, other) = annulus::broadcast::lossy::<u64>(8);
    let (one, other) = (one.subscribe_tracked(), other.subscribe_tracked());
    let error = DependencyBarrier::try_new(&[&one, &other]).unwrap_err();
    assert_eq!(error, UpstreamError::AnotherRing { index: 1 });
}

#[test]
fn subscriber_that_becomes_a_stage_keeps_its_place_and_its_counters() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    assert_eq!(subscriber.try_recv(), Ok(2));
    let mut stage = subscriber.after(&[]);
    assert_eq!((stage.cursor(), stage.total_received(), stage.total_lagged()), (3, 1, 2));
    assert_eq!(stage.try_recv(), Ok(3));
}

/// What an upstream lost, those after it lose too, though it still stands in the ring for a moment.
#[test]
fn stage_loses_the_messages_its_upstream_lost() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut upstream = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&upstream]);
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty), "the upstream has not noticed yet");
    assert_eq!(upstream.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    assert_eq!(upstream.try_recv(), Ok(2));
    assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    upstream.done();
    assert_eq!(stage.try_recv(), Ok(2));
    assert_eq!((stage.total_received(), stage.total_lagged()), (1, 2));
}

/// The publisher is gone, but messages are left that the upstream has to process first.
#[test]
fn stage_closes_after_its_upstream_is_done() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut upstream = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&upstream]);
    publisher.publish(7).unwrap();
    drop(publisher);
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(upstream.recv(), Ok(7));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    assert!(upstream.recv().is_err());
    assert_eq!(stage.recv(), Ok(7));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Closed));
}

/// A chain, a diamond, and a stage at its end that sleeps: each message arrives, in order, and so does the
/// close.
#[test]
fn a_graph_passes_everything_on() {
    const MESSAGES: u64 = if cfg!(miri) { 20 } else { 20_000 };
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let first = subscribable.subscribe_tracked();
    let left = subscribable.subscribe().after(&[&first]);
    let right = subscribable.subscribe().after(&[&first]);
    let last = subscribable.subscribe().after(&[&left, &right]);
    let begun = Instant::now();
    thread::scope(|scope| {
        for mut stage in [first, left, right, last] {
            scope.spawn(move || assert!(stage.iter().eq(0..MESSAGES)));
        }
        for number in 0..MESSAGES {
            publisher.publish(number).unwrap();
        }
        drop(publisher);
    });
    assert!(begun.elapsed() < LONG, "somebody was not woken");
}

/// A stage that sleeps behind another wakes when that one says that it is done, and when it is dropped.
#[test]
fn sleeping_stage_wakes_when_its_upstream_is_done_or_dropped() {
    for drop_it in [false, true] {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
        let mut upstream = subscribable.subscribe_tracked();
        let mut stage = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(7).unwrap();
        assert_eq!(upstream.recv(), Ok(7));
        let ready = Barrier::new(2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                ready.wait();
                let begun = Instant::now();
                assert_eq!(stage.recv_timeout(LONG), Ok(7));
                begun.elapsed()
            });
            ready.wait();
            thread::sleep(Duration::from_millis(20));
            if drop_it {
                drop(upstream);
            } else {
                upstream.done();
            }
            assert!(waiting.join().unwrap() < LONG / 2);
        });
    }
}
