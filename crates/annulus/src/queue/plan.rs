//! How the lanes of a queue are to be.

use crate::lane::Number;
use crate::os::numa::NumaNode;
use crate::wait::WaitStrategy;

/// How lanes are to be. Constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(super) capacity: usize,
    /// The number of a lane's first message.
    pub(super) first: Number,
    /// Where its slots are to lie.
    pub(super) numa_node: NumaNode,
    /// Whether a consumer that waits asks for the next message (`lane/hand_off.rs`).
    pub(super) hand_off: bool,
    /// Whether its producer and its consumer measure how long messages take.
    pub(super) statistics: bool,
    /// How handles wait where a verb does not say.
    pub(super) strategy: WaitStrategy,
}
