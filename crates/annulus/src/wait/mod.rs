//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.

#[cfg(feature = "std")]
mod any;
#[cfg(feature = "std")]
mod arms;
#[cfg(feature = "std")]
mod control;
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
#[cfg(feature = "std")]
mod parker;
mod reader_backoff;
#[cfg(any(feature = "std", feature = "async"))]
mod relay;
#[cfg(any(feature = "std", feature = "async"))]
mod seat;
#[cfg(feature = "std")]
mod sending;
#[cfg(any(feature = "std", feature = "async"))]
mod source;
mod spin;
mod strategy;
#[cfg(feature = "async")]
mod task;
mod until;
#[cfg(any(feature = "std", feature = "async"))]
mod waiters;
#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod woken;
mod writer_backoff;

#[cfg(feature = "std")]
pub use any::Place;
#[cfg(feature = "std")]
pub(crate) use any::{Arm, Arms, wait_for_any};
#[cfg(feature = "std")]
pub use arms::Choice;
#[cfg(feature = "std")]
pub(crate) use arms::Finding;
#[cfg(feature = "std")]
pub(crate) use arms::Ready;
#[cfg(feature = "std")]
pub(crate) use control::{Control, Lending, NextOrStop, Stop, pass_on};
pub(crate) use deadline::Deadline;
pub(crate) use event::Event;
#[cfg(feature = "std")]
pub use fence::prepare;
pub(crate) use flag::{Flag, HasFlags};
pub(crate) use look::Look;
pub(crate) use reader_backoff::ReaderBackoff;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use relay::Relay;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use seat::Seat;
#[cfg(feature = "std")]
pub use sending::SendChoice;
#[cfg(feature = "std")]
pub(crate) use sending::Sending;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use source::{Next, Source, Take};
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
#[cfg(feature = "async")]
pub(crate) use task::{Streaming, Waiting};
pub(crate) use until::{Wait, wait_until};
pub(crate) use writer_backoff::{WriterBackoff, preferred_slots};
