//! [`Order`]: what a ring orders between threads, as `ThreadSanitizer` is told it.
//!
//! A program that is built with `-fsanitize=thread` sees none of the accesses to atomics here, because the
//! library is not built with it, and it knows no fences. So it would take the messages of correct programs
//! for races. Where it is there, each function says what it orders, by `__tsan_release` before a message goes
//! and `__tsan_acquire` after one came. What the library itself reads and writes is not looked at meanwhile:
//! the runtime sees its calls of `memcpy` and `free`, and nothing of what orders them.
//!
//! The four functions are weak: without `ThreadSanitizer` their addresses are 0, and this is one look at one
//! of them.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{Ordering, fence};
use std::sync::Arc;

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod hooks {
    use super::{c_char, c_int};

    #[repr(C)]
    pub(super) struct Hooks {
        pub(super) acquire: Option<unsafe extern "C" fn(usize)>,
        pub(super) release: Option<unsafe extern "C" fn(usize)>,
        pub(super) ignore_begin: Option<unsafe extern "C" fn(*const c_char, c_int)>,
        pub(super) ignore_end: Option<unsafe extern "C" fn(*const c_char, c_int)>,
    }

    // Rust has no weak symbols, and `dlsym` finds none in a program that is linked statically.
    core::arch::global_asm!(
        ".weak __tsan_acquire",
        ".weak __tsan_release",
        ".weak AnnotateIgnoreWritesBegin",
        ".weak AnnotateIgnoreWritesEnd",
        ".pushsection .data.rel.ro.annulus_tsan_hooks, \"aw\", %progbits",
        ".balign 8",
        ".globl annulus_tsan_hooks",
        ".hidden annulus_tsan_hooks",
        "annulus_tsan_hooks:",
        ".8byte __tsan_acquire",
        ".8byte __tsan_release",
        ".8byte AnnotateIgnoreWritesBegin",
        ".8byte AnnotateIgnoreWritesEnd",
        ".popsection",
    );

    unsafe extern "C" {
        static annulus_tsan_hooks: Hooks;
    }

    #[inline(always)]
    pub(super) fn hooks() -> &'static Hooks {
        // SAFETY: four addresses, written by the linker before anything runs, and by nobody else.
        unsafe { &annulus_tsan_hooks }
    }
}

/// Where nobody has it, or we can't ask.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
mod hooks {
    use super::{c_char, c_int};

    pub(super) struct Hooks {
        pub(super) acquire: Option<unsafe extern "C" fn(usize)>,
        pub(super) release: Option<unsafe extern "C" fn(usize)>,
        pub(super) ignore_begin: Option<unsafe extern "C" fn(*const c_char, c_int)>,
        pub(super) ignore_end: Option<unsafe extern "C" fn(*const c_char, c_int)>,
    }

    pub(super) fn hooks() -> &'static Hooks {
        &Hooks { acquire: None, release: None, ignore_begin: None, ignore_end: None }
    }
}

use hooks::hooks;

/// Runs what a function of the library does, whose reads and writes are not looked at.
#[inline(always)]
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    if let Some(begin) = hooks().ignore_begin {
        // SAFETY: its function, with the place in the source, which may be null. The other one follows.
        unsafe { begin(core::ptr::null(), 0) };
    }
    let done = work();
    if let Some(end) = hooks().ignore_end {
        // SAFETY: as above.
        unsafe { end(core::ptr::null(), 0) };
    }
    done
}

#[cold]
fn acquire(address: usize) {
    if let Some(acquire) = hooks().acquire.filter(|_| address != 0) {
        // SAFETY: its function; the address is a word's in this process.
        unsafe { acquire(address) };
    }
}

#[cold]
fn release(address: usize) {
    if let Some(release) = hooks().release.filter(|_| address != 0) {
        // SAFETY: as in `acquire`.
        unsafe { release(address) };
    }
}

/// Of what belongs to no ring, or to several handles of one ring that know nothing of each other.
static OF_ALL: [u64; 3] = [0; 3];

/// What was done before this comes before what follows an [`after_end`].
pub(crate) fn before_end() {
    release((&raw const OF_ALL[2]).addr());
}

/// A ring was found closed.
#[cold]
#[allow(
    clippy::disallowed_methods,
    reason = "it follows an algorithm of the library, and is none for loom to see"
)]
pub(crate) fn after_end() {
    // Acquire: pairs with the Release of the close, for a verb that has found it by a relaxed load.
    fence(Ordering::Acquire);
    acquire((&raw const OF_ALL[2]).addr());
}

/// A buffer of the pool with this handle goes back.
pub(crate) fn before_release<T>(pool: *const T) {
    release(pool.addr());
}

/// A buffer of the pool with this handle was taken.
pub(crate) fn after_alloc<T>(pool: *const T) {
    acquire(pool.addr());
}

/// The two orders of a ring: from senders to receivers, and back with the slots. Each is the address of a
/// word that stands for it; where `annulus_inline.h` has the ring, too, the word that it uses. 0: the
/// sanitizer is not told.
#[derive(Clone)]
pub(crate) struct Order {
    sent: usize,
    taken: usize,
    /// The words, where the ring has none for that.
    _own: Option<Arc<[u64; 2]>>,
}

impl Order {
    /// Of a ring that only the library uses.
    pub(crate) fn new() -> Self {
        let own = hooks().acquire.is_some().then(|| Arc::new([0; 2]));
        let at = |index: usize| own.as_ref().map_or(0, |own| (&raw const own[index]).addr());
        Self { sent: at(0), taken: at(1), _own: own }
    }

    /// Of a ring between processes: the handles of one process may have come to it in different ways.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    pub(crate) fn across() -> Self {
        Self::at(&raw const OF_ALL[0], &raw const OF_ALL[1])
    }

    /// Of a ring that views use: where they store that they have sent, and taken. Null: there is no
    /// such order.
    pub(crate) fn at(sent: *const u64, taken: *const u64) -> Self {
        let is_told = hooks().acquire.is_some();
        let address = |word: *const u64| if is_told { word.addr() } else { 0 };
        Self { sent: address(sent), taken: address(taken), _own: None }
    }

    /// Messages go.
    #[inline(always)]
    pub(crate) fn before_send(&self) {
        if self.sent != 0 {
            release(self.sent);
        }
    }

    /// Slots were found free.
    #[inline(always)]
    pub(crate) fn after_room(&self) {
        if self.sent != 0 {
            acquire(self.taken);
        }
    }

    /// Messages were found.
    #[inline(always)]
    pub(crate) fn after_receive(&self) {
        if self.sent != 0 {
            acquire(self.sent);
        }
    }

    /// Slots go back.
    #[inline(always)]
    pub(crate) fn before_advance(&self) {
        if self.sent != 0 {
            release(self.taken);
        }
    }
}
