//! Tasks at rings of all families, whose futures are dropped at random points, beside threads that block:
//! nothing is lost, and nothing comes twice. (`tests/waits/runtime.rs` does the same by a runtime, which Miri
//! can't run.)
#![cfg(feature = "async")]
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod broadcast;
mod many;
mod queues;

use std::pin::pin;
use std::task::{Context, Poll};
use std::thread;

use crate::support::Pauses;
use crate::support::tasks::{Counting, block_on};

/// Polls `future` up to so many times, at random, and drops it; or waits for it.
fn poll_some<T>(future: impl Future<Output = T>, random: &mut Pauses) -> Option<T> {
    if random.next() % 4 == 0 {
        return Some(block_on(future));
    }
    let count = Counting::new();
    let mut future = pin!(future);
    for _ in 0..random.next() % 4 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&count.waker())) {
            return Some(value);
        }
        if random.next() % 4 == 0 {
            thread::yield_now();
        }
    }
    None
}
