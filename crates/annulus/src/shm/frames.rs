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
//! # Lossy and lossless
//!
//! The publisher of a lossy ring never waits for a subscriber. Behind each message it gives up the oldest
//! one, and the frame of that is free once no subscriber holds it. A subscriber that falls behind loses the
//! oldest messages, and [`total_lagged`](Subscriber::total_lagged) counts them exactly.
//!
//! The publisher of a [lossless](Builder::build_lossless) one waits for the slowest subscriber that is not
//! lossy: it publishes at most as many frames more as the ring has slots. A subscriber that holds as many
//! frames as it may, and lets none go, receives no more, so the publisher waits for it, too.
//!
//! There are always enough frames: as many as messages stay, as many as all subscribers can hold, and one to
//! write to. So [`loan`](Publisher::loan) waits for nobody.
//!
//! Several publishers have a ring each; [`select!`](crate::select!) receives from all.
//!
//! All frames are of one size. A shorter message costs no more than its own bytes: the system gives memory to
//! pages when they are written for the first time, and the frame that became free last is taken first.
//!
//! # Companions
//!
//! A frame may stand for memory that this library does not map: a GPU buffer, a dma-buf, a file. Make one for
//! each frame of the ring, and [send](Publisher::send_companions) their descriptors once, through the socket
//! of the invitation. [`Loan::index`] and [`Frame::index`] say which one goes with a frame. The frame has
//! what else there is to say, as few bytes as you like. Nobody writes to a companion while a subscriber holds
//! its frame.
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
// Decision 0161: readers say what they hold; nobody counts. Decision 0173: one size, one publisher, and
// copies of messages that are checked.

mod publisher;
mod subscriber;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::boxed::Box;
use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::vec::Vec;

use super::broadcast::{Accepted, Behind, NoSeat, RingMemory, accept, create_lossless_with, create_with};
use super::error::{AttachError, ShareError};
use super::fd::{end_of_reads, recv_fd_until};
use super::format::{Layout, damaged, page, shown, unfit};
use super::frame_format::{
    FrameNumbers, FramesLayout, LEAST_ALIGNMENT, MOST_ALIGNMENT, MOST_HELD, MOST_SUBSCRIBERS, Told,
    is_alignment, stamps, told,
};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::numbering::Numbering;
use super::process::PeerState;
use super::queue::PlaceLock;
use super::seats::PageLocks;
use super::shared::Shared;
use super::sleepers::table_offset;
use crate::broadcast::{self, Awaited, Foreign, Lossless, Mode};
use crate::error::CapacityError;
use crate::message::Message;
use crate::message::schema::Schema;
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::ring::frames::{FrameKeeper, HeldFrames, HeldTables};
use crate::settings::Settings;

pub use crate::error::WriteError;
pub use crate::queue::SharedSlice;
pub use publisher::{Loan, Publisher};
pub use subscriber::{Frame, FrameError, Subscriber, TooManyHeld};

/// Builds a ring of frames.
#[derive(Clone, Debug)]
#[must_use = "a builder makes nothing until `build`"]
pub struct Builder {
    settings: Settings,
    bytes: usize,
    subscribers: usize,
    held: usize,
    alignment: usize,
    content: Option<Schema>,
}

impl Builder {
    /// A ring for frames of up to `frame_bytes` bytes, in which the newest
    /// [`capacity`](Settings::new) messages stay. Unless you say otherwise, it is for up to 8 subscribers at
    /// one time, of which each may hold 2 frames.
    ///
    /// All of its memory is there from the beginning: as many frames as the capacity, as all
    /// subscribers may hold, and one more, each of `frame_bytes`.
    pub fn new(settings: Settings, frame_bytes: usize) -> Self {
        let (subscribers, held, alignment) = (8, 2, LEAST_ALIGNMENT);
        Self { settings, bytes: frame_bytes, subscribers, held, alignment, content: None }
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

    /// At multiples of how many bytes frames begin: a power of two, 64 (the default) to 2 MiB, which is
    /// that of a huge page. A frame takes a multiple of it.
    pub fn alignment(mut self, alignment: usize) -> Self {
        self.alignment = alignment;
        self
    }

    /// The ring goes on with the numbers of the publisher before: see [`Numbering`]. Its publisher has them
    /// until it is gone.
    pub fn continuing(self, numbering: Numbering) -> Self {
        Self { settings: numbering.continued(self.settings), ..self }
    }

    /// Says what is in the frames: any number of `T`s, one behind the other. The ring has the schema of `T`,
    /// so that other processes and programs know it: see [`AcceptedFrames::of`].
    ///
    /// To write them, take a slice of `T`s of a loan's bytes, by [`bytemuck::cast_slice_mut`] for example. It
    /// fits: frames are aligned. To read them: [`Frame::values`]. Of types that are not
    /// [`Pod`](bytemuck::Pod): [`Loan::set_message`] and [`Frame::message`].
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::frames;
    ///
    /// let builder = frames::Builder::new(Settings::new(4), 1 << 20).of::<[f32; 3]>();
    /// let made = builder.build()?;
    /// let mut publisher = made.handle;
    /// let mut subscriber = made.invitation.accept_frames()?.of::<[f32; 3]>()?.subscribe()?;
    ///
    /// let mut frame = publisher.loan(2 * size_of::<[f32; 3]>())?;
    /// let points: &mut [[f32; 3]] = bytemuck::cast_slice_mut(&mut frame);
    /// points[1] = [1.0, 2.0, 3.0];
    /// frame.publish();
    ///
    /// let frame = subscriber.recv()?;
    /// assert_eq!(frame.values::<[f32; 3]>().unwrap().get(1), Some([1.0, 2.0, 3.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<T: Message>(self) -> Self {
        Self { content: Some(T::SCHEMA.clone()), ..self }
    }

