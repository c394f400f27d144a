//! [`Publisher`]: the only handle that writes, and what it does on a lossy ring.
//!
//! ```text
//! publish ─▶ put:  slot.w1 to slot.w3  write the message (`handle`, `ring/copied`, `ring/slots`, `ring/slot`)
//!                  needs_slow_path?    every few messages: store the head's bound; or closed (`ring/head`)
//!                  slot.w4             store the stamp
//!                  notify              one look at who sleeps (`wait/event_count`)
//! ```

use core::fmt;

use super::await_subscribers::awaits_subscribers;
use super::handle::{Handle, Publishing};
use super::single::Single;
use super::subscribable::subscribes;
use super::{Lossless, Lossy, Mode, Subscribable, Subscriber};
use crate::Closer;
use crate::base::sequence::Sequence;
use crate::error::{CapacityError, Refusal};
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Copied, Writers};
use crate::sync::mutated;

/// The writing end of a broadcast ring with one publisher, made by [`lossy`](fn@crate::broadcast::lossy)
/// (lossy) or [`lossless`](fn@crate::broadcast::lossless) (lossless).
///
/// Each ring has one publisher. It is not `Clone`, and publishing takes `&mut self`. It may move to another
/// thread.
///
/// On a [`Lossy`] ring it never waits for anybody, and publishing takes the same few instructions for any
/// number of subscribers. On a [`Lossless`] ring it waits for the slowest
/// subscriber before it overwrites a message that the subscriber has not received. On both rings, waking a
/// sleeping subscriber costs one system call, however many messages come before the subscriber runs.
///
/// Dropping it closes the ring. Subscribers receive what is left, then `Closed`.
// Decision 0002: what it costs where this lies in memory.
#[doc(alias = "Sender")]
pub struct Publisher<T, M: Mode = Lossy> {
    pub(super) single: Single<Copied<T>>,
    mode: core::marker::PhantomData<fn() -> M>,
}

/// Messages between two looks for sleepers in a batch.
pub(super) const NOTIFY_EVERY: usize = 64;

impl<T: Message> Publisher<T> {
    /// Publishes `message` to every subscriber. Never waits, never fails, allocates nothing;
    /// O(`size_of::<T>()`).
    ///
    /// It overwrites the message that came `capacity` messages before. A subscriber that has not read that
    /// message by now has lagged. Once somebody has [closed](Self::close) the ring, this drops the message.
    /// [`is_closed`](Self::is_closed) says whether the ring is closed.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish('a');
    /// assert_eq!(subscriber.try_recv(), Ok('a'));
    /// ```
    #[doc(alias = "try_publish")]
    #[inline]
    pub fn publish(&mut self, message: T) {
        // A message that comes after a close is dropped.
        let _ = self.put(&message);
    }

    /// Publishes the message that `make` returns. `make` runs before anything is written. If it panics,
    /// nothing is published, and the ring is unchanged. If it is slow, no reader waits for it.
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

    /// Publishes all of `messages`, in order. This is the same as publishing them one by one, but cheaper: it
    /// looks for sleepers once for up to 64 messages, not for each message.
    ///
    /// A batch that is larger than the ring overwrites its own beginning. Subscribers count that as lag.
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

    /// The next message gets the number `sequence`. The numbers before it that no message has yet are left
    /// out: no message will have them. Every subscriber counts each of them as lagged
    /// ([`Lagged`](crate::LossyTryRecvError::Lagged)), exactly, and one that sleeps is woken to be told. A
    /// subscriber that joins later begins behind them.
    ///
    /// Returns how many numbers were left out. Never goes back: returns 0 if `sequence` is not later than
    /// [`sequence`](Self::sequence). No effect on a closed ring: returns 0. If somebody closes the ring at
    /// the same moment, either all of these numbers are left out before the end, or none.
    ///
    /// This is for a bridge between machines. The ring at the far end keeps the numbers of the ring at the
    /// near end, and what was lost on the way between them is told as lag. A gap of a lap or more overwrites
    /// all messages of the ring, as if all numbers had been published. A smaller one overwrites as many as it
    /// leaves out.
    ///
    /// Never waits, allocates nothing; takes O(numbers that are left out) steps, at most O(`capacity`).
    ///
    /// # Errors
    ///
    /// [`FirstSequence`](CapacityError::FirstSequence): the numbers would run out soon after `sequence`.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyTryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// for (number, price) in [(0, 70), (1, 71), (4, 74)] { // from the network, which has lost 2 and 3
    ///     publisher.skip_to(number)?;
    ///     publisher.publish(price);
    /// }
    /// assert_eq!((subscriber.try_recv(), subscriber.try_recv()), (Ok(70), Ok(71)));
    /// assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    /// assert_eq!((subscriber.cursor(), subscriber.try_recv()), (4, Ok(74)));
    /// assert_eq!(publisher.skip_to(3)?, 0, "it never goes back");
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    // Decision 0151: a number that is left out is a stamp.
    pub fn skip_to(&mut self, sequence: u64) -> Result<u64, CapacityError> {
        let largest = Sequence::LAST_FIRST.get();
        if sequence > largest {
            return Err(CapacityError::FirstSequence { first: sequence, largest });
        }
        let Single { shared, next, .. } = &mut self.single;
        let (first, sequence) = (*next, Sequence::new(sequence));
        if sequence <= first || !shared.leave_out(first, sequence) {
            return Ok(0);
        }
        *next = sequence;
        Ok(sequence.since(first))
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, messages that are published from now on
    /// are dropped. A lossy ring without subscribers is not closed: see
    /// [`subscriber_count`](Self::subscriber_count).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.single.shared.is_ending()
    }
}

