//! [`Link`]: a pointer that is set once, to what lives as long as it.
//!
//! Lists and trees that only grow are made of links: whoever follows one needs no lock, and nothing is freed
//! before the whole is.

use alloc::boxed::Box;

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
        let new = Box::into_raw(Box::new(new));
        let success = ordering!(Release unless "gate_link_relaxed");
        // Release: pairs with the Acquire in `get`, and with the one here.
        match self.0.compare_exchange(core::ptr::null_mut(), new, success, Ordering::Acquire) {
            // SAFETY: it is linked now.
            Ok(_) => Ok(unsafe { &*new }),
            Err(theirs) => {
                // SAFETY: it comes from a `Box`, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: it is linked.
                Err(unsafe { &*theirs })
            }
        }
    }
}

impl<T> Link<T> {
    /// Takes what is linked off.
    pub(crate) fn take(&mut self) -> Option<Box<T>> {
        // Relaxed, both: nobody else has what the link is a part of any more. (So it is no swap, which is a
        // locked instruction.)
        let linked = self.0.load(Ordering::Relaxed);
        self.0.store(core::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: it was linked once, so it comes from a `Box`, and nobody follows the link any more.
        (!linked.is_null()).then(|| unsafe { Box::from_raw(linked) })
    }
}

impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    /// Who comes second gets what is there, and what it brought is dropped.
    #[test]
    fn what_is_linked_stays() {
        let (mut link, [first, second]) = (Link::empty(), [(); 2].map(Arc::new));
        assert!(link.put(Arc::clone(&first)).is_ok_and(|linked| Arc::ptr_eq(linked, &first)));
        assert!(link.put(Arc::clone(&second)).is_err_and(|theirs| Arc::ptr_eq(theirs, &first)));
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        assert!(link.get().is_some() && link.take().is_some());
        assert!(link.get().is_none());
    }
}
