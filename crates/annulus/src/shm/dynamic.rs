//! Ends of rings between processes whose messages are known by their schema only: a message is its bytes, as
//! they lie in the ring. For programs that take any ring, and for other languages.
//!
//! [`Sender`] sends to a broadcast ring or to a queue, and [`Receiver`] receives from one. [`Ring`] is a
//! broadcast ring of another process, for a program that subscribes more than once. [`WorkQueue`] is a queue
//! that several consumers share. [`Server`] and [`Client`] are the ends of a service. The schema is compared
//! with the ring's when an end is made, and so is the length of each message with the schema's size. What the
//! bytes of a message are is not looked at: see [`Checker`](crate::schema::Checker). [`watch`] has the ends
//! of newest values.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::blocks::MessageType;
//! use annulus::shm::Shared;
//! use annulus::shm::dynamic::{Receiver, Sender, Start};
//! use annulus::{WaitStrategy, schema::Schema};
//!
//! let schema: Schema = "quote{bid:f64,ask:f64}".parse()?;
//! let of = MessageType::described(schema, 8);
//! let Shared { handle: mut sender, invitation, .. } = Sender::lossy(Settings::new(64), &of)?;
//! let mut receiver = Receiver::join(&invitation, &of, WaitStrategy::default(), Start::Newest)?;
//!
//! sender.send(&[7; 16])?;
//! let mut message = [0; 16];
//! receiver.recv(&mut message)?;
//! assert_eq!(message, [7; 16]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// Decision 0129: a class of sizes on the stack, and exactly the message in the ring.

mod claimed;
mod ends;
mod service;
mod work;

use core::error::Error;
use core::fmt;
use core::ptr::NonNull;
use core::time::Duration;
use std::boxed::Box;
use std::io;
use std::sync::Arc;
use std::vec::Vec;

pub use claimed::Claimed;
use ends::{DynReceiver, DynSender, Patience};
pub use service::{Client, PendingAnswer, Request, Server, service_types};
pub use work::WorkQueue;

use super::blocks::{self, Block, MessageType, classes};
use super::broadcast::{Accepted, AcceptedLossless, Mark, NoSeat};
use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::places::Places;
use super::process::PeerState;
use super::queue::Peer;
use super::shared::{Shared, WhenGone};
pub use super::silence::Silence;
use super::{mp_broadcast, mpsc};
use crate::broadcast;
use crate::close::Closer;
use crate::error::{GiveBack, Refusal};
use crate::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::message::Message;
use crate::queue::SharedSlice;
use crate::receive::Waitable;
use crate::settings::Settings;
use crate::wait::{Source, Until, UntilReady, WaitStrategy, source_of_part, wait_until};

/// A message of a broadcast ring or of a queue of several consumers, and an answer of a service, has at most
/// so many bytes here.
pub const LONGEST: usize = 4096;

/// Why an end was not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// A ring of this kind has no such end.
    Kind(ShmKind),
    /// A message of a broadcast ring or of a queue of several consumers, or an answer of a service, has more
    /// than [`LONGEST`] bytes.
    TooLong {
        /// How many it has.
        bytes: usize,
    },
    /// The ring can't be joined.
    Attach(AttachError),
    /// Each seat of the lossless ring is taken.
    NoSeat(NoSeat),
    /// The ring can't be made.
    Share(ShareError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "a {kind} has no such end"),
            Self::TooLong { bytes } => {
                write!(
                    f,
                    "a message of a broadcast ring or of a queue of several consumers, or an answer, has up to \
                     {LONGEST} bytes here, and this one has {bytes}"
                )
            }
            Self::Attach(error) => error.fmt(f),
            Self::NoSeat(error) => error.fmt(f),
            Self::Share(error) => error.fmt(f),
        }
    }
}

impl Error for OpenError {}

