//! Frames between processes: camera images, point clouds, tensors. They are written once, where all
//! subscribers read them, and nothing copies them.
//!
//! A ring of frames is a [lossy ring](super::broadcast::lossy) whose messages lie apart, in frames of up to a
//! size that the ring was made with. The publisher takes a frame ([`loan`](Publisher::loan)), writes it, and
//! publishes it. A subscriber receives a [`Frame`], which gives the bytes in place. It may keep it as long as
//! it likes, and pass it to other threads, up to a number of frames that the ring was made with.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Invitation, Shared, frames};
//! use std::os::unix::net::UnixStream;
//!
//! // Up to 1 MiB a frame. The newest 4 stay for subscribers that come late, or are slow.
//! let builder = frames::Builder::new(Settings::new(4), 1 << 20).subscribers(8).held(2);
//! let Shared { handle: mut publisher, invitation, .. } = builder.build()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?; // or by a name: `invitation.publish(…)`
//!
//! // Usually in other processes.
//! let ring = Invitation::receive(&there)?.accept_frames()?;
//! let mut subscriber = ring.subscribe()?;
//!
//! let mut frame = publisher.loan(640 * 480)?;
//! frame.fill(7);
//! frame.publish();
//!
//! let frame = subscriber.recv()?;
//! assert_eq!((frame.sequence(), frame.len()), (0, 640 * 480));
//! assert_eq!(frame.shared().get(1000), Some(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # No side waits
//!
//! The publisher never waits for a subscriber. Behind each message it gives up the oldest one, and the frame
//! of that is free once no subscriber holds it. There are always enough frames: as many as the ring has
//! slots, as many as all subscribers can hold, and one to write to. A subscriber that falls behind loses the
//! oldest messages, and [`total_lagged`](Subscriber::total_lagged) counts them exactly.
//!
//! # When a process ends
//!
//! - *The publisher's:* subscribers receive all that was published, and then `Closed`. The frames that they
//!   hold stay.
//! - *A subscriber's:* the frames that it held are free again, for the kernel tells that it has ended. There
//!   are no counts that its death could leave wrong.
//!
//! # Trust
//!
//! Subscribers map the frames read-only. Each writes only to a table of its own, which says what it holds.
//! Whatever it writes there, it keeps the publisher from as many frames as it may hold, and no more. (A
//! process of the same user can open the table of another one, and make it read a frame that is written
//! meanwhile.)
//!
//! The publisher can write to a frame that a subscriber reads. So safe code has no slice of it, but a
//! [`SharedSlice`], of which each read is a copy: copy, check the copy, and use the copy. If you trust the
//! publisher not to do so (this library's never does), there is a slice after all, in `unsafe` code:
//! [`SharedSlice::as_slice`].
// Decision 0161: readers say what they hold; nobody counts.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::error::Error;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::broadcast::{Accepted, NoSeat, PageLocks, RingMemory, accept, create_with_frames};
use super::error::{AttachError, ShareError};
use super::format::{Layout, page, unfit};
use super::frame_format::{
    FrameNumbers, LEAST_ALIGNMENT, MOST_HELD, MOST_SUBSCRIBERS, Place, bytes_of, stamps,
};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::process::PeerState;
use super::shared::Shared;
use crate::base::sequence::Sequence;
use crate::broadcast::{self, Foreign};
use crate::error::{CapacityError, RecvTimeoutError, TryRecvError};
use crate::memory::PlacedMemory;
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::receive::{Receive, Waitable};
use crate::ring::frames::{FrameKeeper, HeldFrame, HeldFrames, HeldTables};
use crate::settings::Settings;
use crate::sync::{AtomicU64, prefetch_to_read, seeded};
use crate::wait::{EventCount, Look, Mark, Source, WaitStrategy};
use crate::{Closer, RecvError};

pub use crate::queue::SharedSlice;

/// What the ring itself carries: the number of a frame, and how many of its bytes are the message.
type Told = [u64; 2];

