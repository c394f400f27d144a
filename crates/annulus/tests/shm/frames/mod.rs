//! Frames, which are written once and read in place by all.
//!
//! ```text
//! one_process.rs  what a frame is, who holds which, what is lost
//! lossless.rs     rings whose publisher waits, in one process and between them; companions
//! processes.rs    subscribers and publishers that are killed and stopped; child.rs is one
//! hostile.rs      tables and cells in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod hostile;
mod lossless;
mod one_process;
mod processes;

use annulus::Settings;
use annulus::shm::frames::{Builder, Frame, Publisher};
use annulus::shm::{Invitation, Shared};

/// A ring of frames for `subscribers` that hold up to `held` of them.
fn ring(capacity: usize, frame_bytes: usize, subscribers: usize, held: usize) -> (Publisher, Invitation) {
    let builder = Builder::new(Settings::new(capacity), frame_bytes).subscribers(subscribers).held(held);
    let Shared { handle, invitation, .. } = builder.build().unwrap();
    (handle, invitation)
}

/// Writes the next frame: its number, and bytes that follow from it. Its length changes.
fn publish(publisher: &mut Publisher) -> u64 {
    let (number, most) = (publisher.published(), publisher.frame_bytes());
    let len = 8 + (number as usize * 97) % (most - 7);
    let mut frame = publisher.loan(len).unwrap();
    frame[..8].copy_from_slice(&number.to_ne_bytes());
    frame[8..].fill((number % 251) as u8);
    assert_eq!(frame.publish(), number);
    number
}

/// One for each of these numbers.
fn publish_all(publisher: &mut Publisher, numbers: impl IntoIterator) {
    numbers.into_iter().for_each(|_| {
        publish(publisher);
    });
}

/// The frame is whole, and the one of its number.
fn check(frame: &Frame) {
    let bytes = frame.to_vec();
    let number = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(number, frame.sequence());
    let wanted = (number % 251) as u8;
    assert!(bytes[8..].iter().all(|&byte| byte == wanted), "torn: {number}");
}
