//! [`SubscriberGroup`]: several logical consumers on one thread, for one read of the ring.
//!
//! Members that stand at the same message share one subscriber, the *lead*; receiving moves it and nothing else, so it costs the same
//! for one member as for a thousand. A member that pauses gets a subscriber of its own at that place, and gives it up when it has caught
//! up with the lead again.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::{Lossy, Mode, Subscriber};
#[cfg(feature = "std")]
use crate::error::RecvTimeoutError;
use crate::error::{Closed, PollError};
use crate::hint::unlikely;
use crate::message::Message;
use crate::wait::WaitStrategy;

/// `N` subscribers of one ring that one thread polls for the price of one, made by
/// [`subscribe_group`](crate::Subscribable::subscribe_group).
///
/// All members begin *aligned*: each receive of the group is a receive of every aligned member, and reads the ring once. A member may
/// [`pause`](Self::pause): it keeps its place while the others go on, and on a lossy ring it may lag alone. It catches up by
/// [`try_recv_member`](Self::try_recv_member), and is aligned again once it has come to where the group is.
///
/// Members are numbered from 0. Each has counters of its own. On a lossless ring publishers wait for the slowest member, a paused one
/// too.
///
/// ```
/// let (mut publisher, subscribable) = annulus::channel(8);
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
pub struct SubscriberGroup<T: Message, const N: usize, M: Mode = Lossy> {
    /// Where the aligned members are, and all members began.
    lead: Subscriber<T, M>,
    /// How many are aligned.
    aligned: usize,
    /// Behind a pointer, so that the lead may live in registers.
    members: Box<[Member<T, M>]>,
}

/// One member.
struct Member<T: Message, M: Mode> {
    /// The messages that it received apart from the lead, less those that the lead received without it …
    received_apart: u64,
    /// … and the same for those that it lost. Both wrap: only their sum with the lead's counters means something.
    lagged_apart: u64,
    /// Its own subscriber, while it is not aligned.
    apart: Option<Apart<T, M>>,
}

/// A member on its own.
struct Apart<T: Message, M: Mode> {
    subscriber: Subscriber<T, M>,
    /// The lead's counters when it left.
    received_before: u64,
    lagged_before: u64,
}

impl<T: Message, const N: usize, M: Mode> SubscriberGroup<T, N, M> {
    const NOT_EMPTY: () = assert!(N > 0, "a group has at least one member");

    pub(super) fn new(lead: Subscriber<T, M>) -> Self {
        let () = Self::NOT_EMPTY;
        let members = (0..N).map(|_| Member { received_apart: 0, lagged_apart: 0, apart: None }).collect();
        Self { lead, aligned: N, members }
    }

