//! How a producer waits for a free slot in its lane, whichever kind of lane that is: a thread in
//! [`wait_for_free_slot`], a select or a task by [`AwaitFreeSlot`], which sends nothing yet.

#[cfg(any(feature = "std", feature = "async"))]
use core::marker::PhantomData;

#[cfg(any(feature = "std", feature = "async"))]
use super::ends::Write;
use super::lane_node::{LaneNode, QueueLane};
use super::state::QueueState;
use crate::error::Refusal;
use crate::sync::AtomicU64;
use crate::wait::{Deadline, EventCount, Look, Poll, WaitStrategy, WriterBackoff, wait_until};

/// Waits for a free slot of `node`, and returns how many slots `count_free` then found free: `freed` is the
/// word that changes when the first of them becomes free. For a few looks it waits until there are
/// `preferred` of them. Returns [`Refusal::Full`] once `deadline` has passed.
#[cold]
#[inline(never)]
pub(super) fn wait_for_free_slot<L: QueueLane>(
    state: &QueueState<L>,
    node: &LaneNode<L>,
    preferred: u64,
    count_free: impl Fn(&L) -> u64,
    freed: &AtomicU64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<u64, Refusal> {
    if let Some(counters) = &state.counters {
        counters.saw_waiting(state.plan.capacity as u64);
    }
    let backoff = WriterBackoff::new(preferred, deadline);
    wait_until(&mut FullLane { state, node, count_free, freed, backoff }, strategy, deadline)
        .unwrap_or(Err(Refusal::Full))
}

/// A producer whose lane is full.
struct FullLane<'a, L: QueueLane, R> {
    state: &'a QueueState<L>,
    node: &'a LaneNode<L>,
    count_free: R,
    freed: &'a AtomicU64,
    backoff: WriterBackoff,
}

impl<L: QueueLane, R: Fn(&L) -> u64> Poll for FullLane<'_, L, R> {
    type Found = Result<u64, Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.node.released
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.freed)
    }

    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        Some(&mut self.backoff)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.state.is_closed() {
            return Look::Found(Err(Refusal::Closed));
        }
        let free = (self.count_free)(&self.node.lane);
        self.backoff.judge(free, Ok(free))
    }
}

/// Until a producer's end has a free slot.
#[cfg(any(feature = "std", feature = "async"))]
pub(super) struct AwaitFreeSlot<'p, W, T>(&'p mut W, PhantomData<fn() -> T>);

#[cfg(any(feature = "std", feature = "async"))]
impl<'p, W: Write<T>, T> AwaitFreeSlot<'p, W, T> {
    pub(super) fn of(end: &'p mut W) -> Self {
        Self(end, PhantomData)
    }

    #[cfg(feature = "std")]
    pub(super) fn strategy(&self) -> WaitStrategy {
        self.0.state().plan.strategy
    }

    /// Sends `value` in the slot that was found, if one was.
    ///
    /// # Safety
    ///
    /// The last poll found a slot, or `found` is an error.
    #[cfg(feature = "std")]
    pub(super) unsafe fn fill(self, found: Result<(), Refusal>, value: T) -> Result<(), T> {
        match found {
            // SAFETY: the caller's promise. This has borrowed the end, so nothing came between.
            Ok(()) => unsafe { self.0.send(value) },
            Err(_) => Err(value),
        }
    }
}

#[cfg(any(feature = "std", feature = "async"))]
impl<W: Write<T>, T> Poll for AwaitFreeSlot<'_, W, T> {
    type Found = Result<(), Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.0.node().released
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.0.watched())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.0.state().is_closed() {
            Look::Found(Err(Refusal::Closed))
        } else if self.0.has_free_slot() {
            Look::Found(Ok(()))
        } else {
            Look::Nothing
        }
    }
}

#[cfg(all(test, any(feature = "std", feature = "async"), not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::queue::kind::QueueKind;
    use crate::queue::{Consumer, Producer};
    use crate::sync::Ordering;
    use crate::{spmc, spsc};

    /// A full producer watches a word that changes as the consumer takes a message.
    fn watches<K: QueueKind>((mut producer, mut consumer): (Producer<u64, K>, Consumer<u64, K>)) {
        for number in 0..5 {
            while producer.try_send(number).is_ok() {}
            let mut free = AwaitFreeSlot::of(&mut producer.end);
            assert!(matches!(free.poll(), Look::Nothing));
            let word = free.watched().unwrap();
            let before = word.load(Ordering::Relaxed);
            assert!(consumer.try_recv().is_ok());
            assert_ne!(word.load(Ordering::Relaxed), before);
            assert!(matches!(free.poll(), Look::Found(Ok(()))));
        }
    }

    #[test]
    fn full_producer_watches_its_next_slot() {
        watches(spsc::channel(2));
        watches(spmc::channel(2));
    }
}
