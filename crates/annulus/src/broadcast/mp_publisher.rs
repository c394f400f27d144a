//! [`MpPublisher`]: one of many handles that write.
//!
//! Each publisher claims its sequences from one counter, waits until the writer of the lap before has left
//! the slot, and writes as a single publisher does. There is no second counter that must advance in order,
//! because readers look at the stamps. So a publisher that is slow, or not scheduled, holds up only the
//! readers of its message and the publisher that writes the same slot a lap later. That publisher has claimed
//! its message by then and can't give it back, so its readers wait, too.

use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::await_subscribers::awaits_subscribers;
use super::handle::{Handle, Publishing};
use super::ring_state::RingState;
use super::slot_access::{
    ClaimedRun, claim, claim_after_a_look, claim_by, claim_now, wait_for_slot, wait_for_slot_by,
};
use super::subscribable::subscribes;
use super::{Lossless, Lossy, Mode, Subscribable, Subscriber};
use crate::Closer;
use crate::base::hint::unlikely;
use crate::base::sequence::Sequence;
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{GiveBack, PublishError, Refusal, TryPublishError, if_admitted};
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Copied, Writers};
use crate::sync::mutated;
use crate::transmit::in_parts::in_parts;
use crate::wait::{Deadline, WaitStrategy};

/// A writing end of a broadcast ring with many publishers, made by [`mp_lossy`](crate::broadcast::mp_lossy)
/// (lossy) or [`mp_lossless`](crate::broadcast::mp_lossless) (lossless).
///
/// It is `Clone`, `Send` and `Sync`: clone it for each thread, or share it. All subscribers see all messages
/// in one order. Messages of one publisher are in the order in which it published them.
///
/// On a [`Lossy`] ring it waits only for a publisher that claimed the same slot one lap before and has not
/// finished. That happens only if others publish a whole ring of messages during one write. On a [`Lossless`]
/// ring it also waits for the slowest subscriber.
///
/// A thread that stops in the middle of a write (because of a debugger, or of a priority that starves it)
/// holds up readers at that message. One lap later it also holds up the publisher that claims the same slot,
/// and so the readers of that publisher's message. Each lap holds up one publisher more, until the thread
/// goes on. `try_publish` returns [`Full`](TryPublishError::Full) in that case, and claims nothing.
///
/// Dropping the last publisher closes the ring. Subscribers receive what is left, then `Closed`.
#[doc(alias = "Sender")]
pub struct MpPublisher<T, M: Mode = Lossy> {
    pub(super) shared: Handle<Copied<T>, Publishing>,
    mode: core::marker::PhantomData<fn() -> M>,
}

/// The most messages that are claimed at once. Messages of other publishers lie behind them and wait until
/// they are written, so fewer are better. With this many, the cost of the claim is already small.
// Decision 0028: not the whole batch at once.
const PART: usize = 64;

impl<T: Message> MpPublisher<T> {
    /// For models: as if somebody had had to wait for a slot.
    #[cfg(annulus_loom)]
    #[doc(hidden)]
    pub fn look_first_for_models(&self) {
        self.shared.look_first(Sequence::FIRST);
    }

    /// Publishes `message` to every subscriber. Waits for no subscriber; O(`size_of::<T>()`), allocates
    /// nothing.
    ///
    /// It overwrites the message that came `capacity` messages before. If the publisher of that message is
    /// still writing it, this waits with the [`WaitStrategy`] of the ring. Once somebody has
    /// [closed](Self::close) the ring, this drops the message. [`is_closed`](Self::is_closed) says whether
    /// the ring is closed.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// std::thread::scope(|scope| {
    ///     for number in 1..=4 {
    ///         let publisher = publisher.clone();
    ///         scope.spawn(move || publisher.publish(number));
    ///     }
    /// });
    /// assert_eq!(subscriber.try_iter().sum::<u64>(), 10);
    /// ```
    #[inline]
    pub fn publish(&self, message: T) {
        if unlikely(self.shared.looks_first()) {
            return self.publish_after_a_look(&message, None);
        }
        if let Some(sequence) = self.shared.ring.head().claim(1) {
            self.put_when_left(sequence, &message, wait_for_slot);
        }
    }

    /// As [`publish`](Self::publish), waiting by `strategy` if necessary.
    #[inline]
    pub fn publish_by(&self, message: T, strategy: WaitStrategy) {
        if unlikely(self.shared.looks_first()) {
            return self.publish_after_a_look(&message, Some(strategy));
        }
        if let Some(sequence) = self.shared.ring.head().claim(1) {
            self.put_when_left(sequence, &message, |shared, claimed| {
                wait_for_slot_by(shared, claimed, strategy);
            });
        }
    }

