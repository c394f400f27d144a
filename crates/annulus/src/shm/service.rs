//! Questions between processes: a server answers what any number of clients ask.
//!
//! The process of the server makes the service, with [places](Places) for so many clients, and
//! [invites](super::Invitation) others, by a socket or by a name. Each of them [joins](fn@client) when it
//! likes. A question, and an answer, is any [`Message`].
//!
//! A client may have several questions open, and receives their answers in any order. The server may keep
//! requests, and answers them in any order, from any thread. Each place has a ring for questions, and a
//! slot for the answer to each question that may be open. So an answer always finds room, and neither a
//! client that is stopped nor one that does not receive its answers holds up the server, or another client.
//!
//! ```
//! use annulus::shm::{Invitation, Shared, service};
//! use std::os::unix::net::UnixStream;
//!
//! // The process that answers.
//! let builder = service::Builder::new(annulus::Settings::new(16)).clients(8);
//! let Shared { handle: mut server, peers: places, invitation, .. } = builder.build::<u32, u64>()?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?;
//!
//! // Each process that asks: usually another one.
//! let (mut client, _) = service::client::<u32, u64>(&Invitation::receive(&there)?)?;
//! let (six, seven) = (client.ask(6)?, client.ask(7)?);
//!
//! assert_eq!(places.taken(), 1);
//! for _ in 0..2 {
//!     let request = server.recv()?;
//!     let number = u64::from(*request.question());
//!     request.answer(number * number)?;
//! }
//! assert_eq!((seven.recv(), six.recv()), (Ok(49), Ok(36)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several servers
//!
//! Processes that share the work are services of their own, published under one name with a number behind it
//! ([`publish_numbered`](Invitation::publish_numbered)). A [`NamedClient`] joins all of them, also those that
//! come later. It asks the one with the fewest open questions of its own, and leaves out those that are gone.
//!
//! # When a side is gone
//!
//! The kernel tells it: each side holds a lock that ends with its process, however that ends.
//!
//! - *The server is dropped,* or [closes](Server::close) the service: clients can ask no more
//!   ([`Closed`](AskError::Closed)). Each question that was asked before is still answered, or
//!   [refused](AnswerError::Refused): by the drop of the server, if it was not received, or by its
//!   [`Request`], which may be answered later.
//! - *The server's process dies:* answers that it had given are received. All others are
//!   [`Died`](AnswerError::Died), within 50 ms. A client may ask a dead server; that answer is `Died`, too.
//!   The service is over: a next server makes a new one, under the same name, and clients join that, as a
//!   [`NamedClient`] does.
//! - *A client is gone,* or its process dies: its place is free once it is dropped, and all of its answers
//!   are received or given up; or at once, when its process ends. The server's [`Places::died`] counts it.
//!   [`Request::answer`] gives the answer back. Questions that the server has not received are received as
//!   before; but once another client has the place, they are passed over. A next client never receives an
//!   answer to a question of one before it. As long as the server has not answered a request of a client
//!   that is gone, the next client of the place may have one question less open.
//!
//! A process that is stopped (`SIGSTOP`) is alive: a client waits for its answers, or until its own
//! timeout. The server waits for no client.
//!
//! # Trust
//!
//! All processes can write to the memory: see [`shm::spsc`](super::spsc#trust), also for what is no
//! message. Whatever another process writes there, this one stays within the slots, and no call runs for
//! ever. The server answers each place in the slots of that place only. But one that writes what it must
//! not can take answers from the others, or change them.

mod asked;
mod client;
mod memory;
mod named;
mod server;

use std::sync::Arc;

