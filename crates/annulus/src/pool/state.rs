//! What all handles and buffers of a pool share, and when it ends.
//!
//! A buffer holds no count on the pool: two more contended updates for each allocation would cost as much as
//! the free list does. Instead the end is settled once, when the last `BufferPool` goes. Then nobody can
//! allocate or redeem, so slabs in the list and in handles stay where they are, and the buffers that are out
//! are all there will be.
//!
//! ```text
//! pool.close1  both lists := closed slabs pushed before are in the list; a later push sees it
//! pool.close2  mark those in the list
//! pool.close3  mark all others      one that is neither in the list nor in a handle has a buffer, which will see
//!                               the mark, or pool.close1
//! pool.close4  present := how many buffers that are, less one for each that has ended since;
//!                               the thread that makes it zero frees the memory
//! ```
//!
//! `present` begins at one for each slab and one for the pool, so a buffer that ends between pool.close1 and
//! pool.close4 can't bring it to zero.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::error::{HandleError, PoolError};
use super::fifo::Fifo;
use super::handle::{Handle, Split};
use super::seed::Seed;
use super::slabs::Slabs;
use super::word::SlabWord;
use crate::base::free_list::{END, FreeList};
use crate::memory::Memory;
use crate::sync::{AtomicUsize, Ordering, fence, ordering, seeded};

/// A word on a line of its own: owners of neighbouring slabs do not take it from each other.
#[repr(C, align(64))]
struct WordLine(SlabWord);

/// The head on a line of its own, and away from that line's neighbour, which processors fetch with it.
#[repr(C, align(128))]
struct HeadLine(FreeList);

/// From this size on, all slabs together, a slab that comes out of a handle waits in line: the one that was
/// freed last is still in the cache of the core that read it, and to get it from there costs several times
/// what it costs to get it from the last cache, which all cores share. In a smaller pool each slab is in some
/// core's own cache. (Loom has no caches, and small pools.)
// Decision 0135: which slab is next.
const LARGE_BYTES: usize = if cfg!(annulus_loom) { 16 } else { 1 << 20 };

pub(super) struct PoolState {
    /// All free slabs, but for those that are in `from_handles`. Last in, first out.
    head: HeadLine,
    /// In a large pool, those that were last in a buffer that came out of a handle. First in, first out.
    from_handles: Option<Fifo>,
    words: Box<[WordLine]>,
    slabs: Slabs,
    split: Split,
    /// Counts in pool.close4. Until a pool is closed nobody looks at it.
    // Decision 0036: settled at the end, not counted on the way.
    present: AtomicUsize,
    /// Loom fails an execution in which this is never dropped.
    #[cfg(annulus_loom)]
    _watch: loom::alloc::Track<()>,
}

