//! Rings between processes, over the module `shm` of the Rust library.

// Decision 0129: what C's messages are there.

use core::ffi::CStr;
use core::mem::ManuallyDrop;
use core::time::Duration;
use std::ffi::OsStr;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{AnyKind, InPlace};
use annulus::schema::Checker;
use annulus::shm::blocks::{self, MessageType};
use annulus::shm::mpsc::{self, Places};
use annulus::shm::{self, Accepted, Directory, Peer, PeerState, ShmKind, WhenGone};
use annulus::{Closer, Observer, broadcast};

use super::checked::{checked, checked_in_place};
use super::error::Shared;
use super::options::{NumbersOf, SharedOptions};
use super::watched::watched;
use crate::blocks::{Consumer as BlockConsumer, Producer as BlockProducer};
use crate::broadcast::{Subscribable, Subscribes};
use crate::bytes::{BytesConsumer, BytesProducer, Reading, Writing, ring_of as ring_of_records};
use crate::consumer::{Consumer, ConsumerEnd};
use crate::notified::Notified;
use crate::options::Patience;
use crate::producer::{Producer, ProducerEnd};
use crate::publisher::Publisher;
use crate::ring::annulus_peer::{
    self, ANNULUS_PEER_ALIVE, ANNULUS_PEER_CLOSED, ANNULUS_PEER_DEAD, ANNULUS_PEER_NONE,
};
use crate::ring::{AskPeer, Ring};
use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_OCCUPIED, ANNULUS_WRONG_SIZE};
use crate::tsan::Order;
use crate::typed::{Counts, Get, Receiving, Sending, Words, alone};

pub(crate) struct Invitation(pub(super) shm::Invitation);

#[allow(dead_code, reason = "its drop takes the name back")]
pub(crate) struct Name(shm::PublishedName);

/// The socket, which stays the caller's.
fn with_socket<T>(socket: i32, work: impl FnOnce(&UnixStream) -> std::io::Result<T>) -> Shared<T> {
    if socket < 0 {
        return Err(ANNULUS_INVALID.into());
    }
    // SAFETY: it is not closed here. If it is no descriptor, or none of a socket, the calls fail.
    let socket = ManuallyDrop::new(unsafe { UnixStream::from_raw_fd(socket) });
    Ok(work(&socket)?)
}

fn directory(path: Option<&CStr>) -> Shared<Directory> {
    let path = path.map(|path| OsStr::from_bytes(path.to_bytes()));
    Ok(path.map_or_else(Directory::of_user, Directory::open)?)
}

impl Invitation {
    pub(crate) fn send(&self, socket: i32) -> Shared {
        with_socket(socket, |socket| self.0.send(socket))
    }

    pub(crate) fn receive(socket: i32) -> Shared<Self> {
        with_socket(socket, shm::Invitation::receive).map(Self)
    }

    pub(crate) fn publish(&self, path: Option<&CStr>, name: &str) -> Shared<Name> {
        Ok(Name(self.0.publish(&directory(path)?, name)?))
    }

    pub(crate) fn find(path: Option<&CStr>, name: &str, patience: Patience) -> Shared<Self> {
        let directory = directory(path)?;
        let wait = |timeout: Option<Duration>| shm::Invitation::wait_for(&directory, name, timeout);
        let invitation = match patience {
            Patience::None => shm::Invitation::find(&directory.find(name)?),
            Patience::For(timeout) => wait(Some(timeout)),
            Patience::Endless => wait(None),
        }?;
        Ok(Self(invitation))
    }
}

impl SharedOptions {
    pub(super) fn messages(&self) -> MessageType {
        match &self.schema {
            Some(schema) => MessageType::described(schema.clone(), self.alignment),
            None => MessageType::of_bytes(self.ring.message_size, self.alignment),
        }
    }

    /// What messages are checked by, if there is something to check.
    pub(super) fn checks(&self) -> Option<Arc<Checker>> {
        let checker = Checker::new(self.schema.as_ref()?);
        (!checker.any_bytes_are_messages()).then(|| Arc::new(checker))
    }

    fn when_consumer_dies(&self) -> WhenGone {
        if self.waits_for_next { WhenGone::Wait } else { WhenGone::Close }
    }

    fn when_no_producer(&self) -> WhenGone {
        if self.closes_with_last { WhenGone::Close } else { WhenGone::Wait }
    }

    pub(super) fn settings(&self) -> Settings {
        let settings = Settings::new(self.ring.capacity).wait_strategy(self.ring.strategy);
        let settings = settings.statistics(self.ring.statistics);
        match self.deadline {
            Some(deadline) => settings.deadline(deadline),
            None => settings,
        }
    }

