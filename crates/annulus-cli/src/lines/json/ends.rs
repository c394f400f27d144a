//! [`Sink`] and [`Source`]: ends of rings whose type is known by its schema only.

use std::time::Duration;

use annulus::broadcast::{Builder, Mode, Subscriber};
use annulus::queue::{AnyKind, Consumer, InPlace, Producer};
use annulus::shm::blocks::{self, Block, MessageType, classes};
use annulus::shm::broadcast::Mark;
use annulus::shm::{AttachError, Invitation, PeerState, ShmKind};
use annulus::{RecvTimeoutError, SendTimeoutError, Transmit, WaitStrategy};

use super::super::arguments::From;
use crate::text::grouped;

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
    /// There is no such end of such a ring.
    Kind,
    /// In words.
    Why(String),
}

impl std::convert::From<AttachError> for Refused {
    fn from(error: AttachError) -> Self {
        Self::Why(error.to_string())
    }
}

/// Of broadcast rings; queues have messages of any size.
fn too_large(of: &MessageType) -> String {
    let bytes = grouped(of.bytes() as u64);
    format!("a message of a broadcast ring has up to 4,096 bytes here, and this one has {bytes}")
}

/// The end that sends, of a ring that another process has made.
pub(super) fn sink(invitation: &Invitation, of: &MessageType) -> Result<Box<dyn Sink>, Refused> {
    let strategy = WaitStrategy::default();
    match invitation.info()?.kind() {
        ShmKind::MpLossy => classes!(of.bytes(), WORDS, LARGE => {
            let publisher = blocks::mp_lossy_publisher::<WORDS, LARGE>(invitation, of, strategy)?;
            Ok(boxed(publisher))
        })
        .unwrap_or_else(|| Err(Refused::Why(too_large(of)))),
        ShmKind::Mpsc => Ok(Box::new(blocks::mpsc_producer(invitation, of, strategy)?.0)),
        _ => Err(Refused::Kind),
    }
}

/// A new ring of so many messages, lossless with so many seats, or lossy.
pub(super) fn make(
    capacity: usize,
    of: &MessageType,
    seats: Option<u16>,
) -> Result<(Box<dyn Sink>, Invitation), String> {
    let builder = Builder::new(capacity);
    let made = classes!(of.bytes(), WORDS, LARGE => match seats {
        None => blocks::lossy::<WORDS, LARGE>(builder, of)
            .map(|(publisher, _, invitation)| (boxed(publisher), invitation)),
        Some(seats) => blocks::lossless::<WORDS, LARGE>(builder, of, seats.into())
            .map(|(publisher, invitation)| (boxed(publisher), invitation)),
    });
    made.ok_or_else(|| too_large(of))?.map_err(|error| error.to_string())
}

/// The end that receives.
pub(super) fn source(
    invitation: &Invitation,
    of: &MessageType,
    from: From,
) -> Result<Box<dyn Source>, Refused> {
    let strategy = WaitStrategy::default();
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
            let is_orphan = move || ring.publisher() == PeerState::Dead;
            Ok(Box::new(Subscribed { subscriber, mark, is_orphan }) as Box<dyn Source>)
        })
        .unwrap_or_else(|| Err(Refused::Why(too_large(of)))),
        ShmKind::Lossless => classes!(of.bytes(), WORDS, LARGE => {
            let ring = blocks::accept_lossless::<WORDS, LARGE>(invitation, of, strategy)?;
            let subscriber = match from {
                From::Oldest => ring.subscribe_from_oldest(),
                From::Newest => ring.subscribe(),
            };
            let subscriber = subscriber.map_err(|error| Refused::Why(error.to_string()))?;
            let is_orphan = move || ring.publisher() == PeerState::Dead;
            Ok(Box::new(Subscribed { subscriber, mark: None, is_orphan }) as Box<dyn Source>)
        })
        .unwrap_or_else(|| Err(Refused::Why(too_large(of)))),
        ShmKind::Spsc => {
            let (consumer, peer) = blocks::spsc_consumer(invitation, of, strategy)?;
            let is_orphan = move || peer.state() == Some(PeerState::Dead);
            Ok(Box::new(Consuming { consumer, bytes: of.bytes(), is_orphan }))
        }
        ShmKind::Mpsc => {
            let (consumer, places) = blocks::mpsc_next_consumer(invitation, of, strategy)?;
            let is_orphan = move || places.taken() == 0 && places.died() > 0;
            Ok(Box::new(Consuming { consumer, bytes: of.bytes(), is_orphan }))
        }
        _ => Err(Refused::Kind),
    }
}

/// A handle that sends blocks.
struct Blocks<S, const WORDS: usize, const LARGE: bool>(S);

fn boxed<const WORDS: usize, const LARGE: bool>(
    handle: impl Transmit<Item = Block<WORDS, LARGE>> + 'static,
) -> Box<dyn Sink> {
    Box::new(Blocks(handle))
}

impl<S: Transmit<Item = Block<WORDS, LARGE>>, const WORDS: usize, const LARGE: bool> Sink
    for Blocks<S, WORDS, LARGE>
{
    fn put(&mut self, message: &[u8], patience: Duration) -> Result<(), SendTimeoutError<()>> {
        let mut words = [0_u64; WORDS];
        bytemuck::cast_slice_mut(&mut words)[..message.len()].copy_from_slice(message);
        self.0.send_timeout(Block(words), patience).map_err(|error| match error {
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

/// A subscriber, and whether the process that publishes has died.
struct Subscribed<T: annulus::Message, M: Mode, F> {
    subscriber: Subscriber<T, M>,
    /// Where it shows how far it is, if nothing else does.
    mark: Option<Mark>,
    is_orphan: F,
}

impl<const WORDS: usize, const LARGE: bool, M: Mode, F: Fn() -> bool> Source
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
        (self.is_orphan)()
    }
}

/// A consumer of messages of so many bytes, and whether all processes that send have died.
struct Consuming<K: AnyKind, F> {
    consumer: Consumer<u8, K>,
    bytes: usize,
    is_orphan: F,
}

impl<K: AnyKind + InPlace, F: Fn() -> bool> Source for Consuming<K, F> {
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
        (self.is_orphan)()
    }
}
