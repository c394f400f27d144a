//! [`MpPublisher`]: one of many handles that write to a ring.
//!
//! ```text
//! publish, lossless ring ─▶ claim (`slot_access`): room at the gate, a slot that was left, then the sequence
//!                        ─▶ put_claimed: write, publish, notify
//!
//! publish, lossy ring ─▶ put ─▶ Put::one:
//!   claim ──▶ slot left by the lap before? ── yes: write
//!               no ──▶ another publisher is at work there? ── no: write    (`Claims::take`)
//!                        yes ──▶ pass over this number, and claim another one
//! ```
//!
//! On a lossless ring each publisher claims sequences whose slots are free, from one counter, and writes as a
//! single publisher does. There is no second counter that must advance in order, because readers look at the
//! stamps. On a lossy ring a publisher waits for nobody: it claims first, and passes over a slot that another
//! one has not left.
// Decision 0146: one algorithm for the publishers of one process and of several.

use core::{fmt, slice};
#[cfg(feature = "std")]
use std::time::Duration;

use super::await_subscribers::awaits_subscribers;
use super::handle::{Handle, Publishing};
#[cfg(any(feature = "std", feature = "async"))]
use super::slot_access::FromHead;
#[cfg(feature = "async")]
use super::slot_access::claimed;
#[cfg(feature = "std")]
use super::slot_access::{AwaitClaim, Claimable, claim_of_one};
use super::slot_access::{ClaimedRun, claim, claim_by, claim_now, claim_until};
use super::subscribable::subscribes;
use super::{Lossless, Lossy, Mode, Subscribable, Subscriber};
use crate::Closer;
use crate::base::sequence::Sequence;
use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError, if_admitted};
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Claimant, Copied, Range, Writers};
use crate::sync::seeded;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
use crate::transmit::in_parts;
use crate::transmit::transmits;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm, fill_claim};
use crate::wait::{Deadline, Until, WaitStrategy};

/// A writing end of a broadcast ring with many publishers, made by [`mp_lossy`](crate::broadcast::mp_lossy)
/// (lossy) or [`mp_lossless`](crate::broadcast::mp_lossless) (lossless).
///
/// It is `Clone`: make a clone for each thread. All subscribers see all messages in one order. Messages of
/// one publisher are in the order in which it published them.
///
/// On a [`Lossy`] ring it waits for nobody. A thread that stops in the middle of a write (because of a
/// debugger, or because the system gives its core to another one) keeps its slots. Subscribers wait for its
/// messages until the others have published a whole ring, and lose them then. Publishers that come to such a
/// slot look for a moment, and then pass over its number, which subscribers count as lagged. Their message
/// comes in the next slot. (Only if stopped threads have all slots of the ring, the message is lost, too, and
/// is counted.)
///
/// On a [`Lossless`] ring its verbs take `&self`, so it can also be shared. It waits for the slowest
/// subscriber, and for a publisher that claimed the same slot one lap before and has not finished. That
/// happens only if others publish a whole ring of messages during one write. It claims nothing meanwhile.
///
/// Dropping the last publisher closes the ring. Subscribers receive what is left, then `Closed`.
#[doc(alias = "Sender")]
pub struct MpPublisher<T, M: Mode = Lossy> {
    // In this order: the place is given up before the ring.
    claims: M::Claims,
    pub(super) shared: Handle<Copied<T>, Publishing>,
}

