//! Makes rings and joins them, by their names or by an invitation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use annulus::schema::Schema;
use annulus::shm::blocks::{self, MessageType};
use annulus::shm::dynamic::{OpenError, Receiver, Ring, Sender, Start, WorkQueue};
use annulus::shm::mpmc::Unreceived;
use annulus::shm::{
    Directory, FindError, Invitation, NameError, NamedRing, PeerState, ProcessId, PublishedName, RingInfo,
    Shared, ShmKind, WhenGone, mp_broadcast, mpmc, mpsc,
};
use annulus::{Settings, WaitStrategy};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::about::{About, kind_name, ring_of, state_name};
use crate::errors::{Which, error};
use crate::limit::{
    Limit, SLICE, some_seats, whole_capacity, whole_consumers, whole_producers, whole_publishers, whole_seats,
};
use crate::queue::RawQueue;
use crate::receiver::RawReceiver;
use crate::refusals::{Sides, messages, of_directory, of_name};
use crate::schema::parsed;
use crate::sender::RawSender;

/// What the group and others may do in a directory that is there. (One that is made is the user's alone.)
const MOST_OPEN: u32 = 0o775;

/// Between two looks at a name whose process has ended, or has come, since the first.
const PAUSE: Duration = Duration::from_millis(1);

/// The directory of the names. If it is not there, it is made.
pub(crate) fn directory(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Directory> {
    let opened = match path {
        Some(path) => {
            let mode = if is_absent(&path) { 0o700 } else { MOST_OPEN };
            Directory::with_mode(path, mode)
        }
        None => Directory::of_user(),
    };
    opened.map_err(|refused| of_directory(py, &refused))
}

/// Whether there is nothing. What the system does not let this process see is there, for all it knows: an
/// error says more of it.
fn is_absent(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

/// The same for a ring that is to be there already.
fn directory_with(py: Python<'_>, path: Option<PathBuf>, name: &str) -> PyResult<Directory> {
    match path {
        Some(path) if is_absent(&path) => Err(error(
            py,
            Which::NotFound,
            format!("there is no ring {name:?}: there is no directory {:?}", path.display().to_string()),
        )),
        path => directory(py, path),
    }
}

/// What a ring's messages are to be.
pub(crate) fn message_type(
    py: Python<'_>,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
) -> PyResult<MessageType> {
    let of = match (schema, bytes) {
        (Some(text), bytes) => {
            let schema = parsed(py, text)?;
            if let Some(bytes) = bytes.filter(|bytes| *bytes != schema.size()) {
                return Err(PyValueError::new_err(format!(
                    "bytes is {bytes}, and a message of the schema {schema} has {} bytes: leave one of them out",
                    schema.size()
                )));
            }
            MessageType::described(schema, alignment)
        }
        (None, Some(bytes)) => MessageType::of_bytes(bytes, alignment),
        (None, None) => {
            return Err(PyValueError::new_err(
                "schema and bytes are None: say what the messages are by one of them",
            ));
        }
    };
    if !of.can_be() {
        return Err(PyValueError::new_err(format!(
            "there are no messages of {} bytes with an alignment of {alignment}: the size is above 0 and a multiple of the alignment, which is a \
             power of two up to 4096",
            of.bytes()
        )));
    }
    Ok(of)
}

pub(crate) fn strategy(text: &str) -> PyResult<WaitStrategy> {
    text.parse()
        .map_err(|wrong: annulus::wait::ParseWaitStrategyError| PyValueError::new_err(wrong.to_string()))
}

pub(crate) fn settings(capacity: usize, wait: &str) -> PyResult<Settings> {
    Ok(Settings::new(capacity).wait_strategy(strategy(wait)?))
}

/// The settings of a broadcast ring: with the deadline that its publisher promises, if there is one.
fn ring_settings(capacity: usize, wait: &str, deadline: Option<f64>) -> PyResult<Settings> {
    let settings = settings(capacity, wait)?;
    Ok(match deadline {
        Some(seconds) => settings.deadline(seconds_of("deadline", seconds)?),
        None => settings,
    })
}

/// The longest time in nanoseconds as a number of 64 bits, in seconds: 584 years.
const SECONDS_MAX: f64 = 1.8e10;

/// So many seconds, from a nanosecond on.
pub(crate) fn seconds_of(what: &str, seconds: f64) -> PyResult<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    time.filter(|time| !time.is_zero() && seconds <= SECONDS_MAX).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{what} is {seconds:?}: it is a number of seconds from 1e-9 to 1.8e10, which is 570 years"
        ))
    })
}

