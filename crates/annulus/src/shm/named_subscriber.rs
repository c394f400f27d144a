//! [`NamedSubscriber`]: a subscriber to whichever ring has a name, one publisher after the other.
//! [`Received`]: what a subscriber of a name has received: a message, or news of its publisher.

use core::fmt;
use core::time::Duration;
use std::io;
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::Instant;

use super::broadcast::{Accepted, Mark};
use super::directory::{Directory, NamedRing, checked, next_look};
use super::dynamic::Start;
use super::error::{AttachError, FindError, NameError};
use super::invitation::Invitation;
use super::process::{PeerState, ProcessId};
use super::silence::Silence;
use crate::broadcast::{Foreign, Subscriber};
use crate::error::LossyTryRecvError;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::sync::seeded;
use crate::wait::{Until, WaitStrategy};

/// A subscriber that follows a name: it joins the lossy ring that has the name, and when that ring ends, the
/// next one.
///
/// It may come before the first publisher. When a publisher has closed its ring, or its process has ended, it
/// receives all that was published, tells the [end](Received::Ended) once, and waits for the next ring of
/// that name, whose [beginning](Received::Began) it tells once, too. How many messages were published between
/// the two is known where the publishers have a [numbering](super::Numbering). What it loses within one ring,
/// because it falls behind, is [counted](Received::Lagged) and told.
///
/// In the first ring it begins with the next message, or with the oldest that is there
/// ([`begin_with_oldest`](Self::begin_with_oldest)), or with the last ones
/// ([`begin_with_last`](Self::begin_with_last)). In all later rings it begins with the oldest, so that
/// the gap is as small as it can be. It never joins the same ring twice, so it receives no message twice. A
/// publisher that came and went between two looks is not seen.
///
/// | verb | waits |
/// | --- | --- |
/// | [`try_recv`](Self::try_recv) | no |
/// | [`recv`](Self::recv) | yes |
/// | [`recv_timeout`](Self::recv_timeout), [`recv_until`](Self::recv_until) | until then |
///
/// # A ring of several publishers
///
/// Such a [ring](super::mp_broadcast) ends when one of them closes it, or as its
/// [builder](super::mp_broadcast::Builder::when_no_publisher) says. If it waits for the next publishers, it
/// has also ended here once nobody publishes to it and its name was taken back, or the process that gave the
/// name has ended.
///
/// # How it waits
///
/// For messages of a ring that it has joined, it waits as any subscriber does. Without one, it sleeps until
/// the kernel gives notice of a new name in the directory (`inotify`). In any case it looks once a second,
/// and each 10 ms where the kernel has no more such notices to give. A look takes some system calls.
///
/// In a directory that others may use it may have to ask a ring's process for its descriptors. It waits for
/// the answer no longer than the verb may wait: `try_recv` asks, and a later call looks for the answer. If
/// there is none after two seconds, the next call returns [`NoAnswer`](NameError::NoAnswer), and the one
/// after that asks again.
///
/// If the directory is removed or moved, it looks in the next directory at the same path. It makes none
/// itself. Another directory must meet what [`Directory::with_mode`] demands; the error is
/// [`FindError::Directory`] otherwise.
///
/// # A ring that it can't use
///
/// Another kind of ring, or one of another type, is an error: [`FindError::Attach`], which has both sides'
/// values. It is returned once for each such ring. The next call waits for the next ring. An error of the
/// name, or of the system, is returned by each call for as long as it lasts.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{Directory, NamedSubscriber, PeerState, Received, Shared, broadcast};
/// # let path = std::env::temp_dir().join(format!("annulus-named-subscriber-{}", std::process::id()));
///
/// let directory = Directory::open(&path)?; // or `shm::follow("prices")`, in the user's directory
/// let mut subscriber = NamedSubscriber::<u64>::new(&directory, "prices")?.begin_with_oldest();
/// assert_eq!(subscriber.try_recv()?, None); // nobody publishes
///
/// // Usually in another process, which is started again later.
/// for life in 0..2 {
///     let Shared { handle: mut publisher, invitation, .. } =
///         broadcast::lossy::<u64>(Settings::new(64))?;
///     let name = invitation.publish(&directory, "prices")?;
///     publisher.publish(life);
///
///     assert!(matches!(subscriber.recv()?, Received::Began { missed: 0, .. }));
///     assert_eq!(subscriber.recv()?, Received::Message(life));
///     drop((name, publisher));
///     // `Dead`, if the process had ended.
///     assert!(matches!(subscriber.recv()?, Received::Ended { state: PeerState::Closed, .. }));
/// }
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Decision 0110: why the ends and the beginnings are received among the messages.
pub struct NamedSubscriber<T> {
    directory: Directory,
    name: String,
    strategy: WaitStrategy,
    /// With which message of the next ring that it joins it begins.
    start: Start,
    /// After how long a silence a publisher is overdue, if not as its ring says.
    limit: Option<Duration>,
    /// The last ring that it has joined, kept when it has ended, so that no other memory can be taken for it.
    joined: Option<OneRing<T>>,
    /// The ring that it has joined, or can't use. The file stays open, so no other file can be taken for it.
    seen: Option<Arc<NamedRing>>,
    /// The ring whose process was asked for its descriptors, and has not answered yet.
    asked: Option<Arc<NamedRing>>,
}

