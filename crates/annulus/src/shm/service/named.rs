//! [`NamedClient`]: a client of all servers that have one name. [`NamedAskError`], [`ServerError`]: why it
//! does not ask.

use core::error::Error;
use core::{fmt, mem};
use std::string::{String, ToString};
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::asked::Exchange;
use super::{Client, PendingAnswer, client_for};
use crate::base::peer_liveness::NowAndThen;
use crate::message::Message;
use crate::service::AskError;
use crate::shm::directory::{Directory, LOOK_INTERVAL, NamedRing, checked, next_look};
use crate::shm::error::{AttachError, FindError, NameError};
use crate::shm::invitation::Invitation;
use crate::shm::process::PeerState;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// A client of all servers that have one name, and share the work.
///
/// The servers of a name are the services that were [published](Invitation::publish_numbered) under it with
/// a number behind it, `answers.0`, `answers.1` …, and the one that has the name itself. Each is a service of
/// its own, usually of a process of its own. This client joins each of them, so it takes a place of each.
///
/// A question goes to one server: the one with the fewest open questions of this client. Where several have
/// as few, they take turns. A server that is stopped (`SIGSTOP`) or slow keeps what it was asked, and soon
/// gets no more, while others answer.
///
/// A server that has closed its service, or whose process has ended, is left out. What it was asked before
/// says so, as with one server: [`Died`](super::AnswerError::Died) or
/// [`Refused`](super::AnswerError::Refused). No question is ever asked a second time by itself, because the
/// server may have done what it was asked. The program may ask it again.
///
/// # When it looks
///
/// It looks for servers that are new when a question finds none, and otherwise with a question, once in 10
/// ms at most; and in [`refresh`](Self::refresh) and [`wait_for_server`](Self::wait_for_server). A look reads
/// the directory, and takes some system calls for each server. If the directory is removed or moved, it looks
/// in the next directory at the same path.
///
/// In a directory that others may use it may have to ask the processes of new servers for their descriptors.
/// With a question it does not wait for the answers, as long as it has a server: a later look joins those
/// that have answered. Otherwise it waits, for two seconds at most, for all of them together;
/// `wait_for_server` no longer than its timeout. A process that has not answered after two seconds is a
/// server that it can't ask ([`NoAnswer`](NameError::NoAnswer)), and the next look asks it again.
///
/// # A server that it can't ask
///
/// A service of other types, or another kind of ring, is an error that names it: [`ServerError`]. It is told
/// once for each such ring, and the others are asked from then on. An error of the system is told by each
/// [`refresh`](Self::refresh) for as long as it lasts, but [`ask`](Self::ask) tells it only if there is no
/// other server. A server all of whose places are taken is no error, as long as there are others; it is
/// joined when it has a place.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{Directory, Shared, service};
/// # let path = std::env::temp_dir().join(format!("annulus-named-client-{}", std::process::id()));
///
/// let directory = Directory::open(&path)?; // or `Directory::of_user()`
///
/// // Each process that answers. Usually there is one here.
/// let builder = service::Builder::new(Settings::new(16)).clients(8);
/// let [one, other] = [builder.clone().build::<u32, u64>()?, builder.build::<u32, u64>()?];
/// let publish = |made: &Shared<_, _>| made.invitation.publish_numbered(&directory, "squares");
/// let names = [publish(&one)?, publish(&other)?];
/// assert_eq!([names[0].name(), names[1].name()], ["squares.0", "squares.1"]);
///
/// // Each process that asks.
/// let mut client = service::NamedClient::<u32, u64>::new(&directory, "squares")?;
/// let (six, seven) = (client.ask(6)?, client.ask(7)?);
///
/// for mut server in [one.handle, other.handle] {
///     let request = server.recv()?; // each has one
///     let number = u64::from(*request);
///     request.answer(number * number)?;
/// }
/// assert_eq!((seven.recv(), six.recv()), (Ok(49), Ok(36)));
/// # drop(names);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Decision 0179: a number for each server, and no server that shares the others' memory.
pub struct NamedClient<Q: Message, A: Message> {
    directory: Directory,
    name: String,
    strategy: WaitStrategy,
    servers: Vec<Joined<Q, A>>,
    /// What it can't ask, and has told. The files stay open, so no other file can be taken for one of them.
    refused: Vec<NamedRing>,
    /// Those whose processes were asked for their descriptors, and have not answered yet.
    asked: Vec<NamedRing>,
    /// How many servers had no place at the last look.
    without_place: usize,
    /// Where the next turn begins.
    turn: usize,
    looks: NowAndThen,
}