impl From<AttachError> for OpenError {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

impl From<NoSeat> for OpenError {
    fn from(error: NoSeat) -> Self {
        Self::NoSeat(error)
    }
}

impl From<ShareError> for OpenError {
    fn from(error: ShareError) -> Self {
        Self::Share(error)
    }
}

/// As the macro of [`blocks`], for an expression that may fail; a message that fits into no block is
/// [`TooLong`](OpenError::TooLong).
macro_rules! in_blocks {
    ($of:expr, $WORDS:ident, $LARGE:ident => $make:expr) => {
        classes!($of.bytes(), $WORDS, $LARGE => $make)
            .unwrap_or_else(|| Err(OpenError::TooLong { bytes: $of.bytes() }))
    };
}

use in_blocks;

pub mod watch;

fn assert_whole(run: &[u8], bytes: usize) {
    assert!(
        run.len() % bytes.max(1) == 0,
        "a run has the length of so many messages of {bytes} bytes, and not {} bytes",
        run.len()
    );
}

/// The sending end of a ring. Its drop leaves the ring, as the drop of any handle of that ring does.
pub struct Sender {
    end: Box<dyn DynSender>,
    bytes: usize,
    /// Of a queue that it has joined.
    consumer: Option<Consumers>,
}

/// What tells of the processes that receive from a queue.
enum Consumers {
    One(Peer),
    Several(Places),
}

impl Sender {
    /// Makes a lossy broadcast ring, as [`broadcast::lossy`](super::broadcast::lossy) does.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong), [`Share`](OpenError::Share).
    pub fn lossy(settings: Settings, of: &MessageType) -> Result<Shared<Self>, OpenError> {
        in_blocks!(of, WORDS, LARGE => {
            Ok(blocks::lossy::<WORDS, LARGE>(settings, of)?.alone(|publisher| Self::new(publisher, of)))
        })
    }

    /// Makes a lossless broadcast ring, as [`broadcast::lossless`](super::broadcast::lossless) does.
    ///
    /// # Errors
    ///
    /// As of [`lossy`](Self::lossy).
    pub fn lossless(settings: Settings, of: &MessageType, seats: usize) -> Result<Shared<Self>, OpenError> {
        in_blocks!(of, WORDS, LARGE => {
            Ok(blocks::lossless::<WORDS, LARGE>(settings, of, seats)?.alone(|publisher| Self::new(publisher, of)))
        })
    }

    /// Makes a broadcast ring of several publishers, and its first one, as
    /// [`mp_broadcast::Builder::build`] does.
    ///
    /// # Errors
    ///
    /// As of [`lossy`](Self::lossy).
    pub fn mp_lossy(builder: mp_broadcast::Builder, of: &MessageType) -> Result<Shared<Self>, OpenError> {
        in_blocks!(of, WORDS, LARGE => {
            Ok(blocks::mp_lossy::<WORDS, LARGE>(builder, of)?.alone(|publisher| Self::new(publisher, of)))
        })
    }

    /// As [`mp_lossy`](Self::mp_lossy), lossless, as [`mp_broadcast::Builder::build_lossless`] does.
    ///
    /// # Errors
    ///
    /// As of [`lossy`](Self::lossy).
    pub fn mp_lossless(
        builder: mp_broadcast::Builder,
        of: &MessageType,
        seats: usize,
    ) -> Result<Shared<Self>, OpenError> {
        in_blocks!(of, WORDS, LARGE => {
            let made = blocks::mp_lossless::<WORDS, LARGE>(builder, of, seats)?;
            Ok(made.alone(|publisher| Self::new(publisher, of)))
        })
    }

    /// Makes a queue of one producer, as [`spsc::producer`](super::spsc::producer) does.
    ///
    /// # Errors
    ///
    /// [`Share`](OpenError::Share).
    pub fn spsc(
        settings: Settings,
        of: &MessageType,
        policy: WhenGone,
    ) -> Result<Shared<Self, Peer>, OpenError> {
        Ok(blocks::spsc_producer(settings, of, policy)?.map(|producer| Self::new(producer, of)))
    }

