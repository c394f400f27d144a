//! [`Existing`]: a receiving handle of the user's as what a stage receives from.

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::time::{Duration, Instant};

use super::counters::Received;
use super::port::Inlet;
use super::runner::Shared;
use crate::Receive;
use crate::error::RecvError;
use crate::sync::mutated;
use crate::wait::{Look, Next, WaitStrategy, wait_until};

/// How often a thread that waits at a handle looks whether the pipeline was shut down. Nobody but the handle
/// can wake it, because the ring is not the pipeline's.
const LOOK: Duration = Duration::from_millis(10);

/// See the module.
pub(super) struct Existing<R> {
    receiver: R,
    counters: Arc<Received>,
    shared: Arc<Shared>,
}

impl<R> Existing<R> {
    pub(super) fn new(receiver: R, counters: Arc<Received>, shared: Arc<Shared>) -> Self {
        Self { receiver, counters, shared }
    }

    fn is_stopped(&self) -> bool {
        !mutated!("source_never_stops") && (self.shared.stop.is_shutdown() || self.shared.abort.is_shutdown())
    }
}

impl<R: Receive + Send> Inlet<R::Item> for Existing<R> {
    fn receive(
        &mut self,
        batch: &mut Vec<R::Item>,
        most: usize,
        strategy: WaitStrategy,
    ) -> Result<(), RecvError> {
        let first = loop {
            if self.is_stopped() {
                return Err(RecvError);
            }
            let deadline = Instant::now().checked_add(LOOK);
            if let Some(found) = wait_until(&mut Next(&mut self.receiver), strategy, deadline) {
                break found?;
            }
        };
        batch.push(first);
        let mut count = 1;
        while count < most {
            // The end is found again by the next receive.
            let Look::Found(Ok(message)) = self.receiver.poll_recv() else { break };
            batch.push(message);
            count += 1;
        }
        self.counters.received.add(count as u64);
        Ok(())
    }
}
