//! How a handle lives in registers although some of its functions are called.
//!
//! A handle whose methods are inlined is a few numbers in registers, unless something takes its address: then it is in memory, and
//! each message writes it there. So what is rare is done to a copy of the handle, which has an address, and which is the handle again afterwards.

use core::mem::ManuallyDrop;
use core::ptr;

/// Does `slow_path` to `end`, from a place of its own. Where `slow_path` panics, `end` is as `slow_path` left it.
#[inline(always)]
pub(super) fn outlined<E, R>(end: &mut E, slow_path: impl FnOnce(&mut E) -> R) -> R {
    // SAFETY: a move, because nobody uses `end` before `MoveBack` has moved it back, whatever happens.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(end) });
    // Not beside the copy, in one structure: whoever is given the address of that could get at `end`, for all that a compiler knows.
    let copy = &raw mut copy;
    let back = MoveBack { end, copy };
    // SAFETY: it lives as long as this function, and `MoveBack` looks at it later.
    let result = slow_path(unsafe { &mut *copy });
    drop(back);
    result
}

/// Moves what is in `copy` to `end`.
struct MoveBack<'a, E> {
    end: &'a mut E,
    copy: *const ManuallyDrop<E>,
}

impl<E> Drop for MoveBack<'_, E> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: both are places for an `E` (`outlined`), and the copy is left behind for good.
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
        assert_eq!(outlined(&mut text, |text| (text.push('b'), text.len()).1), 2);
        assert_eq!(text, "ab");
    }

    #[test]
    fn is_as_it_was_left_by_a_panic() {
        let mut text = String::from("a");
        let panic = catch_unwind(AssertUnwindSafe(|| {
            outlined(&mut text, |text| {
                text.push('b');
                panic!("on purpose");
            });
        }));
        assert!(panic.is_err());
        assert_eq!(text, "ab");
    }
}
