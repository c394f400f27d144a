//! The registry of a gate: the cells, in a tree that knows which are in use.
//!
//! Each node has a cell, for one cursor, and a link to a family of nodes below it. It counts, for itself and
//! all below it, how many nodes there are and how many of them are in use.
//!
//! ```text
//! subscriber that comes                                 subscriber that leaves
//! tree.join1  top: used + 1, and nodes + 1 where all    tree.leave5  cell := FREE                Release
//!             are in use                                tree.leave6  used − 1, from there up     Release
//! tree.join2  while this cell is not free: used + 1 at
//!             a node below that has one; go there       publisher that looks
//!             (nodes + 1: to the one with the fewest)   tree.scan7   pass over where none is in use; load the cell;
//! tree.join3  cell := cursor                                         go below                    Acquire
//!             (nodes + 1: of a new family, linked)
//! tree.join4  (the rest of a new family: nodes + 7, from there up)
//! ```
//!
//! *Why a look misses nobody.* tree.join1 and tree.join2 come before tree.join3, and tree.leave6 comes after
//! tree.leave5. So while a cell is in use, it is counted at its node and at all nodes above. The fences of
//! joiner and publisher (`gate.rs`) stand between tree.join1 to tree.join3 on one side and tree.scan7 on the
//! other, so what `gate.rs` says of a cell holds for the counts and links on the way to it, and of forks.
//! Where tree.scan7 passes over a node, all that were there have left. Only read-modify-writes change a
//! count, so tree.scan7 acquires the tree.leave6 of each of them: what they read comes before what the
//! publisher writes.
//!
//! *Why a subscriber finds a cell.* Let tree.join1 or tree.join2 count a subscriber at a node. Until it goes
//! on from there, at least as many cells are free at the node and below it as subscribers are counted there
//! and have not gone on: tree.leave5 comes before tree.leave6, tree.leave6 goes upwards, tree.join4 comes
//! after the link and goes upwards. Another may take the cell that it looks at, but then there is one
//! elsewhere. So nobody waits for anybody. A family is made only where tree.join1 finds all cells in use:
//! *there are never more cells than there were subscribers at one time*, but for the rest of the last family,
//! and of one family for each subscriber that joined at the same moment. Memory is given back with the ring:
//! a publisher may be at any cell.
//!
//! *Steps.* A new family goes where the fewest nodes are, so with m nodes there are fewer than 2 + log₈ m
//! levels. A look at n subscribers visits their nodes and those above them, fewer than n·(2 + log₈ m), and
//! reads the counts of the families below these. A newcomer takes the first free cell on its way down, so
//! subscribers that come and go gather at the top.

use core::ptr::NonNull;

use crate::base::link::Link;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, ordering, pause, seeded};

/// In a cell: nobody's.
pub(super) const FREE: u64 = u64::MAX;

/// The cells of a gate.
// Decision 0018: a tree that counts, not a list that grows.
pub(super) struct Registry {
    // Decision 0136: the first cell lies in the ring.
    top: GateNode,
}

/// A cell, and its branch of the tree.
#[repr(C, align(128))]
struct GateNode {
    /// The next message that its subscriber needs, or `FREE`. On a line that nobody else writes.
    cell: AtomicU64,
    branch: OwnLine<Branch>,
}

// A subscriber writes its cell with each message (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = assert!(core::mem::offset_of!(GateNode, branch) == 64 && size_of::<GateNode>() == 128);

/// On another line than the cell, where lines have 64 bytes: it hardly ever changes, so publishers keep it in
/// their caches.
#[repr(align(64))]
struct OwnLine<T>(T);

/// Where in the tree a node is.
struct Branch {
    /// A [`Count`].
    count: AtomicU64,
    /// Null at the top. Constant.
    above: Option<NonNull<GateNode>>,
    below: Link<Family>,
}

// SAFETY: the pointer to the node above stands for a shared borrow of it; that lives longer, and stays where
// it is from the first newcomer on. All else is atomic.
unsafe impl Send for GateNode {}
// SAFETY: as above.
unsafe impl Sync for GateNode {}

/// Nodes that are made together.
type Family = [GateNode; FAMILY];

/// Under loom two: three subscribers then make two levels, and a fourth one a third.
const FAMILY: usize = if cfg!(annulus_loom) { 2 } else { 8 };

/// How many nodes there are at a node and below it, and how many of them are in use, or are about to be.
/// Never more are in use than there are.
#[derive(Clone, Copy)]
struct Count(u64);

impl Count {
    const USED: u64 = 1;
    const NODE: u64 = 1 << 32;
    /// Far more than memory can hold, and far from an overflow.
    const MOST: u64 = 1 << 31;

    fn used(self) -> u64 {
        self.0 % Self::NODE
    }

    fn nodes(self) -> u64 {
        self.0 / Self::NODE
    }

    fn has_free_cell(self) -> bool {
        self.used() < self.nodes()
    }

