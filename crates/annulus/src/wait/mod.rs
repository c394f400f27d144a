//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.

mod deadline;
#[cfg(feature = "std")]
mod event;
#[cfg(not(feature = "std"))]
#[path = "no_event.rs"]
mod event;
#[cfg(feature = "std")]
mod fence;
mod mark;
mod pace;
#[cfg(feature = "std")]
mod park;
mod patience;
mod spin;
mod strategy;
mod until;

pub(crate) use deadline::Deadline;
pub(crate) use event::Event;
#[cfg(feature = "std")]
pub use fence::prepare;
pub(crate) use mark::{Mark, Marked};
pub(crate) use pace::Pace;
pub(crate) use patience::Patience;
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
pub(crate) use until::{Look, Wait, wait_until};
