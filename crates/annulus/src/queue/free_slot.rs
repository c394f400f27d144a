//! [`AwaitFreeSlot`]: a producer that waits for a free slot, and sends nothing yet.

use core::marker::PhantomData;

use super::ends::Write;
use crate::error::Refusal;
use crate::sync::AtomicU64;
#[cfg(feature = "std")]
use crate::wait::WaitStrategy;
use crate::wait::{EventCount, Look, Wait};

/// Until a producer's end has a free slot.
pub(super) struct AwaitFreeSlot<'p, W, T>(&'p mut W, PhantomData<fn() -> T>);

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

impl<W: Write<T>, T> Wait for AwaitFreeSlot<'_, W, T> {
    type Found = Result<(), Refusal>;

    fn event(&self) -> &EventCount {
        self.0.event()
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

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::queue::{Consumer, Producer, QueueKind};
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
    fn a_full_producer_watches_its_next_slot() {
        watches(spsc::channel(2));
        watches(spmc::channel(2));
    }
}
