//! Queues of records of any length, between two processes.
//!
//! A queue has the verbs, the errors and the waits of [`queue::bytes`](crate::queue::bytes): records of up to
//! half the capacity, written and read in the ring. What happens when a process ends is said in
//! [`shm::spsc`](super::spsc#when-a-process-ends). A record counts as received when it is dropped.
//!
//! # Trust
//!
//! Both processes can write to the memory. Whatever the other one writes there, this one stays within the
//! ring, and no call runs for ever. A length that can't be closes the queue. But the other process can change
//! a record while this one reads it, or a reservation while this one writes it. So neither is a slice here: a
//! record is copied, by [`to_vec`](crate::queue::bytes::Record::to_vec) or from what
//! [`shared`](crate::queue::bytes::Record::shared) shows, and a reservation is written by
//! [`write_at`](crate::queue::bytes::Reservation::write_at). Check the copy, not the record. Where the other
//! process is trusted, `unsafe` code can have [a slice](crate::queue::SharedSlice::as_slice).

use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::queue::{Peer, create_queue, join};
use super::shared::{Shared, WhenGone};
use super::spsc::Across;
use crate::queue::bytes::in_words;
use crate::settings::Settings;

/// The producer of such a queue.
pub type Producer = crate::queue::bytes::Producer<Across<u64>>;

/// The consumer of such a queue.
pub type Consumer = crate::queue::bytes::Consumer<Across<u64>>;

/// Makes a queue, and its producer. The [`Invitation`] is for the process of the consumer, which makes that
/// by [`consumer`].
///
/// The [`memory`](Settings::memory) of the builder is that which the processes share: see
/// [`annulus::memory`](crate::memory).
///
/// # Errors
///
/// [`ShareError`]: no such queue can be, or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{Invitation, Shared, WhenGone, bytes};
/// use std::os::unix::net::UnixStream;
///
/// let Shared { handle: mut producer, invitation, .. } =
///     bytes::producer(Settings::new(4096), WhenGone::Close)?;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let (mut consumer, _) = bytes::consumer(&Invitation::receive(&there)?)?;
///
/// producer.write(b"of any length")?;
/// let mut record = producer.reserve(100)?;
/// record.write_at(0, b"up");
/// record.commit_len(2)?;
/// assert_eq!(consumer.read()?.to_vec(), b"of any length");
/// assert_eq!(consumer.read()?.to_vec(), b"up");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn producer(
    settings: Settings,
    when_consumer_dies: WhenGone,
) -> Result<Shared<Producer, Peer>, ShareError> {
    let capacity = settings.capacity;
    let made =
        create_queue(in_words(settings)?, ShmKind::Bytes, &words(), capacity as u64, when_consumer_dies)?;
    Ok(made.map(|words| Producer { words, capacity }))
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
/// [`AttachError`]: it is no such queue, or of another version; or it has a consumer; or the system refuses
/// it.
pub fn consumer(invitation: &Invitation) -> Result<(Consumer, Peer), AttachError> {
    let fault = |capacity, slots| {
        let slots_of =
            usize::try_from(capacity).ok().and_then(|capacity| in_words(Settings::new(capacity)).ok());
        let slots_of = slots_of.map(|words| words.capacity);
        (slots_of != Some(slots)).then_some("the capacity in bytes")
    };
    let (words, peer, capacity) = join(invitation, ShmKind::Bytes, &words(), invitation.strategy, fault)?;
    Ok((Consumer { words, capacity: capacity as usize }, peer))
}

/// In words; what a record is made of is not known.
fn words() -> MessageType {
    MessageType::of_bytes(8, 8)
}
