//! Tasks that wait: each is polled when it is woken, and otherwise not; a future that is dropped loses
//! nothing; and wakers may do what they like.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

use annulus::RecvError;

use super::{join, spawn};
use crate::rings::{Publish, Receive, Ring};
use crate::support::Pauses;
use crate::support::tasks::{Counting, Inline, block_on};

const TASKS: usize = if cfg!(miri) { 5 } else { 1_000 };

/// How long nothing happens.
const IDLE: Duration = Duration::from_millis(if cfg!(miri) { 0 } else { 30 });

/// A thousand tasks wait; one message wakes each of them once, and each receives it.
pub(crate) fn one_message_wakes_a_thousand<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscribers: Vec<_> = (0..TASKS).map(|_| R::subscribe(&source)).collect();
    let mut waiting: Vec<_> =
        subscribers.iter_mut().map(|subscriber| (Counting::new(), subscriber.recv_async())).collect();
    for (count, future) in &mut waiting {
        assert_eq!(count.poll(future), Poll::Pending);
    }
    publisher.publish(7).unwrap();
    for (count, future) in &mut waiting {
        assert_eq!(count.wakes(), 1);
        assert_eq!(count.poll(future), Poll::Ready(Ok(7)));
        assert_eq!(count.alive(), 0, "a waker is left");
    }
}

/// A task that waits is not woken before there is something, and then once; so it is with a task that waits
/// for room. Neither leaves a waker.
pub(crate) fn idle_task_is_polled_once<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    let count = Counting::new();
    let mut future = subscriber.recv_async();
    assert_eq!(count.poll(&mut future), Poll::Pending);
    thread::sleep(IDLE);
    assert_eq!(count.wakes(), 0);
    publisher.publish(7).unwrap();
    assert_eq!((count.wakes(), count.poll(&mut future)), (1, Poll::Ready(Ok(7))));
    drop(future);
    assert_eq!(count.alive(), 0);
    if !R::LOSSLESS {
        return;
    }
    let mut number = 0;
    while publisher.try_publish(number).is_ok() {
        number += 1;
    }
    let mut future = publisher.publish_async(number);
    assert_eq!(count.poll(&mut future), Poll::Pending);
    thread::sleep(IDLE);
    assert_eq!(count.wakes(), 1);
    let mut received = 0;
    while count.wakes() == 1 {
        assert_eq!(subscriber.try_recv(), Ok(received));
        received += 1;
    }
    assert_eq!(count.poll(&mut future), Poll::Ready(Ok(())));
    drop(future);
    assert_eq!(count.alive(), 0);
    (received..=number).for_each(|number| assert_eq!(subscriber.try_recv(), Ok(number)));
}

/// A task that is polled anew with another waker, by an executor that polls too often, or on another thread:
/// the last waker is woken, and only that.
pub(crate) fn last_waker_is_woken<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    let [first, second] = [Counting::new(), Counting::new()];
    let mut future = subscriber.recv_async();
    for count in [&first, &first, &second, &first, &second, &second] {
        assert_eq!(count.poll(&mut future), Poll::Pending);
    }
    assert_eq!((first.alive(), second.alive()), (0, 1), "one waker is kept");
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let third = Counting::new();
            assert_eq!(third.poll(&mut future), Poll::Pending);
            publisher.publish(7).unwrap();
            // An executor that polls late.
            thread::sleep(IDLE);
            assert_eq!((third.wakes(), third.poll(&mut future)), (1, Poll::Ready(Ok(7))));
        });
        other.join().unwrap();
    });
    assert_eq!((first.wakes(), second.wakes()), (0, 0));
}

/// Futures of both sides that are dropped at random points, beside each other on two threads: every message
/// is received, once, in order, or counted as lost.
pub(crate) fn dropped_future_loses_nothing<R: Ring>() {
    const FUTURES: u64 = if cfg!(miri) { 30 } else { 10_000 };
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    // A future that is dropped has published nothing.
    let writer = spawn(move || {
        let mut random = Pauses::new(1);
        let mut number = 0;
        for _ in 0..FUTURES {
            let count = Counting::new();
            let mut future = publisher.publish_async(number);
            for _ in 0..random.next() % 4 {
                if count.poll(&mut future).is_ready() {
                    number += 1;
                    break;
                }
                random.rest();
            }
            drop(future);
            count.await_nobody();
        }
        number
    });
    let mut random = Pauses::new(2);
    let mut next = subscriber.cursor();
    let mut received = 0;
    loop {
        let count = Counting::new();
        let mut polls = random.next() % 4;
        let mut future = subscriber.recv_async();
        let found = loop {
            match count.poll(&mut future) {
                Poll::Ready(found) => break Some(found),
                Poll::Pending if polls == 0 => break None,
                Poll::Pending => {
                    polls -= 1;
                    random.rest();
                }
            }
        };
        drop(future);
        count.await_nobody();
        match found {
            Some(Ok(number)) => {
                assert!(number >= next && (number == next || !R::LOSSLESS), "{number} after {next}");
                received += 1;
                next = number + 1;
            }
            Some(Err(_)) => break,
            None => thread::yield_now(),
        }
    }
    let published = join([writer])[0];
    assert_eq!((subscriber.received(), subscriber.received() + subscriber.lagged()), (received, published));
}

