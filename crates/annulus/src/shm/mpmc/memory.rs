//! [`Board`]: the memory of a queue, as one handle has it, and which places are taken (`docs/SHM-FORMAT.md`,
//! kind 13).
//!
//! Each handle has an opening of its own of the page with the locks. So a lock ends with its handle, at the
//! latest with the process; and a handle can look at the locks of all others.

use core::ptr::NonNull;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use crate::base::common::Common;
use crate::base::peer_liveness::Gone;
use crate::close::Close;
use crate::error::CapacityError;
use crate::lane::{Carried, Ledger, Number, PlaceTable, SlotShape, WorkLane};
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::queue::Cell;
use crate::settings::Settings;
use crate::shm::error::{AttachError, ShareError};
use crate::shm::format::{Identity, LANE_CELLS, Layout};
use crate::shm::invitation::Invitation;
use crate::shm::kind::ShmKind;
use crate::shm::message_type::MessageType;
use crate::shm::places::{MOST_PLACES, Table, byte_of, free_place};
use crate::shm::process::ProcessId;
use crate::shm::queue::{PlaceLock, check, create_memory, damaged, numbers};
use crate::shm::sleepers;
use crate::sync::seeded;
use crate::wait::EventCount;

// SAFETY: it is any bytes.
unsafe impl<T: Message> Carried for Cell<T> {
    const IN_PART: bool = T::BLOCK_AT != 0;
}

// What the memory says of the policies.
const ENDS: u64 = 1;
const ENDS_WITHOUT_CONSUMERS: u64 = 2;
const DROPS: u64 = 4;
/// How many places consumers have lies above these bits.
pub(in crate::shm) const CONSUMERS_SHIFT: u32 = 16;

const _: () = assert!(size_of::<Ledger>() == 64);

/// Where the lanes and the ledgers lie.
struct Extent {
    /// How many slots each lane has.
    capacity: usize,
    shape: SlotShape,
    first_lane: usize,
    lane: core::alloc::Layout,
    ledgers: usize,
    /// Where the memory ends.
    end: usize,
}

impl Extent {
    /// `None` if there can't be so much.
    fn new(layout: &Layout, shape: SlotShape, [producers, consumers]: [usize; 2]) -> Option<Self> {
        let first_lane = layout.slots_offset()?.checked_next_multiple_of(128)?;
        let capacity = layout.capacity / producers;
        let lane = shape.layout(capacity)?;
        let ledgers = lane.size().checked_mul(producers)?.checked_add(first_lane)?;
        let end =
            size_of::<Ledger>().checked_mul(consumers)?.checked_add(ledgers)?.max(layout.total_bytes()?);
        isize::try_from(end).is_ok().then_some(Self { capacity, shape, first_lane, lane, ledgers, end })
    }
}

/// The memory of a queue, as one handle has it.
pub(super) struct Board<T: Message> {
    pub(super) lanes: Arc<[WorkLane<Cell<T>>]>,
    pub(super) producers: Arc<Table>,
    pub(super) consumers: Arc<Table>,
    ledgers: NonNull<Ledger>,
    pub(super) drops: bool,
    /// To wake consumers.
    pub(super) sent: EventCount,
    /// To wake the producer of each place.
    pub(super) received: Box<[EventCount]>,
}

// SAFETY: the pointer stands for a shared borrow of atomics, in memory that this keeps.
unsafe impl<T: Message> Send for Board<T> {}
// SAFETY: as above.
unsafe impl<T: Message> Sync for Board<T> {}

/// What becomes of a queue, and of its messages.
#[derive(Clone, Copy)]
pub(super) struct Policies {
    /// It ends when all producers are gone.
    pub(super) ends: bool,
    /// It ends when all consumers are gone.
    pub(super) ends_without_consumers: bool,
    /// What a dead consumer held is dropped.
    pub(super) drops: bool,
}

impl Policies {
    fn bits(self) -> u64 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        bit(self.ends, ENDS)
            | bit(self.ends_without_consumers, ENDS_WITHOUT_CONSUMERS)
            | bit(self.drops, DROPS)
    }

    /// `None`: these can't be.
    fn of_bits(bits: u64) -> Option<Self> {
        let has = |bit| bits & bit != 0;
        let policies =
            Self { ends: has(ENDS), ends_without_consumers: has(ENDS_WITHOUT_CONSUMERS), drops: has(DROPS) };
        (policies.bits() == bits).then_some(policies)
    }
}

