//! [`MatchingSubscriber`]: one receiving handle for all topics whose names match a pattern. It can be waited
//! at, alone or with other handles.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::inbox::{Inbox, Watcher};
use super::members::{Looked, Members};
use super::pattern::Pattern;
use super::topics::Topics;
#[cfg(any(feature = "std", feature = "async"))]
use crate::error::{LossyRecvError, RecvError};
use crate::error::{LossyTryRecvError, TryRecvError};
#[cfg(feature = "std")]
use crate::error::{RecvTimeoutError, in_time};
use crate::message::Message;
#[cfg(any(feature = "std", feature = "async"))]
use crate::receive::{Receive, Waitable, iterates};
use crate::settings::Settings;
use crate::stats::Stats;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EndMark, EventCount, Poll, Source, WaitStrategy};
use crate::wait::{Look, look_now};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};
#[cfg(feature = "std")]
use crate::wait::{Until, own_strategy, wait_until};

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
/// A topic that another thread makes joins before another look-up can find it, so with its first message.
///
/// *Waiting.* It is a receiving handle like others (`Receive`): a thread or a task, a `select!`, a
/// `Notifier` or a `Worker` may wait at it. A message of any of its topics wakes what waits, and so
/// does a new topic, the close of a topic, and the end of the bus. While nothing waits, publishers pay
/// nothing for it. While a thread or a task waits, the next message of each topic pays for a wake-up.
/// Where a message is handed out together with the name of its topic, the name is an `Arc<str>`; the verbs
/// of threads lend a `&str`.
///
/// *The end.* A topic that is closed is left once its messages are received. `Closed` comes when the bus is
/// gone, and none of the topics has a publisher, and all messages are received.
///
/// Receiving allocates nothing, except when topics have joined since the last receive. A wait allocates
/// memory for a waker in the ring of each topic, unless one is free there. A handle that never receives keeps
/// a subscriber of each topic that was made meanwhile, and so the ring of that topic, even if the topic was
/// closed and removed. Drop a handle that is not needed. If it is forgotten
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
    members: Members<T>,
    #[cfg(any(feature = "std", feature = "async"))]
    strategy: WaitStrategy,
    topics: Weak<Topics>,
}

impl<T: Message> MatchingSubscriber<T> {
    /// For the topics of this pattern; it waits as the settings say.
    pub(super) fn new(topics: &Arc<Topics>, pattern: Pattern, settings: &Settings) -> Self {
        #[cfg(not(any(feature = "std", feature = "async")))]
        let _ = settings;
        let inbox = Arc::new(Inbox::new(pattern));
        topics.watch(&(Arc::clone(&inbox) as Arc<dyn Watcher>));
        Self {
            members: Members::new(inbox),
            #[cfg(any(feature = "std", feature = "async"))]
            strategy: settings.strategy,
            topics: Arc::downgrade(topics),
        }
    }

    /// Receives the next message of any of the topics if one is there, with the name of its topic. Never
    /// waits. After a lag it goes on; [`total_lagged`](Self::total_lagged) counts what was lost, and
    /// [`stats`](Self::stats) says of which topic.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): there is no new message. [`Closed`](TryRecvError::Closed): the bus is
    /// gone, none of the topics has a publisher, and nothing is left.
    pub fn try_recv(&mut self) -> Result<(&str, T), TryRecvError> {
        let (index, message) = self.take_now().unwrap_or(Err(TryRecvError::Empty))?;
        Ok((self.members.name(index), message))
    }

