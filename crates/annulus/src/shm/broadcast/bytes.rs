//! Broadcast of records between processes: byte strings of any length, each seen by every subscriber.
//!
//! A ring has the handles and the verbs of [`broadcast::bytes`](crate::broadcast::bytes). One process
//! publishes, and never waits. Any number of others subscribe, from now on or from the oldest record that is
//! whole. They map the ring read-only. A subscriber that falls behind loses the oldest records, and counts
//! them exactly.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Invitation, Shared, broadcast};
//! use std::os::unix::net::UnixStream;
//!
//! let Shared { handle: mut publisher, invitation, .. } = broadcast::bytes::lossy(Settings::new(64 * 1024))?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?; // or by a name: `invitation.publish(…)`
//!
//! // Usually in another process.
//! let ring = Invitation::receive(&there)?.accept_broadcast_bytes()?;
//! let mut subscriber = ring.subscribable().subscribe();
//!
//! publisher.publish(b"of any length")?;
//! publisher.publish(b"")?;
//! let mut buffer = Vec::new();
//! assert_eq!(subscriber.recv(&mut buffer), Ok(13));
//! assert_eq!(buffer, b"of any length");
//! assert_eq!(subscriber.recv(&mut buffer), Ok(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When the publisher's process ends
//!
//! Subscribers receive all that was published, and then `Closed`. A record that the process was just writing
//! is none: nobody receives a part of it. The records that it was to overwrite are lost.
//!
//! # Trust
//!
//! No subscriber can write to the ring. The publisher may write anything there: a subscriber then receives
//! wrong records, or loses some. What no record can be, such as one longer than
//! [`max_len`](crate::broadcast::bytes::Subscriber::max_len), counts as lost. A receive allocates for no more
//! than that, and touches no other memory.
// Decision 0163: a ring of extents, with the area behind its slots.

use core::fmt;
use core::ptr::NonNull;
use std::io;
use std::sync::Arc;

use super::{Accepted, Behind, Mark, accept, create_with};
use crate::broadcast::Foreign;
use crate::broadcast::bytes::{Publisher, Subscribable, in_words};
use crate::error::CapacityError;
use crate::memory::{Block, PlacedMemory};
use crate::ring::{Area, Extent, WORD, slots_layout};
use crate::settings::Settings;
use crate::shm::error::{AttachError, ShareError};
use crate::shm::format::{Layout, damaged};
use crate::shm::frame_format::{Cell, end_of_area};
use crate::shm::invitation::Invitation;
use crate::shm::kind::ShmKind;
use crate::shm::message_type::MessageType;
use crate::shm::process::PeerState;
use crate::shm::shared::Shared;

/// The smallest area, in bytes.
const LEAST_BYTES: usize = 64;

/// Where in the cell the numbers are: how many bytes the area has, and the first word that stands.
const BYTES: usize = 0;
const OVERWRITTEN: usize = 1;

/// What the ring itself carries. What a record is made of is not known.
fn extent() -> MessageType {
    MessageType::of_bytes(size_of::<Extent>(), align_of::<Extent>())
}

/// Makes a lossy ring of records that other processes can subscribe to.
///
/// The handles have the types and verbs that [`lossy_with`](crate::broadcast::bytes::lossy_with) returns: the
/// publisher, and what makes subscribers of this process. The [`Invitation`] is for the other processes: see
/// [`accept_broadcast_bytes`](Invitation::accept_broadcast_bytes). The capacity is in bytes, and is rounded
/// up to a power of two.
///
/// What [`broadcast::lossy`](super::lossy) says of wake-ups and of subscribers that are not counted holds
/// here, too. The ring ends when the publisher is dropped or [closed](Publisher::close), and when its process
/// ends.
///
/// # Errors
///
/// [`ShareError`]: no such ring can be, or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{PeerState, Shared, broadcast};
///
/// let shared = broadcast::bytes::lossy(Settings::new(1000).name("log"))?;
/// let Shared { handle: mut publisher, peers: subscribable, invitation, .. } = shared;
/// assert_eq!((publisher.capacity(), publisher.max_len()), (1024, 512));
/// let mut here = subscribable.subscribe();
/// publisher.publish(b"one")?;
///
/// // Usually in another process.
/// let ring = invitation.accept_broadcast_bytes()?;
/// let mut there = ring.subscribable().subscribe_from_oldest();
///
/// let mut buffer = Vec::new();
/// assert_eq!((here.try_recv(&mut buffer), there.try_recv(&mut buffer)), (Ok(3), Ok(3)));
/// drop(publisher);
/// assert_eq!(ring.state(), PeerState::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossy(settings: Settings) -> Result<Shared<Publisher, Subscribable>, ShareError> {
    let capacity = settings.capacity;
    let (words, extents) = in_words(settings)?;
    let bytes = words * WORD;
    let (shared, memory) = create_with::<Extent>(extents, &extent(), Behind::Area(bytes))?;
    Cell(&memory.ring).write(&[bytes]);
    let too_large = CapacityError::TooLarge { capacity, slot_bytes: 1 };
    let area = Arc::new(area_in(&memory.ring, memory.end, bytes).ok_or(too_large)?);
    let Shared { handle, peers, invitation } = shared;
    let peers = Subscribable::new(peers, Arc::clone(&area));
    Ok(Shared { handle: Publisher::new(handle, area), peers, invitation })
}

