//! [`EndKind`]: what is known of an end of a pipeline when it compiles, and the queue that is made there.

use alloc::vec::Vec;

use super::graph::RingKind;
use crate::error::{CapacityError, RegisterError};
use crate::mpsc::Mpsc;
use crate::queue::{Builder, Consumer, InPlace, Producer};
use crate::spsc::Spsc;
use crate::wait::WaitStrategy;

/// What is known of an end of a pipeline: [`InStep`], [`Free`] or [`Merged`]. There are no others: the trait
/// can't be implemented outside this crate.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait EndKind: Sealed + 'static {
    /// The kind of queue that an output at this end is.
    type Queue: InPlace + EdgeKind;
    /// What is known behind a stage that makes one result of each message.
    type Behind: EndKind;
}

pub(super) trait Sealed {}

/// An end that has one result for each message of its branch, in order. So it can be
/// [zipped](super::Fork::zip) with the other branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InStep {}

/// An end whose number of messages is not that of its branch: behind a filter, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Free {}

/// An end into which several threads send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merged {}

impl Sealed for InStep {}
impl Sealed for Free {}
impl Sealed for Merged {}

impl EndKind for InStep {
    type Queue = Spsc;
    type Behind = InStep;
}

impl EndKind for Free {
    type Queue = Spsc;
    type Behind = Free;
}

impl EndKind for Merged {
    type Queue = Mpsc;
    type Behind = Free;
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

/// The ends of a queue.
type Ends<T, K> = (Vec<Producer<T, K>>, Consumer<T, K>);

/// How the queue at an end is made.
pub(super) trait EdgeKind: InPlace {
    /// How it is called.
    const RING: RingKind;

    /// A queue with `writers` producers, at least one.
    #[allow(clippy::type_complexity, reason = "producers and a consumer")]
    fn link<T: Send + 'static>(
        capacity: usize,
        strategy: WaitStrategy,
        writers: usize,
    ) -> Result<(Vec<Producer<T, Self>>, Consumer<T, Self>), CapacityError>;
}

impl EdgeKind for Spsc {
    const RING: RingKind = RingKind::Spsc;

    fn link<T: Send + 'static>(
        capacity: usize,
        strategy: WaitStrategy,
        writers: usize,
    ) -> Result<Ends<T, Self>, CapacityError> {
        debug_assert_eq!(writers, 1, "an end of this kind has one writer");
        let (producer, consumer) = Builder::new(capacity).wait_strategy(strategy).build()?;
        Ok((alloc::vec![producer], consumer))
    }
}

impl EdgeKind for Mpsc {
    const RING: RingKind = RingKind::Mpsc;

    fn link<T: Send + 'static>(
        capacity: usize,
        strategy: WaitStrategy,
        writers: usize,
    ) -> Result<Ends<T, Self>, CapacityError> {
        let (producer, consumer) = Builder::new(capacity).wait_strategy(strategy).build()?;
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
