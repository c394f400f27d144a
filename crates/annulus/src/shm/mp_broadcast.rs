//! Broadcast rings that several processes publish to, and any number of processes subscribe to. They are
//! lossy, or [lossless](#lossless-rings).
//!
//! Publishers join and leave while the ring runs. The process that makes the ring has the first one, and
//! [invites](super::Invitation) others, by a socket or by a name. It decides how many [places](Places) for
//! publishers there are. Subscribers [accept](super::Invitation::accept) the same invitation, as for a ring
//! of one publisher; they map the ring read-only, and have the same verbs.
//!
//! All subscribers see all messages in one order. Publishers of a lossy ring never wait: they overwrite the
//! oldest messages, and a subscriber that falls behind is told how many it has lost.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Invitation, Shared, mp_broadcast};
//! use std::os::unix::net::UnixStream;
//!
//! let builder = mp_broadcast::Builder::new(Settings::new(64)).publishers(8);
//! let Shared { handle: mut publisher, peers: places, invitation, .. } = builder.build::<u64>()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//!
//! // Usually two other processes: one subscribes, and one publishes, too.
//! let invitation = Invitation::receive(&there)?;
//! let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
//! let mut other = mp_broadcast::publisher::<u64>(&invitation)?;
//!
//! publisher.publish(1);
//! other.publish(2);
//! assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
//! assert_eq!((places.taken(), places.count()), (2, 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Lossless rings
//!
//! [`build_lossless`](Builder::build_lossless) makes a ring whose publishers wait for the slowest subscriber
//! that has one of the ring's seats, and [`lossless_publisher`] joins it. Subscribers
//! [take a seat](super::Invitation::accept_lossless), as in a lossless ring of one publisher. A publisher
//! claims a message only when there is room for it, so it fills at once what it has claimed.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Invitation, Shared, mp_broadcast};
//! use std::os::unix::net::UnixStream;
//!
//! let builder = mp_broadcast::Builder::new(Settings::new(64)).publishers(8);
//! let Shared { handle: mut publisher, invitation, .. } = builder.build_lossless::<u64>(4)?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//!
//! // Usually two other processes.
//! let invitation = Invitation::receive(&there)?;
//! let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
//! let mut other = mp_broadcast::lossless_publisher::<u64>(&invitation)?;
//!
//! publisher.publish(1).unwrap();
//! other.publish(2).unwrap();
//! assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
//! assert_eq!(subscriber.total_lagged(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each message whose publish has returned is received by each subscriber that had its seat before, once, and
//! in one order by all. A subscriber begins with the next message, or half a ring before, and from there on
//! no publisher overwrites what it needs.
//!
//! - *A publisher dies in the middle of a publish:* the numbers that it had claimed and not written are left
//!   out (one, or up to 64 of a batch). No message is lost: no publish of them has returned. A subscriber
//!   passes them within 10 ms, or within 50 ms if it sleeps, and counts them in
//!   [`total_lagged`](crate::broadcast::Subscriber::total_lagged), as each number that was left out.
//! - *A subscriber dies:* the first publisher that has no room because of it frees its seat.
//! - *A publisher is stopped in the middle of a publish:* it is alive. Subscribers wait for its message, and
//!   publishers wait once the ring is full, until it goes on or dies. So they do if it was about to claim
//!   messages that another one has claimed, which has died since.
//! - *A subscriber that has a seat is stopped:* publishers wait for it once the ring is full. So they do for
//!   a publisher that is stopped while it frees a seat.
//!
//! # When a process of a lossy ring ends
//!
//! The kernel tells it: each publisher has a lock that ends with its process, however that ends.
//!
//! - *A publisher's:* all that it had published is received, and its place is free at once. If it was in the
//!   middle of a publish, that one message is lost: nobody receives a part of it, and each subscriber counts
//!   it as lagged. Of a batch, what it had written is received, and up to 64 messages are lost (an eighth of
//!   the ring, if that is less). Other publishers go on at once. A subscriber that waits for such a message
//!   passes all of them within 10 ms, or within 50 ms if it sleeps. [`Places::died`] counts such deaths.
//! - *All publishers':* [`when_no_publisher`](Builder::when_no_publisher) decides whether the ring ends, or
//!   waits for the next ones.
//! - *A subscriber's:* no other process notices.
//!
//! A process that is stopped (`SIGSTOP`) is alive, and nobody takes its slots from it. If it was in the
//! middle of a publish, subscribers wait for its messages until the others have published a whole ring. Then
//! they lose these messages, and go on: when the next message is there, or within 10 ms. Publishers pass over
//! its slots each time they come to them, the first time after a short wait. Such a number counts as lagged,
//! although there was never a message. The message comes in the next slot. Only if every slot of the ring
//! belongs to stopped processes, the message is lost, and subscribers count it as lagged. (Subscribers wait
//! in the same way if the stopped publisher was about to claim messages that another one has claimed, which
//! has died since.)
//!
//! # Close
//!
//! Any publisher may [close](Publisher::close) the ring, for all processes. All that was published before is
//! received. A subscriber's process closes it for itself only, because it can't write there.
//!
//! # Trust
//!
//! Publishers can write anything to the memory. A publisher that writes there on purpose can harm the
//! messages of others: they are wrong, or lost, or [corrupt](crate::LossyTryRecvError::Corrupt). No process
//! touches other memory because of that, and none waits or runs for ever. Subscribers can't write to the ring
//! by what they have mapped. But an invitation serves both, so a process that has it may publish, too.
//!
//! Of a lossless ring, all processes write to the page where the seats are. A process that writes wrong
//! numbers there can make publishers wait for no subscriber, or for a long time; subscribers are told what
//! they have lost. A wrong head or intent can make others wait until the ring is closed.

