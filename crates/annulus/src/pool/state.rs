//! What all handles and buffers of a pool share: the bytes ([`Slabs`]), a word for each slab ([`SlabWord`]),
//! and [`PoolState`], which knows when the pool ends.
//!
//! *The word* is one atomic: where the slab is (free, owned, in a handle), and the generation of its handles.
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
//!
//! *The end.* A buffer holds no count on the pool: two more contended updates for each allocation would cost
//! as much as the free list does. Instead the end is settled once, when the last `BufferPool` goes. Then
//! nobody can allocate or redeem, so slabs in the list and in handles stay where they are, and the buffers
//! that are out are all there will be.
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
use core::alloc::Layout;
use core::ptr::NonNull;

use super::error::{HandleError, PoolError};
use super::fifo::Fifo;
use super::handle::{Handle, Seed, Split};
use crate::base::allocation::Before;
use crate::base::free_list::{END, FreeList};
use crate::memory::{Block, Memory, NoBlock};
#[cfg(annulus_loom)]
use crate::sync::UnsafeCell;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, fence, ordering, seeded};

const LINE_BYTES: usize = 64;

/// A block of initialised bytes: slabs of one size, one after the other, each from a cache line on. It hands
/// out pointers only; the pool's callers decide which thread may use which slab.
pub(super) struct Slabs {
    /// Of all slabs, and not a slice: slabs that are borrowed at the same time do not invalidate each other.
    block: Block,
    /// From one slab to the next, in bytes.
    distance: usize,
    slab_bytes: usize,
    /// A cell for each slab: loom sees no bytes, but reports a race in these.
    #[cfg(annulus_loom)]
    watches: Vec<UnsafeCell<()>>,
}

// SAFETY: bytes, and the only pointer to them.
unsafe impl Send for Slabs {}
// SAFETY: a shared reference reaches the bytes by unsafe functions only, whose callers make sure that a
// writer has the bytes alone.
unsafe impl Sync for Slabs {}

impl Slabs {
    /// `count` slabs of `slab_bytes` zeros, in `memory`. Every page is written here.
    pub(super) fn zeroed(slab_bytes: usize, count: usize, memory: &Memory) -> Result<Self, PoolError> {
        let too_large = || PoolError::TooLarge { slab_bytes, count };
        let distance = slab_bytes.checked_next_multiple_of(LINE_BYTES).ok_or_else(too_large)?;
        let bytes = distance.checked_mul(count).ok_or_else(too_large)?;
        let layout = Layout::from_size_align(bytes, LINE_BYTES).map_err(|_| too_large())?;
        let block = Block::zeroed(layout, memory, Before::NOTHING).map_err(|refused| match refused {
            NoBlock::TooLarge => too_large(),
            NoBlock::Refused(error) => PoolError::Memory(error),
        })?;
        Ok(Self {
            block,
            distance,
            slab_bytes,
            #[cfg(annulus_loom)]
            watches: (0..count).map(|_| UnsafeCell::new(())).collect(),
        })
    }

    /// Where they lie.
    #[cfg(feature = "std")]
    pub(super) fn block(&self) -> &Block {
        &self.block
    }

    pub(super) fn slab_bytes(&self) -> usize {
        self.slab_bytes
    }

    /// Where slab `index` begins.
    ///
    /// # Safety
    ///
    /// There is such a slab.
    #[inline]
    pub(super) unsafe fn start(&self, index: u32) -> NonNull<u8> {
        // SAFETY: there are `distance` bytes for each slab, and the caller knows that this one is there.
        unsafe { self.block.start().add(index as usize * self.distance) }
    }

    /// The bytes of slab `index`.
    ///
    /// # Safety
    ///
    /// There is such a slab, it stays there for `'a`, and for `'a` nobody writes to it.
    #[inline]
    pub(super) unsafe fn bytes<'a>(&self, index: u32) -> &'a [u8] {
        #[cfg(annulus_loom)]
        self.watches[index as usize].with(|_| ());
        // SAFETY: a slab has `slab_bytes` bytes, all written at the start; the rest is the caller's promise.
        unsafe { NonNull::slice_from_raw_parts(self.start(index), self.slab_bytes).as_ref() }
    }