/// A server, as it was found.
struct Joined<Q: Message, A: Message> {
    ring: NamedRing,
    client: Client<Q, A>,
    /// The number of the service, whatever its name.
    identity: u64,
}

impl<Q: Message, A: Message> NamedClient<Q, A> {
    /// A client of the servers of that name. It does not look for servers yet: its verbs do.
    ///
    /// # Errors
    ///
    /// [`Bad`](NameError::Bad): there can be no such name.
    pub fn new(directory: &Directory, name: &str) -> Result<Self, NameError> {
        checked(name)?;
        Ok(Self {
            directory: directory.clone(),
            name: name.to_string(),
            strategy: WaitStrategy::default(),
            servers: Vec::new(),
            refused: Vec::new(),
            asked: Vec::new(),
            without_place: 0,
            // Processes that ask once each do not all ask the same one.
            turn: std::process::id() as usize,
            looks: NowAndThen::new(),
        })
    }

    /// How answers are waited for, of all servers that are joined from now on.
    #[must_use]
    pub fn with_wait_strategy(self, strategy: WaitStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks one of the servers. It waits for nothing but a [look](Self#when-it-looks). The answer comes at
    /// what this returns.
    ///
    /// O(servers · capacity).
    ///
    /// # Errors
    ///
    /// All give the question back. [`Full`](NamedAskError::Full): as many are open as may be, of each server.
    /// [`NoServer`](NamedAskError::NoServer): none is there. [`Server`](NamedAskError::Server):
    /// [one of them](Self#a-server-that-it-cant-ask) can't be asked; the next call asks the others.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{Directory, service};
    /// # let path = std::env::temp_dir().join(format!("annulus-named-ask-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let mut client = service::NamedClient::<u32, u64>::new(&directory, "squares")?;
    /// let error = client.ask(6).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no server of \"squares\""));
    /// assert_eq!(error.into_inner(), 6);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask(&mut self, question: Q) -> Result<PendingAnswer<A>, NamedAskError<Q>> {
        let mut question = question;
        let mut has_looked = false;
        loop {
            self.servers.retain(|server| !server.client.is_over());
            if !has_looked && (self.servers.is_empty() || self.looks.is_due()) {
                has_looked = true;
                let looked = self.look();
                let looked = if self.servers.is_empty() { self.await_answers(looked) } else { looked };
                match looked {
                    Err(error) if never_fits(&error.error) || self.servers.is_empty() => {
                        return Err(NamedAskError::Server { question, error });
                    }
                    _ => {}
                }
            }
            question = match self.ask_in_turn(question) {
                Ok(pending) => return Ok(pending),
                // It was closed just now.
                // Unreached: since the look above; two have to meet there
                Err(AskError::Closed(question)) => question,
                Err(AskError::Full(question)) if self.servers.is_empty() => {
                    let (name, without_place) = (self.name.clone(), self.without_place);
                    return Err(NamedAskError::NoServer { question, name, without_place });
                }
                Err(AskError::Full(question)) => return Err(NamedAskError::Full(question)),
            };
        }
    }

    /// Asks the server with the fewest open questions, or the next one if that has no room after all. Of
    /// those with as few, the first from the turn on.
    fn ask_in_turn(&mut self, mut question: Q) -> Result<PendingAnswer<A>, AskError<Q>> {
        let count = self.servers.len();
        let mut last = None;
        loop {
            let servers = &self.servers;
            let loads = (0..count).map(|at| (servers[(self.turn % count + at) % count].client.open(), at));
            let next = loads.filter(|&load| last.is_none_or(|last| load > last)).min();
            let Some(load) = next else { return Err(AskError::Full(question)) };
            let index =
                if seeded!("named_client_asks_one") { 0 } else { (self.turn % count + load.1) % count };
            match self.servers[index].client.ask(question) {
                Ok(pending) => {
                    self.turn = (index + 1) % count;
                    return Ok(pending);
                }
                // Unreached: closed since the look in `ask`; two have to meet there
                Err(AskError::Closed(back)) => {
                    self.servers.remove(index);
                    return Err(AskError::Closed(back));
                }
                Err(AskError::Full(back)) => question = back,
            }
            last = Some(load);
        }
    }

    /// Looks for servers now: joins those that are new, and leaves out those that are gone. Returns how many
    /// there are. [Here](Self#when-it-looks) is when it waits.
    ///
    /// # Errors
    ///
    /// [`ServerError`]: one of them [can't be asked](Self#a-server-that-it-cant-ask), or the directory can't
    /// be read. All others were joined.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, service};
    /// # let path = std::env::temp_dir().join(format!("annulus-named-refresh-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let mut client = service::NamedClient::<u32, u64>::new(&directory, "squares")?;
    /// assert_eq!(client.refresh()?, 0);
    ///
    /// // Usually in another process: a server whose questions are other ones.
    /// let made = service::Builder::new(Settings::new(4)).build::<f32, u64>()?;
    /// let name = made.invitation.publish_numbered(&directory, "squares")?;
    /// let error = client.refresh().unwrap_err();
    /// assert!(error.to_string().starts_with("the server \"squares.0\" can't be asked: "));
    /// assert_eq!(client.refresh()?, 0); // it is told once
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh(&mut self) -> Result<usize, ServerError> {
        let looked = self.look();
        self.await_answers(looked).map(|()| self.servers.len())
    }

    /// As [`refresh`](Self::refresh), but what has to be asked for is only asked for.
    fn look(&mut self) -> Result<(), ServerError> {
        let of_all = |error: FindError| ServerError { server: String::new(), error };
        if let Some(successor) = self.directory.successor().map_err(|error| of_all(error.into()))? {
            self.directory = successor;
        }
        self.servers.retain(|server| !server.client.is_over_now());
        self.refused.retain(|ring| ring.state() == PeerState::Alive);
        self.without_place = 0;
        let mut asked = mem::take(&mut self.asked);
        let mut told = Ok(());
        for name in self.directory.numbered(&self.name).map_err(|error| of_all(error.into()))? {
            let joined = self.find(&name).and_then(|found| {
                let Some(ring) = found else { return Ok(()) };
                // By the question that is open, if there is one.
                let open = asked.iter().position(|asked| asked.is_same(&ring));
                let ring = open.map_or(ring, |open| asked.swap_remove(open));
                self.join(ring, Some(Instant::now()), told.is_ok())
            });
            if let Err(error) = joined {
                told = told.and(Err(ServerError { server: name, error }));
            }
        }
        told
    }

    /// Waits for the answers that the last look has asked for, for as long as an answer may take. All were
    /// asked at once, so that is the time for all of them together.
    fn await_answers(&mut self, looked: Result<(), ServerError>) -> Result<(), ServerError> {
        let mut told = looked;
        for ring in mem::take(&mut self.asked) {
            let server = ring.name().to_string();
            if let Err(error) = self.join(ring, None, told.is_ok()) {
                told = told.and(Err(ServerError { server, error }));
            }
        }
        told
    }

    /// The server of that name, unless it has joined it, or it is gone.
    fn find(&self, name: &str) -> Result<Option<NamedRing>, FindError> {
        let ring = match self.directory.find(name) {
            Ok(ring) => ring,
            Err(NameError::NotFound { .. } | NameError::Dead { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let joined = self.servers.iter().map(|server| &server.ring);
        Ok((!joined.chain(&self.refused).any(|seen| seen.is_same(&ring))).then_some(ring))
    }

    /// Joins that server, unless it is gone, or has not answered at `until`. `is_told`: whether the error is
    /// told now. Of several, one is told at a time.
    fn join(&mut self, ring: NamedRing, until: Option<Instant>, is_told: bool) -> Result<(), FindError> {
        match self.client_of(&ring, until) {
            Ok(Some((client, identity))) => self.servers.push(Joined { ring, client, identity }),
            // It is joined by another name. Or it has ended since, or has closed its service and not yet its
            // name.
            Ok(None)
            | Err(
                FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })
                | FindError::Attach(AttachError::Closed),
            ) => {}
            Err(FindError::Name(NameError::TimedOut { .. })) => self.asked.push(ring),
            Err(FindError::Attach(AttachError::NoPlace { .. })) => self.without_place += 1,
            Err(error) => {
                if is_told && never_fits(&error) && !seeded!("named_client_told_again") {
                    self.refused.push(ring);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// A client of that server, and the number of its service. `None` if it is joined.
    #[allow(clippy::type_complexity, reason = "a pair")]
    fn client_of(
        &self,
        ring: &NamedRing,
        until: Option<Instant>,
    ) -> Result<Option<(Client<Q, A>, u64)>, FindError> {
        let invitation = Invitation::find_until(ring, until)?;
        let identity = invitation.info()?.identity();
        let is_joined = self.servers.iter().any(|server| server.identity == identity);
        if is_joined && !seeded!("named_client_joins_again") {
            return Ok(None);
        }
        let (client, _) = client_for::<Q, A>(&invitation, &Exchange::of::<Q, A>(), self.strategy)?;
        Ok(Some((client, identity)))
    }

    /// Waits until there is a server, for `timeout` at most (`None` is for ever). Returns how many there are.
    ///
    /// It sleeps until the directory changes, as [`Directory::wait_for`] does.
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh), and [`TimedOut`](NameError::TimedOut) in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, service};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-named-wait-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let mut client = service::NamedClient::<u32, u64>::new(&directory, "squares")?;
    /// assert!(client.wait_for_server(Some(Duration::from_millis(1))).is_err());
    ///
    /// // Usually in another process, which may come later.
    /// let made = service::Builder::new(Settings::new(4)).build::<u32, u64>()?;
    /// let name = made.invitation.publish_numbered(&directory, "squares")?;
    /// assert_eq!(client.wait_for_server(None)?, 1);
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_for_server(&mut self, timeout: Option<Duration>) -> Result<usize, ServerError> {
        // (A sum that no clock reaches is for ever.)
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // Before the look: what comes after that look is noticed. (In each round: the directory may be
            // another one.)
            let watch = self.directory.watch();
            self.look()?;
            if !self.servers.is_empty() {
                return Ok(self.servers.len());
            }
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                let error = NameError::TimedOut { name: self.name.clone() }.into();
                return Err(ServerError { server: String::new(), error });
            }
            // (The directory gives no notice of an answer.)
            let answer = if self.asked.is_empty() { LOOK_INTERVAL } else { LOOK_FOR_ANSWERS };
            watch.wait(Some(next_look(now, until).min(now + answer)));
        }
    }

    /// The servers that it has joined: their names and processes.
    pub fn servers(&self) -> impl Iterator<Item = &NamedRing> {
        self.servers.iter().map(|server| &server.ring)
    }

    /// How many of its questions are open now, of all servers that it has joined.
    #[must_use]
    pub fn open(&self) -> usize {
        self.servers.iter().map(|server| server.client.open()).sum()
    }

    /// How many questions may be open at one time, of all servers that it has joined.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.servers.iter().map(|server| server.client.capacity()).sum()
    }
}

/// The pause between two looks for an answer.
const LOOK_FOR_ANSWERS: Duration = Duration::from_millis(1);

/// Whether the error is of the ring itself, so that the next attempt fails, too.
fn never_fits(error: &FindError) -> bool {
    matches!(error, FindError::Attach(error) if !matches!(error, AttachError::System(_)))
}

impl<Q: Message, A: Message> fmt::Debug for NamedClient<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedClient")
            .field("name", &self.name)
            .field("servers", &self.servers.len())
            .field("open", &self.open())
            .finish_non_exhaustive()
    }
}

