//! [`block_on`]: an executor of one task, which sleeps until its [`Signal`] comes.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

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

/// What `future` says at its end, for which this thread sleeps.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(Arc::clone(&signal));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        signal.wait();
    }
}
