//! What the handles of services have, over the ends of `shm::dynamic` of the Rust library.

use std::sync::Arc;

use annulus::schema::Checker;
use annulus::shm;
use annulus::shm::dynamic;
use annulus::shm::service::{AnswerError, AskError, Builder, Places};
use annulus::{RecvTimeoutError, TryRecvError};

use super::error::Shared;
use super::linux::{Invitation, state};
use super::options::SharedOptions;
use crate::notified::Notified;
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::Done;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_CORRUPT, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_INVALID, ANNULUS_PEER_DIED,
    ANNULUS_REFUSED, ANNULUS_TIMEOUT,
};
use crate::tsan::{self, Order};

/// Whether another process has written a message of the schema.
fn is_message(checks: Option<&Arc<Checker>>, bytes: &[u8]) -> bool {
    checks.is_none_or(|checker| checker.is_message(bytes))
}

pub(crate) struct Server {
    end: Notified<dynamic::Server>,
    places: Places,
    checks: Option<Arc<Checker>>,
    order: Order,
}

pub(crate) struct Request {
    end: dynamic::Request,
    order: Order,
}

pub(crate) struct Client {
    end: dynamic::Client,
    /// Of answers.
    checks: Option<Arc<Checker>>,
    order: Order,
}

pub(crate) struct PendingAnswer {
    end: Notified<dynamic::PendingAnswer>,
    answer: Box<[u8]>,
    checks: Option<Arc<Checker>>,
    order: Order,
}

pub(crate) fn server(questions: &SharedOptions, answers: &SharedOptions) -> Shared<(Server, Invitation)> {
    questions.promise_nothing()?;
    let builder = Builder::new(questions.settings()).clients(questions.places);
    let shm::Shared { handle: end, peers: places, invitation, .. } =
        dynamic::Server::new(builder, &questions.messages(), &answers.messages())?;
    let checks = questions.checks();
    Ok((Server { end: Notified::Not(end), places, checks, order: Order::across() }, Invitation(invitation)))
}

pub(crate) fn client(
    invitation: &Invitation,
    questions: &SharedOptions,
    answers: &SharedOptions,
) -> Shared<Client> {
    let (question, answer) = (questions.messages(), answers.messages());
    let end = dynamic::Client::join(&invitation.0, &question, &answer, questions.ring.strategy)?;
    Ok(Client { end, checks: answers.checks(), order: Order::across() })
}

impl Server {
    pub(crate) fn question_bytes(&self) -> usize {
        self.end.look().question_bytes()
    }

    pub(crate) fn recv(&mut self, patience: Patience) -> Done<Request> {
        let server = self.end.receiver();
        let end = match patience {
            Patience::None => server.try_recv().map_err(|error| match error {
                TryRecvError::Closed => ANNULUS_CLOSED,
                TryRecvError::Empty => ANNULUS_EMPTY,
            }),
            Patience::Endless => server.recv().map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => server.recv_timeout(timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            }),
        }?;
        self.order.after_receive();
        // (Its drop refuses it.)
        if !is_message(self.checks.as_ref(), end.question()) {
            return Err(ANNULUS_CORRUPT);
        }
        Ok(Request { end, order: Order::across() })
    }

    pub(crate) fn clients(&self) -> usize {
        self.places.taken()
    }

    pub(crate) fn close(&self) {
        tsan::before_end();
        self.end.look().closer().close();
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        self.end.arm()
    }
}

impl Request {
    pub(crate) fn question(&self) -> &[u8] {
        self.end.question()
    }

    pub(crate) fn answer_bytes(&self) -> usize {
        self.end.answer_bytes()
    }

    pub(crate) fn is_client_there(&self) -> bool {
        self.end.is_client_there()
    }

    /// Whether the client was there.
    pub(crate) fn answer(self, answer: &[u8]) -> bool {
        self.order.before_send();
        self.end.answer(answer).is_ok()
    }
}

impl Client {
    pub(crate) fn question_bytes(&self) -> usize {
        self.end.question_bytes()
    }

    pub(crate) fn ask(&mut self, question: &[u8]) -> Done<PendingAnswer> {
        self.order.before_send();
        let end = self.end.ask(question).map_err(|error| match error {
            AskError::Full(()) => ANNULUS_FULL,
            _ => ANNULUS_CLOSED,
        })?;
        let answer = vec![0; end.answer_bytes()].into();
        let (checks, order) = (self.checks.clone(), Order::across());
        Ok(PendingAnswer { end: Notified::Not(end), answer, checks, order })
    }

    pub(crate) fn open(&self) -> usize {
        self.end.open()
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        state(self.end.server())
    }
}

impl PendingAnswer {
    pub(crate) fn answer_bytes(&self) -> usize {
        self.answer.len()
    }

    pub(crate) fn recv(&mut self, patience: Patience) -> Done<&[u8]> {
        let (end, answer) = (self.end.receiver(), &mut self.answer);
        let received = match patience {
            Patience::None => end.try_recv(answer),
            Patience::Endless => end.recv(answer),
            Patience::For(timeout) => end.recv_timeout(answer, timeout),
        };
        self.order.after_receive();
        received.map_err(|error| match error {
            AnswerError::Empty if matches!(patience, Patience::None) => ANNULUS_EMPTY,
            AnswerError::Empty => ANNULUS_TIMEOUT,
            AnswerError::Refused => ANNULUS_REFUSED,
            AnswerError::Died => ANNULUS_PEER_DIED,
            AnswerError::Corrupt(_) => ANNULUS_CORRUPT,
            _ => ANNULUS_INVALID,
        })?;
        if is_message(self.checks.as_ref(), &self.answer) { Ok(&self.answer) } else { Err(ANNULUS_CORRUPT) }
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        self.end.arm()
    }
}