/// A ring, and how far it is received.
struct OneRing<T> {
    process: ProcessId,
    ring: Accepted<T>,
    subscriber: Subscriber<T, Foreign>,
    /// Whether its end was told.
    is_over: bool,
    /// Where it shows how far it is.
    mark: Option<Mark>,
    numbering: Option<u64>,
    silence: Silence,
}

impl<T: Message> NamedSubscriber<T> {
    /// A subscriber to that name. It does not look for a ring yet: its verbs do.
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
            start: Start::Newest,
            limit: None,
            joined: None,
            seen: None,
            asked: None,
        })
    }

    /// Makes this subscriber begin with the oldest message of the first ring, too.
    #[must_use]
    pub fn begin_with_oldest(self) -> Self {
        Self { start: Start::Oldest, ..self }
    }

    /// Makes this subscriber begin with the last `count` messages of the first ring, or as many as there are:
    /// see [`Subscriber::begin_with_last`].
    #[must_use]
    pub fn begin_with_last(self, count: usize) -> Self {
        Self { start: Start::Last(count), ..self }
    }

    /// After how long a silence this subscriber calls a publisher [overdue](Received::Overdue), whatever
    /// that has [promised](crate::Settings::deadline). Without this it goes by the promise, and where there
    /// is none, no publisher is overdue.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, NamedSubscriber, Received, Shared, broadcast};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-overdue-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64))?;
    /// let name = invitation.publish(&directory, "heartbeats")?;
    ///
    /// // Usually in another process.
    /// let subscriber = NamedSubscriber::<u64>::new(&directory, "heartbeats")?;
    /// let mut subscriber = subscriber.overdue_after(Duration::from_millis(20));
    /// assert!(matches!(subscriber.recv()?, Received::Began { .. }));
    /// assert!(matches!(subscriber.recv()?, Received::Overdue { .. })); // once
    /// publisher.publish(7); // it is back
    /// assert_eq!(subscriber.recv()?, Received::Message(7));
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[doc(alias = "liveliness")]
    #[doc(alias = "watchdog")]
    pub fn overdue_after(self, silence: Duration) -> Self {
        Self { limit: Some(silence), ..self }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it waits for a message of a ring that it has joined.
    #[must_use]
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.strategy
    }

    /// Waits for messages by this strategy, in this ring and in later ones.
    ///
    /// ```
    /// use annulus::WaitStrategy;
    /// use annulus::shm::{Directory, NamedSubscriber};
    /// # let path = std::env::temp_dir().join(format!("annulus-strategy-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let mut subscriber = NamedSubscriber::<u64>::new(&directory, "prices")?;
    /// subscriber.set_wait_strategy(WaitStrategy::BusySpin);
    /// assert_eq!(subscriber.wait_strategy(), WaitStrategy::BusySpin);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_wait_strategy(&mut self, strategy: WaitStrategy) {
        self.strategy = strategy;
        if let Some(joined) = &mut self.joined {
            joined.subscriber.set_wait_strategy(strategy);
        }
    }

    /// Whether the publisher of the last ring that it has joined is there; `NotYet` if it has joined none.
    /// Two system calls. Messages may be left to receive of one that has ended.
    #[must_use]
    #[doc(alias = "peer_state")]
    pub fn state(&self) -> PeerState {
        self.joined.as_ref().map_or(PeerState::NotYet, |joined| joined.ring.state())
    }

    /// Shows this subscriber's position to processes that observe the ring that it has joined, `annulus top`
    /// for example: see [`Mark`]. Nothing, if it has joined none. One system call, and some more with the
    /// first call in a ring.
    ///
    /// # Errors
    ///
    /// What the system says: the process has no more descriptors, for example.
    pub fn show_position(&mut self) -> io::Result<()> {
        let Some(joined) = self.current() else { return Ok(()) };
        let mark = match joined.mark.take() {
            Some(mark) => mark,
            None => joined.ring.mark()?,
        };
        mark.set(joined.subscriber.cursor());
        joined.mark = Some(mark);
        Ok(())
    }

    /// Receives the next message, or word of a change. Waits for it, also for the next publisher.
    ///
    /// # Errors
    ///
    /// [`FindError`]: what has the name can't be used, or the directory can't be read. See
    /// [there](Self#a-ring-that-it-cant-use).
    pub fn recv(&mut self) -> Result<Received<T>, FindError> {
        loop {
            if let Some(received) = self.recv_until(Until::FOREVER)? {
                return Ok(received);
            }
        }
    }

    /// As [`recv`](Self::recv), but it never waits: `None` if there is nothing now. While there is no
    /// publisher, each call takes some system calls.
    ///
    /// # Errors
    ///
    /// The errors of [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<Option<Received<T>>, FindError> {
        let Some(joined) = self.current() else {
            self.follow_path()?;
            return self.look(Some(Instant::now()));
        };
        Ok(joined.receive(Subscriber::try_recv_or_lag).or_else(|| joined.overdue()))
    }

    /// As [`recv`](Self::recv), but gives up after `timeout`: `None`. A timeout that is too long for the
    /// clock means no timeout. One of zero still receives what is there.
    ///
    /// # Errors
    ///
    /// The errors of [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::{Directory, NamedSubscriber};
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("annulus-timeout-{}", std::process::id()));
    ///
    /// let mut subscriber = NamedSubscriber::<u64>::new(&Directory::open(&path)?, "prices")?;
    /// assert_eq!(subscriber.recv_timeout(Duration::from_millis(10))?, None);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Option<Received<T>>, FindError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says: `None` if it gave up. The strategy is for a
    /// message of a ring that it has joined.
    ///
    /// # Errors
    ///
    /// The errors of [`recv`](Self::recv).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<Option<Received<T>>, FindError> {
        let until = until.into();
        let Some(joined) = self.current() else { return self.wait_for_next(until.deadline()) };
        Ok(joined.receive_until(until))
    }

    /// The ring from which it receives now.
    fn current(&mut self) -> Option<&mut OneRing<T>> {
        self.joined.as_mut().filter(|joined| !joined.is_over)
    }

    /// Joins the next ring as soon as it is there. `None` at the deadline.
    fn wait_for_next(&mut self, until: Option<Instant>) -> Result<Option<Received<T>>, FindError> {
        // Before the first look: what comes after that look is noticed.
        let mut watch = self.directory.watch();
        loop {
            if self.follow_path()? {
                watch = self.directory.watch();
            }
            if let Some(began) = self.look(until)? {
                return Ok(Some(began));
            }
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                return Ok(None);
            }
            watch.wait(Some(next_look(now, until)));
        }
    }

    /// Switches to the directory that has the path now, and returns whether that is another one.
    fn follow_path(&mut self) -> Result<bool, FindError> {
        let Some(successor) = self.directory.successor()? else { return Ok(false) };
        self.directory = successor;
        Ok(true)
    }

    /// Joins the ring that has the name. `None` if there is none, or none but what was there before, or its
    /// process has not answered at `until`. Then the next look waits for that answer.
    fn look(&mut self, until: Option<Instant>) -> Result<Option<Received<T>>, FindError> {
        let asked = self.asked.take();
        let named = match self.directory.find(&self.name) {
            Err(NameError::NotFound { .. } | NameError::Dead { .. }) => return Ok(None),
            found => Arc::new(found?),
        };
        let named = asked.filter(|asked| asked.is_same(&named)).unwrap_or(named);
        if self.seen.as_ref().is_some_and(|seen| seen.is_same(&named)) && !seeded!("shm_refused_again") {
            return Ok(None);
        }
        let joined = match self.join(&named, until) {
            Err(FindError::Name(NameError::TimedOut { .. })) => {
                self.asked = Some(named);
                return Ok(None);
            }
            // It has ended since.
            // Unreached: a publisher that ends between two looks at its name: two processes have to meet
            // there
            Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => return Ok(None),
            // It may succeed the next time.
            Err(error @ (FindError::Name(_) | FindError::Attach(AttachError::System(_)))) => {
                return Err(error);
            }
            told => told,
        };
        self.seen = Some(named);
        let Some((joined, missed)) = joined? else { return Ok(None) };
        let process = joined.process;
        self.joined = Some(joined);
        self.start = Start::Oldest;
        Ok(Some(Received::Began { process, missed }))
    }

    /// The ring of that name, and how many of its messages are missed. `None` if it is the one of before,
    /// whose name was given back and given again.
    fn join(
        &self,
        named: &Arc<NamedRing>,
        until: Option<Instant>,
    ) -> Result<Option<(OneRing<T>, u64)>, FindError> {
        let invitation = Invitation::find_until(named, until)?.with_wait_strategy(self.strategy);
        let is_that_of_before =
            self.joined.as_ref().is_some_and(|joined| joined.ring.is_that_of(&invitation));
        if is_that_of_before && !seeded!("shm_ring_joined_again") {
            return Ok(None);
        }
        let name = Arc::clone(named);
        let is_given_up = move || name.state() != PeerState::Alive && !seeded!("shm_name_given_up_unseen");
        let ring = invitation.accept_unless::<T>(is_given_up)?;
        let subscriber = self.start.join(ring.subscribable());
        let info = invitation.info()?;
        let numbering = info.numbering();
        let before =
            self.joined.as_ref().filter(|joined| numbering.is_some() && joined.numbering == numbering);
        let expected = before.map_or(info.start(), |before| before.subscriber.cursor());
        let missed = subscriber.cursor().saturating_sub(expected);
        let process = named.process();
        let limit = self.limit.or(info.deadline());
        let silence = Silence::after(limit);
        Ok(Some((
            OneRing { process, ring, subscriber, is_over: false, mark: None, numbering, silence },
            missed,
        )))
    }

    /// The first ring, by itself.
    pub(super) fn into_first(
        mut self,
        until: Option<Instant>,
    ) -> Result<(Subscriber<T, Foreign>, Accepted<T>), FindError> {
        self.wait_for_next(until)?;
        match self.joined {
            Some(joined) => Ok((joined.subscriber, joined.ring)),
            None => Err(NameError::TimedOut { name: self.name }.into()),
        }
    }
}

