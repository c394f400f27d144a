//! [`Listener`]: with it, a task, a `select` or a file descriptor waits at an eventcount for its `Waker`.
//! [`Relay`]: with it, a notify at one eventcount becomes a notify at another.
//!
//! A waiter of this kind [looks](Listener::look); registers a waker and
//! [looks once more](Listener::register_and_look); and then waits for the waker in its own manner. A wake-up
//! that the listener had for itself, in place of any other waiter, belongs to a message (or a free slot).
//! Before each look the listener is disarmed: the look then uses such a wake-up. A listener that is dropped
//! instead passes it on to another waiter.
//!
//! *A relay* is for a handle that receives from several rings: it waits at an eventcount of its own, and has
//! a relay at the eventcount of each ring. That is a [`Listener`] whose waker notifies the handle's
//! eventcount. It is set when somebody is about to wait for the handle, and not before. So rings pay nothing
//! for a handle for which nobody waits. A look of the handle takes these steps:
//!
//! 1. It looks at all rings. If something is there, that is all.
//! 2. If nobody has registered at the handle's eventcount, nothing is there.
//! 3. It [sets](Relay::set) each relay that is not set. That registers at the eventcount of the ring.
//! 4. If one was not set, it looks at all rings once more.
//!
//! *Why no wake-up is lost.* A sender stores its message, and notifies at its ring. If the relay is
//! registered there, the relay's waker then notifies the handle's eventcount. So for that eventcount, the
//! store of the message comes before the notify, as `event_count.rs` requires. It remains to be shown that
//! the sender sees the relay, or the look sees the message. For a relay that was not set, step 4 is the
//! second look of `event_count.rs`, at the eventcount of the ring. For a relay that was set, it was an
//! earlier step 4, or the step 1 of a later look. If a relay seems to be set although a sender is just taking
//! its waker, that sender is about to notify the handle's eventcount, so a waiter that has registered there
//! is woken, or sees the message in step 1.

use core::ptr::NonNull;
use core::task::Waker;

use super::waiters::{Ended, OwnedNode, Woken};
use super::{EventCount, Look, Poll};
use crate::base::drop_all::contain;
use crate::sync::seeded;

/// A node among the tasks of an eventcount, and its owner's right to be woken.
pub(crate) struct Listener {
    event: NonNull<EventCount>,
    node: OwnedNode,
}

// SAFETY: it stands for a shared reference to an eventcount, which is `Sync`, and for a node, which is
// `Send`.
unsafe impl Send for Listener {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for Listener {}

impl Listener {
    /// What another thread left to this one falls short: others may sleep that use it instead.
    #[inline]
    fn settle(&self, woken: Woken) {
        if woken.is_short {
            // Unreached: a wake-up of another thread falls short: threads have to meet there
            self.wait_point().wake();
        }
    }

    /// Where it is.
    #[cfg(feature = "std")]
    pub(crate) fn at(&self) -> NonNull<EventCount> {
        self.event
    }

    /// Whether it is at `event`.
    pub(crate) fn is_at(&self, event: NonNull<EventCount>) -> bool {
        self.event == event
    }

    /// Whether nobody has woken its owner since it was [registered](Self::register).
    pub(super) fn is_armed(&self) -> bool {
        self.node.is_waiting()
    }

    fn wait_point(&self) -> &EventCount {
        // SAFETY: the promise of `register_at`.
        unsafe { self.event.as_ref() }
    }

    /// One look. A wake-up that came is used by that: true where it was one in place of any other.
    #[inline(always)]
    pub(crate) fn look<W: Poll + ?Sized>(
        listener: &mut Option<Self>,
        waiter: &mut W,
    ) -> (Look<W::Found>, bool) {
        let is_owed = Self::disarm(listener);
        (waiter.poll(), is_owed)
    }

    /// After a look that found nothing: registers `waker` where `waiter` waits, and looks once more. Where
    /// this finds nothing, either, the waker is woken. Otherwise the listener is disarmed: true where a
    /// wake-up came meanwhile, in place of any other, which belongs to what was found.
    ///
    /// *Why no wake-up is lost.* A thread that brings something comes after the registration, and wakes; or
    /// before it, and then the second look sees what it brought (`event_count.rs`).
    ///
    /// # Safety
    ///
    /// Each eventcount that the waiter returns lives, and stays where it is, as long as the listener.
    #[inline(always)]
    pub(crate) unsafe fn register_and_look<W: Poll + ?Sized>(
        listener: &mut Option<Self>,
        waiter: &mut W,
        waker: &Waker,
    ) -> (Look<W::Found>, bool) {
        let event = NonNull::from(waiter.wait_point());
        // SAFETY: the caller's promise.
        unsafe { Self::register_at(listener, event, waker) };
        // (It must not disarm the listener.)
        let look = if seeded!("listener_no_second_look") { Look::Nothing } else { waiter.poll() };
        if !matches!(look, Look::Nothing) {
            return (look, Self::disarm(listener));
        }
        if NonNull::from(waiter.wait_point()) == event {
            return (Look::Nothing, false);
        }
        // The second look changed where it waits: it has to register there. A wake-up that came here is
        // another's.
        *listener = None;
        (Look::Again, false)
    }

