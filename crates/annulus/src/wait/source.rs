//! [`Source`]: what every receiving handle has, for those who wait at handles of any kind.

use alloc::boxed::Box;

use super::{EventCount, WaitStrategy};
#[cfg(feature = "std")]
use super::{Look, Wait};
use crate::sync::AtomicU64;

/// A handle at which one can wait for something to receive.
///
/// # Safety
///
/// Each event that [`event`](Self::event) returns lives, and stays where it is, as long as the handle lives,
/// wherever the handle is moved to.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "what has to do with threads"))]
pub(crate) unsafe trait Source {
    /// Where it waits. Only [`is_ready`](Self::is_ready) and a receive change it. A thread that makes
    /// `is_ready` true calls [`EventCount::notify`] on it, or its like, *after* the store that `is_ready`
    /// looks for.
    fn event(&self) -> &EventCount;

    /// Whether a receive would return something now, and not "empty": a message, a lag, or the end. Takes
    /// nothing. Where several consumers share a queue, another one may be faster than the receive that
    /// follows. In a stage it counts as the beginning of a receive, so what was received before is processed.
    fn is_ready(&mut self) -> bool;

    /// The one word that decides whether something is there, if there is one: as
    /// [`Wait::watched`], for [`is_ready`](Self::is_ready).
    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        None
    }

    /// How the handle's ring waits.
    fn strategy(&self) -> WaitStrategy;
}

/// Of handles that are borrowed, or in a box.
macro_rules! by_pointer {
    ($($Pointer:ty),*) => {$(
        // SAFETY: the handle lives as long as the borrow, or the box, and is not moved.
        unsafe impl<S: Source + ?Sized> Source for $Pointer {
            fn event(&self) -> &EventCount {
                (**self).event()
            }

            fn is_ready(&mut self) -> bool {
                (**self).is_ready()
            }

            // Unreached: where the processor waits by the word (the strategy Monitor)
            fn watched(&self) -> Option<&AtomicU64> {
                (**self).watched()
            }

            fn strategy(&self) -> WaitStrategy {
                (**self).strategy()
            }
        }
    )*};
}
by_pointer!(&mut S, Box<S>);

/// Something to receive, at a handle which is borrowed or owned. Nothing is taken.
#[cfg(feature = "std")]
pub(crate) struct There<S>(pub(crate) S);

#[cfg(feature = "std")]
impl<S: Source> Wait for There<S> {
    type Found = ();

    fn event(&self) -> &EventCount {
        self.0.event()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    fn poll(&mut self) -> Look<()> {
        if self.0.is_ready() { Look::Found(()) } else { Look::Nothing }
    }
}
