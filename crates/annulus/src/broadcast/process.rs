//! Stages by closure: a message counts as processed when the closure that got it returns.
//!
//! This is the same as to receive a message, to handle it, and to call [`done`](Subscriber::done). But nobody
//! can forget the call: a stage that received a message and then rests holds up its followers.

#[cfg(feature = "std")]
use std::time::Duration;

use super::{Staged, Subscriber, Unstaged};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::message::Message;
use crate::sync::seeded;
use crate::wait::Until;

/// Of one message. `see` says where the rule for closures is. `after`: waits by a function, then processes.
macro_rules! process_in_other_ways {
    (see: $see:literal, $until:ident) => {
        /// As [`process`](Self::process), but gives up after `timeout` on the monotonic clock. A timeout of
        /// zero still processes what is there. `look` must not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time.
        /// [`Closed`](RecvTimeoutError::Closed): the ring is closed and nothing is left.
        #[cfg(feature = "std")]
        pub fn process_timeout<R>(
            &mut self,
            timeout: Duration,
            look: impl FnOnce(&T) -> R,
        ) -> Result<R, RecvTimeoutError> {
            self.process_until(timeout, look)
        }

        /// As [`process`](Self::process), but waits as [`Until`](crate::Until) says. `look` must not wait for
        /// room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time.
        /// [`Closed`](RecvTimeoutError::Closed): the ring is closed and nothing is left.
        #[inline]
        pub fn process_until<R>(
            &mut self,
            until: impl Into<Until>,
            look: impl FnOnce(&T) -> R,
        ) -> Result<R, RecvTimeoutError> {
            self.process_after(look, |reader| reader.$until(until))
        }
    };
}

pub(super) use process_in_other_ways;

/// Of a batch.
macro_rules! process_batch_in_other_ways {
    (see: $see:literal, $until:ident) => {
        /// As [`process_batch`](Self::process_batch), but gives up after `timeout` on the monotonic clock.
        /// `look` must not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process_timeout`](Self::process_timeout).
        #[cfg(feature = "std")]
        pub fn process_batch_timeout(
            &mut self,
            most: usize,
            timeout: Duration,
            look: impl FnMut(&T, bool),
        ) -> Result<usize, RecvTimeoutError> {
            self.process_batch_until(most, timeout, look)
        }

        /// As [`process_batch`](Self::process_batch), but waits as [`Until`](crate::Until) says. `look` must
        /// not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time.
        /// [`Closed`](RecvTimeoutError::Closed): the ring is closed and nothing is left.
        #[inline]
        pub fn process_batch_until(
            &mut self,
            most: usize,
            until: impl Into<Until>,
            look: impl FnMut(&T, bool),
        ) -> Result<usize, RecvTimeoutError> {
            self.process_batch_after(most, look, |reader| reader.$until(until))
        }
    };
}

pub(super) use process_batch_in_other_ways;

/// Verbs that take a closure, like the verbs of an [`event::Subscriber`](crate::event::Subscriber).
impl<T: Message, M: Unstaged> Subscriber<T, Staged<M>> {
    /// Hands the next message to `look`, if there is one, and returns the result of `look`. Never waits.
    /// After a lag it goes on with the oldest message that is still in the ring, like
    /// [`try_recv`](Self::try_recv).
    ///
    /// The message counts as processed as soon as `look` returns or panics. Until then the followers of this
    /// stage do not see it. The message is a copy, so publishers do not wait for `look` itself. But on a
    /// lossless ring they wait for the followers. So *`look` must not wait for room in the ring that its
    /// messages come from*: a `publish` there may wait for this very closure, for ever. Use
    /// [`try_publish`](crate::broadcast::Publisher::try_publish) or `publish_timeout`.
    ///
    /// # Errors
    ///
    /// Those of [`try_recv`](Self::try_recv). `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    /// let mut first = subscribable.subscribe_tracked();
    /// let mut second = subscribable.subscribe().after(&[&first]);
    /// publisher.publish(7);
    /// let seen = first.try_process(|number| {
    ///     assert_eq!(second.try_recv(), Err(TryRecvError::Empty), "not processed yet");
    ///     *number
    /// });
    /// assert_eq!(seen, Ok(7));
    /// assert_eq!(second.try_process(|number| *number), Ok(7));
    /// assert_eq!(second.try_process(|number| *number), Err(TryRecvError::Empty));
    /// ```
    #[inline]
    pub fn try_process<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, TryRecvError> {
        self.process_after(look, Self::try_recv)
    }

