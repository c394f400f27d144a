//! [`SharedRing`]: the ring of quotes between processes, of either mode; and [`GivenName`], the name by which
//! they find it.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annulus::Settings;
use annulus::broadcast::{Lossless, Lossy, Mode, Publisher, Subscriber};
use annulus::shm::broadcast::{self, Awaited, Foreign};
use annulus::shm::{Directory, Invitation, PublishedName, ShareError, Shared};

use super::failed;
use crate::demo::publisher::Ring;
use crate::messages::quote::Quote;
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
        let Shared { handle, invitation, .. } = broadcast::lossy(Settings::new(slots))?;
        Ok((handle, invitation))
    }

    fn join(invitation: &Invitation) -> Result<Subscriber<Quote, Foreign>, Failure> {
        Ok(invitation.accept().map_err(|error| failed(&error))?.subscribable().subscribe())
    }
}

impl SharedRing for Lossless {
    type Read = Awaited;

    fn share(slots: usize, subscribers: usize) -> Result<(Publisher<Quote, Self>, Invitation), ShareError> {
        let Shared { handle, invitation, .. } = broadcast::lossless(Settings::new(slots), subscribers)?;
        Ok((handle, invitation))
    }

    fn join(invitation: &Invitation) -> Result<Subscriber<Quote, Awaited>, Failure> {
        let ring = invitation.accept_lossless().map_err(|error| failed(&error))?;
        ring.subscribe().map_err(|error| failed(&error))
    }
}

/// The name that a process has given to its ring, which two threads may take back. Clones are of the same
/// name.
#[derive(Clone, Default)]
pub(super) struct GivenName(Arc<Mutex<Option<PublishedName>>>);

impl GivenName {
    /// Gives a ring this name.
    ///
    /// # Errors
    ///
    /// Another ring has it, or the system refuses it.
    pub(super) fn give(
        &self,
        invitation: &Invitation,
        directory: &Directory,
        name: &str,
    ) -> Result<(), Failure> {
        // (Locked meanwhile: else the end of the process might come between the name and this.)
        let mut given = self.lock();
        *given = Some(invitation.publish(directory, name).map_err(|error| failed(&error))?);
        Ok(())
    }

    /// Takes it back, if there is one.
    pub(super) fn take_back(&self) {
        drop(self.lock().take());
    }

    /// As [`take_back`](Self::take_back), before the process ends: nobody gives a name any more.
    pub(super) fn take_back_for_good(&self) {
        let mut given = self.lock();
        drop(given.take());
        mem::forget(given);
    }

    fn lock(&self) -> MutexGuard<'_, Option<PublishedName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
