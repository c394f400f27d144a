//! Between threads: order, loss, close, chaos.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{InPlace, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{TrySendError, WaitStrategy, mpmc, mpsc, spmc, spsc};

use super::dice::Dice;
use super::{Counted, panics, sent_of};

const MESSAGES: u64 = if cfg!(miri) {
    200
} else if cfg!(debug_assertions) {
    30_000
} else {
    300_000
};

/// A number of `whose` producer.
fn number(whose: u64, count: u64) -> u64 {
    whose << 32 | count
}

/// Sends the numbers from 0 to before `MESSAGES` by every verb in turn.
fn send_by_all_verbs<K: InPlace>(producer: &mut Producer<u64, K>, whose: u64, seed: u64) {
    let mut dice = Dice(seed);
    let mut next = 0;
    while next < MESSAGES {
        let some: Vec<_> =
            (next..MESSAGES.min(next + 1 + dice.throw(9))).map(|count| number(whose, count)).collect();
        let one = some[0];
        match dice.throw(6) {
            0 => next += u64::from(producer.try_send(one).is_ok()),
            1 => {
                producer.send(one).unwrap();
                next += 1;
            }
            2 => next += sent_of(&some, producer.try_send_batch(&some)),
            3 => {
                producer.send_batch(&some).unwrap();
                next += some.len() as u64;
            }
            4 => next += u64::from(producer.send_timeout(one, Duration::from_micros(10)).is_ok()),
            _ => {
                if let Ok(reservation) = producer.try_reserve(some.len()) {
                    next += reservation.write_slice(&some) as u64;
                }
            }
        }
    }
}

/// Receives by every verb, and checks that each number comes once, in order.
fn receive_by_all_verbs<K: InPlace + QueueKind>(
    consumer: &mut Consumer<u64, K>,
    producers: usize,
    seed: u64,
) {
    let mut dice = Dice(seed);
    let mut next = vec![0; producers];
    let mut check = |got: u64| {
        let whose = got >> 32;
        assert_eq!(got, number(whose, next[whose as usize]), "of producer {whose}");
        next[whose as usize] += 1;
    };
    let mut over = false;
    while !over {
        match dice.throw(10) {
            0 => drop(consumer.try_recv().map(&mut check)),
            1 => match consumer.recv() {
                Ok(number) => check(number),
                Err(_) => over = true,
            },
            2 => drop(consumer.recv_timeout(Duration::from_micros(10)).map(&mut check)),
            3 => drop(consumer.consume(usize::MAX, &mut check)),
            4 => drop(consumer.consume(3, &mut check)),
            5 => consumer.try_iter().take(5).for_each(&mut check),
            6 => {
                let readable = consumer.readable();
                let count = readable.len();
                readable.iter().copied().for_each(&mut check);
                consumer.advance(count);
            }
            7 => {
                let mut places = [0; 4];
                let count = consumer.try_recv_batch(&mut places);
                places[..count].iter().copied().for_each(&mut check);
            }
            8 => {
                if let Some(&number) = consumer.peek() {
                    assert_eq!(consumer.skip(1), 1);
                    check(number);
                }
            }
            _ => over = consumer.is_fully_drained(),
        }
        assert!(consumer.len() <= producers * consumer.capacity());
    }
    assert_eq!(next, vec![MESSAGES; producers]);
}

#[test]
fn verbs_beside_each_other() {
    for (capacity, first) in [(1, 0), (2, u64::MAX - 100), (7, 0), (64, u64::MAX - 1000), (4096, 5)] {
        let (mut producer, mut consumer) = spsc::with(Settings::new(capacity).first(first)).unwrap();
        let writer = thread::spawn(move || send_by_all_verbs(&mut producer, 0, 7));
        receive_by_all_verbs(&mut consumer, 1, 11);
        writer.join().unwrap();
    }
}

/// The same with many producers, in whose rings the consumer takes turns.
#[test]
fn verbs_beside_each_other_of_many() {
    for (capacity, first) in [(1, 0), (7, u64::MAX - 100), (64, 0)] {
        let (producer, mut consumer) = mpsc::with(Settings::new(capacity).first(first)).unwrap();
        let writers = [0, 1, 2].map(|whose| {
            let mut producer = producer.clone();
            thread::spawn(move || send_by_all_verbs(&mut producer, whose, 7 + whose))
        });
        drop(producer);
        receive_by_all_verbs(&mut consumer, 3, 13);
        for writer in writers {
            writer.join().unwrap();
        }
    }
}

