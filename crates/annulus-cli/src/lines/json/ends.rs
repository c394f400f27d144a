//! [`Sink`] and [`Source`]: ends of rings whose type is known by its schema only.

use std::time::Duration;

use annulus::broadcast::{Builder, Mode, Subscriber};
use annulus::queue::{AnyKind, Consumer, InPlace, Producer};
use annulus::shm::blocks::{self, Block, MessageType, classes};
use annulus::shm::broadcast::Mark;
use annulus::shm::mpsc::Places;
use annulus::shm::{AttachError, Invitation, Peer, PeerState, ShareError, ShmKind};
use annulus::{RecvTimeoutError, SendTimeoutError, Transmit, WaitStrategy};

use super::super::arguments::From;

/// Sends messages.
pub(super) trait Sink: Send {
    /// Sends one, of as many bytes as the ring's have. Waits for room for that long at most.
    fn put(&mut self, message: &[u8], patience: Duration) -> Result<(), SendTimeoutError<()>>;
}

/// Receives messages.
pub(super) trait Source {
    /// Receives one, of as many bytes as the ring's have. Waits for that long at most.
    fn take(&mut self, message: &mut [u8], patience: Duration) -> Result<(), RecvTimeoutError>;

    /// How many wait to be received.
    fn waiting(&self) -> usize;

    /// How many were lost so far.
    fn lost(&self) -> u64;

    /// Shows how far it is, to `annulus top`.
    fn show(&self);

    /// Whether the process on the other side has died.
    fn is_orphan(&self) -> bool;
}

/// Why a ring can't be used.
pub(super) enum Refused {
    Attach(AttachError),
    /// There is no such end of such a ring.
    Kind,
    /// Its messages are too large for this program.
    Size,
    /// Another reason.
    Other(String),
}

impl std::convert::From<AttachError> for Refused {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

impl std::convert::From<ShareError> for Refused {
    fn from(error: ShareError) -> Self {
        Self::Other(error.to_string())
    }
}

/// The end that sends, of a ring that another process has made.
pub(super) fn sink(invitation: &Invitation, of: &MessageType) -> Result<Box<dyn Sink>, Refused> {
    let strategy = WaitStrategy::default();
    match invitation.info()?.kind() {
        ShmKind::MpLossy => classes!(of.bytes(), WORDS, LARGE => {
            let publisher = blocks::mp_lossy_publisher::<WORDS, LARGE>(invitation, of, strategy)?;
            Ok(boxed(publisher))
        })
        .unwrap_or(Err(Refused::Size)),
        ShmKind::Mpsc => Ok(Box::new(blocks::mpsc_producer(invitation, of, strategy)?.0)),
        _ => Err(Refused::Kind),
    }
}

/// A new ring of so many messages, lossless with so many seats, or lossy.
pub(super) fn make(
    capacity: usize,
    of: &MessageType,
    seats: Option<u16>,
) -> Result<(Box<dyn Sink>, Invitation), Refused> {
    let builder = Builder::new(capacity);
    classes!(of.bytes(), WORDS, LARGE => Ok(match seats {
        None => {
            let (publisher, _, invitation) = blocks::lossy::<WORDS, LARGE>(builder, of)?;
            (boxed(publisher), invitation)
        }
        Some(seats) => {
            let (publisher, invitation) = blocks::lossless::<WORDS, LARGE>(builder, of, seats.into())?;
            (boxed(publisher), invitation)
        }
    }))
    .unwrap_or(Err(Refused::Size))
}

/// The end that receives.
pub(super) fn source(
    invitation: &Invitation,
    of: &MessageType,
    from: From,
) -> Result<Box<dyn Source>, Refused> {
    let strategy = WaitStrategy::default();
    let other = |error: &dyn std::fmt::Display| Refused::Other(error.to_string());
    match invitation.info()?.kind() {
        ShmKind::Lossy | ShmKind::MpLossy => classes!(of.bytes(), WORDS, LARGE => {
            let ring = blocks::accept::<WORDS, LARGE>(invitation, of, strategy)?;
            let subscribable = ring.subscribable();
            let subscriber = match from {
                From::Oldest => subscribable.subscribe_from_oldest(),
                From::Newest => subscribable.subscribe(),
            };
            // Without a mark it does its work as well.
            let mark = ring.mark().ok();
            Ok(Box::new(Subscribed { subscriber, mark, state: move || ring.publisher() }) as Box<dyn Source>)
        })
        .unwrap_or(Err(Refused::Size)),
        ShmKind::Lossless => classes!(of.bytes(), WORDS, LARGE => {
            let ring = blocks::accept_lossless::<WORDS, LARGE>(invitation, of, strategy)?;
            let subscriber = match from {
                From::Oldest => ring.subscribe_from_oldest(),
                From::Newest => ring.subscribe(),
            };
            let subscriber = subscriber.map_err(|error| other(&error))?;
            let state = move || ring.publisher();
            Ok(Box::new(Subscribed { subscriber, mark: None, state }) as Box<dyn Source>)
        })
        .unwrap_or(Err(Refused::Size)),
        ShmKind::Spsc => {
            let (consumer, peer) = blocks::spsc_consumer(invitation, of, strategy)?;
            Ok(Box::new(Consuming { consumer, bytes: of.bytes(), others: peer }))
        }
        ShmKind::Mpsc => {
            let (consumer, places) = blocks::mpsc_next_consumer(invitation, of, strategy)?;
            Ok(Box::new(Consuming { consumer, bytes: of.bytes(), others: places }))
        }
        _ => Err(Refused::Kind),
    }
}

/// A handle that sends blocks.
struct Blocks<S>(S);

fn boxed<const WORDS: usize, const LARGE: bool>(
    handle: impl Transmit<Item = Block<WORDS, LARGE>> + 'static,
) -> Box<dyn Sink> {
    Box::new(Blocks(handle))
}

/// A message on the stack.
trait OfBytes {
    fn of_bytes(message: &[u8]) -> Self;
}

impl<const WORDS: usize, const LARGE: bool> OfBytes for Block<WORDS, LARGE> {
    fn of_bytes(message: &[u8]) -> Self {
        let mut words = [0_u64; WORDS];
        bytemuck::cast_slice_mut(&mut words)[..message.len()].copy_from_slice(message);
        Self(words)
    }
}

impl<S: Transmit<Item: OfBytes>> Sink for Blocks<S> {
    fn put(&mut self, message: &[u8], patience: Duration) -> Result<(), SendTimeoutError<()>> {
        self.0.send_timeout(S::Item::of_bytes(message), patience).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => SendTimeoutError::Timeout(()),
            SendTimeoutError::Closed(_) => SendTimeoutError::Closed(()),
        })
    }
}