fn told() -> MessageType {
    MessageType::of_bytes(size_of::<Told>(), align_of::<Told>())
}

/// Builds a ring of frames.
#[derive(Clone, Debug)]
#[must_use = "a builder makes nothing until `build`"]
pub struct Builder {
    settings: Settings,
    bytes: usize,
    subscribers: usize,
    held: usize,
    alignment: usize,
}

impl Builder {
    /// A ring for frames of up to `frame_bytes` bytes, in which the newest
    /// [`capacity`](Settings::new) messages stay. Unless you say otherwise, it is for up to 8 subscribers at
    /// one time, of which each may hold 2 frames.
    ///
    /// All of its memory is there from the beginning: as many frames as the capacity, as all
    /// subscribers may hold, and one more, each of `frame_bytes`.
    pub fn new(settings: Settings, frame_bytes: usize) -> Self {
        Self { settings, bytes: frame_bytes, subscribers: 8, held: 2, alignment: LEAST_ALIGNMENT }
    }

    /// For how many subscribers at one time there is room, in all processes: 1 to 1024.
    pub fn subscribers(mut self, subscribers: usize) -> Self {
        self.subscribers = subscribers;
        self
    }

    /// How many frames each of them may hold at one time: 1 to 512.
    pub fn held(mut self, held: usize) -> Self {
        self.held = held;
        self
    }

    /// At multiples of how many bytes frames begin: a power of two, 64 (the default) to 4096.
    pub fn alignment(mut self, alignment: usize) -> Self {
        self.alignment = alignment;
        self
    }

    /// Makes the ring, and its publisher. The [`Invitation`] is for the subscribers' processes: see
    /// [`accept_frames`](Invitation::accept_frames).
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such ring can be, or the system refuses it.
    pub fn build(self) -> Result<Shared<Publisher>, ShareError> {
        let (numbers, kept) = (self.numbers()?, self.settings.capacity);
        let (shared, memory) = create_with_frames::<Told>(self.settings, &told(), &numbers)?;
        let RingMemory { ring, page, end } = memory;
        let place = numbers.place(end).ok_or_else(|| numbers.too_large())?;
        numbers.write(&ring);
        let shape = (MOST_HELD, numbers.tables, numbers.held);
        // SAFETY: the page has so many tables behind its first bytes.
        let entries = unsafe { page.base().add(page::TABLE_BYTES) }.cast();
        // SAFETY: they are there, and the locks keep the page.
        let tables = unsafe { HeldTables::new(entries, shape, PageLocks::new(page, numbers.tables)) };
        let stamps = stamps(&ring, &place, numbers.count);
        // SAFETY: they are in the ring's memory, which is new and all zero, and which the handle keeps beside
        // the keeper.
        let keeper = unsafe { FrameKeeper::new(stamps, tables, kept) };
        Ok(shared.alone(|publisher| Publisher { ring: publisher, keeper, memory: ring, numbers, place }))
    }

    fn numbers(&self) -> Result<FrameNumbers, ShareError> {
        let &Self { bytes, subscribers, held, alignment, .. } = self;
        let number = |what, found, least, most| ShareError::Frames { what, found, least, most };
        if !(1..=MOST_SUBSCRIBERS).contains(&subscribers) {
            return Err(number("subscribers", subscribers, 1, MOST_SUBSCRIBERS));
        }
        if !(1..=MOST_HELD).contains(&held) {
            return Err(number("frames that a subscriber may hold", held, 1, MOST_HELD));
        }
        if !alignment.is_power_of_two() || !(LEAST_ALIGNMENT..=4096).contains(&alignment) {
            return Err(number("bytes of alignment (a power of two)", alignment, LEAST_ALIGNMENT, 4096));
        }
        if bytes == 0 {
            return Err(number("bytes of a frame", bytes, 1, isize::MAX as usize));
        }
        let too_large = CapacityError::TooLarge { capacity: self.settings.capacity, slot_bytes: bytes };
        let count = self.settings.capacity.checked_add(subscribers * held + 1);
        let (count, stride) = count.zip(bytes.checked_next_multiple_of(alignment)).ok_or(too_large)?;
        Ok(FrameNumbers { count, bytes, stride, alignment, tables: subscribers, held })
    }
}

