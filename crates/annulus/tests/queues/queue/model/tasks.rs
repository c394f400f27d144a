//! Tasks that wait at a queue of several consumers: each message, or each free slot, wakes one of them.

use std::future::Future;
use std::pin::Pin;

use crate::support::polled::{Patience, Polled};

/// The most at a time.
const MOST: usize = 4;

/// Those that wait for the same: messages, or free slots.
pub(crate) struct Tasks<T>(Vec<Polled<Pin<Box<dyn Future<Output = T>>>>>);

impl<T> Tasks<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As `patience` says: begins another, or polls one of them, woken or not, or drops one. What it found,
    /// which must be something if `is_ready` and it was polled.
    pub(crate) fn turn(
        &mut self,
        patience: Patience,
        is_ready: bool,
        begin: impl Future<Output = T> + 'static,
    ) -> Option<T> {
        let count = self.0.len();
        let (mut task, is_dropped) = match patience.steps % 4 {
            0 | 1 if count < MOST => {
                (Polled::new(Box::pin(begin) as Pin<Box<dyn Future<Output = T>>>), false)
            }
            which if count > 0 => (self.0.swap_remove(patience.steps / 4 % count), which == 3),
            _ => return None,
        };
        if is_dropped {
            task.end();
            return None;
        }
        let found = task.poll();
        assert_eq!(found.is_some(), is_ready);
        if found.is_some() {
            task.end();
        } else {
            self.0.push(task);
        }
        found
    }

    /// While somebody waits, as many were woken and have not looked yet as there are things to find; the
    /// close wakes all.
    pub(crate) fn check(&self, there: usize, is_closed: bool) {
        let woken = self.0.iter().filter(|task| task.wakes() > 0).count();
        assert!(self.0.iter().all(|task| task.wakes() <= 1), "woken twice");
        let due = if is_closed { usize::MAX } else { there };
        assert!(woken >= due.min(self.0.len()), "{woken} of {} woken for {there}", self.0.len());
    }
}
