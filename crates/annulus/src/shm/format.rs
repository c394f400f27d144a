//! [`Layout`]: where everything lies in shared memory, and the header that says so (`docs/SHM-FORMAT.md`).
//! [`RingInfo`]: what the header of a ring says.
//! Where the numbers and the slots of a broadcast ring are in its memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::NonNull;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::error::{AttachError, ShareError};
use super::kind::ShmKind;
use super::message_type::{MessageType, Payload};
use super::process::ProcessId;
use crate::base::sequence::Sequence;
use crate::message::schema::{Fingerprint, Schema, SchemaError};
use crate::os::random;
use crate::os::shared_memory::{SharedMemory, Unfit};
use crate::ring::{SharedNumbers, Writers, slots_layout, stride_for};
use crate::sync::{AtomicU32, Ordering, seeded};

/// What a ring begins with.
pub(crate) const MAGIC: [u8; 8] = *b"ANNULUS\0";

/// The version of the format.
pub(crate) const VERSION: u32 = 3;

/// It reads 4, 3, 2, 1 in memory on machines that write the lowest byte first.
pub(crate) const ENDIAN_MARK: u32 = 0x0102_0304;

/// The length of the header. A multiple of 128, as is the beginning of everything that follows: two
/// neighbours never share a cache line, nor the pair of lines that some processors fetch.
pub(crate) const HEADER_BYTES: usize = 128;

/// What the writing side changes.
pub(crate) const PRODUCER_OFFSET: usize = 128;

/// What the reading side changes.
pub(crate) const CONSUMER_OFFSET: usize = 256;

/// What a thread that sleeps, or wakes another, changes.
pub(crate) const WAKE_OFFSET: usize = 384;

/// A table of cells of [`CELL_BYTES`] each; how many is up to the ring. The schema follows, then the slots.
pub(crate) const CELLS_OFFSET: usize = 512;

/// The length of a cell.
pub(crate) const CELL_BYTES: usize = 128;

/// How many cells each lane of a queue of several producers has: for its producer, for the consumer, and for
/// both.
pub(crate) const LANE_CELLS: usize = 3;

/// No ring is shorter.
pub(crate) const LEAST_BYTES: usize = CELLS_OFFSET;

/// The slots begin at a multiple of this at least.
const SLOTS_ALIGNMENT: usize = 128;

/// Where the fields of the header are, in bytes.
pub(crate) mod offset {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const ENDIAN_MARK: usize = 8;
    pub(crate) const VERSION: usize = 12;
    pub(crate) const KIND: usize = 16;
    pub(crate) const REQUIRED: usize = 20;
    pub(crate) const TOTAL_BYTES: usize = 24;
    pub(crate) const CELLS: usize = 32;
    pub(crate) const SLOTS_OFFSET: usize = 40;
    pub(crate) const SLOT_BYTES: usize = 48;
    pub(crate) const CAPACITY: usize = 56;
    pub(crate) const PAYLOAD_BYTES: usize = 64;
    pub(crate) const PAYLOAD_ALIGNMENT: usize = 72;
    pub(crate) const FINGERPRINT: usize = 80;
    pub(crate) const START: usize = 88;
    pub(crate) const CREATOR_START: usize = 96;
    pub(crate) const CREATOR_PID: usize = 104;
    pub(crate) const SCHEMA_BYTES: usize = 108;
    pub(crate) const IDENTITY: usize = 112;
    /// How long the publisher is silent at most, in nanoseconds. 0: it does not say.
    pub(crate) const DEADLINE: usize = 120;
}

/// Where the numbers of a broadcast ring are, in bytes.
pub(crate) mod broadcast {
    pub(crate) const BOUND: usize = 128;
    /// Of a lossless one.
    pub(crate) const HEADROOM: usize = 136;
    pub(crate) const SEATS: usize = 144;
    /// Of a lossless one of several publishers, which has policies where others have the headroom.
    pub(crate) const FELLOWS_HEADROOM: usize = 152;
    pub(crate) const NUMBERING: usize = 160;
    pub(crate) const END: usize = 256;
    pub(crate) const MISSED: usize = 264;
}

