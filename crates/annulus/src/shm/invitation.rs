//! [`Invitation`]: what another process needs to use a ring.

use core::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::directory::Directory;
use super::error::AttachError;
use super::fd::{recv_fd, send_fd};
use super::find_error::FindError;
use super::format::Payload;
use super::info::RingInfo;
use super::kind::ShmKind;
use super::named_ring::NamedRing;
use super::published_name::PublishedName;
use crate::memory::Memory;
use crate::os::shared_memory::SharedMemory;

/// What another process needs to use a ring: two descriptors. The first is that of the ring. By that of a
/// broadcast ring nobody can write to the ring. The second is that of a page where sleepers are counted.
///
/// See [`broadcast::lossy`](super::broadcast::lossy) and [`spsc::producer`](super::spsc::producer) for
/// examples.
pub struct Invitation {
    pub(super) ring: OwnedFd,
    pub(super) sleepers: OwnedFd,
    /// What this process asks of the memory.
    pub(super) memory: Memory,
    /// The creator's descriptor of the page, whose number the ring's header has.
    page: Option<Arc<SharedMemory>>,
}

impl Invitation {
    pub(super) fn new(ring: OwnedFd, sleepers: OwnedFd) -> Self {
        Self { ring, sleepers, memory: Memory::default(), page: None }
    }

    /// The same, of a ring that may outlive the handles of its creator: a name keeps this descriptor open.
    pub(super) fn keeping(self, page: &Arc<SharedMemory>) -> Self {
        Self { page: Some(Arc::clone(page)), ..self }
    }

    /// What this process asks of the ring's memory, for all that is accepted and joined by this invitation.
    ///
    /// The creator has decided by its builder what the memory is like for all: its huge pages, its node, and
    /// that all of it is there. While the creator lives, its [`lock`](Memory::lock) also keeps the pages in
    /// memory for all. So there is one thing to ask for here: a lock of one's own, for a ring whose creator
    /// has none, or that may end before. The other options change nothing. The verb `placement` of the
    /// handles says whether they are in effect.
    ///
    /// An option that is required and refused is an error of whatever accepts or joins:
    /// [`AttachError::Memory`].
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::memory::Memory;
    /// use annulus::shm::broadcast;
    ///
    /// let (publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(64))?;
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

    /// Sends it through a Unix socket, as two messages of one byte each. It can be sent to any number of
    /// processes.
    ///
    /// # Errors
    ///
    /// Those of [`send_fd`].
    pub fn send(&self, socket: &UnixStream) -> io::Result<()> {
        send_fd(socket, self.ring.as_fd())?;
        send_fd(socket, self.sleepers.as_fd())
    }

    /// Receives it from a Unix socket.
    ///
    /// # Errors
    ///
    /// Those of [`recv_fd`].
    pub fn receive(socket: &UnixStream) -> io::Result<Self> {
        Ok(Self::new(recv_fd(socket)?, recv_fd(socket)?))
    }

    /// Gives the ring a name in a directory, by which other processes [find](Self::find) it. The drop of what
    /// this returns takes the name back.
    ///
    /// # Errors
    ///
    /// [`FindError`]: there can be no such name, another ring has it, or the system refuses it. Or this
    /// invitation came from a socket, and what came is no ring.
    pub fn publish(&self, directory: &Directory, name: &str) -> Result<PublishedName, FindError> {
        let fingerprint = self.info()?.fingerprint();
        let name = directory.publish_with(name, self.ring.as_fd(), self.sleepers.as_fd(), fingerprint)?;
        Ok(name.keeping(self.page.clone()))
    }

    /// The invitation to a ring that has a name: what [`Directory::find`] or [`Directory::wait_for`]
    /// returned.
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::{Directory, Invitation, broadcast};
    ///
    /// let path = std::env::temp_dir().join(format!("annulus-example-{}", std::process::id()));
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let (mut publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(64))?;
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
        let fd = ring.open_read_only()?;
        let info = RingInfo::of(&fd)?;
        let fd = match info.kind() {
            ShmKind::Lossy | ShmKind::Lossless => fd,
            // Who may only read it can still subscribe.
            ShmKind::MpLossy => ring.open_writable().unwrap_or(fd),
            _ => ring.open_writable()?,
        };
        Ok(Self::new(fd, ring.open(info.sleepers(), true)?))
    }

    /// What the ring says of itself.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no ring.
    pub fn info(&self) -> Result<RingInfo, AttachError> {
        RingInfo::of(&self.ring)
    }

    /// Whether it is to a ring of this kind, for messages of this type. To be asked before the ring is opened
    /// to be written to, which a ring of one publisher refuses.
    pub(super) fn is_for(&self, kind: ShmKind, payload: &Payload) -> Result<(), AttachError> {
        self.info()?.0.is_for(kind, payload)
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
