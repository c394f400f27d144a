//! [`Places`]: where the tasks of one event wait.

use super::seat::{GONE, Seat};
use super::task_list::TaskList;
use crate::base::link::Link;

/// A seat, and a list behind it.
pub(super) struct Places {
    /// Where a task waits as long as nobody else does. It comes before all in the list.
    pub(super) first: Seat,
    /// Allocated by the first task that waits beside another.
    pub(super) shared: Link<TaskList>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { first: Seat::new(GONE), shared: Link::empty() }
    }

    /// The list, of whoever has a node of it.
    pub(super) fn list(&self) -> &TaskList {
        self.shared.get().expect("a node comes from the list")
    }

    pub(super) fn is_list_empty(&self) -> bool {
        self.shared.get().is_none_or(|list| list.count() == 0)
    }

    /// See [`Waiters::count`](super::Waiters::count).
    #[inline]
    pub(super) fn count(&self) -> usize {
        usize::from(self.first.is_armed()) + self.shared.get().map_or(0, TaskList::count)
    }
}
