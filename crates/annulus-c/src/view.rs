//! [`View`]: what the views of all handles have in common: how they begin, how they are used, and how they
//! end.

use crate::handle::{Handle, object, place};
use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_UNSUPPORTED};

/// The version of the views and of the rules of `annulus_inline.h`. A library takes no other.
pub const ANNULUS_VIEW_VERSION: u32 = 2;

/// What `annulus_inline.h` has of a handle.
pub(crate) trait View: Sized {
    /// Whose view it is.
    type Of: Handle;

    /// One that was ended, or never begun.
    fn ended() -> Self;

    /// Its handle; null where it was ended.
    fn handle(&self) -> *mut <Self::Of as Handle>::Opaque;

    /// The handle continues by its own functions, behind what was done through this.
    ///
    /// # Safety
    ///
    /// `annulus_inline.h` has used this by its rules, and `of` is its handle.
    unsafe fn give_back(self, of: &mut Self::Of) -> Done;
}

/// The place of a view that begins: it is one that was ended, for now.
///
/// # Safety
///
/// `view` is null, or may be written to.
pub(crate) unsafe fn begin<'a, V: View>(view: *mut V, version: u32) -> Done<&'a mut V> {
    // SAFETY: the caller's promise.
    let view = unsafe { place(view) }?.write(V::ended());
    if version == ANNULUS_VIEW_VERSION { Ok(view) } else { Err(ANNULUS_UNSUPPORTED) }
}

/// A view that `annulus_inline.h` has used, and its handle.
///
/// # Safety
///
/// `view` is null, or points to a view that this library has filled; no other thread uses it.
#[inline(always)]
pub(crate) unsafe fn used<'a, V: View>(view: *mut V) -> Done<(&'a mut V, &'a mut V::Of)> {
    // SAFETY: the caller's promise.
    let view = unsafe { view.as_mut() }.ok_or(ANNULUS_INVALID)?;
    // SAFETY: a thread that uses the view is the one that uses its handle.
    let of = unsafe { object::<V::Of>(view.handle()) }?;
    Ok((view, of))
}

/// Ends a view. One that is null or was ended is no error.
///
/// # Safety
///
/// As of [`used`], and `annulus_inline.h` has used it by its rules.
pub(crate) unsafe fn end<V: View>(view: *mut V) -> Done {
    // SAFETY: the caller's promise.
    let Some(view) = (unsafe { view.as_mut() }) else { return Ok(()) };
    let view = core::mem::replace(view, V::ended());
    if view.handle().is_null() {
        return Ok(());
    }
    // SAFETY: a thread that uses the view is the one that uses its handle.
    let of = unsafe { object::<V::Of>(view.handle()) }?;
    // SAFETY: it is the view's handle; the caller promises the rest.
    unsafe { view.give_back(of) }
}
