//! [`SubscriberGroup`]: several subscribers on one thread that share each read of the ring.
//!
//! Members at the same message share one subscriber, the *lead*. A receive moves only the lead, so it costs
//! the same for one member as for a thousand. A member that pauses gets a subscriber of its own at that
//! message, and gives it up when it has caught up with the lead again.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::iter::TryIter;
use super::{Lossy, Mode, Subscriber, Unstaged};
use crate::base::sequence::Sequence;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, if_there};
use crate::message::Message;
use crate::observer::observable;
use crate::receive::{Iter, Numbered, Receive, Waitable};
use crate::sync::{AtomicU64, seeded, unlikely};
#[cfg(feature = "async")]
use crate::wait::Streaming;
use crate::wait::{EndMark, EventCount, Look, Source, Until, WaitStrategy, look_now, own_strategy};

/// `N` subscribers of one ring on one thread, which reads each message once for all of them. Made by
/// [`subscribe_group`](crate::broadcast::Subscribable::subscribe_group).
///
/// The subscribers are called *members*. All members begin *aligned*: each receive of the group is a receive
/// of every aligned member, and reads the ring once. A member may [`pause`](Self::pause). It then keeps its
/// position while the others go on, and on a lossy ring it may lag alone. It catches up by
/// [`try_recv_member`](Self::try_recv_member). When it has reached the position of the group, it is aligned
/// again.
///
/// Members are numbered from 0. Each has counters of its own. On a lossless ring publishers wait for the
/// slowest member, even if it is paused.
///
/// ```
/// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
/// let mut group = subscribable.subscribe_group::<3>();
/// publisher.publish_batch(&[1, 2]);
/// assert_eq!(group.try_recv(), Ok(1)); // for members 0, 1 and 2
///
/// group.pause(2);
/// assert_eq!(group.try_recv(), Ok(2)); // for members 0 and 1
/// assert_eq!((group.aligned_count(), group.total_received(2)), (2, 1));
///
/// assert_eq!(group.try_recv_member(2), Ok(2)); // catches up
/// assert_eq!(group.aligned_count(), 3);
/// ```
pub struct SubscriberGroup<T, const N: usize, M: Mode = Lossy> {
    /// Where the aligned members are, and where all members began.
    pub(super) lead: Subscriber<T, M>,
    /// How many are aligned.
    aligned: usize,
    /// Behind a pointer, so that the lead may live in registers.
    members: Box<[Member<T, M>]>,
}

/// One member.
struct Member<T, M: Mode> {
    /// The messages that it received detached from the lead, less those that the lead received without it …
    received_detached: u64,
    /// … and the same for those that it lost. Both wrap: only their sum with the lead's counters means
    /// something.
    lagged_detached: u64,
    /// Its own subscriber, while it is not aligned.
    detached: Option<Detached<T, M>>,
}

/// A member on its own.
struct Detached<T, M: Mode> {
    subscriber: Subscriber<T, M>,
    /// The lead's counters when it left.
    received_before: u64,
    lagged_before: u64,
}

impl<T: Message, const N: usize, M: Unstaged> SubscriberGroup<T, N, M> {
    const NOT_EMPTY: () = assert!(N > 0, "a group has at least one member");

    pub(super) fn new(lead: Subscriber<T, M>) -> Self {
        let () = Self::NOT_EMPTY;
        let members =
            (0..N).map(|_| Member { received_detached: 0, lagged_detached: 0, detached: None }).collect();
        Self { lead, aligned: N, members }
    }