    /// Publishes the message that `make` returns. `make` runs before a sequence number is claimed. So nobody
    /// waits for it if it panics or is slow.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_with(|| 6 * 7);
    /// assert_eq!(subscriber.try_recv(), Ok(42));
    /// ```
    #[inline]
    pub fn publish_with(&self, make: impl FnOnce() -> T) {
        self.publish(make());
    }

    /// Publishes all of `messages`, in order, in parts of 64 messages (or of half a ring, if that is less).
    /// Subscribers see no messages of other publishers within a part. So the messages of another publisher
    /// wait for one part, not for the whole batch. A batch that is larger than the ring overwrites its own
    /// beginning.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn publish_batch(&self, messages: &[T]) {
        self.put_in_parts(messages, wait_for_slot);
    }

    /// As [`publish_batch`](Self::publish_batch), waiting by `strategy` if necessary. (There is no form with
    /// a timeout, because messages that are claimed must be published.)
    #[inline]
    pub fn publish_batch_by(&self, messages: &[T], strategy: WaitStrategy) {
        self.put_in_parts(messages, |shared, claimed| wait_for_slot_by(shared, claimed, strategy));
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, messages that are published from now on
    /// are dropped. A lossy ring without subscribers is not closed: see
    /// [`subscriber_count`](Self::subscriber_count).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_ending()
    }

    /// [`publish`](Self::publish) on a ring where publishers wait for each other: claims a sequence when its
    /// slot is left, and not before.
    #[cold]
    #[inline(never)]
    fn publish_after_a_look(&self, message: &T, strategy: Option<WaitStrategy>) {
        if let Some(sequence) = claim_after_a_look(&self.shared, strategy) {
            self.put(sequence, message);
        }
    }

    /// [Puts](Self::put_when_left) all of `messages`, in parts that are claimed at once.
    #[inline(always)]
    fn put_in_parts(&self, messages: &[T], wait: impl Fn(&RingState<Copied<T>>, Sequence)) {
        for part in messages.chunks(self.part()) {
            let Some(mut sequence) = self.shared.ring.head().claim(part.len() as u64) else { return };
            for message in part {
                self.put_when_left(sequence, message, &wait);
                sequence = sequence.next();
            }
        }
    }

    /// [Puts](Self::put) message `sequence`, which this publisher claimed, as soon as its slot is left.
    /// `wait` waits for that where it is not. (A function, so that one without a strategy gets none: decision
    /// 0035.)
    #[inline(always)]
    // Decision 0039: no prefetch of the slot.
    fn put_when_left(
        &self,
        sequence: Sequence,
        message: &T,
        wait: impl FnOnce(&RingState<Copied<T>>, Sequence),
    ) {
        if !self.shared.is_left(Writers::Many, sequence) {
            wait(&self.shared, sequence);
        }
        self.put(sequence, message);
    }
}

impl<T: Message> MpPublisher<T, Lossless> {
    /// Publishes `message` to every subscriber. Waits with the [`WaitStrategy`] of the ring while the slowest
    /// subscriber is `capacity − headroom` messages behind. Never waits for subscribers while there is none.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back if nobody is left to receive it (every subscriber is gone, and
    /// every [`Subscribable`] too), or if somebody has [closed](Self::close)
    /// the ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(4);
    /// let mut subscriber = subscribable.subscribe();
    /// let publishers = [1, 2].map(|id| {
    ///     let publisher = publisher.clone();
    ///     std::thread::spawn(move || (0..100).try_for_each(|_| publisher.publish(id)))
    /// });
    /// drop(publisher);
    /// assert_eq!(subscriber.iter().sum::<u64>(), 300);
    /// # publishers.map(|publisher| publisher.join().unwrap().unwrap());
    /// ```
    #[inline]
    pub fn publish(&self, message: T) -> Result<(), PublishError<T>> {
        self.put_admitted(claim(&self.shared, 1, true), message)
    }

    /// As [`publish`](Self::publish), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    #[inline]
    pub fn publish_by(&self, message: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        self.put_admitted(claim_by(&self.shared, 1, true, strategy, None), message)
    }

    /// Publishes the message that `make` returns, like [`publish`](Self::publish). `make` runs before a
    /// sequence number is claimed. So nobody waits for it if it panics or is slow.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    #[inline]
    pub fn publish_with(&self, make: impl FnOnce() -> T) -> Result<(), PublishError<T>> {
        self.publish(make())
    }

