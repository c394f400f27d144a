//! [`Invitation`]: what another process needs to use a ring.

use core::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::directory::{Directory, NamedRing, Part, PublishedName, checked};
use super::error::{AttachError, FindError, NameError};
use super::fd::{end_of_reads, end_of_writes, recv_fd_until, send_fd_until};
use super::format::RingInfo;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::names::with_number;
use super::sleepers;
use crate::memory::Memory;
use crate::wait::WaitStrategy;

/// What another process needs to use a ring: two descriptors. The first is for the ring's memory; if the ring
/// is a broadcast ring, this descriptor does not allow writing. The second is for a page where sleepers are
/// counted.
///
/// See [`broadcast::lossy`](super::broadcast::lossy) and [`spsc::producer`](super::spsc::producer) for
/// examples.
pub struct Invitation {
    pub(super) ring: OwnedFd,
    pub(super) sleepers: OwnedFd,
    /// What this process asks of the memory.
    pub(super) memory: Memory,
    /// How its handles wait.
    pub(super) strategy: WaitStrategy,
}

impl Invitation {
    pub(super) fn new(ring: OwnedFd, sleepers: OwnedFd) -> Self {
        Self { ring, sleepers, memory: Memory::default(), strategy: WaitStrategy::default() }
    }

    /// What this process asks of the ring's memory, for all that is accepted and joined by this invitation.
    ///
    /// The creator has decided by its builder what the memory is like for all: its huge pages, its node, and
    /// that all of it is there. While the creator lives, its [`lock`](Memory::lock) also keeps the pages in
    /// memory for all. So there is one thing to ask for here: a lock of one's own, for a ring whose creator
    /// has none, or that may end before. The other options change nothing. The verb `placement` of the
    /// handles says whether they are in effect.
    ///
    /// If an option is required and refused, accepting or joining returns [`AttachError::Memory`].
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::memory::Memory;
    /// use annulus::shm::{Shared, broadcast};
    ///
    /// let Shared { handle: publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// // Usually in another process.
    /// let ring = invitation.with_memory(Memory::prefer().lock()).accept::<u64>()?;
    /// println!("{}", ring.subscribable().placement()); // whether it is locked here
    /// assert!(!publisher.placement().lock().is_granted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// How all handles wait that are accepted and joined by this invitation, in place of the default
    /// strategy. It is not sent to other processes.
    ///
    /// ```
    /// use annulus::WaitStrategy;
    /// use annulus::shm::{Shared, WhenGone, spsc};
    ///
    /// let builder = annulus::Settings::new(64);
    /// let Shared { handle: mut producer, invitation, .. } =
    ///     spsc::producer::<u64>(builder, WhenGone::Close)?;
    /// // Usually in another process.
    /// let invitation = invitation.with_wait_strategy(WaitStrategy::BusySpin);
    /// let (mut consumer, _) = spsc::consumer::<u64>(&invitation)?;
    /// assert_eq!(consumer.wait_strategy(), WaitStrategy::BusySpin);
    /// producer.send(7)?;
    /// assert_eq!(consumer.recv(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sends it through a Unix socket, as two messages of one byte each. It can be sent to any number of
    /// processes. A timeout of the socket is for both together.
    ///
    /// # Errors
    ///
    /// The errors of [`send_fd`](super::send_fd).
    pub fn send(&self, socket: &UnixStream) -> io::Result<()> {
        let end = end_of_writes(socket)?;
        send_fd_until(socket, self.ring.as_fd(), end)?;
        send_fd_until(socket, self.sleepers.as_fd(), end)
    }

    /// Receives it from a Unix socket. A timeout of the socket is for all of it.
    ///
    /// # Errors
    ///
    /// The errors of [`recv_fd`](super::recv_fd).
    pub fn receive(socket: &UnixStream) -> io::Result<Self> {
        let end = end_of_reads(socket)?;
        Ok(Self::new(recv_fd_until(socket, end)?, recv_fd_until(socket, end)?))
    }

