//! One message wakes one consumer, and never too few.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::queue::{Builder, Kind, Shared};
use annulus::{WaitStrategy, mpmc::Mpmc, spmc::Spmc};

use super::dice::Dice;
use super::support::{join, spawn, without_standing_still};

const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, yield_iters: 0 };

const CONSUMERS: usize = if cfg!(miri) { 2 } else { 8 };

/// How often this thread has given its core away by itself, where the system tells.
pub(super) fn sleeps() -> Option<u64> {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        return None;
    }
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Each message to consumers that all sleep makes one of them get up, not all of them.
fn one_message_wakes_one<K: Shared>() {
    const MESSAGES: u64 = if cfg!(miri) { 3 } else { 100 };
    let (mut producer, consumer) = Builder::<K>::new(64).build::<u64>().unwrap();
    let ready = Arc::new(AtomicUsize::new(0));
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|_| {
            let (mut consumer, ready) = (consumer.clone(), Arc::clone(&ready));
            spawn(move || {
                ready.fetch_add(1, Ordering::Relaxed);
                let before = sleeps();
                let received = std::iter::from_fn(|| consumer.recv_by(BLOCK).ok()).count();
                (received, sleeps().zip(before).map(|(now, before)| now - before))
            })
        })
        .collect();
    drop(consumer);
    while ready.load(Ordering::Relaxed) < CONSUMERS {
        thread::yield_now();
    }
    for number in 0..MESSAGES {
        // Not a synchronisation: it lets them lie down again, so that there is somebody to wake.
        thread::sleep(Duration::from_millis(2));
        producer.send(number).unwrap();
    }
    drop(producer);
    let results = join(consumers);
    assert_eq!(results.iter().map(|(received, _)| received).sum::<usize>() as u64, MESSAGES);
    if let Some(sleeps) = results.iter().map(|(_, sleeps)| *sleeps).sum::<Option<u64>>() {
        let enough = 5 * MESSAGES + 10 * CONSUMERS as u64;
        assert!(sleeps <= enough, "{sleeps} sleeps of {CONSUMERS} consumers for {MESSAGES} messages");
    }
}

/// As many messages as there are consumers that receive one each and go: each of them gets one, however they are sent and whoever sleeps then.
fn a_message_for_each<K: Kind + Shared>() {
    let rounds = if cfg!(miri) { 3 } else { 3_000 };
    without_standing_still(move || {
        let mut dice = Dice(7);
        let (mut producer, consumer) = Builder::<K>::new(CONSUMERS).build::<u64>().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        // In step: a round is over when everybody has received one.
        let received = Arc::new(AtomicUsize::new(0));
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|_| {
                let mut consumer = consumer.clone();
                let (received, over) = (Arc::clone(&received), Arc::clone(&over));
                spawn(move || {
                    for round in 1.. {
                        if consumer.recv_by(BLOCK).is_err() {
                            assert!(over.load(Ordering::Relaxed));
                            return;
                        }
                        received.fetch_add(1, Ordering::Release);
                        while received.load(Ordering::Acquire) < round * CONSUMERS {
                            thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        for round in 0..rounds {
            if dice.throw(4) == 0 {
                thread::sleep(Duration::from_micros(dice.throw(200)));
            }
            if dice.throw(2) == 0 {
                (0..CONSUMERS as u64).for_each(|number| producer.send(number).unwrap());
            } else {
                producer.send_batch(&[round; CONSUMERS]).unwrap();
            }
            while received.load(Ordering::Acquire) < (round as usize + 1) * CONSUMERS {
                thread::yield_now();
            }
        }
        over.store(true, Ordering::Relaxed);
        drop(producer);
        join(consumers);
    });
}

#[test]
fn one_message_wakes_one_of_one_producer() {
    one_message_wakes_one::<Spmc>();
}

#[test]
fn one_message_wakes_one_of_many_producers() {
    one_message_wakes_one::<Mpmc>();
}

#[test]
fn a_message_for_each_of_one_producer() {
    a_message_for_each::<Spmc>();
}

#[test]
fn a_message_for_each_of_many_producers() {
    a_message_for_each::<Mpmc>();
}
