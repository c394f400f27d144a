//! [`Publisher`]: the one who writes, and what it does on a lossy ring.

use core::fmt;

use super::handle::{Handle, Publishing};
use super::single::Single;
use super::{Lossy, Mode};
use crate::message::Message;
use crate::ring::{Copied, Writers};
use crate::sync::mutated;

/// The writing end of a broadcast ring with one publisher, made by [`lossy`](fn@crate::broadcast::lossy) (lossy) or
/// [`lossless`](fn@crate::broadcast::lossless) (lossless).
///
/// There is one for each ring: it is not `Clone`, and publishing takes `&mut self`. It may move to another thread.
///
/// On a [`Lossy`] ring it never waits for anybody, and publishing takes the same few instructions whether nobody or a hundred
/// subscribers listen. On a [`Lossless`](crate::broadcast::Lossless) ring it waits for the slowest subscriber before it overwrites what that one
/// has not received. Either way, waking a subscriber that sleeps costs one system call, however many messages come before it runs.
///
/// Dropping it closes the ring: subscribers receive what is left, then `Closed`.
// Decision 0005: what it costs where this lies in memory.
pub struct Publisher<T, M: Mode = Lossy> {
    pub(super) single: Single<Copied<T>>,
    mode: core::marker::PhantomData<fn() -> M>,
}

/// Messages between two looks for sleepers in a batch.
pub(super) const NOTIFY_EVERY: usize = 64;

impl<T: Message> Publisher<T> {
    /// Publishes `message` to every subscriber. Never waits, never fails, allocates nothing; O(`size_of::<T>()`).
    ///
    /// It overwrites the message that came `capacity` messages before; a subscriber that has not read that one by now
    /// will find that it lagged.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish('a');
    /// assert_eq!(subscriber.try_recv(), Ok('a'));
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) {
        self.put(&message);
    }

    /// Publishes what `make` returns. It runs before anything is written: if it panics, nothing is published and the
    /// ring is as it was; if it is slow, no reader waits for it.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_with(|| 6 * 7);
    /// assert_eq!(subscriber.try_recv(), Ok(42));
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) {
        self.publish(make());
    }

    /// Publishes all of `messages`, in order. The same as publishing them one by one, but cheaper: sleepers are looked
    /// for once in up to 64 messages rather than at each.
    ///
    /// A batch larger than the ring overwrites its own beginning; subscribers count that as lag.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn publish_batch(&mut self, messages: &[T]) {
        self.put_all(messages);
    }
}

impl<T: Message, M: Mode> Publisher<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, Publishing>) -> Self {
        Self { single: Single::new(shared), mode: core::marker::PhantomData }
    }

    /// How many messages have been published.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.single.published()
    }

    /// The sequence that the next message will get. Sequences count from 0, so this is the same number as
    /// [`published`](Self::published); `publisher.sequence() - subscriber.cursor()` is how far a subscriber is behind.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.single.next.get()
    }

    /// How many of the latest messages stand in the ring: the number given to its constructor.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.single.shared.ring.capacity()
    }

    /// Writes the next message and wakes whoever waits for it. Where subscribers are waited for, it was admitted.
    #[inline(always)]
    pub(super) fn put(&mut self, message: &T) {
        // Copied once: after each atomic access the compiler would fetch them from memory anew.
        let Single { shared, next, .. } = &mut self.single;
        let sequence = *next;
        // SAFETY: the ring is for one publisher, which is this one, is here, and has written all before.
        unsafe { shared.write(Writers::One, sequence, message) };
        shared.ring.head().passed(sequence);
        *next = sequence.next();
        shared.published.notify();
    }

    /// Writes `messages`, looking for sleepers once in a while.
    #[inline(always)]
    pub(super) fn put_all(&mut self, messages: &[T]) {
        let (shared, mut next) = (&self.single.shared, self.single.next);
        for part in messages.chunks(NOTIFY_EVERY) {
            for message in part {
                // SAFETY: as in `put`.
                unsafe { shared.write(Writers::One, next, message) };
                shared.ring.head().passed(next);
                next = next.next();
            }
            if !mutated!("batch_wakes_nobody") {
                shared.published.notify();
            }
        }
        self.single.next = next;
    }
}

impl<T: Message, M: Mode> fmt::Debug for Publisher<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
