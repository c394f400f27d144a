//! [`Peer`]: what one side of a queue knows of the process that has the other side.

use crate::stats::Handles;

/// What one side of a queue knows of the process that has the other side. `()`, where that is the same
/// process: there is nothing to know.
pub(crate) trait Peer: Send + Sync {
    /// Whether either process has closed the queue: a hint, by one load.
    fn may_have_closed(&self) -> bool;

    /// Whether either process has closed the queue, or the other one is gone, which also closes it. Whoever
    /// sees true also sees what the closing thread did before. It asks the kernel now and then.
    fn has_closed(&self) -> bool;

    /// This process closes the queue.
    fn close(&self);

    /// The last producer of this process goes. Whether the queue ends with it: not if others may have
    /// producers, too.
    fn ends_with_producer(&self) -> bool;

    /// How many producers there are, and how many there have been, where other processes may have some.
    fn producers(&self) -> Option<Handles>;

    /// How many lanes producers of other processes have used so far, where it is for them to use one: any
    /// number.
    fn lanes(&self) -> Option<usize>;
}

impl Peer for () {
    #[inline(always)]
    fn may_have_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn has_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn close(&self) {}

    #[inline(always)]
    fn ends_with_producer(&self) -> bool {
        true
    }

    fn producers(&self) -> Option<Handles> {
        None
    }

    #[inline(always)]
    fn lanes(&self) -> Option<usize> {
        None
    }
}
