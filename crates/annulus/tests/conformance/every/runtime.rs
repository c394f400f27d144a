//! Tasks of a runtime with several threads (tokio): futures that `select!` and timeouts drop, tasks that move
//! between threads, executors that poll too often or too late, and threads that block at the other end.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::rings::{Publish, Receive, Ring};
use crate::support::Pauses;
use crate::support::runtime::{Capricious, FUTURES, move_on, soon, tokio_of};
use crate::support::tasks::{Counting, Task};

/// Messages of a test that drops no future.
const MESSAGES: u64 = if cfg!(debug_assertions) { 500 } else { 10_000 };

/// Numbers in order, and none left out on a lossless ring.
struct InOrder {
    lossless: bool,
    next: u64,
    count: u64,
}

impl InOrder {
    fn of<R: Ring>(subscriber: &R::Subscriber) -> Self {
        Self { lossless: R::LOSSLESS, next: subscriber.cursor(), count: 0 }
    }

    fn received(&mut self, number: u64) {
        let Self { lossless, next, count } = self;
        assert!(number >= *next && (number == *next || !*lossless), "{number} after {next}");
        (*next, *count) = (number + 1, *count + 1);
    }

    /// At the end: what came and what was counted as lost is what was published.
    fn is_all(&self, subscriber: &impl Receive, published: u64) {
        let all = (subscriber.received(), subscriber.received() + subscriber.lagged());
        assert_eq!(all, (self.count, published));
    }
}

/// Futures of both sides that `select!` drops at random points: each message that was published is received,
/// once, in order, or counted as lost; one whose future was dropped is not there.
pub(crate) fn select_loses_nothing<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    let enough = Arc::new(AtomicBool::new(false));
    let runtime = tokio_of(3);
    let writer = runtime.spawn({
        let enough = Arc::clone(&enough);
        async move {
            let (mut random, mut number, mut futures) = (Pauses::new(1), 0, 0);
            while futures < FUTURES || !enough.load(Ordering::Relaxed) {
                futures += 1;
                tokio::select! {
                    published = publisher.publish_async(number) => {
                        published.unwrap();
                        number += 1;
                        // Where it never waits, a task that does not give way keeps the tasks that it wakes
                        // from running: the runtime has them follow it on its thread.
                        if number % 4 == 0 {
                            yield_now().await;
                        }
                    }
                    () = soon(&mut random) => {}
                }
            }
            number
        }
    });
    let reader = async move {
        let (mut random, mut numbers, mut futures) = (Pauses::new(2), InOrder::of::<R>(&subscriber), 0);
        loop {
            futures += 1;
            enough.store(futures >= FUTURES, Ordering::Relaxed);
            tokio::select! {
                found = subscriber.recv_async() => match found {
                    Ok(number) => numbers.received(number),
                    Err(_) => return (subscriber, numbers),
                },
                () = soon(&mut random) => {}
            }
        }
    };
    runtime.block_on(async {
        let (subscriber, numbers) = tokio::spawn(reader).await.unwrap();
        numbers.is_all(&subscriber, writer.await.unwrap());
    });
}

/// A timeout that comes first drops a future that waits, of either side; the next one goes on where it would
/// have. Then timeouts that are about as long as the publisher's pauses.
pub(crate) fn timeout_loses_nothing<R: Ring>() {
    const SHORT: Duration = Duration::from_millis(2);
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    let runtime = tokio_of(1);
    let first = runtime.block_on(async {
        assert!(timeout(SHORT, subscriber.recv_async()).await.is_err());
        publisher.publish_async(0).await.unwrap();
        assert_eq!(timeout(super::STUCK, subscriber.recv_async()).await, Ok(Ok(0)));
        let mut first = 1;
        if R::LOSSLESS {
            while publisher.try_publish(first).is_ok() {
                first += 1;
            }
            assert!(timeout(SHORT, publisher.publish_async(first)).await.is_err());
            for number in 1..first {
                assert_eq!(timeout(super::STUCK, subscriber.recv_async()).await, Ok(Ok(number)));
            }
            assert!(timeout(SHORT, subscriber.recv_async()).await.is_err(), "it was not published");
        }
        first
    });
    let end = first + MESSAGES.min(100);
    let writer = super::spawn(move || {
        for number in first..end {
            publisher.publish(number).unwrap();
            thread::sleep(SHORT * (number % 3) as u32 / 2);
        }
    });
    runtime.block_on(async {
        let mut numbers = InOrder { count: first, ..InOrder::of::<R>(&subscriber) };
        loop {
            match timeout(SHORT, subscriber.recv_async()).await {
                Ok(Ok(number)) => numbers.received(number),
                Ok(Err(_)) => break,
                Err(_elapsed) => {}
            }
        }
        numbers.is_all(&subscriber, end);
    });
    super::join([writer]);
}

