//! [`Pipeline`]: a pipeline that runs.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::draft::{Draft, EdgeCounters, Job, SharedDraft};
use super::error::{BuildError, JoinError, StagePanic};
use super::graph::{Graph, Node};
use super::readers::PipelineState;
use super::runner::Context;
use super::stats::Work;
use super::stats::{EdgeNumbers, StageStats, Stats, edge};
use super::timing::nanoseconds;
use crate::affinity::{self, NoThread};
use crate::base::drop_all::drop_each;
use crate::sync::{Ordering, fence, pause, seeded};
use crate::wait::{Stop, WaitStrategy};

/// A pipeline that runs: the threads of its stages, and what can be done with all of them.
///
/// # How it ends
///
/// | what happens | what is lost |
/// | --- | --- |
/// | The input is dropped, the source is closed, or [`shutdown`](Self::shutdown) | nothing: each stage works on what it has, and ends |
/// | An output is dropped | what is on its way there. The stage in front of it ends, also if it waits for messages, and then the one before; unless they have another branch to send to |
/// | A stage panics | the message (of a stage of batches: all that it got), and what is queued in front of the stage. The results that it had go on, and the stages behind it drain. Stages in front of it end as above |
/// | A thread of a stage of several panics | the message. [`then_unordered`](super::Stages::then_unordered): nothing more comes in, and the other threads work on what is queued. [`then_parallel`](super::Stages::then_parallel): the results of the messages before go on, in order; what is behind is lost, with the results that other threads have made of it |
/// | [`abort`](Self::abort) | what is in the pipeline. What has reached an output can still be received |
///
/// Nothing waits for a stage that is gone. Every thread ends once the input is dropped or closed, and it has
/// worked on what is there. After an abort, a thread that is in a stage's function ends when the function
/// returns, or when the iterator that it returned has made its next item. A thread that waits for room in an
/// output that is not read continues to wait: drop the output, or abort.
///
/// If the `Pipeline` is dropped, its threads continue, and end as above. So a panic is then seen only as an
/// early end.
#[must_use = "`join` says whether a stage panicked"]
pub struct Pipeline {
    graph: Graph,
    counters: Vec<EdgeCounters>,
    threads: Vec<Thread>,
    shared: Arc<PipelineState>,
    begun: Instant,
}

/// Says that a thread has ended, or could not begin, when it is dropped.
struct ThreadEnd(Arc<PipelineState>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        self.0.ended.count_down();
    }
}

/// A thread of a stage.
struct Thread {
    stage: usize,
    work: Arc<Work>,
    handle: JoinHandle<Option<()>>,
}

impl Pipeline {
    /// Starts the threads of `draft`, or none.
    pub(super) fn start(draft: &SharedDraft) -> Result<Self, BuildError> {
        let mut draft = draft.take();
        if let Some(error) = draft.take_error() {
            return Err(error);
        }
        let Draft { graph, counters, jobs, connect, shared, stack_bytes, .. } = draft;
        let mut pipeline = Self { graph, counters, threads: Vec::new(), shared, begun: Instant::now() };
        // A thread begins its work when all threads are there, so none takes messages if the
        // build fails.
        let gate = Arc::new(Mutex::new(false));
        let mut is_open = lock(&gate);
        for job in jobs {
            let (stage, stack_bytes) = (job.stage, stack_bytes[job.stage]);
            if let Err(why) = pipeline.spawn(job, stack_bytes, &gate) {
                drop(is_open);
                let stage = pipeline.graph.name(Node::Stage(stage));
                if !seeded!("build_leaves_threads") {
                    let _ = pipeline.join();
                }
                return Err(BuildError::no_thread(stage, why));
            }
        }
        if seeded!("build_leaks") {
            mem::forget(Arc::clone(&pipeline.shared));
        }
        *is_open = true;
        drop(is_open);
        for connect in connect {
            connect();
        }
        Ok(pipeline)
    }

