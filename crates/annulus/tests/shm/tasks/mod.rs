//! Tasks, notifiers, selects and workers at rings between processes.
//!
//! ```text
//! broadcast.rs   those who receive from broadcast rings, and a publisher at the gate
//! fellows.rs     those who receive from a ring of several publishers
//! queue.rs       both sides of queues
//! thread.rs      the thread that sleeps in their place: when it is there, and what it costs
//! child.rs       the other process
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod broadcast;
mod child;
mod fellows;
mod queue;
mod thread;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::process::Child;
use annulus::shm::Invitation;

/// How long nothing comes.
const QUIET: Duration = Duration::from_millis(300);

/// A process in this role, and the invitation to what it has made.
fn maker(role: &str) -> (Child, Invitation) {
    let child = Child::new(role);
    let invitation = Invitation::receive(&child.socket).unwrap();
    (child, invitation)
}

/// A process in this role, at a ring of this one, as soon as it has joined.
fn guest(role: &str, invitation: &Invitation) -> Child {
    let child = Child::new(role);
    invitation.send(&child.socket).unwrap();
    child.heard();
    child
}

/// What wakes an executor of one task.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A future on a thread of its own.
struct Running<T> {
    polls: Arc<AtomicU64>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Running<T> {
    fn new<F: Future<Output = T>>(future: impl FnOnce() -> F + Send + 'static) -> Self {
        let polls = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&polls);
        let thread = std::thread::spawn(move || {
            let waker = Arc::new(Unpark(std::thread::current())).into();
            let mut future = pin!(future());
            loop {
                count.fetch_add(1, Ordering::SeqCst);
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
                std::thread::park();
            }
        });
        Self { polls, thread }
    }

    fn polls(&self) -> u64 {
        self.polls.load(Ordering::SeqCst)
    }

    /// It waits, and nobody polls it meanwhile.
    fn is_idle_after(&self, polls: u64) {
        while self.polls() < polls {
            std::thread::yield_now();
        }
        std::thread::sleep(QUIET);
        assert_eq!(self.polls(), polls, "nobody polls a task that waits");
    }

    fn end(self) -> T {
        until(|| self.thread.is_finished());
        self.thread.join().unwrap()
    }
}

/// Until it is true.
fn until(is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never is");
        std::thread::sleep(Duration::from_millis(1));
    }
}
