//! Tasks of an executor that wait for each other by async verbs.
//!
//! ```text
//! round_trip  a message to another task, and its answer back
//! stream      messages one after the other, from one task or eight
//! floor       a task that wakes another
//! ```
//!
//! What a thread does that waits for several things at once, and what an event loop waits for, are rows of
//! the same group in modules beside this one.

mod floor;
mod round_trip;
mod stream;

use crate::row::Row;

/// Where the tasks run, for the name of a row and for its reader.
const ONE_THREAD: (&str, &str) = ("one thread", "on one thread");
const TWO_WORKERS: (&str, &str) = ("two workers", "on two worker threads that take each other's tasks");

/// The rounds of a row, since the rows are many.
const ROUNDS: usize = 9;

pub fn rows() -> Vec<Row> {
    let mut rows = round_trip::rows();
    rows.extend(stream::rows());
    rows
}
