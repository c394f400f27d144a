//! A run in several processes (Linux): the feed, the subscribers with their strategies, and the gateway.
//!
//! The process that the user starts is the feed. It starts the others: this program again, each for one part.
//! They meet at rings by name. The feed gives its ring of quotes a name, the gateway its queue of orders; a
//! subscriber finds both. What each does then is what its thread does in one process (decision 0112).
//!
//! Only where the user wants to see the feed killed it is a process of its own, and the user's process
//! reports.
//!
//! The feed has a socket to each of the others. Through it they are told what to do, and tell that they have
//! joined, and what they have received. The end of a socket is the end of the process at its other side: so
//! the feed learns of a death, and no process continues without the feed.
//!
//! ```text
//! meeting      the names, and how a signal ends the demo
//! crew         the feed's side: the processes that it starts, and what all runs have in common
//! part         the others' side
//! word         what they tell each other
//! ring         the ring of quotes, lossy or lossless, and its name, which two threads may take back
//! victim       the one that `--kill` ends, and what the rings say of it
//! ```

mod crew;
mod meeting;
mod part;
mod ring;
mod victim;
mod word;

pub(super) use meeting::Meeting;
pub(super) use part::play;

use std::fmt;

use crate::outcome::Failure;

fn failed(error: &dyn fmt::Display) -> Failure {
    Failure::new(error.to_string())
}