    /// One more in use, where one is free.
    fn with_one_more(self) -> Option<u64> {
        self.has_free_cell().then_some(self.0 + Self::USED)
    }

    /// One more node, in use.
    fn with_another(self) -> Option<u64> {
        (self.nodes() < Self::MOST).then_some(self.0 + Self::NODE + Self::USED)
    }
}

impl GateNode {
    /// A node with `cursor` in its cell; without one it is free.
    #[inline(always)]
    fn new(above: Option<&Self>, cursor: Option<Sequence>) -> Self {
        Self {
            cell: AtomicU64::new(cursor.map_or(FREE, Sequence::get)),
            branch: OwnLine(Branch {
                count: AtomicU64::new(Count::NODE + if cursor.is_some() { Count::USED } else { 0 }),
                above: above.map(NonNull::from),
                below: Link::empty(),
            }),
        }
    }

    /// This node and those above it.
    fn upwards(&self) -> impl Iterator<Item = &Self> {
        // SAFETY: a node lives as long as the gate, and as those below it.
        core::iter::successors(Some(self), |node| node.branch.0.above.map(|above| unsafe { above.as_ref() }))
    }

    fn below(&self) -> &[Self] {
        self.branch.0.below.get().map_or(&[], Family::as_slice)
    }

    fn count(&self, ordering: Ordering) -> Count {
        Count(self.branch.0.count.load(ordering))
    }

    /// Changes the count, where `change` allows it, and returns what it was.
    fn recount(&self, change: impl Fn(Count) -> Option<u64>) -> Option<Count> {
        let word = &self.branch.0.count;
        if seeded!("gate_count_not_atomic") {
            let before = self.count(Ordering::Acquire);
            // Mutants: `- with +`, `- with /`: only a seeded bug comes here.
            word.fetch_add(change(before)? - before.0, Ordering::Acquire);
            return Some(before);
        }
        // Acquire: pairs with the Release of tree.join4 and tree.leave6, so that tree.join2 and tree.join3
        // find what these counted.
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        word.fetch_update(success, failure, |count| change(Count(count))).ok().map(Count)
    }

    /// tree.join2 and tree.join3 of a subscriber that is counted here, where there was one free.
    fn take(&self, cursor: Sequence) -> Pass {
        let ordering = ordering!(Acquire unless "gate_taken_relaxed");
        let mut at = self;
        loop {
            // Acquire: pairs with the Release of tree.leave5. What its last owner read comes before all that
            // follows from here.
            let (success, failure) = (ordering, Ordering::Relaxed);
            if at.cell.compare_exchange(FREE, cursor.get(), success, failure).is_ok() {
                return Pass::of(at);
            }
            match at.below().iter().find(|node| node.recount(Count::with_one_more).is_some()) {
                Some(node) => at = node,
                // The free one was taken, and another is free now.
                // Unreached: the free cell was taken between two looks, and another is free now: three have
                // to meet there; loom gate
                None => pause(),
            }
        }
    }

    /// tree.join2 to tree.join4 of a subscriber that is counted here with a node of its own, which is yet to
    /// be made.
    fn add(&self, cursor: Sequence) -> Pass {
        let mut at = self;
        loop {
            let family = match at.branch.0.below.get() {
                Some(family) => family,
                None => match at.branch.0.below.put(at.family(cursor)) {
                    Ok([first, rest @ ..]) => {
                        // tree.join4. Release: pairs with the Acquire in `recount`, which then finds the
                        // family.
                        let count_rest = |node: &Self| {
                            node.branch.0.count.fetch_add(rest.len() as u64 * Count::NODE, Ordering::Release);
                        };
                        at.upwards().for_each(count_rest);
                        return Pass::of(first);
                    }
                    // Unreached: two subscribers that join at once make the same family: they have to meet
                    // there; loom gate
                    Err(theirs) => theirs,
                },
            };
            // Relaxed: any of them would do.
            let fewest = family.iter().min_by_key(|node| node.count(Ordering::Relaxed).nodes());
            at = fewest.expect("a family has members");
            at.recount(Count::with_another);
        }
    }

    /// Nodes below this one, with `cursor` in the first.
    fn family(&self, cursor: Sequence) -> Family {
        core::array::from_fn(|index| Self::new(Some(self), (index == 0).then_some(cursor)))
    }

    /// tree.scan7 for statistics: calls `each` with the number of each cell that is in use, and its cursor.
    /// `number`: this cell's.
    fn visit(&self, number: u64, each: &mut impl FnMut(u64, Sequence)) {
        // Acquire: as in `fold`.
        if self.count(Ordering::Acquire).used() == 0 {
            return;
        }
        // Acquire: pairs with the Release in `Pass::advance`. The thread that stored the cursor had seen the
        // messages before it.
        let cursor = self.cell.load(ordering!(Acquire unless "stats_cursor_relaxed"));
        if cursor != FREE {
            each(number, Sequence::new(cursor));
        }
        for (number, node) in (1 + number * FAMILY as u64..).zip(self.below()) {
            node.visit(number, each);
        }
    }