/// For any observer, the length is never above the capacity.
#[test]
fn no_observer_sees_too_many() {
    let (mut producer, mut consumer) = mpsc::channel(4);
    let watched = producer.clone();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                assert!(watched.len() <= 4);
                thread::yield_now();
            }
        });
        scope.spawn(|| {
            for _ in 0..MESSAGES {
                assert!(consumer.len() <= 8);
                assert!(consumer.recv().is_ok());
            }
            over.store(true, Ordering::Relaxed);
        });
        for number in 0..MESSAGES {
            assert!(producer.len() <= 4);
            producer.send(number).unwrap();
        }
    });
}

/// Producers that come, send, sleep, panic and go, and a consumer that is slow now and then.
#[test]
fn chaos() {
    let producers: u64 = if cfg!(miri) { 3 } else { 40 };
    let each = MESSAGES / 50;
    for (capacity, strategy) in [(1, WaitStrategy::default()), (64, WaitStrategy::block_after(0, 0))] {
        let alive = Arc::new(AtomicUsize::new(0));
        let (first, mut consumer) = mpsc::channel::<(u64, Counted)>(capacity);
        let expected = Arc::new(AtomicU64::new(0));
        let spawner = {
            let (alive, expected) = (Arc::clone(&alive), Arc::clone(&expected));
            thread::spawn(move || {
                let mut threads = Vec::new();
                for number in 0..producers {
                    let mut producer = first.clone();
                    let (alive, expected) = (Arc::clone(&alive), Arc::clone(&expected));
                    threads.push(thread::spawn(move || {
                        let mut dice = Dice(number + 1);
                        let _ = panics(|| {
                            for count in 0..each {
                                producer.send((number, Counted::new(count, &alive))).unwrap();
                                expected.fetch_add(1, Ordering::Relaxed);
                                match dice.throw(2000) {
                                    0 => thread::sleep(Duration::from_micros(50)),
                                    1 => thread::yield_now(),
                                    2 if number % 3 == 0 => std::panic::resume_unwind(Box::new("as planned")),
                                    _ => {}
                                }
                            }
                        });
                    }));
                    if threads.len() == 8 {
                        threads.drain(..).for_each(|thread| thread.join().unwrap());
                    }
                }
                for thread in threads {
                    thread.join().unwrap();
                }
            })
        };
        let mut dice = Dice(99);
        let mut next = vec![0; producers as usize];
        let mut received = 0;
        while let Ok((number, message)) = consumer.recv_until(strategy) {
            assert_eq!(message.number, next[number as usize], "of producer {number}");
            next[number as usize] += 1;
            received += 1;
            if dice.throw(5000) == 0 {
                thread::sleep(Duration::from_micros(100));
            }
        }
        spawner.join().unwrap();
        assert_eq!(received, expected.load(Ordering::Relaxed));
        // Nine producers are there at once; some that have left may not be empty yet.
        assert!(consumer.rings() <= 25, "{} rings for 9 producers at once", consumer.rings());
        drop(consumer);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

/// A queue that is closed while producers send: what was acknowledged is received, what was not comes back.
#[test]
fn a_stop_loses_nothing() {
    for round in 0..if cfg!(miri) { 5 } else { 300 } {
        let (first, mut consumer) = mpsc::channel(16);
        let producers: Vec<_> = (0..3_u64)
            .map(|number| {
                let mut producer = first.clone();
                thread::spawn(move || {
                    let mut sent = 0;
                    loop {
                        match producer.try_send((number, sent)) {
                            Ok(()) => sent += 1,
                            Err(TrySendError::Full(back)) => {
                                assert_eq!(back, (number, sent));
                                thread::yield_now();
                            }
                            Err(TrySendError::Closed(back)) => {
                                assert_eq!(back, (number, sent));
                                return sent;
                            }
                        }
                    }
                })
            })
            .collect();
        let mut received = [0; 3];
        for _ in 0..round * 10 {
            let (number, count) = consumer.recv().unwrap();
            assert_eq!(count, received[number as usize]);
            received[number as usize] += 1;
        }
        if round % 2 == 0 {
            consumer.close();
        } else {
            first.close();
        }
        for (number, count) in &mut consumer {
            assert_eq!(count, received[number as usize]);
            received[number as usize] += 1;
        }
        for (producer, received) in producers.into_iter().zip(received) {
            assert_eq!(producer.join().unwrap(), received, "acknowledged, and received");
        }
    }
}

/// A consumer that goes while producers send: each message is dropped once.
#[test]
fn a_consumer_goes() {
    for round in 0..if cfg!(miri) { 5 } else { 200 } {
        let alive = Arc::new(AtomicUsize::new(0));
        let (mut producer, mut consumer) = queue::with::<_, mpsc::Mpsc>(Settings::new(8)).unwrap();
        let writer = {
            let alive = Arc::clone(&alive);
            thread::spawn(move || {
                let mut number = 0;
                while producer.send(Counted::new(number, &alive)).is_ok() {
                    number += 1;
                }
            })
        };
        for number in 0..round {
            assert_eq!(consumer.recv().unwrap().number, number);
        }
        drop(consumer);
        writer.join().unwrap();
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

/// Each message reaches one consumer, and the messages of one producer come to each of them in order.
#[test]
fn shared_out() {
    for (capacity, producers, consumers) in
        [(1, 1, 2), (2, 1, 3), (64, 1, 2), (1, 3, 2), (3, 2, 3), (256, 3, 3)]
    {
        let each = MESSAGES / 10;
        let (first, consumer) = mpmc::with(Settings::new(capacity).first(u64::MAX - 50)).unwrap();
        let writers: Vec<_> = (0..producers)
            .map(|number| {
                let mut producer = first.clone();
                thread::spawn(move || {
                    let mut dice = Dice(number + 1);
                    let mut next = 0;
                    while next < each {
                        let some: Vec<_> = (next..each.min(next + 5)).map(|count| (number, count)).collect();
                        match dice.throw(3) {
                            0 => next += sent_of(&some, producer.try_send_batch(&some)),
                            1 => {
                                producer.send_batch(&some).unwrap();
                                next += some.len() as u64;
                            }
                            _ => next += u64::from(producer.try_send((number, next)).is_ok()),
                        }
                    }
                })
            })
            .collect();
        drop(first);
        let readers: Vec<_> = (0..consumers)
            .map(|number| {
                let mut consumer = consumer.clone();
                thread::spawn(move || {
                    let mut dice = Dice(number + 77);
                    let mut got = vec![Vec::new(); producers as usize];
                    let mut note = |(number, count): (u64, u64)| {
                        let of_this: &mut Vec<u64> = &mut got[number as usize];
                        assert!(of_this.last().is_none_or(|&last| last < count), "out of order");
                        of_this.push(count);
                    };
                    let mut places = [(0, 0); 7];
                    loop {
                        match dice.throw(5) {
                            0 => match consumer.recv() {
                                Ok(message) => note(message),
                                Err(_) => break,
                            },
                            1 => drop(consumer.try_recv().map(&mut note)),
                            2 => {
                                let count = consumer.try_recv_batch(&mut places);
                                places[..count].iter().copied().for_each(&mut note);
                            }
                            3 => drop(consumer.consume(9, &mut note)),
                            _ => consumer.try_iter().for_each(&mut note),
                        }
                    }
                    got
                })
            })
            .collect();
        drop(consumer);
        for writer in writers {
            writer.join().unwrap();
        }
        let got: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        for producer in 0..producers as usize {
            let mut all: Vec<_> = got.iter().flat_map(|got| &got[producer]).copied().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..each), "each message of producer {producer} comes once");
        }
    }
}

/// As [`a_stop_loses_nothing`], with consumers that come and go.
#[test]
fn stop_with_many_consumers_loses_nothing() {
    for round in 0..if cfg!(miri) { 5 } else { 300 } {
        let alive = Arc::new(AtomicUsize::new(0));
        let (mut producer, consumer) = spmc::channel(4);
        let writer = {
            let alive = Arc::clone(&alive);
            thread::spawn(move || {
                let mut sent = 0;
                loop {
                    match producer.try_send(Counted::new(sent, &alive)) {
                        Ok(()) => sent += 1,
                        Err(TrySendError::Full(_)) => thread::yield_now(),
                        Err(TrySendError::Closed(back)) => {
                            assert_eq!(back.number, sent);
                            return sent;
                        }
                    }
                }
            })
        };
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let mut consumer = consumer.clone();
                thread::spawn(move || consumer.iter().map(|message| message.number).collect::<Vec<_>>())
            })
            .collect();
        if round % 3 == 0 {
            thread::sleep(Duration::from_micros(50));
        }
        consumer.close();
        drop(consumer);
        let sent = writer.join().unwrap();
        let mut got: Vec<_> = readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
        got.sort_unstable();
        assert!(got.into_iter().eq(0..sent), "acknowledged, and received once");
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}
