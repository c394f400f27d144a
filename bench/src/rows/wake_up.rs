//! Waking a subscriber that sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::contenders::{Annulus, Named};
use crate::cores::pin;
use crate::floor::BareFutex;
use crate::hand_over::{HandOver, Sleeper, Waker};
use crate::rounds::Quartiles;
use crate::row::{Entry, Kind, Plan, Row, Sample};

/// Long after a waiting subscriber has stopped to spin.
const IDLE: Duration = Duration::from_micros(300);

pub fn row() -> Row {
    Row::new(
        "wake-up latency",
        "u64, from the publish to its receipt by a subscriber on the other core that has slept in recv(); \
         the median of a run",
        64,
        200,
    )
    .on_two_cores()
    .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: wake_up::<Blocking> }])
    .floor("a bare futex", wake_up::<BareFutex>)
}

struct Blocking;

impl HandOver for Blocking {
    type Waker = annulus::broadcast::Publisher<u64>;
    type Sleeper = annulus::broadcast::Subscriber<u64>;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        let (publisher, subscribable) = annulus::broadcast::lossy(64);
        (publisher, subscribable.subscribe())
    }
}

impl Waker for annulus::broadcast::Publisher<u64> {
    fn wake(&mut self, value: u64) {
        self.publish(value);
    }
}

impl Sleeper for annulus::broadcast::Subscriber<u64> {
    fn sleep(&mut self) -> u64 {
        self.recv().expect("the publisher outlives the loop")
    }
}

#[inline(never)]
pub fn wake_up<H: HandOver>(plan: &Plan) -> Sample {
    let (mut waker, mut sleeper) = H::pair();
    // How many wake-ups the sleeper has had.
    let woken = AtomicU64::new(0);
    let epoch = Instant::now();
    let now = || epoch.elapsed().as_nanos() as u64;
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            pin(plan.cores.there);
            let mut latencies = vec![];
            for count in 1..=plan.messages {
                let sent = sleeper.sleep();
                latencies.push((now() - sent) as f64);
                woken.store(count, Ordering::Release);
            }
            latencies
        });
        for count in 0..plan.messages {
            while woken.load(Ordering::Acquire) < count {}
            let rested = Instant::now();
            while rested.elapsed() < IDLE {}
            waker.wake(now());
        }
        let latencies = sleeper.join().expect("nothing panics there");
        Quartiles::of(latencies).expect("at least one wake-up").median.into()
    })
}
