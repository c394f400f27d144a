//! What both sides of a channel for one value share: the state, the value, and where one waits.
//!
//! Each side has a last word: the sender's is [`VALUE`] or [`ENDED`], the receiver's [`CLOSED`]. With it, or
//! after it, the side leaves, and touches the block no more. Whoever leaves last frees it.
//!
//! ```text
//! a side that ends                                      a side that waits
//! oneshot.end1    state |= word                         make the event, oneshot.wait2  state |= WAITS
//!     does the other side wait? no: state |= LEFT, too  event.sleep1 to event.sleep4, whose second look is
//! oneshot.wait2's side is woken (event.wake2 ...)       oneshot.look3  word of the other side?
//! oneshot.leave4  state |= LEFT
//! ```
//!
//! *Why no wake-up is lost.* All is decided by the order of changes of one word. If oneshot.end1 comes first,
//! the one who waits changes the word after it (oneshot.wait2), and so its look sees the last word. If
//! oneshot.wait2 comes first, oneshot.end1 sees that somebody waits, and notifies the event before it leaves.
//!
//! *Why a side that nobody waits for pays for one change.* It leaves in the same step, because there is no
//! wake-up for which it would have to be there.
//!
//! *Where a side waits* is an eventcount, which the first side that waits makes. So a value that is there
//! when it is asked for costs nothing of that.
//!
//! *The value* belongs to the sender until oneshot.end1 with `VALUE`, and from then on to the receiver, which
//! takes it out before it leaves. A sender that finds `CLOSED` there does not say `VALUE`, and keeps it.

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::base::link::Link;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, mutated, ordering};
use crate::wait::EventCount;

/// The sender has put its value.
pub(super) const VALUE: u64 = 1;
/// The sender has gone without.
pub(super) const ENDED: u64 = 1 << 1;
/// The receiver wants no value any more.
pub(super) const CLOSED: u64 = 1 << 2;

/// The bits of a side.
struct Side {
    /// It has left.
    left: u64,
    /// It waits, or did so.
    waits: u64,
}

const SENDER: Side = Side { left: 1 << 3, waits: 1 << 4 };
const RECEIVER: Side = Side { left: 1 << 5, waits: 1 << 6 };

pub(super) struct Block<T> {
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
    /// Where a side waits, once one does.
    event: Link<EventCount>,
}

/// One side's share of a block. Whoever has it must [end](Self::end) it: its drop does nothing.
pub(super) struct Share<T, const IS_SENDER: bool>(NonNull<Block<T>>);

// SAFETY: a share stands for a part of a block, from which its value may be taken by another thread than the
// one that put it there. By reference one can only look.
unsafe impl<T: Send, const IS_SENDER: bool> Send for Share<T, IS_SENDER> {}
// SAFETY: as above.
unsafe impl<T: Send, const IS_SENDER: bool> Sync for Share<T, IS_SENDER> {}

impl<T> Block<T> {
    /// A block, with the shares of its sender and its receiver.
    pub(super) fn shared() -> (Share<T, true>, Share<T, false>) {
        let block = NonNull::from(Box::leak(Box::new(Self {
            state: AtomicU64::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            event: Link::empty(),
        })));
        (Share(block), Share(block))
    }

    /// Wakes whoever waits. The caller has seen that somebody does, by an Acquire.
    fn wake(&self) {
        if let (Some(event), false) = (self.event.get(), mutated!("oneshot_wakes_nobody")) {
            event.notify();
        }
    }
}

impl<T, const IS_SENDER: bool> Share<T, IS_SENDER> {
    const OWN: Side = if IS_SENDER { SENDER } else { RECEIVER };
    const OTHER: Side = if IS_SENDER { RECEIVER } else { SENDER };

    fn block(&self) -> &Block<T> {
        // SAFETY: a block is freed when both sides have left, and this one leaves by `end` only, after which
        // nobody has the share any more.
        unsafe { self.0.as_ref() }
    }

    /// oneshot.look3: what has been said so far.
    #[inline(always)]
    pub(super) fn look(&self) -> u64 {
        // Acquire: pairs with the Release of oneshot.end1: who sees `VALUE` sees the value.
        self.block().state.load(ordering!(Acquire unless "oneshot_look_relaxed"))
    }

