//! [`Received`]: what a subscriber of a name has received: a message, or a word about who publishes.

use super::liveness::PeerState;
use super::process::ProcessId;
use crate::message::schema::BadValue;

/// What a [`NamedSubscriber`](super::NamedSubscriber) has received: a message, or word of a change.
///
/// The messages of one publisher come between its `Began` and its `Ended`. So a change of publishers is told
/// as an `Ended` and the next `Began`, each once. How many messages were published between them by others is
/// not known. What is lost within the ring of one publisher is counted (`Lagged`).
///
/// ```
/// use annulus::shm::Received;
///
/// fn show(received: Received<u64>) -> String {
///     match received {
///         Received::Message(number) => format!("{number}"),
///         Received::Lagged { skipped } => format!("{skipped} lost"),
///         Received::Corrupt(bad) => format!("no message: {bad}"),
///         Received::Began { process, missed } => format!("{process} publishes, and has {missed} behind it"),
///         Received::Ended { process, state } => format!("{process} is {state}"),
///     }
/// }
/// assert_eq!(show(Received::Message(7)), "7");
/// assert_eq!(show(Received::Lagged { skipped: 3 }), "3 lost");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Received<T> {
    /// A message.
    Message(T),
    /// The subscriber fell behind: the publisher overwrote this many messages before they were received. Each
    /// lost message is told exactly once, in order: those before it were received, and the next one comes
    /// after the gap.
    Lagged {
        /// How many messages were lost since the last receive, at least one.
        skipped: u64,
    },
    /// The publisher has written something that is no message. The subscriber goes on behind it.
    Corrupt(BadValue),
    /// The ring of this publisher was joined.
    Began {
        /// Its process.
        process: ProcessId,
        /// How many messages it had published that are not received: those before the message with which the
        /// subscriber begins.
        missed: u64,
    },
    /// The publisher has ended. All that it had published since its `Began` was received, or told as
    /// lagged or corrupt.
    Ended {
        /// Its process.
        process: ProcessId,
        /// [`Closed`](PeerState::Closed) if it has closed the ring, [`Dead`](PeerState::Dead) if its process
        /// has ended without that.
        state: PeerState,
    },
}
