//! [`FellowPublisher`]: one of several processes that publish to a ring, lossy or lossless.
// Decision 0140: a range has one claim, and the intent of each place says which publisher has it.
// Decision 0168: room before the claim; what the dead have claimed is left out.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::time::Duration;

use super::await_subscribers::awaits_subscribers;
use super::handle::{Handle, Publishing, publisher_of_others};
use super::mp_publisher::Put;
use super::ring_state::RingState;
#[cfg(feature = "async")]
use super::slot_access::claimed;
#[cfg(feature = "std")]
use super::slot_access::{AwaitClaim, Claimable, claim_of_one};
use super::slot_access::{ClaimedRun, claim_as, claim_now_as};
use super::{Lossless, Lossy, Mode};
use crate::Closer;
use crate::base::common::Common;
use crate::base::sequence::Sequence;
use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError, if_admitted};
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Claimant, Claims, Copied, Writers};
use crate::sync::seeded;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
use crate::transmit::{in_parts, transmits};
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm, fill_claim};
use crate::wait::{Deadline, Until, WaitStrategy};

/// One of several publishers of a ring between processes, which is lossy or lossless.
///
/// See [`shm::mp_broadcast`](crate::shm::mp_broadcast) for what it promises, and for examples.
///
/// It is the only handle of its place. So it has no clone: join
/// again for another thread. All subscribers see all messages in one order. The messages of one publisher are
/// in the order in which it published them.
///
/// On a [`Lossy`] ring it waits for nobody. On a [`Lossless`] one it waits for the slowest subscriber that
/// has a seat, and for a publisher that claimed the same slot one lap before, is alive, and has not finished.
/// It claims nothing meanwhile.
#[cfg_attr(annulus_loom, allow(rustdoc::broken_intra_doc_links))]
pub struct FellowPublisher<T, M: Mode = Lossy> {
    // In this order: the place is given up last.
    leave: Leave,
    shared: Handle<Copied<T>, Publishing>,
    mode: PhantomData<fn() -> M>,
    /// What it does in its place.
    claimant: Claimant,
    /// The lock of the place.
    _lock: Box<dyn Any + Send + Sync>,
}

/// Leaves the place, and says whether the ring ends with it.
type Leave = Box<dyn Fn() -> bool + Send + Sync>;

impl<T: Message, M: Mode> FellowPublisher<T, M> {
    /// Of a ring with these claims, by the thread that has just got the lock of `place`.
    pub(super) fn new(
        shared: Common<RingState<Copied<T>>>,
        claims: Arc<Claims>,
        place: usize,
        leave: Leave,
        lock: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let claimant = Claimant::new(claims, place, shared.first());
        // fellow.next9.
        if claimant.begin() {
            shared.published.notify();
        }
        Self { leave, shared: publisher_of_others(shared), mode: PhantomData, claimant, _lock: lock }
    }
}

impl<T: Message> FellowPublisher<T> {
    /// Publishes `message` to every subscriber. Waits for nobody; O(`size_of::<T>()`), allocates nothing. It
    /// repeats a step only if another publisher is faster.
    ///
    /// It overwrites the message that came `capacity` messages before. If the process of that one's publisher
    /// is gone, it asks the kernel, which takes a system call. If that process lives and does not go on with
    /// its write, this passes over the slot: subscribers count one message more as lagged.
    ///
    /// Once somebody has [closed](Self::close) the ring, this drops the message. If each slot of the ring
    /// belongs to a process that is stopped, the message is lost: subscribers count it as lagged.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(42);
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) {
        let _ = self.put(&message);
    }

    /// Publishes the message that `make` returns. `make` runs before anything is claimed. So nobody waits for
    /// it if it panics or is slow.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish_with(|| 6 * 7);
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) {
        self.publish(make());
    }

    /// Publishes all of `messages`, in order. This is the same as publishing them one by one, but cheaper: it
    /// claims up to 64 messages at once (an eighth of a smaller ring), and looks for sleepers once for them.
    /// Messages of other publishers may come between. A batch may be larger than the ring.
    ///
    /// If this process ends or is stopped inside the call, up to as many messages are lost, or waited for.
    ///
    /// Returns how many it published: all of them, unless somebody [closes](Self::close) the ring, also while
    /// this call runs. It drops the rest then.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// assert_eq!(publisher.publish_batch(&[1, 2, 3]), 3);
    /// publisher.close();
    /// assert_eq!(publisher.publish_batch(&[4]), 0);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_batch(&mut self, messages: &[T]) -> usize {
        self.puts().batch(messages)
    }

    /// Publishes `message`; [`Refusal::Closed`] if somebody has closed the ring.
    #[inline(always)]
    pub(super) fn put(&mut self, message: &T) -> Result<(), Refusal> {
        self.puts().one(message)?;
        if !seeded!("fellow_wakes_nobody") {
            self.shared.published.notify_across();
        }
        Ok(())
    }

    #[inline(always)]
    fn puts(&mut self) -> Put<'_, T> {
        Put { shared: &self.shared, claimant: &mut self.claimant }
    }
}