    /// The thread of `job`, which waits for `gate`. If that is still shut then, it drops the job, with its
    /// rings.
    fn spawn(
        &mut self,
        job: Job,
        stack_bytes: Option<usize>,
        gate: &Arc<Mutex<bool>>,
    ) -> Result<(), NoThread> {
        let info = &self.graph.stages[job.stage];
        let work = Arc::new(Work::default());
        let context = Context {
            stage: job.stage,
            name: info.name.clone(),
            strategy: info.strategy,
            shared: Arc::clone(&self.shared),
            work: Arc::clone(&work),
        };
        // The name of a thread has no zero byte.
        let mut builder = thread::Builder::new().name(info.name.replace('\0', " "));
        if let Some(bytes) = stack_bytes {
            builder = builder.stack_size(bytes);
        }
        let others = self.threads.iter().filter(|thread| thread.stage == job.stage).count();
        let core = info.cores.get(others).copied();
        let gate = Arc::clone(gate);
        let begun = self.begun;
        self.shared.ended.add();
        let ended = ThreadEnd(Arc::clone(&self.shared));
        let body = move || {
            let _ended = ended;
            if seeded!("stages_begin_at_once") || *lock(&gate) {
                (job.run)(&context);
            }
            if !seeded!("stage_waits_for_good") {
                context.work.ended_ns.set(nanoseconds(begun.elapsed()).max(1));
            }
        };
        let handle = affinity::spawn(builder, core, body)?;
        self.threads.push(Thread { stage: job.stage, work, handle });
        Ok(())
    }

