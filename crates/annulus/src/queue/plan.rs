//! How the lanes of a queue are to be.

use alloc::boxed::Box;

use crate::lane::Number;
use crate::memory::Memory;
use crate::stats::Counting;
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

/// What a queue keeps of its plan. Constant.
pub(crate) struct KeptPlan {
    pub(super) capacity: usize,
    pub(super) first: Number,
    /// Few queues have options, and those are as large as all else.
    memory: Option<Box<Memory>>,
    pub(super) name: Option<&'static str>,
    pub(super) strategy: WaitStrategy,
}

impl Plan {
    #[inline(always)]
    pub(super) fn kept(&self) -> KeptPlan {
        let Self { capacity, first, memory, statistics: _, name, strategy } = *self;
        KeptPlan { capacity, first, memory: memory.asks().then(|| Box::new(memory)), name, strategy }
    }
}

impl KeptPlan {
    /// That of another lane.
    pub(super) fn again(&self, counters: &Counting) -> Plan {
        let statistics = counters.is_some();
        let Self { capacity, first, name, strategy, .. } = *self;
        let memory = self.memory.as_deref().copied().unwrap_or_default();
        Plan { capacity, first, memory, statistics, name, strategy }
    }
}
