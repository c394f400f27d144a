//! The ends of a [service](crate::shm::service) whose messages are known by their schemas only: [`Server`],
//! which receives [`Request`]s, and [`Client`], which asks and has a [`PendingAnswer`] for each question.
//!
//! They are the handles of a service of any type, over the same memory: the process on the other side may
//! know the types. A question passes through its lane as bytes, and an answer through its slot as a block.

use core::fmt;
use core::time::Duration;
use std::boxed::Box;

use super::ends::{Patience, block, unpack};
use super::{OpenError, in_blocks};
use crate::close::Closer;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, if_there, in_time};
use crate::receive::{Receive, Waitable};
use crate::shm::blocks::{Block, MessageType, classes};
use crate::shm::error::AttachError;
use crate::shm::invitation::Invitation;
use crate::shm::process::PeerState;
use crate::shm::queue::Peer;
use crate::shm::service::{self, AnswerError, AskError, AskedBytes, Builder, ClientGone, ClientId, Exchange};
use crate::shm::service::{Places, client_for, types};
use crate::shm::shared::Shared;
use crate::wait::{Look, Source, Until, UntilReady, WaitStrategy, source_of_part, wait_until};

/// What the questions and the answers of a service are, for a program that joins without knowing it.
///
/// # Errors
///
/// [`AttachError`]: it is no service, or its header is damaged.
pub fn service_types(invitation: &Invitation) -> Result<(MessageType, MessageType), AttachError> {
    types(invitation)
}

/// A server, whatever its answers.
trait DynServer: Waitable + Send + Sync {
    fn poll(&mut self) -> Look<Result<Box<dyn DynRequest>, RecvError>>;

    fn recv_late(&mut self, until: Until) -> Option<Result<Box<dyn DynRequest>, RecvError>>;

    fn closer(&self) -> Closer;

    fn len(&self) -> usize;

    fn capacity(&self) -> usize;

    fn total_corrupt(&self) -> u64;
}

impl<const WORDS: usize, const LARGE: bool> DynServer for service::Server<AskedBytes, Block<WORDS, LARGE>> {
    fn poll(&mut self) -> Look<Result<Box<dyn DynRequest>, RecvError>> {
        self.poll_recv().map(|found| found.map(|request| Box::new(request) as Box<dyn DynRequest>))
    }

    fn recv_late(&mut self, until: Until) -> Option<Result<Box<dyn DynRequest>, RecvError>> {
        let found = Receive::recv_late(self, until)?;
        Some(found.map(|request| Box::new(request) as Box<dyn DynRequest>))
    }

    fn closer(&self) -> Closer {
        self.closer()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn total_corrupt(&self) -> u64 {
        self.total_corrupt()
    }
}

/// Receives the questions of all clients, as a [`service::Server`] does. Its drop closes the service, and
/// refuses what was not received.
pub struct Server {
    end: Box<dyn DynServer>,
    question_bytes: usize,
    answer_bytes: usize,
}

impl Server {
    /// Makes a service, as [`Builder::build`] does.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong) of an answer, [`Share`](OpenError::Share).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::blocks::MessageType;
    /// use annulus::shm::dynamic::{Client, Server};
    /// use annulus::shm::{Shared, service};
    /// use annulus::{Settings, WaitStrategy};
    ///
    /// let question = MessageType::described("{id:u32}".parse()?, 1);
    /// let answer = MessageType::described("{price:f64}".parse()?, 1);
    /// let builder = service::Builder::new(Settings::new(4));
    /// let Shared { handle: mut server, invitation, .. } = Server::new(builder, &question, &answer)?;
    /// let mut client = Client::join(&invitation, &question, &answer, WaitStrategy::default())?;
    ///
    /// let mut pending = client.ask(&7_u32.to_ne_bytes())?;
    /// let request = server.recv()?;
    /// assert_eq!(request.question(), 7_u32.to_ne_bytes());
    /// request.answer(&1.5_f64.to_ne_bytes())?;
    /// let mut price = [0; 8];
    /// pending.recv(&mut price)?;
    /// assert_eq!(f64::from_ne_bytes(price), 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        builder: Builder,
        question: &MessageType,
        answer: &MessageType,
    ) -> Result<Shared<Self, Places>, OpenError> {
        let exchange = Exchange::described(question, answer);
        in_blocks!(answer, WORDS, LARGE => {
            let made = builder.build_for::<AskedBytes, Block<WORDS, LARGE>>(&exchange)?;
            Ok(made.map(|server| Self {
                end: Box::new(server),
                question_bytes: question.bytes(),
                answer_bytes: answer.bytes(),
            }))
        })
    }

    /// How many bytes a question has.
    #[must_use]
    pub fn question_bytes(&self) -> usize {
        self.question_bytes
    }

