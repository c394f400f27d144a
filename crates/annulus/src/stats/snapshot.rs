//! [`Stats`]: the numbers of a ring at one moment.

use alloc::borrow::Cow;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::time::Instant;

use crate::sync::seeded;

/// The name of a ring, if its builder gave it one.
pub(crate) type Name = Option<Cow<'static, str>>;

/// The numbers of one ring, broadcast or queue, at one moment. Made by `stats` of each handle of the ring,
/// and by an [`Observer`](crate::Observer).
///
/// `Display` prints it as a table. [`since`](Self::since) gives the difference to an earlier one.
///
/// # What the numbers mean together
///
/// The numbers are read one after the other while other threads use the ring; each has the value of some
/// moment during the call. While no thread uses the ring, all are exact. Always:
///
/// - `received` ≤ `published`, and `pending` is their difference. For each producer, `pending` is at most the
///   capacity of its ring. For a broadcast ring, `pending` is at most the capacity. (`received` and `pending`
///   are adjusted to the moment at which `published` was read: if the cursors were read earlier, `received`
///   is at least what must have been received for so many to be published.)
/// - In a later snapshot by the same thread, or by a thread that the earlier one happens before, `published`
///   and all numbers in `counted` are not smaller. There are two exceptions for `published` of a queue: a
///   message that a close gives back may be counted until then, and a send that a close cuts off may count as
///   sent and received.
/// - `position + lag` of each reader is the same: the end of what is published.
///
/// A subscriber that joins, is cloned or leaves during the call may be missing in `followed`, and so in
/// `received`.
///
/// # What it costs
///
/// It allocates, and takes no lock. For a queue it takes O(rings); with many consumers, O(log capacity) for
/// each ring. For a broadcast ring it takes O(subscribers), and looks at a bounded number of slots. It reads
/// cache lines that others write, so each snapshot costs the writers some line transfers; no thread ever
/// waits for it.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish_batch(&[1, 2, 3])?;
/// subscriber.recv().unwrap();
///
/// let stats = publisher.stats();
/// assert_eq!((stats.published, stats.received, stats.pending), (3, Some(1), Some(2)));
/// assert_eq!((stats.followed[0].position, stats.followed[0].lag), (1, 2));
/// # Ok::<(), annulus::SendError<&[u64]>>(())
/// ```
#[doc(alias = "snapshot")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The name of the ring, if its [settings](crate::Settings::name) gave it one. The ring of a topic of a
    /// [bus](crate::bus) has the name of the topic otherwise. `Observer::list` lists rings
    /// that have a name.
    pub name: Option<Cow<'static, str>>,
    /// How many messages the ring holds. (A queue with a ring for each producer: how many each of them
    /// holds.)
    pub capacity: usize,
    /// Whether the ring is closed, as [`Observer::is_closed`](crate::Observer::is_closed) says.
    pub closed: bool,
    /// How many messages were published, or sent, since the ring was made. In a ring with many publishers and
    /// one order, messages that are just being written count.
    pub published: u64,
    /// How many messages no reader needs any more. In a queue: the received ones. In a broadcast ring: the
    /// messages that all subscribers that publishers wait for have received, or that came before they joined.
    /// `None` while publishers wait for no subscriber: lossy subscribers write nothing that other threads
    /// could read, and only they know their position (`own`).
    pub received: Option<u64>,
    /// How many messages wait in the ring: `published − received`. In a broadcast ring, this is how far the
    /// slowest subscriber is behind.
    pub pending: Option<u64>,
    /// Publishers, producers or senders.
    pub writers: HandleCount,
    /// Subscribers, consumers or receivers. What makes subscribers does not count. Of a lossless broadcast
    /// ring between processes: those that have a seat, in all processes; one that has died counts until the
    /// publisher finds that out, and [`joined`](HandleCount::joined) is the most that were seen at one time.
    pub readers: HandleCount,
    /// Each producer of a queue, in the order of joining. A producer that has left is listed while its
    /// messages lie in a ring that no other producer has taken over. Empty for other rings.
    pub producers: Vec<ProducerStats>,
    /// Each subscriber for which publishers of a broadcast ring wait, as they see it. Empty for other rings.
    pub followed: Vec<FollowedStats>,
    /// The subscriber whose `stats` this is; of a group, its aligned members, which are one subscriber.
    /// `None` if another handle, or an observer, made it.
    pub own: Option<OwnStats>,
    /// What was counted. `None` if `statistics` of the builder is off.
    pub counted: Option<Counted>,
    /// When it was made.
    #[cfg(feature = "std")]
    pub(crate) at: Instant,
}

