//! Closing from any thread: one ring, or many.

mod closer;
mod shutdown;

pub use closer::Closer;
pub(crate) use closer::{Close, Told};
pub use shutdown::Shutdown;
