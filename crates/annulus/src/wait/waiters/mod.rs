//! The tasks that wait at an event: which of them are to be woken, and by what.
//!
//! They are in a list, in turn (`list.rs`). A node is linked, taken out or woken in a few steps,
//! however many there are. There are as many nodes as tasks that wait, and as many again at most, which are
//! kept for the next ones.
//!
//! *A list that nobody waits for.* One thread at a time has the list, for a few steps. Whoever comes
//! meanwhile leaves word what it wants, and goes on: so a publisher is never held up by a task that is
//! stopped while it registers, nor an interrupt by what it interrupts. The word of the list, `entry`, says
//! who has it, and what was left:
//!
//! ```text
//! who comes                                            who has the list
//! list.enter1  entry: nobody has it: have it  AcqRel   list.leave4  entry := nobody has it       AcqRel
//!              somebody has it: note the wish                       something was noted: enter again,
//! list.queue2  a node that is to be linked, or is                   with that as one's own wish
//!              gone: push it, note ATTEND              list.take3   take all that is queued      Acquire
//! ```
//!
//! What is noted comes before list.leave4, which takes it along, or after it, and then list.enter1 finds that
//! nobody has the list. So a wake-up that is left to another thread is as good as one's own: that thread is
//! on its way, and it looks at the list after the wish came. If it finds fewer tasks than were to be woken,
//! its caller wakes all that sleep at the event, as who left the wish would have done
//! ([`Woken::is_short`]).
//!
//! *What a wake-up is worth.* The owner learns how its wait ended: not at all, or together with all others,
//! or alone, in place of any other (`notify_some`). A wake-up of the last kind belongs to a message. If the
//! owner does not look for a message afterwards, it must pass the wake-up on (`task.rs`). To an abandoned
//! node no wake-up is given: who wakes goes on to the next.
//!
//! *Whom.* Who waits anew is last in the list, so each task has its turn after at most one wake-up of every
//! other. [`wake_all`](Waiters::wake_all) wakes those who were there when it began, so a task that waits
//! again at once, even inside its `wake`, does not keep it.
//!
//! *Executors' code.* `wake` may do anything: wait again, receive, send, drop futures. It runs while its
//! thread does not have the list. It may panic: then the panic ends there, and the others are woken.

mod list;
mod node;

pub(super) use self::node::{Ended, OwnedNode};

use core::ptr::{self, NonNull};

use self::list::{ARMED, GONE, LISTED, List, Node, QUEUED};
use super::contain::contain;
use crate::link::Link;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, UnsafeCell, mutated, ordering};

/// The tasks that wait at one event, for any number of threads.
// Decision 0070: nobody waits for the list.
pub(super) struct Waiters {
    /// Allocated by the first task that waits.
    shared: Link<Shared>,
    /// How many wake-ups, one after the other, found nobody: a hint.
    in_vain: AtomicU32,
}

/// After so many wake-ups that found nobody, no task is expected to come back.
// Decision 0070: a fence that is saved pays for them.
pub(super) const MANY_IN_VAIN: u32 = if cfg!(any(annulus_loom, miri)) { 1 } else { 128 };

struct Shared {
    /// Who has the list, what is noted for it, and how many nodes have an owner.
    entry: AtomicU64,
    /// The node that was queued last.
    queued: AtomicPtr<Node>,
    /// How many nodes are in the list: written by who has it.
    listed: AtomicU32,
    /// Of whoever has it by `entry`.
    list: UnsafeCell<List>,
}

/// In `entry`: a thread has the list.
const HELD: u64 = 1;
/// Noted: something is queued.
const ATTEND: u64 = 2;
/// Noted: all are to be woken that are in the list.
const ALL: u64 = 4;
/// Noted: those are to be woken that were in the list when that was noted last.
const CALLED: u64 = 8;
/// A node that has an owner.
const OWNER: u64 = 16;
/// Noted: one task is to be woken, in place of any other.
const ONE: u64 = 1 << 32;
/// All that may be noted.
const NOTES: u64 = ATTEND | ALL | CALLED | !(ONE - 1);

/// So many wakers are taken before the list is given up, and woken then.
const BATCH: usize = if cfg!(annulus_loom) { 2 } else { 16 };