/// The memory of a new queue, and what others need. It has so many places for producers, and for consumers.
pub(super) fn create<T: Message>(
    plan: &Settings,
    of: &MessageType,
    sides: [usize; 2],
    policies: Policies,
) -> Result<(Board<T>, Invitation), ShareError> {
    check(plan)?;
    if let Some(&producers) = sides.iter().find(|places| !(1..=MOST_PLACES).contains(*places)) {
        return Err(ShareError::Producers { producers, most: MOST_PLACES });
    }
    let [producers, consumers] = sides;
    let (payload, schema) = of.written()?;
    let (capacity, shape) = (plan.capacity, SlotShape::described(of.bytes(), of.alignment()));
    let too_large = || CapacityError::TooLarge { capacity, slot_bytes: of.bytes() };
    let shape = shape.ok_or_else(too_large)?;
    let (identity, places) = (Identity::new()?, producers + consumers);
    let page = Arc::new(sleepers::create_with_places(identity, places)?);
    let layout = Layout {
        kind: ShmKind::Mpmc,
        payload,
        slot_bytes: shape.stride(),
        capacity: capacity.checked_mul(producers).ok_or_else(too_large)?,
        cells: LANE_CELLS * places,
        start: plan.first,
        creator: ProcessId::current()?,
        identity,
    };
    let extent = Extent::new(&layout, shape, sides).ok_or_else(too_large)?;
    let memory = Arc::new(create_memory(extent.end, plan)?);
    layout.write(&memory, &schema).ok_or_else(too_large)?;
    let detail = policies.bits() | (consumers as u64) << CONSUMERS_SHIFT;
    numbers(&memory).begin_at(Number::new(plan.first), detail);
    let invitation = Invitation::new(lock::reopened_writable(&memory)?, lock::reopened_writable(&page)?);
    let board = Board::over(&memory, &page, &extent, sides, policies);
    for place in 0..producers {
        board.producers.numbers(place).begin_at(Number::new(plan.first), 0);
    }
    Ok((board, invitation.with_wait_strategy(plan.strategy)))
}

impl<T: Message> Close for Board<T> {
    fn close(&self) {
        self.close(false);
    }

    fn is_closed(&self) -> bool {
        self.has_ended()
    }
}

impl<T: Message> Board<T> {
    /// As its handle has it, for closers.
    pub(super) fn in_common(self) -> Common<Self> {
        let [board] = Common::allocation().fill(self);
        board
    }

    /// How many messages wait to be received for the first time. O(places that were ever used).
    pub(super) fn len(&self) -> usize {
        self.lanes[..self.used()].iter().map(WorkLane::len).sum()
    }

