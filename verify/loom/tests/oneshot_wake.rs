//! A channel for one value whose sides sleep. A lost wake-up is a deadlock, which loom reports, as it does a
//! block that is never freed.
#![cfg(annulus_loom)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use annulus::{RecvError, RecvTimeoutError, oneshot};
use annulus_loom::{BLOCK, block_on, check};
use loom::thread;

/// The receiver sleeps, or not yet, or no more; then it goes, beside the sender.
#[test]
fn a_value_wakes_the_receiver() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let reader = thread::spawn(move || receiver.recv_until(BLOCK));
        assert!(sender.send(7).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(7));
    });
}

#[test]
fn drop_of_the_sender_wakes_the_receiver() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel::<u64>();
        let reader = thread::spawn(move || receiver.recv_until(BLOCK));
        drop(sender);
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
    });
}

#[test]
fn a_value_wakes_a_task() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let reader = thread::spawn(move || block_on(receiver.recv_async()));
        assert!(sender.send(7).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(7));
    });
}

/// A task whose waker is dropped with its last share.
struct Task;

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

/// A future is polled and dropped beside the value, and the next one, of another task, receives it. Loom
/// watches the place of the waker.
#[test]
fn a_task_that_gives_up_takes_its_waker_along() {
    check(|| {
        let task = Arc::new(Task);
        let (sender, mut receiver) = oneshot::channel();
        let writer = thread::spawn(move || sender.send(7));
        let waker = Waker::from(Arc::clone(&task));
        let first = Pin::new(&mut receiver.recv_async()).poll(&mut Context::from_waker(&waker));
        drop(waker);
        let received = match first {
            Poll::Ready(received) => received,
            Poll::Pending => block_on(receiver.recv_async()),
        };
        assert_eq!(received, Ok(7));
        drop(receiver);
        writer.join().unwrap().unwrap();
        assert_eq!(Arc::strong_count(&task), 1, "no waker is left");
    });
}

/// As above, of a future that is forgotten.
#[test]
fn task_that_is_forgotten_is_replaced() {
    check(|| {
        let task = Arc::new(Task);
        let (sender, mut receiver) = oneshot::channel::<u64>();
        let writer = thread::spawn(move || drop(sender));
        let waker = Waker::from(Arc::clone(&task));
        let mut forgotten = Box::pin(receiver.recv_async());
        let first = forgotten.as_mut().poll(&mut Context::from_waker(&waker));
        // (The box stays, too: for as long as the model lasts.)
        std::mem::forget(forgotten);
        drop(waker);
        if let Poll::Ready(received) = first {
            assert_eq!(received, Err(RecvError::CLOSED));
        }
        assert_eq!(block_on(receiver.recv_async()), Err(RecvError::CLOSED));
        drop(receiver);
        writer.join().unwrap();
        assert_eq!(Arc::strong_count(&task), 1, "no waker is left");
    });
}

/// Two tasks wait by the same sender. The second finds the event, and the bit, that the first has made.
#[test]
fn end_of_receiver_wakes_second_task_of_sender() {
    check(|| {
        let (sender, receiver) = oneshot::channel::<u64>();
        let waker = Waker::from(Arc::new(Task));
        let mut first = sender.closed_async();
        assert!(Pin::new(&mut first).poll(&mut Context::from_waker(&waker)).is_pending());
        let asker = thread::spawn(move || receiver.close());
        block_on(sender.closed_async());
        drop(first);
        asker.join().unwrap();
    });
}

/// By its drop, and by its close.
#[test]
fn end_of_the_receiver_wakes_the_sender() {
    for is_dropped in [true, false] {
        check(move || {
            let (sender, receiver) = oneshot::channel::<u64>();
            let asker = thread::spawn(move || {
                if is_dropped {
                    drop(receiver);
                    return None;
                }
                receiver.close();
                Some(receiver)
            });
            block_on(sender.closed_async());
            assert!(sender.send(7).is_err());
            drop(asker.join().unwrap());
        });
    }
}
