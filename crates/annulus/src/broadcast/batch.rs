//! The verbs of a [`Subscriber`] for several messages at once.

use alloc::vec::Vec;
use core::iter;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::Duration;

use super::subscriber::NoMessage;
use super::{Mode, Subscriber};
use crate::base::sequence::Sequence;
use crate::error::{RecvError, RecvTimeoutError};
use crate::message::Message;
use crate::sync::seeded;
use crate::wait::Until;

/// The longest run of messages that is read at once. It passes over the stack.
/// Messages of a batch between two words to the publishers.
const RELEASE_EVERY: usize = 64;

// Decision 0041: why runs, and why sixteen.
const RUN: usize = 16;

/// The largest message of which runs are read, in bytes: for a larger one a look at its stamp costs little.
const RUN_BYTES: usize = 64;

impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Receives up to `buffer.len()` messages into the front of `buffer`, and returns how many. The rest of
    /// `buffer` is unchanged. Never waits.
    ///
    /// It ends when the buffer is full, or when no message is left. After a lag, it ends at the message that
    /// was the newest when it noticed the lag. So it ends, however fast the publisher is.
    ///
    /// In a stage, the batch counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); see [`try_process_batch`](Subscriber::try_process_batch).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut buffer = [0; 2];
    /// assert_eq!(subscriber.try_recv_batch(&mut buffer), 2);
    /// assert_eq!(buffer, [1, 2]);
    /// assert_eq!(subscriber.try_recv_batch(&mut buffer), 1);
    /// assert_eq!(buffer, [3, 2]);
    /// ```
    pub fn try_recv_batch(&mut self, buffer: &mut [T]) -> usize {
        self.begin();
        self.take_batch(buffer)
    }

    /// What [`try_recv_batch`](Self::try_recv_batch) does once it has begun. So it is also the rest of a
    /// receive that has its first message: in a stage, that one is not processed yet.
    pub(super) fn take_batch(&mut self, buffer: &mut [T]) -> usize {
        let mut end = None;
        let mut count = 0;
        for part in buffer.chunks_mut(RELEASE_EVERY) {
            let taken = self.take_all(part, &mut end);
            if !seeded!("batch_releases_nothing") {
                self.release();
            }
            count += taken;
            // Mutants: `< with <=`: one more look.
            if taken < part.len() {
                break;
            }
        }
        count
    }

    /// Waits for a message like [`recv`](Self::recv). Then receives it and the messages behind it into the
    /// front of `buffer`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If
    /// `buffer` is empty, it returns 0 at once, whether the ring is open or closed.
    ///
    /// In a stage, the batch counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); see [`process_batch`](Subscriber::process_batch).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// let mut buffer = [0; 8];
    /// assert_eq!(subscriber.recv_batch(&mut buffer), Ok(3));
    /// assert_eq!(subscriber.recv_batch(&mut buffer), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn recv_batch(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        self.batch_from(buffer, Self::recv)
    }

    /// As [`recv_batch`](Self::recv_batch), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
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
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    pub fn recv_batch_until(
        &mut self,
        buffer: &mut [T],
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.batch_from(buffer, |subscriber| subscriber.recv_until(until))
    }

    /// Receives a message by `first`, and those behind it, into `buffer`.
    #[inline]
    fn batch_from<E>(
        &mut self,
        buffer: &mut [T],
        first: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        let Some((place, rest)) = buffer.split_first_mut() else {
            return Ok(0);
        };
        *place = first(self)?;
        Ok(1 + self.take_batch(rest))
    }

    /// Takes messages until `buffer` is full or there is none before `end`, like
    /// [`next_before`](Self::next_before), and returns how many.
    #[inline]
    fn take_all(&mut self, buffer: &mut [T], end: &mut Option<Sequence>) -> usize {
        let mut count = 0;
        while count < buffer.len() {
            let most = end.map_or(u64::MAX, |end| end.since(self.cursor));
            let run = if Self::IN_RUNS { self.take_run(&mut buffer[count..], most) } else { 0 };
            count += run;
            if run == 0 {
                match self.next_before(end) {
                    Some(message) => buffer[count] = message,
                    None => break,
                }
                count += 1;
            }
        }
        count
    }

    /// Whether a batch is read in runs. A subscriber that may be lapped does not read in runs, because it
    /// would receive nothing of a run that was overwritten in part. Under loom it does, so that a writer that
    /// laps its reader shows that a run is all or nothing.
    // Mutants: `|| with &&`: one by one.
    // Mutants: `&& with ||`, `<= with >`: it is read in runs where that does not pay.
    const IN_RUNS: bool = (M::IN_RUNS || cfg!(annulus_loom)) && size_of::<T::Wire>() <= RUN_BYTES;

    /// Takes messages into the front of `buffer`, at most `most`, and returns how many: perhaps fewer than
    /// there are. If it is none, [`take`](Self::take) knows why.
    // Mutants: `with 0`: one by one.
    #[inline]
    fn take_run(&mut self, buffer: &mut [T], most: u64) -> usize {
        let cursor = self.cursor;
        let most = buffer.len().min(RUN).min(usize::try_from(most).unwrap_or(usize::MAX));
        let most = self.shared.admits_up_to(cursor, most);
        // Mutants: `< with ==`: runs are for lossless rings, whose stages lose nothing; loom reads them on
        // others.
        // Mutants: `< with >`, `< with <=`: one by one.
        if cursor < self.shared.floor() {
            // Unreached: a stage that was passed over while it asked what it may see: two threads have to
            // meet there; loom stage
            return 0;
        }
        let mut copies = [const { MaybeUninit::uninit() }; RUN];
        // SAFETY: the handle keeps the ring alive. Checked: as in `value_of`. A publisher of a lossless ring
        // leaves out no number. (Models read runs of lossy rings; those in which numbers are left out read
        // none.)
        let run = unsafe { self.shared.slots.read_run(cursor, &mut copies[..most], M::IS_CHECKED) };
        let count = run.take_into(buffer);
        self.cursor = cursor.plus(count as u64);
        count
    }

    /// Takes the next message, going on after a lag and behind what is corrupt; `None` if there is none
    /// before `end`. After either of these, `end` is set to the head of that moment unless it was set before:
    /// no publisher keeps it here. The caller releases what it took.
    #[inline]
    pub(super) fn next_before(&mut self, end: &mut Option<Sequence>) -> Option<T> {
        while end.is_none_or(|end| self.cursor < end) {
            let mut message = MaybeUninit::uninit();
            match self.read_inlined(&mut message) {
                Ok(message) => {
                    self.cursor = self.cursor.next();
                    return Some(message.take());
                }
                Err(NoMessage::Empty | NoMessage::Closed) => break,
                Err(NoMessage::Lapped) => {
                    self.recover();
                    end.get_or_insert_with(|| self.end());
                }
                Err(NoMessage::Corrupt(corrupt)) => {
                    self.pass_corrupt(corrupt);
                    end.get_or_insert_with(|| self.end());
                }
            }
        }
        None
    }

    /// The message before which a drain or a batch ends. It is like the head, but cheaper, and perhaps later:
    /// with many publishers, the first message that is not claimed.
    pub(crate) fn end(&self) -> Sequence {
        self.shared.end_before(self.shared.end_of_published(self.cursor))
    }

    /// As [`recv_batch`](Self::recv_batch), but appends at most `most` messages to `buffer`, which grows if
    /// necessary. To receive into a vector without waiting, extend it by [`try_iter`](Self::try_iter).
    ///
    /// # Errors
    ///
    /// Those of [`recv_batch`](Self::recv_batch).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3, 4]);
    /// let mut buffer = vec![0];
    /// assert_eq!(subscriber.recv_many(&mut buffer, 3), Ok(3));
    /// assert_eq!(buffer, [0, 1, 2, 3]);
    /// buffer.extend(subscriber.try_iter());
    /// assert_eq!(buffer, [0, 1, 2, 3, 4]);
    /// ```
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        self.many_from(buffer, most, Self::recv)
    }

    /// As [`recv_many`](Self::recv_many), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
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
    /// As [`recv_timeout`](Self::recv_timeout). `buffer` is unchanged.
    pub fn recv_many_until(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.many_from(buffer, most, |subscriber| subscriber.recv_until(until))
    }

    /// Appends a message that it receives by `first`, and up to `most - 1` of those behind it, to `buffer`.
    fn many_from<E>(
        &mut self,
        buffer: &mut Vec<T>,
        most: usize,
        first: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        if most == 0 {
            return Ok(0);
        }
        buffer.push(first(self)?);
        let before = buffer.len();
        // The rest of the same receive: in a stage, nothing of it is processed yet.
        let mut end = Some(self.end());
        buffer.extend(iter::from_fn(|| self.next_released(&mut end)).take(most - 1));
        Ok(1 + buffer.len() - before)
    }
}