    /// Receives the next message for all aligned members. Waits for it with the [`WaitStrategy`] of the ring.
    /// Goes on after a lag.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the message.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.someone_is_aligned();
        self.lead.recv()
    }

    /// Receives the next message for all aligned members. Never waits. Goes on after a lag, which is counted
    /// for each aligned member. Costs as much as [`Subscriber::try_recv`], whatever `N` is.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::try_recv`]. Also `Empty` if no member is aligned.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if unlikely(self.aligned == 0) {
            return Err(TryRecvError::Empty);
        }
        self.lead.try_recv()
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::recv_timeout`].
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[cfg(feature = "std")]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_timeout(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_until(until)
    }

    /// Receives up to `buffer.len()` messages for all aligned members, like [`Subscriber::try_recv_batch`].
    /// Never waits. Returns 0 if no member is aligned.
    pub fn try_recv_batch(&mut self, buffer: &mut [T]) -> usize {
        if self.aligned == 0 { 0 } else { self.lead.try_recv_batch(buffer) }
    }

    /// Waits for a message like [`recv`](Self::recv). Then receives it and the messages behind it into the
    /// front of `buffer`, for all aligned members. Returns how many: at least one, or 0 if `buffer` is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the messages.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut buffer = [0; 8];
    /// assert_eq!(group.recv_batch(&mut buffer), Ok(3));
    /// assert_eq!(buffer[..3], [1, 2, 3]);
    /// assert_eq!(group.total_received(2), 3);
    /// ```
    pub fn recv_batch(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        self.someone_is_aligned();
        self.lead.recv_batch(buffer)
    }

    /// As [`recv_batch`](Self::recv_batch), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    #[cfg(feature = "std")]
    pub fn recv_batch_timeout(
        &mut self,
        buffer: &mut [T],
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_batch_until(buffer, timeout)
    }

    /// As [`recv_batch`](Self::recv_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_batch_until(
        &mut self,
        buffer: &mut [T],
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_batch_until(buffer, until)
    }

    /// How many members are aligned.
    #[inline]
    #[must_use]
    pub fn aligned_count(&self) -> usize {
        self.aligned
    }

    /// Whether `member` is aligned.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn is_aligned(&self, member: usize) -> bool {
        self.member(member).detached.is_none()
    }

    /// Keeps `member` where it is while the others go on. No effect if it is detached already. On a lossless
    /// ring it may allocate memory for the member's cursor.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn pause(&mut self, member: usize) {
        if self.is_aligned(member) {
            let subscriber = self.lead.clone();
            let (received_before, lagged_before) = (self.lead.total_received(), self.lead.total_lagged());
            self.members[member].detached = Some(Detached { subscriber, received_before, lagged_before });
            self.aligned -= 1;
        }
    }

    /// Receives the next message for `member` alone, which was paused before. Goes on after a lag. If the
    /// member then is at the position of the group, it is aligned again. Never waits.
    ///
    /// A member never goes past the group. If a lag would take it further, the group was lapped as well. The
    /// member then lags up to the group's position and is aligned. The group's next receive counts the rest
    /// of the loss.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::try_recv`], for this member. Also `Empty` if the member is at the position of
    /// the group, or comes there by a lag. It is aligned then, and receives its next message with the group.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn try_recv_member(&mut self, member: usize) -> Result<T, TryRecvError> {
        if_there(look_now(|| self.poll_member(member)))
    }

    /// One look for `member` alone. Where it was lapped, the next look is at the message where it goes on: if
    /// that is one of the group's, it is aligned before.
    fn poll_member(&mut self, member: usize) -> Look<Result<T, RecvError>> {
        let lead = self.lead.cursor();
        if self.cursor(member) == lead {
            self.align(member);
        }
        let Some(detached) = &mut self.members[member].detached else { return Look::Nothing };
        let look = detached.subscriber.poll_recv();
        if detached.subscriber.cursor() >= lead {
            self.align(member);
        }
        look
    }

    /// The sequence number of the message that comes next for `member`.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn cursor(&self, member: usize) -> u64 {
        self.of(member).cursor()
    }

    /// How many messages `member` has received.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn total_received(&self, member: usize) -> u64 {
        let Member { received_detached, detached, .. } = self.member(member);
        let now = match detached {
            None => self.lead.total_received(),
            Some(detached) => detached.received_before + detached.subscriber.total_received(),
        };
        now.wrapping_add(*received_detached)
    }

    /// How many messages `member` has lost.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn total_lagged(&self, member: usize) -> u64 {
        let Member { lagged_detached, detached, .. } = self.member(member);
        let now = match detached {
            None => self.lead.total_lagged(),
            Some(detached) => detached.lagged_before + detached.subscriber.total_lagged(),
        };
        now.wrapping_add(*lagged_detached)
    }

    /// How many messages that `member` has passed were corrupt: see [`Subscriber::total_corrupt`].
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn total_corrupt(&self, member: usize) -> u64 {
        let passed = self.of(member).cursor.since(self.lead.start);
        passed - self.total_received(member) - self.total_lagged(member)
    }

    /// How many messages `member` could receive now, as [`Subscriber::len`]. (A paused member that was lapped
    /// may receive other messages than these, because it never goes past the group.)
    ///
    /// # Panics
    ///
    /// If there is no such member.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<2>();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// group.pause(1);
    /// assert_eq!(group.try_recv(), Ok(1));
    /// assert_eq!((group.len(0), group.len(1)), (2, 3));
    /// ```
    #[doc(alias = "pending")]
    #[must_use]
    pub fn len(&self, member: usize) -> usize {
        self.of(member).len()
    }

    /// Whether `member` could receive no message now: its [`len`](Self::len) is 0.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn is_empty(&self, member: usize) -> bool {
        self.len(member) == 0
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.lead.capacity()
    }

    /// Whether all publishers are gone, or somebody has closed the ring. Messages may still be left to
    /// receive. A
    /// message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lead.is_closed()
    }

    own_strategy! {
        make: "let mut reader = annulus::broadcast::lossy::<u64>(8).1.subscribe_group::<3>();",
        |handle| as: handle.lead
    }

    observable! {
        |handle| stats: if seeded!("group_of_nobody") { handle.lead.shared.stats() } else { handle.lead.stats() },
        observer: handle.lead.observer()
    }

    #[track_caller]
    fn member(&self, member: usize) -> &Member<T, M> {
        match self.members.get(member) {
            Some(member) => member,
            None => panic!("no member {member}: a group of {N} has members 0 to {}", N - 1),
        }
    }

    /// The subscriber that stands for `member` now.
    #[track_caller]
    fn of(&self, member: usize) -> &Subscriber<T, M> {
        self.member(member).detached.as_ref().map_or(&self.lead, |detached| &detached.subscriber)
    }

    #[inline]
    #[track_caller]
    pub(super) fn someone_is_aligned(&self) {
        assert!(self.aligned > 0, "every member of the group is paused: nobody would receive");
    }

    /// Aligns `member`, which has reached the lead, or would pass it after a lag.
    fn align(&mut self, member: usize) {
        let (received, lagged) = (self.total_received(member), self.total_lagged(member));
        let member = &mut self.members[member];
        if let Some(detached) = member.detached.take() {
            // What it passed over beyond the lead, the lead has yet to lose for it.
            let lagged = lagged - (detached.subscriber.cursor() - self.lead.cursor());
            member.received_detached = received.wrapping_sub(self.lead.total_received());
            member.lagged_detached = lagged.wrapping_sub(self.lead.total_lagged());
            self.aligned += 1;
        }
    }
}

