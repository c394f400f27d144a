//! How a thread waits for another: spinning, and sleeping at no cost to the one who wakes.
//!
//! ```text
//! mod        wait_until: poll, spin, sleep, whichever family asks
//! strategy   WaitStrategy, the public choice
//! spin       one turn of a spinning strategy
//! event      the eventcount: one word that says whether anybody sleeps
//! park       sleep until a word changes: futex, or a lock and a condition variable
//! fence      the light fence of the waker and the heavy one of the sleeper
//! ```

#[cfg(feature = "std")]
mod event;
#[cfg(not(feature = "std"))]
#[path = "no_event.rs"]
mod event;
#[cfg(feature = "std")]
mod fence;
#[cfg(feature = "std")]
mod park;
mod spin;
mod strategy;

pub(crate) use event::Event;
use spin::Spin;
pub use strategy::WaitStrategy;

/// When a wait gives up. Without `std` there is no clock, and no wait ever does.
#[cfg(feature = "std")]
pub(crate) type Deadline = Option<std::time::Instant>;
#[cfg(not(feature = "std"))]
pub(crate) type Deadline = Option<core::convert::Infallible>;

/// Waits until `poll` returns something, and returns that; `None` once `deadline` has passed and a last poll found
/// nothing.
///
/// Whoever makes `poll` succeed must call [`Event::notify`] on `event` *after* the store that `poll` looks for.
#[cold]
#[inline(never)]
pub(crate) fn wait_until<R>(
    event: &Event,
    strategy: WaitStrategy,
    deadline: Deadline,
    mut poll: impl FnMut() -> Option<R>,
) -> Option<R> {
    let mut spin = Spin::new(strategy);
    loop {
        if let Some(result) = poll() {
            return Some(result);
        }
        if has_passed(deadline) {
            return poll();
        }
        if spin.turn() {
            continue;
        }
        #[cfg(feature = "std")]
        {
            let ticket = event.register();
            // The second look: a notify that missed the registration came after a store that this poll sees.
            if !crate::sync::mutated!("event_no_second_look") {
                if let Some(result) = poll() {
                    return Some(result);
                }
            }
            event.sleep(ticket, deadline);
        }
        #[cfg(not(feature = "std"))]
        let _ = event;
    }
}

#[cfg(feature = "std")]
fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
}

#[cfg(not(feature = "std"))]
fn has_passed(_: Deadline) -> bool {
    false
}