    /// As [`settings`](Self::settings), of a ring that goes on with the numbers of a name, if one is given.
    fn settings_going_on(&self) -> Shared<Settings> {
        let Some(NumbersOf { directory: path, name }) = &self.numbering else { return Ok(self.settings()) };
        let numbering = directory(path.as_deref())?.numbering(name)?;
        Ok(blocks::continued(numbering, self.settings()))
    }
}

pub(super) fn state(state: PeerState) -> annulus_peer {
    match state {
        PeerState::Alive => ANNULUS_PEER_ALIVE,
        PeerState::Closed => ANNULUS_PEER_CLOSED,
        PeerState::Dead => ANNULUS_PEER_DEAD,
        _ => ANNULUS_PEER_NONE,
    }
}

fn of_peer(peer: Peer) -> AskPeer {
    Arc::new(move || state(peer.state()))
}

/// Of several producers, or publishers.
pub(super) fn of_places(places: Places) -> AskPeer {
    Arc::new(move || state(places.state()))
}

/// A broadcast ring.
fn across(options: &SharedOptions, closer: Closer, observer: Observer) -> Ring {
    Ring { order: Order::across(), ..Ring::of(options.ring, closer, observer) }
}

/// A queue of messages of so many bytes, each of which takes as many slots.
fn ring_of_blocks(slots: usize, size: usize, closer: Closer, observer: Observer, peer: AskPeer) -> Ring {
    Ring {
        capacity: slots / size,
        message_size: size,
        unit: size as u64,
        closer,
        observer: Some(observer),
        peer: Some(peer),
        order: Order::across(),
    }
}

/// The end of a producer, of messages of so many bytes.
fn producer<K: AnyKind + InPlace>(end: queue::Producer<u8, K>, size: usize, peer: AskPeer) -> Producer {
    let ring = ring_of_blocks(end.capacity(), size, end.closer(), end.observer(), peer);
    Producer { end: ProducerEnd::Shared(Box::new(BlockProducer::of(end, size))), ring }
}

/// The end of a consumer, of messages of so many bytes.
fn consumer_of<K: AnyKind + InPlace>(
    end: queue::Consumer<u8, K>,
    options: &SharedOptions,
    peer: AskPeer,
) -> Consumer {
    let size = options.ring.message_size;
    let ring = ring_of_blocks(end.capacity(), size, end.closer(), end.observer(), peer);
    let end = Box::new(BlockConsumer::of(end, size));
    Consumer { end: ConsumerEnd::Shared(checked_in_place(end, options.checks().as_ref())), ring }
}

pub(crate) fn spsc_producer(options: &SharedOptions) -> Shared<(Producer, Invitation)> {
    options.promise_nothing()?;
    let shm::Shared { handle: end, peers: peer, invitation, .. } =
        blocks::spsc_producer(options.settings(), &options.messages(), options.when_consumer_dies())?;
    Ok((producer(end, options.ring.message_size, of_peer(peer)), Invitation(invitation)))
}

pub(crate) fn mpsc_consumer(options: &SharedOptions) -> Shared<(Consumer, Invitation)> {
    options.promise_nothing()?;
    let builder = mpsc::Builder::new(options.settings()).producers(options.places);
    let builder = builder.when_no_producer(options.when_no_producer());
    let builder = builder.when_consumer_dies(options.when_consumer_dies());
    let shm::Shared { handle: end, peers: places, invitation, .. } =
        blocks::mpsc_consumer(builder, &options.messages())?;
    Ok((consumer_of(end, options, of_places(places)), Invitation(invitation)))
}

pub(super) fn mpsc_producer(invitation: &Invitation, options: &SharedOptions) -> Shared<Producer> {
    let wanted = &options.messages();
    let (end, peer) = blocks::mpsc_producer(&invitation.0, wanted, options.ring.strategy)?;
    Ok(producer(end, options.ring.message_size, of_peer(peer)))
}

pub(super) fn consumer(invitation: &Invitation, options: &SharedOptions) -> Shared<Consumer> {
    let (wanted, strategy) = (&options.messages(), options.ring.strategy);
    if invitation.0.info()?.kind() == ShmKind::Mpsc {
        let (end, places) = blocks::mpsc_next_consumer(&invitation.0, wanted, strategy)?;
        return Ok(consumer_of(end, options, of_places(places)));
    }
    let (end, peer) = blocks::spsc_consumer(&invitation.0, wanted, strategy)?;
    Ok(consumer_of(end, options, of_peer(peer)))
}

pub(crate) fn bytes_producer(options: &SharedOptions) -> Shared<(BytesProducer, Invitation)> {
    options.promise_nothing()?;
    let shm::Shared { handle: end, peers: peer, invitation, .. } =
        shm::bytes::producer(options.settings(), options.when_consumer_dies())?;
    let ring = ring_of_records(end.closer(), end.observer(), Some(of_peer(peer)), Order::across());
    Ok((BytesProducer { end: Box::new(Writing::of(end)), ring }, Invitation(invitation)))
}

