//! [`RingObserver`]: looks at a ring of other processes, and changes nothing.
//!
//! It maps the ring and the sleepers' page read-only, and finds the numbers by the offsets of the format. It
//! is no handle: it takes no seat, wakes no sleeper, and no process waits for it.
//!
//! [`RingNumbers`]: how far both sides of a ring between processes are, at one moment.

use core::fmt;
use core::ops::Range;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;
use std::vec::Vec;

use super::directory::{NamedRing, Part};
use super::error::{AttachError, FindError};
use super::format::{Layout, RingInfo, page, unfit};
use super::frame_format::FrameNumbers;
use super::kind::ShmKind;
use super::mpmc::CONSUMERS_SHIFT;
use super::places::byte_of;
use super::process::PeerState;
use super::{format, sleepers};
use crate::base::sequence::{Sequence, Stamp};
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::ring::{MOST_PLACES, behind_claims, payload_at, read_bytes};
use crate::sync::{AtomicU64, Ordering, fence, seeded};

/// What the closed word of a queue says after a close. (It says something else after a death.)
const CLOSED: u64 = 1;

/// The lock of this byte of the page is held by a queue's consumer.
const CONSUMER: usize = 0;

/// A publisher shows how far it is at least once in so many messages.
const LONGEST_WALK: usize = 64;

const WORD_BYTES: usize = size_of::<u64>();

/// Looks at a ring that other processes use, and leaves no trace there.
///
/// It maps the memory read-only, so it can't change it. It is no reader: no publisher waits for it, and it
/// takes no seat. It keeps nothing open; but as long as it lives, so does the memory, also when all processes
/// of the ring have ended.
///
/// For a ring of the own process there is [`Observer`](crate::Observer).
///
/// # Examples
///
/// ```
/// use annulus::shm::{Directory, PeerState, RingObserver, Shared, WhenGone, spsc};
/// # let path = std::env::temp_dir().join(format!("annulus-observer-{}", std::process::id()));
/// # let directory = Directory::open(&path)?;
///
/// let builder = annulus::Settings::new(64);
/// let Shared { handle: mut producer, invitation, .. } = spsc::producer::<u64>(builder, WhenGone::Close)?;
/// let name = invitation.publish(&directory, "orders")?;
/// producer.send_batch(&[1, 2, 3]).unwrap();
///
/// // Usually in another process.
/// let observer = RingObserver::of(&directory.find("orders")?)?;
/// let numbers = observer.numbers().unwrap();
/// assert_eq!((numbers.published, numbers.pending), (3, Some(3)));
/// assert!(numbers.readers.is_empty(), "no consumer has come yet");
/// assert_eq!((observer.info().capacity(), observer.state()), (64, PeerState::Alive));
///
/// drop(producer);
/// assert_eq!(observer.state(), PeerState::Closed);
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Decision 0105: it reads what is there.
pub struct RingObserver {
    /// It was checked: all that it speaks of is in the memory.
    layout: Layout,
    slots_offset: usize,
    ring: SharedMemory,
    sleepers: SharedMemory,
    /// Of a lossless ring: the rows of the page that its seats are. The page has all of them.
    seats: Range<usize>,
}

impl RingObserver {
    /// An observer of a ring that was found by its name.
    ///
    /// In a directory that others may use it may have to ask the ring's process for its descriptors, and
    /// waits for the answer, for two seconds at most (or as [`of_timeout`](Self::of_timeout) says). A process
    /// that is stopped (`SIGSTOP`) does not answer. Otherwise it does not wait.
    ///
    /// # Errors
    ///
    /// [`FindError`]: the process is gone, or this one may not have its descriptors; or it is no ring.
    pub fn of(ring: &NamedRing) -> Result<Self, FindError> {
        Self::of_until(ring, None)
    }

