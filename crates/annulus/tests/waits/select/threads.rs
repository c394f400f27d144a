//! Threads that select beside others that send: nothing is lost or doubled, and nobody spins.

use std::thread;

use annulus::Settings;
use annulus::queue::ordered;
use annulus::{Select, WaitStrategy, broadcast, event, mpmc, mpsc, select, select_biased, spsc};

use crate::select::{MANY, MOMENT};
use crate::support::sleeping;

/// Four rings of different kinds, a thread for each, and a select that sleeps and wakes.
#[test]
fn messages_are_not_lost_or_doubled() {
    for strategy in [WaitStrategy::default(), WaitStrategy::block_after(0, 0)] {
        let (mut publisher, subscribable) =
            broadcast::lossless_with(Settings::new(64).wait_strategy(strategy)).unwrap();
        let mut subscriber = subscribable.subscribe();
        let (mut one, mut from_one) = spsc::channel(64);
        let (mut many, mut from_many) = mpsc::channel(64);
        let (sender, receiver) = ordered::channel(64);
        let (mut sums, mut open) = ([0_u64; 4], [true; 4]);
        thread::scope(|scope| {
            scope.spawn(move || (1..=MANY).for_each(|number| publisher.publish(number).unwrap()));
            scope.spawn(move || (1..=MANY).for_each(|number| one.send(number).unwrap()));
            scope.spawn(move || (1..=MANY).for_each(|number| many.send(number).unwrap()));
            scope.spawn(move || (1..=MANY).for_each(|number| sender.send(number).unwrap()));
            while open != [false; 4] {
                let (index, number) = select! {
                    recv(subscriber) -> number => (0, number),
                    recv(from_one) -> number => (1, number),
                    recv(from_many) -> number => (2, number),
                    recv(receiver) -> number => (3, number),
                };
                match number {
                    Ok(number) => sums[index] += number,
                    // It stays ready, until all are.
                    Err(_) => open[index] = false,
                }
            }
        });
        assert_eq!(sums, [MANY * (MANY + 1) / 2; 4]);
    }
}

/// A wake-up for one of several consumers is not lost in a select that takes something else.
#[test]
fn selects_divide_a_queue() {
    let (mut producer, consumer) = mpmc::channel(16);
    let (sender, receiver) = ordered::channel(16);
    let total: u64 = thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (mut consumer, receiver) = (consumer.clone(), receiver.clone());
                scope.spawn(move || {
                    let (mut sum, mut open) = (0, [true; 2]);
                    while open != [false; 2] {
                        select! {
                            recv(consumer) -> number => match number {
                                Ok(number) => sum += number,
                                Err(_) => open[0] = false,
                            },
                            recv(receiver) -> number => match number {
                                Ok(number) => sum += number,
                                Err(_) => open[1] = false,
                            },
                        }
                    }
                    sum
                })
            })
            .collect();
        drop((consumer, receiver));
        scope.spawn(move || (1..=MANY).for_each(|number| sender.send(number).unwrap()));
        (1..=MANY).for_each(|number| producer.send(number).unwrap());
        drop(producer);
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    });
    assert_eq!(total, MANY * (MANY + 1));
}

/// Two threads that send to each other, in both directions at once, through rings of one slot.
#[test]
fn two_threads_select_over_sends_and_receives() {
    const EACH: u64 = MANY / 10;
    let (mut there, mut here) = spsc::channel(1);
    let (back_sender, back) = ordered::channel(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut received, mut sent) = (0, 0);
            while sent < EACH || received < EACH {
                if sent == EACH {
                    received += here.recv().unwrap();
                    continue;
                }
                select! {
                    recv(here) -> number => received += number.unwrap(),
                    send(back_sender, 1) -> done => { done.unwrap(); sent += 1 }
                }
            }
        });
        let (mut received, mut sent) = (0, 0);
        while sent < EACH || received < EACH {
            if sent == EACH {
                received += back.recv().unwrap();
                continue;
            }
            select! {
                send(there, 1) -> done => { done.unwrap(); sent += 1 }
                recv(back) -> number => received += number.unwrap(),
            }
        }
    });
}

/// Senders of one queue, each in a select with a timeout: every value is sent once.
#[test]
fn many_senders_select_over_a_full_queue() {
    let (sender, receiver) = ordered::channel(1);
    let (publisher, subscribable) = broadcast::mp_lossless(2);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    let each = MANY / 10;
    thread::scope(|scope| {
        for _ in 0..2 {
            let (sender, publisher) = (sender.clone(), publisher.clone());
            scope.spawn(move || {
                let mut left = each;
                while left > 0 {
                    let value = String::from("1");
                    select! {
                        send(sender, value) -> sent => sent.unwrap(),
                        send(publisher, 1_u64) -> sent => sent.unwrap(),
                        default(MOMENT) => continue,
                    }
                    left -= 1;
                }
            });
        }
        drop((sender, publisher));
        let (mut received, mut open) = (0, [true; 2]);
        while open != [false; 2] {
            select! {
                recv(receiver) -> value => match value {
                    Ok(value) => received += value.parse::<u64>().unwrap(),
                    Err(_) => open[0] = false,
                },
                recv(subscriber) -> value => match value {
                    Ok(value) => received += value,
                    Err(_) => open[1] = false,
                },
            }
        }
        assert_eq!(received, 2 * each);
    });
}

/// Publishers at a gate that a slow subscriber holds back, in the macro and in `Select`.
#[test]
fn room_at_a_gate_wakes_a_select() {
    macro_rules! at_the_gate {
        ($publisher:ident, $source:ident: $ring:expr; $receive:ident) => {{
            let (mut $publisher, $source) = $ring;
            let mut slow = $source.subscribe();
            let publisher = thread::spawn(move || {
                for number in 1..=2 {
                    select_biased! { send($publisher, number) -> sent => sent.unwrap() }
                }
                // At a full ring, both.
                select! { send($publisher, 3) -> sent => sent.unwrap() }
                let mut select = Select::new();
                assert_eq!((select.send(&mut $publisher), select.ready()), (0, 0));
                drop(select);
                select! { send($publisher, 4) -> sent => sent.unwrap() }
            });
            for number in 1..=4 {
                thread::sleep(MOMENT);
                assert_eq!(slow.$receive(), Ok(number));
            }
            publisher.join().unwrap();
        }};
    }
    at_the_gate!(publisher, source: broadcast::lossless(2); recv);
    at_the_gate!(publisher, source: broadcast::mp_lossless(2); recv);
    at_the_gate!(publisher, source: event::channel(2, || 0); recv);
    at_the_gate!(publisher, source: event::mp_channel(2, || 0); recv);
}

/// A thread that waits for long sleeps.
#[test]
fn sleeping_select_uses_no_core() {
    let (_a, mut first) = spsc::channel::<u64>(4);
    let (mut b, mut second) = mpsc::channel(4);
    let (reader, sleeper) = sleeping::spawn(move || {
        select! {
            recv(first) -> message => message,
            recv(second) -> message => message,
        }
    });
    sleeper.await_sleep();
    b.send(7).unwrap();
    assert_eq!(reader.join().unwrap(), Ok(7));
}
