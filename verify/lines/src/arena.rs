//! Memory at the same places in each run: what is allocated while a simulation is made lies one behind the
//! other, from a multiple of 4 KiB on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;

/// More than any simulation takes.
const BYTES: usize = 1 << 26;
const PAGE: usize = 4096;

/// Where the arenas of all threads begin. They are few, and never freed.
static ARENAS: [OnceLock<usize>; 1024] = [const { OnceLock::new() }; 1024];

thread_local! {
    /// Where the arena begins; 0 before there is one.
    static START: Cell<usize> = const { Cell::new(0) };
    /// Behind all that was allocated, while the arena is closed.
    static END: Cell<usize> = const { Cell::new(0) };
    /// Where the next allocation goes; 0 while the arena is closed.
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

struct Arena;

#[global_allocator]
static ARENA: Arena = Arena;

// SAFETY: while a thread's arena is open, each allocation is of bytes behind those of the one before, in a
// block of the system's that is never freed; all others are the system's.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let next = NEXT.get();
        if next == 0 {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        let at = next.next_multiple_of(layout.align());
        let end = at + layout.size();
        if end > START.get() + BYTES {
            return ptr::null_mut();
        }
        NEXT.set(end);
        ptr::with_exposed_provenance_mut(at)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let arenas = ARENAS.iter().map_while(OnceLock::get);
        // (Another thread may free what a simulation has made.)
        if arenas.into_iter().all(|start| at.addr().wrapping_sub(*start) >= BYTES) {
            // SAFETY: it is of the system, and the caller's promise.
            unsafe { System.dealloc(at, layout) };
        }
    }
}

/// Gives this thread an arena, once. What libraries keep for a thread may lie in it, so it is never freed.
pub(crate) fn begin() {
    assert_eq!(START.get(), 0, "one simulation a thread");
    let layout = Layout::from_size_align(BYTES, PAGE).expect("a size and an alignment");
    // SAFETY: it has a size.
    let start = unsafe { System.alloc_zeroed(layout) };
    assert!(!start.is_null(), "no memory");
    START.set(start.expose_provenance());
    assert!(ARENAS.iter().any(|arena| arena.set(START.get()).is_ok()), "too many simulations");
    END.set(START.get());
}

/// What `make` allocates lies in this thread's arena.
pub(crate) fn within<R>(make: impl FnOnce() -> R) -> R {
    NEXT.set(END.get());
    let made = make();
    END.set(NEXT.replace(0));
    made
}

/// What `make` allocates does not, also where the caller is [`within`] it.
pub(crate) fn outside<R>(make: impl FnOnce() -> R) -> R {
    let next = NEXT.replace(0);
    let made = make();
    NEXT.set(next);
    made
}

/// The number of the line with this address, if it is in the arena.
pub(crate) fn line_of(address: usize) -> Option<usize> {
    let at = address.wrapping_sub(START.get());
    (START.get() != 0 && at < BYTES).then_some(at / 64)
}
