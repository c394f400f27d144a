//! [`Stats`]: the numbers of a ring at one moment, and how they are printed: as a table. [`Delta`]: what
//! happened between two of them.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "std")]
use core::time::Duration;
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
/// It allocates, and takes no lock. Between processes it asks the kernel which of them are there: at most two
/// system calls for a queue of one producer, and one for each publisher or producer otherwise. For a queue it
/// takes O(rings); with many consumers, O(log capacity) for each ring. For a broadcast ring it takes
/// O(subscribers), and looks at a bounded number of slots. It reads cache lines that others write, so each
/// snapshot costs the writers some line transfers; no thread ever waits for it.
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
    /// Publishers, producers or senders. Of a queue, or of a broadcast ring of several publishers, between
    /// processes: of all processes, as the kernel says which of them are there. Of a broadcast ring of one
    /// publisher between processes, seen by another process: the publisher, until it has closed the ring or
    /// is gone.
    pub writers: HandleCount,
    /// Subscribers, consumers or receivers. What makes subscribers does not count. Of a lossless broadcast
    /// ring between processes: those that have a seat, in all processes; one that has died counts until the
    /// publisher finds that out, and [`joined`](HandleCount::joined) is the most that were seen at one time.
    /// Of a queue between processes: the consumer, once it has come, and while its process is there.
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

/// What has happened in a ring between two snapshots of it; made by [`Stats::since`].
///
/// # Examples
///
/// ```
/// let (mut producer, mut consumer) = annulus::spsc::channel(8);
/// producer.send(1).unwrap();
/// let before = consumer.stats();
/// producer.send_batch(&[2, 3]).unwrap();
/// assert_eq!(consumer.recv(), Ok(1));
///
/// let delta = consumer.stats().since(&before);
/// assert_eq!((delta.published, delta.received), (2, Some(1)));
/// assert!(delta.rate(delta.published) > 0.0); // in one second
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// How much time lies between the two.
    #[cfg(feature = "std")]
    pub elapsed: Duration,
    /// How many messages were published.
    pub published: u64,
    /// How many messages were received, as [`Stats::received`] says. `None` if one of the two does not know.
    /// (A subscriber that joins at an older message makes [`Stats::received`] smaller. Then this is 0.)
    pub received: Option<u64>,
    /// How many messages the subscriber received whose `stats` both are.
    pub own_received: Option<u64>,
    /// How many messages that subscriber lost.
    pub own_lagged: Option<u64>,
    /// How many writers have joined.
    pub writers_joined: u64,
    /// How many readers have joined.
    pub readers_joined: u64,
    /// What was counted meanwhile. The high-water mark is the later snapshot's.
    pub counted: Option<Counted>,
}

impl Stats {
    /// What has happened since `earlier`, which is an earlier snapshot of the same ring. (For any other
    /// snapshot the differences mean nothing; none is below 0.)
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Delta {
        Delta::between(earlier, self)
    }
}

impl Delta {
    fn between(earlier: &Stats, later: &Stats) -> Self {
        let own = |number: fn(&OwnStats) -> u64| {
            Some(number(later.own.as_ref()?).saturating_sub(number(earlier.own.as_ref()?)))
        };
        Self {
            #[cfg(feature = "std")]
            elapsed: later.at.saturating_duration_since(earlier.at),
            published: later.published.saturating_sub(earlier.published),
            received: earlier.received.and_then(|before| Some(later.received?.saturating_sub(before))),
            own_received: own(|own| own.received),
            own_lagged: own(|own| own.lagged),
            writers_joined: later.writers.joined.saturating_sub(earlier.writers.joined),
            readers_joined: later.readers.joined.saturating_sub(earlier.readers.joined),
            counted: earlier.counted.and_then(|before| {
                let now = later.counted?;
                Some(Counted {
                    lagged: now.lagged.saturating_sub(before.lagged),
                    sleeps: now.sleeps.saturating_sub(before.sleeps),
                    wake_ups: now.wake_ups.saturating_sub(before.wake_ups),
                    rests: now.rests.saturating_sub(before.rests),
                    high_water: now.high_water,
                })
            }),
        }
    }

    /// `count`, one of these numbers, for each second. 0 if no time has passed.
    #[cfg(feature = "std")]
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate; counts above 2^53 lose their last digits")]
    pub fn rate(&self, count: u64) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }
}

/// A number, or that there is none.
struct Maybe(Option<u64>);

impl fmt::Display for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => fmt::Display::fmt(&number, f),
            None => f.pad("-"),
        }
    }
}

