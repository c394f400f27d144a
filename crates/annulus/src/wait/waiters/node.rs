//! [`OwnedNode`]: the place of a task that waits, in the hands of the task.

use core::ptr::NonNull;
use core::task::Waker;

use super::Waiters;
use super::list::{List, WaiterNode};
use super::task_list::{OWNER, TAKE_IN, TaskList, Woken};
use super::waker_slot::{ARMED, Ended, GONE, LISTED, PLACE, QUEUED, WakerSlot, change};
use crate::sync::{Ordering, ordering, seeded};

/// The place of a task, in the hands of its owner: the eventcount's first slot, or a node of the
/// list. It does not keep the eventcount alive: see [`take_first_armed`](Waiters::take_first_armed).
pub(in crate::wait) struct OwnedNode {
    waiters: NonNull<Waiters>,
    pub(super) place: WaiterPlace,
    is_armed: bool,
}

#[derive(Clone, Copy)]
pub(super) enum WaiterPlace {
    /// The eventcount's first slot.
    First,
    Node(NonNull<WaiterNode>),
    /// It is another's from now on.
    None,
}

// SAFETY: it stands for a shared reference to `Waiters`, which is `Sync`, and for the place's waker, which is
// `Send`.
unsafe impl Send for OwnedNode {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for OwnedNode {}

impl Waiters {
    /// A node for one more task. Allocates where none is kept.
    ///
    /// # Safety
    ///
    /// As of [`take_first_armed`](Self::take_first_armed).
    pub(in crate::wait) unsafe fn take_node(&self) -> (OwnedNode, Woken) {
        let shared = match self.list.get() {
            Some(shared) => shared,
            None => self.list.put(TaskList::new()).unwrap_or_else(|theirs| theirs),
        };
        let (kept, woken) = if shared.enter(OWNER, 0) {
            let kept = shared.with_list(List::take_free);
            (kept, shared.leave(0))
        } else {
            (None, Woken::default())
        };
        (OwnedNode::new(self, WaiterPlace::Node(kept.unwrap_or_else(WaiterNode::new))), woken)
    }

    /// The first slot, for a task that waits alone: armed, so from now on `waker` may be woken. `Err` is a
    /// clone of that, where another waits.
    ///
    /// # Safety
    ///
    /// The place is used and given back only as long as these waiters are there, and they stay where they
    /// are.
    #[inline(always)]
    pub(in crate::wait) unsafe fn take_first_armed(&self, waker: &Waker) -> Result<OwnedNode, Waker> {
        // Others' code, before this thread has a place.
        let own = waker.clone();
        // Decision 0134: one task alone has no list.
        if (self.listed() == 0 || seeded!("waker_slot_out_of_turn")) && self.first.claim() {
            return Ok(OwnedNode::first_armed(self, own));
        }
        Err(own)
    }

    /// A node of the list for one more task, which is armed: from now on its waker may be woken. Allocates
    /// where none is kept.
    ///
    /// # Safety
    ///
    /// As [`take_first_armed`](Self::take_first_armed).
    // Decision 0070: one turn with the list, for a node that is kept.
    pub(in crate::wait) unsafe fn take_node_armed(&self, own: Waker) -> (OwnedNode, Woken) {
        let mut woken = Woken::default();
        if let Some(shared) = self.list.get() {
            // (The owner is counted in any case.)
            if shared.enter(OWNER, 0) {
                // Those that are queued come before it.
                shared.take_in();
                if let Some(node) = shared.with_list(List::take_free) {
                    // (Nobody else has it before it is linked.)
                    let node = OwnedNode::armed(self, shared, node, own);
                    return (node, shared.leave(0));
                }
                woken = shared.leave(0);
            }
            let mut node = OwnedNode::new(self, WaiterPlace::Node(WaiterNode::new()));
            let armed = node.arm(&own);
            return (node, woken.and(armed));
        }
        // SAFETY: the caller's promise.
        let (mut node, taken) = unsafe { self.take_node() };
        woken = taken;
        let armed = node.arm(&own);
        (node, woken.and(armed))
    }
}

impl OwnedNode {
    #[inline]
    fn new(waiters: &Waiters, place: WaiterPlace) -> Self {
        Self { waiters: NonNull::from(waiters), place, is_armed: false }
    }

    /// The first slot, which the caller has claimed, armed with this waker.
    #[inline]
    fn first_armed(waiters: &Waiters, waker: Waker) -> Self {
        waiters.first.put(waker);
        let mut first = Self::new(waiters, WaiterPlace::First);
        first.arm_first();
        first
    }

    /// A node that was kept, with this waker, linked and armed. The caller has the list, and nobody else has
    /// the node.
    fn armed(waiters: &Waiters, shared: &TaskList, node: NonNull<WaiterNode>, waker: Waker) -> Self {
        let armed = Self { is_armed: true, ..Self::new(waiters, WaiterPlace::Node(node)) };
        // (A node that is kept has no waker.)
        armed.slot().put(waker);
        // task.wait2. Relaxed: the next thread that has the list sees it (list.leave4).
        armed.slot().state.store(ARMED | LISTED, Ordering::Relaxed);
        shared.with_list(|list| list.link(node));
        armed
    }

    fn waiters(&self) -> &Waiters {
        // SAFETY: they live as long as this (`take_first_armed`).
        unsafe { self.waiters.as_ref() }
    }

    #[inline]
    pub(super) fn slot(&self) -> &WakerSlot {
        match &self.place {
            // SAFETY: the node lives until it is given back or abandoned.
            WaiterPlace::Node(node) => &unsafe { node.as_ref() }.slot,
            WaiterPlace::First | WaiterPlace::None => &self.waiters().first,
        }
    }

