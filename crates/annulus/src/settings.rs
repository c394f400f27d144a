//! [`Settings`]: what a ring is to be like, whichever kind of ring it is.

use alloc::borrow::Cow;

use crate::error::CapacityError;
use crate::memory::Memory;
use crate::stats::Name;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// What a ring is to be like: its capacity, how its handles wait, its memory, its statistics, its name.
///
/// Each way to make a ring has a form that takes settings. It returns an error where the short form, which
/// takes a capacity, panics:
///
/// | ring | short form | with settings |
/// | --- | --- | --- |
/// | queues of one producer or many, one consumer or many | [`spsc::channel`](crate::spsc::channel), and so on | [`spsc::with`](crate::spsc::with), and so on; [`queue::with`](crate::queue::with) of any kind |
/// | ordered queues | [`queue::ordered::channel`](crate::queue::ordered::channel) | [`queue::ordered::with`](crate::queue::ordered::with) |
/// | queues of bytes | [`queue::bytes::channel`](crate::queue::bytes::channel) | [`queue::bytes::with`](crate::queue::bytes::with) |
/// | broadcast rings | [`broadcast::lossy`](fn@crate::broadcast::lossy), and so on | [`broadcast::lossy_with`](crate::broadcast::lossy_with), and so on |
/// | broadcast rings of bytes | [`broadcast::bytes::lossy`](fn@crate::broadcast::bytes::lossy), and so on | [`broadcast::bytes::lossy_with`](crate::broadcast::bytes::lossy_with), and so on |
/// | rings of events | [`event::channel`](crate::event::channel), and so on | [`event::with`](crate::event::with), and so on |
/// | topics of a bus | `Bus::new` | `Bus::with` |
///
/// Rings between processes (module `shm`) take settings, too.
///
/// # Examples
///
/// ```
/// use annulus::{Settings, WaitStrategy, broadcast, spsc};
///
/// let settings = Settings::new(4096).wait_strategy(WaitStrategy::BusySpin);
/// let (mut producer, mut consumer) = spsc::with::<u64>(settings.clone().name("orders"))?;
/// let (mut publisher, subscribable) = broadcast::lossy_with::<u64>(settings.name(format!("quotes-{}", 7)))?;
///
/// producer.send(1).unwrap();
/// assert_eq!(consumer.recv(), Ok(1));
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(2);
/// assert_eq!(subscriber.recv(), Ok(2));
/// assert_eq!(publisher.stats().name.as_deref(), Some("quotes-7"));
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[doc(alias = "Builder")]
#[doc(alias = "Config")]
#[doc(alias = "ring_bits")]
#[doc(alias = "low_latency")]
#[doc(alias = "high_throughput")]
#[derive(Clone, Debug)]
#[must_use = "settings make no ring: give them to a function such as `spsc::with`"]
// Decision 0159: of no ring in particular.
pub struct Settings {
    pub(crate) capacity: usize,
    pub(crate) headroom: usize,
    /// How handles wait where a verb does not say.
    pub(crate) strategy: WaitStrategy,
    /// What the memory of the slots is to be like.
    pub(crate) memory: Memory,
    /// The number of the first message.
    pub(crate) first: u64,
    /// Whether what happens rarely is counted, and how long messages take is measured.
    pub(crate) statistics: bool,
    /// What the ring is called, if somebody has said so.
    pub(crate) name: Name,
    /// How long readers in other processes hear nothing at most.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) deadline: Option<core::time::Duration>,
    /// Where its numbers are kept.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) kept: Option<alloc::sync::Arc<crate::os::kept_word::KeptWord>>,
}

