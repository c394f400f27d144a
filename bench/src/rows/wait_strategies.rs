//! The wait strategies beside each other: how late a message is seen, what the reader takes of its core
//! meanwhile, and what is left for another thread on that core.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::wait::ProcessorWait;
use annulus::{WaitStrategy, spsc};

use crate::contenders::ends::Queued;
use crate::contenders::{Annulus, Named, Waiting};
use crate::cores::pin;
use crate::exchange::{NowAndThen, Reach, Sink, exchange};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::thread_time;

/// Some sixty messages.
const SPAN: Duration = Duration::from_millis(60);
/// How long the neighbour has the core for itself: some turns of the scheduler.
const ALONE: Duration = Duration::from_millis(10);

/// An entry for each strategy, run by `$run`. To add a strategy, add a line.
macro_rules! strategies {
    ($run:ident) => {
        strategies!(@ $run:
            Kind::Ours, Annulus::NAME, WaitStrategy::block();
            Kind::Other, SPINNING, WaitStrategy::BusySpin;
            Kind::Other, "annulus, PauseSpin", WaitStrategy::PauseSpin;
            Kind::Other, "annulus, Monitor", WaitStrategy::Monitor;
            Kind::Other, "annulus, BackoffSpin", WaitStrategy::BackoffSpin;
            Kind::Other, "annulus, Adaptive", WaitStrategy::adaptive();
        )
    };
    (@ $run:ident: $($kind:expr, $name:expr, $strategy:expr;)+) => {
        [$(Entry { name: $name, kind: $kind, run: |plan| $run(plan, $strategy) }),+]
    };
}

const SPINNING: &str = "annulus, BusySpin";

pub fn rows() -> Vec<Row> {
    let row = |name, about| Row { span: SPAN, ..Row::new(name, about, 64, 0).on_two_cores() };
    let mut rows = vec![
        row(
            "wait strategies",
            "u64, one in 50 µs to 5 ms, to a consumer on the other core that waits by each strategy, by default Block; the median of how long a \
             message is on its way, and the processor time of the consumer's thread for each message",
        )
        .entries(strategies!(alone)),
        row(
            "wait strategies, a neighbour",
            "the same where another thread is busy on the consumer's core; and what that thread loses of the work that it does alone",
        )
        .entries(strategies!(beside_a_neighbour)),
    ];
    // Elsewhere `Monitor` pauses between polls, and no instruction waits.
    if ProcessorWait::of_this_processor() != ProcessorWait::Pause {
        rows.push(
            row(
                "waiting by the processor",
                "the same without that thread, to a consumer that waits by Monitor; beside one that spins",
            )
            .entries([
                Entry {
                    name: "annulus, Monitor",
                    kind: Kind::Ours,
                    run: |plan| alone(plan, WaitStrategy::Monitor),
                },
                Entry { name: SPINNING, kind: Kind::Other, run: |plan| alone(plan, WaitStrategy::BusySpin) },
            ])
            .target(SPINNING, 1.2),
        );
    }
    rows
}

#[inline(never)]
fn alone(plan: &Plan, strategy: WaitStrategy) -> Sample {
    let used = Arc::new(AtomicU64::new(0));
    let sample = exchange::<NowAndThen, _, _, 1, 1>(plan, Reach::OneConsumer, || {
        let queue = spsc::with(Settings::new(plan.capacity).wait_strategy(strategy));
        let (producer, consumer) = queue.expect("a ring of this capacity can be made");
        let consumer = Metered { consumer, begun: None, used: Arc::clone(&used) };
        ([Queued(Waiting(producer))], [consumer])
    });
    let received: u64 = sample.latencies.iter().map(|&(_, count)| count).sum();
    Sample { cpu_ns: Some(used.load(Ordering::Relaxed) as f64 / received as f64), ..sample }
}

#[inline(never)]
fn beside_a_neighbour(plan: &Plan, strategy: WaitStrategy) -> Sample {
    let (rate_alone, ()) = neighbour(plan, || thread::sleep(ALONE));
    let (rate, sample) = neighbour(plan, || alone(plan, strategy));
    // Of two rates that are as good as equal, either may be the larger.
    Sample { neighbour_lost: Some((1.0 - rate / rate_alone).max(0.0)), ..sample }
}

/// A thread counts on the consumer's core while `work` runs. How far it comes in a second, and what `work`
/// returns.
fn neighbour<R>(plan: &Plan, work: impl FnOnce() -> R) -> (f64, R) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let counting = scope.spawn(|| {
            pin(plan.cores.here);
            let (begun, mut count) = (Instant::now(), 0_u64);
            while !over.load(Ordering::Relaxed) {
                for _ in 0..1_000 {
                    count = black_box(count + 1);
                }
            }
            count as f64 / begun.elapsed().as_secs_f64()
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        (counting.join().expect("it only counts"), result)
    })
}

/// A consumer that notes the processor time of its thread, from its first wait to the end.
struct Metered {
    consumer: spsc::Consumer<u64>,
    begun: Option<Duration>,
    used: Arc<AtomicU64>,
}

impl Sink for Metered {
    fn receive(&mut self) -> Option<u64> {
        let begun = *self.begun.get_or_insert_with(thread_time);
        let message = self.consumer.recv().ok();
        if message.is_none() {
            self.used.store((thread_time() - begun).as_nanos() as u64, Ordering::Relaxed);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::Cores;

    /// Other programs take time from each of these threads now and then, so one of several trials will do.
    fn holds_once(mut trial: impl FnMut() -> (f64, f64)) {
        let trials: Vec<_> =
            (0..20).map_while(|_| Some(trial()).filter(|(less, more)| less >= more)).collect();
        assert!(trials.len() < 20, "{trials:?}");
    }

    #[test]
    fn consumer_that_spins_takes_a_core_and_one_that_sleeps_leaves_it() {
        let rows = rows();
        let [row, beside, ..] = &rows[..] else { panic!("there are two at least") };
        let plan = row.plan(Cores::all().unwrap());
        let cpu_ns = |strategy| alone(&plan, strategy).cpu_ns.unwrap();
        holds_once(|| (2.0 * cpu_ns(WaitStrategy::block()), cpu_ns(WaitStrategy::BusySpin)));
        let plan = beside.plan(plan.cores);
        let lost = |strategy| beside_a_neighbour(&plan, strategy).neighbour_lost.unwrap();
        assert!((0.0..1.0).contains(&lost(WaitStrategy::block())));
        holds_once(|| (lost(WaitStrategy::block()), lost(WaitStrategy::BusySpin)));
    }
}
