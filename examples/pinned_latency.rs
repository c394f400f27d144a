//! How long a message takes to another thread and back, through two rings, each thread spinning on a core of its own.
//!
//! It takes the first two cores that it may use: `taskset -c 2,4` in front chooses others (two threads of one core measure something else).
//!
//! `cargo run --release -p annulus --example pinned_latency`

use std::thread;
use std::time::{Duration, Instant};

use annulus::WaitStrategy;

const ROUNDS: usize = 200_000;
/// Where others want the same cores, it ends all the same.
const AT_MOST: Duration = Duration::from_secs(5);

fn main() {
    let cores = pinning::allowed_cores();
    let (here, there, strategy) = match cores[..] {
        [here, there, ..] => (Some(here), Some(there), WaitStrategy::BusySpin),
        // Who spins on the only core keeps off it whom it waits for; the default sleeps.
        _ => (None, None, WaitStrategy::default()),
    };

    let (mut ping, pings) = annulus::broadcast::lossy::<u64>(64);
    let (mut pong, pongs) = annulus::broadcast::lossy::<u64>(64);
    let (mut pings, mut pongs) = (pings.subscribe(), pongs.subscribe());

    let echo = thread::spawn(move || {
        let place = pinning::pin(there);
        while let Ok(number) = pings.recv_by(strategy) {
            pong.publish(number);
        }
        place
    });
    let place = pinning::pin(here);

    let begun = Instant::now();
    let mut nanoseconds = Vec::with_capacity(ROUNDS);
    for number in 0..ROUNDS as u64 {
        let sent = Instant::now();
        ping.publish(number);
        assert_eq!(pongs.recv_by(strategy), Ok(number));
        let received = Instant::now();
        nanoseconds.push((received - sent).as_nanos());
        if received - begun > AT_MOST {
            break;
        }
    }
    drop(ping);
    println!("this thread: {place}");
    println!("the other:   {}", echo.join().unwrap());
    println!("both wait by {strategy:?}\n");

    nanoseconds.drain(..nanoseconds.len() / 20); // warming up
    println!("{} round trips, in ns (each includes a look at the clock):\n", nanoseconds.len());
    println!("          round trip   one way (half of it)");
    nanoseconds.sort_unstable();
    for (name, permille) in [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999), ("max", 1000)] {
        let rank = (nanoseconds.len() * permille).div_ceil(1000);
        let round_trip = nanoseconds[rank - 1];
        println!("{name:<8}{round_trip:>12}{:>23}", round_trip / 2);
    }
    println!("\nOn a virtual machine or a busy one these vary from run to run, the last lines most.");
}

#[cfg(target_os = "linux")]
mod pinning {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The numbers of the cores that this process may use; empty where the kernel does not tell.
    pub(super) fn allowed_cores() -> Vec<usize> {
        let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
        (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
    }

    /// Keeps this thread on `core`; says where it is.
    pub(super) fn pin(core: Option<usize>) -> String {
        let Some(core) = core else { return "not pinned, there are no two cores to choose from".to_owned() };
        let mut set = CpuSet::new();
        set.set(core);
        match sched_setaffinity(None, &set) {
            Ok(()) => format!("on core {core}"),
            Err(error) => format!("not pinned, core {core} can't be had ({error})"),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod pinning {
    use std::thread::available_parallelism;

    /// As many as there seem to be; which ones is not known here.
    pub(super) fn allowed_cores() -> Vec<usize> {
        (0..available_parallelism().map_or(1, usize::from)).collect()
    }

    /// Pins nothing; says so.
    pub(super) fn pin(_: Option<usize>) -> String {
        "not pinned, this example does that on Linux only".to_owned()
    }
}
