//! [`List`]: the tasks that wait at an event, in turn. Whoever has the list has all of this file
//! (`mod.rs`).
//!
//! A task that waits has a [`Node`], with its waker and a word for its state. The word is what the owner of
//! the node and whoever has the list both change, each step by a compare-exchange:
//!
//! ```text
//! owner of a node                                      who has the list
//! task.wait1  change the waker                         task.wake3  ARMED → TAKEN         Acquire
//! task.wait2  IDLE → ARMED, and link the node;         task.wake4  take the waker
//!             a node that is still linked stays        task.wake5  TAKEN → WOKEN_ALONE or WOKEN_WITH_ALL
//!             where it is               Release                    (ABANDONED: the node is free)   Release
//! …
//! task.wait6  ARMED → IDLE, or                         then, without the list: wake
//!             TAKEN → ABANDONED, or WOKEN… Acquire
//! ```
//!
//! Beside the state, the word says where the node is: LISTED, in the list; QUEUED, on the way to whoever has
//! the list next. A node that is neither is its owner's alone, from the moment at which it is not TAKEN.

use core::ptr::{self, NonNull};
use core::task::Waker;

use alloc::boxed::Box;

use crate::sync::{AtomicU32, Ordering, UnsafeCell, mutated, ordering};

/// What a task has at an event.
pub(super) struct Node {
    /// A state, [`LISTED`] and [`QUEUED`].
    pub(super) state: AtomicU32,
    /// Changed by the owner while the state is not ARMED and not TAKEN, and while it is TAKEN by whoever has
    /// the list.
    pub(super) waker: UnsafeCell<Option<Waker>>,
    /// The node that was queued before. Written by whoever queues this one, before it is queued.
    pub(super) queued_before: UnsafeCell<*mut Self>,
    /// Changed by whoever has the list.
    links: UnsafeCell<Links>,
}

#[derive(Clone, Copy)]
struct Links {
    before: *mut Node,
    /// The next one in the list, or on the list of free nodes.
    after: *mut Node,
    number: u64,
}

/// Nobody is to wake the task.
pub(super) const IDLE: u32 = 0;
/// The task is to be woken.
pub(super) const ARMED: u32 = 1;
/// Whoever has the list takes the waker.
pub(super) const TAKEN: u32 = 2;
/// Woken alone, in place of any other.
pub(super) const WOKEN_ALONE: u32 = 3;
/// Woken together with all others.
pub(super) const WOKEN_WITH_ALL: u32 = 4;
/// The owner has left the node to whoever is about to wake it.
pub(super) const ABANDONED: u32 = 5;
/// The owner has left the node where it is: to whoever has the list next.
pub(super) const GONE: u32 = 6;
/// Beside a state: the node is in the list.
pub(super) const LISTED: u32 = 8;
/// Beside a state: the node is queued. It is in the list, too, only if it is GONE.
pub(super) const QUEUED: u32 = 16;

/// Nodes that are kept for the next tasks, beside as many as have an owner.
const SPARE: usize = 4;

/// Tasks that wait, the first in turn first, and nodes that have no owner.
pub(super) struct List {
    first: *mut Node,
    last: *mut Node,
    len: u32,
    /// The number of the next node that is linked.
    next_number: u64,
    /// All nodes of lower numbers are to be woken.
    called: u64,
    free: *mut Node,
    free_count: usize,
}

impl Node {
    pub(super) fn new() -> NonNull<Self> {
        let links = Links { before: ptr::null_mut(), after: ptr::null_mut(), number: 0 };
        let node = Self {
            state: AtomicU32::new(IDLE),
            waker: UnsafeCell::new(None),
            queued_before: UnsafeCell::new(ptr::null_mut()),
            links: UnsafeCell::new(links),
        };
        NonNull::from(Box::leak(Box::new(node)))
    }

    fn links(&self) -> Links {
        // SAFETY: the caller has the list (`List`).
        self.links.with(|links| unsafe { *links })
    }

    fn set_links(&self, change: impl FnOnce(&mut Links)) {
        // SAFETY: the caller has the list (`List`).
        self.links.with_mut(|links| change(unsafe { &mut *links }));
    }
}

/// Changes a node's state to what `next` says, and returns the one before. `Err` is one that stays.
///
/// The node may be freed as soon as its state is changed, so this has no reference to the rest of it.
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