impl<T: Message> FellowPublisher<T, Lossless> {
    /// Publishes `message` to every subscriber that has a seat. Waits with the
    /// [`WaitStrategy`] of the ring while the slowest of them is `capacity − headroom`
    /// messages behind, or while a publisher that lives has not finished the message that came `capacity`
    /// messages before. Never waits for subscribers while nobody has a seat. Once there is room, it takes
    /// O(`size_of::<T>()`), and repeats a step only if another publisher is faster.
    ///
    /// Subscribers and publishers whose processes are gone are not waited for: it asks the kernel, a system
    /// call for each 10 to 20 ms, or each 50 ms while it sleeps. A process that is stopped (`SIGSTOP`) is
    /// alive.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the message back: somebody has [closed](Self::close) the ring, also while this
    /// call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
    /// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// publisher.publish(42).unwrap();
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) -> Result<(), SendError<T>> {
        let claimed = match self.claim_now() {
            Err(Refusal::Full) => self.claim(1, None, None),
            claimed => claimed,
        };
        self.put_admitted(claimed, message)
    }

    /// Publishes the message that `make` returns, like [`publish`](Self::publish). `make` runs before
    /// anything is claimed. So nobody waits for it if it panics or is slow.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) -> Result<(), SendError<T>> {
        self.publish(make())
    }

    /// Publishes `message` if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the slowest subscriber that has a seat is `capacity − headroom` messages
    /// behind, or another publisher has not finished with the slot one lap before.
    /// [`Closed`](TrySendError::Closed): somebody closed the ring. Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(2));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
    /// let mut other = mp_broadcast::lossless_publisher::<u64>(&invitation)?;
    /// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// assert!(publisher.try_publish(1).is_ok() && other.try_publish(2).is_ok());
    /// assert!(publisher.try_publish(3).unwrap_err().is_full());
    /// assert_eq!(subscriber.try_recv(), Ok(1));
    /// assert!(publisher.try_publish(3).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn try_publish(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let claimed = self.claim_now();
        self.put_admitted(claimed, message)
    }

    /// Publishes `message`. Waits with the [`WaitStrategy`] of the ring, but no longer
    /// than `timeout` on the monotonic clock. A timeout that is too long for the clock means no timeout. A
    /// timeout of zero still publishes if this takes no waiting.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): the slot was not free in time.
    /// [`Closed`](SendTimeoutError::Closed): somebody closed the ring. Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    /// use std::time::Duration;
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(2).headroom(1));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
    /// let _subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// let timeout = Duration::from_millis(1);
    /// assert!(publisher.publish_timeout(1, timeout).is_ok());
    /// assert_eq!(publisher.publish_timeout(2, timeout).unwrap_err().into_inner(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
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
    #[inline]
    pub fn publish_until(&mut self, message: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        let claimed = self.claim_until(until.into());
        self.put_admitted(claimed, message)
    }

    /// Publishes all of `messages`, in order. Waits for room as often as necessary. It publishes parts of up
    /// to 64 messages (an eighth of a smaller ring), or of as many as there is room for. Subscribers see no
    /// messages of other publishers within a part. The batch may be larger than the ring.
    ///
    /// If this process ends inside the call, a part that it was writing is received in part, in any places,
    /// and the rest of that part is left out. Parts before it are received.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back what was not published: somebody closed the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
    /// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_batch<'m>(&mut self, messages: &'m [T]) -> Result<(), SendError<&'m [T]>> {
        self.put_in_room(messages, None, None).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`publish_batch`](Self::publish_batch), but gives up after `timeout`. A part of the batch may be
    /// published then.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`] gives back the messages that were not published.
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
    /// [`publish_batch`](Self::publish_batch). Both give back the messages that were not published.
    pub fn publish_batch_until<'m>(
        &mut self,
        messages: &'m [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'m [T]>> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.shared.strategy);
        self.put_in_room(messages, Some(strategy), until.deadline())
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// How many subscribers of all processes have a seat now. It asks the kernel which of them live, a system
    /// call for each. Lossy subscribers do not count.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);",
        |publisher| &publisher.shared
    }

    fn claim_now(&mut self) -> Result<ClaimedRun, Refusal> {
        claim_now_as(&mut self.claimant, &self.shared)
    }

    /// Never [`Refusal::Full`] without a deadline.
    #[cold]
    #[inline(never)]
    fn claim(
        &mut self,
        most: u64,
        strategy: Option<WaitStrategy>,
        deadline: Deadline,
    ) -> Result<ClaimedRun, Refusal> {
        let strategy = strategy.unwrap_or(self.shared.strategy);
        claim_as(&mut self.claimant, &self.shared, most, strategy, deadline)
    }

    fn claim_until(&mut self, until: Until) -> Result<ClaimedRun, Refusal> {
        let strategy = until.strategy_or(|| self.shared.strategy);
        self.claim(1, Some(strategy), until.deadline())
    }

    /// [Puts](Self::put_claimed) `message` if a number was claimed for it. Gives it back where none was.
    #[inline(always)]
    fn put_admitted<E: GiveBack<T>>(
        &mut self,
        claimed: Result<ClaimedRun, Refusal>,
        message: T,
    ) -> Result<(), E> {
        if_admitted(claimed, message, |ClaimedRun { first, .. }, message| {
            self.put_claimed(first, &message);
            self.wake();
        })
    }

    /// Writes message `sequence`, which this publisher has claimed in a slot that has room.
    #[inline(always)]
    fn put_claimed(&self, sequence: Sequence, message: &T) {
        // SAFETY: the handle keeps the ring alive, which is for claimants. This one has claimed the message,
        // and nobody else writes to its slot: see `ring/claims/room.rs`. (A process that writes what it must
        // not can mix up the words of a message, of which any bytes are one: `Copied::over`.)
        unsafe { self.shared.slots.write(Writers::Claimants, sequence, message) }.publish();
    }

    #[inline(always)]
    fn wake(&self) {
        if !seeded!("fellow_wakes_nobody") {
            self.shared.published.notify_across();
        }
    }

    /// Writes all of `messages`, or returns what is left and why.
    fn put_in_room<'m>(
        &mut self,
        messages: &'m [T],
        strategy: Option<WaitStrategy>,
        deadline: Deadline,
    ) -> Result<(), (&'m [T], Refusal)> {
        in_parts(messages, |rest| {
            let ClaimedRun { first, end } = self.claim(rest.len() as u64, strategy, deadline)?;
            // At most as many as were asked for.
            let count = end.since(first) as usize;
            let mut sequence = first;
            for message in &rest[..count] {
                self.put_claimed(sequence, message);
                sequence = sequence.next();
            }
            self.wake();
            Ok(count)
        })
    }
}