/// A stream of messages waits like any task. At its end it says so, however often it is polled then, and it
/// leaves no waker.
pub(crate) fn stream_stays_at_its_end<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let Some(mut messages) = R::subscribe(&source).into_stream() else { return };
    drop(source);
    let count = Counting::new();
    for number in 0..9 {
        assert_eq!(count.poll_next(&mut messages), Poll::Pending);
        assert_eq!(count.wakes() as u64, number);
        publisher.publish(number).unwrap();
        assert_eq!(count.wakes() as u64, number + 1);
        assert_eq!(count.poll_next(&mut messages), Poll::Ready(Some(number)));
        assert!(!messages.is_terminated());
    }
    // What was published is there after the close.
    assert_eq!(count.poll_next(&mut messages), Poll::Pending);
    publisher.publish(9).unwrap();
    drop(publisher);
    assert_eq!(count.poll_next(&mut messages), Poll::Ready(Some(9)));
    assert!(!messages.is_terminated(), "it has not found the end yet");
    for _ in 0..3 {
        assert_eq!(count.poll_next(&mut messages), Poll::Ready(None));
        assert!(messages.is_terminated());
    }
    assert_eq!((count.wakes(), count.alive()), (10, 0));
}

/// A task that is polled inside its `wake`, by the thread that publishes, and that waits again there.
pub(crate) fn task_may_receive_inside_its_wake<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    let received = Arc::new(Mutex::new(Vec::new()));
    let task = Inline::run({
        let received = Arc::clone(&received);
        async move {
            while let Ok(number) = subscriber.recv_async().await {
                received.lock().unwrap().push(number);
            }
        }
    });
    for number in 0..20 {
        publisher.publish(number).unwrap();
        assert_eq!(received.lock().unwrap().last(), Some(&number));
    }
    drop((publisher, source));
    assert!(task.is_over());
    assert_eq!(*received.lock().unwrap(), (0..20).collect::<Vec<_>>());
}

/// A waker that panics disturbs neither the publisher nor the other waiters, which are woken.
pub(crate) fn waker_that_panics_disturbs_no_other_task<R: Ring>() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            resume_unwind(Box::new("on purpose"));
        }
    }
    let (mut publisher, source) = R::new(4);
    let mut subscribers: Vec<_> = (0..6).map(|_| R::subscribe(&source)).collect();
    let mut waiting: Vec<_> =
        subscribers.iter_mut().map(|subscriber| (Counting::new(), subscriber.recv_async())).collect();
    for (number, (count, future)) in waiting.iter_mut().enumerate() {
        let waker = if number == 2 { Waker::from(Arc::new(Panics)) } else { count.waker() };
        assert_eq!(future.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
    }
    publisher.publish(7).unwrap();
    for (number, (count, future)) in waiting.iter_mut().enumerate() {
        assert_eq!(count.wakes(), usize::from(number != 2));
        assert_eq!(count.poll(future), Poll::Ready(Ok(7)));
    }
    drop(waiting);
    publisher.publish(8).unwrap();
    for subscriber in &mut subscribers {
        assert_eq!(block_on(subscriber.recv_async()), Ok(8));
    }
}

