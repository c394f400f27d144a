//! Stops beside everything else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use annulus::queue::ordered;
use annulus::{Receive, WaitStrategy, Worker, broadcast, mpmc, mpsc, spmc};

use crate::support::{Pauses, STUCK, join, spawn, without_standing_still};
use crate::worker::rings::{Make, Ring, ends, nothing, rings};

/// Workers that begin, and are stopped or closed while they sleep, receive or drain.
#[test]
fn starts_and_stops() {
    const CYCLES: u64 = if cfg!(miri) { 5 } else { 10_000 };
    without_standing_still(|| {
        let mut dice = Pauses::new(7);
        let mut cycles = 0;
        while cycles < CYCLES {
            for ring in rings(4) {
                let Ring { name, mut send, begin, .. } = ring;
                let (strategy, most) = (Some(dice.strategy()), dice.next() as usize % 4 + 1);
                let worker = begin(&|make| Make { strategy, most: Some(most), ..make }, nothing());
                let stopper = worker.stopper();
                let count = dice.next() % 6;
                for number in 0..count {
                    send(number);
                    dice.rest();
                }
                let end = dice.next() % 5;
                // Somebody else does the same, or breaks it off, a moment earlier or later.
                let other = (dice.next() % 4 == 0).then(|| {
                    let (mut dice, stopper) = (Pauses::new(dice.next()), stopper.clone());
                    spawn(move || {
                        dice.rest();
                        if end == 1 { stopper.stop_now() } else { stopper.stop() }
                    })
                });
                match end {
                    0 => drop(send),
                    1 => worker.stop_now(),
                    2 => {
                        worker.stop();
                        drop(send);
                    }
                    _ => stopper.stop(),
                }
                let finished = worker.join().unwrap();
                let all = finished.messages + finished.lost;
                assert!(if end == 1 { all <= count } else { all == count }, "{name}: {all} of {count}");
                ends(&finished.context, most, end != 1);
                join(other);
                cycles += 1;
            }
        }
    });
}

/// What a thread has sent before it stops a worker is handled, while others send on without end.
#[test]
fn stop_beside_senders() {
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
    fn check<R: Receive<Item = u64> + Send + 'static, S: Clone + Send + 'static>(
        make: impl Fn() -> (S, R),
        send: impl Fn(&mut S, u64) -> bool + Copy + Send + 'static,
    ) {
        for round in 0..ROUNDS {
            let (mut sender, receiver) = make();
            let over = Arc::new(AtomicBool::new(false));
            let others = [(); 2].map(|()| {
                let (mut sender, over) = (sender.clone(), Arc::clone(&over));
                spawn(move || while !over.load(Ordering::Relaxed) && send(&mut sender, 0) {})
            });
            let worker = Worker::builder(receiver, 0).spawn(|sum, number: u64, _| *sum += number).unwrap();
            let count = round as u64 % 20;
            (0..count).for_each(|_| assert!(send(&mut sender, 1)));
            worker.stop();
            let finished = worker.join().unwrap();
            assert_eq!(finished.context, count, "of {finished:?}");
            over.store(true, Ordering::Relaxed);
            join(others);
        }
    }
    without_standing_still(|| {
        check(|| mpsc::channel(8), |sender, number| sender.send(number).is_ok());
        check(|| mpmc::channel(8), |sender, number| sender.send(number).is_ok());
        check(|| ordered::channel(8), |sender, number| sender.send(number).is_ok());
        check(
            || {
                let (publisher, subscribable) = broadcast::mp_lossless(8);
                (publisher, subscribable.subscribe())
            },
            |publisher, number| publisher.publish(number).is_ok(),
        );
    });
}

/// Where two workers share a queue, and one that was woken for a message is stopped, the other one gets the
/// message.
#[test]
fn wake_up_goes_on_to_the_other_worker() {
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 3_000 };
    without_standing_still(|| {
        let mut dice = Pauses::new(3);
        let (mut producer, consumer) = spmc::channel(64);
        let (handled, came) = std_mpsc::channel();
        let block = WaitStrategy::block_after(0, 0);
        let begin = |consumer| {
            let handled = handled.clone();
            let builder = Worker::builder(consumer, ()).wait_strategy(block);
            builder.spawn(move |(), number: u64, _| handled.send(number).unwrap()).unwrap()
        };
        let stays = begin(consumer.clone());
        for round in 0..ROUNDS {
            let goes = begin(consumer.clone());
            if dice.next() % 2 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
            dice.rest();
            producer.send(round).unwrap();
            goes.stop_now();
            assert_eq!(came.recv_timeout(STUCK), Ok(round), "a wake-up was lost");
            goes.join().unwrap();
        }
        drop((producer, consumer));
        stays.join().unwrap();
    });
}
