//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.
//!
//! ```text
//! until      wait_until: poll, spin, sleep, whichever family asks
//! strategy   WaitStrategy, the public choice
//! spin       one turn of a spinning strategy
//! patience   how a writer waits for room
//! pace       how a reader stays behind a writer
//! event      the eventcount: one word that says whether anybody sleeps
//! mark       what else that word says
//! park       sleep until a word changes: futex, or a lock and a condition variable
//! fence      the light fence of the waker and the heavy one of the sleeper
//! ```

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
