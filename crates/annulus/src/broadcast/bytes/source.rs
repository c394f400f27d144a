//! Subscribers of records as what one can wait at: [`Source`] and [`Receive`]. They are ready when their
//! extents are.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Subscriber;
use super::subscriber::NextRecord;
use crate::base::sequence::Sequence;
use crate::error::RecvError;
use crate::receive::batches::{Batches, HasSequence, Mark};
use crate::receive::{Numbered, Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Source, Wait, WaitStrategy};

// SAFETY: the events are those of the extents, of which this is part.
unsafe impl Source for Subscriber {
    fn event(&self) -> &EventCount {
        Source::event(&self.extents)
    }

    fn is_ready(&mut self) -> bool {
        // A record whose bytes are gone is a lag, so an extent is enough.
        self.extents.is_ready()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.extents)
    }

    fn strategy(&self) -> WaitStrategy {
        self.extents.strategy()
    }
}

impl Batches for Subscriber {
    fn has_more(&mut self) -> bool {
        self.extents.has_more()
    }

    fn mark(&mut self) -> Mark {
        self.extents.mark()
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        self.extents.has_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.extents.lost()
    }
}

impl Waitable for Subscriber {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl HasSequence for Subscriber {
    fn next_sequence(&self) -> Sequence {
        self.extents.next_sequence()
    }
}

impl Numbered for Subscriber {}

/// A message is a copy of a record.
impl Receive for Subscriber {
    type Item = Box<[u8]>;

    fn poll_recv(&mut self) -> Look<Result<Box<[u8]>, RecvError>> {
        // (An empty one: it allocates only if there is a record.)
        let mut buffer = Vec::new();
        let look = NextRecord { subscriber: self, buffer: &mut buffer }.poll();
        look.map(|found| found.map(|_| buffer.into()))
    }
}
