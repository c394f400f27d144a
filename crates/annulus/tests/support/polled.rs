//! Futures in models of one thread: polled when the model likes, and their wake-ups counted.

#[cfg(feature = "async")]
use std::{future::Future, sync::Arc, task::Poll};

#[cfg(feature = "async")]
use super::tasks::Counting;

/// What a model does with a future that waits.
#[allow(dead_code, reason = "only where there are futures")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How many steps it takes meanwhile.
    pub(crate) steps: usize,
    /// Whether it polls the future once more before them, though nobody has woken it.
    pub(crate) polls_too_often: bool,
    /// Whether it polls the future after them. In any case it drops it then.
    pub(crate) comes_back: bool,
}

/// Any byte says one.
impl From<u8> for Patience {
    fn from(byte: u8) -> Self {
        Self {
            steps: usize::from(byte % 16),
            polls_too_often: byte & 0x40 != 0,
            comes_back: byte & 0x30 != 0,
        }
    }
}

/// A future and a waker that counts.
#[cfg(feature = "async")]
pub(crate) struct Polled<F> {
    count: Arc<Counting>,
    future: F,
    /// Wake-ups before the last poll.
    before: usize,
}

#[cfg(feature = "async")]
impl<F: Future + Unpin> Polled<F> {
    pub(crate) fn new(future: F) -> Self {
        // From here on no thread of the library keeps a waker for a moment, to wake it later.
        #[cfg(feature = "std")]
        annulus::wait::prepare_process();
        Self { count: Counting::new(), future, before: 0 }
    }

    /// What it returns, if it is ready. A future that is ready leaves no waker.
    pub(crate) fn poll(&mut self) -> Option<F::Output> {
        self.before = self.count.wakes();
        match self.count.poll(&mut self.future) {
            Poll::Ready(value) => {
                assert_eq!(self.count.alive(), 0, "a waker is left");
                Some(value)
            }
            Poll::Pending => {
                assert_eq!((self.wakes(), self.count.alive()), (0, 1), "it waits");
                None
            }
        }
    }

    /// How often it was woken since the last poll.
    pub(crate) fn wakes(&self) -> usize {
        self.count.wakes() - self.before
    }

    /// Drops the future, which leaves no waker.
    pub(crate) fn end(self) {
        drop(self.future);
        assert_eq!(self.count.alive(), 0, "a waker is left");
    }

    /// Polls it, takes steps with `model` while it waits, polls it again where `patience` says so, and drops
    /// it. It must be ready just where `is_ready` says so; `woken` looks at how often it was woken, and
    /// whether it had to be.
    pub(crate) fn wait<M>(
        mut self,
        patience: Patience,
        model: &mut M,
        is_ready: impl Fn(&M) -> bool,
        steps: impl FnOnce(&mut M),
        woken: impl FnOnce(&M, usize, bool),
    ) -> Option<F::Output> {
        let mut found = self.poll();
        assert_eq!(found.is_some(), is_ready(model), "at the first poll");
        if found.is_none() {
            if patience.polls_too_often {
                assert!(self.poll().is_none(), "nothing has changed");
            }
            steps(model);
            woken(model, self.wakes(), is_ready(model));
            if patience.comes_back {
                found = self.poll();
                assert_eq!(found.is_some(), is_ready(model), "at the last poll");
            }
        }
        self.end();
        found
    }
}