    /// Ends the pipeline when it has worked on what was sent before: the input is closed, and each stage
    /// drains. Messages are given back from now on. Does not wait; [`join`](Self::join) does.
    ///
    /// Nothing more is received from a [source](super::Builder::source): what is there stays there.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) = stages.then(|x| x * 2).build();
    /// (0..3).for_each(|n| input.send(n).unwrap());
    /// pipeline.shutdown();
    /// pipeline.join().unwrap();
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [0, 2, 4]);
    /// ```
    #[doc(alias = "DrainPolicy")]
    pub fn shutdown(&self) {
        if seeded!("shutdown_aborts") {
            self.abort();
        }
        self.stop();
    }

    /// Ends the pipeline as soon as each stage has done what it is doing, and drops the messages in it. No
    /// stage works on another message. What has reached an output can still be received. Does not wait;
    /// [`join`](Self::join) does.
    pub fn abort(&self) {
        both(|| self.shared.abort.trigger(), || self.stop());
    }

    /// Nothing comes in any more.
    fn stop(&self) {
        both(|| self.shared.stop.trigger(), || self.shared.source.stop(Stop::Now));
    }

    /// Waits until all threads have ended. (See [above](Self#how-it-ends) for when that is. Without a
    /// [`shutdown`](Self::shutdown) it is after the input was dropped.)
    ///
    /// # Errors
    ///
    /// [`JoinError`] names the stages that panicked, with their messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) = stages.then(|x| 10 / x).name("divide").build();
    /// input.send(0).unwrap();
    /// let error = pipeline.join().unwrap_err();
    /// assert_eq!(error.panics()[0].stage, "divide");
    /// assert_eq!(error.to_string(), "the stage \"divide\" panicked: attempt to divide by zero");
    /// # drop(output);
    /// ```
    #[doc(alias = "try_join")]
    pub fn join(self) -> Result<(), JoinError> {
        for thread in self.threads {
            // Unreached: a stage catches its panics; this one would come from outside of it
            if let Err(payload) = thread.handle.join() {
                let stage = thread.stage;
                self.shared.panicked(stage, &self.graph.name(Node::Stage(stage)), &*payload);
            }
        }
        let panics = self.shared.panics();
        if panics.is_empty() { Ok(()) } else { Err(JoinError { panics }) }
    }

    /// As [`join`](Self::join), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// The pipeline, if a thread still runs. The result inside is what [`join`](Self::join) returns.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    /// use std::time::Duration;
    ///
    /// let (input, stages) = Pipeline::builder().input::<u64>();
    /// let (_output, pipeline) = stages.then(|x| x + 1).build();
    /// let pipeline = pipeline.join_timeout(Duration::from_millis(1)).unwrap_err();
    /// drop(input);
    /// pipeline.join_timeout(Duration::from_secs(60)).unwrap().unwrap();
    /// ```
    pub fn join_timeout(self, timeout: Duration) -> Result<Result<(), JoinError>, Self> {
        let deadline = Instant::now().checked_add(timeout);
        if self.shared.ended.wait(WaitStrategy::default(), deadline) { Ok(self.join()) } else { Err(self) }
    }

    /// Whether no stage has panicked so far.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.shared.panics().is_empty()
    }

    /// The stages that have panicked so far, with their numbers, names and messages, in the order of the
    /// panics. A stage is in this list before its rings close.
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) =
    ///     stages.then(|x| x).name("same").then(|x| 10 / x).name("same").build();
    /// input.send(0).unwrap();
    /// assert!(output.recv().is_err());
    /// let indices: Vec<usize> = pipeline.panicked_stages().iter().map(|panic| panic.index).collect();
    /// assert_eq!(indices, [1]);
    /// ```
    #[must_use]
    pub fn panicked_stages(&self) -> Vec<StagePanic> {
        self.shared.panics()
    }

    /// Whether all threads have ended, so that [`join`](Self::join) would not wait. After a true,
    /// [`stats`](Self::stats) are exact.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let is_finished = self.threads.iter().all(|thread| thread.handle.is_finished());
        // Acquire: pairs with the Release by which a thread gives up its share of what its handle has (an
        // `Arc`, whose count was read). So what it has counted is seen.
        fence(Ordering::Acquire);
        is_finished
    }

    /// How many stages there are, also those that have ended. A stage of several threads counts once.
    #[must_use]
    pub fn stage_count(&self) -> usize {
        self.graph.stages.len()
    }

    /// What the pipeline is made of: its stages, and the ring of each edge.
    #[must_use]
    pub fn describe(&self) -> &Graph {
        &self.graph
    }

    /// What has passed each stage and each edge so far. O(stages + edges²), and costs the stages nothing:
    /// they count anyway.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.filter_map(|x| (x > 1).then_some(x)).name("large").build();
    /// (0..4).for_each(|n| input.send(n).unwrap());
    /// assert_eq!((output.recv(), output.recv()), (Ok(2), Ok(3)));
    /// // It has ended, so the numbers are exact.
    /// drop(input);
    /// assert!(output.recv().is_err());
    ///
    /// let statistics = pipeline.stats();
    /// assert_eq!(statistics.stages[0].received, 4);
    /// assert_eq!((statistics.edges[1].received, statistics.edges[1].depth), (2, 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let has_ended = |node| match node {
            Node::Stage(stage) => self.of_stage(stage).all(|thread| thread.work.ended_ns.get() > 0),
            _ => false,
        };
        let over: Vec<bool> = self.graph.edges.iter().map(|edge| has_ended(edge.to)).collect();
        let numbers = numbers(&self.counters, &over);
        let edges = (0..numbers.len()).map(|index| edge(&self.graph, index, &numbers)).collect();
        let stages = (0..self.graph.stages.len()).map(|stage| self.stage(stage)).collect();
        Stats { stages, edges }
    }

    fn of_stage(&self, stage: usize) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(move |thread| thread.stage == stage)
    }

    fn stage(&self, stage: usize) -> StageStats {
        let threads = || self.of_stage(stage);
        let (mut busy_ns, mut waiting_ns) = (0, 0);
        for thread in threads() {
            let busy = thread.work.busy_ns.get();
            let all = match thread.work.ended_ns.get() {
                0 => nanoseconds(self.begun.elapsed()),
                ended => ended,
            };
            busy_ns += busy;
            waiting_ns += all.saturating_sub(busy);
        }
        let (mut received, mut sent) = (Vec::new(), Vec::new());
        for (info, counters) in self.graph.edges.iter().zip(&self.counters) {
            if info.to == Node::Stage(stage) {
                received.push(&counters.received);
            }
            if info.from == Node::Stage(stage) {
                sent.push(&counters.sent);
            }
        }
        // Edges of one ring are neighbours, and share counters: each counts once.
        received.dedup_by(|a, b| Arc::ptr_eq(a, b));
        sent.sort_by_key(|counters| Arc::as_ptr(counters));
        sent.dedup_by(|a, b| Arc::ptr_eq(a, b));
        StageStats {
            name: self.graph.name(Node::Stage(stage)),
            received: received.iter().map(|counters| counters.received.get()).sum(),
            sent: sent.iter().map(|counters| counters.0.get()).sum(),
            batches: threads().map(|thread| thread.work.calls.get()).sum(),
            busy: Duration::from_nanos(busy_ns),
            waiting: Duration::from_nanos(waiting_ns),
        }
    }
}

