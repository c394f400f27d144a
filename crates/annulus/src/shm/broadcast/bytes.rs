//! Broadcast of records between processes: byte strings of any length, each seen by every subscriber.
//!
//! A ring has the handles and the verbs of [`broadcast::bytes`](crate::broadcast::bytes). One process
//! publishes. Others subscribe, from now on or from the oldest record that is there, and map the ring
//! read-only.
//!
//! - [`lossy`]: the publisher never waits, and subscribers are any number. One that falls behind loses the
//!   oldest records, and counts them exactly.
//! - [`lossless`]: the publisher waits for the slowest subscriber that has one of the ring's seats.
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
//! # When a process ends
//!
//! - *The publisher's:* subscribers receive all that was published, and then `Closed`. A record that the
//!   process was just writing is none: nobody receives a part of it. The records that it was to overwrite are
//!   lost; in a lossless ring nobody with a seat needed them.
//! - *A subscriber's:* a publisher that waits for it, for a place or for bytes, goes on without it.
//!
//! # Trust
//!
//! No subscriber can write to the ring. Those of a lossless one write to the page where the seats are: see
//! [`broadcast::lossless`](super::lossless). The publisher may write anything there: a subscriber then
//! receives wrong records, or loses some. What no record can be, such as one longer than
//! [`max_len`](crate::broadcast::bytes::Subscriber::max_len), counts as lost. A receive allocates for no more
//! than that, and touches no other memory.
// Decision 0163: a ring of extents, with the area behind its slots. Decision 0176: lossless.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::io;
use std::sync::Arc;

use super::{Accepted, Behind, Mark, NoSeat, RingMemory, accept, create_lossless_with, create_with};
use crate::broadcast::bytes::{Publisher, Subscribable, Subscriber, in_words};
use crate::broadcast::{Awaited, Foreign, Lossless};
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
    let area = new_area(&memory, bytes, capacity)?;
    let Shared { handle, peers, invitation } = shared;
    let peers = Subscribable::new(peers, Arc::clone(&area));
    Ok(Shared { handle: Publisher::new(handle, area), peers, invitation })
}

/// Makes a lossless ring of records for subscribers of other processes.
///
/// The publisher has the type and the verbs that [`lossless_with`](crate::broadcast::bytes::lossless_with)
/// returns. It waits for the slowest subscriber that has one of the ring's `seats`, and never while nobody
/// has one. The [`Invitation`] is for the processes that subscribe: see
/// [`accept_lossless_bytes`](Invitation::accept_lossless_bytes). (A subscriber of the publisher's own process
/// accepts it, too.) The capacity is in bytes, and is rounded up to a power of two.
///
/// What [`broadcast::lossless`](super::lossless) says of seats, of processes that end, and of what is refused
/// holds here, too. The bytes of a record are free once all subscribers that have a seat have received it.
///
/// # Errors
///
/// [`ShareError`]: no such ring can be, also with 0 seats or more than 1024; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::broadcast::bytes::TryWriteError;
/// use annulus::shm::{Invitation, Shared, broadcast};
/// use std::os::unix::net::UnixStream;
///
/// let shared = broadcast::bytes::lossless(Settings::new(1024), 4)?;
/// let Shared { handle: mut publisher, invitation, .. } = shared;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let ring = Invitation::receive(&there)?.accept_lossless_bytes()?;
/// let (mut subscriber, mut buffer) = (ring.subscribe()?, Vec::new());
///
/// publisher.publish(&[1; 512])?;
/// publisher.publish(&[2; 512])?;
/// assert_eq!(publisher.try_publish(b"no room"), Err(TryWriteError::Full));
/// assert_eq!(subscriber.recv(&mut buffer), Ok(512));
/// publisher.publish(b"waits, if there is no room")?;
/// drop(publisher);
/// assert_eq!(subscriber.into_iter().map(|record| record.len()).collect::<Vec<_>>(), [512, 26]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossless(settings: Settings, seats: usize) -> Result<Shared<Publisher<Lossless>>, ShareError> {
    let capacity = settings.capacity;
    settings.without_headroom()?;
    let (words, extents) = in_words(settings)?;
    let bytes = words * WORD;
    let (shared, memory) = create_lossless_with::<Extent>(extents, &extent(), Behind::Area(bytes), seats)?;
    let area = new_area(&memory, bytes, capacity)?;
    Ok(shared.map(|handle| Publisher::new(handle, area)))
}

