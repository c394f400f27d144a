//! [`TaskList`]: the list of the tasks that wait, and the word that says which thread has it. The
//! [module](super) describes it.

use core::ptr::{self, NonNull};
use core::task::Waker;

use super::list::{List, WaiterNode};
use super::waker_slot::{ARMED, GONE, LISTED, QUEUED, change, wake};
use crate::base::drop_all::contain;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, UnsafeCell, ordering, seeded};

pub(super) struct TaskList {
    /// Which thread has the list, what is noted for it, and how many nodes have an owner.
    pub(super) entry: AtomicU64,
    /// The node that was queued last.
    pub(super) queued: AtomicPtr<WaiterNode>,
    /// How many nodes are in the list: written by the thread that has it.
    pub(super) listed: AtomicU32,
    /// Of the thread that has it by `entry`.
    list: UnsafeCell<List>,
}

/// In `entry`: a thread has the list.
pub(super) const HELD: u64 = 1;
/// Noted: something is queued.
pub(super) const TAKE_IN: u64 = 2;
/// Noted: all are to be woken that are in the list.
pub(super) const ALL: u64 = 4;
/// Noted: those are to be woken that were in the list when that was noted last.
const CALLED: u64 = 8;
/// A node that has an owner.
pub(super) const OWNER: u64 = 16;
/// Noted: one task is to be woken, in place of any other.
pub(super) const ONE: u64 = 1 << 32;
/// All that may be noted.
const NOTES: u64 = TAKE_IN | ALL | CALLED | !(ONE - 1);

/// So many wakers are taken before the list is given up, and woken then.
const BATCH: usize = if cfg!(annulus_loom) { 2 } else { 16 };

// SAFETY: the list is of one thread at a time, by `entry`; the wakers in it are `Send` and `Sync`.
unsafe impl Send for TaskList {}
// SAFETY: as above.
unsafe impl Sync for TaskList {}

/// Whom a call has woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub(in crate::wait) struct Woken {
    /// How many tasks, one by one, also if another thread is about to do so.
    pub(in crate::wait) count: u32,
    /// Whether there was anybody, where all were to be woken.
    pub(in crate::wait) is_any: bool,
    /// Another thread left a wish for more tasks than there were. The caller wakes all that sleep at the
    /// eventcount.
    pub(in crate::wait) is_short: bool,
}

impl Woken {
    /// What both calls left to their caller, which asked for no task.
    pub(super) fn and(self, other: Self) -> Self {
        Self { is_short: self.is_short || other.is_short, ..self }
    }
}

impl TaskList {
    pub(super) fn new() -> Self {
        Self {
            entry: AtomicU64::new(0),
            queued: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicU32::new(0),
            list: UnsafeCell::new(List::new()),
        }
    }

    /// list.enter1: whether the caller has the list now. If not, the thread that has it does what is in
    /// `notes`. `owners` is added in any case.
    pub(super) fn enter(&self, owners: u64, notes: u64) -> bool {
        let mut seen = self.entry.load(Ordering::Relaxed);
        loop {
            let is_held = seen & HELD != 0;
            let noted = if is_held { note(seen, notes) } else { seen | HELD };
            let next = noted.wrapping_add(owners);
            // Acquire: pairs with the Release of list.leave4. Release: pairs with its Acquire.
            let success = ordering!(AcqRel unless "list_entered_relaxed");
            match self.entry.compare_exchange_weak(seen, next, success, Ordering::Relaxed) {
                Ok(_) => return !is_held,
                Err(now) => seen = now,
            }
        }
    }

    /// The list, of a thread that has it.
    pub(super) fn with_list<R>(&self, change: impl FnOnce(&mut List) -> R) -> R {
        self.list.with_mut(|list| {
            // SAFETY: this thread has it, by list.enter1 until list.leave4.
            let list = unsafe { &mut *list };
            let result = change(list);
            // Relaxed: list.leave4 comes after it.
            self.listed.store(list.len(), Ordering::Relaxed);
            result
        })
    }

