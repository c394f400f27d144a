//! [`Publisher`], and a [`Loan`] of it: a frame that is written to.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::format;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use crate::Closer;
use crate::base::sequence::Sequence;
use crate::broadcast::{self, Lossless, Lossy, Mode};
use crate::error::{
    CapacityError, GiveBack, Refusal, SendError, SendTimeoutError, TooLong, TrySendError, WriteError,
};
use crate::memory::PlacedMemory;
use crate::message::Message;
use crate::queue::Cell;
use crate::ring::frames::FrameKeeper;
use crate::shm::fd::{end_of_writes, send_fd_until};
use crate::shm::frame_format::{FrameNumbers, FramesLayout, Told, bytes_of, place_of};
use crate::transmit::Transmit as _;
use crate::wait::Until;

/// Writes frames, and publishes them. Made by [`Builder::build`](super::Builder::build), or by
/// [`build_lossless`](super::Builder::build_lossless) with the mode [`Lossless`].
pub struct Publisher<M: Mode = Lossy> {
    // In this order: the ring is closed before its memory goes.
    pub(super) ring: broadcast::Publisher<Told, M>,
    pub(super) keeper: FrameKeeper,
    pub(super) memory: Arc<PlacedMemory>,
    pub(super) numbers: FrameNumbers,
    pub(super) layout: FramesLayout,
}

impl<M: Mode> Publisher<M> {
    /// A frame of `len` bytes to write to, which nobody reads. Never waits. Its bytes are what was written
    /// there before, or 0.
    ///
    /// It is the frame that became free last, which may be in the cache. Frames that are needed only when
    /// subscribers hold all that they may are not touched before.
    ///
    /// # Errors
    ///
    /// [`TooLong`]: `len` is more than [`frame_bytes`](Self::frame_bytes).
    pub fn loan(&mut self, len: usize) -> Result<Loan<'_, M>, TooLong> {
        let most = self.numbers.bytes;
        if len > most {
            return Err(TooLong::new(len, most));
        }
        let frame = self.keeper.take();
        let bytes = bytes_of(&self.memory, &self.numbers, &self.layout, frame, len);
        Ok(Loan { bytes, frame, publisher: self, is_stamped: false })
    }

    /// A frame with room for `count` messages, as they lie in a ring: see [`Loan::set_message`]. Never waits.
    ///
    /// # Errors
    ///
    /// [`TooLong`]: they take more bytes than [`frame_bytes`](Self::frame_bytes).
    pub fn loan_messages<T: Message>(&mut self, count: usize) -> Result<Loan<'_, M>, TooLong> {
        self.loan(count.saturating_mul(size_of::<T::Wire>()))
    }

    fn loan_of(&mut self, bytes: &[u8]) -> Result<Loan<'_, M>, TooLong> {
        let mut frame = self.loan(bytes.len())?;
        frame.copy_from_slice(bytes);
        Ok(frame)
    }

    /// Sends a descriptor for each frame through a Unix socket: its [companion](super#companions). The other
    /// side has them by [`receive_companions`](super::AcceptedFrames::receive_companions). Waits as
    /// [`send_fd`](crate::shm::send_fd). If the socket has a timeout for writes, it waits for so long at most
    /// for all of them together.
    ///
    /// # Errors
    ///
    /// What the system says: `WouldBlock` if there was not room for all in time; some may be sent then. And
    /// `InvalidInput`: there is not one for each of the [`frames`](Self::frames).
    pub fn send_companions(&self, socket: &UnixStream, companions: &[impl AsFd]) -> io::Result<()> {
        let (found, frames) = (companions.len(), self.frames());
        if found != frames {
            let text = format!("{found} descriptors for {frames} frames: each has one companion");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let end = end_of_writes(socket)?;
        companions.iter().try_for_each(|companion| send_fd_until(socket, companion.as_fd(), end))
    }

    /// How many bytes a frame may have.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.numbers.bytes
    }

    /// How many frames there are.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.numbers.count
    }

    /// How many frames it has published, in all.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.ring.published()
    }

    /// The sequence of the next frame.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.ring.next_sequence()
    }

    /// How many messages stay for subscribers that come late.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// How many frames are held by subscribers, of those whose messages are older than what the ring keeps. A
    /// frame that a dead subscriber held is not. A system call for each subscriber that holds one.
    #[must_use]
    pub fn held(&mut self) -> usize {
        self.keeper.held()
    }

    /// Ends the ring: subscribers receive what was published, and then `Closed`.
    pub fn close(&self) {
        self.ring.close();
    }

    /// What closes the ring from anywhere in this process.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.ring.closer()
    }
}

