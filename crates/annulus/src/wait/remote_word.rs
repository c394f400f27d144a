//! [`RemoteWord`]: where threads of several processes sleep for one ring.
//!
//! A second word beside that of the [event](super::EventCount), in memory that all of them map. Bit 0 says
//! that a thread sleeps there, or is about to; the others count wake-ups. The steps are those of the event.
//!
//! ```text
//! waker                                             sleeper
//! remote.wake1  the store that matters              remote.sleep1  word |= 1
//! remote.wake2  light fence                         remote.sleep2  heavy fence, which reaches the waker's process
//! remote.wake3  bit 0 of word? ── no: done          remote.sleep3  look again for that store ── there: don't sleep
//! remote.wake4  word &= !1; word += 2               remote.sleep4  sleep while word is the same, for a while
//! remote.wake5  wake all that sleep on word
//! ```
//!
//! The waker's process says whether it carries out the barriers of others. If it does not, remote.wake2 and
//! remote.sleep2 are full fences. Whoever is refused the barrier looks again a millisecond later
//! (`fence.rs`).
//!
//! remote.wake4 takes two steps, so that no process which keeps changing the word can hold a waker up. Who
//! registers between them finds the word changed, and polls; its bit stays, and one wake-up is then made for
//! nobody.
//!
//! Every process that has the memory may write anything to the word, so a wake-up may be lost on purpose. So
//! no thread sleeps for longer than [`NAP`] without a look. The same look finds a publisher that died.
//!
//! A task does not sleep: a thread of its process does that in its place (`remote_tasks.rs`).

use alloc::sync::Arc;
use core::any::Any;
use core::ptr::NonNull;
use std::time::{Duration, Instant};

use super::Deadline;
use super::fence;
use super::park::{Cohort, Parking};
use crate::sync::{AtomicU32, Ordering, mutated};

/// Where threads of several processes sleep.
pub(super) struct RemoteWord {
    word: NonNull<AtomicU32>,
    /// The wakers' fences are light, and the sleepers make up for that. Wakers and sleepers of one word agree
    /// on this, or a wake-up comes late by up to a [`NAP`].
    is_asymmetric: bool,
    /// Shared in models only, where the kernel does not know the sleepers by the word's place.
    parking: Arc<Parking>,
    /// Where the word is: kept for that.
    memory: Arc<dyn Any + Send + Sync>,
}

/// What a [`RemoteWord`] was at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenWord(u32);

impl SeenWord {
    pub(super) fn get(self) -> u32 {
        self.0
    }

    /// That of the last wake-up.
    pub(super) fn number(self) -> u32 {
        self.0 & !SLEEPER
    }

    /// Whether somebody sleeps, or is about to.
    pub(super) fn has_sleeper(self) -> bool {
        self.0 & SLEEPER != 0
    }
}

// SAFETY: it stands for a shared borrow of an atomic, and keeps that alive (see `new`).
unsafe impl Send for RemoteWord {}
// SAFETY: as above.
unsafe impl Sync for RemoteWord {}

/// A thread sleeps, or is about to.
const SLEEPER: u32 = 1;
const WAKE_UP: u32 = 2;

/// Registers this process, so that it carries out the barriers of sleepers in other processes; false where
/// the system refuses that.
// Decision 0089: when the ring is made, before anybody can sleep.
#[cfg(not(annulus_loom))]
pub(crate) fn carries_out_barriers() -> bool {
    fence::register_across()
}

/// How long a thread sleeps without a look. (In a model nobody naps, however long that takes to run.)
const NAP: Duration = Duration::from_millis(if cfg!(annulus_loom) { 10_000_000 } else { 50 });

impl RemoteWord {
    /// At `word`. `is_asymmetric` is what [`carries_out_barriers`] said in the wakers' process.
    ///
    /// # Safety
    ///
    /// The word lives, and can be written to, as long as `memory`.
    pub(super) unsafe fn new(
        word: NonNull<AtomicU32>,
        is_asymmetric: bool,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self { word, is_asymmetric, parking: Arc::new(Parking::between_processes()), memory }
    }

