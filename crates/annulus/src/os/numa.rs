//! Memory of one NUMA node (Linux, feature `numa`).

/// A node on which memory is to lie; `None` leaves it to the system.
pub(crate) type NumaNode = Option<usize>;

/// Why memory is not on the node that was asked for: the system's error number, or `None` where nobody can be
/// asked.
pub(crate) type Refused = Option<i32>;

/// What blocks that are bound begin at and are a multiple of, at least: a page.
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
pub(crate) fn page() -> usize {
    // SAFETY: it takes a constant and touches no memory.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// Binds whole pages to `node`: those that are not there yet will come from it, and those that are there are
/// moved.
///
/// # Safety
///
/// The `bytes` from `start` on are the caller's; both are multiples of [`page`].
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
pub(crate) unsafe fn bind(start: *mut u8, bytes: usize, node: usize) -> Result<(), Refused> {
    let mut mask = [0_usize; NODES / usize::BITS as usize];
    // The system says the same of a node that it does not have.
    let word = mask.get_mut(node / usize::BITS as usize).ok_or(Some(libc::EINVAL))?;
    *word = 1 << (node % usize::BITS as usize);
    // SAFETY: the caller's promise; the mask has as many bits as are named.
    unsafe { mbind(start, bytes, libc::MPOL_BIND, &mask, MOVE | STRICT) }
}

/// Gives pages that were bound back to the system's choice, before somebody else gets them.
///
/// # Safety
///
/// As of [`bind`].
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
pub(crate) unsafe fn unbind(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. Where it fails, later pages come from where they need not; nothing else.
    let _ = unsafe { mbind(start, bytes, libc::MPOL_DEFAULT, &[], 0) };
}

/// The highest node that can be named, and one.
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
const NODES: usize = 1024;

/// `MPOL_MF_STRICT` and `MPOL_MF_MOVE`: move what is elsewhere, and say so if that fails.
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
const STRICT: libc::c_int = 1;
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
const MOVE: libc::c_int = 2;

/// The system call `mbind(2)`.
///
/// # Safety
///
/// As of [`bind`].
#[cfg(all(target_os = "linux", feature = "numa", not(miri)))]
unsafe fn mbind(
    start: *mut u8,
    bytes: usize,
    mode: libc::c_int,
    mask: &[usize],
    flags: libc::c_int,
) -> Result<(), Refused> {
    // The kernel reads one bit less than it is told.
    let bits = if mask.is_empty() { 0 } else { mask.len() * usize::BITS as usize + 1 };
    // SAFETY: the range is the caller's pages, and the mask has as many bits as are said.
    let code = unsafe { libc::syscall(libc::SYS_mbind, start, bytes, mode, mask.as_ptr(), bits, flags) };
    if code == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error()) }
}

#[cfg(not(all(target_os = "linux", feature = "numa", not(miri))))]
pub(crate) fn page() -> usize {
    1
}

/// Nobody can be asked.
///
/// # Safety
///
/// None is needed.
#[cfg(not(all(target_os = "linux", feature = "numa", not(miri))))]
pub(crate) unsafe fn bind(_: *mut u8, _: usize, _: usize) -> Result<(), Refused> {
    Err(None)
}

/// Nothing was bound.
///
/// # Safety
///
/// None is needed.
#[cfg(not(all(target_os = "linux", feature = "numa", not(miri))))]
pub(crate) unsafe fn unbind(_: *mut u8, _: usize) {}
