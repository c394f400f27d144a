//! Closing from any thread: one ring, or many.

mod closer;
mod shutdown;

pub(crate) use closer::Close;
pub use closer::Closer;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use closer::NotifyOnClose;
pub use shutdown::Shutdown;