/// The same of a ring of one publisher, which goes on with the numbers of its name if it is `continuing`.
fn numbered(
    py: Python<'_>,
    name: Option<&str>,
    path: Option<&PathBuf>,
    settings: Settings,
    continuing: bool,
) -> PyResult<Settings> {
    if !continuing {
        return Ok(settings);
    }
    let Some(name) = name else {
        return Err(PyValueError::new_err(
            "continuing is True, and name is None: the numbers of a name go on",
        ));
    };
    let numbering = directory(py, path.cloned())?.numbering(name).map_err(|refused| of_name(py, &refused))?;
    Ok(blocks::continued(numbering, settings))
}

pub(crate) fn when_gone(text: &str) -> PyResult<WhenGone> {
    match text {
        "close" => Ok(WhenGone::Close),
        "wait" => Ok(WhenGone::Wait),
        _ => Err(PyValueError::new_err(format!("{text:?} is neither \"close\" nor \"wait\""))),
    }
}

/// With which message a subscriber begins: with the newest or the oldest one, or with the last so many.
#[derive(FromPyObject)]
pub(crate) enum Begin {
    Last(usize),
    Word(String),
}

impl Begin {
    pub(crate) fn newest() -> Self {
        Self::Word("newest".into())
    }

    pub(crate) fn start(self) -> PyResult<Start> {
        match self {
            Self::Last(count) => Ok(Start::Last(count)),
            Self::Word(word) if word == "oldest" => Ok(Start::Oldest),
            Self::Word(word) if word == "newest" => Ok(Start::Newest),
            Self::Word(word) => Err(PyValueError::new_err(format!(
                "{word:?} is neither \"oldest\" nor \"newest\", nor a number of messages"
            ))),
        }
    }
}

pub(crate) fn open_refused(py: Python<'_>, name: Option<&str>, refused: &OpenError) -> PyErr {
    Sides { name, ..Sides::default() }.of_open(py, refused)
}

pub(crate) fn find_refused(py: Python<'_>, name: &str, refused: &FindError) -> PyErr {
    Sides { name: Some(name), ..Sides::default() }.of_find(py, refused)
}

/// Gives a ring its name.
fn named(
    py: Python<'_>,
    invitation: &Invitation,
    directory: &Directory,
    name: &str,
) -> PyResult<PublishedName> {
    invitation.publish(directory, name).map_err(|refused| find_refused(py, name, &refused))
}

/// What the ring of an invitation says of itself.
pub(crate) fn info_of(py: Python<'_>, name: Option<&str>, invitation: &Invitation) -> PyResult<RingInfo> {
    invitation.info().map_err(|refused| Sides { name, ..Sides::default() }.of_attach(py, &refused))
}

/// The invitation to a ring without a name.
#[pyclass(module = "annulus._annulus", frozen)]
#[derive(Clone)]
pub(crate) struct RawInvitation(Arc<Invitation>);

/// How others find a ring that this process has made.
pub(crate) enum Found {
    ByName {
        _name: PublishedName,
    },
    /// By this process's invitation alone.
    ByInvitation(RawInvitation),
    /// It was made elsewhere.
    Elsewhere,
}

impl Found {
    pub(crate) fn invitation(&self) -> Option<RawInvitation> {
        match self {
            Self::ByInvitation(invitation) => Some(invitation.clone()),
            _ => None,
        }
    }

    pub(crate) fn owns_name(&self) -> bool {
        matches!(self, Self::ByName { .. })
    }
}

/// Gives a ring its name, if it is to have one.
pub(crate) fn introduced(
    py: Python<'_>,
    name: Option<&str>,
    path: Option<PathBuf>,
    invitation: Invitation,
) -> PyResult<(About, Found)> {
    let about = About::of(name, &info_of(py, name, &invitation)?);
    let found = match name {
        Some(name) => Found::ByName { _name: named(py, &invitation, &directory(py, path)?, name)? },
        None => Found::ByInvitation(RawInvitation(Arc::new(invitation))),
    };
    Ok((about, found))
}