/// Writes frames, and publishes them. Made by [`Builder::build`].
pub struct Publisher {
    // In this order: the ring is closed before its memory goes.
    ring: broadcast::Publisher<Told>,
    keeper: FrameKeeper,
    memory: Arc<PlacedMemory>,
    numbers: FrameNumbers,
    place: Place,
}

impl Publisher {
    /// A frame of `len` bytes to write to, which nobody reads. Never waits. Its bytes are what was written
    /// there before, or 0.
    ///
    /// It is the frame that became free last, which may be in the cache. Frames that are needed only when
    /// subscribers hold all that they may are not touched before.
    ///
    /// # Errors
    ///
    /// [`LoanError`]: `len` is more than [`frame_bytes`](Self::frame_bytes).
    pub fn loan(&mut self, len: usize) -> Result<Loan<'_>, LoanError> {
        let most = self.numbers.bytes;
        if len > most {
            return Err(LoanError { bytes: len, most });
        }
        let frame = self.keeper.take();
        let bytes = bytes_of(&self.memory, &self.numbers, &self.place, frame, len);
        Ok(Loan { bytes, frame, publisher: self })
    }

    /// Publishes a copy of `bytes`, and returns its sequence.
    ///
    /// # Errors
    ///
    /// As of [`loan`](Self::loan).
    pub fn publish(&mut self, bytes: &[u8]) -> Result<u64, LoanError> {
        let mut frame = self.loan(bytes.len())?;
        frame.copy_from_slice(bytes);
        Ok(frame.publish())
    }

    /// How many bytes a frame may have.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.numbers.bytes
    }

    /// How many frames there are.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.numbers.count
    }

    /// How many frames it has published, in all.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.ring.published()
    }

    /// How many messages stay for subscribers that come late.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// How many frames are held by subscribers, of those whose messages are older than what the ring keeps. A
    /// frame that a dead subscriber held is not. A system call for each subscriber that holds one.
    #[must_use]
    pub fn held(&mut self) -> usize {
        self.keeper.held()
    }

    /// Ends the ring: subscribers receive what was published, and then `Closed`.
    pub fn close(&self) {
        self.ring.close();
    }

    /// What closes the ring from anywhere in this process.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.ring.closer()
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("frames", &self.frames())
            .field("frame_bytes", &self.frame_bytes())
            .finish_non_exhaustive()
    }
}

/// A frame to write to: a slice of bytes, until it is published. Dropped without that, it is free again.
#[must_use = "a frame is sent by `publish`"]
pub struct Loan<'p> {
    publisher: &'p mut Publisher,
    frame: usize,
    bytes: NonNull<[u8]>,
}

// SAFETY: it is an exclusive borrow of the publisher, and of bytes that the publisher owns.
unsafe impl Send for Loan<'_> {}
// SAFETY: as above.
unsafe impl Sync for Loan<'_> {}

impl Loan<'_> {
    /// Keeps only the first `len` bytes, if there are more.
    pub fn truncate(&mut self, len: usize) {
        let len = len.min(self.bytes.len());
        self.bytes = NonNull::slice_from_raw_parts(self.bytes.cast(), len);
    }

    /// Publishes it, and returns its sequence. Never waits.
    ///
    /// Then it gives up the message that the ring no longer keeps, and looks once at what all subscribers
    /// hold: O(subscribers × held).
    #[allow(clippy::must_use_candidate, reason = "most publishers have no use for it")]
    pub fn publish(self) -> u64 {
        let (frame, len) = (self.frame, self.bytes.len());
        // (Its drop would free the frame.)
        let mut loan = ManuallyDrop::new(self);
        let publisher = &mut *loan.publisher;
        let sequence = publisher.ring.next_sequence();
        publisher.keeper.send(frame, Sequence::new(sequence));
        publisher.ring.publish([frame as u64, len as u64]);
        // After the message is on its way, which does not wait for this.
        publisher.keeper.give_up();
        sequence
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the frame is in the memory, which the publisher keeps. Only the creator's process can write
        // there, and of it this loan alone does: no other frame of the publisher is taken while it lives.
        unsafe { self.bytes.as_ref() }
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { self.bytes.as_mut() }
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.publisher.keeper.put_back(self.frame);
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// A frame was to be longer than the frames of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoanError {
    /// How long it was to be.
    pub bytes: usize,
    /// How long a frame may be.
    pub most: usize,
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, most } = self;
        write!(
            f,
            "{bytes} bytes are more than a frame of this ring has, which is {most}: make it with larger ones"
        )
    }
}

