//! [`Client`]: asks. [`PendingAnswer`]: the answer that is to come.

use core::fmt;
#[cfg(feature = "async")]
use core::{
    future::{Future, IntoFuture},
    pin::Pin,
    task::{self, Context},
};
use std::boxed::Box;
use std::sync::Arc;
use std::time::Duration;

use super::asked::{Asked, Asks, Question};
use super::memory::{Answers, Note};
use crate::base::peer_liveness::Gone;
use crate::base::sequence::Sequence;
use crate::error::{RecvError, TrySendError};
use crate::lane::Number;
use crate::message::Message;
use crate::receive::{Receive, Waitable};
use crate::service::{AnswerError, AskError};
use crate::shm::queue::PlaceLock;
use crate::sync::{AtomicBool, AtomicU64, Ordering, seeded};
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{Deadline, EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, wait_until};

/// Asks a server, and receives its answers. Made by [`client`](fn@super::client).
///
/// It may move to another thread, and so may each [`PendingAnswer`]. A process may have several clients.
pub struct Client<Q: Question, A: Message> {
    requests: Asks<Q>,
    share: Arc<ClientShare<A>>,
    /// For each slot of the place, the number of the next question.
    next: Box<[Sequence]>,
    /// The slot at which to look first.
    slot: usize,
    /// The number of the next question in the lane.
    sent: Number,
}

/// What a client and its answers share.
pub(super) struct ClientShare<A: Message> {
    pub(super) answers: Answers<A>,
    pub(super) place: usize,
    /// For each slot of the place, whether there is a [`PendingAnswer`] of it.
    pub(super) is_held: Box<[AtomicBool]>,
    /// Where all wait that want an answer.
    pub(super) answered: EventCount,
    /// Whether the process of the server is gone.
    pub(super) gone: Gone,
    pub(super) strategy: WaitStrategy,
    /// The place is this client's as long as an answer may come.
    pub(super) _lock: Arc<PlaceLock>,
}

impl<A: Message> ClientShare<A> {
    /// The numbers of the next questions, after all that the clients before have noted. `None`: these can't
    /// be. `tail`: the number of the next question in the lane.
    pub(super) fn next_questions(&self, tail: Number) -> Option<Box<[Sequence]>> {
        let (answers, lap) = (&self.answers, self.answers.lap());
        let next = |slot| {
            let (first, Note { next, sent }) =
                (answers.first_of(self.place, slot), answers.noted(self.place, slot));
            if next == 0 {
                return Some(first);
            }
            let can_be = next > first.get() && (next - first.get()) % lap == 0;
            let next = Some(Sequence::new(next)).filter(|&next| can_be && next <= Sequence::LAST_FIRST)?;
            let last = next.back(lap);
            // A client that died before it had sent its question leaves the number to the next one.
            // Decision 0165: what a client has asked is written down.
            let was_sent = Number::new(sent).is_before(tail) || answers.is_over(last);
            Some(if was_sent || seeded!("service_unsent_waits") { next } else { last })
        };
        (0..answers.open()).map(next).collect()
    }
}

impl<Q: Question, A: Message> Client<Q, A> {
    pub(super) fn new(requests: Asks<Q>, share: ClientShare<A>, next: Box<[Sequence]>, sent: Number) -> Self {
        Self { requests, share: Arc::new(share), next, slot: 0, sent }
    }

