//! [`Places`]: the places for producers of a queue that has several, and which processes have them.
//!
//! The lock of a place is the lock of one byte of the sleepers' page. The kernel takes it down when the
//! process ends. What producers do with the places is in [`PlaceTable`].
//!
//! Below them: queues of several lanes in memory of processes: how the consumer's process makes one, how a
//! producer joins, and how a next consumer does. (`queue.rs` has queues of one lane.)
// Decision 0103: a lane goes with a lock of the kernel.

use core::fmt;
use core::ptr::NonNull;
use std::boxed::Box;
use std::io;
use std::sync::Arc;

use super::error::{AttachError, ShareError};
use super::format::{Identity, LANE_CELLS, Layout};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::process::{PeerState, ProcessId};
use super::queue::{
    CONSUMER_LOCK_BYTE, LaneExtent, Peer, PlaceLock, check, create_memory, damaged, numbers, numbers_seen_at,
    own_consumer,
};
use super::shared::{Shared, WhenGone};
use super::{format, sleepers};
use crate::base::peer_liveness::Gone;
use crate::error::CapacityError;
use crate::lane::{Number, Numbers, PlaceTable};
use crate::memory::PlacedMemory;
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::queue::across::{KindAcross, Part};
use crate::queue::{Consumer, Producer};
use crate::settings::Settings;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// The places for producers of a queue, as its consumer's process sees them. Also the places for publishers
/// of a [ring](super::mp_broadcast), or for clients of a [service](super::service): read "publisher" or
/// "client" for "producer" then.
///
/// A [`shm::mpsc`](super::mpsc) queue has as many as it was made with. Each has a ring, and one producer at a
/// time. It also counts how producers have ended: each that has [`joined`](Self::joined) is still there, has
/// [`died`](Self::died), or has left by a drop.
///
/// # Examples
///
/// ```
/// use annulus::shm::{Shared, mpsc};
///
/// let builder = mpsc::Builder::new(annulus::Settings::new(8)).producers(4);
/// let Shared { handle: mut consumer, peers: places, invitation, .. } = builder.build::<u64>()?;
/// let (mut producer, _) = mpsc::producer::<u64>(&invitation)?;
/// producer.send(7).unwrap();
/// assert_eq!((places.count(), places.taken()), (4, 1));
/// drop(producer);
/// assert_eq!(consumer.recv(), Ok(7));
/// assert_eq!((places.taken(), places.joined(), places.died()), (0, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Places(pub(super) Arc<Table>);

impl Places {
    /// How many places there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// How many of them have a producer. O(count), a system call for each that has one, or where one died.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.0.taken(None)
    }

    /// Whether any producer is there. System calls as for [`taken`](Self::taken).
    ///
    /// `NotYet`: none has come yet. `Dead`: none is there, and at least one has died. `Closed`: all have
    /// left.
    #[must_use]
    #[doc(alias = "peer_state")]
    pub fn state(&self) -> PeerState {
        match (self.taken(), self.joined(), self.died()) {
            (1.., ..) => PeerState::Alive,
            (_, 0, _) => PeerState::NotYet,
            (.., 0) => PeerState::Closed,
            _ => PeerState::Dead,
        }
    }

    /// How many producers have joined, including all that are gone. O(count).
    #[must_use]
    pub fn joined(&self) -> u64 {
        self.0.came()
    }

    /// How many producers have died: their process has ended before they had left. All that they had sent is
    /// received, as are the messages of the next producers in their places. O(count), system calls as for
    /// [`taken`](Self::taken).
    ///
    /// While a producer joins or leaves, it may be one too few.
    #[must_use]
    #[doc(alias = "PeerDied")]
    pub fn died(&self) -> u64 {
        self.0.died()
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("count", &self.count())
            .field("taken", &self.taken())
            .field("joined", &self.joined())
            .field("died", &self.died())
            .finish()
    }
}

