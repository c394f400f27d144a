//! [`Woken`]: a waker for tests, which counts.

use alloc::sync::Arc;
use std::sync::Mutex;
use std::task::{Wake, Waker};

/// How often its waker was woken.
#[derive(Default)]
pub(crate) struct Woken(Mutex<u32>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap() += 1;
    }
}

impl Woken {
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Arc::clone(self).into()
    }

    pub(crate) fn count(&self) -> u32 {
        *self.0.lock().unwrap()
    }
}
