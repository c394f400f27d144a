//! [`Claims`]: how publishers of several processes share the slots of a lossy ring, and what becomes of a
//! message whose publisher dies before it has written it.
//!
//! Each slot has a word that says who has [claimed](super::claim) which message there. A publisher claims the
//! slot first, and then moves the head on; if it dies between, the next one does that. So each message before
//! the head was claimed in its slot, and has an owner, or was passed over.
//!
//! ```text
//! publisher                                                   subscriber that finds nothing at c
//! fellow.claim1  s := head                                    fellow.look9   head
//! fellow.claim2  the slot's claim: of s? fellow.head7         fellow.look10  the slot's claim: of c?
//! fellow.claim3  the message before is there? ── yes: 5       fellow.look11  its owner is gone: c is lost
//! fellow.claim4  its owner is gone?          ── no: 8         fellow.look12  stamp: c is not there after all that
//! fellow.claim5  say in its place: I am about to claim s
//! fellow.claim6  claim: as it was → s, mine                   who takes the place of a dead publisher
//! fellow.head7   head: s → s + 1. Then slot.w1 to slot.w4     fellow.next13  what was that about to claim?
//! fellow.pass8   head: s → s + 1, and begin again             fellow.next14  claim: s, its → s, lost
//! ```
//!
//! *One writer at a time.* A claim changes hands only from a message that is there (fellow.claim3), that is
//! lost, or whose owner is gone (fellow.claim4, fellow.next14). The kernel says who is gone: an owner has the
//! lock of its place until its process has ended, and executes nothing after that. So no living publisher
//! loses a claim, slot.w1 to slot.w4 are those of one writer at a time, and no torn message is whole.
//!
//! *The dead hold up nobody.* Who needs the slot a lap later takes it. A subscriber passes the message, and
//! counts it as lagged. The next owner of the place marks it as lost before it claims anything, so that it is
//! not taken for one of its own. A publisher has one open claim at most, and says which one it may be.
//!
//! *Who is stopped and lives holds up nobody for long.* Nobody takes its slot from it. Who comes to that slot
//! a lap later looks a while, and then passes over it (fellow.pass8): that message will not be, and is
//! counted as lagged. A subscriber waits for the message of whoever is stopped until that happens. (A
//! publisher that stood still between fellow.claim1 and fellow.claim6 may claim a message that was passed
//! over. Who has passed it does not receive it.)
//!
//! *The end.* Who closes the ring sets a bit in the head. If the message at the head was claimed, and the
//! head not moved on, the first to decide says whether it belongs to the ring (`decide`), before the claim's
//! owner writes it.
//!
//! Nothing in the memory is trusted. What a fellow publisher writes there on purpose can lose messages, and
//! mix up words of two, of which any bytes are one. Each loop has a bound.
// Decision 0124: a slot is claimed by its owner's name, and the kernel says who is gone.

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests;

use alloc::boxed::Box;
use core::ptr::NonNull;

use super::claim::{ClaimOwner, ClaimWord};
use super::shown::{Seen, Shown};
use crate::base::gone::NowAndThen;
use crate::base::hint::{prefetch_to_write, unlikely};
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
use crate::sync::{AtomicU64, Ordering, mutated, ordering, pause};

/// The places of the publishers, as a process has them.
pub(crate) trait Fellows: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Whether nobody has the lock of this place: asks the kernel. (Not to be asked by whoever has it.)
    fn is_gone(&self, place: usize) -> bool;

    /// What the publisher of this place is about to claim: one more than its number, or 0.
    fn intent(&self, place: usize) -> &AtomicU64;
}

/// The claims of a ring, as one process has them.
pub(crate) struct Claims {
    seen: Seen,
    /// The words of the slots.
    slots: NonNull<AtomicU64>,
    /// Words from one slot to the next.
    stride: usize,
    index: Index,
    /// They keep the memory.
    fellows: Box<dyn Fellows>,
    /// When to ask for each of them again.
    asked: Box<[NowAndThen]>,
    /// When to look again why a message is not there.
    looked: NowAndThen,
    /// Whether this process may publish.
    is_writable: bool,
}

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as this (see `new`).
unsafe impl Send for Claims {}
// SAFETY: as above.
unsafe impl Sync for Claims {}

/// In the head: nothing can be claimed any more. (Sequences have one bit less.)
const CLOSED: u64 = 1 << 63;

/// How often a publisher looks at a slot whose message of the lap before is being written, before it passes
/// over it. A writer that runs is done by then.
const LOOKS: usize = if cfg!(annulus_loom) { 1 } else { 200 };

/// So many others in a row may be faster than a publisher. More are a fault of the memory.
const MOST_TURNS: usize = 1 << 16;

