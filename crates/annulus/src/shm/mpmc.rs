//! Queues from several processes to several: each message reaches one consumer, also if a consumer dies.
//!
//! A queue of work, for example: producers send jobs, and workers in other processes take one each. A process
//! makes the queue, with places for so many producers and consumers, and [invites](super::Invitation) others,
//! by a socket or by a name. Each of them [joins](fn@producer) as a [`Producer`], a [`Consumer`], or both,
//! when it likes. So does the process that has made it.
//!
//! ```
//! use annulus::shm::{Invitation, Shared, mpmc};
//! use std::os::unix::net::UnixStream;
//!
//! // The process that makes it.
//! let builder = mpmc::Builder::new(annulus::Settings::new(64)).producers(2).consumers(8);
//! let Shared { handle: queue, invitation, .. } = builder.build::<u64>()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//! let mut producer = mpmc::producer::<u64>(&invitation)?;
//! producer.send(1)?;
//! producer.send(2)?;
//!
//! // Each worker: usually another process.
//! let mut consumer = mpmc::consumer::<u64>(&Invitation::receive(&there)?)?;
//! let job = consumer.claim()?; // it comes back if this process dies
//! assert_eq!(*job, 1);
//! job.done();
//! assert_eq!(consumer.recv(), Ok(2)); // claimed, copied, and done at once
//!
//! assert_eq!((queue.producers().taken(), queue.consumers().taken()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order, and who holds up whom
//!
//! Each producer has a ring of its own. So producers do not disturb each other, and messages of one producer
//! are claimed in the order of sending, except those that are given again. A consumer takes from the rings in
//! turn: at most 64 messages of one while others have some.
//!
//! A process that is stopped (`SIGSTOP`) is alive. It holds up nobody: a producer, only what it has not sent;
//! a consumer, only the messages that it has claimed and the slots where they lie. A producer passes over
//! these slots, and has room as long as there are others. (A consumer that is stopped while it looks after a
//! dead one holds what that one had claimed, too.)
//!
//! Any number of consumers may sleep. A message wakes all of them, and one has it.
//!
//! # When a process ends
//!
//! The kernel tells it: each side holds a lock that ends with its process, however that ends.
//!
//! - *A producer's:* all that it had sent is received, and its place is free at once. What it had not sent
//!   completely is not there. [`Builder::when_no_producer`] says what follows when all are gone.
//! - *A consumer's:* what it had received is received. What it had claimed and not received is given to the
//!   next consumer, or dropped and counted: [`Builder::unreceived`]. Each consumer that receives looks for
//!   dead ones every 10 ms, and one that waits every 50 ms. [`Builder::when_no_consumer`] says what producers
//!   do when all are gone.
//!
//! A message is given again at most once for each death, or give-back, of a consumer that had claimed it.
//! [`Claimed::given_before`] says how often, and [`Queue::given_again`] counts them all, exactly.
//! A consumer that dies *behind* [`done`](Claimed::done), or behind [`recv`](Consumer::recv), has received
//! its message: nobody has it again. So work that must not be lost is claimed, and done when its result is
//! safe; and it may be begun twice.
//!
//! # Close
//!
//! Any process may [close](Queue::close) the queue, for all of them. All that was sent before is received;
//! then a receive says that it is closed. As long as another consumer holds a message, a receive waits,
//! because it may come back. A producer that waits for room learns of the close at once, or within 50 ms
//! where its process ends at that moment.
//!
//! # Trust
//!
//! All processes can write to the memory: see [`shm::spsc`](super::spsc#trust), also for what is no message.
//! Whatever another process writes there, this one stays within the slots, and no verb runs for ever. But a
//! process that writes what it must not can lose messages of the others, change them, or have them twice.

mod consumer;
mod memory;
mod producer;

use core::fmt;
use std::sync::Arc;

use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::message_type::MessageType;
pub use super::places::Places;
use super::shared::{Shared, WhenGone};
use crate::Closer;
use crate::base::common::Common;
use crate::message::Message;
pub use consumer::{Claimed, Consumer};
pub(super) use memory::CONSUMERS_SHIFT;
use memory::{Board, Policies};
pub use producer::Producer;

/// What becomes of a message that a consumer has claimed, and not received, when its process dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unreceived {
    /// It is given to the next consumer that receives. So it may be worked on twice.
    #[default]
    GiveAgain,
    /// It is dropped, and counted: [`Queue::dropped`].
    Drop,
}

