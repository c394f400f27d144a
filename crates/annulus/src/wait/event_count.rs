//! The eventcount: sleepers at the price of one load to the threads that would wake them.
//!
//! One 32-bit word: bit 0 says that a thread sleeps, or is about to; bit 4 says so of a task; bit 1
//! says that each waker has a full fence, because the system has no other or the eventcount is young
//! (`fences.rs`); bit 2 says that nothing comes any more (`CLOSED`), which wakers see at the same look;
//! bit 3 is free; bit 5 says that a sleeper has had its fence since bit 0 or 4 was set; bit 6 is constant
//! and says that threads of other processes sleep elsewhere (`other_processes.rs`); the upper 25 bits count
//! wake-ups, so that no sleeper mistakes one for another. Where bits 0, 1, 2, 4 and 6 are clear, one load is
//! all that a waker does.
//!
//! ```text
//! waker                                            sleeper
//! event.wake1  the store that matters              event.sleep1  word |= 1                    (register)
//! event.wake2  light fence                         event.sleep2  heavy fence
//! event.wake3  bit 0 or 4 of word? ── no: done     event.sleep3  look again for that store ── there: don't sleep
//! event.wake4  clear bit 0, count  (AcqRel)        event.sleep4  sleep while word is the same   (Acquire)
//! event.wake5  wake all that sleep on word, or some
//! ```
//!
//! *Why no wake-up is lost.* The two fences are a pair with a total order. If the sleeper's comes first,
//! event.wake3 sees event.sleep1 and the waker goes on to event.wake4; event.sleep4 then finds the word
//! changed, or is woken by event.wake5, which the kernel (or the lock) orders after event.sleep4's own look
//! at the word. If the waker's comes first, event.sleep3 sees event.wake1's store. After event.sleep4 the
//! sleeper polls again; event.wake4's Release and event.sleep4's Acquire make event.wake1 visible to that
//! poll.
//!
//! *All of many.* Where many threads sleep, event.wake5 wakes one, and the threads that are woken wake the
//! others: see `cohorts.rs`.
//!
//! *One for each.* Where any sleeper will do for a message, [`EventCount::notify_some`] wakes as many as
//! there are messages, and bit 0 stays set for the others, which sleep there without another registration. So
//! what keeps the bit honest is this: it is cleared only together with a wake-up of all. A waker that finds
//! fewer asleep than it would wake clears it (event.wake6), in one step with a new count, and then wakes all
//! (event.wake7): a thread that went to sleep between its two system calls is woken, and a thread that has
//! registered but does not sleep yet finds the word changed, and polls. A thread that is woken polls for any
//! message, so it does not matter which one it is woken for. `asleep` tells a waker in advance that one or
//! all is the same; it is a hint.
//!
//! *One fence for many.* A heavy fence interrupts all cores, and where a message wakes hundreds, hundreds
//! would go back to sleep with one each. But the first one's serves the others of its kind, too. After its
//! fence it sets bit 5 (event.sleep5, a Release), which stays as long as bit 0 or 4 does. Whichever thread
//! registers while bits 0 and 5 are set (event.sleep1, an Acquire) goes without:
//!
//! - A waker whose event.wake3 sees none of these bits looked before they were set, or after they were taken
//!   down. In the first case its look, and so its event.wake2, came before the first sleeper's fence, which
//!   happens before the others' event.sleep3: so that sees event.wake1. In the second case, the waker that
//!   took them down after their event.sleep1 wakes them.
//! - Any other waker goes on to event.wake4. If that comes after their event.sleep1, they find the word
//!   changed, or are woken. If it comes before, they see event.wake1, because event.sleep1 is an Acquire.
//!
//! *Tasks.* A task is armed (`waiters/`) before event.sleep1, and returns to its executor instead of
//! event.sleep4. It needs no look at the word, because event.wake5 finds its waker. So each kind of waiter
//! has its bit. A wake-up of tasks leaves bit 4, and writes nothing to the word: a waker that finds the bit
//! has a full fence, and looks whether a task is armed; a task has a full fence after it is armed, and then
//! looks at the word. Where that has bits 4 and 5, its event.sleep1 is this look:
//!
//! - A waker that finds bit 4 and this task are two full fences, one of which comes first: the waker finds
//!   the task, or event.sleep3 sees event.wake1.
//! - A waker that does not find it looked before the first sleeper's fence, as above; or after the bit was
//!   taken down. The waker that takes it down has a full fence after that, and then looks for tasks: it wakes
//!   this one, or the task has seen that the bit is down.
//!
//! Where many wakers find no task, one after the other, the last one takes the bit down (event.wake6,
//! event.wake7). So tasks that answer each other, or come back to a small ring again and again, and futures
//! that are dropped and made anew by a `select!`, have one heavy fence in all. Where some are woken, a thread
//! comes first at one wake-up, and a task at the next.
//!
//! *Coalescing.* event.wake4 clears bit 0, so after one wake-up the waker pays one load again until somebody
//! registers anew, however late the sleepers run. (In a young eventcount it pays a full fence, too. After a
//! wake-up of tasks, as many slow paths come first as find none of them:
//! [`MANY_IN_VAIN`](super::waiters::MANY_IN_VAIN).) A
//! sleeper that times out, or finds its message at event.sleep3, leaves the bit set: one wake-up is then made
//! for nobody.
//!
//! *Limits.* A sleeper that is stalled between event.sleep1 and event.sleep4 for exactly 2^25 wake-ups of
//! others sleeps through them (2^24 of those that wake some).
//!
//! Here are the word and a waker's look at it (event.wake3); `sleep.rs` has the sleeper's half, `wake.rs` the
//! waker's from event.wake4 on, and `fences.rs` the fences of young eventcounts.
//!
//! Sources: Vyukov's eventcount; the asymmetric fences after Linux `membarrier(2)` and Dice, Huang, Yang,
//! "Asymmetric Dekker synchronization" (2001).