/// The places of a queue, or of a ring that several processes publish to, as any of its processes has them. A
/// process that can only read the memory only looks.
pub(super) struct Table {
    pub(super) memory: Arc<PlacedMemory>,
    /// The file with the locks.
    pub(super) page: Arc<SharedMemory>,
    /// How many places come before these, of the other side.
    pub(super) first: usize,
    /// How many places there are.
    pub(super) count: usize,
    /// Whether the queue ends when all producers are gone.
    pub(super) ends: bool,
}

/// The byte whose lock is the lock of this place. The consumer's comes before all of them.
pub(super) const fn byte_of(place: usize) -> usize {
    CONSUMER_LOCK_BYTE + 1 + place
}

impl PlaceTable for Table {
    fn count(&self) -> usize {
        self.count
    }

    fn ends(&self) -> bool {
        self.ends
    }

    fn queue(&self) -> &Numbers {
        numbers_seen_at(&self.memory, format::PRODUCER_OFFSET)
    }

    #[inline]
    fn numbers(&self, place: usize) -> &Numbers {
        let cells = (self.first + place) * format::LANE_CELLS;
        numbers_seen_at(&self.memory, format::CELLS_OFFSET + cells * format::CELL_BYTES)
    }

    fn is_held(&self, place: usize) -> bool {
        // Where the lock can't be looked at, the process is taken to be alive.
        lock::is_byte_taken(&*self.page, byte_of(self.first + place)).unwrap_or(true)
    }
}

/// How many places a queue may have.
pub(super) const MOST_PLACES: usize = crate::ring::MOST_PLACES;

/// What the memory says of the policies (`docs/SHM-FORMAT.md`): the queue ends when all producers are gone.
pub(super) const ENDS: u64 = 1;

/// Producers wait for a next consumer.
const WAITS: u64 = 2;

/// A queue, and its consumer.
pub(super) fn create_queue<K: KindAcross>(
    plan: Settings,
    of: &MessageType,
    places: usize,
    when_no_producer: WhenGone,
    when_consumer_dies: WhenGone,
) -> Result<Shared<Consumer<K::Message, K>, Places>, ShareError> {
    let ends = when_no_producer == WhenGone::Close;
    let waits = when_consumer_dies == WhenGone::Wait;
    let policies = if ends { ENDS } else { 0 } | if waits { WAITS } else { 0 };
    let made = New::create::<K>(&plan, ShmKind::Mpsc, of, of.bytes(), places, policies, Some)?;
    let too_large = CapacityError::TooLarge { capacity: plan.capacity, slot_bytes: made.slot_bytes };
    let (handle, peers) =
        consumer_at(Arc::new(made.table), &made.extent, made.place_lock, plan).ok_or(too_large)?;
    Ok(Shared { handle, peers, invitation: made.invitation })
}

/// The memory of a new queue with places.
pub(super) struct New {
    pub(super) table: Table,
    pub(super) extent: LaneExtent,
    /// The lock of the consumer.
    pub(super) place_lock: PlaceLock,
    pub(super) invitation: Invitation,
    slot_bytes: usize,
}

