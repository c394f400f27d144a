//! Why a pipeline could not be built, and why it did not end well.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use std::error::Error;
use std::io;

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
    /// Nothing receives what a stage sends: the end that it had was dropped.
    Unconnected {
        /// The name of the stage.
        stage: String,
    },
    /// A branch was closed with an end of another pipeline.
    AnotherPipeline,
    /// There are no branches, or a parallel stage has no thread.
    NoBranches {
        /// What there are none of.
        of: &'static str,
    },
    /// `named` does not follow a stage, so there is nothing to name.
    NothingToName {
        /// The name that was given.
        name: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity { edge, error } => write!(f, "no ring for the edge {edge}: {error}"),
            Self::Thread { stage, error } => write!(f, "no thread for the stage {stage:?}: {error}"),
            Self::Unconnected { stage } => {
                write!(f, "nothing receives what the stage {stage:?} sends: its end was dropped")
            }
            Self::AnotherPipeline => f.write_str("a branch ended with an end of another pipeline"),
            Self::NoBranches { of } => write!(f, "there must be at least one {of}"),
            Self::NothingToName { name } => {
                write!(f, "{name:?} names nothing: `named` follows the verb that makes a stage")
            }
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Capacity { error, .. } => Some(error),
            Self::Thread { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A stage that panicked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StagePanic {
    /// The name of the stage.
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