    /// Joins a ring that takes several senders: a broadcast ring of several publishers, or a queue of several
    /// producers, with one consumer or several.
    ///
    /// # Errors
    ///
    /// [`Kind`](OpenError::Kind) of a ring with one sender, [`TooLong`](OpenError::TooLong),
    /// [`Attach`](OpenError::Attach).
    pub fn join(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, OpenError> {
        match invitation.info()?.kind() {
            ShmKind::MpLossy => in_blocks!(of, WORDS, LARGE => {
                let publisher = blocks::mp_lossy_publisher::<WORDS, LARGE>(invitation, of, strategy)?;
                Ok(Self::new(publisher, of))
            }),
            ShmKind::MpLossless => in_blocks!(of, WORDS, LARGE => {
                let publisher = blocks::mp_lossless_publisher::<WORDS, LARGE>(invitation, of, strategy)?;
                Ok(Self::new(publisher, of))
            }),
            ShmKind::Mpsc => {
                let (producer, consumer) = blocks::mpsc_producer(invitation, of, strategy)?;
                Ok(Self { consumer: Some(Consumers::One(consumer)), ..Self::new(producer, of) })
            }
            ShmKind::Mpmc => in_blocks!(of, WORDS, LARGE => {
                let producer = blocks::mpmc_producer::<WORDS, LARGE>(invitation, of, strategy)?;
                let consumer = Some(Consumers::Several(producer.consumers()));
                Ok(Self { consumer, ..Self::new(producer, of) })
            }),
            kind => Err(OpenError::Kind(kind)),
        }
    }

    fn new(end: impl DynSender + 'static, of: &MessageType) -> Self {
        Self { end: Box::new(end), bytes: of.bytes(), consumer: None }
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the consumer's process is there, or one of several, of a queue that this end has
    /// [joined](Self::join). `None` of other rings, and of a queue that this process has made as its
    /// producer: there, [`Shared::peers`] tells.
    #[must_use]
    pub fn consumer(&self) -> Option<PeerState> {
        self.consumer.as_ref().map(|consumer| match consumer {
            Consumers::One(peer) => peer.state(),
            Consumers::Several(places) => places.state(),
        })
    }

    fn put(&mut self, message: &[u8], patience: Patience) -> Result<(), Refusal> {
        assert_eq!(message.len(), self.bytes, "a message has the size of its schema");
        self.end.send(message, patience)
    }

    /// Sends a message. Waits for room, where the ring waits for receivers.
    ///
    /// # Errors
    ///
    /// [`SendError`]: the ring is closed.
    ///
    /// # Panics
    ///
    /// If the message has another length than the ring's messages; so do the other verbs.
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        self.put(message, Patience::Endless).map_err(|_| SendError(()))
    }

    /// As [`send`](Self::send), without a wait.
    ///
    /// # Errors
    ///
    /// [`TrySendError`]: there is no room, or the ring is closed.
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), TrySendError<()>> {
        self.put(message, Patience::None).map_err(|refusal| TrySendError::of(refusal, ()))
    }

    /// As [`send`](Self::send), for that long at most.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`]: there was no room in that time, or the ring is closed.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<(), SendTimeoutError<()>> {
        self.put(message, Patience::For(timeout)).map_err(|refusal| SendTimeoutError::of(refusal, ()))
    }

