//! Events by value: each subscriber gets a clone, made while its cursor holds the event in place.

use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::iter::FusedIterator;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::Subscriber;
#[cfg(feature = "async")]
use super::subscriber::Then;
use crate::broadcast::mode::{Lossless, Mode};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::receive::{Iter, Receive, iterates};
use crate::sync::seeded;
use crate::wait::{Look, Until};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};

/// Events by value, if they are `Clone`. Each subscriber clones the event for itself. The event counts as
/// processed as soon as it is cloned, also for stages after this one, although the work on the clone has not
/// begun. If other stages must wait for that work, do it in [`process`](Self::process). `T::clone` must not
/// wait for room in this ring: see the [type](Self). If it panics, the event counts as processed.
///
/// If `clone` allocates, each subscriber allocates for each event. To use one buffer again and again, call
/// `subscriber.process(|event| buffer.clone_from(event))`.
impl<T: Clone + Send + Sync, M: Mode> Subscriber<T, M> {
    /// Returns a clone of the next event. Waits for it with the [`WaitStrategy`](crate::WaitStrategy) of the
    /// ring.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.send("hello".to_owned()).unwrap();
    /// drop(publisher);
    /// assert_eq!(subscriber.recv(), Ok("hello".to_owned()));
    /// assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.process(T::clone)
    }

    /// Returns a clone of the next event, if there is one. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): there is no new event or, for a stage, none that all of its upstreams
    /// have processed. [`Closed`](TryRecvError::Closed): the ring is closed and nothing is left.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_process(T::clone)
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a message that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    #[cfg(feature = "std")]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.process_timeout(timeout, T::clone)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    #[inline]
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        self.process_until(until, T::clone)
    }

    /// Clones up to `buffer.len()` events into the front of `buffer`, and returns how many. The rest of
    /// `buffer` is unchanged. Never waits. It returns 0 if there is no event.
    ///
    /// The clones are made by [`clone_from`](Clone::clone_from), so a `String` in the buffer keeps its memory
    /// if the text fits. Publishers see all events of the batch as processed at its end, as in
    /// [`try_process_batch`](Self::try_process_batch). If a clone panics, the events up to that one count as
    /// processed.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b", "c"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// let mut buffer = [const { String::new() }; 2];
    /// assert_eq!(subscriber.try_recv_batch(&mut buffer), 2);
    /// assert_eq!(buffer, ["a", "b"]);
    /// assert_eq!(subscriber.try_recv_batch(&mut buffer), 1);
    /// assert_eq!(buffer, ["c", "b"]);
    /// ```
    pub fn try_recv_batch(&mut self, buffer: &mut [T]) -> usize {
        let most = buffer.len();
        let mut into = buffer.iter_mut();
        self.process_there(most, |event, _| {
            if let Some(next) = into.next() {
                next.clone_from(event);
            }
        })
    }

    /// Waits for an event like [`recv`](Self::recv). Then clones it and the events behind it into the front
    /// of `buffer`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If
    /// `buffer` is empty, it returns 0 at once, whether the ring is open or closed.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// drop(publisher);
    /// let mut buffer = [const { String::new() }; 4];
    /// assert_eq!(subscriber.recv_batch(&mut buffer), Ok(2));
    /// assert_eq!(subscriber.recv_batch(&mut buffer), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn recv_batch(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.wait()?;
        Ok(self.try_recv_batch(buffer))
    }

    /// As [`recv_batch`](Self::recv_batch), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// Those of [`recv_timeout`](Self::recv_timeout).
    #[cfg(feature = "std")]
    pub fn recv_batch_timeout(
        &mut self,
        buffer: &mut [T],
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_batch_until(buffer, timeout)
    }

    /// As [`recv_batch`](Self::recv_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// Those of [`recv_until`](Self::recv_until).
    pub fn recv_batch_until(
        &mut self,
        buffer: &mut [T],
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.wait_until(until)?;
        Ok(self.try_recv_batch(buffer))
    }

    /// As [`recv_batch`](Self::recv_batch), but appends at most `most` clones to `buffer`, which grows if
    /// necessary. To receive into a vector without waiting, extend it by [`try_iter`](Self::try_iter).
    ///
    /// # Errors
    ///
    /// Those of [`recv_batch`](Self::recv_batch).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b", "c"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// let mut buffer = vec!["first".to_owned()];
    /// assert_eq!(subscriber.recv_many(&mut buffer, 2), Ok(2));
    /// assert_eq!(buffer, ["first", "a", "b"]);
    /// buffer.extend(subscriber.try_iter());
    /// assert_eq!(buffer, ["first", "a", "b", "c"]);
    /// ```
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        if most == 0 {
            return Ok(0);
        }
        self.wait()?;
        Ok(self.extend_by(buffer, most))
    }

    /// As [`recv_many`](Self::recv_many), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// Those of [`recv_timeout`](Self::recv_timeout).
    #[cfg(feature = "std")]
    pub fn recv_many_timeout(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(buffer, most, timeout)
    }

    /// As [`recv_many`](Self::recv_many), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// Those of [`recv_until`](Self::recv_until).
    pub fn recv_many_until(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        if most == 0 {
            return Ok(0);
        }
        self.wait_until(until)?;
        Ok(self.extend_by(buffer, most))
    }

    /// Appends clones of up to `most` events, the first of which is there.
    fn extend_by(&mut self, buffer: &mut Vec<T>, most: usize) -> usize {
        let most = if seeded!("event_many_unlimited") { usize::MAX } else { most };
        self.process_there(most, |event, _| buffer.push(event.clone()))
    }

    /// An iterator over clones of the events that are there now. It ends at the event that was the newest
    /// when this was called, however fast the publisher is. It never waits. If it is dropped early, the rest
    /// can still be received.
    ///
    /// With many publishers it also ends at the first event that is still being published. In a stage it ends
    /// at the first event that an upstream has not processed.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// let mut there = subscriber.try_iter();
    /// publisher.send("c".to_owned()).unwrap(); // came later: not part of it
    /// assert_eq!(there.len(), 2);
    /// assert_eq!(there.collect::<String>(), "ab");
    /// ```
    #[doc(alias = "drain")]
    pub fn try_iter(&mut self) -> TryIter<'_, T, M> {
        TryIter { left: self.len(), subscriber: self }
    }

    /// An iterator over clones of the events. It waits for each event like [`recv`](Self::recv), and ends
    /// when the ring is closed and nothing is left.
    ///
    /// `for event in &mut subscriber` and `for event in subscriber` do the same.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// drop(publisher);
    /// assert_eq!(subscriber.iter().collect::<String>(), "ab");
    /// ```
    pub fn iter(&mut self) -> Iter<&mut Self> {
        Iter::of(self)
    }
}