/// Why a question was asked of no server of a name. This gives it back.
#[non_exhaustive]
pub enum NamedAskError<Q> {
    /// As many questions are open as may be, of each server: receive an answer, or start another server.
    Full(Q),
    /// No server is there that could be asked.
    NoServer {
        /// The question.
        question: Q,
        /// The name.
        name: String,
        /// How many servers are there all of whose places are taken by other clients.
        without_place: usize,
    },
    /// One of the servers can't be asked. The next call asks the others.
    Server {
        /// The question.
        question: Q,
        /// Which one, and why.
        error: ServerError,
    },
}

impl<Q> NamedAskError<Q> {
    /// The question.
    pub fn into_inner(self) -> Q {
        match self {
            Self::Full(question) | Self::NoServer { question, .. } | Self::Server { question, .. } => {
                question
            }
        }
    }
}

/// Does not show the question, as [`AskError`] does not.
impl<Q> fmt::Debug for NamedAskError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::NoServer { name, without_place, .. } => f
                .debug_struct("NoServer")
                .field("name", name)
                .field("without_place", without_place)
                .finish_non_exhaustive(),
            Self::Server { error, .. } => {
                f.debug_struct("Server").field("error", error).finish_non_exhaustive()
            }
        }
    }
}

impl<Q> fmt::Display for NamedAskError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str(
                "as many questions are open as all servers have room for: receive an answer first, or start another server",
            ),
            Self::NoServer { name, without_place: 0, .. } => write!(
                f,
                "there is no server of {name:?}: start one that publishes {name:?}, or {name:?} with a number \
                 (`publish_numbered`), or wait for one (`wait_for_server`)",
            ),
            Self::NoServer { name, without_place, .. } => write!(
                f,
                "all places of the {without_place} servers of {name:?} are taken: wait until another client leaves, \
                 or make the services with more places",
            ),
            Self::Server { error, .. } => error.fmt(f),
        }
    }
}

impl<Q> Error for NamedAskError<Q> {}

/// Which server of a name can't be asked, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerError {
    /// The name of the server; empty where it is about the directory, or all of them.
    pub server: String,
    /// Why.
    pub error: FindError,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.server.is_empty() {
            self.error.fmt(f)
        } else {
            write!(f, "the server {:?} can't be asked: {}", self.server, self.error)
        }
    }
}

impl Error for ServerError {}
