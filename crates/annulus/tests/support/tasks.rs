//! Small executors, and wakers that tell.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use futures_util::stream::FusedStream;

/// A future of any type.
pub(crate) type Task<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream of any type.
pub(crate) type Messages = Pin<Box<dyn FusedStream<Item = u64> + Send>>;

/// A waker that counts.
#[derive(Default)]
pub(crate) struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Counting {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Arc::clone(self).into()
    }

    /// How often it was woken.
    pub(crate) fn wakes(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// How many wakers there are.
    pub(crate) fn alive(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }

    /// Until no waker is left: a thread that is about to wake may have one for another moment.
    pub(crate) fn await_nobody(self: &Arc<Self>) {
        let begun = Instant::now();
        while self.alive() > 0 {
            assert!(begun.elapsed() < super::STUCK, "a waker is left");
            thread::yield_now();
        }
    }

    pub(crate) fn poll<F: Future + Unpin>(self: &Arc<Self>, future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(&self.waker()))
    }

    pub(crate) fn poll_next(self: &Arc<Self>, messages: &mut Messages) -> Poll<Option<u64>> {
        messages.as_mut().poll_next(&mut Context::from_waker(&self.waker()))
    }
}

/// Unparks a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for `future`. It polls after each wake-up, and otherwise not.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    block_on_until(future, None).expect("it had all the time")
}

/// As [`block_on`]; drops the future once `deadline` has passed.
pub(crate) fn block_on_until<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return None,
            },
        }
    }
}

/// A task that is polled inside its `wake`, on whichever thread that is.
pub(crate) struct Inline {
    task: Mutex<Option<Task<'static, ()>>>,
    /// Wake-ups while it was polled.
    missed: AtomicUsize,
}

impl Inline {
    /// Polls the task once, and then inside each `wake`.
    pub(crate) fn run(task: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        let this = Arc::new(Self { task: Mutex::new(Some(Box::pin(task))), missed: AtomicUsize::new(0) });
        Arc::clone(&this).wake();
        this
    }

    pub(crate) fn is_over(&self) -> bool {
        self.task.lock().unwrap().is_none()
    }
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        self.missed.fetch_add(1, Ordering::SeqCst);
        while let Ok(mut task) = self.task.try_lock() {
            if self.missed.swap(0, Ordering::SeqCst) == 0 {
                return;
            }
            let waker = Waker::from(Arc::clone(&self));
            let mut context = Context::from_waker(&waker);
            if task.as_mut().is_some_and(|task| task.as_mut().poll(&mut context).is_ready()) {
                *task = None;
            }
            drop(task);
            if self.missed.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }
}
