//! [`Remote`]: where a process waits for others, or wakes them: one word for the threads of all processes,
//! and the tasks of this one.
//!
//! *The word* ([`RemoteWord`]) is a second one beside the word of the [eventcount](super::EventCount), in
//! memory that all processes map. Bit 0 says that a thread sleeps there, or is about to; the other bits count
//! wake-ups. The steps are the eventcount's.
//!
//! ```text
//! waker                                             sleeper
//! remote.wake1  the store that matters              remote.sleep1  word |= 1
//! remote.wake2  light fence                         remote.sleep2  heavy fence, which reaches the waker's process
//! remote.wake3  bit 0 of word? ── no: done          remote.sleep3  look again for that store ── there: don't sleep
//! remote.wake4  word &= !1; word += 2               remote.sleep4  sleep while word is the same, for a while
//! remote.wake5  wake all that sleep on word
//! ```
//!
//! The waker's process says whether it carries out the barriers of others. If it does not, remote.wake2 and
//! remote.sleep2 are full fences. A sleeper that is refused the barrier looks again a millisecond later
//! (`fence.rs`).
//!
//! remote.wake4 takes two steps, so that no process which keeps changing the word can hold a waker up. A
//! process that registers between them finds the word changed, and polls; its bit stays, and one wake-up is
//! then made for nobody.
//!
//! Every process that has the memory may write anything to the word, so a wake-up may be lost on purpose. So
//! no thread sleeps for longer than [`NAP`] without a look. The same look finds a publisher that died.
//!
//! *Tasks* ([`RemoteTasks`]). A task does not sleep, and another process knows nothing of tasks: it looks at
//! one word, and wakes the threads that sleep on it. So each word at which tasks of this process wait has a
//! thread, the *helper*, which sleeps there for all of them. It begins with the first task that waits there,
//! and there is one at most.
//!
//! ```text
//! task                                               helper
//! task.wait2     armed (waiters/)                    helper.look2   look at the word
//! helper.begin1  no helper? begin one, which has     helper.wake3   its number is another than the one seen:
//!                seen the word as it is now                         wake all tasks that are armed
//! remote.sleep1  register there (above)              helper.sleep4  sleep while the word is the same, for a while
//! remote.sleep2  heavy fence
//! remote.sleep3  look again
//! ```
//!
//! *Why no wake-up of a task is lost.* A task registers as a thread does. So remote.sleep3 sees the message,
//! or the waker counts a wake-up (remote.wake4) after remote.sleep1. It remains to be shown that the helper
//! then wakes the task.
//!
//! - The helper has seen no number as late as the number of remote.wake4. Then helper.sleep4 ends, and the
//!   next helper.look2 sees it, or a later one. That one comes after remote.sleep1, whose Release pairs with
//!   the Acquire of helper.look2. So helper.wake3 finds the task armed.
//! - It has seen that number, or a later one. Then that was at helper.look2, and helper.wake3 followed, as
//!   above. (The first number is seen at helper.begin1, where no helper.wake3 follows. But it was there
//!   before remote.sleep1: helper.begin1 of the task comes before remote.sleep1, and has found this helper,
//!   or begun it.)
//!
//! A helper ends under the lock of helper.begin1, where it finds no task armed (helper.end5). A task that
//! comes to the lock later begins another one. One that came earlier was armed before, and the helper sees
//! that.
//!
//! *The helper wakes no task for nothing*: a number that is still the same means that nobody was woken,
//! though the bit may have changed. After each nap without a wake-up it asks whether the waker's process is
//! gone, because a process that is gone wakes nobody. It asks while tasks are armed.
//!
//! *Executors' code* runs on the helper, as it runs on any thread that wakes a task. The lock is not held,
//! and the list of the tasks is the helper's, too. So that code may drop all that there is of the ring.
//! The thread that drops the last handle ends the helper (helper.end6), and does not wait for that, because a
//! `wake` may take long.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::ptr::NonNull;
use std::process;
use std::sync::PoisonError;
#[cfg(not(annulus_loom))]
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

#[cfg(annulus_loom)]
use loom::sync::{Mutex, MutexGuard};

