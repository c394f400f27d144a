//! A share in a ring, made for speed: it finds a slot without a look at shared memory, and can be given up without its address
//! being taken.

use alloc::sync::Arc;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::Deref;

use super::channel::Shared;
use crate::message::Message;
use crate::ring::{Missing, Sequence, Slots, Whole};

/// An [`Arc`] of what both sides share, a copy of where the slots are, and a drop that moves the `Arc` out of line by value.
///
/// The drop of a plain `Arc` hands its address to a function that is not inlined. A publisher or subscriber that holds one
/// then has an address too, so its cursor lives in memory, and a publisher pays for that with a second store beside each
/// message (see `docs/ARCHITECTURE.md`). With this, a handle whose methods are inlined lives in registers.
pub(super) struct Handle<T: Message> {
    shared: ManuallyDrop<Arc<Shared<T>>>,
    /// Of the ring in `shared`, and therefore alive as long as this handle.
    slots: Slots<T>,
}

impl<T: Message> Handle<T> {
    pub(super) fn new(shared: Shared<T>) -> Self {
        Self::of(Arc::new(shared))
    }

    fn of(shared: Arc<Shared<T>>) -> Self {
        let slots = shared.ring.slots();
        Self { shared: ManuallyDrop::new(shared), slots }
    }

    /// Writes message `sequence`: W1 to W4 of `docs/ORDERING.md`.
    ///
    /// # Safety
    ///
    /// Nobody else writes this slot meanwhile.
    #[inline]
    pub(super) unsafe fn write(&self, sequence: Sequence, message: &T) {
        // SAFETY: `shared` keeps the ring alive; the caller promises the rest.
        unsafe { self.slots.write(sequence, message) }
    }

    /// Copies message `sequence` into `message`, or says why it can't be had.
    #[inline]
    pub(super) fn read<'m>(
        &self,
        sequence: Sequence,
        message: &'m mut MaybeUninit<T>,
    ) -> Result<Whole<'m, T>, Missing> {
        // SAFETY: `shared` keeps the ring alive.
        unsafe { self.slots.read(sequence, message) }
    }
}

impl<T: Message> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.shared))
    }
}

impl<T: Message> Deref for Handle<T> {
    type Target = Shared<T>;

    #[inline]
    fn deref(&self) -> &Shared<T> {
        &self.shared
    }
}

impl<T: Message> Drop for Handle<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this is the drop of the handle: nobody uses the field afterwards, and it was not taken before.
        give_up(unsafe { ManuallyDrop::take(&mut self.shared) });
    }
}

#[cold]
#[inline(never)]
fn give_up<T: Message>(shared: Arc<Shared<T>>) {
    drop(shared);
}
