//! A free list: a Treiber stack of indexes, with a tag against ABA. The slabs of a pool that nobody has are
//! in one, and the rings of a queue that no producer has. An entry's link is kept by the owner of the list.
//!
//! ```text
//! pop                                               push
//! list.pop1  head                  Acquire          load head
//! list.pop2  link of the top entry                  list.push4  link of the entry := top
//! list.pop3  compare-exchange head:                 list.push5  compare-exchange head:
//!            top := link, tag + 1                                 top := the entry, tag + 1  Release
//! ```
//!
//! R. K. Treiber, *Systems Programming: Coping with Parallelism*, IBM RJ 5118, 1986; the tag is from the
//! *IBM System/370 Principles of Operation*, appendix A, on `COMPARE DOUBLE AND SWAP`.
//!
//! *Why the tag.* Between list.pop2 and list.pop3 of one thread others may pop the top entry a, pop b behind
//! it, and push a again. The top is a as before, but its link is no longer b, which has an owner. Without a
//! tag list.pop3 would succeed and put b back as the top: two owners of one entry. With it every change of
//! the head gives it another value, for 2^32 changes.
//!
//! *Why one Acquire is enough.* Nothing but compare-exchanges changes the head, so each value of it carries
//! on the release sequence of every list.push5 before it: a thread that reads the head with Acquire sees the
//! links, and the contents, of all entries pushed until then. list.pop3 succeeds only on the very value that
//! was read with Acquire before, so for itself it needs no ordering.

use crate::sync::{AtomicU64, Ordering, ordering, seeded};

/// In place of an index: there is none.
pub(crate) const END: u32 = u32::MAX;

/// In place of the top, when the list is closed: nothing is pushed any more.
const CLOSED: u32 = END - 1;

/// What the head held when it was looked at: a tag in the upper half, the top in the lower.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenHead(u64);

impl SeenHead {
    /// The entry on top; `END` if there is none.
    #[inline]
    pub(crate) const fn top(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.top() == CLOSED
    }

    /// The head that is to follow.
    #[inline]
    fn then(self, top: u32) -> u64 {
        let tag = (self.0 >> 32) as u32;
        let tag = if seeded!("pool_no_tag") { tag } else { tag.wrapping_add(1) };
        // Mutants: `| with ^`: no bit is in both.
        u64::from(tag) << 32 | u64::from(top)
    }
}

/// All of it is one atomic, so a reference to it may be an argument while another thread gives the memory
/// back: a successful [`push`](Self::push) is the last that an owner does with a pool.
#[repr(transparent)]
pub(crate) struct FreeList(AtomicU64);

impl FreeList {
    pub(crate) fn new(top: u32) -> Self {
        Self(AtomicU64::new(u64::from(top)))
    }

    fn pop_ordering() -> Ordering {
        // Acquire: pairs with the Release of every list.push5 before.
        ordering!(Acquire unless "pool_pop_relaxed")
    }

    /// list.pop1: a look, to pop.
    #[inline]
    pub(crate) fn look_to_pop(&self) -> SeenHead {
        SeenHead(self.0.load(Self::pop_ordering()))
    }

    /// list.pop3: takes the top away, `link` being the one behind it. If the head has changed, what it is
    /// now.
    #[inline]
    pub(crate) fn pop(&self, seen: SeenHead, link: u32) -> Result<(), SeenHead> {
        // Relaxed: it is the value that list.pop1, or a failed list.pop3, read with Acquire. Where it fails
        // it is a list.pop1.
        let exchanged =
            self.0.compare_exchange_weak(seen.0, seen.then(link), Ordering::Relaxed, Self::pop_ordering());
        exchanged.map(drop).map_err(SeenHead)
    }

    /// A look, to push.
    #[inline]
    pub(crate) fn look_to_push(&self) -> SeenHead {
        // Relaxed: only the number counts, to be linked to.
        SeenHead(self.0.load(Ordering::Relaxed))
    }

    /// list.push5: puts entry `index` on top, whose link is the top that was seen. If the head has changed,
    /// what it is now.
    ///
    /// After a success the caller may touch nothing of the pool, if that is what the list is in.
    #[inline]
    pub(crate) fn push(&self, seen: SeenHead, index: u32) -> Result<(), SeenHead> {
        // Release: pairs with list.pop1 and pool.close1, so a thread that pops the entry sees its link, and
        // what its owner wrote. Relaxed where it fails: only the number counts.
        let exchanged = self.0.compare_exchange_weak(
            seen.0,
            seen.then(index),
            ordering!(Release unless "pool_push_relaxed"),
            Ordering::Relaxed,
        );
        exchanged.map(drop).map_err(SeenHead)
    }

    /// pool.close1: nothing is pushed from here on. Returns the top.
    pub(crate) fn close(&self) -> u32 {
        // Acquire: pairs with every list.push5, so pool.close2 sees the links, and what was done with the
        // entries in the list comes before the end of their memory.
        SeenHead(self.0.swap(u64::from(CLOSED), ordering!(Acquire unless "pool_close_relaxed"))).top()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_another_after_each_change() {
        let head = FreeList::new(0);
        // The same top again and again, and each time another tag beside it.
        for change in 0..100 {
            let seen = head.look_to_pop();
            assert_eq!((seen.top(), seen.0 >> 32), (0, 2 * change));
            while head.pop(seen, END).is_err() {}
            let seen = head.look_to_push();
            assert_eq!((seen.top(), seen.0 >> 32), (END, 2 * change + 1));
            while head.push(seen, 0).is_err() {}
        }
        let before_the_last = SeenHead(u64::from(u32::MAX) << 32 | 5);
        assert_eq!(before_the_last.then(6), 6, "a tag may wrap");
    }
}
