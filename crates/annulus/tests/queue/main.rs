//! Queues: against plain models, between threads, and at their edges.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod edges;
mod model;
mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A message that is counted while it lives.
#[derive(Debug)]
struct Counted {
    number: u64,
    alive: Arc<AtomicUsize>,
}

impl Counted {
    fn new(number: u64, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { number, alive: Arc::clone(alive) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.alive.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "message {} was dropped twice", self.number);
    }
}

/// Whether `action` panics, and with what.
fn panics(action: impl FnOnce()) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(action)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
}