impl<T: Message> MpPublisher<T> {
    /// Publishes `message` to every subscriber. Waits for nobody; O(`size_of::<T>()`), allocates nothing. It
    /// repeats a step only if another publisher is faster.
    ///
    /// It overwrites the message that came `capacity` messages before. If the publisher of that message is
    /// stopped while it writes it, this passes over the slot: subscribers count one message more as lagged.
    /// Once somebody has [closed](Self::close) the ring, this drops the message.
    /// [`is_closed`](Self::is_closed) says whether the ring is closed.
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// std::thread::scope(|scope| {
    ///     for number in 1..=4 {
    ///         let mut publisher = publisher.clone();
    ///         scope.spawn(move || publisher.publish(number));
    ///     }
    /// });
    /// assert_eq!(subscriber.try_iter().sum::<u64>(), 10);
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) {
        let _ = self.put(&message);
    }

    /// Publishes the message that `make` returns. `make` runs before a sequence number is claimed. So nobody
    /// waits for it if it panics or is slow.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::mp_lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_with(|| 6 * 7);
    /// assert_eq!(subscriber.try_recv(), Ok(42));
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) {
        self.publish(make());
    }

    /// Publishes all of `messages`, in order. This is the same as publishing them one by one, but cheaper: it
    /// claims up to 64 messages at once (an eighth of a smaller ring), and looks for sleepers once for them.
    /// Messages of other publishers may come between. A batch that is larger than the ring overwrites its own
    /// beginning.
    ///
    /// If this thread is stopped inside the call, up to as many messages are waited for, as
    /// [above](MpPublisher).
    ///
    /// Returns how many it published: all of them, unless somebody [closes](Self::close) the ring, also while
    /// this call runs. It drops the rest then.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::mp_lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// assert_eq!(publisher.publish_batch(&[1, 2, 3]), 3);
    /// publisher.close();
    /// assert_eq!(publisher.publish_batch(&[4]), 0);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn publish_batch(&mut self, messages: &[T]) -> usize {
        self.puts().batch(messages)
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, messages that are published from now on
    /// are dropped. A lossy ring without subscribers is not closed: see
    /// [`subscriber_count`](Self::subscriber_count).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_ending()
    }

    /// Publishes `message`; [`Refusal::Closed`] if somebody has closed the ring.
    #[inline(always)]
    pub(super) fn put(&mut self, message: &T) -> Result<(), Refusal> {
        self.puts().one(message)?;
        if !seeded!("many_wake_nobody") {
            self.shared.published.notify();
        }
        Ok(())
    }

    #[inline(always)]
    fn puts(&mut self) -> Put<'_, T> {
        Put { shared: &self.shared, claimant: &mut self.claims }
    }
}

/// A publisher of a ring of [claimants](Writers::Claimants), with what it publishes to.
pub(super) struct Put<'p, T: Message> {
    pub(super) shared: &'p Handle<Copied<T>, Publishing>,
    pub(super) claimant: &'p mut Claimant,
}

/// So many messages of a batch are published before sleepers are woken.
const NOTIFY_EVERY: usize = 64;

