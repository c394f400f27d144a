//! [`RawFramePublisher`] and [`RawFrameSubscriber`]: frames that are written and read where they lie.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use annulus::broadcast::{Awaited, Lossless};
use annulus::shm::dynamic::Start;
use annulus::shm::frames::{
    AcceptedFrames, Builder, Frame, FrameError, Publisher, SubscribeError, Subscriber,
};
use annulus::shm::{PeerState, Shared, ShmKind};
use annulus::{Notifier, Readiness, SendTimeoutError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::about::{About, ring_of, state_name};
use crate::buffer::{Length, ReadBuffer};
use crate::errors::{Which, end_of_iteration, error};
use crate::held::{Close, Held, OfThisProcess, close_at_exit};
use crate::lent::{Back, Given, Lender, Lends, Piece, RawLoan, exported, memoryview};
use crate::limit::{Limit, whole_capacity, whole_frame_bytes, whole_held, whole_subscribers};
use crate::open::{
    Begin, Found, Place, RawInvitation, info_of, introduced, invitation, message_type, settings, strategy,
};
use crate::receiver::{end_of, late};
use crate::refusals::{Sides, of_share};
use crate::sender::{closed_to_send, full};

/// The one or the other mode of a ring: what is done with either.
macro_rules! either {
    ($of:expr, $handle:ident => $what:expr) => {
        match $of {
            Either::Lossy($handle) => $what,
            Either::Lossless($handle) => $what,
        }
    };
}

enum Either<L, A> {
    Lossy(L),
    Lossless(A),
}

/// What a publisher has. Its name goes first: it never leads to no ring.
struct Publishing {
    _found: Found,
    publisher: Either<Publisher, Publisher<Lossless>>,
}

/// The ring is closed.
struct Closed;

impl Publishing {
    /// Room for a message; `None`: not in that time.
    fn wait_for_room(&mut self, slice: std::time::Duration) -> Option<Result<(), Closed>> {
        let Either::Lossless(publisher) = &mut self.publisher else { return Some(Ok(())) };
        match publisher.wait_for_room_until(slice) {
            Ok(()) => Some(Ok(())),
            Err(SendTimeoutError::Timeout(())) => None,
            Err(SendTimeoutError::Closed(())) => Some(Err(Closed)),
        }
    }

    /// A frame of so many bytes, which are not more than it has.
    fn piece(&mut self, bytes: usize) -> Piece {
        either!(&mut self.publisher, publisher => {
            let mut frame = publisher.loan(bytes).expect("the length was checked");
            // Dropped, it is the one that comes next.
            Piece::to_write(frame.as_mut_ptr(), bytes)
        })
    }

    /// Publishes the frame that comes next, after [`wait_for_room`](Self::wait_for_room).
    fn publish_next(&mut self, bytes: usize) -> Result<(), Closed> {
        match &mut self.publisher {
            Either::Lossy(publisher) => {
                let published = publisher.loan(bytes).expect("the length was checked").try_publish();
                published.map(drop).map_err(|_| Closed)
            }
            Either::Lossless(publisher) => {
                let published = publisher.loan(bytes).expect("the length was checked").try_publish();
                published.map(drop).map_err(|_| Closed)
            }
        }
    }
}

impl Lends for Publishing {
    fn give_back(&mut self, _: &Piece, back: Back) -> Given {
        let Back::First(bytes) = back else { return Given::Yes };
        match self.publish_next(bytes) {
            Ok(()) => Given::Yes,
            Err(Closed) => Given::Closed { peer_died: false },
        }
    }
}

/// What a subscriber has.
struct Subscribing {
    subscriber: Either<Notifier<Subscriber>, Notifier<Subscriber<Awaited>>>,
    ring: Either<AcceptedFrames, AcceptedFrames<Awaited>>,
}

impl Lends for Subscribing {
    /// It lends nothing: a frame is no loan of the subscriber's.
    fn give_back(&mut self, _: &Piece, _: Back) -> Given {
        Given::Yes
    }
}

impl Subscribing {
    fn state(&self) -> PeerState {
        either!(&self.ring, ring => ring.state())
    }
}

/// A frame that is held.
#[pyclass(module = "annulus._annulus", frozen)]
pub(crate) struct RawFrame {
    exporter: Py<PyAny>,
    sequence: u64,
    index: usize,
    bytes: usize,
}

impl RawFrame {
    fn new(py: Python<'_>, frame: Frame) -> PyResult<Self> {
        let (sequence, index, bytes) = (frame.sequence(), frame.index(), frame.len());
        let piece = Piece::to_read(frame.shared().as_ptr(), bytes);
        // (An address, which stays where the frame goes.)
        let exporter = exported(py, piece, OfThisProcess::new(frame))?;
        Ok(Self { exporter, sequence, index, bytes })
    }
}

#[pymethods]
impl RawFrame {
    /// A new memoryview of the bytes in place, read-only. It holds the frame.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        memoryview(py, &self.exporter)
    }

    /// The number of the message: a gap is what was lost.
    #[getter]
    fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Which of the ring's frames it is.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    fn __len__(&self) -> usize {
        self.bytes
    }
}