/// Where the numbers of a queue are, in bytes. In a queue of several lanes, each lane has [`LANE_CELLS`]
/// cells, with its numbers at the same distances.
pub(crate) mod queue {
    pub(crate) const TAIL: usize = 128;
    pub(crate) const DETAIL: usize = 136;
    /// Of a lane of several.
    pub(crate) const CAME: usize = 144;
    pub(crate) const LEFT: usize = 152;
    /// Of a queue of several lanes.
    pub(crate) const USED: usize = 160;
    pub(crate) const HEAD: usize = 256;
    pub(crate) const JOINED: usize = 264;
    pub(crate) const CLOSED: usize = 384;
    pub(crate) const END: usize = 392;
}

/// Where everything is in the sleepers' page, in bytes.
pub(crate) mod page {
    pub(crate) const MAGIC: usize = 0;
    /// Whether the creator's process carries out barriers: not 0 if so.
    pub(crate) const FENCES: usize = 4;
    /// The identity of the ring.
    pub(crate) const IDENTITY: usize = 8;
    /// The word where waiters for messages sleep, and the word where a producer that waits for room sleeps.
    pub(crate) const WORDS: [usize; 2] = [128, 192];
    /// No page is shorter.
    pub(crate) const LEAST_BYTES: usize = 256;
    /// Of a lossless ring: what its publisher says, and behind it the cells of its seats. Of a queue of
    /// several producers: behind it the words of producers that wait for room.
    pub(crate) const SCANNED: usize = 256;
    /// Of a lossless ring of records: the first one with which a subscriber may begin.
    pub(crate) const FLOOR: usize = 264;
    pub(crate) const SEATS: usize = 384;
    pub(crate) const SEAT_BYTES: usize = 128;
    /// Of a service: where the word of a client that waits for answers is, from the beginning of its place
    /// on.
    pub(crate) const ANSWERED: usize = 64;
    /// Of a ring of frames: table n begins at (n + 1) times this, at a page of its own.
    pub(crate) const TABLE_BYTES: usize = 4096;
    /// What is in the cell of a seat that nobody has.
    pub(crate) const FREE: u64 = u64::MAX;
}

const _: () = {
    // The page gives these numbers; a program in another language has them as its own.
    assert!(offset::MAGIC == 0 && offset::ENDIAN_MARK == 8 && offset::VERSION == 12);
    assert!(offset::KIND == 16 && offset::REQUIRED == 20 && offset::TOTAL_BYTES == 24);
    assert!(offset::CELLS == 32 && offset::SLOTS_OFFSET == 40 && offset::SLOT_BYTES == 48);
    assert!(offset::CAPACITY == 56 && offset::PAYLOAD_BYTES == 64 && offset::PAYLOAD_ALIGNMENT == 72);
    assert!(offset::FINGERPRINT == 80 && offset::START == 88 && offset::CREATOR_START == 96);
    assert!(offset::CREATOR_PID == 104 && offset::SCHEMA_BYTES == 108 && offset::IDENTITY == 112);
    assert!(offset::DEADLINE == 120 && offset::DEADLINE < HEADER_BYTES);
    assert!(HEADER_BYTES == 128 && PRODUCER_OFFSET == 128 && CONSUMER_OFFSET == 256);
    assert!(WAKE_OFFSET == 384 && CELLS_OFFSET == 512 && CELL_BYTES == 128);
};

/// What the code has at these offsets from the producer's section on is where the page says. For constants.
// Unreached: the compiler evaluates it, as all lines of it
pub(crate) const fn are_at(offsets: &[usize], wanted: &[usize]) {
    assert!(offsets.len() == wanted.len());
    let mut index = 0;
    while index < offsets.len() {
        assert!(
            PRODUCER_OFFSET + offsets[index] == wanted[index],
            "a number has another place than the page says"
        );
        index += 1;
    }
}

/// The bytes of a header. They are copied once, and then checked, so a write to the memory in between changes
/// nothing.
pub(crate) type HeaderBytes = [u8; HEADER_BYTES];

/// What a ring and its sleepers' page have in common, and no two rings: a number that was drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    /// The identity of a new ring, drawn at random.
    pub(crate) fn new() -> io::Result<Self> {
        random::number().map(Self)
    }

    pub(crate) const fn of_number(number: u64) -> Self {
        Self(number)
    }

    pub(crate) fn to_u64(self) -> u64 {
        self.0
    }
}

/// Where everything lies. There is none that does not fit its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) kind: ShmKind,
    pub(crate) payload: Payload,
    /// From one slot to the next, in bytes: not 0, at least the payload's, and a multiple of its alignment.
    pub(crate) slot_bytes: usize,
    /// How many slots there are. Not 0.
    pub(crate) capacity: usize,
    /// How many cells lie between the sections and the slots.
    pub(crate) cells: usize,
    /// The sequence of the first message.
    pub(crate) start: u64,
    pub(crate) creator: ProcessId,
    /// Its sleepers' page has the same.
    pub(crate) identity: Identity,
}

