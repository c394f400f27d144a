//! How long a message takes to another thread and back, if each thread spins on a core of its own.
//!
//! It takes the first two cores that it may use; `taskset -c 2,4` chooses others. It pins on Linux only.
//!
//! `cargo run --release -p annulus --example pinned_latency`

use std::thread;
use std::time::{Duration, Instant};

use annulus::{WaitStrategy, broadcast};

const AT_MOST: Duration = Duration::from_secs(2);

fn main() {
    // On a single core a thread that spins is in the way of the other one. The default strategy sleeps.
    let is_alone = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    let strategy = if is_alone { WaitStrategy::default() } else { WaitStrategy::BusySpin };
    let (mut ping, pings) = broadcast::lossy::<u64>(64);
    let (mut pong, pongs) = broadcast::lossy::<u64>(64);
    let (mut pings, mut pongs) = (pings.subscribe(), pongs.subscribe());

    let echo = thread::spawn(move || {
        println!("the other thread is on core {:?}", pin(1));
        while let Ok(number) = pings.recv_by(strategy) {
            pong.publish(number);
        }
    });
    println!("this thread is on core {:?}; both wait by {strategy:?}", pin(0));

    let (begun, mut nanoseconds) = (Instant::now(), vec![]);
    for number in (0..200_000).take_while(|_| begun.elapsed() < AT_MOST) {
        let sent = Instant::now();
        ping.publish(number);
        assert_eq!(pongs.recv_by(strategy), Ok(number));
        nanoseconds.push(sent.elapsed().as_nanos());
    }
    drop(ping);
    echo.join().unwrap();

    nanoseconds.sort_unstable();
    println!("{} round trips, in ns; each includes a look at the clock:", nanoseconds.len());
    for (name, permille) in [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)] {
        println!("{name:<6}{:>9}", nanoseconds[nanoseconds.len() * permille / 1000]);
    }
}

/// Keeps this thread on one of the cores that it may use, counted from 0. Returns that core's number.
#[cfg(target_os = "linux")]
fn pin(place: usize) -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let (allowed, mut only) = (sched_getaffinity(None).ok()?, CpuSet::new());
    let core = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).nth(place)?;
    only.set(core);
    sched_setaffinity(None, &only).ok().map(|()| core)
}
#[cfg(not(target_os = "linux"))]
fn pin(_: usize) -> Option<usize> {
    None
}
