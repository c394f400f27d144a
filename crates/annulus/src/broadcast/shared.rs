//! What the two sides of a ring share.

use alloc::sync::Arc;

use crate::handle_count::HandleCount;
use crate::ring::{Gate, Ring, Store};
use crate::sequence::{Sequence, Stamp};
use crate::sync::mutated;
use crate::wait::{Event, WaitStrategy};

/// The ring, its gate, who sleeps where, and who is still there. All but the slots, the head and the gate is constant while
/// nobody sleeps, comes or goes.
pub(crate) struct Shared<S> {
    pub(super) ring: Ring<S>,
    /// Whom publishers may not overtake; empty in a lossy ring.
    pub(super) gate: Gate,
    /// Where those sleep who wait for a message.
    pub(super) published: Event,
    /// Where those sleep who wait for a cursor to move: publishers at the gate, stages behind others.
    // Decision 0020: one event for all cursors.
    pub(super) released: Event,
    /// How handles wait where a verb does not say.
    pub(super) strategy: WaitStrategy,
    /// Tells it from other rings.
    pub(super) identity: Identity,
    publishers: HandleCount,
    /// Subscribers, and what can make new ones.
    receivers: HandleCount,
}

impl<S: Store> Shared<S> {
    /// With one handle on each side.
    pub(super) fn new(ring: Ring<S>, headroom: usize, strategy: WaitStrategy) -> Self {
        Self {
            gate: Gate::new(ring.capacity(), headroom, ring.first()),
            ring,
            published: Event::new(),
            released: Event::new(),
            strategy,
            identity: Identity::new(),
            publishers: HandleCount::new(),
            receivers: HandleCount::new(),
        }
    }

    /// One publisher more; the caller has one.
    pub(super) fn publisher_comes(&self) {
        self.publishers.add();
    }

    /// One publisher less. With the last, no message will follow: whoever waits for one is woken.
    pub(super) fn publisher_goes(&self) {
        if self.publishers.remove() {
            if !mutated!("close_wakes_nobody") {
                self.published.notify();
            }
            if !mutated!("close_wakes_no_stage") {
                // A stage waits there for those before it, and for the end.
                self.released.notify();
            }
        }
    }

    /// One receiving handle more; the caller has one.
    pub(super) fn receiver_comes(&self) {
        self.receivers.add();
    }

    /// One receiving handle less. With the last, nobody will ever receive.
    ///
    /// Nobody is woken for that: a publisher waits for a seat, which notifies when it is given up, or for another publisher's write, which
    /// notifies when it is done.
    pub(super) fn receiver_goes(&self) {
        self.receivers.remove();
    }

    /// Whether it is worth to ask [`is_closed`](Self::is_closed).
    #[inline]
    pub(super) fn may_be_closed(&self) -> bool {
        // A poll that finds nothing does no more than this.
        self.publishers.may_be_zero()
    }

    /// Whether all publishers are gone. Who sees true also sees their last message: look once more before believing that
    /// nothing is left.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.publishers.is_zero()
    }

    /// Whether nobody receives, or ever will.
    #[inline]
    pub(super) fn is_abandoned(&self) -> bool {
        self.receivers.is_zero()
    }

    /// What an empty slot means once [`may_be_closed`](Self::may_be_closed) was true: whether nothing more will come at `cursor`.
    ///
    /// The last message comes before the close, so a look at the stamp after it decides. If the message came between the caller's
    /// look and this one, the next read finds it.
    #[cold]
    #[inline(never)]
    pub(super) fn is_drained(&self, cursor: Sequence) -> bool {
        self.is_closed()
            && (mutated!("close_no_second_look") || self.ring.stamp(cursor) < Stamp::done(cursor))
    }
}

/// Something that no other ring has, also not one that comes later: who keeps a share in it keeps its address in use.
#[derive(Clone)]
pub(super) struct Identity(Arc<u8>);

impl Identity {
    fn new() -> Self {
        Self(Arc::new(0))
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