/// A sender that this process has made.
fn made_sender(
    py: Python<'_>,
    name: Option<&str>,
    path: Option<PathBuf>,
    made: Result<Shared<Sender>, OpenError>,
) -> PyResult<RawSender> {
    let Shared { handle, invitation, .. } = made.map_err(|refused| open_refused(py, name, &refused))?;
    let (about, found) = introduced(py, name, path, invitation)?;
    Ok(RawSender::new(about, handle, found, None))
}

/// Makes a lossy broadcast ring and gives it a name, if there is one. Its messages have the schema, or only
/// `bytes` bytes each.
///
/// NameTakenError; SchemaError; ValueError: there can be no such ring; DirectoryError.
///
/// `deadline`: a promise not to be silent for so many seconds. `continuing`: it goes on with the numbers of
/// the name; NameTakenError: another publisher has them.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", deadline=None, continuing=false))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_lossy(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    deadline: Option<f64>,
    continuing: bool,
) -> PyResult<RawSender> {
    let of = message_type(py, schema, bytes, alignment)?;
    let settings = ring_settings(capacity, wait, deadline)?;
    let settings = numbered(py, name, directory.as_ref(), settings, continuing)?;
    made_sender(py, name, directory, Sender::lossy(settings, &of))
}

/// Makes a lossless broadcast ring, with seats for so many subscribers at one time.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", seats=16, deadline=None, continuing=false))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_lossless(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    #[pyo3(from_py_with = whole_seats)] seats: usize,
    deadline: Option<f64>,
    continuing: bool,
) -> PyResult<RawSender> {
    let of = message_type(py, schema, bytes, alignment)?;
    let settings = ring_settings(capacity, wait, deadline)?;
    let settings = numbered(py, name, directory.as_ref(), settings, continuing)?;
    made_sender(py, name, directory, Sender::lossless(settings, &of, seats))
}

/// Joins the broadcast ring of several publishers of this name, or makes it where there is none: a lossy one,
/// or one that waits for subscribers in so many `seats`.
///
/// NoSeatError: all its places are taken. MismatchError: it is another ring.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", publishers=16, seats=None, deadline=None))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_mp(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    #[pyo3(from_py_with = whole_publishers)] publishers: usize,
    #[pyo3(from_py_with = some_seats)] seats: Option<usize>,
    deadline: Option<f64>,
) -> PyResult<RawSender> {
    let of = message_type(py, schema, bytes, alignment)?;
    let builder = mp_broadcast::Builder::new(ring_settings(capacity, wait, deadline)?).publishers(publishers);
    let make = |builder: mp_broadcast::Builder| match seats {
        Some(seats) => Sender::mp_lossless(builder, &of, seats),
        None => Sender::mp_lossy(builder, &of),
    };
    let wanted = if seats.is_some() { ShmKind::MpLossless } else { ShmKind::MpLossy };
    let Some(name) = name else {
        // No other process comes to publish, so the ring ends with its last publisher.
        let builder = builder.when_no_publisher(WhenGone::Close);
        return made_sender(py, None, None, make(builder));
    };
    let directory = self::directory(py, directory)?;
    // As the library's `publish_in`: the steps are repeated where another process comes, or ends, between two
    // of them.
    loop {
        match directory.find(name) {
            Err(NameError::NotFound { .. } | NameError::Dead { .. }) => {
                let Shared { handle, invitation, .. } =
                    make(builder.clone()).map_err(|refused| open_refused(py, Some(name), &refused))?;
                match invitation.publish(&directory, name) {
                    Err(FindError::Name(NameError::Taken { .. })) => {}
                    given => {
                        let published = given.map_err(|refused| find_refused(py, name, &refused))?;
                        let about = About::of(Some(name), &info_of(py, Some(name), &invitation)?);
                        return Ok(RawSender::new(about, handle, Found::ByName { _name: published }, None));
                    }
                }
            }
            Err(refused) => return Err(of_name(py, &refused)),
            Ok(found) => match answered(py, &found)? {
                Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => {}
                found => {
                    let invitation = found.map_err(|refused| find_refused(py, name, &refused))?;
                    let kind = info_of(py, Some(name), &invitation)?.kind();
                    if kind != wanted {
                        let text = format!("{} is a {kind}, and no {wanted}", ring_of(Some(name)));
                        return Err(error(py, Which::Mismatch, text));
                    }
                    return joined_sender(py, Some(name), &invitation, schema, bytes, wait);
                }
            },
        }
        py.detach(|| thread::sleep(PAUSE));
        py.check_signals()?;
    }
}

