//! The counters of a pipeline: each has one writer, a thread of the pipeline, and is read by snapshots.

use crate::sync::{AtomicU64, Ordering};

/// A number that one thread counts up and others read now and then.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`. Only one thread may do that.
    #[inline]
    pub(super) fn add(&self, count: u64) {
        // Relaxed, both: there is one writer, and a reader only needs some value that was there.
        self.0.store(self.0.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    /// Replaces the number.
    pub(super) fn set(&self, number: u64) {
        // Relaxed: as above.
        self.0.store(number, Ordering::Relaxed);
    }

    /// The number, which may be behind its writer.
    pub(super) fn get(&self) -> u64 {
        // Relaxed: as above.
        self.0.load(Ordering::Relaxed)
    }
}

/// What a writer of a ring has put into it. Writers and readers do not share cache lines.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Sent(pub(super) Counter);

/// What a reader of a ring has taken from it, and lost.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Received {
    pub(super) received: Counter,
    pub(super) lost: Counter,
}

/// What a thread of a stage has done.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Work {
    /// How many batches it has received.
    pub(super) batches: Counter,
    /// How long it worked on them, in nanoseconds.
    pub(super) busy_ns: Counter,
}
