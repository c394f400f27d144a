//! [`Scribbler`]: a thread that writes anything to the memory of a ring, while others use it.
#![allow(clippy::disallowed_types, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// It calls a closure with one number after the other, which are as good as random, until it is dropped.
pub(crate) struct Scribbler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scribbler {
    pub(crate) fn new(mut scribble: impl FnMut(u64) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut number = 1_u64;
            while !told.load(Ordering::Relaxed) {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                scribble(number);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Scribbler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(joined, Some(Ok(()))), "the scribbler has panicked");
    }
}