    /// As [`of`](Self::of), for messages that have a schema.
    // For Python.
    #[doc(hidden)]
    pub fn described(self, content: &MessageType) -> Self {
        Self { content: content.schema().cloned(), ..self }
    }

    /// Makes the ring, and its publisher, which never waits. The [`Invitation`] is for the subscribers'
    /// processes: see [`accept_frames`](Invitation::accept_frames).
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such ring can be, or the system refuses it.
    pub fn build(self) -> Result<Shared<Publisher>, ShareError> {
        let kept = self.settings.capacity;
        self.made(kept, 0, |settings, of, frames| {
            let (shared, memory) = create_with(settings, of, Behind::Frames(frames))?;
            Ok((shared.alone(|publisher| publisher), memory))
        })
    }

    /// As [`build`](Self::build), with a publisher that waits for the slowest subscriber: none loses a frame.
    /// One frame more stays than the ring has slots. See
    /// [`accept_lossless_frames`](Invitation::accept_lossless_frames).
    ///
    /// # Errors
    ///
    /// The errors of [`build`](Self::build).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{Shared, frames};
    /// use annulus::{Settings, TrySendError};
    ///
    /// let builder = frames::Builder::new(Settings::new(2), 1 << 20);
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless()?;
    /// let mut subscriber = invitation.accept_lossless_frames()?.subscribe()?; // usually elsewhere
    ///
    /// publisher.publish(b"one")?;
    /// publisher.publish(b"two")?;
    /// let Err(TrySendError::Full(frame)) = publisher.loan(100)?.try_publish() else { panic!() };
    /// assert_eq!(subscriber.recv()?.to_vec(), b"one");
    /// assert_eq!(frame.publish().unwrap(), 2); // would wait, if there were no room
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_lossless(self) -> Result<Shared<Publisher<Lossless>>, ShareError> {
        // A subscriber that has passed a message may not hold its frame yet (Promela `frames`, LOSSLESS).
        let kept = self.settings.capacity.saturating_add(1);
        let seats = self.subscribers;
        self.made(kept, seats, |settings, of, frames| {
            // There is a seat for each table.
            create_lossless_with(settings, of, Behind::Frames(frames), frames.tables)
        })
    }

    fn made<M: Mode>(
        self,
        kept: usize,
        seats: usize,
        create: Create<M>,
    ) -> Result<Shared<Publisher<M>>, ShareError> {
        let numbers = self.numbers(kept)?;
        let (shared, memory) = create(self.settings, &told(self.content), &numbers)?;
        let RingMemory { ring, page, end } = memory;
        let layout = numbers.layout_behind(end).ok_or_else(|| numbers.too_large())?;
        numbers.write(&ring);
        let shape = (MOST_HELD, numbers.tables, numbers.held);
        let offset = table_offset(seats, 0).ok_or_else(|| numbers.too_large())?;
        // SAFETY: the page has so many tables from there on.
        let entries = unsafe { page.base().add(offset) }.cast();
        let locks = PageLocks::new(page, seats, numbers.tables);
        // SAFETY: they are there, and the locks keep the page.
        let tables = unsafe { HeldTables::new(entries, shape, locks) };
        let stamps = stamps(&ring, &layout, numbers.count);
        // SAFETY: they are in the ring's memory, which is new and all zero, and which the handle keeps beside
        // the keeper.
        let keeper = unsafe { FrameKeeper::new(stamps, tables, kept) };
        Ok(shared.alone(|publisher| Publisher { ring: publisher, keeper, memory: ring, numbers, layout }))
    }

