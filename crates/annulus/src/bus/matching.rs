//! [`MatchingSubscriber`]: one receiving handle for all topics whose names match a pattern.

use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::any_subscriber::AnySubscriber;
use super::inbox::{Inbox, Joined, Watcher};
use super::pattern::Pattern;
use super::topics::Topics;
use crate::broadcast::Builder;
use crate::error::LossyTryRecvError;
#[cfg(feature = "std")]
use crate::error::{RecvError, RecvTimeoutError};
use crate::message::Message;
#[cfg(feature = "std")]
use crate::wait::{Arm, Arms, Deadline, Event, Look, Place, WaitStrategy, wait_for_any};

/// Receives from all topics whose names match a pattern, those that are made later included; made by
/// [`Bus::subscribe_matching`](super::Bus::subscribe_matching).
///
/// It begins with the messages that are published from now on. From a topic that is made later it receives
/// every message, from the first on, or counts it as lost. It is a subscriber of each of its topics: lossless
/// topics wait for it, and [`remove`](super::Bus::remove) finds them in use.
///
/// *Order.* The messages of one topic come in order. Among n topics with messages, each comes within n
/// receives. A receive looks at the topics in turn, until one has a message: O(n).
///
/// *The end.* A topic that is closed is left once its messages are received. `Closed` comes when the bus is
/// gone, and nobody publishes to any of the topics, and all messages are received.
///
/// Receiving allocates nothing, except when topics have joined since the last receive. A handle that never
/// receives keeps a subscriber of each topic that was made meanwhile, and so the ring of that topic, even if
/// the topic was closed and removed. Drop a handle that nobody needs. If it is forgotten
/// ([`mem::forget`](core::mem::forget)), lossless topics wait for it, and these rings stay until the bus is
/// gone.
///
/// ```
/// let bus = annulus::bus::Bus::<u64>::new(64);
/// let mut quotes = bus.subscribe_matching("quotes.*")?;
/// bus.publisher("quotes.EURUSD").publish(1);
/// bus.publisher("orders.EURUSD").publish(2);
/// bus.publisher("quotes.GBPUSD").publish(3);
/// assert_eq!(quotes.try_recv(), Ok(("quotes.EURUSD", 1)));
/// assert_eq!(quotes.try_recv(), Ok(("quotes.GBPUSD", 3)));
/// assert!(quotes.try_recv().is_err());
/// # Ok::<(), annulus::bus::PatternError>(())
/// ```
pub struct MatchingSubscriber<T: Message> {
    members: Vec<Member<T>>,
    /// Whose turn it is.
    turn: usize,
    /// What was lost on topics that are left.
    lagged: u64,
    inbox: Arrivals<T>,
    topics: Weak<Topics>,
}

/// Why [`try_recv`](MatchingSubscriber::try_recv) returned no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchingError {
    /// There is no new message.
    Empty,
    /// Messages of a topic were overwritten before they were received.
    Lagged {
        /// The topic's name.
        topic: String,
        /// How many messages were lost since the last receive of that topic, at least one.
        skipped: u64,
    },
    /// The bus is gone, nobody publishes to any of the topics, and everything was received.
    Closed,
}

impl fmt::Display for MatchingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => LossyTryRecvError::Empty.fmt(f),
            Self::Lagged { topic, skipped } => {
                write!(f, "topic {topic:?}: {}", LossyTryRecvError::Lagged { skipped: *skipped })
            }
            Self::Closed => {
                f.write_str("the bus and its publishers are gone, and every message was received")
            }
        }
    }
}

impl Error for MatchingError {}

#[cfg(feature = "std")]
type Member<T> = Place<Topic<T>>;
#[cfg(not(feature = "std"))]
type Member<T> = Plain<Topic<T>>;

/// In the place of a [`Place`], where nobody sleeps.
#[cfg(not(feature = "std"))]
struct Plain<A>(A);