/// Takes both steps, even if the first one panics because a close drops messages.
fn both(first: impl Fn(), second: impl Fn()) {
    drop_each([&first as &dyn Fn(), &second], |step| step());
}

fn lock(gate: &Mutex<bool>) -> MutexGuard<'_, bool> {
    gate.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers of all edges, of which those that are `over` have no reader any more.
fn numbers(edges: &[EdgeCounters], over: &[bool]) -> Vec<EdgeNumbers> {
    let mut numbers: Vec<_> = edges
        .iter()
        .zip(over)
        .map(|(edge, is_over)| EdgeNumbers {
            is_over: *is_over,
            received: edge.received.received.get(),
            lost: edge.received.lost.get(),
            ..EdgeNumbers::default()
        })
        .collect();
    // In this order, and each for all edges, since some share a ring: what was received was sent before, and
    // what was sent waits until an output has received it.
    for (numbers, edge) in numbers.iter_mut().zip(edges) {
        numbers.sent = edge.sent.0.get();
    }
    for (numbers, edge) in numbers.iter_mut().zip(edges) {
        numbers.waiting = match &edge.ring {
            Some(ring) => ring.waiting(),
            None => Some(edge.received.left.get()),
        };
        // Acquire: pairs with the Release by which the last handle of the ring gave up its share, where the
        // ring is gone. What its consumer has taken was told before.
        fence(Ordering::Acquire);
        numbers.taken = edge.output.as_ref().and_then(|readers| readers.taken.get().copied());
        if seeded!("sent_read_last") {
            (0..100).for_each(|_| pause());
            numbers.sent = edge.sent.0.get();
        }
    }
    numbers
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.graph.stages.iter().map(|stage| &stage.name).collect();
        f.debug_struct("Pipeline")
            .field("stages", &names)
            .field("is_healthy", &self.is_healthy())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::Closer;
    use crate::base::common::Common;
    use crate::close::Close;

    /// A ring whose messages panic when they are dropped.
    struct Panics;

    impl Close for Panics {
        fn close(&self) {
            panic!("on purpose");
        }

        fn is_closed(&self) -> bool {
            false
        }
    }

    /// Whatever the rings do that are closed with it, a pipeline ends.
    #[test]
    fn close_that_panics_keeps_no_part_from_being_stopped() {
        let is_refused = |step: &dyn Fn()| catch_unwind(AssertUnwindSafe(step)).is_err();
        let [ring]: [Common<Panics>; 1] = Common::allocation().fill(Panics);
        for is_aborted in [false, true] {
            let (_producer, consumer) = crate::spsc::channel::<u64>(4);
            let (_output, pipeline) = Pipeline::builder().source(consumer).then(|number| number).build();
            let PipelineState { abort, stop, source, .. } = &*pipeline.shared;
            if is_aborted {
                abort.attach(Closer::from_weak(ring.downgrade()));
                assert!(is_refused(&|| pipeline.abort()));
            } else {
                stop.attach(Closer::from_weak(ring.downgrade()));
                assert!(is_refused(&|| pipeline.shutdown()));
            }
            assert_eq!(abort.is_shutdown(), is_aborted);
            assert!(stop.is_shutdown());
            assert_eq!(source.asked(), Some(Stop::Now));
            pipeline.join().unwrap();
        }
    }
}