impl<T: Message> Put<'_, T> {
    /// Publishes `message`, and wakes nobody; [`Refusal::Closed`] if somebody has closed the ring.
    #[inline(always)]
    pub(super) fn one(&mut self, message: &T) -> Result<(), Refusal> {
        let range = self.claim(1)?;
        if !self.write(range.first(), message) {
            self.pass(range, range.first());
            if self.write_all(slice::from_ref(message)) == 0 {
                return Err(Refusal::Closed);
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn claim(&mut self, most: u64) -> Result<Range, Refusal> {
        self.claimant.claim(most).ok_or_else(|| self.refused())
    }

    /// Writes `message`, as number `sequence`, which this publisher has claimed, unless the slot belongs to
    /// somebody else. Whether it has.
    #[inline(always)]
    // Decision 0146: no prefetch of the slot.
    pub(super) fn write(&self, sequence: Sequence, message: &T) -> bool {
        let is_free = self.has_free_slot(sequence);
        if is_free {
            // SAFETY: the handle keeps the ring alive. The ring is for claimants, and this one has claimed
            // the message and taken its slot. So nobody else writes there: see `Claims`. (A process that
            // writes what it must not can mix up the words of a message, of which any bytes are one:
            // `Copied::over`.)
            unsafe { self.shared.slots.write(Writers::Claimants, sequence, message) }.publish();
        }
        is_free
    }

    /// Whether the slot of message `sequence`, which this publisher has claimed, is free: it was left by the
    /// lap before, or no living publisher writes a message of an earlier lap there.
    #[inline(always)]
    fn has_free_slot(&self, sequence: Sequence) -> bool {
        let Self { shared, claimant } = self;
        // SAFETY: the handle keeps the ring alive, whose publishers claim and wait for nobody.
        let is_left = unsafe { shared.slots.is_left(Writers::Claimants, sequence, shared.capacity()) };
        is_left || claimant.take(sequence)
    }

    /// Of `range`, message `sequence` will not be. Wakes the sleepers, because no other message may come:
    /// somebody closes the ring, or this thread stands still.
    #[cold]
    pub(super) fn pass(&self, range: Range, sequence: Sequence) {
        self.shared.note_missed();
        self.claimant.pass(range, sequence);
        self.shared.published.notify();
    }

    /// Publishes all of `messages`, and wakes the sleepers. Returns how many it published: fewer if somebody
    /// has closed the ring.
    #[inline]
    pub(super) fn batch(&mut self, messages: &[T]) -> usize {
        let mut published = 0;
        for part in messages.chunks(NOTIFY_EVERY) {
            let count = self.write_all(part);
            published += count;
            self.shared.published.notify();
            if count < part.len() {
                break;
            }
        }
        published
    }

    /// Publishes all of `messages`, and wakes nobody. Each gets a number at least, also one that is lost.
    /// Returns how many these are: fewer if somebody has closed the ring.
    #[inline(never)]
    fn write_all(&mut self, messages: &[T]) -> usize {
        let count = messages.len();
        let (mut messages, mut passes_in_a_row) = (messages.iter(), 0);
        let mut next = messages.next();
        while let Some(message) = next {
            // (This one, and those behind it.)
            let left = 1 + messages.len();
            let Ok(range) = self.claim(left as u64) else { return count - left };
            let (mut sequence, mut message) = (range.first(), message);
            while sequence < range.end() {
                if self.write(sequence, message) {
                    passes_in_a_row = if seeded!("fellow_passes_summed") { passes_in_a_row } else { 0 };
                } else {
                    self.pass(range, sequence);
                    passes_in_a_row += 1;
                }
                // Otherwise the message comes in the next slot. One that is given up counts as lagged: its
                // number is the one that was passed over last.
                let is_given_up = passes_in_a_row > self.claimant.claims().most_passes();
                if passes_in_a_row == 0 || is_given_up {
                    passes_in_a_row = 0;
                    next = messages.next();
                    // Behind the last one the range ends, too.
                    let Some(after) = next else { break };
                    message = after;
                }
                sequence = sequence.next();
            }
        }
        count
    }

    /// Nothing can be claimed. Until now a subscriber may have waited for a message that another publisher
    /// passed over, because the intent of this one named it, too: wakes it.
    #[cold]
    fn refused(&self) -> Refusal {
        if !seeded!("fellow_refused_in_silence") {
            self.shared.published.notify();
        }
        Refusal::Closed
    }

    /// For tests and models: writes `message` as number `sequence`, and does not say yet that it is there.
    #[cfg(any(test, annulus_loom))]
    pub(super) fn half(&self, sequence: Sequence, message: &T) -> Option<crate::ring::Written<'_>> {
        // SAFETY: as in `write`.
        self.has_free_slot(sequence)
            .then(|| unsafe { self.shared.slots.write(Writers::Claimants, sequence, message) })
    }
}

/// The most messages that are claimed at once on a lossless ring. Messages of other publishers lie behind
/// them and wait until they are written, so fewer are better. With this many, the cost of the claim is
/// already small.
// Decision 0028: not the whole batch at once.
const PART: usize = 64;

impl<T: Message> MpPublisher<T, Lossless> {
    /// Publishes `message` to every subscriber. Waits with the [`WaitStrategy`] of the ring while the slowest
    /// subscriber is `capacity − headroom` messages behind. Never waits for subscribers while there is none.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the message back if nobody is left to receive it (every subscriber is gone, and
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
    pub fn publish(&self, message: T) -> Result<(), SendError<T>> {
        self.put_admitted(claim(&self.shared, 1), message)
    }

    /// Publishes the message that `make` returns, like [`publish`](Self::publish). `make` runs before a
    /// sequence number is claimed. So nobody waits for it if it panics or is slow.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    #[inline]
    pub fn publish_with(&self, make: impl FnOnce() -> T) -> Result<(), SendError<T>> {
        self.publish(make())
    }

    /// Publishes `message` if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the slowest subscriber is `capacity − headroom` messages behind, or
    /// another publisher has not finished with the slot one lap before.
    /// [`Closed`](TrySendError::Closed): somebody closed the ring, or nobody is left to receive. Both give
    /// the message back.
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
    pub fn try_publish(&self, message: T) -> Result<(), TrySendError<T>> {
        self.put_admitted(claim_now(&self.shared), message)
    }

    /// Publishes `message`. Waits with the [`WaitStrategy`] of the ring, but no longer than `timeout` on the
    /// monotonic clock. A timeout that is too long for the clock means no timeout. A timeout of zero still
    /// publishes if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): the slot was not free in time.
    /// [`Closed`](SendTimeoutError::Closed): somebody closed the ring, or nobody is left to receive. Both
    /// give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let settings = annulus::Settings::new(2).headroom(1);
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless_with(settings).unwrap();
    /// let _subscriber = subscribable.subscribe();
    /// let timeout = Duration::from_millis(1);
    /// assert!(publisher.publish_timeout('a', timeout).is_ok());
    /// assert_eq!(publisher.publish_timeout('b', timeout).unwrap_err().into_inner(), 'b');
    /// ```
    #[cfg(feature = "std")]
    pub fn publish_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.publish_until(message, timeout)
    }

    /// As [`publish`](Self::publish), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    #[inline]
    pub fn publish_until(&self, message: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        self.put_admitted(claim_until(&self.shared, 1, until.into()), message)
    }

    /// Publishes all of `messages`, in order. Waits for room as often as necessary. It publishes parts of 64
    /// messages, or of as many as there is room for. Subscribers see no messages of other publishers within a
    /// part. A batch of up to 64 messages is one part, if it is at most half of `capacity − headroom` and
    /// nobody is in the way. This does not wait until there is room for the whole batch, because other
    /// publishers would take that room again and again.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back what was not published: nobody is left to receive it, or somebody closed
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
    pub fn publish_batch<'m>(&self, messages: &'m [T]) -> Result<(), SendError<&'m [T]>> {
        self.put_in_free_slots(messages, self.shared.strategy, None).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`publish_batch`](Self::publish_batch), but gives up after `timeout`. A part of the batch may be
    /// published then.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`] gives back the part that was not published.
    #[cfg(feature = "std")]
    pub fn publish_batch_timeout<'m>(
        &self,
        messages: &'m [T],
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<&'m [T]>> {
        self.publish_batch_until(messages, timeout)
    }

    /// As [`publish_batch`](Self::publish_batch), but waits as [`Until`] says. A duration is for the whole
    /// batch.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`publish_batch`](Self::publish_batch). Both give the messages that were not published back.
    pub fn publish_batch_until<'m>(
        &self,
        messages: &'m [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'m [T]>> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.shared.strategy);
        self.put_in_free_slots(messages, strategy, until.deadline())
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// Whether publishing will fail from now on, because nobody is left to receive, or because somebody has
    /// [closed](Self::close) the ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.refuses()
    }

    /// How many messages of a batch may be claimed at once: a part of the ring, so that no publisher waits
    /// for itself, and others find room.
    #[inline]
    fn part(&self) -> usize {
        if seeded!("batch_is_one_claim") { usize::MAX } else { PART.min(self.capacity() / 2) }
    }

    /// [Puts](Self::put_claimed) `message` if a sequence was claimed for it. Gives it back where none was.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &self,
        claimed: Result<ClaimedRun, Refusal>,
        message: T,
    ) -> Result<(), E> {
        if_admitted(claimed, message, |ClaimedRun { first, .. }, message| self.put_claimed(first, &message))
    }

    /// Writes message `sequence`, which this publisher claimed, and whose slot was left. Wakes the threads
    /// that wait for it.
    #[inline(always)]
    fn put_claimed(&self, sequence: Sequence, message: &T) {
        // SAFETY: the handle keeps the ring alive, which is for many publishers. Nobody else has claimed
        // `sequence`; the writer of the lap before has left the slot, and the publisher that claims the next
        // lap waits for the stamp that this write ends with.
        unsafe { self.shared.slots.write(Writers::Many, sequence, message) }.publish();
        if !seeded!("many_wake_nobody") {
            self.shared.published.notify();
        }
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
            // Decision 0028: what fits, not the whole part.
            let ClaimedRun { first, end } = claim_by(&self.shared, most, strategy, deadline)?;
            // At most as many as were asked for.
            let count = end.since(first) as usize;
            let mut sequence = first;
            for message in &rest[..count] {
                self.put_claimed(sequence, message);
                sequence = sequence.next();
            }
            Ok(count)
        })
    }
}