    /// Whether there still is one, as long as it was not given back, and after a [`disarm`](Self::disarm).
    pub(in crate::wait) fn is_there(&self) -> bool {
        !matches!(self.place, WaiterPlace::None)
    }

    /// task.wait2 of the first slot.
    #[inline]
    fn arm_first(&mut self) {
        // Release: pairs with the Acquire of task.wake3.
        self.slot().state.store(ARMED, ordering!(Release unless "waker_slot_armed_relaxed"));
        self.is_armed = true;
    }

    /// From now on `waker` may be woken. The caller [disarmed](Self::disarm) the place before, which is still
    /// there.
    pub(in crate::wait) fn arm(&mut self, waker: &Waker) -> Woken {
        debug_assert!(!self.is_armed && self.is_there(), "it has no right to the place");
        self.slot().set(waker);
        let WaiterPlace::Node(node) = self.place else {
            self.arm_first();
            return Woken::default();
        };
        let woken = self.link(node);
        self.is_armed = true;
        woken
    }

    /// task.wait2 of a node.
    fn link(&self, node: NonNull<WaiterNode>) -> Woken {
        let (shared, slot) = (self.waiters().list(), self.slot());
        // Release: pairs with the Acquire of task.wake3. Acquire: pairs with the Release of the thread that
        // took the node out of the list.
        let still_there = change(&slot.state, Ordering::AcqRel, Ordering::Acquire, |state| {
            (state & PLACE != 0).then_some(ARMED | state & PLACE)
        });
        if still_there.is_ok() {
            return Woken::default();
        }
        // From here on the node is the owner's alone.
        if shared.enter(0, 0) {
            shared.take_in();
            slot.state.store(ARMED | LISTED, Ordering::Relaxed);
            shared.with_list(|list| list.link(node));
            return shared.leave(0);
        }
        slot.state.store(ARMED | QUEUED, Ordering::Relaxed);
        shared.queue(node);
        if shared.enter(0, TAKE_IN) { shared.serve(None, 0, TAKE_IN) } else { Woken::default() }
    }

    /// Whether it is armed, and nobody has begun to wake the task.
    pub(in crate::wait) fn is_waiting(&self) -> bool {
        self.is_armed && self.slot().is_armed()
    }

    /// From now on nobody wakes the task, and it is told how its wait ended. Where it was
    /// [abandoned](Ended::Abandoned), and where it was woken in the first slot, its place is another's.
    #[inline]
    pub(in crate::wait) fn disarm(&mut self) -> Ended {
        if !core::mem::replace(&mut self.is_armed, false) {
            return Ended::Plainly;
        }
        let (ended, is_woken) = self.slot().disarm();
        match self.place {
            WaiterPlace::First if is_woken => {
                self.slot().vacate();
                self.place = WaiterPlace::None;
            }
            // Unreached: a look finds another thread in the middle of its wake-up; loom task_wake and
            // select_wake
            _ if ended == Ended::Abandoned => {
                if let WaiterPlace::Node(_) = self.place {
                    // Relaxed: it is a number.
                    self.waiters().list().entry.fetch_sub(OWNER, Ordering::Relaxed);
                }
                self.place = WaiterPlace::None;
            }
            _ => {}
        }
        ended
    }

    /// Gives the place back, which is [disarmed](Self::disarm) and not used any more. Returns its waker,
    /// whose destructor is an executor's.
    pub(in crate::wait) fn give_back(&mut self) -> (Option<Waker>, Woken) {
        debug_assert!(!self.is_armed, "it has no right to the place");
        match core::mem::replace(&mut self.place, WaiterPlace::None) {
            WaiterPlace::None => (None, Woken::default()),
            WaiterPlace::First => {
                let first = &self.waiters().first;
                let waker = first.take_back();
                first.vacate();
                (waker, Woken::default())
            }
            WaiterPlace::Node(node) => {
                // SAFETY: it lives until it is given back, below.
                let waker = unsafe { node.as_ref() }.slot.take_back();
                (waker, self.give_node_back(node))
            }
        }
    }

    fn give_node_back(&self, node: NonNull<WaiterNode>) -> Woken {
        let shared = self.waiters().list();
        // SAFETY: it lives until it is given back, which the last step of this does.
        let slot = &unsafe { node.as_ref() }.slot;
        if shared.enter(OWNER.wrapping_neg(), 0) {
            // It is not queued any more then.
            shared.take_in();
            // Acquire: pairs with the Release of the thread that took it out of the list.
            let is_listed = slot.state.load(Ordering::Acquire) & LISTED != 0;
            // By its address: what a closure has by reference must not be freed before it returns.
            shared.with_list(|list| {
                if is_listed {
                    // SAFETY: it lives until its owner, this one, gives it back.
                    list.unlink(unsafe { node.as_ref() });
                }
                // SAFETY: this is its owner, with its waker taken, and it is in neither place.
                unsafe { list.take_back(node, shared.owned()) };
            });
            return shared.leave(0);
        }
        // Release: pairs with the Acquire of `take_in`. Acquire: pairs with the Release of the thread that
        // took the node out of the list.
        let before = change(&slot.state, Ordering::AcqRel, Ordering::Relaxed, |state| {
            Some(GONE | state & LISTED | QUEUED)
        });
        if before.is_ok_and(|state| state & QUEUED == 0) {
            shared.queue(node);
        }
        if shared.enter(0, TAKE_IN) { shared.serve(None, 0, TAKE_IN) } else { Woken::default() }
    }
}
