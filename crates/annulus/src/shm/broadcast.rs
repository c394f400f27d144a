//! Broadcast rings between processes: one process publishes, and any number of processes subscribe.
//!
//! [`lossy`] rings never wait for a subscriber. The publisher of a [`lossless`] one waits for subscribers
//! that have a seat. Rings of records of any length, of both sorts, are in [`bytes`].

pub mod bytes;

use core::error::Error;
use core::fmt;
use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::sync::Arc;

use super::error::{AttachError, ShareError};
use super::format::{Extent, Identity, Layout, damaged, shown};
use super::frame_format::{FrameNumbers, end_of_area};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::mp_broadcast;
use super::numbering::Numbering;
use super::places::Table;
use super::process::{PeerState, ProcessId};
use super::seats::{awaiting, check_seats};
use super::shared::Shared;
use super::sleepers::{self, Rows};
use crate::base::sequence::Sequence;
use crate::broadcast::{Across, Awaiting, Lossless, Publisher, Subscribable, Subscriber, of_another};
use crate::error::CapacityError;
use crate::lane::PlaceTable;
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::os::kept_word::KeptWord;
use crate::os::shared_memory::{Access, SharedMemory};
use crate::os::{folder, lock};
use crate::ring::{MIN_CAPACITY, Mirror, Writers, slots_layout, stride_for};
use crate::settings::Settings;
use crate::sync::seeded;
use crate::wait::{Remote, WaitStrategy};

pub use crate::broadcast::{Awaited, Foreign};

/// Makes a lossy ring that other processes can subscribe to.
///
/// The handles have the types and verbs that [`lossy_with`](crate::broadcast::lossy_with) returns. The
/// [`Invitation`] is for the other processes: send it through a Unix socket. They can't write to the ring, so
/// none of them can harm the publisher or another subscriber. The most that one of them can do is to keep a
/// wake-up from the others: a thread then looks by itself after 50 ms, a task with the next message.
///
/// The publisher publishes as in one process, but it looks at one more word with each message (or each 64
/// messages of a batch). A wake-up of a sleeping process is one system call for all of them.
///
/// So that this word is enough, the process registers with the kernel for the barriers of sleepers
/// (`membarrier(2)`, global expedited). This takes some milliseconds with the first such ring, if there is a
/// second thread. Where the system refuses it, the publisher executes a full fence at each look.
///
/// The subscribers of other processes are not counted, since they write nothing:
/// [`subscriber_count`](Publisher::subscriber_count) and
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers) count only the subscribers of this process. A
/// publisher that is to wait for others has a [`lossless`] ring, or another way to hear from them.
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
/// use annulus::Settings;
/// use annulus::shm::{Invitation, PeerState, Shared, broadcast};
/// use std::os::unix::net::UnixStream;
///
/// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let ring = Invitation::receive(&there)?.accept::<u64>()?;
/// let mut subscriber = ring.subscribable().subscribe();
///
/// publisher.publish(42);
/// assert_eq!(subscriber.recv(), Ok(42));
/// assert_eq!(ring.state(), PeerState::Alive);
/// drop(publisher);
/// assert!(subscriber.recv().is_err());
/// assert_eq!(ring.state(), PeerState::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossy<T: Message>(settings: Settings) -> Result<Shared<Publisher<T>, Subscribable<T>>, ShareError> {
    create_lossy(settings, &MessageType::of::<T>())
}

/// As [`lossy`], for any message. Any bytes are a `T`.
pub(super) fn create_lossy<T: Message>(
    settings: Settings,
    of: &MessageType,
) -> Result<Shared<Publisher<T>, Subscribable<T>>, ShareError> {
    Ok(create_with(settings, of, Behind::Nothing)?.0)
}

/// A lossy ring, and what lies behind its slots.
#[allow(clippy::type_complexity, reason = "what makes a ring, and its memory")]
pub(super) fn create_with<T: Message>(
    settings: Settings,
    of: &MessageType,
    behind: Behind<'_>,
) -> Result<(Shared<Publisher<T>, Subscribable<T>>, RingMemory), ShareError> {
    let [kind, _] = behind.kinds();
    let (across, invitation, memory) = create_ring(&settings, kind, 0, of, behind)?;
    // SAFETY: new memory, all zero, to which only this mapping can write; and all processes go by
    // `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations.
    let (handle, peers) = unsafe { settings.lossy_across(across) }?;
    Ok((Shared { handle, peers, invitation }, memory))
}

