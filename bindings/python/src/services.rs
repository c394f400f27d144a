//! [`RawServer`] and [`RawClient`]: questions and answers, as bytes.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Client, PendingAnswer, Request, Server, service_types};
use annulus::shm::service::{AnswerError, AskError, Builder, Places};
use annulus::shm::{Invitation, Shared};
use annulus::{Readiness, RecvTimeoutError, TryRecvError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::about::{About, state_name};
use crate::buffer::{Length, ReadBuffer};
use crate::errors::{Which, closed, error};
use crate::held::{Close, Held, OfThisProcess, close_at_exit};
use crate::lent::{Back, Given, Lends, Piece};
use crate::limit::{Limit, whole_clients, whole_open};
use crate::open::{
    Found, Place, RawInvitation, info_of, introduced, invitation, message_type, settings, strategy,
};
use crate::port::Port;
use crate::receiver::{end_of, late};
use crate::refusals::{Sides, messages};

/// The ends of a service lend nothing.
macro_rules! lends_nothing {
    ($($End:ty),*) => {$(
        impl Lends for $End {
            fn give_back(&mut self, _: &Piece, _: Back) -> Given {
                Given::Yes
            }
        }
    )*};
}
lends_nothing!(Serving, Asking, Waiting);

/// What a server has. Its name goes first: it never leads to no service.
struct Serving {
    _found: Found,
    server: Port<Server>,
    places: Places,
}

/// What a client has.
struct Asking(Client);

/// An answer that is to come, until it is there: then what came stays, for each thread that asks.
struct Waiting {
    pending: Option<Port<PendingAnswer>>,
    bytes: usize,
    got: Option<Result<Box<[u8]>, AnswerError>>,
}

impl Waiting {
    /// What came, within that time. `None`: nothing.
    fn settle(&mut self, most: Duration) -> Option<Result<Box<[u8]>, AnswerError>> {
        if let Some(port) = &mut self.pending {
            let mut answer = vec![0; self.bytes];
            let got = port.get_mut().recv_timeout(&mut answer, most);
            if got == Err(AnswerError::Empty) {
                return None;
            }
            self.got = Some(got.map(|()| answer.into()));
            // Now another question may be asked in its place.
            self.pending = None;
        }
        self.got.clone()
    }
}

/// What a service says of its messages.
struct Types {
    question: MessageType,
    answer: MessageType,
}

impl Types {
    fn of(invitation: &Invitation, sides: &Sides<'_>, py: Python<'_>) -> PyResult<Self> {
        let found = service_types(invitation).map_err(|refused| sides.of_attach(py, &refused))?;
        Ok(Self { question: found.0, answer: found.1 })
    }

    fn told(&self) -> String {
        let one = |of: &MessageType| messages(of.schema(), of.bytes());
        format!("question {}, answer {}", one(&self.question), one(&self.answer))
    }

    /// The schema and the length of each.
    fn as_told(&self) -> [(Option<String>, usize); 2] {
        [&self.question, &self.answer].map(|of| (of.schema().map(ToString::to_string), of.bytes()))
    }
}

/// What came.
enum Got {
    Request(Box<Request>),
    Nothing,
    End,
}

/// The server of a service.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawServer {
    about: About,
    types: Types,
    invitation: Option<RawInvitation>,
    end: Arc<Held<Serving>>,
}

impl RawServer {
    fn told(&self, py: Python<'_>, got: Got) -> PyResult<Option<RawRequest>> {
        match got {
            Got::Request(request) => Ok(Some(RawRequest(Mutex::new(Some(OfThisProcess::new(*request)))))),
            Got::Nothing => Ok(None),
            Got::End => Err(end_of(py, &self.about.ring, false)),
        }
    }
}

#[pymethods]
impl RawServer {
    /// Receives a question. TimeoutError, ClosedError.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<RawRequest> {
        Limit::check(timeout)?;
        if let Some(request) = self.try_recv(py)? {
            return Ok(request);
        }
        let got = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            match end.server.get_mut().recv_timeout(slice) {
                Ok(request) => Some(Got::Request(request.into())),
                Err(RecvTimeoutError::Timeout) => None,
                Err(_) => Some(Got::End),
            }
        })?;
        self.told(py, got.unwrap_or(Got::Nothing))?.ok_or_else(|| late(py, &self.about.ring, timeout))
    }

    /// Receives a question without a wait; None if none is there. ClosedError.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Option<RawRequest>> {
        let got = self.end.now(py, |end| match end.server.get_mut().try_recv() {
            Ok(request) => Got::Request(request.into()),
            Err(TryRecvError::Closed) => Got::End,
            Err(_) => Got::Nothing,
        })?;
        self.told(py, got)
    }

    /// How many questions wait.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.server.get_ref().len())
    }

    /// How many clients are there.
    #[getter]
    fn clients(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.places.taken())
    }

    /// Whether clients are there: not_yet, alive, closed, dead.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.places.state()))
    }

    /// How many questions each client may have open.
    #[getter]
    fn open(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.server.get_ref().capacity())
    }

    /// The schema and the length of a question, and those of an answer.
    #[getter]
    fn types(&self) -> [(Option<String>, usize); 2] {
        self.types.as_told()
    }

    /// What this process joins by, if the service has no name.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Whether the handle, or the service, is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.server.get_ref().is_closed())
    }

    /// A descriptor that is readable when something can be received, after `arm`. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.end.now(py, |end| end.server.notifier().map(|notifier| notifier.as_raw_fd()))??)
    }

    /// Asks for a wake-up by the descriptor. False: something is there already.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        let armed = self.end.now(py, |end| end.server.notifier().map(annulus::Notifier::arm))??;
        Ok(armed == Readiness::Armed)
    }

    /// Closes the service, and refuses what was not received. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// A question that is to be answered. Its end refuses it.
