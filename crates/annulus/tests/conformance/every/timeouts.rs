//! Timeouts: not before their time, and not instead of a message.

use std::time::{Duration, Instant};

use annulus::RecvTimeoutError;

use super::{STUCK, sleeping};
use crate::rings::{Publish, Receive, Ring};

const SHORT: Duration = Duration::from_millis(10);

pub(crate) fn timeout_ends_in_time_and_not_before<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    let begun = Instant::now();
    assert_eq!(subscriber.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert!(begun.elapsed() >= SHORT);
    let deadline = Instant::now() + SHORT;
    assert_eq!(subscriber.recv_until(deadline), Err(RecvTimeoutError::Timeout));
    assert!(Instant::now() >= deadline);
    // What is there is received, however late it is.
    publisher.publish_batch(&[1, 2]).unwrap();
    assert_eq!(subscriber.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(subscriber.recv_until(begun), Ok(2));
    assert_eq!(subscriber.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert!(begun.elapsed() < STUCK);
}

/// A sleeper with a deadline is woken by its message: with the longest timeout there is, and with one that
/// would hide a lost wake-up if nobody looked at the clock.
pub(crate) fn message_in_time_is_received<R: Ring>() {
    for timeout in [Duration::MAX, 2 * STUCK] {
        let (mut publisher, source) = R::new(4);
        let mut subscriber = R::subscribe(&source);
        let (waiting, sleeper) = sleeping::spawn(move || subscriber.recv_timeout(timeout));
        sleeper.await_sleep();
        let begun = Instant::now();
        publisher.publish(7).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(7));
        assert!(begun.elapsed() < STUCK, "found at its deadline, not woken");
    }
}
