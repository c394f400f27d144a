//! The thread of a stage: receives a message, works on it, sends what comes of it, and again.
//!
//! *The end* is looked for at each message: whether the pipeline was aborted, and whether anybody receives
//! the results. A send tells that; a stage that has nothing to send looks, and so does one that waits for a
//! message ([`readers`](super::readers)).
//!
//! *A panic* comes out of the stage's function, or out of a destructor. It is noted before the stage's output
//! closes. So whoever sees the close also sees who panicked.

use alloc::string::String;
use alloc::sync::Arc;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::counters::Work;
use super::port::{BoxInlet, BoxOutlet, Inlet, Outlet};
use super::readers::WaitPlan;
use super::state::PipelineState;
use super::timing::{Timing, next_most};
use crate::base::drop_all::end_panic;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// What the thread of a stage needs besides its rings.
pub(super) struct Context {
    pub(super) stage: usize,
    pub(super) name: String,
    pub(super) strategy: WaitStrategy,
    pub(super) shared: Arc<PipelineState>,
    pub(super) work: Arc<Work>,
}

impl Context {
    /// Calls `what`. If that panics, notes it, and returns true.
    fn panics(&self, what: impl FnOnce()) -> bool {
        let Err(payload) = catch_unwind(AssertUnwindSafe(what)) else { return false };
        if seeded!("stage_closes_first") {
            let (shared, stage, name) = (Arc::clone(&self.shared), self.stage, self.name.clone());
            std::thread::spawn(move || {
                std::thread::sleep(core::time::Duration::from_millis(50));
                shared.panicked(stage, &name, &*payload);
            });
            return true;
        }
        self.shared.panicked(self.stage, &self.name, &*payload);
        // Its destructor may panic, too: one panic is enough to tell.
        end_panic(payload);
        true
    }
}

/// Where the results of a stage go.
pub(super) struct Results<'c, O: ?Sized> {
    context: &'c Context,
    outlet: &'c mut O,
    timing: Timing<'c>,
}

impl<'c, O: ?Sized> Results<'c, O> {
    fn new(context: &'c Context, outlet: &'c mut O) -> Self {
        Self { context, outlet, timing: Timing::new(&context.work, context.strategy) }
    }

    /// Counts a call of the stage's function.
    #[inline]
    pub(super) fn count_call(&self) {
        self.context.work.calls.add(1);
    }

    /// Whether the pipeline was aborted.
    #[inline]
    pub(super) fn is_aborted(&self) -> bool {
        self.context.shared.abort.is_shutdown() && !seeded!("abort_waits_for_a_batch")
    }

    /// Whether nobody receives the results: for a message that has none.
    #[inline]
    pub(super) fn is_closed<U>(&self) -> bool
    where
        O: Outlet<U>,
    {
        self.outlet.is_closed() && !seeded!("stage_without_results_goes_on")
    }

    /// Sends `result`. Returns false if nobody receives it.
    #[inline]
    pub(super) fn send<U>(&mut self, result: U) -> bool
    where
        O: Outlet<U>,
    {
        self.outlet.pass(result, &mut self.timing) || seeded!("stage_never_gives_up")
    }
}

/// What a stage does with messages.
pub(super) trait Step<T, U> {
    /// Works on `first`, and on those behind it that are there: no more than `most` messages. Returns how
    /// many they were, or `None` if the stage has come to its end.
    fn work(
        &mut self,
        first: T,
        most: usize,
        inlet: &mut (impl Inlet<T> + ?Sized),
        out: &mut Results<'_, impl Outlet<U> + ?Sized>,
    ) -> Option<usize>;

    /// Sends the results that a panic has left.
    fn finish(&mut self, _: &mut Results<'_, impl Outlet<U> + ?Sized>) {}
}

/// The thread of a stage.
pub(super) fn run<T: Send + 'static, U: Send + 'static>(
    context: &Context,
    mut inlet: BoxInlet<T>,
    mut outlet: BoxOutlet<U>,
    mut step: impl Step<T, U>,
) {
    inlet.each_control(&mut |control| outlet.wake_at_the_end(control));
    let has_panicked = context.panics(|| match (inlet.consumer(), outlet.producer()) {
        // The most frequent ones without an indirect call for each message.
        (Some(inlet), Some(outlet)) => work(context, inlet, outlet, &mut step),
        _ => work(context, &mut *inlet, &mut *outlet, &mut step),
    });
    if has_panicked {
        context.panics(|| inlet.abandon());
        context.panics(|| step.finish(&mut Results::new(context, &mut *outlet)));
    }
    // The function, and what is queued for the stage, have destructors. So the outlet closes last.
    context.panics(|| drop(step));
    context.panics(|| drop(inlet));
    context.panics(|| drop(outlet));
}

/// Works until the inlet or the outlet is closed.
fn work<T, U>(
    context: &Context,
    inlet: &mut (impl Inlet<T> + ?Sized),
    outlet: &mut (impl Outlet<U> + ?Sized),
    step: &mut impl Step<T, U>,
) {
    let mut out = Results::new(context, outlet);
    let (mut most, mut count) = (1, 1);
    while !out.is_aborted() {
        let is_over = || out.is_closed();
        let how = WaitPlan { strategy: context.strategy, is_over: &is_over };
        let Ok(first) = inlet.receive(how) else { return };
        // It may have waited.
        if out.is_aborted() {
            return;
        }
        // Nobody knows yet how many they will be: probably as many as the last time.
        out.timing.begin(count);
        let Some(worked_on) = step.work(first, most, inlet, &mut out) else { return };
        count = worked_on;
        // Before it is known how long messages take, a batch does not grow.
        if let Some(time) = out.timing.end() {
            most = next_most(most, count, time);
        }
    }
}
