//! Messages that are counted, and panics that are expected.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A message that is counted while it lives.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) number: u64,
    alive: Arc<AtomicUsize>,
}

impl Counted {
    pub(crate) fn new(number: u64, alive: &Arc<AtomicUsize>) -> Self {
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

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic is what is asked for at the moment: then it is no failure.
#[allow(dead_code, reason = "for a fuzzer's panic hook")]
pub(crate) fn is_expected() -> bool {
    EXPECTED.get()
}

/// Whether `action` panics, and with what.
pub(crate) fn panics(action: impl FnOnce()) -> Option<String> {
    EXPECTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(action));
    EXPECTED.set(false);
    let payload = result.err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
}
