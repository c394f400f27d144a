//! [`List`]: the tasks that wait at an eventcount, in turn. The thread that has the list has all of this file
//! (`mod.rs`).
//!
//! A task that waits here has a [`WaiterNode`]: its slot (`waker_slot.rs`), and its place in the list. A node
//! that is neither LISTED nor QUEUED is its owner's alone, from the moment at which it is not TAKEN.

use core::ptr::{self, NonNull};

use alloc::boxed::Box;

use super::waker_slot::{IDLE, Taken, WOKEN_ALONE, WOKEN_WITH_ALL, WakerSlot, abandoned};
use crate::sync::{Ordering, UnsafeCell, seeded};

/// What a task has at an eventcount.
pub(super) struct WaiterNode {
    pub(super) slot: WakerSlot,
    /// The node that was queued before. Written by the owner that queues this one, before it is queued.
    pub(super) queued_before: UnsafeCell<*mut Self>,
    /// Changed by the thread that has the list.
    links: UnsafeCell<Links>,
}

#[derive(Clone, Copy)]
struct Links {
    before: *mut WaiterNode,
    /// The next one in the list, or on the list of free nodes.
    after: *mut WaiterNode,
    number: u64,
}

/// Nodes that are kept for the next tasks, beside as many as have an owner.
const SPARE: usize = 4;

/// Tasks that wait, the first in turn first, and nodes that have no owner.
pub(super) struct List {
    first: *mut WaiterNode,
    last: *mut WaiterNode,
    len: u32,
    /// The number of the next node that is linked.
    next_number: u64,
    /// All nodes of lower numbers are to be woken.
    called: u64,
    free: *mut WaiterNode,
    free_count: usize,
}

impl WaiterNode {
    pub(super) fn new() -> NonNull<Self> {
        let links = Links { before: ptr::null_mut(), after: ptr::null_mut(), number: 0 };
        let node = Self {
            slot: WakerSlot::new(IDLE),
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
    #[cfg(all(test, feature = "std"))]
    pub(super) fn free_count(&self) -> usize {
        self.free_count
    }

    /// A node for one more task, if one is kept.
    pub(super) fn take_free(&mut self) -> Option<NonNull<WaiterNode>> {
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
    pub(super) unsafe fn take_back(&mut self, node: NonNull<WaiterNode>, owned: usize) {
        step();
        // SAFETY: it is nobody else's, and lives until it is freed here.
        let there = unsafe { node.as_ref() };
        there.slot.state.store(IDLE, Ordering::Relaxed);
        there.set_links(|links| links.after = self.free);
        self.free = node.as_ptr();
        self.free_count += 1;
        for _ in 0..2 {
            if self.free_count > owned + SPARE {
                if let Some(spare) = self.take_free() {
                    // SAFETY: it comes from `WaiterNode::new`, and nobody has it.
                    unsafe { free(spare) };
                }
            }
        }
    }

    /// Links a node behind all others. Its state says so.
    pub(super) fn link(&mut self, node: NonNull<WaiterNode>) {
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
    pub(super) fn unlink(&mut self, node: &WaiterNode) {
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
    pub(super) fn pop_called(&mut self) -> Option<Taken> {
        self.pop(WOKEN_WITH_ALL, self.called)
    }

    /// The waker of the task whose turn it is; false if it is only to be dropped.
    pub(super) fn pop_one(&mut self) -> Option<Taken> {
        self.pop(WOKEN_ALONE, u64::MAX)
    }

    /// The waker of the first node that is armed, if its number is below `end`.
    fn pop(&mut self, outcome: u32, end: u64) -> Option<Taken> {
        loop {
            let last = seeded!("waiters_without_turns") && outcome == WOKEN_ALONE;
            let node = NonNull::new(if last { self.last } else { self.first })?;
            // SAFETY: what is linked lives.
            let there = unsafe { node.as_ref() };
            if there.links().number >= end {
                return None;
            }
            self.unlink(there);
            if there.slot.take() {
                if let Some(waker) = self.end_taken(node, outcome) {
                    return Some(waker);
                }
            }
        }
    }

    /// Of a node whose slot is taken: its waker, and whether it is to be woken.
    pub(super) fn end_taken(&mut self, node: NonNull<WaiterNode>, outcome: u32) -> Option<Taken> {
        // SAFETY: it lives until its owner gives it back, or it is taken back here.
        match unsafe { node.as_ref() }.slot.end(outcome) {
            Ok(waker) => waker.map(|waker| (waker, true)),
            Err(waker) => {
                // SAFETY: its owner has left it to the thread that took its waker.
                unsafe { self.take_back(node, self.len as usize) };
                abandoned(waker)
            }
        }
    }
}

/// Called for each node that is looked at: the tests count.
#[cfg(all(test, feature = "std"))]
fn step() {
    super::tests::count_step();
}

/// Nobody counts.
#[cfg(not(all(test, feature = "std")))]
fn step() {}

/// Frees a node.
///
/// # Safety
///
/// It comes from [`WaiterNode::new`], and nobody has it.
pub(super) unsafe fn free(node: NonNull<WaiterNode>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

impl Drop for List {
    /// Those that are kept. (A node in the list has an owner, which lives no longer than this.)
    fn drop(&mut self) {
        while let Some(node) = self.take_free() {
            // SAFETY: it comes from `WaiterNode::new`, and nobody has it.
            unsafe { free(node) };
        }
    }
}