    fn put_run<'m>(&mut self, run: &'m [u8], patience: Patience) -> Result<(), (&'m [u8], Refusal)> {
        assert_whole(run, self.bytes);
        let sent = self.end.send_run(run, self.bytes, patience.into());
        sent.map_err(|(left, refusal)| (&run[run.len() - left..], refusal))
    }

    /// Sends the messages of a run, in order: cheaper than one by one. Waits for room as often as necessary.
    /// The run may be longer than the ring.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the part that was not sent: the ring is closed.
    ///
    /// # Panics
    ///
    /// If the run does not have the length of so many messages; so do the other verbs for runs.
    pub fn send_run<'m>(&mut self, run: &'m [u8]) -> Result<(), SendError<&'m [u8]>> {
        self.put_run(run, Patience::Endless).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`send_run`](Self::send_run), without a wait: it sends as many messages as there is room for.
    ///
    /// # Errors
    ///
    /// [`TrySendError`] gives back the part that was not sent.
    pub fn try_send_run<'m>(&mut self, run: &'m [u8]) -> Result<(), TrySendError<&'m [u8]>> {
        self.put_run(run, Patience::None).map_err(|(rest, refusal)| TrySendError::of(refusal, rest))
    }

    /// As [`send_run`](Self::send_run), for that long at most.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`] gives back the part that was not sent.
    pub fn send_run_timeout<'m>(
        &mut self,
        run: &'m [u8],
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<&'m [u8]>> {
        self.put_run(run, Patience::For(timeout))
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// Reserves room for up to `most` messages in the ring, to write them there. Waits for room for one, for
    /// that long at most. The room lies in one piece, so it may be smaller than what is free. `None`: a
    /// broadcast ring lends no room.
    ///
    /// ```
    /// # use annulus::{Settings, WaitStrategy};
    /// # use annulus::shm::{Shared, WhenGone, blocks::MessageType};
    /// # use annulus::shm::dynamic::{Receiver, Sender, Start};
    /// # use std::time::Duration;
    /// let of = MessageType::of_bytes(4, 1);
    /// let Shared { handle: mut sender, invitation, .. } =
    ///     Sender::spsc(Settings::new(8), &of, WhenGone::Close)?;
    /// let mut room = sender.reserve_timeout(2, Duration::ZERO).expect("it is a queue")?;
    /// assert_eq!(room.len(), 2);
    /// // SAFETY: two messages of 4 bytes have room there.
    /// unsafe { room.as_mut_ptr().write_bytes(7, 8) };
    /// room.commit(2)?;
    ///
    /// let mut receiver = Receiver::join(&invitation, &of, WaitStrategy::default(), Start::Newest)?;
    /// let shown = receiver.readable_timeout(usize::MAX, Duration::ZERO).expect("it is a queue")?;
    /// assert_eq!(shown.to_vec(), [7; 8]);
    /// receiver.advance(2);
    /// assert!(receiver.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`]: there was no room in that time, or the ring is closed.
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    pub fn reserve_timeout(
        &mut self,
        most: usize,
        timeout: Duration,
    ) -> Option<Result<Reserved<'_>, SendTimeoutError<()>>> {
        assert!(most > 0, "room for no message is asked for");
        let room = self.end.reserve(most.saturating_mul(self.bytes), timeout.into())?;
        let room = room.map_err(|refusal| SendTimeoutError::of(refusal, ()));
        Some(room.map(|room| Reserved { sender: self, room }))
    }

    /// The number of the next message, of a broadcast ring with one publisher; `None` of other rings.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.end.sequence()
    }

    /// Leaves out the numbers before this one, as [`Publisher::skip_to`](broadcast::Publisher::skip_to) does,
    /// and returns how many. `None`: this ring can't leave out numbers.
    pub fn skip_to(&mut self, sequence: u64) -> Option<u64> {
        self.end.skip_to(sequence)
    }

    /// Waits until the lossless ring has so many subscribers, for that long at most, and returns whether it
    /// has. True at once of other rings.
    #[must_use]
    pub fn wait_for_subscribers_timeout(&self, count: usize, timeout: Duration) -> bool {
        self.end.wait_for_subscribers(count, timeout)
    }

    /// What closes the ring from any thread.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.end.closer()
    }

    /// Whether the ring is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("message_bytes", &self.bytes)
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Room for messages, where they will lie in the ring: see [`Sender::reserve_timeout`].
///
/// At first it has any bytes: zeros, or messages that the ring had before. Dropped, it sends nothing, and the
/// next reservation is of the same room.
#[must_use = "nothing is sent until it is committed"]
pub struct Reserved<'s> {
    sender: &'s mut Sender,
    room: NonNull<[u8]>,
}

// SAFETY: a borrow of a sender, which may go to another thread, and of bytes that are that sender's alone.
unsafe impl Send for Reserved<'_> {}

impl Reserved<'_> {
    /// For how many messages there is room: at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.room.len() / self.sender.bytes.max(1)
    }

    /// The first byte of the first message; the others lie behind it. It points there until this is
    /// committed, or another verb of the sender begins. Another process may write there, too, as
    /// [`queue::Reservation::as_mut_ptr`](crate::queue::Reservation::as_mut_ptr) says.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.room.as_ptr().cast()
    }

    /// Sends the first `count` messages, as they are there. What was not written has its old bytes.
    ///
    /// # Errors
    ///
    /// [`SendError`]: the ring was closed meanwhile. Nothing is sent.
    ///
    /// # Panics
    ///
    /// If `count` is above [`len`](Self::len).
    pub fn commit(self, count: usize) -> Result<(), SendError<()>> {
        assert!(count <= self.len(), "can't commit {count} messages: {} are reserved", self.len());
        let bytes = count * self.sender.bytes;
        if bytes == 0 || self.sender.end.commit(bytes) { Ok(()) } else { Err(SendError(())) }
    }
}

impl fmt::Debug for Reserved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserved").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// With which message a receiver of a broadcast ring begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the oldest one that the ring has.
    Oldest,
    /// With the next one that is published.
    Newest,
    /// With the last so many that were published, or as many as there are: see
    /// [`begin_with_last`](broadcast::Subscriber::begin_with_last).
    Last(usize),
}

impl Start {
    /// A lossy subscriber of the ring, which begins there.
    pub(super) fn join<T: Message>(
        self,
        ring: &broadcast::Subscribable<T, broadcast::Foreign>,
    ) -> broadcast::Subscriber<T, broadcast::Foreign> {
        self.begun(if self.is_from_oldest() { ring.subscribe_from_oldest() } else { ring.subscribe() })
    }

    /// Whether a subscriber joins with the oldest message.
    fn is_from_oldest(self) -> bool {
        !matches!(self, Self::Newest)
    }