    /// How many bytes an answer has.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    fn request(&self, end: Box<dyn DynRequest>) -> Request {
        Request { end, answer_bytes: self.answer_bytes }
    }

    /// Receives the next question, and waits for it.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the service is closed, and all was received.
    pub fn recv(&mut self) -> Result<Request, RecvError> {
        let found = self.end.recv_late(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))?;
        Ok(self.request(found))
    }

    /// As [`recv`](Self::recv), without a wait.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`]: none is there, or none will come.
    pub fn try_recv(&mut self) -> Result<Request, TryRecvError> {
        let found = if_there(crate::wait::look_now(|| self.end.poll()))?;
        Ok(self.request(found))
    }

    /// As [`recv`](Self::recv), for that long at most.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`]: none came in that time, or none will come.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Request, RecvTimeoutError> {
        let found = in_time(self.end.recv_late(Patience::For(timeout).into()))?;
        Ok(self.request(found))
    }

    /// Waits until something can be received: a question, or the end; for that long at most. Returns whether
    /// something can. It takes nothing.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let (strategy, until) = (self.end.strategy(), Until::from(Patience::For(timeout)));
        wait_until(&mut UntilReady(&mut self.end), strategy, until.deadline()).is_some()
    }

    /// What closes the service from any thread: clients can ask no more.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.end.closer()
    }

    /// Whether the service is closed. Questions may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        Waitable::is_closed(&*self.end)
    }

    /// How many questions wait.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// How many questions each client may have open at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.capacity()
    }

    /// As [`service::Server::total_corrupt`], but what bytes a question has is not looked at.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.end.total_corrupt()
    }
}

source_of_part!([] Server, |handle| handle.end);

