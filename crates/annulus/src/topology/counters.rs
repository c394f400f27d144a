//! The counters of a pipeline: each has one writer, a thread of the pipeline, and is read by snapshots.

use crate::sync::{AtomicU64, Ordering};

/// A number that one thread counts up and others read now and then.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`. Only one thread may do that.
    #[inline]
    pub(super) fn add(&self, count: u64) {
        // Relaxed: there is one writer.
        let number = self.0.load(Ordering::Relaxed);
        // Release: pairs with `get`. Who reads that a message was sent finds it in the ring, too.
        self.0.store(number + count, Ordering::Release);
    }

    /// Replaces the number.
    pub(super) fn set(&self, number: u64) {
        // Release: pairs with `get`, as above.
        self.0.store(number, Ordering::Release);
    }

    /// The number, which may be behind its writer.
    pub(super) fn get(&self) -> u64 {
        // Acquire: pairs with `add` and `set`.
        self.0.load(Ordering::Acquire)
    }
}

/// What a writer of a ring has put into it. Writers and readers do not share cache lines.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct SentCount(pub(super) Counter);

/// What a reader of a ring has taken from it, and lost.
#[derive(Default)]
#[repr(align(128))]
#[allow(clippy::struct_field_names, reason = "it is what this one counts")]
pub(super) struct Received {
    pub(super) received: Counter,
    pub(super) lost: Counter,
    /// How many messages were left there, where nobody but the reader can say so.
    pub(super) left: Counter,
}

/// What a thread of a stage has done.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Work {
    /// How often it has called its function.
    pub(super) calls: Counter,
    /// How long that took, in nanoseconds.
    pub(super) busy_ns: Counter,
    /// When it ended, in nanoseconds since the build; 0 before.
    pub(super) ended_ns: Counter,
}
