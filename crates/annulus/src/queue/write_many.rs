//! The producer's end of a one-to-many lane: stamped.send1 to stamped.send3 of `lane/stamped.rs`.
//!
//! ```text
//! plain path                                              slow path, outlined
//! stamped.send1  send_plainly: is the next slot free? no ─▶ has_free_slot, or wait
//! stamped.send2, stamped.send3  send: move the message in, and its stamp
//! after_publish: does somebody need to know?        yes ─▶ publish_slow_path: settle, activate the lane, wake
//! ```

use super::ends::Write;
use super::free_slot::wait_for_free_slot;
use super::lane_node::LaneNode;
use super::state::{LaneShare, state_of};
use crate::error::{CapacityError, Refusal};
use crate::lane::{Claimed, Number, OneToMany};
use crate::sync::{AtomicU64, Ordering, seeded, unlikely};
use crate::wait::{Deadline, SleeperKind, WaitStrategy, preferred_slots};

/// The one producer of a one-to-many lane. As in [`WriteEnd`](super::write::WriteEnd), what is rare takes
/// and returns values.
pub(crate) struct WriteMany<T> {
    node: LaneShare<OneToMany<T>>,
    /// The next message.
    next: Number,
}

impl<T> Write<T> for WriteMany<T> {
    type Lane = OneToMany<T>;

    #[inline(always)]
    fn node(&self) -> &LaneNode<OneToMany<T>> {
        &self.node
    }

    #[inline(always)]
    fn send_plainly(&mut self, value: T) -> Result<(), T> {
        if unlikely(!self.has_free_slot()) {
            return Err(value);
        }
        // SAFETY: a slot is free.
        unsafe { self.send(value) }
    }

    #[inline(always)]
    fn has_free_slot(&mut self) -> bool {
        self.lane().is_free(self.next) || seeded!("one_to_many_overwrites")
    }

    #[inline(always)]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        let next = self.next;
        let state = self.node.state();
        let preferred = preferred_slots(state.plan.capacity);
        let count_free = move |lane: &OneToMany<T>| lane.free_slots(next, preferred);
        let freed = self.watched();
        wait_for_free_slot(state, &self.node, preferred, count_free, freed, strategy, deadline).map(drop)
    }

    #[inline(always)]
    unsafe fn send(&mut self, value: T) -> Result<(), T> {
        if self.is_refused() {
            return Err(value);
        }
        let number = self.next;
        // SAFETY: the caller saw that a slot is free.
        unsafe { self.lane().write(number, value) };
        match self.after_publish(1).and_then(|mut unsent| unsent.next()) {
            None => Ok(()),
            // Unreached: a close beside a send: two threads have to meet there; loom shared_wake
            Some(value) => Err(value),
        }
    }

    fn watched(&self) -> &AtomicU64 {
        self.lane().word_of(self.next)
    }

    #[inline]
    fn send_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        if self.is_refused() {
            return 0;
        }
        let first = self.next;
        let mut count = 0;
        for &value in values {
            let number = first.plus(count as u64);
            if !self.lane().is_free(number) {
                break;
            }
            // SAFETY: it is free, and the messages before it were sent.
            unsafe { self.lane().write(number, value) };
            count += 1;
        }
        if count == 0 {
            return 0;
        }
        match self.after_publish(count) {
            None => count,
            // Unreached: a close beside a send: two threads have to meet there; loom shared_wake
            Some(unsent) => count - unsent.len(),
        }
    }
}

/// What a send looks at before and after.
impl<T> WriteMany<T> {
    #[inline(always)]
    fn is_refused(&self) -> bool {
        unlikely(self.node.state().may_be_closed()) && !seeded!("one_to_many_close_unsettled")
    }

    /// After `count` messages were sent: looks whether a consumer sleeps. Returns the messages that were not
    /// sent in time, if the queue was closed meanwhile.
    #[inline(always)]
    fn after_publish(&mut self, count: usize) -> Option<Claimed<'_, T>> {
        let first = self.next;
        let end = first.plus(count as u64);
        self.next = end;
        // The fence of the first look comes before the second, too.
        if unlikely(self.node.state().published.needs_slow_path() || !self.node.is_active()) {
            // SAFETY: this end is the lane's one writer, and has just sent these.
            return unsafe { publish_slow_path(&self.node, first, end) };
        }
        None
    }
}

/// What [`WriteMany::after_publish`] does where something is to be done.
///
/// # Safety
///
/// The caller is the one writer of the lane. It has just sent the messages from `first` to before `end`.
#[cold]
#[inline(never)]
unsafe fn publish_slow_path<T>(
    node: &LaneNode<OneToMany<T>>,
    first: Number,
    end: Number,
) -> Option<Claimed<'_, T>> {
    let state = state_of(node);
    state.published.fence();
    if node.is_active() && state.published.sleepers() == SleeperKind::Nobody {
        return None;
    }
    // divide.settle1. SAFETY: the caller's promise.
    let settle = || unsafe { node.lane.settle(first, end) };
    let is_closed = state.may_be_closed() && !seeded!("one_to_many_close_unsettled");
    let unsent = is_closed.then(settle);
    if !node.is_active() && !seeded!("send_activates_nothing") {
        state.roster.activate(node);
        // As in `write.rs`.
        state.published.fence();
    }
    let until = unsent.as_ref().map_or(end, Claimed::number);
    let count = until.since(first) as usize;
    state.published.notify_some_fenced(if seeded!("wakes_too_few") { count.min(1) } else { count });
    unsent
}

/// How a producer begins.
impl<T> WriteMany<T> {
    /// The producer of a lane that nobody else sends on, whose next message is `next`. The queue state counts
    /// it already.
    #[inline(always)]
    pub(super) fn at(node: LaneShare<OneToMany<T>>, next: Number) -> Self {
        Self { node, next }
    }

    /// Another producer, with a lane of its own.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        let node = self.node.join()?;
        let state = self.node.state();
        state.producer_comes();
        // Consumers that end the queue see this lane, or its producer sees the close before it sends.
        if !seeded!("one_to_many_join_unfenced") {
            state.published.fence();
        }
        let next = node.lane.left_at();
        let end = Self::at(node, next);
        // Relaxed: a number for statistics.
        end.node.base.store(end.next.get(), Ordering::Relaxed);
        Ok(end)
    }

    #[inline(always)]
    fn lane(&self) -> &OneToMany<T> {
        &self.node.lane
    }
}

impl<T> Drop for WriteMany<T> {
    fn drop(&mut self) {
        leave(&self.node, self.next);
    }
}

/// Takes values and not the end, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn leave<T>(node: &LaneNode<OneToMany<T>>, next: Number) {
    node.lane.leave_at(next);
    state_of(node).leave(node);
}