/// Tasks of both sides that go on, after each wake-up, on the other one of two threads; the reader's future
/// waited before, on a third.
pub(crate) fn tasks_move_between_threads<R: Ring>() {
    let (mut publisher, source) = R::new(3);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    let mut reader: Task<'static, _> = Box::pin(async move {
        let mut numbers = InOrder::of::<R>(&subscriber);
        while let Ok(number) = subscriber.recv_async().await {
            numbers.received(number);
        }
        (subscriber, numbers)
    });
    let here = Counting::new();
    assert!(here.poll(&mut reader).is_pending());
    let writer: Task<'static, _> = Box::pin(async move {
        for number in 0..MESSAGES {
            publisher.publish_async(number).await.unwrap();
            if number % 4 == 0 {
                yield_now().await;
            }
        }
    });
    let runtimes = [tokio_of(1), tokio_of(1)];
    let homes = || runtimes.each_ref().map(|runtime| Handle::clone(runtime.handle()));
    let (((subscriber, numbers), _), ((), moves)) =
        runtimes[0].block_on(async { tokio::join!(move_on(reader, homes()), move_on(writer, homes())) });
    numbers.is_all(&subscriber, MESSAGES);
    assert!(moves as u64 >= MESSAGES / 4);
    assert_eq!((here.wakes(), here.alive()), (0, 0));
}

/// Both sides are polled when nobody has woken them, with another waker, and late when somebody has.
pub(crate) fn futures_polled_too_often_and_too_late_lose_nothing<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    drop(source);
    let runtime = tokio_of(2);
    let writer = runtime.spawn(async move {
        let mut random = Pauses::new(3);
        for number in 0..MESSAGES {
            Capricious { future: publisher.publish_async(number), random: &mut random }.await.unwrap();
        }
    });
    let reader = runtime.spawn(async move {
        let mut random = Pauses::new(4);
        let mut numbers = InOrder::of::<R>(&subscriber);
        while let Ok(number) = (Capricious { future: subscriber.recv_async(), random: &mut random }).await {
            numbers.received(number);
        }
        (subscriber, numbers)
    });
    runtime.block_on(async {
        writer.await.unwrap();
        let (subscriber, numbers) = reader.await.unwrap();
        numbers.is_all(&subscriber, MESSAGES);
    });
}

/// A thread in a verb that blocks at one end, and a task at the other; and the other way round.
pub(crate) fn one_end_blocks_and_the_other_awaits<R: Ring>() {
    for task_reads in [true, false] {
        let (mut publisher, source) = R::new(3);
        let mut subscriber = R::subscribe(&source);
        drop(source);
        let mut numbers = InOrder::of::<R>(&subscriber);
        let runtime = tokio_of(1);
        let (subscriber, numbers) = if task_reads {
            let writer = super::spawn(move || {
                (0..MESSAGES).for_each(|number| publisher.publish(number).unwrap());
            });
            let read = runtime.block_on(async move {
                while let Ok(number) = subscriber.recv_async().await {
                    numbers.received(number);
                }
                (subscriber, numbers)
            });
            super::join([writer]);
            read
        } else {
            let reader = super::spawn(move || {
                while let Ok(number) = subscriber.recv() {
                    numbers.received(number);
                }
                (subscriber, numbers)
            });
            runtime.block_on(async move {
                for number in 0..MESSAGES {
                    publisher.publish_async(number).await.unwrap();
                }
            });
            super::join([reader]).remove(0)
        };
        numbers.is_all(&subscriber, MESSAGES);
    }
}

/// A thousand tasks on all threads of a runtime; each message wakes those of them that wait, and all receive
/// it.
pub(crate) fn thousand_tasks_receive_each_message<R: Ring>() {
    const TASKS: usize = if cfg!(debug_assertions) { 200 } else { 1_000 };
    let (mut publisher, source) = R::new(2);
    let received = Arc::new(AtomicUsize::new(0));
    let runtime = tokio_of(3);
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (mut subscriber, received) = (R::subscribe(&source), Arc::clone(&received));
            runtime.spawn(async move {
                let mut next = 0;
                while let Ok(number) = subscriber.recv_async().await {
                    assert_eq!(number, next, "nobody publishes before all have received");
                    next += 1;
                    received.fetch_add(1, Ordering::Relaxed);
                }
                next
            })
        })
        .collect();
    for number in 0..4 {
        // Now and then all of them wait, now and then some are still on their way.
        thread::sleep(Duration::from_millis(number % 2));
        publisher.publish(number).unwrap();
        while received.load(Ordering::Relaxed) < TASKS * (number as usize + 1) {
            thread::yield_now();
        }
    }
    drop((publisher, source));
    runtime.block_on(async {
        for task in tasks {
            assert_eq!(task.await.unwrap(), 4);
        }
    });
}