#[cfg(feature = "async")]
impl<T: Message> FellowPublisher<T, Lossless> {
    /// Publishes `message` like [`publish`](Self::publish), in a task: the task waits, not its thread. It
    /// claims nothing before there is room, so a task that is not polled holds up nobody.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The
    /// message is dropped with it.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
    /// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// pollster::block_on(publisher.publish_async(7)).unwrap();
    /// assert_eq!(subscriber.try_recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn publish_async(&mut self, message: T) -> Result<(), SendError<T>> {
        let claimed = claimed(&mut self.claimant, &self.shared).await;
        self.put_admitted(claimed, message)
    }
}

#[cfg(feature = "std")]
impl<T: Message> FellowPublisher<T, Lossless> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        let Self { shared, claimant, .. } = self;
        let shared = &*shared;
        let claim = claim_of_one(claimant, shared);
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe {
            Armed::new(claim, AwaitClaim::strategy, move |_, claimed| {
                fill_claim(claimed, move |claimed: Result<ClaimedRun, Refusal>, message| {
                    if_admitted(claimed, message, |ClaimedRun { first, .. }, message| {
                        // SAFETY: as in `put_claimed`.
                        shared.slots.write(Writers::Claimants, first, &message).publish();
                        shared.published.notify_across();
                    })
                })
            })
        }
    }
}

#[cfg(feature = "std")]
impl<T: Message> WaitsForRoom for FellowPublisher<T, Lossless> {
    fn room(&mut self) -> RoomArm<'_> {
        let claimable = Claimable::of(&mut self.claimant, &self.shared);
        // SAFETY: the eventcounts are in the ring's shared state, which the handle keeps alive.
        unsafe { RoomArm::new(claimable, Claimable::strategy) }
    }
}

