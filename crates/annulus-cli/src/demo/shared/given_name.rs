//! [`GivenName`]: the name that a process has given to its ring, which two threads may take back.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annulus::shm::{Directory, Invitation, PublishedName};

use super::failed;
use crate::outcome::Failure;

/// Clones are of the same name.
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