/// The publisher of a ring of frames.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawFramePublisher {
    about: About,
    frame_bytes: usize,
    frames: usize,
    invitation: Option<RawInvitation>,
    end: Arc<Held<Publishing>>,
}

impl RawFramePublisher {
    fn check(&self, bytes: usize) -> PyResult<()> {
        let most = self.frame_bytes;
        if bytes <= most {
            return Ok(());
        }
        let ring = &self.about.ring;
        Err(PyValueError::new_err(format!(
            "{bytes} bytes are more than a frame of {ring} has, which is {most}: make the ring with larger ones"
        )))
    }

    fn closed(&self, py: Python<'_>) -> PyErr {
        closed_to_send(py, &self.about.ring, false)
    }
}

#[pymethods]
impl RawFramePublisher {
    /// Lends a frame of so many bytes, to write to; waits for room where the ring is lossless. ValueError: it
    /// is more than `frame_bytes`. FullError, which is a TimeoutError; ClosedError; LentError.
    #[pyo3(signature = (nbytes, timeout=None))]
    fn loan(&self, py: Python<'_>, nbytes: usize, timeout: Option<f64>) -> PyResult<RawLoan> {
        self.check(nbytes)?;
        let lent = self.end.lend(py, Limit::of(timeout)?, |end, slice| {
            let room = end.wait_for_room(slice)?;
            Some(room.map(|()| end.piece(nbytes)))
        })?;
        match lent {
            Some(Ok(loan)) => {
                let lender = Arc::clone(&self.end) as Arc<dyn Lender>;
                RawLoan::new(py, loan, lender, 1, &self.about.ring)
            }
            Some(Err(Closed)) => Err(self.closed(py)),
            None => Err(full(py, &self.about.ring, timeout)),
        }
    }

    /// Publishes a copy of the bytes; waits for room where the ring is lossless. The errors of `loan`.
    #[pyo3(signature = (content, timeout=None))]
    fn publish(&self, py: Python<'_>, content: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let buffer = ReadBuffer::of(content, Length::Any)?;
        let content = buffer.bytes();
        self.check(content.len())?;
        let limit = Limit::of(timeout)?;
        let turn = |end: &mut Publishing, slice| {
            let room = end.wait_for_room(slice)?;
            Some(room.and_then(|()| {
                either!(&mut end.publisher, publisher => {
                    let mut frame = publisher.loan(content.len()).expect("the length was checked");
                    frame.copy_from_slice(content);
                });
                end.publish_next(content.len())
            }))
        };
        let mut published = self.end.detached(py, |end| turn(end, std::time::Duration::ZERO))?;
        if published.is_none() {
            published = self.end.wait(py, limit, turn)?;
        }
        match published {
            Some(Ok(())) => Ok(()),
            Some(Err(Closed)) => Err(self.closed(py)),
            None => Err(full(py, &self.about.ring, timeout)),
        }
    }

    /// Waits until a lossless ring has so many subscribers; True at once for a lossy one, which does not know
    /// them.
    #[pyo3(signature = (count=1, timeout=None))]
    fn wait_for_subscribers(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        let come = self.end.wait(py, Limit::of(timeout)?, |end, slice| match &end.publisher {
            Either::Lossy(_) => Some(true),
            Either::Lossless(publisher) => {
                let have_come = publisher.wait_for_subscribers_until(count, slice);
                (have_come || publisher.is_closed()).then_some(have_come)
            }
        })?;
        Ok(come.unwrap_or(false))
    }

    /// How many frames are published.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| either!(&end.publisher, publisher => publisher.published()))
    }

    /// How many frames subscribers hold, of those that the ring no longer keeps.
    #[getter]
    fn held(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.detached(py, |end| either!(&mut end.publisher, publisher => publisher.held()))
    }

    /// How many bytes a frame may have.
    #[getter]
    fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// How many frames there are.
    #[getter]
    fn frames(&self) -> usize {
        self.frames
    }

    /// What this process subscribes by, if the ring has no name.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Whether the handle is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |_| false)
    }

    /// Leaves the ring, which ends. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// What came.
enum Got {
    Frame(Frame),
    Nothing,
    TooMany { most: usize },
    End { has_died: bool },
}