    /// A subscriber that has joined begins where this says.
    fn begun<T: Message, M: broadcast::Mode>(
        self,
        mut subscriber: broadcast::Subscriber<T, M>,
    ) -> broadcast::Subscriber<T, M> {
        if let Self::Last(count) = self {
            subscriber.begin_with_last(count);
        }
        subscriber
    }
}

/// A broadcast ring, as a process has joined it.
trait DynRing: Send + Sync {
    fn subscribe(&self, start: Start) -> Result<Box<dyn DynReceiver>, NoSeat>;

    fn subscribe_unawaited(&self, start: Start) -> Box<dyn DynReceiver>;

    fn is_closed(&self) -> bool;

    fn state(&self) -> PeerState;

    /// `None`: its subscribers show where they stand by their seats.
    fn mark(&self) -> Option<io::Result<Mark>>;
}

fn unawaited<const WORDS: usize, const LARGE: bool>(
    ring: &broadcast::Subscribable<Block<WORDS, LARGE>, broadcast::Foreign>,
    start: Start,
) -> Box<dyn DynReceiver> {
    Box::new(start.join(ring))
}

impl<const WORDS: usize, const LARGE: bool> DynRing for Accepted<Block<WORDS, LARGE>> {
    fn subscribe(&self, start: Start) -> Result<Box<dyn DynReceiver>, NoSeat> {
        Ok(self.subscribe_unawaited(start))
    }

    fn subscribe_unawaited(&self, start: Start) -> Box<dyn DynReceiver> {
        unawaited(self.subscribable(), start)
    }

    fn is_closed(&self) -> bool {
        self.subscribable().is_closed()
    }

    fn state(&self) -> PeerState {
        self.state()
    }

    fn mark(&self) -> Option<io::Result<Mark>> {
        Some(self.mark())
    }
}

impl<const WORDS: usize, const LARGE: bool> DynRing for AcceptedLossless<Block<WORDS, LARGE>> {
    fn subscribe(&self, start: Start) -> Result<Box<dyn DynReceiver>, NoSeat> {
        let joined = if start.is_from_oldest() { self.subscribe_from_oldest() } else { self.subscribe() };
        Ok(Box::new(start.begun(joined?)))
    }

    fn subscribe_unawaited(&self, start: Start) -> Box<dyn DynReceiver> {
        unawaited(self.subscribable(), start)
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn state(&self) -> PeerState {
        self.state()
    }

    fn mark(&self) -> Option<io::Result<Mark>> {
        None
    }
}

/// A broadcast ring of another process.
#[derive(Clone)]
pub struct Ring {
    joined: Arc<dyn DynRing>,
    bytes: usize,
    deadline: Option<Duration>,
}

impl Ring {
    /// Accepts a broadcast ring, lossy or lossless, of one publisher or of several.
    ///
    /// # Errors
    ///
    /// [`Kind`](OpenError::Kind) of a queue and of a ring of records, [`TooLong`](OpenError::TooLong),
    /// [`Attach`](OpenError::Attach).
    pub fn accept(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, OpenError> {
        let info = invitation.info()?;
        let joined: Arc<dyn DynRing> = match info.kind() {
            ShmKind::Lossy | ShmKind::MpLossy => in_blocks!(of, WORDS, LARGE => {
                Ok(Arc::new(blocks::accept::<WORDS, LARGE>(invitation, of, strategy)?) as Arc<dyn DynRing>)
            }),
            ShmKind::Lossless | ShmKind::MpLossless => in_blocks!(of, WORDS, LARGE => {
                let ring = blocks::accept_lossless::<WORDS, LARGE>(invitation, of, strategy)?;
                Ok(Arc::new(ring) as Arc<dyn DynRing>)
            }),
            kind => Err(OpenError::Kind(kind)),
        }?;
        Ok(Self { joined, bytes: of.bytes(), deadline: info.deadline() })
    }

    /// How long the publisher is silent at most, as it has [promised](Settings::deadline).
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Makes a receiver. The publisher of a lossless ring waits for it.
    ///
    /// # Errors
    ///
    /// [`NoSeat`]: each seat of the lossless ring is taken.
    pub fn subscribe(&self, start: Start) -> Result<Receiver, NoSeat> {
        Ok(self.receiver(self.joined.subscribe(start)?))
    }

    /// Makes a receiver for which no publisher waits. Of a lossless ring, too, it takes no seat, and loses
    /// messages where it falls behind.
    #[must_use]
    pub fn subscribe_unawaited(&self, start: Start) -> Receiver {
        self.receiver(self.joined.subscribe_unawaited(start))
    }

    fn receiver(&self, end: Box<dyn DynReceiver>) -> Receiver {
        let silence = Silence::after(self.deadline);
        Receiver { end, other: Other::Publisher(self.clone()), bytes: self.bytes, silence }
    }

    /// Whether the ring is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.joined.is_closed()
    }

