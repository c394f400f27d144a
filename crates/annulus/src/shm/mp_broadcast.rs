//! Lossy broadcast rings that several processes publish to, and any number of processes subscribe to.
//!
//! Publishers join and leave while the ring runs. The process that makes the ring has the first one, and
//! [invites](super::Invitation) others, by a socket or by a name. There are [places](Places) for so many
//! publishers as it says. Subscribers [accept](super::Invitation::accept) the same invitation, as for a ring
//! of one publisher; they map the ring read-only, and have the same verbs.
//!
//! All subscribers see all messages in one order. Nobody waits: publishers overwrite the oldest messages, and
//! a subscriber that falls behind is told how many it has lost.
//!
//! ```
//! use annulus::broadcast::Builder;
//! use annulus::shm::{Invitation, mp_broadcast};
//! use std::os::unix::net::UnixStream;
//!
//! let builder = mp_broadcast::Builder::new(Builder::new(64)).publishers(8);
//! let (mut publisher, places, invitation) = builder.build::<u64>()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//!
//! // Usually two other processes: one subscribes, and one publishes, too.
//! let invitation = Invitation::receive(&there)?;
//! let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
//! let mut other = mp_broadcast::publisher::<u64>(&invitation)?;
//!
//! publisher.publish(1);
//! other.publish(2);
//! assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
//! assert_eq!((places.taken(), places.count()), (2, 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When a process ends
//!
//! The kernel tells it: each publisher has a lock that ends with its process, however that ends.
//!
//! - *A publisher's:* all that it had published is received, and its place is free at once. If it was in the
//!   middle of a publish, that one message is lost: nobody receives a part of it, and each subscriber counts
//!   it as lagged. Of a batch, what it had written is received, and up to 64 messages are lost (an eighth of
//!   the ring, if that is less). Other publishers go on at once. A subscriber that waits for such a message
//!   passes all of them within 10 ms, or within 50 ms if it sleeps. [`Places::died`] counts such deaths.
//! - *All publishers':* [`WhenNoPublisher`] decides whether the ring ends, or waits for the next ones.
//! - *A subscriber's:* nobody notices.
//!
//! A process that is stopped (`SIGSTOP`) is alive, and nobody takes its slots from it. If it was in the
//! middle of a publish, subscribers wait for its messages until the others have published a whole ring. Then
//! they lose these messages, and go on: when the next message is there, or within 10 ms. Publishers pass over
//! its slots each time they come to them, the first time after a short wait. Such a number counts as lagged,
//! although there was never a message. The message comes in the next slot. Only if every slot of the ring
//! belongs to stopped processes, the message is lost, and subscribers count it as lagged. (If a publisher was
//! about to claim messages when it was stopped, and another one was faster and has died then, it is waited
//! for in the same way.)
//!
//! # Close
//!
//! Any publisher may [close](Publisher::close) the ring, for all processes. All that was published before is
//! received. A subscriber's process closes it for itself only, because it can't write there.
//!
//! # Trust
//!
//! Publishers can write anything to the memory. A publisher that writes there on purpose can harm the
//! messages of others: they are wrong, or lost, or [corrupt](crate::LossyTryRecvError::Corrupt). No process
//! touches other memory because of that, and none waits or runs for ever. Subscribers can't write to the ring
//! by what they have mapped. But an invitation serves both, so a process that has it may publish, too.

use super::directory::Directory;
use super::error::AttachError;
use super::fellows::{join, share};
use super::find_error::FindError;
use super::invitation::Invitation;
use super::message_type::MessageType;
use super::name_error::NameError;
pub use super::places::{Places, WhenNoProducer as WhenNoPublisher};
use super::published_name::PublishedName;
use super::share_error::ShareError;
use crate::message::Message;
use crate::wait::WaitStrategy;

/// A publisher of such a ring.
pub use crate::broadcast::FellowPublisher as Publisher;

/// Settings of a ring that several processes publish to, and the verb that makes it.
///
/// See the [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Builder {
    ring: crate::broadcast::Builder,
    publishers: usize,
    when_no_publisher: WhenNoPublisher,
}

impl Builder {
    /// A ring with 16 places, and the settings of `ring`: its capacity, its name, its memory, and how
    /// publishers and subscribers of this process wait.
    #[must_use]
    pub fn new(ring: crate::broadcast::Builder) -> Self {
        Self { ring, publishers: 16, when_no_publisher: WhenNoPublisher::default() }
    }

    /// How many publishers there can be at one time: 1 to 1024, with the first one.
    #[must_use]
    pub fn publishers(mut self, places: usize) -> Self {
        self.publishers = places;
        self
    }

