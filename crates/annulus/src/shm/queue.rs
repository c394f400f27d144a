//! Queues of one lane in memory of two processes, whatever they carry: how the producer's process makes one,
//! and how the consumer's process joins. Also the parts that queues of several lanes (`places.rs`) share with
//! them.

use core::fmt;
use core::ptr::NonNull;
use std::boxed::Box;
use std::io;
use std::sync::Arc;

use super::error::{AttachError, ShareError};
use super::format::{Identity, Layout};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::process::{PeerState, ProcessId};
use super::shared::{Shared, WhenGone};
use super::{format, sleepers};
use crate::base::peer_liveness::Gone;
use crate::error::CapacityError;
use crate::lane::{Cells, Count, Number, Numbers};
use crate::memory::{Block, PlacedMemory};
use crate::os::lock;
use crate::os::process_lifetime::Maker;
use crate::os::shared_memory::{Access, SharedMemory};
use crate::queue::across::{KindAcross, LanePart, Part};
use crate::queue::{Consumer, Producer};
use crate::settings::Settings;
use crate::stats::HandleCount;
use crate::sync::seeded;
use crate::wait::{Remote, WaitStrategy};

/// A queue of such messages. `detail` is for the process that joins.
pub(super) fn create_queue<K: KindAcross>(
    plan: Settings,
    kind: ShmKind,
    of: &MessageType,
    detail: u64,
    policy: WhenGone,
) -> Result<Shared<Producer<K::Message, K>, Peer>, ShareError> {
    let capacity = plan.capacity;
    check(&plan)?;
    let identity = Identity::new()?;
    let page = Arc::new(sleepers::create(identity)?);
    let (payload, schema) = of.written()?;
    let too_large = || CapacityError::TooLarge { capacity, slot_bytes: payload.slot_bytes() };
    let layout = Layout {
        kind,
        payload,
        slot_bytes: payload.slot_bytes(),
        capacity,
        cells: 0,
        start: plan.first,
        creator: ProcessId::current()?,
        identity,
    };
    let extent = LaneExtent::of::<K>(&layout, 1, of.bytes()).ok_or_else(too_large)?;
    let memory = Arc::new(create_memory(extent.bytes, &plan)?);
    layout.write(&memory, &schema).ok_or_else(too_large)?;
    numbers(&memory).begin_at(Number::new(plan.first), detail);
    lock::take(&memory)?;
    let invitation = Invitation::new(lock::reopened_writable(&memory)?, lock::reopened_writable(&page)?);
    let peer = Peer::consumer(&memory, &page);
    let watched = Arc::new(peer.again());
    let is_gone = move || policy == WhenGone::Close && watched.state() == PeerState::Dead;
    let gone = Gone::new(is_gone.clone());
    let [published, released] = sleepers::remotes_of_producer(&page);
    let sleepers = [published, released.woken_from_elsewhere(is_gone)];
    let soles = [None, Some(peer.again().count())];
    let part = part(&memory, sleepers, &extent, gone, soles, None).ok_or_else(too_large)?;
    // SAFETY: the numbers are in the memory, which is writable. It is new, so there is no other producer,
    // and nobody makes one later.
    let handle = unsafe { K::producer(part, extent.plan(plan)) };
    Ok(Shared { handle, peers: peer, invitation })
}

/// The memory of a queue.
pub(super) fn create_memory(bytes: usize, plan: &Settings) -> Result<PlacedMemory, ShareError> {
    Ok(PlacedMemory::create("annulus queue", bytes, Access::Everyone, plan.memory)?)
}

/// Whether there can be a queue between processes of such lanes.
pub(super) fn check(plan: &Settings) -> Result<(), ShareError> {
    let capacity = plan.capacity;
    if capacity == 0 {
        return Err(CapacityError::TooSmall { capacity, minimum: 1 }.into());
    }
    plan.without_headroom()?;
    Ok(())
}