// SAFETY: the list is of one thread at a time, by `entry`; the wakers in it are `Send` and `Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Whom a call has woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub(super) struct Woken {
    /// How many tasks, one by one, also if another thread is about to do so.
    pub(super) count: u32,
    /// Whether there was anybody, where all were to be woken.
    pub(super) is_any: bool,
    /// Another thread left a wish for more tasks than there were. The caller wakes all that sleep at the
    /// event.
    pub(super) is_short: bool,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { shared: Link::empty(), in_vain: AtomicU32::new(0) }
    }

    /// A node for one more task. Allocates where none is kept.
    ///
    /// # Safety
    ///
    /// The node is used and given back only as long as these waiters are there.
    pub(super) unsafe fn take_node(&self) -> (OwnedNode, Woken) {
        let shared = match self.shared.get() {
            Some(shared) => shared,
            None => self.shared.put(Shared::new()).unwrap_or_else(|theirs| theirs),
        };
        let (kept, woken) = if shared.enter(OWNER, 0) {
            let kept = shared.with_list(List::take_free);
            (kept, shared.leave(0))
        } else {
            (None, Woken::default())
        };
        let node = kept.unwrap_or_else(Node::new);
        (OwnedNode::new(shared, node), woken)
    }

    /// About how many tasks wait, or did so not long ago. Never 0 while one waits that was armed before this
    /// call.
    pub(super) fn count(&self) -> usize {
        let Some(shared) = self.shared.get() else { return 0 };
        // In this order, and Acquire: what was queued is in the list if it was taken, and the list was left.
        let is_queued = !shared.queued.load(Ordering::Acquire).is_null();
        let is_held = shared.entry.load(Ordering::Acquire) & HELD != 0;
        shared.listed.load(Ordering::Relaxed) as usize + usize::from(is_queued || is_held)
    }

    /// Wakes all tasks that wait.
    pub(super) fn wake_all(&self) -> Woken {
        let Some(shared) = self.shared.get() else { return Woken::default() };
        if shared.enter(0, ALL) { shared.serve(0, ALL) } else { Woken { is_any: true, ..Woken::default() } }
    }

    /// After a wake-up of all that found somebody, or nobody: whether so many found nobody that no task is
    /// expected to come back.
    pub(super) fn are_away(&self, is_any: bool) -> bool {
        if MANY_IN_VAIN == 1 {
            // Unreached: for loom and Miri
            return !is_any;
        }
        if mutated!("tasks_never_away") {
            return false;
        }
        // Relaxed: a hint. Where two count at once, one is not counted.
        let before = self.in_vain.load(Ordering::Relaxed);
        let count = if is_any { 0 } else { before + 1 };
        let are_away = count >= MANY_IN_VAIN;
        self.in_vain.store(if are_away { 0 } else { count }, Ordering::Relaxed);
        are_away
    }

    /// Wakes up to `most` of the tasks that wait, in turn.
    pub(super) fn wake_some(&self, most: u32) -> Woken {
        let Some(shared) = self.shared.get() else { return Woken::default() };
        let wish = u64::from(most) * ONE;
        if shared.enter(0, wish) {
            shared.serve(most, wish)
        } else {
            Woken { count: most, ..Woken::default() }
        }
    }
}

impl Shared {
    fn new() -> Self {
        Self {
            entry: AtomicU64::new(0),
            queued: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicU32::new(0),
            list: UnsafeCell::new(List::new()),
        }
    }

    /// list.enter1: whether the caller has the list now. If not, whoever has it does what is in `notes`.
    /// `owners` is added in any case.
    fn enter(&self, owners: u64, notes: u64) -> bool {
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
    fn with_list<R>(&self, change: impl FnOnce(&mut List) -> R) -> R {
        self.list.with_mut(|list| {
            // SAFETY: this thread has it, by list.enter1 until list.leave4.
            let list = unsafe { &mut *list };
            let result = change(list);
            // Relaxed: list.leave4 comes after it.
            self.listed.store(list.len(), Ordering::Relaxed);
            result
        })
    }

    /// list.leave4, after which this thread does what is in `notes`, and what others have noted.
    fn leave(&self, notes: u64) -> Woken {
        // Release: pairs with the Acquire of list.enter1. Acquire: pairs with its Release.
        let before = self.entry.fetch_and(!(HELD | NOTES), Ordering::AcqRel);
        let notes = note(before & NOTES, notes);
        if notes == 0 || !self.enter(0, notes) {
            return Woken::default();
        }
        self.serve(0, notes)
    }

    /// Does what is in `notes`, and what others note meanwhile. Of the tasks that are to be woken one by one,
    /// the first `mine` are the caller's wish. The caller has the list, and gives it up.
    // Not inlined: a batch of wakers has its place on the stack here alone.
    #[inline(never)]
    fn serve(&self, mine: u32, mut notes: u64) -> Woken {
        let (mut asked, mut woken, mut is_any) = (notes / ONE, 0, false);
        loop {
            let mut batch = [const { None }; BATCH];
            let mut taken = 0;
            self.attend();
            notes &= !ATTEND;
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
            for (waker, is_woken) in batch.into_iter().flatten() {
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
        Woken { count, is_any, is_short: is_short && !mutated!("wishes_of_others_unheard") }
    }

    /// How many nodes have an owner.
    fn owned(&self) -> usize {
        // Relaxed: a hint.
        (self.entry.load(Ordering::Relaxed) % ONE / OWNER) as usize
    }

    /// list.queue2, without the note.
    fn queue(&self, node: NonNull<Node>) {
        let mut before = self.queued.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node lives until it was taken from the queue, and nobody else queues it.
            unsafe { node.as_ref() }.queued_before.with_mut(|there| unsafe { *there = before });
            // Release: pairs with the Acquire of list.take3.
            let (success, failure) = (ordering!(Release unless "node_queued_relaxed"), Ordering::Relaxed);
            match self.queued.compare_exchange_weak(before, node.as_ptr(), success, failure) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// list.take3: links the nodes that are queued, in turn, and takes back those that are gone. The caller
    /// has the list.
    fn attend(&self) {
        if self.queued.load(Ordering::Relaxed).is_null() {
            return;
        }
        // Acquire: pairs with the Release of list.queue2.
        let mut newest = self.queued.swap(ptr::null_mut(), Ordering::Acquire);
        // The oldest first.
        let mut oldest: *mut Node = ptr::null_mut();
        // SAFETY: what is queued lives until it is attended to, by this thread.
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
                let before =
                    there.change(Ordering::AcqRel, Ordering::Relaxed, |state| match state & !QUEUED {
                        ARMED => Some(ARMED | LISTED),
                        others => Some(others & !LISTED),
                    });
                match before {
                    Ok(state) if state & !(QUEUED | LISTED) == GONE => {
                        if state & LISTED != 0 {
                            list.unlink(there);
                        }
                        // SAFETY: its owner has left it, with its waker taken, and it is in neither place.
                        unsafe { list.take_back(node, owned) };
                    }
                    Ok(state) if state & !QUEUED == ARMED => list.link(there),
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

impl Drop for Shared {
    /// Nodes that are queued are kept by the list, which frees them.
    fn drop(&mut self) {
        self.attend();
    }
}

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests;