use core::alloc::Layout as Slots;
use core::ptr::NonNull;
use std::boxed::Box;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::directory::{Directory, PublishedName};
use super::error::{AttachError, FindError, NameError, ShareError};
use super::format::{Extent, Identity, LANE_CELLS, Layout, shown};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::names::LONGEST_ANSWER;
use super::places::{ENDS, MOST_PLACES, Table, byte_of, free_place};
use super::process::ProcessId;
use super::queue::{PlaceLock, damaged, numbers};
use super::seats::{MOST_SEATS, awaiting, check_seats};
use super::shared::{Shared, WhenGone};
use super::sleepers::{self, Rows};
use crate::base::peer_liveness::NowAndThen;
use crate::broadcast::{Across, FellowParts, FellowPublisher, Lossless, Mode, fellow_of_another};
use crate::error::CapacityError;
use crate::lane::PlaceTable;
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::os::lock;
use crate::os::shared_memory::Access;
use crate::ring::{ClaimPlaces, Claims, Known, MIN_CAPACITY, Mirror, Writers, slots_layout, stride_for};
use crate::stats::HandleCount;
use crate::sync::AtomicU64;
use crate::wait::{Remote, WaitStrategy};

pub use super::places::Places;

/// A publisher of such a ring: of a lossy one, or of a [`Lossless`] one.
pub use crate::broadcast::FellowPublisher as Publisher;

/// Settings of a ring that several processes publish to, and the verb that makes it.
///
/// See the [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Builder {
    ring: crate::Settings,
    publishers: usize,
    when_no_publisher: WhenGone,
}

impl Builder {
    /// A ring with 16 places, and the settings of `ring`: its capacity, its name, its memory, and how
    /// publishers and subscribers of this process wait.
    #[must_use]
    pub fn new(ring: crate::Settings) -> Self {
        Self { ring, publishers: 16, when_no_publisher: WhenGone::Wait }
    }

    /// How many publishers there can be at one time: 1 to 1024, with the first one.
    #[must_use]
    pub fn publishers(mut self, places: usize) -> Self {
        self.publishers = places;
        self
    }