/// As a table: one line for the ring, one for what was counted, and one for each producer, each subscriber
/// for which publishers wait, and the subscriber whose snapshot it is. The text ends without a line break.
/// Its form may change with each version.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, capacity, closed, published, writers, readers, .. } = self;
        let state = if *closed { "closed" } else { "open" };
        write!(f, "{:<12} {state:<6}", name.as_deref().unwrap_or("ring"))?;
        write!(f, " published {published:>12}  received {:>12}", Maybe(self.received))?;
        write!(f, "  pending {:>7} of {capacity}", Maybe(self.pending))?;
        write!(f, "  writers {} ({} joined)", writers.now, writers.joined)?;
        write!(f, "  readers {} ({} joined)", readers.now, readers.joined)?;
        if let Some(counted) = &self.counted {
            write!(f, "\n  counted        high-water {:>7}", counted.high_water)?;
            write!(f, "  lagged {}  sleeps {}", counted.lagged, counted.sleeps)?;
            write!(f, "  wake-ups {}  rests {}", counted.wake_ups, counted.rests)?;
        }
        for producer in &self.producers {
            write!(f, "\n  producer {:>5} sent {:>17}", producer.id, producer.sent)?;
            write!(f, "  received {:>12}  pending {:>7}", producer.received, producer.pending)?;
            if let Some(latency) = &producer.latency {
                write!(f, "  lay {} ns (mean of {} messages)", latency.mean_ns, latency.samples)?;
            }
        }
        for reader in &self.followed {
            write!(f, "\n  reader {:>7} at {:>19}  lag {:>17}", reader.cell, reader.position, reader.lag)?;
        }
        if let Some(own) = &self.own {
            write!(f, "\n  this reader    at {:>19}  received {:>12}", own.position, own.received)?;
            write!(f, "  pending {:>7}  lagged {}", own.pending, own.lagged)?;
            if own.corrupt > 0 {
                write!(f, "  corrupt {}", own.corrupt)?;
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn stats(published: u64, own: Option<u64>, counted: Option<Counted>) -> Stats {
        let own =
            own.map(|received| OwnStats { position: received, received, lagged: 1, corrupt: 0, pending: 0 });
        Stats { published, own, counted, writers: HandleCount::new(1, published), ..Stats::new(None, 4) }
    }

    #[test]
    fn delta_is_the_difference() {
        let counted = |sleeps| Some(Counted { sleeps, high_water: sleeps, ..Counted::default() });
        let earlier = stats(3, Some(2), counted(5));
        let mut later = stats(10, Some(9), counted(6));
        later.at = earlier.at + Duration::from_millis(500);
        let delta = later.since(&earlier);
        assert_eq!((delta.published, delta.own_received, delta.own_lagged), (7, Some(7), Some(0)));
        assert_eq!((delta.writers_joined, delta.readers_joined, delta.received), (7, 0, None));
        assert_eq!(delta.counted, Some(Counted { sleeps: 1, high_water: 6, ..Counted::default() }));
        assert!((delta.rate(7) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn difference_of_an_unknown_number_is_unknown_and_none_is_negative() {
        let (earlier, later) = (stats(10, None, None), stats(3, Some(1), Some(Counted::default())));
        let delta = later.since(&earlier);
        assert_eq!((delta.published, delta.own_received, delta.counted), (0, None, None));
        let (before, after) = (
            Stats { received: Some(7), ..stats(9, None, None) },
            Stats { received: Some(5), ..stats(9, None, None) },
        );
        assert_eq!((after.since(&before).received, before.since(&after).received), (Some(0), Some(2)));
        let none = earlier.since(&earlier);
        assert!(none.rate(5).abs() < f64::EPSILON, "no time has passed");
    }

    #[test]
    fn numbers_are_in_the_table() {
        let latency = Some(Latency { samples: 21, min_ns: 0, mean_ns: 22, max_ns: 0 });
        let stats = Stats {
            closed: true,
            published: 101,
            received: Some(102),
            pending: None,
            writers: HandleCount::new(103, 104),
            readers: HandleCount::new(105, 106),
            producers: [ProducerStats { id: 107, sent: 108, received: 109, pending: 110, latency }].into(),
            followed: [FollowedStats { cell: 111, position: 112, lag: 113 }].into(),
            own: Some(OwnStats { position: 114, received: 115, lagged: 116, corrupt: 23, pending: 117 }),
            counted: Some(Counted { lagged: 118, sleeps: 119, wake_ups: 120, rests: 121, high_water: 122 }),
            ..Stats::new(Some("orders".into()), 100)
        };
        let text = stats.to_string();
        for number in (100..=122).chain(21..=23) {
            assert!(text.contains(&number.to_string()), "{number} is not in:\n{text}");
        }
        assert!(text.starts_with("orders ") && text.contains("closed") && text.contains("      - of 100"));
        assert_eq!(text.lines().count(), 5);
        assert!(Stats::new(None, 1).to_string().starts_with("ring "));
    }
}
