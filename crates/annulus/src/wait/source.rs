//! [`Source`]: what every receiving handle has, for those who wait at handles of any kind.

use super::{Event, Look, Wait, WaitStrategy};
use crate::error::RecvError;
use crate::sync::AtomicU64;

/// A handle at which one can wait for something to receive.
///
/// # Safety
///
/// Each event that [`event`](Self::event) returns lives, and stays where it is, as long as the handle lives,
/// wherever the handle is moved to.
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "what has to do with threads"))]
pub(crate) unsafe trait Source {
    /// Where it waits. Only [`is_ready`](Self::is_ready) and a receive change it. Whoever makes `is_ready`
    /// true calls [`Event::notify`] on it, or its like, *after* the store that `is_ready` looks for.
    fn event(&self) -> &Event;

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

/// A [`Source`] whose messages are taken by value.
///
/// # Safety
///
/// That of [`Source`], for the event after each [`poll_recv`](Self::poll_recv), too.
pub(crate) unsafe trait Take: Source {
    type Taken;

    /// Receives like `recv`, if something is there.
    fn poll_recv(&mut self) -> Look<Result<Self::Taken, RecvError>>;

    /// As [`poll_recv`](Self::poll_recv), for whoever works on what it returns in the place of a user. In a
    /// stage, that is in hand until the next call of this or of [`is_ready`](Source::is_ready), and not
    /// processed before, whatever `recv` counts as processed.
    // Decision 0031: processed is not received.
    #[cfg_attr(
        not(feature = "std"),
        allow(dead_code, reason = "only threads receive in the place of others")
    )]
    #[inline(always)]
    fn poll_in_hand(&mut self) -> Look<Result<Self::Taken, RecvError>> {
        self.poll_recv()
    }
}

// SAFETY: a handle that is borrowed lives as long as the borrow.
unsafe impl<S: Source + ?Sized> Source for &mut S {
    fn event(&self) -> &Event {
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

// SAFETY: as above.
unsafe impl<S: Take> Take for &mut S {
    type Taken = S::Taken;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<S::Taken, RecvError>> {
        (**self).poll_recv()
    }

    #[inline(always)]
    fn poll_in_hand(&mut self) -> Look<Result<S::Taken, RecvError>> {
        (**self).poll_in_hand()
    }
}

/// Something to receive, at a handle which is borrowed or owned. Nothing is taken.
#[cfg(feature = "std")]
pub(crate) struct There<S>(pub(crate) S);

#[cfg(feature = "std")]
impl<S: Source> Wait for There<S> {
    type Found = ();

    fn event(&self) -> &Event {
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

/// The next message of a handle, which is borrowed or owned.
pub(crate) struct Next<S>(pub(crate) S);

impl<S: Take> Wait for Next<S> {
    type Found = Result<S::Taken, RecvError>;

    fn event(&self) -> &Event {
        self.0.event()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll_recv()
    }
}