    /// Registers `waker` at `event`: in the listener that is there, or in a new one if that is elsewhere.
    /// Otherwise as [`register`](Self::register).
    ///
    /// # Safety
    ///
    /// The eventcount lives, and stays where it is, as long as the listener.
    #[inline(always)]
    pub(super) unsafe fn register_at(listener: &mut Option<Self>, event: NonNull<EventCount>, waker: &Waker) {
        if listener.as_ref().is_some_and(|listener| !listener.is_at(event)) {
            *listener = None;
        }
        if let Some(listener) = listener {
            return listener.register(waker);
        }
        // SAFETY: the caller's promise.
        let at = unsafe { event.as_ref() };
        // SAFETY: the caller's promise, for both.
        match unsafe { at.tasks().take_first_armed(waker) } {
            Ok(node) => *listener = Some(Self { event, node }),
            // SAFETY: as above.
            Err(own) => *listener = Some(unsafe { Self::listed(event, own) }),
        }
        Self::say_registered(at, waker);
    }

    /// Beside others, with this waker.
    ///
    /// # Safety
    ///
    /// As [`register_at`](Self::register_at).
    #[cold]
    #[inline(never)]
    unsafe fn listed(event: NonNull<EventCount>, own: Waker) -> Self {
        // SAFETY: the caller's promise, for both.
        let (node, woken) = unsafe { event.as_ref().tasks().take_node_armed(own) };
        let listed = Self { event, node };
        listed.settle(woken);
        listed
    }

    /// From now on nobody wakes the owner of the listener, if there is one. The owner looks for what it waits
    /// for. True where it was woken in place of any other. The listener may be registered again. Where its
    /// node is another's from now on, there is no listener any more.
    #[inline]
    pub(super) fn disarm(listener: &mut Option<Self>) -> bool {
        // In place: a listener that is moved is read before its stores have come to an end.
        let Some(there) = listener else { return false };
        let ended = there.node.disarm();
        if !there.node.is_there() {
            // Nothing is given back.
            core::mem::forget(listener.take());
        }
        ended == Ended::WokenAlone
    }

    /// From now on `waker` is woken. The caller looks once more before it waits for that. The listener is
    /// [disarmed](Self::disarm).
    fn register(&mut self, waker: &Waker) {
        let woken = self.node.arm(waker);
        self.settle(woken);
        Self::say_registered(self.wait_point(), waker);
    }

    /// After the node was armed.
    #[inline]
    fn say_registered(event: &EventCount, waker: &Waker) {
        if !event.register_task(waker) {
            // Unreached: where the system has no thread for those whom other processes wake
            // Nobody would: it looks again, after a nap.
            waker.wake_by_ref();
        }
    }

    /// Gives the node back. True where the listener had a wake-up for itself. The caller then uses it, or
    /// passes it on by [`EventCount::notify_some`].
    #[cfg(all(target_os = "linux", feature = "std"))]
    pub(crate) fn left(mut self) -> bool {
        self.leave().0 == Ended::WokenAlone
    }

    fn leave(&mut self) -> (Ended, Option<Waker>) {
        // In place: a node that is moved is read before its stores have come to an end.
        let ended = self.node.disarm();
        let (waker, woken) = self.node.give_back();
        self.settle(woken);
        (ended, waker)
    }

    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        let (ended, waker) = self.leave();
        if ended == Ended::WokenAlone {
            pass_on(self.wait_point());
        }
        // Others' code. The thread that drops a listener may have found a message, or claimed a sequence.
        if waker.is_some() {
            contain(|| drop(waker));
        }
    }
}

/// Wakes another waiter at `event`, in place of one that was woken alone and does not use that.
#[inline]
pub(super) fn pass_on(event: &EventCount) {
    if !seeded!("wake_up_kept") {
        event.notify_some(1);
    }
}

impl Drop for Listener {
    #[inline(always)]
    fn drop(&mut self) {
        if self.node.is_there() {
            self.end();
        }
    }
}

/// A listener at the eventcount of one ring, whose waker notifies another eventcount.
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
    /// The eventcount lives, and stays where it is, as long as the relay.
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
