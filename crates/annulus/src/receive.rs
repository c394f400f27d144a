//! [`Waitable`], [`Receive`], [`ReceiveRef`] and [`Numbered`]: the receiving handles of every ring, for code
//! that takes any of them.

use crate::batches::{Batches, HasSequence, Lend};
use crate::wait::{Source, Take};

/// A receiving handle, of whichever ring: something comes at it, and one can wait for that.
///
/// These are the [subscribers](crate::broadcast::Subscriber) of broadcast rings and their
/// [groups](crate::broadcast::SubscriberGroup), the [subscribers of events](crate::event::EventSubscriber),
/// the [subscribers of records](crate::broadcast::bytes::Subscriber), the
/// [consumers](crate::queue::Consumer) of queues and [of bytes](crate::queue::bytes::Consumer), the
/// [receivers](crate::queue::shared::Receiver) of shared queues, stages among them, the
/// [subscribers of a pattern](crate::bus::MatchingSubscriber) of a bus, the
/// [receivers of one value](crate::oneshot::Receiver) and of the [newest one](crate::watch::Receiver), and
/// `&mut` references to all of these. There are no others: the trait can't be implemented outside this crate.
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "`watch` needs `std`"))]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Waitable: Source + Batches {}

/// A receiving handle whose messages are received by value: each [`Waitable`] one, but of the [subscribers of
/// events](crate::event::EventSubscriber) only those whose events can be cloned. Of rings and queues of bytes
/// a message is a copy of a record, a `Box<[u8]>`.
///
/// ```
/// use annulus::Receive;
///
/// // Any of them.
/// fn takes_orders(_: &impl Receive<Item = u64>) {}
///
/// let (_publisher, subscribable) = annulus::broadcast::lossy(8);
/// let (_producer, consumer) = annulus::mpsc::channel(8);
/// takes_orders(&subscribable.subscribe());
/// takes_orders(&consumer);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot receive messages by value",
    label = "not a receiving handle, or its messages can only be borrowed",
    note = "subscribers, consumers and receivers can, and subscribers of events that are `Clone`"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Receive: Waitable + Take<Taken = <Self as Receive>::Item> {
    /// What comes.
    type Item;
}

/// A receiving handle whose messages are read by reference: the [subscribers of
/// events](crate::event::EventSubscriber). Their events need not be cloned.
///
/// ```
/// use annulus::ReceiveRef;
///
/// struct Frame; // can't be cloned
///
/// fn shows_frames(_: &impl ReceiveRef<Item = Frame>) {}
///
/// let (_publisher, subscribable) = annulus::event::channel(8, || Frame);
/// shows_frames(&subscribable.subscribe());
/// ```
#[allow(private_bounds, reason = "this is what seals it")]
pub trait ReceiveRef: Numbered + Lend<Lent = <Self as ReceiveRef>::Item> {
    /// What is in the ring.
    type Item;
}

/// A receiving handle of a ring that numbers its messages: those of broadcast rings, of events and of
/// records. (Queues have an order for each producer, and no numbers.)
///
/// [`EventLoop`](crate::EventLoop)s tell their handlers the number of such a message:
/// [`spawn_numbered`](crate::event_loop::Builder::spawn_numbered).
#[diagnostic::on_unimplemented(
    message = "the messages of `{Self}` have no sequence numbers",
    label = "not of a broadcast ring",
    note = "subscribers of broadcast rings have them; count those of a queue in the handler's context"
)]
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "event loops need `std`"))]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Numbered: Waitable + HasSequence {}

impl<S: Waitable> Waitable for &mut S {}

impl<S: Numbered> Numbered for &mut S {}

impl<S: Receive> Receive for &mut S {
    type Item = S::Item;
}

impl<S: ReceiveRef> ReceiveRef for &mut S {
    type Item = S::Item;
}
