//! A hand-off: how a message reaches a waiting reader in one cache line instead of two.
//!
//! A message in a slot and the tail that announces it are in two lines. Both are transferred at once, and the
//! reader has the message when the later one has come. So a waiting reader asks for its message beside the
//! tail, and the writer then leaves it there.
//!
//! ```text
//! writer                                                  reader, at an empty lane
//! handoff.give2  wanted = tail?             Acquire       handoff.ask1   wanted := head            Release
//! handoff.give3  move the message here,
//!                handed := tail
//! lane.send3     tail := tail + 1           Release       lane.take5     head < tail?              Acquire
//!                                                         handoff.take4  handed = head? Move it into its slot.
//! ```
//!
//! After handoff.take4 everything is as if the writer had put the message into its slot. Where the reader
//! asks too late, or the writer sends in another way, the message is in its slot, and `handed` tells the
//! reader so.
//!
//! *Why it has one user.* The reader asks for a message once it has moved out the one before (handoff.ask1,
//! handoff.give2: Release, Acquire), and looks here only when that message is sent (lane.send3, lane.take5).
//! The writer leaves a message only if the reader asked for it, and numbers only grow. So whatever lies here
//! is for the next look of the reader that asked.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::Number;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, mutated, ordering};

/// What fits in a line beside the tail and the two numbers.
type Space = [MaybeUninit<u64>; 5];

/// What lies beside a lane's tail.
#[repr(C)]
pub(crate) struct HandOff<T> {
    /// The message that the reader waits for, if it is still to come. Written by the reader.
    wanted: AtomicU64,
    /// The message that was last left here. Written by the writer.
    handed: AtomicU64,
    /// A message, from handoff.give3 to handoff.take4.
    space: UnsafeCell<Space>,
    message: PhantomData<T>,
}

#[cfg(not(annulus_loom))]
const _: () =
    assert!(size_of::<AtomicU64>() + size_of::<HandOff<u64>>() == 64, "the tail and this are one line");

// SAFETY: messages move in on one thread and out on another, which takes `T: Send`.
unsafe impl<T: Send> Send for HandOff<T> {}
// SAFETY: as above; the promises below keep two threads from using the space at once.
unsafe impl<T: Send> Sync for HandOff<T> {}

impl<T> HandOff<T> {
    /// Whether a message fits.
    pub(super) const FITS: bool =
        size_of::<T>() <= size_of::<Space>() && align_of::<T>() <= align_of::<Space>();

    /// For a lane whose first message is `first`. At first nothing is asked for.
    pub(super) fn new(first: Number) -> Self {
        let none = || AtomicU64::new(first.back(1).get());
        Self {
            wanted: none(),
            handed: none(),
            space: UnsafeCell::new([MaybeUninit::uninit(); 5]),
            message: PhantomData,
        }
    }

    /// handoff.ask1, by the reader, who has taken all messages before `number`.
    pub(super) fn ask_for(&self, number: Number) {
        // Release: pairs with handoff.give2.
        self.wanted.store(number.get(), ordering!(Release unless "hand_off_ask_relaxed"));
    }

    /// handoff.give2, by the writer, whose next message is `number`.
    #[inline(always)]
    pub(super) fn is_asked_for(&self, number: Number) -> bool {
        // Acquire: pairs with handoff.ask1.
        self.wanted.load(ordering!(Acquire unless "hand_off_look_relaxed")) == number.get()
    }

    /// handoff.give3, by the writer, before lane.send3.
    ///
    /// # Safety
    ///
    /// A message fits, and `number` is [asked for](Self::is_asked_for).
    #[inline(always)]
    pub(super) unsafe fn leave(&self, number: Number, message: T) {
        // SAFETY: it fits. Nobody looks here: the reader has taken what was here before it asked
        // (handoff.ask1, handoff.give2), and comes back after lane.send3.
        self.space.with_mut(|space| unsafe { space.cast::<T>().write(message) });
        if !mutated!("hand_off_untold") {
            // Relaxed: lane.send3 publishes it.
            self.handed.store(number.get(), Ordering::Relaxed);
        }
    }

    /// Takes back what was left.
    ///
    /// # Safety
    ///
    /// The writer calls it after [`leave`](Self::leave); the reader will never look for that message.
    #[cold]
    pub(super) unsafe fn take_back(&self) -> T {
        // SAFETY: it was left here, and nobody else takes it.
        self.space.with_mut(|space| unsafe { space.cast::<T>().read() })
    }

    /// handoff.take4: moves the message into `slot`, if it was left here. (Not by value: this is compiled for
    /// messages that do not fit, too, and they may be larger than the stack.)
    ///
    /// # Safety
    ///
    /// The reader calls it once for each message that it has asked for, after lane.take5 has shown that it is
    /// sent.
    #[inline(always)]
    pub(super) unsafe fn take<'s>(&self, number: Number, slot: impl FnOnce() -> &'s mut MaybeUninit<T>)
    where
        T: 's,
    {
        // Relaxed: lane.take5 shows what lane.send3 published, and the next handoff.give3 comes only after
        // another request.
        if self.handed.load(Ordering::Relaxed) == number.get() {
            let slot = slot().as_mut_ptr();
            // SAFETY: handoff.give3 came before lane.send3, and nobody else looks here until the reader asks
            // again. The message fits, because it was left here.
            self.space.with_mut(|space| unsafe { slot.copy_from_nonoverlapping(space.cast(), 1) });
        }
    }
}
