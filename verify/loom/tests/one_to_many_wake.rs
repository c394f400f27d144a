//! Queues with many consumers: no wake-up is lost, and a close decides about every message.
//!
//! A message that was sent is received by somebody, or dropped once where all consumers are gone; one that
//! was refused comes back, and nobody receives it. After the first `Closed` that any consumer was told, none
//! receives anything.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer};
use annulus::{RecvTimeoutError, TryRecvError, TrySendError, mpmc, spmc};
use annulus_loom::shared::{Token, send_tries, take_tries};
use annulus_loom::{BLOCK, check, check_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// Receives until the queue is over, and returns the numbers. (That ends: the queue is closed.)
fn take_all<K: QueueKind>(consumer: &mut Consumer<Token, K>) -> Vec<u64> {
    let mut taken = Vec::new();
    loop {
        match consumer.try_recv() {
            Ok(token) => taken.push(token.number()),
            Err(TryRecvError::Closed) => return taken,
            Err(TryRecvError::Empty) => panic!("empty, and not closed"),
        }
    }
}

/// Sends message `number`; whether it is sent. There is room.
fn send<K: QueueKind>(producer: &mut Producer<Token, K>, number: u64, tokens: &Arc<()>) -> bool {
    match producer.try_send(Token::new(number, tokens)) {
        Ok(()) => true,
        Err(TrySendError::Closed(token)) => {
            assert_eq!(token.number(), number, "another message came back");
            false
        }
        Err(TrySendError::Full(_)) => panic!("full"),
    }
}

/// Only the message can wake the consumer: the producer lives on.
#[test]
fn message_wakes_a_consumer() {
    check(|| {
        let (mut producer, mut consumer) = spmc::channel(1);
        let reader = thread::spawn(move || (consumer.recv_until(BLOCK), consumer));
        producer.send_until(7, BLOCK).unwrap();
        assert_eq!(reader.join().unwrap().0, Ok(7));
        drop(producer);
    });
}

/// Another consumer may take the message that woke one that sleeps: the next one wakes it again.
#[test]
fn message_wakes_a_consumer_that_sleeps_again() {
    check_up_to(2, || {
        let (mut producer, mut consumer) = spmc::channel(2);
        let mut other = consumer.clone();
        let reader = thread::spawn(move || (other.recv_until(BLOCK).unwrap(), other));
        producer.try_send(1).unwrap();
        let mine = consumer.try_recv().unwrap_or(0);
        producer.try_send(2).unwrap();
        let (others, other) = reader.join().unwrap();
        let rest: u64 = consumer.try_iter().sum();
        assert_eq!(mine + others + rest, 3);
        drop((producer, other));
    });
}

/// Two messages for two consumers that receive one each: both get one, whichever sleeps when.
#[test]
fn a_message_for_each_consumer() {
    check_up_to(2, || {
        let (mut producer, consumer) = spmc::channel(2);
        let readers = [consumer.clone(), consumer].map(|mut consumer| {
            thread::spawn(move || {
                let received: u64 = consumer.recv_until(BLOCK).unwrap();
                (received, consumer)
            })
        });
        producer.try_send(1).unwrap();
        producer.try_send(2).unwrap();
        let received = readers.map(|reader| reader.join().unwrap());
        assert_eq!(received[0].0 + received[1].0, 3);
        drop((producer, received));
    });
}

/// One consumer deactivates a quiet lane while a message comes there, and another one polls: it finds the
/// message, or somebody has it.
#[test]
fn consumer_that_polls_during_a_deactivation_finds_the_message() {
    check(|| {
        let (producer, mut consumer) = mpmc::channel(1);
        let mut second = producer.register().unwrap();
        second.try_send(1).unwrap();
        assert_eq!(consumer.try_recv(), Ok(1));
        // After a poll in vain the next one takes both rings off.
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
        let mut other = consumer.clone();
        let sent = Arc::new(AtomicBool::new(false));
        let is_sent = Arc::clone(&sent);
        let writer = thread::spawn(move || {
            second.try_send(2).unwrap();
            is_sent.store(true, Ordering::Release);
            second
        });
        let thins = thread::spawn(move || (consumer.try_recv(), consumer));
        let was_sent = sent.load(Ordering::Acquire);
        let found = other.try_recv();
        if was_sent && found.is_err() {
            assert_eq!(other.len(), 0, "a message is hidden");
        }
        let (there, consumer) = thins.join().unwrap();
        let second = writer.join().unwrap();
        assert_eq!(
            other.consume(usize::MAX, drop) + [found, there].iter().filter(|found| found.is_ok()).count(),
            1
        );
        drop((producer, second, consumer));
    });
}

/// A message in the ring of a producer that joined wakes a consumer that slept before there was that ring.
#[test]
fn message_in_a_new_ring_wakes_a_consumer() {
    check_up_to(2, || {
        let (producer, mut consumer) = mpmc::channel(1);
        let reader = thread::spawn(move || (consumer.recv_until(BLOCK), consumer));
        let mut second = producer.register().unwrap();
        second.try_send(7).unwrap();
        assert_eq!(reader.join().unwrap().0, Ok(7));
        drop((producer, second));
    });
}

/// A message that is taken wakes the producer, which nobody else would.
#[test]
fn a_taken_message_wakes_the_producer() {
    check(|| {
        let (mut producer, mut consumer) = spmc::channel(1);
        producer.try_send(1).unwrap();
        let writer = thread::spawn(move || {
            producer.send_until(2, BLOCK).unwrap();
            producer
        });
        assert_eq!(consumer.try_recv(), Ok(1));
        drop(writer.join().unwrap());
        assert_eq!(consumer.try_recv(), Ok(2));
    });
}

/// As above, by a theft of several.
#[test]
fn a_theft_wakes_the_producer() {
    check_up_to(2, || {
        let (mut producer, mut consumer) = spmc::channel(2);
        producer.try_send_batch(&[1, 2]).unwrap();
        let writer = thread::spawn(move || {
            producer.send_until(3, BLOCK).unwrap();
            producer
        });
        let mut places = [0; 2];
        assert_eq!(consumer.try_recv_batch(&mut places), 2);
        drop(writer.join().unwrap());
        assert_eq!(places, [1, 2]);
        assert_eq!(consumer.try_recv(), Ok(3));
    });
}

/// A close wakes consumers that sleep.
#[test]
fn close_wakes_two_consumers() {
    check_up_to(1, || {
        let (producer, mut consumer) = spmc::channel::<u64>(1);
        let mut other = consumer.clone();
        let reader = thread::spawn(move || other.recv_until(BLOCK));
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(consumer.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
        closer.join().unwrap();
    });
}

/// The last consumer goes: a producer that waits for room learns of it, and gets its value back.
#[test]
fn last_consumer_wakes_the_producer() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (mut producer, consumer) = spmc::channel(1);
        assert!(send(&mut producer, 0, &tokens));
        let other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || {
            let error = producer.send_until(Token::new(1, &mine), BLOCK).unwrap_err();
            assert_eq!(error.into_inner().number(), 1);
            producer
        });
        let reader = thread::spawn(move || drop(other));
        drop(consumer);
        reader.join().unwrap();
        drop(writer.join().unwrap());
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// A consumer closes the queue beside a send: what was sent is received, what came back is not.
#[test]
fn a_close_beside_a_send() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || (send(&mut producer, 0, &mine), send(&mut producer, 1, &mine)));
        consumer.close();
        let taken = take_all(&mut consumer);
        let sent = match writer.join().unwrap() {
            (false, false) => 0,
            (true, sent) => 1 + u64::from(sent),
            (false, true) => panic!("sent on a closed queue"),
        };
        assert!(taken.iter().copied().eq(0..sent), "{taken:?} of {sent}");
        assert_eq!(take_all(&mut consumer), []);
        drop(consumer);
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, with readers still before the message when its producer learns of the close.
#[test]
fn a_close_beside_a_send_behind_others() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        assert!(send(&mut producer, 0, &tokens));
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || send(&mut producer, 1, &mine));
        consumer.close();
        let taken = take_all(&mut consumer);
        let sent = 1 + u64::from(writer.join().unwrap());
        assert!(taken.iter().copied().eq(0..sent), "{taken:?} of {sent}");
        drop(consumer);
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, with several messages at once: as many are received as the producer is told.
#[test]
fn a_close_beside_a_batch() {
    check_up_to(2, || {
        let (mut producer, mut consumer) = spmc::channel(2);
        let writer = thread::spawn(move || {
            producer.try_send_batch(&[0, 1]).map_or_else(|error| 2 - error.into_inner().len() as u64, |()| 2)
        });
        consumer.close();
        let taken: Vec<u64> = consumer.iter().collect();
        let sent = writer.join().unwrap();
        assert!(taken.iter().copied().eq(0..sent), "{taken:?} of {sent}");
    });
}

