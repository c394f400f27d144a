//! [`WakerSlot`]: the waker of a task that waits, and the word by which its owner and its waking thread
//! agree.
//!
//! Both change the word, each step by a compare-exchange, or by a store where nobody else may change it:
//!
//! ```text
//! owner                                                waking thread
//! task.wait1  change the waker                         task.wake3  ARMED → TAKEN         Acquire
//! task.wait2  IDLE → ARMED               Release       task.wake4  take the waker
//! …                                                    task.wake5  TAKEN → WOKEN_ALONE or WOKEN_WITH_ALL
//! task.wait6  ARMED → IDLE, or                                     (ABANDONED: the slot is free)   Release
//!             TAKEN → ABANDONED, or WOKEN… Acquire     then wake
//! ```
//!
//! Beside the state, the word of a slot in a list (`list.rs`) says where it is: LISTED, in the list; QUEUED,
//! on the way to the next thread that has the list.

use core::ptr;
use core::task::Waker;

use crate::base::drop_all::contain;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, ordering, seeded};

/// A place for one task.
#[repr(C)]
pub(super) struct WakerSlot {
    /// Changed by the owner while the state is not ARMED and not TAKEN, and while it is TAKEN by the thread
    /// that took it.
    waker: UnsafeCell<Option<Waker>>,
    /// A state, [`LISTED`] and [`QUEUED`].
    pub(super) state: AtomicU32,
}

// SAFETY: one thread at a time has the waker, by the state; and it is `Send` and `Sync`.
unsafe impl Sync for WakerSlot {}

/// Nobody is to wake the task.
pub(super) const IDLE: u32 = 6;
/// The task is to be woken.
pub(super) const ARMED: u32 = 1;
/// The waking thread takes the waker.
pub(super) const TAKEN: u32 = 2;
/// Woken alone, in place of any other.
pub(super) const WOKEN_ALONE: u32 = 3;
/// Woken together with all others.
pub(super) const WOKEN_WITH_ALL: u32 = 4;
/// The owner has left the slot to the thread that is about to wake it.
pub(super) const ABANDONED: u32 = 5;
/// It has no owner. (In a list: it is left to the next thread that has the list.) All that an eventcount
/// begins with is 0.
pub(super) const GONE: u32 = 0;
/// Beside a state: it is in the list.
pub(super) const LISTED: u32 = 8;
/// Beside a state: it is queued. It is in the list, too, only if it is GONE.
pub(super) const QUEUED: u32 = 16;
/// What is beside a state.
pub(super) const PLACE: u32 = LISTED | QUEUED;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wait) enum Ended {
    /// Nobody has woken the task, or everybody was woken.
    Plainly,
    /// The task was woken in place of any other.
    WokenAlone,
    /// Another thread was about to wake the task, and wakes another in its place.
    Abandoned,
}

/// A waker that is to be woken; or only to be dropped, where this is false.
pub(super) type Taken = (Waker, bool);

impl WakerSlot {
    /// With [`IDLE`] or [`GONE`].
    #[inline(always)]
    pub(super) fn new(state: u32) -> Self {
        Self { state: AtomicU32::new(state), waker: UnsafeCell::new(None) }
    }

    /// Takes it for a task, if it has no owner. (Of a slot that is in no list.)
    #[inline]
    pub(super) fn claim(&self) -> bool {
        // Relaxed: a look, before the step that decides.
        if self.state.load(Ordering::Relaxed) != GONE {
            return false;
        }
        // Acquire: pairs with the Release of `vacate`, so that the last owner's waker is out.
        let success = ordering!(Acquire unless "waker_slot_claimed_relaxed");
        self.state.compare_exchange(GONE, IDLE, success, Ordering::Relaxed).is_ok()
    }

    /// From now on it has no owner. (Of a slot that is in no list, without a waker.)
    #[inline]
    pub(super) fn vacate(&self) {
        // Release: pairs with the Acquire of `claim`.
        self.state.store(GONE, ordering!(Release unless "waker_slot_left_relaxed"));
    }

    /// task.wait1: the owner's new waker, where there is none.
    #[inline]
    pub(super) fn put(&self, waker: Waker) {
        // SAFETY: the owner has the waker while the state is neither ARMED nor TAKEN.
        self.waker.with_mut(|there| unsafe { there.write(Some(waker)) });
    }

    /// task.wait1.
    pub(super) fn set(&self, waker: &Waker) {
        // SAFETY: the owner has the waker while the state is neither ARMED nor TAKEN.
        let is_there =
            self.waker.with(|there| unsafe { (*there).as_ref() }.is_some_and(|there| there.will_wake(waker)));
        if !is_there {
            // Cloned before, and dropped afterwards: both are others' code.
            let new = Some(waker.clone());
            // SAFETY: as above.
            let old = self.waker.with_mut(|there| unsafe { ptr::replace(there, new) });
            contain(|| drop(old));
        }
    }