impl PoolState {
    pub(super) fn new(slab_bytes: usize, count: usize, memory: Memory) -> Result<Self, PoolError> {
        match (slab_bytes, count) {
            (0, _) => return Err(PoolError::EmptySlab),
            (_, 0) => return Err(PoolError::NoSlab),
            (_, count) if count > Split::SLABS_MAX => {
                return Err(PoolError::TooMany { count, largest: Split::SLABS_MAX });
            }
            _ => {}
        }
        let too_large = || PoolError::TooLarge { slab_bytes, count };
        let slabs = Slabs::zeroed(slab_bytes, count, &memory)?;
        let split = Split::of(count);
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| too_large())?;
        // SAFETY: there is a first slab.
        let mut seed = Seed::new(unsafe { slabs.start(0) });
        // The first slab is on top, the second follows it.
        words.extend((0..count as u32).map(|index| {
            let generation = split.generation(seed.next());
            let next = if index as usize + 1 < count { index + 1 } else { END };
            WordLine(SlabWord::free(next, generation))
        }));
        let is_large = slab_bytes.saturating_mul(count) >= LARGE_BYTES;
        let from_handles = if is_large { Some(Fifo::new(count).ok_or_else(too_large)?) } else { None };
        Ok(Self {
            head: HeadLine(FreeList::new(0)),
            from_handles,
            words: words.into_boxed_slice(),
            slabs,
            split,
            present: AtomicUsize::new(count + 1),
            #[cfg(annulus_loom)]
            _watch: loom::alloc::Track::new(()),
        })
    }

    pub(super) fn count(&self) -> usize {
        self.words.len()
    }

    pub(super) fn split(&self) -> Split {
        self.split
    }

    pub(super) fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    pub(super) fn available(&self) -> usize {
        // Decision 0037: nobody counts them.
        self.words.iter().filter(|line| line.0.is_free()).count()
    }

    #[inline]
    fn word(&self, index: u32) -> &SlabWord {
        &self.words[index as usize].0
    }

    /// Takes a slab off the lists. The caller owns it from then on.
    #[inline]
    pub(super) fn alloc(&self) -> Option<u32> {
        let head = &self.head.0;
        let mut seen = head.look_to_pop();
        loop {
            let top = seen.top();
            if top == END {
                let from_handles = self.from_handles.as_ref()?;
                if let Some(first) = from_handles.pop() {
                    self.word(first).set_owned();
                    return Some(first);
                }
                // Both were empty at one moment, if this one did not change until the other was.
                match head.look_to_pop() {
                    now if now == seen => return None,
                    // Unreached: a slab comes back between two looks: two threads have to meet there
                    now => seen = now,
                }
                // Unreached: as above
                continue;
            }
            match head.pop(seen, self.word(top).link()) {
                Ok(()) => {
                    self.word(top).set_owned();
                    return Some(top);
                }
                // Unreached: two threads take a slab at once: they have to meet there
                Err(now) => seen = now,
            }
        }
    }

    /// Takes a slab out of its handle. The caller owns it from then on.
    #[inline]
    pub(super) fn redeem(&self, handle: Handle) -> Result<u32, HandleError> {
        let (index, generation) = self.split.split(handle);
        let slab = index as usize;
        let Some(WordLine(word)) = self.words.get(slab) else {
            return Err(HandleError::NoSuchSlab { slab, count: self.count() });
        };
        let next = self.split.generation(generation.wrapping_add(1));
        match word.redeem(generation, next) {
            Ok(()) => Ok(index),
            Err(current) if current == generation => Err(HandleError::NotOut { slab }),
            Err(current) => Err(HandleError::Stale { slab, generation, current }),
        }
    }

    /// Puts slab `index` back on a list. `was_in_handle`: it is of a buffer that came out of a handle.
    ///
    /// # Safety
    ///
    /// The caller owns the slab, so `this` lives. Afterwards it owns nothing, and may not touch `this`.
    #[inline]
    pub(super) unsafe fn free(this: NonNull<Self>, index: u32, was_in_handle: bool) {
        // SAFETY: it lives while the caller owns a slab, which is until a push succeeds. No function has it
        // for an argument then: its memory may end before that function does.
        let shared = unsafe { this.as_ref() };
        let (head, word) = (&shared.head.0, shared.word(index));
        match &shared.from_handles {
            Some(from_handles) if was_in_handle => {
                // Of a slab in that list nobody looks for the next one.
                word.set_link(END);
                if from_handles.push(index) {
                    return;
                }
            }
            _ => {
                let mut seen = head.look_to_push();
                while !seen.is_closed() {
                    word.set_link(seen.top());
                    match head.push(seen, index) {
                        Ok(()) => return,
                        Err(now) => seen = now,
                    }
                }
            }
        }
        // SAFETY: the pool is closed, and this slab was not in the list at pool.close1 nor in a handle: it
        // was counted.
        unsafe { Self::leave_orphaned(this) };
    }

    /// Puts slab `index` into a handle.
    ///
    /// # Safety
    ///
    /// As for [`free`](Self::free).
    #[inline]
    pub(super) unsafe fn hand_out(this: NonNull<Self>, index: u32) -> Handle {
        // SAFETY: it lives while the caller owns a slab, which is until the word says otherwise; as in
        // `free`.
        let shared = unsafe { this.as_ref() };
        let (split, word) = (shared.split, shared.word(index));
        if let Some(generation) = word.hand_out() {
            return split.join(index, generation);
        }
        // SAFETY: pool.close3 found this slab before `hand_out` did: it was counted.
        unsafe { Self::leave_orphaned(this) };
        // Of a pool that is gone.
        split.join(index, 0)
    }

    /// pool.close1 to pool.close4: the last `BufferPool` goes.
    ///
    /// # Safety
    ///
    /// Called once, when nobody can allocate or redeem any more. The caller may not touch `this` afterwards.
    pub(super) unsafe fn close(this: NonNull<Self>) {
        // SAFETY: it lives until pool.close4, which counts for the pool too.
        let shared = unsafe { this.as_ref() };
        let mut next = shared.head.0.close();
        while next != END {
            next = shared.word(next).bury();
        }
        if let Some(from_handles) = &shared.from_handles {
            from_handles.close(|index| {
                shared.word(index).bury();
            });
        }
        let orphans = shared.words.iter().filter(|line| line.0.orphan()).count();
        let orphans = if seeded!("pool_orphans_uncounted") { 0 } else { orphans };
        let gone = shared.count() - orphans + 1;
        // SAFETY: each buffer that is out was counted, and leaves once; all else is gone, the pool too.
        unsafe { Self::leave(this, gone) };
    }

    /// A buffer ends after its pool.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    #[cold]
    unsafe fn leave_orphaned(this: NonNull<Self>) {
        if seeded!("pool_orphan_stays") {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { Self::leave(this, 1) };
    }

    /// pool.close4: `gone` of those that `present` counts are gone. The last one frees the memory.
    ///
    /// # Safety
    ///
    /// They were counted, are gone once, and the caller does not touch `this` afterwards.
    unsafe fn leave(this: NonNull<Self>, gone: usize) {
        // SAFETY: `this` lives while somebody is counted, and the caller still is. Release: pairs with the
        // fence of the last, so what each has done comes before the end of the memory.
        let before = unsafe { &(*this.as_ptr()).present }
            .fetch_sub(gone, ordering!(Release unless "pool_left_relaxed"));
        if before == gone {
            if !seeded!("pool_no_fence") {
                // Acquire: pairs with the Release of every other.
                fence(Ordering::Acquire);
            }
            // SAFETY: it came from a box in `BufferPool::try_new`, and nobody is left.
            drop(unsafe { Box::from_raw(this.as_ptr()) });
        }
    }
}
