//! The way of a question: a [`Client`] asks, a [`Request`] is answered, and the answer comes to a
//! [`PendingAnswer`].

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;
#[cfg(feature = "async")]
use core::{
    future::{Future, IntoFuture},
    pin::Pin,
    task::{self, Context},
};
#[cfg(feature = "std")]
use std::time::Duration;

use super::error::{AnswerError, AskError, ClientGone};
use crate::error::{RecvError, SendError, TrySendError};
use crate::oneshot;
use crate::queue::mpsc;
use crate::receive::{Receive, Waitable};
use crate::wait::{Look, Until, WaitStrategy, source_of_part};

/// Counts the open questions of a client: one for each, and the client's own. It goes with the question, and
/// then with the answer.
type Open = Arc<()>;

/// An answer on its way, and the count of its question.
type Answered<A> = (A, Open);

/// Asks a server, and receives its answers. Made by [`channel`](super::channel), and by `clone`.
///
/// It may move to another thread, and so may each [`PendingAnswer`]. The service closes with its last client.
pub struct Client<Q, A> {
    requests: mpsc::Producer<Request<Q, A>>,
    open: Open,
    /// How answers are waited for.
    strategy: WaitStrategy,
}

impl<Q: Send, A: Send> Client<Q, A> {
    pub(super) fn new(requests: mpsc::Producer<Request<Q, A>>, strategy: WaitStrategy) -> Self {
        Self { requests, open: Open::default(), strategy }
    }

    /// Asks. Never waits. The answer comes at what this returns. O(1), with one allocation.
    ///
    /// A question is open until it is refused, or its answer is received or given up. So many of this client
    /// may be open at one time as the service has [room](Self::capacity) for.
    ///
    /// # Errors
    ///
    /// Both give the question back. [`Full`](AskError::Full): so many are open, or
    /// [wait there](super#how-many-questions). [`Closed`](AskError::Closed): the server has closed the
    /// service, or is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::service::{self, AnswerError, AskError};
    ///
    /// let (mut client, mut server) = service::channel::<u32, u64>(2);
    /// let (one, two) = (client.ask(1)?, client.ask(2)?);
    /// assert_eq!(client.ask(3).unwrap_err(), AskError::Full(3));
    /// let (first, second) = (server.recv().unwrap(), server.recv().unwrap());
    /// second.answer(20).unwrap();
    /// drop(first);
    /// assert_eq!((one.recv(), two.recv()), (Err(AnswerError::Refused), Ok(20)));
    /// # Ok::<(), AskError<u32>>(())
    /// ```
    #[inline]
    pub fn ask(&mut self, question: Q) -> Result<PendingAnswer<A>, AskError<Q>> {
        if self.open() >= self.capacity() {
            let is_closed = self.is_closed();
            return Err(if is_closed { AskError::Closed(question) } else { AskError::Full(question) });
        }
        let (reply, mut answer) = oneshot::channel();
        answer.set_wait_strategy(self.strategy);
        match self.requests.try_send(Request::new(question, Arc::clone(&self.open), reply)) {
            Ok(()) => Ok(PendingAnswer { answer, is_taken: false }),
            Err(TrySendError::Closed(request)) => Err(AskError::Closed(request.question)),
            // Questions of a client that is gone, whose ring this one has.
            Err(TrySendError::Full(request)) => Err(AskError::Full(request.question)),
        }
    }

    /// How many questions this client may have open at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.requests.capacity()
    }

    /// How many questions of this client are open now: those that are not answered, and those whose answers
    /// are neither received nor given up. Answers that nobody waits for are among them until they come.
    #[must_use]
    pub fn open(&self) -> usize {
        // What this thread has received is not counted: the count went with the answer, or came before the
        // refusal.
        Arc::strong_count(&self.open) - 1
    }

    /// Whether the server is gone, or has closed the service.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }
}

