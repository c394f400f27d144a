//! [`Claims`]: how several publishers share the slots of a ring. In a lossy ring they wait for none of each
//! other. Between processes there are also lossless ones, in which they wait for room first
//! (`claims/room.rs`).
//!
//! They are of one process, or of several. Then a publisher may also die before it has written a message that
//! it has claimed.
//!
//! A publisher claims a [range](Range) of messages by one step of the head. Before that it stores the range
//! in the intent of its place. So each message before the head has an owner, whose intent names it until it
//! is there.
//!
//! ```text
//! publisher                                                   subscriber that finds nothing at s
//! fellow.claim1  h := where its last range ended              fellow.look10  head is past s?
//! fellow.claim2  intent: (h, n)                               fellow.look11  each intent: s is in it?
//! fellow.claim3  head: h → h + n; else h := head, and again   fellow.look12  its owner is gone?
//!    for each message s of them:                              fellow.look13  stamp: s is not there after all
//! fellow.take4   stamp: of a lap before s?     ── yes: write
//! fellow.take5   each intent: a of this slot, before s?       publisher that takes the place of a dead one
//! fellow.take6   stamp: a is there?                           fellow.next9   intent: none
//! fellow.take7   the owner of a is gone?     ── no: pass
//!    write: slot.w1 to slot.w4
//! fellow.pass8   intent: what comes behind s
//! ```
//!
//! *One writer at a time.* Messages a and s have one slot, and a comes first. A publisher that claims s has
//! moved the head after the owner of a did (fellow.claim3), so it sees the intent with a, or a later one. The
//! owner stores a later one when a is there, or was passed over. If it sees the intent with a, it looks at
//! the stamp after that (fellow.take6), and leaves the slot alone while a is not there and its owner lives.
//! The kernel says which owner is gone: an owner has the lock of its place until its process has ended, and
//! executes nothing after that. Where the stamp is exactly the one of a lap before s (fellow.take4), the
//! owner of that message has made sure of all before.
//!
//! *A dead publisher holds up no other.* A publisher that needs its slot a lap later takes it. A subscriber
//! passes the message, and counts it as lagged. The next owner of the place empties the intent before it
//! claims anything, so that nothing in it is taken for one of its own.
//!
//! *A publisher that is stopped and lives holds up no other for long.* None takes a slot from it. A publisher
//! that has claimed the message of a lap later looks a while, and then passes over that slot (fellow.pass8):
//! that number will not be, and is counted as lagged. Its message comes in the next slot. (If all slots are
//! held, it is lost with the last number that was passed over for it.) A subscriber waits for a message of a
//! stopped publisher until the others have gone round once.
//!
//! *A publisher that is slower than another one* has an intent of messages that it has not claimed, between
//! fellow.claim2 and its next intent. If it is stopped there, and their owner dies, they are waited for as if
//! they were its own. If their owner writes them, they are there, and the intent means nothing.
//!
//! *The end.* A close sets a bit in the head. Nothing is claimed after that, so the ring ends at the head.
//!
//! Nothing in the memory is trusted. What a publisher of another process writes there on purpose can lose
//! messages, and mix up words of two, of which any bytes are one. Each loop has a bound.
// Decision 0124: the kernel says which process is gone.
// Decision 0140: a range has one claim, and the intent of each place says which publisher has it.

mod places_of_process;
#[cfg(feature = "shm")]
mod room;
#[cfg(all(test, feature = "shm", not(annulus_loom)))]
mod tests;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ptr::NonNull;

pub(crate) use places_of_process::OwnPlace;
#[cfg(feature = "shm")]
pub(crate) use room::NotClaimed;

use super::range::Range;
use super::shared_numbers::Seen;
#[cfg(feature = "shm")]
use super::shared_numbers::SharedNumbers;
use crate::base::index::Index;
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::{Sequence, Stamp};
use crate::stats::HandleCount;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, ordering, pause, seeded, unlikely};

/// The places of the publishers, as a process has them.
pub(crate) trait ClaimPlaces: Send + Sync {
    /// So many of them were ever used, the first ones.
    fn used(&self) -> usize;

    /// What this process knows of the publisher of this place.
    fn known(&self, place: usize) -> &Known;

    /// Whether nobody has the lock of this place: asks the kernel. (Its holder does not ask.)
    fn is_gone(&self, place: usize) -> bool;

