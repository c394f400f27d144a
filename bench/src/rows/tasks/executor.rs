//! Where the tasks of a row run.

/// Workers of an executor.
pub const ONE: usize = 1;
pub const TWO: usize = 2;

/// The rounds of a row, since the rows are many.
pub const ROUNDS: usize = 9;

/// In the name of a row, and for its reader.
pub fn names(workers: usize) -> (&'static str, &'static str) {
    match workers {
        ONE => ("one thread", "on one thread"),
        _ => ("two workers", "on two worker threads that take each other's tasks"),
    }
}