impl<T: Message> Publisher<T> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);",
        |handle| Subscribable<T>: Subscribable::new(handle.single.shared.inviter_of_publisher()),
        Subscriber<T>
    }
}

impl<T: Message> Publisher<T, Lossless> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);",
        |handle| Subscribable<T, Lossless>: Subscribable::new(handle.single.shared.inviter_of_publisher()),
        Subscriber<T, Lossless>
    }
}

impl<T: Message, M: Mode> Publisher<T, M> {
    /// Whether it publishes to the ring of `subscribable`.
    pub(crate) fn is_of(&self, subscribable: &Subscribable<T, M>) -> bool {
        self.single.shared.is_of_ring_of(&subscribable.shared)
    }

    pub(super) fn new(shared: Handle<Copied<T>, Publishing>) -> Self {
        Self { single: Single::new(shared), mode: core::marker::PhantomData }
    }

    /// How many messages have been published, with the numbers that were [left out](Publisher::skip_to).
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.single.published()
    }

    /// The sequence number that the next message will get. Messages are numbered from 0, so this is the same
    /// number as [`published`](Self::published); `publisher.sequence() - subscriber.cursor()` says how far a
    /// subscriber is behind.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.single.next.get()
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.single.shared.ring.capacity()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, taps, stages and clones. A
    /// [`SubscriberGroup`](crate::broadcast::SubscriberGroup) counts as one, and each paused member of it as
    /// one more. Subscribers may join and leave meanwhile. A [`Subscribable`]
    /// does not count, so somebody may still join when this is 0.
    ///
    /// *Between processes*: of a lossless ring, these are the subscribers of all processes that have a seat;
    /// it asks the kernel which of them live, a system call for each. Subscribers of a lossy ring write
    /// nothing that the publisher could see, so those of other processes do not count.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    /// let subscriber = subscribable.subscribe();
    /// let clone = subscriber.clone();
    /// assert_eq!(publisher.subscriber_count(), 2);
    /// drop((subscriber, clone));
    /// assert_eq!(publisher.subscriber_count(), 0);
    /// ```
    #[doc(alias = "receiver_count")]
    #[doc(alias = "strong_count")]
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.single.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);",
        |publisher| &publisher.single.shared
    }

    /// Closes the ring, as dropping the publisher does, but keeps the publisher. Subscribers receive what was
    /// published, then `Closed`. Threads that wait in the ring are woken. From now on publishing fails and
    /// gives the message back; `publish` on a lossy ring, which returns nothing, drops it. No effect on a
    /// closed ring.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(1).unwrap();
    /// publisher.close();
    /// assert_eq!(publisher.publish(2).unwrap_err().into_inner(), 2);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&self) {
        self.single.shared.close_as_publisher();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.single.shared.closer()
    }

    observable! {
        |handle| stats: handle.single.shared.stats(),
        observer: handle.single.shared.observer()
    }

    /// Writes the next message, and wakes the threads that wait for it. On a lossless ring the message was
    /// admitted before. [`Refusal::Closed`] if somebody closed the ring before this message.
    #[inline(always)]
    // Decision 0102: the one way to put a message.
    pub(super) fn put(&mut self, message: &T) -> Result<(), Refusal> {
        // Copied once: after each atomic access the compiler would fetch them from memory anew.
        let Single { shared: handle, next, .. } = &mut self.single;
        let (shared, sequence) = (&**handle, *next);
        // SAFETY: the ring is for one publisher, which is this one, is here, and has published all before.
        let written = unsafe { handle.write(Writers::One, sequence, message) };
        if shared.ring.head().needs_slow_path(sequence) {
            *next = shared.publish_slow_path(written.without_slot());
            return if *next == sequence { Err(Refusal::Closed) } else { Ok(()) };
        }
        written.publish();
        *next = sequence.next();
        shared.published.notify();
        Ok(())
    }

    /// Writes `messages`, and looks for sleepers now and then. Returns how many it wrote: fewer if somebody
    /// has closed the ring.
    #[inline(always)]
    pub(super) fn put_all(&mut self, messages: &[T]) -> usize {
        let (handle, first) = (&self.single.shared, self.single.next);
        let (shared, mut next) = (&**handle, first);
        for part in messages.chunks(NOTIFY_EVERY) {
            let before = next;
            for message in part {
                // SAFETY: as in `put`.
                let written = unsafe { handle.write(Writers::One, next, message) };
                let sequence = next;
                if shared.ring.head().needs_slow_path(sequence) {
                    next = shared.publish_slow_path(written.without_slot());
                    if next == sequence {
                        break;
                    }
                } else {
                    written.publish();
                    next = sequence.next();
                }
            }
            if !mutated!("batch_wakes_nobody") {
                shared.published.notify();
            }
            if next.since(before) < part.len() as u64 {
                break;
            }
        }
        self.single.next = next;
        // At most as many as there are.
        next.since(first) as usize
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