    /// Whether a publisher has died. Asks the kernel.
    fn have_died(&self) -> bool;

    /// How many publishers there are, and how many there have been, where other processes may have some. Asks
    /// the kernel.
    fn publishers(&self) -> Option<HandleCount> {
        None
    }

    /// Which messages the publisher of this place has claimed last, or is about to claim: a [`Range`].
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
    /// So many messages are claimed together at most.
    most: u64,
    /// They keep the memory.
    places: Box<dyn ClaimPlaces>,
    /// When to look again why a message is not there.
    next_look: NowAndThen,
    /// Whose message was not there. A hint: its intent is looked at first.
    awaited: AtomicUsize,
    /// Two more than the last message that was found to be lost, or 0. A hint: the one behind that is looked
    /// at, at once.
    behind_lost: AtomicU64,
    /// Whether this process may publish.
    is_writable: bool,
}

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as this (see `new`).
unsafe impl Send for Claims {}

// SAFETY: as above.
unsafe impl Sync for Claims {}

/// What a process knows of the publisher of a place.
pub(crate) struct Known {
    /// When to ask the kernel again.
    asked: NowAndThen,
    /// An intent whose owner is gone, or 0. (None comes again: the head is past it.)
    gone_intent: AtomicU64,
    /// An intent with a message that was waited for and did not come, or 0.
    stopped_intent: AtomicU64,
}

impl Known {
    /// Nothing yet; when the kernel is `asked` whether it is gone.
    pub(crate) fn nothing(asked: NowAndThen) -> Self {
        Self { asked, gone_intent: AtomicU64::new(0), stopped_intent: AtomicU64::new(0) }
    }
}

/// In the head: nothing can be claimed any more. (Sequences have one bit less.)
const CLOSED: u64 = 1 << 63;

impl Claims {
    /// `is_over`: whether no publisher is left, as the kernel says.
    ///
    /// # Safety
    ///
    /// `numbers` and the slots live as long as this: the places keep them, for example. There are `capacity`
    /// slots of `stride` words. All of it can be written to if `is_writable`.
    #[cfg(feature = "shm")]
    pub(crate) unsafe fn new(
        numbers: NonNull<SharedNumbers>,
        slots: (NonNull<AtomicU64>, usize, usize),
        is_writable: bool,
        places: impl ClaimPlaces + 'static,
        is_over: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { is_writable, ..Self::of(Seen::new(numbers, is_over), slots, places, NowAndThen::new()) }
    }

    fn of(
        seen: Seen,
        (slots, stride, capacity): (NonNull<AtomicU64>, usize, usize),
        places: impl ClaimPlaces + 'static,
        next_look: NowAndThen,
    ) -> Self {
        Self {
            seen,
            slots,
            stride,
            index: Index::new(capacity),
            most: Range::most_of(capacity),
            places: Box::new(places),
            next_look,
            awaited: AtomicUsize::new(0),
            behind_lost: AtomicU64::new(0),
            is_writable: true,
        }
    }

