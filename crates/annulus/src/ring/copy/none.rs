//! No vector copy here: words serve every size.

pub(super) const AVAILABLE: bool = false;
pub(super) const MIN_BYTES: usize = 1;

/// # Safety
///
/// Never called.
pub(super) unsafe fn copy(_to: *mut u8, _from: *const u8, _bytes: usize) {
    unreachable!("no vector copy on this target")
}
