//! [`Readers`]: tells those who send into a ring that nobody receives any more, also if they wait for
//! messages.
//!
//! A stage that waits for a message sleeps in the ring before it, and the end of the ring behind it has to
//! wake it there. So its thread lends the event at which it sleeps, as an event loop does for a stop
//! ([`Control`]). Whoever ends the ring behind it closes that, and then wakes the thread. The thread looks at
//! its outlet before it sleeps ([`NextOrStop`]).

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::error::CloseReason;
use super::state::PipelineState;
use crate::Receive;
use crate::close::Told;
use crate::error::RecvError;
use crate::sync::seeded;
use crate::wait::{Control, Lending, Look, NextOrStop, WaitStrategy, pass_on, wait_until};

/// The reading side of a ring, for those who send into it.
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

    /// The end of the ring wakes whoever waits with `control`. If it is over already, that one sees so when
    /// it looks: the lock was held between the two.
    pub(super) fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(control));
    }

    /// A reader is gone, or the ring is closed: those who send look whether anybody is left.
    fn have_changed(&self) {
        if !seeded!("stage_sleeps_on") {
            self.writers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|one| one.wake());
        }
    }
}

impl Told for Readers {
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
    /// Whether nobody receives what it would send.
    pub(super) is_over: &'o dyn Fn() -> bool,
}

/// Waits for a message. An error if the ring has come to its end, somebody asks to stop, or nothing is there
/// and nobody receives what would come of it.
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
            return Err(RecvError);
        }
        match receiver.poll_in_hand() {
            Look::Found(found) => return found,
            // Unreached: a message that is just being sent: two threads have to meet there; loom event_loop
            Look::Again => {}
            Look::Nothing if is_over() => {
                pass_on(receiver);
                return Err(RecvError);
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
