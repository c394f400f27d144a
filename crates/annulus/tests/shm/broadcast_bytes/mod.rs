//! Records of any length to many subscribers.
//!
//! ```text
//! one_process.rs  what is received and lost, beside a subscriber of the publisher's process
//! lossless.rs     a publisher that waits for subscribers
//! processes.rs    subscribers and publishers that are killed and stopped; child.rs is one
//! lossless_processes.rs  the same, where the publisher waits
//! hostile.rs      cells, extents, stamps, seats and words in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod hostile;
mod lossless;
mod lossless_processes;
mod one_process;
mod processes;

use annulus::Settings;
use annulus::broadcast::bytes::{Publisher, Subscribable};
use annulus::shm::broadcast;
use annulus::shm::{Invitation, Shared};

/// A ring of so many bytes, with what makes subscribers of its own process.
fn ring(capacity: usize) -> (Publisher, Subscribable, Invitation) {
    let Shared { handle, peers, invitation, .. } = broadcast::bytes::lossy(Settings::new(capacity)).unwrap();
    (handle, peers, invitation)
}

/// The record of that number: some are empty, and each longer one tells its number and its length.
fn record(number: u64, most: usize) -> Vec<u8> {
    let length = (number as usize * 97 + number as usize / 7) % (most + 1);
    let mut record = vec![(number % 251) as u8; length];
    if let Some(front) = record.first_chunk_mut::<8>() {
        *front = number.to_ne_bytes();
    }
    record
}

fn publish(publisher: &mut Publisher) -> u64 {
    let number = publisher.published();
    publisher.publish(&record(number, publisher.max_len())).unwrap();
    number
}

/// The record is whole, and the one of its number.
fn check(buffer: &[u8], number: u64, most: usize) {
    assert!(buffer == record(number, most), "torn, or another record: {number}");
}
