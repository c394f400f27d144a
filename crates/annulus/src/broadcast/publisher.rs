//! [`Publisher`]: the only handle that writes to its ring.
//!
//! ```text
//! publish, lossy ring ──────────▶ put
//! publish, lossless ring ─▶ admit: next < limit? ── yes ─▶ put
//!                                   no: wait for a free slot (`slot_access`, `ring/gate`), then put
//!
//! put:  slot.w1 to slot.w3  write the message (`handle`, `ring/slots`)
//!       needs_slow_path?    every few messages: store the head's bound; or closed (`ring/head`)
//!       slot.w4             store the stamp
//!       notify              one look for sleepers (`wait/event_count`)
//! ```

use core::fmt;
#[cfg(feature = "std")]
use std::time::Duration;

use super::await_subscribers::awaits_subscribers;
use super::handle::{Handle, Publishing};
use super::slot_access::{look_for_free_slot, wait_for_free_slot, wait_for_free_slot_by};
use super::subscribable::subscribes;
use super::{Lossless, Lossy, Mode, Subscribable, Subscriber};
use crate::Closer;
use crate::base::sequence::Sequence;
use crate::error::{CapacityError, GiveBack, Refusal, SendError, SendTimeoutError, TrySendError};
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Copied, Store, Strided, Writers};
use crate::sync::seeded;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
use crate::transmit::in_parts;
#[cfg(any(feature = "std", feature = "async"))]
use crate::transmit::room::AwaitRoom;
#[cfg(any(feature = "std", feature = "async"))]
use crate::transmit::room::SoleSender;
use crate::transmit::transmits;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::EventCount;
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm};
use crate::wait::{Deadline, Until, WaitStrategy};

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
    pub(super) sole: SolePublisher<Copied<T>>,
    mode: core::marker::PhantomData<fn() -> M>,
}

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
    /// Returns how many it published: all of them, unless somebody [closes](Self::close) the ring, also while
    /// this call runs. It drops the rest then.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let mut subscriber = subscribable.subscribe();
    /// assert_eq!(publisher.publish_batch(&[1, 2, 3]), 3);
    /// publisher.close();
    /// assert_eq!(publisher.publish_batch(&[4]), 0);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn publish_batch(&mut self, messages: &[T]) -> usize {
        self.put_all(messages)
    }

    /// The next message gets the number `sequence`. The numbers before it that no message has yet are left
    /// out: no message will have them. Every subscriber counts each of them as lagged
    /// ([`Lagged`](crate::LossyTryRecvError::Lagged)), exactly, and one that sleeps is woken to be told. A
    /// subscriber that joins later begins behind them.
    ///
    /// Returns how many numbers were left out. Never goes back: returns 0 if `sequence` is not later than
    /// [`published`](Self::published). No effect on a closed ring: returns 0. If somebody closes the ring at
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
    /// assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
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
        let SolePublisher { shared, next, .. } = &mut self.sole;
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
        self.sole.shared.is_ending()
    }
}