    /// As [`try_recv`](Self::try_recv), but reports a lag. The next call goes on, with any of the topics.
    ///
    /// ```
    /// use annulus::LossyTryRecvError;
    ///
    /// let bus = annulus::bus::Bus::<u64>::new(2);
    /// let mut all = bus.subscribe_matching("**")?;
    /// bus.publisher("a").publish_batch(&[1, 2, 3]);
    /// assert_eq!(all.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(all.try_recv_or_lag(), Ok(("a", 2)));
    /// let lost: Vec<_> = all.stats().map(|(topic, stats)| (topic, stats.own.unwrap().lagged)).collect();
    /// assert_eq!(lost, [("a", 1)]);
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`try_recv`](Self::try_recv), and [`Lagged`](LossyTryRecvError::Lagged): messages of one
    /// topic were lost. Each is reported once. It is the topic whose `own.lagged` in [`stats`](Self::stats)
    /// has grown.
    pub fn try_recv_or_lag(&mut self) -> Result<(&str, T), LossyTryRecvError> {
        match self.members.next() {
            Looked::Message(index, message) => Ok((self.members.name(index), message)),
            Looked::Lag(skipped) => Err(LossyTryRecvError::Lagged { skipped }),
            Looked::Nothing => Err(LossyTryRecvError::Empty),
            Looked::End => Err(LossyTryRecvError::Closed),
        }
    }

    /// The next message that is there now, and the number of its topic.
    fn take_now(&mut self) -> Option<Result<(usize, T), TryRecvError>> {
        look_now(|| match self.members.next() {
            Looked::Message(index, message) => Look::Found(Ok((index, message))),
            // The oldest message that is left stands.
            Looked::Lag(_) => Look::Again,
            Looked::Nothing => Look::Nothing,
            Looked::End => Look::Found(Err(TryRecvError::Closed)),
        })
    }

    /// How many messages were lost, of all topics together.
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.members.total_lagged()
    }

    /// The numbers of the ring of each topic that it receives from now, with the name of the topic, and with
    /// how far it is there ([`Stats::own`]). Topics that joined since the last receive are not among them. A
    /// snapshot of each is taken when the iterator comes to it; what one costs is said there.
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut quotes = bus.subscribe_matching("quotes.*")?;
    /// bus.publisher("quotes.EURUSD").publish(1);
    /// let _ = quotes.try_recv();
    /// for (topic, stats) in quotes.stats() {
    ///     assert_eq!((topic, stats.published, stats.own.unwrap().received), ("quotes.EURUSD", 1, 1));
    /// }
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    pub fn stats(&self) -> impl Iterator<Item = (&str, Stats)> {
        self.members.stats()
    }

    /// The names of the topics that it receives from now. Topics that joined since the last receive are not
    /// among them. (If two threads made a topic at the same moment, its name may come twice, until the next
    /// receive.)
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.members.names()
    }

    /// The pattern that it was made with.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.members.inbox().pattern().text()
    }
}