impl<T: Message, M: Mode> FellowPublisher<T, M> {
    /// Whether somebody has [closed](Self::close) the ring. If so, messages that are published from now on
    /// are dropped, or given back on a lossless ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_ending()
    }

    /// Closes the ring for all its publishers, in all processes. Subscribers receive what was published, and
    /// what another publisher is just writing, then `Closed`. No effect on a closed ring.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let other = mp_broadcast::publisher::<u64>(&invitation)?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(1);
    /// other.close();
    /// assert!(publisher.is_closed());
    /// publisher.publish(2);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.shared.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.shared.closer()
    }

    /// How many messages all publishers of the ring have published, or are publishing, with those that were
    /// passed over, or claimed by a publisher that died.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.head.claimed().since(self.shared.first())
    }

    /// How many messages the ring holds: the number given to its builder.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// Which place of the ring it has: 0 is the first. See [`Places`](crate::shm::mp_broadcast::Places).
    #[cfg_attr(annulus_loom, allow(rustdoc::broken_intra_doc_links))]
    #[must_use]
    pub fn place(&self) -> usize {
        self.claimant.place()
    }

    /// What the memory of the ring's slots is like now. Asks the kernel: see
    /// [`Placement`](crate::memory::Placement).
    #[must_use]
    pub fn placement(&self) -> crate::memory::Placement {
        self.shared.block().placement()
    }

    observable! {
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }
}

/// For models: the process of a publisher ends in the middle of a publish.
#[cfg(annulus_loom)]
impl<T: Message> FellowPublisher<T> {
    /// After it has claimed messages.
    #[doc(hidden)]
    pub fn dies_with_a_claim(mut self, count: u64) {
        self.puts().claim(count).unwrap();
        self.dies();
    }

    /// After it has written a message, and before it says that this is there.
    #[doc(hidden)]
    pub fn dies_with_a_half(mut self, message: &T) {
        let range = self.puts().claim(1).unwrap();
        let _ = self.puts().half(range.first(), message);
        self.dies();
    }
}

#[cfg(annulus_loom)]
impl<T: Message> FellowPublisher<T, Lossless> {
    /// After it has claimed messages, as many of `count` as have room; and has written the first of them, if
    /// that is there, without saying so.
    #[doc(hidden)]
    pub fn dies_in_room(mut self, count: u64, half: Option<&T>) {
        use super::slot_access::Claiming;
        let claimed = Claiming::try_claim(&mut &mut self.claimant, &self.shared, count);
        if let (Ok(ClaimedRun { first, .. }), Some(message)) = (claimed, half) {
            // SAFETY: as in `put_claimed`.
            let _ = unsafe { self.shared.slots.write(Writers::Claimants, first, message) };
        }
        self.dies();
    }
}

#[cfg(annulus_loom)]
impl<T: Message, M: Mode> FellowPublisher<T, M> {
    /// Its lock is given up, as the kernel does that, and nothing else is done.
    fn dies(mut self) {
        self.leave = Box::new(|| false);
    }
}

transmits! {
    [T: Message] FellowPublisher<T, Lossless>: T;
    |publisher, message| now: {
        let claimed = publisher.claim_now();
        publisher.put_admitted(claimed, message)
    },
    |until| late: {
        let claimed = publisher.claim_until(until);
        publisher.put_admitted(claimed, message)
    },
    closed: publisher.is_closed(),
    task: publisher.publish_async(message),

    // It waits for nobody.
    [T: Message] FellowPublisher<T>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_until| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

impl<T, M: Mode> Drop for FellowPublisher<T, M> {
    fn drop(&mut self) {
        self.claimant.claims().decide_if_closed();
        if (self.leave)() {
            self.shared.close();
        }
    }
}

impl<T: Message, M: Mode> fmt::Debug for FellowPublisher<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FellowPublisher")
            .field("place", &self.place())
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, target_os = "linux", not(miri), not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::shm::{Shared, WhenGone, mp_broadcast};
    use crate::{RecvError, Settings};

    /// Between the leave of the last publisher and the close that follows it, a subscriber finds that nobody
    /// is left, and nobody has died.
    #[test]
    fn publisher_that_is_about_to_close_has_not_died() {
        let builder = mp_broadcast::Builder::new(Settings::new(4)).when_no_publisher(WhenGone::Close);
        let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>().unwrap();
        let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        publisher.publish(1);
        let leave = core::mem::replace(&mut publisher.leave, Box::new(|| false));
        assert!(leave(), "the ring ends with it");
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Err(RecvError::CLOSED)));
    }
}