#[cfg(feature = "async")]
impl<T: Message> MpPublisher<T, Lossless> {
    /// Publishes `message` like [`publish`](Self::publish), in a task: the task waits for the slowest
    /// subscriber, not its thread. It claims no sequence before its slot is free, so a task that is not
    /// polled holds up nobody.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The
    /// message is dropped with it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the message back: nobody is left to receive it, or somebody closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.publish_async(7)).unwrap();
    /// assert_eq!(subscriber.try_recv(), Ok(7));
    /// ```
    pub async fn publish_async(&self, message: T) -> Result<(), SendError<T>> {
        let claimed = claimed(FromHead, &self.shared).await;
        self.put_admitted(claimed, message)
    }
}

#[cfg(feature = "std")]
impl<T: Message> MpPublisher<T, Lossless> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        let put = |claimed, message| self.put_admitted(claimed, message);
        let claim = claim_of_one(FromHead, &self.shared);
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe { Armed::new(claim, AwaitClaim::strategy, move |_, claimed| fill_claim(claimed, put)) }
    }
}

/// Each is for a publisher, and for a reference to one, because its verbs take `&self`.
macro_rules! publishers {
    ($([$($borrowed:tt)*])*) => {$(
        transmits! {
            [T: Message] $($borrowed)* MpPublisher<T, Lossless>: T;
            |publisher, message| now: {
                let claimed = claim_now(&publisher.shared);
                publisher.put_admitted(claimed, message)
            },
            |until| late: {
                let claimed = claim_until(&publisher.shared, 1, until);
                publisher.put_admitted(claimed, message)
            },
            closed: MpPublisher::<T, Lossless>::is_closed(publisher),
            task: publisher.publish_async(message),
        }

        #[cfg(feature = "std")]
        impl<T: Message> WaitsForRoom for $($borrowed)* MpPublisher<T, Lossless> {
            fn room(&mut self) -> RoomArm<'_> {
                let claimable = Claimable::of(FromHead, &self.shared);
                // SAFETY: the eventcounts are in the ring's shared state, which the handle keeps alive.
                unsafe { RoomArm::new(claimable, Claimable::strategy) }
            }
        }
    )*};
}

