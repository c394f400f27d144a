//! [`Stages`]: an end of a pipeline that is being built, and the verbs that add to it. [`Sunk`]: an end that
//! nothing comes out of.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::draft::{Draft, Job, NOWHERE, Pending, SharedDraft};
use super::error::BuildError;
use super::graph::{Node, RingKind};
use super::handle::Pipeline;
use super::join::{Collect, Deal};
use super::kind::{EndKind, Free, InStep, Merged, PartSettings};
use super::port::{BoxInlet, BoxOutlet, Outlet};
use super::runner::{Batch, MapStep, Step, mapping, run};
use super::timing::Timing;
use crate::base::drop_all::Contained;
use crate::message::Message;
use crate::queue::Consumer;
use crate::sync::seeded;
use crate::wait::{Control, WaitStrategy};

/// An end of a pipeline that is being built: messages of type `T` come out of it. Each verb adds a stage or a
/// ring, and returns the new end; [`build`](Self::build) starts the threads.
///
/// `K` is what is known of the end: see [`EndKind`].
///
/// A stage's function runs on a thread of its own. It may keep state, for it is an `FnMut`. What comes out of
/// a stage is in the order in which the messages came in.
///
/// If it is dropped, the build of what it belongs to fails. If all ends are dropped, there is nothing left:
/// no thread was started.
#[doc(alias = "StageBuilder")]
#[must_use = "a pipeline is built by `build`"]
pub struct Stages<T, K = InStep> {
    pub(super) draft: SharedDraft,
    pub(super) settings: PartSettings,
    upstream: Upstream<T>,
    /// The stage that was added last, for its name.
    last: Option<usize>,
    kind: PhantomData<fn() -> K>,
}

/// What comes out of a pipeline: the queue that [`Stages::build`] returns for an end of kind `K`. Behind a
/// [`merge`](super::Fork::merge) or [`then_unordered`](Stages::then_unordered) it is an `Output<T, Merged>`.
///
/// ```
/// use annulus::pipeline::{Input, Output, Pipeline};
///
/// struct Parser {
///     input: Input<String>,
///     output: Output<Option<f64>>,
///     pipeline: Pipeline,
/// }
///
/// let (input, stages) = Pipeline::builder().input::<String>();
/// let (output, pipeline) = stages.then(|text| text.parse().ok()).build();
/// let mut parser = Parser { input, output, pipeline };
/// parser.input.send("1.5".to_owned()).unwrap();
/// assert_eq!(parser.output.recv(), Ok(Some(1.5)));
/// # drop(parser.input);
/// # parser.pipeline.join().unwrap();
/// ```
pub type Output<T, K = InStep> = Consumer<T, <K as EndKind>::Queue>;

/// What an end is before it has a reader.
enum Upstream<T> {
    /// What waits for the ring that it sends into: at least one writer where `K` is [`Merged`], one
    /// otherwise.
    Writers(Vec<Pending<T>>),
    /// What the next stage receives from, and the edges that lead there. Not where `K` is [`Merged`].
    Inlet(BoxInlet<T>, Vec<usize>),
}

