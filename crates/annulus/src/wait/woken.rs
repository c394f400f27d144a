//! [`Woken`]: a waker for tests, which counts.

use alloc::sync::Arc;
use std::task::{Wake, Waker};

use crate::sync::{AtomicU32, Ordering};

/// How often its waker was woken.
#[derive(Default)]
pub(super) struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    pub(super) fn waker(self: &Arc<Self>) -> Waker {
        Arc::clone(self).into()
    }

    pub(super) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
