//! Broadcast rings between processes: one process publishes, and any number of processes subscribe.
//!
//! [`lossy`] rings never wait for a subscriber. The publisher of a [`lossless`] one waits for those that have
//! a seat.

use core::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

pub use super::lossless::{AcceptedLossless, NoSeat, lossless};
pub use super::mark::Mark;
pub use crate::broadcast::{Awaited, Foreign};

use super::error::AttachError;
use super::fellows;
use super::format::{Identity, Layout};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::liveness::PeerState;
use super::message_type::MessageType;
use super::numbers_and_slots::{Extent, damaged, shown};
use super::places::Table;
use super::process::ProcessId;
use super::seat_locks::PageLocks;
use super::share_error::ShareError;
use super::sleepers;
use crate::broadcast::{Across, Awaiting, Builder, Publisher, Subscribable, of_another};
use crate::error::CapacityError;
use crate::lane::PlaceTable;
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::os::shared_memory::{Access, SharedMemory};
use crate::os::{folder, lock};
use crate::ring::{MIN_CAPACITY, Mirror, Seats, Writers, slots_layout, stride_for};
use crate::sync::mutated;
use crate::wait::{Remote, WaitStrategy};

/// Makes a lossy ring that other processes can subscribe to.
///
/// The handles are those of [`Builder::lossy`], with the same verbs. The [`Invitation`] is for the other
/// processes: send it through a Unix socket. They can't write to the ring, so none of them can harm the
/// publisher or another subscriber. The most that one of them can do is to keep a wake-up from the others:
/// a thread then looks by itself after 50 ms, a task with the next message.
///
/// The publisher publishes as in one process, but it looks at one more word with each message (or each 64
/// messages of a batch). A wake-up of a sleeping process is one system call for all of them.
///
/// So that this word is enough, the process registers with the kernel for the barriers of sleepers
/// (`membarrier(2)`, global expedited). This takes some milliseconds with the first such ring, if there is a
/// second thread. Where the system refuses it, the publisher executes a full fence at each look.
///
/// Nobody counts the subscribers of other processes, since they say nothing:
/// [`subscriber_count`](Publisher::subscriber_count) and
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers) are about those of this process. A publisher
/// that is to wait for others has a [`lossless`] ring, or another way to hear from them.
///
/// The ring ends when the publisher is dropped or [closed](Publisher::close), and when its process ends.
///
/// # Errors
///
/// [`ShareError`]: no such ring can be, or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::Builder;
/// use annulus::shm::{Invitation, PeerState, broadcast};
/// use std::os::unix::net::UnixStream;
///
/// let (mut publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(64))?;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let ring = Invitation::receive(&there)?.accept::<u64>()?;
/// let mut subscriber = ring.subscribable().subscribe();
///
/// publisher.publish(42);
/// assert_eq!(subscriber.recv(), Ok(42));
/// assert_eq!(ring.publisher(), PeerState::Alive);
/// drop(publisher);
/// assert!(subscriber.recv().is_err());
/// assert_eq!(ring.publisher(), PeerState::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(clippy::type_complexity, reason = "a publisher, what makes subscribers, and an invitation")]
pub fn lossy<T: Message>(
    builder: Builder,
) -> Result<(Publisher<T>, Subscribable<T>, Invitation), ShareError> {
    let (across, invitation) = share(&builder, ShmKind::Lossy, 0, &MessageType::of::<T>())?;
    // SAFETY: new memory, all zero, to which only this mapping can write; and all processes go by
    // `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations.
    let (publisher, subscribable) = unsafe { builder.lossy_across(across) }?;
    Ok((publisher, subscribable, invitation))
}

