//! [`Builder`]: makes queues.

use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "std")]
use super::kind::InPlace;
use super::kind::Kind;
#[cfg(feature = "std")]
use super::pages::of_kinds;
use super::plan::Plan;
use super::{Consumer, Producer};
use crate::error::CapacityError;
use crate::lane::Number;
use crate::sync::mutated;
use crate::wait::WaitStrategy;

/// Settings of a queue of kind `K`, and the verb that makes it. The `channel` functions are short forms.
///
/// | preset | slots of each ring | for |
/// | --- | --- | --- |
/// | [`ultra_low_latency`](Self::ultra_low_latency) | 1,024 | messages of one word, in the first-level cache |
/// | [`low_latency`](Self::low_latency) | 4,096 | messages of one word, in the second-level cache |
/// | [`default`](Self::default) | 65,536 | most uses |
/// | [`high_throughput`](Self::high_throughput) | 262,144 | bursts |
///
/// ```
/// use annulus::spsc;
///
/// let (mut producer, mut consumer) = spsc::Builder::low_latency().build::<u64>()?;
/// producer.send(1).unwrap();
/// assert_eq!(consumer.recv(), Ok(1));
/// assert_eq!(consumer.capacity(), 4096);
/// # Ok::<(), annulus::CapacityError>(())
/// ```
pub struct Builder<K> {
    pub(super) plan: Plan,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Builder<K> {
    /// Rings of exactly `capacity` slots. Any number from 1 up is allowed; none is rounded.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            plan: Plan {
                capacity,
                first: Number::new(0),
                numa_node: None,
                hand_off: false,
                statistics: false,
                strategy: WaitStrategy::default(),
            },
            kind: PhantomData,
        }
    }

    /// Rings of 4,096 slots.
    #[must_use]
    pub fn low_latency() -> Self {
        Self::new(1 << 12)
    }

    /// Rings of 1,024 slots.
    #[must_use]
    pub fn ultra_low_latency() -> Self {
        Self::new(1 << 10)
    }

    /// Rings of 262,144 slots.
    #[must_use]
    pub fn high_throughput() -> Self {
        Self::new(1 << 18)
    }

    /// Places the slots of each ring in the memory of this NUMA node, whichever thread touches them first.
    /// Choose the node of the side that waits more for memory: the producers or the consumer.
    /// [`build`](Self::build) fails if the system has no such node, has no memory there, or is not Linux.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{CapacityError, spsc};
    ///
    /// let missing = spsc::Builder::new(64).numa_node(1_000_000).build::<u64>();
    /// assert!(matches!(missing, Err(CapacityError::NumaNode { node: 1_000_000, .. })));
    /// ```
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    #[must_use]
    pub fn numa_node(mut self, node: usize) -> Self {
        self.plan.numa_node = Some(node);
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
        if !mutated!("builder_strategy_unheard") {
            self.plan.strategy = strategy;
        }
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
    /// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots.
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
    pub fn build<T: Send>(self) -> Result<(Producer<T, K>, Consumer<T, K>), CapacityError> {
        let (write, read) = K::ends(self.plan)?;
        Ok((Producer { end: write }, Consumer { end: read }))
    }

    /// As [`build`](Self::build), for the short forms that can't fail.
    #[track_caller]
    pub(super) fn build_or_panic<T: Send>(self) -> (Producer<T, K>, Consumer<T, K>) {
        self.build().unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(feature = "std")]
of_kinds! { spsc::Spsc, mpsc::Mpsc =>
impl<K: InPlace> Builder<K> {
    /// Measures how long about one message in 64 lies in a ring, for [`Consumer::snapshot`]. It never
    /// measures two messages at once. The counts of a snapshot need no such setting. Off by default. When it
    /// is off, it costs one look at a constant whenever a producer or a consumer looks how far the other side
    /// has come.
    ///
    /// Queues with many consumers have no snapshot, so they do not have this setting:
    ///
    /// ```compile_fail,E0599
    /// annulus::mpmc::Builder::new(64).statistics(true);
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(mut self, on: bool) -> Self {
        self.plan.statistics = on;
        self
    }
}
}

/// Rings of 65,536 slots.
impl<K: Kind> Default for Builder<K> {
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

impl<K: Kind> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("kind", &K::NAME).field("plan", &self.plan).finish()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_option_leaves_the_others() {
        let builder = Builder::<crate::queue::spsc::Spsc>::new(3).first(5).hand_off(true);
        assert_eq!(
            (builder.plan.capacity, builder.plan.first, builder.plan.hand_off),
            (3, Number::new(5), true)
        );
        let builder = builder.wait_strategy(WaitStrategy::BusySpin);
        assert_eq!((builder.plan.capacity, builder.plan.strategy), (3, WaitStrategy::BusySpin));
        #[cfg(feature = "std")]
        {
            let plan = builder.statistics(true).plan;
            assert_eq!((plan.capacity, plan.first, plan.statistics), (3, Number::new(5), true));
        }
        #[cfg(feature = "numa")]
        {
            let plan = builder.numa_node(7).plan;
            assert_eq!((plan.capacity, plan.first, plan.numa_node), (3, Number::new(5), Some(7)));
        }
    }
}
