//! Sleep and wake: no wake-up is lost. A lost one leaves a thread asleep, which loom reports as a deadlock.
#![cfg(annulus_loom)]

use annulus::{LossyRecvError, RecvTimeoutError, WaitStrategy};
use annulus_loom::{Checked, check, check_up_to};
use loom::thread;

/// Sleeps at once.
const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// The publisher lives on after its message: only that message can wake the subscriber.
#[test]
fn a_message_wakes_a_sleeper() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || subscriber.recv_until(BLOCK));
        publisher.publish(Checked::of(0));
        assert_eq!(reader.join().unwrap(), Ok(u64::of(0)));
        drop(publisher);
    });
}

/// The second message must wake a subscriber that went back to sleep after the first, whichever wake-up it
/// saw.
#[test]
fn second_message_wakes_a_subscriber_again() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || [subscriber.recv_until(BLOCK), subscriber.recv_until(BLOCK)]);
        publisher.publish(Checked::of(0));
        publisher.publish(Checked::of(1));
        assert_eq!(reader.join().unwrap(), [Ok(u64::of(0)), Ok(u64::of(1))]);
        drop(publisher);
    });
}

/// One message wakes every sleeper, also one that registers while another is being woken.
#[test]
fn a_message_wakes_two_sleepers() {
    // All of them were looked at by hand once: two minutes.
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let [first, second] = [(); 2].map(|()| {
            let mut subscriber = subscribable.subscribe();
            thread::spawn(move || subscriber.recv_until(BLOCK))
        });
        publisher.publish(Checked::of(0));
        assert_eq!(first.join().unwrap(), Ok(u64::of(0)));
        assert_eq!(second.join().unwrap(), Ok(u64::of(0)));
        drop(publisher);
    });
}

/// Numbers that are left out wake, too: no message has to follow.
#[test]
fn a_gap_wakes_a_sleeper() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        subscriber.set_wait_strategy(BLOCK);
        let reader = thread::spawn(move || subscriber.recv_or_lag());
        publisher.skip_to(1).unwrap();
        assert_eq!(reader.join().unwrap(), Err(LossyRecvError::Lagged { skipped: 1 }));
        drop(publisher);
    });
}

/// A close wakes too.
#[test]
fn a_close_wakes_a_sleeper() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || subscriber.recv_until(BLOCK));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
    });
}

/// A sleeper receives what came before the close that woke it, and then the close.
#[test]
fn sleeper_receives_earlier_messages_then_the_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || publisher.publish(Checked::of(0)));
        assert_eq!(subscriber.recv_until(BLOCK), Ok(u64::of(0)));
        writer.join().unwrap();
        assert_eq!(subscriber.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
    });
}

/// A subscriber that is lapped between its last poll and its registration finds the ring full at its second
/// look. What lapped it is over, and nobody will notify again: it must not sleep.
#[test]
fn a_lapped_subscriber_does_not_sleep_on_a_full_ring() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || {
            let message = subscriber.recv_until(BLOCK).unwrap();
            assert_eq!(message, u64::of(subscriber.cursor() - 1));
        });
        publisher.publish_batch(&[0, 1, 2].map(Checked::of));
        reader.join().unwrap();
        drop(publisher);
    });
}