/// What lies behind the slots of a ring.
#[derive(Clone, Copy)]
pub(super) enum Behind<'r> {
    Nothing,
    Frames(&'r FrameNumbers),
    /// So many bytes, a power of two.
    Area(usize),
}

impl Behind<'_> {
    /// Of a lossy ring, and of a lossless one.
    fn kinds(self) -> [ShmKind; 2] {
        match self {
            Self::Nothing => [ShmKind::Lossy, ShmKind::Lossless],
            Self::Frames(_) => [ShmKind::Frames, ShmKind::LosslessFrames],
            Self::Area(_) => [ShmKind::BroadcastBytes, ShmKind::LosslessBytes],
        }
    }

    fn cells(self) -> usize {
        usize::from(!matches!(self, Self::Nothing))
    }

    /// Where it ends, if the slots end there.
    fn end(self, slots_end: usize) -> Result<usize, CapacityError> {
        match self {
            Self::Nothing => Ok(slots_end),
            Self::Frames(frames) => frames.end_behind(slots_end).ok_or_else(|| frames.too_large()),
            Self::Area(bytes) => end_of_area(slots_end, bytes)
                .ok_or(CapacityError::TooLarge { capacity: bytes, slot_bytes: 1 }),
        }
    }
}

/// As [`create_with`], with a publisher that waits for subscribers, for which there are so many seats.
pub(super) fn create_lossless_with<T: Message>(
    settings: Settings,
    of: &MessageType,
    behind: Behind<'_>,
    seats: usize,
) -> Result<(Shared<Publisher<T, Lossless>>, RingMemory), ShareError> {
    check_seats(seats)?;
    let [_, kind] = behind.kinds();
    let (across, invitation, memory) = create_ring(&settings, kind, seats, of, behind)?;
    // SAFETY: as in `create_with`. (What is not zero is constant.)
    let handle = unsafe { settings.lossless_across(across) }?;
    Ok((Shared { handle, peers: (), invitation }, memory))
}

/// The memory of a ring, and its page.
pub(super) struct RingMemory {
    pub(super) ring: Arc<PlacedMemory>,
    pub(super) page: Arc<SharedMemory>,
    /// Where the slots end.
    pub(super) end: usize,
}

/// The memory of a ring, all zero but for the header, as the publisher's process has it. `seats`: of a
/// lossless ring.
fn create_ring(
    settings: &Settings,
    kind: ShmKind,
    seats: usize,
    of: &MessageType,
    behind: Behind<'_>,
) -> Result<(Across, Invitation, RingMemory), ShareError> {
    let capacity = settings.capacity;
    if capacity < MIN_CAPACITY {
        return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY }.into());
    }
    let first = settings.first_sequence()?;
    let is_lossless = kind.is_lossless();
    let identity = Identity::new()?;
    let tables = if let Behind::Frames(frames) = behind { frames.tables } else { 0 };
    let page = if is_lossless {
        sleepers::create_with_seats(identity, [seats, tables], first)
    } else if tables > 0 {
        sleepers::create_with_tables(identity, tables)
    } else {
        sleepers::create(identity)
    }?;
    let (payload, schema) = of.written()?;
    let stride = stride_for(payload.bytes, Writers::One);
    let slot_bytes = stride * size_of::<u64>();
    let too_large = || CapacityError::TooLarge { capacity, slot_bytes };
    let layout = Layout {
        kind,
        payload,
        slot_bytes,
        capacity,
        cells: behind.cells(),
        start: first.get(),
        creator: ProcessId::current()?,
        identity,
    };
    let slots = slots_layout(stride, capacity).ok_or_else(too_large)?;
    let slots_offset = layout.slots_offset().ok_or_else(too_large)?;
    let end = slots_offset.checked_add(slots.size()).ok_or_else(too_large)?;
    let bytes = behind.end(end)?;
    let memory = PlacedMemory::create("annulus broadcast", bytes, Access::CreatorAlone, settings.memory)?;
    let memory = Arc::new(memory);
    layout.write(&memory, &schema).ok_or_else(too_large)?;
    Layout::promise(&memory, settings.deadline)?;
    if is_lossless {
        // SAFETY: it is in the memory, which lives.
        unsafe { shown(&memory).as_ref() }.begin_lossless(settings.headroom, seats);
    }
    if let Some(kept) = &settings.kept {
        // SAFETY: it is in the memory, which lives.
        unsafe { shown(&memory).as_ref() }.begin_numbering(kept.identity());
    }
    let page = Arc::new(page);
    let kept = RingMemory { ring: Arc::clone(&memory), page: Arc::clone(&page), end };
    let (across, invitation) = begin(
        memory,
        page,
        (slots_offset, slots, stride),
        is_lossless.then_some(seats),
        settings.kept.clone(),
    )?;
    Ok((across, invitation, kept))
}

