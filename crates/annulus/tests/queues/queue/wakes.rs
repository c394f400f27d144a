//! One message wakes one consumer, and never too few. In the queue with one capacity, one slot wakes one
//! sender, too.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::ManyConsumers;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{WaitStrategy, mpmc::Mpmc, spmc::Spmc};

use super::dice::Dice;
use crate::support::{join, spawn, without_standing_still};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

const CONSUMERS: usize = if cfg!(miri) { 2 } else { 8 };

/// A queue with many consumers, which sleep at once where nothing is there.
trait Queue {
    type Producer;
    type Consumer: Clone + Send + 'static;
    fn new(capacity: usize) -> (Self::Producer, Self::Consumer);
    fn send(producer: &mut Self::Producer, number: u64);
    fn send_batch(producer: &mut Self::Producer, numbers: &[u64]);
    fn recv(consumer: &mut Self::Consumer) -> Option<u64>;
}

/// A ring for each producer.
struct Rings<K>(PhantomData<K>);

impl<K: ManyConsumers> Queue for Rings<K> {
    type Producer = Producer<u64, K>;
    type Consumer = Consumer<u64, K>;

    fn new(capacity: usize) -> (Self::Producer, Self::Consumer) {
        queue::with(Settings::new(capacity)).unwrap()
    }

    fn send(producer: &mut Self::Producer, number: u64) {
        producer.send(number).unwrap();
    }

    fn send_batch(producer: &mut Self::Producer, numbers: &[u64]) {
        producer.send_batch(numbers).unwrap();
    }

    fn recv(consumer: &mut Self::Consumer) -> Option<u64> {
        consumer.recv_until(BLOCK).ok()
    }
}

/// One ring for all.
struct OneOrder;

impl Queue for OneOrder {
    type Producer = ordered::Sender<u64>;
    type Consumer = ordered::Receiver<u64>;

    fn new(capacity: usize) -> (Self::Producer, Self::Consumer) {
        ordered::channel(capacity)
    }

    fn send(sender: &mut Self::Producer, number: u64) {
        sender.send(number).unwrap();
    }

    fn send_batch(sender: &mut Self::Producer, numbers: &[u64]) {
        sender.send_batch(numbers).unwrap();
    }

    fn recv(receiver: &mut Self::Consumer) -> Option<u64> {
        receiver.recv_until(BLOCK).ok()
    }
}

/// How often this thread has given its core away by itself, where the system tells.
pub(super) fn sleeps() -> Option<u64> {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        return None;
    }
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Waits until they all sleep, more or less: not a synchronisation, but then there is somebody to wake.
fn let_them_lie_down() {
    thread::sleep(Duration::from_millis(2));
}

/// Runs `work` on as many threads as there are consumers, each with a clone of `handle`, and `meanwhile` once
/// they have all begun. Returns what they return, and how often they slept, where the system tells.
fn sleepers<H: Clone + Send + 'static>(
    handle: H,
    work: fn(H) -> usize,
    meanwhile: impl FnOnce(),
) -> (usize, Option<u64>) {
    let ready = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..CONSUMERS)
        .map(|_| {
            let (handle, ready) = (handle.clone(), Arc::clone(&ready));
            spawn(move || {
                ready.fetch_add(1, Ordering::Relaxed);
                let before = sleeps();
                let count = work(handle);
                (count, sleeps().zip(before).map(|(now, before)| now - before))
            })
        })
        .collect();
    drop(handle);
    while ready.load(Ordering::Relaxed) < CONSUMERS {
        thread::yield_now();
    }
    meanwhile();
    let results = join(threads);
    (results.iter().map(|(count, _)| count).sum(), results.iter().map(|(_, sleeps)| *sleeps).sum())
}

const MESSAGES: u64 = if cfg!(miri) { 3 } else { 100 };

/// `MESSAGES` wake-ups, each for one of those that sleep.
fn check_sleeps(sleeps: Option<u64>) {
    let enough = 5 * MESSAGES + 10 * CONSUMERS as u64;
    if let Some(sleeps) = sleeps {
        assert!(sleeps <= enough, "{sleeps} sleeps of {CONSUMERS} threads for {MESSAGES} messages");
    }
}

/// Each message to consumers that all sleep makes one of them get up, not all of them.
fn one_message_wakes_one<Q: Queue>() {
    let (mut producer, consumer) = Q::new(64);
    let receive_all = |mut consumer| std::iter::from_fn(|| Q::recv(&mut consumer)).count();
    let (received, sleeps) = sleepers(consumer, receive_all, move || {
        for number in 0..MESSAGES {
            let_them_lie_down();
            Q::send(&mut producer, number);
        }
    });
    assert_eq!(received as u64, MESSAGES);
    check_sleeps(sleeps);
}

/// Each slot of a full queue, which senders wait for that all sleep, makes one of them get up.
#[test]
fn one_slot_wakes_one() {
    let (sender, receiver) = ordered::channel(CONSUMERS);
    sender.try_send_batch(&[0; CONSUMERS]).unwrap();
    let send_until_closed = |sender: ordered::Sender<u64>| {
        let mut sent = 0;
        while sender.send_until(0, BLOCK).is_ok() {
            sent += 1;
        }
        sent
    };
    let (sent, sleeps) = sleepers(sender, send_until_closed, || {
        for _ in 0..MESSAGES {
            let_them_lie_down();
            receiver.recv().unwrap();
        }
        while receiver.len() < CONSUMERS {
            thread::yield_now();
        }
        receiver.close();
    });
    assert_eq!(sent as u64, MESSAGES);
    check_sleeps(sleeps);
}

/// As many messages as there are consumers that receive one each and go: each of them gets one, however they
/// are sent and whichever consumers sleep then.
fn a_message_for_each<Q: Queue>() {
    let rounds = if cfg!(miri) { 3 } else { 3_000 };
    without_standing_still(move || {
        let mut dice = Dice(7);
        let (mut producer, consumer) = Q::new(CONSUMERS);
        let over = Arc::new(AtomicBool::new(false));
        // In step: a round is over when everybody has received one.
        let received = Arc::new(AtomicUsize::new(0));
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|_| {
                let mut consumer = consumer.clone();
                let (received, over) = (Arc::clone(&received), Arc::clone(&over));
                spawn(move || {
                    for round in 1.. {
                        if Q::recv(&mut consumer).is_none() {
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
                (0..CONSUMERS as u64).for_each(|number| Q::send(&mut producer, number));
            } else {
                Q::send_batch(&mut producer, &[round; CONSUMERS]);
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
    one_message_wakes_one::<Rings<Spmc>>();
}

#[test]
fn one_message_wakes_one_of_many_producers() {
    one_message_wakes_one::<Rings<Mpmc>>();
}

#[test]
fn one_message_wakes_one_in_one_order() {
    one_message_wakes_one::<OneOrder>();
}

#[test]
fn a_message_for_each_of_one_producer() {
    a_message_for_each::<Rings<Spmc>>();
}

#[test]
fn a_message_for_each_of_many_producers() {
    a_message_for_each::<Rings<Mpmc>>();
}

#[test]
fn a_message_for_each_in_one_order() {
    a_message_for_each::<OneOrder>();
}
