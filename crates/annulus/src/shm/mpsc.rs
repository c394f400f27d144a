//! Queues from several processes to one: producers join and leave while it runs.
//!
//! A queue has the verbs and the waits of [`annulus::mpsc`](crate::mpsc), and carries any [`Message`]. The
//! process of the consumer makes it, with [places](Places) for so many producers, and
//! [invites](super::Invitation) others, by a socket or by a name. Each of them [joins](producer) when it
//! likes. It has a place as long as its producer is there.
//!
//! Each place has a ring. So producers do not disturb each other, and the messages of one producer arrive in
//! the order of sending. The consumer takes from the rings in turn, as in one process: a ring with a message
//! has its turn after at most 128 messages of each other ring. (Where messages are read in place, a turn ends
//! with the slice that reaches that number.) It looks at as many rings as there were producers at one time.
//!
//! When a producer is gone, its messages are still received. The next producer that joins may have its place
//! at once, and sends behind those messages. Until they are received it finds less room, or none.
//!
//! ```
//! use annulus::shm::{Invitation, Shared, mpsc};
//! use std::os::unix::net::UnixStream;
//!
//! // The process that receives.
//! let builder = mpsc::Builder::new(annulus::Settings::new(64)).producers(8);
//! let Shared { handle: mut consumer, peers: places, invitation, .. } = builder.build::<u64>()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//!
//! // Each process that sends: usually another one.
//! let invitation = Invitation::receive(&there)?;
//! let (mut producer, _) = mpsc::producer::<u64>(&invitation)?;
//! let (mut other, _) = mpsc::producer::<u64>(&invitation)?;
//! producer.send(1).unwrap();
//! other.send(2).unwrap();
//!
//! assert_eq!(places.taken(), 2);
//! assert_eq!(consumer.recv().unwrap() + consumer.recv().unwrap(), 3);
//! drop((producer, other));
//! assert_eq!(places.taken(), 0);
//! assert!(!consumer.is_closed()); // others may join
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When a process ends
//!
//! The kernel tells it: each side holds a lock that ends with its process, however that ends.
//!
//! - *A producer's:* all that it had sent is received, and its place is free at once. What it had not sent
//!   completely is not there. No other producer notices. The consumer's [`Places::died`] counts it.
//! - *All producers':* [`when_no_producer`](Builder::when_no_producer) decides whether the queue ends, or
//!   waits for the next ones.
//! - *The consumer's:* [`when_consumer_dies`](Builder::when_consumer_dies) decides. A next [`consumer`]
//!   continues at the first one's position: see [`shm::spsc`](super::spsc#when-a-process-ends).
//!
//! A process that is stopped (`SIGSTOP`) is alive: the others wait for it, where they have to.
//!
//! # Close
//!
//! Any process may [close](Producer::close) the queue, for all of them. It is closed, too, when the consumer
//! is dropped; and when the last producer is gone, if [`when_no_producer`](Builder::when_no_producer) says
//! so. All that was sent before is received. A producer that closes the queue wakes the consumer, and the
//! consumer wakes all producers. A producer that waits for room learns of the close of another producer
//! within 50 ms.
//!
//! # Numbers
//!
//! In the [`Stats`](crate::stats::Stats) of any handle, `writers` are the producers of all processes. In the
//! consumer's, `producers` has an entry for each place: how many messages its producers have sent, one
//! producer after the other.
//!
//! # Trust
//!
//! All processes can write to the memory: see [`shm::spsc`](super::spsc#trust), also for what is no message.
//! So one that writes what it must not can harm the messages of the others, too.

use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::message_type::MessageType;
pub use super::places::Places;
use super::places::{create_queue, join_as_consumer, join_as_producer};
use super::queue::Peer;
use super::shared::{Shared, WhenGone};
use crate::message::Message;
use crate::queue::across::KindAcross;

/// The kind of such a queue.
pub use crate::queue::across::ManyAcross;

/// A producer of such a queue.
pub type Producer<T> = crate::queue::Producer<T, ManyAcross<T>>;

/// The consumer of such a queue.
pub type Consumer<T> = crate::queue::Consumer<T, ManyAcross<T>>;

/// Settings of a queue between processes, and the verb that makes it.
///
/// See the [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Builder {
    queue: crate::Settings,
    producers: usize,
    when_no_producer: WhenGone,
    when_consumer_dies: WhenGone,
}

impl Builder {
    /// A queue with 16 places, and the settings of `queue`: the slots of each ring, the name, and how the
    /// consumer waits. Its [`memory`](crate::Settings::memory) options apply to the memory that the
    /// processes share, with all rings: see [`annulus::memory`](crate::memory).
    #[must_use]
    pub fn new(queue: crate::Settings) -> Self {
        Self { queue, producers: 16, when_no_producer: WhenGone::Wait, when_consumer_dies: WhenGone::Close }
    }

    /// How many producers there can be at one time: 1 to 1024. Each place has a ring, whose memory is there
    /// from the beginning.
    #[must_use]
    pub fn producers(mut self, places: usize) -> Self {
        self.producers = places;
        self
    }

