//! [`OwnedNode`]: the place of a task that waits, in the hands of the task.

use core::ptr::NonNull;
use core::task::Waker;

use super::list::Node;
use super::places::Places;
use super::seat::{ARMED, Ended, GONE, LISTED, PLACE, QUEUED, Seat, change};
use super::task_list::{OWNER, TAKE_IN, TaskList, Woken};
use crate::sync::{Ordering, ordering};

/// The place of a task, in the hands of its owner: the event's first seat, or a node of the
/// list. It does not keep the event alive: see [`take_armed`](super::Waiters::take_armed).
pub(in crate::wait) struct OwnedNode {
    places: NonNull<Places>,
    pub(super) place: Place,
    is_armed: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The event's first seat.
    First,
    Node(NonNull<Node>),
    /// It is another's from now on.
    None,
}

// SAFETY: it stands for a shared reference to `Places`, which is `Sync`, and for the place's waker, which is
// `Send`.
unsafe impl Send for OwnedNode {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for OwnedNode {}

impl OwnedNode {
    pub(super) fn new(places: &Places, place: Place) -> Self {
        Self { places: NonNull::from(places), place, is_armed: false }
    }

    /// The first seat, which the caller has claimed, armed with this waker.
    pub(super) fn first_armed(places: &Places, waker: Waker) -> Self {
        places.first.put(waker);
        let mut first = Self::new(places, Place::First);
        first.arm_first();
        first
    }

    /// A node that was kept, with this waker, linked and armed. The caller has the list, and nobody else has
    /// the node.
    pub(super) fn armed(places: &Places, shared: &TaskList, node: NonNull<Node>, waker: Waker) -> Self {
        let armed = Self { is_armed: true, ..Self::new(places, Place::Node(node)) };
        // (A node that is kept has no waker.)
        armed.seat().put(waker);
        // task.wait2. Relaxed: whoever has the list next sees it (list.leave4).
        armed.seat().state.store(ARMED | LISTED, Ordering::Relaxed);
        shared.with_list(|list| list.link(node));
        armed
    }

    fn places(&self) -> &Places {
        // SAFETY: they live as long as this (`take_armed`).
        unsafe { self.places.as_ref() }
    }

    pub(super) fn seat(&self) -> &Seat {
        match &self.place {
            // SAFETY: the node lives until it is given back or abandoned.
            Place::Node(node) => &unsafe { node.as_ref() }.seat,
            Place::First | Place::None => &self.places().first,
        }
    }

    /// Whether there still is one, as long as it was not given back, and after a [`disarm`](Self::disarm).
    pub(in crate::wait) fn is_there(&self) -> bool {
        !matches!(self.place, Place::None)
    }

    /// task.wait2 of the first seat.
    fn arm_first(&mut self) {
        // Release: pairs with the Acquire of task.wake3.
        self.seat().state.store(ARMED, ordering!(Release unless "seat_armed_relaxed"));
        self.is_armed = true;
    }

    /// From now on `waker` may be woken. The caller [disarmed](Self::disarm) the place before, which is still
    /// there.
    pub(in crate::wait) fn arm(&mut self, waker: &Waker) -> Woken {
        debug_assert!(!self.is_armed && self.is_there(), "it has no right to the place");
        self.seat().set(waker);
        let Place::Node(node) = self.place else {
            self.arm_first();
            return Woken::default();
        };
        let woken = self.link(node);
        self.is_armed = true;
        woken
    }