    fn numbers(&self, kept: usize) -> Result<FrameNumbers, ShareError> {
        let &Self { bytes, subscribers, held, alignment, .. } = self;
        let number = |what, found, least, most| ShareError::Frames { what, found, least, most };
        if !(1..=MOST_SUBSCRIBERS).contains(&subscribers) {
            return Err(number("subscribers", subscribers, 1, MOST_SUBSCRIBERS));
        }
        if !(1..=MOST_HELD).contains(&held) {
            return Err(number("frames that a subscriber may hold", held, 1, MOST_HELD));
        }
        if !is_alignment(alignment) {
            let (least, most) = (LEAST_ALIGNMENT, MOST_ALIGNMENT);
            return Err(number("bytes of alignment (a power of two)", alignment, least, most));
        }
        if bytes == 0 {
            return Err(number("bytes of a frame", bytes, 1, isize::MAX as usize));
        }
        let too_large = CapacityError::TooLarge { capacity: self.settings.capacity, slot_bytes: bytes };
        let count = kept.checked_add(subscribers * held + 1);
        let (count, stride) = count.zip(bytes.checked_next_multiple_of(alignment)).ok_or(too_large)?;
        Ok(FrameNumbers { count, bytes, stride, alignment, tables: subscribers, held })
    }
}

/// Makes the ring that tells of frames.
type Create<M> = fn(
    Settings,
    &MessageType,
    &FrameNumbers,
) -> Result<(Shared<broadcast::Publisher<Told, M>>, RingMemory), ShareError>;

impl Invitation {
    /// Maps a [ring of frames](Builder), for subscribers.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or it is damaged; or the system refuses it.
    pub fn accept_frames(&self) -> Result<AcceptedFrames, AttachError> {
        AcceptedFrames::new(self, ShmKind::Frames)
    }

    /// Maps a [lossless ring of frames](Builder::build_lossless), for subscribers.
    ///
    /// # Errors
    ///
    /// As of [`accept_frames`](Self::accept_frames).
    pub fn accept_lossless_frames(&self) -> Result<AcceptedFrames<Awaited>, AttachError> {
        AcceptedFrames::new(self, ShmKind::LosslessFrames)
    }
}

/// A ring of frames of another process.
pub struct AcceptedFrames<M = Foreign> {
    ring: Accepted<Told>,
    page: OwnedFd,
    numbers: FrameNumbers,
    layout: FramesLayout,
    /// So many seats lie before the tables.
    seats: usize,
    mode: PhantomData<fn() -> M>,
}

impl AcceptedFrames {
    /// A subscriber, from the next frame on.
    ///
    /// # Errors
    ///
    /// [`SubscribeError`]: the ring has no room for one more, or the system refuses it.
    pub fn subscribe(&self) -> Result<Subscriber, SubscribeError> {
        self.join(|| Some(self.ring.subscribable().subscribe()))
    }

    /// As [`subscribe`](Self::subscribe), from the oldest frame on that is there.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber, SubscribeError> {
        self.join(|| Some(self.ring.subscribable().subscribe_from_oldest()))
    }
}

impl AcceptedFrames<Awaited> {
    /// A subscriber for which the publisher waits, from the next frame on.
    ///
    /// # Errors
    ///
    /// [`SubscribeError`]: the ring has no room for one more, or the system refuses it. The place of a
    /// process that has died counts as taken until the publisher has freed it; try again after a moment.
    pub fn subscribe(&self) -> Result<Subscriber<Awaited>, SubscribeError> {
        self.join(|| self.ring.subscribable().subscribe_awaited(false))
    }

    /// As [`subscribe`](Self::subscribe), from the oldest frame on that can be promised: half a ring before
    /// the next, or nearly so.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber<Awaited>, SubscribeError> {
        self.join(|| self.ring.subscribable().subscribe_awaited(true))
    }

    /// A lossy subscriber, a viewer for example: the publisher does not wait for it.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_lossy(&self) -> Result<Subscriber, SubscribeError> {
        self.join(|| Some(self.ring.subscribable().subscribe()))
    }

    /// As [`subscribe_lossy`](Self::subscribe_lossy), from the oldest frame on that is there.
    ///
    /// # Errors
    ///
    /// The errors of [`subscribe`](Self::subscribe).
    pub fn subscribe_lossy_from_oldest(&self) -> Result<Subscriber, SubscribeError> {
        self.join(|| Some(self.ring.subscribable().subscribe_from_oldest()))
    }
}

