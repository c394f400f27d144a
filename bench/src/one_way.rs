//! How long a message is on its way from one core to the other, while nothing else is.
//!
//! Both sides read the time stamp counter: the sender before it sends, the receiver when it has the message.
//! A message is sent every two microseconds, so that none waits for another. The receiver polls, and reads
//! the counter when the message itself is there, not only what told of it.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use quanta::Clock;

use crate::cores::pin;
use crate::latencies;
use crate::row::{Plan, Sample};
use crate::stamps;
use crate::timing::WARM_UP;

const INTERVAL_NS: u64 = 2_000;

/// `send` is called with each sequence; `receive` looks for a message and says which it was.
#[inline(always)]
pub fn one_way(plan: &Plan, send: impl FnMut(u64), receive: impl FnMut() -> Option<u64> + Send) -> Sample {
    let clock = Clock::new();
    let interval = stamps::in_ns(&clock, INTERVAL_NS);
    let total = WARM_UP + plan.messages;
    let ready = AtomicBool::new(false);
    let [mut sent, mut received] = [(); 2].map(|()| vec![0; total as usize]);
    thread::scope(|scope| {
        let (clock, ready, sent, received) = (&clock, &ready, &mut sent, &mut received);
        // Each side's own: borrowed from outside, both would be written to the stack of this thread, beside
        // each other.
        let mut send = send;
        let receiver = scope.spawn(move || {
            let mut receive = receive;
            pin(plan.cores.there);
            // Its pages are there before they are needed.
            received.fill(0);
            ready.store(true, Ordering::Release);
            loop {
                if let Some(sequence) = receive() {
                    received[sequence as usize] = stamps::after_reads(clock);
                    if sequence + 1 == total {
                        return;
                    }
                }
            }
        });
        sent.fill(0);
        while !ready.load(Ordering::Acquire) {
            spin_loop();
        }
        let mut next = clock.raw();
        for i in 0..total {
            let stamp = loop {
                let now = clock.raw();
                if now >= next {
                    break now;
                }
            };
            send(i);
            sent[i as usize] = stamp;
            next = stamp + interval;
        }
        receiver.join().expect("every message was that of its sequence");
    });
    let of_interest = WARM_UP as usize..;
    sample(
        &clock,
        sent[of_interest.clone()]
            .iter()
            .zip(&received[of_interest])
            // Of one that was lost there is none.
            .filter(|&(_, &received)| received > 0)
            .map(|(&sent, &received)| received.saturating_sub(sent)),
        plan.messages,
    )
}

/// Of latencies by the counter.
#[inline]
pub fn sample(clock: &Clock, latencies: impl Iterator<Item = u64>, messages: u64) -> Sample {
    let mut sorted: Vec<u64> = latencies.collect();
    sorted.sort_unstable();
    let share = sorted.len() as f64 / messages as f64;
    Sample {
        ns: stamps::to_ns(clock, median_between_steps(&sorted)),
        share: (share < 1.0).then_some(share),
        latencies: latencies::steps(sorted.iter().map(|&latency| clock.delta_as_nanos(0, latency))),
        ..Sample::default()
    }
}

/// The median of what a counter says that goes in steps (of ten nanoseconds on some machines, and a line
/// takes a hundred): as if what it says were spread evenly over half a step below and above. 0 of nothing.
fn median_between_steps(sorted: &[u64]) -> f64 {
    let middle = sorted.len() / 2;
    let Some(&median) = sorted.get(middle) else { return 0.0 };
    let (below, through) =
        (sorted.partition_point(|&value| value < median), sorted.partition_point(|&value| value <= median));
    let half_way =
        |neighbour: Option<&u64>| f64::midpoint(median as f64, *neighbour.unwrap_or(&median) as f64);
    let lower = half_way(below.checked_sub(1).map(|last| &sorted[last]));
    let upper = half_way(sorted.get(through));
    let part = (sorted.len() as f64 / 2.0 - below as f64) / (through - below) as f64;
    lower + (upper - lower) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted() {
        let clock = Clock::new();
        let [short, long] = [10, 100].map(|ns| stamps::in_ns(&clock, 1_000 * ns));
        let sample = sample(&clock, [long, short, long, short, long].into_iter(), 10);
        assert_eq!(sample.latencies.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(sample.share, Some(0.5));
        assert!(sample.ns > 10_000.0 && sample.ns < 100_000.0);
    }

    #[test]
    fn median_lies_between_the_steps_around_it() {
        assert_eq!(median_between_steps(&[]), 0.0);
        assert_eq!(median_between_steps(&[7]), 7.0);
        assert_eq!(median_between_steps(&[10, 20, 30]), 20.0);
        // From 15 to 25; three of the four are below the median.
        assert_eq!(median_between_steps(&[10, 20, 20, 20, 20, 30, 30, 30]), 22.5);
        assert_eq!(median_between_steps(&[10, 10, 10, 20, 20, 20, 20, 30]), 17.5);
    }
}
