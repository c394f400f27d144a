//! The newest values.
//!
//! ```text
//! one_process.rs  what is read, and what a reader is told
//! processes.rs    senders and receivers that are killed and stopped; child.rs is one
//! hostile.rs      headers, slots, keys and notices in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod hostile;
mod one_process;
mod processes;

use annulus::Settings;
use annulus::shm::watch::{AcceptedWatch, Sender};
use annulus::shm::{Invitation, Shared, watch};

/// A value of this number: all of it follows from that.
type Large = [u64; 40];

fn value(number: u64) -> Large {
    std::array::from_fn(|word| number.wrapping_mul(word as u64 + 1))
}

/// The number of a value, which is whole.
#[track_caller]
fn number_of(found: &Large) -> u64 {
    assert_eq!(*found, value(found[0]), "torn");
    found[0]
}

/// A table of so many cells, and a reader of the same process.
fn table(cells: usize) -> (Sender<Large>, AcceptedWatch<Large>, Invitation) {
    let Shared { handle, invitation, .. } = watch::table(Settings::new(cells)).unwrap();
    let reader = invitation.accept_watch().unwrap();
    (handle, reader, invitation)
}