    /// Whether the process that publishes is there, or one of several.
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.joined.state()
    }

    /// As [`Accepted::mark`]. `None` of a lossless ring, whose subscribers show where they stand by their
    /// seats.
    #[must_use]
    pub fn mark(&self) -> Option<io::Result<Mark>> {
        self.joined.mark()
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("message_bytes", &self.bytes)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// What tells of the processes that send.
enum Other {
    Publisher(Ring),
    Producer(Peer),
    Producers(Places),
}

/// The receiving end of a ring. Its drop leaves the ring, as the drop of any handle of that ring does.
pub struct Receiver {
    end: Box<dyn DynReceiver>,
    other: Other,
    bytes: usize,
    silence: Silence,
}

impl Receiver {
    /// Makes a queue of several producers, as [`mpsc::Builder::build`] does.
    ///
    /// # Errors
    ///
    /// [`Share`](OpenError::Share).
    pub fn mpsc(builder: mpsc::Builder, of: &MessageType) -> Result<Shared<Self>, OpenError> {
        let Shared { handle, peers, invitation } = blocks::mpsc_consumer(builder, of)?;
        let handle = Self::new(handle, Other::Producers(peers), of);
        Ok(Shared { handle, peers: (), invitation })
    }

    /// Joins a ring of any kind whose messages have one size: subscribes to a broadcast ring, beginning with
    /// the message that `start` says, or becomes the consumer of a queue, which goes on behind the last
    /// message that was received, or one of several.
    ///
    /// # Errors
    ///
    /// [`Kind`](OpenError::Kind) of a ring of records, [`TooLong`](OpenError::TooLong),
    /// [`Attach`](OpenError::Attach), [`NoSeat`](OpenError::NoSeat).
    pub fn join(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
        start: Start,
    ) -> Result<Self, OpenError> {
        match invitation.info()?.kind() {
            ShmKind::Spsc => {
                let (consumer, peer) = blocks::spsc_consumer(invitation, of, strategy)?;
                Ok(Self::new(consumer, Other::Producer(peer), of))
            }
            ShmKind::Mpsc => {
                let (consumer, places) = blocks::mpsc_next_consumer(invitation, of, strategy)?;
                Ok(Self::new(consumer, Other::Producers(places), of))
            }
            ShmKind::Mpmc => in_blocks!(of, WORDS, LARGE => {
                let consumer = blocks::mpmc_consumer::<WORDS, LARGE>(invitation, of, strategy)?;
                let places = consumer.producers();
                Ok(Self::new(consumer, Other::Producers(places), of))
            }),
            _ => Ok(Ring::accept(invitation, of, strategy)?.subscribe(start)?),
        }
    }

    fn new(end: impl DynReceiver + 'static, other: Other, of: &MessageType) -> Self {
        Self { end: Box::new(end), other, bytes: of.bytes(), silence: Silence::after(None) }
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    fn take(&mut self, message: &mut [u8], patience: Patience) -> Result<(), RecvTimeoutError> {
        assert_eq!(message.len(), self.bytes, "a message has the size of its schema");
        if self.silence.limit().is_none() || matches!(patience, Patience::None) {
            return self.heard(|end| end.recv(message, patience));
        }
        let received = self.heard(|end| end.recv(message, Patience::None));
        if received != Err(RecvTimeoutError::Timeout) {
            return received;
        }
        self.silence.begin();
        self.heard(|end| end.recv(message, patience))
    }

    /// What was received ends the silence.
    fn heard(
        &mut self,
        receive: impl FnOnce(&mut dyn DynReceiver) -> Result<(), RecvTimeoutError>,
    ) -> Result<(), RecvTimeoutError> {
        let received = receive(&mut *self.end);
        if received.is_ok() {
            self.silence.is_over();
        }
        received
    }

    /// As [`heard`](Self::heard), of so many.
    fn heard_some(&mut self, count: usize) -> usize {
        if count > 0 {
            self.silence.is_over();
        }
        count
    }

    /// Receives the next message, and waits for it. A lossy receiver that has lost messages counts them, and
    /// goes on with the oldest one that is there.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Panics
    ///
    /// If `message` has another length than the ring's messages; so do the other verbs for one message.
    pub fn recv(&mut self, message: &mut [u8]) -> Result<(), RecvError> {
        self.take(message, Patience::Endless).map_err(|_| RecvError::of(self.state() == PeerState::Dead))
    }

    /// As [`recv`](Self::recv), without a wait.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`]: nothing is there, or nothing will come.
    pub fn try_recv(&mut self, message: &mut [u8]) -> Result<(), TryRecvError> {
        self.take(message, Patience::None).map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Closed => TryRecvError::Closed,
        })
    }

    /// As [`recv`](Self::recv), for that long at most.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`]: nothing came in that time, or nothing will come.
    pub fn recv_timeout(&mut self, message: &mut [u8], timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.take(message, Patience::For(timeout))
    }

    /// Appends messages that are there to `run`, up to `most`, without a wait, and returns how many. They
    /// follow each other: where some are lost, the run ends before. It may be shorter than what is there.
    pub fn recv_run(&mut self, run: &mut Vec<u8>, most: usize) -> usize {
        let before = run.len();
        self.end.recv_run(run, self.bytes, most);
        self.heard_some((run.len() - before) / self.bytes.max(1))
    }

    /// Receives messages that are there into the front of `run`, up to its length, without a wait, and
    /// returns how many. The rest of `run` is unchanged. Behind lost messages, which it counts, it goes on
    /// with the oldest one that is there, and then ends before those that came meanwhile.
    ///
    /// Of a broadcast ring, a message of 8, 16, 32 bytes or another power of two goes straight from the ring
    /// into a `run` that lies at a multiple of 8; others pass over the stack. Of a queue, all go straight.
    ///
    /// # Panics
    ///
    /// If `run` does not have the length of so many messages.
    pub fn recv_run_into(&mut self, run: &mut [u8]) -> usize {
        assert_whole(run, self.bytes);
        if self.bytes == 0 {
            return 0;
        }
        let count = self.end.recv_run_into(run, self.bytes);
        self.heard_some(count)
    }

    /// Shows up to `most` messages that are there, where they lie in the ring. Waits for the first, for that
    /// long at most. They lie in one piece, and are those that one look has found, so more may
    /// wait behind them. They stay until [`advance`](Self::advance) receives them. `None`: a broadcast ring
    /// lends no messages, since its publisher may overwrite them. For an example, see
    /// [`Sender::reserve_timeout`].
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`]: nothing came in that time, or nothing will come.
    pub fn readable_timeout(
        &mut self,
        most: usize,
        timeout: Duration,
    ) -> Option<Result<SharedSlice<'_, u8>, RecvTimeoutError>> {
        self.end.readable(most.saturating_mul(self.bytes), timeout.into())
    }

    /// Receives the first `count` messages that the last [`readable_timeout`](Self::readable_timeout) has
    /// shown. No other verb has received meanwhile.
    ///
    /// # Panics
    ///
    /// If it has shown fewer.
    pub fn advance(&mut self, count: usize) {
        self.end.advance(count.saturating_mul(self.bytes));
    }

    /// Claims the next message of a queue of several consumers, as
    /// [`mpmc::Consumer::claim`](super::mpmc::Consumer::claim) does, and waits for it, for that long at most:
    /// if this process ends before it is [done](Claimed::done), another consumer has it. `None` of other
    /// rings. See [`WorkQueue`] for an example.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`]: nothing came in that time, or nothing will come.
    pub fn claim_timeout(&mut self, timeout: Duration) -> Option<Result<Claimed, RecvTimeoutError>> {
        let claimed = self.end.claim(Patience::For(timeout).into())?;
        Some(claimed.map(|end| Claimed { end, bytes: self.bytes }))
    }