    /// task.wait2 of a node.
    fn link(&self, node: NonNull<Node>) -> Woken {
        let (shared, seat) = (self.places().list(), self.seat());
        // Release: pairs with the Acquire of task.wake3. Acquire: pairs with the Release of whoever took the
        // node out of the list.
        let still_there = change(&seat.state, Ordering::AcqRel, Ordering::Acquire, |state| {
            (state & PLACE != 0).then_some(ARMED | state & PLACE)
        });
        if still_there.is_ok() {
            return Woken::default();
        }
        // From here on the node is the owner's alone.
        if shared.enter(0, 0) {
            shared.take_in();
            seat.state.store(ARMED | LISTED, Ordering::Relaxed);
            shared.with_list(|list| list.link(node));
            return shared.leave(0);
        }
        seat.state.store(ARMED | QUEUED, Ordering::Relaxed);
        shared.queue(node);
        if shared.enter(0, TAKE_IN) { shared.serve(None, 0, TAKE_IN) } else { Woken::default() }
    }

    /// Whether it is armed, and nobody has begun to wake the task.
    pub(in crate::wait) fn is_waiting(&self) -> bool {
        self.is_armed && self.seat().is_armed()
    }

    /// From now on nobody wakes the task, and it is told how its wait ended. Where it was
    /// [abandoned](Ended::Abandoned), and where it was woken in the first seat, its place is another's.
    #[inline]
    pub(in crate::wait) fn disarm(&mut self) -> Ended {
        if !core::mem::replace(&mut self.is_armed, false) {
            return Ended::Plainly;
        }
        let (ended, is_woken) = self.seat().disarm();
        match self.place {
            Place::First if is_woken => {
                self.seat().vacate();
                self.place = Place::None;
            }
            // Unreached: a look finds another thread in the middle of its wake-up; loom task_wake and
            // select_wake
            _ if ended == Ended::Abandoned => {
                if let Place::Node(_) = self.place {
                    // Relaxed: it is a number.
                    self.places().list().entry.fetch_sub(OWNER, Ordering::Relaxed);
                }
                self.place = Place::None;
            }
            _ => {}
        }
        ended
    }

    /// Gives the place back, which is [disarmed](Self::disarm) and not used any more. Returns its waker,
    /// whose destructor is an executor's.
    pub(in crate::wait) fn give_back(&mut self) -> (Option<Waker>, Woken) {
        debug_assert!(!self.is_armed, "it has no right to the place");
        match core::mem::replace(&mut self.place, Place::None) {
            Place::None => (None, Woken::default()),
            Place::First => {
                let first = &self.places().first;
                let waker = first.take_back();
                first.vacate();
                (waker, Woken::default())
            }
            Place::Node(node) => {
                // SAFETY: it lives until it is given back, below.
                let waker = unsafe { node.as_ref() }.seat.take_back();
                (waker, self.give_node_back(node))
            }
        }
    }

    fn give_node_back(&self, node: NonNull<Node>) -> Woken {
        let shared = self.places().list();
        // SAFETY: it lives until it is given back, which the last step of this does.
        let seat = &unsafe { node.as_ref() }.seat;
        if shared.enter(OWNER.wrapping_neg(), 0) {
            // It is not queued any more then.
            shared.take_in();
            // Acquire: pairs with the Release of whoever took it out of the list.
            let is_listed = seat.state.load(Ordering::Acquire) & LISTED != 0;
            // By its address: what a closure has by reference must not be freed before it returns.
            shared.with_list(|list| {
                if is_listed {
                    // SAFETY: it lives until its owner, this one, gives it back.
                    list.unlink(unsafe { node.as_ref() });
                }
                // SAFETY: this is its owner, with its waker taken, and it is in neither place.
                unsafe { list.take_back(node, shared.owned()) };
            });
            return shared.leave(0);
        }
        // Release: pairs with the Acquire of `take_in`. Acquire: pairs with the Release of whoever took the
        // node out of the list.
        let before = change(&seat.state, Ordering::AcqRel, Ordering::Relaxed, |state| {
            Some(GONE | state & LISTED | QUEUED)
        });
        if before.is_ok_and(|state| state & QUEUED == 0) {
            shared.queue(node);
        }
        if shared.enter(0, TAKE_IN) { shared.serve(None, 0, TAKE_IN) } else { Woken::default() }
    }
}
