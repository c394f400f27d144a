//! The drop of the last handle unmaps.

use annulus::memory::Memory;
use annulus::pool;

use crate::memory::asks::{part_of, resident, status};
use crate::memory::rings::{KINDS, same};
use crate::support::alone;

#[test]
fn last_handle_unmaps() {
    alone!();
    for make in KINDS {
        let made = make(Memory::require().prefault()).unwrap();
        let Some(address) = made.address else { continue };
        let part = part_of(address).unwrap();
        let mapped = made.placement().mapped_bytes();
        same(&made, mapped, part.bytes);
        drop(made);
        let found = part_of(address);
        assert!(found.is_none_or(|found| found.start != part.start || found.bytes != part.bytes));
    }
}

#[test]
fn many_rings_leave_nothing() {
    alone!();
    for make in KINDS {
        drop(make(Memory::require().prefault().lock()));
        // What has pages: an allocator may reserve addresses for a thread at any time.
        let before = (resident(), status("VmLck"));
        for _ in 0..20 {
            drop(make(Memory::require().prefault().lock()).unwrap());
        }
        let after = (resident(), status("VmLck"));
        assert_eq!(after.1, before.1);
        // Twenty rings would be more than that. (A sanitizer keeps what is freed for a while, and its tables
        // alone are terabytes.)
        let is_sanitized = status("VmSize") > 1 << 40;
        assert!(
            is_sanitized || after.0 < before.0 + 10 * crate::memory::rings::BYTES,
            "{before:?}, {after:?}"
        );
    }
}

#[test]
fn buffer_keeps_the_slabs_of_its_pool() {
    alone!();
    let memory = Memory::require().lock();
    let before = status("VmLck");
    let pool = pool::BufferPool::with_memory(4096, 16, memory).unwrap();
    let mut buffer = pool.alloc().unwrap();
    drop(pool);
    assert_eq!(status("VmLck"), before + 16 * 4096);
    buffer.fill(7);
    assert!(part_of(buffer.as_ptr().addr()).unwrap().is_locked());
    drop(buffer);
    assert_eq!(status("VmLck"), before);
}