impl New {
    /// `lane_message_bytes`: how long a message is in a lane. `behind`: where the memory ends, if the lanes
    /// end there; `None` if there can't be so much.
    pub(super) fn create<K: KindAcross>(
        plan: &Settings,
        kind: ShmKind,
        of: &MessageType,
        lane_message_bytes: usize,
        places: usize,
        policies: u64,
        behind: impl FnOnce(usize) -> Option<usize>,
    ) -> Result<Self, ShareError> {
        check(plan)?;
        if !(1..=MOST_PLACES).contains(&places) {
            return Err(ShareError::Producers { producers: places, most: MOST_PLACES });
        }
        let (payload, schema) = of.written()?;
        let (capacity, slot_bytes) = (plan.capacity, payload.slot_bytes());
        let too_large = || CapacityError::TooLarge { capacity, slot_bytes };
        let identity = Identity::new()?;
        let page = Arc::new(sleepers::create_with_places(identity, places)?);
        let layout = Layout {
            kind,
            payload,
            slot_bytes,
            capacity: plan.capacity.checked_mul(places).ok_or_else(too_large)?,
            cells: LANE_CELLS * places,
            start: plan.first,
            creator: ProcessId::current()?,
            identity,
        };
        let mut extent = LaneExtent::of::<K>(&layout, places, lane_message_bytes).ok_or_else(too_large)?;
        extent.bytes = behind(extent.bytes).ok_or_else(too_large)?;
        let memory = Arc::new(create_memory(extent.bytes, plan)?);
        layout.write(&memory, &schema).ok_or_else(too_large)?;
        numbers(&memory).begin_at(Number::new(plan.first), policies);
        let ends = policies & ENDS != 0;
        let table =
            Table { memory: Arc::clone(&memory), page: Arc::clone(&page), first: 0, count: places, ends };
        (0..places).for_each(|place| table.numbers(place).begin_at(Number::new(plan.first), 0));
        let invitation = Invitation::new(lock::reopened_writable(&memory)?, lock::reopened_writable(&page)?);
        // (Nobody else has the page.)
        let place_lock = PlaceLock::take(&page, CONSUMER_LOCK_BYTE, false)?
            .ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))?;
        Ok(Self { table, extent, place_lock, invitation, slot_bytes })
    }
}

/// A next consumer.
pub(super) fn join_as_consumer<K: KindAcross>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<(Consumer<K::Message, K>, Places), AttachError> {
    let Other { table, extent, layout, .. } = Other::new::<K>(invitation, ShmKind::Mpsc, of, of.bytes())?;
    let place_lock = PlaceLock::of_consumer(&table.page)?.ok_or(AttachError::Occupied)?;
    let plan = Settings::of_guest(layout.capacity / table.count, layout.start, strategy);
    consumer_at(Arc::new(table), &extent, place_lock, plan)
        .ok_or_else(|| damaged("the capacity", layout.capacity as u64))
}

/// `None` if the lanes do not lie in the memory. `place_lock` has the consumer's lock.
pub(super) fn consumer_at<K: KindAcross>(
    table: Arc<Table>,
    extent: &LaneExtent,
    place_lock: impl Send + Sync + 'static,
    plan: Settings,
) -> Option<(Consumer<K::Message, K>, Places)> {
    numbers(&table.memory).consumer_comes();
    let (published, released) = sleepers::remotes_of_places(&table.page, table.count);
    let watched = Arc::clone(&table);
    let is_gone = move || watched.is_over();
    let mut lanes = (0..table.count)
        .zip(released)
        .map(|(place, released)| extent.lane(&table.memory, place, table.numbers(place), released));
    let part = Part {
        first: lanes.next()??,
        others: lanes.collect::<Option<_>>()?,
        size: extent.size,
        numbers: NonNull::from(numbers(&table.memory)),
        gone: Gone::new(is_gone.clone()),
        published: published.woken_from_elsewhere(is_gone),
        producers: Some(table.producers(None)),
        soles: [None, Some(own_consumer(&table.memory))],
        memory: Arc::new((Arc::clone(&table), place_lock)),
    };
    // SAFETY: the numbers are in the memory, which is writable. The consumer's lock keeps other consumers
    // away. The queue state holds it until this consumer is dropped.
    Some((unsafe { K::consumer(part, extent.plan(plan)) }, Places(table)))
}

/// A producer.
pub(super) fn join_as_producer<K: KindAcross>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<(Producer<K::Message, K>, Peer), AttachError> {
    let other = Other::new::<K>(invitation, ShmKind::Mpsc, of, of.bytes())?;
    let (place, place_lock) = other.free_place()?;
    let plan = Settings::of_guest(other.layout.capacity / other.table.count, other.layout.start, strategy);
    let Other { table, extent, waits, .. } = other;
    producer_at(&Arc::new(table), &extent, waits, place, place_lock, plan)
}

