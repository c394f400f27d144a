//! One atomic word for each slab: where the slab is (free, owned, in a handle), and the generation of its
//! handles.
//!
//! ```text
//!            alloc                    into_handle                 redeem
//!  free ───────────────▶ owned ───────────────────▶ in a handle ──────────▶ owned, generation + 1
//!    ◀───────────────────┘ drop
//!
//!  63                     32 31                      0
//! ┌─────────────────────────┬─────────────────────────┐
//! │ link                    │ generation              │
//! └─────────────────────────┴─────────────────────────┘
//! ```
//!
//! The link of a free slab is the index of the next free one, or `END`. `OWNED`, `IN_HANDLE` and `ORPHANED`
//! are links that no index reaches. The one step for which threads race is out of a handle: one
//! compare-exchange of the whole word, so of all threads that hold the handle one wins, and afterwards the
//! generation is another. Every other step is made by the slab's only owner.

use crate::base::free_list::END;
use crate::sync::{AtomicU64, Ordering, ordering, seeded};

/// A `Buffer` has the slab.
// Mutants: `- with /`: any numbers that no index reaches will do.
const OWNED: u32 = u32::MAX - 1;
/// A handle has it.
// Mutants: `- with /`: any numbers that no index reaches will do.
const IN_HANDLE: u32 = u32::MAX - 2;
/// The pool is closed, and has looked at this slab.
// Mutants: `- with /`: any numbers that no index reaches will do.
const ORPHANED: u32 = u32::MAX - 3;

const fn pack(link: u32, generation: u32) -> u64 {
    // Mutants: `| with ^`: no bit is in both.
    (link as u64) << 32 | generation as u64
}

const fn link_of(bits: u64) -> u32 {
    (bits >> 32) as u32
}

/// All of it is one atomic, so a reference to it may be an argument while another thread gives the memory
/// back: the last step of an owner is one of these calls.
#[repr(transparent)]
pub(super) struct SlabWord(AtomicU64);

impl SlabWord {
    /// Of a free slab.
    pub(super) fn free(next: u32, generation: u32) -> Self {
        Self(AtomicU64::new(pack(next, generation)))
    }

    /// Whether the slab was free at that moment.
    pub(super) fn is_free(&self) -> bool {
        // Relaxed: a number for people; nobody touches a slab because of it.
        let link = link_of(self.0.load(Ordering::Relaxed));
        link < ORPHANED || link == END
    }

    /// list.pop2: the link, of a slab that was on top of the free list. Anything, if it no longer is.
    #[inline]
    pub(super) fn link(&self) -> u32 {
        // Relaxed: comes from list.push4 of the push that the caller saw (list.pop1, Acquire), or is newer,
        // and then list.pop3 fails.
        link_of(self.0.load(Ordering::Relaxed))
    }

    /// list.push4, by the owner: the slab that will follow in the free list.
    #[inline]
    pub(super) fn set_link(&self, next: u32) {
        // Relaxed: the owner's own; list.push5 (Release) publishes it.
        let generation = self.0.load(Ordering::Relaxed) as u32;
        self.0.store(pack(next, generation), Ordering::Relaxed);
    }

    /// Called by the owner, which has just taken the slab off the free list.
    #[inline]
    pub(super) fn set_owned(&self) {
        self.set_link(OWNED);
    }

    /// pool.give1, by the owner: the slab goes into a handle, of the generation returned. `None` if the pool
    /// was closed: then the slab belongs to nobody any more.
    ///
    /// After it the caller may touch the slab no more; and if it was not `None`, nothing of the pool.
    #[inline]
    pub(super) fn hand_out(&self) -> Option<u32> {
        // Relaxed: the generation changes in `redeem` only, and nobody can redeem what is owned.
        let generation = self.0.load(Ordering::Relaxed) as u32;
        // Release: pairs with the Acquire of pool.redeem2 and of pool.close3, so the slab's next owner sees
        // what this one wrote. A swap rather than a store: of this and pool.close3 one sees the other.
        let before =
            self.0.swap(pack(IN_HANDLE, generation), ordering!(Release unless "pool_handle_relaxed"));
        (link_of(before) != ORPHANED).then_some(generation)
    }

    /// pool.redeem2, by any thread: takes the slab out of the handle of `generation`, to be at `next`
    /// afterwards. One of the threads that try gets `Ok`, and is the owner; the others get the slab's
    /// generation.
    #[inline]
    pub(super) fn redeem(&self, generation: u32, next: u32) -> Result<(), u32> {
        let next = if seeded!("pool_generation_stays") { generation } else { next };
        let (out, owned) = (pack(IN_HANDLE, generation), pack(OWNED, next));
        if seeded!("pool_handle_not_atomic") {
            let seen = self.0.load(Ordering::Acquire);
            // Mutants: `!= with ==`: only a seeded bug comes here.
            if seen != out {
                return Err(seen as u32);
            }
            self.0.store(owned, Ordering::Relaxed);
            return Ok(());
        }
        // Acquire: pairs with the Release of pool.give1. Relaxed where it fails: the caller touches nothing
        // then.
        let exchanged = self.0.compare_exchange(
            out,
            owned,
            ordering!(Acquire unless "pool_redeem_relaxed"),
            Ordering::Relaxed,
        );
        exchanged.map(drop).map_err(|seen| seen as u32)
    }

    /// pool.close2, by the thread that closes the pool, of a slab in the free list, which has no owner.
    /// Returns the next slab of the list.
    pub(super) fn bury(&self) -> u32 {
        // Relaxed: the slab came with pool.close1 (Acquire), and has no owner.
        let next = link_of(self.0.load(Ordering::Relaxed));
        self.0.store(pack(ORPHANED, 0), Ordering::Relaxed);
        next
    }

    /// pool.close3, by the thread that closes the pool: tells the slab's `Buffer`, if there is one, that the
    /// pool is gone. Returns whether there is.
    pub(super) fn orphan(&self) -> bool {
        // Acquire: pairs with the Release of pool.give1. Either pool.give1 comes first, then nobody has the
        // slab, and what was done with it comes before the end of its memory; or pool.close3 comes first,
        // then pool.give1 finds it.
        let before = link_of(self.0.swap(pack(ORPHANED, 0), ordering!(Acquire unless "pool_orphan_relaxed")));
        before != ORPHANED && before != IN_HANDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_finds_owned_slabs() {
        let [free, buried, owned, in_handle, orphaned] = [(); 5].map(|()| SlabWord::free(END, 7));
        assert!(free.is_free() && SlabWord::free(ORPHANED - 1, 7).is_free());
        assert_eq!(buried.bury(), END);
        [&owned, &in_handle, &orphaned].into_iter().for_each(SlabWord::set_owned);
        assert_eq!(in_handle.hand_out(), Some(7));
        assert!(![&buried, &owned, &in_handle].map(SlabWord::is_free).contains(&true));
        assert_eq!(
            [&buried, &owned, &in_handle, &orphaned].map(SlabWord::orphan),
            [false, true, false, true]
        );
        assert!(!orphaned.is_free());
        assert_eq!(orphaned.hand_out(), None);
    }
}
