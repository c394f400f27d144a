//! [`spawn`]: a thread that the library has for itself, which handles none of the program's signals.
//!
//! The kernel hands a signal for the process to any thread that does not block it. A program that blocks
//! `SIGTERM` in its threads, and waits for it by `sigwait` or a `signalfd`, does not know the library's
//! threads: one that did not block it, too, would take it, and the process would end. So these block all
//! signals, but those by which the processor tells a thread of its own error: where they are blocked, the
//! process ends without the program's handler for them.
//!
//! A thread begins with the signals that its maker blocks, so there is no moment at which it takes one.
//!
//! Threads in which the user's handlers run (workers, pipelines) are not made here. They begin as those
//! of `std::thread` do, because a handler may rely on the signals of its thread: a profiler's, or a timer's.

use alloc::string::String;
use std::io;
use std::thread::{Builder, JoinHandle};

use crate::sync::seeded;

/// Begins a thread of the library, called `name`.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let _blocked = (!seeded!("helper_takes_signals")).then(signals::block);
    Builder::new().name(String::from(name)).spawn(body)
}

/// As [`spawn`], in a model, in which no signal comes.
#[cfg(all(annulus_loom, feature = "shm"))]
pub(crate) fn spawn_in_model(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<loom::thread::JoinHandle<()>> {
    loom::thread::Builder::new().name(String::from(name)).spawn(body)
}

#[cfg(all(target_os = "linux", not(annulus_loom), not(miri)))]
mod signals {
    use core::mem::MaybeUninit;
    use core::ptr;

    /// Those that the processor, or the thread itself, brings about.
    pub(super) const ERRORS: [libc::c_int; 7] =
        [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGSYS, libc::SIGTRAP];

    /// The signals that this thread blocked before; it blocks them again, and no others, on drop.
    pub(super) struct Before(Option<libc::sigset_t>);

    /// Blocks all signals but [`ERRORS`] in this thread. (The C library leaves out those that it has for
    /// itself.)
    pub(super) fn block() -> Before {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: each call has room for a set, or a set: the first makes `all` one.
        let told = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for error in ERRORS {
                libc::sigdelset(all.as_mut_ptr(), error);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr())
        };
        // SAFETY: where it did not fail, it has written the set.
        Before((told == 0).then(|| unsafe { before.assume_init() }))
    }

    impl Drop for Before {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // SAFETY: `before` is a set, and the old one is not asked for.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
            }
        }
    }
}

/// Elsewhere there is no thread that stays: the one that asks for CPUs ends at once.
#[cfg(not(all(target_os = "linux", not(annulus_loom), not(miri))))]
mod signals {
    pub(super) fn block() {}
}

#[cfg(all(test, target_os = "linux", not(annulus_loom), not(miri)))]
mod tests {
    use super::*;

    /// The signals that this thread blocks, as the kernel shows them: bit `n - 1` is signal `n`.
    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap()
    }

    /// The program may block `SIGTERM` later, and wait for it: this thread does not take it before.
    #[test]
    fn helper_takes_no_signal_and_its_maker_keeps_its_own() {
        let before = blocked();
        let helper = spawn("annulus test", blocked).unwrap().join().unwrap();
        assert_eq!(blocked(), before);
        // No thread blocks these.
        let never = [libc::SIGKILL, libc::SIGSTOP];
        for signal in 1..=31 {
            let is_open = signals::ERRORS.contains(&signal) || never.contains(&signal);
            let bit = 1 << (signal - 1);
            assert_eq!(helper & bit != 0, !is_open || before & bit != 0, "signal {signal}");
        }
    }
}