    /// The waker that the owner takes back.
    pub(super) fn take_back(&self) -> Option<Waker> {
        // SAFETY: the owner has the waker while the state is neither ARMED nor TAKEN.
        self.waker.with_mut(|waker| unsafe { (*waker).take() })
    }

    /// Whether it is armed, and nobody has begun to wake the task.
    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        // Relaxed: a waiter for what comes with the wake-up has registered elsewhere, and that orders it
        // (`listener.rs`). The waking thread has had event.wake2.
        self.state.load(Ordering::Relaxed) & !PLACE == ARMED
    }

    /// task.wait6, of a slot that was armed: how the wait ended, and whether somebody has woken it.
    #[inline]
    pub(super) fn disarm(&self) -> (Ended, bool) {
        // task.wait6. Acquire: pairs with the Release of task.wake5. Release, where it is abandoned: pairs
        // with the Acquire there.
        let failure = ordering!(Acquire unless "waker_back_relaxed");
        let before = change(&self.state, Ordering::Release, failure, |state| match state & !PLACE {
            ARMED => Some(IDLE | state & PLACE),
            TAKEN => Some(ABANDONED),
            _ => None,
        });
        match before {
            Ok(TAKEN) => (Ended::Abandoned, false),
            Ok(_) => (Ended::Plainly, false),
            Err(WOKEN_ALONE) => (Ended::WokenAlone, true),
            Err(_) => (Ended::Plainly, true),
        }
    }

    /// task.wake3: whether it was to be woken. It is in the list no more.
    pub(super) fn take(&self) -> bool {
        // Acquire: pairs with the Release of task.wait2, so the waker is seen. Release: pairs with the
        // Acquire of the thread that finds that the slot is not in the list any more, and gives it back.
        let success = ordering!(AcqRel unless "waker_taken_relaxed");
        let before = change(&self.state, success, Ordering::Relaxed, |state| match state & !LISTED {
            ARMED => Some(TAKEN),
            unlisted => (unlisted != state).then_some(unlisted),
        });
        // Otherwise its owner does not wait, or is gone; then it is queued.
        before.is_ok_and(|state| state & !LISTED == ARMED)
    }

    /// task.wake3 of a slot that is in no list: whether it was to be woken.
    #[inline]
    pub(super) fn take_unlisted(&self) -> bool {
        // Acquire: pairs with the Release of task.wait2, so the waker is seen.
        let success = ordering!(Acquire unless "waker_taken_relaxed");
        self.is_armed() && self.state.compare_exchange(ARMED, TAKEN, success, Ordering::Relaxed).is_ok()
    }

    /// task.wake4 and task.wake5, of a slot that was [taken](Self::take): its waker. `Err` where the owner
    /// has left the slot, which is the caller's.
    #[inline]
    pub(super) fn end(&self, outcome: u32) -> Result<Option<Waker>, Option<Waker>> {
        // task.wake4. SAFETY: it is TAKEN, so this thread has the waker until task.wake5.
        let waker = self.waker.with_mut(|waker| unsafe { (*waker).take() });
        // task.wake5. Release: pairs with the Acquire of task.wait6. A thread that finds the outcome there
        // has the slot. Acquire: pairs with the Release of the owner that abandons it.
        let success = ordering!(Release unless "waker_left_relaxed");
        match self.state.compare_exchange(TAKEN, outcome, success, Ordering::Acquire) {
            Ok(_) => Ok(waker),
            Err(_) => Err(waker),
        }
    }
}

/// The waker of a slot that its owner had left.
pub(super) fn abandoned(waker: Option<Waker>) -> Option<Taken> {
    if seeded!("abandoned_waker_leaks") {
        core::mem::forget(waker);
        return None;
    }
    waker.map(|waker| (waker, seeded!("abandoned_counts_as_woken")))
}

/// Wakes a task, if there is one: others' code.
#[inline]
pub(super) fn wake(taken: Option<Waker>) -> bool {
    let is_there = taken.is_some();
    if let Some(waker) = taken {
        contain(|| waker.wake());
    }
    is_there
}

/// Changes a slot's state to what `next` says, and returns the one before. `Err` is one that stays.
///
/// The slot may be freed as soon as its state is changed, so this has no reference to the rest of it.
pub(super) fn change(
    state: &AtomicU32,
    success: Ordering,
    failure: Ordering,
    mut next: impl FnMut(u32) -> Option<u32>,
) -> Result<u32, u32> {
    let mut seen = state.load(failure);
    while let Some(new) = next(seen) {
        match state.compare_exchange_weak(seen, new, success, failure) {
            Ok(_) => return Ok(seen),
            Err(now) => seen = now,
        }
    }
    Err(seen)
}
