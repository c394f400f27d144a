//! The thread of a stage: receives a message, works on it ([`Step`]), sends what comes of it, and again.
//!
//! Each result is sent before the function is called again, as a thread written by hand does it. So no result
//! waits behind another message, however long that takes, and two stages may wait for each other's results.
//!
//! *The end* is looked for at each message: whether the pipeline was aborted, and whether anything receives
//! the results. A send tells that; a stage that has nothing to send looks, and so does one that waits for a
//! message ([`readers`](super::readers)).
//!
//! *A panic* comes out of the stage's function, or out of a destructor. It is noted before the stage's output
//! closes. So a thread that sees the close also sees which stage panicked.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::port::{BoxInlet, BoxOutlet, Inlet, Outlet};
use super::readers::PipelineState;
use super::readers::WaitPlan;
use super::stats::Work;
use super::timing::{Timing, next_most};
use crate::base::drop_all::{Contained, drop_all, drop_each, end_panic};
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

    /// Whether nothing receives the results: for a message that has none.
    #[inline]
    pub(super) fn is_closed<U>(&self) -> bool
    where
        O: Outlet<U>,
    {
        self.outlet.is_closed() && !seeded!("stage_without_results_goes_on")
    }

    /// Sends `result`. Returns false if nothing receives it.
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

/// One message after the other: the function makes any number of results of it.
pub(super) struct MapStep<F>(pub(super) F);

impl<T, U, I: IntoIterator<Item = U>, F: FnMut(T) -> I> Step<T, U> for MapStep<F> {
    #[inline]
    fn work(
        &mut self,
        first: T,
        most: usize,
        inlet: &mut (impl Inlet<T> + ?Sized),
        out: &mut Results<'_, impl Outlet<U> + ?Sized>,
    ) -> Option<usize> {
        let Self(f) = self;
        let (mut message, mut count) = (first, 1);
        loop {
            out.count_call();
            let mut is_silent = true;
            // The destructor of a result that nothing receives may panic, and then that of those behind it.
            let mut results = Contained::new(f(message).into_iter());
            for result in &mut *results {
                is_silent = false;
                if !out.send(result) {
                    return None;
                }
            }
            if is_silent && out.is_closed() {
                return None;
            }
            if count == most {
                return Some(count);
            }
            if out.is_aborted() {
                return None;
            }
            let Some(next) = inlet.try_receive() else { return Some(count) };
            message = next;
            count += 1;
        }
    }
}

/// A stage that replaces each message by what `f` returns.
pub(super) fn mapping<T, U>(mut f: impl FnMut(T) -> U) -> MapStep<impl FnMut(T) -> Option<U>> {
    MapStep(move |message| Some(f(message)))
}

/// All messages that are there at once.
pub(super) struct Batch<T, U, F> {
    f: Contained<F>,
    messages: Vec<T>,
    results: Vec<U>,
}

impl<T, U, F: FnMut(&mut [T], &mut Vec<U>)> Batch<T, U, F> {
    pub(super) fn new(f: F) -> Self {
        Self { f: Contained::new(f), messages: Vec::new(), results: Vec::new() }
    }
}

impl<T, U, F> Batch<T, U, F> {
    /// Sends the results, until nothing receives them. Returns false then, and drops the others.
    fn send_results(&mut self, out: &mut Results<'_, impl Outlet<U> + ?Sized>) -> bool {
        let mut is_open = true;
        drop_each(self.results.drain(..), |result| is_open = is_open && out.send(result));
        is_open
    }
}

impl<T, U, F> Drop for Batch<T, U, F> {
    /// What a panic of the function has left.
    fn drop(&mut self) {
        let (mut messages, mut results) = (self.messages.drain(..), self.results.drain(..));
        drop_all(|| messages.next().is_some() || results.next().is_some());
    }
}

impl<T, U, F: FnMut(&mut [T], &mut Vec<U>)> Step<T, U> for Batch<T, U, F> {
    fn work(
        &mut self,
        first: T,
        most: usize,
        inlet: &mut (impl Inlet<T> + ?Sized),
        out: &mut Results<'_, impl Outlet<U> + ?Sized>,
    ) -> Option<usize> {
        self.messages.push(first);
        inlet.receive_more(&mut self.messages, most);
        let count = self.messages.len();
        out.count_call();
        (self.f)(&mut self.messages, &mut self.results);
        drop_each(self.messages.drain(..), drop);
        if self.results.is_empty() && out.is_closed() {
            return None;
        }
        self.send_results(out).then_some(count)
    }

    fn finish(&mut self, out: &mut Results<'_, impl Outlet<U> + ?Sized>) {
        if !seeded!("stage_keeps_results") {
            self.send_results(out);
        }
    }
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
        // It is not known yet how many they will be: probably as many as the last time.
        out.timing.begin(count);
        let Some(worked_on) = step.work(first, most, inlet, &mut out) else { return };
        count = worked_on;
        // Before it is known how long messages take, a batch does not grow.
        if let Some(time) = out.timing.end() {
            most = next_most(most, count, time);
        }
    }
}
