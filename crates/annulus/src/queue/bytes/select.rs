//! Producers of bytes in a select: by the length of a record.

use super::await_room::AwaitRecordRoom;
use super::{Producer, Reservation, WriteError};
use crate::queue::InPlace;
use crate::queue::ends::Write;
use crate::wait::{Arm, Choice, EventCount, Finding, Look, WaitStrategy};

impl<K: InPlace> Producer<K> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn reserve_in_select(
        &mut self,
        len: usize,
    ) -> impl Choice<Found = Result<Reservation<'_, K>, WriteError>> {
        // SAFETY: the events are in the queue state, which the producer keeps alive.
        RoomFor(unsafe { Finding::new(AwaitRecordRoom { producer: self, len }, AwaitRecordRoom::strategy) })
    }

    /// Looks whether a reservation would find room, or an error. It reserves nothing.
    pub(crate) fn room_for(&mut self, len: usize) -> impl Arm {
        // SAFETY: as above.
        unsafe {
            Finding::that_takes_nothing(AwaitRecordRoom { producer: self, len }, AwaitRecordRoom::strategy)
        }
    }
}

impl<K: InPlace> AwaitRecordRoom<'_, K> {
    fn strategy(&self) -> WaitStrategy {
        self.producer.words.end.state().plan.strategy
    }
}

/// A reservation as one of several things that a thread waits for.
struct RoomFor<'p, K: InPlace>(Finding<AwaitRecordRoom<'p, K>, Result<(), WriteError>>);

impl<'p, K: InPlace> Choice for RoomFor<'p, K> {
    type Found = Result<Reservation<'p, K>, WriteError>;

    fn found(self) -> Self::Found {
        let (AwaitRecordRoom { producer, len }, found) = self.0.take_both();
        // Nothing came between.
        found.map(|()| producer.reserve_found(len))
    }
}

// SAFETY: that of the room.
unsafe impl<K: InPlace> Arm for RoomFor<'_, K> {
    fn event(&self) -> &EventCount {
        self.0.event()
    }

    fn look(&mut self) -> Look<()> {
        self.0.look()
    }

    fn strategy(&self) -> WaitStrategy {
        self.0.strategy()
    }
}
