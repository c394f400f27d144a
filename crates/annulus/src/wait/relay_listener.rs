//! [`Relay`]: a notify at one event becomes a notify at another. For a handle that receives from several
//! rings: it waits at an event of its own, and has a relay at the event of each ring.
//!
//! A relay is a [`Listener`] whose waker notifies the handle's event. It is set when somebody is about to
//! wait for the handle, and not before. So rings pay nothing for a handle for which nobody waits. A look of
//! the handle takes these steps:
//!
//! 1. It looks at all rings. If something is there, that is all.
//! 2. If nobody has registered at the handle's event, nothing is there.
//! 3. It [sets](Relay::set) each relay that is not set. That registers at the event of the ring.
//! 4. If one was not set, it looks at all rings once more.
//!
//! *Why no wake-up is lost.* A sender stores its message, and notifies at its ring. If the relay is
//! registered there, the relay's waker then notifies the handle's event. So for that event, the store of the
//! message comes before the notify, as `event_count.rs` requires. It remains to be shown that the sender sees
//! the relay, or the look sees the message. For a relay that was not set, step 4 is the second look of
//! `event_count.rs`, at the event of the ring. For a relay that was set, it was an earlier step 4, or the
//! step 1 of a later look. If a relay seems to be set although a sender is just taking its waker, that sender
//! is about to notify the handle's event, so a waiter that has registered there is woken, or sees the message
//! in step 1.

use core::ptr::NonNull;
use core::task::Waker;

use super::{EventCount, Listener};
use crate::sync::seeded;

/// A listener at the event of one ring, whose waker notifies another event.
pub(crate) struct Relay {
    listener: Option<Listener>,
}

impl Relay {
    /// It is not set.
    pub(crate) fn new() -> Self {
        Self { listener: None }
    }

    /// Step 3: the next notify at `event` calls `waker`. Returns whether it was not set, so that the caller
    /// looks once more.
    ///
    /// # Safety
    ///
    /// The event lives, and stays where it is, as long as the relay.
    pub(crate) unsafe fn set(&mut self, event: NonNull<EventCount>, waker: &Waker) -> bool {
        let is_set = |listener: &Listener| {
            listener.is_at(event) && (listener.is_armed() || seeded!("relay_set_for_good"))
        };
        if self.listener.as_ref().is_some_and(is_set) {
            return false;
        }
        // Whatever the wake-up was for, the look that has just been made has used it: a ring that several
        // handles can receive from wakes all of them.
        Listener::disarm(&mut self.listener);
        // SAFETY: the caller's promise.
        unsafe { Listener::register_at(&mut self.listener, event, waker) };
        !seeded!("relay_no_second_look")
    }
}