impl<T: Message, const N: usize, M: Unstaged> SubscriberGroup<T, N, M> {
    /// As [`recv_batch`](Self::recv_batch), but appends at most `most` messages to `buffer`, which grows if
    /// necessary. To receive into a vector without waiting, extend it by [`try_iter`](Self::try_iter).
    ///
    /// # Errors
    ///
    /// Those of [`recv_batch`](Self::recv_batch).
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the messages.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2, 3, 4]);
    /// let mut buffer = vec![0];
    /// assert_eq!(group.recv_many(&mut buffer, 3), Ok(3));
    /// assert_eq!(buffer, [0, 1, 2, 3]);
    /// assert_eq!(group.total_received(2), 3);
    /// ```
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        self.someone_is_aligned();
        self.lead.recv_many(buffer, most)
    }

    /// As [`recv_many`](Self::recv_many), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    #[cfg(feature = "std")]
    pub fn recv_many_timeout(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(buffer, most, timeout)
    }

    /// As [`recv_many`](Self::recv_many), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_many_until(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_many_until(buffer, most, until)
    }

    /// An iterator over the messages that are there now, like [`Subscriber::try_iter`]. Each is received for
    /// all aligned members. It never waits. It ends at once if no member is aligned.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(group.try_iter().sum::<i32>(), 6);
    /// assert_eq!(group.total_received(2), 3);
    /// ```
    #[doc(alias = "drain")]
    pub fn try_iter(&mut self) -> TryIter<'_, T, M> {
        let nobody = self.aligned_count() == 0 && !seeded!("group_iterates_for_nobody");
        let mut messages = self.lead.try_iter();
        if nobody {
            messages.end = Sequence::FIRST;
        }
        messages
    }

    /// An iterator that waits for each message like [`recv`](Self::recv). Each is received for all aligned
    /// members. It ends when the ring is closed and nothing is left. It does not end on a lag.
    ///
    /// `for message in &mut group` and `for message in group` do the same.
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the messages.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(group.iter().sum::<i32>(), 6);
    /// ```
    #[track_caller]
    pub fn iter(&mut self) -> Iter<&mut Subscriber<T, M>> {
        self.someone_is_aligned();
        self.lead.iter()
    }
}

