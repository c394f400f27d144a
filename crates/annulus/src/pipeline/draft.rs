//! [`Draft`]: a pipeline that is not built yet. It has rings and recipes for threads, and no thread.
//!
//! A verb of the builder makes the ring behind the stage that it adds, as soon as both ends are known, and a
//! recipe for the stage's thread. So a builder that is dropped frees memory, and nothing else. A mistake is
//! noted, and the draft continues with a ring of another size: the build says what was wrong first.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::BuildError;
use super::graph::{EdgeInfo, Graph, Node, RingKind, StageInfo};
use super::kind::{EndKind, PartSettings};
use super::port::{BoxInlet, BoxOutlet, Reader, Writer};
use super::readers::PipelineState;
use super::readers::Readers;
use super::runner::Context;
use super::stats::{ReadCounts, SentCount};
use crate::Closer;
use crate::broadcast;
use crate::error::CapacityError;
use crate::message::Message;
use crate::queue::{Consumer, ordered};
use crate::settings::Settings;

/// A recipe for a thread of a stage.
pub(super) struct Job {
    pub(super) stage: usize,
    pub(super) run: Box<dyn FnOnce(&Context) + Send>,
}

/// What the threads at an edge count.
pub(super) struct EdgeCounters {
    pub(super) sent: Arc<SentCount>,
    pub(super) received: Arc<ReadCounts>,
    /// The ring, which knows how many messages are in it. A source has none of the pipeline's.
    pub(super) ring: Option<Closer>,
    /// The readers, where that is an output: how many messages it has received, once it is dropped.
    pub(super) output: Option<Arc<Readers>>,
}

/// What is wrong.
pub(super) enum Mistake {
    /// Of the ring of this edge.
    Capacity {
        edge: usize,
        error: CapacityError,
    },
    Other(BuildError),
}

/// See the module.
pub(super) struct Draft {
    pub(super) graph: Graph,
    pub(super) counters: Vec<EdgeCounters>,
    pub(super) jobs: Vec<Job>,
    /// What gives the inputs their rings, once all threads are there.
    pub(super) connect: Vec<Box<dyn FnOnce() + Send>>,
    pub(super) shared: Arc<PipelineState>,
    /// The first mistake.
    pub(super) mistake: Option<Mistake>,
    pub(super) outputs: usize,
    /// How much stack the threads of each stage have.
    pub(super) stack_bytes: Vec<Option<usize>>,
    rings: usize,
    forks: usize,
}

impl Draft {
    fn new() -> Self {
        Self {
            graph: Graph { stages: Vec::new(), edges: Vec::new() },
            counters: Vec::new(),
            jobs: Vec::new(),
            connect: Vec::new(),
            shared: Arc::default(),
            mistake: None,
            outputs: 0,
            stack_bytes: Vec::new(),
            rings: 0,
            forks: 0,
        }
    }

    pub(super) fn note(&mut self, mistake: Mistake) {
        self.mistake.get_or_insert(mistake);
    }

    /// Adds a stage that does `what`.
    pub(super) fn add_stage(&mut self, what: &str, threads: usize, settings: PartSettings) -> usize {
        let index = self.graph.stages.len();
        let name = alloc::format!("{what} {index}");
        let cores = Vec::new();
        self.graph.stages.push(StageInfo { name, threads, cores, strategy: settings.strategy });
        self.stack_bytes.push(settings.stack_bytes);
        index
    }

    /// Gives a stage a name of its user's choice.
    pub(super) fn name(&mut self, stage: Option<usize>, name: Cow<'static, str>) {
        match self.stage(stage) {
            Some(stage) => stage.name = name.into_owned(),
            None => self.note_no_stage(alloc::format!("name({name:?})")),
        }
    }

    /// Gives each thread of a stage a core, or none of them.
    pub(super) fn pin(&mut self, stage: Option<usize>, cores: Vec<usize>) {
        let Some(stage) = self.stage(stage) else {
            return self.note_no_stage(match cores.as_slice() {
                [core] => alloc::format!("core({core})"),
                _ => alloc::format!("cores({cores:?})"),
            });
        };
        if cores.is_empty() || cores.len() == stage.threads {
            stage.cores = cores;
        } else {
            let (stage, threads) = (stage.name.clone(), stage.threads);
            self.note(Mistake::Other(BuildError::CoreCount { stage, threads, cores }));
        }
    }