    /// Gives the ring a name in a directory, by which other processes [find](Self::find) it. The drop of what
    /// this returns takes the name back.
    ///
    /// The name leads to this process, also if another process has made the ring and sent the invitation: a
    /// process that finds the name joins the same ring. The name keeps both descriptors open. So it leads to
    /// the ring when all handles and invitations of this process are gone, too.
    ///
    /// # Errors
    ///
    /// [`FindError`]: there can be no such name, another ring has it, or the system refuses it. Or this
    /// invitation came from a socket, and its descriptors are for no ring, or for a ring and another ring's
    /// page.
    pub fn publish(&self, directory: &Directory, name: &str) -> Result<PublishedName, FindError> {
        let info = self.info()?;
        // A ring and a page that do not belong together get no name.
        sleepers::attach(&self.sleepers, info.layout.identity)?;
        let (ring, page) = (self.ring.as_fd(), Some(self.sleepers.as_fd()));
        Ok(directory.publish_with(name, ring, page, info.fingerprint())?)
    }

    /// As [`publish`](Self::publish), with a number behind the name, `NAME.0` for example: the first that no
    /// living process has. So several rings share a name, above all
    /// [services](super::service::NamedClient) whose clients ask any of them.
    ///
    /// The number of a process that has ended, or has taken its name back, is given again.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish). [`Bad`](NameError::Bad) also if the name is too long with its
    /// number.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, service};
    /// # let path = std::env::temp_dir().join(format!("annulus-numbered-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let made = service::Builder::new(Settings::new(4)).build::<u32, u64>()?; // in each of some processes
    /// let first = made.invitation.publish_numbered(&directory, "squares")?;
    /// let second = made.invitation.publish_numbered(&directory, "squares")?;
    /// assert_eq!((first.name(), second.name()), ("squares.0", "squares.1"));
    /// drop(first);
    /// assert_eq!(made.invitation.publish_numbered(&directory, "squares")?.name(), "squares.0");
    /// # drop(second);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_numbered(&self, directory: &Directory, name: &str) -> Result<PublishedName, FindError> {
        checked(name)?;
        let mut number = 0;
        loop {
            match self.publish(directory, &with_number(name, number)) {
                Err(FindError::Name(NameError::Taken { .. })) => number += 1,
                given => return given,
            }
        }
    }

    /// The invitation to a ring that has a name: what [`Directory::find`] or [`Directory::wait_for`]
    /// returned.
    ///
    /// In a directory that others may use it may have to ask the ring's process for its descriptors, and
    /// waits for the answer, for two seconds at most (or as [`find_timeout`](Self::find_timeout) says).
    /// Otherwise it does not wait.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, Invitation, Shared, broadcast};
    ///
    /// let path = std::env::temp_dir().join(format!("annulus-example-{}", std::process::id()));
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// let name = invitation.publish(&directory, "prices")?;
    ///
    /// // Usually in another process.
    /// let ring = Invitation::find(&directory.find("prices")?)?.accept::<u64>()?;
    /// let mut subscriber = ring.subscribable().subscribe();
    ///
    /// publisher.publish(42);
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// drop(name);
    /// assert!(directory.find("prices").is_err());
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FindError`]: the process is gone, or this one may not have its descriptors; or it is no ring.
    pub fn find(ring: &NamedRing) -> Result<Self, FindError> {
        Self::find_until(ring, None)
    }

    /// The invitation to the ring of that name, as soon as there is one. It waits until then, for `timeout`
    /// at most (`None` is for ever), as [`Directory::wait_for`] does, and includes the wait of
    /// [`find`](Self::find) in that time.
    ///
    /// ```
    /// use annulus::shm::{Directory, FindError, Invitation, NameError};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-invited-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let waited = Invitation::wait_for(&directory, "prices", Some(Duration::from_millis(10)));
    /// assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))));
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TimedOut`](super::NameError::TimedOut), and what [`find`](Self::find) returns for a ring that is
    /// there.
    pub fn wait_for(directory: &Directory, name: &str, timeout: Option<Duration>) -> Result<Self, FindError> {
        // (A sum that no clock reaches is for ever.)
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        directory.wait_until(name, until, |found| match Self::find_until(&found, until) {
            // It has ended since.
            Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => Ok(None),
            told => told.map(Some),
        })
    }

    /// As [`find`](Self::find), but where it has to ask the ring's process, it waits for the answer for
    /// `timeout` at most. Then the process stays asked: the next call, by the same [`NamedRing`], waits for
    /// the same answer. So a thread can wait for it that has other things to do meanwhile. It waits no longer
    /// where another thread waits for the same answer.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, FindError, Invitation, NameError, Shared, broadcast};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-find-timeout-{}", std::process::id()));
    ///
    /// let directory = Directory::with_mode(&path, 0o770)?;
    /// let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// let name = invitation.publish(&directory, "prices")?;
    ///
    /// // Usually a process of another user.
    /// let named = directory.find("prices")?;
    /// let ring = loop {
    ///     match Invitation::find_timeout(&named, Duration::from_millis(1)) {
    ///         Err(FindError::Name(NameError::TimedOut { .. })) => println!("no answer yet"),
    ///         found => break found?.accept::<u64>()?,
    ///     }
    /// };
    /// # drop((name, ring));
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`find`](Self::find), and [`TimedOut`](NameError::TimedOut). After two seconds without an
    /// answer it is [`NoAnswer`](NameError::NoAnswer), and the next call asks again.
    pub fn find_timeout(ring: &NamedRing, timeout: Duration) -> Result<Self, FindError> {
        Self::find_until(ring, Instant::now().checked_add(timeout))
    }

    /// As [`find_timeout`](Self::find_timeout), until then at most (`None`: as long as an answer may take).
    pub(super) fn find_until(ring: &NamedRing, until: Option<Instant>) -> Result<Self, FindError> {
        let fd = ring.open(Part::Ring, false, until)?;
        let info = RingInfo::of(&fd)?;
        if !ring.has(Part::Page) {
            return Err(AttachError::NoPage.into());
        }
        let writable = || ring.open(Part::Ring, true, until);
        let fd = match info.kind() {
            ShmKind::Lossy
            | ShmKind::Lossless
            | ShmKind::BroadcastBytes
            | ShmKind::LosslessBytes
            | ShmKind::Frames
            | ShmKind::LosslessFrames
            | ShmKind::Watch => fd,
            // A process that may only read the ring can still subscribe.
            ShmKind::MpLossy | ShmKind::MpLossless => writable().unwrap_or(fd),
            _ => writable()?,
        };
        Ok(Self::new(fd, ring.open(Part::Page, true, until)?))
    }

    /// One more invitation to the same ring.
    ///
    /// # Errors
    ///
    /// Those of the system, such as too many descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        let (ring, sleepers) = (self.ring.try_clone()?, self.sleepers.try_clone()?);
        Ok(Self { ring, sleepers, memory: self.memory, strategy: self.strategy })
    }

    /// What the ring says of itself.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no ring.
    pub fn info(&self) -> Result<RingInfo, AttachError> {
        RingInfo::of(&self.ring)
    }

    /// Checks that it is to a ring of this kind, for messages of this type. Call this before the ring is
    /// opened for writing, which a ring of one publisher refuses.
    pub(super) fn is_for(&self, kind: ShmKind, of: &MessageType) -> Result<(), AttachError> {
        let (memory, layout) = RingInfo::mapped(&self.ring)?;
        layout.is_for(kind, of, &memory)
    }
}

/// Its descriptors.
impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invitation")
            .field("ring", &self.ring)
            .field("sleepers", &self.sleepers)
            .finish_non_exhaustive()
    }
}
