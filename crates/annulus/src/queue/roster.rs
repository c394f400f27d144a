//! The roster: which lanes a queue has, which of them have no producer, and which of them are active.
//!
//! A lane has a [`LaneNode`] from its first producer until the end of the queue. When its producer leaves,
//! the lane goes on the free list with the messages that lie in it. The next producer takes it from there,
//! and its messages come after those. So there are only as many lanes as there were producers at one time,
//! whatever consumers do, and a join takes as many steps as a pop from a stack.
//!
//! ```text
//!  active, Node 0: the bits of the first block, and the first lane
//!  buckets      blocks of a bucket                          nodes
//! ┌─────┐     ┌──────────────────────────┐
//! │  0  │────▶│ active: a bit for each   │
//! ├─────┤     │ 64 pointers to nodes     │ ─────────────▶ Node 1
//! │  1  │──┐  └──────────────────────────┘                …
//! ├─────┤  │  ┌──────────────────────────┬──────────────────────────┐
//! │  2  │  └─▶│                          │                          │    bucket n has 2^n blocks
//! └─────┘     └──────────────────────────┴──────────────────────────┘
//! ```
//!
//! Most queues have one lane. So the first node lies in the roster, and no block is there before the second
//! lane. (The bits and the first pointer of the first block are never used: the roster has its own.)
//!
//! *Active lanes.* Consumers look at the lanes whose bit is set, in the order of their numbers, round and
//! round. So each lane has its turn after at most one turn of every other. A poll looks at each bit once: its
//! steps are bounded by the number of lanes, however many producers join meanwhile.
//!
//! A lane in which nothing was found for long becomes inactive. A consumer clears the `active` of the node
//! (roster.quiet1), calls a barrier (roster.quiet2) and looks once more (roster.quiet3). Where it finds
//! something, it sets `active` again. Where it finds nothing, it clears the bit and looks at `active` again
//! (roster.quiet4). A producer that finds `active` clear, after its store and a fence (lane.send4), sets
//! `active`, and then the bit.
//!
//! So either roster.quiet3 sees the message, or the producer sees roster.quiet1. And either roster.quiet4
//! sees the `active` of the producer, or the producer sets the bit after it was cleared. A poll that begins
//! after a send is over finds its message, with one exception: between the clearing of the bit and
//! roster.quiet4.
//!
//! The exception does not matter to the consumer that deactivates lanes, because it does not poll at that
//! time. Where there are many consumers, one of them deactivates lanes at a time, and `thinning` is odd
//! meanwhile. A round of another consumer that begins then visits all lanes. A round that found nothing, and
//! sees at its end that `thinning` has changed, continues with all lanes.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};

use super::lane_node::{LaneNode, QueueLane};
use crate::base::aligned::OwnLines;
use crate::base::drop_all::drop_each;
use crate::base::free_list::{END, FreeList};
use crate::base::link::Link;
use crate::settings::Settings;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence, seeded};
use crate::wait::EventCount;

/// So many messages of one lane are taken before the others have their turn.
pub(super) const BUDGET: usize = if cfg!(annulus_loom) { 1 } else { 128 };

/// Lanes of a block: one for each bit of a word. (Fewer under loom, which counts each of them in each
/// execution.)
const LANES_PER_BLOCK: usize = if cfg!(annulus_loom) { 4 } else { 64 };

/// So many buckets hold nearly 2^32 lanes, which is more than fits in memory.
const BUCKETS: usize = if cfg!(annulus_loom) { 2 } else { 26 };

/// All lanes of a queue.
pub(super) struct Roster<L> {
    /// The lanes that no producer has.
    free: FreeList,
    /// The number of lanes, with those that are being added.
    count: AtomicUsize,
    /// The bits of the first block.
    active: AtomicU64,
    // Decision 0130: a queue of one lane has no table of lanes. Decision 0136: nor memory for it.
    first: LaneNode<L>,
    /// Made with the second lane.
    table: Link<LaneTable<L>>,
    /// Odd while somebody deactivates lanes.
    thinning: AtomicU64,
}

/// Bucket n is null, or has 2^n blocks; constant from then on.
struct LaneTable<L>([AtomicPtr<RosterBlock<L>>; BUCKETS]);

struct RosterBlock<L> {
    /// A bit for each lane: whether it is active.
    active: AtomicU64,
    /// Null, or a node; constant from then on.
    nodes: [AtomicPtr<LaneNode<L>>; LANES_PER_BLOCK],
}

