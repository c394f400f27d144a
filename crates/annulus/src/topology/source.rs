//! [`Existing`]: a receiving handle of the user's as what a stage receives from.
//!
//! Its ring is not the pipeline's, so a shutdown can't close it. The thread waits there as an event loop
//! does: it lends the ring's event to who stops it ([`Control`](crate::wait::Control)).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::counters::Received;
use super::port::Inlet;
use super::runner::Shared;
use crate::Receive;
use crate::error::RecvError;
use crate::sync::mutated;
use crate::wait::{Lending, Look, NextOrStop, WaitStrategy, pass_on, wait_until};

/// See the module.
pub(super) struct Existing<R> {
    /// Before the receiver, which keeps the lent event alive: fields are dropped in this order.
    lending: Lending,
    receiver: R,
    counters: Arc<Received>,
}

impl<R: Receive> Existing<R> {
    pub(super) fn new(receiver: R, counters: Arc<Received>, shared: &Shared) -> Self {
        Self { lending: Lending::new(Arc::clone(&shared.source)), receiver, counters }
    }

    /// Waits for a message. An error if the ring or the pipeline has come to its end.
    fn first(&mut self, strategy: WaitStrategy) -> Result<R::Item, RecvError> {
        loop {
            if self.lending.control().asked().is_some() && !mutated!("source_never_stops") {
                pass_on(&self.receiver);
                return Err(RecvError);
            }
            match self.receiver.poll_in_hand() {
                Look::Found(found) => return found,
                // Unreached: a message that is just being sent: two threads have to meet there; loom
                // event_loop
                Look::Again => {}
                Look::Nothing => {
                    // SAFETY: the fields are in this order, and nobody takes them apart.
                    let mut next = unsafe { NextOrStop::new(&mut self.receiver, &mut self.lending) };
                    // Unreached: what a seeded bug does
                    let soon =
                        || std::time::Instant::now().checked_add(core::time::Duration::from_millis(10));
                    let deadline = if mutated!("source_polls") { soon() } else { None };
                    wait_until(&mut next, strategy, deadline);
                }
            }
        }
    }
}

impl<R: Receive + Send> Inlet<R::Item> for Existing<R> {
    fn receive(
        &mut self,
        batch: &mut Vec<R::Item>,
        most: usize,
        strategy: WaitStrategy,
    ) -> Result<(), RecvError> {
        let first = self.first(strategy);
        let mut count = 0;
        if let Ok(first) = first {
            batch.push(first);
            count = 1;
            // One by one where the next receive says that the message before is processed.
            let most = if R::STAGED && !mutated!("source_processed_early") { 1 } else { most };
            while count < most {
                // The end is found again by the next receive.
                let Look::Found(Ok(message)) = self.receiver.poll_in_hand() else { break };
                batch.push(message);
                count += 1;
            }
        }
        self.counters.received.add(count as u64);
        if !mutated!("source_loss_uncounted") {
            self.counters.lost.set(self.receiver.lost());
        }
        self.counters.left.set(self.receiver.left().unwrap_or(0));
        if count == 0 { Err(RecvError) } else { Ok(()) }
    }
}