impl Error for LoanError {}

impl Invitation {
    /// Maps a [ring of frames](Builder), for subscribers.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or it is damaged; or the system refuses it.
    pub fn accept_frames(&self) -> Result<AcceptedFrames, AttachError> {
        let ring = accept::<Told>(self, &[ShmKind::Frames], &told(), self.strategy, || false)?;
        let layout = Layout::read(ring.memory())?;
        let (numbers, place) = FrameNumbers::read(ring.memory(), &layout)?;
        let page = self.sleepers.try_clone().map_err(AttachError::System)?;
        Ok(AcceptedFrames { ring, page, numbers, place })
    }
}

/// A ring of frames of another process.
pub struct AcceptedFrames {
    ring: Accepted<Told>,
    page: OwnedFd,
    numbers: FrameNumbers,
    place: Place,
}

impl AcceptedFrames {
    /// A subscriber, from the next frame on.
    ///
    /// # Errors
    ///
    /// [`SubscribeError`]: the ring has no room for one more, or the system refuses it.
    pub fn subscribe(&self) -> Result<Subscriber, SubscribeError> {
        self.join(false)
    }

    /// As [`subscribe`](Self::subscribe), from the oldest frame on that is there.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber, SubscribeError> {
        self.join(true)
    }

    fn join(&self, from_oldest: bool) -> Result<Subscriber, SubscribeError> {
        let page = lock::reopened_writable(&self.page).map_err(SubscribeError::System)?;
        let mut tables = 0..self.numbers.tables;
        let table = loop {
            let table = tables.next().ok_or(SubscribeError::Full(NoSeat))?;
            if lock::take_byte(&page, table).map_err(SubscribeError::System)? {
                break table;
            }
        };
        let offset = (table + 1) * page::TABLE_BYTES;
        // Its descriptor is the opening that has the lock.
        let table = SharedMemory::attach_part(page, false, offset, page::TABLE_BYTES);
        let table = table.map_err(|refused| SubscribeError::Attach(unfit(refused)))?;
        if table.len() < page::TABLE_BYTES {
            let (found, needed) = ((offset + table.len()) as u64, (offset + page::TABLE_BYTES) as u64);
            return Err(SubscribeError::Attach(AttachError::Length { found, needed }));
        }
        let memory = Arc::clone(self.ring.memory());
        let stamps = stamps(&memory, &self.place, self.numbers.count);
        let entries = NonNull::slice_from_raw_parts(table.base().cast(), self.numbers.held);
        // SAFETY: what is handed over keeps both, and the lock.
        let held = unsafe { HeldFrames::new(stamps, entries, (Arc::clone(&memory), table)) };
        let subscribable = self.ring.subscribable();
        let ring = if from_oldest { subscribable.subscribe_from_oldest() } else { subscribable.subscribe() };
        let (numbers, place) = (self.numbers, self.place);
        Ok(Subscriber { ring, held: Arc::new(held), memory, numbers, place, missed: 0 })
    }

    /// How many bytes a frame may have.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.numbers.bytes
    }

    /// How many frames a subscriber may hold at one time.
    #[must_use]
    pub fn most_held(&self) -> usize {
        self.numbers.held
    }

    /// Whether the publisher is there. Two system calls. See [`Accepted::state`].
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.ring.state()
    }
}