impl<T: Send + 'static, K: EndKind> Stages<T, K> {
    pub(super) fn of_writers(draft: SharedDraft, settings: PartSettings, writers: Vec<Pending<T>>) -> Self {
        Self { draft, settings, upstream: Upstream::Writers(writers), last: None, kind: PhantomData }
    }

    /// Adds a stage that replaces each message by `f(message)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then(|x| x * 2).then(|x| format!("<{x}>")).build();
    /// input.send(21).unwrap();
    /// assert_eq!(output.recv().unwrap(), "<42>");
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn then<U: Send + 'static>(self, f: impl FnMut(T) -> U + Send + 'static) -> Stages<U, K::Behind> {
        let strategy = self.settings.strategy;
        self.then_with(f, strategy)
    }

    /// As [`then`](Self::then). The stage's thread waits by `strategy`, for messages and for room.
    ///
    /// ```
    /// use annulus::{WaitStrategy, pipeline::Pipeline};
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then_with(|x| x + 1, WaitStrategy::PauseSpin).build();
    /// input.send(1).unwrap();
    /// assert_eq!(output.recv(), Ok(2));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    #[doc(alias = "then_a_with")]
    #[doc(alias = "then_b_with")]
    pub fn then_with<U: Send + 'static>(
        self,
        f: impl FnMut(T) -> U + Send + 'static,
        strategy: WaitStrategy,
    ) -> Stages<U, K::Behind> {
        self.stage("then", strategy, mapping(f))
    }

    /// Adds a stage that passes on what `f` returns, and drops a message for which it returns `None`.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<&str>();
    /// let (output, pipeline) = stages.filter_map(|text| text.parse::<u32>().ok()).build();
    /// ["1", "x", "3"].map(|text| input.send(text).unwrap());
    /// drop(input);
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [1, 3]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn filter_map<U: Send + 'static>(
        self,
        f: impl FnMut(T) -> Option<U> + Send + 'static,
    ) -> Stages<U, Free> {
        let strategy = self.settings.strategy;
        self.stage("filter", strategy, MapStep(f))
    }

    /// Adds a stage that passes on the messages for which `f` returns true, and drops the others.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u32>();
    /// let (output, pipeline) = stages.filter(|n| n % 2 == 0).build();
    /// (1..=6).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [2, 4, 6]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn filter(self, mut f: impl FnMut(&T) -> bool + Send + 'static) -> Stages<T, Free> {
        self.filter_map(move |message| f(&message).then_some(message))
    }

    /// Adds a stage that replaces each message by any number of messages.
    ///
    /// Each item goes on before the next one is asked for. So an iterator without an end is fine, until
    /// nothing receives its items any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u32>();
    /// let (output, pipeline) = stages.flat_map(|n| 0..n).build();
    /// [2, 0, 3].map(|n| input.send(n).unwrap());
    /// drop(input);
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [0, 1, 0, 1, 2]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn flat_map<I>(self, f: impl FnMut(T) -> I + Send + 'static) -> Stages<I::Item, Free>
    where
        I: IntoIterator<Item: Send + 'static>,
    {
        let strategy = self.settings.strategy;
        self.stage("flat map", strategy, MapStep(f))
    }

    /// Adds a stage that gets all messages that are there as one slice: at least one, at most 256. `f`
    /// appends its results to the vector, which is empty.
    ///
    /// The slice is short while there is little to do, and while `f` is slow. The messages are dropped
    /// afterwards; `f` may take them out.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) =
    ///     stages.then_batch(|numbers, sums: &mut Vec<u64>| sums.push(numbers.iter().sum())).build();
    /// (1..=100).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// assert_eq!(output.into_iter().sum::<u64>(), 5050);
    /// pipeline.join().unwrap();
    /// ```
    pub fn then_batch<U: Send + 'static>(
        self,
        f: impl FnMut(&mut [T], &mut Vec<U>) + Send + 'static,
    ) -> Stages<U, Free> {
        let strategy = self.settings.strategy;
        self.stage("batch", strategy, Batch::new(f))
    }

    /// Ends this end of the pipeline: `f` gets each message. There is no output, so there is none to keep.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let (mut input, stages) = Pipeline::builder().input::<u32>();
    /// let pipeline = stages.sink(move |n| sender.send(n).unwrap()).build();
    /// input.send(7).unwrap();
    /// drop(input);
    /// pipeline.join().unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// ```
    #[doc(alias = "Consumer")]
    pub fn sink(self, mut f: impl FnMut(T) + Send + 'static) -> Sunk {
        self.sunk(
            "sink",
            MapStep(move |message| {
                f(message);
                None
            }),
        )
    }

    /// As [`sink`](Self::sink), but `f` gets all messages that are there as one slice: at least one, at most
    /// 256, as in [`then_batch`](Self::then_batch). They are dropped afterwards; `f` may take them out.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let pipeline = stages.sink_batch(move |numbers| sender.send(numbers.to_vec()).unwrap()).build();
    /// (1..=100).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// pipeline.join().unwrap();
    /// assert_eq!(receiver.iter().flatten().sum::<u64>(), 5050);
    /// ```
    pub fn sink_batch(self, mut f: impl FnMut(&mut [T]) + Send + 'static) -> Sunk {
        self.sunk("batch sink", Batch::new(move |messages: &mut [T], _: &mut Vec<()>| f(messages)))
    }

    fn sunk(self, what: &str, step: impl Step<T, ()> + Send + 'static) -> Sunk {
        let strategy = self.settings.strategy;
        let (draft, stage, inlet) = self.reader(what, strategy);
        draft.lock().jobs.push(job(stage, inlet, Box::new(Nothing), step));
        Sunk::new(draft, stage)
    }

    /// Adds a stage that is run by `threads` threads, each with a clone of `f`. Its results are in the order
    /// of the messages.
    ///
    /// Messages go to the threads in turn, and their results are taken in turn. So one slow message holds up
    /// those behind it once the queues of the other threads are full; with
    /// [`then_unordered`](Self::then_unordered) it does not.
    ///
    /// If `f` panics, the results of the messages before go on, in order, and the stage ends there. What
    /// other threads have made of later messages is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) = stages.then_parallel(3, |x| x * x).build();
    /// (0..5).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [0, 1, 4, 9, 16]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn then_parallel<U: Send + 'static>(
        self,
        threads: usize,
        f: impl FnMut(T) -> U + Clone + Send + 'static,
    ) -> Stages<U, K::Behind> {
        let (draft, settings) = (self.draft.clone(), self.settings);
        let writer = self.into_single(true);
        let threads = draft.lock().at_least_one(threads, "thread of a parallel stage");
        // The clones come first: not one is made under the lock.
        let f = Contained::new(f);
        let mut functions: Vec<_> = (1..threads).map(|_| Contained::new((*f).clone())).collect();
        functions.push(f);
        let mut locked = draft.lock();
        let stage = locked.add_stage("parallel", threads, settings);
        let node = Node::Stage(stage);
        let (mut outlets, mut inlets, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        for f in functions {
            let before = locked.new_queue::<T, InStep>(&[writer.from], node, RingKind::InTurn, settings);
            let behind = locked.new_queue::<U, InStep>(&[node], NOWHERE, RingKind::InTurn, settings);
            let work = behind.outlets.into_iter().zip([f]);
            let inlet: BoxInlet<T> = Box::new(before.inlet);
            locked.jobs.extend(
                work.zip([inlet]).map(|((to, f), from)| job(stage, from, to, mapping(f.into_inner()))),
            );
            outlets.extend(before.outlets);
            inlets.push(behind.inlet);
            edges.extend(behind.edges);
        }
        (writer.give)(&mut locked, Box::new(Deal::new(outlets)));
        drop(locked);
        Stages::of_inlet(draft, settings, Box::new(Collect::new(inlets)), edges, Some(stage))
    }

    /// As [`then_parallel`](Self::then_parallel), but results come in the order in which they are ready. Each
    /// message goes to a thread that is free.
    ///
    /// If `f` panics, that message is lost, and nothing more comes in. The other threads work on what is
    /// queued for the stage, and then it ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) = stages.then_unordered(3, |x| x * x).build();
    /// (0..5).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// let mut squares: Vec<_> = output.into_iter().collect();
    /// squares.sort();
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn then_unordered<U: Send + 'static>(
        self,
        threads: usize,
        f: impl FnMut(T) -> U + Clone + Send + 'static,
    ) -> Stages<U, Merged> {
        let (draft, settings) = (self.draft.clone(), self.settings);
        let writers = self.into_writers();
        let mut locked = draft.lock();
        let threads = locked.at_least_one(threads, "thread of a parallel stage");
        let stage = locked.add_stage("unordered", threads, settings);
        let inlets = locked.shared_queue(writers, Node::Stage(stage), threads, settings);
        drop(locked);
        let f = Contained::new(f);
        let workers = inlets.into_iter().map(|inlet| waiting(stage, inlet, mapping((*f).clone()))).collect();
        Stages { last: Some(stage), ..Stages::of_writers(draft, settings, workers) }
    }

    /// Lets the stages before continue when the stages behind are too slow: from here to the next stage,
    /// messages go through a lossy broadcast ring. A reader that falls behind loses the oldest messages. The
    /// [statistics](Pipeline::stats) of the edge say how many.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    /// let (output, pipeline) = stages.lossy().then(|x| x).build();
    /// (0..1000).for_each(|n| input.send(n).unwrap()); // never waits
    /// drop(input);
    /// assert_eq!(output.into_iter().last(), Some(999));
    /// let edge = &pipeline.stats().edges[0];
    /// assert_eq!(edge.received + edge.lost, 1000);
    /// pipeline.join().unwrap();
    /// ```
    pub fn lossy(self) -> Stages<T, Free>
    where
        T: Message,
    {
        self.copies(1, true).pop().unwrap_or_else(|| unreachable!("there is one"))
    }

    /// The rings behind this place have `capacity` slots.
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    /// let (output, pipeline) = stages.then(|x| x).capacity(1024).build();
    /// assert_eq!(output.capacity(), 1024);
    /// # drop(input);
    /// ```
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.settings.capacity = capacity;
        self
    }

    /// The stages behind this place wait by `strategy`.
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.settings.strategy = strategy;
        self
    }

    /// The threads of the stages behind this place have `bytes` of stack.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.settings.stack_bytes = Some(bytes);
        self
    }

    /// Names the stage that was added last, for its thread, the [graph](Pipeline::describe), the statistics
    /// and panics. If no stage was added since the last branch or join, the build fails.
    pub fn name(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.draft.lock().name(self.last, name.into());
        self
    }

    /// The thread of the stage that was added last runs on this core only, by the operating system's number
    /// of it. With `None`, and if this is not called, it may run where the thread may run that builds. Works
    /// on Linux, FreeBSD and Windows; on other systems [`try_build`](Self::try_build) returns an error. (See
    /// [`affinity`](crate::affinity).)
    ///
    /// A stage of several threads needs [`cores`](Self::cores). If no stage was added since the last branch
    /// or join, the build fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::{BuildError, Pipeline};
    ///
    /// let build = |core: Option<usize>| {
    ///     let (input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    ///     stages.then(|x| x + 1).core(core).try_build().map(|(output, pipeline)| (input, output, pipeline))
    /// };
    /// let (mut input, mut output, pipeline) = match build(Some(0)) {
    ///     Err(error @ BuildError::Core { .. }) => {
    ///         eprintln!("{error}"); // and says where this thread may run
    ///         build(None)?
    ///     }
    ///     built => built?,
    /// };
    /// input.send(1).unwrap();
    /// assert_eq!(output.recv(), Ok(2));
    /// # drop((input, pipeline));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn core(self, core: impl Into<Option<usize>>) -> Self {
        let cores = core.into().into_iter().collect();
        self.draft.lock().pin(self.last, cores);
        self
    }

    /// As [`core`](Self::core), for a stage of several threads: a core for each of them. If there are more
    /// cores than threads, or fewer, the build fails. With no core at all, they may run on any.
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (input, stages) = Pipeline::builder().input::<u64>();
    /// let error = stages.then_parallel(2, |x| x).name("work").cores([1, 2, 3]).try_build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the stage \"work\" needs a core for each of its 2 threads, or none, and got [1, 2, 3]"
    /// );
    /// # drop(input);
    /// ```
    pub fn cores(self, cores: impl IntoIterator<Item = usize>) -> Self {
        let cores = cores.into_iter().collect();
        self.draft.lock().pin(self.last, cores);
        self
    }

    /// Builds the pipeline: starts the thread of each stage. Returns the queue that the results come out of,
    /// and the [`Pipeline`].
    ///
    /// Keep the queue, and receive from it. When it is dropped, nothing receives the results, and the stages
    /// end, whatever they wait for. `let (_, pipeline) = stages.build()` drops it at once. Where the results
    /// are not needed, end the pipeline with a [`sink`](Self::sink), which has no output:
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let pipeline = stages.then(|x| x * 2).sink(|x| println!("{x}")).build();
    /// input.send(1).unwrap();
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// If the pipeline can't be built; [`try_build`](Self::try_build) returns an error instead.
    #[track_caller]
    pub fn build(self) -> (Output<T, K>, Pipeline) {
        self.try_build().unwrap_or_else(|error| panic!("annulus::pipeline: {error}"))
    }

    /// As [`build`](Self::build), but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// [`BuildError`]. No thread is left. The input is closed: it gives back what is sent from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(0).input::<u64>();
    /// let error = stages.then(|x| x).try_build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no ring for the edge input -> then 0: capacity 0 is too small: this ring needs at least 1 slots"
    /// );
    /// assert!(input.send(1).is_err());
    /// ```
    pub fn try_build(self) -> Result<(Output<T, K>, Pipeline), BuildError> {
        let draft = self.draft.clone();
        let output = self.output();
        Ok((output, Pipeline::start(&draft)?))
    }

    /// Makes the queue of an output.
    pub(super) fn output(self) -> Output<T, K> {
        let (draft, settings) = (self.draft.clone(), self.settings);
        let writers = self.into_writers();
        draft.lock().output::<T, K>(writers, settings)
    }

    /// Adds a stage that does `what`.
    fn stage<U: Send + 'static, Q: EndKind>(
        self,
        what: &str,
        strategy: WaitStrategy,
        step: impl Step<T, U> + Send + 'static,
    ) -> Stages<U, Q> {
        let settings = self.settings;
        let (draft, stage, inlet) = self.reader(what, strategy);
        let writers = alloc::vec![waiting(stage, inlet, step)];
        Stages { last: Some(stage), ..Stages::of_writers(draft, settings, writers) }
    }

    /// Adds a stage, and the ring that leads to it.
    fn reader(self, what: &str, strategy: WaitStrategy) -> (SharedDraft, usize, BoxInlet<T>) {
        let mut locked = self.draft.lock();
        let stage = locked.add_stage(what, 1, PartSettings { strategy, ..self.settings });
        let (inlet, edges) = self.upstream.into_inlet::<K>(&mut locked, self.settings);
        locked.lead(&edges, Node::Stage(stage));
        drop(locked);
        (self.draft, stage, inlet)
    }

    /// What a join receives from, at a place in the graph that is not known yet.
    pub(super) fn into_inlet(self) -> (BoxInlet<T>, Vec<usize>) {
        self.upstream.into_inlet::<K>(&mut self.draft.lock(), self.settings)
    }

    /// The writers that wait for a ring. Where there are none, a stage is added that passes messages on.
    pub(super) fn into_writers(self) -> Vec<Pending<T>> {
        match self.upstream {
            Upstream::Writers(writers) => writers,
            Upstream::Inlet(..) => alloc::vec![self.forwarded()],
        }
    }

    /// The only writer that waits for a ring. Where there are others, or it is the input and `no_input` is
    /// asked for, a stage is added that passes messages on.
    pub(super) fn into_single(self, no_input: bool) -> Pending<T> {
        match self.upstream {
            Upstream::Writers(mut writers)
                if writers.len() == 1
                    && !(no_input && writers[0].from == Node::Input && !seeded!("input_deals")) =>
            {
                writers.remove(0)
            }
            _ => self.forwarded(),
        }
    }

    fn forwarded(self) -> Pending<T> {
        let strategy = self.settings.strategy;
        let (_, stage, inlet) = self.reader("forward", strategy);
        waiting(stage, inlet, MapStep(Some))
    }

    /// Ends that each get every message.
    pub(super) fn copies<Q: EndKind>(self, count: usize, is_lossy: bool) -> Vec<Stages<T, Q>>
    where
        T: Message,
    {
        let (draft, settings) = (self.draft.clone(), self.settings);
        let writer = self.into_single(false);
        let inlets = draft.lock().broadcast(writer, count, is_lossy, settings);
        inlets
            .into_iter()
            .map(|(inlet, edges)| Stages::of_inlet(draft.clone(), settings, inlet, edges, None))
            .collect()
    }
}