/// Another client of the service, which has no question open. It waits for answers as this one does.
impl<Q, A> Clone for Client<Q, A> {
    /// As the clone of a [producer](crate::queue::Producer): it may allocate a ring.
    ///
    /// # Panics
    ///
    /// If there is no memory for another ring.
    fn clone(&self) -> Self {
        Self { requests: self.requests.clone(), open: Open::default(), strategy: self.strategy }
    }
}

impl<Q: Send, A: Send> fmt::Debug for Client<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, is_closed) = (self.open(), self.is_closed());
        f.debug_struct("Client").field("open", &open).field("closed", &is_closed).finish_non_exhaustive()
    }
}

/// A question that is to be answered, once. Its drop refuses it.
///
/// It may be kept, and answered by another thread, in any order, also when the [`Server`](super::Server) is
/// gone.
#[must_use = "its drop refuses the question"]
pub struct Request<Q, A> {
    question: Q,
    // Before the reply: a client that sees the refusal finds that the question is not open.
    open: Open,
    reply: oneshot::Sender<Answered<A>>,
}

impl<Q, A: Send> Request<Q, A> {
    fn new(question: Q, open: Open, reply: oneshot::Sender<Answered<A>>) -> Self {
        Self { question, open, reply }
    }

    /// The question.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// The question, to have it, and the request without it, which is still to be answered.
    ///
    /// ```
    /// let (mut client, mut server) = annulus::service::channel::<Vec<u8>, Vec<u8>>(4);
    /// let answer = client.ask(vec![1, 2, 3]).unwrap();
    /// let (mut bytes, request) = server.recv().unwrap().take_question();
    /// bytes.reverse();
    /// request.answer(bytes).unwrap();
    /// assert_eq!(answer.recv().unwrap(), [3, 2, 1]);
    /// ```
    pub fn take_question(self) -> (Q, Request<(), A>) {
        let Self { question, open, reply } = self;
        (question, Request { question: (), open, reply })
    }

    /// Whether the answer can still be received. If not, this stays so: its [`PendingAnswer`] was dropped.
    pub fn is_client_there(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Answers the question. Never waits, allocates nothing. O(1), and a system call if the thread that waits
    /// for the answer sleeps.
    ///
    /// # Errors
    ///
    /// [`ClientGone`] gives the answer back: nobody can receive it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::service::{self, ClientGone};
    ///
    /// let (mut client, mut server) = service::channel::<u32, u64>(4);
    /// drop(client.ask(6).unwrap());
    /// let request = server.recv().unwrap();
    /// assert!(!request.is_client_there()); // so the answer need not be found
    /// assert_eq!(request.answer(36), Err(ClientGone(36)));
    /// ```
    #[inline]
    pub fn answer(self, answer: A) -> Result<(), ClientGone<A>> {
        let Self { question: _question, open, reply } = self;
        reply.send((answer, open)).map_err(|SendError((answer, _))| ClientGone(answer))
    }
}

impl<Q, A> Deref for Request<Q, A> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}

impl<Q: fmt::Debug, A> fmt::Debug for Request<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("question", &self.question).finish_non_exhaustive()
    }
}

/// The answer to a question, which is to come.
///
/// It is received by these verbs, by [`Receive`], or by `.await`. Several may be open, and be waited for in
/// any order, by threads and tasks. A drop gives the answer up.
#[must_use = "the answer comes here"]
pub struct PendingAnswer<A> {
    answer: oneshot::Receiver<Answered<A>>,
    is_taken: bool,
}

impl<A: Send> PendingAnswer<A> {
    /// Receives the answer. Waits for it, by the strategy of the service.
    ///
    /// # Errors
    ///
    /// [`Refused`](AnswerError::Refused): there is no answer, and none will come.
    /// [`Taken`](AnswerError::Taken): another verb has received it, or the refusal, before.
    #[inline]
    pub fn recv(mut self) -> Result<A, AnswerError> {
        self.received(Until::FOREVER).unwrap_or(Err(AnswerError::Empty))
    }

