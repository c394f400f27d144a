//! A runtime with threads (tokio), and what makes its tasks' lives hard.

use std::future::{Future, pending, poll_fn};
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use super::Pauses;
use super::tasks::Task;

/// How many futures each side makes on each ring where they are dropped at random: in release what the issue
/// of it asks for, elsewhere fewer, because these tests run with sanitizers and emulators, too.
pub(crate) const FUTURES: u64 = if cfg!(debug_assertions) { 4_000 } else { 100_000 };

/// A runtime of so many threads.
pub(crate) fn tokio_of(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_time().build().unwrap()
}

/// The other branch of a `select!`: it is ready at once, after some polls, seldom after a while, and now and
/// then never: then the first branch must be woken.
pub(crate) async fn soon(random: &mut Pauses) {
    match random.next() % 1024 {
        0 => tokio::time::sleep(Duration::from_micros(random.next() % 1000)).await,
        number if number % 16 == 1 => pending().await,
        number => {
            for _ in 0..number % 4 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// A future of an executor that polls it when nobody has woken it, with a waker that it soon replaces, and
/// late when somebody has.
pub(crate) struct Capricious<'r, F> {
    pub(crate) future: F,
    pub(crate) random: &'r mut Pauses,
}

impl<F: Future + Unpin> Future for Capricious<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, random } = &mut *self;
        let dice = random.next();
        if dice % 4 == 0 {
            // Too late: at another turn.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        for _ in 0..dice / 4 % 3 {
            // Too often: nobody has woken it; and this waker wakes nobody.
            if let Poll::Ready(value) = Pin::new(&mut *future).poll(&mut Context::from_waker(Waker::noop())) {
                return Poll::Ready(value);
            }
        }
        let polled = Pin::new(future).poll(context);
        if polled.is_pending() && dice / 16 % 4 == 0 {
            context.waker().wake_by_ref();
        }
        polled
    }
}

/// Polls `task` in turn on two runtimes, on the other one after each wake-up, until it is over; what it
/// returns, and how often it has moved.
pub(crate) async fn move_on<T: Send + 'static>(mut task: Task<'static, T>, homes: [Handle; 2]) -> (T, usize) {
    let mut moves = 0;
    loop {
        match homes[moves % 2].spawn(until_woken(task)).await.unwrap() {
            Ok(value) => return (value, moves),
            Err(waits) => task = waits,
        }
        moves += 1;
    }
}

/// Polls `task` once. Where it waits, returns it when it is woken.
async fn until_woken<T>(mut task: Task<'static, T>) -> Result<T, Task<'static, T>> {
    let mut is_woken = false;
    let ready = poll_fn(|context| {
        if replace(&mut is_woken, true) { Poll::Ready(None) } else { task.as_mut().poll(context).map(Some) }
    });
    ready.await.ok_or(task)
}
