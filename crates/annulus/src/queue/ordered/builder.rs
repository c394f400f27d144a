//! [`channel`] and [`Builder`]: they make ordered queues.

use super::state::State;
use super::{Receiver, Sender};
use crate::base::common::Common;
use crate::error::CapacityError;
use crate::lane::{Cells, Number, StampedSlot};
use crate::memory::Memory;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// Settings of an ordered queue, and the verb that makes it. [`channel`] is the short form.
///
/// ```
/// use annulus::CapacityError;
/// use annulus::queue::ordered;
///
/// let (sender, receiver) = ordered::Builder::new(100).build()?;
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
///
/// let error = ordered::Builder::new(0).build::<u8>().unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
/// # Ok::<(), CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    capacity: usize,
    /// The number of the first message.
    first: Number,
    /// What the memory of the slots is to be like.
    memory: Memory,
    strategy: WaitStrategy,
    statistics: bool,
    name: Option<&'static str>,
}

impl Builder {
    /// A queue of exactly `capacity` slots. Any number from 1 up is allowed; none is rounded. Powers of two
    /// are a little faster.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            first: Number::new(0),
            memory: Memory::default(),
            strategy: WaitStrategy::default(),
            statistics: false,
            name: None,
        }
    }

    /// What the memory of the slots is to be like: see [`memory`](crate::memory). Without this setting they
    /// come from the global allocator.
    ///
    /// [`build`](Self::build) returns [`CapacityError::Memory`] if a required option can't be met.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::queue::ordered;
    ///
    /// let (sender, _receiver) = ordered::Builder::new(1024).memory(Memory::prefer().lock()).build::<u64>()?;
    /// println!("{}", sender.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        if !seeded!("builder_memory_unheard") {
            self.memory = memory;
        }
        self
    }

    /// How the handles of this queue wait. Verbs that end in `_by` use the strategy of their argument
    /// instead. Without this setting it is [`WaitStrategy::default`].
    #[must_use]
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        if !seeded!("builder_strategy_unheard") {
            self.strategy = strategy;
        }
        self
    }

    /// Counts what happens rarely ([`Stats::counted`](crate::Stats::counted)). All other numbers need no such
    /// setting. Off by default. When it is off, it costs one look at a constant whenever a thread sleeps, or
    /// wakes others.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(mut self, on: bool) -> Self {
        self.statistics = on;
        self
    }

    /// Gives the queue a name, which its [`Stats`](crate::Stats) have. A queue with a name is in the list of
    /// `Observers`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// The number of the first message. No verb shows it. Tests begin shortly before the numbers wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first(mut self, first: u64) -> Self {
        self.first = Number::new(first);
        self
    }

    /// Makes the queue, for messages of type `T`. Allocates its slots and touches them.
    ///
    /// # Errors
    ///
    /// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots, or a required option of
    /// their memory can't be met.
    #[inline(always)]
    pub fn build<T: Send>(self) -> Result<(Sender<T>, Receiver<T>), CapacityError> {
        Ok(self.made_of(self.slots()?))
    }

    #[inline(always)]
    fn slots<T: Send>(&self) -> Result<Cells<StampedSlot<T>>, CapacityError> {
        StampedSlot::slots(self.capacity, self.first, &self.memory, Common::<State<T>>::BEFORE)
    }

    #[inline(always)]
    fn made_of<T: Send>(self, slots: Cells<StampedSlot<T>>) -> (Sender<T>, Receiver<T>) {
        let [state, other] = State::made(slots, self.first, self.strategy, self.statistics, self.name);
        (Sender { state }, Receiver { state: other, strategy: None })
    }

    /// As [`build`](Self::build), for the short form that can't fail.
    #[track_caller]
    #[inline(always)]
    pub(super) fn build_or_panic<T: Send>(self) -> (Sender<T>, Receiver<T>) {
        // (Slots alone are what may not be there: two ends would be copied out of the result.)
        match self.slots() {
            Ok(slots) => self.made_of(slots),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Makes a queue that holds exactly `capacity` messages of all senders together.
///
/// # Panics
///
/// If `capacity` is 0, or memory has no room for so many slots. [`Builder::build`] returns an error instead.
#[doc(alias = "ArrayQueue")]
#[doc(alias = "SegQueue")]
#[doc(alias = "unbounded_channel")]
#[doc(alias = "bounded")]
#[doc(alias = "unbounded")]
#[must_use]
#[track_caller]
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Builder::new(capacity).build_or_panic()
}