    /// As [`of`](Self::of), but where it has to ask the ring's process, it waits for the answer for `timeout`
    /// at most. Then the process stays asked: the next call, by the same [`NamedRing`], waits for the same
    /// answer. So a program can ask for many rings first, with a timeout of 0, and wait for all answers at
    /// once.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, FindError, NameError, RingObserver, Shared, broadcast};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-of-timeout-{}", std::process::id()));
    ///
    /// let directory = Directory::with_mode(&path, 0o770)?;
    /// let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// let name = invitation.publish(&directory, "prices")?;
    ///
    /// // Usually a process of another user.
    /// let named = directory.find("prices")?;
    /// let observer = loop {
    ///     match RingObserver::of_timeout(&named, Duration::from_millis(1)) {
    ///         Err(FindError::Name(NameError::TimedOut { .. })) => println!("no answer yet"),
    ///         looked => break looked?,
    ///     }
    /// };
    /// assert_eq!(observer.info().capacity(), 64);
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`of`](Self::of), and [`TimedOut`](super::NameError::TimedOut). After two seconds without an
    /// answer it is [`NoAnswer`](super::NameError::NoAnswer), and the next call asks again.
    pub fn of_timeout(ring: &NamedRing, timeout: Duration) -> Result<Self, FindError> {
        Self::of_until(ring, Instant::now().checked_add(timeout))
    }

    /// As [`of_timeout`](Self::of_timeout), until then at most (`None`: as long as an answer may take).
    fn of_until(ring: &NamedRing, until: Option<Instant>) -> Result<Self, FindError> {
        // Separate openings, so that a look at a lock takes no lock of this process down.
        let (memory, layout) = Layout::attach(ring.open(Part::Ring, false, until)?, true)?;
        if !ring.has(Part::Page) {
            return Err(AttachError::NoPage.into());
        }
        let sleepers = ring.open(Part::Page, false, until)?;
        // Others take a process that can write to the page for a reader.
        ring.close_answer();
        let sleepers = SharedMemory::attach(sleepers, true).map_err(unfit)?;
        Ok(Self::new(layout, memory, sleepers)?)
    }

    fn new(layout: Layout, ring: SharedMemory, sleepers: SharedMemory) -> Result<Self, AttachError> {
        sleepers::check(&sleepers, layout.identity)?;
        // Each slot of a broadcast ring begins with a stamp.
        if is_broadcast(layout.kind) && layout.slot_bytes % WORD_BYTES != 0 {
            return Err(AttachError::Damaged { field: "the slots' size", value: layout.slot_bytes as u64 });
        }
        let seats = if layout.kind.is_lossless() {
            let told = word(&ring, format::broadcast::SEATS);
            let room = sleepers.len().saturating_sub(page::SEATS) / page::SEAT_BYTES;
            // (Of as many places as there can be.)
            let places = (layout.cells / format::LANE_CELLS).min(MOST_PLACES);
            let first = if layout.kind.has_fellows() { byte_of(places) } else { 0 };
            let end = usize::try_from(told).ok().and_then(|seats| first.checked_add(seats));
            let end = end.filter(|&end| end <= room);
            first..end.ok_or(AttachError::Damaged { field: "the seats", value: told })?
        } else {
            0..0
        };
        // (A layout that was checked has one.)
        let slots_offset = layout.slots_offset().unwrap_or(0);
        Ok(Self { layout, slots_offset, ring, sleepers, seats })
    }

    /// What the header of the ring said when this was made.
    #[must_use]
    pub fn info(&self) -> RingInfo {
        RingInfo::in_memory(self.layout, &self.ring)
    }

    /// The ring's memory, opened to be read only.
    #[must_use]
    pub fn ring(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }

    /// The memory where processes sleep and have their seats, opened to be read only. The process that has
    /// seat n holds the lock of byte n of this file.
    #[must_use]
    pub fn sleepers(&self) -> BorrowedFd<'_> {
        self.sleepers.as_fd()
    }

    /// Whether the process that publishes or sends is there. Of a ring of several publishers: whether any
    /// of them is. Of a queue of several producers, or a service: whether the consumer's process is. Of a
    /// queue of several consumers: whether any process of it is. `Closed` if the ring is closed, by any side.
    /// At most two system calls, or one for each place of a ring of several publishers or consumers. The
    /// kernel tells, by a lock which that process holds. A ring of a [`ShmKind`] that this does not know is
    /// `Alive`.
    #[must_use]
    pub fn state(&self) -> PeerState {
        // Where the lock can't be looked at, the process is taken to be alive.
        let is_alive = match self.layout.kind {
            ShmKind::Mpsc | ShmKind::Service => self.has_seat(CONSUMER),
            kind if kind.has_fellows() || kind == ShmKind::Mpmc => {
                (0..self.places()).any(|place| self.has_seat(byte_of(place)))
            }
            kind => !is_known(kind) || lock::is_taken(&self.ring).unwrap_or(true),
        };
        PeerState::told(is_alive, self.is_closed())
    }

    /// How far both sides are now; `None` for a [`ShmKind`] whose numbers this does not know. O(seats), a
    /// system call for each that is in use, and a look at 65 slots of a broadcast ring at most.
    ///
    /// It never waits. It reads cache lines that others write, so each call costs them some line transfers.
    #[must_use]
    pub fn numbers(&self) -> Option<RingNumbers> {
        let kind = self.layout.kind;
        (is_known(kind) && kind != ShmKind::Watch)
            .then(|| if is_broadcast(kind) { self.numbers_of_broadcast() } else { self.numbers_of_queue() })
    }

    /// Copies a message of a broadcast ring into `bytes`, as it lies there, and returns whether it could.
    /// `number` is how many were published before it. If it can't, `bytes` is empty: the message is not
    /// published yet, was overwritten, or is being overwritten; or the ring is no [lossy](ShmKind::Lossy) or
    /// [lossless](ShmKind::Lossless) one, and none of [several publishers](ShmKind::MpLossy). In a ring of
    /// several publishers, it can't return a message that its publisher has claimed and not written.
    ///
    /// It never waits, and does not hold the publisher up. O(size of a message).
    ///
    /// ```
    /// use annulus::shm::{Directory, RingObserver, Shared, broadcast};
    /// # let path = std::env::temp_dir().join(format!("annulus-observer-read-{}", std::process::id()));
    /// # let directory = Directory::open(&path)?;
    ///
    /// let builder = annulus::Settings::new(64);
    /// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u32>(builder)?;
    /// let name = invitation.publish(&directory, "prices")?;
    /// publisher.publish_batch(&[70, 80]);
    ///
    /// // Usually in another process.
    /// let observer = RingObserver::of(&directory.find("prices")?)?;
    /// let mut bytes = Vec::new();
    /// assert!(observer.read(1, &mut bytes));
    /// assert_eq!(bytes, 80_u32.to_ne_bytes());
    /// assert!(!observer.read(2, &mut bytes), "there are two");
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, number: u64, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let sequence = self.layout.start.checked_add(number).map(Sequence::new);
        let is_possible = |sequence: &Sequence| *sequence <= Sequence::LAST_BELIEVED;
        // (A ring of frames only tells where its messages lie.)
        let has_messages = is_broadcast(self.layout.kind) && !self.layout.kind.has_frames();
        let Some(sequence) = sequence.filter(is_possible).filter(|_| has_messages) else {
            return false;
        };
        let (payload, stamp) = (self.layout.payload.bytes, self.stamp_at(sequence));
        let (first, words) = (payload_at(payload), payload.div_ceil(WORD_BYTES));
        if (first + words) * WORD_BYTES > self.layout.slot_bytes {
            return false;
        }
        read_bytes(words_at(&self.ring, stamp, first + words), sequence, payload, bytes).is_ok()
    }

    /// How the frames are used now; `None` for a ring without frames, or one whose numbers can't be.
    /// O(entries of all subscribers), a system call for each of them.
    #[must_use]
    pub fn frames(&self) -> Option<FrameUse> {
        let is_known = self.layout.kind.has_frames();
        let (numbers, _) = is_known.then(|| FrameNumbers::read(&self.ring, &self.layout).ok())??;
        let FrameNumbers { count: frames, bytes: frame_bytes, held: most_held, tables: room, .. } = numbers;
        let held_in = |table: usize| {
            let first = sleepers::table_offset(self.seats.len(), table)?;
            let behind = first.checked_add(page::TABLE_BYTES).filter(|&end| end <= self.sleepers.len());
            let holds = |entry: &usize| word(&self.sleepers, first + entry * WORD_BYTES) != 0;
            // (Not the frames of a dead one.)
            let is_there = behind.is_some() && self.has_seat(self.seats.len() + table);
            is_there.then(|| (0..most_held).filter(holds).count())
        };
        Some(FrameUse { frames, frame_bytes, most_held, room, held: (0..room).filter_map(held_in).collect() })
    }

    /// How many producers, publishers or consumers there can be at one time, of a ring that has places for
    /// them.
    fn places(&self) -> usize {
        // (A queue of several consumers has places for both sides.)
        (self.layout.cells / format::LANE_CELLS).min(2 * MOST_PLACES)
    }

    fn is_closed(&self) -> bool {
        match self.layout.kind {
            kind if is_broadcast(kind) || kind == ShmKind::Watch => {
                word(&self.ring, format::broadcast::END) != 0
            }
            kind => is_known(kind) && word(&self.ring, format::queue::CLOSED) == CLOSED,
        }
    }

    fn numbers_of_queue(&self) -> RingNumbers {
        use format::queue::{HEAD, JOINED, TAIL};

        let (mut published, mut lag) = (0_u64, 0);
        let lanes = self.lanes();
        let capacity = self.layout.capacity / lanes.len().max(1);
        for lane in lanes {
            let tail = word(&self.ring, lane + TAIL);
            let sent = tail.wrapping_sub(self.layout.start);
            // Later than the tail: a head that has overtaken it is as one that can't be. Then nothing waits.
            let waiting = tail.wrapping_sub(word(&self.ring, lane + HEAD));
            let is_possible = waiting <= sent.min(capacity as u64);
            lag += if is_possible || seeded!("observer_believes_all") { waiting } else { 0 };
            published = published.saturating_add(sent);
        }
        let mut readers = Vec::new();
        if word(&self.ring, JOINED) != 0 {
            let state = PeerState::told(self.has_seat(CONSUMER), self.is_closed());
            readers.push(ReaderNumbers { seat: CONSUMER, state, position: published - lag, lag });
        }
        RingNumbers { published, pending: Some(lag), readers }
    }

    /// For each lane, the distance in bytes from the numbers of a queue of one lane to the numbers of this
    /// lane.
    fn lanes(&self) -> impl ExactSizeIterator<Item = usize> {
        // A lane of several has cells of its own.
        let (first, count) = match self.layout.kind {
            ShmKind::Mpsc | ShmKind::Service => {
                (format::CELLS_OFFSET - format::PRODUCER_OFFSET, self.layout.cells / format::LANE_CELLS)
            }
            ShmKind::Mpmc => {
                let consumers = word(&self.ring, format::queue::DETAIL) >> CONSUMERS_SHIFT;
                let consumers = usize::try_from(consumers).unwrap_or(usize::MAX);
                (format::CELLS_OFFSET - format::PRODUCER_OFFSET, self.places().saturating_sub(consumers))
            }
            _ => (0, 1),
        };
        (0..count).map(move |lane| first + lane * format::LANE_CELLS * format::CELL_BYTES)
    }

    fn numbers_of_broadcast(&self) -> RingNumbers {
        let start = Sequence::new(self.layout.start);
        let head = self.head();
        let published = head.since(start);
        let most = published.min(self.layout.capacity as u64);
        let in_use = self.seats.clone().filter(|&seat| self.cursor(seat).is_some());
        let readers: Vec<_> = in_use
            .filter_map(|seat| {
                let state = PeerState::told(self.has_seat(seat), false);
                // Read the cursor once more, after the lock: a subscriber that leaves frees the seat first,
                // and the lock after it.
                let cursor = self.cursor(seat)?;
                // One that has overtaken the head, which was read before, lags by nothing. One that can't be
                // lags by all that there is.
                let lag = head.since(cursor).min(most);
                Some(ReaderNumbers { seat, state, position: published - lag, lag })
            })
            .collect();
        RingNumbers { published, pending: readers.iter().map(|reader| reader.lag).max(), readers }
    }

    /// The position of a seat's subscriber; `None` if the seat is free.
    fn cursor(&self, seat: usize) -> Option<Sequence> {
        let cursor = word(&self.sleepers, page::SEATS + seat * page::SEAT_BYTES);
        (cursor != page::FREE).then(|| Sequence::new(cursor))
    }

    /// Whether the lock of a seat is taken. Where it can't be looked at, true.
    fn has_seat(&self, seat: usize) -> bool {
        lock::is_byte_taken(&self.sleepers, seat).unwrap_or(true)
    }

    /// The next message of a broadcast ring: the bound that the publisher shows, and from there a walk along
    /// the stamps, as in `ring/head.rs`. In a ring of several publishers: the next message that no publisher
    /// has claimed.
    fn head(&self) -> Sequence {
        if self.layout.kind.has_fellows() {
            return behind_claims(word(&self.ring, format::broadcast::BOUND));
        }
        let bound = || {
            let shown = word(&self.ring, format::broadcast::BOUND);
            Sequence::new(shown).min(Sequence::LAST_BELIEVED)
        };
        let mut head = bound();
        if seeded!("observer_walks_nowhere") {
            return head;
        }
        for _ in 0..LONGEST_WALK {
            if word(&self.ring, self.stamp_at(head)) != Stamp::done(head).bits() {
                break;
            }
            head = head.next();
        }
        // The publisher may have gone on over the slots of this walk.
        head.max(bound())
    }

    /// Where the stamp of a message is, in bytes from the first one on.
    fn stamp_at(&self, sequence: Sequence) -> usize {
        let slot = (sequence.get() % self.layout.capacity as u64) as usize;
        self.slots_offset + slot * self.layout.slot_bytes
    }
}