impl<T: Message> Publisher<T, Lossless> {
    /// Publishes `message` to every subscriber. Waits with the [`WaitStrategy`] of the ring while the slowest
    /// subscriber is `capacity − headroom` messages behind. Never waits while there is no subscriber.
    /// Allocates nothing. Takes O(`size_of::<T>()`), and once in half a ring also O(subscribers).
    ///
    /// Do not call it in a closure in which a stage of the same ring processes a message. The followers of
    /// the stage wait for the closure, so in a full ring this would wait for ever. Use
    /// [`try_publish`](Self::try_publish) or `publish_timeout` there.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the message back if nobody is left to receive it (every subscriber is gone, and
    /// every [`Subscribable`] too), or if somebody [closed](Self::close) the
    /// ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || subscriber.iter().sum::<u64>());
    /// for number in 1..=100 {
    ///     publisher.publish(number)?; // waits for the reader
    /// }
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) -> Result<(), SendError<T>> {
        let admitted = self.sole.admit();
        self.put_admitted(admitted, message)
    }

    /// Publishes the message that `make` returns, like [`publish`](Self::publish). `make` runs first: if it
    /// panics, nothing is published, and the ring is unchanged.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// drop(subscribable);
    /// assert_eq!(publisher.publish_with(|| 6 * 7).unwrap_err().into_inner(), 42);
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) -> Result<(), SendError<T>> {
        self.publish(make())
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. A timeout that is
    /// too long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time.
    /// [`Closed`](SendTimeoutError::Closed): as [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::SendTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2]).unwrap();
    /// let error = publisher.publish_timeout(3, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(3));
    /// # drop(subscriber);
    /// ```
    #[cfg(feature = "std")]
    pub fn publish_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.publish_until(message, timeout)
    }

    /// As [`publish`](Self::publish), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_until(1, WaitStrategy::BusySpin)?;
    /// assert_eq!(subscriber.recv(), Ok(1));
    /// # Ok::<(), annulus::SendTimeoutError<i32>>(())
    /// ```
    #[doc(alias = "publish_deadline")]
    #[doc(alias = "publish_with")]
    #[inline]
    pub fn publish_until(&mut self, message: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        let admitted = self.sole.admit_until(until.into());
        self.put_admitted(admitted, message)
    }

    /// Publishes `message` if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the slowest subscriber is `capacity − headroom` messages behind, or a
    /// subscriber that far behind is just joining. [`Closed`](TrySendError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless_with(annulus::Settings::new(4).headroom(2)).unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// assert!(publisher.try_publish(1).is_ok());
    /// assert!(publisher.try_publish(2).is_ok());
    /// assert!(publisher.try_publish(3) == Err(TrySendError::Full(3)), "two of four slots stay free");
    /// assert_eq!(subscriber.try_recv(), Ok(1));
    /// assert!(publisher.try_publish(3).is_ok());
    /// drop((subscriber, subscribable));
    /// assert!(publisher.try_publish(4) == Err(TrySendError::Closed(4)));
    /// ```
    #[inline]
    pub fn try_publish(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let admitted = self.sole.try_admit();
        self.put_admitted(admitted, message)
    }

    /// Publishes all of `messages`, in order. Waits for room as often as necessary. This is the same as
    /// publishing them one by one, but cheaper. The batch may be larger than the ring.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the part that was not published: nobody is left to receive it, or somebody
    /// closed the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[doc(alias = "try_batch_publish")]
    #[doc(alias = "batch_publish")]
    #[inline]
    pub fn publish_batch<'m>(&mut self, messages: &'m [T]) -> Result<(), SendError<&'m [T]>> {
        let strategy = self.sole.shared.strategy;
        self.put_in_free_slots(messages, strategy, None).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`publish_batch`](Self::publish_batch), but gives up after `timeout`. A part of the batch is
    /// published then.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`] gives back the part that was not published.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::SendTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let mut subscriber = subscribable.subscribe();
    /// let error = publisher.publish_batch_timeout(&[1, 2, 3], Duration::ZERO).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(&[3][..]));
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// ```
    #[cfg(feature = "std")]
    pub fn publish_batch_timeout<'m>(
        &mut self,
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
        &mut self,
        messages: &'m [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'m [T]>> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.sole.shared.strategy);
        self.put_in_free_slots(messages, strategy, until.deadline())
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// Whether publishing fails from now on: nobody is left to receive, or somebody [closed](Self::close) the
    /// ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sole.shared.refuses()
    }

    /// Makes sure that the next message may be written, and waits for that. The room stays until it is.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) fn wait_for_room(&mut self, until: Until) -> Result<(), Refusal> {
        self.sole.admit_until(until)
    }
}

#[cfg(feature = "async")]
impl<T: Message> Publisher<T, Lossless> {
    /// Publishes `message` like [`publish`](Self::publish), in a task: the task waits for the slowest
    /// subscriber, not its thread.
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
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || subscriber.iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         publisher.publish_async(number).await?; // waits for the reader
    ///     }
    ///     drop(publisher);
    ///     Ok::<(), annulus::SendError<u64>>(())
    /// })?;
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    pub async fn publish_async(&mut self, message: T) -> Result<(), SendError<T>> {
        let admitted = admitted(&mut self.sole).await;
        self.put_admitted(admitted, message)
    }
}

/// What [`Publisher`] and [`event::Publisher`](super::event::Publisher) are made of.
///
/// Between two looks at the gate it compares two of its own numbers and reads one constant flag. Cold paths
/// take and return values, so that it can live in registers.
pub(super) struct SolePublisher<S: Store> {
    pub(super) shared: Handle<S, Publishing>,
    /// The next sequence to publish; the ring's head is a lower bound of it.
    pub(super) next: Sequence,
    /// Where subscribers are waited for: messages before this one may be written without another look at the
    /// gate.
    limit: Sequence,
}

impl<S: Strided> SolePublisher<S> {
    pub(super) fn new(shared: Handle<S, Publishing>) -> Self {
        let next = shared.first();
        Self { shared, next, limit: next }
    }

