//! [`Builder`]: makes queues.

use core::fmt;
use core::marker::PhantomData;

use super::kind::QueueKind;
use super::lane_node::Plan;
use super::{Consumer, Producer};
use crate::error::CapacityError;
use crate::lane::{Cells, Number};
use crate::memory::Memory;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// Settings of a queue of kind `K`, and the verb that makes it. The `channel` functions are short forms.
///
/// Slots of messages of one word: 1,024 of them lie in the first-level cache of most processors, 4,096 in the
/// second-level cache. Bursts want more.
///
/// ```
/// use annulus::spsc;
///
/// let (mut producer, mut consumer) = spsc::Builder::new(4096).build::<u64>()?;
/// producer.send(1).unwrap();
/// assert_eq!(consumer.recv(), Ok(1));
/// assert_eq!(consumer.capacity(), 4096);
/// # Ok::<(), annulus::CapacityError>(())
/// ```
pub struct Builder<K> {
    pub(crate) plan: Plan,
    kind: PhantomData<fn() -> K>,
}

impl<K: QueueKind> Builder<K> {
    /// Rings of exactly `capacity` slots. Any number from 1 up is allowed; none is rounded.
    #[doc(alias = "Config")]
    #[doc(alias = "ring_bits")]
    #[doc(alias = "low_latency")]
    #[doc(alias = "high_throughput")]
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            plan: Plan {
                capacity,
                first: Number::new(0),
                memory: Memory::default(),
                statistics: false,
                name: None,
                strategy: WaitStrategy::default(),
            },
            kind: PhantomData,
        }
    }

    /// What the memory of the slots of each ring is to be like: see [`memory`](crate::memory). Without this
    /// setting they come from the global allocator.
    ///
    /// Each ring has it, also the ring of a producer that joins later. [`build`](Self::build) returns
    /// [`CapacityError::Memory`] if a required option can't be met. Where a producer joins, `register`
    /// returns that error, and a clone of a producer panics.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::spsc;
    ///
    /// let memory = Memory::prefer().prefault().lock();
    /// let (producer, _consumer) = spsc::Builder::new(1024).memory(memory).build::<u64>()?;
    /// println!("{}", producer.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[doc(alias = "numa_node")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        if !seeded!("builder_memory_unheard") {
            self.plan.memory = memory;
        }
        self
    }

    /// How the handles of this queue wait. Verbs that end in `_by` use the strategy of their argument
    /// instead. Without this setting it is [`WaitStrategy::default`].
    ///
    /// ```
    /// use annulus::{WaitStrategy, spsc};
    ///
    /// let (mut producer, mut consumer) = spsc::Builder::new(64).wait_strategy(WaitStrategy::BusySpin).build()?;
    /// let reader = std::thread::spawn(move || consumer.recv()); // spins
    /// producer.send(7).unwrap();
    /// assert_eq!(reader.join().unwrap(), Ok(7));
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        if !seeded!("builder_strategy_unheard") {
            self.plan.strategy = strategy;
        }
        self
    }

    /// Counts what happens rarely ([`Stats::counted`](crate::Stats::counted)). In [`spsc`](crate::spsc) and
    /// [`mpsc`](crate::mpsc) queues it also measures how long about one message in 256 lies in a ring
    /// ([`ProducerStats::latency`](super::ProducerStats::latency)); it never measures two messages of a
    /// producer at once. All other numbers need no such setting. Off by default. When it is off, it costs one
    /// look at a constant whenever a producer or a consumer looks how far the other side has come, sleeps, or
    /// wakes the other side.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::mpsc::Builder::new(2).statistics(true).build()?;
    /// producer.try_send(1).unwrap();
    /// producer.try_send(2).unwrap();
    /// assert!(producer.try_send(3).is_err(), "full");
    /// assert_eq!(consumer.recv(), Ok(1));
    /// assert_eq!(consumer.stats().counted.unwrap().high_water, 2);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[doc(alias = "enable_metrics")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(mut self, on: bool) -> Self {
        self.plan.statistics = on;
        self
    }

    /// Gives the queue a name, which its [`Stats`](crate::Stats) have. A queue with a name is in the list of
    /// `Observers`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.plan.name = Some(name);
        self
    }

    /// The number of each ring's first message. Nothing shows it; tests begin shortly before the numbers
    /// wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first(mut self, first: u64) -> Self {
        self.plan.first = Number::new(first);
        self
    }

    /// Makes the queue, for messages of type `T`. Allocates its slots and touches them.
    ///
    /// # Errors
    ///
    /// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots, or a required option of
    /// their memory can't be met.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{CapacityError, mpmc};
    ///
    /// let error = mpmc::Builder::new(0).build::<u8>().unwrap_err();
    /// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
    /// ```
    #[allow(clippy::type_complexity, reason = "a producer and a consumer")]
    #[inline(always)]
    pub fn build<T: Send>(self) -> Result<(Producer<T, K>, Consumer<T, K>), CapacityError> {
        Ok(self.made_of(K::slots(&self.plan)?))
    }

    #[inline(always)]
    fn made_of<T: Send>(self, slots: Cells<K::Cell<T>>) -> (Producer<T, K>, Consumer<T, K>) {
        let (write, read) = K::ends(slots, &self.plan);
        (Producer { end: write }, Consumer { end: read, strategy: None })
    }

    /// As [`build`](Self::build), for the short forms that can't fail.
    #[track_caller]
    #[inline(always)]
    pub(super) fn build_or_panic<T: Send>(self) -> (Producer<T, K>, Consumer<T, K>) {
        // (Slots alone are what may not be there: two ends would be copied out of the result.)
        match K::slots(&self.plan) {
            Ok(slots) => self.made_of(slots),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Rings of 65,536 slots.
impl<K: QueueKind> Default for Builder<K> {
    fn default() -> Self {
        Self::new(1 << 16)
    }
}

impl<K> Clone for Builder<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Builder<K> {}

impl<K: QueueKind> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("kind", &K::NAME).field("plan", &self.plan).finish()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_option_leaves_the_others() {
        let builder = Builder::<crate::queue::spsc::Spsc>::new(3).first(5);
        assert_eq!((builder.plan.capacity, builder.plan.first), (3, Number::new(5)));
        let builder = builder.wait_strategy(WaitStrategy::BusySpin);
        assert_eq!((builder.plan.capacity, builder.plan.strategy), (3, WaitStrategy::BusySpin));
        #[cfg(feature = "std")]
        {
            let plan = builder.statistics(true).plan;
            assert_eq!((plan.capacity, plan.first, plan.statistics), (3, Number::new(5), true));
            let plan = builder.statistics(true).named("orders").plan;
            assert_eq!((plan.capacity, plan.statistics, plan.name), (3, true, Some("orders")));
        }
        #[cfg(feature = "std")]
        {
            let plan = builder.memory(Memory::require().lock()).plan;
            assert_eq!((plan.capacity, plan.memory), (3, Memory::require().lock()));
        }
    }
}
