//! Stages that sleep: whatever lets a stage go on wakes it. A lost wake-up leaves it asleep, which loom
//! reports as a deadlock.
//!
//! Upstreams live longer than the sleeper but where the model says otherwise: their end would wake it too.
#![cfg(annulus_loom)]

use annulus::RecvTimeoutError;
use annulus_loom::{BLOCK, Checked, check, check_up_to};
use loom::thread;

/// The upstream says that it is done, and comes back no more.
#[test]
fn done_wakes() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(Checked::of(0));
        let working = thread::spawn(move || {
            assert_eq!(upstream.try_recv(), Ok(u64::of(0)));
            upstream.done();
            upstream
        });
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        drop((working.join().unwrap(), publisher));
    });
}

/// The upstream comes back for the next message, which is not there, and sleeps for that.
#[test]
fn next_receive_wakes() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(Checked::of(0));
        let working = thread::spawn(move || {
            let received = [(); 2].map(|()| upstream.recv_until(BLOCK));
            assert_eq!(received, [Ok(u64::of(0)), Err(RecvTimeoutError::Closed)]);
            upstream
        });
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        drop(publisher);
        drop(working.join().unwrap());
    });
}

/// The publisher wakes the upstream, and the upstream wakes its follower.
#[test]
fn message_wakes_one_after_the_other() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        let working = thread::spawn(move || {
            assert_eq!(upstream.recv_until(BLOCK), Ok(u64::of(0)));
            upstream.done();
            upstream
        });
        let following = thread::spawn(move || downstream.recv_until(BLOCK));
        publisher.publish(Checked::of(0));
        assert_eq!(following.join().unwrap(), Ok(u64::of(0)));
        drop((working.join().unwrap(), publisher));
    });
}

/// Each of two upstreams may be the last one that is waited for.
#[test]
fn slower_of_two_wakes() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstreams = [(); 2].map(|()| subscribable.subscribe_tracked());
        let mut downstream = subscribable.subscribe().after(&[&upstreams[0], &upstreams[1]]);
        publisher.publish(Checked::of(0));
        let working = upstreams.map(|mut upstream| {
            thread::spawn(move || {
                assert_eq!(upstream.try_recv(), Ok(u64::of(0)));
                upstream.done();
                upstream
            })
        });
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        drop((working.map(|working| working.join().unwrap()), publisher));
    });
}

/// An upstream that goes, and has processed nothing.
#[test]
fn a_drop_wakes() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(Checked::of(0));
        let working = thread::spawn(move || drop(upstream));
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        working.join().unwrap();
        drop(publisher);
    });
}

/// The upstream goes, and the message comes: the stage has slept for the one, and now sleeps for the other.
#[test]
fn message_after_a_drop_wakes() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        let working = thread::spawn(move || drop(upstream));
        let following = thread::spawn(move || downstream.recv_until(BLOCK));
        publisher.publish(Checked::of(0));
        assert_eq!(following.join().unwrap(), Ok(u64::of(0)));
        working.join().unwrap();
        drop(publisher);
    });
}

/// The publisher goes; the upstream has nothing left to process, and lives.
#[test]
fn a_close_wakes() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        let writer = thread::spawn(move || drop(publisher));
        assert_eq!(downstream.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        writer.join().unwrap();
        drop(upstream);
    });
}

/// The publisher goes; the upstream went before, or goes meanwhile.
#[test]
fn close_wakes_a_stage_without_an_upstream() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        let working = thread::spawn(move || drop(upstream));
        let writer = thread::spawn(move || drop(publisher));
        assert_eq!(downstream.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        writer.join().unwrap();
        working.join().unwrap();
    });
}

/// The publisher goes, and the upstream still has a message to process: that one is received before the close
/// is seen.
#[test]
fn stage_receives_its_upstreams_rest_before_the_close() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(Checked::of(0));
        let writer = thread::spawn(move || drop(publisher));
        let working = thread::spawn(move || {
            assert_eq!(upstream.try_recv(), Ok(u64::of(0)));
            upstream.done();
            upstream
        });
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        assert_eq!(downstream.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        writer.join().unwrap();
        drop(working.join().unwrap());
    });
}

/// The upstream is lapped: its follower is lapped too, and sleeps on for what the upstream has not processed.
#[test]
fn lapped_upstream_wakes() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1, 2].map(Checked::of));
        let working = thread::spawn(move || {
            assert!(upstream.try_recv_or_lag().is_err());
            assert_eq!(upstream.try_recv(), Ok(u64::of(1)));
            upstream.done();
            upstream
        });
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(1)));
        assert_eq!(downstream.total_lagged(), 1);
        drop((working.join().unwrap(), publisher));
    });
}

/// With many publishers an upstream may join behind a message that is claimed and not yet written. Its
/// follower then waits for the publisher, not for the upstream, which has no part in that message.
#[test]
fn stage_behind_a_later_joiner_waits_for_the_publisher() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let downstream = subscribable.subscribe();
        let mut writing = publisher.clone();
        let writer = thread::spawn(move || writing.publish(Checked::of(0)));
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = downstream.after(&[&upstream]);
        if upstream.cursor() == 0 {
            assert_eq!(upstream.recv_until(BLOCK), Ok(u64::of(0)));
            upstream.done();
        }
        assert_eq!(downstream.recv_until(BLOCK), Ok(u64::of(0)));
        writer.join().unwrap();
        drop((upstream, publisher));
    });
}

/// Owned events: the upstream's closure returns.
#[test]
fn owned_events() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(|event| *event = 1).unwrap();
        let working = thread::spawn(move || {
            assert_eq!(upstream.try_process(|&event| event), Ok(1));
            upstream
        });
        assert_eq!(downstream.process_until(BLOCK, |&event| event), Ok(1));
        drop((working.join().unwrap(), publisher));
    });
}
