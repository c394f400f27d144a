//! [`OwnedNode`]: the node of a task that waits, in the hands of the task.

use core::ptr::{self, NonNull};
use core::task::Waker;

use super::list::{ABANDONED, ARMED, GONE, IDLE, LISTED, Node, QUEUED, TAKEN, WOKEN_ALONE, change};
use super::task_list::{OWNER, TAKE_IN, TaskList, Woken};
use crate::sync::{Ordering, ordering};
use crate::wait::contain::contain;

/// A node and its owner. It does not keep the event alive: see
/// [`Waiters::take_node`](super::Waiters::take_node).
pub(in crate::wait) struct OwnedNode {
    shared: NonNull<TaskList>,
    pub(super) node: NonNull<Node>,
    is_armed: bool,
}

// SAFETY: it stands for a shared reference to `TaskList`, which is `Sync`, and for the node's waker, which is
// `Send`.
unsafe impl Send for OwnedNode {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for OwnedNode {}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wait) enum Ended {
    /// Nobody has woken the task, or everybody was woken. The node is as it was.
    Plainly,
    /// The task was woken in place of any other. The node is as it was.
    WokenAlone,
    /// Another thread was about to wake the task, and wakes another in its place. The node is that thread's.
    Abandoned,
}

impl OwnedNode {
    pub(super) fn new(shared: &TaskList, node: NonNull<Node>) -> Self {
        Self { shared: NonNull::from(shared), node, is_armed: false }
    }

    /// A node that was kept, with this waker, linked and armed. The caller has the list.
    ///
    /// # Safety
    ///
    /// Nobody else has the node.
    pub(super) unsafe fn armed(shared: &TaskList, node: NonNull<Node>, waker: Waker) -> Self {
        let armed = Self { is_armed: true, ..Self::new(shared, node) };
        // SAFETY: the caller's promise. A node that is kept has no waker.
        armed.node().waker.with_mut(|there| unsafe { there.write(Some(waker)) });
        // task.wait2. Relaxed: whoever has the list next sees it (list.leave4).
        armed.node().state.store(ARMED | LISTED, Ordering::Relaxed);
        shared.with_list(|list| list.link(node));
        armed
    }

    fn shared(&self) -> &TaskList {
        // SAFETY: it lives as long as the waiters, and so as this node (`take_node`).
        unsafe { self.shared.as_ref() }
    }

    pub(super) fn node(&self) -> &Node {
        // SAFETY: the node lives until it is given back or abandoned.
        unsafe { self.node.as_ref() }
    }

    /// From now on `waker` may be woken. The caller [disarmed](Self::disarm) the node before.
    pub(in crate::wait) fn arm(&mut self, waker: &Waker) -> Woken {
        debug_assert!(!self.is_armed, "it has no right to the node");
        let node = self.node();
        // task.wait1. SAFETY: the owner has the waker while the node is neither ARMED nor TAKEN.
        let is_there =
            node.waker.with(|there| unsafe { (*there).as_ref() }.is_some_and(|there| there.will_wake(waker)));
        if !is_there {
            // Cloned before, and dropped afterwards: both are others' code.
            let new = Some(waker.clone());
            // SAFETY: as above.
            let old = node.waker.with_mut(|there| unsafe { ptr::replace(there, new) });
            contain(|| drop(old));
        }
        let woken = self.link();
        self.is_armed = true;
        woken
    }

    /// task.wait2.
    fn link(&self) -> Woken {
        let (shared, node) = (self.shared(), self.node());
        // Release: pairs with the Acquire of task.wake3. Acquire: pairs with the Release of whoever took the
        // node out of the list.
        let still_there = change(&node.state, Ordering::AcqRel, Ordering::Acquire, |state| {
            (state & (LISTED | QUEUED) != 0).then_some(ARMED | state & (LISTED | QUEUED))
        });
        if still_there.is_ok() {
            return Woken::default();
        }
        // From here on the node is the owner's alone.
        if shared.enter(0, 0) {
            shared.take_in();
            node.state.store(ARMED | LISTED, Ordering::Relaxed);
            shared.with_list(|list| list.link(self.node));
            return shared.leave(0);
        }
        node.state.store(ARMED | QUEUED, Ordering::Relaxed);
        shared.queue(self.node);
        if shared.enter(0, TAKE_IN) { shared.serve(0, TAKE_IN) } else { Woken::default() }
    }

    /// Whether it is armed, and nobody has begun to wake the task.
    pub(in crate::wait) fn is_waiting(&self) -> bool {
        // Relaxed: who waits for what comes with the wake-up has registered elsewhere, and that orders it
        // (`relay.rs`).
        self.is_armed && self.node().state.load(Ordering::Relaxed) & !(LISTED | QUEUED) == ARMED
    }

    /// From now on nobody wakes the task, and it is told how its wait ended. Where it is
    /// [`Ended::Abandoned`], the caller forgets the node.
    pub(in crate::wait) fn disarm(&mut self) -> Ended {
        if !core::mem::replace(&mut self.is_armed, false) {
            return Ended::Plainly;
        }
        // task.wait6. Acquire: pairs with the Release of task.wake5. Release, where it is abandoned: pairs
        // with the Acquire there.
        let failure = ordering!(Acquire unless "waker_back_relaxed");
        let before = change(&self.node().state, Ordering::Release, failure, |state| {
            match state & !(LISTED | QUEUED) {
                ARMED => Some(IDLE | state & (LISTED | QUEUED)),
                TAKEN => Some(ABANDONED),
                _ => None,
            }
        });
        match before {
            Ok(TAKEN) => {
                // Relaxed: it is a number.
                self.shared().entry.fetch_sub(OWNER, Ordering::Relaxed);
                Ended::Abandoned
            }
            Err(WOKEN_ALONE) => Ended::WokenAlone,
            _ => Ended::Plainly,
        }
    }

    /// Gives the node back, which is [disarmed](Self::disarm) and not abandoned, and is not used any more.
    /// Returns its waker, whose destructor is an executor's.
    pub(in crate::wait) fn give_back(&mut self) -> (Option<Waker>, Woken) {
        debug_assert!(!self.is_armed, "it has no right to the node");
        let (shared, node) = (self.shared(), self.node());
        // SAFETY: the owner has the waker while the node is neither ARMED nor TAKEN.
        let waker = node.waker.with_mut(|waker| unsafe { (*waker).take() });
        if shared.enter(OWNER.wrapping_neg(), 0) {
            // It is not queued any more then.
            shared.take_in();
            // Acquire: pairs with the Release of whoever took it out of the list.
            let is_listed = node.state.load(Ordering::Acquire) & LISTED != 0;
            let node = self.node;
            // By its address: what a closure has by reference must not be freed before it returns.
            shared.with_list(|list| {
                if is_listed {
                    // SAFETY: it lives until its owner, this one, gives it back.
                    list.unlink(unsafe { node.as_ref() });
                }
                // SAFETY: this is its owner, with its waker taken, and it is in neither place.
                unsafe { list.take_back(node, shared.owned()) };
            });
            return (waker, shared.leave(0));
        }
        // Release: pairs with the Acquire of `take_in`. Acquire: pairs with the Release of whoever took the
        // node out of the list.
        let before = change(&node.state, Ordering::AcqRel, Ordering::Relaxed, |state| {
            Some(GONE | state & LISTED | QUEUED)
        });
        if before.is_ok_and(|state| state & QUEUED == 0) {
            shared.queue(self.node);
        }
        let woken = if shared.enter(0, TAKE_IN) { shared.serve(0, TAKE_IN) } else { Woken::default() };
        (waker, woken)
    }
}
