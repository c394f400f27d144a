//! [`Claimant`]: a publisher's place, and what it does there: it claims messages, and passes over some.

use alloc::sync::Arc;
use core::ptr::NonNull;

use super::{CLOSED, Claims};
use crate::base::hint::unlikely;
use crate::base::sequence::Sequence;
use crate::ring::range::Range;
use crate::sync::{AtomicU64, Ordering, mutated, pause};

/// Who has a place.
pub(crate) struct Claimant {
    /// Of its place, which the claims keep: so nobody has to be asked where it is.
    intent: NonNull<AtomicU64>,
    /// Behind its last message. The next one comes here at the earliest, and just here where nobody else
    /// publishes.
    next: Sequence,
    claims: Arc<Claims>,
    place: usize,
}

// SAFETY: the pointer stands for a shared borrow of an atomic, which lives as long as the claims.
unsafe impl Send for Claimant {}
// SAFETY: as above.
unsafe impl Sync for Claimant {}

/// So many others in a row may be faster than a publisher of another process. More are a fault of the memory.
const MOST_TURNS: usize = 1 << 16;

/// Whether nothing is claimed where this is the head: the ring is closed, or it can't be.
#[inline]
fn is_too_far(head: u64) -> bool {
    const { assert!(CLOSED > Sequence::LAST_BELIEVED.get()) };
    unlikely(head > Sequence::LAST_BELIEVED.get())
}

impl Claimant {
    /// Of a place that nobody else has. Its first message comes at `next` at the earliest: where the ring
    /// begins, or later.
    pub(crate) fn new(claims: Arc<Claims>, place: usize, next: Sequence) -> Self {
        let intent = NonNull::from(claims.fellows.intent(place));
        Self { intent, next, claims, place }
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    pub(crate) fn shared_claims(&self) -> Arc<Claims> {
        Arc::clone(&self.claims)
    }

    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// fellow.claim2, fellow.pass8, fellow.next9.
    #[inline]
    fn intend(&self, bits: u64) {
        // SAFETY: the claims keep it. Release: pairs with `Claims::intent`. The messages of the intent before
        // are there, or were passed over.
        unsafe { self.intent.as_ref() }.store(bits, Ordering::Release);
    }

    /// Claims the next messages, `most` at most. `None` if the ring is closed, or by a fault of the memory.
    /// Each is to be [taken](Self::take) and then written, or passed over.
    #[inline(always)]
    pub(crate) fn claim(&mut self, most: u64) -> Option<Range> {
        // fellow.claim1. A guess: fellow.claim3 decides.
        let head = self.next.get();
        let range = match if is_too_far(head) { Err(head) } else { self.claim_from(head, most) } {
            Ok(range) => range,
            Err(head) => self.claim_beside_others(head, most)?,
        };
        self.next = range.end();
        Some(range)
    }

    /// The same, where the guess was wrong.
    #[cold]
    #[inline(never)]
    fn claim_beside_others(&self, mut head: u64, most: u64) -> Option<Range> {
        let mut turns = 0;
        while turns < MOST_TURNS || self.claims.is_here() {
            turns += 1;
            if is_too_far(head.max(self.next.get())) {
                break;
            }
            match self.claim_from(head, most) {
                Ok(range) => return Some(range),
                Err(found) => head = found,
            }
            pause();
        }
        // It gives up what it has announced.
        self.intend(0);
        self.claims.decide_if_closed();
        None
    }

    /// If this is the head. Otherwise returns what is.
    #[inline(always)]
    fn claim_from(&self, head: u64, most: u64) -> Result<Range, u64> {
        let first = Sequence::new(head).max(self.next);
        let most = if most == 1 { 1 } else { most.min(self.claims.most) };
        let range = Range::new(first, most);
        // fellow.claim2: before fellow.claim3.
        if !mutated!("fellow_intended_late") {
            self.intend(range.bits());
        }
        // fellow.claim3. Release: pairs with fellow.look10 and with the Acquire here: who claims later sees
        // this intent. Relaxed in a failure: as fellow.claim1.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let claimed = self.claims.head().compare_exchange(head, range.end().get(), success, failure);
        if mutated!("fellow_intended_late") && claimed.is_ok() {
            self.intend(range.bits());
        }
        claimed.map(|_| range)
    }

    /// For tests: between fellow.claim2 and fellow.claim3, where another publisher claims `range`.
    #[cfg(all(test, feature = "async", not(annulus_loom)))]
    pub(crate) fn announce(&self, range: Range) {
        self.intend(range.bits());
    }

    /// Whether it may write `sequence`, which it has claimed, now, though its slot does not have the stamp of
    /// the lap before (fellow.take4). If not, it is to [pass](Self::pass) over it.
    #[inline]
    pub(crate) fn take(&self, sequence: Sequence) -> bool {
        self.claims.take(self.place, sequence)
    }

    /// fellow.pass8: of `range`, in which all before `sequence` are there or were passed over, it does not
    /// write this one, because somebody who is stopped has its slot.
    #[cold]
    pub(crate) fn pass(&self, range: Range, sequence: Sequence) {
        self.claims.seen.shown().tell_of_missed(sequence.next());
        if !mutated!("fellow_pass_kept") {
            self.intend(range.from(sequence.next()).bits());
        }
    }

    /// fellow.next9: who has just taken this place empties its intent. Whether its last publisher had claimed
    /// a message there that is not there.
    #[cfg(feature = "shm")]
    pub(crate) fn begin(&self) -> bool {
        let is_open = self.claims.is_open(self.place);
        if !mutated!("fellow_lost_unsaid") {
            self.intend(0);
        }
        if is_open {
            self.claims.seen.shown().tell_of_missed(self.claims.claimed());
        }
        is_open
    }
}
