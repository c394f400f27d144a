//! [`OwnLines`]: an allocation for a value that begins on lines of its own. Before the value it says where
//! the allocation begins, and how large it is.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::allocation::{Allocation, Before};

/// An allocation for a value that has it alone. It is there before the value is made, so that the value is
/// made in it.
pub(crate) struct OwnLines<T> {
    allocation: Allocation,
    dst: NonNull<T>,
}

impl<T> OwnLines<T> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let layout = Layout::new::<T>();
        let before = Before { bytes: size_of::<Allocation>(), alignment: align_of::<Allocation>() };
        let (allocation, start) =
            Allocation::new(layout, before, false).unwrap_or_else(|| handle_alloc_error(layout));
        Self { allocation, dst: start.cast() }
    }

    /// Where the value will be.
    #[inline(always)]
    pub(crate) fn dst(&self) -> NonNull<T> {
        self.dst
    }

    /// The value that was put there, until it is [freed](Self::free).
    ///
    /// # Safety
    ///
    /// A value is at [`dst`](Self::dst).
    #[inline(always)]
    pub(crate) unsafe fn filled(self) -> NonNull<T> {
        let Self { allocation, dst } = *ManuallyDrop::new(self);
        // SAFETY: `new` asked for as much before `dst`.
        unsafe { dst.cast::<Allocation>().sub(1).write(allocation) };
        dst
    }

    /// Puts the value there, until it is [freed](Self::free).
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> NonNull<T> {
        // SAFETY: the allocation is new, and a `T` is in it from `dst` on.
        unsafe {
            self.dst.write(value);
            self.filled()
        }
    }

    /// Drops a value that lies in an allocation of its own.
    ///
    /// # Safety
    ///
    /// [`filled`](Self::filled) has returned this pointer, and nobody uses it any more.
    pub(crate) unsafe fn free(value: NonNull<T>) {
        // SAFETY: `filled` wrote it, and nobody changes it. A pointer that it returned may be used for the
        // whole allocation.
        let allocation = unsafe { value.cast::<Allocation>().sub(1).read() };
        // (The allocation goes last, after a destructor that panics, too.)
        let _allocation = Self { allocation, dst: value };
        // SAFETY: the caller's promise.
        unsafe { value.drop_in_place() };
    }
}

/// Nothing is in there.
impl<T> Drop for OwnLines<T> {
    fn drop(&mut self) {
        // SAFETY: this has it, and nobody uses it any more.
        unsafe { self.allocation.free() };
    }
}

#[cfg(test)]
mod tests {
    use alloc::rc::Rc;
    use alloc::vec::Vec;

    use super::*;

    #[repr(align(128))]
    struct OnLines(Rc<()>);

    #[test]
    fn value_begins_on_lines_of_its_own_and_is_dropped_once() {
        let unit = Rc::new(());
        let made: Vec<_> = (0..9).map(|_| OwnLines::new().fill(OnLines(Rc::clone(&unit)))).collect();
        assert_eq!(Rc::strong_count(&unit), 10);
        for value in made {
            assert_eq!(value.addr().get() % 128, 0);
            // SAFETY: it comes from there, and is freed once.
            unsafe {
                assert!(Rc::ptr_eq(&value.as_ref().0, &unit));
                OwnLines::free(value);
            }
        }
        assert_eq!(Rc::strong_count(&unit), 1);
    }

    #[test]
    fn takes_values_of_any_alignment() {
        fn of<T: Copy + PartialEq>(value: T) {
            let filled = OwnLines::new().fill(value);
            // SAFETY: as above.
            unsafe {
                assert!(*filled.as_ref() == value && filled.is_aligned());
                OwnLines::free(filled);
            }
        }
        of(());
        of(7_u8);
        of([7_u16; 5]);
        of(u128::MAX);
    }
}