    /// Asks. Never waits. The answer comes at what this returns.
    ///
    /// A question is open until it is answered or refused, and its [`PendingAnswer`] is dropped (a receive by
    /// value drops it). So many questions may be open at one time as the service has
    /// [room](Self::capacity) for.
    ///
    /// O(1) where answers are received in the order of the questions, and O(capacity) otherwise.
    ///
    /// # Errors
    ///
    /// Both give the question back. [`Full`](AskError::Full): so many are open.
    /// [`Closed`](AskError::Closed): the server has closed the service, or was seen to be gone. Whether a
    /// server has died is not asked here: the answer tells it ([`Died`](AnswerError::Died)).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::service::{self, AnswerError, AskError};
    ///
    /// let builder = service::Builder::new(annulus::Settings::new(2));
    /// let made = builder.build::<u32, u64>()?;
    /// let (mut server, invitation) = (made.handle, made.invitation);
    /// let (mut client, _) = service::client::<u32, u64>(&invitation)?;
    ///
    /// let (one, two) = (client.ask(1)?, client.ask(2)?);
    /// assert_eq!(client.ask(3).unwrap_err(), AskError::Full(3));
    /// let (first, second) = (server.recv()?, server.recv()?);
    /// second.answer(20)?;
    /// drop(first);
    /// assert_eq!((one.recv(), two.recv()), (Err(AnswerError::Refused), Ok(20)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn ask(&mut self, question: Q) -> Result<PendingAnswer<A>, AskError<Q>> {
        let Some(slot) = self.free_slot() else {
            return Err(if self.is_over() { AskError::Closed(question) } else { AskError::Full(question) });
        };
        let (share, number) = (&self.share, self.next[slot]);
        let next = number.plus(share.answers.lap());
        share.answers.note(share.place, slot, &Note { next: next.get(), sent: self.sent.get() });
        match Q::send(&mut self.requests, Asked { number: number.get(), question }) {
            Ok(()) => {}
            Err(TrySendError::Closed(asked)) => return Err(AskError::Closed(asked.question)),
            // There is a slot for each slot, but another process may have written anything.
            Err(TrySendError::Full(asked)) => return Err(AskError::Full(asked.question)),
        }
        self.next[slot] = next;
        self.sent = self.sent.next();
        self.slot = if slot + 1 == self.next.len() { 0 } else { slot + 1 };
        // Relaxed: this client stores true, and looks at it; service.held1 is for what others store.
        share.is_held[slot].store(true, Ordering::Relaxed);
        Ok(PendingAnswer { number, slot, is_taken: false, share: Arc::clone(share) })
    }

    /// How many questions may be open at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.next.len()
    }

    /// How many questions are open now: those that are not answered, and those whose answers are not
    /// received. Answers that nobody waits for are among them until they come. O(capacity).
    #[must_use]
    pub fn open(&self) -> usize {
        (0..self.next.len()).filter(|&slot| !self.is_free(slot)).count()
    }

    /// Whether the server has closed the service.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// Whether the server has closed the service, or was seen to be gone.
    pub(super) fn is_over(&self) -> bool {
        self.requests.is_closed() || self.share.gone.look()
    }

    /// As [`is_over`](Self::is_over), but it asks the kernel now.
    pub(super) fn is_over_now(&self) -> bool {
        self.requests.is_closed() || self.share.gone.is_gone()
    }

    /// A slot for the next question.
    #[inline]
    fn free_slot(&self) -> Option<usize> {
        if self.is_free(self.slot) {
            return Some(self.slot);
        }
        (0..self.next.len()).find(|&slot| self.is_free(slot))
    }

    #[inline]
    fn is_free(&self, slot: usize) -> bool {
        let (answers, next) = (&self.share.answers, self.next[slot]);
        // service.held1. Acquire: pairs with service.held2: the answer was read before.
        if self.share.is_held[slot].load(Ordering::Acquire) {
            return false;
        }
        let is_first = next.get() < answers.lap();
        is_first || answers.is_over(next.back(answers.lap())) || seeded!("service_slot_taken")
    }
}

impl<Q: Question, A: Message> fmt::Debug for Client<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, is_closed) = (self.open(), self.is_closed());
        f.debug_struct("Client").field("open", &open).field("closed", &is_closed).finish_non_exhaustive()
    }
}

/// The answer to a question, which is to come.
///
/// It is received by these verbs, by [`Receive`], or by `.await`. Several may be open, and be waited for in
/// any order, by threads and tasks. A drop gives the answer up: it is thrown away when it comes, and the
/// question is open until then.
#[must_use = "the answer comes here"]
pub struct PendingAnswer<A: Message> {
    number: Sequence,
    slot: usize,
    is_taken: bool,
    share: Arc<ClientShare<A>>,
}

impl<A: Message> PendingAnswer<A> {
    /// Receives the answer. Waits for it, as
    /// [`with_wait_strategy`](crate::shm::Invitation::with_wait_strategy) of the client's invitation has
    /// said.
    ///
    /// # Errors
    ///
    /// [`AnswerError`]: there is no answer, and none will come.
    #[inline]
    pub fn recv(mut self) -> Result<A, AnswerError> {
        // (A wait without a deadline finds something.)
        self.wait(self.share.strategy, None).unwrap_or(Err(AnswerError::Empty))
    }

