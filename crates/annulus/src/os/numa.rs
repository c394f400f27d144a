//! NUMA nodes: where memory lies, and how it is moved (Linux, feature `numa`).

use core::ptr;
use std::io;
use std::vec::Vec;

use super::mapping::{Pages, page_bytes};

/// The system's error number.
type Code = i32;

/// The highest node that can be named, and one.
const NODES: usize = 1024;

/// `MPOL_MF_STRICT` and `MPOL_MF_MOVE`: move what is elsewhere, and say so if that fails.
const STRICT: libc::c_int = 1;
const MOVE: libc::c_int = 2;

/// Binds `pages` to `node`: pages that are not there yet will come from it, and those that are there are
/// moved. If it `may_spill`, pages come from other nodes where this one has none left.
pub(crate) fn bind(pages: &Pages, node: usize, may_spill: bool) -> Result<(), Code> {
    let mut mask = [0_usize; NODES / usize::BITS as usize];
    // The system returns this error, too, for a node that it does not have.
    let word = mask.get_mut(node / usize::BITS as usize).ok_or(libc::EINVAL)?;
    *word = 1 << (node % usize::BITS as usize);
    let mode = if may_spill { libc::MPOL_PREFERRED } else { libc::MPOL_BIND };
    let flags = if may_spill { MOVE } else { MOVE | STRICT };
    let (start, bytes) = (pages.start().as_ptr(), pages.bytes());
    // The kernel reads one bit less than it is told.
    let bits = NODES + 1;
    // SAFETY: the pages are mapped, and no byte changes; the mask has as many bits as are read.
    let told = unsafe { libc::syscall(libc::SYS_mbind, start, bytes, mode, mask.as_ptr(), bits, flags) };
    if told == 0 { Ok(()) } else { Err(last_error()) }
}

/// The node on which the first page of `pages` lies that is not on `wanted`. `Ok(None)`: all are there.
pub(crate) fn elsewhere(pages: &Pages, wanted: usize) -> Result<Option<usize>, Code> {
    const AT_ONCE: usize = 1024;
    let page = page_bytes();
    let start = pages.start().as_ptr();
    let mut addresses = Vec::with_capacity(AT_ONCE);
    let mut nodes = [0 as libc::c_int; AT_ONCE];
    let mut offsets = (0..pages.bytes()).step_by(page);
    loop {
        addresses.clear();
        addresses.extend(offsets.by_ref().take(AT_ONCE).map(|offset| start.wrapping_add(offset)));
        if addresses.is_empty() {
            return Ok(None);
        }
        let (count, list, to) = (addresses.len(), addresses.as_ptr(), ptr::null::<libc::c_int>());
        // SAFETY: it moves nothing, because it names no nodes; there is room for an answer for each page.
        let told = unsafe { libc::syscall(libc::SYS_move_pages, 0, count, list, to, nodes.as_mut_ptr(), 0) };
        if told != 0 {
            // Unreached: a system that forbids to ask
            return Err(last_error());
        }
        for &node in &nodes[..count] {
            // A negative number is an error: the page is not there.
            match usize::try_from(node) {
                Ok(node) if node == wanted => {}
                Ok(node) => return Ok(Some(node)),
                // Unreached: pages that were there, and were swapped out
                Err(_) => return Err(-node),
            }
        }
    }
}

/// The node of the core on which the calling thread runs now.
pub(crate) fn here() -> Result<usize, Code> {
    let (mut core, mut node): (libc::c_uint, libc::c_uint) = (0, 0);
    // SAFETY: it writes two numbers; the third pointer is unused since Linux 2.6.24.
    let told = unsafe {
        libc::syscall(libc::SYS_getcpu, &raw mut core, &raw mut node, ptr::null_mut::<libc::c_void>())
    };
    if told == 0 { Ok(node as usize) } else { Err(last_error()) }
}

fn last_error() -> Code {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
