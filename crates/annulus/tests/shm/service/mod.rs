//! Questions, and answers in any order.
//!
//! ```text
//! one_process.rs  all sides in one process: answers, refusals, places, types
//! processes.rs    servers and clients that are killed and stopped; child.rs is one
//! at_run_time.rs  sides that know the types by their schemas only
//! named.rs        several servers behind one name
//! hostile.rs      memory in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod at_run_time;
mod child;
mod hostile;
mod named;
mod one_process;
mod processes;

use annulus::Settings;
use annulus::shm::service::{self, Builder, Client, Places, Server};
use annulus::shm::{Invitation, Shared};

/// Its client, its number, and what follows from both.
pub(crate) type Question = [u64; 3];

/// The question, and what follows from it.
pub(crate) type Answer = [u64; 5];

pub(crate) fn question(client: u64, number: u64) -> Question {
    [client, number, number.rotate_left(32) ^ client]
}

/// The question is whole. Its answer.
pub(crate) fn answer_to(asked: &Question) -> Answer {
    let [client, number, _] = *asked;
    assert_eq!(*asked, question(client, number), "torn");
    [client, number, !number, client.wrapping_mul(3), number.wrapping_mul(7)]
}

/// A service for so many clients, each with so many open questions.
fn new_service(open: usize, clients: usize) -> (Server<Question, Answer>, Places, Invitation) {
    let builder = Builder::new(Settings::new(open)).clients(clients);
    let Shared { handle, peers, invitation, .. } = builder.build().unwrap();
    (handle, peers, invitation)
}

fn joined(invitation: &Invitation) -> Client<Question, Answer> {
    service::client(invitation).unwrap().0
}

/// Answers all that is there. How many were answered.
fn answer_all(server: &mut Server<Question, Answer>) -> usize {
    let mut count = 0;
    while let Ok(request) = server.try_recv() {
        let answer = answer_to(&request);
        count += usize::from(request.answer(answer).is_ok());
    }
    count
}
