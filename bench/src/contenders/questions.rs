//! Services between processes: questions that one process asks, and another one answers.
//!
//! A question, and an answer, is words that all have one value: each side writes all of them, and looks at
//! every one.

use std::os::unix::net::UnixStream;

use annulus::shm::{Invitation, Shared, service};

use super::between::{THERE, receive};
use crate::messages::is_all;

/// A service of one client.
pub trait Questions {
    type Server: Answers;
    type Client: Asks;
    /// What the client needs.
    type Offer;
    /// Of a service that has room for so many open questions.
    fn serve(open: usize) -> (Self::Server, Self::Offer);
    fn offer(offer: &Self::Offer, socket: &UnixStream);
    /// In the process to which it was offered.
    fn join(socket: &UnixStream) -> Self::Client;
}

pub trait Answers {
    /// Answers the next question, if one is there, with its own value, and says whether it was.
    fn poll(&mut self) -> bool;
}

pub trait Asks {
    /// A question whose answer is to come.
    type Pending;
    fn ask(&mut self, value: u64) -> Self::Pending;
    /// Looks whether the answer is there, which has to be of this value.
    fn is_answered(pending: &mut Self::Pending, value: u64) -> bool;
}

/// Ours, of so many words each way.
pub enum Service<const WORDS: usize> {}

impl<const WORDS: usize> Questions for Service<WORDS> {
    type Server = service::Server<[u64; WORDS], [u64; WORDS]>;
    type Client = service::Client<[u64; WORDS], [u64; WORDS]>;
    type Offer = Invitation;

    fn serve(open: usize) -> (Self::Server, Invitation) {
        let made = service::Builder::new(annulus::Settings::new(open)).clients(1).build();
        let Shared { handle: server, invitation, .. } = made.expect("such a service can be made");
        (server, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::Client {
        service::client(&receive(socket)).expect("it is such a service").0
    }
}

impl<const WORDS: usize> Answers for service::Server<[u64; WORDS], [u64; WORDS]> {
    #[inline(always)]
    fn poll(&mut self) -> bool {
        let Ok(request) = self.try_recv() else { return false };
        let value = request.question()[0];
        assert!(is_all(request.question(), value));
        request.answer([value; WORDS]).expect(THERE);
        true
    }
}

impl<const WORDS: usize> Asks for service::Client<[u64; WORDS], [u64; WORDS]> {
    type Pending = service::PendingAnswer<[u64; WORDS]>;

    #[inline(always)]
    fn ask(&mut self, value: u64) -> Self::Pending {
        service::Client::ask(self, [value; WORDS]).expect(THERE)
    }

    #[inline(always)]
    fn is_answered(pending: &mut Self::Pending, value: u64) -> bool {
        pending.try_recv().inspect(|answer| assert!(is_all(answer, value))).is_ok()
    }
}
