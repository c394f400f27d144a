//! What the feed tells another process, and what that tells the feed: a line of JSON each.

use serde::{Deserialize, Serialize};

use crate::demo::gateway::Books;
use crate::demo::strategy::Windows;
use crate::demo::subscriber::Receipt;

/// What a process is to do. The first and only line that the feed sends.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) role: Role,
    /// The name of the ring of quotes.
    pub(super) quotes: String,
    /// The name of the queue of orders.
    pub(super) orders: String,
    /// The names of the symbols, by index.
    pub(super) symbols: Vec<String>,
    /// All strategies, by index.
    pub(super) strategies: Vec<Windows>,
}

/// Which part it is.
#[derive(Serialize, Deserialize)]
pub(super) enum Role {
    /// It makes the ring, publishes the first half of so many quotes, and waits to be killed.
    Feed { slots: usize, subscribers: usize, lossless: bool, quotes: u64, rate: Option<f64> },
    Gateway {
        /// How far a strategy may be ahead of it.
        slots: usize,
        /// Whether it writes the orders to its standard output.
        writes: bool,
    },
    Subscriber {
        /// Whether the feed waits for it.
        lossless: bool,
        /// The indexes of its strategies.
        team: Vec<u16>,
        /// Whether it is to say now and then how far it is.
        is_watched: bool,
    },
}

/// What a process tells the feed.
#[derive(Serialize, Deserialize)]
pub(super) enum Word {
    /// It has found its rings: the feed may begin.
    Joined,
    /// So many quotes are behind it, or published.
    Passed(u64),
    /// A feed has published a half of its quotes, the first one at that time. The last that it says.
    Middle { start_ns: u64 },
    /// An order can't be written: the feed is to stop.
    CannotWrite,
    /// What a subscriber received. The last that it says.
    Received(Box<Receipt>),
    /// What the gateway received, and why it could not write it all. The last that it says.
    Booked(Books, Option<String>),
    /// Why it can't do its part. The last that it says.
    Failed(String),
}
