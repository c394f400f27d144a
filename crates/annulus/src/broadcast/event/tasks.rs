//! Owned events in tasks: the async verbs of publishers and subscribers.

use core::future::Future;

use futures_core::FusedStream;

use super::reset::Reset;
use super::source::There;
use super::{EventPublisher, EventSubscriber, MpEventPublisher};
use crate::broadcast::mode::Mode;
use crate::broadcast::publish_async::{admitted, claimed};
use crate::error::{PublishError, RecvError, Refusal};
use crate::wait::{Streaming, Waiting};

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Send + Sync, M: Mode> EventSubscriber<T, M> {
    /// Waits until there is an event, like [`wait`](Self::wait), in a task: the task waits, not its thread.
    /// Then [`peek`](Self::peek) and the other verbs find it.
    ///
    /// *Cancel safety*: it processes nothing, so nothing is lost if the future is dropped.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|number| *number = 7).unwrap();
    /// pollster::block_on(subscriber.wait_async())?;
    /// assert_eq!(*subscriber.peek().unwrap(), 7);
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    pub fn wait_async(&mut self) -> impl Future<Output = Result<(), RecvError>> + Unpin {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(There(self)) }
    }

    /// Hands the next event to `look`, like [`process`](Self::process), in a task: the task waits, not its
    /// thread. `look` must not wait for room in this ring: see the [type](Self).
    ///
    /// *Cancel safety*: a future that is dropped has processed nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|text| text.push_str("abc")).unwrap();
    /// assert_eq!(pollster::block_on(subscriber.process_async(|text| text.len())), Ok(3));
    /// ```
    pub async fn process_async<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        self.wait_async().await?;
        // It is there, and stays there.
        self.process(look)
    }

    /// Hands up to `most` events to `look`, like [`process_batch`](Self::process_batch), in a task: the task
    /// waits until there is an event, not its thread. `look` must not wait for room in this ring: see the
    /// [type](Self).
    ///
    /// *Cancel safety*: a future that is dropped has processed nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// let mut seen = String::new();
    /// let look = |text: &String, is_last: bool| seen.push_str(if is_last { "." } else { text });
    /// assert_eq!(pollster::block_on(subscriber.process_batch_async(8, look)), Ok(2));
    /// assert_eq!(seen, "a.");
    /// ```
    pub async fn process_batch_async(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, RecvError> {
        self.wait_async().await?;
        // It is there, and stays there.
        self.process_batch(most, look)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Clone + Send + Sync, M: Mode> EventSubscriber<T, M> {
    /// Returns a clone of the next event, like [`recv`](Self::recv), in a task: the task waits, not its
    /// thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.send("hello".to_owned()).unwrap();
    /// assert_eq!(pollster::block_on(subscriber.recv_async()), Ok("hello".to_owned()));
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for an event like [`recv_async`](Self::recv_async). Then clones it and the events behind it into
    /// the front of `buffer`, like [`recv_batch`](Self::recv_batch). Returns how many: at least one, or 0 if
    /// `buffer` is empty.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.send("hello".to_owned()).unwrap();
    /// let mut buffer = [const { String::new() }; 4];
    /// assert_eq!(pollster::block_on(subscriber.recv_batch_async(&mut buffer)), Ok(1));
    /// assert_eq!(buffer[0], "hello");
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.wait_async().await?;
        // It is there, and stays there.
        Ok(self.try_recv_batch(buffer))
    }

    /// A stream of clones of the events. It ends when the ring is closed and nothing is left. Once it has
    /// ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no event that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(subscriber.stream().collect::<String>()), "ab");
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
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
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let texts = subscribable.subscribe().into_stream();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(texts.collect::<String>()), "ab");
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Send + Sync, R: Reset<T>> EventPublisher<T, R> {
    /// Changes the next event by `change` and publishes it, like [`publish`](Self::publish), in a task: the
    /// task waits for the slowest subscriber, not its thread.
    ///
    /// *Cancel safety*: if the future is dropped before it has returned, the closure has not run, and nothing
    /// is published.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the closure back, which has not run: nobody is left to receive, or somebody has
    /// closed the ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, Vec::new);
    /// let mut subscriber = subscribable.subscribe();
    /// let published = pollster::block_on(publisher.publish_async(|bytes: &mut Vec<u8>| bytes.extend(b"abc")));
    /// assert!(published.is_ok());
    /// assert_eq!(subscriber.process(|bytes| bytes.len()), Ok(3));
    /// ```
    pub async fn publish_async<F: FnOnce(&mut T)>(&mut self, change: F) -> Result<(), PublishError<F>> {
        let admitted = self.admitted().await;
        self.change(admitted, change)
    }

    /// Publishes `value` like [`send`](Self::send), in a task: the task waits for the slowest subscriber, not
    /// its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The value
    /// is dropped with it.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the value back: nobody is left to receive, or somebody has closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.send_async("hello".to_owned())).unwrap();
    /// assert_eq!(subscriber.recv(), Ok("hello".to_owned()));
    /// ```
    pub async fn send_async(&mut self, value: T) -> Result<(), PublishError<T>> {
        let admitted = self.admitted().await;
        self.put_admitted(admitted, value)
    }

    /// As [`admit`](Self::admit), in a task: what follows is in the same poll.
    async fn admitted(&mut self) -> Result<(), Refusal> {
        admitted(&mut self.single).await?;
        self.announce()
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Send + Sync, R: Reset<T>> MpEventPublisher<T, R> {
    /// Changes an event by `change`, then publishes it, like [`publish`](Self::publish), in a task: the task
    /// waits for the slowest subscriber, not its thread. The closure runs at the first poll.
    ///
    /// *Cancel safety*: if the future is dropped before it has returned, nothing is published. If it was
    /// polled, the closure has run, and the next closure gets the event as this one left it.
    ///
    /// # Errors
    ///
    /// [`PublishError`] if nobody is left to receive, or if somebody has closed the ring. The closure has run
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.publish_async(|text| text.push_str("hello"))).unwrap();
    /// assert_eq!(subscriber.process(|text| text.len()), Ok(5));
    /// ```
    pub async fn publish_async(&mut self, change: impl FnOnce(&mut T)) -> Result<(), PublishError<()>> {
        self.change(change);
        let claimed = claimed(self.shared()).await;
        self.publish_spare(claimed)
    }

    /// Publishes `value` like [`send`](Self::send), in a task: the task waits for the slowest subscriber, not
    /// its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The value
    /// is dropped with it.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the value back: nobody is left to receive, or somebody has closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.send_async("hello".to_owned())).unwrap();
    /// assert_eq!(subscriber.recv(), Ok("hello".to_owned()));
    /// ```
    pub async fn send_async(&self, value: T) -> Result<(), PublishError<T>> {
        let claimed = claimed(self.shared()).await;
        self.put_admitted(claimed, value)
    }
}
