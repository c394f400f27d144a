//! [`PipelineState`]: what all threads of a pipeline share.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use std::sync::{Mutex, PoisonError};

use super::error::StagePanic;
use crate::Shutdown;
use crate::wait::{Control, Latch};

/// What all threads of a pipeline share.
// Decision 0076: closing is the only signal.
pub(super) struct PipelineState {
    /// Closes all rings at once.
    pub(super) abort: Shutdown,
    /// Closes what comes in.
    pub(super) stop: Shutdown,
    /// Stops the thread that receives from the source, if there is one.
    pub(super) source: Arc<Control>,
    /// Open once all threads have done all but end.
    pub(super) ended: Latch,
    panics: Mutex<Vec<StagePanic>>,
}

impl Default for PipelineState {
    fn default() -> Self {
        Self {
            abort: Shutdown::new(),
            stop: Shutdown::new(),
            source: Arc::default(),
            ended: Latch::new(0),
            panics: Mutex::default(),
        }
    }
}

impl PipelineState {
    /// Notes that the stage with this number and name panicked.
    pub(super) fn panicked(&self, index: usize, stage: &str, payload: &(dyn Any + Send)) {
        let panic = StagePanic { index, stage: stage.to_string(), message: message_of(payload) };
        self.panics.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
    }

    pub(super) fn panics(&self) -> Vec<StagePanic> {
        self.panics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "(no message)".to_string(),
    }
}
