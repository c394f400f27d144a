//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.

mod deadline;
#[cfg(any(feature = "std", feature = "async"))]
mod event;
#[cfg(not(any(feature = "std", feature = "async")))]
#[path = "no_event.rs"]
mod event;
#[cfg(any(feature = "std", feature = "async"))]
mod fence;
mod flag;
#[cfg(feature = "std")]
mod give_way;
mod look;
#[cfg(any(feature = "std", feature = "async"))]
mod park;
mod reader_backoff;
mod spin;
mod strategy;
#[cfg(feature = "async")]
mod task;
mod until;
#[cfg(feature = "async")]
mod waiters;
#[cfg(all(feature = "std", not(feature = "async")))]
#[path = "no_waiters.rs"]
mod waiters;
mod writer_backoff;

pub(crate) use deadline::Deadline;
pub(crate) use event::Event;
#[cfg(feature = "std")]
pub use fence::prepare;
pub(crate) use flag::{Flag, HasFlags};
pub(crate) use look::Look;
pub(crate) use reader_backoff::ReaderBackoff;
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
#[cfg(feature = "async")]
pub(crate) use task::{Streaming, Waiting};
pub(crate) use until::{Wait, wait_until};
pub(crate) use writer_backoff::{WriterBackoff, preferred_slots};
