//! Calls of Linux by `libc`: the futex, `membarrier`, the clock, and what the system says of this process.

use core::num::NonZeroU32;
use core::ptr;
use core::time::Duration;

use crate::sync::AtomicU32;

/// A time of the monotonic clock, as the futex takes it: two numbers of the width of a register, also where
/// `libc` has wider ones.
#[repr(C)]
pub(crate) struct Moment {
    seconds: libc::c_long,
    nanoseconds: libc::c_long,
}

impl Moment {
    /// The moment that is `left` ahead. `None` if the type holds none so late.
    pub(crate) fn in_future(left: Duration) -> Option<Self> {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes the time to `now`. (The monotonic clock is always there.)
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
        let then = now.checked_add(left)?;
        Some(Self {
            seconds: then.as_secs().try_into().ok()?,
            nanoseconds: libc::c_long::from(i32::try_from(then.subsec_nanos()).ok()?),
        })
    }
}

/// Between which threads a futex is.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum FutexOf {
    Process = libc::FUTEX_PRIVATE_FLAG,
    #[cfg(feature = "shm")]
    Processes = 0,
}

/// Sleeps while `word` is `value`, until a wake-up for one of `bits` comes; false where none came: the word
/// has another value, a signal came, or it is `end`.
pub(crate) fn futex_wait(
    word: &AtomicU32,
    of: FutexOf,
    value: u32,
    end: Option<&Moment>,
    bits: NonZeroU32,
) -> bool {
    let operation = libc::FUTEX_WAIT_BITSET | of as i32;
    let end = end.map_or(ptr::null(), ptr::from_ref);
    let no_word = ptr::null::<u32>();
    // SAFETY: the kernel reads the word, atomically, and `end`, which both live until it returns.
    let result = unsafe {
        libc::syscall(libc::SYS_futex, ptr::from_ref(word), operation, value, end, no_word, bits.get())
    };
    result == 0
}

/// Wakes up to `count` of the threads that sleep on `word` with one of `bits`, those first that came first.
/// Returns how many.
pub(crate) fn futex_wake(word: &AtomicU32, of: FutexOf, count: u32, bits: NonZeroU32) -> u32 {
    let operation = libc::FUTEX_WAKE_BITSET | of as i32;
    let (no_end, no_word) = (ptr::null::<Moment>(), ptr::null::<u32>());
    // SAFETY: the kernel takes the word's address for a name, and reads nothing.
    let woken = unsafe {
        libc::syscall(libc::SYS_futex, ptr::from_ref(word), operation, count, no_end, no_word, bits.get())
    };
    // Where the call fails, no thread sleeps on the word.
    u32::try_from(woken).unwrap_or(0)
}

/// A command of `membarrier`, by the kernel's number; each one is "expedited".
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum Membarrier {
    #[cfg(feature = "shm")]
    Global = 1 << 1,
    #[cfg(feature = "shm")]
    RegisterGlobal = 1 << 2,
    Private = 1 << 3,
    RegisterPrivate = 1 << 4,
}

/// Whether the kernel has the command; the answer never changes within a process.
pub(crate) fn has_membarrier(command: Membarrier) -> bool {
    const QUERY: libc::c_int = 0;

    // SAFETY: no argument is an address.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    // (An error is -1, which has all bits.)
    commands > 0 && commands & command as libc::c_long != 0
}

/// Carries out the command; false where the kernel refuses it.
pub(crate) fn membarrier(command: Membarrier) -> bool {
    // SAFETY: no argument is an address.
    unsafe { libc::syscall(libc::SYS_membarrier, command as libc::c_int, 0, 0) == 0 }
}

/// The size of a page that nobody asked to be larger.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: a question.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("the system has pages")
}

/// How many bytes this process may lock; `None` is any number.
pub(crate) fn lock_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes the limits to `limit`. (It fails for no limit that there is.)
    unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    #[allow(clippy::useless_conversion, reason = "where pointers have 32 bits, so has this")]
    (limit.rlim_cur != libc::RLIM_INFINITY).then(|| limit.rlim_cur.into())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::sync::AtomicU32;

    const BITS: NonZeroU32 = NonZeroU32::MIN;

    #[test]
    fn futex_wait_of_another_value_returns_at_once() {
        assert!(!futex_wait(&AtomicU32::new(1), FutexOf::Process, 2, None, BITS));
    }

    #[test]
    fn futex_wait_ends_at_its_moment() {
        let (begun, left) = (Instant::now(), Duration::from_millis(1_100));
        let end = Moment::in_future(left).unwrap();
        while begun.elapsed() < left {
            assert!(!futex_wait(&AtomicU32::new(1), FutexOf::Process, 1, Some(&end), BITS));
        }
        assert!(begun.elapsed() < 2 * left);
    }

    #[test]
    fn moment_beyond_the_clock_is_none() {
        assert!(Moment::in_future(Duration::MAX).is_none());
        assert!(Moment::in_future(Duration::from_secs(libc::c_long::MAX as u64)).is_none());
        let last = Moment::in_future(Duration::new(1, 999_999_999)).unwrap();
        assert!(last.nanoseconds < 1_000_000_000);
    }

    #[test]
    fn futex_wake_without_sleepers_wakes_none() {
        assert_eq!(futex_wake(&AtomicU32::new(1), FutexOf::Process, 5, BITS), 0);
    }

    #[test]
    fn pages_and_the_limit_are_those_of_the_system() {
        assert!(page_bytes().is_power_of_two() && page_bytes() >= 4096);
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory")).unwrap();
        assert_eq!(line.split_whitespace().next().unwrap().parse().ok(), lock_limit());
    }
}
