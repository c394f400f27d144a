//! [`Aligned`]: room for a value that begins on lines of its own, in memory that is aligned for a word only.
//!
//! ```text
//!  Aligned<T>
//! ┌───────────────┬──────┬──────────────────────────────┬─────────┐
//! │               │ here │ T, at a multiple of its own  │         │
//! └───────────────┴──────┴──────────────────────────────┴─────────┘
//! ▲───────────────────┘   the word before the value points to the whole
//! ```
//!
//! Most allocators keep small blocks of the last few sizes at hand, and go past that stock if somebody asks
//! for more alignment than that of a word. So this asks for more room instead, and finds the place itself.
// Decision 0125: no allocation asks for the alignment of a line.

use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

/// As much as the room begins before the value, at most.
const WORDS: usize = 16;

/// What points to the whole.
type Whole = NonNull<()>;

/// Room for a `T`, which it owns.
#[repr(C)]
pub(crate) struct Aligned<T> {
    /// (Others look at the value while somebody has the whole by reference.)
    before: UnsafeCell<MaybeUninit<[u64; WORDS]>>,
    rest: UnsafeCell<Bytes<T>>,
}

/// As many bytes as a `T` has.
#[repr(C, packed(8))]
struct Bytes<T>(MaybeUninit<T>);

// SAFETY: it is a `T`, and a pointer to itself that never changes.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T> Aligned<T> {
    /// Where the value of the room at `whole` lies: always the same place.
    #[inline(always)]
    fn place(whole: NonNull<Self>) -> NonNull<T> {
        const {
            assert!(align_of::<T>() <= WORDS * size_of::<u64>(), "the place lies in the room");
            assert!(align_of::<Self>() <= size_of::<u64>() && align_of::<Self>() >= align_of::<Whole>());
        };
        let first = whole.addr().get() + size_of::<Whole>();
        let place = first.next_multiple_of(align_of::<T>().max(align_of::<Whole>()));
        // SAFETY: the whole begins at a multiple of its own alignment. So the next multiple of that of `T`
        // behind a word is `WORDS` words further at most, and there are as many bytes behind it as a `T` has.
        unsafe { whole.byte_add(place - whole.addr().get()) }.cast()
    }

    /// Returns where the value is that was put there.
    ///
    /// # Safety
    ///
    /// The pointer is to the room, may be used for all of it, and nobody else has it meanwhile. A value is at
    /// [`place`](Self::place).
    #[inline(always)]
    unsafe fn filled(whole: NonNull<Self>) -> NonNull<T> {
        let place = Self::place(whole);
        // SAFETY: the word before the place is in the room (see `place`).
        unsafe { place.cast::<Whole>().sub(1).write(whole.cast()) };
        place
    }

    /// The room in which `value` is.
    ///
    /// # Safety
    ///
    /// [`filled`](Self::filled) has returned this pointer, and the room is still there.
    #[inline]
    unsafe fn around(value: NonNull<T>) -> NonNull<Self> {
        // SAFETY: the word was written by `filled`, and nobody changes it. A pointer that it returned may
        // be used for the whole room.
        unsafe { value.cast::<Whole>().sub(1).read() }.cast()
    }

    /// Room for a value that has it alone.
    #[inline(always)]
    pub(crate) fn room() -> Room<T> {
        Room(NonNull::from(Box::leak(Box::<Self>::new_uninit())).cast())
    }

    /// Drops a value that lies in a room of its own.
    ///
    /// # Safety
    ///
    /// It comes from [`Room::fill`], and nobody uses it any more.
    pub(crate) unsafe fn free(value: NonNull<T>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(Self::around(value).as_ptr()) });
    }
}

/// Room for a value that has it alone. It is there before the value is made, so that the value is made in it.
pub(crate) struct Room<T>(NonNull<Aligned<T>>);

impl<T> Room<T> {
    /// Where the value will be.
    #[inline(always)]
    pub(crate) fn place(&self) -> NonNull<T> {
        Aligned::place(self.0)
    }

    /// The value that was put there, until [`Aligned::free`].
    ///
    /// # Safety
    ///
    /// A value is at [`place`](Self::place).
    #[inline(always)]
    pub(crate) unsafe fn filled(self) -> NonNull<T> {
        // SAFETY: the caller's promise; the room is new.
        unsafe { Aligned::filled(ManuallyDrop::new(self).0) }
    }

    /// Puts the value there, until [`Aligned::free`].
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> NonNull<T> {
        // SAFETY: the room is new, and a `T` is in it from the place on.
        unsafe {
            self.place().write(value);
            self.filled()
        }
    }
}

/// Nothing is in there.
impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        // SAFETY: it was a box of this type.
        drop(unsafe { Box::from_raw(self.0.cast::<MaybeUninit<Aligned<T>>>().as_ptr()) });
    }
}

impl<T> Drop for Aligned<T> {
    fn drop(&mut self) {
        // SAFETY: nobody outside has a room that is not filled, and nobody uses the value any more.
        unsafe { Self::place(NonNull::from(self)).drop_in_place() };
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::rc::Rc;
    use alloc::vec::Vec;

    use super::*;

    #[repr(align(128))]
    struct OnLines(Rc<()>);

    #[test]
    fn begins_on_lines_of_its_own_and_is_dropped_once() {
        let unit = Rc::new(());
        let made: Vec<_> = (0..9).map(|_| Aligned::room().fill(OnLines(Rc::clone(&unit)))).collect();
        assert_eq!(Rc::strong_count(&unit), 10);
        for value in made {
            assert_eq!(value.addr().get() % 128, 0);
            // SAFETY: it comes from there, and is freed once.
            unsafe {
                assert!(Rc::ptr_eq(&value.as_ref().0, &unit));
                Aligned::free(value);
            }
        }
        assert_eq!(Rc::strong_count(&unit), 1);
    }

    #[test]
    fn takes_values_of_any_alignment() {
        fn of<T: Copy + PartialEq>(value: T) {
            let place = Aligned::room().fill(value);
            // SAFETY: as above.
            unsafe {
                assert!(*place.as_ref() == value && place.is_aligned());
                Aligned::free(place);
            }
        }
        of(());
        of(7_u8);
        of([7_u16; 5]);
        of(u128::MAX);
    }
}