impl Stats {
    /// Nothing, of a ring of that name and capacity, now.
    pub(crate) fn new(name: Name, capacity: usize) -> Self {
        Self {
            name,
            capacity,
            closed: false,
            published: 0,
            received: None,
            pending: None,
            writers: HandleCount::default(),
            readers: HandleCount::default(),
            producers: Vec::new(),
            followed: Vec::new(),
            own: None,
            counted: None,
            #[cfg(feature = "std")]
            at: Instant::now(),
        }
    }

    /// How many messages a reader may find in the ring: the pending ones ([`pending`](Self::pending)). Where
    /// publishers wait for no subscriber, these are the newest ones, as many as the ring holds.
    ///
    /// (A ring of records, [`broadcast::bytes`](crate::broadcast::bytes), may hold fewer of them: long
    /// records leave room for few.)
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(publisher.stats().depth(), 3);
    /// publisher.publish_batch(&[4, 5, 6]);
    /// assert_eq!(publisher.stats().depth(), 4);
    /// assert_eq!(subscribable.subscribe_from_oldest().len(), 4);
    /// ```
    #[must_use]
    pub fn depth(&self) -> u64 {
        let held = self.capacity as u64;
        let newest = if seeded!("depth_without_end") { self.published } else { self.published.min(held) };
        self.pending.unwrap_or(newest)
    }

    /// When it was made, on the monotonic clock.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn taken_at(&self) -> Instant {
        self.at
    }
}

/// The handles of one side of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandleCount {
    /// How many there are.
    pub now: usize,
    /// How many there have been, these included.
    pub joined: u64,
}

impl HandleCount {
    pub(crate) fn new(now: usize, joined: u64) -> Self {
        Self { now, joined }
    }
}

/// One subscriber for which publishers wait, as they see it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FollowedStats {
    /// The cell in which its cursor is kept. No other subscriber of the ring has this number at the same
    /// time; one that joins after it has left may have it.
    pub cell: u64,
    /// The sequence number of the first message that it still needs. A stage needs a message until it has
    /// processed it.
    pub position: u64,
    /// How many messages it is behind.
    pub lag: u64,
}

/// A subscriber, as it sees itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OwnStats {
    /// The sequence number of the message that it receives next.
    pub position: u64,
    /// How many messages it has received.
    pub received: u64,
    /// How many messages it has lost or skipped.
    pub lagged: u64,
    /// How many messages were corrupt: see [`total_corrupt`](crate::broadcast::Subscriber::total_corrupt).
    /// `received + lagged + corrupt` is how far it has come since it began.
    pub corrupt: u64,
    /// How many messages it could receive now: its `len`.
    pub pending: u64,
}

/// What a ring counts if `statistics` of its builder is on. All but the high-water mark only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counted {
    /// How many messages lossy subscribers lost or skipped, all together. A group counts once, and each of
    /// its paused members once more.
    pub lagged: u64,
    /// How often a thread went to sleep in a verb of the ring. (A task does not sleep, and a thread that
    /// waits for several rings at once sleeps in none of them.)
    pub sleeps: u64,
    /// How often sleepers and waiting tasks were woken. One wake-up may wake several.
    pub wake_ups: u64,
    /// How often a consumer paused to let messages gather. Only consumers of [`spsc`](crate::spsc) and
    /// [`mpsc`](crate::mpsc) queues do so.
    pub rests: u64,
    /// The largest number of waiting messages that a handle or a snapshot has seen. They look: a producer of
    /// an [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc) queue, which looks at least once in 256 single
    /// messages, for its own ring; a publisher, when it looks at its subscribers, at the latest when the ring
    /// is full; a sender that waits for room; and each snapshot.
    pub high_water: u64,
}

/// One producer of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProducerStats {
    /// The number of the producer. Producers are numbered from 0 in the order of joining.
    pub id: u64,
    /// How many messages it has sent.
    pub sent: u64,
    /// How many of those were received.
    pub received: u64,
    /// How many messages lie in its ring, including those that the ring's previous producer left there. Never
    /// more than the capacity.
    pub pending: u64,
    /// How long messages lay in its ring. `None` if `Settings::statistics` is off, or nothing was measured
    /// yet. Queues with many consumers do not measure it.
    pub latency: Option<Latency>,
}

/// How long messages lay in a ring, in nanoseconds: from just before the send until the consumer came to the
/// message. If the consumer took many messages at once, the time ends when it next looked for more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Latency {
    /// How many messages were measured.
    pub samples: u64,
    /// The shortest time.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}