/// The memory of a ring, all zero but for the header, as the publisher's process has it. `seats`: of a
/// lossless ring.
pub(super) fn share(
    builder: &Builder,
    kind: ShmKind,
    seats: usize,
    of: &MessageType,
) -> Result<(Across, Invitation), ShareError> {
    let capacity = builder.slots();
    if capacity < MIN_CAPACITY {
        return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY }.into());
    }
    let first = builder.first_sequence()?;
    let is_lossless = kind == ShmKind::Lossless;
    let identity = Identity::new()?;
    let page = if is_lossless {
        sleepers::create_with_seats(identity, seats, first)
    } else {
        sleepers::create(identity)
    }?;
    let (payload, schema) = of.written()?;
    let stride = stride_for(payload.bytes, Writers::One);
    let slot_bytes = stride * size_of::<u64>();
    let too_large = CapacityError::TooLarge { capacity, slot_bytes };
    let layout = Layout {
        kind,
        payload,
        slot_bytes,
        capacity,
        cells: 0,
        start: first.get(),
        creator: ProcessId::current()?,
        identity,
    };
    let slots = slots_layout(stride, capacity).ok_or(too_large)?;
    let slots_offset = layout.slots_offset().ok_or(too_large)?;
    let bytes = slots_offset.checked_add(slots.size()).ok_or(too_large)?;
    let memory =
        PlacedMemory::create("annulus broadcast", bytes, Access::CreatorAlone, builder.memory_options())?;
    let memory = Arc::new(memory);
    layout.write(&memory, &schema).ok_or(too_large)?;
    if is_lossless {
        // SAFETY: it is in the memory, which lives.
        unsafe { shown(&memory).as_ref() }.begin_lossless(builder.free_slots(), seats);
    }
    lock::take(&memory)?;
    let invitation = Invitation::new(lock::reopened(&memory)?, page.as_fd().try_clone_to_owned()?);
    let page = Arc::new(page);
    let [sleepers, publisher] = sleepers::remotes_of_producer(&page);
    let awaiting = if is_lossless {
        let watched = Arc::clone(&page);
        let is_any_gone = move || sleepers::has_dead(&watched, seats);
        awaiting(page, seats, publisher.woken_from_elsewhere(is_any_gone))
    } else {
        None
    };
    let across = Across {
        // SAFETY: `shown` is in the memory, which the block keeps. It can be written to.
        mirror: unsafe { Mirror::shows(shown(&memory)) },
        slots: (Block::shared(memory, slots_offset, slots), stride),
        sleepers,
        awaiting,
    };
    Ok((across, invitation))
}

/// Whom the publisher of a lossless ring waits for, and where it sleeps. `None` if the page is too short.
fn awaiting(page: Arc<SharedMemory>, seats: usize, sleepers: Remote) -> Option<Awaiting> {
    let (scanned, cells) = sleepers::cells(&page, seats)?;
    // SAFETY: they are in the page, which the locks keep.
    let seats = unsafe { Seats::new(scanned, cells, PageLocks::new(page, seats)) };
    Some(Awaiting { seats, sleepers })
}

impl Invitation {
    /// Maps the ring, read-only, for subscribers that wait by the default [`WaitStrategy`]. It may have one
    /// publisher ([`lossy`]), or [several](crate::shm::mp_broadcast).
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or of another type, size or version; or the system refuses it.
    pub fn accept<T: Message>(&self) -> Result<Accepted<T>, AttachError> {
        self.accept_by(WaitStrategy::default())
    }

    /// As [`accept`](Self::accept), for subscribers that wait by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`accept`](Self::accept).
    pub fn accept_by<T: Message>(&self, strategy: WaitStrategy) -> Result<Accepted<T>, AttachError> {
        self.accept_until(strategy, || false)
    }