    fn stage(&mut self, stage: Option<usize>) -> Option<&mut StageInfo> {
        self.graph.stages.get_mut(stage?)
    }

    fn note_no_stage(&mut self, setting: String) {
        self.note(Mistake::Other(BuildError::NoStage { setting }));
    }

    /// The readers of `edges` are at `node`.
    pub(super) fn lead(&mut self, edges: &[usize], node: Node) {
        for edge in edges {
            // An end of another draft has the numbers of that draft. This is a mistake, and was noted.
            if let Some(edge) = self.graph.edges.get_mut(*edge) {
                edge.to = node;
            }
        }
    }

    /// The number of a new fork, from 1.
    pub(super) fn add_fork(&mut self) -> usize {
        self.forks += 1;
        self.forks
    }

    /// Why this can't be built, if so.
    pub(super) fn take_error(&mut self) -> Option<BuildError> {
        match self.mistake.take() {
            Some(Mistake::Capacity { edge, error }) => {
                Some(BuildError::Capacity { edge: self.graph.edge_name(edge), error })
            }
            Some(Mistake::Other(error)) => Some(error),
            None => self.unconnected().map(|node| BuildError::Unconnected { stage: self.graph.name(node) }),
        }
    }

    /// The node that has an end that is not a part of what is built: it has no thread, or nothing receives
    /// from it.
    fn unconnected(&self) -> Option<Node> {
        let has_thread = |stage: &usize| self.jobs.iter().any(|job| job.stage == *stage);
        let mut stages = (0..self.graph.stages.len()).filter(|stage| !has_thread(stage)).map(Node::Stage);
        let mut senders = self.graph.edges.iter().filter(|edge| edge.to == NOWHERE).map(|edge| edge.from);
        stages.next().or_else(|| senders.next())
    }

    /// `count`, or 1 and a mistake where it is 0.
    pub(super) fn at_least_one(&mut self, count: usize, of: &'static str) -> usize {
        if count == 0 {
            self.note(Mistake::Other(BuildError::NoBranches { of }));
        }
        count.max(1)
    }

    /// Adds the edges of one ring: from each writer to each reader. Returns their numbers, reader by reader.
    pub(super) fn add_edges(
        &mut self,
        from: &[(Node, Arc<SentCount>)],
        to: &[(Node, Arc<ReadCounts>)],
        ring: RingKind,
        capacity: usize,
        closer: &Closer,
    ) -> Vec<Vec<usize>> {
        let ring_id = self.rings;
        self.rings += 1;
        self.shared.abort.attach(closer.clone());
        if from.iter().any(|(node, _)| *node == Node::Input) {
            self.shared.stop.attach(closer.clone());
        }
        let mut all = Vec::new();
        for (to, received) in to {
            let mut edges = Vec::new();
            for (from, sent) in from {
                edges.push(self.graph.edges.len());
                self.graph.edges.push(EdgeInfo { from: *from, to: *to, ring, ring_id, capacity });
                let (sent, received, ring) = (Arc::clone(sent), Arc::clone(received), Some(closer.clone()));
                self.counters.push(EdgeCounters { sent, received, ring, output: None });
            }
            all.push(edges);
        }
        all
    }

    /// Adds the edge of a handle that exists already, whose reader is not known yet.
    pub(super) fn add_source(&mut self) -> (usize, Arc<ReadCounts>) {
        let ring_id = self.rings;
        self.rings += 1;
        let edge = self.graph.edges.len();
        let ring = RingKind::Source;
        self.graph.edges.push(EdgeInfo { from: Node::Input, to: NOWHERE, ring, ring_id, capacity: 0 });
        let received = Arc::new(ReadCounts::default());
        let sent = Arc::new(SentCount::default());
        self.counters.push(EdgeCounters { sent, received: Arc::clone(&received), ring: None, output: None });
        (edge, received)
    }

