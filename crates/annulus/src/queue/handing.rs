//! The producer's end of a lane whose consumer may ask for messages (`lane/hand_off.rs`). It is a type of its
//! own, so that other producers pay nothing for it.

use super::ends::Write;
use super::state::QueueState;
use super::write::WriteEnd;
use crate::base::hint::unlikely;
use crate::error::Refusal;
use crate::lane::OneToOne;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::sync::AtomicU64;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::EventCount;
use crate::wait::{Deadline, WaitStrategy};

/// The one producer of such a lane. Except for single messages it works as a [`WriteEnd`].
// Decision 0053: a type of its own, off by default.
pub(crate) struct Handing<T> {
    pub(super) end: WriteEnd<T>,
}

impl<T: Send> Write<T> for Handing<T> {
    type Lane = OneToOne<T>;

    #[inline(always)]
    fn state(&self) -> &QueueState<OneToOne<T>> {
        self.end.state()
    }

    fn has_free_slot(&mut self) -> bool {
        self.end.has_free_slot()
    }

    unsafe fn send(&mut self, value: T) -> Result<(), T> {
        if self.end.is_refused() {
            return Err(value);
        }
        if self.state().plan.hand_off && self.end.is_asked_for() {
            // SAFETY: a slot is free, by the caller's promise, and it is asked for.
            return unsafe { self.end.hand_over(value) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.end.begin_run_and_send(value, true) }
    }

    #[inline(always)]
    fn send_plainly(&mut self, value: T) -> Result<(), T> {
        let is_refused = || self.end.is_refused() || self.end.is_asked_for();
        // Mutants: `&& with ||`: costs or saves time.
        if self.end.is_run_over() || unlikely(self.state().has_any_flag()) && is_refused() {
            return Err(value);
        }
        // SAFETY: just looked.
        unsafe { self.end.send_in_run(value, true) }
    }

    #[inline(always)]
    fn send_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        self.end.send_some(values)
    }

    #[cfg(any(feature = "std", feature = "async"))]
    fn event(&self) -> &EventCount {
        self.end.event()
    }

    fn watched(&self) -> &AtomicU64 {
        self.end.watched()
    }

    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        self.end.wait(strategy, deadline)
    }

    fn len(&self) -> usize {
        self.end.len()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.end.block()
    }
}
