//! [`Server`]: receives questions. [`Request`]: a question that is to be answered.

use core::fmt;
use core::ops::Deref;
use std::boxed::Box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::asked::Asked;
use super::asked::{Question, Requests};
use super::memory::Answers;
use crate::Closer;
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::Sequence;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::lane::{Number, PlaceTable};
use crate::message::Message;
use crate::receive::{Receive, Waitable};
use crate::service::ClientGone;
use crate::shm::places::Table;
use crate::shm::queue::PlaceLock;
use crate::sync::{AtomicBool, Ordering, seeded};
use crate::wait::{EventCount, Look, Until, source_of_part};

/// Receives the questions of all clients. Made by [`Builder::build`](super::Builder::build).
///
/// Beside these verbs it has those of [`Receive`], and works wherever a receiving handle does: in tasks,
/// selects, workers and notifiers. Its drop closes the service, and refuses what was not received.
pub struct Server<Q: Question, A: Message> {
    requests: Requests<Q>,
    /// How many slots of a lane a question takes.
    slots_each: usize,
    desk: Arc<Desk<A>>,
    /// Questions that no client of this library asks.
    wrong: u64,
}

/// What a server and its requests share.
pub(super) struct Desk<A: Message> {
    answers: Answers<A>,
    table: Arc<Table>,
    places: Box<[ServedPlace]>,
    /// For each slot, whether there is a request that is to be answered.
    is_open: Box<[AtomicBool]>,
    /// Of the server: it has its lock until all requests are answered or refused.
    _lock: Arc<PlaceLock>,
}

struct ServedPlace {
    /// Where its client waits.
    answered: EventCount,
    /// When to ask the kernel whether the client is there.
    asks: NowAndThen,
}

impl<A: Message> Desk<A> {
    /// `answered`: where the client of each place waits.
    pub(super) fn new(
        answers: Answers<A>,
        table: Arc<Table>,
        answered: impl Iterator<Item = EventCount>,
        lock: Arc<PlaceLock>,
    ) -> Self {
        let is_open = (0..answers.lap()).map(|_| AtomicBool::new(false)).collect();
        let places = answered.map(|answered| ServedPlace { answered, asks: NowAndThen::new() }).collect();
        Self { answers, table, places, is_open, _lock: lock }
    }
}

impl<Q: Question, A: Message> Server<Q, A> {
    pub(super) fn new(requests: Requests<Q>, slots_each: usize, desk: Desk<A>) -> Self {
        Self { requests, slots_each, desk: Arc::new(desk), wrong: 0 }
    }

    /// Receives the next question. Waits for it. It passes over questions of clients that are gone, where
    /// another client has the place already.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the server has [closed](Self::close) the service, and all was received.
    #[inline]
    pub fn recv(&mut self) -> Result<Request<Q, A>, RecvError> {
        loop {
            let asked = Q::recv(&mut self.requests, self.slots_each)?;
            if let Some(request) = self.request(asked) {
                return Ok(request);
            }
        }
    }

    /// Receives the next question if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): none is there. [`Closed`](TryRecvError::Closed): as of
    /// [`recv`](Self::recv).
    #[inline]
    pub fn try_recv(&mut self) -> Result<Request<Q, A>, TryRecvError> {
        Receive::try_recv(self)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): none came in time. [`Closed`](RecvTimeoutError::Closed): as of
    /// [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Request<Q, A>, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// Closes the service: clients can ask no more. What they had asked before is received; then a receive
    /// says that the service is closed.
    pub fn close(&self) {
        self.requests.close();
    }

    /// A [`Closer`], which [closes](Self::close) the service from any thread. It does not keep the service
    /// open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.requests.closer()
    }

    /// Whether the service is closed. Questions may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// How many questions wait.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.requests.len() / self.slots_each
    }

    /// How many questions each client may have open at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.requests.capacity() / self.slots_each
    }

    /// How many questions were thrown away because another process has written into the memory what it must
    /// not: what is no `Q`, or asks for an answer where none can be. Nobody answers these.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.wrong + self.requests.total_corrupt()
    }

    crate::wait::own_strategy! {
        make: "let mut reader = annulus::shm::service::Builder::new(annulus::Settings::new(1)).build::<u8, u8>().unwrap().handle;",
        |handle| as: handle.requests
    }

    /// What was received last, as a request. `None`: its client is gone, or it can't be.
    #[inline]
    fn request(&mut self, asked: Asked<Q>) -> Option<Request<Q, A>> {
        let (place, at) = Q::last_place(&self.requests);
        let (number, desk) = (Sequence::new(asked.number), &self.desk);
        let slot = desk.answers.slot_of(place, number).filter(|&slot| {
            // service.open1. Acquire: pairs with service.open2. The answer before was written by another
            // thread, perhaps.
            !desk.is_open[slot].load(Ordering::Acquire) || seeded!("service_asked_twice")
        });
        let Some(slot) = slot else {
            self.wrong += u64::from(!seeded!("service_wrong_uncounted"));
            return None;
        };
        // Relaxed: the one server stores it, and looks at it (service.open1) before it stores it again.
        desk.is_open[slot].store(true, Ordering::Relaxed);
        let client = desk.answers.client(place);
        let request = Request {
            question: asked.question,
            number,
            client: ClientId { place, first: client },
            is_over: false,
            desk: Arc::clone(desk),
        };
        // (The drop refuses it, so that the slot is free for the next client.)
        (!at.is_before(Number::new(client)) || seeded!("service_answers_the_dead")).then_some(request)
    }
}