/// Where slots lie in a memory: where they begin, in bytes; all of them; from one to the next, in words.
pub(super) type SlotsAt = (usize, core::alloc::Layout, usize);

/// What the publisher's process has of a new ring, and what others need. `seats`: of a lossless ring. `kept`:
/// where its numbers are kept.
pub(super) fn begin(
    memory: Arc<PlacedMemory>,
    page: Arc<SharedMemory>,
    (offset, slots, stride): SlotsAt,
    seats: Option<usize>,
    kept: Option<Arc<KeptWord>>,
) -> Result<(Across, Invitation), ShareError> {
    lock::take(&*memory)?;
    let invitation = Invitation::new(lock::reopened(&*memory)?, page.as_fd().try_clone_to_owned()?);
    let [sleepers, publisher] = sleepers::remotes_of_producer(&page);
    let awaiting = seats.and_then(|seats| {
        let watched = Arc::clone(&page);
        let seats = Rows::from_the_first(seats);
        let is_any_gone = move || sleepers::has_dead(&watched, seats);
        awaiting(page, seats, publisher.woken_from_elsewhere(is_any_gone))
    });
    let across = Across {
        // SAFETY: `shown` is in the memory, which the block keeps. It can be written to.
        mirror: unsafe { Mirror::shows(shown(&memory), kept) },
        slots: (Block::shared(memory, offset, slots), stride),
        sleepers,
        awaiting,
    };
    Ok((across, invitation))
}

impl Invitation {
    /// Maps the ring, read-only, for subscribers. It may have one publisher ([`lossy`]), or
    /// [several](crate::shm::mp_broadcast).
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or of another type, size or version; or the system refuses it.
    pub fn accept<T: Message>(&self) -> Result<Accepted<T>, AttachError> {
        self.accept_unless(|| false)
    }