impl List {
    pub(super) fn new() -> Self {
        Self {
            first: ptr::null_mut(),
            last: ptr::null_mut(),
            len: 0,
            next_number: 0,
            called: 0,
            free: ptr::null_mut(),
            free_count: 0,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Nodes that are kept.
    #[cfg(all(test, feature = "std", not(annulus_loom)))]
    pub(super) fn free_count(&self) -> usize {
        self.free_count
    }

    /// A node for one more task, if one is kept.
    pub(super) fn take_free(&mut self) -> Option<NonNull<Node>> {
        let node = NonNull::new(self.free)?;
        // SAFETY: nodes that are kept live until they are taken.
        self.free = unsafe { node.as_ref() }.links().after;
        self.free_count -= 1;
        Some(node)
    }

    /// Takes back a node that has no owner any more, and is neither linked nor queued. Where many more are
    /// kept than the `owned` ones, which have an owner, it frees one or two.
    ///
    /// # Safety
    ///
    /// Nobody else has the node, and its waker is taken.
    pub(super) unsafe fn take_back(&mut self, node: NonNull<Node>, owned: usize) {
        step();
        // SAFETY: it is nobody else's, and lives until it is freed here.
        let there = unsafe { node.as_ref() };
        there.state.store(IDLE, Ordering::Relaxed);
        there.set_links(|links| links.after = self.free);
        self.free = node.as_ptr();
        self.free_count += 1;
        for _ in 0..2 {
            if self.free_count > owned + SPARE {
                if let Some(spare) = self.take_free() {
                    // SAFETY: it comes from `Node::new`, and nobody has it.
                    unsafe { free(spare) };
                }
            }
        }
    }

    /// Links a node behind all others. Its state says so.
    pub(super) fn link(&mut self, node: NonNull<Node>) {
        step();
        let (last, number) = (self.last, self.next_number);
        // SAFETY: its owner keeps it until it is unlinked.
        let there = unsafe { node.as_ref() };
        there.set_links(|links| *links = Links { before: last, after: ptr::null_mut(), number });
        let node = node.as_ptr();
        // SAFETY: what is linked lives.
        match unsafe { last.as_ref() } {
            Some(last) => last.set_links(|links| links.after = node),
            None => self.first = node,
        }
        self.last = node;
        self.next_number += 1;
        self.len += 1;
    }

    /// Takes a node out. Its state may still say that it is linked.
    pub(super) fn unlink(&mut self, node: &Node) {
        step();
        let Links { before, after, .. } = node.links();
        // SAFETY: what is linked lives.
        match unsafe { before.as_ref() } {
            Some(before) => before.set_links(|links| links.after = after),
            None => self.first = after,
        }
        // SAFETY: as above.
        match unsafe { after.as_ref() } {
            Some(after) => after.set_links(|links| links.before = before),
            None => self.last = before,
        }
        self.len -= 1;
    }

    /// All that are linked now are to be woken.
    pub(super) fn call_all(&mut self) {
        self.called = self.next_number;
    }

    /// The next waker of those that are to be woken with all others; false if it is only to be dropped.
    pub(super) fn pop_called(&mut self) -> Option<(Waker, bool)> {
        self.pop(WOKEN_WITH_ALL, self.called)
    }

    /// The waker of the task whose turn it is; false if it is only to be dropped.
    pub(super) fn pop_one(&mut self) -> Option<(Waker, bool)> {
        self.pop(WOKEN_ALONE, u64::MAX)
    }

    /// The waker of the first node that is armed, if its number is below `end`.
    fn pop(&mut self, outcome: u32, end: u64) -> Option<(Waker, bool)> {
        loop {
            let last = mutated!("waiters_without_turns") && outcome == WOKEN_ALONE;
            let node = NonNull::new(if last { self.last } else { self.first })?;
            // SAFETY: what is linked lives.
            let there = unsafe { node.as_ref() };
            if there.links().number >= end {
                return None;
            }
            self.unlink(there);
            if Self::is_taken(there) {
                if let Some(waker) = self.end_taken(node, outcome) {
                    return Some(waker);
                }
            }
        }
    }

    /// task.wake3: whether the node, which was unlinked, was to be woken.
    fn is_taken(node: &Node) -> bool {
        // Acquire: pairs with the Release of task.wait2, so the waker is seen. Release: pairs with the
        // Acquire of whoever finds that the node is not linked any more, and gives it back.
        let success = ordering!(AcqRel unless "waker_taken_relaxed");
        let before = change(&node.state, success, Ordering::Relaxed, |state| {
            let unlisted = state & !LISTED;
            Some(if unlisted == ARMED { TAKEN } else { unlisted })
        });
        // Otherwise its owner does not wait, or is gone; then it is queued.
        before == Ok(ARMED | LISTED)
    }

    /// task.wake4 and task.wake5, of a node that is taken: its waker, and whether it is to be woken.
    pub(super) fn end_taken(&mut self, node: NonNull<Node>, outcome: u32) -> Option<(Waker, bool)> {
        // SAFETY: it lives until its owner gives it back, or it is taken back here.
        let there = unsafe { node.as_ref() };
        // task.wake4. SAFETY: it is TAKEN, so this thread has the waker until task.wake5.
        let waker = there.waker.with_mut(|waker| unsafe { (*waker).take() });
        // task.wake5. Release: pairs with the Acquire of task.wait6. Who finds the outcome there has the
        // node. Acquire: pairs with the Release of whoever abandons it.
        let success = ordering!(Release unless "waker_left_relaxed");
        if there.state.compare_exchange(TAKEN, outcome, success, Ordering::Acquire).is_ok() {
            return waker.map(|waker| (waker, true));
        }
        // SAFETY: its owner has left it to whoever took its waker.
        unsafe { self.take_back(node, self.len as usize) };
        if mutated!("abandoned_waker_leaks") {
            core::mem::forget(waker);
            return None;
        }
        waker.map(|waker| (waker, mutated!("abandoned_counts_as_woken")))
    }
}

/// Called for each node that is looked at: the tests count.
#[cfg(all(test, feature = "std", not(annulus_loom)))]
fn step() {
    super::tests::count_step();
}

/// Nobody counts.
#[cfg(not(all(test, feature = "std", not(annulus_loom))))]
fn step() {}

/// Frees a node.
///
/// # Safety
///
/// It comes from [`Node::new`], and nobody has it.
pub(super) unsafe fn free(node: NonNull<Node>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

impl Drop for List {
    /// Those that are kept. (A node in the list has an owner, which lives no longer than this.)
    fn drop(&mut self) {
        while let Some(node) = self.take_free() {
            // SAFETY: it comes from `Node::new`, and nobody has it.
            unsafe { free(node) };
        }
    }
}