#[pyclass(module = "annulus._annulus", frozen)]
pub(crate) struct RawRequest(Mutex<Option<OfThisProcess<Request>>>);

impl RawRequest {
    /// What `verb` says of the request, which is not answered yet.
    fn with<R>(&self, py: Python<'_>, verb: impl FnOnce(&Request) -> R) -> PyResult<R> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let request = held.as_ref().ok_or_else(|| answered(py))?;
        Ok(verb(request.get(py)?))
    }

    fn taken(&self, py: Python<'_>) -> PyResult<Request> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let request = held.as_ref().ok_or_else(|| answered(py))?;
        request.get(py)?;
        let request = held.take().expect("it was just there");
        Ok(request.into_inner())
    }
}

#[cold]
fn answered(py: Python<'_>) -> PyErr {
    error(py, Which::Base, "this request is answered or refused already: a question has one answer")
}

#[pymethods]
impl RawRequest {
    /// The question. AnnulusError: it is answered.
    fn question<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |request| PyBytes::new(py, request.question()))
    }

    /// Answers it, without a wait. False: the client is gone. ValueError: the answer has another length.
    fn answer(&self, py: Python<'_>, answer: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = self.with(py, Request::answer_bytes)?;
        let answer = ReadBuffer::of(answer, Length::One(bytes))?;
        Ok(self.taken(py)?.answer(answer.bytes()).is_ok())
    }

    /// Refuses it. Of one that is answered, it does nothing.
    fn refuse(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_over() { Ok(()) } else { self.taken(py).map(drop) }
    }

    /// Whether it is answered or refused.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Whether the client can still receive an answer.
    #[getter]
    fn is_client_there(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, Request::is_client_there)
    }
}

/// A client of a service.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawClient {
    about: About,
    types: Types,
    end: Arc<Held<Asking>>,
}

#[pymethods]
impl RawClient {
    /// Asks, without a wait. FullError: as many questions are open as may be. ClosedError. ValueError: the
    /// question has another length.
    fn ask(&self, py: Python<'_>, question: &Bound<'_, PyAny>) -> PyResult<RawPendingAnswer> {
        let question = ReadBuffer::of(question, Length::One(self.types.question.bytes()))?;
        let (question, ring) = (question.bytes(), &self.about.ring);
        let asked = self.end.now(py, |end| end.0.ask(question).map_err(|refused| (refused, end.0.open())))?;
        let pending = asked.map_err(|(refused, open)| match refused {
            AskError::Full(()) => error(
                py,
                Which::Full,
                format!("{open} questions to {ring} are open, as many as may be: receive an answer first"),
            ),
            _ => closed(py, false, &format!("{ring} is closed, or its server is gone: join the next one")),
        })?;
        let bytes = self.types.answer.bytes();
        let end = Held::new(Waiting { pending: Some(Port::Plain(pending)), bytes, got: None });
        Ok(RawPendingAnswer { ring: ring.clone(), end })
    }

    /// How many questions are open now.
    #[getter]
    fn open(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.0.open())
    }

    /// How many questions may be open.
    #[getter]
    fn most_open(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.0.capacity())
    }

    /// Whether the server's process is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.0.server()))
    }

    /// Whether the handle, or the service, is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.0.is_closed())
    }

    /// The schema and the length of a question, and those of an answer.
    #[getter]
    fn types(&self) -> [(Option<String>, usize); 2] {
        self.types.as_told()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Leaves the service. Answers that are to come can still be received. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// The answer to a question, which is to come.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawPendingAnswer {
    ring: String,
    end: Held<Waiting>,
}

impl RawPendingAnswer {
    fn told<'py>(
        &self,
        py: Python<'py>,
        got: Option<Result<Box<[u8]>, AnswerError>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let ring = &self.ring;
        match got {
            None => Ok(None),
            Some(Ok(answer)) => Ok(Some(PyBytes::new(py, &answer))),
            Some(Err(AnswerError::Refused)) => {
                Err(error(py, Which::Refused, format!("the server of {ring} has refused the question")))
            }
            Some(Err(AnswerError::Died)) => {
                Err(closed(py, true, &format!("the server of {ring} has died, and had not answered")))
            }
            Some(Err(other)) => Err(error(py, Which::Base, format!("{ring}: {other}"))),
        }
    }
}