impl Layout {
    /// Where the schema begins. `None` if this is more than can be counted.
    fn schema_offset(&self) -> Option<usize> {
        CELLS_OFFSET.checked_add(self.cells.checked_mul(CELL_BYTES)?)
    }

    /// Where the slots begin. `None` as above, or if some field can't be (see [`Self::fault`]).
    pub(crate) fn slots_offset(&self) -> Option<usize> {
        let alignment = self.payload.alignment.max(SLOTS_ALIGNMENT);
        self.schema_offset()?.checked_add(self.payload.schema_bytes)?.checked_next_multiple_of(alignment)
    }

    /// How much memory it takes. `None` as above.
    pub(crate) fn total_bytes(&self) -> Option<usize> {
        let slots = self.slot_bytes.checked_mul(self.capacity)?;
        self.slots_offset()?.checked_add(slots).filter(|&total| isize::try_from(total).is_ok())
    }

    /// The first field that can't be, and its value.
    fn fault(&self) -> Option<(&'static str, u64)> {
        let Payload { bytes, alignment, .. } = self.payload;
        let fault = self.payload.fault();
        if fault.is_some() {
            return fault;
        }
        if self.slot_bytes == 0 || self.slot_bytes < bytes || self.slot_bytes % alignment != 0 {
            return Some(("the slots' size", self.slot_bytes as u64));
        }
        (self.capacity == 0).then_some(("the capacity", 0))
    }

    /// The header that says all this. `None` if it takes more memory than there can be, or can't be.
    pub(crate) fn encode(&self) -> Option<HeaderBytes> {
        if self.fault().is_some() {
            return None;
        }
        let (slots_offset, total) = (self.slots_offset()?, self.total_bytes()?);
        let mut header = [0; HEADER_BYTES];
        let mut put = |offset: usize, bytes: &[u8]| header[offset..][..bytes.len()].copy_from_slice(bytes);
        put(offset::MAGIC, &MAGIC);
        put(offset::ENDIAN_MARK, &ENDIAN_MARK.to_ne_bytes());
        put(offset::VERSION, &VERSION.to_ne_bytes());
        put(offset::KIND, &self.kind.number().to_ne_bytes());
        put(offset::TOTAL_BYTES, &(total as u64).to_ne_bytes());
        put(offset::CELLS, &(self.cells as u64).to_ne_bytes());
        put(offset::SLOTS_OFFSET, &(slots_offset as u64).to_ne_bytes());
        put(offset::SLOT_BYTES, &(self.slot_bytes as u64).to_ne_bytes());
        put(offset::CAPACITY, &(self.capacity as u64).to_ne_bytes());
        put(offset::PAYLOAD_BYTES, &(self.payload.bytes as u64).to_ne_bytes());
        put(offset::PAYLOAD_ALIGNMENT, &(self.payload.alignment as u64).to_ne_bytes());
        put(offset::FINGERPRINT, &self.payload.fingerprint.to_u64().to_ne_bytes());
        put(offset::START, &self.start.to_ne_bytes());
        put(offset::CREATOR_START, &self.creator.start_time().to_ne_bytes());
        put(offset::CREATOR_PID, &self.creator.pid().to_ne_bytes());
        put(offset::SCHEMA_BYTES, &u32::try_from(self.payload.schema_bytes).ok()?.to_ne_bytes());
        put(offset::IDENTITY, &self.identity.to_u64().to_ne_bytes());
        Some(header)
    }

