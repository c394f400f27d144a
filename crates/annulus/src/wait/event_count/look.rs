//! Looking for sleepers: one load beside the light fence, and a closer look behind the full one.

use super::{ELSEWHERE, EventCount, FENCE_BOTH_SIDES, SLEEPER, SLOW, TASK, THREAD};
use crate::sync::{Ordering, mutated};
use crate::wait::fence;
use crate::wait::remote::Remote;
use crate::wait::sleepers::Sleepers;

impl EventCount {
    /// event.wake2 and event.wake3: whether somebody may sleep here who has not seen the caller's last store,
    /// or the event is closed. Where it is false, its fence also serves other looks that the caller takes
    /// after this one, if whoever changes what they look at calls [`barrier`](Self::barrier) before it looks
    /// for the store. Where it is true, the caller needs [`fence`](Self::fence) before them.
    #[inline(always)]
    pub(crate) fn needs_slow_path(&self) -> bool {
        // Mutants: `| with ^`: no bit is in both.
        !self.is_clear_of(SLOW | Self::CLOSED)
    }

    /// As [`needs_slow_path`](Self::needs_slow_path), of an event whose sleepers may be of other processes:
    /// looks at both words, so that the slow path is not that of each message.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(crate) fn needs_slow_path_across(&self) -> bool {
        !self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES | Self::CLOSED) || !self.is_empty_elsewhere()
    }

    /// Whether nobody sleeps elsewhere, where light fences are enough to tell.
    #[inline(always)]
    fn is_empty_elsewhere(&self) -> bool {
        self.remote.as_ref().is_some_and(Remote::is_empty)
    }

    /// event.wake2 and event.wake3: whether somebody may sleep here who has not seen the caller's last store;
    /// it then calls [`notify`](Self::notify) or its like.
    // Mutants: `with true`: it looks closer, and finds nobody to wake.
    #[inline(always)]
    pub(crate) fn may_have_sleepers(&self) -> bool {
        // Mutants: `| with ^`: no bit is in both.
        !self.is_clear_of(SLOW)
    }

    /// event.wake3 by itself, after a fence of the caller's.
    pub(crate) fn has_sleepers(&self) -> bool {
        // Relaxed: the fence and event.sleep2 decide what it sees.
        self.word.load(Ordering::Relaxed) & SLEEPER != 0
    }

    #[inline(always)]
    fn is_clear_of(&self, bits: u32) -> bool {
        // event.wake2, for the compiler; pairs with event.sleep2, which makes every core execute a barrier.
        fence::light();
        // event.wake3. Relaxed: event.wake2 and event.sleep2 decide what it sees; where it sees event.grow8,
        // coherence does.
        self.word.load(Ordering::Relaxed) & bits == 0
    }

    /// event.wake3 of both words: whether nobody sleeps here or elsewhere, where light fences are enough to
    /// tell.
    #[inline(always)]
    pub(super) fn has_sleepers_nowhere(&self) -> bool {
        // In this order: where there is no elsewhere, that is all there is to ask.
        self.is_empty_elsewhere() && self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES)
    }

    /// event.wake3 once more, behind the caller's [`fence`](Self::fence). (Who is seen only now has its own
    /// heavy fence after that, or that of somebody who has.) For most messages that come after a wake-up of
    /// tasks, this is the last step.
    // Decision 0137: asked first.
    // Mutants: `with Sleepers::More`: it looks closer, and finds nobody to wake.
    #[inline(always)]
    pub(crate) fn sleepers(&self) -> Sleepers {
        // Relaxed: the fences decide what it sees.
        let word = self.word.load(Ordering::Relaxed);
        // Mutants: `| with ^`: no bit is in both.
        if word & (THREAD | ELSEWHERE | Self::CLOSED) != 0 && !mutated!("tasks_hide_others") {
            return Sleepers::More;
        }
        if word & TASK == 0 {
            return Sleepers::Nobody;
        }
        // Whoever registered before the fence was armed before that, and is counted. (Where there is no
        // elsewhere, the tasks are here.)
        if self.tasks.count() != 0 {
            return Sleepers::Tasks;
        }
        self.found_no_task();
        Sleepers::Nobody
    }
}