mod fences;
mod sleep;
#[cfg(all(test, feature = "std"))]
mod tests;
mod wake;

use core::mem::ManuallyDrop;

use super::cohorts::Cohorts;
use super::fence;
#[cfg(feature = "std")]
use super::give_way::GiveWayHint;
use super::other_processes::Remote;
use super::park::Cohort;
use super::waiters::Waiters;
use crate::stats::Counting;
use crate::sync::{AtomicU32, Ordering, light_fence, seeded, unlikely};

/// An eventcount. Any number of sleepers and wakers.
///
/// In this order, so that what is 0 at first lies together: it is written by a few wide stores.
// Decision 0143: stores are what it takes to make a ring.
#[repr(C)]
pub(crate) struct EventCount {
    /// Written by sleepers (event.sleep1) and, only while bit 0 or 4 is set, by wakers (event.wake4,
    /// event.wake6), at [a close](EventCount::set_closed), and once by a waker (event.grow8);
    /// otherwise constant as long as nobody sleeps.
    pub(super) word: AtomicU32,
    /// How many looks of wakers that find nothing are left before event.grow8; 0 where bit 1 is constant. A
    /// hint: where several look at once, they may count as one.
    youth: AtomicU32,
    #[cfg(feature = "std")]
    give_way: GiveWayHint,
    /// The threads that sleep.
    threads: Cohorts,
    /// The tasks that wait, where nobody else has them (see [`tasks`](Self::tasks)).
    tasks: Waiters,
    /// Counts sleeps and wake-ups, if somebody wants that. Constant.
    counters: Counting,
    /// Where the threads of all processes sleep, if there are others. Constant. Few eventcounts have it: so
    /// the drop of one looks whether it is there, and calls nothing.
    remote: ManuallyDrop<Option<Remote>>,
}

impl Drop for EventCount {
    #[inline(always)]
    fn drop(&mut self) {
        if self.remote.is_some() {
            // SAFETY: it is dropped once, and nobody uses it any more.
            unsafe { ManuallyDrop::drop(&mut self.remote) };
        }
    }
}

/// A thread sleeps, or is about to.
const THREAD: u32 = 1;
/// Wakers have full fences.
// Decision 0006: in the same word, so that one load decides.
const FENCE_BOTH_SIDES: u32 = 2;
/// A task waits, or is about to, or did so not long ago.
const TASK: u32 = 16;
/// Either.
const SLEEPER: u32 = THREAD | TASK;
/// A sleeper has had its heavy fence since the first of these bits was set.
const FENCED: u32 = 32;
/// Threads of other processes may sleep elsewhere.
const ELSEWHERE: u32 = 64;
/// One wake-up of all threads. Its bit says of which cohort the threads that sleep on the word are.
const WAKE_UP: u32 = 128;
/// One wake-up that leaves threads where they are.
const WAKE_UP_OF_SOME: u32 = 2 * WAKE_UP;
/// Whether a waker has more to do than one look.
const SLOW: u32 = SLEEPER | FENCE_BOTH_SIDES | ELSEWHERE;

/// So many looks of wakers in a row that find nobody end the youth of an eventcount. Together they cost about
/// as much as one heavy fence.
// Decision 0115: full fences first.
const YOUTH: u32 = if cfg!(annulus_loom) { 1 } else { 64 };