#[cfg(not(feature = "std"))]
impl<A> Plain<A> {
    fn new(arm: A) -> Self {
        Self(arm)
    }

    fn arm(&self) -> &A {
        &self.0
    }

    fn arm_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

/// A topic that matches.
struct Topic<T: Message> {
    name: String,
    subscriber: AnySubscriber<T>,
}

/// New topics, as something to wait for.
struct Arrivals<T: Message> {
    inbox: Arc<Inbox<T>>,
    /// Whether the end of the bus was seen.
    is_over: bool,
    #[cfg(feature = "std")]
    strategy: WaitStrategy,
}

impl<T: Message> MatchingSubscriber<T> {
    /// For the topics of this pattern; it waits as `builder` says.
    pub(super) fn new(topics: &Arc<Topics>, pattern: Pattern, builder: Builder) -> Self {
        #[cfg(not(feature = "std"))]
        let _ = builder;
        let (inbox, joined) = topics.watch(pattern);
        let mut matching = Self {
            members: Vec::new(),
            turn: 0,
            lagged: 0,
            inbox: Arrivals {
                inbox,
                is_over: false,
                #[cfg(feature = "std")]
                strategy: builder.strategy(),
            },
            topics: Arc::downgrade(topics),
        };
        matching.join_all(joined);
        matching
    }

    fn join_all(&mut self, joined: Vec<Joined<T>>) {
        let members = joined.into_iter().map(|(name, subscriber)| Member::new(Topic { name, subscriber }));
        self.members.extend(members);
    }

    /// Receives the next message of any of the topics if one is there, with the name of its topic. Never
    /// waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](MatchingError::Empty): there is no new message. [`Lagged`](MatchingError::Lagged): messages
    /// of a topic were lost; each is reported once. [`Closed`](MatchingError::Closed): the bus is gone, and
    /// nothing is left.
    pub fn try_recv(&mut self) -> Result<(&str, T), MatchingError> {
        match self.next() {
            Found::Message(index, message) => Ok((&self.members[index].arm().name, message)),
            Found::Lag(index, skipped) => {
                Err(MatchingError::Lagged { topic: self.members[index].arm().name.clone(), skipped })
            }
            Found::Nothing => Err(MatchingError::Empty),
            Found::End => Err(MatchingError::Closed),
        }
    }

    /// How many messages were lost, of all topics together.
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.lagged + self.members.iter().map(|member| member.arm().subscriber.total_lagged()).sum::<u64>()
    }

    /// The names of the topics that it receives from now. Topics that joined since the last receive are not
    /// among them.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &*member.arm().name)
    }

    /// The pattern that it was made with.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.inbox.inbox.pattern().text()
    }

    /// What is there, of the topic whose turn it is, and so on around.
    fn next(&mut self) -> Found<T> {
        let is_over = self.inbox.inbox.is_over();
        // After that look, so that nothing comes any more if the bus is gone.
        if self.inbox.inbox.has_some() {
            let joined = self.inbox.inbox.take();
            self.join_all(joined);
        }
        self.inbox.is_over = is_over;
        let mut left = self.members.len();
        while left > 0 {
            left -= 1;
            let index = if self.turn < self.members.len() { self.turn } else { 0 };
            self.turn = index + 1;
            match self.members[index].arm_mut().subscriber.try_recv() {
                Ok(message) => return Found::Message(index, message),
                Err(LossyTryRecvError::Lagged { skipped }) => return Found::Lag(index, skipped),
                Err(LossyTryRecvError::Empty) => {}
                Err(LossyTryRecvError::Closed) => {
                    self.lagged += self.members.remove(index).arm().subscriber.total_lagged();
                    self.turn = index;
                }
            }
        }
        if is_over && self.members.is_empty() { Found::End } else { Found::Nothing }
    }
}

/// What a look at all topics found; the number is that of the member.
enum Found<T> {
    Message(usize, T),
    Lag(usize, u64),
    Nothing,
    End,
}