    /// What happens to the queue when all producers are gone, after at least one was there. By default, it
    /// waits for the next ones.
    ///
    /// By [`Close`](WhenGone::Close), the queue is closed, as one in a process. When the last producer
    /// leaves, the consumer is told at once; when it has died, within 50 ms. A producer that joins at that
    /// moment may find the queue closed.
    ///
    /// ```
    /// use annulus::shm::{Shared, WhenGone, mpsc};
    ///
    /// let builder = mpsc::Builder::new(annulus::Settings::new(64));
    /// let builder = builder.when_no_producer(WhenGone::Close);
    /// let Shared { handle: mut consumer, invitation, .. } = builder.build::<u64>()?;
    /// let (mut producer, _) = mpsc::producer::<u64>(&invitation)?;
    /// producer.send(1).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.iter().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn when_no_producer(mut self, policy: WhenGone) -> Self {
        self.when_no_producer = policy;
        self
    }

    /// What producers do when the process of the consumer has ended without a close. By default, the queue is
    /// closed: a producer learns it when it finds no room. By [`Wait`](WhenGone::Wait), a producer that finds
    /// no room waits for a next consumer.
    #[must_use]
    pub fn when_consumer_dies(mut self, policy: WhenGone) -> Self {
        self.when_consumer_dies = policy;
        self
    }

    /// Makes the queue, and its consumer. The [`Invitation`] is for the processes of the producers, and for
    /// the process of a next consumer.
    ///
    /// The process registers with the kernel for the barriers of the others (`membarrier(2)`, global
    /// expedited), and so does each producer's. This takes some milliseconds with the first such ring, if
    /// there is a second thread. Where the system refuses it, sends or receives execute a full fence.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such queue can be, also with places for 0 producers or more than 1024; or the
    /// system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{ShareError, mpsc};
    ///
    /// let builder = mpsc::Builder::new(annulus::Settings::new(64));
    /// let made = builder.clone().producers(3).build::<u64>()?;
    /// assert_eq!((made.handle.capacity(), made.peers.count()), (64, 3));
    /// let error = builder.producers(0).build::<u64>().map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Producers { producers: 0, most: 1024 }));
    /// # Ok::<(), ShareError>(())
    /// ```
    pub fn build<T: Message>(self) -> Result<Shared<Consumer<T>, Places>, ShareError> {
        self.build_for(&MessageType::of::<T>())
    }

    /// As [`build`](Self::build), also if a slot is one byte of a message.
    pub(super) fn build_for<K: KindAcross>(
        self,
        of: &MessageType,
    ) -> Result<Shared<crate::queue::Consumer<K::Message, K>, Places>, ShareError> {
        create_queue(self.queue, of, self.producers, self.when_no_producer, self.when_consumer_dies)
    }
}

/// A producer of a queue of another process. It takes the first place that is free. It gives it back when it
/// is dropped.
///
/// A send is the same as in a queue of one process, with a few instructions more.
///
/// O(places), a system call for each that is taken.
///
/// # Errors
///
/// [`NoPlace`](AttachError::NoPlace): all places are taken. [`Closed`](AttachError::Closed): the queue is
/// closed. Other errors: it is no such queue, or of another type, size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::{AttachError, PeerState, Shared, mpsc};
///
/// let builder = mpsc::Builder::new(annulus::Settings::new(64)).producers(1);
/// let Shared { handle: mut consumer, invitation, .. } = builder.build::<u64>()?;
/// let (mut producer, peer) = mpsc::producer::<u64>(&invitation)?;
/// let error = mpsc::producer::<u64>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 1 }));
///
/// producer.send(1).unwrap();
/// drop(producer);
/// let (mut next, _) = mpsc::producer::<u64>(&invitation)?; // in the same place
/// next.send(2).unwrap();
/// assert_eq!((consumer.recv(), consumer.recv()), (Ok(1), Ok(2)));
///
/// assert_eq!(peer.state(), PeerState::Alive);
/// drop(consumer);
/// assert_eq!(peer.state(), PeerState::Closed);
/// assert!(next.send(3).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn producer<T: Message>(invitation: &Invitation) -> Result<(Producer<T>, Peer), AttachError> {
    join_as_producer(invitation, &MessageType::of::<T>(), invitation.strategy)
}

/// The next consumer of a queue, when the one before is gone: it continues at that one's position.
///
/// # Errors
///
/// [`Occupied`](AttachError::Occupied): the consumer before is still there. Other errors: it is no such
/// queue, or of another type, size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::{AttachError, Shared, mpsc};
///
/// let builder = mpsc::Builder::new(annulus::Settings::new(64));
/// let Shared { handle: consumer, invitation, .. } = builder.build::<u64>()?;
/// let error = mpsc::consumer::<u64>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::Occupied));
///
/// drop(consumer); // closes the queue; a consumer that dies leaves it open
/// let (mut next, _) = mpsc::consumer::<u64>(&invitation)?;
/// assert!(next.recv().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn consumer<T: Message>(invitation: &Invitation) -> Result<(Consumer<T>, Places), AttachError> {
    join_as_consumer(invitation, &MessageType::of::<T>(), invitation.strategy)
}