    /// Publishes all of `messages`, in order. Waits for room as often as necessary. It publishes parts of 64
    /// messages, or of as many as there is room for. Subscribers see no messages of other publishers within a
    /// part. A batch of up to 64 messages is one part, if it is at most half of `capacity − headroom` and
    /// nobody is in the way. This does not wait until there is room for the whole batch, because other
    /// publishers would take that room again and again.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives back what was not published: nobody is left to receive it, or somebody closed
    /// the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn publish_batch<'m>(&self, messages: &'m [T]) -> Result<(), PublishError<&'m [T]>> {
        self.publish_batch_by(messages, self.shared.strategy)
    }

    /// As [`publish_batch`](Self::publish_batch), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_batch`](Self::publish_batch).
    pub fn publish_batch_by<'m>(
        &self,
        messages: &'m [T],
        strategy: WaitStrategy,
    ) -> Result<(), PublishError<&'m [T]>> {
        self.put_in_free_slots(messages, strategy, None).map_err(|(rest, _)| PublishError(rest))
    }

    /// As [`publish_batch`](Self::publish_batch), but gives up after `timeout`. A part of the batch may be
    /// published then.
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError`] gives back the part that was not published.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_batch_timeout<'m>(
        &self,
        messages: &'m [T],
        timeout: Duration,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.publish_batch_until(messages, Instant::now().checked_add(timeout))
    }

    /// As [`publish_batch_timeout`](Self::publish_batch_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_batch_timeout`](Self::publish_batch_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_batch_deadline<'m>(
        &self,
        messages: &'m [T],
        deadline: Instant,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.publish_batch_until(messages, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_batch_until<'m>(
        &self,
        messages: &'m [T],
        deadline: Deadline,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.put_in_free_slots(messages, self.shared.strategy, deadline)
            .map_err(|(rest, refusal)| PublishTimeoutError::of(refusal, rest))
    }

    /// Whether publishing will fail from now on, because nobody is left to receive, or because somebody has
    /// [closed](Self::close) the ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.refuses()
    }

    /// Writes all of `messages`, or returns what is left and why.
    fn put_in_free_slots<'m>(
        &self,
        messages: &'m [T],
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<(), (&'m [T], Refusal)> {
        in_parts(messages, |rest| {
            let most = rest.len().min(self.part()) as u64;
            // Decision 0030: what fits, not the whole part.
            let ClaimedRun { first, end } = claim_by(&self.shared, most, true, strategy, deadline)?;
            // At most as many as were asked for.
            let count = end.since(first) as usize;
            let mut sequence = first;
            for message in &rest[..count] {
                self.put(sequence, message);
                sequence = sequence.next();
            }
            Ok(count)
        })
    }
}

impl<T: Message> MpPublisher<T> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(8);",
        |handle| Subscribable<T>: Subscribable::new(handle.shared.inviter_of_publisher()),
        Subscriber<T>
    }
}

impl<T: Message> MpPublisher<T, Lossless> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(8);",
        |handle| Subscribable<T, Lossless>: Subscribable::new(handle.shared.inviter_of_publisher()),
        Subscriber<T, Lossless>
    }
}

