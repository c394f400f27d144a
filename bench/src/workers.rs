//! The executors on which tasks run: tokio's, with one thread or with two.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::cores::{Cores, pin};

/// An executor whose threads stay on the cores of a row.
pub struct Workers(Runtime);

impl Workers {
    /// One is the calling thread, whose core is its own. Two are threads of the executor, with a core each,
    /// which take each other's tasks; the calling thread sleeps meanwhile.
    ///
    /// # Panics
    ///
    /// If there is no thread to be had.
    pub fn new(count: usize, cores: Cores) -> Self {
        let started = AtomicUsize::new(0);
        let place = move || {
            let number = started.fetch_add(1, Ordering::Relaxed);
            pin(if number.is_multiple_of(2) { cores.here } else { cores.there });
        };
        let runtime = match count {
            1 => Builder::new_current_thread().build(),
            _ => Builder::new_multi_thread().worker_threads(count).on_thread_start(place).build(),
        };
        Self(runtime.expect("there are threads to be had"))
    }

    /// Runs a task.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.0.spawn(task)
    }

    /// Waits for a task, while all of them run.
    ///
    /// # Panics
    ///
    /// If it panicked.
    pub fn join<T>(&self, task: JoinHandle<T>) -> T {
        self.0.block_on(task).expect("what it received was what was sent")
    }
}
