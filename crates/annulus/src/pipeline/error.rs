//! Why a pipeline could not be built, and why it did not end well.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use std::error::Error;
use std::io;

use crate::affinity::{NoThread, PinError, write_no_cpu};
use crate::error::CapacityError;

/// Why a pipeline could not be built. No thread of it is left.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The ring of an edge can't be made.
    Capacity {
        /// The edge, as `from -> to`.
        edge: String,
        /// What is wrong with it.
        error: CapacityError,
    },
    /// The system has no thread for a stage. The threads that were there have ended.
    Thread {
        /// The name of the stage.
        stage: String,
        /// What the system says.
        error: io::Error,
    },
    /// Nothing receives what a stage sends: an end behind it was dropped, or is not a part of what is built.
    Unconnected {
        /// The name of the stage, or `input`.
        stage: String,
    },
    /// A branch was closed with an end of another pipeline. Neither of the two can be built.
    AnotherPipeline,
    /// An end of another fork was to be zipped. The two do not get the same messages, so one could wait for
    /// the other for ever.
    AnotherFork,
    /// An end was used after a build of its pipeline, which may have failed.
    AlreadyBuilt,
    /// There are no branches, or a parallel stage has no thread.
    NoBranches {
        /// What there are none of.
        of: &'static str,
    },
    /// A thread of a stage can't run on the core that it was given: there is no such core, or this process
    /// may not use it.
    Core {
        /// The name of the stage.
        stage: String,
        /// The core, by the system's number; why not; and which there are instead.
        error: PinError,
    },
    /// A stage was given more cores than it has threads, or fewer.
    CoreCount {
        /// The name of the stage.
        stage: String,
        /// How many threads it has.
        threads: usize,
        /// The cores.
        cores: Vec<usize>,
    },
    /// `name`, `core` or `cores` does not follow a stage.
    NoStage {
        /// The call, for example `name("parse")`.
        setting: String,
    },
}

impl BuildError {
    pub(super) fn no_thread(stage: String, why: NoThread) -> Self {
        match why {
            NoThread::Begin(error) => Self::Thread { stage, error },
            NoThread::Cpu(error) => Self::Core { stage, error },
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity { edge, error } => write!(f, "no ring for the edge {edge}: {error}"),
            Self::Thread { stage, error } => write!(f, "no thread for the stage {stage:?}: {error}"),
            Self::Unconnected { stage } => {
                write!(
                    f,
                    "nothing receives what {stage:?} sends: \
                     an end behind it was dropped, or is not a part of what is built"
                )
            }
            Self::AnotherPipeline => f.write_str("a branch ended with an end of another pipeline"),
            Self::AnotherFork => {
                f.write_str("a zip is for the branches of one fork, and got an end of another")
            }
            Self::AlreadyBuilt => {
                f.write_str("the pipeline of this end was built before, or its build failed")
            }
            Self::NoBranches { of } => write!(f, "there must be at least one {of}"),
            Self::Core { stage, error } => write_no_cpu(f, format_args!("the stage {stage:?}"), error),
            Self::CoreCount { stage, threads, cores } => write!(
                f,
                "the stage {stage:?} needs a core for each of its {threads} threads, or none, and got {cores:?}"
            ),
            Self::NoStage { setting } => {
                write!(f, "`{setting}` is for no stage: it follows the verb that adds one")
            }
        }
    }
}

impl Error for BuildError {}

/// A stage that panicked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StagePanic {
    /// The number of the stage, from 0: its place in [`Graph::stages`](super::Graph::stages).
    pub index: usize,
    /// The name of the stage. Two stages may have one name.
    pub stage: String,
    /// The message of the panic, or a note that it had none.
    pub message: String,
}

impl fmt::Display for StagePanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stage {:?} panicked: {}", self.stage, self.message)
    }
}

impl Error for StagePanic {}

/// Why a pipeline takes no more messages: what [`Input::close_reason`](super::Input::close_reason) returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// A stage has panicked. If several have, it is the first one.
    Panicked(StagePanic),
    /// It was [aborted](super::Pipeline::abort).
    Aborted,
    /// It was [shut down](super::Pipeline::shutdown).
    ShutDown,
    /// Nothing receives what it makes: its outputs were dropped or closed.
    Unread,
    /// It was never built: its builder was dropped, or the build failed.
    NotBuilt,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pipeline takes no more messages: ")?;
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Aborted => f.write_str("it was aborted"),
            Self::ShutDown => f.write_str("it was shut down"),
            Self::Unread => f.write_str("nobody receives what it makes; its outputs were dropped or closed"),
            Self::NotBuilt => f.write_str("it was not built"),
        }
    }
}

impl Error for CloseReason {}

/// The stages of a pipeline that panicked: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinError {
    pub(super) panics: Vec<StagePanic>,
}

impl JoinError {
    /// The panics, in the order in which they happened.
    #[must_use]
    pub fn panics(&self) -> &[StagePanic] {
        &self.panics
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, panic) in self.panics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{panic}")?;
        }
        Ok(())
    }
}

impl Error for JoinError {}