impl<T: Message> OneRing<T> {
    /// The next of this ring. `None` if `receive` has found nothing in time.
    fn receive(
        &mut self,
        receive: impl FnOnce(&mut Subscriber<T, Foreign>) -> Result<T, LossyTryRecvError<BadValue>>,
    ) -> Option<Received<T>> {
        if seeded!("shm_end_before_the_rest") && self.ring.state() != PeerState::Alive {
            return Some(self.end());
        }
        let received = receive(&mut self.subscriber);
        let received = match received {
            Ok(message) => Received::Message(message),
            Err(LossyTryRecvError::Empty) => return None,
            Err(LossyTryRecvError::Lagged { skipped }) => Received::Lagged { skipped },
            Err(LossyTryRecvError::Corrupt(bad)) => Received::Corrupt(bad),
            Err(LossyTryRecvError::Closed) => self.end(),
        };
        self.silence.is_over();
        Some(received)
    }

    /// As [`receive`](Self::receive), waiting for it. If the publisher is overdue meanwhile, that is it.
    fn receive_until(&mut self, until: Until) -> Option<Received<T>> {
        if self.silence.limit().is_none() {
            return self.receive(|subscriber| subscriber.recv_or_lag_until(until));
        }
        let received = self.receive(Subscriber::try_recv_or_lag);
        if received.is_some() {
            return received;
        }
        let until = until.begun();
        loop {
            let (deadline, end) = (until.deadline(), self.silence.begin());
            let is_sooner = end.is_some_and(|end| deadline.is_none_or(|deadline| end < deadline));
            let part = end.filter(|_| is_sooner).map_or(until, |end| until.ending(end));
            let received = self.receive(|subscriber| subscriber.recv_or_lag_until(part));
            if received.is_some() || !is_sooner {
                return received;
            }
            let overdue = self.overdue();
            if overdue.is_some() {
                return overdue;
            }
        }
    }

