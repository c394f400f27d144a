//! [`Sunk`]: an end of a pipeline that nothing comes out of.

use alloc::sync::Arc;
use core::fmt;

use super::draft::SharedDraft;
use super::error::BuildError;
use super::pipeline::Pipeline;
use super::port::Outlet;
use super::timing::Timing;
use crate::wait::Control;

/// An end of a pipeline that nothing comes out of; made by [`Stages::sink`](super::Stages::sink).
#[must_use = "a pipeline is built by `build`"]
pub struct Sunk {
    pub(super) draft: SharedDraft,
    stage: usize,
}

impl Sunk {
    pub(super) fn new(draft: SharedDraft, stage: usize) -> Self {
        Self { draft, stage }
    }

    /// Names the sink: see [`Stages::named`](super::Stages::named).
    pub fn named(self, name: &str) -> Self {
        self.draft.lock().name(Some(self.stage), name);
        self
    }

    /// The sink's thread runs on this core only: see [`Stages::core`](super::Stages::core).
    pub fn core(self, core: impl Into<Option<usize>>) -> Self {
        let cores = core.into().into_iter().collect();
        self.draft.lock().pin(Some(self.stage), cores);
        self
    }

    /// Builds the pipeline: see [`Stages::build`](super::Stages::build).
    ///
    /// # Panics
    ///
    /// If the pipeline can't be built; [`try_build`](Self::try_build) returns an error instead.
    #[track_caller]
    pub fn build(self) -> Pipeline {
        self.try_build().unwrap_or_else(|error| panic!("annulus::topology: {error}"))
    }

    /// As [`build`](Self::build), but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// [`BuildError`]. No thread is left.
    pub fn try_build(self) -> Result<Pipeline, BuildError> {
        Pipeline::start(&self.draft)
    }
}

impl fmt::Debug for Sunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sunk").field("graph", &self.draft.graph()).finish_non_exhaustive()
    }
}

/// The outlet of a stage without results.
pub(super) struct Nothing;

impl Outlet<()> for Nothing {
    // Unreached: a sink has no results
    fn pass(&mut self, (): (), _: &mut Timing<'_>) -> bool {
        true
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn wake_at_the_end(&self, _: &Arc<Control>) {}
}
