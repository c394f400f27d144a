//! Subscribers of records in a select.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Subscriber;
use super::lag::NextOrLag;
use super::subscriber::NextRecord;
use crate::error::LossyRecvError;
use crate::sync::AtomicU64;
use crate::wait::{Choice, EventCount, Finding, Look, Source, Wait};

impl Subscriber {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn recv_or_lag_in_select(&mut self) -> impl Choice<Found = Result<Box<[u8]>, LossyRecvError>> {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Finding::new(RecordOrLag(self), |or_lag| or_lag.0.strategy()) }
    }
}

/// A subscriber that waits for a record of its own, or for a lag.
struct RecordOrLag<'s>(&'s mut Subscriber);

impl Wait for RecordOrLag<'_> {
    type Found = Result<Box<[u8]>, LossyRecvError>;

    // Unreached: asked of the first arm of a select that waits; in the tests that is another one
    fn event(&self) -> &EventCount {
        Source::event(&*self.0)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&*self.0)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let mut buffer = Vec::new();
        let look = NextOrLag(NextRecord { subscriber: self.0, buffer: &mut buffer }).poll();
        look.map(|found| found.map(|_| buffer.into()))
    }
}
