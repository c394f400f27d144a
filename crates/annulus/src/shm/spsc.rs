//! Queues between two processes: one sends, and one receives.
//!
//! A queue has the verbs and the waits of [`annulus::spsc`](crate::spsc), and carries any [`Message`]. The
//! process of the producer makes it, and [invites](super::Invitation) the consumer's process, by a socket or
//! by a name.
//!
//! # When a process ends
//!
//! The kernel tells it: each side holds a lock that ends with its process, however that ends.
//!
//! - *The producer's:* the consumer receives all that was sent, and then [`Closed`](crate::RecvError).
//!   [`Peer::state`] and [`peer_died`](crate::RecvError::peer_died) tell a close from a death. What the
//!   producer had not sent completely is not there.
//! - *The consumer's:* [`WhenGone`] decides. By `Close`, sends fail from then on; by `Wait`, a producer
//!   that finds no room waits for a next consumer. (Only a producer that finds no room looks for it.) A next
//!   consumer starts with the message behind the last one that was received. A message counts as received
//!   when its receive returns; the messages of a batch, when the batch returns. So a consumer that is killed
//!   within a receive leaves that message, or that batch, to the next one.
//!
//! A process that is stopped (`SIGSTOP`) is alive: the other one waits for it.
//!
//! # Trust
//!
//! Both processes can write to the memory. Whatever the other one writes there, this one stays within the
//! slots, and no call runs for ever. But messages may then be any values, and the queue may seem empty, full,
//! or closed. So let only processes in that may do so.
//!
//! Where not all bytes are a value (a `bool`, an enum, a text), the consumer checks each message that it has
//! copied out of the queue, and each verb passes over what is corrupt.
//! [`total_corrupt`](Consumer::total_corrupt) counts it, and [`last_corrupt`](Consumer::last_corrupt) names
//! the field and what it holds.
//!
//! The other process can also change a message while this one looks at it. So no safe verb gives a slice, or
//! a reference, into the memory. A message is a copy, and stays as it is, once it is received: by `recv`, a
//! batch, or `consume`. In place,
//!
//! - messages are shown as a [`SharedSlice`], by [`readable_shared`](Consumer::readable_shared) and similar
//!   verbs: copy, check the copy, and use the copy;
//! - a [`Reservation`](crate::queue::Reservation) is written by `write_slice`, `write_iter` and `fill`, or
//!   through [a pointer](crate::queue::Reservation::as_mut_ptr).
//!
//! If you trust the other process not to write to a message that it has sent, there is a slice after all, in
//! `unsafe` code: [`SharedSlice::as_slice`].

use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::queue::{Peer, create_queue, join};
use super::shared::{Shared, WhenGone};
use crate::message::Message;

/// What such a queue shows in place.
pub use crate::queue::SharedSlice;
/// The kind of such a queue.
pub use crate::queue::across::Across;

/// The producer of such a queue.
pub type Producer<T> = crate::queue::Producer<T, Across<T>>;

/// The consumer of such a queue.
pub type Consumer<T> = crate::queue::Consumer<T, Across<T>>;

/// Makes a queue, and its producer. The [`Invitation`] is for the process of the consumer, which makes it by
/// [`consumer`].
///
/// A send is the same as in a queue of one process, with a few instructions more.
///
/// The process registers with the kernel for the barriers of the other one (`membarrier(2)`, global
/// expedited), and so does the consumer's. This takes some milliseconds with the first such ring, if there is
/// a second thread. Where the system refuses it, each send or receive executes a full fence.
///
/// The [`memory`](crate::Settings::memory) of the builder is that which the processes share: see
/// [`annulus::memory`](crate::memory).
///
/// # Errors
///
/// [`ShareError`]: no such queue can be, or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::{Invitation, PeerState, Shared, WhenGone, spsc};
/// use std::os::unix::net::UnixStream;
///
/// let builder = annulus::Settings::new(64);
/// let Shared { handle: mut producer, peers, invitation, .. } =
///     spsc::producer::<u64>(builder, WhenGone::Close)?;
/// assert_eq!(peers.state(), PeerState::NotYet);
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let (mut consumer, peer) = spsc::consumer::<u64>(&Invitation::receive(&there)?)?;
///
/// producer.send(42).unwrap();
/// assert_eq!(consumer.recv(), Ok(42));
/// assert_eq!(peer.state(), PeerState::Alive);
/// drop(producer);
/// assert!(consumer.recv().is_err());
/// assert_eq!(peer.state(), PeerState::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "SharedRing")]
pub fn producer<T: Message>(
    builder: crate::Settings,
    when_consumer_dies: WhenGone,
) -> Result<Shared<Producer<T>, Peer>, ShareError> {
    create_queue(builder, ShmKind::Spsc, &MessageType::of::<T>(), 0, when_consumer_dies)
}

/// The consumer of a queue of another process.
///
/// A queue has one consumer. When that is gone, another process may become the consumer, and continues at the
/// first one's position.
///
/// See [`producer`] for an example.
///
/// # Errors
///
/// [`AttachError`]: it is no such queue, or of another type, size or version; or it has a consumer; or the
/// system refuses it.
pub fn consumer<T: Message>(invitation: &Invitation) -> Result<(Consumer<T>, Peer), AttachError> {
    let (consumer, peer, _) =
        join(invitation, ShmKind::Spsc, &MessageType::of::<T>(), invitation.strategy, |_, _| None)?;
    Ok((consumer, peer))
}
