//! [`TakeCell`]: a cell in which a topic keeps its publisher while nobody publishes.

use crate::sync::{AtomicBool, Ordering, UnsafeCell, ordering, seeded};

/// A cell for one value, which is taken and given back.
pub(super) struct TakeCell<P> {
    is_full: AtomicBool,
    /// Belongs to whoever has set `is_full` to false, and to nobody while it is true.
    value: UnsafeCell<Option<P>>,
}

// SAFETY: the value goes from thread to thread, and only one thread has it at a time.
unsafe impl<P: Send> Sync for TakeCell<P> {}

impl<P> TakeCell<P> {
    /// With a value.
    pub(super) fn new(value: P) -> Self {
        Self { is_full: AtomicBool::new(true), value: UnsafeCell::new(Some(value)) }
    }

    /// Takes the value, if it is there.
    pub(super) fn take(&self) -> Option<P> {
        // Acquire: pairs with the Release in `give_back`, for all that the last owner did with the value.
        let order = ordering!(Acquire unless "topic_take_relaxed");
        let takes = self.is_full.compare_exchange(true, false, order, Ordering::Relaxed).is_ok();
        if !takes && !seeded!("topic_taken_twice") {
            return None;
        }
        // SAFETY: this thread has set `is_full` to false, so the value is its own until it is given back.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }

    /// Gives the value back.
    ///
    /// # Safety
    ///
    /// The caller has taken a value here, and gives one back for the first time since then.
    pub(super) unsafe fn give_back(&self, value: P) {
        // SAFETY: the caller has taken the value, so the cell is its own.
        self.value.with_mut(|there| unsafe { *there = Some(value) });
        // Release: pairs with the Acquire in `take`.
        self.is_full.store(true, ordering!(Release unless "topic_given_relaxed"));
    }

    /// Whether the value is there.
    pub(super) fn is_full(&self) -> bool {
        // Relaxed: nothing is read by it. Who has learned that somebody took the value sees that.
        self.is_full.load(Ordering::Relaxed)
    }
}
