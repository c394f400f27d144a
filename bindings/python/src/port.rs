//! [`Port`]: a handle that receives, which becomes one that a loop of descriptors polls when it is asked to.

use std::io;
use std::mem;

use annulus::{Notifier, Waitable};

/// A handle that receives, and what wakes a loop that polls descriptors.
pub(crate) enum Port<H: Waitable> {
    Plain(H),
    Notified(Notifier<H>),
    /// While it becomes the other.
    Changing,
}

const CHANGED: &str = "it has changed before another verb begins";

impl<H: Waitable> Port<H> {
    /// To receive. What was armed is no more.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut H {
        match self {
            Self::Plain(handle) => handle,
            Self::Notified(notifier) => notifier.get_mut(),
            Self::Changing => unreachable!("{CHANGED}"),
        }
    }

    /// To look.
    pub(crate) fn get_ref(&self) -> &H {
        match self {
            Self::Plain(handle) => handle,
            Self::Notified(notifier) => notifier.get_ref(),
            Self::Changing => unreachable!("{CHANGED}"),
        }
    }

    pub(crate) fn notifier(&mut self) -> io::Result<&mut Notifier<H>> {
        if let Self::Plain(handle) = self {
            // A notifier that the system refuses drops its handle: this one has it as a loan.
            Notifier::new(handle).map(drop)?;
        }
        *self = match mem::replace(self, Self::Changing) {
            Self::Plain(handle) => Self::Notified(Notifier::new(handle)?),
            port => port,
        };
        match self {
            Self::Notified(notifier) => Ok(notifier),
            _ => unreachable!("{CHANGED}"),
        }
    }
}
