//! Lossy rings that several processes publish to: how one is made, how a publisher joins, and what a process
//! that subscribes sees of them. (`ring/claims.rs` says how they share the slots, `places.rs` who is there.)

use core::alloc::Layout as Slots;
use core::ptr::NonNull;
use std::boxed::Box;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::error::AttachError;
use super::format::{Identity, LANE_CELLS, Layout};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::many::{ENDS, MOST_PLACES, free_place};
use super::message_type::MessageType;
use super::numbers_and_slots::{Extent, shown};
use super::places::{Places, Table, WhenNoProducer, byte_of};
use super::process::ProcessId;
use super::queue::{PlaceLock, damaged, numbers};
use super::share_error::ShareError;
use super::sleepers;
use crate::base::gone::NowAndThen;
use crate::broadcast::{Across, Builder, Fellow, FellowPublisher, fellow_of_another};
use crate::error::CapacityError;
use crate::lane::PlaceTable;
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::os::lock;
use crate::os::shared_memory::Access;
use crate::ring::{Claims, Fellows, Known, MIN_CAPACITY, Mirror, Writers, slots_layout, stride_for};
use crate::sync::AtomicU64;
use crate::wait::WaitStrategy;

/// A ring, and its first publisher, which has the first place.
#[allow(clippy::type_complexity, reason = "a publisher, the places, and an invitation")]
///
/// Any bytes are a `T`.
pub(super) fn share<T: Message>(
    builder: Builder,
    of: &MessageType,
    places: usize,
    when_no_publisher: WhenNoProducer,
) -> Result<(FellowPublisher<T>, Places, Invitation), ShareError> {
    let capacity = builder.slots();
    if capacity < MIN_CAPACITY {
        return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY }.into());
    }
    if !(1..=MOST_PLACES).contains(&places) {
        return Err(ShareError::Producers { producers: places, most: MOST_PLACES });
    }
    let first = builder.first_sequence()?;
    let (payload, schema) = of.written()?;
    let stride = stride_for(payload.bytes, Writers::Fellows);
    let slot_bytes = stride * size_of::<u64>();
    let too_large = CapacityError::TooLarge { capacity, slot_bytes };
    let identity = Identity::new()?;
    let page = Arc::new(sleepers::create_with_places(identity, places)?);
    let layout = Layout {
        kind: ShmKind::MpLossy,
        payload,
        slot_bytes,
        capacity,
        cells: LANE_CELLS * places,
        start: first.get(),
        creator: ProcessId::current()?,
        identity,
    };
    let slots = slots_layout(stride, capacity).ok_or(too_large)?;
    let offset = layout.slots_offset().ok_or(too_large)?;
    let bytes = offset.checked_add(slots.size()).ok_or(too_large)?;
    let memory =
        PlacedMemory::create("annulus broadcast", bytes, Access::Everyone, builder.memory_options())?;
    let memory = Arc::new(memory);
    layout.write(&memory, &schema).ok_or(too_large)?;
    let ends = when_no_publisher == WhenNoProducer::Close;
    numbers(&memory).begin_without_lane(if ends { ENDS } else { 0 });
    // SAFETY: it is in the memory, which lives.
    unsafe { shown(&memory).as_ref() }.begin_at(first);
    let table = |page| Table { memory: Arc::clone(&memory), page, count: places, ends };
    let invitation = Invitation::new(lock::reopened_writable(&memory)?, lock::reopened_writable(&page)?);
    // By an opening of its own, because a look does not see the locks of the same one.
    let looks_on = sleepers::attach_anew(&invitation.sleepers, identity).map_err(io::Error::other)?;
    let looks_on = Places(Arc::new(table(Arc::new(looks_on))));
    // (Nobody else has the page.)
    let seat = PlaceLock::take(&page, byte_of(0), false)?
        .ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))?;
    let table = Arc::new(table(page));
    let sleepers = sleepers::remote_of_fellow(&table.page);
    let fellow = fellow(&table, &layout, offset, 0, seat);
    table.come(0);
    let slots = (Block::shared(memory, offset, slots), stride);
    // SAFETY: new memory, all zero, and the claims are of its slots. All processes go by
    // `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations. Any bytes are a
    // `T`.
    let publisher = unsafe { builder.fellow_across(slots, sleepers, fellow) }?;
    Ok((publisher, looks_on, invitation))
}