/// The consumer of such a queue, its peer, and the detail. `fault`: what can't be in the detail of a queue of
/// so many slots.
#[allow(clippy::type_complexity, reason = "a consumer, its peer, and a number")]
pub(super) fn join<K: KindAcross>(
    invitation: &Invitation,
    kind: ShmKind,
    of: &MessageType,
    strategy: WaitStrategy,
    fault: impl FnOnce(u64, usize) -> Option<&'static str>,
) -> Result<(Consumer<K::Message, K>, Peer, u64), AttachError> {
    invitation.is_for(kind, of)?;
    // Openings of its own: a look at the producer's lock would take that down, and this process's lock is to
    // end with this process.
    let ring = lock::reopened_writable(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(ring, false)?;
    layout.is_for(kind, of, &memory)?;
    let capacity = layout.capacity;
    let extent = LaneExtent::in_memory::<K>(&layout, 1, of.bytes(), &memory)?;
    let detail = numbers(&memory).detail();
    if let Some(field) = fault(detail, capacity) {
        return Err(AttachError::Damaged { field, value: detail });
    }
    let page = Arc::new(sleepers::attach_anew(&invitation.sleepers, layout.identity)?);
    let place_lock = PlaceLock::of_consumer(&page)?.ok_or(AttachError::Occupied)?;
    let memory = Arc::new(PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?);
    numbers(&memory).consumer_comes();
    let peer = Peer { memory: Arc::clone(&memory), page: None };
    let watched = Arc::new(peer.again());
    let is_gone = move || watched.state() == PeerState::Dead;
    let gone = Gone::new(is_gone.clone());
    let [published, released] = sleepers::remotes_of_consumer(&page);
    let sleepers = [published.woken_from_elsewhere(is_gone), released];
    let soles = [Some(peer.again().count()), Some(own_consumer(&memory))];
    let part = part(&memory, sleepers, &extent, gone, soles, Some(place_lock))
        .ok_or_else(|| damaged("the capacity", capacity as u64))?;
    let plan = extent.plan(Settings::of_guest(capacity, layout.start, strategy));
    // SAFETY: the numbers are in the memory, which is writable. The consumer's lock keeps other consumers
    // away. The queue state holds it until this consumer is dropped.
    Ok((unsafe { K::consumer(part, plan) }, peer, detail))
}

pub(super) fn damaged(field: &'static str, value: u64) -> AttachError {
    AttachError::Damaged { field, value }
}

/// The byte of the page whose lock the consumer holds.
pub(super) const CONSUMER_LOCK_BYTE: usize = 0;

/// Holds the lock of the consumer, of a producer's place, or of a reader's table, until it is dropped.
pub(super) struct PlaceLock {
    page: Arc<SharedMemory>,
    byte: usize,
    maker: Maker,
}

impl PlaceLock {
    /// The consumer's lock; `None` if another consumer has it.
    pub(super) fn of_consumer(page: &Arc<SharedMemory>) -> Result<Option<Self>, AttachError> {
        Self::take(page, CONSUMER_LOCK_BYTE, seeded!("shm_two_consumers")).map_err(AttachError::System)
    }

    /// Takes the lock of this byte of the page; `None` if another opening has it. With `is_shared`, which is
    /// for seeded bugs, another holder does not matter.
    pub(super) fn take(page: &Arc<SharedMemory>, byte: usize, is_shared: bool) -> io::Result<Option<Self>> {
        let is_taken = lock::take_byte(&**page, byte)?;
        Ok((is_taken || is_shared).then(|| Self::had(page, byte)))
    }

    /// The lock of this byte, which this opening has.
    pub(super) fn had(page: &Arc<SharedMemory>, byte: usize) -> Self {
        Self { page: Arc::clone(page), byte, maker: Maker::this() }
    }
}

impl Drop for PlaceLock {
    /// Gives the lock up by hand: the page may stay open for a while, in other handles of this process, and
    /// in a child that is about to become another program.
    fn drop(&mut self) {
        if self.maker.is_this() {
            // It can't be refused: it is a lock of this opening.
            let _ = lock::give_up_byte(&*self.page, self.byte);
        }
    }
}

/// Where the slots of a queue's lanes lie. Each lane begins with a line of its own.
pub(super) struct LaneExtent {
    /// Where the slots of the first lane begin, in bytes.
    offset: usize,
    /// From one lane to the next, in bytes.
    lane_bytes: usize,
    /// How many slots each lane has.
    capacity: usize,
    /// How many of them a message takes.
    pub(super) size: usize,
    /// How much memory all of it takes.
    pub(super) bytes: usize,
}

impl LaneExtent {
    /// Of so many lanes, which share the messages; each of these has so many bytes there. `None` if there
    /// can't be so much.
    pub(super) fn of<K: KindAcross>(layout: &Layout, lanes: usize, message_bytes: usize) -> Option<Self> {
        let size = K::slots_of(message_bytes);
        let capacity = (layout.capacity / lanes).checked_mul(size)?;
        let offset = layout.slots_offset()?;
        let lane_bytes = Cells::<K::Cell<K::Message>>::layout(capacity)?.size();
        let end = lane_bytes.checked_mul(lanes)?.checked_add(offset)?;
        Some(Self { offset, lane_bytes, capacity, size, bytes: layout.total_bytes()?.max(end) })
    }

    /// As [`of`](Self::of), in memory of another process.
    pub(super) fn in_memory<K: KindAcross>(
        layout: &Layout,
        lanes: usize,
        message_bytes: usize,
        memory: &SharedMemory,
    ) -> Result<Self, AttachError> {
        if layout.slot_bytes != layout.payload.slot_bytes() {
            return Err(damaged("the slots' size", layout.slot_bytes as u64));
        }
        let extent = Self::of::<K>(layout, lanes, message_bytes)
            .ok_or_else(|| damaged("the capacity", layout.capacity as u64))?;
        if extent.bytes > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: extent.bytes as u64 });
        }
        Ok(extent)
    }

    /// The plan of a queue for lanes of slots. Its capacity is each lane's, in messages.
    pub(super) fn plan(&self, plan: Settings) -> Settings {
        Settings { capacity: self.capacity, ..plan }
    }

    /// What this process has of the lane with this number. `None` if it does not lie in the memory.
    pub(super) fn lane<T>(
        &self,
        memory: &Arc<PlacedMemory>,
        lane: usize,
        numbers: &Numbers,
        released: Remote,
    ) -> Option<LanePart<T>> {
        let offset = self.lane_bytes.checked_mul(lane)?.checked_add(self.offset)?;
        let block = Block::shared(Arc::clone(memory), offset, Cells::<T>::layout(self.capacity)?);
        // SAFETY: the block has this layout, and the memory is writable in all processes.
        let slots = unsafe { Cells::over(block, self.capacity) };
        Some(LanePart { slots, numbers: NonNull::from(numbers), released })
    }
}

