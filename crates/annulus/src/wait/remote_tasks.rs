//! [`RemoteTasks`]: the tasks of this process that threads of other processes wake.
//!
//! Another process knows nothing of tasks: it looks at one word, and wakes the threads that sleep on it
//! (`remote_word.rs`). So each word at which such tasks wait has a thread, the *helper*, which sleeps there
//! for all of them. It begins with the first task that waits there, and there is one at most.
//!
//! ```text
//! task                                               helper
//! task.wait2     armed (waiters/)                    helper.look2   look at the word
//! helper.begin1  no helper? begin one, which has     helper.wake3   its number is another than the one seen:
//!                seen the word as it is now                         wake all tasks that are armed
//! remote.sleep1  register there (remote_word.rs)     helper.sleep4  sleep while the word is the same, for a while
//! remote.sleep2  heavy fence
//! remote.sleep3  look again
//! ```
//!
//! *Why no wake-up is lost.* A task registers as a thread does. So `remote_word.rs` says that remote.sleep3
//! sees the message, or that the waker counts a wake-up (remote.wake4) after remote.sleep1. It remains to be
//! shown that the helper then wakes the task.
//!
//! - The helper has seen no number as late as that of remote.wake4. Then helper.sleep4 ends, and the next
//!   helper.look2 sees it, or a later one. That one comes after remote.sleep1, whose Release pairs with the
//!   Acquire of helper.look2. So helper.wake3 finds the task armed.
//! - It has seen that number, or a later one. Then that was at helper.look2, and helper.wake3 followed, as
//!   above. (The first number is seen at helper.begin1, where no helper.wake3 follows. But it was there
//!   before remote.sleep1: helper.begin1 of the task comes before remote.sleep1, and has found this helper,
//!   or begun it.)
//!
//! A helper ends under the lock of helper.begin1, where it finds no task armed (helper.end5). A task that
//! comes to the lock later begins another one. One that came earlier was armed before, and the helper sees
//! that.
//!
//! *The helper wakes no task in vain*: a number that is still the same means that nobody was woken, though
//! the bit may have changed. After each nap without a wake-up it asks whether whoever would wake is gone,
//! because a process that is gone wakes nobody. It asks while tasks are armed.
//!
//! *Executors' code* runs on the helper, as it runs on any thread that wakes a task. The lock is not held,
//! and the list of the tasks is the helper's, too. So that code may drop all that there is of the ring.
//! Whoever drops the last handle ends the helper (helper.end6), and does not wait for that, because a `wake`
//! may take long.

use alloc::boxed::Box;
use alloc::sync::Arc;
use std::process;
use std::sync::PoisonError;
#[cfg(not(annulus_loom))]
use std::sync::{Mutex, MutexGuard};

#[cfg(annulus_loom)]
use loom::sync::{Mutex, MutexGuard};

use super::fence;
use super::remote_word::RemoteWord;
use super::waiters::Waiters;
#[cfg(not(annulus_loom))]
use crate::os::helper_thread::spawn;
#[cfg(annulus_loom)]
use crate::os::helper_thread::spawn_in_model as spawn;
use crate::sync::mutated;

/// After so many naps without a task, the helper ends.
const IDLE_NAPS: u32 = 20;

/// The tasks that wait at one word, and who sleeps there for them.
// Decision 0098: a thread for each word, and no task is polled meanwhile.
pub(super) struct RemoteTasks(Arc<RemoteTasksState>);

struct RemoteTasksState {
    tasks: Waiters,
    /// Where the helper sleeps.
    word: RemoteWord,
    /// Whether whoever would wake the tasks is gone. Asks the kernel.
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
    /// Of those who wait at `word`. `is_gone`: whether whoever would wake them is gone, as the kernel says.
    pub(super) fn at(word: RemoteWord, is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let helper = Mutex::new(Helper { process: 0, is_over: false });
        Self(Arc::new(RemoteTasksState { tasks: Waiters::new(), word, is_gone: Box::new(is_gone), helper }))
    }

    pub(super) fn tasks(&self) -> &Waiters {
        &self.0.tasks
    }

    /// helper.begin1, remote.sleep1 and remote.sleep2, of a task that is armed. It looks once more
    /// afterwards. If the system refuses the fence, this waits a millisecond in its place. So it does if the
    /// system has no thread, and then it is false: nobody will wake the task.
    pub(super) fn register(&self) -> bool {
        let has_helper = self.0.has_helper();
        let is_fenced = mutated!("remote_tasks_unregistered") || self.0.word.register().1;
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
        if is_there && !mutated!("remote_helper_stays") {
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
            let late = mutated!("remote_helper_begins_late").then(|| shared.word.look().number());
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
                if !mutated!("remote_tasks_not_woken") {
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
            } else if !now.has_sleeper() || ((self.is_gone)() && !mutated!("remote_tasks_wait_for_the_dead"))
            {
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
