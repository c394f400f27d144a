//! The producer's end of a shared lane: V1 to V3 of `lane/shared_lane.rs`.

use alloc::sync::Arc;
use core::mem::ManuallyDrop;

use super::ends::Write;
use super::full::wait_for_free_slot;
use super::node::NodeRef;
use super::plan::Plan;
use super::state::QueueState;
use crate::error::{CapacityError, Refusal};
use crate::hint::unlikely;
use crate::lane::SharedLane;
use crate::sync::mutated;
#[cfg(feature = "async")]
use crate::wait::Event;
use crate::wait::{Deadline, WaitStrategy};

/// The one producer of a shared lane. Those of [`WriteEnd`](super::write::WriteEnd), what is rare takes and
/// returns values.
pub(crate) struct SharedWriteEnd<T> {
    state: ManuallyDrop<Arc<QueueState<SharedLane<T>>>>,
    node: NodeRef<SharedLane<T>>,
    /// The next message.
    next: u64,
}

// SAFETY: a share in a queue state and a node of it, which may go where messages may go.
unsafe impl<T: Send> Send for SharedWriteEnd<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for SharedWriteEnd<T> {}

impl<T> SharedWriteEnd<T> {
    /// The producer of `node`, a lane that nobody else sends on. It counts as a producer of the queue state
    /// already.
    pub(super) fn new(state: Arc<QueueState<SharedLane<T>>>, node: NodeRef<SharedLane<T>>) -> Self {
        let next = node.lane.left_at();
        Self { state: ManuallyDrop::new(state), node, next }
    }

    /// Another producer, with a lane of its own.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        let make = |plan: Plan| SharedLane::new(plan.capacity, plan.first, plan.numa_node);
        // SAFETY: the new end has a share, below.
        let node = unsafe { self.state.join(make) }?;
        self.state.producer_comes();
        // Consumers that end the queue see this lane, or its producer sees the close before it sends.
        if !mutated!("shared_join_unfenced") {
            self.state.published.fence();
        }
        Ok(Self::new(Arc::clone(&self.state), node))
    }

    #[inline(always)]
    fn lane(&self) -> &SharedLane<T> {
        &self.node.lane
    }

    /// After `count` messages were sent: looks who needs to know, and returns how many of them are the
    /// consumers'.
    #[inline(always)]
    fn after_publish(&mut self, count: usize) -> usize {
        let first = self.next;
        let end = first.wrapping_add(count as u64);
        self.next = end;
        // The fence of the first look comes before the second, too.
        if unlikely(self.state.published.needs_slow_path() || !self.node.is_active()) {
            let until = publish_slow_path(&self.state, self.node, first, end);
            return until.wrapping_sub(first) as usize;
        }
        count
    }

    #[inline(always)]
    fn is_refused(&self) -> bool {
        unlikely(self.state.may_be_closed()) && !mutated!("shared_close_unsettled")
    }
}

/// What [`SharedWriteEnd::after_publish`] does where something is to be done. Returns before which message
/// they are the consumers'.
#[cold]
#[inline(never)]
fn publish_slow_path<T>(
    state: &QueueState<SharedLane<T>>,
    node: NodeRef<SharedLane<T>>,
    first: u64,
    end: u64,
) -> u64 {
    state.published.fence();
    // E3.
    let until = if state.may_be_closed() && !mutated!("shared_close_unsettled") {
        node.lane.settle(first, end)
    } else {
        end
    };
    if !mutated!("send_activates_nothing") {
        state.roster.activate(&node);
    }
    let count = until.wrapping_sub(first) as usize;
    state.published.notify_some(if mutated!("wakes_too_few") { count.min(1) } else { count });
    until
}

impl<T: Send> Write<T> for SharedWriteEnd<T> {
    type Lane = SharedLane<T>;

    #[inline(always)]
    fn state(&self) -> &QueueState<SharedLane<T>> {
        &self.state
    }

    #[inline(always)]
    fn put_plainly(&mut self, value: T) -> Result<(), T> {
        if unlikely(!self.has_free_slot()) {
            return Err(value);
        }
        // SAFETY: a slot is free.
        unsafe { self.put(value) }
    }

    #[inline(always)]
    fn has_free_slot(&mut self) -> bool {
        self.lane().is_free(self.next) || mutated!("shared_overwrites")
    }

    #[inline(always)]
    unsafe fn put(&mut self, value: T) -> Result<(), T> {
        if self.is_refused() {
            return Err(value);
        }
        let number = self.next;
        // SAFETY: the caller saw that a slot is free.
        unsafe { self.lane().send(number, value) };
        if self.after_publish(1) == 1 {
            Ok(())
        } else {
            // SAFETY: `settle` claimed it for this end.
            Err(unsafe { self.lane().take(number) })
        }
    }

    #[inline]
    fn put_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        if self.is_refused() {
            return 0;
        }
        let first = self.next;
        let mut count = 0;
        for &value in values {
            let number = first.wrapping_add(count as u64);
            if !self.lane().is_free(number) {
                break;
            }
            // SAFETY: it is free, and the messages before it were sent.
            unsafe { self.lane().send(number, value) };
            count += 1;
        }
        if count == 0 {
            return 0;
        }
        let sent = self.after_publish(count);
        for back in sent..count {
            // SAFETY: `settle` claimed it for this end.
            unsafe { self.lane().take(first.wrapping_add(back as u64)) };
        }
        sent
    }

    #[cfg(feature = "async")]
    fn event(&self) -> &Event {
        &self.node.released
    }

    #[inline(always)]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        let next = self.next;
        let count_free = move |lane: &SharedLane<T>| u64::from(lane.is_free(next));
        wait_for_free_slot(&self.state, &self.node, 1, count_free, strategy, deadline).map(drop)
    }

    fn len(&self) -> usize {
        self.lane().len()
    }
}

impl<T> Drop for SharedWriteEnd<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        leave(unsafe { ManuallyDrop::take(&mut self.state) }, self.node, self.next);
    }
}

/// By value, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn leave<T>(state: Arc<QueueState<SharedLane<T>>>, node: NodeRef<SharedLane<T>>, next: u64) {
    node.lane.leave_at(next);
    state.leave(&node);
    drop(state);
}
