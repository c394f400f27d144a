//! Receiving in tasks: the async verbs of [`MatchingSubscriber`].

use alloc::sync::Arc;
use core::future::Future;

use futures_core::FusedStream;

use super::matching::MatchingSubscriber;
use super::members::Found;
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
    /// The first future that waits for a topic may allocate memory for a waker in the ring of that topic.
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
            let Some(next) = self.next_there() else { break };
            *there = next;
            count += 1;
        }
        Ok(count)
    }

    /// The next message that is there now.
    fn next_there(&mut self) -> Option<(Arc<str>, T)> {
        loop {
            match self.members.next() {
                Found::Message(index, message) => {
                    return Some((Arc::clone(self.members.name(index)), message));
                }
                // Unreached: a topic that laps its reader between two looks of a batch: threads have to meet
                // there
                Found::Lag(..) => {}
                Found::Nothing | Found::End => return None,
            }
        }
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
    ///
    /// *Cancel safety*: that of [`stream`](Self::stream). A stream that is dropped drops the subscriber.
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
