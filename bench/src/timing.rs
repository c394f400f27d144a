//! How a loop is timed: after a warm-up, on one thread or on both cores.
//!
//! What calls the loop is inlined where it is called, so that a row whose functions have a module to
//! themselves has one call site of each of a ring's functions (`rows::inlining` says why).

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::cores::pin;
use crate::messages::{BATCH, BLOCKS};
use crate::row::{Plan, Sample};

/// Round trips before those that are timed.
pub const WARM_UP: u64 = 1_000;

/// Messages before those that are timed, where a thread has to get going on the other core. Whole batches.
pub const LIVE_WARM_UP: u64 = 320 * BATCH as u64;

/// The sequences of a warm-up, then those of the messages that are timed. One loop runs over both, with the
/// clock started anew before each: with a loop for each, the compiler may inline what is measured into one
/// and not into the other.
pub fn phases(warm_up: u64, messages: u64) -> [Range<u64>; 2] {
    [0..warm_up, warm_up..warm_up + messages]
}

/// Nanoseconds for each of `count` since `begun`.
pub fn ns_each(begun: Instant, count: u64) -> f64 {
    begun.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// Nanoseconds of `CLOCK_MONOTONIC`, which all processes of the machine have in common.
#[inline(always)]
pub fn now_ns() -> u64 {
    time_of(ClockId::Monotonic).as_nanos() as u64
}

/// What all threads of this process have had of the cores.
pub fn processor_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

/// What the calling thread has had of the cores.
pub fn thread_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Calls `publish` with the sequences of a warm-up and then with those of the messages that are timed, while
/// `receive` runs on the other core, which returns once it has had as many as it is called with. The time is
/// that until it does.
#[inline(always)]
pub fn across(plan: &Plan, publish: impl FnMut(Range<u64>), receive: impl FnOnce(u64) + Send) -> Sample {
    across_from(LIVE_WARM_UP, plan, publish, receive)
}

/// With a warm-up of so many messages.
#[inline(always)]
pub fn across_from(
    warm_up: u64,
    plan: &Plan,
    publish: impl FnMut(Range<u64>),
    receive: impl FnOnce(u64) + Send,
) -> Sample {
    thread::scope(|scope| {
        // Its own, as a thread that publishes has it: borrowed from outside, its sequence would live in
        // memory.
        let mut publish = publish;
        let receiver = scope.spawn(move || {
            pin(plan.cores.there);
            receive(warm_up + plan.messages);
        });
        let mut begun = Instant::now();
        for phase in phases(warm_up, plan.messages) {
            begun = Instant::now();
            publish(phase);
        }
        receiver.join().expect("every message was there, and that of its sequence");
        ns_each(begun, plan.messages).into()
    })
}

/// As [`across`], after a few laps of a ring of blocks.
#[inline(always)]
pub fn across_blocks(
    plan: &Plan,
    publish: impl FnMut(Range<u64>),
    receive: impl FnOnce(u64) + Send,
) -> Sample {
    across_from(8 * BLOCKS as u64, plan, publish, receive)
}

/// Has two threads, each on a core of its own, begin their share of each phase at the same time. Nanoseconds
/// a message, those of both counted, until the second is done.
#[inline(always)]
pub fn side_by_side<W: FnMut(Range<u64>) + Send>(plan: &Plan, [here, there]: [W; 2]) -> f64 {
    let arrived = AtomicUsize::new(0);
    let meet = |time: usize| {
        arrived.fetch_add(1, Ordering::AcqRel);
        while arrived.load(Ordering::Acquire) < 2 * time {
            spin_loop();
        }
    };
    let run = |mut work: W| {
        let mut begun = Instant::now();
        for (time, phase) in (1..).zip(phases(LIVE_WARM_UP, plan.messages / 2)) {
            meet(time);
            begun = Instant::now();
            work(phase);
        }
        meet(3);
        ns_each(begun, plan.messages)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(plan.cores.there);
            run(there)
        });
        run(here)
    })
}
