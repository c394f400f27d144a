//! [`WatchState`]: what all handles of a channel share: the value, its version, and where they wait.
//!
//! The value is under a lock. Its version counts the changes; receivers remember which one they have seen.
//!
//! ```text
//! sender                                             receiver that waits
//! (lock)                                             event.sleep1, event.sleep2
//! watch.send1   version += 2, unless closed          watch.look2   version another than the one seen, or
//! replace the value                                                closed? This is event.sleep3
//! (unlock)                                           event.sleep4
//! notify (event.wake2 ...)
//! ```
//!
//! *Which value belongs to a version.* Both change under the lock, the version first. A receiver that sees a
//! new version and borrows waits for the lock, and finds the value of that version, or a later one. A
//! receiver that marks a version as seen reads it under the lock, or has seen that there is one.
//!
//! *The end* is a bit of the same word. So a send beside a close comes before it, and its value is seen, or
//! after it, and its value is given back.

use core::fmt;
use core::ops::Deref;
use std::sync::PoisonError;
#[cfg(not(annulus_loom))]
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(annulus_loom)]
use loom::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::common::Common;
use crate::base::handle_count::HandleCount;
use crate::close::Close;
use crate::sync::{AtomicU64, Ordering, ordering, seeded};
use crate::wait::EventCount;

/// The bit of the version that says that no more changes come.
const CLOSED: u64 = 1;

/// What a change adds to the version.
const CHANGE: u64 = 2;

pub(super) struct WatchState<T> {
    value: RwLock<T>,
    /// The version of the value, and [`CLOSED`]. Written under the lock, but for that bit.
    version: AtomicU64,
    /// Where receivers wait for a change.
    pub(super) changed: EventCount,
    /// Where senders wait until there is no receiver.
    pub(super) alone: EventCount,
    pub(super) senders: HandleCount,
    pub(super) receivers: HandleCount,
}

/// What the version says.
#[derive(Clone, Copy)]
pub(super) struct VersionWord(u64);

impl VersionWord {
    /// Which one it is.
    pub(super) fn number(self) -> u64 {
        self.0 & !CLOSED
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }
}

impl<T> WatchState<T> {
    /// With a sender and a receiver, which are still to be made.
    pub(super) fn new<const SHARES: usize>(value: T) -> [Common<Self>; SHARES] {
        Common::allocation().fill(Self {
            value: RwLock::new(value),
            version: AtomicU64::new(0),
            changed: EventCount::fenced(),
            alone: EventCount::fenced(),
            senders: HandleCount::new(),
            receivers: HandleCount::new(),
        })
    }

    /// watch.look2.
    #[inline]
    pub(super) fn version(&self) -> VersionWord {
        // Acquire: pairs with watch.send1 and watch.close3: what the sender did before is seen.
        VersionWord(self.version.load(ordering!(Acquire unless "watch_look_relaxed")))
    }

    /// The word whose change tells of a change, or of the end.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.version
    }

    /// The value, for a caller that has seen this version. (What was poisoned is what a closure that panicked
    /// has left.)
    pub(super) fn borrow(&self, seen: Option<u64>) -> Ref<'_, T> {
        let value = self.value.read().unwrap_or_else(PoisonError::into_inner);
        let version = self.version().number();
        Ref { value, version, is_new: seen.is_some_and(|seen| seen != version) }
    }

    fn lock(&self) -> RwLockWriteGuard<'_, T> {
        self.value.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value by `change`, which says whether receivers are told, and returns that and something
    /// else. With `is_refusable` nothing is changed if the channel is closed: then `None`.
    pub(super) fn change<R>(
        &self,
        is_refusable: bool,
        change: impl FnOnce(&mut T) -> (bool, R),
    ) -> Option<(bool, R)> {
        let mut value = self.lock();
        if is_refusable && !self.count_change() {
            return None;
        }
        let (is_told, result) = change(&mut value);
        if is_told && !is_refusable {
            // Where the channel is closed, nobody is told any more.
            self.count_change();
        }
        drop(value);
        if is_told && !seeded!("watch_wakes_nobody") {
            self.changed.notify();
        }
        Some((is_told, result))
    }

    /// watch.send1, under the lock: another version. False if the channel is closed.
    fn count_change(&self) -> bool {
        // Relaxed: only the bit may have changed since others had the lock.
        let mut version = self.version.load(Ordering::Relaxed);
        while version & CLOSED == 0 {
            // Release: pairs with watch.look2.
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            let next = version.wrapping_add(CHANGE);
            match self.version.compare_exchange_weak(version, next, success, failure) {
                Ok(_) => return true,
                // Unreached: somebody closes the channel at the same moment; loom watch
                Err(now) => version = now,
            }
        }
        false
    }

    /// watch.close3: no more changes come. Wakes all that wait.
    pub(super) fn close(&self) {
        // Release: pairs with watch.look2.
        self.version.fetch_or(CLOSED, ordering!(Release unless "watch_close_relaxed"));
        if !seeded!("watch_close_wakes_nobody") {
            self.changed.notify();
            self.alone.notify();
        }
    }

    /// Whether nobody would be told of a change.
    pub(super) fn is_over(&self) -> bool {
        self.receivers.is_zero() || self.version().is_closed()
    }

    /// A receiver goes. If it is the last one, senders that wait for that are woken.
    pub(super) fn receiver_goes(&self) {
        if self.receivers.remove_beside_others() {
            self.alone.notify();
        }
    }
}

impl<T: Send + Sync> Close for WatchState<T> {
    fn close(&self) {
        Self::close(self);
    }

    fn is_closed(&self) -> bool {
        self.version().is_closed()
    }
}

/// The value of a channel, which is borrowed: nobody changes it meanwhile. Keep it for a moment only, because
/// senders wait for it. See [the module](super#the-lock).
#[must_use = "it holds up the senders"]
pub struct Ref<'r, T> {
    value: RwLockReadGuard<'r, T>,
    version: u64,
    is_new: bool,
}

impl<T> Ref<'_, T> {
    /// Whether the receiver that borrows it had not seen this value before. Of a sender's borrow: false.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// assert!(!receiver.borrow().has_changed());
    /// sender.send_replace(2);
    /// assert!(receiver.borrow().has_changed());
    /// assert!(receiver.borrow_and_update().has_changed());
    /// assert!(!receiver.borrow().has_changed());
    /// ```
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.is_new
    }

    /// Which version of the value it is.
    pub(super) fn version(&self) -> u64 {
        self.version
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