#[cfg(feature = "std")]
impl<T: Message> MatchingSubscriber<T> {
    /// Receives the next message of any of the topics, with the name of its topic. Waits for it by the
    /// [`WaitStrategy`] that the bus was made with, and sleeps once for all. After a lag it continues;
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
    /// [`RecvError`]: the bus is gone, none of the topics has a publisher, and nothing is left.
    pub fn recv(&mut self) -> Result<(&str, T), RecvError> {
        let (index, message) = self.receive(Until::FOREVER).map_err(|_| RecvError::CLOSED)?;
        Ok((self.members.name(index), message))
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// for [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<(&str, T), RecvTimeoutError> {
        let (index, message) = self.receive(timeout.into())?;
        Ok((self.members.name(index), message))
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<(&str, T), RecvTimeoutError> {
        let (index, message) = self.receive(until.into())?;
        Ok((self.members.name(index), message))
    }

    /// As [`recv`](Self::recv), but reports a lag, as [`try_recv_or_lag`](Self::try_recv_or_lag) does.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): messages of one topic were lost.
    /// [`Closed`](LossyRecvError::Closed): as for [`recv`](Self::recv).
    pub fn recv_or_lag(&mut self) -> Result<(&str, T), LossyRecvError> {
        let found = self.receive_or_lag(Until::FOREVER).unwrap_or(Err(LossyRecvError::Closed));
        let (index, message) = found?;
        Ok((self.members.name(index), message))
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// Those of [`recv_or_lag`](Self::recv_or_lag), and [`Empty`](LossyTryRecvError::Empty): nothing came in
    /// time.
    pub fn recv_or_lag_timeout(&mut self, timeout: Duration) -> Result<(&str, T), LossyTryRecvError> {
        self.recv_or_lag_until(timeout)
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_or_lag_timeout`](Self::recv_or_lag_timeout).
    pub fn recv_or_lag_until(&mut self, until: impl Into<Until>) -> Result<(&str, T), LossyTryRecvError> {
        match self.receive_or_lag(until.into()) {
            Some(Ok((index, message))) => Ok((self.members.name(index), message)),
            Some(Err(error)) => Err(error.into()),
            None => Err(LossyTryRecvError::Empty),
        }
    }

    own_strategy! {
        make: r#"let mut reader = annulus::bus::Bus::<u64>::new(8).subscribe_matching("*").unwrap();"#,
        |handle| own: handle.strategy
    }

    /// The next message and the number of its topic; [`Timeout`](RecvTimeoutError::Timeout) once the time has
    /// passed.
    fn receive(&mut self, until: Until) -> Result<(usize, T), RecvTimeoutError> {
        let strategy = self.strategy;
        in_time(found_or_waited(self, strategy, until))
    }

    /// The same, or the next lag; `None` once the time has passed.
    fn receive_or_lag(&mut self, until: Until) -> Option<Result<(usize, T), LossyRecvError>> {
        let strategy = self.strategy;
        found_or_waited(&mut OrLag(self), strategy, until)
    }
}

/// What a first poll finds, or what a wait brings.
#[cfg(feature = "std")]
fn found_or_waited<P: Poll>(poll: &mut P, own: WaitStrategy, until: Until) -> Option<P::Found> {
    match poll.poll() {
        Look::Found(found) => Some(found),
        Look::Nothing | Look::Again => wait_until(poll, until.strategy_or(|| own), until.deadline()),
    }
}

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by a publisher of any
/// of the topics, by a new topic, by the close of a topic, or by the end of the bus.
#[cfg(feature = "async")]
impl<T: Message> MatchingSubscriber<T> {
    /// Receives the next message of any of the topics, with the name of its topic, like `recv`, in a task:
    /// the task waits, not its thread. The name is shared, and so nothing is allocated for it. After a lag it
    /// continues; [`total_lagged`](Self::total_lagged) counts what was lost.
    ///
    /// The first future that waits for a topic may allocate memory for a waker in the ring of that topic.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted. New topics that have joined stay.)
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the bus is gone, none of the topics has a publisher, and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut all = bus.subscribe_matching("**")?;
    /// let feed = std::thread::spawn(move || {
    ///     bus.publisher("a").publish(1); // a new topic
    ///     bus.publisher("b").publish(2);
    /// });
    /// pollster::block_on(async {
    ///     let mut sum = 0;
    ///     while let Ok((_topic, number)) = all.recv_async().await {
    ///         sum += number;
    ///     }
    ///     assert_eq!(sum, 3);
    /// });
    /// # feed.join().unwrap();
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<(Arc<str>, T), RecvError>> + Unpin {
        Waiting::next_of(self)
    }

    /// As [`recv_async`](Self::recv_async), but reports a lag, as
    /// [`try_recv_or_lag`](Self::try_recv_or_lag) does.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and has reported no lag.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): messages of one topic were lost.
    /// [`Closed`](LossyRecvError::Closed): as [`recv_async`](Self::recv_async).
    pub async fn recv_or_lag_async(&mut self) -> Result<(Arc<str>, T), LossyRecvError> {
        // SAFETY: the eventcount is in the inbox, which the members keep alive, in a place of its own.
        let (index, message) = unsafe { Waiting::new(OrLag(self)) }.await?;
        Ok((Arc::clone(self.members.name(index)), message))
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages that are
    /// there behind it into the front of `buffer`, each with the name of its topic. Returns how many: at
    /// least one. If `buffer` is empty, it returns 0 at once, whether the bus is there or gone. A lag is
    /// skipped, and counted.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// Those of [`recv_async`](Self::recv_async). `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut all = bus.subscribe_matching("**")?;
    /// bus.publisher("a").publish_batch(&[1, 2]);
    /// let mut buffer = vec![Default::default(); 8];
    /// assert_eq!(pollster::block_on(all.recv_batch_async(&mut buffer)), Ok(2));
    /// assert_eq!(buffer[..2], [("a".into(), 1), ("a".into(), 2)]);
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [(Arc<str>, T)]) -> Result<usize, RecvError> {
        let Some((first, rest)) = buffer.split_first_mut() else { return Ok(0) };
        *first = self.recv_async().await?;
        let mut count = 1;
        for there in rest {
            let Some(Ok((index, message))) = self.take_now() else { break };
            *there = (Arc::clone(self.members.name(index)), message);
            count += 1;
        }
        Ok(count)
    }

    /// A stream of the messages, each with the name of its topic. It ends when the bus is gone, none
    /// of the topics has a publisher, and nothing is left; not on a lag, and not while there is no message.
    /// Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut quotes = bus.subscribe_matching("quotes.*")?;
    /// bus.publisher("quotes.EURUSD").publish(1);
    /// drop(bus);
    /// let all = pollster::block_on(quotes.stream().collect::<Vec<_>>());
    /// assert_eq!(all, [("quotes.EURUSD".into(), 1)]);
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = (Arc<str>, T)> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the subscriber.
    ///
    /// *Cancel safety*: as [`stream`](Self::stream). A stream that is dropped drops the subscriber.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let quotes = bus.subscribe_matching("quotes.*")?.into_stream();
    /// bus.publisher("quotes.EURUSD").publish(1);
    /// drop(bus);
    /// let all = pollster::block_on(quotes.collect::<Vec<_>>());
    /// assert_eq!(all, [("quotes.EURUSD".into(), 1)]);
    /// # Ok::<(), annulus::bus::PatternError>(())
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = (Arc<str>, T)> + Unpin {
        Streaming::messages_of(self)
    }
}

impl<T: Message> Drop for MatchingSubscriber<T> {
    fn drop(&mut self) {
        if let Some(topics) = self.topics.upgrade() {
            let inbox = self.members.inbox();
            topics.forget(inbox);
            // An old version of the map may keep the inbox, and nothing waits for what is in it.
            drop(inbox.take());
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

/// The next message, and the number of its topic.
#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Poll for MatchingSubscriber<T> {
    type Found = Result<(usize, T), RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.members.wait_point()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.members.next_or_listen() {
            Looked::Message(index, message) => Look::Found(Ok((index, message))),
            Looked::End => Look::Found(Err(RecvError::CLOSED)),
            Looked::Nothing => Look::Nothing,
            // The oldest message that is left stands, and no notification will come for it.
            Looked::Lag(_) => Look::Again,
        }
    }
}

/// The next message, and the number of its topic; or the next lag.
#[cfg(any(feature = "std", feature = "async"))]
struct OrLag<'s, T: Message>(&'s mut MatchingSubscriber<T>);

#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Poll for OrLag<'_, T> {
    type Found = Result<(usize, T), LossyRecvError>;

    fn wait_point(&self) -> &EventCount {
        self.0.members.wait_point()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.0.members.next_or_listen() {
            Looked::Message(index, message) => Look::Found(Ok((index, message))),
            Looked::Lag(skipped) => Look::Found(Err(LossyRecvError::Lagged { skipped })),
            Looked::End => Look::Found(Err(LossyRecvError::Closed)),
            Looked::Nothing => Look::Nothing,
        }
    }
}

// SAFETY: the eventcount is in the inbox, which the members keep alive, in a place of its own.
#[cfg(any(feature = "std", feature = "async"))]
unsafe impl<T: Message> Source for MatchingSubscriber<T> {
    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self)
    }

    fn is_ready(&mut self) -> bool {
        self.members.is_ready_or_listens()
    }

    fn strategy(&self) -> WaitStrategy {
        self.strategy
    }

    fn has_more(&mut self) -> bool {
        self.members.has_more()
    }

    fn mark(&mut self) -> EndMark {
        self.members.mark()
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        self.members.have_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.total_lagged()
    }
}

#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Waitable for MatchingSubscriber<T> {
    /// The bus is gone, and so are the publishers of all its topics.
    fn is_closed(&self) -> bool {
        self.members.is_closed()
    }
}

#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Receive for MatchingSubscriber<T> {
    type Item = (Arc<str>, T);

    fn poll_recv(&mut self) -> Look<Result<(Arc<str>, T), RecvError>> {
        self.poll().map(|found| found.map(|(index, message)| (Arc::clone(self.members.name(index)), message)))
    }
}

#[cfg(any(feature = "std", feature = "async"))]
iterates! { [T: Message] MatchingSubscriber<T>; }