/// The area of a new ring, for which a capacity of so many bytes was asked.
fn new_area(memory: &RingMemory, bytes: usize, capacity: usize) -> Result<Arc<Area>, CapacityError> {
    Cell(&memory.ring).write(&[bytes]);
    let area = area_in(&memory.ring, memory.end, bytes);
    area.map(Arc::new).ok_or(CapacityError::TooLarge { capacity, slot_bytes: 1 })
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
        AcceptedBytes::new(self, ShmKind::BroadcastBytes)
    }

    /// Maps a [lossless ring of records](self::lossless), for subscribers.
    ///
    /// # Errors
    ///
    /// As of [`accept_broadcast_bytes`](Self::accept_broadcast_bytes).
    pub fn accept_lossless_bytes(&self) -> Result<AcceptedBytes<Awaited>, AttachError> {
        AcceptedBytes::new(self, ShmKind::LosslessBytes)
    }
}

/// A ring of records of another process, mapped read-only. Its mode is [`Foreign`], or [`Awaited`] where the
/// publisher waits for subscribers.
pub struct AcceptedBytes<M = Foreign> {
    ring: Accepted<Extent>,
    subscribable: Subscribable<Foreign>,
    mode: PhantomData<fn() -> M>,
}

impl<M> AcceptedBytes<M> {
    fn new(invitation: &Invitation, kind: ShmKind) -> Result<Self, AttachError> {
        let ring = accept::<Extent>(invitation, &[kind], &extent(), invitation.strategy, || false)?;
        let (memory, layout) = (ring.memory(), Layout::read(ring.memory())?);
        let (cell, slots_end) = Cell::behind_slots(memory, &layout)?;
        let bytes = cell.number(BYTES);
        let is_possible = bytes.is_power_of_two() && bytes >= LEAST_BYTES;
        let end = end_of_area(slots_end, bytes).filter(|_| is_possible);
        let end = end.ok_or_else(|| damaged("the area's size", bytes))?;
        let short = AttachError::Length { found: memory.len() as u64, needed: end as u64 };
        let area = Arc::new(area_in(memory, slots_end, bytes).ok_or(short)?);
        let subscribable = Subscribable::new(ring.subscribable().clone(), area);
        Ok(Self { ring, subscribable, mode: PhantomData })
    }
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
}

impl AcceptedBytes<Awaited> {
    /// A subscriber for which the publisher waits, from the next record on. It takes a seat, which it gives
    /// up when it is dropped. O(seats), a system call for each that is taken. The publisher may wait a moment
    /// for it while it joins.
    ///
    /// # Errors
    ///
    /// [`NoSeat`]: all seats are taken. The seat of a process that has died counts as taken until the
    /// publisher has freed it; try again after a moment.
    pub fn subscribe(&self) -> Result<Subscriber<Awaited>, NoSeat> {
        self.subscribable.subscribe_awaited(false).ok_or(NoSeat)
    }

    /// As [`subscribe`](Self::subscribe), from the oldest record on that can be promised: one that the
    /// publisher has not found received by all, at most half of
    /// [`max_records`](crate::broadcast::bytes::Subscriber::max_records) before the next, or nearly so.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::broadcast;
    ///
    /// let mut shared = broadcast::bytes::lossless(Settings::new(1024), 1)?;
    /// shared.handle.publish(b"before")?;
    /// let ring = shared.invitation.accept_lossless_bytes()?; // usually in another process
    /// let (mut subscriber, mut buffer) = (ring.subscribe_from_oldest()?, Vec::new());
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(6));
    /// assert!(ring.subscribe().is_err(), "there is one seat");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber<Awaited>, NoSeat> {
        self.subscribable.subscribe_awaited(true).ok_or(NoSeat)
    }

    /// A lossy subscriber: the publisher does not wait for it. It takes no seat.
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber<Foreign> {
        self.subscribable.subscribe()
    }

    /// As [`subscribe_lossy`](Self::subscribe_lossy), from the oldest record on that is whole.
    #[must_use]
    pub fn subscribe_lossy_from_oldest(&self) -> Subscriber<Foreign> {
        self.subscribable.subscribe_from_oldest()
    }
}

impl<M> AcceptedBytes<M> {
    /// Whether the publisher has closed the ring, or its process is gone. Records may still be left to
    /// receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.subscribable.is_closed()
    }

    /// Whether the publisher is there. Two system calls. See [`Accepted::state`].
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.ring.state()
    }

    /// With this, one lossy subscriber of this process shows its position to processes that observe the ring.
    /// It takes a descriptor.
    ///
    /// # Errors
    ///
    /// What the system says: the process has no more descriptors, for example.
    pub fn mark(&self) -> io::Result<Mark> {
        self.ring.mark()
    }
}

impl<M> Clone for AcceptedBytes<M> {
    fn clone(&self) -> Self {
        let (ring, subscribable) = (self.ring.clone(), self.subscribable.clone());
        Self { ring, subscribable, mode: PhantomData }
    }
}

impl<M> fmt::Debug for AcceptedBytes<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedBytes").field("subscribable", &self.subscribable).finish_non_exhaustive()
    }
}