impl Publisher {
    /// Publishes a copy of `bytes`, and returns its sequence. Never waits.
    ///
    /// # Errors
    ///
    /// As of [`loan`](Self::loan).
    pub fn publish(&mut self, bytes: &[u8]) -> Result<u64, TooLong> {
        Ok(self.loan_of(bytes)?.publish())
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, frames that are published from now on are
    /// dropped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }
}

impl Publisher {
    /// Leaves out the numbers before this one, and returns how many these are; 0 if it has passed that number
    /// already. Subscribers count them as lagged. Never waits.
    ///
    /// For a program that passes frames on under the numbers that they had, and has not got all of them.
    ///
    /// # Errors
    ///
    /// [`CapacityError`]: no ring has such a number.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::frames;
    ///
    /// let made = frames::Builder::new(Settings::new(4).first(7), 100).build()?;
    /// let mut publisher = made.handle;
    /// let mut subscriber = made.invitation.accept_frames()?.subscribe()?;
    /// assert_eq!((publisher.publish(b"one")?, publisher.skip_to(10)?, publisher.publish(b"two")?), (7, 2, 10));
    /// assert_eq!((subscriber.recv()?.sequence(), subscriber.recv()?.sequence()), (7, 10));
    /// assert_eq!(subscriber.total_lagged(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    // Decision 0151: a number that is left out is a stamp. (The keeper counts frames, not numbers: it keeps
    // no fewer than the ring tells of.)
    pub fn skip_to(&mut self, sequence: u64) -> Result<u64, CapacityError> {
        self.ring.skip_to(sequence)
    }
}

impl Publisher<Lossless> {
    /// Publishes a copy of `bytes`, and returns its sequence. Waits for the slowest subscriber.
    ///
    /// # Errors
    ///
    /// [`WriteError`]: `bytes` are more than [`frame_bytes`](Self::frame_bytes), or the ring is closed.
    pub fn publish(&mut self, bytes: &[u8]) -> Result<u64, WriteError> {
        self.loan_of(bytes)?.publish().map_err(|_| WriteError::Closed)
    }

    /// Waits for room for a message. The next one that is published does not wait, then.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed):
    /// the ring is closed.
    pub fn wait_for_room_until(&mut self, until: impl Into<Until>) -> Result<(), SendTimeoutError<()>> {
        self.ring.wait_for_room(until.into()).map_err(|refusal| SendTimeoutError::of(refusal, ()))
    }

    /// Whether the ring is closed, so that publishing fails.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// How many subscribers it waits for.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.ring.subscriber_count()
    }

    /// Waits until it has so many [subscribers](Self::subscriber_count). False: the ring was closed, or they
    /// did not come in time.
    #[must_use = "it says whether they have come"]
    pub fn wait_for_subscribers_until(&self, count: usize, until: impl Into<Until>) -> bool {
        self.ring.wait_for_subscribers_until(count, until)
    }
}

impl<M: Mode> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("frames", &self.frames())
            .field("frame_bytes", &self.frame_bytes())
            .finish_non_exhaustive()
    }
}

/// A frame to write to: a slice of bytes, until it is published. Dropped without that, it is free again.
#[must_use = "a frame is sent by `publish`"]
pub struct Loan<'p, M: Mode = Lossy> {
    publisher: &'p mut Publisher<M>,
    frame: usize,
    bytes: NonNull<[u8]>,
    /// Whether its stamp says what it is to be.
    is_stamped: bool,
}

// SAFETY: it is an exclusive borrow of the publisher, and of bytes that the publisher owns.
unsafe impl<M: Mode> Send for Loan<'_, M> {}
// SAFETY: as above.
unsafe impl<M: Mode> Sync for Loan<'_, M> {}