/// A waker whose destructor panics, or whose clone does, takes nothing with it: neither the message that a
/// task has received, nor what a publisher has claimed.
pub(crate) fn waker_that_panics_when_it_goes_loses_nothing<R: Ring>() {
    struct Mine;
    impl Wake for Mine {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Mine {
        fn drop(&mut self) {
            resume_unwind(Box::new("on purpose"));
        }
    }
    /// Polls with a waker that is the library's alone afterwards.
    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        let mine = Waker::from(Arc::new(Mine));
        let polled = Pin::new(&mut *future).poll(&mut Context::from_waker(&mine));
        // (The panic of the handle that has the last one.)
        let _ = catch_unwind(AssertUnwindSafe(|| drop(mine)));
        polled
    }
    /// A clone that panics ends the future, which has taken nothing.
    fn end<F: Future + Unpin>(mut future: F) {
        assert!(poll(&mut future).is_pending());
        let waker = not_to_be_cloned();
        let polled = catch_unwind(AssertUnwindSafe(|| {
            Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending()
        }));
        assert!(polled.is_err());
    }
    let count = Counting::new();
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    let mut next = 0;
    for _ in 0..3 {
        end(subscriber.recv_async());
        let mut future = subscriber.recv_async();
        assert_eq!(poll(&mut future), Poll::Pending);
        // Not woken: the message is found by a poll.
        publisher.publish(next).unwrap();
        assert_eq!(count.poll(&mut future), Poll::Ready(Ok(next)));
        drop(future);
        let mut future = subscriber.recv_async();
        assert_eq!(poll(&mut future), Poll::Pending);
        // With another waker in its place.
        assert_eq!(count.poll(&mut future), Poll::Pending);
        assert_eq!(poll(&mut future), Poll::Pending);
        drop(future);
        next += 1;
    }
    if R::LOSSLESS {
        let mut sent = next;
        while publisher.try_publish(sent).is_ok() {
            sent += 1;
        }
        for _ in 0..5 {
            end(publisher.publish_async(sent));
            let mut future = publisher.publish_async(sent);
            assert_eq!(poll(&mut future), Poll::Pending);
            let published = loop {
                assert_eq!(subscriber.try_recv(), Ok(next));
                next += 1;
                if let Poll::Ready(published) = count.poll(&mut future) {
                    break published;
                }
            };
            assert_eq!(published, Ok(()));
            sent += 1;
            drop(future);
            while publisher.try_publish(sent).is_ok() {
                sent += 1;
            }
        }
        (next..sent).for_each(|number| assert_eq!(subscriber.try_recv(), Ok(number)));
        next = sent;
    }
    publisher.publish(next).unwrap();
    assert_eq!(subscriber.try_recv(), Ok(next));
    assert_eq!(count.alive(), 0);
}

/// A waker that panics where it is cloned.
fn not_to_be_cloned() -> Waker {
    const TABLE: RawWakerVTable =
        RawWakerVTable::new(|_| resume_unwind(Box::new("on purpose")), |_| (), |_| (), |_| ());
    // SAFETY: none of the functions uses the pointer.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
}

/// A close wakes the waiters for a message and the waiters for room; both are told.
pub(crate) fn close_wakes_tasks_of_both_sides<R: Ring>() {
    let (publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    let count = Counting::new();
    let mut future = subscriber.recv_async();
    assert_eq!(count.poll(&mut future), Poll::Pending);
    publisher.close();
    assert_eq!((count.wakes(), count.poll(&mut future)), (1, Poll::Ready(Err(RecvError::CLOSED))));

    if R::LOSSLESS {
        let (mut publisher, source) = R::new(2);
        let _subscriber = R::subscribe(&source);
        let closer = publisher.closer();
        while publisher.try_publish(1).is_ok() {}
        let count = Counting::new();
        let mut future = publisher.publish_async(2);
        assert_eq!(count.poll(&mut future), Poll::Pending);
        closer.close();
        assert_eq!(count.wakes(), 1);
        assert!(count.poll(&mut future).map(|result| result.is_err()) == Poll::Ready(true));
    }
}

/// Two threads; on each the ring's end is a task, or a thread that blocks, in turn.
pub(crate) fn ends_may_be_tasks_or_threads<R: Ring>() {
    const MESSAGES: u64 = if cfg!(miri) { 20 } else { 5_000 };
    let (mut publisher, source) = R::new(3);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    let writer = spawn(move || {
        for number in 0..MESSAGES {
            match number % 3 {
                0 => publisher.publish(number).unwrap(),
                1 => block_on(publisher.publish_async(number)).unwrap(),
                _ => {
                    while publisher.try_publish(number).is_err() {
                        thread::yield_now();
                    }
                }
            }
        }
    });
    let mut next = 0;
    while let Ok(number) = if next % 2 == 0 { subscriber.recv() } else { block_on(subscriber.recv_async()) } {
        assert!(number >= next && (number == next || !R::LOSSLESS));
        next = number + 1;
    }
    join([writer]);
    assert_eq!(subscriber.received() + subscriber.lagged(), MESSAGES);
}