    /// What happens to the ring when all publishers are gone, after at least one was there. By default, it
    /// waits for the next ones. By [`Close`](WhenGone::Close), it ends: subscribers are told at once when the
    /// last publisher leaves, and within 50 ms when it has died.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, WhenGone, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let builder = builder.when_no_publisher(WhenGone::Close);
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(1);
    /// drop(publisher);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn when_no_publisher(mut self, policy: WhenGone) -> Self {
        self.when_no_publisher = policy;
        self
    }

    /// Makes the ring, and its first publisher. The [`Invitation`] is for all other publishers and
    /// subscribers, also in this process.
    ///
    /// The process registers with the kernel for the barriers of sleepers (`membarrier(2)`, global
    /// expedited), and so does the process of each publisher. This takes some milliseconds with the first
    /// such ring, if there is a second thread. Where the system refuses it, the publisher executes a full
    /// fence with each message.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such ring can be, also with places for 0 publishers or more than 1024; or the
    /// system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{ShareError, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let made = builder.clone().publishers(3).build::<u64>()?;
    /// assert_eq!(made.handle.capacity(), 64);
    /// assert_eq!((made.peers.count(), made.peers.taken()), (3, 1));
    /// let error = builder.publishers(0).build::<u64>().map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Producers { producers: 0, most: 1024 }));
    /// # Ok::<(), ShareError>(())
    /// ```
    pub fn build<T: Message>(self) -> Result<Shared<Publisher<T>, Places>, ShareError> {
        self.build_for(&MessageType::of::<T>())
    }

    /// As [`build`](Self::build), for any message type of which all bytes are values.
    pub(super) fn build_for<T: Message>(
        self,
        of: &MessageType,
    ) -> Result<Shared<Publisher<T>, Places>, ShareError> {
        self.create(of, None)
    }

    /// Makes a lossless ring for subscribers in so many `seats`, and its first publisher. All else is as for
    /// [`build`](Self::build). The ring's settings may have a [headroom](crate::Settings::headroom).
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such ring can be, also with 0 seats or more than 1024; or the system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{ShareError, Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(2));
    /// let Shared { handle: mut publisher, invitation, .. } =
    ///     builder.clone().build_lossless::<u64>(1)?;
    /// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
    /// publisher.publish_batch(&[1, 2]).unwrap();
    /// assert!(publisher.try_publish(3).unwrap_err().is_full(), "it waits for the subscriber");
    /// assert_eq!(subscriber.recv(), Ok(1));
    /// assert!(publisher.try_publish(3).is_ok());
    ///
    /// let error = builder.build_lossless::<u64>(0).map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Seats { seats: 0, most: 1024 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_lossless<T: Message>(
        self,
        seats: usize,
    ) -> Result<Shared<Publisher<T, Lossless>, Places>, ShareError> {
        self.build_lossless_for(&MessageType::of::<T>(), seats)
    }

    /// As [`build_lossless`](Self::build_lossless), for any message type of which all bytes are values.
    pub(super) fn build_lossless_for<T: Message>(
        self,
        of: &MessageType,
        seats: usize,
    ) -> Result<Shared<Publisher<T, Lossless>, Places>, ShareError> {
        check_seats(seats)?;
        self.create(of, Some(seats))
    }

    fn create<T: Message, M: Mode>(
        self,
        of: &MessageType,
        seats: Option<usize>,
    ) -> Result<Shared<Publisher<T, M>, Places>, ShareError> {
        create_ring(self.ring, of, (self.publishers, seats), self.when_no_publisher)
    }

    /// A publisher of the ring that has this name in a directory. If there is none, or its process has ended,
    /// this makes one and gives it the name, which it returns as well. So several processes can begin in any
    /// order. See [`shm::mp_publish`](super::mp_publish) for the directory of the user.
    ///
    /// The settings of this builder are for a ring that it makes. One that is there keeps its own.
    ///
    /// The name belongs to the process that made the ring. When that process ends, the others keep using
    /// their ring, which has no name then; the next process that asks for the name makes another ring. So the
    /// process that lives longest should come first.
    ///
    /// In a directory that others may use it may have to ask the process that has the name for its
    /// descriptors, and waits for the answer, for two seconds at most: then
    /// [`NoAnswer`](NameError::NoAnswer). Otherwise it does not wait. It repeats its look, for two seconds at
    /// most, if another process makes such a ring, or ends, meanwhile.
    ///
    /// # Errors
    ///
    /// [`FindError`]: of the name, of a ring that can't be, or of the ring that is there. That one may have
    /// no [place](AttachError::NoPlace) left, be [closed](AttachError::Closed), or be another kind of ring.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, NamedSubscriber, Received, mp_broadcast};
    /// # let path = std::env::temp_dir().join(format!("annulus-publish-in-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let mut subscriber = NamedSubscriber::<u64>::new(&directory, "prices")?.begin_with_oldest();
    ///
    /// // Usually two processes.
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let (mut first, name) = builder.clone().publish_in::<u64>(&directory, "prices")?;
    /// let (mut second, no_name) = builder.publish_in::<u64>(&directory, "prices")?;
    /// assert!(name.is_some() && no_name.is_none());
    ///
    /// first.publish(1);
    /// second.publish(2);
    /// assert!(matches!(subscriber.recv()?, Received::Began { missed: 0, .. }));
    /// assert_eq!(subscriber.recv()?, Received::Message(1));
    /// assert_eq!(subscriber.recv()?, Received::Message(2));
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_in<T: Message>(
        self,
        directory: &Directory,
        name: &str,
    ) -> Result<(Publisher<T>, Option<PublishedName>), FindError> {
        let last = Instant::now() + LONGEST_ANSWER;
        loop {
            let refused = match directory.find(name) {
                Err(NameError::NotFound { .. } | NameError::Dead { .. }) => {
                    let Shared { handle, invitation, .. } = self.clone().build()?;
                    match invitation.publish(directory, name) {
                        // Another process was faster.
                        Err(refused @ FindError::Name(NameError::Taken { .. })) => refused,
                        given => return Ok((handle, Some(given?))),
                    }
                }
                found => match Invitation::find(&found?) {
                    // It has ended since.
                    Err(refused @ FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => {
                        refused
                    }
                    invitation => return Ok((publisher(&invitation?)?, None)),
                },
            };
            if last <= Instant::now() {
                return Err(refused);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A further publisher of a ring, usually of another process. It takes the first place that is free, and
/// gives it back when it is dropped.
///
/// If the place's last publisher died in the middle of a publish, its message is marked as lost.
///
/// O(places), a system call for each that is taken.
///
/// # Errors
///
/// [`NoPlace`](AttachError::NoPlace): all places are taken. [`Closed`](AttachError::Closed): the ring is
/// closed. Other errors: it is no such ring, or of another type, size or version; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{AttachError, Shared, mp_broadcast};
///
/// let builder = mp_broadcast::Builder::new(Settings::new(64)).publishers(2);
/// let Shared { handle: mut first, invitation, .. } = builder.build::<u64>()?;
/// let mut second = mp_broadcast::publisher::<u64>(&invitation)?;
/// let error = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 2 }));
///
/// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
/// second.publish(1);
/// first.publish(2);
/// assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn publisher<T: Message>(invitation: &Invitation) -> Result<Publisher<T>, AttachError> {
    join(invitation, &MessageType::of::<T>(), invitation.strategy)
}

/// A further publisher of a [lossless](Builder::build_lossless) ring. All else is as for [`publisher`].
///
/// # Errors
///
/// Those of [`publisher`].
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{AttachError, Shared, mp_broadcast};
///
/// let builder = mp_broadcast::Builder::new(Settings::new(64)).publishers(2);
/// let Shared { handle: mut first, invitation, .. } = builder.build_lossless::<u64>(4)?;
/// let mut second = mp_broadcast::lossless_publisher::<u64>(&invitation)?;
/// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
/// second.publish(1).unwrap();
/// first.publish(2).unwrap();
/// assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
///
/// let error = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::Kind { .. }), "it is no lossy one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossless_publisher<T: Message>(
    invitation: &Invitation,
) -> Result<Publisher<T, Lossless>, AttachError> {
    join(invitation, &MessageType::of::<T>(), invitation.strategy)
}

// How such a ring is made, how a publisher joins, and what a process that subscribes sees of the publishers.
// `ring/claims.rs` says how they share the slots, `places.rs` which of them are there.

/// What lies in memory of such a ring, by the mode of its publishers.
fn kind_of<M: Mode>() -> ShmKind {
    if M::LOSSLESS { ShmKind::MpLossless } else { ShmKind::MpLossy }
}

/// A ring, and its first publisher, which has the first place. `seats`: of a lossless one.
///
/// Any bytes are a `T`.
fn create_ring<T: Message, M: Mode>(
    builder: crate::Settings,
    of: &MessageType,
    (places, seats): (usize, Option<usize>),
    when_no_publisher: WhenGone,
) -> Result<Shared<FellowPublisher<T, M>, Places>, ShareError> {
    let capacity = builder.capacity;
    if capacity < MIN_CAPACITY {
        return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY }.into());
    }
    if !(1..=MOST_PLACES).contains(&places) {
        return Err(ShareError::Producers { producers: places, most: MOST_PLACES });
    }
    let first = builder.first_sequence()?;
    let (payload, schema) = of.written()?;
    let stride = stride_for(payload.bytes, Writers::Claimants);
    let slot_bytes = stride * size_of::<u64>();
    let too_large = || CapacityError::TooLarge { capacity, slot_bytes };
    let identity = Identity::new()?;
    let rows = seats.map(|seats| rows_behind(places, seats));
    let page = Arc::new(sleepers::create_with_places_and_seats(identity, places, rows, first)?);
    let layout = Layout {
        kind: kind_of::<M>(),
        payload,
        slot_bytes,
        capacity,
        cells: LANE_CELLS * places,
        start: first.get(),
        creator: ProcessId::current()?,
        identity,
    };
    let slots = slots_layout(stride, capacity).ok_or_else(too_large)?;
    let offset = layout.slots_offset().ok_or_else(too_large)?;
    let bytes = offset.checked_add(slots.size()).ok_or_else(too_large)?;
    let memory = PlacedMemory::create("annulus broadcast", bytes, Access::Everyone, builder.memory)?;
    let memory = Arc::new(memory);
    layout.write(&memory, &schema).ok_or_else(too_large)?;
    Layout::promise(&memory, builder.deadline)?;
    let ends = when_no_publisher == WhenGone::Close;
    numbers(&memory).begin_without_lane(if ends { ENDS } else { 0 });
    // SAFETY: it is in the memory, which lives.
    let shown = unsafe { shown(&memory).as_ref() };
    shown.begin_at(first);
    if let Some(seats) = seats {
        shown.begin_lossless_of_fellows(builder.headroom, seats);
    }
    let table = |page| Table { memory: Arc::clone(&memory), page, first: 0, count: places, ends };
    let invitation = Invitation::new(lock::reopened_writable(&memory)?, lock::reopened_writable(&page)?);
    // By a separate opening, because a look at a lock does not see locks of its own opening.
    let looks_on = sleepers::attach_anew(&invitation.sleepers, identity).map_err(io::Error::other)?;
    let looks_on = Places(Arc::new(table(Arc::new(looks_on))));
    // (Nobody else has the page.)
    let place_lock = PlaceLock::take(&page, byte_of(0), false)?
        .ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))?;
    let table = Arc::new(table(page));
    let (sleepers, fellow) = fellow(&table, &layout, offset, rows, (0, place_lock)).ok_or_else(too_large)?;
    table.come(0);
    let slots = (Block::shared(memory, offset, slots), stride);
    // SAFETY: new memory, all zero, and the claims are of its slots. All processes go by
    // `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations. Any bytes are a
    // `T`.
    let handle = unsafe { builder.fellow_across(slots, sleepers, fellow) }?;
    Ok(Shared { handle, peers: looks_on, invitation })
}

