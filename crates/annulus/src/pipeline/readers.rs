//! How a pipeline ends: [`PipelineState`], what all its threads share, and [`Readers`], which tell the
//! writers of a ring that nothing receives from it any more, also if the writers wait for messages.
//!
//! A stage that waits for a message sleeps in the ring before it, and the end of the ring behind it has to
//! wake it there. So its thread lends the eventcount at which it sleeps, as a worker does for a stop
//! ([`Control`]). What ends the ring behind it closes that ring, and then wakes the thread. The thread looks
//! at its outlet before it sleeps ([`NextOrStop`]).

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::error::{CloseReason, StagePanic};
use crate::close::NotifyOnClose;
use crate::error::RecvError;
use crate::sync::seeded;
use crate::wait::{Control, Latch, Lending, Look, NextOrStop, WaitStrategy, pass_on, wait_until};
use crate::{Receive, Shutdown};

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

/// The reading side of a ring, for the writers of the ring.
pub(super) struct Readers {
    pipeline: Arc<PipelineState>,
    writers: Mutex<Vec<Arc<Control>>>,
    /// Of an output: how many messages it has received, once it is dropped.
    pub(super) taken: OnceLock<u64>,
}

impl Readers {
    /// Of a ring of this pipeline.
    pub(super) fn new(pipeline: &Arc<PipelineState>) -> Self {
        Self { pipeline: Arc::clone(pipeline), writers: Mutex::default(), taken: OnceLock::new() }
    }

    /// Why a ring between an input and the first stage is closed.
    pub(super) fn close_reason(&self) -> CloseReason {
        let PipelineState { abort, stop, .. } = &*self.pipeline;
        // A panic is noted before anything is closed.
        match self.pipeline.panics().into_iter().next() {
            Some(panic) => CloseReason::Panicked(panic),
            None if abort.is_shutdown() => CloseReason::Aborted,
            None if stop.is_shutdown() => CloseReason::ShutDown,
            None => CloseReason::Unread,
        }
    }

    /// The end of the ring wakes the thread that waits with `control`. If the ring has ended already, the
    /// thread sees so when it looks: the lock was held between the two.
    pub(super) fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(control));
    }

    /// A reader is gone, or the ring is closed: the writers look whether a reader is left.
    fn have_changed(&self) {
        if !seeded!("stage_sleeps_on") {
            self.writers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|one| one.wake());
        }
    }
}

impl NotifyOnClose for Readers {
    fn taken(&self, count: u64) {
        _ = self.taken.set(count);
    }

    fn closed(&self) {
        self.have_changed();
    }
}

/// Says that a reader is gone, when it is dropped: after the reader.
pub(super) struct ReaderGone(pub(super) Arc<Readers>);

impl Drop for ReaderGone {
    fn drop(&mut self) {
        self.0.have_changed();
    }
}

/// How a stage waits for a message.
#[derive(Clone, Copy)]
pub(super) struct WaitPlan<'o> {
    pub(super) strategy: WaitStrategy,
    /// Whether nothing receives what it would send.
    pub(super) is_over: &'o dyn Fn() -> bool,
}

/// Waits for a message. An error if the ring has come to its end, a stop is asked for, or nothing is there
/// and nothing receives what would come of it.
///
/// # Safety
///
/// `receiver` lives longer than `lending`.
#[inline]
pub(super) unsafe fn receive<R: Receive>(
    receiver: &mut R,
    lending: &mut Lending,
    WaitPlan { strategy, is_over }: WaitPlan<'_>,
) -> Result<R::Item, RecvError> {
    loop {
        if lending.control().asked().is_some() && !seeded!("source_never_stops") {
            pass_on(receiver);
            return Err(RecvError::CLOSED);
        }
        match receiver.poll_in_hand() {
            Look::Found(found) => return found,
            // Unreached: a message that is just being sent: two threads have to meet there; loom worker
            Look::Again => {}
            Look::Nothing if is_over() => {
                pass_on(receiver);
                return Err(RecvError::CLOSED);
            }
            Look::Nothing => {
                // SAFETY: the caller's promise.
                let mut next = unsafe { NextOrStop::new(receiver, lending, is_over) };
                // Unreached: what a seeded bug does
                let soon = || std::time::Instant::now().checked_add(core::time::Duration::from_millis(10));
                let deadline = if seeded!("source_polls") { soon() } else { None };
                wait_until(&mut next, strategy, deadline);
            }
        }
    }
}
