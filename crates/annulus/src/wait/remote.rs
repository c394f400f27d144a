//! [`Remote`]: where a process waits for others, or wakes them: the word of all, and its own tasks.

use alloc::sync::Arc;
use core::any::Any;
use core::ptr::NonNull;

use super::Deadline;
use super::remote_tasks::RemoteTasks;
use super::remote_word::RemoteWord;
use super::waiters::Waiters;
use crate::sync::AtomicU32;

/// Where threads of several processes sleep, and tasks of this one wait.
pub(crate) struct Remote {
    word: RemoteWord,
    /// The tasks of this process; `None` if nobody wakes them but this process itself.
    tasks: Option<RemoteTasks>,
}

impl Remote {
    /// At `word`, of a process that nobody else wakes there. `is_asymmetric` is what
    /// [`carries_out_barriers`](super::carries_out_barriers) said in the wakers' process.
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
