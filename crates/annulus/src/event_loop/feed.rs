//! How a batch comes from a handle to a handler: [`ByValue`] and [`ByRef`].

use core::ops::ControlFlow;

use super::control::{Control, Stop};
use crate::error::RecvError;
use crate::receive::{Receive, ReceiveRef};
use crate::sync::mutated;
use crate::wait::Look;

/// Hands messages of a `R` to a handler, with a `C`.
pub(super) trait Feed<R, C> {
    /// Hands out one batch of what is there. It ends early if somebody asks to stop.
    fn feed(&mut self, receiver: &mut R, context: &mut C, turn: &mut Turn<'_>)
    -> Look<Result<(), RecvError>>;
}

/// The messages that were handed out, and what ends a batch.
pub(super) struct Turn<'c> {
    /// The longest batch.
    pub(super) most: usize,
    pub(super) control: &'c Control,
    /// Whether somebody has asked to stop, and the thread receives what was sent before.
    pub(super) is_draining: bool,
    /// How many messages were handed out.
    pub(super) messages: u64,
    /// Whether the handler was told that the batch goes on.
    pub(super) is_open: bool,
}

impl Turn<'_> {
    /// A message was handed out.
    #[inline]
    fn handed_out(&mut self, end_of_batch: bool) -> ControlFlow<()> {
        self.messages += 1;
        self.is_open = !end_of_batch;
        match self.control.asked() {
            Some(Stop::Now) if !mutated!("stop_after_the_batch") => ControlFlow::Break(()),
            Some(Stop::Drained) if !self.is_draining => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Each message by value.
pub(super) struct ByValue<H>(pub(super) H);

impl<R: Receive, C, H: FnMut(&mut C, R::Item, bool)> Feed<R, C> for ByValue<H> {
    #[inline]
    fn feed(
        &mut self,
        receiver: &mut R,
        context: &mut C,
        turn: &mut Turn<'_>,
    ) -> Look<Result<(), RecvError>> {
        let mut left = turn.most;
        let mut look = receiver.poll_recv();
        while let Look::Found(Ok(message)) = look {
            left -= 1;
            // Before the call: a message that comes while the handler runs begins another batch.
            let end_of_batch = left == 0 || !receiver.has_more();
            (self.0)(context, message, end_of_batch);
            if turn.handed_out(end_of_batch).is_break() || end_of_batch {
                return Look::Found(Ok(()));
            }
            look = receiver.poll_recv();
        }
        match look {
            Look::Found(Err(error)) => Look::Found(Err(error)),
            Look::Nothing => Look::Nothing,
            _ => Look::Again,
        }
    }
}

/// Each message by reference.
pub(super) struct ByRef<H>(pub(super) H);

impl<R: ReceiveRef, C, H: FnMut(&mut C, &R::Item, bool)> Feed<R, C> for ByRef<H> {
    #[inline]
    fn feed(
        &mut self,
        receiver: &mut R,
        context: &mut C,
        turn: &mut Turn<'_>,
    ) -> Look<Result<(), RecvError>> {
        receiver.lend(turn.most, |message, end_of_batch| {
            (self.0)(context, message, end_of_batch);
            turn.handed_out(end_of_batch)
        })
    }
}
