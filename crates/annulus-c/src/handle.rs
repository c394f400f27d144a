//! [`Handle`]: what a C program has of an object, so that a pointer that is none can be told.
//!
//! An object lies in a cell. The memory of a cell is never given back: a cell that is free waits for the next
//! object of its type. So a look at a cell is sound for every pointer that this module has ever handed out,
//! whether the object is still there or not. The cell's tag says which type of object lies in it, and how
//! many have lain there before; the pointer has the latter, too, in the bits that the alignment of a cell
//! leaves free. So 127 of 128 pointers to an object that was freed are told from one to the object that came
//! behind.

#![allow(clippy::disallowed_types, reason = "no part of an algorithm, and nothing for loom to see")]

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE, ANNULUS_VIEWED};
use crate::tsan;

/// As the bits of a pointer that the generation takes.
const GENERATIONS: u32 = 128;

/// The memory of one object.
#[repr(C, align(128))]
pub(crate) struct Cell<H> {
    /// `H::KIND` and the generation of the object, where one is there; otherwise the generation of the next.
    tag: AtomicU32,
    object: UnsafeCell<MaybeUninit<H>>,
}

/// The cells of a type that are free, the one that has been free for longest first.
pub(crate) struct FreeCells<H>(Mutex<VecDeque<NonNull<Cell<H>>>>);

// SAFETY: cells that nobody has; an object goes in on one thread and comes out on another one.
unsafe impl<H: Send> Sync for FreeCells<H> {}

impl<H> FreeCells<H> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<NonNull<Cell<H>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object that C programs have pointers to.
pub(crate) trait Handle: Send + Sized + 'static {
    /// Its type, as C sees it; no other type has this number. Above 0.
    const KIND: u32;
    /// What C sees.
    type Opaque;

    fn free_cells() -> &'static FreeCells<Self>;

    /// Moves it into a cell, and returns the pointer for C.
    fn hand_out(self) -> *mut Self::Opaque {
        let mut free = Self::free_cells().lock();
        let cell = free.pop_front().unwrap_or_else(|| {
            let (tag, object) = (AtomicU32::new(0), UnsafeCell::new(MaybeUninit::uninit()));
            NonNull::from(Box::leak(Box::new(Cell { tag, object })))
        });
        drop(free);
        // SAFETY: cells live for ever.
        let (tag, object) = unsafe { (&cell.as_ref().tag, cell.as_ref().object.get()) };
        // SAFETY: nobody else has the cell.
        unsafe { object.write(MaybeUninit::new(self)) };
        // Relaxed, here and below: the program hands the pointer to other threads, and orders that.
        let generation = tag.load(Ordering::Relaxed);
        tag.store(tag_of::<Self>(generation), Ordering::Relaxed);
        cell.as_ptr().map_addr(|address| address | generation as usize).cast()
    }
}

const fn tag_of<H: Handle>(generation: u32) -> u32 {
    H::KIND * GENERATIONS + generation
}

/// The cell that `handle` points to, if an object of this type lies in it, and it is the one that the pointer
/// was made for.
///
/// # Safety
///
/// `handle` is null, or this module has handed it out.
#[inline(always)]
unsafe fn cell_of<H: Handle>(handle: *const H::Opaque) -> Done<NonNull<Cell<H>>> {
    let generation = handle.addr() as u32 % GENERATIONS;
    let cell = handle.map_addr(|address| address & !(GENERATIONS as usize - 1)).cast_mut().cast::<Cell<H>>();
    let cell = NonNull::new(cell).ok_or(ANNULUS_INVALID)?;
    // SAFETY: cells of all types begin with the tag, and live for ever.
    let tag = unsafe { &*cell.as_ptr().cast::<AtomicU32>() };
    if tag.load(Ordering::Relaxed) == tag_of::<H>(generation) { Ok(cell) } else { Err(ANNULUS_NOT_A_HANDLE) }
}

/// The object of a pointer that C gives.
///
/// # Safety
///
/// `handle` is null, or a pointer that [`Handle::hand_out`] of any type has returned. Nobody else uses the
/// object for `'a`, or frees it.
#[inline(always)]
pub(crate) unsafe fn object<'a, H: Handle>(handle: *const H::Opaque) -> Done<&'a mut H> {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell_of::<H>(handle) }?;
    // SAFETY: the tag says that an object is there. The caller promises the rest.
    Ok(unsafe { (*cell.as_ref().object.get()).assume_init_mut() })
}

