//! [`WorkQueue`]: a queue that several consumers share, whose messages are known by their schema only.

use core::fmt;

use super::{LONGEST, OpenError};
use crate::shm::blocks::{self, AnyBlock, MessageType};
use crate::shm::invitation::Invitation;
use crate::shm::mpmc::{Builder, Places, Queue};
use crate::shm::shared::Shared;

/// A queue of several producers and several consumers as a whole: see [`mpmc`](crate::shm::mpmc). It neither
/// sends nor receives, takes no place, and its drop closes nothing.
///
/// ```
/// use annulus::shm::blocks::MessageType;
/// use annulus::shm::dynamic::{Receiver, Sender, Start, WorkQueue};
/// use annulus::shm::{Shared, mpmc};
/// use annulus::{Settings, WaitStrategy};
/// use std::time::Duration;
///
/// let of = MessageType::described("job{number:u32}".parse()?, 4);
/// let builder = mpmc::Builder::new(Settings::new(8));
/// let Shared { handle: queue, invitation, .. } = WorkQueue::new(builder, &of)?;
///
/// // Usually other processes.
/// let mut sender = Sender::join(&invitation, &of, WaitStrategy::default())?;
/// let mut worker = Receiver::join(&invitation, &of, WaitStrategy::default(), Start::Newest)?;
/// sender.send(&7_u32.to_ne_bytes())?;
/// let job = worker.claim_timeout(Duration::from_secs(60)).expect("it is such a queue")?;
/// assert_eq!((job.message(), job.given_before()), (&7_u32.to_ne_bytes()[..], 0));
/// drop(job); // not done: it comes back
/// let job = worker.claim_timeout(Duration::from_secs(60)).expect("it is such a queue")?;
/// assert_eq!((job.given_before(), queue.given_again()), (1, 1));
/// job.done();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WorkQueue {
    queue: Queue<AnyBlock>,
    bytes: usize,
}

/// Ends on both sides would not be made, either.
fn check(of: &MessageType) -> Result<(), OpenError> {
    let bytes = of.bytes();
    if bytes > LONGEST { Err(OpenError::TooLong { bytes }) } else { Ok(()) }
}

impl WorkQueue {
    /// Makes a queue, as [`Builder::build`] does.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong), [`Share`](OpenError::Share).
    pub fn new(builder: Builder, of: &MessageType) -> Result<Shared<Self>, OpenError> {
        check(of)?;
        Ok(blocks::mpmc_queue(builder, of)?.map(|queue| Self { queue, bytes: of.bytes() }))
    }

    /// The queue of an invitation, to look at it from any process.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong), [`Attach`](OpenError::Attach).
    pub fn join(invitation: &Invitation, of: &MessageType) -> Result<Self, OpenError> {
        check(of)?;
        Ok(Self { queue: blocks::mpmc_queue_of(invitation, of)?, bytes: of.bytes() })
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    /// The places for producers.
    #[must_use]
    pub fn producers(&self) -> Places {
        self.queue.producers()
    }

    /// The places for consumers.
    #[must_use]
    pub fn consumers(&self) -> Places {
        self.queue.consumers()
    }

    /// As [`Queue::given_again`].
    #[must_use]
    pub fn given_again(&self) -> u64 {
        self.queue.given_again()
    }

    /// As [`Queue::dropped`].
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// How many messages wait to be received for the first time. A snapshot. O(places).
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// How many messages each producer's ring has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Closes the queue, for all processes. What was sent before is received.
    pub fn close(&self) {
        self.queue.close();
    }

    /// As [`Queue::is_closed`].
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }
}

impl fmt::Debug for WorkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("message_bytes", &self.bytes)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
