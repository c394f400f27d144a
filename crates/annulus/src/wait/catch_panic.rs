//! [`contain`]: calls what is not the library's, in the middle of a verb, and lets no panic out.

/// Calls code of an executor or of a user, which may panic, where the caller has something to finish: others
/// to wake, or a message that it has taken. The panic ends here.
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) fn contain(others: impl FnOnce()) {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    if crate::sync::seeded!("waker_panics_for_all") {
        return others();
    }
    if let Err(panic) = catch_unwind(AssertUnwindSafe(others)) {
        crate::base::drop_all::end_panic(panic);
    }
}

/// Without `std` a panic can't be caught. One that unwinds ends the process here, by a second one.
#[cfg(all(not(feature = "std"), not(annulus_loom)))]
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
#[cfg(annulus_loom)]
pub(crate) fn contain(others: impl FnOnce()) {
    others();
}