impl fmt::Debug for AcceptedFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedFrames").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

/// Why there is no subscriber.
#[derive(Debug)]
#[non_exhaustive]
pub enum SubscribeError {
    /// So many subscribers are there already.
    Full(NoSeat),
    /// The ring's memory is not as it was made.
    Attach(AttachError),
    /// The system refuses it.
    System(std::io::Error),
}

impl fmt::Display for SubscribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Attach(error) => error.fmt(f),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl Error for SubscribeError {}

/// Receives frames where they lie. Made by [`AcceptedFrames::subscribe`].
///
/// It sees each frame from where it began, in order, each once, or counts it as lost. Beside these verbs it
/// has those of [`Receive`], and works wherever a receiving handle does: in tasks, selects, workers and
/// notifiers.
pub struct Subscriber {
    ring: broadcast::Subscriber<Told, Foreign>,
    held: Arc<HeldFrames>,
    memory: Arc<PlacedMemory>,
    numbers: FrameNumbers,
    place: Place,
    /// Of which it was told too late.
    missed: u64,
}

impl Subscriber {
    /// Receives the next frame if it is there. Never waits. After a loss it goes on with the oldest frame
    /// that is there.
    ///
    /// # Errors
    ///
    /// [`FrameError`]: nothing is there, the ring has ended, or this subscriber holds as many frames as it
    /// may. Nothing is lost by any of them.
    pub fn try_recv(&mut self) -> Result<Frame, FrameError> {
        match Receive::try_recv(self) {
            Ok(received) => received.map_err(FrameError::TooManyHeld),
            Err(TryRecvError::Empty) => Err(FrameError::Empty),
            Err(TryRecvError::Closed) => Err(FrameError::Closed),
        }
    }

    /// Receives the next frame. Waits for it.
    ///
    /// # Errors
    ///
    /// [`FrameError::Closed`], [`FrameError::TooManyHeld`].
    pub fn recv(&mut self) -> Result<Frame, FrameError> {
        let received = Receive::recv(self).map_err(|_| FrameError::Closed)?;
        received.map_err(FrameError::TooManyHeld)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`FrameError::Empty`]: none came in time.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Frame, FrameError> {
        match self.recv_until(timeout) {
            Ok(received) => received.map_err(FrameError::TooManyHeld),
            Err(RecvTimeoutError::Timeout) => Err(FrameError::Empty),
            Err(_) => Err(FrameError::Closed),
        }
    }

    /// Receives the newest frame, and passes those before it, which
    /// [`total_lagged`](Self::total_lagged) counts. Never waits. `None`: there is no new one.
    ///
    /// # Errors
    ///
    /// [`TooManyHeld`]: this subscriber holds as many frames as it may.
    pub fn latest(&mut self) -> Result<Option<Frame>, TooManyHeld> {
        while let Some(told) = {
            self.room()?;
            self.ring.latest()
        } {
            if let Some(frame) = self.hold(told) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// How many frames it has lost: it was too slow for them, or has [passed](Self::latest) them.
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.ring.total_lagged() + self.missed
    }

    /// The sequence of the next frame.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.ring.cursor()
    }

    /// How many frames wait.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether the ring is closed. Frames may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// How it waits.
    #[must_use]
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.ring.wait_strategy()
    }

    /// Whether it may hold one more.
    fn room(&self) -> Result<(), TooManyHeld> {
        let most = self.numbers.held;
        if self.held.has_room() { Ok(()) } else { Err(TooManyHeld { most }) }
    }

    /// Holds the frame that the ring has told of last. `None`: too late, which is counted.
    fn hold(&mut self, [frame, len]: Told) -> Option<Frame> {
        let sequence = self.ring.cursor().wrapping_sub(1);
        let (numbers, frame, len) = (&self.numbers, usize::try_from(frame).ok(), usize::try_from(len).ok());
        let frame = frame.filter(|&frame| frame < numbers.count);
        let bytes = frame.zip(len.filter(|&len| len <= numbers.bytes)).map(|(frame, len)| {
            let bytes = bytes_of(&self.memory, numbers, &self.place, frame, len);
            // It comes while the frame is held.
            prefetch_to_read(bytes.cast::<u8>().as_ptr());
            (frame as u64, bytes)
        });
        // (There is room: `room` has said so.)
        let hold = |(frame, bytes)| Some((self.held.hold(frame, Sequence::new(sequence))?, bytes));
        let Some((held, bytes)) = bytes.and_then(hold) else {
            self.missed += u64::from(!seeded!("frames_missed_uncounted"));
            return None;
        };
        Some(Frame { bytes, sequence, _held: held })
    }
}