publishers! {
    []
    [&]
}

transmits! {
    // It waits for nobody.
    [T: Message] MpPublisher<T, Lossy>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_until| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

impl<T: Message> MpPublisher<T> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(8);",
        |handle| Subscribable<T>: Subscribable::new(handle.shared.subscribable_of_publisher()),
        Subscriber<T>
    }
}

impl<T: Message> MpPublisher<T, Lossless> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(8);",
        |handle| Subscribable<T, Lossless>: Subscribable::new(handle.shared.subscribable_of_publisher()),
        Subscriber<T, Lossless>
    }
}

impl<T: Message, M: Mode> MpPublisher<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, Publishing>, claims: M::Claims) -> Self {
        Self { claims, shared }
    }

    /// How many messages all publishers of the ring have published, or are publishing.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.head.claimed().since(self.shared.first())
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
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
}

/// For models: a publisher that goes no further for now.
#[cfg(annulus_loom)]
impl<T: Message> MpPublisher<T> {
    /// After it has claimed a message.
    #[doc(hidden)]
    pub fn stands_still_with_a_claim(&mut self) {
        self.puts().claim(1).unwrap();
    }
}

impl<T: Message, M: Mode> Clone for MpPublisher<T, M> {
    fn clone(&self) -> Self {
        Self::new(self.shared.publisher(), self.claims.clone())
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::cell::RefCell;
    use core::mem::MaybeUninit;

    use super::*;
    use crate::message::encoded::Encoded;
    use crate::message::schema::Schema;
    use crate::{LossyTryRecvError, TryRecvError};

    /// All that is there: what was received, and how many were lost.
    fn drain(subscriber: &mut Subscriber<u64>) -> (Vec<u64>, u64) {
        let (mut received, mut lost) = (Vec::new(), 0);
        loop {
            match subscriber.try_recv_or_lag() {
                Ok(message) => received.push(message),
                Err(LossyTryRecvError::Lagged { skipped }) => lost += skipped,
                Err(_) => return (received, lost),
            }
        }
    }

    /// A publisher stands still after its claim, or in the middle of a message. The other one publishes,
    /// alone on its thread: if it waited, this would not end. Subscribers get the newest messages, and count
    /// all others. When the first one goes on, nothing is torn, and nothing comes twice.
    #[test]
    fn publisher_that_stands_still_holds_up_nobody() {
        for (capacity, half, batch) in [2, 3, 8, 16]
            .into_iter()
            .flat_map(|capacity| [(capacity, false, 1), (capacity, true, 1), (capacity, true, 100)])
        {
            let case = (capacity, half, batch);
            let (publisher, subscribable) = crate::broadcast::mp_lossy::<u64>(capacity);
            let mut stopped = publisher.clone();
            let mut publisher = publisher;
            let mut subscriber = subscribable.subscribe();
            publisher.publish(0);
            let mut puts = stopped.puts();
            let sequence = puts.claim(1).unwrap().first();
            let written = if half { puts.half(sequence, &1) } else { None };
            assert_eq!(written.is_some(), half);

            let messages: Vec<u64> = (2..2 + 5 * capacity as u64).collect();
            messages.chunks(batch).for_each(|part| assert_eq!(publisher.publish_batch(part), part.len()));
            let (received, lost) = drain(&mut subscriber);
            assert_eq!((received.len() as u64 + lost), publisher.published(), "{case:?}");
            let newest = &messages[messages.len() - (capacity - 1)..];
            assert!(received.ends_with(newest), "{received:?} in {case:?}");

            // It goes on: too late for its message.
            match written {
                Some(written) => written.publish(),
                None => assert!(puts.write(sequence, &1)),
            }
            for message in 1000..1000 + 3 * capacity as u64 {
                let publisher = if message % 2 == 0 { &mut publisher } else { &mut stopped };
                let before = publisher.published();
                publisher.publish(message);
                assert_eq!(drain(&mut subscriber), ([message].into(), 0), "{case:?}");
                assert_eq!(publisher.published(), before + 1, "nothing is passed over any more");
            }
            drop((publisher, stopped));
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
        }
    }

    /// Each slot belongs to a publisher that stands still. A message is lost then, and counted.
    #[test]
    fn message_without_a_slot_is_counted() {
        let (mut publisher, subscribable) = crate::broadcast::mp_lossy::<u64>(4);
        let mut subscriber = subscribable.subscribe();
        let mut stopped = [(); 4].map(|()| publisher.clone());
        let ranges = stopped.each_mut().map(|publisher| publisher.puts().claim(1).unwrap());
        publisher.publish(7);
        let (received, lost) = drain(&mut subscriber);
        assert_eq!((received, lost), (Vec::new(), publisher.published()));
        for (publisher, range) in stopped.iter_mut().zip(ranges) {
            assert!(publisher.puts().write(range.first(), &1));
        }
        publisher.publish(8);
        assert_eq!(drain(&mut subscriber), ([8].into(), 0));
    }

    std::thread_local! {
        /// What the next message of that number closes.
        static CLOSED_BY: RefCell<Option<(u64, Closer)>> = const { RefCell::new(None) };
    }

    /// A message that closes a ring while it is written.
    #[derive(Clone, Copy)]
    struct Closing(u64);

    impl Message for Closing {
        const SCHEMA: &'static Schema = u64::SCHEMA;
    }

    // SAFETY: a number, of which any bits are a value.
    unsafe impl Encoded for Closing {
        type Wire = u64;

        const ANY_BITS: bool = true;

        unsafe fn is_value(_: *const u8) -> bool {
            true
        }

        fn encode<'a>(&'a self, _: &'a mut MaybeUninit<u64>) -> &'a u64 {
            let closed = CLOSED_BY.with_borrow_mut(|closed| closed.take_if(|(number, _)| *number == self.0));
            if let Some((_, closer)) = closed {
                closer.close();
            }
            &self.0
        }

        unsafe fn decode(wire: *const u64) -> Self {
            // SAFETY: the caller's promise.
            Self(unsafe { wire.read() })
        }
    }

    /// Somebody closes the ring inside a batch: it says how many messages are published, and no other is.
    #[test]
    fn batch_that_meets_a_close_says_how_many_it_published() {
        fn says(
            closer: Closer,
            mut subscriber: Subscriber<Closing>,
            mut publish: impl FnMut(&[Closing]) -> usize,
        ) {
            assert_eq!(publish(&[Closing(0); 3]), 3);
            let batch: Vec<_> = (1..=200).map(Closing).collect();
            CLOSED_BY.set(Some((100, closer)));
            let count = publish(&batch);
            assert!((99..=108).contains(&count), "{count}");
            assert_eq!(publish(&batch), 0);
            let mut last = 0;
            while let Ok(Closing(number)) = subscriber.try_recv() {
                last = number;
            }
            assert_eq!((last, subscriber.cursor()), (count as u64, 3 + count as u64));
        }
        let (mut publisher, subscribable) = crate::broadcast::lossy(64);
        says(publisher.closer(), subscribable.subscribe(), |batch| publisher.publish_batch(batch));
        let (mut publisher, subscribable) = crate::broadcast::mp_lossy(64);
        says(publisher.closer(), subscribable.subscribe(), |batch| publisher.publish_batch(batch));
    }

    /// Each message of a batch looks for a free slot as often as one that is alone.
    #[test]
    fn message_behind_one_that_is_lost_looks_as_often() {
        let (mut publisher, _subscribable) = crate::broadcast::mp_lossy::<u64>(4);
        let mut stopped = [(); 4].map(|()| publisher.clone());
        let _ranges = stopped.each_mut().map(|publisher| publisher.puts().claim(1).unwrap());
        let mut numbers_of = |messages: &[u64]| {
            let before = publisher.published();
            publisher.publish_batch(messages);
            publisher.published() - before
        };
        let one = numbers_of(&[7]);
        assert!(one > 4);
        assert_eq!(numbers_of(&[7; 5]), 5 * one);
    }

    /// The last publisher leaves while another's message is missing for ever: the ring ends all the same.
    #[test]
    fn ring_ends_behind_what_was_passed_over() {
        let (mut publisher, subscribable) = crate::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let mut stopped = publisher.clone();
        let range = stopped.puts().claim(1).unwrap();
        publisher.publish_batch(&[1, 2, 3]);
        drop(publisher);
        assert_eq!(drain(&mut subscriber).0, [3]);
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty), "one publisher is left");
        assert!(stopped.puts().write(range.first(), &0));
        drop(stopped);
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    }

    /// A publisher has announced a message that another one claims and passes over, and is refused. Until
    /// then a subscriber waits for that message.
    #[cfg(feature = "async")]
    #[test]
    fn publisher_that_is_refused_wakes_those_it_held_up() {
        use alloc::sync::Arc;
        use core::pin::Pin;
        use core::task::{Context, Poll};

        use crate::RecvError;
        use crate::wait::Woken;

        let (publisher, subscribable) = crate::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let [mut owner, mut slower] = [(); 2].map(|()| publisher.clone());
        let range = owner.puts().claim(1).unwrap();
        slower.claims.announce(range);
        publisher.close();
        owner.puts().pass(range, range.first());

        let woken = Arc::new(Woken::default());
        let mut received = subscriber.recv_async();
        let mut poll = || Pin::new(&mut received).poll(&mut Context::from_waker(&woken.waker()));
        assert_eq!(poll(), Poll::Pending, "the slower one may be about to write it");
        slower.publish(7);
        assert_eq!(woken.count(), 1);
        assert_eq!(poll(), Poll::Ready(Err(RecvError::CLOSED)));
    }
}
