//! The constructors of the lossy channel, and what its two sides share.

use super::handle::Handle;
use super::{Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;
use crate::ring::Ring;
use crate::sync::{AtomicBool, Ordering, mutated};
use crate::wait::Event;

/// What a publisher and its subscribers share. All but the slots and the head is constant while nobody sleeps.
pub(super) struct Shared<T> {
    pub(super) ring: Ring<T>,
    /// Where subscribers sleep.
    pub(super) event: Event,
    /// Set once, by the publisher's drop, after its last message.
    closed: AtomicBool,
}

impl<T: Message> Shared<T> {
    fn new(capacity: usize) -> Result<Self, CapacityError> {
        Ok(Self { ring: Ring::new(capacity)?, event: Event::new(), closed: AtomicBool::new(false) })
    }

    /// Says that no message will follow, and wakes whoever waits for one.
    #[cold]
    #[inline(never)]
    pub(super) fn close(&self) {
        let ordering = if mutated!("close_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in `is_closed`; the last message comes before it.
        self.closed.store(true, ordering);
        if !mutated!("close_wakes_nobody") {
            self.event.notify();
        }
    }

    /// Whether it is worth to ask [`is_closed`](Self::is_closed).
    #[inline]
    pub(super) fn may_be_closed(&self) -> bool {
        // Relaxed: only a hint; a poll that finds nothing does no more than this.
        self.closed.load(Ordering::Relaxed)
    }

    /// Whether the publisher is gone. Who sees true also sees its last message: look once more before believing that
    /// nothing is left.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`.
        self.closed.load(Ordering::Acquire)
    }
}

/// Makes a lossy broadcast ring of `capacity` slots: one publisher, any number of subscribers, each of which sees every
/// message.
///
/// The publisher never waits. A subscriber that falls more than `capacity` messages behind loses the oldest, is told how
/// many, and goes on with the oldest that still stands. `capacity` may be any number from 2 up and is kept as it is; a
/// power of two finds its slots with one instruction less.
///
/// Memory for the whole ring is taken and touched here, and nothing is allocated afterwards. A slot takes `size_of::<T>()` + 8
/// bytes, rounded up to a power of two up to 64 and to a multiple of 64 above; messages of 256 bytes and more begin on a line of
/// their own, and their slots take 64 bytes and the message, rounded up to a multiple of 64.
///
/// On Linux the first ring of a process also registers it for `membarrier(2)`, which may take milliseconds where many threads
/// run already.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring. [`try_channel`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::channel::<u64>(1024);
/// let mut first = subscribable.subscribe();
/// let mut second = subscribable.subscribe();
///
/// publisher.publish(42);
///
/// assert_eq!(first.recv(), Ok(42));
/// assert_eq!(second.recv(), Ok(42));
/// ```
#[must_use]
#[track_caller]
pub fn channel<T: Message>(capacity: usize) -> (Publisher<T>, Subscribable<T>) {
    match try_channel(capacity) {
        Ok(ends) => ends,
        Err(error) => panic!("annulus::channel: {error}"),
    }
}

/// As [`channel`], but returns an error where that panics.
///
/// # Errors
///
/// [`CapacityError::TooSmall`] below 2, [`CapacityError::TooLarge`] where memory has no room for the ring.
///
/// # Examples
///
/// ```
/// use annulus::CapacityError;
///
/// let error = annulus::try_channel::<u64>(1).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
/// assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
/// ```
pub fn try_channel<T: Message>(capacity: usize) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
    let shared = Handle::new(Shared::new(capacity)?);
    Ok((Publisher::new(shared.clone()), Subscribable::new(shared)))
}