/// A further publisher.
///
/// Any bytes are a `T`.
pub(super) fn join<T: Message>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<FellowPublisher<T>, AttachError> {
    invitation.is_for(ShmKind::MpLossy, of)?;
    let ring = lock::reopened_writable(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(ring, false)?;
    layout.is_for(ShmKind::MpLossy, of, &memory)?;
    let Extent { offset, slots, stride, first } = Extent::in_memory(&layout, Writers::Fellows, &memory)?;
    if layout.capacity < MIN_CAPACITY {
        return Err(damaged("the capacity", layout.capacity as u64));
    }
    let memory = PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?;
    let table = Arc::new(Table::of(&invitation.sleepers, Arc::new(memory), &layout)?);
    // places.join1.
    let (place, seat) = free_place(&table)
        .map_err(AttachError::System)?
        .ok_or(AttachError::NoPlace { places: table.count })?;
    let sleepers = sleepers::remote_of_fellow(&table.page);
    let fellow = fellow(&table, &layout, offset, place, seat);
    // Where all are gone, and some process may have seen that, nobody goes on.
    if fellow.claims.is_closed() || table.is_over() {
        fellow.claims.close();
        return Err(AttachError::Closed);
    }
    let slots = (Block::shared(Arc::clone(&table.memory), offset, slots), stride);
    // SAFETY: as in `share`, of memory that another process has filled.
    let publisher = unsafe { fellow_of_another(layout.capacity, first, strategy, (slots, sleepers), fellow) };
    table.come(place);
    Ok(publisher)
}

/// What a process that subscribes sees of a ring. It has also ended when nobody publishes to it, and
/// `is_given_up` says so.
pub(super) fn seen(
    table: &Arc<Table>,
    layout: &Layout,
    (offset, slots, stride): (usize, Slots, usize),
    is_given_up: impl Fn() -> bool + Send + Sync + 'static,
) -> Across {
    let watched = Arc::clone(table);
    let is_over = Arc::new(move || {
        let is_left = || watched.came() != 0 && watched.taken(None) == 0 && is_given_up();
        watched.is_over() || is_left()
    });
    let asked = Arc::clone(&is_over);
    let claims = Arc::new(claims(table, layout, offset, move || asked()));
    let watched_claims = Arc::clone(&claims);
    let is_gone = move || is_over() || watched_claims.has_stuck();
    Across {
        slots: (Block::shared(Arc::clone(&table.memory), offset, slots), stride),
        mirror: Mirror::Shares(claims),
        sleepers: sleepers::remote(&table.page).woken_from_elsewhere(is_gone),
        awaiting: None,
    }
}

/// One who has this place, by the lock of `seat`.
fn fellow(table: &Arc<Table>, layout: &Layout, offset: usize, place: usize, seat: PlaceLock) -> Fellow {
    let left = Arc::clone(table);
    Fellow {
        claims: Arc::new(claims(table, layout, offset, || false)),
        place,
        leave: Box::new(move || left.leave(place)),
        seat: Box::new(seat),
    }
}

/// The slots begin `offset` bytes behind the beginning of the memory, in which they were checked to lie.
fn claims(
    table: &Arc<Table>,
    layout: &Layout,
    offset: usize,
    is_over: impl Fn() -> bool + Send + Sync + 'static,
) -> Claims {
    let memory = &table.memory;
    let stride = layout.slot_bytes / size_of::<u64>();
    assert!(offset + layout.slot_bytes * layout.capacity <= memory.len());
    // SAFETY: within the memory (asserted).
    let start: NonNull<AtomicU64> = unsafe { memory.base().add(offset) }.cast();
    let is_writable = memory.is_writable();
    let slots = (start, stride, layout.capacity);
    // SAFETY: what is shown and the slots are in the memory, which the table keeps.
    unsafe { Claims::new(shown(memory), slots, is_writable, FellowTable::new(table), is_over) }
}

impl Table {
    /// Of a ring of another process that several publish to.
    pub(super) fn of(
        sleepers: &OwnedFd,
        memory: Arc<PlacedMemory>,
        layout: &Layout,
    ) -> Result<Self, AttachError> {
        let count = layout.cells / LANE_CELLS;
        if layout.cells % LANE_CELLS != 0 || !(1..=MOST_PLACES).contains(&count) {
            return Err(damaged("the number of cells", layout.cells as u64));
        }
        let page = Arc::new(sleepers::attach_with_places(sleepers, layout.identity, count)?);
        let mut table = Self { memory, page, count, ends: false };
        let policies = table.queue().detail();
        if policies & !ENDS != 0 {
            return Err(damaged("the policies", policies));
        }
        table.ends = policies & ENDS != 0;
        Ok(table)
    }
}

/// The places, as those who claim see them.
struct FellowTable {
    table: Arc<Table>,
    known: Box<[Known]>,
}

impl FellowTable {
    fn new(table: &Arc<Table>) -> Self {
        let known = (0..table.count).map(|_| Known::nothing(NowAndThen::new())).collect();
        Self { table: Arc::clone(table), known }
    }
}

impl Fellows for FellowTable {
    fn known(&self, place: usize) -> &Known {
        &self.known[place]
    }

    fn is_gone(&self, place: usize) -> bool {
        !self.table.is_held(place)
    }

    fn used(&self) -> usize {
        // (Any number may lie there.)
        self.table.queue().used().min(self.known.len())
    }

    #[inline]
    fn intent(&self, place: usize) -> &AtomicU64 {
        self.table.numbers(place).word()
    }
}