    /// Whether all publishers are of this process.
    pub(crate) fn is_here(&self) -> bool {
        self.seen.is_here()
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// As of [`ClaimPlaces::publishers`].
    pub(crate) fn publishers(&self) -> Option<HandleCount> {
        self.places.publishers()
    }

    /// Whether all publishers are gone, one at least has died, and nobody has closed the ring. (The last one
    /// that leaves is gone before it closes the ring.)
    #[cold]
    pub(super) fn publishers_have_died(&self) -> bool {
        self.seen.publisher_has_died() && (self.places.have_died() || seeded!("fellow_leaver_is_dead"))
    }

    #[inline]
    fn head(&self) -> &AtomicU64 {
        self.seen.numbers().head()
    }

    /// The stamp's word of the slot of `sequence`.
    #[inline]
    fn word(&self, sequence: Sequence) -> &AtomicU64 {
        // SAFETY: the index is below the capacity, and there is a stride of words for each.
        unsafe { self.slots.add(self.index.of(sequence) * self.stride).as_ref() }
    }

    /// fellow.take6, fellow.look13.
    #[inline]
    fn stamp(&self, sequence: Sequence) -> Stamp {
        // Acquire: pairs with slot.w4. All that the writer did to the slot comes before what follows here.
        Stamp::from_bits(self.word(sequence).load(ordering!(Acquire unless "fellow_look_relaxed")))
    }

    fn is_there(&self, sequence: Sequence) -> bool {
        self.stamp(sequence) >= Stamp::done(sequence)
    }

    /// The places that somebody may have.
    fn used_places(&self) -> core::ops::Range<usize> {
        0..self.places.used()
    }

    /// fellow.take5, fellow.look11: the intent of a place.
    fn intent(&self, place: usize) -> u64 {
        // Acquire: pairs with fellow.claim2, fellow.pass8 and fellow.next9. A thread that sees a later intent
        // sees that the messages of the ones before are there.
        self.places.intent(place).load(ordering!(Acquire unless "fellow_intent_relaxed"))
    }
}

/// A publisher that claims, by its place.
pub struct Claimant {
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

impl Claimant {
    /// Of a place that nobody else has. Its first message comes at `next` at the earliest: where the ring
    /// begins, or later.
    pub(crate) fn new(claims: Arc<Claims>, place: usize, next: Sequence) -> Self {
        let intent = NonNull::from(claims.places.intent(place));
        Self { intent, next, claims, place }
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

    /// Claims the next messages, `most` at most, if `head` is the head. Otherwise returns what is.
    #[inline(always)]
    fn claim_from(&self, head: u64, most: u64) -> Result<Range, u64> {
        let first = Sequence::new(head).max(self.next);
        let most = if most == 1 { 1 } else { most.min(self.claims.most) };
        let range = Range::new(first, most);
        // fellow.claim2: before fellow.claim3.
        if !seeded!("fellow_intended_late") {
            self.intend(range.bits());
        }
        // fellow.claim3. Release: pairs with fellow.look10 and with the Acquire here: a publisher that claims
        // later sees this intent. Relaxed in a failure: as fellow.claim1.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let claimed = self.claims.head().compare_exchange(head, range.end().get(), success, failure);
        if seeded!("fellow_intended_late") && claimed.is_ok() {
            self.intend(range.bits());
        }
        claimed.map(|_| range)
    }

    /// As [`claim`](Self::claim), where the guess was wrong.
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

    /// fellow.claim2, fellow.pass8, fellow.next9.
    #[inline]
    fn intend(&self, bits: u64) {
        // SAFETY: the claims keep it. Release: pairs with `Claims::intent`. The messages of the intent before
        // are there, or were passed over.
        unsafe { self.intent.as_ref() }.store(bits, Ordering::Release);
    }

    /// Whether it may write `sequence`, which it has claimed, now, though its slot does not have the stamp of
    /// the lap before (fellow.take4). If not, it is to [pass](Self::pass) over it.
    #[inline]
    pub(crate) fn take(&self, sequence: Sequence) -> bool {
        self.claims.take(self.place, sequence)
    }

    /// fellow.pass8: of `range`, in which all before `sequence` are there or were passed over, it does not
    /// write this one, because a stopped publisher has its slot.
    #[cold]
    pub(crate) fn pass(&self, range: Range, sequence: Sequence) {
        self.claims.seen.numbers().tell_of_missed(sequence.next());
        if !seeded!("fellow_pass_kept") {
            self.intend(range.from(sequence.next()).bits());
        }
    }

    /// fellow.next9: the publisher that has just taken this place empties its intent. Whether its last
    /// publisher had claimed a message there that is not there.
    #[cfg(feature = "shm")]
    pub(crate) fn begin(&self) -> bool {
        let is_open = self.claims.is_open(self.place);
        if !seeded!("fellow_lost_unsaid") {
            self.intend(0);
        }
        if is_open {
            self.claims.seen.numbers().tell_of_missed(self.claims.claimed());
        }
        is_open
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

    /// For tests: between fellow.claim2 and fellow.claim3, where another publisher claims `range`.
    #[cfg(all(test, feature = "async", not(annulus_loom)))]
    pub(crate) fn announce(&self, range: Range) {
        self.intend(range.bits());
    }
}

/// So many others in a row may be faster than a publisher of another process. More are a fault of the memory.
const MOST_TURNS: usize = 1 << 16;

/// Whether nothing is claimed where this is the head: the ring is closed, or it can't be.
#[inline]
fn is_too_far(head: u64) -> bool {
    const { assert!(CLOSED > Sequence::LAST_BELIEVED.get()) };
    unlikely(head > Sequence::LAST_BELIEVED.get())
}

/// How often a publisher looks at a slot whose message of the lap before is being written, before it passes
/// over it. A writer that runs is done by then.
const LOOKS: usize = if cfg!(annulus_loom) { 1 } else { 200 };

/// Where others have few slots, a publisher gives a message up after so many that it passed over.
const LEAST_PASSES: u64 = if cfg!(annulus_loom) { 1 } else { 256 };

// A publisher comes to a slot that the lap before has not left.
impl Claims {
    /// Whether the owner of `sequence`, which has the place `own_place`, may write it now, though its slot
    /// does not have the stamp of the lap before (fellow.take4): no living publisher writes a message of an
    /// earlier lap there.
    #[cold]
    #[inline(never)]
    pub(crate) fn take(&self, own_place: usize, sequence: Sequence) -> bool {
        seeded!("fellow_intents_unseen")
            || self.used_places().all(|place| place == own_place || self.has_left(place, sequence))
    }

    /// As [`take`](Self::take), of the publisher of one place.
    fn has_left(&self, place: usize, sequence: Sequence) -> bool {
        let known = self.places.known(place);
        let mut bits = 0;
        for _ in 0..LOOKS {
            // fellow.take5.
            bits = self.intent(place);
            let range = Range::of_bits(bits, sequence);
            let Some(before) = range.before_in_slot(sequence, &self.index) else { return true };
            // fellow.take6: after fellow.take5.
            if self.is_there(before) {
                return true;
            }
            // Relaxed, here and below: only its publisher uses it.
            if known.stopped_intent.load(Ordering::Relaxed) == bits {
                return self.is_gone_now(place, bits, false);
            }
            pause();
        }
        known.stopped_intent.store(bits, Ordering::Relaxed);
        // fellow.take7.
        self.is_gone_now(place, bits, true) || seeded!("fellow_taken_alive")
    }

    /// fellow.take7, fellow.look12: whether the owner of this intent of a place is gone. Asks the kernel, if
    /// that `is_due`, and now and then.
    fn is_gone_now(&self, place: usize, intent: u64, is_due: bool) -> bool {
        let known = self.places.known(place);
        // Acquire: pairs with the Release below. The answer comes after all that the process did.
        if known.gone_intent.load(Ordering::Acquire) == intent {
            return true;
        }
        let is_gone = (known.asked.is_due() || is_due) && self.places.is_gone(place);
        if is_gone {
            // Release: pairs with the Acquire above.
            known.gone_intent.store(intent, Ordering::Release);
        }
        is_gone
    }

    /// A publisher that has passed over more slots than this, without one between them that it could write,
    /// gives its message up. It has been to each slot that the others can have. (In a small ring several
    /// times: where others publish, too, its next number may have the slot of the last one.)
    pub(crate) fn most_passes(&self) -> u64 {
        let held = self.places.used() as u64 * self.most;
        (2 * held).max(LEAST_PASSES)
    }
}

// A reader: how far the publishers have claimed.
impl Claims {
    /// fellow.look10: the sequence behind all that were claimed.
    pub(crate) fn claimed(&self) -> Sequence {
        // Acquire: pairs with fellow.claim3. A thread that sees the head sees the intents before it.
        behind_claims(self.head().load(Ordering::Acquire))
    }
}

/// The sequence behind all that were claimed, as the word of the head says it. No number is believed that is
/// too large to count on from.
#[inline]
pub(crate) fn behind_claims(head: u64) -> Sequence {
    Sequence::new(head & !CLOSED).min(Sequence::LAST_BELIEVED)
}

// A subscriber finds that a message is not there: whether it is waited for, or lost.
impl Claims {
    /// Whether message `sequence`, which is not there, will never be, or is no longer waited for. Looks for
    /// that now and then, and where somebody has said that it may be missed, when the next message comes to
    /// its slot. Asks the kernel now and then.
    // Decision 0133: a poll that finds nothing leaves the head's line to the publishers.
    // Decision 0142: and the line of the next message.
    #[inline]
    pub(crate) fn never_comes(&self, sequence: Sequence) -> bool {
        let next = sequence.next();
        // Within one process the hint is exact: a publisher that passes over a message stores it before it
        // publishes another one.
        let is_due = if self.is_here() {
            self.seen.numbers().may_be_missed(sequence)
        } else {
            self.next_look.is_due()
        };
        // Relaxed: a hint. Where one message is lost, the next one often is.
        let is_next = sequence.get() < self.behind_lost.load(Ordering::Relaxed);
        if !(is_due || is_next || self.seen.numbers().may_be_missed(sequence)) {
            return false;
        }
        // (A publisher that passes over a message writes the next one, as a rule.)
        let stamp = self.stamp(next);
        let is_passed = stamp >= Stamp::writing(next) && !seeded!("fellow_pass_unseen");
        let is_lapped = stamp >= Stamp::writing(self.lap_after(next));
        if !(is_due || is_next || is_passed) {
            return false;
        }
        // Relaxed: a hint. As long as this one is to write the message, no line of another publisher is
        // looked at.
        let likely = self.awaited.load(Ordering::Relaxed);
        let is_thorough = is_due || is_next || is_lapped;
        (is_thorough || !self.is_awaited(likely, sequence, false)) && self.is_lost(sequence, is_due)
    }

    /// The same, with a look at all that it can depend on. `is_due`: nobody has looked for a while.
    fn is_lost(&self, sequence: Sequence, is_due: bool) -> bool {
        // fellow.look10, before fellow.look11.
        let claimed = self.claimed();
        if claimed <= sequence {
            return false;
        }
        // Its owner is stopped, and the others have gone round.
        let is_lapped_by_claims = claimed > self.lap_after(sequence);
        if !is_lapped_by_claims {
            if let Some(place) = self.used_places().find(|&place| self.is_awaited(place, sequence, is_due)) {
                // Relaxed: a hint.
                self.awaited.store(place, Ordering::Relaxed);
                return false;
            }
        }
        // fellow.look13: after fellow.look11 and fellow.look12.
        let is_lost = !self.is_there(sequence);
        if is_lost {
            // Relaxed: a hint.
            self.behind_lost.store(sequence.plus(2).get(), Ordering::Relaxed);
        }
        is_lost
    }

    /// Whether message `sequence` is in the intent of this place, whose publisher lives, as far as is known.
    fn is_awaited(&self, place: usize, sequence: Sequence, is_due: bool) -> bool {
        // (The hint is one of a place.)
        let intent = self.intent(place);
        Range::of_bits(intent, sequence).covers(sequence)
            && (!self.is_gone_now(place, intent, is_due) || seeded!("fellow_death_unseen"))
    }

    /// For [`Head::survey`](crate::ring::head::Head::survey): the first message from `from` on that is
    /// claimed and not there; `claimed`, which was the head, if there is none. It does not ask the kernel.
    pub(crate) fn first_open(&self, from: Sequence, claimed: Sequence) -> Sequence {
        let from = from.max(claimed.back(self.index.capacity() as u64));
        self.used_places().fold(claimed, |first, place| {
            // In this order, as in `is_lost`.
            let range = Range::of_bits(self.intent(place), from);
            let mut messages = range.messages(from).take_while(|&sequence| sequence < first);
            messages.find(|&sequence| !self.is_there(sequence)).unwrap_or(first)
        })
    }

    /// Whether a publisher that is gone has claimed a message that is not there. A system call for each place
    /// with such a message.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn has_stuck(&self) -> bool {
        self.used_places().any(|place| self.is_open(place) && self.places.is_gone(place))
            && !seeded!("fellow_stuck_unseen")
    }

    fn lap_after(&self, sequence: Sequence) -> Sequence {
        sequence.plus(self.index.capacity() as u64)
    }
}

// The end.
impl Claims {
    /// Whether somebody has closed the ring.
    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: a claim after this decides.
        self.head().load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Nothing is claimed any more.
    pub(crate) fn close(&self) {
        // fellow.end14. Release: pairs with the Acquire in `decide`.
        self.head().fetch_or(CLOSED, Ordering::AcqRel);
        self.decide_if_closed();
    }

    /// fellow.end15: if somebody has closed the ring, says where it ends.
    pub(crate) fn decide_if_closed(&self) {
        // Acquire: pairs with fellow.end14 and fellow.claim3.
        let head = self.head().load(Ordering::Acquire);
        if head & CLOSED != 0 {
            self.seen.numbers().decide_end(behind_claims(head));
        }
    }
}

impl Claims {
    /// Whether a message in the intent of this place was claimed, and is not there.
    #[cfg(feature = "shm")]
    fn is_open(&self, place: usize) -> bool {
        let claimed = self.claimed();
        let range = Range::of_bits(self.intent(place), claimed);
        range.messages(Sequence::FIRST).any(|sequence| sequence < claimed && !self.is_there(sequence))
    }
}
