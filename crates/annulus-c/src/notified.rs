//! [`Notified`]: a receiving handle, with a file descriptor if the program asked for one.

#[cfg(target_os = "linux")]
use core::ptr::NonNull;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use annulus::Waitable;
#[cfg(target_os = "linux")]
use annulus::{Notifier, Readiness};

use crate::status::Done;
use crate::status::annulus_status::{self, ANNULUS_INVALID};

/// A receiving handle.
pub(crate) enum Notified<R: Waitable + 'static> {
    /// Nobody has asked for a descriptor.
    Not(R),
    /// With the descriptor that tells of messages.
    #[cfg(target_os = "linux")]
    By(OwnNotifier<R>),
    /// While it becomes the other one.
    #[cfg(target_os = "linux")]
    Between,
}

/// A notifier, and what it borrows. (A notifier that owns its receiver would drop it where the system has no
/// descriptor for it.)
#[cfg(target_os = "linux")]
pub(crate) struct OwnNotifier<R: Waitable + 'static> {
    /// `None` in the drop only.
    notifier: Option<Notifier<&'static mut R>>,
    /// From a `Box`. Only the notifier uses it.
    receiver: NonNull<R>,
}

// SAFETY: it owns the receiver, and what borrows it.
#[cfg(target_os = "linux")]
unsafe impl<R: Waitable + 'static> Send for OwnNotifier<R> {}

#[cfg(target_os = "linux")]
impl<R: Waitable> OwnNotifier<R> {
    /// Gives the receiver back if there is no descriptor for it.
    fn new(receiver: R) -> Result<Self, R> {
        let receiver = NonNull::from(Box::leak(Box::new(receiver)));
        // SAFETY: it is there until the drop, and until then only the notifier uses it.
        match Notifier::new(unsafe { &mut *receiver.as_ptr() }) {
            Ok(notifier) => Ok(Self { notifier: Some(notifier), receiver }),
            // SAFETY: it came from a box, and nothing borrows it.
            Err(_) => Err(*unsafe { Box::from_raw(receiver.as_ptr()) }),
        }
    }

    fn get(&self) -> &Notifier<&'static mut R> {
        self.notifier.as_ref().expect("it is there until the drop")
    }

    fn get_mut(&mut self) -> &mut Notifier<&'static mut R> {
        self.notifier.as_mut().expect("it is there until the drop")
    }
}

#[cfg(target_os = "linux")]
impl<R: Waitable + 'static> Drop for OwnNotifier<R> {
    fn drop(&mut self) {
        self.notifier = None;
        // SAFETY: it came from a box, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.receiver.as_ptr()) });
    }
}

#[cfg(target_os = "linux")]
const LOST: &str = "the handle was lost in a panic";

impl<R: Waitable> Notified<R> {
    /// The handle. A notifier is not armed afterwards.
    #[inline(always)]
    pub(crate) fn receiver(&mut self) -> &mut R {
        match self {
            Self::Not(receiver) => receiver,
            #[cfg(target_os = "linux")]
            Self::By(notifier) => notifier.get_mut().get_mut(),
            #[cfg(target_os = "linux")]
            Self::Between => panic!("{LOST}"),
        }
    }

    /// The handle, to look at.
    pub(crate) fn look(&self) -> &R {
        match self {
            Self::Not(receiver) => receiver,
            #[cfg(target_os = "linux")]
            Self::By(notifier) => notifier.get().get_ref(),
            #[cfg(target_os = "linux")]
            Self::Between => panic!("{LOST}"),
        }
    }

    /// The descriptor, which it makes if there is none yet.
    pub(crate) fn fd(&mut self) -> Done<i32> {
        #[cfg(target_os = "linux")]
        {
            if let Self::Not(_) = self {
                let Self::Not(receiver) = core::mem::replace(self, Self::Between) else { panic!("{LOST}") };
                match OwnNotifier::new(receiver) {
                    Ok(notifier) => *self = Self::By(notifier),
                    Err(receiver) => {
                        *self = Self::Not(receiver);
                        return Err(annulus_status::ANNULUS_SYSTEM);
                    }
                }
            }
            if let Self::By(notifier) = self { Ok(notifier.get().as_raw_fd()) } else { panic!("{LOST}") }
        }
        #[cfg(not(target_os = "linux"))]
        Err(annulus_status::ANNULUS_UNSUPPORTED)
    }

    /// Arms the descriptor. Returns whether something is there already; then it is not armed.
    pub(crate) fn arm(&mut self) -> Done<bool> {
        #[cfg(target_os = "linux")]
        if let Self::By(notifier) = self {
            return Ok(notifier.get_mut().arm() == Readiness::Ready);
        }
        Err(ANNULUS_INVALID)
    }
}
