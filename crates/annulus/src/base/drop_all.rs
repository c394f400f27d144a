//! Panics of code that is not the library's: [`drop_all`], a loop over destructors of the user's that goes on
//! where one of them panics; and `contain`, which calls such code in the middle of a verb, and lets no panic
//! out. [`Contained`] is for values of the user's that drop glue drops one after the other.
//!
//! The first panic goes on once all are dropped, as in a `Vec`. The others end here: a second panic
//! beside the first would end the process. Where the thread is panicking already, that panic is the first.
//!
//! Without `std` no panic can be caught: all are dropped beside the first panic, and a second one ends the
//! process.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
#[cfg(all(feature = "std", not(annulus_loom)))]
use std::any::Any;
#[cfg(all(feature = "std", not(annulus_loom)))]
use std::boxed::Box;
#[cfg(all(feature = "std", not(annulus_loom)))]
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[cfg(all(feature = "std", not(annulus_loom)))]
use crate::sync::seeded;

/// Calls `drop_next` until it returns that nothing is left, also after a panic. So `drop_next` takes out what
/// it drops before it drops it.
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) fn drop_all(mut drop_next: impl FnMut() -> bool) {
    let mut first = None;
    while let Err(panic) = catch_unwind(AssertUnwindSafe(|| while drop_next() {})) {
        if seeded!("drop_all_stops") {
            resume_unwind(panic);
        }
        if first.is_none() && !std::thread::panicking() {
            first = Some(panic);
        } else {
            end_panic(panic);
        }
    }
    if let Some(panic) = first {
        resume_unwind(panic);
    }
}

/// As above. (Under loom a panic is a model that fails.)
#[cfg(not(all(feature = "std", not(annulus_loom))))]
pub(crate) fn drop_all(mut drop_next: impl FnMut() -> bool) {
    struct Rest<F: FnMut() -> bool>(F);
    impl<F: FnMut() -> bool> Drop for Rest<F> {
        fn drop(&mut self) {
            while (self.0)() {}
        }
    }
    if cfg!(annulus_loom) {
        // (Not one look more than there must be: each has its place in the model.)
        while drop_next() {}
        return;
    }
    // Where this panics, the drop goes on; where it does not, that finds nothing.
    let mut rest = Rest(drop_next);
    while (rest.0)() {}
}

/// Hands each of `items` to `drop_one`.
pub(crate) fn drop_each<I>(items: impl IntoIterator<Item = I>, mut drop_one: impl FnMut(I)) {
    let mut items = items.into_iter();
    drop_all(|| items.next().map(&mut drop_one).is_some());
}

/// Drops `count` values that lie next to each other, from `first` on.
///
/// # Safety
///
/// They are there, are the caller's alone, and nobody looks at them afterwards.
pub(crate) unsafe fn drop_values<T>(first: *mut T, count: usize) {
    if core::mem::needs_drop::<T>() {
        // SAFETY: the caller's promise; each comes once, and a panic goes on with the next.
        drop_each(0..count, |index| unsafe { first.add(index).drop_in_place() });
    }
}

/// A value of the user's that is a field or an element beside others of the user's. If the thread panics
/// already where this is dropped (by the destructor of the one before, perhaps), a panic of its own
/// destructor ends here. Otherwise that panic goes on, and is the first one to those dropped afterwards.
pub(crate) struct Contained<T>(ManuallyDrop<T>);

impl<T> Contained<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, nor used again.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for Contained<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Contained<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Contained<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: nobody uses the value after this, and `into_inner` leaves no place that is dropped.
        let mut drop_value = || unsafe { ManuallyDrop::drop(&mut self.0) };
        #[cfg(all(feature = "std", not(annulus_loom)))]
        if core::mem::needs_drop::<T>() && std::thread::panicking() && !seeded!("contained_goes_on") {
            return contain(drop_value);
        }
        drop_value();
    }
}

/// Calls code of an executor or of a user, which may panic, where the caller has something to finish: others
/// to wake, or a message that it has taken. The panic ends here.
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) fn contain(others: impl FnOnce()) {
    if seeded!("waker_panics_for_all") {
        return others();
    }
    if let Err(panic) = catch_unwind(AssertUnwindSafe(others)) {
        end_panic(panic);
    }
}

/// Without `std` a panic can't be caught. One that unwinds ends the process here, by a second one.
#[cfg(all(not(feature = "std"), feature = "async", not(annulus_loom)))]
pub(crate) fn contain(others: impl FnOnce()) {
    struct Abort;
    impl Drop for Abort {
        fn drop(&mut self) {
            panic!("a waker has panicked");
        }
    }
    let abort = Abort;
    others();
    core::mem::forget(abort);
}

/// Under loom a panic is a model that fails.
#[cfg(all(annulus_loom, any(feature = "std", feature = "async")))]
pub(crate) fn contain(others: impl FnOnce()) {
    others();
}

/// Drops what a panic says that ends here. Where that panics, too, what this one says is left alone.
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) fn end_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        core::mem::forget(again);
    }
}