    /// Receives the answer if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it is not there yet.
    #[inline]
    pub fn try_recv(&mut self) -> Result<A, AnswerError> {
        match self.poll() {
            Look::Found(found) => found,
            Look::Nothing | Look::Again => Err(AnswerError::Empty),
        }
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it has not come in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::service::{self, AnswerError};
    /// use std::time::Duration;
    ///
    /// let made = service::Builder::new(annulus::Settings::new(4)).build::<u32, u64>()?;
    /// let (mut server, invitation) = (made.handle, made.invitation);
    /// let (mut client, _) = service::client::<u32, u64>(&invitation)?;
    /// let mut answer = client.ask(6)?;
    /// assert_eq!(answer.recv_timeout(Duration::from_millis(1)), Err(AnswerError::Empty));
    /// server.recv()?.answer(36)?;
    /// assert_eq!(answer.recv_timeout(Duration::from_millis(1)), Ok(36));
    /// assert_eq!(answer.try_recv(), Err(AnswerError::Taken));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<A, AnswerError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As of [`recv_timeout`](Self::recv_timeout).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<A, AnswerError> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.share.strategy);
        self.wait(strategy, until.deadline()).unwrap_or(Err(AnswerError::Empty))
    }

    #[inline]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Option<Result<A, AnswerError>> {
        if let Look::Found(found) = self.poll() {
            return Some(found);
        }
        wait_until(self, strategy, deadline)
    }

    /// Receives the answer if it is there, or what has become of it.
    #[inline]
    fn poll(&mut self) -> Look<Result<A, AnswerError>> {
        if self.is_taken {
            return Look::Found(Err(AnswerError::Taken));
        }
        match self.look() {
            Some(found) => {
                self.is_taken = true;
                Look::Found(found)
            }
            None => Look::Nothing,
        }
    }

    /// What has become of it. Nothing is taken.
    #[inline]
    fn look(&self) -> Option<Result<A, AnswerError>> {
        let answers = &self.share.answers;
        answers.look(self.number).or_else(|| {
            // Once more: all that the server has answered comes before its end.
            let once_more = || answers.look(self.number).unwrap_or(Err(AnswerError::Died));
            self.share.gone.look().then(once_more)
        })
    }
}

/// For a thread that waits, or a task.
impl<A: Message> Poll for PendingAnswer<A> {
    type Found = Result<A, AnswerError>;

    fn wait_point(&self) -> &EventCount {
        &self.share.answered
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.share.answers.word(self.number))
    }

    #[inline]
    fn poll(&mut self) -> Look<Self::Found> {
        self.poll()
    }
}

impl<A: Message> Drop for PendingAnswer<A> {
    #[inline]
    fn drop(&mut self) {
        // service.held2. Release: pairs with service.held1.
        self.share.is_held[self.slot].store(false, Ordering::Release);
    }
}

// SAFETY: the eventcount is in the share, which lives as long as the handle.
unsafe impl<A: Message> Source for PendingAnswer<A> {
    fn wait_point(&self) -> &EventCount {
        &self.share.answered
    }

    fn is_ready(&mut self) -> bool {
        self.is_taken || self.look().is_some()
    }

    // Unreached: as above
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.share.answers.word(self.number))
    }

    fn strategy(&self) -> WaitStrategy {
        self.share.strategy
    }

    fn has_more(&mut self) -> bool {
        !self.is_taken && self.look().is_some()
    }

    fn mark(&mut self) -> EndMark {
        EndMark::at(u64::from(self.has_more()))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        mark.is_passed(|_, came| came == 0 || self.is_taken)
    }
}

impl<A: Message> Waitable for PendingAnswer<A> {
    fn is_closed(&self) -> bool {
        self.is_taken
    }
}

/// A receive gives the answer, or says why there is none. After that, it is over.
impl<A: Message> Receive for PendingAnswer<A> {
    type Item = Result<A, AnswerError>;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<Self::Item, RecvError>> {
        if self.is_taken {
            return Look::Found(Err(RecvError::CLOSED));
        }
        self.poll().map(Ok)
    }
}

/// The future of an answer: what `.await` waits for.
#[cfg(feature = "async")]
#[must_use = "a future does nothing until it is awaited"]
pub struct AnswerFuture<A: Message>(Waiting<PendingAnswer<A>>);

#[cfg(feature = "async")]
impl<A: Message> Future for AnswerFuture<A> {
    type Output = Result<A, AnswerError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

#[cfg(feature = "async")]
impl<A: Message> fmt::Debug for AnswerFuture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerFuture").finish_non_exhaustive()
    }
}

#[cfg(feature = "async")]
impl<A: Message> IntoFuture for PendingAnswer<A> {
    type Output = Result<A, AnswerError>;
    type IntoFuture = AnswerFuture<A>;

    fn into_future(self) -> AnswerFuture<A> {
        // SAFETY: the eventcount is in the share, which lives as long as the handle.
        AnswerFuture(unsafe { Waiting::new(self) })
    }
}

impl<A: Message> fmt::Debug for PendingAnswer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_there = self.look().is_some();
        f.debug_struct("PendingAnswer").field("is_there", &is_there).finish_non_exhaustive()
    }
}
