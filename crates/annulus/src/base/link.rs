//! [`Link`]: a pointer that is set once, to what lives as long as it.
//!
//! Lists and trees that only grow are made of links: a thread that follows one needs no lock, and nothing is
//! freed before the whole is.

use alloc::boxed::Box;
use core::ptr::NonNull;

use super::aligned::OwnLines;
use crate::sync::{AtomicPtr, Ordering, ordering};

/// Where something is linked once and for all: it lives as long as the link.
pub(crate) struct Link<T>(AtomicPtr<T>);

impl<T> Link<T> {
    /// Nothing is linked.
    pub(crate) fn empty() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// What is linked.
    pub(crate) fn get(&self) -> Option<&T> {
        // Acquire: pairs with the Release in `put`. SAFETY: what is linked lives as long as the link.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Links `new`; `Err` is what somebody else has linked before.
    pub(crate) fn put(&self, new: T) -> Result<&T, &T> {
        let new = Self::made(new);
        let success = ordering!(Release unless "gate_link_relaxed");
        // Release: pairs with the Acquire in `get`, and with the one here.
        match self.0.compare_exchange(core::ptr::null_mut(), new, success, Ordering::Acquire) {
            // SAFETY: it is linked now.
            Ok(_) => Ok(unsafe { &*new }),
            Err(theirs) => {
                // SAFETY: it was made above, and nobody else has seen it.
                unsafe { Self::free(new) };
                // SAFETY: it is linked.
                Err(unsafe { &*theirs })
            }
        }
    }
}

impl<T> Link<T> {
    /// What is on lines of its own lies in [an allocation for that](OwnLines).
    const IS_ON_LINES: bool = align_of::<T>() > align_of::<u128>();

    fn made(new: T) -> *mut T {
        if Self::IS_ON_LINES { OwnLines::new().fill(new).as_ptr() } else { Box::into_raw(Box::new(new)) }
    }

    /// # Safety
    ///
    /// It comes from [`made`](Self::made), is not null, and nobody uses it any more.
    #[cold]
    #[inline(never)]
    unsafe fn free(made: *mut T) {
        if Self::IS_ON_LINES {
            // SAFETY: the caller's promise.
            unsafe { OwnLines::free(NonNull::new_unchecked(made)) };
        } else {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

impl<T> Drop for Link<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Relaxed: nobody else has what the link is a part of any more.
        let linked = self.0.load(Ordering::Relaxed);
        if !linked.is_null() {
            // SAFETY: it was linked once, and nobody follows the link any more.
            unsafe { Self::free(linked) };
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    #[test]
    fn value_on_lines_stays_on_them() {
        #[repr(align(64))]
        struct OnLines(Arc<()>);

        let (link, unit) = (Link::empty(), Arc::new(()));
        for turn in 0..2 {
            let linked = link.put(OnLines(Arc::clone(&unit)));
            assert!(linked.is_ok() == (turn == 0));
        }
        let linked: &OnLines = link.get().unwrap();
        assert!(Arc::ptr_eq(&linked.0, &unit) && core::ptr::from_ref(linked).addr() % 64 == 0);
        drop(link);
        assert_eq!(Arc::strong_count(&unit), 1);
    }

    /// The thread that comes second gets what is there, and what it brought is dropped.
    #[test]
    fn linked_value_stays() {
        let (link, [first, second]) = (Link::empty(), [(); 2].map(Arc::new));
        assert!(link.put(Arc::clone(&first)).is_ok_and(|linked| Arc::ptr_eq(linked, &first)));
        assert!(link.put(Arc::clone(&second)).is_err_and(|theirs| Arc::ptr_eq(theirs, &first)));
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        drop(link);
        assert_eq!(Arc::strong_count(&first), 1);
    }
}