/// For a [`Notifier`](crate::Notifier), which has a descriptor for `epoll`, or a [`select!`](crate::select!).
impl Waitable for Server {
    fn is_closed(&self) -> bool {
        Waitable::is_closed(&*self.end)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("question_bytes", &self.question_bytes)
            .field("answer_bytes", &self.answer_bytes)
            .field("len", &self.len())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// A request, whatever its answer.
trait DynRequest: Send + Sync {
    fn question(&self) -> &[u8];

    fn client(&self) -> ClientId;

    fn is_client_there(&self) -> bool;

    fn answer(self: Box<Self>, answer: &[u8]) -> Result<(), ClientGone<()>>;
}

impl<const WORDS: usize, const LARGE: bool> DynRequest for service::Request<AskedBytes, Block<WORDS, LARGE>> {
    fn question(&self) -> &[u8] {
        (**self).question()
    }

    fn client(&self) -> ClientId {
        self.client()
    }

    fn is_client_there(&self) -> bool {
        self.is_client_there()
    }

    fn answer(self: Box<Self>, answer: &[u8]) -> Result<(), ClientGone<()>> {
        (*self).answer(block(answer)).map_err(|_| ClientGone(()))
    }
}

/// A question that is to be answered, once. Its drop refuses it. See [`service::Request`].
#[must_use = "its drop refuses the question"]
pub struct Request {
    end: Box<dyn DynRequest>,
    answer_bytes: usize,
}

impl Request {
    /// The question.
    #[must_use]
    pub fn question(&self) -> &[u8] {
        self.end.question()
    }

    /// How many bytes the answer has.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    /// Which client has asked.
    #[must_use]
    pub fn client(&self) -> ClientId {
        self.end.client()
    }

    /// Whether the client can still receive an answer, as the kernel says: a system call.
    #[must_use]
    pub fn is_client_there(&self) -> bool {
        self.end.is_client_there()
    }

    /// Answers the question. Never waits.
    ///
    /// # Errors
    ///
    /// [`ClientGone`]: as of [`service::Request::answer`].
    ///
    /// # Panics
    ///
    /// If the answer has another length than the service's answers.
    pub fn answer(self, answer: &[u8]) -> Result<(), ClientGone<()>> {
        assert_eq!(answer.len(), self.answer_bytes, "an answer has the size of its schema");
        self.end.answer(answer)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("client", &self.client()).finish_non_exhaustive()
    }
}

/// A client, whatever its answers.
trait DynClient: Send + Sync {
    fn ask(&mut self, question: AskedBytes) -> Result<Box<dyn DynPendingAnswer>, AskError<AskedBytes>>;

    fn capacity(&self) -> usize;

    fn open(&self) -> usize;

    fn is_closed(&self) -> bool;
}

impl<const WORDS: usize, const LARGE: bool> DynClient for service::Client<AskedBytes, Block<WORDS, LARGE>> {
    fn ask(&mut self, question: AskedBytes) -> Result<Box<dyn DynPendingAnswer>, AskError<AskedBytes>> {
        Ok(Box::new(self.ask(question)?))
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn open(&self) -> usize {
        self.open()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// Asks a server, as a [`service::Client`] does.
pub struct Client {
    end: Box<dyn DynClient>,
    server: Peer,
    question_bytes: usize,
    answer_bytes: usize,
}

impl Client {
    /// Joins a service, as [`service::client`](fn@service::client) does. The strategy says how its answers
    /// are waited for. A type without a schema is any of its size.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong) of an answer, [`Attach`](OpenError::Attach).
    pub fn join(
        invitation: &Invitation,
        question: &MessageType,
        answer: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, OpenError> {
        let exchange = Exchange::found(invitation, question, answer)?;
        in_blocks!(answer, WORDS, LARGE => {
            let (client, server) =
                client_for::<AskedBytes, Block<WORDS, LARGE>>(invitation, &exchange, strategy)?;
            let (question_bytes, answer_bytes) = (question.bytes(), answer.bytes());
            Ok(Self { end: Box::new(client), server, question_bytes, answer_bytes })
        })
    }

    /// How many bytes a question has.
    #[must_use]
    pub fn question_bytes(&self) -> usize {
        self.question_bytes
    }

    /// How many bytes an answer has.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    /// Asks. Never waits. The answer comes at what this returns.
    ///
    /// # Errors
    ///
    /// [`AskError`]: as of [`service::Client::ask`].
    ///
    /// # Panics
    ///
    /// If the question has another length than the service's questions.
    pub fn ask(&mut self, question: &[u8]) -> Result<PendingAnswer, AskError<()>> {
        assert_eq!(question.len(), self.question_bytes, "a question has the size of its schema");
        match self.end.ask(AskedBytes::new(question)) {
            Ok(end) => Ok(PendingAnswer { end, bytes: self.answer_bytes }),
            Err(AskError::Full(_)) => Err(AskError::Full(())),
            Err(AskError::Closed(_)) => Err(AskError::Closed(())),
        }
    }

    /// How many questions may be open at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.capacity()
    }

    /// How many questions are open now. See [`service::Client::open`].
    #[must_use]
    pub fn open(&self) -> usize {
        self.end.open()
    }

    /// Whether the server has closed the service.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }

    /// Whether the server's process is there.
    #[must_use]
    pub fn server(&self) -> PeerState {
        self.server.state()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("question_bytes", &self.question_bytes)
            .field("answer_bytes", &self.answer_bytes)
            .field("open", &self.open())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// An answer that is to come, whatever its size.
trait DynPendingAnswer: Waitable + Send + Sync {
    fn recv(&mut self, answer: &mut [u8], until: Until) -> Result<(), AnswerError>;
}

impl<const WORDS: usize, const LARGE: bool> DynPendingAnswer for service::PendingAnswer<Block<WORDS, LARGE>> {
    fn recv(&mut self, answer: &mut [u8], until: Until) -> Result<(), AnswerError> {
        unpack(&self.recv_until(until)?, answer);
        Ok(())
    }
}

/// The answer to a question, which is to come. Its drop gives the answer up. See [`service::PendingAnswer`].
#[must_use = "the answer comes here"]
pub struct PendingAnswer {
    end: Box<dyn DynPendingAnswer>,
    bytes: usize,
}

impl PendingAnswer {
    /// How many bytes the answer has.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.bytes
    }

    fn take(&mut self, answer: &mut [u8], patience: Patience) -> Result<(), AnswerError> {
        assert_eq!(answer.len(), self.bytes, "an answer has the size of its schema");
        self.end.recv(answer, patience.into())
    }

    /// Receives the answer, and waits for it.
    ///
    /// # Errors
    ///
    /// [`AnswerError`]: there is none, and none will come.
    ///
    /// # Panics
    ///
    /// If `answer` has another length than the service's answers; so do the other verbs.
    pub fn recv(&mut self, answer: &mut [u8]) -> Result<(), AnswerError> {
        self.take(answer, Patience::Endless)
    }

    /// As [`recv`](Self::recv), without a wait.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it is not there yet.
    pub fn try_recv(&mut self, answer: &mut [u8]) -> Result<(), AnswerError> {
        self.take(answer, Patience::None)
    }

    /// As [`recv`](Self::recv), for that long at most.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`Empty`](AnswerError::Empty): it has not come in that time.
    pub fn recv_timeout(&mut self, answer: &mut [u8], timeout: Duration) -> Result<(), AnswerError> {
        self.take(answer, Patience::For(timeout))
    }

    /// Waits until a receive has something to say, for that long at most. Returns whether it has. It takes
    /// nothing.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let (strategy, until) = (self.end.strategy(), Until::from(Patience::For(timeout)));
        wait_until(&mut UntilReady(&mut self.end), strategy, until.deadline()).is_some()
    }
}

source_of_part!([] PendingAnswer, |handle| handle.end);

/// For a [`Notifier`](crate::Notifier), which has a descriptor for `epoll`, or a [`select!`](crate::select!).
impl Waitable for PendingAnswer {
    fn is_closed(&self) -> bool {
        Waitable::is_closed(&*self.end)
    }
}

impl fmt::Debug for PendingAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingAnswer").field("answer_bytes", &self.bytes).finish_non_exhaustive()
    }
}