    /// The publisher is there, and has said nothing for so long: told once.
    fn overdue(&mut self) -> Option<Received<T>> {
        let silence = self.silence.look()?;
        self.silence.tell();
        // (Of one that is dead, the end is received.)
        let is_there = self.ring.state() == PeerState::Alive;
        is_there.then_some(Received::Overdue { process: self.process, silence })
    }

    fn end(&mut self) -> Received<T> {
        self.is_over = !seeded!("shm_end_told_again");
        let state = match self.ring.state() {
            PeerState::Closed => PeerState::Closed,
            // It has ended: where the kernel told the subscriber nothing of the lock, it tells nothing here.
            PeerState::NotYet | PeerState::Alive | PeerState::Dead => PeerState::Dead,
        };
        Received::Ended { process: self.process, state }
    }
}

/// Its name, and where it looks for it.
impl<T> fmt::Debug for NamedSubscriber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedSubscriber")
            .field("name", &self.name)
            .field("directory", &self.directory)
            .field("process", &self.joined.as_ref().map(|joined| joined.process))
            .finish_non_exhaustive()
    }
}

/// What a [`NamedSubscriber`] has received: a message, or word of a change.
///
/// The messages of one publisher come between its `Began` and its `Ended`. So a change of publishers is told
/// as an `Ended` and the next `Began`, each once. How many messages were published between them by others is
/// not known. What is lost within the ring of one publisher is counted (`Lagged`).
///
/// ```
/// use annulus::shm::Received;
///
/// fn show(received: Received<u64>) -> String {
///     match received {
///         Received::Message(number) => format!("{number}"),
///         Received::Lagged { skipped } => format!("{skipped} lost"),
///         Received::Corrupt(bad) => format!("no message: {bad}"),
///         Received::Began { process, missed } => format!("{process} publishes, and has {missed} behind it"),
///         Received::Overdue { process, silence } => format!("{process} is silent for {silence:?}"),
///         Received::Ended { process, state } => format!("{process} is {state}"),
///         news => format!("{news:?}"), // what a later version may add
///     }
/// }
/// assert_eq!(show(Received::Message(7)), "7");
/// assert_eq!(show(Received::Lagged { skipped: 3 }), "3 lost");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Received<T> {
    /// A message.
    Message(T),
    /// The subscriber fell behind: the publisher overwrote this many messages before they were received. Each
    /// lost message is told exactly once, in order: those before it were received, and the next one comes
    /// after the gap.
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// The publisher has written something that is no message. The next receive starts behind it.
    Corrupt(BadValue),
    /// The ring of this publisher was joined.
    Began {
        /// Its process.
        process: ProcessId,
        /// How many messages it had published that are not received: those before the message with which the
        /// subscriber begins. If it goes on with the [numbers](super::Numbering) of the publisher before,
        /// this also counts the messages of others between the two.
        missed: u64,
    },
    /// The publisher's process is there, and has published nothing for longer than it
    /// [promised](crate::Settings::deadline), or than [this subscriber
    /// allows](NamedSubscriber::overdue_after): it hangs, is stopped, or has no core. Told once; the next
    /// message ends the silence.
    Overdue {
        /// Its process.
        process: ProcessId,
        /// For how long there has been nothing to receive, as far as this subscriber has looked.
        silence: Duration,
    },
    /// The publisher has ended. All messages since its `Began` were received, or reported as lagged or
    /// corrupt.
    Ended {
        /// Its process.
        process: ProcessId,
        /// [`Closed`](PeerState::Closed) if it has closed the ring, [`Dead`](PeerState::Dead) if its process
        /// has ended without that.
        state: PeerState,
    },
}
