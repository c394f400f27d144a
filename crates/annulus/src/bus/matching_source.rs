//! [`MatchingSubscriber`] as what one can wait at, alone or with other handles.

use alloc::sync::Arc;

use super::matching::MatchingSubscriber;
use super::members::Found;
use crate::error::RecvError;
use crate::message::Message;
use crate::receive::{Receive, Waitable, iterates};
use crate::wait::{EventCount, Look, Mark, Poll, Source, WaitStrategy};

/// The next message, and the number of its topic.
impl<T: Message> Poll for MatchingSubscriber<T> {
    type Found = Result<(usize, T), RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.members.wait_point()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.members.next_or_listen() {
            Found::Message(index, message) => Look::Found(Ok((index, message))),
            Found::End => Look::Found(Err(RecvError::CLOSED)),
            Found::Nothing => Look::Nothing,
            // The oldest message that is left stands, and no notification will come for it.
            Found::Lag(_) => Look::Again,
        }
    }
}

// SAFETY: the event is in the inbox, which the members keep alive, in a place of its own.
unsafe impl<T: Message> Source for MatchingSubscriber<T> {
    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self)
    }

    fn is_ready(&mut self) -> bool {
        self.members.is_ready_or_listens()
    }

    fn strategy(&self) -> WaitStrategy {
        self.strategy
    }

    fn has_more(&mut self) -> bool {
        self.members.has_more()
    }

    fn mark(&mut self) -> Mark {
        self.members.mark()
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        self.members.have_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.total_lagged()
    }
}

impl<T: Message> Waitable for MatchingSubscriber<T> {
    /// The bus is gone, and so are the publishers of all its topics.
    fn is_closed(&self) -> bool {
        self.members.is_closed()
    }
}

impl<T: Message> Receive for MatchingSubscriber<T> {
    type Item = (Arc<str>, T);

    fn poll_recv(&mut self) -> Look<Result<(Arc<str>, T), RecvError>> {
        self.poll().map(|found| found.map(|(index, message)| (Arc::clone(self.members.name(index)), message)))
    }
}

iterates! { [T: Message] MatchingSubscriber<T>; }