    /// What `make` makes of a capacity, or of the smallest that is right, where that one is a mistake.
    fn ring_or_note<R>(&mut self, capacity: usize, make: impl Fn(usize) -> Result<R, CapacityError>) -> R {
        match make(capacity) {
            Ok(ring) => ring,
            Err(error) => {
                // Its edges are about to be added.
                self.note(Mistake::Capacity { edge: self.graph.edges.len(), error });
                make(2).expect("a ring of two slots fits into memory")
            }
        }
    }
}

/// The draft of all ends of a pipeline.
#[derive(Clone)]
pub(super) struct SharedDraft(Arc<Mutex<Draft>>);

impl SharedDraft {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Draft::new())))
    }

    /// No function of the user's may run under this lock, not even a `Clone` or a `Drop`: it could use an end
    /// of the same pipeline, and wait here for itself.
    pub(super) fn lock(&self) -> MutexGuard<'_, Draft> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The draft so far, to be built. Ends that are used later find another one, which can't be.
    pub(super) fn take(&self) -> Draft {
        let mut late = Draft::new();
        late.note(Mistake::Other(BuildError::AlreadyBuilt));
        mem::replace(&mut *self.lock(), late)
    }

    /// The graph so far.
    pub(super) fn graph(&self) -> Graph {
        self.lock().graph.clone()
    }

    /// An end of this draft and one of `other` are to be built together. If these are two pipelines, neither
    /// can be built: each lacks an end that the other one has got.
    pub(super) fn check_is(&self, other: &Self) {
        if !Arc::ptr_eq(&self.0, &other.0) {
            for draft in [self, other] {
                draft.lock().note(Mistake::Other(BuildError::AnotherPipeline));
            }
        }
    }
}

/// A stage or an input that waits for the ring that it sends into.
pub(super) struct Pending<T> {
    pub(super) from: Node,
    #[allow(clippy::type_complexity, reason = "a recipe")]
    pub(super) give: Box<dyn FnOnce(&mut Draft, BoxOutlet<T>) + Send>,
}

/// A reader whose place in the graph is not known yet.
pub(super) const NOWHERE: Node = Node::Stage(usize::MAX);

/// A queue, its edges, and its outlets in the order of the nodes that send into it.
pub(super) struct NewQueue<T: Send, K: EndKind> {
    pub(super) outlets: Vec<BoxOutlet<T>>,
    pub(super) inlet: Reader<Consumer<T, K::Queue>>,
    pub(super) edges: Vec<usize>,
}

