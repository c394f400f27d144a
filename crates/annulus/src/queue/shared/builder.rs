//! [`Builder`]: makes shared queues.

use alloc::sync::Arc;

use super::state::State;
use super::{Receiver, Sender};
use crate::error::CapacityError;
use crate::lane::{ClaimedLane, Number};
use crate::os::numa::NumaNode;
use crate::sync::mutated;
use crate::wait::WaitStrategy;

/// Settings of a shared queue, and the verb that makes it. [`channel`](super::channel) is the short form.
///
/// ```
/// use annulus::CapacityError;
/// use annulus::queue::shared;
///
/// let (sender, receiver) = shared::Builder::new(100).build()?;
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
///
/// let error = shared::Builder::new(0).build::<u8>().unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
/// # Ok::<(), CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    capacity: usize,
    /// The number of the first message.
    first: Number,
    /// Where the slots are to lie.
    numa_node: NumaNode,
    strategy: WaitStrategy,
}

impl Builder {
    /// A queue of exactly `capacity` slots. Any number from 1 up is allowed; none is rounded. Powers of two
    /// are a little faster.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, first: Number::new(0), numa_node: None, strategy: WaitStrategy::default() }
    }

    /// Places the slots in the memory of this NUMA node, whichever thread touches them first.
    /// [`build`](Self::build) fails if the system has no such node, has no memory there, or is not Linux.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{CapacityError, queue::shared};
    ///
    /// let missing = shared::Builder::new(64).numa_node(1_000_000).build::<u64>();
    /// assert!(matches!(missing, Err(CapacityError::NumaNode { node: 1_000_000, .. })));
    /// ```
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    #[must_use]
    pub fn numa_node(mut self, node: usize) -> Self {
        self.numa_node = Some(node);
        self
    }

    /// How the handles of this queue wait. Verbs that end in `_by` use the strategy of their argument
    /// instead. Without this setting it is [`WaitStrategy::default`].
    #[must_use]
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        if !mutated!("builder_strategy_unheard") {
            self.strategy = strategy;
        }
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
    /// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots.
    pub fn build<T: Send>(self) -> Result<(Sender<T>, Receiver<T>), CapacityError> {
        let lane = ClaimedLane::new(self.capacity, self.first, self.numa_node)?;
        let state = Arc::new(State::new(lane, self.strategy));
        Ok((Sender { state: Arc::clone(&state) }, Receiver { state }))
    }
}
