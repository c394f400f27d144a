//! The tasks that wait at an eventcount: which of them are to be woken, and by what.
//!
//! A task that waits alone has a slot in the eventcount (`waker_slot.rs`). The others are in a list, in turn
//! (`list.rs`), and behind the slot: no task takes that while another is in the list, and a task that was
//! woken there has no place any more. A node is linked, taken out or woken in a few steps, however many there
//! are. There are as many nodes as tasks that wait there, and as many again at most, which are kept for the
//! next ones.
//!
//! *A list that nobody waits for.* One thread at a time has the list, for a few steps. A thread that comes
//! meanwhile leaves word what it wants, and goes on: so a publisher is never held up by a task that is
//! stopped while it registers, nor an interrupt by what it interrupts. The word of the list, `entry`, says
//! which thread has it, and what was left:
//!
//! ```text
//! the thread that comes                                the thread that has the list
//! list.enter1  entry: nobody has it: have it  AcqRel   list.leave4  entry := nobody has it       AcqRel
//!              somebody has it: note the wish                       something was noted: enter again,
//! list.queue2  a node that is to be linked, or is                   with that as one's own wish
//!              gone: push it, note TAKE_IN              list.take3   take all that is queued      Acquire
//! ```
//!
//! What is noted comes before list.leave4, which takes it along, or after it, and then list.enter1 finds that
//! nobody has the list. So a wake-up that is left to another thread is as good as one's own: that thread is
//! on its way, and it looks at the list after the wish came. If it finds fewer tasks than were to be woken,
//! its caller wakes all that sleep at the eventcount, as the thread that left the wish would have done
//! ([`Woken::is_short`]).
//!
//! *What a wake-up is worth.* The owner learns how its wait ended: not at all, or together with all others,
//! or alone, in place of any other (`notify_some`). A wake-up of the last kind belongs to a message. If the
//! owner does not look for a message afterwards, it must pass the wake-up on (`task.rs`). To an abandoned
//! node no wake-up is given: the waker continues with the next.
//!
//! *Order.* A task that waits anew is last in the list, so each task has its turn after at most one wake-up
//! of every other. [`wake_all`](Waiters::wake_all) wakes the tasks that were there when it began, so a task
//! that waits again at once, even inside its `wake`, does not keep it.
//!
//! *Executors' code.* `wake` may do anything: wait again, receive, send, drop futures. It runs while its
//! thread does not have the list. It may panic: then the panic ends there, and the others are woken.

mod list;
mod node;
mod task_list;
mod waker_slot;

pub(super) use self::node::OwnedNode;
pub(super) use self::task_list::Woken;
pub(super) use self::waker_slot::Ended;

use core::task::Waker;

use self::task_list::TaskList;
use self::waker_slot::{GONE, WOKEN_ALONE, WOKEN_WITH_ALL, WakerSlot, abandoned, wake};
use crate::base::drop_all::contain;
use crate::base::link::Link;
use crate::sync::{AtomicU32, Ordering, seeded};

/// The tasks that wait at one eventcount, for any number of threads.
// Decision 0070: nobody waits for the list.
#[repr(C)]
pub(super) struct Waiters {
    /// Where a task waits as long as nobody else does. It comes before all in the list.
    first: WakerSlot,
    /// How many wake-ups, one after the other, found nobody: a hint.
    in_vain: AtomicU32,
    /// Allocated by the first task that waits beside another.
    list: Link<TaskList>,
}

/// After so many wake-ups that found nobody, no task is expected to come back.
// Decision 0070: a fence that is saved pays for them.
pub(super) const MANY_IN_VAIN: u32 = if cfg!(any(annulus_loom, miri)) { 1 } else { 128 };

impl Waiters {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { first: WakerSlot::new(GONE), in_vain: AtomicU32::new(0), list: Link::empty() }
    }

    /// About how many tasks wait, or did so not long ago. Never 0 while one waits that was armed before this
    /// call.
    #[inline]
    pub(super) fn count(&self) -> usize {
        usize::from(self.first.is_armed()) + self.listed()
    }

    /// The list, for the owner of a node of it.
    fn list(&self) -> &TaskList {
        self.list.get().expect("a node comes from the list")
    }

    #[inline]
    fn listed(&self) -> usize {
        self.list.get().map_or(0, TaskList::count)
    }

    /// The waker of the first slot, if a task waits there.
    #[inline]
    fn take_first(&self, outcome: u32) -> Option<Waker> {
        if self.first.take_unlisted() { self.end_first(outcome) } else { None }
    }

    /// Of the first slot, which was taken.
    #[inline]
    fn end_first(&self, outcome: u32) -> Option<Waker> {
        match self.first.end(outcome) {
            Ok(waker) => waker,
            Err(waker) => self.free_first(waker),
        }
    }

    /// The owner of the first slot has left it: nobody is woken there.
    #[cold]
    #[inline(never)]
    fn free_first(&self, waker: Option<Waker>) -> Option<Waker> {
        self.first.vacate();
        let (waker, is_woken) = abandoned(waker)?;
        if is_woken {
            // Unreached: the owner leaves while another thread wakes it: threads have to meet there
            return Some(waker);
        }
        // Others' code.
        contain(|| drop(waker));
        None
    }

    /// Those in the list, if there are any.
    #[inline]
    fn others(&self) -> Option<&TaskList> {
        self.list.get().filter(|list| list.count() != 0)
    }

    /// Wakes all tasks that wait.
    // Decision 0141: one that waits alone in a few steps, without a call.
    #[inline(always)]
    pub(super) fn wake_all(&self) -> Woken {
        let first = self.take_first(WOKEN_WITH_ALL);
        match self.others() {
            Some(list) => list.wake_all(first),
            None => Woken { is_any: wake(first), ..Woken::default() },
        }
    }

    /// Wakes up to `most` of the tasks that wait, in turn.
    pub(super) fn wake_some(&self, most: u32) -> Woken {
        let first = if most == 0 { None } else { self.take_first(WOKEN_ALONE) };
        match self.others() {
            Some(list) => list.wake_some(first, most),
            None => Woken { count: u32::from(wake(first)), ..Woken::default() },
        }
    }

    /// After a wake-up of all that found nobody: whether these were so many that no task is expected to come
    /// back.
    #[inline]
    pub(super) fn are_away(&self) -> bool {
        if MANY_IN_VAIN == 1 {
            // Unreached: for loom and Miri
            return true;
        }
        if seeded!("tasks_never_away") {
            return false;
        }
        // Relaxed: a hint. Where two count at once, one is not counted.
        let count = self.in_vain.load(Ordering::Relaxed) + 1;
        let are_away = count >= MANY_IN_VAIN;
        self.in_vain.store(if are_away { 0 } else { count }, Ordering::Relaxed);
        are_away
    }

    /// After one that found somebody.
    #[inline]
    pub(super) fn found(&self) {
        // Relaxed: a hint.
        self.in_vain.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, feature = "std"))]
mod tests;
