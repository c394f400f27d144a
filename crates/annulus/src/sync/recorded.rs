//! Doubles of the atomics that tell a watcher of each access, before it: under `--cfg annulus_lines`.
//!
//! `verify/lines` runs the library's own code so, and counts which lines move between cores. An access is
//! told with the place in the source that asked for it, which says whose memory it is.

// Decision 0132: a model of cache lines runs the library's own code.

use core::panic::Location;
use core::sync::atomic;
use std::cell::Cell;

pub use atomic::{Ordering, compiler_fence};

/// What the code is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one step.
    Change,
    /// It asks for a line that it will read soon.
    Prefetch,
    /// Its stores become visible before anything that follows.
    Fence,
    /// It has nothing to do for a moment.
    Pause,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Where; 0 where there is no memory in it.
    pub address: usize,
    /// To how many bytes.
    pub bytes: usize,
    /// Which line of the library does it.
    pub at: &'static Location<'static>,
}

/// Who is told of accesses.
pub type Watcher = fn(&Access);

std::thread_local! {
    static WATCHER: Cell<Option<Watcher>> = const { Cell::new(None) };
}

/// From here on, each access of this thread is told to `watcher`, if there is one. Others are not told of.
pub fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
}

#[track_caller]
pub(crate) fn tell(kind: AccessKind, address: usize, bytes: usize) {
    if let Some(watcher) = WATCHER.get() {
        watcher(&Access { kind, address, bytes, at: Location::caller() });
    }
}

/// A fence. Only one that waits for stores is told of.
#[track_caller]
pub(crate) fn fence(ordering: Ordering) {
    if ordering == Ordering::SeqCst {
        tell(AccessKind::Fence, 0, 0);
    }
    atomic::fence(ordering);
}

/// An atomic with the verbs that the library uses: `$change` are those that read and write.
macro_rules! double {
    ($double:ident $(<$of:ident>)?, $value:ty: $($change:ident),*) => {
        /// Of the same size and place as the one in `core`.
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $double $(<$of>)? (atomic::$double $(<$of>)?);

        impl $(<$of>)? $double $(<$of>)? {
            pub(crate) const fn new(value: $value) -> Self {
                Self(atomic::$double::new(value))
            }

            #[track_caller]
            fn tell(&self, kind: AccessKind) {
                tell(kind, core::ptr::from_ref(self).addr(), size_of::<Self>());
            }

            #[track_caller]
            pub(crate) fn load(&self, ordering: Ordering) -> $value {
                self.tell(AccessKind::Read);
                self.0.load(ordering)
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, ordering: Ordering) {
                self.tell(if ordering == Ordering::SeqCst { AccessKind::Change } else { AccessKind::Write });
                self.0.store(value, ordering);
            }

            $(
                #[allow(dead_code, reason = "not all verbs are used on all types")]
                #[track_caller]
                pub(crate) fn $change(&self, value: $value, ordering: Ordering) -> $value {
                    self.tell(AccessKind::Change);
                    self.0.$change(value, ordering)
                }
            )*

            #[allow(dead_code, reason = "as above")]
            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                from: $value,
                to: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.tell(AccessKind::Change);
                self.0.compare_exchange(from, to, success, failure)
            }

            /// Never fails without a reason, so that a run is the same each time.
            #[allow(dead_code, reason = "as above")]
            #[track_caller]
            pub(crate) fn compare_exchange_weak(
                &self,
                from: $value,
                to: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(from, to, success, failure)
            }

            #[allow(dead_code, reason = "as above")]
            #[track_caller]
            pub(crate) fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.tell(AccessKind::Change);
                self.0.fetch_update(success, failure, change)
            }

            #[allow(dead_code, reason = "as above")]
            pub(crate) fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            #[allow(dead_code, reason = "as above")]
            pub(crate) fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// For the processor's own instructions, of which nobody is told.
            #[allow(dead_code, reason = "as above")]
            pub(crate) fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            #[allow(dead_code, reason = "as above")]
            pub(crate) const unsafe fn from_ptr<'a>(at: *mut $value) -> &'a Self {
                // SAFETY: the caller's promise, that of the one in `core`, in whose place this lies.
                unsafe { &*at.cast::<Self>() }
            }
        }
    };
}

double!(AtomicBool, bool: swap, fetch_or, fetch_and);
double!(AtomicPtr<T>, *mut T: swap);
double!(AtomicU32, u32: swap, fetch_add, fetch_sub, fetch_max, fetch_min, fetch_or, fetch_and);
double!(AtomicU64, u64: swap, fetch_add, fetch_sub, fetch_max, fetch_min, fetch_or, fetch_and);
double!(AtomicUsize, usize: swap, fetch_add, fetch_sub, fetch_max, fetch_min, fetch_or, fetch_and);

/// For the system, which sleeps until the word changes.
impl core::ops::Deref for AtomicU32 {
    type Target = atomic::AtomicU32;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A word for the watcher's own use, of whose accesses it is told, too.
#[derive(Debug)]
pub struct Word(AtomicU64);

impl Word {
    /// With that number in it.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(AtomicU64::new(number))
    }

    /// Acquire: pairs with [`store`](Self::store).
    #[track_caller]
    pub fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Release: pairs with [`load`](Self::load).
    #[track_caller]
    pub fn store(&self, number: u64) {
        self.0.store(number, Ordering::Release);
    }
}