#[allow(clippy::into_iter_without_iter, reason = "`iter` takes `&mut self`: there is no other")]
impl<'a, T: Message, const N: usize, M: Unstaged> IntoIterator for &'a mut SubscriberGroup<T, N, M> {
    type Item = T;
    type IntoIter = Iter<&'a mut Subscriber<T, M>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// As [`iter`](SubscriberGroup::iter). The iterator panics when it is asked and no member is aligned.
impl<T: Message, const N: usize, M: Unstaged> IntoIterator for SubscriberGroup<T, N, M> {
    type Item = T;
    type IntoIter = Iter<Self>;

    fn into_iter(self) -> Iter<Self> {
        Iter::of(self)
    }
}

/// For all aligned members. Panics if no member is aligned, because then nobody would receive anything.
// SAFETY: the lead's are.
unsafe impl<T: Message, const N: usize, M: Unstaged> Source for SubscriberGroup<T, N, M> {
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.lead)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.lead)
    }

    fn is_ready(&mut self) -> bool {
        self.someone_is_aligned();
        self.lead.is_ready()
    }

    fn strategy(&self) -> WaitStrategy {
        self.lead.strategy()
    }

    fn has_more(&mut self) -> bool {
        self.lead.has_more()
    }

    fn mark(&mut self) -> EndMark {
        self.lead.mark()
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        self.lead.has_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.lead.lost()
    }

    fn left(&self) -> Option<u64> {
        self.lead.left()
    }
}

impl<T: Message, const N: usize, M: Unstaged> Waitable for SubscriberGroup<T, N, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message, const N: usize, M: Unstaged> Numbered for SubscriberGroup<T, N, M> {
    fn next_sequence(&self) -> u64 {
        self.lead.next_sequence()
    }
}

impl<T: Message, const N: usize, M: Unstaged> Receive for SubscriberGroup<T, N, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.someone_is_aligned();
        self.lead.poll_recv()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }

    #[inline]
    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }
}

#[cfg(feature = "async")]
impl<T: Message, const N: usize, M: Unstaged> SubscriberGroup<T, N, M> {
    /// Receives the next message for all aligned members, like [`recv`](Self::recv), in a task: the task
    /// waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Panics
    ///
    /// If no member is aligned, because then nobody would receive the message.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish(7);
    /// assert_eq!(pollster::block_on(group.recv_async()), Ok(7));
    /// assert_eq!(group.total_received(2), 1);
    /// ```
    #[track_caller]
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        self.someone_is_aligned();
        self.lead.recv_async()
    }

    /// Receives the messages that are there, at least one, for all aligned members, like
    /// [`Subscriber::recv_batch_async`].
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Panics
    ///
    /// At its first poll, if no member is aligned.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2]);
    /// let mut buffer = [0; 8];
    /// assert_eq!(pollster::block_on(group.recv_batch_async(&mut buffer)), Ok(2));
    /// assert_eq!(buffer[..2], [1, 2]);
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        self.someone_is_aligned();
        self.lead.recv_batch_async(buffer).await
    }

    /// A stream of the messages, each received for all aligned members. It ends when the ring is closed and
    /// nothing is left, not on a lag. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Panics
    ///
    /// When it is polled, if no member is aligned.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut group = subscribable.subscribe_group::<3>();
    /// publisher.publish_batch(&[1, 2]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(group.stream().collect::<Vec<_>>()), [1, 2]);
    /// assert_eq!(group.total_received(2), 2);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the group.
    ///
    /// *Cancel safety*: as for [`stream`](Self::stream). A stream that is dropped drops the group.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let stream = subscribable.subscribe_group::<3>().into_stream();
    /// publisher.publish_batch(&[1, 2]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(stream.collect::<Vec<_>>()), [1, 2]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

impl<T: Message, const N: usize, M: Mode> fmt::Debug for SubscriberGroup<T, N, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriberGroup")
            .field("members", &N)
            .field("aligned", &self.aligned)
            .field("lead", &self.lead)
            .finish()
    }
}