// SAFETY: the events are those of the ring's subscriber, which is in this.
unsafe impl Source for Subscriber {
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.ring)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.ring)
    }

    fn is_ready(&mut self) -> bool {
        Source::is_ready(&mut self.ring)
    }

    fn strategy(&self) -> WaitStrategy {
        Source::strategy(&self.ring)
    }

    fn has_more(&mut self) -> bool {
        Source::has_more(&mut self.ring)
    }

    fn mark(&mut self) -> Mark {
        Source::mark(&mut self.ring)
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        Source::has_passed(&self.ring, mark)
    }

    fn lost(&self) -> u64 {
        self.total_lagged()
    }

    fn left(&self) -> Option<u64> {
        Source::left(&self.ring)
    }
}

impl Waitable for Subscriber {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// A receive gives a frame, or says that the subscriber holds as many as it may; then nothing is received.
impl Receive for Subscriber {
    type Item = Result<Frame, TooManyHeld>;

    fn poll_recv(&mut self) -> Look<Result<Self::Item, RecvError>> {
        if let Err(full) = self.room() {
            return Look::Found(Ok(Err(full)));
        }
        match self.ring.poll_recv() {
            Look::Found(Ok(told)) => self.hold(told).map_or(Look::Again, |frame| Look::Found(Ok(Ok(frame)))),
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}

/// A frame that is held: it stays as it is until this is dropped, also when the subscriber is gone, and the
/// publisher.
///
/// It may move to another thread, and several threads may read it.
pub struct Frame {
    bytes: NonNull<[u8]>,
    sequence: u64,
    /// It keeps the memory, too.
    _held: HeldFrame,
}

// SAFETY: it gives volatile reads of memory that it keeps.
unsafe impl Send for Frame {}
// SAFETY: as above.
unsafe impl Sync for Frame {}

impl Frame {
    /// The bytes in place.
    pub fn shared(&self) -> SharedSlice<'_, u8> {
        // SAFETY: the memory is kept. No handle of this process writes to a frame that is held.
        unsafe { SharedSlice::new(self.bytes) }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of all of it. Allocates.
    #[must_use]
    pub fn to_vec(&self) -> std::vec::Vec<u8> {
        self.shared().to_vec()
    }

    /// Its number: they follow each other, so a gap is what was lost.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sequence, len) = (self.sequence, self.len());
        f.debug_struct("Frame").field("sequence", &sequence).field("len", &len).finish_non_exhaustive()
    }
}

/// A subscriber holds as many frames as it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyHeld {
    /// How many these are.
    pub most: usize,
}

impl fmt::Display for TooManyHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        write!(
            f,
            "this subscriber holds {most} frames, as many as it may: drop one, or make the ring with more (`held`)"
        )
    }
}

impl Error for TooManyHeld {}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// There is no new one, or none came in time.
    Empty,
    /// The ring is closed, and nothing is left. [`AcceptedFrames::state`] says whether its process has died.
    Closed,
    /// The subscriber holds as many frames as it may.
    TooManyHeld(TooManyHeld),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no new frame"),
            Self::Closed => f.write_str("the ring is closed, and all frames are received"),
            Self::TooManyHeld(held) => held.fmt(f),
        }
    }
}

impl Error for FrameError {}
