//! Subscribers, groups and stages as what one can wait at: [`Source`] and [`Receive`].

use super::subscriber::Subscriber;
use super::{Mode, SubscriberGroup, Unstaged};
use crate::base::sequence::{Sequence, Stamp};
use crate::error::{RecvError, TryRecvError};
use crate::message::Message;
use crate::receive::batches::{Batches, HasSequence, Mark};
use crate::receive::{Numbered, Receive, Waitable};
use crate::sync::{AtomicU64, mutated};
use crate::wait::{EventCount, Look, Source, Wait, WaitStrategy};

// SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
unsafe impl<T: Message, M: Mode> Source for Subscriber<T, M> {
    fn event(&self) -> &EventCount {
        Wait::event(self)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Wait::watched(self)
    }

    fn is_ready(&mut self) -> bool {
        self.begin();
        let cursor = self.cursor;
        let admitted = self.shared.admits(cursor);
        let shared = &self.shared;
        // As a receive decides it. A later stamp means that the message was overwritten.
        cursor < shared.floor()
            || admitted && shared.ring.stamp(cursor) >= Stamp::done(cursor)
            || self.is_at_end()
            || admitted && shared.may_be_closed() && shared.ring.never_comes(cursor)
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Whether the ring is closed and nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.shared.may_be_closed() && self.shared.is_drained(self.cursor)
    }
}

impl<T: Message, M: Mode> Batches for Subscriber<T, M> {
    fn is_staged(&self) -> bool {
        self.shared.is_stage()
    }

    fn has_more(&mut self) -> bool {
        if mutated!("look_ahead_processes") {
            self.begin();
        }
        let cursor = self.cursor;
        self.shared.admits(cursor)
            && cursor >= self.shared.floor()
            && self.shared.ring.stamp(cursor) == Stamp::done(cursor)
            && (!M::IS_CHECKED || T::ANY_BITS || self.peek().is_some())
    }

    fn mark(&mut self) -> Mark {
        Mark::at(self.end().get())
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        mark.is_passed(|_, end| self.cursor() >= end)
    }

    fn lost(&self) -> u64 {
        self.total_lagged()
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Message, M: Mode> Waitable for Subscriber<T, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message, M: Mode> HasSequence for Subscriber<T, M> {
    fn next_sequence(&self) -> Sequence {
        self.cursor
    }
}

impl<T: Message, M: Mode> Numbered for Subscriber<T, M> {}

impl<T: Message, M: Mode> Receive for Subscriber<T, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.begin();
        self.poll()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }
}

/// For all aligned members. Panics if no member is aligned, because then nobody would receive anything.
// SAFETY: the lead's are.
unsafe impl<T: Message, const N: usize, M: Unstaged> Source for SubscriberGroup<T, N, M> {
    fn event(&self) -> &EventCount {
        Source::event(&self.lead)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.lead)
    }

    fn is_ready(&mut self) -> bool {
        self.someone_is_aligned();
        self.lead.is_ready()
    }

    fn strategy(&self) -> WaitStrategy {
        self.lead.strategy()
    }
}

/// Of all aligned members.
impl<T: Message, const N: usize, M: Unstaged> Batches for SubscriberGroup<T, N, M> {
    fn has_more(&mut self) -> bool {
        self.lead.has_more()
    }

    fn mark(&mut self) -> Mark {
        self.lead.mark()
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        self.lead.has_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.lead.lost()
    }

    fn left(&self) -> Option<u64> {
        self.lead.left()
    }
}

impl<T: Message, const N: usize, M: Unstaged> Waitable for SubscriberGroup<T, N, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message, const N: usize, M: Unstaged> HasSequence for SubscriberGroup<T, N, M> {
    fn next_sequence(&self) -> Sequence {
        self.lead.next_sequence()
    }
}

impl<T: Message, const N: usize, M: Unstaged> Numbered for SubscriberGroup<T, N, M> {}

impl<T: Message, const N: usize, M: Unstaged> Receive for SubscriberGroup<T, N, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.someone_is_aligned();
        self.lead.poll_recv()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }

    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if self.aligned_count() == 0 { Err(TryRecvError::Empty) } else { Receive::try_recv(&mut self.lead) }
    }
}