impl<M> AcceptedFrames<M> {
    fn new(invitation: &Invitation, kind: ShmKind) -> Result<Self, AttachError> {
        let ring = accept::<Told>(invitation, &[kind], &told(None), invitation.strategy, || false)?;
        let layout = Layout::read(ring.memory())?;
        let (numbers, frames_layout) = FrameNumbers::read(ring.memory(), &layout)?;
        let seats = if kind.is_lossless() {
            // SAFETY: it is in the memory, which lives.
            let (_, seats) = unsafe { shown(ring.memory()).as_ref() }.headroom_and_seats();
            let seats = usize::try_from(seats).ok().filter(|&seats| seats == numbers.tables);
            seats.ok_or_else(|| damaged("the number of subscribers", numbers.tables))?
        } else {
            0
        };
        let page = invitation.sleepers.try_clone().map_err(AttachError::System)?;
        Ok(Self { ring, page, numbers, layout: frames_layout, seats, mode: PhantomData })
    }

    /// If the frames are `T`s: see [`Builder::of`].
    ///
    /// # Errors
    ///
    /// [`Type`](AttachError::Type): they are others, or nothing says what they are.
    pub fn of<T: Message>(self) -> Result<Self, AttachError> {
        self.described(&MessageType::of::<T>())
    }

    /// As [`of`](Self::of), for messages that may have a schema.
    // For C.
    #[doc(hidden)]
    pub fn described(self, content: &MessageType) -> Result<Self, AttachError> {
        let Some(wanted) = content.schema() else { return Ok(self) };
        let memory = self.ring.memory();
        let layout = Layout::read(memory)?;
        if layout.payload.fingerprint != wanted.fingerprint() {
            let found = layout.schema(memory)?.map(Box::new);
            return Err(AttachError::Type { found, wanted: Box::new(wanted.clone()) });
        }
        Ok(self)
    }

    /// `subscribe` gives `None` if no seat is left.
    fn join<N: Mode>(
        &self,
        subscribe: impl FnOnce() -> Option<broadcast::Subscriber<Told, N>>,
    ) -> Result<Subscriber<N>, SubscribeError> {
        let held = Arc::new(self.table()?);
        let ring = subscribe().ok_or(SubscribeError::Full(NoSeat))?;
        let (memory, numbers, layout) = (Arc::clone(self.ring.memory()), self.numbers, self.layout);
        Ok(Subscriber { ring, held, memory, numbers, layout, missed: 0 })
    }

    /// A table that nobody has.
    fn table(&self) -> Result<HeldFrames, SubscribeError> {
        let page = lock::reopened_writable(&self.page).map_err(SubscribeError::System)?;
        let mut tables = 0..self.numbers.tables;
        let (table, byte) = loop {
            let table = tables.next().ok_or(SubscribeError::Full(NoSeat))?;
            let byte = self.seats + table;
            if lock::take_byte(&page, byte).map_err(SubscribeError::System)? {
                break (table, byte);
            }
        };
        // (Both numbers are at most 1024.)
        let offset = table_offset(self.seats, table).unwrap_or(usize::MAX);
        // Its descriptor is the opening that has the lock.
        let table = SharedMemory::attach_part(page, false, offset, page::TABLE_BYTES);
        let table = table.map_err(|refused| SubscribeError::Attach(unfit(refused)))?;
        if table.len() < page::TABLE_BYTES {
            let (found, needed) = ((offset + table.len()) as u64, (offset + page::TABLE_BYTES) as u64);
            return Err(SubscribeError::Attach(AttachError::Length { found, needed }));
        }
        let memory = Arc::clone(self.ring.memory());
        let stamps = stamps(&memory, &self.layout, self.numbers.count);
        let entries = NonNull::slice_from_raw_parts(table.base().cast(), self.numbers.held);
        // SAFETY: what is handed over keeps both, and the lock.
        Ok(unsafe { HeldFrames::new(stamps, entries, (memory, PlaceLock::had(&Arc::new(table), byte))) })
    }

    /// How many frames there are.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.numbers.count
    }

    /// Receives the [companions](self#companions) of the frames, which the publisher's process
    /// [sends](Publisher::send_companions). Waits as [`recv_fd`](super::recv_fd), for one after the other. If
    /// the socket has a timeout for reads, it waits for so long at most for all of them together.
    ///
    /// # Errors
    ///
    /// What the system says: `WouldBlock` if not all came in time; `UnexpectedEof` if the other side sent
    /// fewer. Those that came are closed.
    pub fn receive_companions(&self, socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
        let end = end_of_reads(socket)?;
        (0..self.frames()).map(|_| recv_fd_until(socket, end)).collect()
    }

    /// How many bytes a frame may have.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.numbers.bytes
    }

    /// At multiples of how many bytes frames begin.
    #[must_use]
    pub fn frame_alignment(&self) -> usize {
        self.numbers.alignment
    }

    /// For how many subscribers at one time there is room, in all processes.
    #[must_use]
    pub fn most_subscribers(&self) -> usize {
        self.numbers.tables
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

impl<M> fmt::Debug for AcceptedFrames<M> {
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