/// Its kind, and how it is.
impl fmt::Debug for RingObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingObserver")
            .field("kind", &self.layout.kind)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// Whether this knows where the numbers of such a ring are.
fn is_known(kind: ShmKind) -> bool {
    let is_queue = matches!(kind, ShmKind::Spsc | ShmKind::Mpsc | ShmKind::Bytes);
    is_queue || matches!(kind, ShmKind::Watch | ShmKind::Service | ShmKind::Mpmc) || is_broadcast(kind)
}

fn is_broadcast(kind: ShmKind) -> bool {
    let is_lossy = matches!(kind, ShmKind::Lossy | ShmKind::MpLossy | ShmKind::BroadcastBytes);
    is_lossy || kind.is_lossless() || kind.has_frames()
}

/// So many words of memory that this process can only read.
fn words_at(memory: &SharedMemory, offset: usize, count: usize) -> &[AtomicU64] {
    assert!(offset % WORD_BYTES == 0 && offset + count * WORD_BYTES <= memory.len());
    // SAFETY: within the memory (asserted), which lives as long as the reference, at a multiple of 8, because
    // memory begins at a page. Every process accesses it by atomic operations, and this one only loads.
    unsafe { core::slice::from_raw_parts(memory.base().add(offset).cast().as_ptr(), count) }
}

