//! [`SubscriberGroup`]: several subscribers on one thread that share each read of the ring.
//!
//! Members at the same message share one subscriber, the *lead*. A receive moves only the lead, so it costs
//! the same for one member as for a thousand. A member that pauses gets a subscriber of its own at that
//! message, and gives it up when it has caught up with the lead again.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::{Lossy, Mode, Subscriber, Unstaged};
use crate::base::hint::unlikely;
#[cfg(feature = "std")]
use crate::error::RecvTimeoutError;
use crate::error::{RecvError, TryRecvError};
use crate::message::Message;
use crate::observer::observable;
use crate::sync::mutated;
use crate::wait::{WaitStrategy, own_strategy};

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

    /// Receives the next message for all aligned members. Never waits. Costs as much as
    /// [`Subscriber::try_recv`], whatever `N` is.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::try_recv`]. A lag is counted for each aligned member. Also `Empty` if no member
    /// is aligned.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, M::TryRecvError> {
        if unlikely(self.aligned == 0) {
            return Err(TryRecvError::Empty.into());
        }
        self.lead.try_recv()
    }

    /// As [`recv`](Self::recv), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[doc(alias = "recv_with")]
    #[inline]
    pub fn recv_by(&mut self, strategy: WaitStrategy) -> Result<T, RecvError> {
        self.someone_is_aligned();
        self.lead.recv_by(strategy)
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
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_timeout(timeout)
    }

    /// As [`recv`](Self::recv), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::recv_deadline`].
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        self.lead.recv_deadline(deadline)
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

    /// Receives the next message for `member` alone, which was paused before. If the member then is at the
    /// position of the group, it is aligned again. Never waits.
    ///
    /// A member never goes past the group. If a lag would take it further, the group was lapped as well. The
    /// member then lags up to the group's position and is aligned. The group's next receive reports the rest
    /// of the loss.
    ///
    /// # Errors
    ///
    /// Those of [`Subscriber::try_recv`], for this member. Also `Empty` if the member is at the position of
    /// the group. It is aligned then, and receives its next message with the group.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn try_recv_member(&mut self, member: usize) -> Result<T, M::TryRecvError> {
        let (before, lead) = (self.cursor(member), self.lead.cursor());
        if before == lead {
            self.align(member);
        }
        let Some(detached) = &mut self.members[member].detached else {
            return Err(TryRecvError::Empty.into());
        };
        let result = detached.subscriber.try_recv();
        let after = detached.subscriber.cursor();
        if after >= lead {
            self.align(member);
        }
        if after > lead { Err(M::lagged(lead - before)) } else { result }
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
        |handle| stats: if mutated!("group_of_nobody") { handle.lead.shared.stats() } else { handle.lead.stats() },
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

impl<T: Message, const N: usize, M: Mode> fmt::Debug for SubscriberGroup<T, N, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriberGroup")
            .field("members", &N)
            .field("aligned", &self.aligned)
            .field("lead", &self.lead)
            .finish()
    }
}
