//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.

#[cfg(feature = "std")]
mod any;
#[cfg(feature = "std")]
mod arms;
#[cfg(any(feature = "std", feature = "async"))]
mod cohorts;
#[cfg(any(feature = "std", feature = "async"))]
mod contain;
#[cfg(feature = "std")]
mod control;
mod deadline;
#[cfg(any(feature = "std", feature = "async"))]
mod event_count;
#[cfg(not(any(feature = "std", feature = "async")))]
#[path = "no_event_count.rs"]
mod event_count;
#[cfg(any(feature = "std", feature = "async"))]
mod fence;
mod flag;
#[cfg(feature = "std")]
mod give_way;
mod latch;
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod late;
#[cfg(all(
    any(feature = "std", feature = "async"),
    not(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))
))]
#[path = "no_late.rs"]
mod late;
#[cfg(any(feature = "std", feature = "async"))]
mod listener;
mod look;
mod own;
#[cfg(any(feature = "std", feature = "async"))]
mod park;
#[cfg(feature = "std")]
mod parker;
mod pauses;
mod reader_backoff;
#[cfg(any(feature = "std", feature = "async"))]
mod relay;
#[cfg(feature = "shm")]
mod remote;
#[cfg(all(not(feature = "shm"), any(feature = "std", feature = "async")))]
#[path = "no_remote.rs"]
mod remote;
#[cfg(feature = "shm")]
mod remote_tasks;
#[cfg(feature = "shm")]
mod remote_word;
#[cfg(feature = "std")]
mod sending;
mod sleepers;
mod source;
mod spin;
mod strategy;
#[cfg(feature = "async")]
mod task;
mod until;
mod waiter;
#[cfg(any(feature = "std", feature = "async"))]
mod waiters;
mod watch;
#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod woken;
mod writer_backoff;

#[cfg(feature = "std")]
pub use any::Listening;
#[cfg(feature = "std")]
pub(crate) use any::{Arm, Arms, wait_for_any};
#[cfg(feature = "std")]
pub use arms::Choice;
#[cfg(feature = "std")]
pub(crate) use arms::Finding;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use contain::contain;
#[cfg(feature = "std")]
pub(crate) use control::{Control, Lending, NextOrStop, Stop, pass_on};
pub(crate) use deadline::Deadline;
pub(crate) use event_count::{EventCount, NewWord};
#[cfg(annulus_loom)]
pub use fence::barriers_asked;
#[cfg(feature = "std")]
pub use fence::prepare;
#[cfg(all(test, target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
pub(crate) use fence::{is_asymmetric, tests::BARRIERS};
#[cfg(feature = "std")]
pub(crate) use latch::CountsDown;
pub(crate) use latch::Latch;
#[cfg(feature = "std")]
pub(crate) use latch::Opening;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use listener::Listener;
pub(crate) use look::Look;
pub(crate) use own::own_strategy;
pub(crate) use reader_backoff::ReaderBackoff;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use relay::Relay;
#[cfg(feature = "shm")]
pub(crate) use remote::Remote;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use remote_word::carries_out_barriers;
#[cfg(feature = "std")]
pub use sending::SendChoice;
#[cfg(feature = "std")]
pub(crate) use sending::Sending;
pub(crate) use sleepers::Sleepers;
pub(crate) use source::Source;
#[cfg(feature = "std")]
pub(crate) use source::There;
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
#[cfg(feature = "async")]
pub(crate) use task::{Streaming, Waiting};
pub(crate) use until::{look_now, wait_until};
pub(crate) use waiter::Wait;
#[cfg(all(test, feature = "async", not(annulus_loom)))]
pub(crate) use woken::Woken;
pub(crate) use writer_backoff::{WriterBackoff, preferred_slots};