/// One visit of the lanes: where it is, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// The lane before the next one.
    at: usize,
    /// How many are left.
    left: usize,
    /// How many there were when it began.
    lanes: usize,
    /// Whether it visits inactive lanes, too.
    all: bool,
    /// The value of `thinning` when the round began, where another consumer may deactivate lanes meanwhile.
    thinning: Option<u64>,
}

impl Round {
    /// A round of the first `lanes` lanes, as [`Roster::round`].
    #[inline(always)]
    pub(super) fn of(at: usize, lanes: usize, all: bool) -> Self {
        // Mutants: `- with +`, `- with /`: only a seeded bug comes here.
        let at = if seeded!("round_starts_anew") { lanes - 1 } else { at };
        let at = if seeded!("joiner_has_the_turn") { lanes.saturating_sub(2) } else { at };
        Self { at, left: lanes, lanes, all: all || seeded!("poll_looks_at_all"), thinning: None }
    }

    /// Whether none is left.
    // Mutants: `with true`, `with false`: it rests before it receives, or does not.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        // Mutants: `== with !=`: it rests before it receives, or does not.
        self.left == 0
    }
}

/// The bucket of a block, and where it is in there.
fn bucket_of(block: usize) -> (usize, usize) {
    let bucket = (block + 1).ilog2();
    (bucket as usize, block + 1 - (1 << bucket))
}

