//! What is known of the ends of a pipeline when it compiles: the [kinds](EndKind) of ends, and the bounds of
//! verbs. A program that builds a pipeline in one place needs none of these names.
//!
//! A function that adds to a pipeline has them in its signature:
//!
//! ```
//! use annulus::pipeline::kind::Free;
//! use annulus::pipeline::{Pipeline, Stages};
//!
//! fn words(lines: Stages<String>) -> Stages<String, Free> {
//!     lines.flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>())
//! }
//!
//! let (mut input, stages) = Pipeline::builder().input::<String>();
//! let (output, pipeline) = words(stages).build();
//! input.send("to be".to_owned()).unwrap();
//! drop(input);
//! assert_eq!(output.into_iter().collect::<Vec<_>>(), ["to", "be"]);
//! pipeline.join().unwrap();
//! ```

#![allow(private_interfaces, reason = "a type in a method that has no name outside seals the trait")]

use alloc::vec::Vec;

pub use super::fork::{BranchOf, Copyable, End};
use super::graph::RingKind;
use crate::error::{CapacityError, RegisterError};
use crate::mpsc::Mpsc;
use crate::queue;
use crate::queue::kind::InPlace;
use crate::queue::{Consumer, Producer};
use crate::settings::Settings;
use crate::spsc::Spsc;
use crate::wait::WaitStrategy;

/// How the rings of a part of the pipeline are made, and where that part is.
#[derive(Clone, Copy)]
pub(super) struct PartSettings {
    /// The number of the innermost fork that this is in a branch of; 0 outside of any.
    pub(super) fork: usize,
    pub(super) capacity: usize,
    pub(super) strategy: WaitStrategy,
    pub(super) stack_bytes: Option<usize>,
}

/// What is known of an end of a pipeline: [`InStep`], [`Free`] or [`Merged`]. There are no others: the trait
/// can't be implemented outside this crate.
pub trait EndKind: 'static {
    /// The kind of queue that an output at this end is.
    type Queue: InPlace;
    /// What is known behind a stage that makes one result of each message.
    type Behind: EndKind;

    /// What the queue is called.
    #[doc(hidden)]
    const RING: RingKind;

    /// The queue, with `writers` producers, at least one.
    #[doc(hidden)]
    fn queue<T: Send + 'static>(
        settings: PartSettings,
        writers: usize,
    ) -> Result<QueueEnds<T, Self::Queue>, CapacityError>;
}

/// The producers of a queue, and its consumer.
pub(super) type QueueEnds<T, K> = (Vec<Producer<T, K>>, Consumer<T, K>);

/// An end that has one result for each message of its branch, in order. So it can be
/// [zipped](super::Fork::zip) with the other branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InStep {}

/// An end that has more messages than its branch, or fewer: behind a filter, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Free {}

/// An end into which several threads send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merged {}

impl EndKind for InStep {
    type Queue = Spsc;
    type Behind = InStep;

    const RING: RingKind = RingKind::Spsc;

    fn queue<T: Send + 'static>(
        settings: PartSettings,
        writers: usize,
    ) -> Result<QueueEnds<T, Spsc>, CapacityError> {
        debug_assert_eq!(writers, 1, "an end of this kind has one writer");
        let (producer, consumer) =
            queue::with(Settings::new(settings.capacity).wait_strategy(settings.strategy))?;
        Ok((alloc::vec![producer], consumer))
    }
}

impl EndKind for Free {
    type Queue = Spsc;
    type Behind = Free;

    const RING: RingKind = InStep::RING;

    fn queue<T: Send + 'static>(
        settings: PartSettings,
        writers: usize,
    ) -> Result<QueueEnds<T, Spsc>, CapacityError> {
        InStep::queue(settings, writers)
    }
}

impl EndKind for Merged {
    type Queue = Mpsc;
    type Behind = Free;

    const RING: RingKind = RingKind::Mpsc;

    fn queue<T: Send + 'static>(
        settings: PartSettings,
        writers: usize,
    ) -> Result<QueueEnds<T, Mpsc>, CapacityError> {
        let (producer, consumer) =
            queue::with(Settings::new(settings.capacity).wait_strategy(settings.strategy))?;
        let mut producers = alloc::vec![producer];
        while producers.len() < writers {
            producers.push(producers[0].register().map_err(|error| match error {
                // Unreached: there is no memory for the ring of another producer
                RegisterError::Capacity(error) => error,
                RegisterError::Closed => unreachable!("its consumer is here"),
            })?);
        }
        Ok((producers, consumer))
    }
}

/// An end of a branch that has one result for each message: [`InStep`].
// Decision 0076: a zip of branches that filter can come to a standstill.
#[diagnostic::on_unimplemented(
    message = "a branch can be zipped only if it makes one result of each message, in order",
    label = "this branch drops, adds, merges or reorders messages",
    note = "let the stage return an `Option`, zip, and filter the pairs; or `merge` the branches"
)]
pub trait OneForOne: EndKind {}

impl OneForOne for InStep {}