    /// The same; a ring of several publishers has also ended, for this process, when nobody publishes to it,
    /// and `is_given_up` says so.
    pub(super) fn accept_until<T: Message>(
        &self,
        strategy: WaitStrategy,
        is_given_up: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Accepted<T>, AttachError> {
        accept(self, &[ShmKind::Lossy, ShmKind::MpLossy], &MessageType::of::<T>(), strategy, is_given_up)
    }
}

/// A ring of one of these kinds, for subscribers that wait by `strategy`.
///
/// Any bytes are a `T`.
pub(super) fn accept<T: Message>(
    invitation: &Invitation,
    kinds: &[ShmKind],
    of: &MessageType,
    strategy: WaitStrategy,
    is_given_up: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<Accepted<T>, AttachError> {
    // An opening of its own, because a look at the lock of the publisher's would take that down.
    let ring = lock::reopened(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(ring, true)?;
    let kind = kinds.iter().copied().find(|&kind| kind == layout.kind).unwrap_or(kinds[0]);
    layout.is_for(kind, of, &memory)?;
    let capacity = layout.capacity;
    let writers = if kind == ShmKind::MpLossy { Writers::Fellows } else { Writers::One };
    let Extent { offset, slots, stride, first } = Extent::in_memory(&layout, writers, &memory)?;
    let joined = |memory| PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory);
    if kind == ShmKind::MpLossy {
        let table = Table::of(&invitation.sleepers, Arc::new(joined(memory)?), &layout)?;
        let memory = Arc::clone(&table.memory);
        let table = Arc::new(table);
        let across = fellows::seen(&table, &layout, (offset, slots, stride), is_given_up);
        // SAFETY: as below.
        let subscribable = unsafe { of_another(capacity, 0, first, strategy, across) };
        let subscribable = subscribable.map_err(|_| damaged("the capacity", capacity))?;
        return Ok(Accepted { subscribable, memory, start: layout.start, fellows: Some(table) });
    }
    let page = Arc::new(sleepers::attach_anew(&invitation.sleepers, layout.identity)?);
    // SAFETY: it is in the memory, which lives.
    let (headroom, seats) = unsafe { shown(&memory).as_ref() }.headroom_and_seats();
    let [headroom, seats] = [headroom, seats].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let (sleepers, awaiting) = if kind == ShmKind::Lossless {
        let [sleepers, publisher] = sleepers::remotes_of_consumer(&page);
        let awaiting = awaiting(page, seats, publisher).ok_or_else(|| damaged("the seats", seats))?;
        (sleepers, Some(awaiting))
    } else {
        (sleepers::remote(&page), None)
    };
    let memory = Arc::new(joined(memory)?);
    let watched = Arc::clone(&memory);
    let is_gone = move || !lock::is_taken(&*watched).unwrap_or(true);
    let across = Across {
        // SAFETY: `shown` is in the memory, which the block keeps.
        mirror: unsafe { Mirror::sees(shown(&memory), is_gone.clone()) },
        slots: (Block::shared(Arc::clone(&memory), offset, slots), stride),
        sleepers: sleepers.woken_from_elsewhere(is_gone),
        awaiting,
    };
    // SAFETY: all processes go by `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic
    // operations. A subscriber only loads them.
    let subscribable = unsafe { of_another(capacity, headroom, first, strategy, across) };
    let subscribable = subscribable.map_err(|error| match error {
        CapacityError::Headroom { headroom, .. } => damaged("the headroom", headroom),
        _ => damaged("the capacity", capacity),
    })?;
    Ok(Accepted { subscribable, memory, start: layout.start, fellows: None })
}

/// A ring of another process, mapped read-only.
pub struct Accepted<T> {
    subscribable: Subscribable<T, Foreign>,
    memory: Arc<PlacedMemory>,
    /// The first message.
    start: u64,
    /// Of several publishers: who is there.
    fellows: Option<Arc<Table>>,
}

impl<T: Message> Accepted<T> {
    /// What makes subscribers, as many as you like, on any thread of this process.
    ///
    /// Their verbs are those of subscribers in one process. A receive returns `Closed` when the publisher has
    /// closed the ring, and also when its process has ended without that: in both cases after all messages
    /// that are whole. [`publisher`](Self::publisher) tells which.
    ///
    /// A task that waits, a notifier, and a thread that waits for several handles are woken, too: by a thread
    /// of this process, which begins with the first of them (see [`shm`](crate::shm#tasks)).
    #[must_use]
    pub fn subscribable(&self) -> &Subscribable<T, Foreign> {
        &self.subscribable
    }

    /// With this, one subscriber of this process shows where it stands to whoever looks at the ring. It takes
    /// a descriptor.
    ///
    /// # Errors
    ///
    /// What the system says: the process has no more descriptors, for example.
    pub fn mark(&self) -> io::Result<Mark> {
        Mark::new(&*self.memory, self.start)
    }

    /// Whether this is the ring of that invitation.
    pub(super) fn is_that_of(&self, invitation: &Invitation) -> bool {
        folder::is_same(&*self.memory, &invitation.ring).unwrap_or(false)
    }

    /// Whether the publisher is there, or one of several. Two system calls, or one for each place of a ring
    /// of several publishers.
    ///
    /// After a receive has returned `Closed`, it tells how the ring has ended: `Dead` if the publisher's
    /// process has ended without a close. All that was published is received before either.
    ///
    /// The kernel tells, by a lock that the publisher's process holds. A child that the process has forked
    /// has the lock as well, until it ends or calls `exec`.
    #[must_use]
    #[doc(alias = "peer_state")]
    #[doc(alias = "PeerDied")]
    pub fn publisher(&self) -> PeerState {
        // Where the lock can't be looked at, the publisher is taken to be alive.
        let is_alive = match &self.fellows {
            Some(fellows) => fellows.taken(None) > 0,
            None => lock::is_taken(&*self.memory).unwrap_or(true),
        };
        let is_alive = is_alive || mutated!("shm_lossy_death_unseen");
        // Last: the end is shown before the lock goes.
        // SAFETY: it is in the memory, which lives as long as this.
        PeerState::told(is_alive, unsafe { shown(&self.memory).as_ref() }.is_over())
    }
}

impl<T: Message> Clone for Accepted<T> {
    fn clone(&self) -> Self {
        Self {
            subscribable: self.subscribable.clone(),
            memory: Arc::clone(&self.memory),
            start: self.start,
            fellows: self.fellows.clone(),
        }
    }
}

impl<T> fmt::Debug for Accepted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted").field("bytes", &self.memory.len()).finish_non_exhaustive()
    }
}
