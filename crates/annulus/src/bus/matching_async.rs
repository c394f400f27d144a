//! Receiving in tasks: the async verbs of [`MatchingSubscriber`].

use alloc::sync::Arc;
use core::future::Future;

use futures_core::FusedStream;

use super::matching::MatchingSubscriber;
use crate::error::RecvError;
use crate::message::Message;
use crate::wait::{Streaming, Waiting};

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by a publisher of any
/// of the topics, by a new topic, by the close of a topic, or by the end of the bus.
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message> MatchingSubscriber<T> {
    /// Receives the next message of any of the topics, with the name of its topic, like `recv`, in a task:
    /// the task waits, not its thread. The name is shared, and so nothing is allocated for it. After a lag it
    /// goes on; [`total_lagged`](Self::total_lagged) counts what was lost.
    ///
    /// The first future that waits for a topic may allocate a place for a waker in the ring of that topic.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted. New topics that have joined stay.)
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the bus is gone, nobody publishes to any of the topics, and nothing is left.
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

    /// A stream of the messages, each with the name of its topic. It ends when the bus is gone, nobody
    /// publishes to any of the topics, and nothing is left; not on a lag, and not while there is no message.
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
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = (Arc<str>, T)> + Unpin {
        Streaming::messages_of(self)
    }
}