/// The producer of this place, whose lock `place_lock` has. `waits`: for a next consumer.
pub(super) fn producer_at<K: KindAcross>(
    table: &Arc<Table>,
    extent: &LaneExtent,
    waits: bool,
    place: usize,
    place_lock: impl Send + Sync + 'static,
    plan: Settings,
) -> Result<(Producer<K::Message, K>, Peer), AttachError> {
    let peer = Peer::consumer(&table.memory, &table.page);
    if peer.has_ended() {
        return Err(AttachError::Closed);
    }
    let watched = Arc::new(peer.again());
    let count = peer.again().count();
    let asked = Arc::clone(&watched);
    let is_gone = move || !waits && asked.state() == PeerState::Dead;
    // Another producer that closes the queue wakes the consumer only; so this one's tasks look.
    let asks = is_gone.clone();
    let is_over = move || watched.has_ended() || asks();
    let [published, released] = sleepers::remotes_of_place(&table.page, place);
    let released = released.woken_from_elsewhere(is_over);
    let lane = extent.lane(&table.memory, place, table.numbers(place), released);
    let part = Part {
        first: lane.ok_or_else(|| damaged("the capacity", (plan.capacity * table.count) as u64))?,
        others: Box::default(),
        size: extent.size,
        numbers: NonNull::from(numbers(&table.memory)),
        published,
        gone: Gone::new(is_gone),
        producers: Some(table.producers(Some(place))),
        soles: [None, Some(count)],
        memory: Arc::new((Arc::clone(table), place_lock)),
    };
    table.come(place);
    // places.join3. SAFETY: the numbers are in the memory, which is writable. The lock keeps other producers
    // away from this lane. The queue state holds it until this producer is dropped.
    Ok((unsafe { K::producer(part, extent.plan(plan)) }, peer))
}

/// The first free place, and its lock; `None` if there is none.
pub(super) fn free_place(table: &Table) -> io::Result<Option<(usize, PlaceLock)>> {
    for place in 0..table.count {
        if let Some(place_lock) =
            PlaceLock::take(&table.page, byte_of(table.first + place), seeded!("shm_place_of_another"))?
        {
            return Ok(Some((place, place_lock)));
        }
    }
    Ok(None)
}

/// A queue of another process.
pub(super) struct Other {
    pub(super) table: Table,
    pub(super) extent: LaneExtent,
    pub(super) layout: Layout,
    /// Whether producers wait for a next consumer.
    waits: bool,
}

impl Other {
    /// places.join1: the first free place, and its lock.
    pub(super) fn free_place(&self) -> Result<(usize, PlaceLock), AttachError> {
        let free = free_place(&self.table).map_err(AttachError::System)?;
        free.ok_or(AttachError::NoPlace { places: self.table.count })
    }

    /// `lane_message_bytes`: as of [`New::create`].
    pub(super) fn new<K: KindAcross>(
        invitation: &Invitation,
        kind: ShmKind,
        of: &MessageType,
        lane_message_bytes: usize,
    ) -> Result<Self, AttachError> {
        invitation.is_for(kind, of)?;
        // Openings of its own: the locks of this process are to end with it.
        let ring = lock::reopened_writable(&invitation.ring).map_err(AttachError::System)?;
        let (memory, layout) = Layout::attach(ring, false)?;
        layout.is_for(kind, of, &memory)?;
        let count = layout.cells / LANE_CELLS;
        if layout.cells % LANE_CELLS != 0 || !(1..=MOST_PLACES).contains(&count) {
            return Err(damaged("the number of cells", layout.cells as u64));
        }
        if layout.capacity % count != 0 {
            return Err(damaged("the capacity", layout.capacity as u64));
        }
        let extent = LaneExtent::in_memory::<K>(&layout, count, lane_message_bytes, &memory)?;
        let policies = numbers(&memory).detail();
        if policies & !(ENDS | WAITS) != 0 {
            return Err(damaged("the policies", policies));
        }
        let page = Arc::new(sleepers::attach_with_places(&invitation.sleepers, layout.identity, count)?);
        let ends = policies & ENDS != 0;
        let memory = PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?;
        let table = Table { memory: Arc::new(memory), page, first: 0, count, ends };
        Ok(Self { table, extent, layout, waits: policies & WAITS != 0 })
    }
}