/// Of which cohort a thread is that sleeps on this word.
fn cohort(word: u32) -> Cohort {
    if word & WAKE_UP == 0 || seeded!("cohorts_are_one") { Cohort::Even } else { Cohort::Odd }
}

/// The word of new eventcounts, and their youth: the same for all.
#[derive(Clone, Copy)]
pub(crate) struct NewWord {
    word: u32,
    youth: u32,
}

impl NewWord {
    pub(crate) fn of_events() -> Self {
        if !fence::is_asymmetric() {
            // Unreached: on other systems, and on kernels without membarrier
            return Self { word: FENCE_BOTH_SIDES, youth: 0 };
        }
        if !fence::begins_young() || seeded!("never_young") {
            // Unreached: for loom
            return Self { word: 0, youth: 0 };
        }
        Self { word: FENCE_BOTH_SIDES, youth: YOUTH }
    }
}

impl EventCount {
    pub(crate) fn new() -> Self {
        Self::counting(None)
    }

    /// An eventcount whose sleeps and wake-ups are counted, if there are counters.
    #[inline(always)]
    pub(crate) fn counting(counters: Counting) -> Self {
        Self::begun(NewWord::of_events(), counters)
    }

    /// As [`counting`](Self::counting), by what the caller has asked before.
    #[inline(always)]
    pub(crate) fn begun(NewWord { word, youth }: NewWord, counters: Counting) -> Self {
        Self::with(word, youth, counters)
    }

    /// An eventcount whose wakers and sleepers have a full fence each, so that nobody asks the system for
    /// one. For rings that live for one message.
    pub(crate) fn fenced() -> Self {
        Self::with(FENCE_BOTH_SIDES, 0, None)
    }

    /// (One expression, from numbers: so it is written where it stays. Decision 0130.)
    #[inline(always)]
    fn with(word: u32, youth: u32, counters: Counting) -> Self {
        Self {
            word: AtomicU32::new(word),
            youth: AtomicU32::new(youth),
            #[cfg(feature = "std")]
            give_way: GiveWayHint::new(),
            threads: Cohorts::new(),
            tasks: Waiters::new(),
            counters,
            remote: ManuallyDrop::new(None),
        }
    }

    /// An eventcount whose sleepers may be of other processes: each wake-up looks for them. If the light
    /// fence is not enough for them, wakers have full ones. (That the eventcount is young is about threads of
    /// this process: a sleeper of another one has its heavy fence in any case.)
    // Decision 0089: one more load for each message, no fence.
    #[cfg(feature = "shm")]
    pub(crate) fn across(remote: Remote, counters: Counting) -> Self {
        let mut event = if remote.is_asymmetric() {
            Self::counting(counters)
        } else {
            Self::with(FENCE_BOTH_SIDES, 0, counters)
        };
        // Relaxed: nobody else has it yet.
        event.word.fetch_or(ELSEWHERE, Ordering::Relaxed);
        event.remote = ManuallyDrop::new(Some(remote));
        event
    }
}