use super::Deadline;
use super::fence;
use super::park::{Cohort, Parking};
use super::waiters::Waiters;
#[cfg(not(annulus_loom))]
use crate::os::helper_thread::spawn;
#[cfg(annulus_loom)]
use crate::os::helper_thread::spawn_in_model as spawn;
use crate::sync::{AtomicU32, Ordering, seeded};

/// Where threads of several processes sleep, and tasks of this one wait.
pub(crate) struct Remote {
    word: RemoteWord,
    /// The tasks of this process; `None` if nobody wakes them but this process itself.
    tasks: Option<RemoteTasks>,
}

impl Remote {
    /// At `word`, of a process that nobody else wakes there. `is_asymmetric` is what
    /// [`carries_out_barriers`] said in the wakers' process.
    ///
    /// # Safety
    ///
    /// The word lives, and can be written to, as long as `memory`.
    pub(crate) unsafe fn new(
        word: NonNull<AtomicU32>,
        is_asymmetric: bool,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: the caller's promise.
        Self { word: unsafe { RemoteWord::new(word, is_asymmetric, memory) }, tasks: None }
    }

    /// The same, of a process that waits there for others to wake it. `is_gone`: whether those others are
    /// gone, as the kernel says.
    pub(crate) fn woken_from_elsewhere(self, is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let tasks = RemoteTasks::at(self.word.again(), is_gone);
        Self { tasks: Some(tasks), ..self }
    }

    /// The same word, for another process of a model.
    #[cfg(annulus_loom)]
    pub(crate) fn again(&self) -> Self {
        Self { word: self.word.again(), tasks: None }
    }

    /// Whether the wakers' fences are light, and sleepers make up for that.
    pub(crate) fn is_asymmetric(&self) -> bool {
        self.word.is_asymmetric()
    }

    /// Of a thread: see [`RemoteWord::register`].
    pub(super) fn register(&self) -> (u32, bool) {
        self.word.register()
    }

    /// Of a task that is armed among [`tasks`](Self::tasks): see [`RemoteTasks::register`].
    pub(super) fn register_task(&self) -> bool {
        self.tasks.as_ref().is_none_or(RemoteTasks::register)
    }

    /// The tasks that wait, if others wake them.
    pub(super) fn tasks(&self) -> Option<&Waiters> {
        self.tasks.as_ref().map(RemoteTasks::tasks)
    }

    /// See [`RemoteWord::sleep`].
    pub(super) fn sleep(&self, word: u32, deadline: Deadline) {
        self.word.sleep(word, deadline);
    }

    /// See [`RemoteWord::is_empty`].
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.word.is_empty()
    }

    /// See [`RemoteWord::wake_all`].
    pub(super) fn wake_all(&self) -> bool {
        self.word.wake_all()
    }
}

/// Where threads of several processes sleep.
struct RemoteWord {
    word: NonNull<AtomicU32>,
    /// The wakers' fences are light, and the sleepers make up for that. Wakers and sleepers of one word agree
    /// on this, or a wake-up comes late by up to a [`NAP`].
    is_asymmetric: bool,
    /// Shared in models only, where the kernel does not know the sleepers by the word's place.
    parking: Arc<Parking>,
    /// Where the word is: kept for that.
    memory: Arc<dyn Any + Send + Sync>,
}

/// What a [`RemoteWord`] was at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SeenWord(u32);

impl SeenWord {
    fn get(self) -> u32 {
        self.0
    }

    /// The number of the last wake-up.
    fn number(self) -> u32 {
        self.0 & !SLEEPER
    }

    /// Whether somebody sleeps, or is about to.
    fn has_sleeper(self) -> bool {
        self.0 & SLEEPER != 0
    }
}

// SAFETY: it stands for a shared borrow of an atomic, and keeps that alive (see `new`).
unsafe impl Send for RemoteWord {}
// SAFETY: as above.
unsafe impl Sync for RemoteWord {}

/// A thread sleeps, or is about to.
const SLEEPER: u32 = 1;
const WAKE_UP: u32 = 2;

/// Registers this process, so that it carries out the barriers of sleepers in other processes; false where
/// the system refuses that.
// Decision 0089: when the ring is made, before anybody can sleep.
#[cfg(not(annulus_loom))]
pub(crate) fn carries_out_barriers() -> bool {
    fence::register_across()
}

/// How long a thread sleeps without a look. (In a model nobody naps, however long that takes to run.)
const NAP: Duration = Duration::from_millis(if cfg!(annulus_loom) { 10_000_000 } else { 50 });