    /// As [`accept`](Self::accept). A ring of several publishers also counts as ended for this process when
    /// it has no publisher and `is_given_up` returns true.
    pub(super) fn accept_unless<T: Message>(
        &self,
        is_given_up: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Accepted<T>, AttachError> {
        let kinds = [ShmKind::Lossy, ShmKind::MpLossy];
        accept(self, &kinds, &MessageType::of::<T>(), self.strategy, is_given_up)
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
    // A separate opening, because a look at the lock by the publisher's opening would take the lock down.
    let ring = lock::reopened(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(ring, true)?;
    let kind = kinds.iter().copied().find(|&kind| kind == layout.kind).unwrap_or(kinds[0]);
    layout.is_for(kind, of, &memory)?;
    let capacity = layout.capacity;
    let writers = if kind.has_fellows() { Writers::Claimants } else { Writers::One };
    let Extent { offset, slots, stride, first } = Extent::in_memory(&layout, writers, &memory)?;
    let joined = |memory| PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory);
    if kind.has_fellows() {
        let table = Table::of(&invitation.sleepers, Arc::new(joined(memory)?), &layout)?;
        let memory = Arc::clone(&table.memory);
        let table = Arc::new(table);
        let (across, headroom) = mp_broadcast::seen(&table, &layout, (offset, slots, stride), is_given_up)?;
        // SAFETY: as below.
        let subscribable = unsafe { of_another(capacity, headroom, first, strategy, across) };
        let subscribable = subscribable.map_err(|_| damaged("the capacity", capacity))?;
        return Ok(Accepted { subscribable, memory, start: layout.start, fellows: Some(table) });
    }
    // SAFETY: it is in the memory, which lives.
    let (headroom, seats) = unsafe { shown(&memory).as_ref() }.headroom_and_seats();
    let [headroom, seats] = [headroom, seats].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let is_lossless = kind.is_lossless();
    let page = if is_lossless { seats } else { 0 };
    let page = Arc::new(sleepers::attach_without_tables(&invitation.sleepers, layout.identity, page)?);
    let (sleepers, awaiting) = if is_lossless {
        let [sleepers, publisher] = sleepers::remotes_of_consumer(&page);
        let awaiting = awaiting(page, Rows::from_the_first(seats), publisher)
            .ok_or_else(|| damaged("the seats", seats))?;
        (sleepers, Some(awaiting))
    } else {
        (sleepers::remote(&page), None)
    };
    let memory = Arc::new(joined(memory)?);
    see(memory, (offset, slots, stride), (sleepers, awaiting), (capacity, headroom, first), strategy)
}

/// A ring of one publisher, whose slots are there, as another process has it: so large, with such a headroom,
/// from that message on.
///
/// Any bytes are a `T`.
pub(super) fn see<T: Message>(
    memory: Arc<PlacedMemory>,
    (offset, slots, stride): SlotsAt,
    (sleepers, awaiting): (Remote, Option<Awaiting>),
    (capacity, headroom, first): (usize, usize, Sequence),
    strategy: WaitStrategy,
) -> Result<Accepted<T>, AttachError> {
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
    Ok(Accepted { subscribable, memory, start: first.get(), fellows: None })
}

/// A ring of another process, mapped read-only.
pub struct Accepted<T> {
    subscribable: Subscribable<T, Foreign>,
    memory: Arc<PlacedMemory>,
    /// The first message.
    start: u64,
    /// If the ring has several publishers: the table of them.
    fellows: Option<Arc<Table>>,
}

impl<T: Message> Accepted<T> {
    /// What makes subscribers, as many as you like, on any thread of this process.
    ///
    /// They have the same verbs as subscribers of a ring in one process. A receive returns `Closed` when the
    /// publisher has closed the ring, and also when its process has ended without that: in both cases after
    /// all messages that are whole. [`state`](Self::state) tells which.
    ///
    /// A task that waits, a notifier, and a thread that waits for several handles are woken, too: by a thread
    /// of this process, which begins with the first of them (see [`shm`](crate::shm#tasks)).
    #[must_use]
    pub fn subscribable(&self) -> &Subscribable<T, Foreign> {
        &self.subscribable
    }

    /// With this, one subscriber of this process shows its position to processes that observe the ring. It
    /// takes a descriptor.
    ///
    /// # Errors
    ///
    /// What the system says: the process has no more descriptors, for example.
    pub fn mark(&self) -> io::Result<Mark> {
        Mark::new(&*self.memory, self.start)
    }

    /// The memory of the ring.
    pub(super) fn memory(&self) -> &Arc<PlacedMemory> {
        &self.memory
    }

    /// Whether this is the ring of that invitation.
    pub(super) fn is_that_of(&self, invitation: &Invitation) -> bool {
        folder::is_same(&*self.memory, &invitation.ring).unwrap_or(false)
    }

    /// Whether the publisher is there, or any of several. Two system calls, or one for each place of a ring
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
    pub fn state(&self) -> PeerState {
        // Where the lock can't be looked at, the publisher is taken to be alive.
        let is_alive = match &self.fellows {
            Some(fellows) => fellows.taken(None) > 0,
            None => lock::is_taken(&*self.memory).unwrap_or(true),
        };
        let is_alive = is_alive || seeded!("shm_lossy_death_unseen");
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

// Lossless rings: the publisher waits for subscribers of other processes.

/// Makes a lossless ring for subscribers of other processes.
///
/// The publisher has the type and the verbs that [`lossless_with`](crate::broadcast::lossless_with) returns.
/// It waits for the slowest subscriber that has one of the ring's `seats`, and never while nobody has one.
/// The [`Invitation`] is for the processes that subscribe: see
/// [`accept_lossless`](Invitation::accept_lossless). (A subscriber of the publisher's own process accepts it,
/// too.)
///
/// When the process of a subscriber ends without a drop, its seat is free: the kernel tells that it is gone.
/// A publisher that has no room looks for that each 10 to 20 ms, or each 50 ms while it sleeps. A process
/// that is stopped (`SIGSTOP`) is alive, so the publisher waits for it.
///
/// A publish is refused only when the ring is closed, not when there is no subscriber: one may join later.
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers) waits until so many have a seat, and
/// [`subscriber_count`](Publisher::subscriber_count) says how many have one now, in all processes.
///
/// Subscribers can't write to the ring. But all of them write to the page where the seats are. A process that
/// writes wrong values there can make the publisher wait for no subscriber. It can also make another
/// subscriber lose messages; that subscriber is told how many.
///
/// # Errors
///
/// [`ShareError`]: no such ring can be, also with 0 seats or more than 1024; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::{Settings, TrySendError};
/// use annulus::shm::{Invitation, Shared, broadcast};
/// use std::os::unix::net::UnixStream;
///
/// let Shared { handle: mut publisher, invitation, .. } =
///     broadcast::lossless::<u64>(Settings::new(2), 4)?;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let ring = Invitation::receive(&there)?.accept_lossless::<u64>()?;
/// let mut subscriber = ring.subscribe()?;
///
/// publisher.publish_batch(&[1, 2]).unwrap();
/// assert!(publisher.try_publish(3) == Err(TrySendError::Full(3)));
/// assert_eq!(subscriber.recv(), Ok(1));
/// assert!(publisher.try_publish(3).is_ok());
/// drop(publisher);
/// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossless<T: Message>(
    settings: Settings,
    seats: usize,
) -> Result<Shared<Publisher<T, Lossless>>, ShareError> {
    create_ring_with_seats(settings, &MessageType::of::<T>(), seats)
}

/// As [`lossless`], for any message.
pub(super) fn create_ring_with_seats<T: Message>(
    settings: Settings,
    of: &MessageType,
    seats: usize,
) -> Result<Shared<Publisher<T, Lossless>>, ShareError> {
    Ok(create_lossless_with(settings, of, Behind::Nothing, seats)?.0)
}

impl Numbering {
    /// Makes a lossy ring that goes on with it: see [`lossy`]. Its
    /// publisher has the numbering until it is gone.
    ///
    /// # Errors
    ///
    /// As there.
    #[allow(clippy::type_complexity, reason = "as `lossy`")]
    pub fn lossy<T: Message>(
        self,
        settings: Settings,
    ) -> Result<Shared<Publisher<T>, Subscribable<T>>, ShareError> {
        lossy(self.continued(settings))
    }

    /// Makes a lossless ring that goes on with it: see [`lossless`].
    /// Its publisher has the numbering until it is gone.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn lossless<T: Message>(
        self,
        settings: Settings,
        seats: usize,
    ) -> Result<Shared<Publisher<T, Lossless>>, ShareError> {
        lossless(self.continued(settings), seats)
    }
}

impl Invitation {
    /// Maps a lossless ring, for subscribers. It may have one publisher ([`lossless`]), or
    /// [several](crate::shm::mp_broadcast#lossless-rings).
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or of another type, size or version; or the system refuses it.
    pub fn accept_lossless<T: Message>(&self) -> Result<AcceptedLossless<T>, AttachError> {
        accept_for(self, &MessageType::of::<T>(), self.strategy)
    }
}

/// As [`Invitation::accept_lossless`], for any message type of which all bytes are values.
pub(super) fn accept_for<T: Message>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<AcceptedLossless<T>, AttachError> {
    let kinds = [ShmKind::Lossless, ShmKind::MpLossless];
    Ok(AcceptedLossless(accept(invitation, &kinds, of, strategy, || false)?))
}

/// A lossless ring of another process.
pub struct AcceptedLossless<T>(Accepted<T>);

impl<T: Message> AcceptedLossless<T> {
    /// A subscriber for which the publisher waits, from the next message on. It takes a seat, which it gives
    /// up when it is dropped. O(seats), a system call for each that is taken. The publisher may wait a moment
    /// for it while it joins.
    ///
    /// # Errors
    ///
    /// [`NoSeat`]: all seats are taken. The seat of a process that has died counts as taken until the
    /// publisher has freed it; try again after a moment.
    pub fn subscribe(&self) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.join(false)
    }

