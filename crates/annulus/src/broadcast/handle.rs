//! A share in a ring that can be given up without its address being taken.

use alloc::sync::Arc;
use core::mem::ManuallyDrop;
use core::ops::Deref;

/// An [`Arc`] whose drop moves it out of line by value.
///
/// The drop of a plain `Arc` hands its address to a function that is not inlined. A publisher or subscriber that holds one
/// then has an address too, so its cursor lives in memory, and a publisher pays for that with a second store beside each
/// message (see `docs/ARCHITECTURE.md`). With this, a handle whose methods are inlined lives in registers.
pub(super) struct Handle<S>(ManuallyDrop<Arc<S>>);

impl<S> Handle<S> {
    pub(super) fn new(shared: S) -> Self {
        Self(ManuallyDrop::new(Arc::new(shared)))
    }
}

impl<S> Clone for Handle<S> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for Handle<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> Drop for Handle<S> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this is the drop of the handle: nobody uses the field afterwards, and it was not taken before.
        give_up(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

#[cold]
#[inline(never)]
fn give_up<S>(shared: Arc<S>) {
    drop(shared);
}