/// What a publisher finds in the slot of the message at the head.
enum Found {
    /// Somebody was faster.
    Claimed,
    /// What to claim it in place of.
    Free(u64),
    /// The message of an earlier lap is being written, by whoever has this place.
    Open { bits: u64, sequence: Sequence, place: usize },
}

impl Claims {
    /// `is_over`: whether no publisher is left, as the kernel says.
    ///
    /// # Safety
    ///
    /// `shown` and the slots live as long as this: the fellows keep them, for example. There are `capacity`
    /// slots of `stride` words, of which the last is the claim. All of it can be written to if `is_writable`.
    pub(crate) unsafe fn new(
        shown: NonNull<Shown>,
        (slots, stride, capacity): (NonNull<AtomicU64>, usize, usize),
        is_writable: bool,
        fellows: impl Fellows + 'static,
        is_over: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let asked = (0..fellows.count()).map(|_| NowAndThen::new()).collect();
        let (seen, index) = (Seen::new(shown, is_over), Index::new(capacity));
        let looked = NowAndThen::new();
        Self { seen, slots, stride, index, fellows: Box::new(fellows), asked, looked, is_writable }
    }

    pub(super) fn is_writable(&self) -> bool {
        self.is_writable
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    #[inline]
    fn head(&self) -> &AtomicU64 {
        self.seen.shown().head()
    }

    /// A word of the slot of `sequence`.
    #[inline]
    fn word(&self, sequence: Sequence, at: usize) -> &AtomicU64 {
        let at = self.index.of(sequence) * self.stride + at;
        // SAFETY: the index is below the capacity, and there is a stride of words for each.
        unsafe { self.slots.add(at).as_ref() }
    }

    #[inline]
    fn claim_word(&self, sequence: Sequence) -> &AtomicU64 {
        self.word(sequence, self.stride - 1)
    }

    /// fellow.claim3, fellow.look12.
    #[inline]
    fn stamp(&self, sequence: Sequence) -> Stamp {
        // Acquire: pairs with slot.w4. All that the writer did to the slot comes before what follows here.
        Stamp::from_bits(self.word(sequence, 0).load(ordering!(Acquire unless "fellow_look_relaxed")))
    }

    /// fellow.claim1, fellow.look9: the sequence behind all that were claimed, or passed over.
    pub(super) fn claimed(&self) -> Sequence {
        // Acquire: pairs with fellow.head7 and fellow.pass8. Who sees the head sees the claims before it.
        behind_claims(self.head().load(Ordering::Acquire), || self.seen.end())
    }

    /// Whether somebody has closed the ring.
    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: a claim after this decides.
        self.head().load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Claims the next message, for the publisher that has the place `own`, whose last one was before `next`.
    /// `None` if the ring is closed; if each slot belongs to somebody who is stopped, so that this has passed
    /// over two for each place; or by a fault of the memory. What is claimed is to be written, or no message
    /// comes there.
    #[inline]
    pub(crate) fn claim(&self, own: usize, next: Sequence) -> Option<Sequence> {
        let mut passes = 0;
        for _ in 0..MOST_TURNS {
            // fellow.claim1. Acquire: pairs with fellow.head7 and fellow.pass8.
            let head = self.head().load(Ordering::Acquire);
            if unlikely(head & CLOSED != 0) {
                self.decide();
                return None;
            }
            let sequence = Sequence::new(head).max(next);
            if unlikely(sequence > Sequence::LAST_BELIEVED || passes > 2 * self.asked.len()) {
                return None;
            }
            let bits = match self.look(sequence) {
                Found::Claimed => {
                    self.move_head(head, sequence);
                    continue;
                }
                Found::Free(bits) => bits,
                Found::Open { bits, sequence: before, place } => {
                    if self.is_done_soon(before) {
                        continue;
                    }
                    // fellow.claim4.
                    if place != own && !self.is_gone(place) && !mutated!("fellow_taken_alive") {
                        // fellow.pass8.
                        passes += 1;
                        self.move_head(head, sequence);
                        continue;
                    }
                    bits
                }
            };
            // fellow.claim5. Relaxed: fellow.claim6 publishes it, and the death of this process.
            self.fellows.intent(own).store(sequence.next().get(), Ordering::Relaxed);
            // fellow.claim6. Acquire: pairs with Release of the one before, and of fellow.next14. Release:
            // pairs with the Acquire of fellow.claim2 and fellow.look10.
            let (new, failure) = (ClaimWord::of(sequence, own).bits(), Ordering::Relaxed);
            let claim = self.claim_word(sequence);
            if claim.compare_exchange(bits, new, Ordering::AcqRel, failure).is_err() {
                pause();
                continue;
            }
            return if self.move_head(head, sequence) || !self.is_withdrawn(sequence, new) {
                Some(sequence)
            } else {
                None
            };
        }
        None
    }

    /// fellow.claim2 and fellow.claim3.
    #[inline]
    fn look(&self, sequence: Sequence) -> Found {
        // Acquire: pairs with fellow.claim6 and fellow.next14.
        let bits = self.claim_word(sequence).load(Ordering::Acquire);
        let claim = ClaimWord::of_bits(bits, sequence);
        match claim.owner {
            ClaimOwner::Nobody => Found::Free(bits),
            _ if claim.sequence >= sequence => Found::Claimed,
            ClaimOwner::Lost => Found::Free(bits),
            ClaimOwner::Place(_) if self.stamp(sequence) >= Stamp::done(claim.sequence) => Found::Free(bits),
            ClaimOwner::Place(place) => Found::Open { bits, sequence: claim.sequence, place },
        }
    }

    /// Whether message `sequence`, which is being written, is there after a while.
    #[cold]
    fn is_done_soon(&self, sequence: Sequence) -> bool {
        (0..LOOKS).any(|_| {
            pause();
            self.stamp(sequence) >= Stamp::done(sequence)
        })
    }

    fn is_gone(&self, place: usize) -> bool {
        place >= self.asked.len() || self.fellows.is_gone(place)
    }

    /// fellow.head7, fellow.pass8: message `sequence` was claimed, or is passed over. False if the ring was
    /// closed before the head was past it.
    #[inline]
    fn move_head(&self, head: u64, sequence: Sequence) -> bool {
        let next = sequence.next().get();
        // Release: pairs with fellow.claim1 and fellow.look9. (A failure: somebody was faster, or has closed
        // the ring.)
        match self.head().compare_exchange(head, next, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => true,
            Err(head) => head & CLOSED == 0 || head & !CLOSED >= next,
        }
    }

    /// Whether the ring ends before message `sequence`, which was claimed while somebody closed it.
    #[cold]
    fn is_withdrawn(&self, sequence: Sequence, bits: u64) -> bool {
        let ends_before = self.decide() <= sequence && !mutated!("fellow_claim_kept");
        if ends_before {
            self.lose(sequence, bits);
        }
        ends_before
    }

    /// fellow.next14: message `sequence` will never be. `bits`: as it was claimed.
    fn lose(&self, sequence: Sequence, bits: u64) -> bool {
        let lost = ClaimWord::lost(sequence).bits();
        // Release: pairs with fellow.claim2 and fellow.look10. Acquire: pairs with fellow.claim6.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        self.claim_word(sequence).compare_exchange(bits, lost, success, failure).is_ok()
    }

    /// Nothing is claimed any more.
    pub(crate) fn close(&self) {
        // fellow.end15. Release: pairs with the Acquire of whoever is refused (fellow.claim1).
        self.head().fetch_or(CLOSED, Ordering::AcqRel);
        self.decide();
    }

    /// Where the ring ends, which somebody has closed: fellow.end16.
    #[cold]
    fn decide(&self) -> Sequence {
        let head = believed(self.head().load(Ordering::Acquire) & !CLOSED);
        let is_claimed = matches!(self.look(head), Found::Claimed);
        self.seen.shown().decide_end(if is_claimed { head.next() } else { head })
    }

    /// If somebody has closed the ring and has ended before it was decided where the ring ends, decides that.
    pub(crate) fn decide_if_closed(&self) {
        if self.is_closed() {
            self.decide();
        }
    }

    /// fellow.next13 and fellow.next14: who has taken this place, and has claimed nothing yet, marks what its
    /// last publisher had claimed and not written. Whether there was such a message.
    pub(crate) fn finish_for_last_owner(&self, place: usize) -> bool {
        let open = self.open_claim_of(place).filter(|_| !mutated!("fellow_lost_unsaid"));
        open.is_some_and(|(sequence, bits)| self.lose(sequence, bits))
    }

    /// Whether a publisher that is gone has claimed a message that is not there. A system call for each place
    /// with an open claim.
    #[cfg(not(annulus_loom))]
    pub(crate) fn has_stuck(&self) -> bool {
        (0..self.asked.len()).any(|place| self.open_claim_of(place).is_some() && self.fellows.is_gone(place))
            && !mutated!("fellow_stuck_unseen")
    }

    /// The message that was claimed from this place, and is not there; and how it was claimed.
    fn open_claim_of(&self, place: usize) -> Option<(Sequence, u64)> {
        // fellow.next13. Relaxed: the lock of the place comes between, or it is a hint.
        let intent = self.fellows.intent(place).load(Ordering::Relaxed);
        let sequence = believed(intent.checked_sub(1)?);
        // Acquire: pairs with fellow.claim6.
        let bits = self.claim_word(sequence).load(Ordering::Acquire);
        let is_open = ClaimWord::of_bits(bits, sequence) == ClaimWord::of(sequence, place)
            && self.stamp(sequence) < Stamp::done(sequence);
        is_open.then_some((sequence, bits))
    }

    /// Has the processor get the lines of message `sequence` that a claim begins with, because this publisher
    /// claims it soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, sequence: Sequence) {
        // (Of a small message that is one line.)
        prefetch_to_write(self.word(sequence, 0));
        prefetch_to_write(self.claim_word(sequence));
    }