impl Draft {
    /// The queue of an end of kind `K`, from each of `from` to `to`.
    pub(super) fn new_queue<T: Send + 'static, K: EndKind>(
        &mut self,
        from: &[Node],
        to: Node,
        ring: RingKind,
        settings: PartSettings,
    ) -> NewQueue<T, K> {
        let (producers, consumer) = self.ring_or_note(settings.capacity, |capacity| {
            K::queue::<T>(PartSettings { capacity, ..settings }, from.len())
        });
        let received = Arc::new(ReadCounts::default());
        let from: Vec<_> = from.iter().map(|node| (*node, Arc::new(SentCount::default()))).collect();
        let to = [(to, Arc::clone(&received))];
        let edges = self.add_edges(&from, &to, ring, settings.capacity, &consumer.closer()).concat();
        let readers = Arc::new(Readers::new(&self.shared));
        let outlet = |(handle, (_, counters))| {
            Box::new(Writer { counters, readers: Arc::clone(&readers), handle }) as BoxOutlet<T>
        };
        let outlets = producers.into_iter().zip(from).map(outlet).collect();
        NewQueue { outlets, inlet: Reader::new(consumer, received, &readers), edges }
    }

    /// The queue of an end of kind `K`, from all writers that wait for it.
    pub(super) fn queue<T: Send + 'static, K: EndKind>(
        &mut self,
        writers: Vec<Pending<T>>,
        to: Node,
        settings: PartSettings,
    ) -> (Reader<Consumer<T, K::Queue>>, Vec<usize>) {
        let from: Vec<_> = writers.iter().map(|writer| writer.from).collect();
        let queue = self.new_queue::<T, K>(&from, to, K::RING, settings);
        for (writer, outlet) in writers.into_iter().zip(queue.outlets) {
            (writer.give)(self, outlet);
        }
        (queue.inlet, queue.edges)
    }

    /// The queue of an output, from all writers that wait for it.
    pub(super) fn output<T: Send + 'static, K: EndKind>(
        &mut self,
        writers: Vec<Pending<T>>,
        settings: PartSettings,
    ) -> Consumer<T, K::Queue> {
        let node = Node::Output(self.outputs);
        self.outputs += 1;
        let (reading, edges) = self.queue::<T, K>(writers, node, settings);
        let (consumer, readers) = reading.into_output();
        for edge in edges {
            self.counters[edge].output = Some(Arc::clone(&readers));
        }
        consumer.closer().notify_on_close(readers);
        consumer
    }

    /// A queue from which each message goes to one of `threads` readers, the threads of the stage `to`.
    pub(super) fn shared_queue<T: Send + 'static>(
        &mut self,
        writers: Vec<Pending<T>>,
        to: Node,
        threads: usize,
        settings: PartSettings,
    ) -> Vec<BoxInlet<T>> {
        let (sender, receiver) = self.ring_or_note(settings.capacity, |capacity| {
            ordered::with::<T>(Settings::new(capacity).wait_strategy(settings.strategy))
        });
        let from: Vec<_> =
            writers.iter().map(|writer| (writer.from, Arc::new(SentCount::default()))).collect();
        let readers: Vec<_> = (0..threads).map(|_| (to, Arc::new(ReadCounts::default()))).collect();
        self.add_edges(&from, &readers, RingKind::Ordered, settings.capacity, &sender.closer());
        let ends = Arc::new(Readers::new(&self.shared));
        for (writer, (_, counters)) in writers.into_iter().zip(from) {
            let (handle, readers) = (sender.clone(), Arc::clone(&ends));
            (writer.give)(self, Box::new(Writer { counters, readers, handle }));
        }
        // One thread of a stage takes a message when it works on it: what one thread holds, no other can work
        // on.
        let reader =
            |(_, counters)| Reader::new(receiver.clone(), counters, &ends).of_several(receiver.closer());
        readers.into_iter().map(|reading| Box::new(reader(reading)) as BoxInlet<T>).collect()
    }

    /// A broadcast ring from `writer` to `readers` readers, whose places are not known yet.
    pub(super) fn broadcast<T: Message>(
        &mut self,
        writer: Pending<T>,
        readers: usize,
        is_lossy: bool,
        settings: PartSettings,
    ) -> Vec<(BoxInlet<T>, Vec<usize>)> {
        let (sent, ends) = (Arc::new(SentCount::default()), Arc::new(Readers::new(&self.shared)));
        let received: Vec<_> = (0..readers).map(|_| (NOWHERE, Arc::new(ReadCounts::default()))).collect();
        let (outlet, inlets, closer) = self.ring_or_note(settings.capacity, |capacity| {
            let ring = Settings::new(capacity).wait_strategy(settings.strategy);
            // All subscribers are there before the first message.
            macro_rules! ends {
                ($ends:expr) => {{
                    let (publisher, subscribable) = $ends;
                    let closer = publisher.closer();
                    let (handle, counters) = (publisher, Arc::clone(&sent));
                    let outlet = Box::new(Writer { counters, readers: Arc::clone(&ends), handle });
                    let inlet = |(_, counters): &(Node, Arc<ReadCounts>)| {
                        let handle = subscribable.subscribe();
                        Box::new(Reader::new(handle, Arc::clone(counters), &ends)) as BoxInlet<T>
                    };
                    Ok((outlet as BoxOutlet<T>, received.iter().map(inlet).collect::<Vec<_>>(), closer))
                }};
            }
            if is_lossy {
                ends!(broadcast::lossy_with::<T>(ring)?)
            } else {
                ends!(broadcast::lossless_with::<T>(ring)?)
            }
        });
        let kind = if is_lossy { RingKind::Lossy } else { RingKind::Lossless };
        let edges = self.add_edges(&[(writer.from, sent)], &received, kind, settings.capacity, &closer);
        (writer.give)(self, outlet);
        inlets.into_iter().zip(edges).collect()
    }
}
