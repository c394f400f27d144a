//! [`RingInfo`]: what the header of a ring says.

use alloc::vec::Vec;
use std::os::fd::AsFd;

use super::error::AttachError;
use super::format::Layout;
use super::kind::ShmKind;
use super::process::ProcessId;
use crate::message::schema::{Fingerprint, Schema};
use crate::os::shared_memory::SharedMemory;

/// What the header of a ring says, to whoever has its descriptor.
///
/// ```
/// use annulus::shm::{AttachError, RingInfo};
///
/// let no_ring = std::fs::File::open("/proc/self/exe")?;
/// assert!(matches!(RingInfo::of(&no_ring), Err(AttachError::NotMemory)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingInfo {
    pub(super) layout: Layout,
    /// Where the schema lies.
    schema: Option<Vec<u8>>,
}

impl RingInfo {
    /// Maps the memory for a moment, to be read only, and checks its header. It disturbs nobody.
    ///
    /// # Errors
    ///
    /// Where the descriptor is no ring. No bytes in it can do any harm.
    pub fn of(ring: impl AsFd) -> Result<Self, AttachError> {
        let (memory, layout) = Self::mapped(ring)?;
        Ok(Self::in_memory(layout, &memory))
    }

    pub(super) fn in_memory(layout: Layout, memory: &SharedMemory) -> Self {
        Self { layout, schema: layout.schema_text(memory) }
    }

    /// Its memory, to be read only.
    pub(super) fn mapped(ring: impl AsFd) -> Result<(SharedMemory, Layout), AttachError> {
        let fd = ring.as_fd().try_clone_to_owned().map_err(AttachError::System)?;
        Layout::attach(fd, true)
    }

    /// Which ring it is.
    #[must_use]
    pub fn kind(&self) -> ShmKind {
        self.layout.kind
    }

    /// How many slots it has.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.layout.capacity
    }

    /// The size of a message, in bytes.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.layout.payload.bytes
    }

    /// The alignment of a message, in bytes.
    #[must_use]
    pub fn payload_alignment(&self) -> usize {
        self.layout.payload.alignment
    }

    /// What its messages are made of. `None` if only their size is known.
    ///
    /// ```
    /// use annulus::Message;
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::broadcast;
    ///
    /// #[derive(Clone, Copy, Message)]
    /// #[message(name = "quote")]
    /// #[repr(C)]
    /// struct Quote {
    ///     bid: f64,
    ///     ask: f64,
    /// }
    ///
    /// let (_publisher, _, invitation) = broadcast::lossy::<Quote>(Builder::new(64))?;
    /// let schema = invitation.info()?.schema()?.unwrap();
    /// assert_eq!(schema.to_string(), "quote{bid:f64,ask:f64}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Schema`](AttachError::Schema), [`Damaged`](AttachError::Damaged): what lies there is no schema, or
    /// not that of the header. No bytes in it can do any harm.
    pub fn schema(&self) -> Result<Option<Schema>, AttachError> {
        self.schema.as_deref().map(|text| self.layout.parsed(text)).transpose()
    }

    /// That of the [schema](Self::schema) of its messages.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.layout.payload.fingerprint
    }

    /// From one slot to the next, in bytes.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.layout.slot_bytes
    }

    /// The sequence of its first message.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.layout.start
    }

    /// A number that was drawn at random when the ring was made: no other ring has it, whatever name it has.
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    /// use annulus::shm::broadcast;
    ///
    /// let (_publisher, _, one) = broadcast::lossy::<u64>(Builder::new(64))?;
    /// let (_publisher, _, other) = broadcast::lossy::<u64>(Builder::new(64))?;
    /// assert_eq!(one.info()?.identity(), one.info()?.identity());
    /// assert_ne!(one.info()?.identity(), other.info()?.identity());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn identity(&self) -> u64 {
        self.layout.identity.to_u64()
    }

    /// The process that made it.
    #[must_use]
    pub fn creator(&self) -> ProcessId {
        self.layout.creator
    }
}
