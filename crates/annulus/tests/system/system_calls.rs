//! Which system calls a thread makes: whether it makes any, by the kernel's own account.
#![cfg(all(target_os = "linux", not(any(miri, annulus_loom))))]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what it counts is none of the library's atomics"
)]

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// Of `prctl`: each system call of this thread is a signal instead, while a byte says so.
const PR_SET_SYSCALL_USER_DISPATCH: libc::c_int = 59;
const DISPATCH_OFF: libc::c_ulong = 0;
const DISPATCH_ON: libc::c_ulong = 1;

/// The byte: system calls are what they are, or signals.
const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

thread_local! {
    static CALLS: Cell<u8> = const { Cell::new(ALLOW) };
}

static STOPPED: AtomicU64 = AtomicU64::new(0);

/// The call is not made, and all that follow are.
extern "C" fn stopped(_: libc::c_int) {
    CALLS.with(|calls| calls.set(ALLOW));
    STOPPED.fetch_add(1, Ordering::Relaxed);
}

/// Whether `action` makes a system call on this thread. `None` where the kernel does not tell. One thread of
/// the process asks at a time.
pub(super) fn makes_a_system_call(action: impl FnOnce()) -> Option<bool> {
    let handler: extern "C" fn(libc::c_int) = stopped;
    // SAFETY: the handler touches an atomic and a cell of its thread, which has no destructor.
    unsafe { libc::signal(libc::SIGSYS, handler as libc::sighandler_t) };
    let byte = CALLS.with(|calls| ptr::from_ref(calls).cast::<u8>());
    // SAFETY: the byte lives as long as the thread, for which this is called off below.
    let told = unsafe { libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, 0, 0, byte) };
    if told != 0 {
        return None;
    }
    let before = STOPPED.load(Ordering::Relaxed);
    CALLS.with(|calls| calls.set(BLOCK));
    compiler_fence(Ordering::SeqCst);
    action();
    compiler_fence(Ordering::SeqCst);
    CALLS.with(|calls| calls.set(ALLOW));
    // SAFETY: it takes no pointer.
    unsafe { libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_OFF, 0, 0, 0) };
    Some(STOPPED.load(Ordering::Relaxed) != before)
}