impl Settings {
    /// A ring of exactly `capacity` slots; none is rounded. A queue needs at least 1, a broadcast ring at
    /// least 2. Of a queue with a ring for each producer, each ring has so many. Of rings of bytes, it is the
    /// capacity in bytes.
    ///
    /// Slots of messages of one word: 1,024 of them lie in the first-level cache of most processors, 4,096 in
    /// the second-level cache. Bursts want more.
    #[inline(always)]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            headroom: 0,
            strategy: WaitStrategy::default(),
            memory: Memory::default(),
            first: 0,
            statistics: false,
            name: None,
            #[cfg(all(feature = "shm", not(annulus_loom)))]
            deadline: None,
            #[cfg(all(feature = "shm", not(annulus_loom)))]
            kept: None,
        }
    }

    /// The same with another capacity.
    pub(crate) fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity, ..self }
    }

    /// How many slots of a lossless broadcast ring are kept free of messages that a subscriber still needs. 0
    /// by default; must be smaller than the capacity. Other rings refuse it
    /// ([`CapacityError::NoHeadroom`]).
    ///
    /// The publisher waits while its slowest subscriber is `capacity − headroom` messages behind. So it waits
    /// earlier, and the ring keeps more old messages for
    /// [taps](crate::broadcast::Subscribable::subscribe_lossy), and for subscribers that join at the oldest
    /// message.
    ///
    /// ```
    /// use annulus::{Settings, broadcast};
    ///
    /// let (mut publisher, subscribable) = broadcast::lossless_with::<u64>(Settings::new(64).headroom(16))?;
    /// let subscriber = subscribable.subscribe();
    /// for number in 0..48 {
    ///     publisher.try_publish(number).unwrap();
    /// }
    /// assert!(publisher.try_publish(48).unwrap_err().is_full());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[doc(alias = "watermark")]
    pub fn headroom(self, slots: usize) -> Self {
        Self { headroom: slots, ..self }
    }

    /// How the handles of this ring wait. A verb that takes an [`Until`](crate::Until) may be given another
    /// strategy, and so may a handle. Without this setting it is [`WaitStrategy::default`].
    ///
    /// ```
    /// use annulus::{Settings, WaitStrategy, spsc};
    ///
    /// let settings = Settings::new(64).wait_strategy(WaitStrategy::BusySpin);
    /// let (mut producer, mut consumer) = spsc::with(settings)?;
    /// let reader = std::thread::spawn(move || consumer.recv()); // spins
    /// producer.send(7).unwrap();
    /// assert_eq!(reader.join().unwrap(), Ok(7));
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    pub fn wait_strategy(self, strategy: WaitStrategy) -> Self {
        if seeded!("builder_strategy_unheard") { self } else { self.waiting(strategy) }
    }

    /// As [`wait_strategy`](Self::wait_strategy).
    pub(crate) fn waiting(self, strategy: WaitStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// What the memory of the slots is to be like: see [`memory`](crate::memory). Without this setting they
    /// come from the global allocator.
    ///
    /// What makes the ring returns [`CapacityError::Memory`] if a required option can't be met. In a queue
    /// with a ring for each producer, each ring has it, also the ring of a producer that joins later: then
    /// `register` returns that error, and a clone of a producer panics.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::{Settings, spsc};
    ///
    /// let memory = Memory::prefer().prefault().lock();
    /// let (producer, _consumer) = spsc::with::<u64>(Settings::new(1024).memory(memory))?;
    /// println!("{}", producer.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[doc(alias = "numa_node")]
    #[cfg(feature = "std")]
    pub fn memory(self, memory: Memory) -> Self {
        let memory = if seeded!("builder_memory_unheard") { self.memory } else { memory };
        Self { memory, ..self }
    }

    /// Counts what happens rarely ([`Stats::counted`](crate::stats::Stats::counted)). In
    /// [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc) queues it also measures how long about one message in
    /// 256 lies in a ring ([`ProducerStats::latency`](crate::stats::ProducerStats::latency)); it never
    /// measures two messages of a producer at once. All other numbers need no such setting. Off by default.
    /// When it is off, it costs one look at a constant whenever a thread looks how far the other side has
    /// come, sleeps, wakes others, comes to its limit, or was lapped.
    ///
    /// ```
    /// use annulus::{Settings, mpsc};
    ///
    /// let (mut producer, mut consumer) = mpsc::with(Settings::new(2).statistics(true))?;
    /// producer.try_send(1).unwrap();
    /// producer.try_send(2).unwrap();
    /// assert!(producer.try_send(3).is_err(), "full");
    /// assert_eq!(consumer.recv(), Ok(1));
    /// assert_eq!(consumer.stats().counted.unwrap().high_water, 2);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[doc(alias = "enable_metrics")]
    #[cfg(feature = "std")]
    pub fn statistics(self, on: bool) -> Self {
        Self { statistics: on, ..self }
    }

    /// Gives the ring a name, which its [`Stats`](crate::stats::Stats) have. A ring with a name is in the
    /// list of `Observer::list`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    ///
    /// Many rings may have one name.
    pub fn name(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// A promise to readers in other processes: the publisher publishes at least once in so long. A broadcast
    /// ring between processes, and a [watch](crate::shm::watch), say so in their
    /// [header](crate::shm::RingInfo::deadline). Rings within one process, and queues, take no notice.
    ///
    /// A publisher that has died is seen by itself. One that hangs is not: its process is there. Readers that
    /// know the promise tell such a one by its silence: a
    /// [`NamedSubscriber`](crate::shm::NamedSubscriber) receives
    /// [`Overdue`](crate::shm::Received::Overdue), `annulus top` shows it, and any other subscriber waits by
    /// that time. The publisher itself does nothing for it, and pays nothing.
    ///
    /// What makes the ring refuses a time of zero, or of more than 584 years.
    ///
    /// ```
    /// use annulus::{RecvTimeoutError, Settings};
    /// use annulus::shm::{Shared, broadcast};
    /// use std::time::Duration;
    ///
    /// let settings = Settings::new(64).deadline(Duration::from_millis(10));
    /// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(settings)?;
    ///
    /// // Usually in another process.
    /// let deadline = invitation.info()?.deadline().expect("the publisher has promised");
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(1);
    /// assert_eq!(subscriber.recv_timeout(deadline), Ok(1));
    /// assert_eq!(subscriber.recv_timeout(deadline), Err(RecvTimeoutError::Timeout)); // it hangs
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(all(feature = "shm", target_os = "linux", target_pointer_width = "64", not(annulus_loom)))]
    pub fn deadline(self, at_most: core::time::Duration) -> Self {
        Self { deadline: Some(at_most), ..self }
    }

    /// The same, called `topic` if nobody has named it.
    // Decision 0101: so that a topic can be exported.
    #[cfg(feature = "bus")]
    pub(crate) fn or_named(self, topic: &str) -> Self {
        Self { name: self.name.or_else(|| Some(Cow::Owned(topic.into()))), ..self }
    }

    /// The number of the first message. Nothing shows it; tests begin shortly before the numbers wrap.
    #[doc(hidden)]
    pub fn first(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// A ring whose writers don't wait for a slowest reader has no headroom, and a caller that asks for one
    /// has taken the wrong ring.
    #[inline(always)]
    pub(crate) fn without_headroom(&self) -> Result<(), CapacityError> {
        match self.headroom {
            0 => Ok(()),
            headroom => Err(CapacityError::NoHeadroom { headroom }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_leaves_the_others() {
        let settings = Settings::new(3).first(5);
        assert_eq!((settings.capacity, settings.first), (3, 5));
        let settings = settings.wait_strategy(WaitStrategy::BusySpin);
        assert_eq!((settings.capacity, settings.strategy), (3, WaitStrategy::BusySpin));
        let settings = settings.headroom(1).name(alloc::format!("orders-{}", 1));
        assert_eq!((settings.headroom, settings.name.as_deref()), (1, Some("orders-1")));
        #[cfg(feature = "std")]
        {
            let settings = settings.statistics(true).memory(Memory::require().lock());
            assert_eq!((settings.capacity, settings.first, settings.statistics), (3, 5, true));
            assert_eq!((settings.name.as_deref(), settings.headroom), (Some("orders-1"), 1));
            assert_eq!(settings.memory, Memory::require().lock());
        }
    }
}