/// The subscriber of a ring of frames.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawFrameSubscriber {
    about: About,
    frame_bytes: usize,
    most_held: usize,
    end: Arc<Held<Subscribing>>,
}

impl RawFrameSubscriber {
    fn got(end: &Subscribing, received: Result<Frame, FrameError>) -> Got {
        match received {
            Ok(frame) => Got::Frame(frame),
            Err(FrameError::Empty) => Got::Nothing,
            Err(FrameError::TooManyHeld(held)) => Got::TooMany { most: held.most },
            Err(_) => Got::End { has_died: end.state() == PeerState::Dead },
        }
    }

    fn told(&self, py: Python<'_>, got: Got) -> PyResult<Option<RawFrame>> {
        match got {
            Got::Frame(frame) => RawFrame::new(py, frame).map(Some),
            Got::Nothing => Ok(None),
            Got::TooMany { most } => Err(error(
                py,
                Which::Lent,
                format!(
                    "this subscriber holds {most} frames, as many as it may: del one and its arrays, or copy it with .copy(); or make the ring with more (held=)"
                ),
            )),
            Got::End { has_died } => Err(end_of(py, &self.about.ring, has_died)),
        }
    }
}

#[pymethods]
impl RawFrameSubscriber {
    /// Receives a frame. TimeoutError; ClosedError; LentError: as many are held as may be.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<RawFrame> {
        Limit::check(timeout)?;
        if let Some(frame) = self.try_recv(py)? {
            return Ok(frame);
        }
        let got = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            let received =
                either!(&mut end.subscriber, subscriber => subscriber.get_mut().recv_timeout(slice));
            let got = Self::got(end, received);
            (!matches!(got, Got::Nothing)).then_some(got)
        })?;
        self.told(py, got.unwrap_or(Got::Nothing))?.ok_or_else(|| late(py, &self.about.ring, timeout))
    }

    /// Receives a frame without a wait; None if none is there. ClosedError, LentError.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Option<RawFrame>> {
        let got = self.end.now(py, |end| {
            let received = either!(&mut end.subscriber, subscriber => subscriber.get_mut().try_recv());
            Self::got(end, received)
        })?;
        self.told(py, got)
    }

    /// Receives the newest frame, and passes those before it; None: there is no new one. Only where the
    /// publisher does not wait for it. ClosedError, LentError.
    fn latest(&self, py: Python<'_>) -> PyResult<Option<RawFrame>> {
        let got = self.end.now(py, |end| {
            let Either::Lossy(subscriber) = &mut end.subscriber else { return None };
            let subscriber = subscriber.get_mut();
            let newest = subscriber.latest().map_err(FrameError::TooManyHeld);
            let received = match newest {
                Ok(Some(frame)) => Ok(frame),
                Ok(None) => subscriber.try_recv(),
                Err(error) => Err(error),
            };
            Some(Self::got(end, received))
        })?;
        let got = got.ok_or_else(|| {
            PyValueError::new_err("the publisher of this ring waits for this subscriber, so it passes no frame: subscribe with awaited=False")
        })?;
        self.told(py, got)
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// As `recv`, without a limit; ends when the ring is closed and nothing is left. ClosedError: the process
    /// has died.
    fn __next__(&self, py: Python<'_>) -> PyResult<RawFrame> {
        self.recv(py, None).map_err(|error| end_of_iteration(py, error))
    }

    /// How many frames it has lost, or passed.
    #[getter]
    fn total_lagged(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| either!(&end.subscriber, subscriber => subscriber.get_ref().total_lagged()))
    }

    /// The number of the next frame.
    #[getter]
    fn cursor(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| either!(&end.subscriber, subscriber => subscriber.get_ref().cursor()))
    }

    /// How many frames wait.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| either!(&end.subscriber, subscriber => subscriber.get_ref().len()))
    }

    /// Whether the publisher's process is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.state()))
    }

    /// Whether the ring is closed. Frames may be left to receive.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| either!(&end.subscriber, subscriber => subscriber.get_ref().is_closed()))
    }

    /// How many bytes a frame may have.
    #[getter]
    fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// How many frames it may hold.
    #[getter]
    fn most_held(&self) -> usize {
        self.most_held
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// A descriptor that is readable when something can be received, after `arm`. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.end.now(py, |end| either!(&end.subscriber, subscriber => subscriber.as_raw_fd()))
    }

    /// Asks for a wake-up by the descriptor. False: something is there already.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        let armed = self.end.now(py, |end| either!(&mut end.subscriber, subscriber => subscriber.arm()))?;
        Ok(armed == Readiness::Armed)
    }

    /// Leaves the ring. Frames that are held stay. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// Makes a ring of frames of up to so many bytes, and its publisher.