/// Settings of a queue, and the verb that makes it.
///
/// See the [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Builder {
    queue: crate::Settings,
    producers: usize,
    consumers: usize,
    when_no_producer: WhenGone,
    when_no_consumer: WhenGone,
    unreceived: Unreceived,
}

impl Builder {
    /// A queue with 16 places for producers and 16 for consumers, and the settings of `queue`: its capacity
    /// is how many messages each producer's ring has room for, including those that consumers hold. Its
    /// strategy is how handles wait that are made by the invitation that [`build`](Self::build) returns. Its
    /// [`memory`](crate::Settings::memory) options apply to the memory that the processes share.
    #[must_use]
    pub fn new(queue: crate::Settings) -> Self {
        Self {
            queue,
            producers: 16,
            consumers: 16,
            when_no_producer: WhenGone::Wait,
            when_no_consumer: WhenGone::Wait,
            unreceived: Unreceived::default(),
        }
    }

    /// How many producers there can be at one time: 1 to 1024. The memory for all of them is there from the
    /// beginning.
    #[must_use]
    pub fn producers(mut self, places: usize) -> Self {
        self.producers = places;
        self
    }

    /// How many consumers there can be at one time: 1 to 1024.
    #[must_use]
    pub fn consumers(mut self, places: usize) -> Self {
        self.consumers = places;
        self
    }

    /// What happens when all producers are gone, after at least one was there. By default, consumers wait for
    /// the next ones. By [`Close`](WhenGone::Close), the queue is closed: at once when the last one leaves,
    /// and within 50 ms when it has died.
    #[must_use]
    pub fn when_no_producer(mut self, policy: WhenGone) -> Self {
        self.when_no_producer = policy;
        self
    }

    /// What happens when all consumers are gone, after at least one was there. By default, producers fill
    /// their rings, and wait for the next ones. By [`Close`](WhenGone::Close), the queue is closed: at once
    /// when the last one leaves, and when it has died, as soon as a producer finds no room.
    #[must_use]
    pub fn when_no_consumer(mut self, policy: WhenGone) -> Self {
        self.when_no_consumer = policy;
        self
    }

    /// What becomes of the messages that a consumer held when its process died. By default, they are given
    /// again. (A message that a living consumer drops is always given again.)
    #[must_use]
    pub fn unreceived(mut self, policy: Unreceived) -> Self {
        self.unreceived = policy;
        self
    }

    /// Makes the queue. The [`Invitation`] is for all processes that send or receive, this one included.
    ///
    /// The process registers with the kernel for the barriers of the others (`membarrier(2)`, global
    /// expedited), and so does each other one. This takes some milliseconds with the first such ring, if
    /// there is a second thread. Where the system refuses it, each message costs a full fence or two.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such queue can be, also with places for 0 producers or consumers, or more than 1024
    /// of either; or the system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{ShareError, mpmc};
    ///
    /// let builder = mpmc::Builder::new(annulus::Settings::new(4)).producers(3);
    /// let queue = builder.clone().build::<u32>()?.handle;
    /// assert_eq!((queue.producers().count(), queue.consumers().count()), (3, 16));
    /// let error = builder.consumers(0).build::<u32>().map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Producers { producers: 0, most: 1024 }));
    /// # Ok::<(), ShareError>(())
    /// ```
    pub fn build<T: Message>(self) -> Result<Shared<Queue<T>>, ShareError> {
        self.build_for(&MessageType::of::<T>())
    }

    /// As [`build`](Self::build), for any message type of which all bytes are values.
    pub(super) fn build_for<T: Message>(self, of: &MessageType) -> Result<Shared<Queue<T>>, ShareError> {
        let policies = Policies {
            ends: self.when_no_producer == WhenGone::Close,
            ends_without_consumers: self.when_no_consumer == WhenGone::Close,
            drops: self.unreceived == Unreceived::Drop,
        };
        let sides = [self.producers, self.consumers];
        let (board, invitation) = memory::create::<T>(&self.queue, of, sides, policies)?;
        Ok(Shared { handle: Queue { board: board.in_common() }, peers: (), invitation })
    }
}

/// A queue as a whole: its places, and its numbers. It neither sends nor receives, takes no place, and its
/// drop closes nothing.
pub struct Queue<T: Message> {
    board: Common<Board<T>>,
}

impl<T: Message> Queue<T> {
    /// The places for producers.
    #[must_use]
    pub fn producers(&self) -> Places {
        Places(Arc::clone(&self.board.producers))
    }