/// Two consumers share what was sent when the producer closes the queue by going.
#[test]
fn producer_goes_before_two_consumers() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        let mut other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer =
            thread::spawn(move || assert!(send(&mut producer, 0, &mine) && send(&mut producer, 1, &mine)));
        let reader = thread::spawn(move || {
            let taken = take_tries(&mut other, 2);
            (taken, other)
        });
        let mut taken = take_tries(&mut consumer, 1);
        writer.join().unwrap();
        let (others, other) = reader.join().unwrap();
        taken.extend(take_all(&mut consumer));
        taken.extend(others);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
        drop((consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// Once one consumer was told that everything was received, nobody receives anything, also where a send is on
/// its way.
#[test]
fn consumer_declares_the_end_for_all() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(1);
        let mut other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || send(&mut producer, 0, &mine));
        consumer.close();
        let taken = take_all(&mut consumer);
        assert!(consumer.is_fully_drained());
        thread::yield_now();
        assert_eq!(take_all(&mut other), [], "received after the end");
        let sent = writer.join().unwrap();
        assert_eq!(taken.len(), usize::from(sent));
        assert_eq!(take_all(&mut other), []);
        drop((consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, in the ring of a producer that joins meanwhile.
#[test]
fn consumer_declares_the_end_of_a_new_ring() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (producer, mut consumer) = mpmc::channel(1);
        let mut other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || {
            let mut second = producer.clone();
            (send(&mut second, 0, &mine), producer)
        });
        consumer.close();
        let taken = take_all(&mut consumer);
        thread::yield_now();
        assert_eq!(take_all(&mut other), [], "received after the end");
        let (sent, producer) = writer.join().unwrap();
        assert_eq!(taken.len(), usize::from(sent));
        drop((consumer, other, producer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, in a ring that a producer left: the one that takes it over finds it over.
#[test]
fn consumer_declares_the_end_of_a_ring_that_was_left() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (mut leaver, mut consumer) = mpmc::channel(2);
        let producer = leaver.register().unwrap();
        assert!(send(&mut leaver, 0, &tokens));
        drop(leaver);
        let mut other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || {
            let mut second = producer.clone();
            (send(&mut second, 1, &mine), producer)
        });
        consumer.close();
        let taken = take_all(&mut consumer);
        thread::yield_now();
        assert_eq!(take_all(&mut other), [], "received after the end");
        let (sent, producer) = writer.join().unwrap();
        assert!(taken.iter().copied().eq(0..=u64::from(sent)), "{taken:?}, and {sent}");
        drop((consumer, other, producer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// Two consumers, in threads of their own, take what there is beside a send and a close.
#[test]
fn two_consumers_find_the_end() {
    check_up_to(1, || {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(1);
        let mut other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || send(&mut producer, 0, &mine));
        let reader = thread::spawn(move || (take_tries(&mut other, 1), other));
        consumer.close();
        let mut taken = take_all(&mut consumer);
        let (others, mut other) = reader.join().unwrap();
        assert_eq!(take_all(&mut other), []);
        taken.extend(others);
        assert_eq!(taken.len(), usize::from(writer.join().unwrap()));
        drop((consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// The last consumer goes beside a send: the message is dropped once, or comes back.
#[test]
fn consumers_go_beside_a_send() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (mut producer, consumer) = spmc::channel(1);
        let other = consumer.clone();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || {
            let sent = send_tries(&mut producer, &mine, 0, 1);
            (sent, producer)
        });
        let reader = thread::spawn(move || drop(other));
        drop(consumer);
        reader.join().unwrap();
        let (_, mut producer) = writer.join().unwrap();
        // Whatever was sent is dropped by now: the last consumer saw it, or its producer saw the close.
        assert_eq!(Arc::strong_count(&tokens), 1);
        assert!(!send(&mut producer, 1, &tokens));
        drop(producer);
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}