impl<T: Message, M: Mode> MpPublisher<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, Publishing>) -> Self {
        Self { shared, mode: core::marker::PhantomData }
    }

    /// Publishes `message` if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full): another publisher has not finished with the slot one lap before or,
    /// on a lossless ring, the slowest subscriber is `capacity − headroom` messages behind.
    /// [`Closed`](TryPublishError::Closed): somebody closed the ring, or, on a lossless ring, nobody is left
    /// to receive. Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless(2);
    /// let mut subscriber = subscribable.subscribe();
    /// assert!(publisher.try_publish(1).is_ok());
    /// assert!(publisher.clone().try_publish(2).is_ok());
    /// assert!(publisher.try_publish(3).unwrap_err().is_full());
    /// assert_eq!(subscriber.try_recv(), Ok(1));
    /// assert!(publisher.try_publish(3).is_ok());
    /// ```
    #[inline]
    pub fn try_publish(&self, message: T) -> Result<(), TryPublishError<T>> {
        self.put_admitted(claim_now(&self.shared, M::LOSSLESS), message)
    }

    /// Publishes `message`. Waits with the [`WaitStrategy`] of the ring, but no longer than `timeout` on the
    /// monotonic clock. A timeout that is too long for the clock means no timeout. A timeout of zero still
    /// publishes if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Timeout`](PublishTimeoutError::Timeout): the slot was not free in time.
    /// [`Closed`](PublishTimeoutError::Closed): somebody closed the ring, or, on a lossless ring, nobody is
    /// left to receive. Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (publisher, subscribable) =
    /// annulus::broadcast::Builder::new(2).headroom(1).mp_lossless().unwrap(); let _subscriber =
    /// subscribable.subscribe(); let timeout = Duration::from_millis(1);
    /// assert!(publisher.publish_timeout('a', timeout).is_ok()); assert_eq!(publisher.publish_timeout('b',
    /// timeout).unwrap_err().into_inner(), 'b');
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_timeout(&self, message: T, timeout: Duration) -> Result<(), PublishTimeoutError<T>> {
        self.publish_until(message, Instant::now().checked_add(timeout))
    }

    /// As [`publish_timeout`](Self::publish_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_timeout`](Self::publish_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_deadline(&self, message: T, deadline: Instant) -> Result<(), PublishTimeoutError<T>> {
        self.publish_until(message, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_until(&self, message: T, deadline: Deadline) -> Result<(), PublishTimeoutError<T>> {
        self.put_admitted(claim_by(&self.shared, 1, M::LOSSLESS, self.shared.strategy, deadline), message)
    }

    /// How many messages all publishers of the ring have published, or are publishing.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.ring.head().claimed().since(self.shared.ring.first())
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.ring.capacity()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, taps, stages and clones. A
    /// [`SubscriberGroup`](crate::broadcast::SubscriberGroup) counts as one, and each paused member of it as
    /// one more. Subscribers may join and leave meanwhile. A [`Subscribable`]
    /// does not count, so somebody may still join when this is 0.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(8);
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
        self.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(8);",
        |publisher| &publisher.shared
    }

    /// Closes the ring for all its publishers, and wakes all threads that wait in it. Subscribers receive
    /// what was published, and what another publisher is just writing, then `Closed`. From now on publishing
    /// fails and gives the message back; `publish` on a lossy ring, which returns nothing, drops it. No
    /// effect on a closed ring.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(1).unwrap();
    /// publisher.clone().close();
    /// assert_eq!(publisher.publish(2).unwrap_err().into_inner(), 2);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&self) {
        self.shared.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.shared.closer()
    }

    observable! {
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// How many messages of a batch may be claimed at once: a part of the ring, so that no publisher waits
    /// for itself, and others find room.
    #[inline]
    fn part(&self) -> usize {
        if mutated!("batch_is_one_claim") { usize::MAX } else { PART.min(self.capacity() / 2) }
    }

    /// [Puts](Self::put) `message` if a sequence was claimed for it. Gives it back where none was.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &self,
        claimed: Result<ClaimedRun, Refusal>,
        message: T,
    ) -> Result<(), E> {
        if_admitted(claimed, message, |ClaimedRun { first, .. }, message| self.put(first, &message))
    }

    /// Writes message `sequence`, which this publisher claimed, and whose slot was left. Wakes the threads
    /// that wait for it.
    #[inline(always)]
    pub(super) fn put(&self, sequence: Sequence, message: &T) {
        // SAFETY: the ring is for many publishers. Nobody else has claimed `sequence`; the writer of the lap
        // before has left the slot, and who claims the next lap waits for the stamp that this write ends
        // with.
        unsafe { self.shared.write(Writers::Many, sequence, message) }.publish();
        if !mutated!("many_wake_nobody") {
            self.shared.published.notify();
        }
    }
}

impl<T: Message, M: Mode> Clone for MpPublisher<T, M> {
    fn clone(&self) -> Self {
        Self::new(self.shared.publisher())
    }
}

