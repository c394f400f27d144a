//! The tasks that wait at an event: which of them are to be woken, and by what.
//!
//! A task that waits has a *node*, with its waker and a word for how its wait ended. Nodes lie in
//! blocks. Each block has two words with a bit for each of its nodes: `taken`, if the node has an owner, and
//! `armed`, if its waker is to be woken. A block lives as long as its event. There are only as many nodes as
//! there were tasks that waited at one time (and the rest of the last block).
//!
//! ```text
//! owner of a node                                      who wakes
//! task.wait1  waker, outcome := PENDING                task.wake3  clear the bit of armed     Acquire
//! task.wait2  set the bit of armed      Release                    (it was clear: another)
//! …                                                    task.wake4  take the waker
//! task.wait6  clear the bit of armed; where it         task.wake5  outcome: PENDING →
//!             was clear, a waker has the node:                     WOKEN_ALONE or WOKEN_WITH_ALL
//!             outcome: PENDING → ABANDONED                         (ABANDONED: give the node back)
//!             (it failed: Acquire)                                 then wake                  Release
//! ```
//!
//! *One at a time.* The bit of `armed` hands the node over, with its waker. Whoever clears it has the node
//! alone: the owner goes on with it, or a thread that wakes has it until task.wake5. Where the owner finds a
//! thread between task.wake3 and task.wake5, it waits for nobody: it leaves the node to that thread
//! (ABANDONED), and takes another if it needs one. So a wake-up is never held up by a task, nor a task by a
//! wake-up, also if one of them runs in an interrupt of the other.
//!
//! *What a wake-up is worth.* The owner learns how its wait ended: not at all, or together with all others,
//! or alone, in place of any other (`notify_some`). A wake-up of the last kind belongs to a message. If the
//! owner does not look for a message afterwards, it must pass the wake-up on (`task.rs`). To an abandoned
//! node no wake-up is given: who wakes goes on to the next.
//!
//! *Whom.* [`wake_all`](Waiters::wake_all) looks at each node once, so a task that waits again at once, even
//! inside its `wake`, does not keep it. [`wake_some`](Waiters::wake_some) begins behind the node that was
//! woken last, so each task has its turn after at most one wake-up of every other.
//!
//! *Executors' code.* `wake` may do anything: wait again, receive, send, drop futures. It runs while its
//! thread holds nothing of this list. It may panic: then the panic ends there, and the others are woken.
//!
//! *Steps.* Nobody waits, and there is no lock. A wake-up takes a step for each block, and for each task that
//! it wakes a few steps and the `wake` of its executor. The memory of a block is allocated by the first task
//! that finds no node free.

use core::task::Waker;

use alloc::boxed::Box;

use super::contain::contain;
use crate::link::Link;
use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell, mutated, ordering};

/// The tasks that wait at one event, for any number of threads.
// Decision 0070: nodes and bits, no stack and no lock.
pub(super) struct Waiters {
    first: Link<Block>,
    /// The number of the node with which the next search for some begins: a hint.
    turn: AtomicU32,
    /// How many wake-ups, one after the other, found nobody: a hint.
    in_vain: AtomicU32,
}

/// After so many wake-ups that found nobody, no task is expected to come back.
// Decision 0070: a fence that is saved pays for them.
pub(super) const MANY_IN_VAIN: u32 = if cfg!(any(annulus_loom, miri)) { 1 } else { 128 };

/// Some nodes. Each next block has twice as many, up to 64.
struct Block {
    /// A bit for each node that has an owner, or that there is not.
    taken: AtomicU64,
    /// A bit for each node whose waker is to be woken.
    armed: AtomicU64,
    nodes: Box<[Node]>,
    next: Link<Self>,
}

struct Node {
    /// How the wait ended.
    outcome: AtomicU32,
    /// Changed by one thread at a time: the owner, or the one that cleared its bit of `armed`.
    waker: UnsafeCell<Option<Waker>>,
}

/// In `outcome`: not yet.
const PENDING: u32 = 0;
/// Woken alone, in place of any other.
const WOKEN_ALONE: u32 = 1;
/// Woken together with all others.
const WOKEN_WITH_ALL: u32 = 2;
/// The owner has left the node to who is about to wake it.
const ABANDONED: u32 = 3;