    /// The places for consumers.
    #[must_use]
    pub fn consumers(&self) -> Places {
        Places(Arc::clone(&self.board.consumers))
    }

    /// How many messages were given again so far: of consumers that died with them, or gave them back. Each
    /// time counts. O(places).
    #[must_use]
    pub fn given_again(&self) -> u64 {
        self.board.counts()[0]
    }

    /// How many messages of dead consumers were dropped so far: [`Unreceived::Drop`]. O(places).
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.board.counts()[1]
    }

    /// How many messages wait to be received for the first time. A snapshot. O(places).
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.board.len()
    }

    /// How many messages each producer's ring has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.board.lanes[0].capacity()
    }

    /// Closes the queue, for all processes. What was sent before is received.
    ///
    /// ```
    /// use annulus::RecvError;
    /// use annulus::shm::mpmc;
    ///
    /// let made = mpmc::Builder::new(annulus::Settings::new(4)).build::<u32>()?;
    /// let mut producer = mpmc::producer::<u32>(&made.invitation)?;
    /// let mut consumer = mpmc::consumer::<u32>(&made.invitation)?;
    /// producer.send(1)?;
    /// made.handle.close();
    /// assert!(producer.send(2).is_err());
    /// assert_eq!((consumer.recv(), consumer.recv().is_err()), (Ok(1), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.board.close(false);
    }

    /// A [`Closer`], which [closes](Self::close) the queue from any thread. It keeps nothing open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::from_weak(self.board.downgrade())
    }

    /// Whether the queue is closed, by a process, or because all of a side were found to be gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.board.has_ended()
    }
}

impl<T: Message> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("given_again", &self.given_again())
            .field("dropped", &self.dropped())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// The queue of an [invitation](Invitation), to look at it from any process.
///
/// # Errors
///
/// [`AttachError`]: it is no such queue, or of another type, size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::mpmc;
///
/// let invitation = mpmc::Builder::new(annulus::Settings::new(4)).build::<u32>()?.invitation;
/// mpmc::producer::<u32>(&invitation)?.send(7)?;
/// let queue = mpmc::queue::<u32>(&invitation)?; // usually in another process
/// assert_eq!((queue.len(), queue.given_again(), queue.dropped()), (1, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn queue<T: Message>(invitation: &Invitation) -> Result<Queue<T>, AttachError> {
    queue_of(invitation, &MessageType::of::<T>())
}

/// As [`queue`], of such messages.
pub(super) fn queue_of<T: Message>(
    invitation: &Invitation,
    of: &MessageType,
) -> Result<Queue<T>, AttachError> {
    Ok(Queue { board: Board::attach(invitation, of)?.in_common() })
}

/// A producer of a queue. It takes the first place that is free, and gives it back when it is dropped.
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
/// use annulus::shm::{AttachError, mpmc};
///
/// let builder = mpmc::Builder::new(annulus::Settings::new(4)).producers(1);
/// let invitation = builder.build::<u32>()?.invitation;
/// let producer = mpmc::producer::<u32>(&invitation)?;
/// let error = mpmc::producer::<u32>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 1 }));
/// drop(producer);
/// mpmc::producer::<u32>(&invitation)?.send(1)?; // in the same place
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn producer<T: Message>(invitation: &Invitation) -> Result<Producer<T>, AttachError> {
    Producer::join(invitation, &MessageType::of::<T>(), invitation.strategy)
}

/// A consumer of a queue, which may be closed already. It takes the first place that is free, and gives it
/// back when it is dropped, and each message that it has [claimed](Claimed).
///
/// O(places), a system call for each that is taken; and O(all slots) where a consumer has died in its place.
///
/// # Errors
///
/// [`NoPlace`](AttachError::NoPlace): all places are taken. (The place of a dead one is taken for a moment,
/// while another consumer looks after its messages.) Other errors: it is no such queue, or of another type,
/// size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::{AttachError, mpmc};
///
/// let builder = mpmc::Builder::new(annulus::Settings::new(4)).consumers(1);
/// let invitation = builder.build::<u32>()?.invitation;
/// let consumer = mpmc::consumer::<u32>(&invitation)?;
/// let error = mpmc::consumer::<u32>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 1 }));
/// drop(consumer);
/// assert!(mpmc::consumer::<u32>(&invitation)?.try_recv().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn consumer<T: Message>(invitation: &Invitation) -> Result<Consumer<T>, AttachError> {
    Consumer::join(invitation, &MessageType::of::<T>(), invitation.strategy)
}