/// How many consumers there are, and how many there have been, for the process that has the one.
pub(super) fn own_consumer(memory: &Arc<PlacedMemory>) -> Count {
    let memory = Arc::clone(memory);
    Box::new(move || HandleCount::new(1, numbers(&memory).consumers().max(1)))
}

/// What this process has of a queue of one lane. `soles`: as of [`Part`]. `place_lock`: the lock of its
/// consumer.
fn part<T>(
    memory: &Arc<PlacedMemory>,
    [published, released]: [Remote; 2],
    extent: &LaneExtent,
    gone: Gone,
    soles: [Option<Count>; 2],
    place_lock: Option<PlaceLock>,
) -> Option<Part<T>> {
    let numbers = numbers(memory);
    Some(Part {
        first: extent.lane(memory, 0, numbers, released)?,
        others: Box::default(),
        size: extent.size,
        numbers: NonNull::from(numbers),
        published,
        gone,
        producers: None,
        soles,
        memory: Arc::new((Arc::clone(memory), place_lock)),
    })
}

/// The numbers of a queue.
pub(super) fn numbers(memory: &SharedMemory) -> &Numbers {
    numbers_at(memory, format::PRODUCER_OFFSET)
}

/// The numbers of a queue, or of one of its lanes, which begin there.
///
/// # Panics
///
/// If they do not lie in the memory, or not at a multiple of 128.
pub(super) fn numbers_at(memory: &SharedMemory, offset: usize) -> &Numbers {
    const {
        use format::queue::{CAME, CLOSED, DETAIL, END, HEAD, JOINED, LEFT, TAIL, USED};

        assert!(size_of::<Numbers>() == format::CELLS_OFFSET - format::PRODUCER_OFFSET);
        format::are_at(&Numbers::OFFSETS, &[TAIL, DETAIL, CAME, LEFT, USED, HEAD, JOINED, CLOSED, END]);
    }
    assert!(memory.is_writable());
    numbers_seen_at(memory, offset)
}

/// As [`numbers_at`], for a process that may only load them.
#[inline]
pub(super) fn numbers_seen_at(memory: &SharedMemory, offset: usize) -> &Numbers {
    assert!(offset % 128 == 0);
    assert!(memory.len().checked_sub(offset).is_some_and(|left| left >= size_of::<Numbers>()));
    // SAFETY: within the memory (asserted), which lives as long as the reference, at a multiple of 128; any
    // bytes are such numbers, and every process accesses them by atomic operations.
    unsafe { memory.base().add(offset).cast().as_ref() }
}

/// The process on the other side of a queue: whether it is there, as the kernel says.
pub struct Peer {
    memory: Arc<PlacedMemory>,
    /// If the peer is the consumer: the page where it has its lock. (The producer has the lock of the
    /// memory.)
    page: Option<Arc<SharedMemory>>,
}

impl Peer {
    /// The consumer of a queue, as its producer knows it.
    pub(super) fn consumer(memory: &Arc<PlacedMemory>, page: &Arc<SharedMemory>) -> Self {
        Self { memory: Arc::clone(memory), page: Some(Arc::clone(page)) }
    }

    /// Whether the queue is closed, for whatever reason.
    pub(super) fn has_ended(&self) -> bool {
        numbers(&self.memory).has_ended()
    }

