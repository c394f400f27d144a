//! [`Mapping`]: a stage that replaces each message.
//!
//! Between two queues it needs no batch of its own: it reserves slots of the one behind, takes as many
//! messages from the one in front, and writes each result where it is received. From a queue into another
//! ring it needs one batch, that of the results.

use alloc::vec::Vec;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::counters::{Received, Sent};
use super::port::BoxInlet;
use super::runner::{Context, Results, Step, Timing, next_most, work};
use crate::queue::spsc;
use crate::sync::mutated;

/// A stage that replaces each message by what the function returns.
pub(super) struct Mapping<F>(pub(super) F);

impl<T: Send, U: Send, F: FnMut(T) -> U> Step<T, U> for Mapping<F> {
    fn work(&mut self, context: &Context, inlet: &mut BoxInlet<T>, results: &mut Results<U>) {
        let Self(f) = self;
        if let Some(from) = inlet.consumer() {
            if let Some(to) = results.outlet().producer() {
                return through(context, from, to, f);
            }
            return into_results(context, from, results, f);
        }
        work(context, inlet, results, &mut |batch: &mut Vec<T>, results: &mut Results<U>| {
            let _ = batch.drain(..).all(|message| results.push(f(message)));
        });
    }
}

/// From one queue right into the other.
// Decision 0076: what a message costs on its way through a batch.
fn through<T: Send, U: Send>(
    context: &Context,
    (from, received): (&mut spsc::Consumer<T>, &Received),
    (to, sent): (&mut spsc::Producer<U>, &Sent),
    f: &mut impl FnMut(T) -> U,
) {
    let mut timing = Timing::new(&context.work);
    let (mut most, mut count) = (1, 1);
    while let Ok(first) = from.recv_by(context.strategy) {
        received.received.add(1);
        if context.is_aborted() {
            // Unreached: an abort between a receive and the look behind it: two threads have to meet there
            break;
        }
        // Nobody knows yet how many they will be: probably as many as the last time.
        timing.begin(count);
        let Some(mut slots) = to.try_reserve(most) else {
            // There is no room, or the queue is closed.
            let result = f(first);
            count = 1;
            if let Some(time) = timing.end() {
                most = next_most(most, count, time);
            }
            if to.send_by(result, context.strategy).is_err() && !mutated!("stage_never_gives_up") {
                return;
            }
            sent.0.add(1);
            continue;
        };
        count = 0;
        let filled = catch_unwind(AssertUnwindSafe(|| {
            let mut slots = slots.as_uninit().iter_mut();
            let others = slots.len() - 1;
            let mut fill = |message| {
                let result = f(message);
                if let Some(slot) = slots.next() {
                    slot.write(result);
                    count += 1;
                }
            };
            fill(first);
            from.consume_up_to(others, fill);
        }));
        let time = timing.end();
        // What panicked was received, too.
        let taken = if filled.is_ok() { count - 1 } else { count };
        received.received.add(taken as u64);
        let results = if filled.is_err() && mutated!("stage_keeps_results") { 0 } else { count };
        // SAFETY: so many slots were written, one after the other.
        let went = unsafe { slots.commit(results) };
        sent.0.add(went as u64);
        if let Err(payload) = filled {
            resume_unwind(payload);
        }
        if went == 0 && !mutated!("stage_never_gives_up") {
            return;
        }
        if let Some(time) = time {
            most = next_most(most, count, time);
        }
    }
}

/// From a queue, through a batch of results.
fn into_results<T: Send, U: Send>(
    context: &Context,
    (from, received): (&mut spsc::Consumer<T>, &Received),
    results: &mut Results<U>,
    f: &mut impl FnMut(T) -> U,
) {
    let mut timing = Timing::new(&context.work);
    let (mut most, mut count) = (1, 1);
    while let Ok(first) = from.recv_by(context.strategy) {
        let mut taken = Taken { received, count: 1 };
        if context.is_aborted() {
            // Unreached: an abort between a receive and the look behind it: two threads have to meet there
            break;
        }
        // As many as the last time, probably.
        timing.begin(count);
        let mut is_open = results.push(f(first));
        from.consume_up_to(most - 1, |message| {
            taken.count += 1;
            is_open &= results.push(f(message));
        });
        count = taken.count;
        if let Some(time) = timing.end() {
            most = next_most(most, count, time);
        }
        drop(taken);
        is_open &= results.send();
        if !is_open && !mutated!("stage_never_gives_up") {
            return;
        }
    }
}

/// Messages that were received; what panicked, too.
struct Taken<'r> {
    received: &'r Received,
    count: usize,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.received.received.add(self.count as u64);
    }
}