    /// Makes sure that the next message may be written, waiting by the strategy of the ring. Never
    /// [`Refusal::Full`].
    #[inline(always)]
    pub(super) fn admit(&mut self) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = wait_for_free_slot(&self.shared, self.next)?;
        }
        Ok(())
    }

    /// As [`admit`](Self::admit), by `strategy`; [`Refusal::Full`] once `deadline` has passed.
    #[inline(always)]
    pub(super) fn admit_by(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = wait_for_free_slot_by(&self.shared, self.next, strategy, deadline)?;
        }
        Ok(())
    }

    /// As [`admit`](Self::admit); [`Refusal::Full`] once the time has passed.
    #[inline(always)]
    pub(super) fn admit_until(&mut self, until: Until) -> Result<(), Refusal> {
        if !self.may_write() {
            let strategy = until.strategy_or(|| self.shared.strategy);
            self.limit = wait_for_free_slot_by(&self.shared, self.next, strategy, until.deadline())?;
        }
        Ok(())
    }

    /// As [`admit`](Self::admit), without waiting.
    #[inline(always)]
    pub(super) fn try_admit(&mut self) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = look_for_free_slot(&self.shared, self.next)?;
        }
        Ok(())
    }

    /// Whether the next message may be written without a look at the gate.
    // Mutants: `with false`: it looks at the gate.
    #[inline(always)]
    fn may_write(&self) -> bool {
        // Mutants: `|| with &&`, `< with >`: it looks at the gate.
        (self.next < self.limit || seeded!("lossless_overtakes")) && !self.shared.is_abandoned()
    }

    /// How many messages have been published.
    #[inline]
    pub(super) fn published(&self) -> u64 {
        self.next.since(self.shared.first())
    }

    /// How many messages may be written without another look at the gate.
    // Mutants: `with 0`, `with 1`: one by one.
    #[inline]
    pub(super) fn free_slots(&self) -> usize {
        usize::try_from(self.limit.since(self.next)).unwrap_or(usize::MAX)
    }
}

/// Makes sure that the next message may be written. The caller writes the message before it waits for
/// anything else. Never [`Refusal::Full`].
#[cfg(feature = "async")]
pub(super) async fn admitted<S: Strided>(sole: &mut SolePublisher<S>) -> Result<(), Refusal> {
    // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
    unsafe { Waiting::new(AwaitRoom(sole)) }.await
}

#[cfg(any(feature = "std", feature = "async"))]
impl<S: Strided> SoleSender for SolePublisher<S> {
    fn released(&self) -> &EventCount {
        &self.shared.released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.try_admit()
    }

    #[cfg(feature = "std")]
    fn strategy(&self) -> WaitStrategy {
        self.shared.strategy
    }
}

impl<T: Message> Publisher<T, Lossless> {
    /// [Puts](Self::put) `message` if it was admitted. Gives it back where it is not published.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &mut self,
        admitted: Result<(), Refusal>,
        message: T,
    ) -> Result<(), E> {
        let put = admitted.and_then(|()| self.put(&message));
        put.map_err(|refusal| E::of(refusal, message))
    }

    /// Writes all of `messages`, or returns what is left and why.
    #[inline]
    fn put_in_free_slots<'m>(
        &mut self,
        messages: &'m [T],
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<(), (&'m [T], Refusal)> {
        in_parts(messages, |rest| {
            self.sole.admit_by(strategy, deadline)?;
            // At least 1: it was admitted.
            let part = &rest[..self.sole.free_slots().clamp(1, rest.len())];
            match self.put_all(part) {
                0 => Err(Refusal::Closed),
                count => Ok(count),
            }
        })
    }
}

/// Messages between two looks for sleepers in a batch.
pub(super) const NOTIFY_EVERY: usize = 64;

impl<T: Message, M: Mode> Publisher<T, M> {
    /// Writes the next message, and wakes the threads that wait for it. On a lossless ring the message was
    /// admitted before. [`Refusal::Closed`] if somebody closed the ring before this message.
    #[inline(always)]
    // Decision 0102: the one way to put a message.
    pub(super) fn put(&mut self, message: &T) -> Result<(), Refusal> {
        // Copied once: after each atomic access the compiler would fetch them from memory anew.
        let SolePublisher { shared: handle, next, .. } = &mut self.sole;
        let (shared, sequence) = (&**handle, *next);
        // SAFETY: the handle keeps the ring alive. The ring is for one publisher, which is this one, is here,
        // and has published all before.
        let written = unsafe { handle.slots.write(Writers::One, sequence, message) };
        if shared.head.needs_slow_path(sequence) {
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
        let (handle, first) = (&self.sole.shared, self.sole.next);
        let (shared, mut next) = (&**handle, first);
        for part in messages.chunks(NOTIFY_EVERY) {
            let before = next;
            for message in part {
                // SAFETY: as in `put`.
                let written = unsafe { handle.slots.write(Writers::One, next, message) };
                let sequence = next;
                if shared.head.needs_slow_path(sequence) {
                    next = shared.publish_slow_path(written.without_slot());
                    if next == sequence {
                        break;
                    }
                } else {
                    written.publish();
                    next = sequence.next();
                }
            }
            if !seeded!("batch_wakes_nobody") {
                shared.published.notify();
            }
            if next.since(before) < part.len() as u64 {
                break;
            }
        }
        self.sole.next = next;
        // At most as many as there are.
        next.since(first) as usize
    }
}

#[cfg(feature = "std")]
impl<T: Message> Publisher<T, Lossless> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe {
            Armed::new(AwaitRoom(self), AwaitRoom::strategy, |AwaitRoom(publisher), found| {
                move |message| publisher.put_admitted(found, message)
            })
        }
    }
}

