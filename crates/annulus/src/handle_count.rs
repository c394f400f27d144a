//! One side of a ring: how many handles it has, and whether the last of them is gone.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, fence, mutated, ordering};

/// The handles of one side, and whether the last of them is gone. That never changes back: a handle is made
/// only from another one of its side.
pub(crate) struct HandleCount {
    count: AtomicUsize,
    is_gone: AtomicBool,
}

impl HandleCount {
    /// With one handle.
    pub(crate) fn new() -> Self {
        Self { count: AtomicUsize::new(1), is_gone: AtomicBool::new(false) }
    }

    /// One handle more; the caller has one.
    pub(crate) fn add(&self) {
        // Relaxed: the caller has a handle, so the count is not 0 and can't become it meanwhile.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// One handle less. Says whether it was the last.
    pub(crate) fn remove(&self) -> bool {
        // Release: pairs with the fence below, for what this handle did before.
        if self.count.fetch_sub(1, ordering!(Release unless "handles_left_relaxed")) != 1
            && !mutated!("handles_gone_with_the_first")
        {
            return false;
        }
        if !mutated!("handles_no_fence") {
            // Acquire: what all the others did comes before the store.
            fence(Ordering::Acquire);
        }
        // Release: pairs with the Acquire in `is_zero`; the last message comes before it.
        self.is_gone.store(true, ordering!(Release unless "close_relaxed"));
        true
    }

    /// How many handles there are. Others may come and go meanwhile.
    pub(crate) fn count(&self) -> usize {
        // Relaxed: a number for who asks. Who has learned of a handle in another way counts it.
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the last handle is gone. Who sees true also sees what all of them did.
    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        // Acquire: pairs with the Release in `remove`.
        self.is_gone.load(Ordering::Acquire)
    }
}