#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<T: Message> MatchingSubscriber<T> {
    /// Receives the next message of any of the topics, with the name of its topic. Waits for it by the
    /// [`WaitStrategy`] that the bus was made with, and sleeps once for all. After a lag it goes on;
    /// [`total_lagged`](Self::total_lagged) counts what was lost.
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut all = bus.subscribe_matching("**")?;
    /// let reader = std::thread::spawn(move || {
    ///     let mut sum = 0;
    ///     while let Ok((_topic, number)) = all.recv() {
    ///         sum += number;
    ///     }
    ///     sum
    /// });
    /// bus.publisher("a").publish(1);
    /// bus.publisher("b").publish(2);
    /// drop(bus);
    /// assert_eq!(reader.join().unwrap(), 3);
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the bus is gone, nobody publishes to any of the topics, and nothing is left.
    pub fn recv(&mut self) -> Result<(&str, T), RecvError> {
        let (index, message) = self.receive(None).map_err(|_| RecvError)?;
        Ok((&self.members[index].arm().name, message))
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// for [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<(&str, T), RecvTimeoutError> {
        let (index, message) = self.receive(Instant::now().checked_add(timeout))?;
        Ok((&self.members[index].arm().name, message))
    }

    /// The next message and the number of its member; [`Timeout`](RecvTimeoutError::Timeout) once `deadline`
    /// has passed.
    fn receive(&mut self, deadline: Deadline) -> Result<(usize, T), RecvTimeoutError> {
        loop {
            match self.next() {
                Found::Message(index, message) => return Ok((index, message)),
                Found::End => return Err(RecvTimeoutError::Closed),
                Found::Lag(..) => {}
                Found::Nothing => {
                    let mut arms = All { members: &mut self.members, inbox: Place::new(&mut self.inbox) };
                    wait_for_any(&mut arms, 0, deadline).ok_or(RecvTimeoutError::Timeout)?;
                }
            }
        }
    }
}

/// All that is waited for: new topics, then those that are there.
#[cfg(feature = "std")]
struct All<'m, T: Message> {
    members: &'m mut Vec<Member<T>>,
    inbox: Place<&'m mut Arrivals<T>>,
}

#[cfg(feature = "std")]
impl<T: Message> Arms for All<'_, T> {
    fn count(&self) -> usize {
        self.members.len() + 1
    }

    fn at(&mut self, index: usize) -> &mut Place<dyn Arm + '_> {
        match index.checked_sub(1) {
            Some(index) => &mut self.members[index],
            None => &mut self.inbox,
        }
    }
}

// SAFETY: that of the subscriber. Its event is in the ring, which the subscriber keeps alive.
#[cfg(feature = "std")]
unsafe impl<T: Message> Arm for Topic<T> {
    fn event(&self) -> &Event {
        self.subscriber.event()
    }

    fn look(&mut self) -> Look<()> {
        self.subscriber.look()
    }

    fn strategy(&self) -> WaitStrategy {
        unreachable!("new topics are the first that is waited for")
    }
}

// SAFETY: the event is in the inbox, which `Arrivals` keeps alive.
#[cfg(feature = "std")]
unsafe impl<T: Message> Arm for &mut Arrivals<T> {
    fn event(&self) -> &Event {
        &self.inbox.event
    }

    fn look(&mut self) -> Look<()> {
        let is_ready = self.inbox.has_some() || self.inbox.is_over() && !self.is_over;
        if is_ready { Look::Found(()) } else { Look::Nothing }
    }

    fn strategy(&self) -> WaitStrategy {
        self.strategy
    }
}

impl<T: Message> Drop for MatchingSubscriber<T> {
    fn drop(&mut self) {
        if let Some(topics) = self.topics.upgrade() {
            topics.forget(&*self.inbox.inbox);
        }
    }
}

impl<T: Message> fmt::Debug for MatchingSubscriber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchingSubscriber")
            .field("pattern", &self.pattern())
            .field("topics", &self.topics().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