/// A message is as many slots as it has bytes.
impl<K: AnyKind + InPlace> Sink for Producer<u8, K> {
    fn put(&mut self, message: &[u8], patience: Duration) -> Result<(), SendTimeoutError<()>> {
        let room = self.reserve_timeout(message.len(), patience)?;
        // (Whole messages lie beside each other.)
        assert_eq!(room.write_slice(message), message.len());
        Ok(())
    }
}

/// A subscriber, and how the process is that publishes.
struct Subscribed<T: annulus::Message, M: Mode, F> {
    subscriber: Subscriber<T, M>,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    state: F,
}

impl<const WORDS: usize, const LARGE: bool, M: Mode, F: Fn() -> PeerState> Source
    for Subscribed<Block<WORDS, LARGE>, M, F>
{
    fn take(&mut self, message: &mut [u8], patience: Duration) -> Result<(), RecvTimeoutError> {
        let Block(words) = self.subscriber.recv_timeout(patience)?;
        message.copy_from_slice(&bytemuck::cast_slice(&words)[..message.len()]);
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.subscriber.len()
    }

    fn lost(&self) -> u64 {
        self.subscriber.total_lagged()
    }

    fn show(&self) {
        if let Some(mark) = &self.mark {
            mark.set(self.subscriber.cursor());
        }
    }

    fn is_orphan(&self) -> bool {
        (self.state)() == PeerState::Dead
    }
}

/// A consumer of messages of so many bytes.
struct Consuming<K: AnyKind, O> {
    consumer: Consumer<u8, K>,
    bytes: usize,
    others: O,
}

/// Who sends.
trait Others {
    fn have_died(&self) -> bool;
}

impl Others for Peer {
    fn have_died(&self) -> bool {
        self.state() == Some(PeerState::Dead)
    }
}

impl Others for Places {
    fn have_died(&self) -> bool {
        self.taken() == 0 && self.died() > 0
    }
}

impl<K: AnyKind + InPlace, O: Others> Source for Consuming<K, O> {
    fn take(&mut self, message: &mut [u8], patience: Duration) -> Result<(), RecvTimeoutError> {
        let there = self.consumer.wait_readable_shared_timeout(patience)?;
        there.slice(..self.bytes).copy_to(message);
        self.consumer.advance(self.bytes);
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.consumer.len() / self.bytes
    }

    fn lost(&self) -> u64 {
        0
    }

    fn show(&self) {}

    fn is_orphan(&self) -> bool {
        self.others.have_died()
    }
}
