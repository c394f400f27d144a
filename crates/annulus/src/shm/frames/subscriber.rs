//! [`Subscriber`], and a [`Frame`] that it has received.

use core::fmt;
use core::ptr::NonNull;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;

use crate::base::sequence::Sequence;
use crate::broadcast::{self, Foreign, LossyMode, Mode};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::memory::PlacedMemory;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::queue::{Cell, SharedSlice};
use crate::receive::{Receive, Waitable};
use crate::ring::frames::{HeldFrame, HeldFrames};
use crate::shm::frame_format::{FrameNumbers, FramesLayout, Told, bytes_of, place_of};
use crate::sync::{prefetch_to_read, seeded};
use crate::wait::{Look, WaitStrategy, source_of_part};

/// Receives frames where they lie. Made by [`AcceptedFrames`](super::AcceptedFrames).
///
/// It sees each frame from where it began, in order, each once, or counts it as lost. Beside these verbs it
/// has those of [`Receive`], and works wherever a receiving handle does: in tasks, selects, workers and
/// notifiers.
///
/// Its mode is [`Foreign`], or [`Awaited`](broadcast::Awaited) where the publisher waits for it.
pub struct Subscriber<M: Mode = Foreign> {
    pub(super) ring: broadcast::Subscriber<Told, M>,
    pub(super) held: Arc<HeldFrames>,
    pub(super) memory: Arc<PlacedMemory>,
    pub(super) numbers: FrameNumbers,
    pub(super) layout: FramesLayout,
    /// Of which it was told too late.
    pub(super) missed: u64,
}

impl<M: LossyMode> Subscriber<M> {
    /// Receives the newest frame, and passes those before it, which
    /// [`total_lagged`](Self::total_lagged) counts. Never waits. `None`: there is no new one.
    ///
    /// # Errors
    ///
    /// [`TooManyHeld`]: this subscriber holds as many frames as it may.
    pub fn latest(&mut self) -> Result<Option<Frame>, TooManyHeld> {
        while let Some(told) = {
            self.room()?;
            self.ring.latest()
        } {
            if let Some(frame) = self.hold(told) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }
}

impl<M: Mode> Subscriber<M> {
    /// Receives the next frame if it is there. Never waits. After a loss it goes on with the oldest frame
    /// that is there.
    ///
    /// # Errors
    ///
    /// [`FrameError`]: nothing is there, the ring has ended, or this subscriber holds as many frames as it
    /// may. Nothing is lost by any of them.
    pub fn try_recv(&mut self) -> Result<Frame, FrameError> {
        match Receive::try_recv(self) {
            Ok(received) => received.map_err(FrameError::TooManyHeld),
            Err(TryRecvError::Empty) => Err(FrameError::Empty),
            Err(TryRecvError::Closed) => Err(FrameError::Closed),
        }
    }

    /// Receives the next frame. Waits for it.
    ///
    /// # Errors
    ///
    /// [`FrameError::Closed`], [`FrameError::TooManyHeld`].
    pub fn recv(&mut self) -> Result<Frame, FrameError> {
        let received = Receive::recv(self).map_err(|_| FrameError::Closed)?;
        received.map_err(FrameError::TooManyHeld)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv), and [`FrameError::Empty`]: none came in time.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Frame, FrameError> {
        match self.recv_until(timeout) {
            Ok(received) => received.map_err(FrameError::TooManyHeld),
            Err(RecvTimeoutError::Timeout) => Err(FrameError::Empty),
            Err(_) => Err(FrameError::Closed),
        }
    }

    /// How many frames it has lost: it was too slow for them, or has [passed](Subscriber::latest) them.
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.ring.total_lagged() + self.missed
    }

    /// History: begins with the last `count` frames that were published, and returns how many these are. For
    /// a subscriber that has just joined with the oldest frame; see
    /// [`broadcast::Subscriber::begin_with_last`].
    pub fn begin_with_last(&mut self, count: usize) -> usize {
        self.ring.begin_with_last(count)
    }

    /// The sequence of the next frame.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.ring.cursor()
    }

    /// How many frames wait.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether the ring is closed. Frames may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// How it waits.
    #[must_use]
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.ring.wait_strategy()
    }

    /// Whether it may hold one more.
    fn room(&self) -> Result<(), TooManyHeld> {
        let most = self.numbers.held;
        if self.held.has_room() { Ok(()) } else { Err(TooManyHeld { most }) }
    }

    /// Holds the frame that the ring has told of last. `None`: too late, which is counted.
    fn hold(&mut self, [frame, len]: Told) -> Option<Frame> {
        let sequence = self.ring.cursor().wrapping_sub(1);
        let (numbers, frame, len) = (&self.numbers, usize::try_from(frame).ok(), usize::try_from(len).ok());
        let frame = frame.filter(|&frame| frame < numbers.count);
        let bytes = frame.zip(len.filter(|&len| len <= numbers.bytes)).map(|(frame, len)| {
            let bytes = bytes_of(&self.memory, numbers, &self.layout, frame, len);
            // It comes while the frame is held.
            prefetch_to_read(bytes.cast::<u8>().as_ptr());
            (frame, bytes)
        });
        // (There is room: `room` has said so.)
        let frame = bytes.and_then(|(index, bytes)| {
            let held = self.held.hold(index as u64, Sequence::new(sequence))?;
            Some(Frame { bytes, sequence, index, _held: held })
        });
        self.missed += u64::from(frame.is_none() && !seeded!("frames_missed_uncounted"));
        frame
    }
}