    /// What a header says of memory of so many bytes. Any bytes are allowed.
    pub(crate) fn decode(header: &HeaderBytes, memory_bytes: usize) -> Result<Self, AttachError> {
        let long = |offset: usize| u64::from_ne_bytes(array(header, offset));
        let short = |offset: usize| u32::from_ne_bytes(array(header, offset));
        // A number that no `usize` holds is as good as the largest: nothing is so large.
        let size = |offset: usize| usize::try_from(long(offset)).unwrap_or(usize::MAX);

        let found = array(header, offset::MAGIC);
        if found != MAGIC {
            return Err(AttachError::NoRing { found });
        }
        match short(offset::ENDIAN_MARK) {
            ENDIAN_MARK => {}
            mark if mark == ENDIAN_MARK.swap_bytes() => return Err(AttachError::Endianness),
            mark => return Err(AttachError::Damaged { field: "the endianness mark", value: mark.into() }),
        }
        let found = short(offset::VERSION);
        if found != VERSION {
            return Err(AttachError::Version { found, wanted: VERSION });
        }
        let bits = short(offset::REQUIRED);
        if bits != 0 {
            return Err(AttachError::Unknown { bits });
        }
        let damaged = |field, value| AttachError::Damaged { field, value };
        let number = short(offset::KIND);
        let layout = Self {
            kind: ShmKind::of_number(number).ok_or_else(|| damaged("the kind", number.into()))?,
            payload: Payload {
                bytes: size(offset::PAYLOAD_BYTES),
                alignment: size(offset::PAYLOAD_ALIGNMENT),
                fingerprint: Fingerprint::from_u64(long(offset::FINGERPRINT)),
                schema_bytes: usize::try_from(short(offset::SCHEMA_BYTES)).unwrap_or(usize::MAX),
            },
            slot_bytes: size(offset::SLOT_BYTES),
            capacity: size(offset::CAPACITY),
            cells: size(offset::CELLS),
            start: long(offset::START),
            creator: ProcessId::new(short(offset::CREATOR_PID), long(offset::CREATOR_START)),
            identity: Identity::of_number(long(offset::IDENTITY)),
        };
        if let Some((field, value)) = layout.fault() {
            return Err(damaged(field, value));
        }
        let needed = layout.total_bytes();
        if needed.map(|bytes| bytes as u64) != Some(long(offset::TOTAL_BYTES)) {
            return Err(damaged("the total size", long(offset::TOTAL_BYTES)));
        }
        if layout.slots_offset().map(|bytes| bytes as u64) != Some(long(offset::SLOTS_OFFSET)) {
            return Err(damaged("the slots' offset", long(offset::SLOTS_OFFSET)));
        }
        match needed {
            Some(needed) if needed > memory_bytes && !seeded!("shm_length_believed") => {
                Err(AttachError::Length { found: memory_bytes as u64, needed: needed as u64 })
            }
            _ => Ok(layout),
        }
    }

    /// Whether it is a ring of this kind, for messages of this type. `memory` is its own.
    pub(crate) fn is_for(
        &self,
        kind: ShmKind,
        of: &MessageType,
        memory: &SharedMemory,
    ) -> Result<(), AttachError> {
        let found = &self.payload;
        if self.kind != kind {
            return Err(AttachError::Kind { found: self.kind, wanted: kind });
        }
        if let Some(wanted) = of.schema() {
            if wanted.fingerprint() != found.fingerprint && !seeded!("shm_any_type") {
                let found = self.schema(memory)?.map(Box::new);
                return Err(AttachError::Type { found, wanted: Box::new(wanted.clone()) });
            }
        }
        if found.bytes != of.bytes() {
            return Err(AttachError::PayloadSize { found: found.bytes, wanted: of.bytes() });
        }
        // (Slots are apart by a message's size, which is a multiple of what the process asks for.)
        if self.slots_offset().is_none_or(|offset| offset % of.alignment() != 0) {
            return Err(AttachError::PayloadAlignment { found: found.alignment, wanted: of.alignment() });
        }
        Ok(())
    }

    /// The schema that lies in the ring's memory, if there is one.
    pub(crate) fn schema(&self, memory: &SharedMemory) -> Result<Option<Schema>, AttachError> {
        self.schema_text(memory).map(|text| self.parsed(&text)).transpose()
    }

    /// The schema of that text.
    pub(crate) fn parsed(&self, text: &[u8]) -> Result<Schema, AttachError> {
        let text = core::str::from_utf8(text).map_err(|error| {
            AttachError::Schema(SchemaError { at: error.valid_up_to(), expected: "UTF-8".into() })
        })?;
        let schema: Schema = text.parse().map_err(AttachError::Schema)?;
        let Payload { bytes, fingerprint, .. } = self.payload;
        if schema.fingerprint() != fingerprint {
            return Err(AttachError::Damaged { field: "the fingerprint", value: fingerprint.to_u64() });
        }
        // (The schema of a ring of frames describes what is in them.)
        if schema.size() != bytes && !self.kind.has_frames() {
            return Err(AttachError::Damaged { field: "the payload's size", value: bytes as u64 });
        }
        Ok(schema)
    }

