//! The thread of a stage: receives what is there, works on it, sends what comes of it, and again.
//!
//! *Batches*. A stage takes several messages at once, because one look at a ring then serves all of them. But
//! a slow stage must not hold its first result back until it has worked on 256 messages. So a batch begins
//! with one message, and doubles while batches are quick ([`QUICK`]). After a slow one, the next batch is as
//! long as what would have been quick.
//!
//! *A panic* comes out of the stage's function, or out of a destructor. The results that it had are sent, the
//! panic is noted, and only then the rings close: so whoever sees the close also sees who panicked.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::counters::Work;
use super::error::StagePanic;
use super::port::{BoxInlet, BoxOutlet};
use crate::Shutdown;
use crate::sync::mutated;
use crate::wait::{Control, WaitStrategy};

/// The longest batch.
pub(super) const MOST: usize = 256;

/// How long a batch may take before the next one is shorter.
const QUICK: Duration = Duration::from_micros(20);

/// A batch shorter than this is not always timed: the clock would take longer than the work.
const SHORT: usize = 8;

/// Of short batches, one in so many is timed, while they are fast.
const TIMED: u64 = 8;

/// A batch that takes longer than this takes longer than the clock, so the next one is timed, too.
const LONG: Duration = Duration::from_micros(1);

/// What all threads of a pipeline share.
// Decision 0076: closing is the only signal.
#[derive(Default)]
pub(super) struct Shared {
    /// Closes all rings at once.
    pub(super) abort: Shutdown,
    /// Closes what comes in.
    pub(super) stop: Shutdown,
    /// Stops the thread that receives from the source, if there is one.
    pub(super) source: Arc<Control>,
    panics: Mutex<Vec<StagePanic>>,
}

impl Shared {
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

/// What the thread of a stage needs besides its rings.
pub(super) struct Context {
    pub(super) stage: usize,
    pub(super) name: String,
    pub(super) strategy: WaitStrategy,
    pub(super) shared: Arc<Shared>,
    pub(super) work: Arc<Work>,
}

impl Context {
    pub(super) fn is_aborted(&self) -> bool {
        self.shared.abort.is_shutdown()
    }
}

/// The results of a stage on their way out.
pub(super) struct Results<U> {
    batch: Vec<U>,
    outlet: BoxOutlet<U>,
    strategy: WaitStrategy,
    is_open: bool,
}

impl<U> Results<U> {
    fn new(outlet: BoxOutlet<U>, strategy: WaitStrategy) -> Self {
        Self { batch: Vec::with_capacity(MOST), outlet, strategy, is_open: true }
    }

    /// Adds a result. Returns false if nobody receives it.
    #[inline]
    pub(super) fn push(&mut self, result: U) -> bool {
        if self.batch.len() == MOST {
            self.send();
        }
        self.batch.push(result);
        self.is_open
    }

    /// What is to be sent, for who fills it himself.
    pub(super) fn batch(&mut self) -> &mut Vec<U> {
        &mut self.batch
    }

    /// Where they go.
    pub(super) fn outlet(&mut self) -> &mut BoxOutlet<U> {
        &mut self.outlet
    }

