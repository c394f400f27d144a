//! The producer's end of a shared lane: V1 to V3 of `lane/shared_lane.rs`.

use alloc::sync::Arc;
use core::mem::ManuallyDrop;

use super::ends::Write;
use super::hub::Hub;
use super::member::MemberRef;
use super::room::wait_for_room;
use crate::error::{CapacityError, Refusal};
use crate::hint::unlikely;
use crate::lane::SharedLane;
use crate::sync::mutated;
use crate::wait::{Deadline, WaitStrategy};

/// The one producer of a shared lane. As of [`WriteEnd`](super::write::WriteEnd), what is rare takes and returns values.
pub(crate) struct SharedWriteEnd<T> {
    hub: ManuallyDrop<Arc<Hub<SharedLane<T>>>>,
    member: MemberRef<SharedLane<T>>,
    /// The next message.
    next: u64,
}

// SAFETY: a share in a hub and a member of it, which may go where messages may go.
unsafe impl<T: Send> Send for SharedWriteEnd<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for SharedWriteEnd<T> {}

impl<T> SharedWriteEnd<T> {
    /// The producer of `member`, a lane that nobody else sends on. It counts as a producer of the hub already.
    pub(super) fn new(hub: Arc<Hub<SharedLane<T>>>, member: MemberRef<SharedLane<T>>) -> Self {
        let next = member.lane.left_at();
        Self { hub: ManuallyDrop::new(hub), member, next }
    }

    /// Another producer, with a lane of its own.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        let member = self.hub.join(|plan| SharedLane::new(plan.capacity, plan.first, plan.node))?;
        self.hub.producer_comes();
        // Consumers that end the queue see this lane, or its producer sees the close before it sends.
        if !mutated!("shared_join_unfenced") {
            self.hub.sent.fence();
        }
        Ok(Self::new(Arc::clone(&self.hub), member))
    }

    #[inline(always)]
    fn lane(&self) -> &SharedLane<T> {
        &self.member.lane
    }

    /// After `count` messages were sent: looks who needs to know, and returns how many of them are the consumers'.
    #[inline(always)]
    fn sent(&mut self, count: usize) -> usize {
        let first = self.next;
        let end = first.wrapping_add(count as u64);
        self.next = end;
        // The fence of the first look comes before the second, too.
        if unlikely(!(self.hub.sent.is_calm() && self.member.is_listed())) {
            let until = attend(&self.hub, self.member, first, end);
            return until.wrapping_sub(first) as usize;
        }
        count
    }

    #[inline(always)]
    fn is_refused(&self) -> bool {
        unlikely(self.hub.may_be_closed()) && !mutated!("shared_close_unsettled")
    }
}

/// What [`SharedWriteEnd::sent`] does where something is to be done. Returns before which message they are the consumers'.
#[cold]
#[inline(never)]
fn attend<T>(hub: &Hub<SharedLane<T>>, member: MemberRef<SharedLane<T>>, first: u64, end: u64) -> u64 {
    hub.sent.fence();
    // E3.
    let until = if hub.may_be_closed() && !mutated!("shared_close_unsettled") {
        member.lane.settle(first, end)
    } else {
        end
    };
    if !mutated!("call_nobody") {
        hub.roster.list(&member);
    }
    let count = until.wrapping_sub(first) as usize;
    hub.sent.notify_some(if mutated!("wakes_too_few") { count.min(1) } else { count });
    until
}

impl<T: Send> Write<T> for SharedWriteEnd<T> {
    type Lane = SharedLane<T>;

    #[inline(always)]
    fn hub(&self) -> &Hub<SharedLane<T>> {
        &self.hub
    }

    #[inline(always)]
    fn put_plainly(&mut self, value: T) -> Result<(), T> {
        if unlikely(!self.has_room()) {
            return Err(value);
        }
        // SAFETY: there is room.
        unsafe { self.put(value) }
    }

    #[inline(always)]
    fn has_room(&mut self) -> bool {
        self.lane().is_free(self.next) || mutated!("shared_overwrites")
    }

    #[inline(always)]
    unsafe fn put(&mut self, value: T) -> Result<(), T> {
        if self.is_refused() {
            return Err(value);
        }
        let number = self.next;
        // SAFETY: the caller saw that there is room.
        unsafe { self.lane().send(number, value) };
        if self.sent(1) == 1 {
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
        let sent = self.sent(count);
        for back in sent..count {
            // SAFETY: `settle` claimed it for this end.
            unsafe { self.lane().take(first.wrapping_add(back as u64)) };
        }
        sent
    }

    #[inline(always)]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        let next = self.next;
        let room = move |lane: &SharedLane<T>| u64::from(lane.is_free(next));
        wait_for_room(&self.hub, &self.member, 1, room, strategy, deadline).map(drop)
    }

    fn len(&self) -> usize {
        self.lane().len()
    }
}

impl<T> Drop for SharedWriteEnd<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        leave(unsafe { ManuallyDrop::take(&mut self.hub) }, self.member, self.next);
    }
}

/// By value, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn leave<T>(hub: Arc<Hub<SharedLane<T>>>, member: MemberRef<SharedLane<T>>, next: u64) {
    member.lane.leave_at(next);
    hub.leave(&member);
    drop(hub);
}
