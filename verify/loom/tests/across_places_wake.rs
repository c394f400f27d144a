//! Queues whose producers are of several processes: each has a place, which is a lane and a lock. In a model
//! the processes are threads, and a lock is a bool: setting it to false kills the process that has the place.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::TryRecvError;
use annulus::queue::{Joins, ManyAcross, Producer};
use annulus_loom::{BLOCK, check, check_up_to, receive_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

type Locks = Arc<[AtomicBool]>;

/// A queue of lanes with so many slots, which begin at the end of the numbers, and with so many places.
/// `ends`: with its last producer.
fn queue(capacity: usize, places: usize, ends: bool) -> (Arc<Joins<u64>>, Locks) {
    let locks: Locks = (0..places).map(|_| AtomicBool::new(false)).collect();
    let settings = Settings::new(capacity).first(u64::MAX).wait_strategy(BLOCK);
    (Arc::new(settings.for_processes(true, &locks, ends)), locks)
}

/// The process that has this place ends.
fn kill(producer: Producer<u64, ManyAcross<u64>>, locks: &Locks, place: usize) {
    core::mem::forget(producer);
    // (An exchange, because loom would let a later one miss a store.)
    locks[place].swap(false, Ordering::AcqRel);
}

/// A producer sends and dies. The next one has its place, and goes on where it stood, beside the consumer:
/// every message is received, once and in order.
#[test]
fn the_next_producer_goes_on() {
    check(|| {
        let (joins, locks) = queue(2, 1, false);
        let mut consumer = joins.consumer();
        let mut first = joins.producer().unwrap();
        let next = Arc::clone(&joins);
        let joiner = thread::spawn(move || {
            // None while the first one lives.
            let mut producer = next.producer()?;
            // Refused while there is no room.
            let is_sent = producer.try_send(2).is_ok();
            Some((is_sent, producer))
        });
        let reader = thread::spawn(move || (receive_up_to(&mut consumer, 2), consumer));
        assert_eq!([first.try_send(0), first.try_send(1)], [Ok(()); 2]);
        kill(first, &locks, 0);
        let (received, mut consumer) = reader.join().unwrap();
        assert_eq!(received, [0, 1]);
        let joined = joiner.join().unwrap();
        let is_sent = joined.as_ref().is_some_and(|joined| joined.0);
        assert_eq!(consumer.try_recv().ok(), is_sent.then_some(2));
    });
}

/// The first message in a place that nobody has had wakes the consumer.
#[test]
fn a_message_in_a_new_place_wakes_the_consumer() {
    check(|| {
        let (joins, _locks) = queue(1, 2, false);
        let mut consumer = joins.consumer();
        let _idle = joins.producer().unwrap();
        let newcomer = thread::spawn(move || {
            let mut producer = joins.producer().unwrap();
            producer.send(7).unwrap();
            producer
        });
        assert_eq!(consumer.recv(), Ok(7));
        drop(newcomer.join().unwrap());
    });
}

/// Two producers leave at the same time. One of them closes the queue, and wakes the consumer; both messages
/// are received before that.
#[test]
fn last_producer_that_leaves_closes() {
    check_up_to(2, || {
        let (joins, _locks) = queue(1, 2, true);
        let mut consumer = joins.consumer();
        let producers = [joins.producer().unwrap(), joins.producer().unwrap()];
        let leavers = [0, 1]
            .into_iter()
            .zip(producers)
            .map(|(number, mut producer)| thread::spawn(move || producer.send(number).unwrap()));
        let leavers: Vec<_> = leavers.collect();
        let mut received: Vec<_> = core::iter::from_fn(|| consumer.recv().ok()).collect();
        received.sort_unstable();
        assert_eq!(received, [0, 1]);
        for leaver in leavers {
            leaver.join().unwrap();
        }
    });
}

/// The last producer dies: the consumer finds the end by itself, behind all that was sent.
#[test]
fn the_end_of_the_dead() {
    check(|| {
        let (joins, locks) = queue(2, 1, true);
        let mut consumer = joins.consumer();
        let mut producer = joins.producer().unwrap();
        let writer = thread::spawn(move || {
            assert_eq!([producer.try_send(0), producer.try_send(1)], [Ok(()); 2]);
            kill(producer, &locks, 0);
        });
        assert_eq!(receive_up_to(&mut consumer, 3), [0, 1]);
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Closed));
        writer.join().unwrap();
    });
}

/// A consumer of two places dies. The next one goes on in both where it stood, beside a producer.
#[test]
fn the_next_consumer_goes_on_in_every_place() {
    check(|| {
        let (joins, _locks) = queue(2, 2, false);
        let mut consumer = joins.consumer();
        let [mut one, mut other] = [joins.producer().unwrap(), joins.producer().unwrap()];
        assert_eq!([one.try_send(0), other.try_send(10)], [Ok(()); 2]);
        let writer = thread::spawn(move || {
            assert_eq!(one.try_send(1), Ok(()));
            one
        });
        let mut received = receive_up_to(&mut consumer, 1);
        // Its process is killed here.
        core::mem::forget(consumer);
        let mut next = joins.consumer();
        received.extend(receive_up_to(&mut next, 2));
        let of_one: Vec<_> = received.iter().copied().filter(|&number| number < 10).collect();
        received.sort_unstable();
        assert_eq!((of_one, received), (vec![0, 1], vec![0, 1, 10]));
        assert_eq!(next.try_recv(), Err(TryRecvError::Empty));
        drop(writer.join().unwrap());
    });
}