impl<T: Clone + Send + Sync, M: Mode> Receive for Subscriber<T, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.try_recv().into()
    }

    #[inline]
    fn poll_in_hand(&mut self) -> Look<Result<T, RecvError>> {
        self.poll_next().map(|()| self.take_in_hand()).into()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }
}

#[cfg(feature = "async")]
impl<T: Clone + Send + Sync, M: Mode> Subscriber<T, M> {
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
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Send + Unpin {
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
    pub fn recv_batch_async(
        &mut self,
        buffer: &mut [T],
    ) -> impl Future<Output = Result<usize, RecvError>> + Send + Unpin {
        let waits = !buffer.is_empty();
        Then::once_there(self, waits, move |subscriber| subscriber.try_recv_batch(buffer))
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
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Send + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the subscriber.
    ///
    /// *Cancel safety*: as for [`stream`](Self::stream). A stream that is dropped drops the subscriber.
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
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Send + Unpin {
        Streaming::messages_of(self)
    }
}

/// An iterator over clones of the events that were there when [`Subscriber::try_iter`] was called.
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'a, T, M: Mode = Lossless> {
    subscriber: &'a mut Subscriber<T, M>,
    left: usize,
}

impl<T: Clone + Send + Sync, M: Mode> Iterator for TryIter<'_, T, M> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // Before the clone: where that panics, its event has been processed.
        self.left = self.left.checked_sub(1)?;
        self.subscriber.try_recv().ok()
    }

    /// Exact, because an event that is there stays there.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Clone + Send + Sync, M: Mode> ExactSizeIterator for TryIter<'_, T, M> {}

impl<T: Clone + Send + Sync, M: Mode> FusedIterator for TryIter<'_, T, M> {}

iterates! { [T: Clone + Send + Sync, M: Mode] Subscriber<T, M>; }

impl<T: Send + Sync, M: Mode> fmt::Debug for TryIter<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("subscriber", &self.subscriber).field("left", &self.left).finish()
    }
}
