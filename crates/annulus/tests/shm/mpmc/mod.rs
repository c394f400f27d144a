//! Queues of several consumers: each message once, whichever process dies.
//!
//! ```text
//! one_process.rs  all sides in one process: claims, give-backs, rooms, ends
//! processes.rs    producers and consumers that are killed and stopped; child.rs is one
//! hostile.rs      memory in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod hostile;
mod one_process;
mod processes;

use std::time::Duration;

use annulus::Settings;
use annulus::shm::mpmc::{self, Builder, Consumer, Producer, Queue};
use annulus::shm::{Invitation, Shared};

/// A hang, and no luck.
const LONG: Duration = Duration::from_secs(60);

/// Its producer, its number, and what follows from both.
pub(crate) type Job = [u64; 3];

pub(crate) fn job(producer: u64, number: u64) -> Job {
    [producer, number, number.rotate_left(32) ^ producer]
}

/// The job is whole. Its producer and its number.
pub(crate) fn read(&[producer, number, proof]: &Job) -> (u64, u64) {
    assert_eq!(proof, number.rotate_left(32) ^ producer, "torn");
    (producer, number)
}

fn made(builder: Builder) -> (Queue<Job>, Invitation) {
    let Shared { handle, invitation, .. } = builder.build().unwrap();
    (handle, invitation)
}

fn of_slots(slots: usize) -> Builder {
    Builder::new(Settings::new(slots))
}

fn producer(invitation: &Invitation) -> Producer<Job> {
    mpmc::producer(invitation).unwrap()
}

fn consumer(invitation: &Invitation) -> Consumer<Job> {
    mpmc::consumer(invitation).unwrap()
}
