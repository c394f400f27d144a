//! How the lanes of a queue are to be.

use crate::lane::Number;
use crate::memory::Memory;
use crate::wait::WaitStrategy;

/// How lanes are to be. Constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) capacity: usize,
    /// The number of a lane's first message.
    pub(crate) first: Number,
    /// What the memory of its slots is to be like.
    pub(crate) memory: Memory,
    /// Whether what happens rarely is counted, and how long messages take is measured.
    pub(crate) statistics: bool,
    /// What the queue is called, if somebody has said so.
    pub(crate) name: Option<&'static str>,
    /// How handles wait where a verb does not say.
    pub(crate) strategy: WaitStrategy,
}
