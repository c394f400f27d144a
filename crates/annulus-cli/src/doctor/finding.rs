//! What was found of one thing, and what to do about it.

use serde::Serialize;

use super::root::Unseen;

/// A row of the report.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// What programs know it by. It stays the same.
    pub(super) id: &'static str,
    /// What people know it by.
    pub(super) name: &'static str,
    /// What is here.
    pub(super) here: String,
    /// What that means for latency.
    pub(super) verdict: Verdict,
    /// What to change: a command, or a setting. None if there is nothing to change.
    pub(super) advice: Option<String>,
}

/// What something means for latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// Nothing to change.
    Good,
    /// It costs latency, or makes it uneven.
    CouldBeBetter,
    /// The system does not say.
    Hidden,
    /// This machine or this system does not have it.
    NotThere,
}

impl Verdict {
    /// As people read it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::CouldBeBetter => "could be better",
            Self::Hidden => "hidden",
            Self::NotThere => "not there",
        }
    }
}

/// What was read of one thing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    here: String,
    verdict: Verdict,
    advice: Option<String>,
}

impl Reading {
    /// Nothing to change.
    pub(super) fn good(here: impl Into<String>) -> Self {
        Self { here: here.into(), verdict: Verdict::Good, advice: None }
    }

    /// It could be better, by `advice`.
    pub(super) fn better(here: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { here: here.into(), verdict: Verdict::CouldBeBetter, advice: Some(advice.into()) }
    }

    /// This machine does not have it.
    pub(super) fn not_there(here: impl Into<String>) -> Self {
        Self { here: here.into(), verdict: Verdict::NotThere, advice: None }
    }

    /// And what to do about it.
    pub(super) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// What the system did not say.
    fn hidden(unseen: &Unseen) -> Self {
        Self { here: unseen.to_string(), verdict: Verdict::Hidden, advice: None }
    }
}

/// What a check comes to: [`Unseen`] is a row, too.
pub(super) type Read = Result<Reading, Unseen>;

impl Finding {
    /// The row of what was read.
    pub(super) fn new(id: &'static str, name: &'static str, read: Read) -> Self {
        let Reading { here, verdict, advice } = read.unwrap_or_else(|unseen| Reading::hidden(&unseen));
        Self { id, name, here, verdict, advice }
    }
}