    /// Whether message `sequence`, which is not there, will never be, or is no longer waited for. Looks for
    /// that when the next message comes to its slot, and now and then; and asks the kernel now and then.
    // Decision 0133: a poll in vain leaves the head's line to the publishers.
    #[inline]
    pub(super) fn never_comes(&self, sequence: Sequence) -> bool {
        let (next, is_due) = (sequence.next(), self.looked.is_due());
        // (Whoever passes over a message claims the next one.)
        let tells = || self.stamp(next) >= Stamp::writing(next) && !mutated!("fellow_pass_unseen");
        (is_due || tells()) && self.is_lost(sequence, is_due)
    }

    /// The same, with a look at the head. `is_due`: nobody has looked for a while.
    fn is_lost(&self, sequence: Sequence, is_due: bool) -> bool {
        // fellow.look9, in this order. See `claimed`.
        let claimed = self.claimed();
        // fellow.look10. Acquire: pairs with fellow.claim6 and fellow.next14.
        let bits = self.claim_word(sequence).load(Ordering::Acquire);
        let claim = ClaimWord::of_bits(bits, sequence);
        let never_comes = match claim.owner {
            // Nobody has claimed it, so if the head is past it, it was passed over.
            ClaimOwner::Nobody => claimed > sequence,
            _ if claim.sequence < sequence => claimed > sequence,
            // The slot was claimed anew when it was there, or lost.
            _ if claim.sequence > sequence => true,
            ClaimOwner::Lost => true,
            // Somebody has passed over the message a lap later; or:
            ClaimOwner::Place(place) => {
                claimed > sequence.plus(self.index.capacity() as u64) || self.is_gone_now(place, is_due)
            }
        };
        // fellow.look12.
        never_comes && self.stamp(sequence) < Stamp::done(sequence)
    }

