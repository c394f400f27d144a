//! [`WaitsForRoom`]: the sending handles that may have to wait, for code that takes any of them.

use alloc::boxed::Box;

use crate::transmit::Transmit;
use crate::wait::Arm;

/// A [sending handle](Transmit) that may have to wait for a free slot, for
/// [`Select::send`](crate::Select::send).
///
/// These are the [producers](crate::queue::Producer) of queues, the [senders](crate::queue::ordered::Sender)
/// of ordered queues, the publishers of lossless broadcast rings ([one](crate::broadcast::Publisher),
/// [many](crate::broadcast::MpPublisher)) and of events ([one](crate::event::EventPublisher),
/// [many](crate::event::MpEventPublisher)), and the [input](crate::topology::Input) of a pipeline. Of senders
/// and of `MpPublisher`s, whose verbs take `&self`, a reference is one, too. There are no others: the trait
/// can't be implemented outside this crate.
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait WaitsForRoom: HasRoom + Transmit {}

/// What seals [`WaitsForRoom`].
pub(crate) trait HasRoom {
    /// Looks whether a send would find a free slot, or the close. It claims nothing.
    fn room(&mut self) -> Box<dyn Arm + '_>;
}