    /// The same word, for whoever else of this process sleeps there, or for another process of a model.
    pub(super) fn again(&self) -> Self {
        Self { parking: Arc::clone(&self.parking), memory: Arc::clone(&self.memory), ..*self }
    }

    /// The word at this moment.
    pub(super) fn look(&self) -> SeenWord {
        // Acquire: pairs with the Release of remote.wake4, and of remote.sleep1.
        SeenWord(self.word().load(Ordering::Acquire))
    }

    /// Wakes all who sleep on the word, of whatever process, for nothing: each looks, and sleeps again.
    pub(super) fn disturb(&self) {
        // helper.end6. Relaxed: it says no more than that the word is another.
        self.word().fetch_add(WAKE_UP, Ordering::Relaxed);
        self.parking.wake_all(self.word(), Cohort::Even);
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: it lives as long as the memory, which this keeps.
        unsafe { self.word.as_ref() }
    }

    /// Whether the wakers' fences are light, and sleepers make up for that.
    pub(super) fn is_asymmetric(&self) -> bool {
        self.is_asymmetric
    }

    /// remote.sleep1 and remote.sleep2: the caller polls once more before it [sleeps](Self::sleep) with the
    /// word that this returns. False where the system refused the fence: then a wake-up may be missed.
    pub(super) fn register(&self) -> (u32, bool) {
        // remote.sleep1. Release: pairs with the Acquire of remote.wake4. Acquire: pairs with its Release.
        let word = self.word().fetch_or(SLEEPER, Ordering::AcqRel) | SLEEPER;
        // remote.sleep2. Pairs with remote.wake2.
        let fenced = mutated!("remote_no_sleepers_fence") || fence::heavy_across(self.is_asymmetric);
        (word, fenced)
    }

    /// remote.sleep4, or helper.sleep4: until a wake-up that came after `word`, or until `deadline`, or for a
    /// [`NAP`].
    pub(super) fn sleep(&self, word: u32, deadline: Deadline) {
        let soon = Instant::now() + NAP;
        let deadline = deadline.map_or(soon, |deadline| deadline.min(soon));
        self.parking.wait_while(self.word(), word, Some(deadline), Cohort::Even);
    }

    /// remote.wake2 and remote.wake3: whether nobody sleeps, and no full fence was needed to tell.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.is_asymmetric && {
            // remote.wake2. Pairs with remote.sleep2, which makes every core execute a barrier.
            fence::light_across();
            // remote.wake3. Relaxed: remote.wake2 and remote.sleep2 decide what it sees.
            self.word().load(Ordering::Relaxed) & SLEEPER == 0
        }
    }

    /// remote.wake2 to remote.wake5, for all who sleep. If the fences are not light ones, remote.wake2 is the
    /// caller's, a full one. Whether there was anybody.
    pub(super) fn wake_all(&self) -> bool {
        if self.is_asymmetric {
            // remote.wake2. Pairs with remote.sleep2, which makes every core execute a barrier.
            fence::light_across();
        }
        // remote.wake3. Relaxed: remote.wake2 and remote.sleep2 decide what it sees.
        if self.word().load(Ordering::Relaxed) & SLEEPER == 0 || mutated!("remote_wakes_nobody") {
            // Unreached: a sleeper that goes between two looks of its waker
            return false;
        }
        // remote.wake4. Release: pairs with the Acquire of remote.sleep4. Acquire: pairs with the Release of
        // remote.sleep1.
        self.word().fetch_and(!SLEEPER, Ordering::AcqRel);
        if !mutated!("remote_word_unchanged") {
            // Relaxed: it goes on the release that the step before began.
            self.word().fetch_add(WAKE_UP, Ordering::Relaxed);
        }
        // remote.wake5.
        self.parking.wake_all(self.word(), Cohort::Even);
        true
    }
}