/// Nodes of the first block.
const FIRST: usize = if cfg!(annulus_loom) { 1 } else { 4 };

/// Nodes of the largest blocks.
const MOST: usize = if cfg!(annulus_loom) { 2 } else { 64 };

// SAFETY: the cells are the wakers', which are `Send` and `Sync`, and which one thread at a time has
// (task.wait2, task.wake3, task.wait6).
unsafe impl Sync for Block {}

/// A node and its owner. It does not keep the event alive: see [`Waiters::take_node`].
pub(super) struct OwnedNode {
    block: core::ptr::NonNull<Block>,
    index: u32,
    is_armed: bool,
}

// SAFETY: it stands for a shared reference to a block, which is `Sync`, and for the node's waker, which is
// `Send`.
unsafe impl Send for OwnedNode {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for OwnedNode {}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nobody has woken the task, or everybody was woken. The node is as it was.
    Plainly,
    /// The task was woken in place of any other. The node is as it was.
    WokenAlone,
    /// Another thread was about to wake the task, and wakes another in its place. The node is that thread's.
    Abandoned,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { first: Link::empty(), turn: AtomicU32::new(0), in_vain: AtomicU32::new(0) }
    }

    /// A node for one more task. Allocates where no node is free.
    ///
    /// # Safety
    ///
    /// The node is used and given back only as long as these waiters are there.
    pub(super) unsafe fn take_node(&self) -> OwnedNode {
        let (mut link, mut count) = (&self.first, FIRST);
        loop {
            let block = match link.get() {
                Some(block) => block,
                None => link.put(Block::new(count)).unwrap_or_else(|theirs| theirs),
            };
            if let Some(index) = block.take() {
                return OwnedNode { block: core::ptr::NonNull::from(block), index, is_armed: false };
            }
            (link, count) = (&block.next, (2 * count).min(MOST));
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        core::iter::successors(self.first.get(), |block| block.next.get())
    }

    /// How many tasks wait: a hint.
    pub(super) fn count(&self) -> usize {
        // Relaxed: a hint.
        self.blocks().map(|block| block.armed.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    /// Wakes all tasks that wait. False if there was none.
    pub(super) fn wake_all(&self) -> bool {
        let mut is_any = false;
        for block in self.blocks() {
            // Relaxed: event.wake4 comes before, and its Acquire makes each bit visible that was set before
            // event.sleep1.
            for index in indexes(block.armed.load(Ordering::Relaxed)) {
                is_any |= block.wake(index, WOKEN_WITH_ALL);
            }
        }
        is_any
    }

    /// After a wake-up of all that found somebody, or nobody: whether so many found nobody that no task is
    /// expected to come back.
    pub(super) fn are_away(&self, is_any: bool) -> bool {
        if MANY_IN_VAIN == 1 {
            // Unreached: for loom and Miri
            return !is_any;
        }
        if mutated!("tasks_never_away") {
            return false;
        }
        // Relaxed: a hint. Where two count at once, one is not counted.
        let before = self.in_vain.load(Ordering::Relaxed);
        let count = if is_any { 0 } else { before + 1 };
        let are_away = count >= MANY_IN_VAIN;
        self.in_vain.store(if are_away { 0 } else { count }, Ordering::Relaxed);
        are_away
    }

    /// Wakes up to `most` of the tasks that wait, in turn, and returns how many.
    pub(super) fn wake_some(&self, most: u32) -> u32 {
        let mut woken = 0;
        // Relaxed: a hint.
        let turn = self.turn.load(Ordering::Relaxed);
        'search: for numbers in [turn..u32::MAX, 0..turn] {
            let mut first = 0;
            for block in self.blocks() {
                // Relaxed: as in `wake_all`.
                for index in indexes(block.armed.load(Ordering::Relaxed)) {
                    let number = first + index;
                    if woken == most {
                        break 'search;
                    }
                    if numbers.contains(&number) {
                        if !mutated!("waiters_without_turns") {
                            self.turn.store(number + 1, Ordering::Relaxed);
                        }
                        woken += u32::from(block.wake(index, WOKEN_ALONE));
                    }
                }
                first += block.nodes.len() as u32;
            }
        }
        woken
    }
}

impl Drop for Waiters {
    /// One after the other: a list of blocks that dropped each other would need a stack of its length.
    fn drop(&mut self) {
        let mut block = self.first.take();
        while let Some(mut last) = block {
            block = last.next.take();
        }
    }
}

/// The numbers of the bits that are set, from the lowest on.
fn indexes(mut bits: u64) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let index = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(index)
    })
}

