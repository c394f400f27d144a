//! Pipelines: stages on threads of their own, with the rings between them chosen, filled, drained and closed
//! for you.
//!
//! ```
//! use annulus::pipeline::Pipeline;
//!
//! let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
//! let (mut output, pipeline) = stages.then(|x| x * 2).then(|x| x + 1).build();
//! input.send(10).unwrap();
//! assert_eq!(output.recv(), Ok(21));
//! pipeline.shutdown();
//! pipeline.join().unwrap();
//! ```
//!
//! | shape | verbs |
//! | --- | --- |
//! | a chain | [`then`](Stages::then), [`filter`](Stages::filter), [`filter_map`](Stages::filter_map), [`flat_map`](Stages::flat_map), [`then_batch`](Stages::then_batch) |
//! | a stage of several threads | [`then_parallel`](Stages::then_parallel), [`then_unordered`](Stages::then_unordered) |
//! | branches | [`fan_out`](Stages::fan_out), [`fork`](Stages::fork), [`branches`](Stages::branches), [`branches_lossy`](Stages::branches_lossy), [`fork_cloned`](Stages::fork_cloned) |
//! | joins, of any number of branches | [`merge`](Fork::merge), [`zip`](Fork::zip) |
//! | ends | [`build`](Stages::build) makes each open end a queue, [`sink`](Stages::sink), [`sink_batch`](Stages::sink_batch) |
//! | for the stage before | [`name`](Stages::name), [`core`](Stages::core), [`cores`](Stages::cores) |
//! | for the rings and stages behind | [`capacity`](Stages::capacity), [`wait_strategy`](Stages::wait_strategy), [`stack_bytes`](Stages::stack_bytes), [`lossy`](Stages::lossy) |
//!
//! # Nothing is lost
//!
//! A stage that is too fast waits for the stage behind it. So a pipeline holds a bounded number of messages:
//! those in its rings, and one that each thread works on, with one of its results. (Behind a
//! [`zip`](Fork::zip) it is one of each branch, and a stage of [batches](Stages::then_batch) has up to 256
//! messages, and what it has made of them.) [`lossy`](Stages::lossy) is for edges where the newest messages
//! matter more; its losses are counted. What is lost when a pipeline ends is in the table of [`Pipeline`].
//!
//! # Which ring
//!
//! Messages move through queues, and are copied into a broadcast ring where there are branches. `describe`
//! says which ring each edge has:
//!
//! ```
//! # use annulus::pipeline::Pipeline;
//! let (input, stages) = Pipeline::builder().capacity(64).input::<u64>();
//! let (output, pipeline) = stages.fan_out(|x| x + 1, |x| x * 2).zip().then(|(a, b)| a + b).build();
//! assert_eq!(
//!     pipeline.describe().to_string(),
//!     "input -> then 0: lossless broadcast, 64 slots\n\
//!      input -> then 1: lossless broadcast, 64 slots\n\
//!      then 0 -> then 2: spsc, 64 slots\n\
//!      then 1 -> then 2: spsc, 64 slots\n\
//!      then 2 -> output: spsc, 64 slots\n"
//! );
//! # drop((input, output));
//! ```
//!
//! # Latency
//!
//! A stage takes one message after the other, and each result is sent before the stage's function is called
//! again. So no result waits behind another message, and stages may wait for each other: for credits that a
//! stage behind gives back, for example. Only a [stage of batches](Stages::then_batch) takes all messages
//! that are there.
//!
//! Each stage has a thread, and the hop from one thread to the next costs more than most functions. Put into
//! one stage what one thread has time for.
//!
//! # Signals
//!
//! The threads of the stages block the signals that the thread which built the pipeline blocked then, as
//! threads of `std` do: see [workers](crate::worker#signals).

mod builder;
mod draft;
mod error;
mod fork;
mod graph;
mod handle;
mod input;
mod join;
pub mod kind;
mod port;
mod readers;
mod runner;
mod stages;
mod stats;
mod timing;

pub use builder::Builder;
pub use error::{BuildError, CloseReason, JoinError, StagePanic};
pub use fork::Fork;
pub use graph::{EdgeInfo, Graph, Node, RingKind, StageInfo};
pub use handle::Pipeline;
pub use input::Input;
pub use stages::{Output, Stages, Sunk};
pub use stats::{EdgeStats, StageStats, Stats};
