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

/// As the guide to waiting says: such a future may go to another thread, and may be polled where it lies.
#[test]
fn futures_of_one_handle_are_send_and_unpin() {
    use annulus::{Shutdown, broadcast, event, oneshot, watch};

    fn both<F: Send + Unpin>(_: F) {}

    let (_publisher, subscribable) = event::channel(2, String::new);
    let mut subscriber = subscribable.subscribe();
    both(subscriber.recv_async());
    both(subscriber.recv_batch_async(&mut []));
    both(subscriber.wait_async());
    both(subscriber.process_async(String::len));
    both(subscriber.process_batch_async(2, |_, _| ()));
    both(subscriber.stream());
    both(subscriber.into_stream());

    let (_publisher, subscribable) = broadcast::bytes::lossy(64);
    let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    both(subscriber.recv_async(&mut buffer));
    both(subscriber.recv_or_lag_async(&mut buffer));
    both(subscriber.stream());
    both(subscriber.into_stream());

    let (sender, mut receiver) = oneshot::channel::<std::cell::Cell<u64>>();
    both(sender.closed_async());
    both(receiver.recv_async());
    both(receiver.into_future());

    #[cfg(feature = "std")]
    {
        let (sender, mut receiver) = watch::channel(1);
        both(sender.closed_async());
        both(receiver.changed_async());
        both(receiver.recv_async());
        both(receiver.wait_for_async(|number| *number > 1));
    }
    both(Shutdown::new().wait_async());
}

/// A batch of events in a task: it waits for the first one, and has what is there then; one of none is there.
#[test]
fn batch_of_events_waits_for_the_first() {
    let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = [const { String::new() }; 3];
    assert_eq!(block_on(subscriber.recv_batch_async(&mut [])), Ok(0));
    let woken = Counting::new();
    let waker = woken.waker();
    let mut context = Context::from_waker(&waker);
    let mut batch = subscriber.recv_batch_async(&mut buffer);
    assert!(pin!(&mut batch).poll(&mut context).is_pending());
    for text in ["a", "b"] {
        publisher.send(text.to_owned()).unwrap();
    }
    assert_eq!(woken.wakes(), 1);
    assert_eq!(pin!(&mut batch).poll(&mut context), Poll::Ready(Ok(2)));
    drop(batch);
    assert_eq!(buffer.concat(), "ab");
    publisher.send("c".to_owned()).unwrap();
    drop(publisher);
    let length = |text: &String, _| assert_eq!(text, "c");
    assert_eq!(block_on(subscriber.process_batch_async(3, length)), Ok(1));
    assert!(block_on(subscriber.process_async(String::len)).is_err());
    assert!(block_on(subscriber.recv_batch_async(&mut buffer)).is_err());
    assert_eq!(block_on(subscriber.recv_batch_async(&mut [])), Ok(0), "at once");
}