impl<L> Roster<L> {
    /// Writes a roster with one lane, which is active, and which `lane` writes.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(super) unsafe fn write_at(
        dst: *mut Self,
        lane: impl FnOnce(*mut L),
        state: NonNull<()>,
        plan: &Settings,
        released: EventCount,
    ) {
        // SAFETY: the caller's promise. These are all fields.
        unsafe {
            LaneNode::write_at(&raw mut (*dst).first, lane, 0, 0, state, plan, released);
            (&raw mut (*dst).free).write(FreeList::new(END));
            (&raw mut (*dst).count).write(AtomicUsize::new(1));
            (&raw mut (*dst).active).write(AtomicU64::new(1));
            (&raw mut (*dst).table).write(Link::empty());
            (&raw mut (*dst).thinning).write(AtomicU64::new(0));
        }
    }

    /// The first lane.
    #[inline(always)]
    pub(super) fn first(&self) -> &LaneNode<L> {
        &self.first
    }

    /// The number of lanes. A thread that learned of a lane by something that happened after the lane was
    /// added counts it.
    pub(super) fn count(&self) -> usize {
        // Relaxed: it only grows, and a thread that sees an effect of a join sees this.
        self.count.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn block(&self, number: usize) -> Option<&RosterBlock<L>> {
        let (bucket, index) = bucket_of(number);
        // Acquire: pairs with the Release in `add`.
        let blocks = NonNull::new(self.table.get()?.0.get(bucket)?.load(Ordering::Acquire))?;
        // SAFETY: a bucket has 2^n blocks from the moment it is there to the end of the queue, and `index` is
        // below that.
        Some(unsafe { blocks.add(index).as_ref() })
    }

    /// The bits of a block.
    #[inline(always)]
    fn active(&self, block: usize) -> Option<&AtomicU64> {
        if block == 0 { Some(&self.active) } else { self.block(block).map(|block| &block.active) }
    }

    /// Where the pointer to a node is, which is not the first.
    #[inline(always)]
    fn place(&self, index: usize) -> Option<&AtomicPtr<LaneNode<L>>> {
        self.block(index / LANES_PER_BLOCK).map(|block| &block.nodes[index % LANES_PER_BLOCK])
    }

    #[inline(always)]
    pub(super) fn node(&self, index: usize) -> Option<&LaneNode<L>> {
        if index == 0 {
            return Some(&self.first);
        }
        // Acquire: pairs with the Release in `add`.
        let node = self.place(index)?.load(Ordering::Acquire);
        // SAFETY: null, or a node, which lives as long as the queue.
        unsafe { node.as_ref() }
    }

    /// All lanes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &LaneNode<L>> {
        (0..self.count()).filter_map(|index| self.node(index))
    }

    /// Wakes all producers of a queue that is closed: the flag of `published` is set.
    #[inline(never)]
    pub(super) fn wake_producers(&self, published: &EventCount) {
        // A producer whose lane is not seen here sees the flag before it sleeps.
        published.fence();
        self.nodes().for_each(|node| node.released.notify());
    }

    /// Takes a lane that no producer has. It then belongs to the caller.
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

    /// Adds the lane that `make` makes, which gets the number of the lane. It lies in an allocation of its
    /// own, and belongs to the roster from now on.
    pub(super) fn add(&self, make: impl FnOnce(u32) -> NonNull<LaneNode<L>>) -> &LaneNode<L> {
        // Relaxed: each lane only needs another number. The stores below publish the lane.
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        let table = self.table.get();
        let table = table.unwrap_or_else(|| self.table.put(LaneTable::new()).unwrap_or_else(|theirs| theirs));
        table.add(bucket_of(index / LANES_PER_BLOCK).0);
        let node = make(index as u32);
        let place = self.place(index).expect("its bucket is there");
        // Release: pairs with the Acquire in `node`.
        place.store(node.as_ptr(), Ordering::Release);
        // SAFETY: it was made above. It is only borrowed shared, and freed with the roster.
        unsafe { node.as_ref() }
    }

    /// Makes `node` active: consumers look at it from now on. A producer that wakes a consumer does so after
    /// this.
    pub(super) fn activate(&self, node: &LaneNode<L>) {
        // Acquire and Release: roster.quiet4.
        if !node.active.swap(true, Ordering::AcqRel) {
            self.set_bit(node);
        }
    }

    fn word_of(&self, node: &LaneNode<L>) -> (&AtomicU64, u64) {
        let index = node.index as usize;
        let word = self.active(index / LANES_PER_BLOCK).expect("its bucket is there");
        (word, 1 << (index % LANES_PER_BLOCK))
    }

    fn set_bit(&self, node: &LaneNode<L>) {
        let (word, bit) = self.word_of(node);
        // Release: pairs with the Acquire in `next` and in `clear_bit`.
        word.fetch_or(bit, Ordering::Release);
    }

    fn clear_bit(&self, node: &LaneNode<L>) {
        let (word, bit) = self.word_of(node);
        // Acquire: the thread that set the bit before had set `active` before that, so roster.quiet4 sees it.
        // Release: pairs with the Acquire in `next`.
        word.fetch_and(!bit, Ordering::AcqRel);
    }

    /// Begins a round of the active lanes, or of `all`. It begins with the lane after `at`, which comes last.
    #[inline(always)]
    pub(super) fn round(&self, at: usize, all: bool) -> Round {
        Round::of(at, self.count(), all)
    }

    /// As [`round`](Self::round), where there are other consumers. While another one deactivates lanes, the
    /// round visits all of them. Where another one begins to do so meanwhile, the round continues with all
    /// lanes.
    #[inline]
    pub(super) fn round_beside_others(&self, at: usize, all: bool) -> Round {
        // Acquire: pairs with the Release at the end of `thin_out`.
        let thinning = self.thinning.load(Ordering::Acquire);
        // Now, and not only after it found nothing. Otherwise it would pass over a lane whose bit is cleared
        // for a moment. The other consumer may be stopped at that point for long, while other lanes have
        // messages.
        let all = all || thinning % 2 != 0 && !seeded!("poll_beside_thinning");
        Round { thinning: (!all).then_some(thinning), ..self.round(at, all) }
    }

    /// The next lane of `round`, and its number.
    #[inline]
    pub(super) fn next(&self, round: &mut Round) -> Option<(usize, &LaneNode<L>)> {
        if seeded!("round_grows") {
            round.left += self.count() - round.lanes;
            round.lanes = self.count();
        }
        loop {
            if round.left == 0 {
                if round.thinning.is_none_or(|begun| self.is_undisturbed(begun)) {
                    return None;
                }
                *round = self.round(round.at, true);
            }
            let from = if round.at + 1 < round.lanes { round.at + 1 } else { 0 };
            // The word has no more bits than this, or the round no more lanes.
            let most = (LANES_PER_BLOCK - from % LANES_PER_BLOCK).min(round.lanes - from).min(round.left);
            // Decision 0059: bits, not lanes.
            let active = match self.active(from / LANES_PER_BLOCK) {
                // Acquire: pairs with the Release in `set_bit` and `clear_bit`.
                Some(word) if !round.all => word.load(Ordering::Acquire) >> (from % LANES_PER_BLOCK),
                Some(_) => u64::MAX,
                // Unreached: a round has to meet a producer that has counted its ring and has not added the
                // bucket yet; loom fan_in_wake
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

    /// Whether nobody deactivated lanes since `begun`. If so, a round of the active lanes missed nothing.
    #[inline]
    fn is_undisturbed(&self, begun: u64) -> bool {
        // Acquire: the looks at the bits come before this load. A look that saw a cleared bit, by its
        // Acquire, also sees the odd number here.
        fence(Ordering::Acquire);
        self.thinning.load(Ordering::Relaxed) == begun || seeded!("poll_beside_thinning")
    }

    /// Deactivates the lanes that `is_idle` names, if no message lies in them. `published` is the eventcount
    /// at which producers look after a send. Does nothing where another consumer is doing this.
    #[cold]
    #[inline(never)]
    pub(super) fn thin_out(&self, published: &EventCount, mut is_idle: impl FnMut(&LaneNode<L>) -> bool)
    where
        L: QueueLane,
    {
        // Decision 0058: one consumer at a time.
        let number = self.thinning.load(Ordering::Relaxed);
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        // Acquire: pairs with the Release below. It comes before the bits are cleared, and each clearing
        // releases it.
        if number % 2 != 0
            || self.thinning.compare_exchange(number, number.wrapping_add(1), success, failure).is_err()
        {
            return;
        }
        let mut is_any_idle = false;
        let mut round = self.round(0, false);
        while let Some((_, node)) = self.next(&mut round) {
            if is_idle(node) {
                // roster.quiet1.
                node.active.store(false, Ordering::Relaxed);
                is_any_idle = true;
            }
        }
        if is_any_idle {
            self.deactivate_idle(published);
        }
        // Release: pairs with the Acquire in `round_beside_others`, for the bits that were set again.
        self.thinning.store(number.wrapping_add(2), Ordering::Release);
    }

    /// The second half of [`thin_out`](Self::thin_out): those lanes become inactive in which nothing lies.
    fn deactivate_idle(&self, published: &EventCount)
    where
        L: QueueLane,
    {
        // roster.quiet2. Pairs with the fence of lane.send4.
        let fenced = seeded!("deactivate_no_barrier") || published.barrier();
        let mut round = self.round(0, false);
        while let Some((_, node)) = self.next(&mut round) {
            // Relaxed: a producer that has set it again has also set the bit, or is about to.
            if node.active.load(Ordering::Relaxed) {
                continue;
            }
            // roster.quiet3. Without the barrier, an empty lane proves nothing.
            let leaves = fenced && node.lane.is_quiet();
            if !leaves && !seeded!("deactivate_no_second_look") {
                node.active.store(true, Ordering::Relaxed);
                continue;
            }
            self.clear_bit(node);
            // roster.quiet4. Relaxed: the bit orders it.
            if node.active.load(Ordering::Relaxed) && !seeded!("deactivate_beside_activation") {
                // Unreached: a producer activates its lane between two looks of a consumer that deactivates
                // it; loom fan_in_wake, Promela fan_in
                self.set_bit(node);
            }
        }
    }
}

impl<L> LaneTable<L> {
    fn new() -> Self {
        Self(core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())))
    }

    /// From now on this bucket is there.
    fn add(&self, bucket: usize) {
        let pointer = &self.0[bucket];
        if !pointer.load(Ordering::Acquire).is_null() {
            return;
        }
        let blocks: Box<[RosterBlock<L>]> = (0..1_usize << bucket).map(|_| RosterBlock::new()).collect();
        let blocks = Box::into_raw(blocks);
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        // Release: pairs with the Acquire in `block`. Another producer may have been faster.
        if pointer.compare_exchange(ptr::null_mut(), blocks.cast(), success, failure).is_err() {
            // Unreached: two producers that join at once need another bucket: they have to meet there
            // SAFETY: it was made above, and nobody else has it.
            drop(unsafe { Box::from_raw(blocks) });
        }
    }
}