pub(crate) fn bytes_consumer(invitation: &Invitation, options: &SharedOptions) -> Shared<BytesConsumer> {
    let (mut end, peer) = shm::bytes::consumer(&invitation.0)?;
    end.set_wait_strategy(options.ring.strategy);
    let ring = ring_of_records(end.closer(), end.observer(), Some(of_peer(peer)), Order::across());
    Ok(BytesConsumer { end: Box::new(Reading::of(end)), ring })
}

/// A message on the stack, of the smallest class that holds it. The ring has messages of exactly their size.
pub(super) type Block<const WORDS: usize, const LARGE: bool> = blocks::Block<WORDS, LARGE>;

impl<const WORDS: usize, const LARGE: bool> Words for Block<WORDS, LARGE> {
    const ZERO: Self = blocks::Block([0; WORDS]);
}

/// `classes!(size, WORDS, LARGE => expression)`: as the macro of `typed`.
macro_rules! classes {
    ($size:expr, $WORDS:ident, $LARGE:ident => $make:expr) => {
        blocks::classes!($size, $WORDS, $LARGE => $make).unwrap_or(Err(ANNULUS_WRONG_SIZE.into()))
    };
}
pub(super) use classes;

fn several(options: &SharedOptions) -> Shared<shm::mp_broadcast::Builder> {
    options.begin_anew()?;
    let builder = shm::mp_broadcast::Builder::new(options.settings()).publishers(options.places);
    Ok(builder.when_no_publisher(options.when_no_producer()))
}

pub(crate) fn publisher(kind: u32, options: &SharedOptions) -> Shared<(Publisher, Invitation)> {
    let of = &options.messages();
    match kind {
        crate::ANNULUS_LOSSY => classes!(options.ring.message_size, WORDS, LARGE => {
            let settings = options.settings_going_on()?;
            let shm::Shared { handle: end, invitation, .. } = blocks::lossy::<WORDS, LARGE>(settings, of)?;
            let ring = across(options, end.closer(), end.observer());
            Ok((publisher_of(end, ring), Invitation(invitation)))
        }),
        crate::ANNULUS_LOSSLESS => classes!(options.ring.message_size, WORDS, LARGE => {
            let settings = options.settings_going_on()?;
            let shm::Shared { handle: end, invitation, .. } =
                blocks::lossless::<WORDS, LARGE>(settings, of, options.places)?;
            let ring = across(options, end.closer(), end.observer());
            Ok((publisher_of(end, ring), Invitation(invitation)))
        }),
        crate::ANNULUS_MP_LOSSY => classes!(options.ring.message_size, WORDS, LARGE => {
            let builder = several(options)?;
            let shm::Shared { handle: end, invitation, .. } = blocks::mp_lossy::<WORDS, LARGE>(builder, of)?;
            let ring = across(options, end.closer(), end.observer());
            Ok((publisher_of(end, ring), Invitation(invitation)))
        }),
        crate::ANNULUS_MP_LOSSLESS => classes!(options.ring.message_size, WORDS, LARGE => {
            let builder = several(options)?;
            let shm::Shared { handle: end, invitation, .. } =
                blocks::mp_lossless::<WORDS, LARGE>(builder, of, options.receivers)?;
            let ring = across(options, end.closer(), end.observer());
            Ok((publisher_of(end, ring), Invitation(invitation)))
        }),
        _ => Err(ANNULUS_INVALID.into()),
    }
}

fn publisher_of<S: annulus::Transmit<Item: Words> + 'static>(handle: S, ring: Ring) -> Publisher {
    let sending = Sending { handle, size: ring.message_size, join: alone, lends: None };
    Publisher { end: Box::new(sending), ring, is_lent: false }
}

pub(crate) fn mp_publisher(invitation: &Invitation, options: &SharedOptions) -> Shared<Publisher> {
    let (of, strategy) = (&options.messages(), options.ring.strategy);
    if invitation.0.info()?.kind() == ShmKind::MpLossless {
        return classes!(options.ring.message_size, WORDS, LARGE => {
            let end = blocks::mp_lossless_publisher::<WORDS, LARGE>(&invitation.0, of, strategy)?;
            let ring = Ring { capacity: end.capacity(), ..across(options, end.closer(), end.observer()) };
            Ok(publisher_of(end, ring))
        });
    }
    classes!(options.ring.message_size, WORDS, LARGE => {
        let end = blocks::mp_lossy_publisher::<WORDS, LARGE>(&invitation.0, of, strategy)?;
        let ring = Ring { capacity: end.capacity(), ..across(options, end.closer(), end.observer()) };
        Ok(publisher_of(end, ring))
    })
}

