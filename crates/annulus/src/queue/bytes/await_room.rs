//! [`AwaitRecordRoom`]: a producer that waits for room for a record, and reserves nothing yet.

use super::producer::slots_for;
use super::{Producer, Reservation, WriteError};
use crate::queue::InPlace;
use crate::queue::ends::Write;
use crate::wait::{EventCount, Look, Wait};

impl<K: InPlace> Producer<K> {
    /// Whether there is room for a record of `len` bytes, or never will be; `None` if there is none now.
    pub(super) fn look_for_room(&mut self, len: usize) -> Option<Result<(), WriteError>> {
        let end = match self.end_for::<WriteError>(len) {
            Ok(end) => end,
            Err(error) => return Some(Err(error)),
        };
        // Not a hint: who waits is woken by the close once.
        if Write::state(end).is_closed() {
            // Unreached: a close between two looks of one who waits for room: threads have to meet there
            return Some(Err(WriteError::Closed));
        }
        let slots = slots_for(end, len);
        end.has_free_slots(slots).then_some(Ok(()))
    }

    /// The room that the last [`look_for_room`](Self::look_for_room) has found.
    pub(super) fn reserve_found(&mut self, len: usize) -> Reservation<'_, K> {
        let end = K::write_end(&mut self.words.end);
        Reservation::new(end, len).expect("there is room, and it stays")
    }
}

/// Until there is room for a record of so many bytes.
pub(super) struct AwaitRecordRoom<'p, K: InPlace> {
    pub(super) producer: &'p mut Producer<K>,
    pub(super) len: usize,
}

impl<K: InPlace> Wait for AwaitRecordRoom<'_, K> {
    type Found = Result<(), WriteError>;

    fn event(&self) -> &EventCount {
        Write::<u64>::event(&self.producer.words.end)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.producer.look_for_room(self.len).map_or(Look::Nothing, Look::Found)
    }
}
