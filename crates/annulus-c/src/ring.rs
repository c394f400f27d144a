//! [`Ring`]: what every handle of a ring knows of it.

use annulus::{Closer, Observer};

use crate::options::Options;
use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_WRONG_SIZE};

/// The ring of a handle.
#[derive(Clone)]
pub(crate) struct Ring {
    pub(crate) capacity: usize,
    pub(crate) message_size: usize,
    /// What one message is in the ring's own numbers.
    pub(crate) unit: u64,
    pub(crate) closer: Closer,
    pub(crate) observer: Observer,
}

impl Ring {
    /// A ring whose own numbers are messages.
    pub(crate) fn of(options: Options, closer: Closer, observer: Observer) -> Self {
        let Options { capacity, message_size, .. } = options;
        Self { capacity, message_size, unit: 1, closer, observer }
    }

    /// What every verb asks that takes a message: whether it is one of this ring.
    #[inline(always)]
    pub(crate) fn takes<T>(&self, message: *const T, size: usize) -> Done {
        if message.is_null() {
            Err(ANNULUS_INVALID)
        } else if size != self.message_size {
            Err(ANNULUS_WRONG_SIZE)
        } else {
            Ok(())
        }
    }

    /// How many messages wait in the ring.
    pub(crate) fn pending(&self) -> usize {
        let stats = self.observer.stats();
        (stats.map_or(0, |stats| stats.depth()) / self.unit) as usize
    }
}
