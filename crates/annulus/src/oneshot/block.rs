//! What both sides of a channel for one value share: the state, the value, and where one waits.
//!
//! Each side has a last word: the sender's is [`VALUE`] or [`ENDED`], the receiver's [`CLOSED`]. With it, or
//! after it, the side leaves, and touches the block no more. The side that leaves last frees it.
//!
//! ```text
//! a side that ends                                      a side that waits
//! oneshot.end1    state |= word                         make the eventcount, oneshot.wait2  state |= WAITS
//!     does the other side wait? no: state |= LEFT, too  event.sleep1 to event.sleep4, whose second look is
//! oneshot.wait2's side is woken (event.wake2 ...)       oneshot.look3  word of the other side?
//! oneshot.leave4  state |= LEFT
//! ```
//!
//! *Why no wake-up is lost.* All is decided by the order of changes of one word. If oneshot.end1 comes first,
//! the side that waits changes the word after it (oneshot.wait2), and so its look sees the last word. If
//! oneshot.wait2 comes first, oneshot.end1 sees that somebody waits, and notifies the eventcount before it
//! leaves.
//!
//! *Why a side that nobody waits for pays for one change.* It leaves in the same step, because there is no
//! wake-up for which it would have to be there.
//!
//! *Where a side waits* is an eventcount, which the first side that waits makes. So a value that is there
//! when it is asked for costs nothing of that.
//!
//! *A task that receives* has its waker in the block instead, and no eventcount. The waker is the receiver's
//! until oneshot.arm6, and again after oneshot.disarm7, which fails once the sender has had its last word.
//! From then on it is the sender's, which wakes it before it leaves; and the side that frees the block drops
//! it.
//!
//! ```text
//! oneshot.arm6     put the waker, state |= TASK, look once more (oneshot.look3)
//! oneshot.disarm7  state &= !TASK, unless the sender has had its last word; drop the waker
//! ```
//!
//! *The value* belongs to the sender until oneshot.end1 with `VALUE`, and from then on to the receiver, which
//! takes it out before it leaves. A sender that finds `CLOSED` there does not say `VALUE`, and keeps it.

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
#[cfg(feature = "async")]
use core::task::Waker;

#[cfg(feature = "async")]
use crate::base::drop_all::contain;
use crate::base::link::Link;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, ordering, seeded};
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
    /// It waits at the eventcount, or did so.
    sleeps: u64,
    /// It waits there, or as a task.
    waits: u64,
}

/// The receiver's waker is in the block.
const TASK: u64 = 1 << 7;

const SENDER: Side = Side { left: 1 << 3, sleeps: 1 << 4, waits: 1 << 4 };
// Mutants: `| with ^`: no bit is in both.
const RECEIVER: Side = Side { left: 1 << 5, sleeps: 1 << 6, waits: 1 << 6 | TASK };

pub(super) struct OneshotBlock<T> {
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
    /// Where a side waits, once one does.
    event: Link<EventCount>,
    /// As [`TASK`] says.
    #[cfg(feature = "async")]
    waker: UnsafeCell<MaybeUninit<Waker>>,
}

/// One side's share of a block. Its owner must [end](Self::end) it: its drop does nothing.
pub(super) struct Share<T, const IS_SENDER: bool>(NonNull<OneshotBlock<T>>);

// SAFETY: a share stands for a part of a block, from which its value may be taken by another thread than the
// one that put it there. By reference one can only look.
unsafe impl<T: Send, const IS_SENDER: bool> Send for Share<T, IS_SENDER> {}
// SAFETY: as above.
unsafe impl<T: Send, const IS_SENDER: bool> Sync for Share<T, IS_SENDER> {}

impl<T> OneshotBlock<T> {
    /// A block, with the shares of its sender and its receiver.
    pub(super) fn shared() -> (Share<T, true>, Share<T, false>) {
        let block = NonNull::from(Box::leak(Box::new(Self {
            state: AtomicU64::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            event: Link::empty(),
            #[cfg(feature = "async")]
            waker: UnsafeCell::new(MaybeUninit::uninit()),
        })));
        (Share(block), Share(block))
    }

    /// Wakes the side that waits. The caller has seen `state`, by an Acquire, and said its last word.
    fn wake(&self, state: u64) {
        #[cfg(feature = "async")]
        if state & TASK != 0 && !seeded!("oneshot_wakes_no_task") {
            // SAFETY: the waker is there, and from the last word of the sender on nobody moves it, before the
            // sender has left.
            contain(|| self.waker.with(|waker| unsafe { (*waker).assume_init_ref() }.wake_by_ref()));
        }
        if state & (SENDER.sleeps | RECEIVER.sleeps) == 0 {
            return;
        }
        if let (Some(event), false) = (self.event.get(), seeded!("oneshot_wakes_nobody")) {
            event.notify();
        }
    }
}

impl<T, const IS_SENDER: bool> Share<T, IS_SENDER> {
    const OWN: Side = if IS_SENDER { SENDER } else { RECEIVER };
    const OTHER: Side = if IS_SENDER { RECEIVER } else { SENDER };

    fn block(&self) -> &OneshotBlock<T> {
        // SAFETY: a block is freed when both sides have left, and this one leaves by `end` only, after which
        // nobody has the share any more.
        unsafe { self.0.as_ref() }
    }

    /// oneshot.look3: what has been said so far.
    #[inline(always)]
    pub(super) fn look(&self) -> u64 {
        // Acquire: pairs with the Release of oneshot.end1: a side that sees `VALUE` sees the value.
        self.block().state.load(ordering!(Acquire unless "oneshot_look_relaxed"))
    }

