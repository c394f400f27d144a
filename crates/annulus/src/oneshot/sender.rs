//! [`Sender`]: the verbs of the side that has the value.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::ManuallyDrop;

use super::block::{CLOSED, ENDED, Share, VALUE};
use crate::error::SendError;

/// The sending side of a [channel for one value](super). [`send`](Self::send) uses it up; dropped before, it
/// tells the receiver that nothing comes.
pub struct Sender<T: Send> {
    share: Share<T, true>,
}

impl<T: Send> Sender<T> {
    pub(super) fn new(share: Share<T, true>) -> Self {
        Self { share }
    }

    /// Sends the value, and wakes the receiver if it waits. Never waits itself, allocates nothing. O(1), and
    /// a system call if the receiver's thread sleeps. It may free the channel's memory.
    ///
    /// `Ok` says that the value is the receiver's now, which may still be dropped without taking it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the receiver is gone, or has closed the channel.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel();
    /// drop(receiver);
    /// let error = sender.send(String::from("nobody asks")).unwrap_err();
    /// assert_eq!(error.0, "nobody asks");
    /// ```
    #[inline]
    pub fn send(self, value: T) -> Result<(), SendError<T>> {
        let Self { share } = &*ManuallyDrop::new(self);
        share.put(value);
        // SAFETY: the value was put, the share is not used after an end, and nobody drops it.
        if unsafe { share.end(VALUE, CLOSED) } {
            return Ok(());
        }
        // SAFETY: `VALUE` was not said, and is not from here on.
        let value = unsafe { share.take() };
        // SAFETY: this is the last use.
        unsafe { share.end(ENDED, 0) };
        Err(SendError(value))
    }

    /// Whether the receiver is gone, or has closed the channel. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel::<u64>();
    /// assert!(!sender.is_closed());
    /// drop(receiver);
    /// assert!(sender.is_closed()); // so the answer need not be found
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.share.look() & CLOSED != 0
    }

    /// Waits, in a task, until the receiver is gone or has closed the channel.
    ///
    /// *Cancel safety*: a future that is dropped has changed nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut sender, receiver) = annulus::oneshot::channel::<u64>();
    /// let asker = std::thread::spawn(move || drop(receiver));
    /// pollster::block_on(sender.closed_async());
    /// assert!(sender.is_closed());
    /// # asker.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    #[cfg_attr(docsrs, doc(cfg(feature = "async")))]
    pub fn closed_async(&mut self) -> impl Future<Output = ()> + Unpin {
        // SAFETY: the event is in the block, which lives as long as the sender, which is borrowed.
        unsafe { crate::wait::Waiting::new(AwaitClose(&self.share)) }
    }
}

/// Until the receiver wants no value any more.
#[cfg(feature = "async")]
struct AwaitClose<'s, T>(&'s Share<T, true>);

#[cfg(feature = "async")]
impl<T> crate::wait::Poll for AwaitClose<'_, T> {
    type Found = ();

    fn wait_point(&self) -> &crate::wait::EventCount {
        self.0.wait_point()
    }

    fn poll(&mut self) -> crate::wait::Look<()> {
        if self.0.look() & CLOSED != 0 { crate::wait::Look::Found(()) } else { crate::wait::Look::Nothing }
    }
}

/// The receiver is told that nothing comes.
impl<T: Send> Drop for Sender<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is the last use; no value was put.
        unsafe { self.share.end(ENDED, 0) };
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("kind", &"oneshot")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