fn word(memory: &SharedMemory, offset: usize) -> u64 {
    // Relaxed: memory that can only be read has no other load. With the fence it is an acquire, and pairs
    // with whichever store shows the number: what is read after it is not older.
    let number = words_at(memory, offset, 1)[0].load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    number
}

/// How far the sides of a ring are, as a [`RingObserver`] saw it.
///
/// The numbers are read one after the other while other processes go on, and each is what it was at some
/// moment of the call. While nobody uses the ring, all of them are exact. A process that can write to the
/// ring may write wrong numbers there; `pending` and each `lag` are never more than the capacity.
///
/// The numbers of a queue of several producers are sums over all of them. A queue of records counts words of
/// 8 bytes, where others count messages. A record takes one for its length, and as many as its bytes fill.
/// Words that are left out at the end of the ring count, too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingNumbers {
    /// How many messages were published, or sent, since the ring was made. Of a ring of several publishers:
    /// with those that are being written, and those that were passed over.
    pub published: u64,
    /// How many messages wait. In a queue: those that are not received yet. In a lossless ring: how far the
    /// slowest subscriber that has a seat is behind. `None` if nothing tells: in a lossy ring, because its
    /// subscribers write nothing that others could read, and in a lossless one while nobody has a seat.
    pub pending: Option<u64>,
    /// The readers that can be seen: the consumer of a queue, if one has ever come; the subscribers of a
    /// lossless ring that have a seat. Subscribers of a lossy ring can't be seen.
    pub readers: Vec<ReaderNumbers>,
}

