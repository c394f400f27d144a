//! How a handle stays in registers although some of its functions are not inlined.
//!
//! A handle whose methods are inlined is a few numbers in registers. If something takes its address, it is in
//! memory, and each message writes it there. So a rare step works on a copy of the handle. The copy has an
//! address, and is moved back afterwards.

use core::mem::ManuallyDrop;
use core::ptr;

/// Runs `slow_path` on a copy of `end`, and moves the copy back. Where `slow_path` panics, `end` is as
/// `slow_path` left it.
#[inline(always)]
pub(super) fn outlined<E, R>(end: &mut E, slow_path: impl FnOnce(&mut E) -> R) -> R {
    // SAFETY: a move, because nobody uses `end` before `MoveBack` has moved it back, whatever happens.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(end) });
    // The two are not fields of one structure. Otherwise a function that gets the address of the copy could
    // also reach `end`, as far as the compiler knows.
    let copy = &raw mut copy;
    let back = MoveBack { end, copy };
    // SAFETY: the copy lives as long as this function, and `MoveBack` looks at it later.
    let result = slow_path(unsafe { &mut *copy });
    drop(back);
    result
}

/// Moves `copy` to `end`, on drop.
struct MoveBack<'a, E> {
    end: &'a mut E,
    copy: *const ManuallyDrop<E>,
}

impl<E> Drop for MoveBack<'_, E> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: both are memory for an `E` (`outlined`), and nobody uses the copy afterwards.
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
