//! On which cores the threads of a row run.

use crate::cores::{Cores, pin, unpin};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    #[default]
    Apart,
    SameCore,
    OneBeside,
    Unpinned,
    BusyMachine,
    /// As many cores as threads.
    OwnCores,
}

impl Placement {
    /// All of them but that with another program.
    pub const QUIET: [Self; 4] = [Self::Apart, Self::SameCore, Self::OneBeside, Self::Unpinned];

    /// In the name of a row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::SameCore => "same core",
            Self::OneBeside => "one producer beside",
            Self::Unpinned => "unpinned",
            Self::BusyMachine => "busy machine",
            Self::OwnCores => "own cores",
        }
    }

    /// For the reader of a row.
    pub fn about(self) -> &'static str {
        match self {
            Self::Apart => "producers on one core, consumers on the other",
            Self::SameCore => "all threads on one core",
            Self::OneBeside => "one producer on the consumers' core, the others on the other",
            Self::Unpinned => "the scheduler moves the threads between the two cores",
            Self::BusyMachine => {
                "the scheduler moves the threads between the two cores, and a program that spins has its part of them"
            }
            Self::OwnCores => "each thread on a core of its own",
        }
    }

    /// Whether it differs from the others with so many producers.
    pub fn suits(self, producers: usize) -> bool {
        self != Self::OneBeside || producers > 1
    }

    /// Cores without which it is another placement, with so many threads.
    pub fn cores(self, threads: usize) -> usize {
        match self {
            Self::OwnCores => threads,
            Self::Apart | Self::OneBeside => 2,
            Self::SameCore | Self::Unpinned | Self::BusyMachine => 1,
        }
    }

    /// Where the thread that measures runs, which has one other beside it.
    pub fn measuring(self, cores: Cores) -> Vec<usize> {
        match self {
            Self::Apart | Self::SameCore | Self::OneBeside | Self::OwnCores => vec![cores.here],
            Self::Unpinned | Self::BusyMachine => vec![cores.here, cores.there],
        }
    }

    /// Where that one runs.
    pub fn beside(self, cores: Cores) -> Vec<usize> {
        match self {
            Self::SameCore => vec![cores.here],
            Self::Apart | Self::OneBeside | Self::OwnCores => vec![cores.there],
            Self::Unpinned | Self::BusyMachine => vec![cores.here, cores.there],
        }
    }

    /// Puts the calling thread, producer `number` beside so many consumers, where it belongs.
    pub fn place_producer(self, number: usize, consumers: usize, cores: Cores) {
        match self {
            Self::Apart => pin(cores.there),
            Self::SameCore => pin(cores.here),
            Self::OneBeside => pin(if number == 0 { cores.here } else { cores.there }),
            Self::Unpinned | Self::BusyMachine => unpin(cores),
            Self::OwnCores => pin(cores.number(consumers + number)),
        }
    }

    /// Puts the calling thread, consumer `number`, where it belongs.
    pub fn place_consumer(self, number: usize, cores: Cores) {
        match self {
            Self::Apart | Self::SameCore | Self::OneBeside => pin(cores.here),
            Self::Unpinned | Self::BusyMachine => unpin(cores),
            Self::OwnCores => pin(cores.number(number)),
        }
    }
}