/// Looking for sleepers: one load behind the light fence, and a closer look behind the full one.
impl EventCount {
    /// What a waker in another language looks for in the word, as
    /// [`may_have_sleepers`](Self::may_have_sleepers).
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) const SLOW_BITS: u32 = SLOW;

    /// event.wake2 and event.wake3: whether a thread may sleep here that has not seen the caller's last
    /// store, or the eventcount is closed. Where it is false, its fence also serves other looks that the
    /// caller takes after this one, if the thread that changes what they look at calls
    /// [`barrier`](Self::barrier) before it looks for the store. Where it is true, the caller needs
    /// [`fence`](Self::fence) before them.
    #[inline(always)]
    pub(crate) fn needs_slow_path(&self) -> bool {
        // Mutants: `| with ^`: no bit is in both.
        !self.is_clear_of(SLOW | Self::CLOSED)
    }

    /// event.wake2 and event.wake3: whether a thread may sleep here that has not seen the caller's last
    /// store; it then calls [`notify`](Self::notify) or its like.
    // Mutants: `with true`: it looks closer, and finds nobody to wake.
    #[inline(always)]
    pub(crate) fn may_have_sleepers(&self) -> bool {
        !self.is_clear_of(SLOW)
    }

    #[inline(always)]
    fn is_clear_of(&self, bits: u32) -> bool {
        // event.wake2, for the compiler; pairs with event.sleep2, which makes every core execute a barrier.
        light_fence();
        // event.wake3. Relaxed: event.wake2 and event.sleep2 decide what it sees; where it sees event.grow8,
        // coherence does.
        self.word.load(Ordering::Relaxed) & bits == 0
    }

    /// As [`needs_slow_path`](Self::needs_slow_path), of an eventcount whose sleepers may be of other
    /// processes: looks at both words, so that not each message takes the slow path.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(crate) fn needs_slow_path_across(&self) -> bool {
        !self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES | Self::CLOSED) || !self.is_empty_elsewhere()
    }

    /// event.wake3 of both words: whether nobody sleeps here or elsewhere, where light fences are enough to
    /// tell.
    #[inline(always)]
    pub(super) fn has_sleepers_nowhere(&self) -> bool {
        // In this order: where there is no elsewhere, that is all there is to ask.
        self.is_empty_elsewhere() && self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES)
    }

    /// Whether nobody sleeps elsewhere, where light fences are enough to tell.
    #[inline(always)]
    fn is_empty_elsewhere(&self) -> bool {
        self.remote.as_ref().is_some_and(Remote::is_empty)
    }

    /// event.wake3 by itself, after a fence of the caller's.
    pub(crate) fn has_sleepers(&self) -> bool {
        // Relaxed: the fence and event.sleep2 decide what it sees.
        self.word.load(Ordering::Relaxed) & SLEEPER != 0
    }

    /// event.wake3 once more, behind the caller's [`fence`](Self::fence). (A sleeper that is seen only now
    /// has its own heavy fence after that, or another sleeper's serves it.) For most messages that come after
    /// a wake-up of tasks, this is the last step.
    // Decision 0137: asked first.
    #[inline(always)]
    pub(crate) fn sleepers(&self) -> SleeperKind {
        // Relaxed: the fences decide what it sees.
        let word = self.word.load(Ordering::Relaxed);
        // Mutants: `| with ^`: no bit is in both.
        if word & (THREAD | ELSEWHERE | Self::CLOSED) != 0 && !seeded!("tasks_hide_others") {
            return SleeperKind::More;
        }
        if word & TASK == 0 {
            return SleeperKind::Nobody;
        }
        // A task that registered before the fence was armed before that, and is counted. (Where there is no
        // elsewhere, the tasks are here.)
        if self.tasks.count() != 0 {
            return SleeperKind::Tasks;
        }
        self.found_no_task();
        SleeperKind::Nobody
    }
}

/// What a waker finds at an eventcount behind its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleeperKind {
    /// Nobody waits, and the eventcount is not closed: there is nothing to do.
    Nobody,
    /// Tasks of this process and nobody else, and the eventcount is not closed.
    Tasks,
    /// Threads wait, or others may wait in other processes, or the eventcount is closed.
    More,
}

// What a thread does that has stored something: here while nobody sleeps, and otherwise in `wake`.
impl EventCount {
    /// Wakes all that registered before a poll could see the caller's last store.
    #[inline]
    pub(crate) fn notify(&self) {
        if unlikely(self.may_have_sleepers()) {
            self.wake();
        }
    }

    /// As [`notify`](Self::notify), of an event whose sleepers may be of other processes.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(crate) fn notify_across(&self) {
        if unlikely(!self.has_sleepers_nowhere()) {
            self.wake();
        }
    }

    /// As [`notify`](Self::notify), where any sleeper will do for the caller's last `count`
    /// stores, one for each: wakes no more than that, as far as that can be told. A waiter that is woken must
    /// look for all such stores, not for one of them.
    #[cfg_attr(not(annulus_loom), inline)]
    pub(crate) fn notify_some(&self, count: usize) {
        if unlikely(self.may_have_sleepers()) {
            self.wake_some(count);
        }
    }
}

/// The flag in the word: nothing comes any more.
impl EventCount {
    /// The bit that is set for good when the queue is closed.
    pub(crate) const CLOSED: u32 = 4;

    /// Sets the flag. It is published as by a store with `ordering`. A sleeper looks again.
    pub(crate) fn set_closed(&self, ordering: Ordering) {
        self.word.fetch_or(Self::CLOSED, ordering);
    }

    /// Whether the flag is set, by a load with `ordering`. (All later changes of the word are
    /// read-modify-writes, so a thread that sees one of them sees the Release of the flag.)
    #[inline(always)]
    pub(crate) fn is_closed(&self, ordering: Ordering) -> bool {
        self.word.load(ordering) & Self::CLOSED != 0
    }

    /// The word, for a program in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }
}

impl EventCount {
    /// The tasks that wait here.
    pub(super) fn tasks(&self) -> &Waiters {
        self.remote.as_ref().and_then(Remote::tasks).unwrap_or(&self.tasks)
    }

    /// Whether giving up the time slice helps the threads that wait here.
    #[cfg(feature = "std")]
    pub(super) fn give_way_hint(&self) -> &GiveWayHint {
        &self.give_way
    }
}
