//! The roster: which lanes a queue has, which of them no producer has, and which of them consumers look at.
//!
//! A lane is a [`LaneNode`] from the first producer that has it until the queue ends. When its producer leaves it goes on the free list, with whatever
//! lies in it, and the next producer to come goes on in it, behind that. So there are as many lanes as there were producers at one time, whatever
//! consumers do, and joining takes as many steps as a pop of a stack.
//!
//! ```text
//!  buckets      blocks of a bucket                          nodes
//! ┌─────┐     ┌──────────────────────────┐
//! │  0  │────▶│ active: a bit for each   │ ─────────────▶ Node 0: lane, active, recently_used …
//! ├─────┤     │ 64 pointers to nodes     │ ─────────────▶ Node 1
//! │  1  │──┐  └──────────────────────────┘                …
//! ├─────┤  │  ┌──────────────────────────┬──────────────────────────┐
//! │  2  │  └─▶│                          │                          │    bucket n has 2^n blocks
//! └─────┘     └──────────────────────────┴──────────────────────────┘
//! ```
//!
//! *The list.* Consumers look at the lanes whose bit is set, in the order of their numbers, round and round; so each lane has its turn after at most one
//! turn of every other. A poll looks at each bit once: its steps are bounded by the lanes there are, however many come meanwhile.
//!
//! A lane in which nothing was found for long becomes inactive. A consumer clears the node's `active` (M1), calls a barrier (M2) and looks once
//! more (M3); where it finds nothing it clears the bit and looks at `active` again (M4), where it finds something it sets `active` again. A producer
//! that finds `active` clear, after its store and a fence (L4), sets it, and then the bit. So either M3 sees the message or the producer sees M1,
//! and either M4 sees the producer's `active` or the producer's bit comes after the bit was cleared. No message is hidden from a poll that
//! begins after its send is over, with one exception: between the clearing of the bit and M4.
//!
//! That exception is nothing to who deactivates lanes, because it is not polling then. Where there are many consumers, one deactivates lanes at a time,
//! and `thinning` is odd meanwhile: a round of another one that begins then visits all lanes there are, and one that ends with nothing found, and
//! finds that this has changed, goes on with all of them.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};

use super::node::{LaneNode, Quiet};
use crate::free_list::{END, Head};
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence, mutated};
use crate::wait::Event;

/// Lanes of a block: as many as there are bits in a word. (Loom counts each of them in each execution.)
const LANES_PER_BLOCK: usize = if cfg!(annulus_loom) { 4 } else { 64 };

/// So many buckets have room for nearly 2^32 lanes, which is more than memory has.
const BUCKETS: usize = if cfg!(annulus_loom) { 2 } else { 26 };

/// All lanes of a queue.
pub(super) struct Roster<L> {
    /// Those that no producer has.
    free: Head,
    /// How many there are, and those that are about to be.
    count: AtomicUsize,
    /// Bucket n is null, or has 2^n blocks; constant from then on.
    buckets: [AtomicPtr<Block<L>>; BUCKETS],
    /// Odd while somebody deactivates lanes.
    thinning: AtomicU64,
}

struct Block<L> {
    /// A bit for each lane that consumers look at.
    active: AtomicU64,
    /// Null, or a node; constant from then on.
    nodes: [AtomicPtr<LaneNode<L>>; LANES_PER_BLOCK],
}

/// A way round the lanes: where it is, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// The lane before the next one.
    at: usize,
    /// How many are left.
    left: usize,
    /// How many there were when it began.
    lanes: usize,
    /// Whether it visits those too that are not active.
    all: bool,
    /// What `thinning` was when it began, where another one may deactivate lanes meanwhile.
    thinning: Option<u64>,
}

impl Round {
    /// Whether none is left.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }
}

/// The bucket of a block, and where it is in there.
fn bucket_of(block: usize) -> (usize, usize) {
    let bucket = (block + 1).ilog2();
    (bucket as usize, block + 1 - (1 << bucket))
}

impl<L> Roster<L> {
    pub(super) fn new() -> Self {
        Self {
            free: Head::new(END),
            count: AtomicUsize::new(0),
            buckets: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            thinning: AtomicU64::new(0),
        }
    }

    /// How many lanes there are. Who learned of a lane by something that came after its making counts it.
    pub(super) fn count(&self) -> usize {
        // Relaxed: it only grows, and who sees an effect of a join sees this.
        self.count.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn block(&self, number: usize) -> Option<&Block<L>> {
        let (bucket, index) = bucket_of(number);
        // Acquire: pairs with the Release in `add`.
        let blocks = NonNull::new(self.buckets.get(bucket)?.load(Ordering::Acquire))?;
        // SAFETY: a bucket has so many blocks, from the day it is there to the end of the queue.
        Some(unsafe { blocks.add(index).as_ref() })
    }

    #[inline(always)]
    fn node(&self, index: usize) -> Option<&LaneNode<L>> {
        // Acquire: pairs with the Release in `add`.
        let node =
            self.block(index / LANES_PER_BLOCK)?.nodes[index % LANES_PER_BLOCK].load(Ordering::Acquire);
        // SAFETY: null, or a node, which lives as long as the queue.
        unsafe { node.as_ref() }
    }

    /// All lanes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &LaneNode<L>> {
        (0..self.count()).filter_map(|index| self.node(index))
    }