source_of_part!([M: Mode] Subscriber<M>, |handle| handle.ring, lost: handle.total_lagged());

impl<M: Mode> Waitable for Subscriber<M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// A receive gives a frame, or says that the subscriber holds as many as it may; then nothing is received.
impl<M: Mode> Receive for Subscriber<M> {
    type Item = Result<Frame, TooManyHeld>;

    fn poll_recv(&mut self) -> Look<Result<Self::Item, RecvError>> {
        if let Err(full) = self.room() {
            return Look::Found(Ok(Err(full)));
        }
        match self.ring.poll_recv() {
            Look::Found(Ok(told)) => self.hold(told).map_or(Look::Again, |frame| Look::Found(Ok(Ok(frame)))),
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }
}

impl<M: Mode> fmt::Debug for Subscriber<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}

/// A frame that is held: it stays as it is until this is dropped, also when the subscriber is gone, and the
/// publisher.
///
/// It may move to another thread, and several threads may read it.
pub struct Frame {
    bytes: NonNull<[u8]>,
    sequence: u64,
    index: usize,
    /// It keeps the memory, too.
    _held: HeldFrame,
}

// SAFETY: it gives volatile reads of memory that it keeps.
unsafe impl Send for Frame {}
// SAFETY: as above.
unsafe impl Sync for Frame {}

impl Frame {
    /// The bytes in place.
    pub fn shared(&self) -> SharedSlice<'_, u8> {
        // SAFETY: the memory is kept. No handle of this process writes to a frame that is held.
        unsafe { SharedSlice::new(self.bytes) }
    }

    /// Which of the ring's frames it is, from 0 on. What goes with each frame, a GPU buffer for example, has
    /// the same number, and is nobody else's as long as this frame is held: see
    /// [companions](super#companions).
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in place, as values. `None` if they are no whole number of `T`s. See
    /// [`Builder::of`](super::Builder::of).
    #[must_use]
    pub fn values<T: Pod>(&self) -> Option<SharedSlice<'_, T>> {
        self.shared().cast()
    }

    /// A copy of number `index` of the messages that lie in it one behind the other, of any type: an enum, a
    /// struct with padding or with a `bool`. `None` if there are fewer. See
    /// [`Loan::set_message`](super::Loan::set_message).
    ///
    /// # Errors
    ///
    /// [`BadValue`]: the bytes there are no `T`, and this says which field is not.
    #[must_use]
    pub fn message<T: Message>(&self, index: usize) -> Option<Result<T, BadValue>> {
        let place = place_of::<T>(index, self.len())?;
        Some(Cell::copied(self.shared().slice(place))?.checked())
    }

    /// Copies of all messages that lie in it, one after the other, as [`message`](Self::message). `None` if
    /// its bytes are no whole number of them.
    #[must_use]
    pub fn messages<T: Message>(&self) -> Option<impl Iterator<Item = Result<T, BadValue>> + '_> {
        let is_whole = self.len().checked_rem(size_of::<T::Wire>()) == Some(0);
        is_whole.then(|| (0..).map_while(|index| self.message(index)))
    }

    /// A copy of all of it. Allocates.
    #[must_use]
    pub fn to_vec(&self) -> std::vec::Vec<u8> {
        self.shared().to_vec()
    }

    /// Its number: they follow each other, so a gap is what was lost.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sequence, len) = (self.sequence, self.len());
        f.debug_struct("Frame").field("sequence", &sequence).field("len", &len).finish_non_exhaustive()
    }
}

/// A subscriber holds as many frames as it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyHeld {
    /// How many these are.
    pub most: usize,
}

impl fmt::Display for TooManyHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        write!(
            f,
            "this subscriber holds {most} frames, as many as it may: drop one, or make the ring with more (`held`)"
        )
    }
}

impl Error for TooManyHeld {}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// There is no new one, or none came in time.
    Empty,
    /// The ring is closed, and nothing is left. [`state`](super::AcceptedFrames::state) says whether its
    /// process has died.
    Closed,
    /// The subscriber holds as many frames as it may.
    TooManyHeld(TooManyHeld),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no new frame"),
            Self::Closed => f.write_str("the ring is closed, and all frames are received"),
            Self::TooManyHeld(held) => held.fmt(f),
        }
    }
}

impl Error for FrameError {}