impl<M: Mode> Loan<'_, M> {
    /// Keeps only the first `len` bytes, if there are more.
    pub fn truncate(&mut self, len: usize) {
        let len = len.min(self.bytes.len());
        self.bytes = NonNull::slice_from_raw_parts(self.bytes.cast(), len);
    }

    /// Writes number `index` of the messages that lie in it one behind the other, as they lie in a ring: see
    /// [`Builder::of`](super::Builder::of). So messages of any type can be in a frame: enums, structs with
    /// padding or with a `bool`. [`Frame::message`](super::Frame::message) reads them.
    ///
    /// # Panics
    ///
    /// If the loan has no room for so many messages.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use annulus::shm::frames;
    /// use annulus::{Message, Settings};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Message)]
    /// enum Step {
    ///     Turn { degrees: f32 },
    ///     Go(u16),
    /// }
    ///
    /// let made = frames::Builder::new(Settings::new(4), 4096).of::<Step>().build()?;
    /// let mut publisher = made.handle;
    /// let mut subscriber = made.invitation.accept_frames()?.of::<Step>()?.subscribe()?; // usually elsewhere
    ///
    /// let steps = [Step::Turn { degrees: 90.0 }, Step::Go(3)];
    /// let mut frame = publisher.loan_messages::<Step>(steps.len())?;
    /// for (index, step) in steps.into_iter().enumerate() {
    ///     frame.set_message(index, step);
    /// }
    /// frame.publish();
    ///
    /// let frame = subscriber.recv()?;
    /// assert_eq!(frame.message(1), Some(Ok(Step::Go(3))));
    /// assert!(frame.messages().unwrap().eq(steps.map(Ok)));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_message<T: Message>(&mut self, index: usize, message: T) {
        let len = self.bytes.len();
        let Some(place) = place_of::<T>(index, len) else {
            let size = size_of::<T::Wire>();
            panic!("message {index} is not in this frame: it has {len} bytes, and each message {size}");
        };
        self[place].copy_from_slice(Cell::of(message).bytes());
    }

    /// Which of the ring's frames it is, from 0 on: see [`Frame::index`](super::Frame::index).
    #[must_use]
    pub fn index(&self) -> usize {
        self.frame
    }

    /// Says in the stamp which message it is to be, and returns what the ring tells, and the message's
    /// sequence. Readers learn of it when the ring tells them.
    fn stamp(&mut self) -> (Told, u64) {
        let sequence = self.publisher.ring.next_sequence();
        self.publisher.keeper.send(self.frame, Sequence::new(sequence));
        self.is_stamped = true;
        ([self.frame as u64, self.bytes.len() as u64], sequence)
    }

    /// The ring has not told of it.
    fn unstamp(&mut self) {
        if core::mem::take(&mut self.is_stamped) {
            self.publisher.keeper.take_back(self.frame);
        }
    }

    /// The ring has told of it.
    fn finish(self) {
        // (Its drop would free the frame.)
        let mut loan = ManuallyDrop::new(self);
        // After the message is on its way, which does not wait for this.
        loan.publisher.keeper.give_up();
    }
}

impl Loan<'_> {
    /// Publishes it, and returns its sequence. Never waits. If the ring is [closed](Publisher::close), it is
    /// dropped: see [`try_publish`](Self::try_publish).
    ///
    /// Then it gives up the message that the ring no longer keeps, and looks once at what all subscribers
    /// hold: O(subscribers × held).
    #[allow(clippy::must_use_candidate, reason = "most publishers have no use for it")]
    pub fn publish(self) -> u64 {
        self.try_publish().unwrap_or_else(|SendError(frame)| frame.publisher.ring.next_sequence())
    }

    /// As [`publish`](Self::publish), for a publisher that is to know whether the frame is published.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the frame back: the ring is closed.
    pub fn try_publish(self) -> Result<u64, SendError<Self>> {
        // (A message that the ring refuses has overwritten the oldest one.)
        if self.publisher.is_closed() { Err(SendError(self)) } else { self.put() }
    }

    /// As [`try_publish`](Self::try_publish), in a ring that was not closed just now.
    fn put(mut self) -> Result<u64, SendError<Self>> {
        let (told, sequence) = self.stamp();
        let put = self.publisher.ring.put_now(told);
        self.settle(put, sequence)
    }
}