    /// What lies where the schema does, if there is one.
    pub(crate) fn schema_text(&self, memory: &SharedMemory) -> Option<Vec<u8>> {
        let (offset, length) = (self.schema_offset()?, self.payload.schema_bytes);
        // (It ends before the slots.)
        let words = (offset..offset + length).step_by(4);
        // Relaxed: pairs with the store in `write`. Whatever it finds is checked.
        let bytes = words.flat_map(|offset| word_at(memory, offset).load(Ordering::Relaxed).to_ne_bytes());
        (length > 0).then(|| bytes.take(length).collect())
    }

    /// Writes the header of new memory, and the schema. `None` if the memory is too short, or there is no
    /// such header.
    ///
    /// Nobody else may have the memory yet.
    pub(crate) fn write(&self, memory: &SharedMemory, schema: &str) -> Option<()> {
        let header = self.encode()?;
        if !memory.is_writable() || memory.len() < self.total_bytes()? {
            return None;
        }
        assert_eq!(schema.len(), self.payload.schema_bytes, "what the header says");
        let write = |begin: usize, bytes: &[u8]| {
            for (index, part) in bytes.chunks(4).enumerate() {
                let mut word = [0; 4];
                word[..part.len()].copy_from_slice(part);
                // Relaxed: pairs with the loads in `read` and `schema_text`. Nobody else has the memory yet,
                // and the system call that hands it over (a message, a file) orders it.
                word_at(memory, begin + 4 * index).store(u32::from_ne_bytes(word), Ordering::Relaxed);
            }
        };
        write(0, &header);
        write(self.schema_offset()?, schema.as_bytes());
        Some(())
    }

