//! [`RingInfo`]: what the header of a ring says.

use std::os::fd::AsFd;

use super::error::AttachError;
use super::fingerprint::Fingerprint;
use super::format::Layout;
use super::kind::ShmKind;
use super::process::ProcessId;

/// What the header of a ring says, to whoever has its descriptor.
///
/// ```
/// use annulus::shm::{AttachError, RingInfo};
///
/// let no_ring = std::fs::File::open("/proc/self/exe")?;
/// assert!(matches!(RingInfo::of(&no_ring), Err(AttachError::NotMemory)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingInfo(pub(super) Layout);

impl RingInfo {
    /// Maps the memory for a moment, to be read only, and checks its header. It disturbs nobody.
    ///
    /// # Errors
    ///
    /// Where the descriptor is no ring. No bytes in it can do any harm.
    pub fn of(ring: impl AsFd) -> Result<Self, AttachError> {
        let fd = ring.as_fd().try_clone_to_owned().map_err(AttachError::System)?;
        Layout::attach(fd, true).map(|(_, layout)| Self(layout))
    }

    /// Which ring it is.
    #[must_use]
    pub fn kind(&self) -> ShmKind {
        self.0.kind
    }

    /// How many slots it has.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// The size of a message, in bytes.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.0.payload.bytes
    }

    /// The alignment of a message, in bytes.
    #[must_use]
    pub fn payload_alignment(&self) -> usize {
        self.0.payload.alignment
    }

    /// Of the type of its messages.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.payload.fingerprint
    }

    /// From one slot to the next, in bytes.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.0.slot_bytes
    }

    /// The sequence of its first message.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.0.start
    }

    /// The process that made it.
    #[must_use]
    pub fn creator(&self) -> ProcessId {
        self.0.creator
    }
}
