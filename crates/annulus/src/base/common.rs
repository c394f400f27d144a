//! [`Common`]: what all handles of a ring have a share of.

use alloc::sync::{Arc, Weak};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::ptr::NonNull;

use super::aligned::Aligned;

/// An [`Arc`] of a value that lies in [room of its own](Aligned): the pointer is to the value.
pub(crate) struct Common<T> {
    /// [`Aligned::fill`] returned it, for room of which this owns a share.
    value: NonNull<T>,
}

// SAFETY: as an `Arc`.
unsafe impl<T: Send + Sync> Send for Common<T> {}
// SAFETY: as an `Arc`.
unsafe impl<T: Send + Sync> Sync for Common<T> {}

impl<T> Common<T> {
    /// Room for what is to be shared.
    #[inline(always)]
    pub(crate) fn room() -> Room<T> {
        Room(Arc::new_uninit())
    }

    /// The share that [`into_raw`](Self::into_raw) was called on.
    ///
    /// # Safety
    ///
    /// The pointer comes from there, and no other share was made of that one.
    #[inline]
    pub(crate) unsafe fn from_raw(value: NonNull<T>) -> Self {
        Self { value }
    }

    /// The share as a pointer to the value, which nobody gives up unless it becomes a share again.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).value
    }

    /// A share of a value of which somebody has one.
    ///
    /// # Safety
    ///
    /// The pointer is that of a share, which is there until this returns.
    pub(crate) unsafe fn another(value: NonNull<T>) -> Self {
        // SAFETY: the room was made by an `Arc`, of which somebody has a share.
        unsafe { Arc::increment_strong_count(Aligned::around(value).as_ptr()) };
        Self { value }
    }

    /// What leads to the value as long as somebody has a share.
    pub(crate) fn downgrade(&self) -> Weak<Aligned<T>> {
        // SAFETY: as in `another`; this share stays.
        Arc::downgrade(&*ManuallyDrop::new(unsafe { Arc::from_raw(Aligned::around(self.value).as_ptr()) }))
    }
}

/// Room for what is to be shared. It is there before that is made, so that it is made in there.
pub(crate) struct Room<T>(Arc<MaybeUninit<Aligned<T>>>);

impl<T> Room<T> {
    #[inline(always)]
    fn whole(&self) -> NonNull<Aligned<T>> {
        let whole: *const MaybeUninit<Aligned<T>> = Arc::as_ptr(&self.0);
        // SAFETY: an `Arc` points to something.
        unsafe { NonNull::new_unchecked(whole.cast_mut()) }.cast()
    }

    /// Where it will be.
    #[inline(always)]
    pub(crate) fn place(&self) -> NonNull<T> {
        Aligned::place(self.whole())
    }

    /// Puts it there, and returns the first share.
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> Common<T> {
        // SAFETY: the room is new.
        let value = unsafe { Aligned::fill(self.whole(), value) };
        // `Common::drop` gives this share up.
        let _ = Arc::into_raw(self.0);
        Common { value }
    }
}

impl<T> Deref for Common<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this has a share of it, and nobody has it for himself before its drop.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Clone for Common<T> {
    fn clone(&self) -> Self {
        // SAFETY: this is a share.
        unsafe { Self::another(self.value) }
    }
}

impl<T> Drop for Common<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `another`. This share is used no more.
        unsafe { Arc::decrement_strong_count(Aligned::around(self.value).as_ptr()) };
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[repr(align(128))]
    struct OnLines(Arc<()>);

    #[test]
    fn lives_as_long_as_somebody_has_a_share() {
        let unit = Arc::new(());
        let room = Common::room();
        let place = room.place();
        let first = room.fill(OnLines(Arc::clone(&unit)));
        let (second, weak) = (first.clone(), first.downgrade());
        assert_eq!(place, NonNull::from(&*first));
        assert_eq!(NonNull::from(&*second).addr().get() % 128, 0);
        drop(first);
        assert!(weak.upgrade().is_some_and(|room| Arc::ptr_eq(&room.value().0, &unit)));
        // SAFETY: the pointer comes from there.
        drop(unsafe { Common::from_raw(second.into_raw()) });
        assert!(weak.upgrade().is_none());
        assert_eq!(Arc::strong_count(&unit), 1, "the value was dropped once");
    }

    #[test]
    fn an_empty_room_drops_nothing() {
        drop(Common::<OnLines>::room());
    }
}