    /// Writes the deadline that the publisher promises. Nobody else may have the memory yet.
    ///
    /// # Errors
    ///
    /// [`ShareError::Deadline`].
    pub(crate) fn promise(memory: &SharedMemory, deadline: Option<Duration>) -> Result<(), ShareError> {
        let Some(deadline) = deadline else { return Ok(()) };
        let ns = u64::try_from(deadline.as_nanos()).unwrap_or(0);
        if ns == 0 {
            return Err(ShareError::Deadline { deadline });
        }
        for (offset, part) in (offset::DEADLINE..).step_by(4).zip(ns.to_ne_bytes().chunks_exact(4)) {
            // Relaxed: as in `write`.
            word_at(memory, offset)
                .store(u32::from_ne_bytes([part[0], part[1], part[2], part[3]]), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Maps the ring that another process made.
    pub(crate) fn attach(fd: OwnedFd, read_only: bool) -> Result<(SharedMemory, Self), AttachError> {
        let memory = SharedMemory::attach(fd, read_only).map_err(unfit)?;
        let layout = Self::read(&memory)?;
        Ok((memory, layout))
    }

    /// What the header of this memory says.
    pub(crate) fn read(memory: &SharedMemory) -> Result<Self, AttachError> {
        if memory.len() < LEAST_BYTES {
            return Err(AttachError::Length { found: memory.len() as u64, needed: LEAST_BYTES as u64 });
        }
        let mut header = [0; HEADER_BYTES];
        for (index, bytes) in header.chunks_exact_mut(4).enumerate() {
            // Relaxed: pairs with the store in `write`. Whatever it finds is checked.
            bytes.copy_from_slice(&word_at(memory, 4 * index).load(Ordering::Relaxed).to_ne_bytes());
        }
        Self::decode(&header, memory.len())
    }
}

/// What is said of a descriptor that can't be mapped.
pub(super) fn unfit(unfit: Unfit) -> AttachError {
    match unfit {
        Unfit::NotMemory => AttachError::NotMemory,
        Unfit::NotSealed => AttachError::NotSealed,
        Unfit::Sparse => AttachError::Sparse,
        Unfit::Length(found) => AttachError::Length { found, needed: LEAST_BYTES as u64 },
        // Unreached: only where the system has no memory for a mapping, or the memory is its creator's to
        // write; unit tests of the mapping have the second
        Unfit::System(error) => AttachError::System(error),
    }
}

/// Some bytes of a header.
fn array<const N: usize>(header: &HeaderBytes, offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&header[offset..][..N]);
    bytes
}

/// Four bytes before the slots. (A load of eight is no plain load on every machine of 32 bits, and would fail
/// there in memory that can't be written to.)
fn word_at(memory: &SharedMemory, offset: usize) -> &AtomicU32 {
    assert!(offset % 4 == 0 && offset + 4 <= memory.len());
    // SAFETY: within the memory, which lives as long as the reference; at a multiple of 4, because memory
    // begins at a page; and every process accesses the header and the schema by atomic operations.
    unsafe { AtomicU32::from_ptr(memory.base().as_ptr().wrapping_add(offset).cast()) }
}

/// Eight of them, as a number.
fn long_at(memory: &SharedMemory, offset: usize) -> u64 {
    // Relaxed: pairs with the stores of the creator (`write`, `promise`, `begin_numbering`), as in `read`.
    // Any number can be.
    let [low, high] = [0, 4].map(|part| word_at(memory, offset + part).load(Ordering::Relaxed));
    if cfg!(target_endian = "little") {
        u64::from(high) << 32 | u64::from(low)
    } else {
        // Unreached: on machines that write the highest byte first
        u64::from(low) << 32 | u64::from(high)
    }
}

/// What the header of a ring says, read from the ring's descriptor.
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
    deadline: Option<Duration>,
    numbering: u64,
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
        let schema = layout.schema_text(memory);
        let ns = long_at(memory, offset::DEADLINE);
        let deadline = (ns != 0).then(|| Duration::from_nanos(ns));
        let has_numbering =
            matches!(layout.kind, ShmKind::Lossy | ShmKind::Lossless) || layout.kind.has_frames();
        let numbering = if has_numbering { long_at(memory, broadcast::NUMBERING) } else { 0 };
        Self { layout, schema, deadline, numbering }
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
    /// use annulus::{Message, Settings};
    /// use annulus::shm::{Shared, broadcast};
    ///
    /// #[derive(Clone, Copy, Message)]
    /// #[message(name = "quote")]
    /// #[repr(C)]
    /// struct Quote {
    ///     bid: f64,
    ///     ask: f64,
    /// }
    ///
    /// let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<Quote>(Settings::new(64))?;
    /// let schema = invitation.info()?.schema()?.unwrap();
    /// assert_eq!(schema.to_string(), "quote{bid:f64,ask:f64}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Schema`](AttachError::Schema), [`Damaged`](AttachError::Damaged): what lies there is no schema, or
    /// not the schema whose fingerprint the header has. No bytes in it can do any harm.
    pub fn schema(&self) -> Result<Option<Schema>, AttachError> {
        self.schema.as_deref().map(|text| self.layout.parsed(text)).transpose()
    }

    /// The fingerprint of the [schema](Self::schema) of its messages.
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

    /// How long the publisher is silent at most, as it has [promised](crate::Settings::deadline).
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Which [numbering](super::Numbering) its publisher goes on with: rings with the same one never give a
    /// number twice.
    #[must_use]
    pub fn numbering(&self) -> Option<u64> {
        (self.numbering != 0).then_some(self.numbering)
    }

    /// A number that was drawn at random when the ring was made: no other ring has it, whatever name it has.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, broadcast};
    ///
    /// let Shared { handle: _publisher, invitation: one, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// let Shared { handle: _publisher, invitation: other, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
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

/// The slots of a ring, which were checked to lie in its memory.
pub(super) struct Extent {
    /// Where they begin, in bytes.
    pub(super) offset: usize,
    pub(super) slots: core::alloc::Layout,
    /// From one to the next, in words.
    pub(super) stride: usize,
    pub(super) first: Sequence,
}

impl Extent {
    pub(super) fn in_memory(
        layout: &Layout,
        writers: Writers,
        memory: &SharedMemory,
    ) -> Result<Self, AttachError> {
        let stride = stride_for(layout.payload.bytes, writers);
        if layout.slot_bytes != stride * size_of::<u64>() {
            return Err(damaged("the slots' size", layout.slot_bytes));
        }
        let first = Sequence::new(layout.start);
        if first > Sequence::LAST_FIRST {
            return Err(AttachError::Damaged { field: "the first sequence", value: layout.start });
        }
        let capacity = layout.capacity;
        let (Some(slots), Some(offset)) = (slots_layout(stride, capacity), layout.slots_offset()) else {
            // Unreached: a header whose sums can be counted has slots that can be
            return Err(damaged("the capacity", capacity));
        };
        let needed = offset.saturating_add(slots.size());
        if needed > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: needed as u64 });
        }
        Ok(Self { offset, slots, stride, first })
    }
}

pub(super) fn damaged(field: &'static str, value: usize) -> AttachError {
    AttachError::Damaged { field, value: value as u64 }
}