fn bit(index: u32) -> u64 {
    1 << index
}

impl Block {
    fn new(count: usize) -> Self {
        let node = || Node { outcome: AtomicU32::new(PENDING), waker: UnsafeCell::new(None) };
        Self {
            // There are no nodes behind the last.
            taken: AtomicU64::new(u64::MAX.checked_shl(count as u32).unwrap_or(0)),
            armed: AtomicU64::new(0),
            nodes: (0..count).map(|_| node()).collect(),
            next: Link::empty(),
        }
    }

    /// A node that nobody had, if there is one.
    fn take(&self) -> Option<u32> {
        // Relaxed: a hint; the exchange decides.
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken != u64::MAX {
            let index = taken.trailing_ones();
            // Acquire: pairs with the Release in `give_back`.
            let before = self.taken.fetch_or(bit(index), ordering!(Acquire unless "node_taken_relaxed"));
            if before & bit(index) == 0 {
                return Some(index);
            }
            taken = before;
        }
        None
    }

    /// From now on another task may have the node.
    fn give_back(&self, index: u32) {
        // Release: pairs with the Acquire in `take`.
        self.taken.fetch_and(!bit(index), Ordering::Release);
    }

    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// Wakes the task that waits there, if one does.
    fn wake(&self, index: u32, outcome: u32) -> bool {
        // task.wake3. Acquire: pairs with the Release of task.wait2, so the waker is seen.
        let armed = self.armed.fetch_and(!bit(index), ordering!(Acquire unless "waker_taken_relaxed"));
        if armed & bit(index) == 0 {
            return false;
        }
        let node = self.node(index);
        // task.wake4. SAFETY: this thread has cleared the bit, so it has the node until task.wake5.
        let waker = node.waker.with_mut(|waker| unsafe { (*waker).take() });
        // task.wake5. Release: pairs with the Acquire of task.wait6. Who finds the outcome there has the
        // node.
        let (success, failure) = (ordering!(Release unless "waker_left_relaxed"), Ordering::Relaxed);
        let is_woken = node.outcome.compare_exchange(PENDING, outcome, success, failure).is_ok();
        if !is_woken {
            self.give_back(index);
        }
        contain(|| match waker {
            Some(waker) if is_woken => waker.wake(),
            waker if mutated!("abandoned_waker_leaks") => core::mem::forget(waker),
            waker => drop(waker),
        });
        is_woken || mutated!("abandoned_counts_as_woken")
    }
}

impl OwnedNode {
    fn block(&self) -> &Block {
        // SAFETY: it lives as long as the waiters, and so as this node (`take_node`).
        unsafe { self.block.as_ref() }
    }

    /// From now on `waker` may be woken. The caller [disarmed](Self::disarm) the node before.
    pub(super) fn arm(&mut self, waker: &Waker) {
        debug_assert!(!self.is_armed, "it has no right to the node");
        let node = self.block().node(self.index);
        // task.wait1. SAFETY: the owner has the node while it is not armed.
        let is_there =
            node.waker.with(|there| unsafe { (*there).as_ref() }.is_some_and(|there| there.will_wake(waker)));
        if !is_there {
            // Cloned before, and dropped afterwards: both are others' code.
            let new = Some(waker.clone());
            // SAFETY: as above.
            let old = node.waker.with_mut(|there| unsafe { core::ptr::replace(there, new) });
            contain(|| drop(old));
        }
        node.outcome.store(PENDING, Ordering::Relaxed);
        // task.wait2. Release: pairs with the Acquire of task.wake3.
        self.block().armed.fetch_or(bit(self.index), Ordering::Release);
        self.is_armed = true;
    }