    /// The word whose change is the other side's last word.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.block().state
    }

    /// oneshot.wait2: where this side waits for the last word of the other one.
    pub(super) fn wait_point(&self) -> &EventCount {
        let OneshotBlock { state, event, .. } = self.block();
        let event = event.get().unwrap_or_else(|| {
            // The other side may wait, too.
            event.put(EventCount::fenced()).unwrap_or_else(|theirs| theirs)
        });
        // Relaxed: it is this side's own bit. (Another thread of this side may have set it: a look after this
        // then comes after that in the order of changes.)
        if state.load(Ordering::Relaxed) & Self::OWN.sleeps == 0 {
            // Release: pairs with the Acquire of the side that sees the bit, which then finds the eventcount.
            // For the rest the order of changes of this one word decides, and the eventcount.
            state.fetch_or(Self::OWN.sleeps, ordering!(Release unless "oneshot_event_unseen"));
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
                unsafe { self.free(state) };
                return true;
            }
            let is_awaited = state & Self::OTHER.waits != 0;
            let left = if is_awaited { 0 } else { Self::OWN.left };
            // oneshot.end1. Release: pairs with the Acquire of oneshot.look3, for the value, and with those
            // of the other side's end, for all that this one did with the block. Acquire: pairs with
            // oneshot.arm6, which may have been done anew since this loop looked.
            let (success, failure) = (ordering!(AcqRel unless "oneshot_end_relaxed"), Ordering::Acquire);
            match block.state.compare_exchange_weak(state, state | word | left, success, failure) {
                Ok(_) => break is_awaited.then_some(state),
                Err(now) => state = now,
            }
        };
        if let Some(state) = is_awaited {
            // SAFETY: the last word was said.
            unsafe { self.wake_and_leave(state) };
        }
        true
    }

    /// # Safety
    ///
    /// The last word was said, and the share is not used any more.
    #[cold]
    #[inline(never)]
    unsafe fn wake_and_leave(&self, state: u64) {
        let block = self.block();
        block.wake(state);
        // oneshot.leave4. AcqRel: the Release is as in oneshot.end1; the Acquire pairs with the Release
        // with which the other side left.
        let state = block.state.fetch_or(Self::OWN.left, Ordering::AcqRel);
        if state & Self::OTHER.left != 0 {
            // SAFETY: both have left.
            unsafe { self.free(state) };
        }
    }

    /// # Safety
    ///
    /// Both sides have left, and all that the other one did comes before this. There is no value.
    #[inline]
    unsafe fn free(&self, state: u64) {
        // SAFETY: it was leaked in `shared`, and nobody else looks at it: the caller's promise.
        let block = unsafe { Box::from_raw(self.0.as_ptr()) };
        #[cfg(feature = "async")]
        if state & TASK != 0 {
            // SAFETY: the waker is there.
            let waker = block.waker.with(|waker| unsafe { (*waker).assume_init_read() });
            drop(block);
            // It may panic.
            drop(waker);
        }
        #[cfg(not(feature = "async"))]
        drop((block, state));
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
        // SAFETY: until `VALUE` is said, the receiver doesn't look at the place; and the side that says it
        // has no share any more.
        self.block().value.with_mut(|dst| unsafe { (*dst).write(value) });
    }
}

impl<T> Share<T, false> {
    /// Says `CLOSED` without leaving, and wakes a sender that waits for it.
    pub(super) fn close(&self) {
        let block = self.block();
        // oneshot.close5. Acquire: pairs with the Release of oneshot.wait2, for the eventcount.
        let state = block.state.fetch_or(CLOSED, Ordering::Acquire);
        if state & SENDER.waits != 0 {
            block.wake(state & !TASK);
        }
    }

    /// oneshot.arm6: the sender's last word wakes this. The caller looks once more.
    ///
    /// # Safety
    ///
    /// No waker is there: [`disarm`](Self::disarm) was called, and a look after it found no word of the
    /// sender.
    #[cfg(feature = "async")]
    pub(super) unsafe fn arm(&self, waker: Waker) {
        let block = self.block();
        // SAFETY: without `TASK` nobody else looks at the place.
        block.waker.with_mut(|dst| unsafe { (*dst).write(waker) });
        // Release: pairs with the Acquire of oneshot.end1, which then wakes it. Whether that sees the bit, or
        // the look after this sees the last word, the order of changes of this one word decides.
        block.state.fetch_or(TASK, ordering!(Release unless "oneshot_arm_relaxed"));
    }

    /// Whether what is [armed](Self::arm) wakes the same as this.
    ///
    /// # Safety
    ///
    /// It is armed, and not [disarmed](Self::disarm).
    #[cfg(feature = "async")]
    pub(super) unsafe fn is_armed_for(&self, waker: &Waker) -> bool {
        // SAFETY: the waker is there, and only the receiver moves it before it leaves.
        self.block().waker.with(|armed| unsafe { (*armed).assume_init_ref() }.will_wake(waker))
    }

    /// oneshot.disarm7: takes the waker out and drops it, if one is there, and the sender has not had its
    /// last word.
    #[cfg(feature = "async")]
    pub(super) fn disarm(&self) {
        let block = self.block();
        // Relaxed, here and below: it is this side's own bit, and its own waker.
        let mut state = block.state.load(Ordering::Relaxed);
        while state & TASK != 0 && (state & (VALUE | ENDED) == 0 || seeded!("oneshot_disarms_late")) {
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            match block.state.compare_exchange_weak(state, state & !TASK, success, failure) {
                Ok(_) => {
                    // SAFETY: the waker is there, and the sender sees none from now on.
                    return drop(block.waker.with_mut(|waker| unsafe { (*waker).assume_init_read() }));
                }
                // Unreached: the sender has its last word at the same moment; loom oneshot
                Err(now) => state = now,
            }
        }
    }
}
