//! Tests of wake-ups of many threads.

use std::sync::mpsc;
use std::thread;
use std::vec::Vec;

use super::*;
use crate::sleeping::Sleeper;

const SLEEPERS: u32 = if cfg!(miri) { 6 } else { 40 };

/// Until all of these threads sleep, who have said so.
fn await_all(event: &EventCount, says: &mpsc::Receiver<Sleeper>) {
    let sleepers: Vec<_> = says.iter().take(SLEEPERS as usize).collect();
    while event.threads.asleep() < SLEEPERS {
        thread::yield_now();
    }
    // Whoever comes late is not woken, but sees that the word has changed.
    if !cfg!(miri) {
        sleepers.iter().for_each(Sleeper::await_sleep);
    }
    // Acquire: pairs with the fence in `register`.
    crate::sync::fence(Ordering::Acquire);
}

/// Each notify wakes each of many threads, and none of them for nothing, although they sleep again while
/// others are woken. The waker wakes a few, so this would hang if those woke nobody.
#[test]
fn many_are_woken_once_by_each_other() {
    const ROUNDS: u32 = 3;
    let event = EventCount::fenced();
    let [woken, in_vain] = [(); 2].map(|()| AtomicU32::new(0));
    let (says, sleepers) = mpsc::channel();
    let count = |word| word / WAKE_UP;
    thread::scope(|scope| {
        for _ in 0..SLEEPERS {
            let (event, woken, in_vain, says) = (&event, &woken, &in_vain, says.clone());
            scope.spawn(move || {
                let mut ticket = event.register();
                for _ in 0..ROUNDS {
                    let before = count(ticket.word);
                    says.send(Sleeper::this()).unwrap();
                    while count(ticket.word) == before {
                        event.sleep(ticket, None);
                        ticket = event.register();
                        in_vain.fetch_add(u32::from(count(ticket.word) == before), Ordering::Relaxed);
                    }
                    woken.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 1..=ROUNDS {
            await_all(&event, &sleepers);
            event.notify();
            while woken.load(Ordering::Relaxed) < round * SLEEPERS {
                thread::yield_now();
            }
        }
    });
    assert_eq!(in_vain.load(Ordering::Relaxed), 0);
    assert!(event.threads.is_owed_nothing());
}

/// A wake-up of all changes the cohort, and nothing else does.
#[test]
fn a_cohort_ends_with_a_wake_up_of_all() {
    let event = EventCount::fenced();
    let is_odd = |word| cohort(word) == Cohort::Odd;
    for round in 0..6 {
        let first = event.register().word;
        assert_eq!(is_odd(first), round % 2 == 1);
        event.count_wake_up(0);
        event.count_wake_up(TASK);
        let second = event.register().word;
        assert_ne!(first, second);
        assert_eq!(is_odd(second), is_odd(first));
        event.notify();
    }
}
