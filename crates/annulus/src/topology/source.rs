//! [`Existing`]: a receiving handle of the user's as what a stage receives from.
//!
//! Its ring is not the pipeline's, so a shutdown can't close it. The thread waits there as an event loop
//! does: it lends the ring's event to whoever stops it ([`Control`]).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::counters::Received;
use super::port::Inlet;
use super::readers::{WaitPlan, receive};
use super::state::PipelineState;
use crate::Receive;
use crate::error::RecvError;
use crate::sync::seeded;
use crate::wait::{Control, Lending, Look};

/// See the module.
pub(super) struct Existing<R: Receive> {
    /// Before the receiver, which keeps the lent event alive: fields are dropped in this order.
    lending: Lending,
    receiver: R,
    counters: Arc<Received>,
}

impl<R: Receive> Existing<R> {
    pub(super) fn new(receiver: R, counters: Arc<Received>, shared: &PipelineState) -> Self {
        Self { lending: Lending::new(Arc::clone(&shared.source)), receiver, counters }
    }

    /// Counts what nobody but the receiver can tell.
    fn tell_what_is_left(&self) {
        if !seeded!("source_loss_uncounted") {
            self.counters.lost.set(self.receiver.lost());
        }
        self.counters.left.set(self.receiver.left().unwrap_or(0));
    }
}

impl<R: Receive + Send> Inlet<R::Item> for Existing<R> {
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<R::Item, RecvError> {
        // SAFETY: the fields are in this order, and nobody takes them apart.
        let received = unsafe { receive(&mut self.receiver, &mut self.lending, how) };
        self.counters.received.add(u64::from(received.is_ok()));
        self.tell_what_is_left();
        received
    }

    fn try_receive(&mut self) -> Option<R::Item> {
        if self.lending.control().asked().is_some() {
            return None;
        }
        // The end is found again by the next receive.
        let Look::Found(Ok(message)) = self.receiver.poll_in_hand() else { return None };
        self.counters.received.add(1);
        Some(message)
    }

    fn receive_more(&mut self, batch: &mut Vec<R::Item>, most: usize) {
        // One by one where the next receive says that the message before is processed.
        let most = if self.receiver.is_staged() && !seeded!("source_processed_early") { 1 } else { most };
        while batch.len() < most {
            let Some(message) = self.try_receive() else { break };
            batch.push(message);
        }
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        see(self.lending.control());
    }
}

impl<R: Receive> Drop for Existing<R> {
    fn drop(&mut self) {
        self.tell_what_is_left();
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::boxed::Box;
    use core::mem;

    use super::*;
    use crate::wait::Stop;

    /// Of a handle in a box, as of the handle itself.
    #[test]
    fn a_batch_is_what_is_there_before_a_stop() {
        let (mut publisher, subscribable) = crate::broadcast::lossless(8);
        let (stage, subscriber) = (subscribable.subscribe_tracked(), subscribable.subscribe());
        (0..6).for_each(|number| publisher.publish(number).unwrap());
        let shared = PipelineState::default();
        let mut batch = Vec::new();
        let mut source = Existing::new(Box::new(subscriber), Arc::default(), &shared);
        source.receive_more(&mut batch, 2);
        assert_eq!(mem::take(&mut batch), [0, 1]);
        source.receive_more(&mut batch, 8);
        assert_eq!(mem::take(&mut batch), [2, 3, 4, 5]);
        let mut source = Existing::new(Box::new(stage), Arc::default(), &shared);
        source.receive_more(&mut batch, 8);
        assert_eq!(mem::take(&mut batch), [0]);
        shared.source.stop(Stop::Now);
        source.receive_more(&mut batch, 8);
        assert_eq!(batch, []);
        let counters = Arc::clone(&source.counters);
        drop(source);
        assert_eq!((counters.received.get(), counters.left.get()), (1, 5));
    }
}
