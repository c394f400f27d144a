//! [`Closer`]: ends a ring from anywhere.

#[cfg(all(feature = "std", not(annulus_loom)))]
use alloc::sync::Arc;
use core::fmt;
use core::ptr::NonNull;

use crate::base::common::Weak;

/// Something that can be closed.
pub(crate) trait Close: Send + Sync {
    /// Closes it and wakes all threads that wait in it. No effect if it is closed already.
    fn close(&self);

    /// Whether it is closed.
    fn is_closed(&self) -> bool;

    /// How many messages lie in it, for a queue.
    #[cfg_attr(any(not(feature = "std"), annulus_loom), allow(dead_code, reason = "for pipelines"))]
    fn waiting(&self) -> Option<u64> {
        None
    }

    /// `listener` is notified of the end of the queue.
    // Unreached: an output of a pipeline is a queue of several lanes, which has its own
    #[cfg(all(feature = "std", not(annulus_loom)))]
    fn notify_on_close(&self, _listener: Arc<dyn NotifyOnClose>) {}
}

/// A listener to the end of a queue: the pipeline of which the queue is an output.
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) trait NotifyOnClose: Send + Sync {
    /// The last consumer goes. So many messages were taken.
    fn taken(&self, count: u64);

    /// The queue is closed, and its `is_closed` says so. May be called more than once.
    fn closed(&self);
}

/// Closes one ring, broadcast or queue, from any thread; made by `closer` of its handles.
///
/// It may be cloned and sent anywhere. It keeps nothing open: when the handles of a ring are gone, the ring
/// is gone, too. Dropping a closer closes nothing. To close several rings at once, or together with a flag
/// for threads that are not in a ring, [attach](crate::Shutdown::attach) closers to a
/// [`Shutdown`](crate::Shutdown).
///
/// # What a close does
///
/// It wakes all threads that wait in the ring. What was published or sent before the close is received. Then
/// receivers get `Closed`, for good; all subscribers of a broadcast ring get it at the same message. What
/// comes later fails and gives its value back. Only `publish` of a *lossy* ring, which returns nothing, drops
/// the message. If a `publish` or `send` runs beside the close, it comes before or after it. If it returned
/// `Ok`, its message is received. If it failed, nobody receives its message.
///
/// On a broadcast ring with one publisher, a close from outside makes each core that runs a thread of this
/// process execute a barrier. This costs a system call. If nothing has registered the process for that yet
/// (`prepare_process` does), or if a sandbox refuses it, the close waits for a millisecond instead. It does
/// not wait for the publisher. If that thread was stopped in the middle of a
/// message, the message counts, and subscribers wait for it until the thread goes on. On a ring with many
/// publishers the same holds for messages that are being written.
///
/// If two threads close the same ring at the same time, one of them may return before the other has finished.
///
/// While a closer is at work, it keeps the ring's memory. If the last handle goes in that time, the values in
/// the ring are dropped on the thread of the closer.
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
/// assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
/// assert_eq!(publisher.publish(2).unwrap_err().into_inner(), 2);
/// # Ok::<(), annulus::SendError<u64>>(())
/// ```
#[doc(alias = "WeakSender")]
#[derive(Clone)]
pub struct Closer {
    // Decision 0067: a closer keeps no ring.
    ring: Weak<dyn Close>,
}

impl Closer {
    /// A closer of what this leads to.
    pub(crate) fn from_weak<R: Close + 'static>(ring: Weak<R>) -> Self {
        Self { ring: ring.becoming(|ring| -> NonNull<dyn Close> { ring }) }
    }

    /// Closes the ring, and wakes all threads that wait in it. No effect if the ring is closed or gone.
    pub fn close(&self) {
        if let Some(ring) = self.ring.upgrade() {
            ring.close();
        }
    }

    /// Whether the ring is closed: somebody closed it, one of its sides is gone, or the ring itself is gone.
    /// (For a broadcast ring, only the side of the publishers counts. A publisher's own `is_closed` also says
    /// whether all receivers are gone.)
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.upgrade().is_none_or(|ring| ring.is_closed())
    }

    /// How many messages lie in the ring, if it is a queue and is still there.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn waiting(&self) -> Option<u64> {
        self.ring.upgrade()?.waiting()
    }

    /// Where the ring is, or was. No other ring is there as long as there is this closer.
    pub(crate) fn address(&self) -> usize {
        self.ring.address()
    }

    /// `listener` is notified of the end of the queue.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn notify_on_close(&self, listener: Arc<dyn NotifyOnClose>) {
        if let Some(ring) = self.ring.upgrade() {
            ring.notify_on_close(listener);
        }
    }

    /// Whether the ring is gone, with all its handles.
    pub(crate) fn is_gone(&self) -> bool {
        self.ring.is_gone()
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").field("closed", &self.is_closed()).finish()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use crate::{mpmc, spsc};

    #[test]
    fn counts_what_waits_in_each_kind_of_queue() {
        let (mut one, two) = (spsc::channel(4), mpmc::channel(4));
        one.0.try_send(1).unwrap();
        let mut producer = two.0;
        producer.try_send(1).unwrap();
        producer.try_send(2).unwrap();
        assert_eq!(one.1.closer().waiting(), Some(1));
        let closer = two.1.closer();
        assert_eq!(closer.waiting(), Some(2));
        drop((producer, two.1));
        assert_eq!(closer.waiting(), None);
    }
}