/// What the publisher shows.
pub(super) fn shown(memory: &SharedMemory) -> NonNull<SharedNumbers> {
    const {
        use broadcast::{BOUND, END, FELLOWS_HEADROOM, HEADROOM, MISSED, NUMBERING, SEATS};

        assert!(size_of::<SharedNumbers>() == WAKE_OFFSET - PRODUCER_OFFSET);
        are_at(&SharedNumbers::OFFSETS, &[BOUND, HEADROOM, SEATS, FELLOWS_HEADROOM, NUMBERING, END, MISSED]);
    }
    assert!(memory.len() >= LEAST_BYTES);
    // SAFETY: within the memory (asserted).
    unsafe { memory.base().add(PRODUCER_OFFSET) }.cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of a schema of 70 bytes.
    const PAYLOAD: Payload =
        Payload { bytes: 24, alignment: 8, fingerprint: Fingerprint::from_u64(77), schema_bytes: 70 };

    const SAMPLE: Layout = Layout {
        kind: ShmKind::Spsc,
        payload: PAYLOAD,
        slot_bytes: 32,
        capacity: 100,
        cells: 3,
        start: 7,
        creator: ProcessId::new(12, 345),
        identity: Identity::of_number(0x1234_5678_9ABC_DEF0),
    };
    /// Three cells, the schema, then 100 slots.
    const SAMPLE_BYTES: usize = 512 + 3 * 128 + 128 + 3200;

    fn changed(change: impl FnOnce(&mut Layout)) -> Layout {
        let mut layout = SAMPLE;
        change(&mut layout);
        layout
    }

    #[test]
    fn layout_that_is_written_is_read() {
        let header = SAMPLE.encode().unwrap();
        assert_eq!(SAMPLE.total_bytes(), Some(SAMPLE_BYTES));
        assert_eq!(Layout::decode(&header, SAMPLE_BYTES).unwrap(), SAMPLE);
        let aligned = changed(|layout| {
            layout.payload = Payload { bytes: 4096, alignment: 4096, ..SAMPLE.payload };
            layout.slot_bytes = 8192;
        });
        assert_eq!(aligned.slots_offset(), Some(4096));
        assert_eq!(Layout::decode(&aligned.encode().unwrap(), 1 << 20).unwrap(), aligned);
    }

    #[test]
    fn memory_that_is_too_short_is_refused() {
        let header = SAMPLE.encode().unwrap();
        for found in [0, LEAST_BYTES, SAMPLE_BYTES - 1] {
            let refused = Layout::decode(&header, found);
            assert!(
                matches!(refused, Err(AttachError::Length { needed, .. }) if needed == SAMPLE_BYTES as u64)
            );
        }
    }

    #[test]
    fn layout_that_cant_be_has_no_header() {
        for layout in [
            changed(|layout| layout.capacity = 0),
            changed(|layout| layout.capacity = usize::MAX / 8),
            changed(|layout| layout.cells = usize::MAX / 100),
            changed(|layout| layout.slot_bytes = 0),
            changed(|layout| layout.slot_bytes = 16),
            changed(|layout| layout.slot_bytes = 36),
            changed(|layout| layout.payload.alignment = 0),
            changed(|layout| layout.payload.alignment = 3),
            changed(|layout| layout.payload.alignment = 8192),
            changed(|layout| layout.payload.bytes = 20),
        ] {
            assert_eq!(layout.encode(), None, "{layout:?}");
        }
    }

    /// A field, a value that it can't have, and what is said of it.
    #[test]
    fn fields_are_checked() {
        type Check = fn(&AttachError) -> bool;
        let cases: [(usize, u64, Check); 14] = [
            (offset::MAGIC, 0, |error| matches!(error, AttachError::NoRing { .. })),
            (offset::ENDIAN_MARK, 0x0403_0201, |error| matches!(error, AttachError::Endianness)),
            (offset::ENDIAN_MARK, 7, |error| matches!(error, AttachError::Damaged { .. })),
            (offset::VERSION, 2, |error| matches!(error, AttachError::Version { found: 2, wanted: VERSION })),
            (offset::KIND, 77, |error| matches!(error, AttachError::Damaged { value: 77, .. })),
            (offset::REQUIRED, 1, |error| matches!(error, AttachError::Unknown { bits: 1 })),
            (offset::TOTAL_BYTES, 4097, |error| matches!(error, AttachError::Damaged { value: 4097, .. })),
            (offset::CELLS, u64::MAX, |error| matches!(error, AttachError::Damaged { .. })),
            (offset::SLOTS_OFFSET, 0, |error| matches!(error, AttachError::Damaged { value: 0, .. })),
            (offset::SLOT_BYTES, 1 << 63, |error| matches!(error, AttachError::Damaged { .. })),
            (offset::CAPACITY, u64::MAX, |error| matches!(error, AttachError::Damaged { .. })),
            (offset::PAYLOAD_ALIGNMENT, 3, |error| matches!(error, AttachError::Damaged { value: 3, .. })),
            (offset::SCHEMA_BYTES, 65_537, |error| {
                matches!(error, AttachError::Damaged { value: 65_537, .. })
            }),
            (offset::FINGERPRINT, 0, |error| matches!(error, AttachError::Damaged { value: 0, .. })),
        ];
        for (offset, value, is_it) in cases {
            let mut header = SAMPLE.encode().unwrap();
            let is_short = (offset::ENDIAN_MARK..offset::TOTAL_BYTES).contains(&offset)
                || offset == offset::SCHEMA_BYTES;
            let len = if is_short { 4 } else { 8 };
            let bytes =
                if is_short { (value as u32).to_ne_bytes().to_vec() } else { value.to_ne_bytes().to_vec() };
            header[offset..][..len].copy_from_slice(&bytes);
            let error = Layout::decode(&header, SAMPLE_BYTES).unwrap_err();
            assert!(is_it(&error), "at {offset}: {error:?}");
        }
    }

    #[test]
    fn promise_may_be_anything() {
        let mut header = SAMPLE.encode().unwrap();
        header[offset::DEADLINE..].fill(0xFF);
        assert_eq!(Layout::decode(&header, SAMPLE_BYTES).unwrap(), SAMPLE);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 20 } else { 5000 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Whatever somebody scribbles: an error, or a layout within the memory.
        #[test]
        fn no_header_is_believed(
            scribbles in prop::collection::vec((0..HEADER_BYTES, any::<u8>()), 0..6),
            long in (8..HEADER_BYTES / 8, any::<u64>(), any::<bool>()),
            memory in prop_oneof![Just(SAMPLE_BYTES), 0..10_000_usize],
        ) {
            let mut header = SAMPLE.encode().unwrap();
            for (at, byte) in scribbles {
                header[at] = byte;
            }
            if long.2 {
                header[8 * (long.0 - 5)..][..8].copy_from_slice(&long.1.to_ne_bytes());
            }
            if let Ok(layout) = Layout::decode(&header, memory) {
                let total = layout.total_bytes().unwrap();
                prop_assert!(total <= memory);
                prop_assert_eq!(layout.slots_offset().unwrap() + layout.slot_bytes * layout.capacity, total);
                prop_assert!(layout.slot_bytes >= layout.payload.bytes && layout.payload.alignment <= 4096);
                prop_assert_eq!(Layout::decode(&layout.encode().unwrap(), memory).unwrap(), layout);
            }
        }
    }

    #[cfg(not(miri))]
    #[test]
    fn header_in_memory_is_read_by_others() {
        use crate::os::shared_memory::Access;
        use std::os::fd::AsFd;

        const SCHEMA: &str = "a text that is no schema, and as long as the sample says that it is ..";
        assert_eq!(SCHEMA.len(), PAYLOAD.schema_bytes);
        let memory = SharedMemory::create("annulus test", SAMPLE_BYTES, Access::CreatorAlone).unwrap();
        SAMPLE.write(&memory, SCHEMA).unwrap();
        let fd = memory.as_fd().try_clone_to_owned().unwrap();
        let (reader, layout) = Layout::attach(fd, true).unwrap();
        assert_eq!(layout, SAMPLE);
        assert_eq!(layout.schema_text(&reader).unwrap(), SCHEMA.as_bytes());
        assert_eq!(SAMPLE.write(&reader, SCHEMA), None, "it can't be written to");
        let short = SharedMemory::create("annulus test", SAMPLE_BYTES - 1, Access::Everyone).unwrap();
        assert_eq!(SAMPLE.write(&short, SCHEMA), None);
        assert!(matches!(Layout::read(&short), Err(AttachError::NoRing { .. })));
        let tiny = SharedMemory::create("annulus test", 8, Access::Everyone).unwrap();
        assert!(matches!(Layout::read(&tiny), Err(AttachError::Length { found: 8, .. })));
    }
}