    /// Like [`try_process`](Self::try_process), but waits for the next message with the
    /// [`WaitStrategy`](crate::WaitStrategy) of the ring. After a lag it goes on with the oldest message that
    /// is still in the ring, like [`recv`](Self::recv).
    ///
    /// `look` must not wait for room in the same ring: see [`try_process`](Self::try_process).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut journal = subscribable.subscribe_tracked();
    /// let mut execute = subscribable.subscribe().after(&[&journal]);
    /// let threads = [
    ///     std::thread::spawn(move || while journal.process(|number| print!("{number} ")).is_ok() {}),
    ///     std::thread::spawn(move || {
    ///         let mut sum = 0;
    ///         while execute.process(|number| sum += number).is_ok() {}
    ///         assert_eq!(sum, 5050);
    ///     }),
    /// ];
    /// (1..=100).for_each(|number| publisher.publish(number).unwrap());
    /// drop(publisher);
    /// threads.map(|thread| thread.join().unwrap());
    /// ```
    #[inline]
    pub fn process<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        self.process_after(look, Self::recv)
    }

    process_in_other_ways! { see: "see [`try_process`](Self::try_process).", recv_until }

    /// Hands up to `most` messages that are there to `look`, one after the other, and returns how many they
    /// were. The flag that `look` gets is true for the last message of the batch. A batch has at most as many
    /// messages as the ring has slots, however fast the publisher is. All messages of the batch count as
    /// processed at its end. Never waits.
    ///
    /// The batch ends early if the publisher overwrites the next message; the next call counts the loss and
    /// goes on. If `look` panics, all messages up to the one that it got count as processed. With a `most` of
    /// 0, it returns `Ok(0)` at once.
    ///
    /// `look` must not wait for room in the same ring: see [`try_process`](Self::try_process).
    ///
    /// # Errors
    ///
    /// Those of [`try_process`](Self::try_process), if there is no message at all.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut stage = subscribable.subscribe_tracked();
    /// publisher.publish_batch(&[1, 2, 3, 4, 5]);
    /// let mut seen = Vec::new();
    /// let count = stage.try_process_batch(3, |number, end_of_batch| seen.push((*number, end_of_batch)));
    /// assert_eq!(count, Ok(3));
    /// assert_eq!(seen, [(1, false), (2, false), (3, true)]);
    /// ```
    pub fn try_process_batch(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, TryRecvError> {
        self.process_batch_after(most, look, Self::try_recv)
    }

    /// As [`try_process_batch`](Self::try_process_batch), but waits with the
    /// [`WaitStrategy`](crate::WaitStrategy) of the ring until there is a message, as
    /// [`process`](Self::process) does. `look` must not wait for room in the same ring: see
    /// [`try_process`](Self::try_process).
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process).
    pub fn process_batch(&mut self, most: usize, look: impl FnMut(&T, bool)) -> Result<usize, RecvError> {
        self.process_batch_after(most, look, Self::recv)
    }

    process_batch_in_other_ways! { see: "see [`try_process`](Self::try_process).", recv_until }

    /// Hands the message that `receive` brings to `look`. It is processed afterwards, also if `look` panics.
    #[inline(always)]
    fn process_after<R, E>(
        &mut self,
        look: impl FnOnce(&T) -> R,
        receive: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<R, E> {
        let message = receive(self)?;
        let _processing = Processing(self);
        Ok(look(&message))
    }

    /// A batch whose first message `receive` brings. One of none comes back all the same, as each verb does.
    #[inline]
    fn process_batch_after<E>(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
        receive: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        if most == 0 {
            self.done();
            return Ok(0);
        }
        let first = receive(self)?;
        Ok(self.process_from(first, most, look))
    }

    /// Hands `first`, which was received, and up to `most - 1` messages after it to `look`.
    fn process_from(&mut self, first: T, most: usize, mut look: impl FnMut(&T, bool)) -> usize {
        let most = most.min(self.capacity());
        let Processing(stage) = &mut Processing(self);
        let (mut message, mut count) = (first, 1);
        // A message ahead, which tells whether this one is the last. The cursor passes it when it is handed
        // out.
        while let Some(next) = if count < most { stage.peek() } else { None } {
            look(&message, false);
            stage.pass();
            (message, count) = (next, count + 1);
        }
        look(&message, true);
        count
    }
}

/// A stage while `look` runs: what it received counts as processed when this ends, also by a panic.
pub(super) struct Processing<'a, T: Message, M: Unstaged>(pub(super) &'a mut Subscriber<T, Staged<M>>);

impl<T: Message, M: Unstaged> Drop for Processing<'_, T, M> {
    #[inline]
    fn drop(&mut self) {
        if !seeded!("process_leaves_it_undone") {
            self.0.done();
        }
    }
}

#[cfg(feature = "async")]
impl<T: Message, M: Unstaged> Subscriber<T, Staged<M>> {
    /// Hands the next message to `look`, like [`process`](Self::process), in a task: the task waits, not its
    /// thread. The message counts as processed as soon as `look` returns or panics. `look` must not wait for
    /// room in the same ring: see [`try_process`](Self::try_process).
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
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut first = subscribable.subscribe_tracked();
    /// let mut second = subscribable.subscribe().after(&[&first]);
    /// publisher.publish(7).unwrap();
    /// pollster::block_on(async {
    ///     assert_eq!(first.process_async(|number| number + 1).await, Ok(8));
    ///     assert_eq!(second.process_async(|number| number + 2).await, Ok(9));
    /// });
    /// ```
    pub async fn process_async<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        let message = self.recv_async().await?;
        let _processing = Processing(self);
        Ok(look(&message))
    }
}