impl<T: Message, M: Mode> fmt::Debug for MpPublisher<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpPublisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::super::slot_access::CLAIMS_WITH_A_LOOK;
    use super::*;

    #[test]
    fn a_batch_claims_half_a_ring_at_most() {
        let part = |capacity| crate::broadcast::mp_lossy::<u8>(capacity).0.part();
        assert_eq!([2, 8, 9, 127, 128, 1000].map(part), [1, 4, 4, 63, 64, 64]);
    }

    /// While one writes a part of its batch, another claims the message behind that part.
    #[test]
    #[cfg(feature = "std")]
    fn a_batch_lets_others_in_behind_each_part() {
        let (publisher, _subscribable) = crate::broadcast::mp_lossy::<u64>(2 * PART);
        let head = publisher.shared.ring.head();
        // The second part of the batch ends in the slot of a message that somebody is still writing.
        let stopped = head.claim(1).unwrap();
        let two_parts = 1 + 2 * PART as u64;
        let another = std::thread::scope(|scope| {
            scope.spawn(|| publisher.publish_batch(&[7; 3 * PART]));
            while head.claimed().since(stopped) < two_parts {
                std::thread::yield_now();
            }
            let another = head.claim(1).unwrap();
            publisher.put(stopped, &1);
            publisher.put_when_left(another, &2, wait_for_slot);
            another
        });
        assert_eq!(another, stopped.plus(two_parts));
        assert_eq!(head.claimed(), another.plus(1 + PART as u64));
    }

    /// What another publisher has claimed, and not yet written, is not overwritten a lap later.
    #[test]
    #[cfg(feature = "std")]
    fn who_has_claimed_leaves_the_lap_before_alone() {
        let (publisher, _subscribable) = crate::broadcast::mp_lossy::<u64>(2);
        for verb in [
            (|publisher, message| publisher.publish(message)) as fn(&MpPublisher<u64>, u64),
            |publisher, message| publisher.publish_by(message, WaitStrategy::YieldSpin),
            |publisher, message| publisher.publish_batch(&[message]),
            |publisher, message| publisher.publish_batch_by(&[message], WaitStrategy::YieldSpin),
        ] {
            let stopped = publisher.shared.ring.head().claim(2).unwrap();
            let next = stopped.plus(2);
            let before = publisher.shared.ring.stamp(next);
            std::thread::scope(|scope| {
                let other = scope.spawn(|| verb(&publisher, 7));
                // Until it says that it waits. (One that does not wait is done.)
                while !publisher.shared.looks_first() && !other.is_finished() {
                    std::thread::yield_now();
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
                let waits = publisher.shared.ring.stamp(next) == before && !other.is_finished();
                publisher.put(stopped, &1);
                publisher.put(stopped.next(), &2);
                assert!(waits, "it has overwritten what another had yet to write");
            });
            assert!(publisher.shared.ring.newest(next) == Some(next));
            assert!(publisher.shared.looks_first(), "somebody had to wait");
            publisher.shared.look_no_more(next, 0);
        }
    }

    /// After somebody has waited for a slot that it had claimed, nobody claims one that is not left.
    #[test]
    #[cfg(feature = "std")]
    fn who_looks_first_waits_without_a_claim() {
        let (publisher, _subscribable) = crate::broadcast::mp_lossy::<u64>(2);
        let head = publisher.shared.ring.head();
        for verb in [
            (|publisher, message| publisher.publish(message)) as fn(&MpPublisher<u64>, u64),
            |publisher, message| publisher.publish_by(message, WaitStrategy::YieldSpin),
        ] {
            let stopped = head.claim(2).unwrap();
            publisher.shared.look_first(stopped);
            std::thread::scope(|scope| {
                let others = [3, 4].map(|message| {
                    let publisher = &publisher;
                    scope.spawn(move || verb(publisher, message))
                });
                std::thread::sleep(std::time::Duration::from_millis(5));
                let claimed = head.claimed();
                let is_over = others.iter().any(std::thread::ScopedJoinHandle::is_finished);
                publisher.put(stopped, &1);
                publisher.put(stopped.next(), &2);
                assert!(claimed == stopped.plus(2) && !is_over, "{claimed:?}");
            });
            assert!(head.claimed() == stopped.plus(4));
        }
    }

    /// It is the exception, and comes to an end, also where batches are claimed between.
    #[test]
    fn nobody_looks_first_for_ever() {
        let cases = [(0, 3), (0, 0), (5, 0), ((1 << 20) - 5, 0), (5, 7)];
        for (start, batch) in cases.into_iter().take(if cfg!(miri) { 1 } else { 5 }) {
            let (publisher, _subscribable) =
                crate::broadcast::Builder::new(2).first(start).mp_lossy::<u64>().unwrap();
            let shared = &publisher.shared;
            assert!(!shared.looks_first());
            for message in 0..2 {
                let begun = publisher.published();
                shared.look_first(Sequence::new(start + begun));
                while shared.looks_first() {
                    let published = publisher.published() - begun;
                    assert!(published <= CLAIMS_WITH_A_LOOK + batch + 2, "{batch} in a batch from {start}");
                    publisher.publish_batch(&[message; 7][..batch as usize]);
                    publisher.publish(message);
                }
                assert!(publisher.published() - begun > CLAIMS_WITH_A_LOOK);
            }
        }
    }
}
