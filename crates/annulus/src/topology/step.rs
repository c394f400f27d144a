//! [`MapStep`] and [`Batch`]: what a stage does with messages.
//!
//! Each result is sent before the function is called again, as a thread written by hand does it. So no result
//! waits behind another message, however long that takes, and two stages may wait for each other's results.

use alloc::vec::Vec;

use super::port::{Inlet, Outlet};
use super::runner::{Results, Step};
use crate::sync::seeded;

/// One message after the other: the function makes any number of results of it.
pub(super) struct MapStep<F>(pub(super) F);

impl<T, U, I: IntoIterator<Item = U>, F: FnMut(T) -> I> Step<T, U> for MapStep<F> {
    #[inline]
    fn work(
        &mut self,
        first: T,
        most: usize,
        inlet: &mut (impl Inlet<T> + ?Sized),
        out: &mut Results<'_, impl Outlet<U> + ?Sized>,
    ) -> Option<usize> {
        let Self(f) = self;
        let (mut message, mut count) = (first, 1);
        loop {
            out.count_call();
            let mut is_silent = true;
            for result in f(message) {
                is_silent = false;
                if !out.send(result) {
                    return None;
                }
            }
            if is_silent && out.is_closed() {
                return None;
            }
            if count == most {
                return Some(count);
            }
            if out.is_aborted() {
                return None;
            }
            let Some(next) = inlet.try_receive() else { return Some(count) };
            message = next;
            count += 1;
        }
    }
}

/// A stage that replaces each message by what `f` returns.
pub(super) fn mapping<T, U>(mut f: impl FnMut(T) -> U) -> MapStep<impl FnMut(T) -> Option<U>> {
    MapStep(move |message| Some(f(message)))
}

/// All messages that are there at once.
pub(super) struct Batch<T, U, F> {
    f: F,
    messages: Vec<T>,
    results: Vec<U>,
}

impl<T, U, F: FnMut(&mut [T], &mut Vec<U>)> Batch<T, U, F> {
    pub(super) fn new(f: F) -> Self {
        Self { f, messages: Vec::new(), results: Vec::new() }
    }
}

impl<T, U, F: FnMut(&mut [T], &mut Vec<U>)> Step<T, U> for Batch<T, U, F> {
    fn work(
        &mut self,
        first: T,
        most: usize,
        inlet: &mut (impl Inlet<T> + ?Sized),
        out: &mut Results<'_, impl Outlet<U> + ?Sized>,
    ) -> Option<usize> {
        self.messages.push(first);
        inlet.receive_more(&mut self.messages, most);
        let count = self.messages.len();
        out.count_call();
        (self.f)(&mut self.messages, &mut self.results);
        self.messages.clear();
        if self.results.is_empty() && out.is_closed() {
            return None;
        }
        self.results.drain(..).all(|result| out.send(result)).then_some(count)
    }

    fn finish(&mut self, out: &mut Results<'_, impl Outlet<U> + ?Sized>) {
        if !seeded!("stage_keeps_results") {
            let _ = self.results.drain(..).all(|result| out.send(result));
        }
    }
}