use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::kind::ShmKind;
pub use super::places::Places;
use super::places::{New, Other, consumer_at, producer_at};
use super::queue::{CONSUMER_LOCK_BYTE, Peer, damaged};
use super::shared::Shared;
use super::sleepers::remote_of_answers;
use crate::base::peer_liveness::Gone;
use crate::error::CapacityError;
use crate::lane::{Number, PlaceTable};
use crate::message::Message;
use crate::os::lock;
pub use crate::service::{AnswerError, AskError, ClientGone};
use crate::sync::{AtomicBool, Ordering, seeded};
use crate::wait::{EventCount, WaitStrategy};
pub use asked::Question;
pub(super) use asked::{AskedBytes, Exchange, types};
#[cfg(feature = "async")]
pub use client::AnswerFuture;
use client::ClientShare;
pub use client::{Client, PendingAnswer};
use memory::{Answers, Extent};
pub use named::{NamedAskError, NamedClient, ServerError};
use server::Desk;
pub use server::{ClientId, Request, Server};

/// Settings of a service, and the verb that makes it.
///
/// See the [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Builder {
    service: crate::Settings,
    clients: usize,
}

impl Builder {
    /// A service with 16 places, and the settings of `service`: its capacity is how many questions each
    /// client may have open, its strategy is how the server waits. Its
    /// [`memory`](crate::Settings::memory) options apply to the memory that the processes share.
    #[must_use]
    pub fn new(service: crate::Settings) -> Self {
        Self { service, clients: 16 }
    }

    /// How many clients there can be at one time: 1 to 1024. The memory for all of them is there from the
    /// beginning.
    #[must_use]
    pub fn clients(mut self, places: usize) -> Self {
        self.clients = places;
        self
    }

    /// Makes the service, and its server. The [`Invitation`] is for the processes of the clients.
    ///
    /// The process registers with the kernel for the barriers of the others (`membarrier(2)`, global
    /// expedited), and so does each client's. This takes some milliseconds with the first such ring, if
    /// there is a second thread. Where the system refuses it, each question or answer executes a full fence.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: no such service can be, also with places for 0 clients or more than 1024; or the
    /// system refuses it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{ShareError, service};
    ///
    /// let builder = service::Builder::new(annulus::Settings::new(4));
    /// let made = builder.clone().clients(3).build::<u32, u64>()?;
    /// assert_eq!((made.handle.capacity(), made.peers.count()), (4, 3));
    /// let error = builder.clients(0).build::<u32, u64>().map(drop).unwrap_err();
    /// assert!(matches!(error, ShareError::Producers { producers: 0, most: 1024 }));
    /// # Ok::<(), ShareError>(())
    /// ```
    pub fn build<Q: Message, A: Message>(self) -> Result<Shared<Server<Q, A>, Places>, ShareError> {
        self.build_for(&Exchange::of::<Q, A>())
    }

    /// `Q` and `A` are what the exchange says, or hold as many bytes.
    pub(super) fn build_for<Q: Question, A: Message>(
        self,
        exchange: &Exchange,
    ) -> Result<Shared<Server<Q, A>, Places>, ShareError> {
        let &Exchange { ref header, asked_bytes, answer_bytes } = exchange;
        let (plan, places) = (self.service, self.clients);
        let (open, mut extent) = (plan.capacity, None);
        let behind = |lanes_end| {
            extent = Extent::new(lanes_end, places, open, answer_bytes);
            Some(extent?.end)
        };
        let kind = ShmKind::Service;
        let made = New::create::<Q::Kind>(&plan, kind, header, asked_bytes, places, 0, behind)?;
        let New { table, extent: lanes, place_lock, invitation, .. } = made;
        let too_large = CapacityError::TooLarge { capacity: open, slot_bytes: answer_bytes };
        let answers = Answers::new(&table.memory, extent.ok_or(too_large.clone())?);
        (0..places).for_each(|place| answers.begin(place, plan.first));
        let (table, place_lock) = (Arc::new(table), Arc::new(place_lock));
        let answered = |place| EventCount::across(remote_of_answers(&table.page, place, true), None);
        let desk = Desk::new(answers, Arc::clone(&table), (0..places).map(answered), Arc::clone(&place_lock));
        let (requests, peers) = consumer_at(table, &lanes, place_lock, plan).ok_or(too_large)?;
        Ok(Shared { handle: Server::new(requests, lanes.size, desk), peers, invitation })
    }
}