    /// Whether it is armed, and nobody has begun to wake the task.
    pub(super) fn is_waiting(&self) -> bool {
        // Relaxed: who waits for what comes with the wake-up has registered elsewhere, and that orders it
        // (`relay.rs`).
        self.is_armed && self.block().armed.load(Ordering::Relaxed) & bit(self.index) != 0
    }

    /// From now on nobody wakes the task, and it is told how its wait ended. Where it is
    /// [`Ended::Abandoned`], the caller forgets the node.
    pub(super) fn disarm(&mut self) -> Ended {
        if !core::mem::replace(&mut self.is_armed, false) {
            return Ended::Plainly;
        }
        let block = self.block();
        // task.wait6. Relaxed: whoever finds the bit set is the thread that set it. A look comes first, which
        // is cheaper: if the bit is clear, it stays so.
        let is_armed = |bits: u64| bits & bit(self.index) != 0;
        if is_armed(block.armed.load(Ordering::Relaxed))
            && is_armed(block.armed.fetch_and(!bit(self.index), Ordering::Relaxed))
        {
            return Ended::Plainly;
        }
        let outcome = &block.node(self.index).outcome;
        let failure = ordering!(Acquire unless "waker_back_relaxed");
        // Acquire: pairs with the Release of task.wake5. Mostly it has come to that, and the look is cheaper.
        match outcome.load(failure) {
            PENDING => {}
            WOKEN_ALONE => return Ended::WokenAlone,
            _ => return Ended::Plainly,
        }
        // Acquire: pairs with the Release of task.wake5. Relaxed where it is abandoned: the owner is done
        // with it, and who gives it back has all that it did by task.wake3.
        match outcome.compare_exchange(PENDING, ABANDONED, Ordering::Relaxed, failure) {
            Ok(_) => Ended::Abandoned,
            // Unreached: woken between two looks of who gives up: two threads have to meet there; loom
            // task_wake
            Err(WOKEN_ALONE) => Ended::WokenAlone,
            Err(_) => Ended::Plainly,
        }
    }

