//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.

mod deadline;
#[cfg(feature = "std")]
mod event;
#[cfg(not(feature = "std"))]
#[path = "no_event.rs"]
mod event;
#[cfg(feature = "std")]
mod fence;
mod flag;
#[cfg(feature = "std")]
mod give_way;
mod look;
#[cfg(feature = "std")]
mod park;
mod reader_backoff;
mod spin;
mod strategy;
mod until;
mod writer_backoff;

pub(crate) use deadline::Deadline;
pub(crate) use event::Event;
#[cfg(feature = "std")]
pub use fence::prepare;
pub(crate) use flag::{Flag, HasFlags};
pub(crate) use look::Look;
pub(crate) use reader_backoff::ReaderBackoff;
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
pub(crate) use until::{Wait, wait_until};
pub(crate) use writer_backoff::{WriterBackoff, preferred_slots};
