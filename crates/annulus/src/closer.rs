//! [`Closer`]: ends a ring from anywhere.

use alloc::sync::{Arc, Weak};
use core::fmt;

/// Something that can be closed.
pub(crate) trait Close: Send + Sync {
    /// Closes it and wakes everybody who waits. No effect where it is closed.
    fn close(&self);

    /// Whether it is closed.
    fn is_closed(&self) -> bool;
}

/// Closes one ring, broadcast or queue, from any thread; made by `closer` of its handles.
///
/// It may be cloned and sent anywhere, and it keeps nothing open: a ring whose handles are gone is gone, and
/// dropping a closer closes nothing. To close several rings at once, or with a flag for threads that are not
/// in a ring, [attach](crate::Shutdown::attach) closers to a [`Shutdown`](crate::Shutdown).
///
/// # What a close does
///
/// Everybody who waits in the ring is woken. What was published or sent before the close is received; then
/// receivers get `Closed`, for good, and all subscribers of a broadcast ring at the same message. What comes
/// later fails and gives its value back; only `publish` of a *lossy* ring, which returns nothing, drops the
/// message. A `publish` or `send` beside the close is one or the other: where it returned `Ok` its message is
/// received, and where it failed nobody receives it.
///
/// On a broadcast ring with one publisher, a close from outside makes each core that runs a thread of this
/// process execute a barrier: a system call, and the first time in a process some milliseconds, which
/// `prepare` takes in advance. Where a sandbox refuses that, it waits for a millisecond.
///
/// # Examples
///
/// ```
/// use annulus::RecvError;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
/// let mut subscriber = subscribable.subscribe();
/// let closer = publisher.closer();
///
/// publisher.publish(1)?;
/// let reader = std::thread::spawn(move || {
///     assert_eq!(subscriber.recv(), Ok(1));
///     subscriber.recv() // waits; the publisher is still there
/// });
/// closer.close();
/// assert_eq!(reader.join().unwrap(), Err(RecvError));
/// assert_eq!(publisher.publish(2).unwrap_err().into_inner(), 2);
/// # Ok::<(), annulus::PublishError<u64>>(())
/// ```
#[derive(Clone)]
pub struct Closer {
    // Decision 0067: a closer keeps no ring.
    ring: Weak<dyn Close>,
}

impl Closer {
    /// Of a ring that handles share.
    pub(crate) fn of<R: Close + 'static>(ring: &Arc<R>) -> Self {
        Self::from_weak(Arc::downgrade(ring))
    }

    /// Of a ring that knows of its share.
    pub(crate) fn from_weak<R: Close + 'static>(ring: Weak<R>) -> Self {
        Self { ring }
    }

    /// Closes the ring, and wakes everybody who waits in it. No effect on one that is closed, or gone.
    pub fn close(&self) {
        if let Some(ring) = self.ring.upgrade() {
            ring.close();
        }
    }

    /// Whether the ring is closed: somebody closed it, one side is gone from it, or it is gone itself. (Of a
    /// broadcast ring, the side of publishers; a publisher tells by its own `is_closed` whether all receivers
    /// are gone.)
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.upgrade().is_none_or(|ring| ring.is_closed())
    }

    /// Whether the ring is gone with all its handles.
    pub(crate) fn is_gone(&self) -> bool {
        self.ring.strong_count() == 0
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").field("closed", &self.is_closed()).finish()
    }
}
