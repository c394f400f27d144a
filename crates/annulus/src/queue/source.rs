//! Consumers of queues as what one can wait at: [`Source`] and [`Receive`].

use super::Consumer;
use super::consumer::look;
use super::ends::Read;
use super::kind::AnyKind;
use super::lane_node::QueueLane;
use crate::error::{RecvError, TryRecvError};
use crate::lane::Number;
use crate::receive::batches::{Batches, Mark};
use crate::receive::{Receive, Waitable};
use crate::sync::{AtomicU64, mutated};
use crate::wait::{Deadline, EventCount, Look, Source, WaitStrategy};

// SAFETY: the events are in the queue state, which the consumer keeps alive.
unsafe impl<T: Send, K: AnyKind> Source for Consumer<T, K> {
    fn event(&self) -> &EventCount {
        &self.end.state().published
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.end.watched()
    }

    fn is_ready(&mut self) -> bool {
        match self.look_for(|end| end.has_some().then_some(())) {
            // (What is corrupt is there, too.)
            Ok(()) | Err(TryRecvError::Corrupt(_)) => true,
            Err(TryRecvError::Closed) => !mutated!("end_is_not_ready"),
            Err(TryRecvError::Empty) => false,
        }
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

impl<T: Send, K: AnyKind> Batches for Consumer<T, K> {
    fn has_more(&mut self) -> bool {
        self.end.has_more()
    }

    /// Of each lane with a message. What a producer sends that joins later comes after the mark, also in a
    /// lane that was there.
    fn mark(&mut self) -> Mark {
        let spans = self.end.state().nodes().map(|node| (node.index, node.lane.span()));
        let ends = spans.filter(|(_, span)| span.count() > 0);
        Mark::of(ends.map(|(lane, span)| (u64::from(lane), span.tail.get())))
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        let roster = &self.end.state().roster;
        mark.is_passed(|lane, end| {
            roster.node(lane as usize).is_none_or(|node| !node.lane.head().is_before(Number::new(end)))
        })
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Send, K: AnyKind> Waitable for Consumer<T, K> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send, K: AnyKind> Receive for Consumer<T, K> {
    type Item = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        if let Some(value) = self.end.take_plainly() {
            return Look::Found(Ok(value));
        }
        // (Nobody is told of it.)
        self.end.take_corrupt();
        // Decision 0072: a select looks at many that are empty.
        if self.end.is_plainly_empty() {
            return Look::Nothing;
        }
        // Not outlined: a consumer that a future borrows lies in memory anyway.
        if let Some(value) = self.end.try_take() {
            return Look::Found(Ok(value));
        }
        if self.end.take_corrupt().is_some() {
            return Look::Again;
        }
        if !self.end.state().may_be_over() {
            return Look::Nothing;
        }
        Look::from(look::<T, _>(&mut self.end))
    }

    /// By its own: who spins for the next message is in a hurry.
    fn recv_late(
        &mut self,
        strategy: Option<WaitStrategy>,
        deadline: Deadline,
    ) -> Option<Result<T, RecvError>> {
        self.wait(strategy, deadline)
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use core::ptr::NonNull;

    use crate::base::room::Before;
    use crate::queue::ends::Write;
    use crate::queue::kind::Joinable;
    use crate::queue::lane_node::{LaneNode, NewLane};
    use crate::queue::{Producer, mpmc, mpsc};

    fn beside_one_that_joins<K: Joinable>((first, mut consumer): (Producer<u64, K>, Consumer<u64, K>))
    where
        <K::Write<u64> as Write<u64>>::Lane: NewLane,
    {
        let (state, mut mark) = (first.end.state(), Mark::of([]));
        state.roster.add(|index| {
            // The lane is counted and not there yet, and one behind it has a message already.
            first.clone().try_send(7).unwrap();
            mark = consumer.mark();
            let plan = &state.plan.again(&None);
            let slots = <K::Write<u64> as Write<u64>>::Lane::slots(plan, Before::NOTHING).unwrap();
            // SAFETY: `made` has room for it.
            let lane = |place| unsafe { NewLane::write_at(place, slots, plan) };
            LaneNode::made(lane, index, 9, NonNull::from(state).cast(), plan, EventCount::new())
        });
        assert!(!consumer.has_passed(&mut mark));
        assert_eq!(consumer.try_recv(), Ok(7));
        assert!(consumer.has_passed(&mut mark));
    }

    #[test]
    fn a_lane_that_is_being_added_shifts_no_mark() {
        beside_one_that_joins(mpsc::channel(4));
        beside_one_that_joins(mpmc::channel(4));
    }
}
