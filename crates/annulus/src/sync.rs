//! The one door to atomics: `core` in a normal build, loom's doubles under `--cfg annulus_loom`, and under
//! `--cfg annulus_lines` those that tell of each access. Also fences, pauses, and hints: to the optimizer
//! about which way a branch goes, to the processor about what is read next.
//!
//! Nothing else in the crate names `core::sync::atomic` (clippy's `disallowed-types` sees to it), so a loom
//! model runs the very code that ships. The types are aliases and the fences are functions of this module
//! because clippy looks through a re-export, but not through these.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

#[cfg(annulus_lines)]
pub mod recorded;

#[cfg(not(any(annulus_loom, annulus_lines)))]
use core::sync::atomic;
#[cfg(annulus_loom)]
use loom::sync::atomic;
#[cfg(annulus_lines)]
use recorded as atomic;

pub(crate) use atomic::Ordering;

pub(crate) type AtomicBool = atomic::AtomicBool;
pub(crate) type AtomicPtr<T> = atomic::AtomicPtr<T>;
pub(crate) type AtomicU32 = atomic::AtomicU32;
pub(crate) type AtomicU64 = atomic::AtomicU64;
pub(crate) type AtomicUsize = atomic::AtomicUsize;

/// Tells the recorder (`recorded.rs`) of an access to so many bytes, in builds that have one.
macro_rules! tell {
    ($kind:ident, $at:expr, $bytes:expr) => {
        #[cfg(annulus_lines)]
        $crate::sync::recorded::tell($crate::sync::recorded::AccessKind::$kind, $at as usize, $bytes);
    };
}
pub(crate) use tell;

/// A cell for what one thread changes while nobody else looks. Loom watches that nobody does.
#[cfg(not(annulus_loom))]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);
#[cfg(annulus_loom)]
pub(crate) struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    #[cfg_attr(annulus_loom, track_caller)]
    pub(crate) fn new(value: T) -> Self {
        #[cfg(not(annulus_loom))]
        return Self(core::cell::UnsafeCell::new(value));
        #[cfg(annulus_loom)]
        return Self(loom::cell::UnsafeCell::new(value));
    }

    /// A pointer to read through while `look` runs. The caller promises that nobody writes meanwhile.
    #[inline(always)]
    #[cfg_attr(any(annulus_loom, annulus_lines), track_caller)]
    pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        tell!(Read, self.0.get(), size_of::<T>());
        #[cfg(not(annulus_loom))]
        return look(self.0.get());
        #[cfg(annulus_loom)]
        return self.0.with(look);
    }

    /// A pointer to write through while `change` runs. The caller promises that nobody else looks
    /// meanwhile.
    #[inline(always)]
    #[cfg_attr(any(annulus_loom, annulus_lines), track_caller)]
    pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        tell!(Write, self.0.get(), size_of::<T>());
        #[cfg(not(annulus_loom))]
        return change(self.0.get());
        #[cfg(annulus_loom)]
        return self.0.with_mut(change);
    }
}

/// A fence for other threads.
#[inline(always)]
#[cfg_attr(annulus_lines, track_caller)]
pub(crate) fn fence(ordering: Ordering) {
    atomic::fence(ordering);
}

/// A fence for the compiler only: it keeps a look behind the store before it. The other side of the pair
/// must make up for it (see `wait::fence`).
// Mutants: `with ()`: only a model sees it: event_no_light_fence; to the compiler it made no difference.
#[inline(always)]
pub(crate) fn light_fence() {
    #[cfg(not(annulus_loom))]
    atomic::compiler_fence(Ordering::SeqCst);
}

/// Tells the processor, or loom's scheduler, that this thread waits for another.
#[inline(always)]
pub(crate) fn pause() {
    tell!(Pause, 0_usize, 0);
    #[cfg(not(annulus_loom))]
    core::hint::spin_loop();
    #[cfg(annulus_loom)]
    loom::thread::yield_now();
}

/// `condition`, with a hint to the optimizer that it is rarely true: what follows is laid out off the
/// straight path.
#[inline(always)]
pub(crate) fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

#[cold]
#[inline]
fn cold() {}

/// Has the processor fetch the cache line of `at`, which will be read soon. Changes nothing else, whatever
/// the address is. It pays only where a register holds a pointer and nothing else.
#[inline(always)]
pub(crate) fn prefetch_to_read<T>(at: *const T) {
    tell!(Prefetch, at, 1);
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    // SAFETY: it neither faults nor changes anything.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", target_pointer_width = "64", not(miri)))]
    // SAFETY: it neither faults nor changes anything.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_pointer_width = "64",
        not(miri)
    )))]
    let _ = at;
}

/// Whether the seeded bug `$name` is there, which some check must catch (see `ci/seeded`).
///
/// In a normal build it never is, and then the branch is gone; the private cfg `annulus_seeded` puts it in. A
/// build for loom, or one with `annulus_seeded = "all"`, has all of them, and the environment variable
/// `ANNULUS_SEEDED` says which one is awake: so one build serves every test and every bug.
#[cfg(not(any(annulus_loom, annulus_seeded = "all")))]
macro_rules! seeded {
    ($name:literal) => {
        cfg!(annulus_seeded = $name)
    };
}
#[cfg(any(annulus_loom, annulus_seeded = "all"))]
macro_rules! seeded {
    ($name:literal) => {
        $crate::sync::is_awake($name)
    };
}
pub(crate) use seeded;

/// Whether `ANNULUS_SEEDED` is that name.
#[cfg(any(annulus_loom, annulus_seeded = "all"))]
pub(crate) fn is_awake(name: &str) -> bool {
    use std::sync::LazyLock;

    // A test asks a million times, and some count what is allocated. Loom does not see this cell, so it
    // orders nothing that loom watches.
    static AWAKE: LazyLock<std::ffi::OsString> =
        LazyLock::new(|| std::env::var_os("ANNULUS_SEEDED").unwrap_or_default());
    *AWAKE == *name
}

/// `ordering!(Acquire unless "…")`: an ordering, which the seeded bug of that name makes `Relaxed`.
macro_rules! ordering {
    ($ordering:ident unless $bug:literal) => {
        if $crate::sync::seeded!($bug) {
            $crate::sync::Ordering::Relaxed
        } else {
            $crate::sync::Ordering::$ordering
        }
    };
}
pub(crate) use ordering;
