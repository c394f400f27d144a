//! Waiting for several handles at once.

mod chosen;
mod macros;
mod ready;

pub use chosen::{Choices, Chosen, Limit, Receiving, select, send};
pub use ready::Select;

pub use crate::wait::{Choice, Listening};