/// Makes a queue of one producer and one consumer, and its producer.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", when_consumer_dies="close"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_spsc(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    when_consumer_dies: &str,
) -> PyResult<RawSender> {
    let of = message_type(py, schema, bytes, alignment)?;
    let made = Sender::spsc(settings(capacity, wait)?, &of, when_gone(when_consumer_dies)?);
    let Shared { handle, peers, invitation, .. } =
        made.map_err(|refused| open_refused(py, name, &refused))?;
    let (about, found) = introduced(py, name, directory, invitation)?;
    Ok(RawSender::new(about, handle, found, Some(peers)))
}

/// Makes a queue of several producers, with places for so many at one time, and its one consumer.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", producers=16, when_no_producer="wait",
    when_consumer_dies="close"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_mpsc(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    #[pyo3(from_py_with = whole_producers)] producers: usize,
    when_no_producer: &str,
    when_consumer_dies: &str,
) -> PyResult<RawReceiver> {
    let of = message_type(py, schema, bytes, alignment)?;
    let builder = mpsc::Builder::new(settings(capacity, wait)?)
        .producers(producers)
        .when_no_producer(when_gone(when_no_producer)?)
        .when_consumer_dies(when_gone(when_consumer_dies)?);
    let made = Receiver::mpsc(builder, &of);
    let Shared { handle, invitation, .. } = made.map_err(|refused| open_refused(py, name, &refused))?;
    let (about, found) = introduced(py, name, directory, invitation)?;
    Ok(RawReceiver::new(about, handle, found))
}

/// Makes a queue that several consumers share, with places for so many producers and consumers at one time.
///
/// `unreceived` is `again` or `drop`: what becomes of what a consumer had claimed when its process died.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, schema, bytes=None, alignment=1, wait="block", producers=16, consumers=16,
    when_no_producer="wait", when_no_consumer="wait", unreceived="again"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_mpmc(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
    #[pyo3(from_py_with = whole_producers)] producers: usize,
    #[pyo3(from_py_with = whole_consumers)] consumers: usize,
    when_no_producer: &str,
    when_no_consumer: &str,
    unreceived: &str,
) -> PyResult<RawQueue> {
    let of = message_type(py, schema, bytes, alignment)?;
    let unreceived = match unreceived {
        "again" => Unreceived::GiveAgain,
        "drop" => Unreceived::Drop,
        _ => return Err(PyValueError::new_err(format!("{unreceived:?} is neither \"again\" nor \"drop\""))),
    };
    let builder = mpmc::Builder::new(settings(capacity, wait)?)
        .producers(producers)
        .consumers(consumers)
        .when_no_producer(when_gone(when_no_producer)?)
        .when_no_consumer(when_gone(when_no_consumer)?)
        .unreceived(unreceived);
    let Shared { handle, invitation, .. } =
        WorkQueue::new(builder, &of).map_err(|refused| open_refused(py, name, &refused))?;
    let (about, found) = introduced(py, name, directory, invitation)?;
    Ok(RawQueue::new(about, handle, found))
}

/// Where a ring is that is joined.
#[derive(FromPyObject)]
pub(crate) enum Place {
    Named(String),
    Unnamed(Py<RawInvitation>),
}

impl Place {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Unnamed(_) => None,
        }
    }
}

/// What the process of a ring answers, where it has to be asked: within two seconds, if at all. Signals end
/// the wait.
fn answered(py: Python<'_>, found: &NamedRing) -> PyResult<Result<Invitation, FindError>> {
    loop {
        match py.detach(|| Invitation::find_timeout(found, SLICE)) {
            Err(FindError::Name(NameError::TimedOut { .. })) => py.check_signals()?,
            told => return Ok(told),
        }
    }
}

