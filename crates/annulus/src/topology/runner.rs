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

/// A batch as short as this is not always timed: the clock would take longer than the work.
const SHORT: usize = 8;

/// Of short batches, one in so many is timed.
const TIMED: u64 = 8;

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
    /// Notes that `stage` panicked.
    pub(super) fn panicked(&self, stage: &str, payload: &(dyn Any + Send)) {
        let panic = StagePanic { stage: stage.to_string(), message: message_of(payload) };
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
    pub(super) name: String,
    pub(super) strategy: WaitStrategy,
    pub(super) shared: Arc<Shared>,
    pub(super) work: Arc<Work>,
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

    /// Sends what is there. Returns false if nobody receives it.
    fn send(&mut self) -> bool {
        if !self.batch.is_empty() {
            self.is_open &= self.outlet.send_all(&mut self.batch, self.strategy);
        }
        self.is_open
    }
}

/// The thread of a stage: `step` takes all messages out of the batch that it gets.
pub(super) fn run<T, U>(
    context: &Context,
    mut inlet: BoxInlet<T>,
    outlet: BoxOutlet<U>,
    mut step: impl FnMut(&mut Vec<T>, &mut Results<U>),
) {
    let mut results = Results::new(outlet, context.strategy);
    let ended = catch_unwind(AssertUnwindSafe(|| work(context, &mut inlet, &mut results, &mut step)));
    let report = |payload: Box<dyn Any + Send>| {
        context.shared.panicked(&context.name, &*payload);
        // Its destructor may panic, too: one panic is enough to tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    };
    let mut results = results;
    let close = move || {
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

fn work<T, U>(
    context: &Context,
    inlet: &mut BoxInlet<T>,
    results: &mut Results<U>,
    step: &mut impl FnMut(&mut Vec<T>, &mut Results<U>),
) {
    let mut batch = Vec::with_capacity(MOST);
    let mut most = 1;
    let mut untimed = 0;
    while inlet.receive(&mut batch, most, context.strategy).is_ok() {
        if context.shared.abort.is_shutdown() && !mutated!("abort_drains") {
            return;
        }
        untimed += 1;
        let count = batch.len();
        if count < SHORT && untimed < TIMED {
            step(&mut batch, results);
            // Before it is known how long messages take, a batch does not grow.
        } else {
            let begun = Instant::now();
            step(&mut batch, results);
            let time = begun.elapsed();
            context.work.busy_ns.add(nanoseconds(time) * untimed);
            context.work.batches.add(untimed);
            untimed = 0;
            most = next_most(most, count, time);
        }
        batch.clear();
        if !results.send() && !mutated!("stage_never_gives_up") {
            return;
        }
    }
}

/// How long the next batch may be, after one of `count` messages took `time`.
fn next_most(most: usize, count: usize, time: Duration) -> usize {
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

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