#[pymethods]
impl RawPendingAnswer {
    /// The answer, for each call. TimeoutError; RefusedError; ClosedError: the server has died.
    #[pyo3(signature = (timeout=None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        Limit::check(timeout)?;
        if let Some(answer) = self.try_recv(py)? {
            return Ok(answer);
        }
        let got = self.end.wait(py, Limit::of(timeout)?, Waiting::settle)?;
        self.told(py, got)?.ok_or_else(|| late(py, &self.ring, timeout))
    }

    /// The answer without a wait; None if it is not there. The errors of `recv`.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let got = self.end.now(py, |end| end.settle(Duration::ZERO))?;
        self.told(py, got)
    }

    /// A descriptor that is readable when something can be received, after `arm`. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        let fd = self.end.now(py, |end| {
            let port = end.pending.as_mut()?;
            Some(port.notifier().map(|notifier| notifier.as_raw_fd()))
        })?;
        let there = || error(py, Which::Base, "the answer is there: ask for the descriptor before");
        Ok(fd.ok_or_else(there)??)
    }

    /// Asks for a wake-up by the descriptor. False: the answer is there already.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        let armed = self.end.now(py, |end| match &mut end.pending {
            Some(port) => port.notifier().map(annulus::Notifier::arm),
            None => Ok(Readiness::Ready),
        })??;
        Ok(armed == Readiness::Armed)
    }

    /// Gives the answer up. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// Makes a service, with places for so many clients, each with so many open questions, and its server.
#[pyfunction]
#[pyo3(signature = (name, directory, open, clients, question=None, question_bytes=None, answer=None, answer_bytes=None, wait="block"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_service(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_open)] open: usize,
    #[pyo3(from_py_with = whole_clients)] clients: usize,
    question: Option<&str>,
    question_bytes: Option<usize>,
    answer: Option<&str>,
    answer_bytes: Option<usize>,
    wait: &str,
) -> PyResult<RawServer> {
    let question = message_type(py, question, question_bytes, 1)?;
    let answer = message_type(py, answer, answer_bytes, 1)?;
    let builder = Builder::new(settings(open, wait)?).clients(clients);
    let sides = Sides { name, ..Sides::default() };
    let made = Server::new(builder, &question, &answer).map_err(|refused| sides.of_open(py, &refused))?;
    let Shared { handle: server, peers: places, invitation, .. } = made;
    let types = Types::of(&invitation, &sides, py)?;
    let (about, found) = introduced(py, name, directory, invitation)?;
    let invitation = found.invitation();
    let end = Arc::new(Held::new(Serving { _found: found, server: Port::Plain(server), places }));
    let weak: Weak<Held<Serving>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawServer { about, types, invitation, end })
}

/// Joins a service as a client. Waits for it so long.
#[pyfunction]
#[pyo3(signature = (name, directory=None, question=None, question_bytes=None, answer=None, answer_bytes=None, wait="block", timeout=Some(0.0)))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn join_service(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    question: Option<&str>,
    question_bytes: Option<usize>,
    answer: Option<&str>,
    answer_bytes: Option<usize>,
    wait: &str,
    timeout: Option<f64>,
) -> PyResult<RawClient> {
    let strategy = strategy(wait)?;
    let invitation = invitation(py, &name, directory, timeout)?;
    let name = name.name();
    let info = info_of(py, name, &invitation)?;
    let found = Types::of(&invitation, &Sides { name, ..Sides::default() }, py)?;
    let wanted = |schema: Option<&str>, bytes: Option<usize>, found: &MessageType| match (schema, bytes) {
        (None, None) => Ok(found.clone()),
        _ => message_type(py, schema, bytes, 1),
    };
    let wanted = Types {
        question: wanted(question, question_bytes, &found.question)?,
        answer: wanted(answer, answer_bytes, &found.answer)?,
    };
    let sides = Sides { name, found: found.told(), wanted: wanted.told() };
    let joined = Client::join(&invitation, &wanted.question, &wanted.answer, strategy);
    let client = joined.map_err(|refused| sides.of_open(py, &refused))?;
    let end = Arc::new(Held::new(Asking(client)));
    let weak: Weak<Held<Asking>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawClient { about: About::of(name, &info), types: found, end })
}

/// Gives the module its classes and functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawServer>()?;
    module.add_class::<RawRequest>()?;
    module.add_class::<RawClient>()?;
    module.add_class::<RawPendingAnswer>()?;
    module.add_function(wrap_pyfunction!(make_service, module)?)?;
    module.add_function(wrap_pyfunction!(join_service, module)?)
}