    /// tree.scan7.
    fn fold<A>(&self, start: A, look: &impl Fn(A, u64) -> A) -> A {
        // Acquire: pairs with the Release of tree.leave6.
        if self.count(ordering!(Acquire unless "gate_count_relaxed")).used() == 0
            && !seeded!("gate_visits_all")
        {
            return start;
        }
        // Acquire: pairs with the Release in `Pass::advance`, and of tree.leave5.
        let own = look(start, self.cell.load(ordering!(Acquire unless "gate_look_relaxed")));
        self.below().iter().fold(own, |before, node| node.fold(before, look))
    }
}

impl Registry {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { top: GateNode::new(None, None) }
    }

    /// A cell with `cursor` in it. O(log(subscribers at their most)), where nobody else comes or goes at the
    /// same time; allocates where there were never more at one time.
    ///
    /// # Panics
    ///
    /// If there are 2^31.
    pub(super) fn enter(&self, cursor: Sequence) -> Pass {
        let has_free_cell = |count: Count| count.has_free_cell() && !seeded!("gate_always_grows");
        // tree.join1.
        let before = self
            .top
            .recount(|count| if has_free_cell(count) { count.with_one_more() } else { count.with_another() })
            .expect("fewer than 2^31 subscribers");
        if has_free_cell(before) { self.top.take(cursor) } else { self.top.add(cursor) }
    }

    /// Looks at the cells of all subscribers, and at some that are free: fewer than n·(2 + log₈ m), where
    /// there are n subscribers, and were m at most at one time.
    pub(super) fn fold<A>(&self, start: A, look: impl Fn(A, u64) -> A) -> A {
        self.top.fold(start, &look)
    }

    /// Calls `each` with the number of each cell that is in use, and its cursor. A cell keeps its number. A
    /// subscriber that comes or leaves meanwhile may be missing. As costly as [`fold`](Self::fold).
    pub(super) fn visit(&self, mut each: impl FnMut(u64, Sequence)) {
        self.top.visit(0, &mut each);
    }
}

/// A subscriber's cell. Good until it is given up, and only while the gate lives.
#[derive(Clone, Copy)]
pub(crate) struct Pass(pub(super) NonNull<AtomicU64>);

// SAFETY: it stands for a shared borrow of an atomic, and of the node around it; its user promises that the
// gate lives.
unsafe impl Send for Pass {}
// SAFETY: as above.
unsafe impl Sync for Pass {}

impl Pass {
    /// Says that the subscriber is done with all messages before `cursor`.
    ///
    /// # Safety
    ///
    /// The gate lives, and the pass was not given up.
    #[inline]
    pub(crate) unsafe fn advance(self, cursor: Sequence) {
        // SAFETY: the caller's promise. Release: pairs with the Acquire of tree.scan7; what was read comes
        // before.
        unsafe { self.0.as_ref() }.store(cursor.get(), ordering!(Release unless "gate_cursor_relaxed"));
    }

    /// The pass of a node, whose first field is the cell.
    fn of(node: &GateNode) -> Self {
        const { assert!(core::mem::offset_of!(GateNode, cell) == 0) };
        Self(NonNull::from(node).cast())
    }
}

impl Registry {
    /// Gives a cell up: no publisher waits for it any more.
    ///
    /// # Safety
    ///
    /// The pass is of this registry, and was not given up; it is now.
    pub(super) unsafe fn leave(pass: Pass) {
        if seeded!("gate_never_left") {
            return;
        }
        // SAFETY: as the caller promises, it was made of a node by `Pass::of`.
        let node = unsafe { pass.0.cast::<GateNode>().as_ref() };
        let ordering = ordering!(Release unless "gate_left_relaxed");
        // tree.leave5. Release: as in `advance`; pairs with tree.join3 too.
        node.cell.store(FREE, ordering);
        let ordering = ordering!(Release unless "gate_uncounted_relaxed");
        // tree.leave6. Release: pairs with the Acquire of tree.scan7, which may see this and not tree.leave5;
        // and with the Acquire of tree.join1 and tree.join2.
        node.upwards().for_each(|node| {
            node.branch.0.count.fetch_sub(Count::USED, ordering);
        });
    }
}

#[cfg(test)]
impl Registry {
    /// How many cells there are, in use or not.
    pub(super) fn cells(&self) -> u64 {
        self.top.count(Ordering::Relaxed).nodes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_end_far_from_an_overflow() {
        let count = |nodes: u64, used: u64| Count(nodes * Count::NODE + used * Count::USED);
        let (most, last) = (count(Count::MOST, Count::MOST), count(Count::MOST - 1, Count::MOST - 1));
        assert!(most.with_one_more().is_none() && most.with_another().is_none());
        assert!(last.with_one_more().is_none());
        assert_eq!(last.with_another(), Some(most.0));
        assert_eq!(count(8, 1).with_one_more(), Some(count(8, 2).0));
    }
}