/// The invitation to the ring that is there. It waits for one with a name.
pub(crate) fn invitation(
    py: Python<'_>,
    at: &Place,
    path: Option<PathBuf>,
    timeout: Option<f64>,
) -> PyResult<Invitation> {
    let limit = Limit::of(timeout)?;
    let name = match at {
        Place::Named(name) => name,
        Place::Unnamed(kept) => return kept.get().0.try_clone().map_err(PyOSError::new_err),
    };
    if let Limit::Now = limit {
        let found = directory_with(py, path, name)?.find(name).map_err(|refused| of_name(py, &refused))?;
        return answered(py, &found)?.map_err(|refused| find_refused(py, name, &refused));
    }
    let directory = directory(py, path)?;
    // The ring whose process was asked, and has not answered yet: the next slice waits for the same answer.
    let mut asked: Option<NamedRing> = None;
    loop {
        let slice = limit.next_slice();
        let told = py.detach(|| {
            let found = match asked.take().filter(|ring| ring.state() == PeerState::Alive) {
                Some(ring) => ring,
                None => directory.wait_for(name, Some(slice.unwrap_or_default()))?,
            };
            let told = Invitation::find_timeout(&found, limit.next_slice().unwrap_or_default());
            asked = matches!(told, Err(FindError::Name(NameError::TimedOut { .. }))).then_some(found);
            told
        });
        match told {
            Err(FindError::Name(NameError::TimedOut { .. })) if slice.is_some() => {}
            // It has ended since.
            Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => {
                if slice.is_none() {
                    return Err(of_name(py, &NameError::TimedOut { name: name.clone() }));
                }
                py.detach(|| thread::sleep(PAUSE));
            }
            found => return found.map_err(|refused| find_refused(py, name, &refused)),
        }
        py.check_signals()?;
    }
}

/// What the messages of a ring are to be for a process that joins, and the text of an error if they are not.
pub(crate) fn expected<'a>(
    py: Python<'_>,
    name: Option<&'a str>,
    info: &RingInfo,
    schema: Option<&str>,
    bytes: Option<usize>,
) -> PyResult<(MessageType, Sides<'a>)> {
    let none = Sides { name, ..Sides::default() };
    let own: Option<Schema> = info.schema().map_err(|refused| none.of_attach(py, &refused))?;
    let (size, alignment) = (info.payload_bytes(), info.payload_alignment());
    let found = messages(own.as_ref(), size);
    let asked = schema.map(|text| parsed(py, text)).transpose()?;
    let wanted = match (&asked, bytes) {
        (Some(schema), _) => messages(Some(schema), schema.size()),
        (None, Some(bytes)) => format!("{bytes} bytes each"),
        (None, None) => String::new(),
    };
    let of = match (asked, bytes, own) {
        (Some(schema), ..) | (None, None, Some(schema)) => MessageType::described(schema, alignment),
        (None, Some(bytes), _) => MessageType::of_bytes(bytes, alignment),
        (None, None, None) => MessageType::of_bytes(size, alignment),
    };
    Ok((of, Sides { name, found, wanted }))
}

fn joined_sender(
    py: Python<'_>,
    name: Option<&str>,
    invitation: &Invitation,
    schema: Option<&str>,
    bytes: Option<usize>,
    wait: &str,
) -> PyResult<RawSender> {
    let info = info_of(py, name, invitation)?;
    let (of, sides) = expected(py, name, &info, schema, bytes)?;
    let joined = Sender::join(invitation, &of, strategy(wait)?);
    let sender = joined.map_err(|refused| match refused {
        OpenError::Kind(kind @ (ShmKind::Lossy | ShmKind::Lossless | ShmKind::Spsc)) => error(
            py,
            Which::Mismatch,
            format!("{} is a {kind}, and has its one sender: make a ring of several publishers, or a queue of several producers", ring_of(name)),
        ),
        refused => sides.of_open(py, &refused),
    })?;
    Ok(RawSender::new(About::of(name, &info), sender, Found::Elsewhere, None))
}

/// Becomes a producer of a queue of several, or a publisher of a broadcast ring of several. Waits for the
/// ring so long.
///
/// `schema` or `bytes` is what the messages are to be; where both are None, they are what the ring says.
/// RingNotFoundError: there is no such ring, and the timeout is 0. TimeoutError: none came. MismatchError;
/// NoSeatError; ClosedError.
#[pyfunction]
#[pyo3(signature = (name, directory=None, schema=None, bytes=None, wait="block", timeout=Some(0.0)))]
fn join_sender(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    schema: Option<&str>,
    bytes: Option<usize>,
    wait: &str,
    timeout: Option<f64>,
) -> PyResult<RawSender> {
    let invitation = invitation(py, &name, directory, timeout)?;
    joined_sender(py, name.name(), &invitation, schema, bytes, wait)
}