    /// How many handles of its side there are, 0 or 1, and how many there have been.
    pub(super) fn count(self) -> Count {
        Box::new(move || {
            let is_there = self.state() == PeerState::Alive;
            // (The first producer is there from the beginning, and no other one comes.)
            let joined = if self.page.is_some() { numbers(&self.memory).consumers() } else { 1 };
            HandleCount::new(is_there.into(), joined.max(is_there.into()))
        })
    }

    pub(super) fn again(&self) -> Self {
        Self { memory: Arc::clone(&self.memory), page: self.page.clone() }
    }

    /// Whether it is there. At most two system calls.
    ///
    /// After a receive has said that the queue has ended, it tells how: `Dead` if the producer's process has
    /// ended without a close. All that it had sent is received before either.
    ///
    /// `NotYet`: no consumer has come yet. `Closed`: either process has closed the queue. `Dead`: the process
    /// has ended without that. A child that it has forked keeps its lock, until that ends, too, or calls
    /// `exec`.
    #[must_use]
    #[doc(alias = "peer_state")]
    #[doc(alias = "PeerDied")]
    pub fn state(&self) -> PeerState {
        if self.page.is_some() && numbers(&self.memory).consumers() == 0 {
            let was_closed = numbers(&self.memory).was_closed();
            return if was_closed { PeerState::Closed } else { PeerState::NotYet };
        }
        // Where the lock can't be looked at, the process is taken to be alive.
        let is_taken = match &self.page {
            Some(page) => lock::is_byte_taken(&**page, CONSUMER_LOCK_BYTE),
            None => lock::is_taken(&*self.memory),
        };
        let is_alive = is_taken.unwrap_or(true) || seeded!("shm_queue_death_unseen");
        // Last: a close is shown before the lock goes.
        PeerState::told(is_alive, numbers(&self.memory).was_closed())
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("state", &self.state()).finish()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::queue::across::Across;
    use std::format;
    use std::thread;
    use std::time::Duration;

    const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };

    /// A process that has looked at the page's locks, and was stopped meanwhile, keeps no consumer away. The
    /// lock is free as soon as the consumer is dropped.
    #[test]
    fn seat_is_free_or_taken() {
        let of = MessageType::of::<u64>();
        let Shared { handle: _producer, peers: peer, invitation, .. } =
            create_queue::<Across<u64>>(Settings::new(1), ShmKind::Spsc, &of, 0, WhenGone::Wait).unwrap();
        let looks_on = lock::reopened(&invitation.sleepers).unwrap();
        rustix::fs::flock(&looks_on, rustix::fs::FlockOperation::NonBlockingLockShared).unwrap();
        let join = || join::<Across<u64>>(&invitation, ShmKind::Spsc, &of, BLOCK, |_, _| None);
        for _ in 0..3 {
            let (consumer, ..) = join().unwrap();
            // (The first one's drop has closed the queue.)
            let is_there = lock::is_byte_taken(&**peer.page.as_ref().unwrap(), CONSUMER_LOCK_BYTE).unwrap();
            assert!(is_there && peer.state() != PeerState::NotYet);
            let refused = join().map(drop).unwrap_err();
            assert!(matches!(refused, AttachError::Occupied), "{refused}");
            drop(consumer);
            assert_eq!(peer.state(), PeerState::Closed);
        }
    }

    /// Both sides sleep and are woken, and both know whether the other is there.
    #[test]
    fn sides_sleep_and_are_woken() {
        let of = MessageType::of::<u64>();
        let settings = Settings::new(1).wait_strategy(BLOCK);
        let Shared { handle: mut producer, peers: peer, invitation, .. } =
            create_queue::<Across<u64>>(settings, ShmKind::Spsc, &of, 7, WhenGone::Close).unwrap();
        assert_eq!(format!("{peer:?}"), "Peer { state: NotYet }");
        let (mut consumer, peer, detail) =
            join::<Across<u64>>(&invitation, ShmKind::Spsc, &of, BLOCK, |detail, slots| {
                assert_eq!((detail, slots), (7, 1));
                None
            })
            .unwrap();
        assert_eq!((detail, format!("{peer:?}").as_str()), (7, "Peer { state: Alive }"));
        let reader = thread::spawn(move || {
            let first = consumer.recv();
            thread::sleep(Duration::from_millis(5));
            (first, consumer.recv(), consumer.recv(), consumer.try_recv().is_err())
        });
        thread::sleep(Duration::from_millis(5));
        for number in 0..3 {
            producer.send(number).unwrap();
        }
        assert_eq!(reader.join().unwrap(), (Ok(0), Ok(1), Ok(2), true));
        assert_eq!(producer.send(3), Err(crate::error::SendError(3)));
    }
}