impl RemoteWord {
    /// At `word`. `is_asymmetric` is what [`carries_out_barriers`] said in the wakers' process.
    ///
    /// # Safety
    ///
    /// The word lives, and can be written to, as long as `memory`.
    unsafe fn new(word: NonNull<AtomicU32>, is_asymmetric: bool, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self { word, is_asymmetric, parking: Arc::new(Parking::between_processes()), memory }
    }

    /// The same word, for another sleeper of this process, or for another process of a model.
    fn again(&self) -> Self {
        Self { parking: Arc::clone(&self.parking), memory: Arc::clone(&self.memory), ..*self }
    }

    /// The word at this moment.
    fn look(&self) -> SeenWord {
        // Acquire: pairs with the Release of remote.wake4, and of remote.sleep1.
        SeenWord(self.word().load(Ordering::Acquire))
    }

    /// Wakes all that sleep on the word, of whatever process, for nothing: each looks, and sleeps again.
    fn disturb(&self) {
        // helper.end6. Relaxed: it says no more than that the word is another.
        self.word().fetch_add(WAKE_UP, Ordering::Relaxed);
        self.parking.wake_all(self.word(), Cohort::Even);
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: it lives as long as the memory, which this keeps.
        unsafe { self.word.as_ref() }
    }

    /// Whether the wakers' fences are light, and sleepers make up for that.
    fn is_asymmetric(&self) -> bool {
        self.is_asymmetric
    }

    /// remote.sleep1 and remote.sleep2: the caller polls once more before it [sleeps](Self::sleep) with the
    /// word that this returns. False where the system refused the fence: then a wake-up may be missed.
    fn register(&self) -> (u32, bool) {
        // remote.sleep1. Release: pairs with the Acquire of remote.wake4. Acquire: pairs with its Release.
        let word = self.word().fetch_or(SLEEPER, Ordering::AcqRel) | SLEEPER;
        // remote.sleep2. Pairs with remote.wake2.
        let fenced = seeded!("remote_no_sleepers_fence") || fence::heavy_across(self.is_asymmetric);
        (word, fenced)
    }

    /// remote.sleep4, or helper.sleep4: until a wake-up that came after `word`, or until `deadline`, or for a
    /// [`NAP`].
    fn sleep(&self, word: u32, deadline: Deadline) {
        let soon = Instant::now() + NAP;
        let deadline = deadline.map_or(soon, |deadline| deadline.min(soon));
        self.parking.wait_while(self.word(), word, Some(deadline), Cohort::Even);
    }

    /// remote.wake2 and remote.wake3: whether nobody sleeps, and no full fence was needed to tell.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.is_asymmetric && {
            // remote.wake2. Pairs with remote.sleep2, which makes every core execute a barrier.
            fence::light_across();
            // remote.wake3. Relaxed: remote.wake2 and remote.sleep2 decide what it sees.
            self.word().load(Ordering::Relaxed) & SLEEPER == 0
        }
    }

    /// remote.wake2 to remote.wake5, for all that sleep. If the fences are not light ones, remote.wake2 is
    /// the caller's, a full one. Whether there was anybody.
    fn wake_all(&self) -> bool {
        if self.is_asymmetric {
            // remote.wake2. Pairs with remote.sleep2, which makes every core execute a barrier.
            fence::light_across();
        }
        // remote.wake3. Relaxed: remote.wake2 and remote.sleep2 decide what it sees.
        if self.word().load(Ordering::Relaxed) & SLEEPER == 0 || seeded!("remote_wakes_nobody") {
            // Unreached: a sleeper that goes between two looks of its waker
            return false;
        }
        // remote.wake4. Release: pairs with the Acquire of remote.sleep4. Acquire: pairs with the Release of
        // remote.sleep1.
        self.word().fetch_and(!SLEEPER, Ordering::AcqRel);
        if !seeded!("remote_word_unchanged") {
            // Relaxed: it goes on the release that the step before began.
            self.word().fetch_add(WAKE_UP, Ordering::Relaxed);
        }
        // remote.wake5.
        self.parking.wake_all(self.word(), Cohort::Even);
        true
    }
}

/// After so many naps without a task, the helper ends.
const IDLE_NAPS: u32 = 20;