/// A further publisher.
///
/// Any bytes are a `T`.
pub(super) fn join<T: Message, M: Mode>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<FellowPublisher<T, M>, AttachError> {
    let kind = kind_of::<M>();
    invitation.is_for(kind, of)?;
    let ring = lock::reopened_writable(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(ring, false)?;
    layout.is_for(kind, of, &memory)?;
    let Extent { offset, slots, stride, first } = Extent::in_memory(&layout, Writers::Claimants, &memory)?;
    if layout.capacity < MIN_CAPACITY {
        return Err(damaged("the capacity", layout.capacity as u64));
    }
    let memory = PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?;
    let table = Arc::new(Table::of(&invitation.sleepers, Arc::new(memory), &layout)?);
    let (headroom, rows) = seats_in(&table, &layout)?;
    // places.join1.
    let (place, place_lock) = free_place(&table)
        .map_err(AttachError::System)?
        .ok_or(AttachError::NoPlace { places: table.count })?;
    let (sleepers, fellow) = fellow(&table, &layout, offset, rows, (place, place_lock))
        .ok_or_else(|| damaged("the seats", rows.map_or(0, |rows| rows.count as u64)))?;
    // If all publishers are gone, and some process may have seen that, the ring is over: no publisher may
    // join.
    if fellow.claims.is_closed() || table.is_over() {
        fellow.claims.close();
        return Err(AttachError::Closed);
    }
    let slots = (Block::shared(Arc::clone(&table.memory), offset, slots), stride);
    let bounds = (layout.capacity, headroom);
    // SAFETY: as in `create_ring`, of memory that another process has filled.
    let publisher = unsafe { fellow_of_another(bounds, first, strategy, (slots, sleepers), fellow) };
    table.come(place);
    Ok(publisher)
}

/// What a process that subscribes sees of a ring, and its headroom. The ring also counts as ended when it has
/// no publisher and `is_given_up` returns true.
pub(super) fn seen(
    table: &Arc<Table>,
    layout: &Layout,
    (offset, slots, stride): (usize, Slots, usize),
    is_given_up: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<(Across, usize), AttachError> {
    let (headroom, rows) = seats_in(table, layout)?;
    let watched = Arc::clone(table);
    let is_over = Arc::new(move || {
        let is_left = || watched.came() != 0 && watched.taken(None) == 0 && is_given_up();
        watched.is_over() || is_left()
    });
    let asked = Arc::clone(&is_over);
    let claims = Arc::new(claims(table, None, layout, offset, move || asked()));
    let watched_claims = Arc::clone(&claims);
    let is_gone = move || is_over() || watched_claims.has_stuck();
    let [published, released] = sleepers::remotes_of_consumer(&table.page);
    let awaiting = match rows {
        None => None,
        Some(rows) => {
            let seated = awaiting(Arc::clone(&table.page), rows, released);
            Some(seated.ok_or_else(|| damaged("the seats", rows.count as u64))?)
        }
    };
    let across = Across {
        slots: (Block::shared(Arc::clone(&table.memory), offset, slots), stride),
        mirror: Mirror::Shares(claims),
        sleepers: published.woken_from_elsewhere(is_gone),
        awaiting,
    };
    Ok((across, headroom))
}

/// The seats behind so many places: the first lock is the next one behind those of the places.
fn rows_behind(places: usize, seats: usize) -> Rows {
    Rows { first: byte_of(places), count: seats }
}

/// What the memory says of the headroom and the seats; no seats, if the ring is lossy.
fn seats_in(table: &Table, layout: &Layout) -> Result<(usize, Option<Rows>), AttachError> {
    if !layout.kind.is_lossless() {
        return Ok((0, None));
    }
    // SAFETY: it is in the memory, which lives.
    let (headroom, seats) = unsafe { shown(&table.memory).as_ref() }.headroom_and_seats_of_fellows();
    if !(1..=MOST_SEATS as u64).contains(&seats) {
        return Err(damaged("the seats", seats));
    }
    if headroom >= layout.capacity as u64 {
        return Err(damaged("the headroom", headroom));
    }
    // (Both fit, by these bounds.)
    Ok((headroom as usize, Some(rows_behind(table.count, seats as usize))))
}

/// The publisher that has this place, by the lock, and where subscribers sleep that wait for messages.
/// `rows`: the seats of a lossless ring. `None` if the page is too short for them.
fn fellow(
    table: &Arc<Table>,
    layout: &Layout,
    offset: usize,
    rows: Option<Rows>,
    (place, place_lock): (usize, PlaceLock),
) -> Option<(Remote, FellowParts)> {
    let claims = Arc::new(claims(table, Some(place), layout, offset, || false));
    let [mut published, released] = sleepers::remotes_of_fellow(&table.page);
    let awaiting = match rows {
        None => None,
        Some(rows) => {
            // Its tasks look where a process is gone that they wait for, or that has closed the ring.
            let (watched, page) = (Arc::clone(&claims), Arc::clone(&table.page));
            let is_any_gone = move || watched.is_closed() || sleepers::has_dead(&page, rows);
            let watched = Arc::clone(&claims);
            published = published.woken_from_elsewhere(move || watched.is_closed() || watched.has_stuck());
            Some(awaiting(Arc::clone(&table.page), rows, released.woken_from_elsewhere(is_any_gone))?)
        }
    };
    let left = Arc::clone(table);
    let leave = Box::new(move || left.leave(place));
    Some((published, FellowParts { claims, place, leave, lock: Box::new(place_lock), awaiting }))
}

/// The slots begin `offset` bytes behind the beginning of the memory, in which they were checked to lie.
fn claims(
    table: &Arc<Table>,
    own: Option<usize>,
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
    unsafe { Claims::new(shown(memory), slots, is_writable, FellowTable::new(table, own), is_over) }
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
        let mut table = Self { memory, page, first: 0, count, ends: false };
        let policies = table.queue().detail();
        if policies & !ENDS != 0 {
            return Err(damaged("the policies", policies));
        }
        table.ends = policies & ENDS != 0;
        Ok(table)
    }
}

/// The places, as publishers that claim positions see them.
struct FellowTable {
    table: Arc<Table>,
    known: Box<[Known]>,
    /// The place whose lock this opening has, which it does not see.
    own: Option<usize>,
}

impl FellowTable {
    fn new(table: &Arc<Table>, own: Option<usize>) -> Self {
        let known = (0..table.count).map(|_| Known::nothing(NowAndThen::new())).collect();
        Self { table: Arc::clone(table), known, own }
    }
}

impl ClaimPlaces for FellowTable {
    fn known(&self, place: usize) -> &Known {
        &self.known[place]
    }

    fn is_gone(&self, place: usize) -> bool {
        !self.table.is_held(place)
    }

    fn have_died(&self) -> bool {
        self.table.died() != 0
    }

    fn publishers(&self) -> Option<HandleCount> {
        Some(self.table.handles(self.own))
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