    /// Sends what is there. Returns false if nobody receives it.
    pub(super) fn send(&mut self) -> bool {
        if !self.batch.is_empty() {
            self.is_open &= self.outlet.send_all(&mut self.batch, self.strategy);
        }
        self.is_open
    }
}

/// What a stage does.
pub(super) trait Step<T, U> {
    /// Works until the inlet or the outlet is closed.
    fn work(&mut self, context: &Context, inlet: &mut BoxInlet<T>, results: &mut Results<U>);
}

/// Takes all messages out of the batch that it gets.
impl<T, U, F: FnMut(&mut Vec<T>, &mut Results<U>)> Step<T, U> for F {
    fn work(&mut self, context: &Context, inlet: &mut BoxInlet<T>, results: &mut Results<U>) {
        work(context, inlet, results, self);
    }
}

/// The thread of a stage.
pub(super) fn run<T, U>(
    context: &Context,
    mut inlet: BoxInlet<T>,
    outlet: BoxOutlet<U>,
    mut step: impl Step<T, U>,
) {
    let mut results = Results::new(outlet, context.strategy);
    let ended = catch_unwind(AssertUnwindSafe(|| step.work(context, &mut inlet, &mut results)));
    let report = |payload: Box<dyn Any + Send>| {
        context.shared.panicked(context.stage, &context.name, &*payload);
        // Its destructor may panic, too: one panic is enough to tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    };
    let (mut results, has_panicked) = (results, ended.is_err());
    let close = move || {
        if has_panicked {
            inlet.abandon();
        }
        if !mutated!("stage_keeps_results") {
            results.send();
        }
        // What is queued for it is dropped here, and so is the function.
        drop((inlet, step, results));
    };
    match ended {
        Ok(()) => {}
        Err(payload) if mutated!("stage_closes_first") => {
            let _ = catch_unwind(AssertUnwindSafe(close));
            std::thread::sleep(Duration::from_millis(50));
            report(payload);
            return;
        }
        Err(payload) => report(payload),
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(close)) {
        report(payload);
    }
}

/// Works in batches: the way for any rings.
pub(super) fn work<T, U>(
    context: &Context,
    inlet: &mut BoxInlet<T>,
    results: &mut Results<U>,
    step: &mut impl FnMut(&mut Vec<T>, &mut Results<U>),
) {
    let mut batch = Vec::with_capacity(MOST);
    let mut most = 1;
    let mut timing = Timing::new(&context.work);
    while inlet.receive(&mut batch, most, context.strategy).is_ok() {
        if context.is_aborted() {
            return;
        }
        let count = batch.len();
        timing.begin(count);
        step(&mut batch, results);
        // Before it is known how long messages take, a batch does not grow.
        if let Some(time) = timing.end() {
            most = next_most(most, count, time);
        }
        batch.clear();
        if !results.send() && !mutated!("stage_never_gives_up") {
            return;
        }
    }
}

/// Measures how long a thread works, and counts its batches. What is not told yet is told when it is dropped.
pub(super) struct Timing<'w> {
    work: &'w Work,
    /// When the batch in hand began, if it is timed.
    begun: Option<Instant>,
    /// Batches since the last one that was timed.
    untimed: u64,
    /// How long that one took: for ever, before the first.
    last: Duration,
}

impl<'w> Timing<'w> {
    pub(super) fn new(work: &'w Work) -> Self {
        Self { work, begun: None, untimed: 0, last: Duration::MAX }
    }

    /// A batch of `count` messages begins.
    #[inline]
    pub(super) fn begin(&mut self, count: usize) {
        self.work.batches.add(1);
        self.untimed += 1;
        let is_timed = count >= SHORT || self.untimed >= TIMED || self.last > LONG;
        self.begun = is_timed.then(Instant::now);
    }

    /// It ends. Returns how long it took, if it was timed.
    #[inline]
    pub(super) fn end(&mut self) -> Option<Duration> {
        self.last = self.begun.take()?.elapsed();
        self.tell();
        Some(self.last)
    }

    /// Those that were not timed took as long as the last one that was.
    fn tell(&mut self) {
        self.work.busy_ns.add(nanoseconds(self.last).saturating_mul(self.untimed));
        self.untimed = 0;
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        // A batch is in hand here if it panicked.
        if self.end().is_none() && self.untimed > 0 {
            self.tell();
        }
    }
}

/// How long the next batch may be, after one of `count` messages took `time`.
pub(super) fn next_most(most: usize, count: usize, time: Duration) -> usize {
    if mutated!("batches_only_grow") {
        return MOST;
    }
    let (time, quick) = (nanoseconds(time).max(1), nanoseconds(QUICK));
    if time <= quick / 2 {
        return (most * 2).min(MOST);
    }
    // As many as would have been quick.
    let fitting = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(quick) / time;
    usize::try_from(fitting).unwrap_or(MOST).clamp(1, MOST)
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn batches_that_are_not_timed_count_as_the_last_one_that_was() {
        let work = Work::default();
        let mut timing = Timing { work: &work, begun: None, untimed: 0, last: Duration::from_nanos(500) };
        for _ in 0..3 {
            timing.begin(1);
            assert_eq!(timing.end(), None);
        }
        assert_eq!((work.batches.get(), work.busy_ns.get()), (3, 0));
        drop(timing);
        assert_eq!((work.batches.get(), work.busy_ns.get()), (3, 1500));
    }
}