/// As [`object`], for one that several threads may use at once.
///
/// # Safety
///
/// `handle` is null, or a pointer that [`Handle::hand_out`] of any type has returned. Nobody frees the object
/// for `'a`.
pub(crate) unsafe fn shared_object<'a, H: Handle + Sync>(handle: *const H::Opaque) -> Done<&'a H> {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell_of::<H>(handle) }?;
    // SAFETY: the tag says that an object is there. The caller promises the rest, and nobody asks for it by
    // `object`.
    Ok(unsafe { (*cell.as_ref().object.get()).assume_init_ref() })
}

/// Takes the object out of its cell, for the caller to drop. A null pointer is none.
///
/// # Safety
///
/// As of [`object`].
pub(crate) unsafe fn take<H: Handle>(handle: *mut H::Opaque) -> Done<Option<H>> {
    // SAFETY: the caller's promise.
    unsafe { take_unless(handle, |_| false) }
}

/// As [`take`], but not an object that has a view.
///
/// # Safety
///
/// As of [`object`].
pub(crate) unsafe fn take_unless<H: Handle>(
    handle: *mut H::Opaque,
    has_view: impl FnOnce(&H) -> bool,
) -> Done<Option<H>> {
    if handle.is_null() {
        return Ok(None);
    }
    tsan::before_end();
    let mut free = H::free_cells().lock();
    // SAFETY: the caller's promise.
    let cell = unsafe { cell_of::<H>(handle) }?;
    // SAFETY: cells live for ever; the tag says that an object is there.
    let (tag, object) = unsafe { (&cell.as_ref().tag, &*cell.as_ref().object.get()) };
    // SAFETY: as above.
    if has_view(unsafe { object.assume_init_ref() }) {
        return Err(ANNULUS_VIEWED);
    }
    // SAFETY: as above, and from now on it is there no more.
    let object = unsafe { object.assume_init_read() };
    // Under the lock, so two threads can't free one object.
    tag.store((tag.load(Ordering::Relaxed) + 1) % GENERATIONS, Ordering::Relaxed);
    free.push_back(cell);
    Ok(Some(object))
}

/// Where a function leaves what it returns.
///
/// # Safety
///
/// `place` is null, or may be written to.
pub(crate) unsafe fn place<'a, T>(place: *mut T) -> Done<&'a mut MaybeUninit<T>> {
    // SAFETY: the caller's promise; nothing is read.
    unsafe { place.cast::<MaybeUninit<T>>().as_mut() }.ok_or(ANNULUS_INVALID)
}

/// Stores null where a function will leave a handle: so a program that does not look at the status has none.
///
/// # Safety
///
/// As of [`place`].
pub(crate) unsafe fn handle_place<'a, T>(at: *mut *mut T) -> Done<&'a mut *mut T> {
    // SAFETY: the caller's promise.
    Ok(unsafe { place(at) }?.write(ptr::null_mut()))
}

/// The name by which C knows a type of handle, its number, and its cells.
macro_rules! handle {
    ($name:ident = $kind:literal: $Object:ty) => {
        impl $crate::handle::Handle for $Object {
            const KIND: u32 = $kind;
            type Opaque = $name;

            fn free_cells() -> &'static $crate::handle::FreeCells<Self> {
                static CELLS: $crate::handle::FreeCells<$Object> = $crate::handle::FreeCells::new();
                &CELLS
            }
        }
    };
}
pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::*;

    struct One(#[allow(dead_code, reason = "an object with a drop")] Box<u8>);
    struct Two;

    struct OpaqueOne;
    struct OpaqueTwo;

    handle!(OpaqueOne = 1001: One);
    handle!(OpaqueTwo = 1002: Two);

    #[test]
    fn pointer_that_is_no_handle_is_told() {
        let one = One(Box::new(1)).hand_out();
        let two = Two.hand_out();
        // SAFETY: all pointers were handed out, and one thread uses them.
        unsafe {
            assert!(object::<One>(one).is_ok() && object::<Two>(two).is_ok());
            assert_eq!(object::<One>(two.cast()).err(), Some(ANNULUS_NOT_A_HANDLE));
            assert_eq!(object::<One>(ptr::null()).err(), Some(ANNULUS_INVALID));
            assert!(take::<One>(ptr::null_mut()).unwrap().is_none());
            assert!(take::<One>(one).unwrap().is_some());
            assert_eq!(take::<One>(one).err(), Some(ANNULUS_NOT_A_HANDLE));
            assert_eq!(object::<One>(one).err(), Some(ANNULUS_NOT_A_HANDLE));
            // The next object has the cell, and another pointer.
            let next = One(Box::new(2)).hand_out();
            assert_ne!(one, next);
            assert_eq!(one.addr() / 128, next.addr() / 128);
            assert_eq!(take::<One>(one).err(), Some(ANNULUS_NOT_A_HANDLE));
            assert!(take::<One>(next).unwrap().is_some());
            drop(take::<Two>(two));
        }
    }
}
