//! What a [`Subscriber`] of records does that is to learn of a loss.

use alloc::vec::Vec;

use super::super::miss::Miss;
use super::super::subscriber::wait_without_deadline;
use super::Subscriber;
use super::subscriber::NextRecord;
use crate::error::LossyRecvError;
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Wait};

impl Subscriber {
    /// Receives the next record. Waits for it like [`recv`](Self::recv), but reports a lag like
    /// [`try_recv`](Self::try_recv).
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): records were lost since the last receive. It says how many.
    /// [`Closed`](LossyRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// assert_eq!(subscriber.recv_or_lag(&mut buffer), Err(LossyRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.recv_or_lag(&mut buffer), Ok(32));
    /// ```
    #[inline]
    pub fn recv_or_lag(&mut self, buffer: &mut Vec<u8>) -> Result<usize, LossyRecvError> {
        match self.next(buffer) {
            Ok(length) => Ok(length),
            Err(Miss::Lapped) => Err(LossyRecvError::Lagged { skipped: self.go_on() }),
            Err(_) => {
                let strategy = self.extents.wait_strategy();
                wait_without_deadline(&mut NextOrLag(NextRecord { subscriber: self, buffer }), strategy)
            }
        }
    }
}

/// A subscriber that waits for a record, or for a lag.
pub(super) struct NextOrLag<'s>(pub(super) NextRecord<'s>);

impl Wait for NextOrLag<'_> {
    type Found = Result<usize, LossyRecvError>;

    fn event(&self) -> &EventCount {
        self.0.event()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let NextRecord { subscriber, buffer } = &mut self.0;
        match subscriber.next(buffer) {
            Ok(length) => Look::Found(Ok(length)),
            Err(Miss::Closed) => Look::Found(Err(LossyRecvError::Closed)),
            Err(Miss::Empty) => Look::Nothing,
            // Unreached: lapped between two looks of one who waits: two threads have to meet there
            Err(Miss::Lapped) => Look::Found(Err(LossyRecvError::Lagged { skipped: subscriber.go_on() })),
        }
    }
}
