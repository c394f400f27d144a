//! The counting allocator, and what the tests ask it.
#![allow(clippy::disallowed_types, reason = "what it counts is none of the library's atomics")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// Calls of the allocator, in either direction.
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that were taken and not given back.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The same, on all threads.
static BYTES_OF_ALL: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches an atomic and
// a thread-local cell that needs no allocation and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get().wrapping_add(layout.size())));
        BYTES_OF_ALL.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get().wrapping_sub(layout.size())));
        BYTES_OF_ALL.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `action` calls the allocator, on this thread.
pub(super) fn allocations(action: impl FnOnce()) -> u64 {
    let before = CALLS.with(Cell::get);
    action();
    CALLS.with(Cell::get) - before
}

#[test]
fn counting_counts() {
    // What nobody looks at the compiler may leave out.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 2);
}

/// What this thread has taken and not given back.
pub(super) fn bytes() -> usize {
    BYTES.with(Cell::get)
}

/// What all threads have taken and not given back.
#[cfg_attr(any(not(feature = "std"), miri, annulus_loom), allow(dead_code, reason = "of pipelines"))]
pub(super) fn bytes_of_all() -> usize {
    BYTES_OF_ALL.load(Ordering::Relaxed)
}

/// Runs `action`, which drops all that it makes, and fails if memory is left.
pub(super) fn gives_back(name: &str, mut action: impl FnMut()) {
    // What is made once for all is made now.
    action();
    let before = bytes();
    action();
    assert_eq!(bytes(), before, "{name}");
}

/// Sends and receives in step, so that nobody waits, after a first round in which those that join find their
/// places.
pub(super) fn steady(mut step: impl FnMut(u64)) {
    step(0);
    assert_eq!(allocations(|| (1..100).for_each(&mut step)), 0);
}
