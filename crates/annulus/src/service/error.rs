//! Why a question is not asked ([`AskError`]), why there is no answer ([`AnswerError`]), and why an answer
//! is not given ([`ClientGone`]): in one process, and [between processes](crate::shm::service).

use core::error::Error;
use core::fmt;

use crate::message::schema::BadValue;

/// Why a question was not asked. This gives it back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError<Q> {
    /// As many questions of this client are open as may be: receive an answer, or wait until the server has
    /// answered one that nobody waits for.
    Full(Q),
    /// The server has closed the service, or is gone.
    Closed(Q),
}

impl<Q> AskError<Q> {
    /// The question.
    pub fn into_inner(self) -> Q {
        match self {
            Self::Full(question) | Self::Closed(question) => question,
        }
    }
}

impl<Q> fmt::Display for AskError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => {
                "as many questions are open as the service has room for: receive an answer first"
            }
            Self::Closed(_) => {
                "the service is closed, or its server is gone (between processes: look for its name again)"
            }
        })
    }
}

/// Does not show the question, which may be a closure.
impl<Q> fmt::Debug for AskError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<Q> Error for AskError<Q> {}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is not there yet, or it has not come in time.
    Empty,
    /// The server has dropped the request, or has closed the service without receiving it.
    Refused,
    /// The process of the server has ended, and had not answered. Only between processes.
    Died,
    /// What lies there is no answer: another process has written what it must not. Only between processes.
    Corrupt(BadValue),
    /// It was received before.
    Taken,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the answer is not there yet"),
            Self::Refused => f.write_str("the server has refused the question"),
            Self::Died => f.write_str("the server has died before it answered: look for its name again"),
            Self::Corrupt(bad) => bad.fmt(f),
            Self::Taken => f.write_str("the answer was received before"),
        }
    }
}

impl Error for AnswerError {}

/// The client is gone, and receives no answer. This gives the answer back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClientGone<A>(pub A);

impl<A> fmt::Display for ClientGone<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client that has asked is gone")
    }
}

/// Does not show the answer, which may be a closure.
impl<A> fmt::Debug for ClientGone<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientGone(..)")
    }
}

impl<A> Error for ClientGone<A> {}