    /// What becomes of the ring when all publishers are gone. By default, it waits for the next ones.
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::mp_broadcast::{self, WhenNoPublisher};
    ///
    /// let builder = mp_broadcast::Builder::new(Builder::new(64));
    /// let builder = builder.when_no_publisher(WhenNoPublisher::Close);
    /// let (mut publisher, _, invitation) = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(1);
    /// drop(publisher);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn when_no_publisher(mut self, policy: WhenNoPublisher) -> Self {
        self.when_no_publisher = policy;
        self
    }

    /// Makes the ring, and its first publisher. The [`Invitation`] is for all other publishers and
    /// subscribers, also those of this process.
    ///
    /// The process registers with the kernel for the barriers of sleepers (`membarrier(2)`, global
    /// expedited), and so does that of each publisher. This takes some milliseconds with the first such ring,
    /// if there is a second thread. Where the system refuses it, the publisher executes a full fence with
    /// each message.
    ///
    /// Only this process can give the ring a [name](Invitation::publish).
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such ring can be, also with places for 0 publishers or more than 1024; or the
    /// system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::{ShareError, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Builder::new(64));
    /// let (publisher, places, _) = builder.clone().publishers(3).build::<u64>()?;
    /// assert_eq!((publisher.capacity(), places.count(), places.taken()), (64, 3, 1));
    /// let error = builder.publishers(0).build::<u64>().map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Producers { producers: 0, most: 1024 }));
    /// # Ok::<(), ShareError>(())
    /// ```
    #[allow(clippy::type_complexity, reason = "a publisher, the places, and an invitation")]
    pub fn build<T: Message>(self) -> Result<(Publisher<T>, Places, Invitation), ShareError> {
        self.build_for(&MessageType::of::<T>())
    }

    /// The same for any message, of which any bytes are one.
    #[allow(clippy::type_complexity, reason = "as above")]
    pub(super) fn build_for<T: Message>(
        self,
        of: &MessageType,
    ) -> Result<(Publisher<T>, Places, Invitation), ShareError> {
        share(self.ring, of, self.publishers, self.when_no_publisher)
    }

    /// A publisher of the ring that has this name in a directory. If there is none, or its process has ended,
    /// this makes one and gives it the name, which it returns as well. So several processes can begin in any
    /// order. See [`shm::mp_publish`](super::mp_publish) for the directory of the user.
    ///
    /// The settings of this builder are for a ring that it makes. One that is there keeps its own.
    ///
    /// The name is that of the process that made the ring. When that process ends, the others go on in their
    /// ring, which has no name then; whoever comes next makes another ring. So the process that lives longest
    /// should come first.
    ///
    /// In a directory that others may use it may have to ask the process that has the name for its
    /// descriptors, and waits for the answer, for two seconds at most: then
    /// [`NoAnswer`](NameError::NoAnswer). Otherwise it waits for nobody. It repeats its look if another
    /// process makes such a ring, or ends, meanwhile.
    ///
    /// # Errors
    ///
    /// [`FindError`]: of the name, of a ring that can't be, or of the ring that is there. That one may have
    /// no [place](AttachError::NoPlace) left, be [closed](AttachError::Closed), or be another kind of ring.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::{Directory, NamedSubscriber, Received, mp_broadcast};
    /// # let path = std::env::temp_dir().join(format!("annulus-publish-in-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let mut subscriber = NamedSubscriber::<u64>::new(&directory, "prices")?.begin_with_oldest();
    ///
    /// // Usually two processes.
    /// let builder = mp_broadcast::Builder::new(Builder::new(64));
    /// let (mut first, name) = builder.clone().publish_in::<u64>(&directory, "prices")?;
    /// let (mut second, no_name) = builder.publish_in::<u64>(&directory, "prices")?;
    /// assert!(name.is_some() && no_name.is_none());
    ///
    /// first.publish(1);
    /// second.publish(2);
    /// assert!(matches!(subscriber.recv()?, Received::Began { missed: 0, .. }));
    /// assert_eq!(subscriber.recv()?, Received::Message(1));
    /// assert_eq!(subscriber.recv()?, Received::Message(2));
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_in<T: Message>(
        self,
        directory: &Directory,
        name: &str,
    ) -> Result<(Publisher<T>, Option<PublishedName>), FindError> {
        loop {
            let found = match directory.find(name) {
                Err(NameError::NotFound { .. } | NameError::Dead { .. }) => {
                    let (publisher, _, invitation) = self.clone().build()?;
                    match invitation.publish(directory, name) {
                        // Somebody was faster.
                        Err(FindError::Name(NameError::Taken { .. })) => continue,
                        given => return Ok((publisher, Some(given?))),
                    }
                }
                found => found?,
            };
            match Invitation::find(&found) {
                // It has ended since.
                // Unreached: a process that ends between two looks at its name: two have to meet there
                Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => {}
                invitation => return Ok((publisher(&invitation?)?, None)),
            }
        }
    }
}

/// A further publisher of a ring, usually of another process. It takes the first place that is free, and
/// gives it back when it is dropped.
///
/// If the place's last publisher died in the middle of a publish, its message is marked as lost.
///
/// O(places), a system call for each that is taken.
///
/// # Errors
///
/// [`NoPlace`](AttachError::NoPlace): all places are taken. [`Closed`](AttachError::Closed): the ring is
/// closed. Other errors: it is no such ring, or of another type, size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::Builder;
/// use annulus::shm::{AttachError, mp_broadcast};
///
/// let builder = mp_broadcast::Builder::new(Builder::new(64)).publishers(2);
/// let (mut first, _, invitation) = builder.build::<u64>()?;
/// let mut second = mp_broadcast::publisher::<u64>(&invitation)?;
/// let error = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 2 }));
///
/// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
/// second.publish(1);
/// first.publish(2);
/// assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn publisher<T: Message>(invitation: &Invitation) -> Result<Publisher<T>, AttachError> {
    join(invitation, &MessageType::of::<T>(), WaitStrategy::default())
}
