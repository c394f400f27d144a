//! How a handle waits for another: [`WaitStrategy`], for how long: [`Until`], and what a process does for it
//! in advance: `prepare_process`.
//!
//! A thread spins, and then sleeps at no cost to the thread that wakes it. The [guide](crate::guide::waiting)
//! says which strategy is for what.

// In the order of a wait, after a send or a receive has found nothing to do:
//
// wait_until            a verb waits: poll, spin, sleep
// poll                  what a poll finds, and until when it is repeated: by what the verb was given
// strategy              how a thread waits, by the choice of its ring or of one handle
// spin                  how a thread spins before it sleeps
// give_way              giving up the time slice, where that helps
// backoff               how a fast reader, and a writer at its limit, keep their distance from each other
// event_count           where to sleep, and whom to wake
// fence                 the light fence of a waker, the heavy one of a sleeper; naps
// cohorts, park         threads asleep: many at one word; by the kernel
// other_processes       threads asleep in several processes
// waiters/              the tasks at an eventcount
// listener, task        a task waits, with a waker; a notify at one eventcount becomes a notify at another
// wait_for_any, arms    a select waits, at several eventcounts, as a thread that a waker wakes; what for
// source                what a select, a worker or a notifier can wait at
// latch, control        a shutdown, or the end of threads; how to stop a worker

mod backoff;
mod latch;
mod poll;
mod source;
mod spin;
mod strategy;
mod wait_until;

// Where threads or tasks sleep.
#[cfg(any(feature = "std", feature = "async"))]
mod cohorts;
#[cfg(any(feature = "std", feature = "async"))]
mod event_count;
#[cfg(not(any(feature = "std", feature = "async")))]
#[path = "no_event_count.rs"]
mod event_count;
#[cfg(any(feature = "std", feature = "async"))]
mod fence;
#[cfg(any(feature = "std", feature = "async"))]
mod listener;
#[cfg(feature = "shm")]
mod other_processes;
#[cfg(all(not(feature = "shm"), any(feature = "std", feature = "async")))]
#[path = "no_other_processes.rs"]
mod other_processes;
#[cfg(any(feature = "std", feature = "async"))]
mod park;
#[cfg(any(feature = "std", feature = "async"))]
mod waiters;

// Where threads sleep.
#[cfg(feature = "std")]
mod arms;
#[cfg(feature = "std")]
mod control;
#[cfg(feature = "std")]
mod give_way;
#[cfg(feature = "std")]
mod wait_for_any;

// Where tasks wait.
#[cfg(all(test, feature = "std"))]
mod counting_waker;
#[cfg(feature = "async")]
mod task;

pub use crate::processor::ProcessorWait;
pub(crate) use backoff::{ReaderBackoff, WriterBackoff, preferred_slots};
pub(crate) use event_count::{EventCount, NewWord, SleeperKind};
pub(crate) use latch::Latch;
pub use poll::Until;
pub(crate) use poll::{Deadline, Look};
pub(crate) use source::{EndMark, Source, source_of_part};
pub(crate) use strategy::own_strategy;
pub use strategy::{ParseWaitStrategyError, WaitStrategy};
pub(crate) use wait_until::{LAST_LOOKS, Poll, look_now, wait_until};

#[cfg(feature = "std")]
pub use self::fence::prepare_process;
#[cfg(all(target_os = "linux", feature = "std"))]
pub(crate) use self::listener::Listener;
#[cfg(any(feature = "std", feature = "async"))]
pub(crate) use self::listener::Relay;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use self::{arms::Choice, wait_for_any::Listening};
#[cfg(feature = "std")]
pub(crate) use self::{
    arms::{Armed, RoomArm, fill_claim},
    control::{Control, Lending, NextOrStop, Stop, pass_on},
    latch::{CountsDown, Opening},
    source::UntilReady,
    wait_for_any::{AnyArm, Arms, wait_for_any},
};
#[cfg(feature = "shm")]
pub(crate) use other_processes::Remote;
#[cfg(feature = "async")]
pub(crate) use task::{Streaming, Waiting};

#[cfg(all(test, feature = "async", not(annulus_loom)))]
pub(crate) use counting_waker::Woken;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use fence::barriers_asked;
#[cfg(all(test, target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
pub(crate) use fence::{is_asymmetric, tests::BARRIERS};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use other_processes::carries_out_barriers;