    /// The bytes of slab `index`, to write to.
    ///
    /// # Safety
    ///
    /// There is such a slab, it stays there for `'a`, and for `'a` nobody else looks at it.
    #[inline]
    pub(super) unsafe fn bytes_mut<'a>(&self, index: u32) -> &'a mut [u8] {
        #[cfg(annulus_loom)]
        self.watches[index as usize].with_mut(|_| ());
        // SAFETY: as in `bytes`.
        unsafe { NonNull::slice_from_raw_parts(self.start(index), self.slab_bytes).as_mut() }
    }
}

/// To loom the end of the memory is a write to each slab: everybody must have left it before.
#[cfg(annulus_loom)]
impl Drop for Slabs {
    fn drop(&mut self) {
        self.watches.iter().for_each(|watch| watch.with_mut(|_| ()));
    }
}

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
struct SlabWord(AtomicU64);

impl SlabWord {
    /// Of a free slab.
    fn free(next: u32, generation: u32) -> Self {
        Self(AtomicU64::new(pack(next, generation)))
    }

    /// Whether the slab was free at that moment.
    fn is_free(&self) -> bool {
        // Relaxed: a number for people; nobody touches a slab because of it.
        let link = link_of(self.0.load(Ordering::Relaxed));
        link < ORPHANED || link == END
    }

    /// list.pop2: the link, of a slab that was on top of the free list. Anything, if it no longer is.
    #[inline]
    fn link(&self) -> u32 {
        // Relaxed: comes from list.push4 of the push that the caller saw (list.pop1, Acquire), or is newer,
        // and then list.pop3 fails.
        link_of(self.0.load(Ordering::Relaxed))
    }

    /// list.push4, by the owner: the slab that will follow in the free list.
    #[inline]
    fn set_link(&self, next: u32) {
        // Relaxed: the owner's own; list.push5 (Release) publishes it.
        let generation = self.0.load(Ordering::Relaxed) as u32;
        self.0.store(pack(next, generation), Ordering::Relaxed);
    }

    /// Called by the owner, which has just taken the slab off the free list.
    #[inline]
    fn set_owned(&self) {
        self.set_link(OWNED);
    }

    /// pool.give1, by the owner: the slab goes into a handle, of the generation returned. `None` if the pool
    /// was closed: then the slab belongs to nobody any more.
    ///
    /// After it the caller may touch the slab no more; and if it was not `None`, nothing of the pool.
    #[inline]
    fn hand_out(&self) -> Option<u32> {
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
    fn redeem(&self, generation: u32, next: u32) -> Result<(), u32> {
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
    fn bury(&self) -> u32 {
        // Relaxed: the slab came with pool.close1 (Acquire), and has no owner.
        let next = link_of(self.0.load(Ordering::Relaxed));
        self.0.store(pack(ORPHANED, 0), Ordering::Relaxed);
        next
    }

    /// pool.close3, by the thread that closes the pool: tells the slab's `Buffer`, if there is one, that the
    /// pool is gone. Returns whether there is.
    fn orphan(&self) -> bool {
        // Acquire: pairs with the Release of pool.give1. Either pool.give1 comes first, then nobody has the
        // slab, and what was done with it comes before the end of its memory; or pool.close3 comes first,
        // then pool.give1 finds it.
        let before = link_of(self.0.swap(pack(ORPHANED, 0), ordering!(Acquire unless "pool_orphan_relaxed")));
        before != ORPHANED && before != IN_HANDLE
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_begin_on_lines_and_are_zero() {
        for (slab_bytes, count) in [(1, 1), (63, 3), (64, 3), (65, 2), (5000, 4)] {
            let slabs = Slabs::zeroed(slab_bytes, count, &Memory::default()).unwrap();
            let mut end = 0;
            for index in 0..count as u32 {
                // SAFETY: the slab is there, and nobody writes.
                let bytes = unsafe { slabs.bytes(index) };
                let start = bytes.as_ptr().addr();
                assert_eq!(start % LINE_BYTES, 0);
                assert!(index == 0 || (start >= end && start - end < LINE_BYTES), "one after the other");
                assert!(bytes == alloc::vec![0; slab_bytes], "so many zeros");
                end = start + slab_bytes;
            }
        }
    }

    #[test]
    fn slabs_beyond_memory_are_refused() {
        assert!(Slabs::zeroed(usize::MAX, 2, &Memory::default()).is_err());
        assert!(Slabs::zeroed(usize::MAX, 1, &Memory::default()).is_err());
        assert!(Slabs::zeroed(usize::MAX / 2, 1, &Memory::default()).is_err());
    }

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