/// A client of a service of another process. It takes the first place that is free. It gives it back when it
/// is dropped, and all of its [answers](PendingAnswer).
///
/// O(places), a system call for each that is taken, and O(capacity).
///
/// # Errors
///
/// [`NoPlace`](AttachError::NoPlace): all places are taken. [`Closed`](AttachError::Closed): the service is
/// closed, or its server is gone. Other errors: it is no service, or of other types or another version; or
/// the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::shm::{AttachError, PeerState, service};
///
/// let builder = service::Builder::new(annulus::Settings::new(4)).clients(1);
/// let made = builder.build::<u32, u64>()?;
/// let (client, server) = service::client::<u32, u64>(&made.invitation)?;
/// let error = service::client::<u32, u64>(&made.invitation).map(drop).unwrap_err();
/// assert!(matches!(error, AttachError::NoPlace { places: 1 }));
///
/// drop(client);
/// let (_next, _) = service::client::<u32, u64>(&made.invitation)?; // in the same place
/// assert_eq!(server.state(), PeerState::Alive);
/// drop(made.handle);
/// assert_eq!(server.state(), PeerState::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn client<Q: Message, A: Message>(invitation: &Invitation) -> Result<(Client<Q, A>, Peer), AttachError> {
    client_for(invitation, &Exchange::of::<Q, A>(), invitation.strategy)
}

/// `Q` and `A` are as of [`Builder::build_for`].
pub(super) fn client_for<Q: Question, A: Message>(
    invitation: &Invitation,
    exchange: &Exchange,
    strategy: WaitStrategy,
) -> Result<(Client<Q, A>, Peer), AttachError> {
    let &Exchange { ref header, asked_bytes, answer_bytes } = exchange;
    let other = Other::new::<Q::Kind>(invitation, ShmKind::Service, header, asked_bytes)?;
    let (places, open) = (other.table.count, other.layout.capacity / other.table.count);
    let extent = Extent::new(other.extent.bytes, places, open, answer_bytes)
        .ok_or_else(|| damaged("the capacity", other.layout.capacity as u64))?;
    if extent.end > other.table.memory.len() {
        let (found, needed) = (other.table.memory.len() as u64, extent.end as u64);
        return Err(AttachError::Length { found, needed });
    }
    let (place, place_lock) = other.free_place()?;
    let (table, place_lock) = (Arc::new(other.table), Arc::new(place_lock));
    let watched = Arc::clone(&table);
    // Where the lock can't be looked at, the process is taken to be alive.
    let is_gone = move || {
        !lock::is_byte_taken(&*watched.page, CONSUMER_LOCK_BYTE).unwrap_or(true)
            && !seeded!("service_server_death_unseen")
    };
    if is_gone() {
        return Err(AttachError::Closed);
    }
    let answered = remote_of_answers(&table.page, place, false).woken_from_elsewhere(is_gone.clone());
    let share = ClientShare {
        answers: Answers::new(&table.memory, extent),
        place,
        is_held: (0..open).map(|_| AtomicBool::new(false)).collect(),
        answered: EventCount::across(answered, None),
        gone: Gone::new(is_gone),
        strategy,
        _lock: Arc::clone(&place_lock),
    };
    // service.join0. Acquire: pairs with lane.send3. What a client before has sent was noted before that.
    let tail = Number::new(table.numbers(place).word().load(Ordering::Acquire));
    let next = share.next_questions(tail).ok_or_else(|| damaged("the questions of a place", place as u64))?;
    share.answers.begin(place, tail.get());
    let plan = crate::Settings::of_guest(open, other.layout.start, strategy);
    let (requests, peer) = producer_at::<Q::Kind>(&table, &other.extent, false, place, place_lock, plan)?;
    Ok((Client::new(requests, share, next, tail), peer))
}