impl<T, K> Stages<T, K> {
    pub(super) fn of_inlet(
        draft: SharedDraft,
        settings: PartSettings,
        inlet: BoxInlet<T>,
        edges: Vec<usize>,
        last: Option<usize>,
    ) -> Self {
        Self { draft, settings, upstream: Upstream::Inlet(inlet, edges), last, kind: PhantomData }
    }
}

impl<T: Send + 'static> Upstream<T> {
    fn into_inlet<K: EndKind>(self, draft: &mut Draft, settings: PartSettings) -> (BoxInlet<T>, Vec<usize>) {
        match self {
            Self::Inlet(inlet, edges) => (inlet, edges),
            Self::Writers(writers) => {
                let (inlet, edges) = draft.queue::<T, K>(writers, NOWHERE, settings);
                (Box::new(inlet), edges)
            }
        }
    }
}

/// The recipe for a thread of `stage`.
fn job<T: Send + 'static, U: Send + 'static>(
    stage: usize,
    inlet: BoxInlet<T>,
    outlet: BoxOutlet<U>,
    step: impl Step<T, U> + Send + 'static,
) -> Job {
    // Where it never runs, what is queued for it is dropped, too, and other jobs.
    let step = Contained::new(step);
    Job { stage, run: Box::new(move |context| run(context, inlet, outlet, step.into_inner())) }
}

/// A thread of `stage` whose outlet is not known yet.
fn waiting<T: Send + 'static, U: Send + 'static>(
    stage: usize,
    inlet: BoxInlet<T>,
    step: impl Step<T, U> + Send + 'static,
) -> Pending<U> {
    // As in `job`.
    let step = Contained::new(step);
    let give = move |draft: &mut Draft, outlet| draft.jobs.push(job(stage, inlet, outlet, step.into_inner()));
    Pending { from: Node::Stage(stage), give: Box::new(give) }
}

impl<T, K> fmt::Debug for Stages<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stages").field("graph", &self.draft.graph()).finish_non_exhaustive()
    }
}

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

    /// Names the sink: see [`Stages::name`](super::Stages::name).
    pub fn name(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.draft.lock().name(Some(self.stage), name.into());
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
        self.try_build().unwrap_or_else(|error| panic!("annulus::pipeline: {error}"))
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