/// The area of so many bytes, a power of two. `None` if it does not lie in the memory.
fn area_in(memory: &Arc<PlacedMemory>, slots_end: usize, bytes: usize) -> Option<Area> {
    let words = bytes / WORD;
    let end = end_of_area(slots_end, bytes).filter(|&end| end <= memory.len())?;
    let block = Block::shared(Arc::clone(memory), end - bytes, slots_layout(1, words)?);
    let overwritten = NonNull::from(Cell(memory).word(OVERWRITTEN));
    // SAFETY: the block has so many words, and keeps the memory, in which the cell is, too. All processes go
    // by `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations. Only the
    // publisher's handle writes there, and only the creator's process has one.
    Some(unsafe { Area::across(block, words, overwritten) })
}

impl Invitation {
    /// Maps a [ring of records](self::lossy), read-only, for subscribers.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or it is damaged; or the system refuses it.
    pub fn accept_broadcast_bytes(&self) -> Result<AcceptedBytes, AttachError> {
        let kinds = [ShmKind::BroadcastBytes];
        let ring = accept::<Extent>(self, &kinds, &extent(), self.strategy, || false)?;
        let (memory, layout) = (ring.memory(), Layout::read(ring.memory())?);
        let (cell, slots_end) = Cell::behind_slots(memory, &layout)?;
        let bytes = cell.number(BYTES);
        let is_possible = bytes.is_power_of_two() && bytes >= LEAST_BYTES;
        let end = end_of_area(slots_end, bytes).filter(|_| is_possible);
        let end = end.ok_or_else(|| damaged("the area's size", bytes))?;
        let short = AttachError::Length { found: memory.len() as u64, needed: end as u64 };
        let area = Arc::new(area_in(memory, slots_end, bytes).ok_or(short)?);
        let subscribable = Subscribable::new(ring.subscribable().clone(), area);
        Ok(AcceptedBytes { ring, subscribable })
    }
}

/// A ring of records of another process, mapped read-only.
#[derive(Clone)]
pub struct AcceptedBytes {
    ring: Accepted<Extent>,
    subscribable: Subscribable<Foreign>,
}

impl AcceptedBytes {
    /// What makes subscribers, as many as you like, on any thread of this process.
    ///
    /// They have the same verbs as subscribers of a ring in one process. A receive returns `Closed` when the
    /// publisher has closed the ring, and also when its process has ended without that: in both cases after
    /// all records that are whole. [`state`](Self::state) tells which. Tasks and notifiers are woken as
    /// [there](crate::shm#tasks).
    #[must_use]
    pub fn subscribable(&self) -> &Subscribable<Foreign> {
        &self.subscribable
    }

    /// Whether the publisher is there. Two system calls. See [`Accepted::state`].
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.ring.state()
    }

    /// With this, one subscriber of this process shows its position to processes that observe the ring. It
    /// takes a descriptor.
    ///
    /// # Errors
    ///
    /// What the system says: the process has no more descriptors, for example.
    pub fn mark(&self) -> io::Result<Mark> {
        self.ring.mark()
    }
}

impl fmt::Debug for AcceptedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedBytes").field("subscribable", &self.subscribable).finish_non_exhaustive()
    }
}
