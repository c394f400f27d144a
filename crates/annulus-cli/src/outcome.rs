//! How a subcommand ends.

use std::fmt;
use std::process::ExitCode;

/// A subcommand that did what it was asked to do, and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything it checked holds: exit code 0.
    Passed,
    /// A check failed: exit code 1.
    Failed,
    /// The user stopped it, and everything it checked until then holds: exit code 130, as the shells have it.
    Interrupted,
    /// As [`Interrupted`](Self::Interrupted), by another program's SIGTERM: exit code 143.
    #[cfg(unix)]
    Terminated,
    /// As [`Interrupted`](Self::Interrupted), by SIGHUP, as its terminal is gone: exit code 129.
    #[cfg(unix)]
    HungUp,
}

impl Outcome {
    /// Its exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Interrupted => 130,
            #[cfg(unix)]
            Self::Terminated => 143,
            #[cfg(unix)]
            Self::HungUp => 129,
        }
    }

    /// What stopped it, if something did.
    pub(crate) fn stopped_by(self) -> &'static str {
        match self {
            #[cfg(unix)]
            Self::Terminated => "SIGTERM",
            #[cfg(unix)]
            Self::HungUp => "SIGHUP",
            _ => "Ctrl-C",
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Why a subcommand could not do what it was asked to do: bad input, bad usage, or a system that refused. It
/// says which value is wrong and what would be right; exit code 2, the same that the arguments' parser uses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure described by `what`, one line without a full stop.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Failure> for ExitCode {
    fn from(_: Failure) -> Self {
        Self::from(2)
    }
}