    /// The word whose change is the other side's last word.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.block().state
    }

    /// oneshot.wait2: where this side waits for the last word of the other one.
    pub(super) fn event(&self) -> &EventCount {
        let Block { state, event, .. } = self.block();
        let event = event.get().unwrap_or_else(|| {
            // The other side may wait, too.
            event.put(EventCount::fenced()).unwrap_or_else(|theirs| theirs)
        });
        // Relaxed: it is this side's own bit.
        if state.load(Ordering::Relaxed) & Self::OWN.waits == 0 {
            // Release: pairs with the Acquire of whoever sees the bit, who then finds the event. For the rest
            // the order of changes of this one word decides, and the event.
            state.fetch_or(Self::OWN.waits, ordering!(Release unless "oneshot_event_unseen"));
        }
        event
    }

    /// Ends the share with its last word, and frees the block if the other side has left. Does nothing, and
    /// says false, if one of the words in `unless` has been said.
    ///
    /// # Safety
    ///
    /// If it says true, the share is not used any more. `VALUE` is said by the sender, after
    /// [`put`](Self::put), unless `CLOSED`. The receiver has taken a value, or ends unless `VALUE`.
    #[inline]
    pub(super) unsafe fn end(&self, word: u64, unless: u64) -> bool {
        let block = self.block();
        // The sender guesses that nothing was said yet, and so gets the line for itself at once.
        let mut state = if IS_SENDER { 0 } else { self.look() };
        let is_awaited = loop {
            if state & unless != 0 {
                return false;
            }
            if state & Self::OTHER.left != 0 {
                // SAFETY: the other side has left, and the Acquire of `state` pairs with the Release with
                // which it did. This one leaves now.
                unsafe { self.free() };
                return true;
            }
            let is_awaited = state & Self::OTHER.waits != 0;
            let left = if is_awaited { 0 } else { Self::OWN.left };
            // oneshot.end1. Release: pairs with the Acquire of oneshot.look3, for the value, and with those
            // of the other side's end, for all that this one did with the block.
            let (success, failure) = (ordering!(Release unless "oneshot_end_relaxed"), Ordering::Acquire);
            match block.state.compare_exchange_weak(state, state | word | left, success, failure) {
                Ok(_) => break is_awaited,
                Err(now) => state = now,
            }
        };
        if is_awaited {
            // SAFETY: the last word was said.
            unsafe { self.wake_and_leave() };
        }
        true
    }

    /// # Safety
    ///
    /// The last word was said, and the share is not used any more.
    #[cold]
    #[inline(never)]
    unsafe fn wake_and_leave(&self) {
        let block = self.block();
        block.wake();
        // oneshot.leave4. AcqRel: the Release is that of oneshot.end1; the Acquire pairs with the Release
        // with which the other side left.
        if block.state.fetch_or(Self::OWN.left, Ordering::AcqRel) & Self::OTHER.left != 0 {
            // SAFETY: both have left.
            unsafe { self.free() };
        }
    }

    /// # Safety
    ///
    /// Both sides have left, and all that the other one did comes before this. There is no value.
    #[inline]
    unsafe fn free(&self) {
        // SAFETY: it was leaked in `shared`, and nobody else looks at it: the caller's promise.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// Once, by the receiver that has seen `VALUE`, or by the sender that has not said it.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the value is there, and is the caller's.
        self.block().value.with(|value| unsafe { (*value).assume_init_read() })
    }
}

impl<T> Share<T, true> {
    /// Puts the value in its place. No end but one with `VALUE` drops it.
    #[inline(always)]
    pub(super) fn put(&self, value: T) {
        // SAFETY: until `VALUE` is said, the receiver doesn't look at the place; and who says it has no share
        // any more.
        self.block().value.with_mut(|place| unsafe { (*place).write(value) });
    }
}

impl<T> Share<T, false> {
    /// Says `CLOSED` without leaving, and wakes a sender that waits for it.
    pub(super) fn close(&self) {
        let block = self.block();
        // oneshot.close5. Acquire: pairs with the Release of oneshot.wait2, for the event.
        if block.state.fetch_or(CLOSED, Ordering::Acquire) & SENDER.waits != 0 {
            block.wake();
        }
    }
}