    /// Receives the next message for all aligned members. Never waits; costs what [`Subscriber::try_recv`] costs, whatever `N` is.
    ///
    /// # Errors
    ///
    /// As of [`Subscriber::try_recv`]; a lag is counted for each aligned member. `Empty` too where no member is aligned.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, M::TryRecvError> {
        if unlikely(self.aligned < N) {
            return self.try_recv_without_all();
        }
        self.lead.try_recv()
    }

    #[cold]
    fn try_recv_without_all(&mut self) -> Result<T, M::TryRecvError> {
        if self.aligned == 0 {
            return Err(PollError::Empty.into());
        }
        let result = self.lead.try_recv();
        self.align_all_there();
        result
    }

    /// Receives the next message for all aligned members, waiting for it with the default [`WaitStrategy`]. Goes on after a lag.
    ///
    /// # Errors
    ///
    /// [`Closed`]: all publishers are gone and nothing is left.
    ///
    /// # Panics
    ///
    /// If no member is aligned: it would wait for nobody.
    #[inline]
    pub fn recv(&mut self) -> Result<T, Closed> {
        self.recv_with(WaitStrategy::default())
    }

    /// As [`recv`](Self::recv), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[inline]
    pub fn recv_with(&mut self, strategy: WaitStrategy) -> Result<T, Closed> {
        self.someone_is_aligned();
        let result = self.lead.recv_with(strategy);
        self.align_all_there();
        result
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// As of [`Subscriber::recv_timeout`].
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        let result = self.lead.recv_timeout(timeout);
        self.align_all_there();
        result
    }

    /// As [`recv`](Self::recv), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// As of [`Subscriber::recv_deadline`].
    ///
    /// # Panics
    ///
    /// If no member is aligned.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.someone_is_aligned();
        let result = self.lead.recv_deadline(deadline);
        self.align_all_there();
        result
    }

    /// Receives up to `buffer.len()` messages for all aligned members, as [`Subscriber::recv_batch`]. Never waits; 0 too where no member
    /// is aligned. Where a member stands before the group (see [`try_recv_member`](Self::try_recv_member)), it ends there.
    pub fn recv_batch(&mut self, buffer: &mut [T]) -> usize {
        if self.aligned == 0 {
            return 0;
        }
        // Not past a member that is to be taken along.
        let ahead = self
            .apart()
            .map(|apart| apart.subscriber.cursor())
            .filter(|&cursor| cursor > self.lead.cursor())
            .min();
        let most = ahead.map_or(buffer.len(), |cursor| {
            usize::try_from(cursor - self.lead.cursor()).map_or(buffer.len(), |most| most.min(buffer.len()))
        });
        let count = self.lead.recv_batch(&mut buffer[..most]);
        self.align_all_there();
        count
    }

    /// How many members are aligned: each receive of the group is theirs.
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
        self.member(member).apart.is_none()
    }

    /// Keeps `member` where it is while the others go on. No effect if it is apart already.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn pause(&mut self, member: usize) {
        if self.is_aligned(member) {
            let subscriber = self.lead.clone();
            let (received_before, lagged_before) = (self.lead.total_received(), self.lead.total_lagged());
            self.members[member].apart = Some(Apart { subscriber, received_before, lagged_before });
            self.aligned -= 1;
        }
    }

    /// Receives the next message for `member` alone, which paused before. When that brings it to where the group is, it is aligned
    /// again. Never waits.
    ///
    /// On a lossy ring a lapse may take it past a group that was not asked since. Then it waits there for the group to come; should the
    /// group have no member left, it becomes the group.
    ///
    /// # Errors
    ///
    /// As of [`Subscriber::try_recv`], for this member. `Empty` too where it is at the group's place or past it: its next
    /// message comes with the group's.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    pub fn try_recv_member(&mut self, member: usize) -> Result<T, M::TryRecvError> {
        self.align_if_there(member);
        let behind = self.cursor(member) < self.lead.cursor();
        match &mut self.members[member].apart {
            Some(apart) if behind => {
                let result = apart.subscriber.try_recv();
                self.align_if_there(member);
                result
            }
            _ => Err(PollError::Empty.into()),
        }
    }

    /// The sequence of the message that comes next for `member`.
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
        let Member { received_apart, apart, .. } = self.member(member);
        let now = match apart {
            None => self.lead.total_received(),
            Some(apart) => apart.received_before + apart.subscriber.total_received(),
        };
        now.wrapping_add(*received_apart)
    }

    /// How many messages `member` has passed without receiving them.
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn total_lagged(&self, member: usize) -> u64 {
        let Member { lagged_apart, apart, .. } = self.member(member);
        let now = match apart {
            None => self.lead.total_lagged(),
            Some(apart) => apart.lagged_before + apart.subscriber.total_lagged(),
        };
        now.wrapping_add(*lagged_apart)
    }

    /// How many messages `member` could receive now, as [`Subscriber::pending`].
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[must_use]
    pub fn pending(&self, member: usize) -> u64 {
        self.of(member).pending()
    }

    /// How many of the latest messages stand in the ring: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.lead.capacity()
    }

    /// Whether all publishers are gone. Messages may still be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lead.is_closed()
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
        self.member(member).apart.as_ref().map_or(&self.lead, |apart| &apart.subscriber)
    }

    #[inline]
    #[track_caller]
    fn someone_is_aligned(&self) {
        assert!(self.aligned > 0, "every member of the group is paused: nobody would receive");
    }

    fn apart(&self) -> impl Iterator<Item = &Apart<T, M>> {
        self.members.iter().filter_map(|member| member.apart.as_ref())
    }

    /// Aligns every member that the lead has come to.
    #[inline]
    fn align_all_there(&mut self) {
        if unlikely(self.aligned < N) {
            (0..N).for_each(|member| self.align_if_there(member));
        }
    }

    /// Aligns `member` if it stands where the lead does, or if it went past a lead that leads nobody.
    #[track_caller]
    fn align_if_there(&mut self, member: usize) {
        let (received, lagged) = (self.total_received(member), self.total_lagged(member));
        let lead = self.lead.cursor();
        let place = &mut self.members[member];
        let Some(apart) = place.apart.take_if(|apart| {
            let cursor = apart.subscriber.cursor();
            cursor == lead || (cursor > lead && self.aligned == 0)
        }) else {
            return;
        };
        if apart.subscriber.cursor() > lead {
            self.lead = apart.subscriber;
        }
        place.received_apart = received.wrapping_sub(self.lead.total_received());
        place.lagged_apart = lagged.wrapping_sub(self.lead.total_lagged());
        self.aligned += 1;
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