/// How the frames of a [ring of frames](super::frames) are used, as a [`RingObserver`] saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameUse {
    /// How many frames there are.
    pub frames: usize,
    /// How many bytes a frame may have.
    pub frame_bytes: usize,
    /// How many of them a subscriber may hold.
    pub most_held: usize,
    /// For how many subscribers there is room.
    pub room: usize,
    /// How many frames each subscriber holds that is there.
    pub held: Vec<usize>,
}

/// A reader of a ring, as others see it.
///
/// ```
/// use annulus::shm::{Directory, PeerState, RingObserver, Shared, broadcast};
/// # let path = std::env::temp_dir().join(format!("annulus-reader-numbers-{}", std::process::id()));
/// # let directory = Directory::open(&path)?;
///
/// let builder = annulus::Settings::new(64);
/// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossless::<u64>(builder, 4)?;
/// let name = invitation.publish(&directory, "orders")?;
/// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
/// publisher.publish_batch(&[1, 2, 3])?;
/// subscriber.recv()?;
///
/// let observer = RingObserver::of(&directory.find("orders")?)?;
/// let reader = observer.numbers().unwrap().readers[0];
/// assert_eq!((reader.seat, reader.position, reader.lag), (0, 1, 2));
/// assert_eq!(reader.state, PeerState::Alive);
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderNumbers {
    /// Which seat it has. The consumer of a queue has seat 0.
    pub seat: usize,
    /// Whether its process is there. `Dead`: the next consumer takes over where it stood, or the publisher
    /// takes its seat when it has no room. `Closed`: one of the sides has closed the queue.
    pub state: PeerState,
    /// How many messages of the ring came before the one that it needs next.
    pub position: u64,
    /// How many messages it is behind: `published − position`.
    pub lag: u64,
}