    /// Receives the newest message that is there, without a wait, and returns how many messages it passed for
    /// that. A lossy receiver counts these as lost, too. Never goes back, and never delivers a message twice.
    ///
    /// In a queue of several producers, no order says which message is the newest: it is the last one that
    /// the queue would have delivered. In one of several consumers, no other one receives those that this has
    /// passed.
    ///
    /// # Errors
    ///
    /// As of [`try_recv`](Self::try_recv).
    pub fn latest(&mut self, message: &mut [u8]) -> Result<u64, TryRecvError> {
        assert_eq!(message.len(), self.bytes, "a message has the size of its schema");
        match self.end.latest(message) {
            Some(passed) => {
                self.silence.is_over();
                Ok(passed)
            }
            // Nothing, or the end; or a message that has come now.
            None => self.try_recv(message).map(|()| 0),
        }
    }

    /// Waits until something can be received: a message, or what a receive says of a lag or of the end; for
    /// that long at most. Returns whether something can. It takes nothing.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let (strategy, until) = (self.end.strategy(), Until::from(timeout));
        if self.silence.limit().is_some() && self.is_empty() {
            self.silence.begin();
        }
        wait_until(&mut UntilReady(&mut self.end), strategy, until.deadline()).is_some()
    }

    /// After how long a silence the publisher is [overdue](Self::overdue): what it has
    /// [promised](Settings::deadline), or what [`overdue_after`](Self::overdue_after) says. `None` if neither
    /// is there, and of a queue.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.silence.limit()
    }

    /// After how long a silence this end calls the publisher [overdue](Self::overdue), whatever that has
    /// promised.
    ///
    /// # Panics
    ///
    /// If it is the end of a queue, whose producers promise nothing.
    pub fn overdue_after(&mut self, silence: Duration) {
        assert!(matches!(self.other, Other::Publisher(_)), "the producers of a queue promise nothing");
        self.silence = Silence::after(Some(silence));
    }

    /// For how long the publisher has been silent, if that is as long as its [deadline](Self::deadline) or
    /// longer, nothing waits to be received, and its process is there: so it hangs. Of several, none has
    /// published.
    ///
    /// The silence counts from the first wait, or the first call of this, that has found nothing since the
    /// last message. So a program that waits by the deadline, and asks when that was in vain, is told at
    /// once; and one that does not look is told nothing too early.
    ///
    /// ```
    /// use annulus::{RecvTimeoutError, Settings, WaitStrategy};
    /// use annulus::shm::{Shared, blocks::MessageType};
    /// use annulus::shm::dynamic::{Receiver, Sender, Start};
    /// use std::time::Duration;
    ///
    /// let of = MessageType::of_bytes(4, 1);
    /// let settings = Settings::new(8).deadline(Duration::from_millis(10));
    /// let Shared { handle: mut sender, invitation, .. } = Sender::lossy(settings, &of)?;
    /// let mut receiver = Receiver::join(&invitation, &of, WaitStrategy::default(), Start::Newest)?;
    /// let deadline = receiver.deadline().expect("the publisher has promised");
    /// let mut message = [0; 4];
    /// assert_eq!(receiver.recv_timeout(&mut message, deadline), Err(RecvTimeoutError::Timeout));
    /// assert!(receiver.overdue() >= Some(deadline)); // it hangs
    /// sender.send(&[7; 4])?; // it is back
    /// assert_eq!(receiver.overdue(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overdue(&mut self) -> Option<Duration> {
        if self.silence.limit().is_none() || !self.is_empty() {
            return None;
        }
        let silence = self.silence.look()?;
        (self.state() == PeerState::Alive).then_some(silence)
    }

    /// How many messages wait to be received.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.len(self.bytes)
    }

    /// Whether no message waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the next message, of a broadcast ring; `None` of a queue.
    #[must_use]
    pub fn cursor(&self) -> Option<u64> {
        self.end.cursor()
    }

    /// How many messages it has lost because it fell behind. 0 of a queue.
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.end.total_lagged()
    }

    /// Whether the ring is closed. Messages may still be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }

    /// Whether the process that sends is there, or one of several. Of several, [`Dead`](PeerState::Dead) says
    /// that none is there, and at least one has ended without leaving.
    #[must_use]
    pub fn state(&self) -> PeerState {
        match &self.other {
            Other::Publisher(ring) => ring.state(),
            Other::Producer(peer) => peer.state(),
            Other::Producers(places) => places.state(),
        }
    }

    /// What shows other processes where it stands, as [`Ring::mark`]; `None` where something else does.
    #[must_use]
    pub fn mark(&self) -> Option<io::Result<Mark>> {
        match &self.other {
            Other::Publisher(ring) => ring.mark(),
            Other::Producer(_) | Other::Producers(_) => None,
        }
    }
}

source_of_part!([] Receiver, |handle| handle.end);

/// For a [`Notifier`](crate::Notifier), which has a descriptor for `epoll`, or a [`select!`](crate::select!).
impl Waitable for Receiver {
    fn is_closed(&self) -> bool {
        self.end.is_closed()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("message_bytes", &self.bytes)
            .field("len", &self.len())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests;