/// Subscribes to a broadcast ring, or becomes the consumer of a queue. Waits for the ring so long.
///
/// `start` is for broadcast rings. With `awaited=False` it takes no seat in a lossless ring: then it loses
/// messages where it falls behind. The errors of `join_sender`.
#[pyfunction]
#[pyo3(signature = (name, directory=None, start=Begin::newest(), schema=None, bytes=None, wait="block", timeout=Some(0.0), awaited=true))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn join_receiver(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    start: Begin,
    schema: Option<&str>,
    bytes: Option<usize>,
    wait: &str,
    timeout: Option<f64>,
    awaited: bool,
) -> PyResult<RawReceiver> {
    let (start, strategy) = (start.start()?, strategy(wait)?);
    let invitation = invitation(py, &name, directory, timeout)?;
    let name = name.name();
    let info = info_of(py, name, &invitation)?;
    let (of, sides) = expected(py, name, &info, schema, bytes)?;
    let joined = if awaited || !matches!(info.kind(), ShmKind::Lossless | ShmKind::MpLossless) {
        Receiver::join(&invitation, &of, strategy, start)
    } else {
        Ring::accept(&invitation, &of, strategy).map(|ring| ring.subscribe_unawaited(start))
    };
    let receiver = joined.map_err(|refused| sides.of_open(py, &refused))?;
    Ok(RawReceiver::new(About::of(name, &info), receiver, Found::Elsewhere))
}

/// What a ring says of itself, without joining it.
#[pyfunction]
#[pyo3(signature = (name, directory=None))]
fn info(py: Python<'_>, name: Place, directory: Option<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    let sides = Sides { name: name.name(), ..Sides::default() };
    let info = match &name {
        Place::Unnamed(kept) => info_of(py, None, &kept.get().0)?,
        Place::Named(name) => {
            let found =
                directory_with(py, directory, name)?.find(name).map_err(|refused| of_name(py, &refused))?;
            let opened = py.detach(|| found.open_read_only()).map_err(|refused| of_name(py, &refused))?;
            RingInfo::of(opened).map_err(|refused| sides.of_attach(py, &refused))?
        }
    };
    let schema = info.schema().map_err(|refused| sides.of_attach(py, &refused))?;
    let members = PyDict::new(py);
    members.set_item("kind", kind_name(info.kind()))?;
    members.set_item("capacity", info.capacity())?;
    members.set_item("bytes", info.payload_bytes())?;
    members.set_item("alignment", info.payload_alignment())?;
    members.set_item("schema", schema.map(|schema| schema.to_string()))?;
    members.set_item("fingerprint", info.fingerprint().to_u64())?;
    members.set_item("creator", info.creator().pid())?;
    members.set_item("identity", info.identity())?;
    Ok(members)
}

/// The names in a directory, with the state of each ring's process.
#[pyfunction]
#[pyo3(signature = (directory=None))]
fn entries(py: Python<'_>, directory: Option<PathBuf>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    if let Some(path) = directory.as_deref().filter(|path| is_absent(path)) {
        let text = format!("there is no directory {:?}", path.display().to_string());
        return Err(error(py, Which::Directory, text));
    }
    let found = self::directory(py, directory)?.list().map_err(|refused| of_name(py, &refused))?;
    let members = found.into_iter().map(|entry| {
        let members = PyDict::new(py);
        members.set_item("name", entry.name)?;
        members.set_item("state", state_name(entry.state))?;
        members.set_item("process", entry.process.map(ProcessId::pid))?;
        Ok(members)
    });
    members.collect()
}

/// Where the directory of this user is, or would be.
#[pyfunction]
fn directory_of_user() -> PathBuf {
    Directory::path_of_user()
}

/// Gives the module its functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawInvitation>()?;
    module.add_function(wrap_pyfunction!(make_lossy, module)?)?;
    module.add_function(wrap_pyfunction!(make_lossless, module)?)?;
    module.add_function(wrap_pyfunction!(make_mp, module)?)?;
    module.add_function(wrap_pyfunction!(make_spsc, module)?)?;
    module.add_function(wrap_pyfunction!(make_mpsc, module)?)?;
    module.add_function(wrap_pyfunction!(make_mpmc, module)?)?;
    module.add_function(wrap_pyfunction!(join_sender, module)?)?;
    module.add_function(wrap_pyfunction!(join_receiver, module)?)?;
    module.add_function(wrap_pyfunction!(info, module)?)?;
    module.add_function(wrap_pyfunction!(entries, module)?)?;
    module.add_function(wrap_pyfunction!(directory_of_user, module)?)
}
