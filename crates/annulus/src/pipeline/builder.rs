//! [`Builder`]: where a pipeline begins.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::draft::{Draft, Pending, SharedDraft};
use super::graph::Node;
use super::handle::Pipeline;
use super::input::{Early, Input};
use super::kind::PartSettings;
use super::port::BoxOutlet;
use super::port::Existing;
use super::stages::Stages;
use crate::Receive;
use crate::wait::WaitStrategy;

/// Settings of a pipeline, and the verbs that begin it; made by [`Pipeline::builder`].
#[doc(alias = "PipelineBuilder")]
#[derive(Clone, Copy, Debug)]
#[must_use = "a pipeline begins with `input` or `source`"]
pub struct Builder {
    capacity: usize,
    strategy: WaitStrategy,
    stack_bytes: Option<usize>,
}

impl Pipeline {
    /// Settings for a new pipeline.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// As [`Pipeline::builder`].
impl Default for Builder {
    fn default() -> Self {
        Self { capacity: 1024, strategy: WaitStrategy::default(), stack_bytes: None }
    }
}

impl Builder {
    /// How many slots each ring of the pipeline has: 1,024 by default. A queue needs 1 at least, a branch 2.
    /// [`Stages::capacity`] changes it on the way.
    pub fn capacity(self, capacity: usize) -> Self {
        Self { capacity, ..self }
    }

    /// How the threads of the pipeline wait, and those at its input and its outputs.
    /// [`Stages::wait_strategy`] changes it on the way.
    pub fn wait_strategy(self, strategy: WaitStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// How much stack each thread of the pipeline has, in bytes. Without this setting it is the default of
    /// [`std::thread`]. [`Stages::stack_bytes`] changes it on the way.
    pub fn stack_bytes(self, bytes: usize) -> Self {
        Self { stack_bytes: Some(bytes), ..self }
    }

    /// Begins a pipeline with an [`Input`].
    pub fn input<T: Send + 'static>(self) -> (Input<T>, Stages<T>) {
        let (early, promise) = Early::new(self.capacity);
        let give = move |draft: &mut Draft, outlet: BoxOutlet<T>| {
            // Decision 0076.
            let Some(ring) = outlet.into_input_ring() else { unreachable!("one ring is behind an input") };
            promise.keep(draft, ring);
        };
        let (draft, settings) = self.begin();
        let writers: Vec<_> = alloc::vec![Pending { from: Node::Input, give: Box::new(give) }];
        (Input::new(early), Stages::of_writers(draft, settings, writers))
    }

    /// Begins a pipeline with a receiving handle that is there already: a subscriber, a consumer, or any
    /// other that is [`Receive`].
    ///
    /// The first stage receives from it. The pipeline ends when the handle's ring is closed and nothing is
    /// left, or by a [`shutdown`](Pipeline::shutdown), which leaves in the ring what is there.
    ///
    /// A [stage](crate::broadcast::Subscriber::after) of a broadcast ring is received from one by one. So
    /// what follows it in that ring gets a message when the first stage of the pipeline has worked on it, and
    /// has sent what came of it. (An event is copied out, and those that follow get it at once.)
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{broadcast, pipeline::Pipeline};
    ///
    /// let (mut publisher, subscribable) = broadcast::lossless::<u64>(64);
    /// let source = subscribable.subscribe();
    /// let (output, pipeline) = Pipeline::builder().source(source).then(|x| x + 1).build();
    /// publisher.publish(1).unwrap();
    /// drop(publisher);
    /// assert_eq!(output.into_iter().collect::<Vec<_>>(), [2]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn source<R>(self, receiver: R) -> Stages<R::Item>
    where
        R: Receive<Item: Send + 'static> + Send + 'static,
    {
        let (draft, settings) = self.begin();
        let (inlet, edge) = {
            let mut locked = draft.lock();
            let (edge, counters) = locked.add_source();
            (Existing::new(receiver, counters, &locked.shared), edge)
        };
        Stages::of_inlet(draft, settings, Box::new(inlet), alloc::vec![edge], None)
    }

    fn begin(self) -> (SharedDraft, PartSettings) {
        let Self { capacity, strategy, stack_bytes } = self;
        (SharedDraft::new(), PartSettings { fork: 0, capacity, strategy, stack_bytes })
    }
}
