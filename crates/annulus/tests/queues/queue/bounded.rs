//! What could grow for ever, or never come to an end: memory beside producers that come and go, and the steps
//! of one call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::queue::kind::Joinable;
use annulus::{RecvTimeoutError, TryRecvError, WaitStrategy, mpmc, mpsc};

use crate::support::{join, time_on_a_core, time_on_a_core_since};

/// Producers that come, send and go, one after the other.
const COMERS: u64 = if cfg!(miri) {
    50
} else if cfg!(debug_assertions) {
    20_000
} else {
    1_000_000
};

/// What the consumer does meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Consuming {
    Polls,
    Sleeps,
    /// As `Sleeps`, and each of them sends.
    Woken,
    Stopped,
    Gone,
    Closed,
}

/// A clone, a message, a drop, over and over: as many rings as there are producers at once.
fn memory_depends_on_live_producers<K: Joinable>() {
    use Consuming::{Closed, Gone, Polls, Sleeps, Stopped, Woken};
    for consuming in [Polls, Sleeps, Woken, Stopped, Gone, Closed] {
        let (first, mut consumer) = annulus::queue::with::<u64, K>(annulus::Settings::new(16)).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        if consuming == Closed {
            consumer.close();
        }
        let mut consumer = (consuming != Gone).then(|| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut received = 0_u64;
                match consuming {
                    Polls => {
                        while !over.load(Ordering::Relaxed) {
                            received += u64::from(consumer.try_recv().is_ok());
                        }
                    }
                    Sleeps | Woken => {
                        let strategy = WaitStrategy::block_after(0, 0);
                        while consumer.recv_until(strategy) != Ok(u64::MAX) {
                            received += 1;
                        }
                    }
                    Stopped | Closed | Gone => {}
                }
                (received, consumer)
            })
        });
        let mut sent = 0;
        // (Each wake-up takes its time.)
        for number in 0..if consuming == Woken { COMERS / 20 } else { COMERS } {
            let mut producer = first.clone();
            // (To one that sleeps, now and then: it is asleep while they come and go.)
            if consuming != Sleeps || number % 1000 == 0 {
                sent += u64::from(producer.try_send(number).is_ok());
            }
        }
        assert_eq!(first.rings(), 2, "{consuming:?}");
        over.store(true, Ordering::Relaxed);
        if let Some(consumer) = consumer.take() {
            let mut last = first.clone();
            _ = matches!(consuming, Sleeps | Woken) && last.send(u64::MAX).is_ok();
            let (received, mut consumer) = consumer.join().unwrap();
            drop((first, last));
            assert_eq!(received + consumer.iter().count() as u64, sent, "{consuming:?}");
        }
    }
}

/// A poll, and a wait with a timeout, end while others come and go without a break. (One that goes on with
/// them never does, which `support/hang.rs` sees.)
fn a_poll_takes_bounded_steps<K: Joinable>() {
    let (first, mut consumer) = annulus::queue::with::<u64, K>(annulus::Settings::new(16)).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let joined = Arc::new(AtomicUsize::new(0));
    let comers: Vec<_> = (0..if cfg!(miri) { 2 } else { 8 })
        .map(|_| {
            let (first, over, joined) = (first.clone(), Arc::clone(&over), Arc::clone(&joined));
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    drop(first.clone());
                    joined.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    while joined.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
    let polls = if cfg!(miri) { 3 } else { 100 };
    let mut longest = Duration::ZERO;
    for _ in 0..polls {
        let begun = time_on_a_core();
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(consumer.recv_timeout(Duration::from_micros(100)), Err(RecvTimeoutError::Timeout));
        longest = longest.max(time_on_a_core_since(begun).unwrap_or_default());
    }
    over.store(true, Ordering::Relaxed);
    join(comers);
    println!("one poll took {longest:?} of a core at most");
}

#[test]
fn memory_depends_on_live_producers_one_consumer() {
    memory_depends_on_live_producers::<mpsc::Mpsc>();
}

#[test]
fn memory_depends_on_live_producers_many_consumers() {
    memory_depends_on_live_producers::<mpmc::Mpmc>();
}

#[test]
fn poll_takes_bounded_steps_one_consumer() {
    a_poll_takes_bounded_steps::<mpsc::Mpsc>();
}

#[test]
fn poll_takes_bounded_steps_many_consumers() {
    a_poll_takes_bounded_steps::<mpmc::Mpmc>();
}
