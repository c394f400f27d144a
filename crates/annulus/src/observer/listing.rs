//! [`Listing`]: the entry of a ring with a name in the list of all such rings.
//!
//! ```text
//! a builder of a ring with a name        the last handle of its last side     a snapshot
//! puts an entry into the list            takes the entry's lock               takes the entry's lock
//!   that points to the ring              it points to nothing                 takes a snapshot, if it points
//!                                        removes it from the list               to a ring
//! ```
//!
//! *The pointer is no [`Weak`](alloc::sync::Weak)*. A thread that looked would have a share of the ring for a
//! while. If it was the last one, the messages would be dropped on its thread, perhaps after what they borrow
//! from. But any ring may have a name, also one of borrowed messages. So the list has no share of any ring,
//! and the thread that leaves waits for a thread that looks at that moment.
//!
//! *The entry ends before the ring.* [`Listing::side_goes`] is called while a handle is still there: no
//! thread looks any more when the ring is dropped.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::transmute;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Observe;
use crate::sync::{AtomicUsize, Ordering, seeded};

/// All entries, by their numbers.
static LIST: Mutex<BTreeMap<u64, Arc<ListingEntry>>> = Mutex::new(BTreeMap::new());

/// The entries of all rings whose names are wanted, in the order in which the rings were made.
pub(super) fn entries(is_wanted: impl Fn(&str) -> bool) -> Vec<Arc<ListingEntry>> {
    lock(&LIST).values().filter(|entry| is_wanted(&entry.name)).cloned().collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic can't leave these values half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a ring has in the list: nothing, if it has no name.
pub(crate) struct Listing(Option<Arc<ListingEntry>>);

/// A ring that has a name.
pub(crate) struct ListingEntry {
    name: Box<str>,
    /// How many sides of the ring have handles in this process. Before the ring is there, it is 0.
    sides: AtomicUsize,
    state: Mutex<ListingState>,
}

/// Where the ring is, while it is there.
struct ListingState {
    /// In the list.
    number: u64,
    ring: Option<NonNull<dyn Observe>>,
}

// Decision 0119: no share of the ring.
// SAFETY: a thread that follows the pointer has the lock, and `dyn Observe` may be used by any thread.
unsafe impl Send for ListingState {}

impl Listing {
    /// For a ring of that name; it is not in the list yet.
    #[inline]
    pub(crate) fn new(name: Option<&str>) -> Self {
        Self(name.map(Self::entry))
    }

    #[cold]
    fn entry(name: &str) -> Arc<ListingEntry> {
        let state = Mutex::new(ListingState { number: 0, ring: None });
        Arc::new(ListingEntry { name: name.into(), sides: AtomicUsize::new(0), state })
    }

    /// The ring is there, with handles on so many sides. From now on it is in the list, if it has a name.
    ///
    /// # Safety
    ///
    /// This listing is the ring's own, and this is called once. The ring stays where it is until
    /// [`side_goes`](Self::side_goes) has been called for each of the sides, also for each that
    /// [came](Self::side_comes) later; and until that call has returned to the thread that made the last one,
    /// no code has the ring by `&mut`.
    #[inline]
    pub(crate) unsafe fn begin<R: Observe>(&self, ring: &R, sides: usize) {
        let Some(entry) = self.0.as_ref().filter(|_| !seeded!("named_rings_unlisted")) else { return };
        // SAFETY: only a lifetime changes. A thread that follows the pointer comes before the end of the ring
        // (this function's contract), and touches no message (`Observe`'s contract), which could end before.
        let ring = unsafe {
            transmute::<NonNull<dyn Observe + '_>, NonNull<dyn Observe + 'static>>(NonNull::from(ring))
        };
        // Relaxed: nobody looks at it yet.
        entry.sides.store(sides, Ordering::Relaxed);
        let mut list = lock(&LIST);
        let number = list.last_key_value().map_or(0, |(last, _)| last + 1);
        *lock(&entry.state) = ListingState { number, ring: Some(ring) };
        list.insert(number, Arc::clone(entry));
    }

    /// Whether the ring has a name.
    #[inline]
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// A side that had no handle any more has one again, which a handle of another side has made.
    #[inline]
    pub(crate) fn side_comes(&self) {
        if let Some(entry) = self.0.as_ref().filter(|_| !seeded!("listing_side_stays_gone")) {
            // Relaxed: the side of the caller counts, so this is not the end of anything.
            entry.sides.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The last handle of a side goes: it is still there. With the last side, the ring leaves the list.
    /// Waits for a thread that looks at the ring now.
    #[inline]
    pub(crate) fn side_goes(&self) {
        if let Some(entry) = &self.0 {
            entry.side_goes();
        }
    }
}

impl ListingEntry {
    #[cold]
    #[inline(never)]
    fn side_goes(&self) {
        // Relaxed: it decides only which side calls `end`, and the lock there orders all else.
        let left = self.sides.fetch_sub(1, Ordering::Relaxed);
        if left == 1 || seeded!("listing_ends_with_one_side") {
            self.end();
        }
    }

    fn end(&self) {
        let number = {
            let mut state = lock(&self.state);
            state.ring = None;
            state.number
        };
        // (One lock after the other. `begin` takes the second inside the first.)
        lock(&LIST).remove(&number);
    }

    /// What `look` says of the ring; `None` if it is gone. The ring does not go before this returns.
    pub(crate) fn look<A>(&self, look: impl FnOnce(&dyn Observe) -> A) -> Option<A> {
        let state = lock(&self.state);
        let ring = state.ring?;
        let state = Some(state).filter(|_| !seeded!("listing_looks_unlocked"));
        // SAFETY: by the contract of `begin`, the ring is there until `end` has had this lock.
        let said = look(unsafe { ring.as_ref() });
        drop(state);
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use super::*;
    use crate::stats::Stats;
    use crate::sync::AtomicBool;

    /// A ring whose snapshot takes as long as the test wants.
    struct Slow {
        begun: Mutex<Sender<()>>,
        go_on: Mutex<Receiver<()>>,
        is_done: AtomicBool,
    }

    // SAFETY: it has no messages.
    unsafe impl Observe for Slow {
        fn stats(&self) -> Stats {
            lock(&self.begun).send(()).unwrap();
            lock(&self.go_on).recv().unwrap();
            self.is_done.store(true, Ordering::Relaxed);
            Stats::new(None, 1)
        }

        fn is_closed(&self) -> bool {
            false
        }
    }

    /// The last side is gone only after the thread that looked has looked away.
    #[test]
    fn end_waits_for_a_snapshot() {
        let ((begun, has_begun), (go, go_on)) = (channel(), channel());
        let slow =
            Slow { begun: Mutex::new(begun), go_on: Mutex::new(go_on), is_done: AtomicBool::new(false) };
        let listing = Listing::new(Some("a slow snapshot"));
        // SAFETY: it stays there until both sides are gone.
        unsafe { listing.begin(&slow, 2) };
        let listed = || entries(|name| name == "a slow snapshot");
        let entry = listed().pop().unwrap();
        let other = thread::spawn({
            let entry = Arc::clone(&entry);
            move || entry.look(|ring| ring.stats()).is_some()
        });
        has_begun.recv().unwrap();
        assert!(listing.0.as_ref().unwrap().state.try_lock().is_err(), "the end has to wait");
        listing.side_goes();
        assert!(!listed().is_empty(), "one side is left");
        thread::scope(|scope| {
            let end = scope.spawn(|| {
                listing.side_goes();
                slow.is_done.load(Ordering::Relaxed)
            });
            go.send(()).unwrap();
            assert!(end.join().unwrap(), "the end came while somebody looked");
        });
        assert!(other.join().unwrap());
        assert!(entry.look(|_| ()).is_none() && listed().is_empty());
    }

    #[test]
    fn ring_without_a_name_has_no_entry() {
        assert!(Listing::new(None).0.is_none());
    }
}