    /// Gives the node back, which is [disarmed](Self::disarm) and not abandoned, and is not used any more.
    /// Returns its waker, whose destructor is an executor's.
    pub(super) fn give_back(&mut self) -> Option<Waker> {
        debug_assert!(!self.is_armed, "it has no right to the node");
        let block = self.block();
        // SAFETY: the owner has the node while it is not armed.
        let waker = block.node(self.index).waker.with_mut(|waker| unsafe { (*waker).take() });
        block.give_back(self.index);
        waker
    }
}

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests {
    use std::panic::resume_unwind;
    use std::sync::Arc;
    use std::sync::Mutex;
    use std::task::Wake;
    use std::vec::Vec;

    use super::*;

    /// A task that keeps account of its wake-ups, and does something at each.
    struct Noted {
        number: usize,
        notes: Arc<Mutex<Vec<usize>>>,
        also: Option<Box<dyn Fn() + Send + Sync>>,
    }

    impl Wake for Noted {
        fn wake(self: Arc<Self>) {
            self.notes.lock().unwrap().push(self.number);
            if let Some(also) = &self.also {
                also();
            }
        }
    }

    /// Wakers with numbers, and what they note.
    #[derive(Default)]
    struct Notes(Arc<Mutex<Vec<usize>>>);

    impl Notes {
        fn waker(&self, number: usize) -> Waker {
            self.waker_that(number, None)
        }

        fn waker_that(&self, number: usize, also: Option<Box<dyn Fn() + Send + Sync>>) -> Waker {
            Arc::new(Noted { number, notes: Arc::clone(&self.0), also }).into()
        }

        fn take(&self) -> Vec<usize> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }

        /// How many wakers there are.
        fn alive(&self) -> usize {
            Arc::strong_count(&self.0) - 1
        }
    }

    /// Nodes of tasks 0, 1, …, which are armed.
    fn armed(waiters: &Waiters, notes: &Notes, count: usize) -> Vec<OwnedNode> {
        let node = |number| {
            // SAFETY: the tests drop their nodes before the waiters.
            let mut node = unsafe { waiters.take_node() };
            node.arm(&notes.waker(number));
            node
        };
        (0..count).map(node).collect()
    }

    const MANY: usize = if cfg!(miri) { 30 } else { 1_000 };

    fn ends(nodes: Vec<OwnedNode>) -> Vec<Ended> {
        let end = |mut node: OwnedNode| {
            let ended = node.disarm();
            node.give_back();
            ended
        };
        nodes.into_iter().map(end).collect()
    }

    #[test]
    fn all_are_woken_once_and_leave_nothing() {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let nodes = armed(&waiters, &notes, MANY);
        assert_eq!(waiters.count(), MANY);
        assert!(waiters.wake_all());
        assert!(!waiters.wake_all());
        assert_eq!(notes.take(), (0..MANY).collect::<Vec<_>>());
        assert_eq!((notes.alive(), waiters.count()), (0, 0));
        assert!(ends(nodes).iter().all(|&ended| ended == Ended::Plainly));
    }

    #[test]
    fn some_are_woken_in_turn() {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let mut nodes = armed(&waiters, &notes, 10);
        assert_eq!(waiters.wake_some(3), 3);
        assert_eq!(notes.take(), [0, 1, 2]);
        // The first one waits again at once, and is not preferred.
        assert_eq!(nodes[0].disarm(), Ended::WokenAlone);
        nodes[0].arm(&notes.waker(0));
        assert_eq!(waiters.wake_some(7), 7);
        assert_eq!(notes.take(), [3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(waiters.wake_some(7), 1);
        assert_eq!(notes.take(), [0]);
        assert_eq!(waiters.wake_some(7), 0);
        assert!(ends(nodes).iter().all(|&ended| ended == Ended::WokenAlone));
    }

    /// There are as many nodes as there were tasks at one time, and the rest of the last block.
    #[test]
    fn nodes_are_used_again() {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        for _ in 0..10 {
            assert!(ends(armed(&waiters, &notes, 13)).iter().all(|&ended| ended == Ended::Plainly));
            assert_eq!(
                waiters.blocks().map(|block| block.nodes.len()).sum::<usize>(),
                FIRST + 2 * FIRST + 4 * FIRST
            );
            assert_eq!((waiters.count(), notes.alive()), (0, 0));
        }
        assert!(
            waiters
                .blocks()
                .all(|block| block.taken.load(Ordering::Relaxed).count_zeros() as usize == block.nodes.len())
        );
    }

    #[test]
    fn the_last_waker_counts() {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let mut nodes = armed(&waiters, &notes, 1);
        assert_eq!(nodes[0].disarm(), Ended::Plainly);
        assert_eq!(waiters.wake_some(1), 0, "it does not wait");
        let second = notes.waker(1);
        nodes[0].arm(&second);
        assert_eq!(notes.alive(), 1, "the first one is gone");
        nodes[0].disarm();
        nodes[0].arm(&second.clone());
        waiters.wake_all();
        assert_eq!(notes.take(), [1]);
        ends(nodes);
    }

    /// Whoever wakes finds that the owner has gone: it gives the node back, and wakes another.
    #[test]
    fn an_abandoned_node_is_not_woken() {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let mut nodes = armed(&waiters, &notes, 2);
        let block = waiters.first.get().unwrap();
        // task.wake3 and task.wake4 of another thread …
        block.armed.fetch_and(!1, Ordering::Acquire);
        let waker = block.nodes[0].waker.with_mut(|waker| {
            // SAFETY: the bit was cleared here.
            unsafe { (*waker).take() }
        });
        // … then the owner …
        let mut first = nodes.remove(0);
        assert_eq!(first.disarm(), Ended::Abandoned);
        assert!(block.take() != Some(0), "it is not free yet");
        // … then task.wake5.
        block.nodes[0].waker.with_mut(|there| {
            // SAFETY: the node is still this thread's.
            unsafe { *there = waker };
        });
        block.armed.fetch_or(1, Ordering::Release);
        assert_eq!(waiters.wake_some(1), 1);
        assert_eq!(notes.take(), [1], "the wake-up went to the other");
        assert_eq!(block.take(), Some(0), "now it is free");
        assert_eq!(notes.alive(), 0);
        ends(nodes);
    }

    /// What a panic says, which panics where it is dropped.
    struct PanicsInTurn;

    impl Drop for PanicsInTurn {
        fn drop(&mut self) {
            // Without an allocation: nobody can drop it.
            resume_unwind(Box::new(()));
        }
    }

    #[test]
    fn a_waker_that_panics_harms_nobody() {
        let wake_all = |waiters: &Waiters| assert!(waiters.wake_all());
        let wake_some = |waiters: &Waiters| assert_eq!(waiters.wake_some(9), 9);
        for wake in [&wake_all as &dyn Fn(&Waiters), &wake_some] {
            let (waiters, notes) = (Waiters::new(), Notes::default());
            let mut nodes = armed(&waiters, &notes, 9);
            nodes[1].disarm();
            nodes[1].arm(&notes.waker_that(1, Some(Box::new(|| resume_unwind(Box::new("on purpose"))))));
            nodes[3].disarm();
            nodes[3].arm(&notes.waker_that(3, Some(Box::new(|| resume_unwind(Box::new(PanicsInTurn))))));
            wake(&waiters);
            assert_eq!(notes.take(), (0..9).collect::<Vec<_>>());
            ends(nodes);
        }
    }

    /// A waiter that waits again inside its `wake` is not woken without end.
    #[test]
    fn a_wake_up_ends() {
        let notes = Notes::default();
        let waiters = Arc::new(Waiters::new());
        let others = Arc::new(Mutex::new(Vec::new()));
        let mut nodes = armed(&waiters, &notes, 2);
        let again = {
            let (waiters, others, waker) = (Arc::clone(&waiters), Arc::clone(&others), notes.waker(7));
            move || {
                for _ in 0..3 {
                    // SAFETY: it is given back below, while the waiters are there.
                    let mut node = unsafe { waiters.take_node() };
                    node.arm(&waker);
                    others.lock().unwrap().push(node);
                }
            }
        };
        nodes[0].disarm();
        nodes[0].arm(&notes.waker_that(0, Some(Box::new(again))));
        waiters.wake_all();
        let noted = notes.take();
        assert!(noted.starts_with(&[0, 1]) && noted.len() <= 2 + 3, "{noted:?}");
        ends(nodes);
        ends(std::mem::take(&mut *others.lock().unwrap()));
    }

    /// Threads wake while others arm and disarm: nobody is woken twice for one arming, and no waker is left.
    #[test]
    fn threads_beside_each_other() {
        const ROUNDS: usize = if cfg!(miri) { 50 } else { 20_000 };
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let ended = std::thread::scope(|scope| {
            let owners: Vec<_> = (0..2)
                .map(|number| {
                    let (waiters, waker) = (&waiters, notes.waker(number));
                    scope.spawn(move || {
                        let mut counts = [0; 2];
                        // SAFETY: it is given back below.
                        let mut node = unsafe { waiters.take_node() };
                        for _ in 0..ROUNDS {
                            node.arm(&waker);
                            std::hint::spin_loop();
                            match node.disarm() {
                                Ended::Plainly => {}
                                Ended::WokenAlone => counts[0] += 1,
                                Ended::Abandoned => {
                                    counts[1] += 1;
                                    // SAFETY: as above.
                                    node = unsafe { waiters.take_node() };
                                }
                            }
                        }
                        node.give_back();
                        counts
                    })
                })
                .collect();
            let wakers: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| (0..ROUNDS).map(|_| waiters.wake_some(1) as usize).sum::<usize>()))
                .collect();
            let woken: usize = wakers.into_iter().map(|waker| waker.join().unwrap()).sum();
            let ended = owners.into_iter().map(|owner| owner.join().unwrap());
            let ended = ended.fold([0; 2], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1]]);
            assert_eq!(ended[0], woken, "each wake-up is one of an owner");
            ended
        });
        assert_eq!(notes.take().len(), ended[0]);
        assert_eq!((notes.alive(), waiters.count()), (0, 0));
        // All nodes are free again.
        assert!(
            waiters
                .blocks()
                .all(|block| block.taken.load(Ordering::Relaxed).count_zeros() as usize == block.nodes.len())
        );
    }
}
