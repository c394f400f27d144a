//! What the promises about bounds cost and hold, in figures: memory and time beside producers that come and
//! go, polls, a gate after many subscribers, the first ring and the first sleep of a process. (How long a
//! message waits is counted in receives: `tests/queues/queue/fairness.rs` prints it.)
//!
//! ```sh
//! cargo run --release -p annulus --example bounds
//! ```
#![allow(clippy::disallowed_types, reason = "the program's own flags are none of the library's atomics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::Joinable;
use annulus::{WaitStrategy, broadcast, mpmc, mpsc, spsc};

const ASLEEP: WaitStrategy = WaitStrategy::block_after(0, 0);

fn main() {
    first_ring_and_first_sleep();
    comers::<mpsc::Mpsc>("mpsc");
    comers::<mpmc::Mpmc>("mpmc");
    longest_poll::<mpsc::Mpsc>("mpsc");
    longest_poll::<mpmc::Mpmc>("mpmc");
    empty_poll::<mpsc::Mpsc>("mpsc");
    empty_poll::<mpmc::Mpmc>("mpmc");
    publish_after_subscribers();
    behind_an_idle_stage();
}

/// Calls `action` so many times. Returns the nanoseconds of one call.
fn each(times: u32, mut action: impl FnMut()) -> f64 {
    let begun = Instant::now();
    (0..times).for_each(|_| action());
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(times)
}

/// The memory of this process that lies in RAM, in KiB, where the system tells.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

/// What this thread has used of a core so far, where the system tells.
fn time_on_a_core() -> Duration {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(line.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0))
}

/// Beside another thread, which makes the registration for `membarrier` slow.
fn first_ring_and_first_sleep() {
    let over = Arc::new(AtomicBool::new(false));
    let another = Arc::clone(&over);
    let thread = thread::spawn(move || {
        while !another.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let begun = Instant::now();
    let (mut producer, mut consumer) = spsc::with(Settings::new(16).wait_strategy(ASLEEP)).unwrap();
    producer.send(7_u64).unwrap();
    assert_eq!(consumer.recv(), Ok(7));
    println!("first ring of a process, with a message: {:.1?}", begun.elapsed());
    for which in ["first", "second"] {
        let begun = Instant::now();
        assert!(consumer.recv_timeout(Duration::from_millis(1)).is_err());
        println!("{which} sleep of a millisecond: {:.1?}", begun.elapsed());
    }
    over.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

/// A million producers that come, send and go, beside each kind of consumer.
fn comers<K: Joinable>(name: &str) {
    const COMERS: u32 = 1_000_000;
    for consumes in ["polls", "sleeps", "stands still", "is gone"] {
        let (first, mut consumer) = queue::with::<u64, K>(Settings::new(16)).unwrap();
        let consumer = thread::spawn(move || {
            match consumes {
                "polls" => while consumer.try_recv() != Ok(u64::MAX) {},
                "sleeps" => while consumer.recv_until(ASLEEP) != Ok(u64::MAX) {},
                "is gone" => return None,
                _ => {}
            }
            Some(consumer)
        });
        drop(first.clone());
        thread::sleep(Duration::from_millis(10));
        let before = resident();
        let (mut sent, mut come) = (0, 0);
        let time = each(COMERS, || {
            let mut producer = first.clone();
            // One that sleeps is woken now and then.
            if consumes != "sleeps" || come % 1_000 == 0 {
                sent += u32::from(producer.try_send(7).is_ok());
            }
            come += 1;
        });
        let grown = resident() - before;
        if matches!(consumes, "polls" | "sleeps") {
            first.clone().send(u64::MAX).unwrap();
        }
        drop(consumer.join());
        let rings = first.rings();
        println!(
            "{name}, {COMERS} times clone, send, drop beside a consumer that {consumes}: {time:.0} ns each, \
             {sent} sent, {rings} rings, {grown} KiB more"
        );
    }
}

/// A poll beside eight threads that clone and drop, in time on a core.
fn longest_poll<K: Joinable>(name: &str) {
    let (first, mut consumer) = queue::with::<u64, K>(Settings::new(16)).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let comers = [(); 8].map(|()| {
        let (first, over) = (first.clone(), Arc::clone(&over));
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                drop(first.clone());
            }
        })
    });
    let mut longest = Duration::ZERO;
    for _ in 0..1_000 {
        let begun = time_on_a_core();
        assert!(consumer.try_recv().is_err());
        longest = longest.max(time_on_a_core().saturating_sub(begun));
    }
    over.store(true, Ordering::Relaxed);
    for comer in comers {
        comer.join().unwrap();
    }
    println!("{name}, the longest of 1,000 polls beside eight that come and go: {longest:.1?} of a core");
}

/// A poll that finds nothing, where 1,000 producers were quiet for long.
fn empty_poll<K: Joinable>(name: &str) {
    annulus::wait::prepare_process();
    let (first, mut consumer) = queue::with::<u64, K>(Settings::new(16)).unwrap();
    let mut quiet: Vec<_> = (0..1_000).map(|_| first.clone()).collect();
    for producer in &mut quiet {
        producer.send(7).unwrap();
    }
    assert_eq!(consumer.try_iter().count(), 1_000);
    let mut poll = || assert!(consumer.try_recv().is_err());
    let first = each(1, &mut poll);
    each(100_000, &mut poll);
    let time = each(100_000, &mut poll);
    println!("{name}, an empty poll with 1,000 rings: {first:.0} ns the first, {time:.0} ns after many");
}

/// A publish on a lossless ring after 100,000 subscribers came and went.
fn publish_after_subscribers() {
    let (mut publisher, subscribable) = broadcast::lossless::<u64>(64);
    let mut subscriber = subscribable.subscribe();
    let mut publish = || {
        publisher.publish(7).unwrap();
        subscriber.try_recv().unwrap();
    };
    let before = each(1_000_000, &mut publish);
    let there: Vec<_> = (0..100_000).map(|_| subscribable.subscribe()).collect();
    drop(there);
    let after = each(1_000_000, &mut publish);
    println!(
        "a publish and a receive: {before:.1} ns, after 100,000 subscribers that were there at once: {after:.1} ns"
    );
}

/// What a follower gets of ten messages, where the stage before it has had all of them, and then idles.
fn behind_an_idle_stage() {
    for verb in ["try_recv", "try_recv and done", "try_process"] {
        let (mut publisher, subscribable) = broadcast::lossless::<u64>(16);
        let mut stage = subscribable.subscribe_tracked();
        let mut follower = subscribable.subscribe().after(&[&stage]);
        (0..10).for_each(|number| publisher.publish(number).unwrap());
        for number in 0..10 {
            match verb {
                "try_process" => stage.try_process(|message| assert_eq!(*message, number)).unwrap(),
                _ => assert_eq!(stage.try_recv(), Ok(number)),
            }
            if verb == "try_recv and done" {
                stage.done();
            }
        }
        let seen = std::iter::from_fn(|| follower.try_recv().ok()).count();
        println!("a stage that has had ten messages by {verb} and idles: its follower gets {seen}");
    }
}