    /// Receives the answer if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it is not there yet.
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
    /// As [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it has not come in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::service::{self, AnswerError};
    /// use std::time::Duration;
    ///
    /// let (mut client, mut server) = service::channel::<u32, u64>(4);
    /// let mut answer = client.ask(6).unwrap();
    /// assert_eq!(answer.recv_timeout(Duration::from_millis(1)), Err(AnswerError::Empty));
    /// server.recv().unwrap().answer(36).unwrap();
    /// assert_eq!(answer.recv_timeout(Duration::from_millis(1)), Ok(36));
    /// assert_eq!(answer.try_recv(), Err(AnswerError::Taken));
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<A, AnswerError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it has not come in time.
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<A, AnswerError> {
        self.received(until.into()).unwrap_or(Err(AnswerError::Empty))
    }

    /// `None` once the time has passed.
    #[inline]
    fn received(&mut self, until: Until) -> Option<Result<A, AnswerError>> {
        // (A wait makes the place where this side waits.)
        if let Look::Found(found) = self.poll() {
            return Some(found);
        }
        let received = self.answer.recv_late(until)?;
        Some(self.told(received))
    }

    /// Receives the answer if it is there, or what has become of it.
    #[inline]
    fn poll(&mut self) -> Look<Result<A, AnswerError>> {
        if self.is_taken {
            return Look::Found(Err(AnswerError::Taken));
        }
        self.answer.poll_recv().map(|received| self.told(received))
    }

    /// What has come, once.
    #[inline]
    fn told(&mut self, received: Result<Answered<A>, RecvError>) -> Result<A, AnswerError> {
        self.is_taken = true;
        answer_in(received)
    }
}

/// The answer. It is not open any more.
#[inline]
fn answer_in<A>(received: Result<Answered<A>, RecvError>) -> Result<A, AnswerError> {
    received.map(|(answer, _)| answer).map_err(|_| AnswerError::Refused)
}

source_of_part!([A: Send] PendingAnswer<A>, |handle| handle.answer);

impl<A: Send> Waitable for PendingAnswer<A> {
    fn is_closed(&self) -> bool {
        self.is_taken
    }
}

/// A receive gives the answer, or says why there is none. After that, it is over.
impl<A: Send> Receive for PendingAnswer<A> {
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
///
/// *Cancel safety*: dropped, it gives the answer up.
#[cfg(feature = "async")]
#[must_use = "a future does nothing until it is awaited"]
pub struct AnswerFuture<A: Send> {
    answer: oneshot::RecvFuture<Answered<A>>,
    is_taken: bool,
}

#[cfg(feature = "async")]
impl<A: Send> Future for AnswerFuture<A> {
    type Output = Result<A, AnswerError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<Self::Output> {
        if self.is_taken {
            return task::Poll::Ready(Err(AnswerError::Taken));
        }
        Pin::new(&mut self.answer).poll(context).map(answer_in)
    }
}

#[cfg(feature = "async")]
impl<A: Send> fmt::Debug for AnswerFuture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerFuture").field("is_taken", &self.is_taken).finish_non_exhaustive()
    }
}

/// `answer.await` receives the answer like [`recv`](PendingAnswer::recv), in a task.
///
/// ```
/// let (mut client, mut server) = annulus::service::channel::<u32, u64>(4);
/// let thread = std::thread::spawn(move || server.recv().unwrap().answer(36));
/// assert_eq!(pollster::block_on(async { client.ask(6).unwrap().await }), Ok(36));
/// # thread.join().unwrap().unwrap();
/// ```
#[cfg(feature = "async")]
impl<A: Send> IntoFuture for PendingAnswer<A> {
    type Output = Result<A, AnswerError>;
    type IntoFuture = AnswerFuture<A>;

    fn into_future(self) -> AnswerFuture<A> {
        AnswerFuture { answer: self.answer.into_future(), is_taken: self.is_taken }
    }
}

impl<A> fmt::Debug for PendingAnswer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingAnswer").field("is_taken", &self.is_taken).finish_non_exhaustive()
    }
}