impl<Q: Question, A: Message> Drop for Server<Q, A> {
    fn drop(&mut self) {
        self.close();
        // Each of them is refused.
        while self.recv().is_ok() {}
    }
}

source_of_part!(
    [Q: Question, A: Message] Server<Q, A>,
    |handle| handle.requests,
    left: Some(handle.len() as u64)
);

impl<Q: Question, A: Message> Waitable for Server<Q, A> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<Q: Question, A: Message> Receive for Server<Q, A> {
    type Item = Request<Q, A>;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<Self::Item, RecvError>> {
        match Q::poll(&mut self.requests, self.slots_each) {
            Look::Found(Ok(asked)) => {
                self.request(asked).map_or(Look::Again, |request| Look::Found(Ok(request)))
            }
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }

    /// By the path of the consumer: one that spins is in a hurry.
    fn recv_late(&mut self, until: Until) -> Option<Result<Self::Item, RecvError>> {
        let (until, deadline) = (until.begun(), until.deadline());
        loop {
            match Q::recv_late(&mut self.requests, self.slots_each, until)? {
                Ok(asked) => {
                    if let Some(request) = self.request(asked) {
                        return Some(Ok(request));
                    }
                }
                Err(end) => return Some(Err(end)),
            }
            // A process that asks what it must not keeps nobody here.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
        }
    }
}

impl<Q: Question, A: Message> fmt::Debug for Server<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, is_closed) = (self.len(), self.is_closed());
        f.debug_struct("Server").field("len", &len).field("closed", &is_closed).finish_non_exhaustive()
    }
}

/// A question that is to be answered, once. Its drop refuses it.
///
/// It may be kept, and answered by another thread, in any order. Until then the service has its server, also
/// if [`Server`] was dropped. So do not forget one (`mem::forget`): its client would wait until this process
/// ends.
#[must_use = "its drop refuses the question"]
pub struct Request<Q: Question, A: Message> {
    question: Q,
    number: Sequence,
    client: ClientId,
    is_over: bool,
    desk: Arc<Desk<A>>,
}

impl<Q: Question, A: Message> Request<Q, A> {
    /// The question.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// Which client has asked. No two clients that have asked something have the same.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// Whether the client can still receive an answer, as the kernel says: a system call.
    ///
    /// A client is there until it is dropped, and all of its answers are received or given up; or until its
    /// process ends. A process that is stopped is there.
    pub fn is_client_there(&self) -> bool {
        self.is_same_client() && self.desk.table.is_held(self.client.place)
    }

    /// Answers the question. Never waits: there is room for each answer.
    ///
    /// O(1), and a system call once in 10 ms at most.
    ///
    /// # Errors
    ///
    /// [`ClientGone`] gives the answer back: the client is gone. A client that has died within the last 10
    /// ms may be taken to be there, if no other client has its place; then its answer is lost. To know
    /// better, ask [`is_client_there`](Self::is_client_there) before.
    #[inline]
    pub fn answer(mut self, answer: A) -> Result<(), ClientGone<A>> {
        if !self.is_same_client() || self.is_found_gone() {
            return Err(ClientGone(answer));
        }
        self.settle(Some(&answer));
        Ok(())
    }

    /// Whether no other client has the place.
    #[inline]
    fn is_same_client(&self) -> bool {
        self.desk.answers.client(self.client.place) == self.client.first
    }

    /// Asks the kernel now and then.
    #[inline]
    fn is_found_gone(&self) -> bool {
        let place = self.client.place;
        self.desk.places[place].asks.is_due()
            && !self.desk.table.is_held(place)
            && !seeded!("service_death_unseen")
    }

    /// Answers the question, or refuses it.
    #[inline]
    fn settle(&mut self, answer: Option<&A>) {
        let (desk, number) = (&*self.desk, self.number);
        let Some(slot) = desk.answers.slot_of(self.client.place, number) else { return };
        self.is_over = true;
        // SAFETY: no other request has this slot (service.open1).
        let written = answer.map(|answer| unsafe { desk.answers.write(number, answer) });
        // service.open2. Release: pairs with service.open1. Before the stamp, because the client may ask
        // again at once.
        desk.is_open[slot].store(false, Ordering::Release);
        match written {
            Some(written) => written.publish(),
            None => desk.answers.refuse(number),
        }
        desk.places[self.client.place].answered.notify_across();
    }
}

impl<Q: Question, A: Message> Deref for Request<Q, A> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}

impl<Q: Question, A: Message> Drop for Request<Q, A> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_over {
            self.settle(None);
        }
    }
}

impl<Q: Question + fmt::Debug, A: Message> fmt::Debug for Request<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("question", &self.question)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// Which client of a service has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId {
    place: usize,
    /// The number of its first question in the lane of the place.
    first: u64,
}

impl ClientId {
    /// Its place: a number below the [number of places](super::Places::count). Another client may have had it
    /// before.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }
}
