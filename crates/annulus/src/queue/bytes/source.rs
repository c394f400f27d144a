//! Consumers of bytes as what one can wait at: [`Source`] and [`Receive`].

use alloc::boxed::Box;

use super::Consumer;
use crate::error::RecvError;
use crate::queue::InPlace;
use crate::receive::batches::{Batches, Mark};
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Source, WaitStrategy};

// Something is there for a consumer of words just where a record is.

// SAFETY: the events are those of the consumer of words, which this has.
unsafe impl<K: InPlace> Source for Consumer<K> {
    fn event(&self) -> &EventCount {
        self.words.event()
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.words.watched()
    }

    fn is_ready(&mut self) -> bool {
        self.words.is_ready()
    }

    fn strategy(&self) -> WaitStrategy {
        self.words.strategy()
    }
}

impl<K: InPlace> Batches for Consumer<K> {
    fn has_more(&mut self) -> bool {
        self.words.has_more()
    }

    fn mark(&mut self) -> Mark {
        self.words.mark()
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        self.words.has_passed(mark)
    }
}

impl<K: InPlace> Waitable for Consumer<K> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// A message is a copy of a record.
impl<K: InPlace> Receive for Consumer<K> {
    type Item = Box<[u8]>;

    fn poll_recv(&mut self) -> Look<Result<Box<[u8]>, RecvError>> {
        self.try_read().map(Into::into).into()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::queue::bytes::channel;
    use crate::sync::Ordering;

    /// A waiter that waits by the processor watches the word that a record changes.
    #[test]
    fn a_record_changes_the_word_that_is_watched() {
        let (mut producer, consumer) = channel(64);
        let word = consumer.watched().unwrap();
        let before = word.load(Ordering::Relaxed);
        producer.try_write(&[]).unwrap();
        assert_ne!(word.load(Ordering::Relaxed), before);
    }
}