pub(crate) fn subscribable(invitation: &Invitation, options: &SharedOptions) -> Shared<Subscribable> {
    let (of, strategy) = (&options.messages(), options.ring.strategy);
    let info = invitation.0.info()?;
    let deadline = options.deadline.or(info.deadline());
    if matches!(info.kind(), ShmKind::Lossless | ShmKind::MpLossless) {
        classes!(options.ring.message_size, WORDS, LARGE => {
            let accepted = blocks::accept_lossless::<WORDS, LARGE>(&invitation.0, of, strategy)?;
            let asked = accepted.clone();
            let peer: AskPeer = Arc::new(move || state(asked.state()));
            let ring = ring_of(blocks::subscribable_of(&accepted), options, Arc::clone(&peer));
            let looks = Looks { size: options.ring.message_size, checks: options.checks(), deadline, peer };
            let subscribes = Awaited { accepted, looks };
            Ok(Subscribable { subscribes: Box::new(subscribes), ring })
        })
    } else {
        classes!(options.ring.message_size, WORDS, LARGE => {
            let accepted = blocks::accept::<WORDS, LARGE>(&invitation.0, of, strategy)?;
            let asked = accepted.clone();
            let peer: AskPeer = Arc::new(move || state(asked.state()));
            let ring = ring_of(accepted.subscribable(), options, Arc::clone(&peer));
            let looks = Looks { size: options.ring.message_size, checks: options.checks(), deadline, peer };
            let subscribes = Unawaited { accepted, looks };
            Ok(Subscribable { subscribes: Box::new(subscribes), ring })
        })
    }
}

fn ring_of<T: annulus::Message>(
    of: &broadcast::Subscribable<T, broadcast::Foreign>,
    options: &SharedOptions,
    peer: AskPeer,
) -> Ring {
    let ring = across(options, of.closer(), of.observer());
    Ring { capacity: of.capacity(), peer: Some(peer), ..ring }
}

/// A ring whose publisher waits for nobody.
struct Unawaited<const WORDS: usize, const LARGE: bool> {
    accepted: Accepted<Block<WORDS, LARGE>>,
    looks: Looks,
}

/// A ring whose publisher waits for each subscriber that has a seat.
struct Awaited<const WORDS: usize, const LARGE: bool> {
    accepted: shm::broadcast::AcceptedLossless<Block<WORDS, LARGE>>,
    looks: Looks,
}

/// What each of its subscribers looks at.
struct Looks {
    size: usize,
    checks: Option<Arc<Checker>>,
    /// After how long a silence the publisher is overdue.
    deadline: Option<Duration>,
    peer: AskPeer,
}

impl Looks {
    fn over<const WORDS: usize, const LARGE: bool, M: broadcast::Mode>(
        &self,
        subscriber: broadcast::Subscriber<Block<WORDS, LARGE>, M>,
    ) -> Box<dyn Get> {
        let end = checked(get(subscriber, self.size), self.checks.as_ref());
        watched(end, self.deadline, &self.peer)
    }
}

impl<const WORDS: usize, const LARGE: bool> Subscribes for Unawaited<WORDS, LARGE> {
    fn subscribe(&self, from_oldest: bool) -> Done<Box<dyn Get>> {
        let of = self.accepted.subscribable();
        let subscriber = if from_oldest { of.subscribe_from_oldest() } else { of.subscribe() };
        Ok(self.looks.over(subscriber))
    }
}

impl<const WORDS: usize, const LARGE: bool> Subscribes for Awaited<WORDS, LARGE> {
    fn subscribe(&self, from_oldest: bool) -> Done<Box<dyn Get>> {
        let of = &self.accepted;
        let seated = if from_oldest { of.subscribe_from_oldest() } else { of.subscribe() };
        Ok(self.looks.over(seated.map_err(|_| ANNULUS_OCCUPIED)?))
    }
}

fn get<const WORDS: usize, const LARGE: bool, M: broadcast::Mode>(
    subscriber: broadcast::Subscriber<Block<WORDS, LARGE>, M>,
    size: usize,
) -> Box<dyn Get> {
    let counts = |subscriber: &broadcast::Subscriber<Block<WORDS, LARGE>, M>| Counts {
        received: subscriber.total_received(),
        lagged: subscriber.total_lagged(),
        corrupt: 0,
        pending: subscriber.len(),
        next: subscriber.cursor(),
    };
    Box::new(Receiving {
        handle: Notified::Not(subscriber),
        size,
        join: alone,
        counts,
        lends: None,
        begins_with_last: Some(broadcast::Subscriber::begin_with_last),
    })
}
