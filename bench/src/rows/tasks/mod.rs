//! Tasks of an executor that wait for each other by async verbs.
//!
//! ```text
//! round_trip  a message to another task, and its answer back
//! stream      messages one after the other, from one task or eight
//! floor       a task that wakes another
//! executor    where the tasks run
//! ```
//!
//! What a thread does that waits for several things at once, and what a worker waits for, are rows of
//! the same group in modules beside this one.

mod executor;
mod floor;
mod round_trip;
mod stream;

use crate::row::Row;

pub fn rows() -> Vec<Row> {
    let mut rows = round_trip::rows();
    rows.extend(stream::rows());
    rows
}
