//! [`Signal`]: an executor of one task, which sleeps until it is woken.

use std::sync::Arc;
use std::task::Wake;

use loom::sync::{Condvar, Mutex};

/// What a task's waker tells.
#[derive(Default)]
pub struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

impl Signal {
    /// Sleeps until the waker was woken since the last call.
    ///
    /// # Panics
    ///
    /// Not unless another thread of the model did.
    pub fn wait(&self) {
        let mut is_woken = self.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = self.woken.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }
}
