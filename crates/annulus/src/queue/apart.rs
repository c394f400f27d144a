//! How a handle lives in registers although some of its functions are called.
//!
//! A handle whose methods are inlined is a few numbers in registers, unless something takes its address: then it is in memory, and
//! each message writes it there. So what is rare is done to a copy of the handle, which has an address, and which is the handle again afterwards.

use core::mem::ManuallyDrop;
use core::ptr;

/// Does `slowly` to `end`, from a place of its own. Where `slowly` panics, `end` is as `slowly` left it.
#[inline(always)]
pub(super) fn apart<E, R>(end: &mut E, slowly: impl FnOnce(&mut E) -> R) -> R {
    // SAFETY: a move, because nobody uses `end` before `Back` has moved it back, whatever happens.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(end) });
    // Not beside the copy, in one structure: whoever is given the address of that could get at `end`, for all that a compiler knows.
    let copy = &raw mut copy;
    let back = Back { end, copy };
    // SAFETY: it lives as long as this function, and `Back` looks at it later.
    let result = slowly(unsafe { &mut *copy });
    drop(back);
    result
}

/// Moves what is in `copy` to `end`.
struct Back<'a, E> {
    end: &'a mut E,
    copy: *const ManuallyDrop<E>,
}

impl<E> Drop for Back<'_, E> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: both are places for an `E` (`apart`), and the copy is left behind for good.
        unsafe { ptr::copy_nonoverlapping(self.copy.cast(), self.end, 1) };
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::string::String;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn is_the_same_afterwards() {
        let mut text = String::from("a");
        assert_eq!(apart(&mut text, |text| (text.push('b'), text.len()).1), 2);
        assert_eq!(text, "ab");
    }

    #[test]
    fn is_as_it_was_left_by_a_panic() {
        let mut text = String::from("a");
        let panic = catch_unwind(AssertUnwindSafe(|| {
            apart(&mut text, |text| {
                text.push('b');
                panic!("on purpose");
            });
        }));
        assert!(panic.is_err());
        assert_eq!(text, "ab");
    }
}