/// The tasks that wait at one word, and the helper that sleeps there for them.
// Decision 0098: a thread for each word, and no task is polled meanwhile.
struct RemoteTasks(Arc<RemoteTasksState>);

struct RemoteTasksState {
    tasks: Waiters,
    /// Where the helper sleeps.
    word: RemoteWord,
    /// Whether the process that would wake the tasks is gone. Asks the kernel.
    is_gone: Box<dyn Fn() -> bool + Send + Sync>,
    helper: Mutex<Helper>,
}

struct Helper {
    /// The process whose thread it is; 0 if there is none. (A child that was forked has none.)
    process: u32,
    /// It is to end.
    is_over: bool,
}

impl RemoteTasks {
    /// For the tasks that wait at `word`. `is_gone`: whether the process that would wake them is gone, as the
    /// kernel says.
    fn at(word: RemoteWord, is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let helper = Mutex::new(Helper { process: 0, is_over: false });
        Self(Arc::new(RemoteTasksState { tasks: Waiters::new(), word, is_gone: Box::new(is_gone), helper }))
    }

    fn tasks(&self) -> &Waiters {
        &self.0.tasks
    }

    /// helper.begin1, remote.sleep1 and remote.sleep2, of a task that is armed. It looks once more
    /// afterwards. If the system refuses the fence, this waits a millisecond in its place. So it does if the
    /// system has no thread, and then it is false: nobody will wake the task.
    fn register(&self) -> bool {
        let has_helper = self.0.has_helper();
        let is_fenced = seeded!("remote_tasks_unregistered") || self.0.word.register().1;
        if !(is_fenced && has_helper) {
            // Unreached: the system refuses a fence, or has no thread to give
            fence::wait_out();
        }
        has_helper
    }
}

impl Drop for RemoteTasks {
    fn drop(&mut self) {
        // helper.end6.
        let is_there = {
            let mut helper = self.0.lock();
            helper.is_over = true;
            helper.process == process::id()
        };
        if is_there && !seeded!("remote_helper_stays") {
            self.0.word.disturb();
        }
    }
}

impl RemoteTasksState {
    fn lock(&self) -> MutexGuard<'_, Helper> {
        // Nobody panics with it.
        self.helper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// helper.begin1. False if the system refuses a thread.
    fn has_helper(self: &Arc<Self>) -> bool {
        let mut helper = self.lock();
        if helper.process == process::id() {
            return true;
        }
        let seen = self.word.look().number();
        let shared = Arc::clone(self);
        let begun = spawn("annulus wake-up", move || {
            let late = seeded!("remote_helper_begins_late").then(|| shared.word.look().number());
            shared.wake_tasks(late.unwrap_or(seen));
        });
        if begun.is_ok() {
            helper.process = process::id();
        }
        begun.is_ok()
    }

    /// What the helper does.
    fn wake_tasks(&self, mut seen: u32) {
        let mut idle_naps = 0;
        loop {
            // helper.look2.
            let now = self.word.look();
            if now.number() != seen {
                seen = now.number();
                idle_naps = 0;
                if !seeded!("remote_tasks_not_woken") {
                    // helper.wake3.
                    self.wake_all();
                }
            }
            // helper.end6.
            if self.lock().is_over {
                return;
            }
            // helper.sleep4.
            self.word.sleep(now.get(), None);
            if self.word.look() != now || cfg!(annulus_loom) {
                continue;
            }
            // Nobody has woken anybody.
            if self.tasks.count() == 0 {
                idle_naps += 1;
                if idle_naps >= IDLE_NAPS && self.ends_idle() {
                    return;
                }
            } else if !now.has_sleeper() || ((self.is_gone)() && !seeded!("remote_tasks_wait_for_the_dead")) {
                // (A task that is armed has set the bit, or is about to. If another process took it down and
                // woke nobody, the tasks look for themselves.)
                self.wake_all();
            }
        }
    }

    fn wake_all(&self) {
        // Nobody leaves a wish for some of them: there, all are woken.
        let _woken = self.tasks.wake_all();
    }

    /// helper.end5: whether the helper ends, because no task waits.
    fn ends_idle(&self) -> bool {
        let mut helper = self.lock();
        let ends = self.tasks.count() == 0;
        if ends {
            helper.process = 0;
        }
        ends
    }
}
