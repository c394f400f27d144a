//! How long a message takes to another thread and back, if each thread spins on a core of its own.
//!
//! It takes two cores that are near each other; `taskset -c 2,4` chooses others.
//!
//! `cargo run --release -p annulus --example pinned_latency`

use std::thread;
use std::time::{Duration, Instant};

use annulus::{WaitStrategy, affinity, broadcast};

const AT_MOST: Duration = Duration::from_secs(2);

fn main() {
    let cpus = affinity::spread(2).unwrap_or_else(|error| {
        println!("not pinned: {error}");
        vec![]
    });
    // On a single core a thread that spins is in the way of the other one. The default strategy sleeps.
    let strategy = if cpus.is_empty() { WaitStrategy::default() } else { WaitStrategy::BusySpin };
    let there = cpus.get(1).copied();
    let (mut ping, pings) = broadcast::lossy::<u64>(64);
    let (mut pong, pongs) = broadcast::lossy::<u64>(64);
    let (mut pings, mut pongs) = (pings.subscribe(), pongs.subscribe());

    let echo = thread::spawn(move || {
        if let Some(cpu) = there {
            affinity::pin_to(cpu).unwrap();
        }
        println!("the other thread is on CPU {:?}", affinity::current());
        while let Ok(number) = pings.recv_until(strategy) {
            pong.publish(number);
        }
    });
    if let Some(&cpu) = cpus.first() {
        affinity::pin_to(cpu).unwrap();
    }
    println!("this thread is on CPU {:?}; both wait by {strategy:?}", affinity::current());

    let (begun, mut nanoseconds) = (Instant::now(), vec![]);
    for number in (0..200_000).take_while(|_| begun.elapsed() < AT_MOST) {
        let sent = Instant::now();
        ping.publish(number);
        assert_eq!(pongs.recv_until(strategy), Ok(number));
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