    /// fellow.look11: asks the kernel if that `is_due`, and now and then.
    fn is_gone_now(&self, place: usize, is_due: bool) -> bool {
        // (Where there is no such place, nobody has it.)
        self.asked.get(place).is_none_or(|asked| (asked.is_due() || is_due) && self.is_gone(place))
            && !mutated!("fellow_death_unseen")
    }

    /// For [`Head::survey`](super::head::Head::survey): which message the slot of `sequence` waits for, which
    /// lies before the head.
    pub(super) fn waits_for(&self, sequence: Sequence) -> Sequence {
        let claim = ClaimWord::of_bits(self.claim_word(sequence).load(Ordering::Acquire), sequence);
        let is_settled = match claim.owner {
            ClaimOwner::Nobody => return self.lap_after(sequence),
            ClaimOwner::Lost => true,
            ClaimOwner::Place(_) => self.stamp(sequence) >= Stamp::done(claim.sequence),
        };
        // What is not claimed, and lies before the head, was passed over; also where the slot's owner is in
        // the middle of a message of an earlier lap. That one counts as lost, and nobody begins with it.
        if is_settled || claim.sequence < sequence {
            self.lap_after(claim.sequence.max(sequence))
        } else {
            claim.sequence
        }
    }

    fn lap_after(&self, sequence: Sequence) -> Sequence {
        sequence.plus(self.index.capacity() as u64)
    }
}

/// The sequence behind all that were claimed, or passed over, as the word of the head and the end say it.
#[inline]
pub(crate) fn behind_claims(head: u64, end: impl FnOnce() -> Option<Sequence>) -> Sequence {
    let claimed = believed(head & !CLOSED);
    let end = if unlikely(head & CLOSED != 0) { end() } else { None };
    // One more than the head, if the end is behind a message for which that was not moved on.
    end.map_or(claimed, |end| end.clamp(claimed, claimed.next()))
}

/// No number is believed that is too large to count on from.
fn believed(number: u64) -> Sequence {
    Sequence::new(number).min(Sequence::LAST_BELIEVED)
}