#[cfg(feature = "std")]
impl<T: Message> WaitsForRoom for Publisher<T, Lossless> {
    fn room(&mut self) -> RoomArm<'_> {
        // SAFETY: as above.
        unsafe { RoomArm::new(AwaitRoom(self), AwaitRoom::strategy) }
    }
}

#[cfg(feature = "std")]
impl<T: Message> SoleSender for Publisher<T, Lossless> {
    fn released(&self) -> &EventCount {
        self.sole.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.sole.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.sole.strategy()
    }
}

/// For the input of a pipeline. It never waits.
#[cfg(feature = "std")]
impl<T: Message> SoleSender for Publisher<T, Lossy> {
    fn released(&self) -> &EventCount {
        self.sole.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        if self.is_closed() { Err(Refusal::Closed) } else { Ok(()) }
    }

    fn strategy(&self) -> WaitStrategy {
        self.sole.strategy()
    }
}

transmits! {
    [T: Message] Publisher<T, Lossless>: T;
    |publisher, message| now: {
        let admitted = publisher.sole.try_admit();
        publisher.put_admitted(admitted, message)
    },
    |until| late: {
        let admitted = publisher.sole.admit_until(until);
        publisher.put_admitted(admitted, message)
    },
    closed: publisher.is_closed(),
    task: publisher.publish_async(message),

    // It waits for nobody.
    [T: Message] Publisher<T, Lossy>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_until| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

impl<T: Message> Publisher<T> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);",
        |handle| Subscribable<T>: Subscribable::new(handle.sole.shared.subscribable_of_publisher()),
        Subscriber<T>
    }
}

impl<T: Message> Publisher<T, Lossless> {
    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);",
        |handle| Subscribable<T, Lossless>: Subscribable::new(handle.sole.shared.subscribable_of_publisher()),
        Subscriber<T, Lossless>
    }
}

impl<T: Message, M: Mode> Publisher<T, M> {
    /// Whether it publishes to the ring of `subscribable`.
    pub(crate) fn is_of(&self, subscribable: &Subscribable<T, M>) -> bool {
        self.sole.shared.is_of_ring_of(&subscribable.shared)
    }

    pub(super) fn new(shared: Handle<Copied<T>, Publishing>) -> Self {
        Self { sole: SolePublisher::new(shared), mode: core::marker::PhantomData }
    }

    /// How many messages have been published, with the numbers that were [left out](Publisher::skip_to).
    /// Messages are numbered from 0, so this is also the number that the next message will get;
    /// `publisher.published() - subscriber.cursor()` says how far a subscriber is behind.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.sole.published()
    }

    /// The number that the next message will get.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    #[inline]
    pub(crate) fn next_sequence(&self) -> u64 {
        self.sole.next.get()
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.sole.shared.capacity()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, taps, stages and clones. A
    /// [`SubscriberGroup`](crate::broadcast::SubscriberGroup) counts as one, and each paused member of it as
    /// one more. Subscribers may join and leave meanwhile. A [`Subscribable`]
    /// does not count, so somebody may still join when this is 0.
    ///
    /// *Between processes*: of a lossless ring, these are the subscribers of all processes that have a seat;
    /// it asks the kernel which of them live, a system call for each. Subscribers of a lossy ring write
    /// nothing that the publisher could see, so subscribers of other processes do not count.
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
        self.sole.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);",
        |publisher| &publisher.sole.shared
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
        self.sole.shared.close_as_publisher();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.sole.shared.closer()
    }

    observable! {
        |handle| stats: handle.sole.shared.stats(),
        observer: handle.sole.shared.observer()
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

#[cfg(test)]
mod tests {
    /// Room that a publisher knows of is no room any more once nobody receives.
    #[test]
    fn known_room_ends_with_the_last_receiver() {
        let (mut publisher, subscribable) = crate::broadcast::lossless(8);
        publisher.publish(1).unwrap();
        assert!(publisher.try_publish(2).is_ok());
        drop(subscribable);
        assert!(publisher.publish(3).is_err() && publisher.try_publish(3).is_err());
        assert_eq!(publisher.published(), 2);
    }
}
