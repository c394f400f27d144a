//! [`SharedRing`]: the ring of quotes between processes, of either mode.

use annulus::broadcast::{Builder, Lossless, Lossy, Mode, Publisher, Subscriber};
use annulus::shm::broadcast::{self, Awaited, Foreign};
use annulus::shm::{Invitation, ShareError};

use super::failed;
use crate::demo::quote::Quote;
use crate::demo::ring::Ring;
use crate::outcome::Failure;

/// What the demo does with such a ring, besides publishing.
pub(super) trait SharedRing: Ring {
    /// What its subscribers are.
    type Read: Mode;

    /// A ring of so many slots, for so many subscribers.
    ///
    /// # Errors
    ///
    /// There can be none, or the system refuses it.
    fn share(slots: usize, subscribers: usize) -> Result<(Publisher<Quote, Self>, Invitation), ShareError>;

    /// A subscriber in another process.
    ///
    /// # Errors
    ///
    /// It is no such ring.
    fn join(invitation: &Invitation) -> Result<Subscriber<Quote, Self::Read>, Failure>;
}

impl SharedRing for Lossy {
    type Read = Foreign;

    fn share(slots: usize, _: usize) -> Result<(Publisher<Quote>, Invitation), ShareError> {
        let (publisher, _, invitation) = broadcast::lossy(Builder::new(slots))?;
        Ok((publisher, invitation))
    }

    fn join(invitation: &Invitation) -> Result<Subscriber<Quote, Foreign>, Failure> {
        Ok(invitation.accept().map_err(|error| failed(&error))?.subscribable().subscribe())
    }
}

impl SharedRing for Lossless {
    type Read = Awaited;

    fn share(slots: usize, subscribers: usize) -> Result<(Publisher<Quote, Self>, Invitation), ShareError> {
        broadcast::lossless(Builder::new(slots), subscribers)
    }

    fn join(invitation: &Invitation) -> Result<Subscriber<Quote, Awaited>, Failure> {
        let ring = invitation.accept_lossless().map_err(|error| failed(&error))?;
        ring.subscribe().map_err(|error| failed(&error))
    }
}