impl Loan<'_, Lossless> {
    /// Publishes it, and returns its sequence. Waits with the ring's [`WaitStrategy`](crate::WaitStrategy)
    /// while the slowest subscriber is as many messages behind as the ring has slots. Never waits while there
    /// is none. Then as of a lossy one: O(subscribers × held).
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the frame back: the ring is closed.
    pub fn publish(mut self) -> Result<u64, SendError<Self>> {
        let (told, sequence) = self.stamp();
        let put = self.publisher.ring.put_late(told, Until::FOREVER);
        self.settle(put, sequence)
    }

    /// As [`publish`](Self::publish), if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the slowest subscriber is too far behind.
    /// [`Closed`](TrySendError::Closed): the ring is closed. Both give the frame back.
    pub fn try_publish(mut self) -> Result<u64, TrySendError<Self>> {
        let (told, sequence) = self.stamp();
        let put = self.publisher.ring.put_now(told);
        self.settle(put, sequence)
    }

    /// As [`publish`](Self::publish), but gives up after `timeout`.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed):
    /// the ring is closed. Both give the frame back.
    pub fn publish_timeout(self, timeout: Duration) -> Result<u64, SendTimeoutError<Self>> {
        self.publish_until(timeout)
    }

    /// As [`publish`](Self::publish), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As of [`publish_timeout`](Self::publish_timeout).
    pub fn publish_until(mut self, until: impl Into<Until>) -> Result<u64, SendTimeoutError<Self>> {
        let (told, sequence) = self.stamp();
        let put = self.publisher.ring.put_late(told, until.into());
        self.settle(put, sequence)
    }

    /// As [`publish`](Self::publish), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The frame
    /// is free then.
    ///
    /// # Errors
    ///
    /// As of [`publish`](Self::publish).
    #[cfg(feature = "async")]
    pub async fn publish_async(mut self) -> Result<u64, SendError<Self>> {
        let (told, sequence) = self.stamp();
        let put = self.publisher.ring.publish_async(told).await;
        self.settle(put.map_err(|error| (Refusal::Closed, error.into_inner())), sequence)
    }
}

impl<M: Mode> Loan<'_, M> {
    /// The ring has told of it, or not.
    fn settle<E: GiveBack<Self>>(
        mut self,
        put: Result<(), (Refusal, Told)>,
        sequence: u64,
    ) -> Result<u64, E> {
        match put {
            Ok(()) => {
                self.finish();
                Ok(sequence)
            }
            Err((refusal, _)) => {
                self.unstamp();
                Err(E::of(refusal, self))
            }
        }
    }
}

impl<M: Mode> Deref for Loan<'_, M> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the frame is in the memory, which the publisher keeps. Only the creator's process can write
        // there, and of it this loan alone does: no other frame of the publisher is taken while it lives.
        unsafe { self.bytes.as_ref() }
    }
}

impl<M: Mode> DerefMut for Loan<'_, M> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { self.bytes.as_mut() }
    }
}

impl<M: Mode> Drop for Loan<'_, M> {
    fn drop(&mut self) {
        // (Of a future that was dropped while it waited for room.)
        self.unstamp();
        self.publisher.keeper.put_back(self.frame);
    }
}

impl<M: Mode> fmt::Debug for Loan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use crate::settings::Settings;
    use crate::shm::frames::Builder;
    use crate::shm::shared::Shared;

    /// The ring is closed after the look: the frame comes back, and none that the ring has told of is free.
    #[test]
    fn frame_that_meets_a_close_comes_back() {
        let Shared { handle, invitation, .. } = Builder::new(Settings::new(4), 8).build().unwrap();
        let mut publisher = handle;
        let mut subscriber = invitation.accept_frames().unwrap().subscribe_from_oldest().unwrap();
        for byte in 0..4 {
            assert_eq!(publisher.publish(&[byte]), Ok(byte.into()));
        }
        publisher.close();
        for _ in 0..3 {
            let mut frame = publisher.loan(1).unwrap().put().unwrap_err().into_inner();
            frame[0] = 0xFF;
        }
        assert_eq!((publisher.sequence(), publisher.held()), (4, 0));
        while let Ok(frame) = subscriber.recv() {
            assert_eq!(frame.to_vec(), [frame.sequence() as u8]);
        }
        // Message 4 was to lie in the slot of message 0.
        assert_eq!((subscriber.cursor(), subscriber.total_lagged()), (4, 1));
    }
}
