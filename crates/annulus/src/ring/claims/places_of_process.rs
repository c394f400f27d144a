//! [`OwnPlace`]: a publisher's place in a ring whose publishers are all of this process. There are as many
//! places as there were publishers at one time.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::{ClaimPlaces, Claimant, Claims, Known};
use crate::base::link::Link;
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::Sequence;
use crate::ring::shared_numbers::{Seen, SharedNumbers};
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A publisher's place. The next publisher has it when this is dropped. A clone has another place.
pub struct OwnPlace {
    claimant: Claimant,
    places: Arc<OwnPlaces>,
}

impl OwnPlace {
    /// The first place of a new ring with these slots (the words, the stride, the capacity), whose messages
    /// begin with `first`.
    ///
    /// # Safety
    ///
    /// There are such slots, as long as anybody uses the claims of this place.
    pub(crate) unsafe fn first_of(slots: (NonNull<AtomicU64>, usize, usize), first: Sequence) -> Self {
        let places = Arc::new(OwnPlaces::new());
        places.numbers.begin_at(first);
        let seen = Seen::here(NonNull::from(&places.numbers));
        let claims = Claims::of(seen, slots, Arc::clone(&places), NowAndThen::never());
        Self::taken(Arc::new(claims), places, first)
    }

    fn taken(claims: Arc<Claims>, places: Arc<OwnPlaces>, next: Sequence) -> Self {
        let place = places.take();
        Self { claimant: Claimant::new(claims, place, next), places }
    }
}

impl Deref for OwnPlace {
    type Target = Claimant;

    #[inline(always)]
    fn deref(&self) -> &Claimant {
        &self.claimant
    }
}

impl DerefMut for OwnPlace {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Claimant {
        &mut self.claimant
    }
}

impl Clone for OwnPlace {
    fn clone(&self) -> Self {
        let claims = self.shared_claims();
        let next = claims.claimed();
        Self::taken(claims, Arc::clone(&self.places), next)
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        self.places.give_up(self.place());
    }
}

/// The places, in rows: the first has [`FIRST_ROW`] places, and each further one twice as many as the one
/// before it.
struct OwnPlaces {
    numbers: SharedNumbers,
    rows: [Link<Box<[PublisherRecord]>>; ROWS],
    used: AtomicUsize,
}

const FIRST_ROW: usize = if cfg!(annulus_loom) { 2 } else { 4 };
/// More places than there can be handles.
const ROWS: usize = 30;

/// What is said of one place. On lines of its own: its publisher stores its intent for each claim.
#[repr(align(128))]
struct PublisherRecord {
    intent: AtomicU64,
    is_taken: AtomicBool,
    known: Known,
}

impl OwnPlaces {
    fn new() -> Self {
        let rows = core::array::from_fn(|_| Link::empty());
        Self { numbers: SharedNumbers::zeroed(), rows, used: AtomicUsize::new(0) }
    }

    /// Takes the first place that nobody has.
    fn take(&self) -> usize {
        let mut place = 0;
        while !self.try_take(place) {
            place += 1;
        }
        place
    }

    fn try_take(&self, place: usize) -> bool {
        let (row, at) = row_of(place);
        let row = self.rows[row].get().unwrap_or_else(|| {
            let records = (0..FIRST_ROW << row).map(|_| PublisherRecord::free()).collect();
            self.rows[row].put(records).unwrap_or_else(|theirs| theirs)
        });
        // Acquire: pairs with the Release in `give_up`. What the last publisher did in the place comes before
        // this. Relaxed: another one has it.
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        let is_taken = row[at].is_taken.compare_exchange(false, true, success, failure).is_ok();
        if is_taken {
            // Relaxed: fellow.claim3 hands it on. A thread that sees a claim sees that there is its place.
            self.used.fetch_max(place + 1, Ordering::Relaxed);
        }
        is_taken
    }

    /// Its intent stays: all that it says was written, or passed over.
    fn give_up(&self, place: usize) {
        // Release: pairs with the Acquire in `try_take`.
        self.record(place).is_taken.store(false, Ordering::Release);
    }

    fn record(&self, place: usize) -> &PublisherRecord {
        let (row, at) = row_of(place);
        &self.rows[row].get().expect("a place that was taken")[at]
    }
}

/// In which row a place is, and where.
fn row_of(place: usize) -> (usize, usize) {
    let row = (place / FIRST_ROW + 1).ilog2();
    (row as usize, place - FIRST_ROW * ((1 << row) - 1))
}

impl PublisherRecord {
    fn free() -> Self {
        let known = Known::nothing(NowAndThen::never());
        Self { intent: AtomicU64::new(0), is_taken: AtomicBool::new(false), known }
    }
}

impl ClaimPlaces for Arc<OwnPlaces> {
    fn used(&self) -> usize {
        // Relaxed: as in `try_take`.
        self.used.load(Ordering::Relaxed)
    }

    fn known(&self, place: usize) -> &Known {
        &self.record(place).known
    }

    /// Its publisher may stand still, but nobody has to find out whether it lives.
    fn is_gone(&self, _: usize) -> bool {
        false
    }

    // Unreached: within one process nobody asks why a ring has ended
    fn have_died(&self) -> bool {
        false
    }

    fn intent(&self, place: usize) -> &AtomicU64 {
        &self.record(place).intent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        let mut wanted = (0..4).flat_map(|row| (0..FIRST_ROW << row).map(move |at| (row, at)));
        assert!((0..15 * FIRST_ROW).all(|place| wanted.next() == Some(row_of(place))));
    }

    #[test]
    fn place_that_was_given_up_is_taken_again() {
        let slots = [const { AtomicU64::new(0) }; 8];
        // SAFETY: the slots are there until the end of the test.
        let first = unsafe { OwnPlace::first_of((NonNull::from(&slots[0]), 2, 4), Sequence::FIRST) };
        let others: [OwnPlace; 9] = core::array::from_fn(|_| first.clone());
        assert!(others.iter().map(|other| other.place()).eq(1..10));
        assert_eq!(first.places.used(), 10);
        drop(others);
        assert_eq!(first.clone().place(), 1);
        assert_eq!(first.places.used(), 10);
    }
}