    /// Wakes `first`, and all that are in the list.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_all(&self, first: Option<Waker>) -> Woken {
        if self.enter(0, ALL) {
            let is_first = first.is_some();
            let woken = self.serve(first, 0, ALL);
            return Woken { is_any: woken.is_any || is_first, ..woken };
        }
        wake(first);
        Woken { is_any: true, ..Woken::default() }
    }

    /// Wakes `first`, and as many of those in the list as make `most` with it.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_some(&self, first: Option<Waker>, most: u32) -> Woken {
        let is_first = u32::from(first.is_some());
        let most = most - is_first;
        let wish = u64::from(most) * ONE;
        let woken = if most != 0 && self.enter(0, wish) {
            self.serve(first, most, wish)
        } else {
            wake(first);
            Woken { count: most, ..Woken::default() }
        };
        Woken { count: woken.count + is_first, ..woken }
    }

    /// list.leave4, after which this thread does what is in `notes`, and what others have noted.
    pub(super) fn leave(&self, notes: u64) -> Woken {
        // Release: pairs with the Acquire of list.enter1. Acquire: pairs with its Release.
        let before = self.entry.fetch_and(!(HELD | NOTES), Ordering::AcqRel);
        let notes = note(before & NOTES, notes);
        if notes == 0 || !self.enter(0, notes) {
            return Woken::default();
        }
        self.serve(None, 0, notes)
    }

    /// Does what is in `notes`, and what others note meanwhile. Of the tasks that are to be woken one by one,
    /// the first `mine` are the caller's wish. The caller has the list, and gives it up. Before all others,
    /// it wakes `first`, which is not in the list.
    // Not inlined: a batch of wakers has its place on the stack here alone.
    #[inline(never)]
    pub(super) fn serve(&self, mut first: Option<Waker>, mine: u32, mut notes: u64) -> Woken {
        let (mut asked, mut woken, mut is_any) = (notes / ONE, 0, false);
        loop {
            let mut batch = [const { None }; BATCH];
            let mut taken = usize::from(first.is_some());
            batch[0] = first.take().map(|waker| (waker, true));
            self.take_in();
            notes &= !TAKE_IN;
            self.with_list(|list| {
                if notes & ALL != 0 {
                    list.call_all();
                    notes = notes & !ALL | CALLED;
                }
                while taken < BATCH && notes & CALLED != 0 {
                    batch[taken] = list.pop_called();
                    match &batch[taken] {
                        Some((_, is_woken)) => (taken, is_any) = (taken + 1, is_any | is_woken),
                        None => notes &= !CALLED,
                    }
                }
                while taken < BATCH && notes >= ONE {
                    batch[taken] = list.pop_one();
                    match &batch[taken] {
                        Some((_, is_woken)) => {
                            taken += 1;
                            if *is_woken {
                                (notes, woken) = (notes - ONE, woken + 1);
                            }
                        }
                        None => notes %= ONE,
                    }
                }
            });
            // list.leave4, as in `leave`.
            let noted = self.entry.fetch_and(!(HELD | NOTES), Ordering::AcqRel) & NOTES;
            asked += noted / ONE;
            notes = note(notes, noted);
            // (Taken out one by one: the batch is large, and mostly one waker.)
            for (waker, is_woken) in batch[..taken].iter_mut().filter_map(Option::take) {
                // Others' code.
                contain(|| if is_woken { waker.wake() } else { drop(waker) });
            }
            if notes == 0 {
                break;
            }
            if !self.enter(0, notes) {
                // It is another thread's now.
                woken += notes / ONE;
                break;
            }
        }
        let count = woken.min(u64::from(mine)) as u32;
        let is_short = asked.saturating_sub(woken) > u64::from(mine - count);
        Woken { count, is_any, is_short: is_short && !seeded!("wishes_of_others_unheard") }
    }

    /// See [`Waiters::count`](super::Waiters::count).
    #[inline]
    pub(super) fn count(&self) -> usize {
        // In this order, and Acquire: what was queued is in the list if it was taken, and the list was left.
        let is_queued = !self.queued.load(Ordering::Acquire).is_null();
        let is_held = self.entry.load(Ordering::Acquire) & HELD != 0;
        self.listed.load(Ordering::Relaxed) as usize + usize::from(is_queued || is_held)
    }

    /// How many nodes have an owner.
    pub(super) fn owned(&self) -> usize {
        // Relaxed: a hint.
        (self.entry.load(Ordering::Relaxed) % ONE / OWNER) as usize
    }

    /// list.queue2, without the note.
    pub(super) fn queue(&self, node: NonNull<WaiterNode>) {
        let mut before = self.queued.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node lives until it was taken from the queue, and nobody else queues it.
            unsafe { node.as_ref() }.queued_before.with_mut(|there| unsafe { *there = before });
            // Release: pairs with the Acquire of list.take3.
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            match self.queued.compare_exchange_weak(before, node.as_ptr(), success, failure) {
                Ok(_) => return,
                // Unreached: two tasks are queued at once: two threads have to meet there
                Err(now) => before = now,
            }
        }
    }

    /// list.take3: links the nodes that are queued, in turn, and takes back those that are gone. The caller
    /// has the list.
    pub(super) fn take_in(&self) {
        if self.queued.load(Ordering::Relaxed).is_null() {
            return;
        }
        // Acquire: pairs with the Release of list.queue2.
        let mut newest = self.queued.swap(ptr::null_mut(), Ordering::Acquire);
        // The oldest first.
        let mut oldest: *mut WaiterNode = ptr::null_mut();
        // SAFETY: what is queued lives until it is taken in, by this thread.
        while let Some(node) = unsafe { newest.as_ref() } {
            let here = newest;
            node.queued_before.with_mut(|before| {
                // SAFETY: as above; nobody else has the field.
                newest = unsafe { core::mem::replace(&mut *before, oldest) };
            });
            oldest = here;
        }
        let owned = self.owned();
        self.with_list(|list| {
            while let Some(node) = NonNull::new(oldest) {
                // SAFETY: as above.
                let there = unsafe { node.as_ref() };
                // SAFETY: as above. It is read before the node may be queued again.
                oldest = there.queued_before.with(|before| unsafe { *before });
                // Acquire: pairs with the Release of the owner's last step. Release: pairs with the Acquire
                // of the next.
                let before = change(&there.slot.state, Ordering::AcqRel, Ordering::Relaxed, |state| {
                    match state & !QUEUED {
                        ARMED => Some(ARMED | LISTED),
                        others => Some(others & !LISTED),
                    }
                });
                match before {
                    Ok(state) if state & !(QUEUED | LISTED) == GONE => {
                        if state & LISTED != 0 {
                            list.unlink(there);
                        }
                        // SAFETY: its owner has left it, with its waker taken, and it is in neither place.
                        unsafe { list.take_back(node, owned) };
                    }
                    Ok(state) if state & !QUEUED == ARMED => list.link(node),
                    _ => {}
                }
            }
        });
    }
}

/// `notes`, and `more` of them.
fn note(notes: u64, more: u64) -> u64 {
    // More than fit are all.
    match (notes | more & (ONE - 1)).checked_add(more & !(ONE - 1)) {
        Some(sum) => sum,
        None => notes | more | !(ONE - 1),
    }
}

impl Drop for TaskList {
    /// Nodes that are queued are kept by the list, which frees them.
    fn drop(&mut self) {
        self.take_in();
    }
}