    /// As [`subscribe`](Self::subscribe), from the oldest message on that can be promised: half a ring before
    /// the next, or nearly so.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.join(true)
    }

    /// A lossy subscriber: the publisher does not wait for it. It takes no seat.
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber<T, Foreign> {
        self.0.subscribable().subscribe()
    }

    /// As [`subscribe_lossy`](Self::subscribe_lossy), from the oldest message on that the ring has.
    #[must_use]
    pub fn subscribe_lossy_from_oldest(&self) -> Subscriber<T, Foreign> {
        self.0.subscribable().subscribe_from_oldest()
    }

    /// Whether the publisher has closed the ring, or its process is gone. Messages may still be left to
    /// receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.subscribable().is_closed()
    }

    /// Whether the publisher is there. Two system calls. See [`Accepted::state`].
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.0.state()
    }

    /// Makes lossy subscribers, for which the publisher does not wait.
    pub(super) fn subscribable(&self) -> &Subscribable<T, Foreign> {
        self.0.subscribable()
    }

    fn join(&self, from_oldest: bool) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.0.subscribable().subscribe_awaited(from_oldest).ok_or(NoSeat)
    }
}

impl<T: Message> Clone for AcceptedLossless<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for AcceptedLossless<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcceptedLossless").field(&self.0).finish()
    }
}

