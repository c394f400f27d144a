//! What a single [`Publisher`] does on a lossless ring: the same writes as on a lossy ring, after the gate
//! has let it pass (`single.rs`).

#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::{Lossless, Publisher};
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{GiveBack, PublishError, Refusal, TryPublishError};
use crate::message::Message;
use crate::transmit::in_parts::in_parts;
use crate::wait::{Deadline, WaitStrategy};

impl<T: Message> Publisher<T, Lossless> {
    /// Publishes `message` to every subscriber. Waits with the [`WaitStrategy`] of the ring while the slowest
    /// subscriber is `capacity − headroom` messages behind. Never waits while there is no subscriber.
    /// Allocates nothing. Takes O(`size_of::<T>()`), and once in half a ring also O(subscribers).
    ///
    /// Do not call it in a closure in which a stage of the same ring processes a message. The followers of
    /// the stage wait for the closure, so in a full ring this would wait for ever. Use
    /// [`try_publish`](Self::try_publish) or `publish_timeout` there.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back if nobody is left to receive it (every subscriber is gone, and
    /// every [`Subscribable`](crate::broadcast::Subscribable) too), or if somebody [closed](Self::close) the
    /// ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || subscriber.iter().sum::<u64>());
    /// for number in 1..=100 {
    ///     publisher.publish(number)?; // waits for the reader
    /// }
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::PublishError<u64>>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) -> Result<(), PublishError<T>> {
        let admitted = self.single.admit();
        self.put_admitted(admitted, message)
    }

    /// As [`publish`](Self::publish), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_by('a', WaitStrategy::BusySpin).unwrap();
    /// assert_eq!(subscriber.recv(), Ok('a'));
    /// ```
    #[inline]
    pub fn publish_by(&mut self, message: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        let admitted = self.single.admit_by(strategy, None);
        self.put_admitted(admitted, message)
    }

    /// Publishes the message that `make` returns, like [`publish`](Self::publish). `make` runs first: if it
    /// panics, nothing is published, and the ring is unchanged.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// drop(subscribable);
    /// assert_eq!(publisher.publish_with(|| 6 * 7).unwrap_err().into_inner(), 42);
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) -> Result<(), PublishError<T>> {
        self.publish(make())
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. A timeout that is
    /// too long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](PublishTimeoutError::Timeout): no room came in time.
    /// [`Closed`](PublishTimeoutError::Closed): as [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::PublishTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2]).unwrap();
    /// let error = publisher.publish_timeout(3, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == PublishTimeoutError::Timeout(3));
    /// # drop(subscriber);
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_timeout(&mut self, message: T, timeout: Duration) -> Result<(), PublishTimeoutError<T>> {
        self.publish_until(message, Instant::now().checked_add(timeout))
    }

    /// As [`publish_timeout`](Self::publish_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_timeout`](Self::publish_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_deadline(&mut self, message: T, deadline: Instant) -> Result<(), PublishTimeoutError<T>> {
        self.publish_until(message, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_until(&mut self, message: T, deadline: Deadline) -> Result<(), PublishTimeoutError<T>> {
        let admitted = self.single.admit_until(deadline);
        self.put_admitted(admitted, message)
    }

    /// Publishes `message` if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full): the slowest subscriber is `capacity − headroom` messages behind, or a
    /// subscriber that far behind is just joining. [`Closed`](TryPublishError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryPublishError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::Builder::new(4).headroom(2).lossless().unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// assert!(publisher.try_publish(1).is_ok());
    /// assert!(publisher.try_publish(2).is_ok());
    /// assert!(publisher.try_publish(3) == Err(TryPublishError::Full(3)), "two of four slots stay free");
    /// assert_eq!(subscriber.try_recv(), Ok(1));
    /// assert!(publisher.try_publish(3).is_ok());
    /// drop((subscriber, subscribable));
    /// assert!(publisher.try_publish(4) == Err(TryPublishError::Closed(4)));
    /// ```
    #[inline]
    pub fn try_publish(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        let admitted = self.single.try_admit();
        self.put_admitted(admitted, message)
    }

    /// Publishes all of `messages`, in order. Waits for room as often as necessary. This is the same as
    /// publishing them one by one, but cheaper. The batch may be larger than the ring.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives back the part that was not published: nobody is left to receive it, or somebody
    /// closed the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[doc(alias = "try_batch_publish")]
    #[doc(alias = "batch_publish")]
    #[inline]
    pub fn publish_batch<'m>(&mut self, messages: &'m [T]) -> Result<(), PublishError<&'m [T]>> {
        self.publish_batch_by(messages, self.single.shared.strategy)
    }

    /// As [`publish_batch`](Self::publish_batch), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_batch`](Self::publish_batch).
    #[inline]
    pub fn publish_batch_by<'m>(
        &mut self,
        messages: &'m [T],
        strategy: WaitStrategy,
    ) -> Result<(), PublishError<&'m [T]>> {
        self.put_in_free_slots(messages, strategy, None).map_err(|(rest, _)| PublishError(rest))
    }

    /// As [`publish_batch`](Self::publish_batch), but gives up after `timeout`. A part of the batch is
    /// published then.
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError`] gives back the part that was not published.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::PublishTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let mut subscriber = subscribable.subscribe();
    /// let error = publisher.publish_batch_timeout(&[1, 2, 3], Duration::ZERO).unwrap_err();
    /// assert!(error == PublishTimeoutError::Timeout(&[3][..]));
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_batch_timeout<'m>(
        &mut self,
        messages: &'m [T],
        timeout: Duration,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.publish_batch_until(messages, Instant::now().checked_add(timeout))
    }

    /// As [`publish_batch_timeout`](Self::publish_batch_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_batch_timeout`](Self::publish_batch_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_batch_deadline<'m>(
        &mut self,
        messages: &'m [T],
        deadline: Instant,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.publish_batch_until(messages, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_batch_until<'m>(
        &mut self,
        messages: &'m [T],
        deadline: Deadline,
    ) -> Result<(), PublishTimeoutError<&'m [T]>> {
        self.put_in_free_slots(messages, self.single.shared.strategy, deadline)
            .map_err(|(rest, refusal)| PublishTimeoutError::of(refusal, rest))
    }

    /// Whether publishing fails from now on: nobody is left to receive, or somebody [closed](Self::close) the
    /// ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.single.shared.refuses()
    }

    /// [Puts](Self::put) `message` if it was admitted. Gives it back where it is not published.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &mut self,
        admitted: Result<(), Refusal>,
        message: T,
    ) -> Result<(), E> {
        let put = admitted.and_then(|()| self.put(&message));
        put.map_err(|refusal| E::of(refusal, message))
    }

    /// Writes all of `messages`, or returns what is left and why.
    #[inline]
    fn put_in_free_slots<'m>(
        &mut self,
        messages: &'m [T],
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<(), (&'m [T], Refusal)> {
        in_parts(messages, |rest| {
            self.single.admit_by(strategy, deadline)?;
            // At least 1: it was admitted.
            let part = &rest[..self.single.free_slots().clamp(1, rest.len())];
            match self.put_all(part) {
                0 => Err(Refusal::Closed),
                count => Ok(count),
            }
        })
    }
}