#[pyfunction]
#[pyo3(signature = (name, directory, frame_bytes, capacity=4, schema=None, subscribers=8, held=2, alignment=64, lossless=false, wait="block"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_frames(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_frame_bytes)] frame_bytes: usize,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    #[pyo3(from_py_with = whole_subscribers)] subscribers: usize,
    #[pyo3(from_py_with = whole_held)] held: usize,
    alignment: usize,
    lossless: bool,
    wait: &str,
) -> PyResult<RawFramePublisher> {
    let builder = Builder::new(settings(capacity, wait)?, frame_bytes);
    let mut builder = builder.subscribers(subscribers).held(held).alignment(alignment);
    if let Some(text) = schema {
        builder = builder.described(&message_type(py, Some(text), None, 1)?);
    }
    let refused = |refused| of_share(py, &refused);
    let (publisher, invitation) = if lossless {
        let Shared { handle, invitation, .. } = builder.build_lossless().map_err(refused)?;
        (Either::Lossless(handle), invitation)
    } else {
        let Shared { handle, invitation, .. } = builder.build().map_err(refused)?;
        (Either::Lossy(handle), invitation)
    };
    let (about, found) = introduced(py, name, directory, invitation)?;
    let (invitation, frames) = (found.invitation(), either!(&publisher, publisher => publisher.frames()));
    let end = Arc::new(Held::new(Publishing { _found: found, publisher }));
    let weak: Weak<Held<Publishing>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawFramePublisher { about, frame_bytes, frames, invitation, end })
}

/// Subscribes to a ring of frames. Waits for the ring so long.
///
/// With `awaited=False`, the publisher of a lossless ring does not wait for it.
#[pyfunction]
#[pyo3(signature = (name, directory=None, start=Begin::newest(), wait="block", timeout=Some(0.0), awaited=true))]
fn join_frames(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    start: Begin,
    wait: &str,
    timeout: Option<f64>,
    awaited: bool,
) -> PyResult<RawFrameSubscriber> {
    let (start, strategy) = (start.start()?, strategy(wait)?);
    let invitation = invitation(py, &name, directory, timeout)?.with_wait_strategy(strategy);
    let name = name.name();
    let info = info_of(py, name, &invitation)?;
    let sides = Sides { name, ..Sides::default() };
    let refused = |refused| sides.of_attach(py, &refused);
    let no_seat = |refused| match refused {
        SubscribeError::Full(_) => error(
            py,
            Which::NoSeat,
            format!(
                "{} has all subscribers that it has room for: make it with more (subscribers=)",
                ring_of(name)
            ),
        ),
        SubscribeError::Attach(refused) => sides.of_attach(py, &refused),
        other => PyOSError::new_err(other.to_string()),
    };
    let is_oldest = !matches!(start, Start::Newest);
    let notified = |refused| PyOSError::new_err(refused);
    let (subscriber, ring) = if info.kind() == ShmKind::LosslessFrames {
        let ring = invitation.accept_lossless_frames().map_err(refused)?;
        let subscriber = if awaited {
            let joined = if is_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() };
            Either::Lossless(Notifier::new(joined.map_err(no_seat)?).map_err(notified)?)
        } else {
            let joined = if is_oldest { ring.subscribe_lossy_from_oldest() } else { ring.subscribe_lossy() };
            Either::Lossy(Notifier::new(joined.map_err(no_seat)?).map_err(notified)?)
        };
        (subscriber, Either::Lossless(ring))
    } else {
        let ring = invitation.accept_frames().map_err(refused)?;
        let joined = if is_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() };
        let subscriber = Notifier::new(joined.map_err(no_seat)?).map_err(notified)?;
        (Either::Lossy(subscriber), Either::Lossy(ring))
    };
    let mut subscriber = subscriber;
    if let Start::Last(count) = start {
        either!(&mut subscriber, subscriber => subscriber.get_mut().begin_with_last(count));
    }
    let (frame_bytes, most_held) = either!(&ring, ring => (ring.frame_bytes(), ring.most_held()));
    let end = Arc::new(Held::new(Subscribing { subscriber, ring }));
    let weak: Weak<Held<Subscribing>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawFrameSubscriber { about: About::of(name, &info), frame_bytes, most_held, end })
}

/// Gives the module its classes and functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawFrame>()?;
    module.add_class::<RawFramePublisher>()?;
    module.add_class::<RawFrameSubscriber>()?;
    module.add_function(wrap_pyfunction!(make_frames, module)?)?;
    module.add_function(wrap_pyfunction!(join_frames, module)?)
}