    /// A lane that no producer has; it is the caller's.
    pub(super) fn take_free(&self) -> Option<&LaneNode<L>> {
        let mut seen = self.free.look_to_pop();
        while seen.top() != END {
            let node = self.node(seen.top() as usize).expect("a lane on the free list is there");
            // Relaxed: `look_to_pop` orders it; where it has changed meanwhile, so has the head.
            let link = node.link.load(Ordering::Relaxed);
            match self.free.pop(seen, link) {
                Ok(()) => return Some(node),
                Err(now) => seen = now,
            }
        }
        None
    }

    /// The producer of `node` leaves it to the next one.
    pub(super) fn give_back(&self, node: &LaneNode<L>) {
        let mut seen = self.free.look_to_push();
        loop {
            node.link.store(seen.top(), Ordering::Relaxed);
            match self.free.push(seen, node.index) {
                Ok(()) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Adds the lane that `make` makes of its number.
    pub(super) fn add(&self, make: impl FnOnce(u32) -> Box<LaneNode<L>>) -> &LaneNode<L> {
        // Relaxed: it only has to be different for each; the stores below publish the lane.
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        let (bucket, _) = bucket_of(index / LANES_PER_BLOCK);
        let bucket_pointer = &self.buckets[bucket];
        if bucket_pointer.load(Ordering::Acquire).is_null() {
            let blocks: Box<[Block<L>]> = (0..1_usize << bucket).map(|_| Block::new()).collect();
            let blocks = Box::into_raw(blocks);
            // Release: pairs with the Acquire in `block`. Somebody else may have been faster.
            if bucket_pointer
                .compare_exchange(ptr::null_mut(), blocks.cast(), Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                // SAFETY: it is as it was made, and nobody else has it.
                drop(unsafe { Box::from_raw(blocks) });
            }
        }
        let node = Box::into_raw(make(index as u32));
        let block = self.block(index / LANES_PER_BLOCK).expect("its bucket is there");
        // Release: pairs with the Acquire in `node`.
        block.nodes[index % LANES_PER_BLOCK].store(node, Ordering::Release);
        // SAFETY: just made; nobody borrows it otherwise than shared, and it is freed with the roster.
        unsafe { &*node }
    }

    /// Consumers look at `node` from now on. Whoever wakes one that sleeps does so after this.
    pub(super) fn activate(&self, node: &LaneNode<L>) {
        // Acquire and Release: M4.
        if !node.active.swap(true, Ordering::AcqRel) {
            self.set_bit(node);
        }
    }

    fn word_of(&self, node: &LaneNode<L>) -> (&AtomicU64, u64) {
        let index = node.index as usize;
        let block = self.block(index / LANES_PER_BLOCK).expect("a node lies in a block");
        (&block.active, 1 << (index % LANES_PER_BLOCK))
    }

    fn set_bit(&self, node: &LaneNode<L>) {
        let (word, bit) = self.word_of(node);
        // Release: pairs with the Acquire in `next` and in `clear_bit`.
        word.fetch_or(bit, Ordering::Release);
    }

    fn clear_bit(&self, node: &LaneNode<L>) {
        let (word, bit) = self.word_of(node);
        // Acquire: who set it before set `active` before that, and M4 sees it. Release: pairs with the Acquire in `next`.
        word.fetch_and(!bit, Ordering::AcqRel);
    }

    /// Begins a way round, from the lane after `at` on, which comes last; of the active ones, or of `all`.
    #[inline(always)]
    pub(super) fn round(&self, at: usize, all: bool) -> Round {
        let lanes = self.count();
        let at = if mutated!("round_starts_anew") { lanes - 1 } else { at };
        Round { at, left: lanes, lanes, all: all || mutated!("poll_looks_at_all"), thinning: None }
    }

    /// As [`round`](Self::round), for who is not the only consumer. While another one deactivates lanes it visits all; where that begins
    /// meanwhile, it goes on with all of them.
    #[inline]
    pub(super) fn round_beside_others(&self, at: usize, all: bool) -> Round {
        // Acquire: pairs with the Release at the end of `thin_out`.
        let thinning = self.thinning.load(Ordering::Acquire);
        // Now, and not only after it found nothing: or it would pass over a lane whose bit is cleared for a moment, for as long as that one is
        // stopped there and others have messages.
        let all = all || thinning % 2 != 0 && !mutated!("poll_beside_thinning");
        Round { thinning: (!all).then_some(thinning), ..self.round(at, all) }
    }

    /// The next lane of `round`, and its number.
    #[inline]
    pub(super) fn next(&self, round: &mut Round) -> Option<(usize, &LaneNode<L>)> {
        loop {
            if round.left == 0 {
                if round.thinning.is_none_or(|begun| self.is_undisturbed(begun)) {
                    return None;
                }
                *round = self.round(round.at, true);
            }
            let from = if round.at + 1 < round.lanes { round.at + 1 } else { 0 };
            // So far the word goes, and the round.
            let most = (LANES_PER_BLOCK - from % LANES_PER_BLOCK).min(round.lanes - from).min(round.left);
            // Decision 0059: bits, not lanes.
            let active = match self.block(from / LANES_PER_BLOCK) {
                // Acquire: pairs with the Release in `set_bit` and `clear_bit`.
                Some(block) if !round.all => block.active.load(Ordering::Acquire) >> (from % LANES_PER_BLOCK),
                Some(_) => u64::MAX,
                None => 0,
            };
            // Decision 0057: round and round, by bits.
            let before = active.trailing_zeros() as usize;
            if before >= most {
                round.at = from + most - 1;
                round.left -= most;
                continue;
            }
            round.at = from + before;
            round.left -= before + 1;
            if let Some(node) = self.node(round.at) {
                return Some((round.at, node));
            }
        }
    }

    /// Whether nobody deactivated lanes since `begun`: if so, a round of the active lanes missed nothing.
    #[inline]
    fn is_undisturbed(&self, begun: u64) -> bool {
        // Acquire: the looks at the bits come before. One that saw a cleared bit, by its Acquire, also sees the odd number here.
        fence(Ordering::Acquire);
        self.thinning.load(Ordering::Relaxed) == begun || mutated!("poll_beside_thinning")
    }

    /// Deactivates those lanes that `is_idle`, and in which nothing lies after all. `published` is where producers look after a send. Does nothing
    /// where another consumer is at it.
    #[cold]
    #[inline(never)]
    pub(super) fn thin_out(&self, published: &Event, mut is_idle: impl FnMut(&LaneNode<L>) -> bool)
    where
        L: Quiet,
    {
        // Decision 0058: one consumer at a time.
        let number = self.thinning.load(Ordering::Relaxed);
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        // Acquire: pairs with the Release below. Before the bits are cleared, each of which releases it.
        if number % 2 != 0
            || self.thinning.compare_exchange(number, number.wrapping_add(1), success, failure).is_err()
        {
            return;
        }
        let mut round = self.round(0, false);
        while let Some((_, node)) = self.next(&mut round) {
            if is_idle(node) {
                // M1.
                node.active.store(false, Ordering::Relaxed);
            }
        }
        // M2. Pairs with the fence of L4.
        let fenced = mutated!("deactivate_no_barrier") || published.barrier();
        let mut round = self.round(0, false);
        while let Some((_, node)) = self.next(&mut round) {
            // Relaxed: who has set it again meanwhile has set the bit, or is about to.
            if node.active.load(Ordering::Relaxed) {
                continue;
            }
            // M3. Where there was no barrier, nothing can be told from what is not there.
            let leaves = fenced && node.lane.is_quiet();
            if !leaves && !mutated!("deactivate_no_second_look") {
                node.active.store(true, Ordering::Relaxed);
                continue;
            }
            self.clear_bit(node);
            // M4. Relaxed: the bit orders it.
            if node.active.load(Ordering::Relaxed) && !mutated!("deactivate_beside_activation") {
                self.set_bit(node);
            }
        }
        // Release: pairs with the Acquire in `round_beside_others`, for the bits that were set again.
        self.thinning.store(number.wrapping_add(2), Ordering::Release);
    }
}

impl<L> Block<L> {
    fn new() -> Self {
        Self { active: AtomicU64::new(0), nodes: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }
}

impl<L> Drop for Roster<L> {
    fn drop(&mut self) {
        for (bucket, blocks) in self.buckets.iter().enumerate() {
            // Relaxed: all handles are gone, and the last of them came after the others.
            let blocks = blocks.load(Ordering::Relaxed);
            if blocks.is_null() {
                continue;
            }
            // SAFETY: made in `add`, of so many, and nobody else has it any more.
            let blocks = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(blocks, 1 << bucket)) };
            for node in blocks.iter().flat_map(|block| &block.nodes) {
                let node = node.load(Ordering::Relaxed);
                if !node.is_null() {
                    // SAFETY: made by `Box::into_raw` in `add`, and once in here.
                    drop(unsafe { Box::from_raw(node) });
                }
            }
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
impl<L> Roster<L> {
    /// As if a consumer stood still while it deactivates lanes.
    pub(super) fn stop_thinning_for_test(&self) {
        self.thinning.fetch_add(1, Ordering::Relaxed);
    }
}