/// All seats of a lossless ring are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoSeat;

impl fmt::Display for NoSeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all seats of the ring are taken: make it with more, or drop a subscriber")
    }
}

impl Error for NoSeat {}

// The position of a lossy subscriber, for other processes.
//
// The kernel shows the position of each opening of a file, as `lseek` has set it, in `/proc/PID/fdinfo`.
// Nothing reads or writes a ring at a position. So the position of an opening that nobody else has is a
// number that its process can show: it needs no memory, it ends with the process, and nobody else's work
// depends on it.

/// Shows the position of a lossy subscriber to other processes that observe the ring, `annulus top` for
/// example.
///
/// A lossy subscriber writes nothing that another process can read, so no other process knows how far it is
/// behind. To show it, call [`set`](Self::set) now and then: once in so many messages, and before the
/// subscriber waits. What others see is as old as the last call.
///
/// Each subscriber has a mark of its own, from [`Accepted::mark`](super::broadcast::Accepted::mark). A mark
/// is a descriptor. It ends with its drop, or with the process. The publisher and other subscribers know
/// nothing of it.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{Shared, broadcast};
///
/// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(1024))?;
/// let ring = invitation.accept::<u64>()?;
/// let mut subscriber = ring.subscribable().subscribe();
/// let mark = ring.mark()?;
/// # let mut sum = 0;
///
/// (0..1000).for_each(|number| publisher.publish(number));
/// while let Ok(number) = subscriber.try_recv() {
///     sum += number;
///     if subscriber.cursor() % 64 == 0 {
///         mark.set(subscriber.cursor());
///     }
/// }
/// mark.set(subscriber.cursor()); // and now it waits
/// # assert_eq!(sum, 999 * 500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Decision 0105: a number in the kernel, and none in the memory.
pub struct Mark {
    /// Of this alone.
    opening: File,
    /// The ring's first message.
    start: u64,
}

impl Mark {
    /// For a ring whose first message is `start`.
    pub(super) fn new(ring: impl AsFd, start: u64) -> io::Result<Self> {
        Ok(Self { opening: lock::reopened(ring)?.into(), start })
    }

    /// Shows that the subscriber's cursor is there. One system call, which waits for nobody.
    pub fn set(&self, cursor: u64) {
        // Position 0 means that this opening shows nothing.
        let position = cursor.saturating_sub(self.start).saturating_add(1).min(i64::MAX as u64);
        // No position of a file in memory is refused.
        let _ = (&self.opening).seek(SeekFrom::Start(position));
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::format;
    use std::os::fd::AsRawFd;
    use std::string::{String, ToString};

    use super::*;
    use crate::os::shared_memory::{Access, SharedMemory};

    fn shown(mark: &Mark) -> String {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", mark.opening.as_raw_fd()));
        let info = info.unwrap();
        info.lines().find_map(|line| line.strip_prefix("pos:")).unwrap().trim().to_string()
    }

    #[test]
    fn kernel_shows_each_by_itself() {
        let memory = SharedMemory::create("annulus test", 4096, Access::CreatorAlone).unwrap();
        let [one, other] = [(); 2].map(|()| Mark::new(&memory, 1 << 40).unwrap());
        assert_eq!([shown(&one), shown(&other)], ["0", "0"]);
        assert_eq!(format!("{one:?}"), "Mark { .. }");
        one.set(1 << 40);
        other.set((1 << 40) + 7);
        assert_eq!([shown(&one), shown(&other)], ["1", "8"]);
        // What can't be.
        one.set(3);
        other.set(u64::MAX);
        assert_eq!(shown(&one), "1");
        assert_eq!(shown(&other), (u64::MAX - (1 << 40) + 1).min(i64::MAX as u64).to_string());
    }
}