    /// The memory of another process's queue.
    pub(super) fn attach(invitation: &Invitation, of: &MessageType) -> Result<Self, AttachError> {
        let kind = ShmKind::Mpmc;
        invitation.is_for(kind, of)?;
        let ring = lock::reopened_writable(&invitation.ring).map_err(AttachError::System)?;
        let (memory, layout) = Layout::attach(ring, false)?;
        layout.is_for(kind, of, &memory)?;
        // (The ring's alignment: a process may ask for less.)
        let shape = SlotShape::described(layout.payload.bytes, layout.payload.alignment);
        let shape = shape.filter(|shape| layout.slot_bytes == shape.stride());
        let shape = shape.ok_or_else(|| damaged("the slots' size", layout.slot_bytes as u64))?;
        if !shape.is_for::<Cell<T>>() {
            let (found, wanted) = (layout.payload.alignment, of.alignment());
            return Err(AttachError::PayloadAlignment { found, wanted });
        }
        let policies = numbers(&memory).detail();
        let places = layout.cells / LANE_CELLS;
        let consumers = usize::try_from(policies >> CONSUMERS_SHIFT).unwrap_or(usize::MAX);
        let producers = places.saturating_sub(consumers);
        let can_be = |count| (1..=MOST_PLACES).contains(&count);
        if layout.cells % LANE_CELLS != 0 || !can_be(producers) || !can_be(consumers) {
            return Err(damaged("the number of cells", layout.cells as u64));
        }
        let bits = policies & ((1 << CONSUMERS_SHIFT) - 1);
        let policies = Policies::of_bits(bits).ok_or_else(|| damaged("the policies", bits))?;
        if layout.capacity % producers != 0 || layout.capacity < producers {
            return Err(damaged("the capacity", layout.capacity as u64));
        }
        let extent = Extent::new(&layout, shape, [producers, consumers])
            .ok_or_else(|| damaged("the capacity", layout.capacity as u64))?;
        if extent.end > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: extent.end as u64 });
        }
        let page = sleepers::attach_with_places(&invitation.sleepers, layout.identity, places)?;
        let memory = PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?;
        Ok(Self::over(&Arc::new(memory), &Arc::new(page), &extent, [producers, consumers], policies))
    }

    /// The memory was checked: all of the extent is in it.
    fn over(
        memory: &Arc<PlacedMemory>,
        page: &Arc<SharedMemory>,
        extent: &Extent,
        [producers, consumers]: [usize; 2],
        policies: Policies,
    ) -> Self {
        assert!(extent.end <= memory.len() && memory.is_writable() && extent.ledgers % 128 == 0);
        let table = |first, count, ends| {
            Arc::new(Table { memory: Arc::clone(memory), page: Arc::clone(page), first, count, ends })
        };
        let (fed, served) = (
            table(0, producers, policies.ends),
            table(producers, consumers, policies.ends_without_consumers),
        );
        let lanes = (0..producers).map(|place| {
            let offset = extent.first_lane + place * extent.lane.size();
            let block = Block::shared(Arc::clone(memory), offset, extent.lane);
            let numbers = NonNull::from(fed.numbers(place));
            // SAFETY: the block has this layout, and is writable. The numbers are in the memory, which the
            // block keeps. It was zero, and a `Cell` is any bytes.
            unsafe { WorkLane::over(block, extent.shape, extent.capacity, numbers) }
        });
        let lanes: Vec<_> = lanes.collect();
        // SAFETY: within the memory (asserted).
        let ledgers = unsafe { memory.base().add(extent.ledgers) }.cast();
        let [sent, _] = sleepers::remotes_of_fellow(page);
        let sent = EventCount::across(sent, None);
        let (_, received) = sleepers::remotes_of_places(page, producers);
        let received = received.map(|remote| EventCount::across(remote, None)).collect();
        Self {
            lanes: lanes.into(),
            producers: fed,
            consumers: served,
            ledgers,
            drops: policies.drops,
            sent,
            received,
        }
    }

    /// The ledger of a consumer's place.
    pub(super) fn ledger(&self, place: usize) -> &Ledger {
        assert!(place < self.consumers.count);
        // SAFETY: there is one for each place, in memory that this keeps.
        unsafe { self.ledgers.add(place).as_ref() }
    }

    fn numbers(&self) -> &crate::lane::Numbers {
        self.producers.queue()
    }

    /// How many lanes were ever used: the first ones.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.numbers().used().min(self.lanes.len())
    }

    /// Whether it is closed, as far as this thread sees.
    #[inline]
    pub(super) fn may_be_closed(&self) -> bool {
        self.numbers().may_have_ended() && !seeded!("mpmc_close_unseen")
    }

    /// Whether it is closed, also because all of a side are gone, as `gone` says.
    pub(super) fn is_closed(&self, gone: &Gone) -> bool {
        if self.numbers().has_ended() {
            return true;
        }
        let is_gone = gone.look();
        if is_gone {
            self.close(true);
        }
        is_gone
    }

    /// Closes the queue, and wakes all.
    pub(super) fn close(&self, is_death: bool) {
        self.numbers().close(is_death);
        self.sent.notify_across();
        self.received.iter().for_each(EventCount::notify_across);
    }

    /// Whether somebody has closed it, or it has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.numbers().has_ended()
    }

    /// Takes a free place of this side.
    pub(super) fn place(table: &Table) -> Result<(usize, PlaceLock), AttachError> {
        let free = free_place(table).map_err(AttachError::System)?;
        free.ok_or(AttachError::NoPlace { places: table.count })
    }

    /// Whether a consumer has had this place last that has died, and nobody has looked after what it held.
    /// (Not for the consumer that has it.)
    fn is_unswept(&self, place: usize) -> bool {
        self.may_hold(place) && !self.consumers.is_held(place)
    }

    /// Whether the consumer of this place may hold messages: it is there, or was and nobody has looked after
    /// what it held. (Places that can't be hold nothing.)
    pub(super) fn may_hold(&self, place: usize) -> bool {
        place < self.consumers.count
            && self.consumers.numbers(place).producers().0 != self.ledger(place).swept()
    }

    /// Whether a consumer has died, and nobody has looked after what it held. A system call for each consumer
    /// that is there.
    pub(super) fn has_unswept(&self, own: usize) -> bool {
        (0..self.consumers.count).any(|place| place != own && self.is_unswept(place))
    }

    /// Gives the messages again that dead consumers held, or drops them. How many. A system call for each
    /// consumer that is there, and O(all slots) for each that has died.
    #[cold]
    pub(super) fn sweep(&self, own: usize) -> u64 {
        let mut count = 0;
        for place in (0..self.consumers.count).filter(|&place| place != own) {
            if self.is_unswept(place) && !seeded!("mpmc_death_unseen") {
                let table = &self.consumers;
                let taken = PlaceLock::take(&table.page, byte_of(table.first + place), false);
                // (Another consumer may have it by now, and sweeps.)
                let Ok(Some(_lock)) = taken else { continue };
                count += self.sweep_place(place);
            }
        }
        if count > 0 {
            self.wake_all();
        }
        count
    }

    /// The same of a place whose lock the caller has.
    pub(super) fn sweep_place(&self, place: usize) -> u64 {
        let (came, _) = self.consumers.numbers(place).producers();
        let ledger = self.ledger(place);
        if came == ledger.swept() {
            return 0;
        }
        let count = ledger.sweep(&self.lanes, place, self.drops);
        ledger.set_swept(came);
        count
    }

    /// Consumers have something to look at, and producers perhaps room.
    pub(super) fn wake_all(&self) {
        self.sent.notify_across();
        if self.drops {
            self.received.iter().for_each(EventCount::notify_across);
        }
    }

    /// How many messages were given again, and how many dropped.
    pub(super) fn counts(&self) -> [u64; 2] {
        let places = (0..self.consumers.count).map(|place| self.ledger(place).counts());
        places.fold([0; 2], |[given, dropped], [more, lost]| {
            [given.wrapping_add(more), dropped.wrapping_add(lost)]
        })
    }
}