impl<L> Drop for LaneTable<L> {
    fn drop(&mut self) {
        for (bucket, blocks) in self.0.iter().enumerate() {
            // Relaxed: all handles are gone.
            let blocks = blocks.load(Ordering::Relaxed);
            if !blocks.is_null() {
                // SAFETY: it was made in `add` with 2^n blocks, and nobody else has it any more.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(blocks, 1 << bucket)) });
            }
        }
    }
}

impl<L> RosterBlock<L> {
    fn new() -> Self {
        Self { active: AtomicU64::new(0), nodes: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }
}

impl<L> Drop for Roster<L> {
    fn drop(&mut self) {
        // As many as there are, in a table for many.
        drop_each(1..self.count(), |index| {
            let Some(place) = self.place(index) else { return };
            // Relaxed: all handles are gone, and the drop of the last one comes after all other drops.
            if let Some(node) = NonNull::new(place.load(Ordering::Relaxed)) {
                // SAFETY: `add` got it in an allocation of its own, and it is in the table once.
                unsafe { OwnLines::free(node) };
            }
        });
    }
}

#[cfg(test)]
impl<L> Roster<L> {
    /// As if a consumer stopped while it deactivates lanes.
    pub(super) fn stop_thinning_for_test(&self) {
        self.thinning.fetch_add(1, Ordering::Relaxed);
    }
}
