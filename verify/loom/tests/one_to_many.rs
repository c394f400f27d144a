//! Queues with many consumers: each message reaches one of them, whole, and what is not received is dropped
//! once.
//!
//! Loom watches the slots: it fails a model where two threads meet in one, or where what one wrote there does
//! not come before what the other reads. Each message has a share in a counter besides, so that one that is
//! lost, or dropped twice, shows.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::queue::kind::{Joinable, ManyConsumers, QueueKind};
use annulus::{mpmc, queue, spmc};
use annulus_loom::shared::{Token, send_tries, take_tries};
use annulus_loom::{check, check_up_to};
use loom::thread;

/// What two consumers took: ascending for each, and together the messages from 0 to before `sent`, each once.
fn check_shares(shares: &[&[u64]], sent: u64) {
    for share in shares {
        assert!(share.is_sorted_by(|first, second| first < second), "{shares:?} is out of order");
    }
    let mut all = shares.concat();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..sent), "{shares:?} of {sent}");
}

/// A producer and two consumers, over a wrap.
fn over_a_wrap(capacity: usize, ready: u64, more: usize, times: [usize; 2]) {
    let tokens = Arc::new(());
    // The numbers wrap, too.
    let (mut producer, mut consumer) = spmc::with(Settings::new(capacity).first(u64::MAX)).unwrap();
    assert_eq!(send_tries(&mut producer, &tokens, 0, ready as usize), ready);
    let mut other = consumer.clone();
    let writer = {
        let tokens = Arc::clone(&tokens);
        thread::spawn(move || {
            let sent = send_tries(&mut producer, &tokens, ready, more);
            (producer, sent)
        })
    };
    let reader = thread::spawn(move || {
        let taken = take_tries(&mut other, times[1]);
        (other, taken)
    });
    let mut taken = take_tries(&mut consumer, times[0]);
    let (other, others) = reader.join().unwrap();
    let (producer, sent) = writer.join().unwrap();
    taken.extend(take_tries(&mut consumer, capacity));
    check_shares(&[&taken, &others], sent);
    drop((producer, consumer, other));
    assert_eq!(Arc::strong_count(&tokens), 1);
}

#[test]
fn two_consumers_over_a_wrap_of_one_slot() {
    check(|| over_a_wrap(1, 1, 2, [2, 2]));
}

#[test]
fn two_consumers_over_a_wrap_of_two_slots() {
    check(|| over_a_wrap(2, 2, 2, [2, 1]));
}

/// One consumer, so that loom gets further: three laps of one slot.
#[test]
fn one_consumer_over_three_laps() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(1);
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (send_tries(&mut producer, &tokens, 0, 3), producer))
        };
        let mut taken = take_tries(&mut consumer, 3);
        let (sent, producer) = writer.join().unwrap();
        taken.extend(take_tries(&mut consumer, 1));
        check_shares(&[&taken], sent);
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As many messages as consumers that each try once: each finds one, whichever was faster.
#[test]
fn consumer_finds_one_of_enough_messages() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        assert_eq!(send_tries(&mut producer, &tokens, 0, 2), 2);
        let mut other = consumer.clone();
        let reader = thread::spawn(move || (other.try_recv().expect("two messages for two").number(), other));
        let number = consumer.try_recv().expect("two messages for two").number();
        let (others, other) = reader.join().unwrap();
        check_shares(&[&[number], &[others]], 2);
        drop((producer, consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// One takes all but one of the messages while the other looks: whichever head it looks from, it finds one.
#[test]
fn consumer_finds_a_message_while_another_takes_some() {
    check_up_to(6, || {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(4);
        assert_eq!(send_tries(&mut producer, &tokens, 0, 4), 4);
        let mut other = consumer.clone();
        let reader = thread::spawn(move || {
            let taken = [(); 3].map(|()| other.try_recv().expect("one more than it takes").number());
            (taken, other)
        });
        let number = consumer.try_recv().expect("the other one leaves one").number();
        let (others, other) = reader.join().unwrap();
        check_shares(&[&[number], &others], 4);
        drop((producer, consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, in two rings: a consumer that looks in the other one finds it.
#[test]
fn consumer_finds_one_in_two_rings() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = mpmc::channel(1);
        let mut second = producer.register().unwrap();
        assert_eq!(send_tries(&mut producer, &tokens, 0, 1), 1);
        assert_eq!(send_tries(&mut second, &tokens, 1, 1), 2);
        // Every other clone begins with the same ring.
        let mut other = consumer.clone().clone();
        let reader = thread::spawn(move || (other.try_recv().expect("two messages for two").number(), other));
        let number = consumer.try_recv().expect("two messages for two").number();
        let (others, other) = reader.join().unwrap();
        check_shares(&[&[number], &[others]], 2);
        drop((producer, second, consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// Steals as much as there is, and returns the numbers.
fn steal<K: ManyConsumers>(consumer: &mut queue::Consumer<Token, K>, tokens: &Arc<()>) -> Vec<u64> {
    let mut places = [(); 2].map(|()| Token::new(u64::MAX, tokens));
    let stolen = consumer.try_recv_batch(&mut places);
    places[..stolen].iter().map(Token::number).collect()
}

/// One takes several at once, beside another that takes one, while the producer goes on into the slots that
/// they left.
#[test]
fn stealing_beside_another() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        assert_eq!(send_tries(&mut producer, &tokens, 0, 2), 2);
        let mut other = consumer.clone();
        let thief = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (steal(&mut other, &tokens), other))
        };
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (send_tries(&mut producer, &tokens, 2, 1), producer))
        };
        let mut taken = take_tries(&mut consumer, 1);
        let (stolen, other) = thief.join().unwrap();
        let (sent, producer) = writer.join().unwrap();
        taken.extend(take_tries(&mut consumer, 2));
        check_shares(&[&taken, &stolen], sent);
        drop((producer, consumer, other));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// For any observer, the length is never above the capacity; and the producer's own says truly when there is
/// room.
#[test]
fn no_observer_sees_too_many() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(2);
        assert_eq!(send_tries(&mut producer, &tokens, 0, 2), 2);
        let observer = consumer.clone();
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || {
                let sent = send_tries(&mut producer, &tokens, 2, 2);
                assert!(producer.len() <= 2);
                (sent, producer)
            })
        };
        let reader = thread::spawn(move || (take_tries(&mut consumer, 2), consumer));
        for _ in 0..2 {
            assert!(observer.len() <= 2, "{} of 2", observer.len());
        }
        let (mut taken, mut consumer) = reader.join().unwrap();
        let (sent, producer) = writer.join().unwrap();
        assert_eq!(consumer.len() as u64, sent - taken.len() as u64);
        taken.extend(take_tries(&mut consumer, 2));
        assert!(consumer.is_empty() && producer.is_empty() && observer.is_empty());
        check_shares(&[&taken], sent);
        drop((producer, consumer, observer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// A consumer is cloned and goes, while another takes and the producer sends.
#[test]
fn consumer_comes_and_goes() {
    check(|| {
        let tokens = Arc::new(());
        let (mut producer, mut consumer) = spmc::channel(1);
        assert_eq!(send_tries(&mut producer, &tokens, 0, 1), 1);
        let other = consumer.clone();
        let reader = thread::spawn(move || {
            let mut clone = other.clone();
            drop(other);
            take_tries(&mut clone, 1)
        });
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (send_tries(&mut producer, &tokens, 1, 2), producer))
        };
        let mut taken = take_tries(&mut consumer, 1);
        let others = reader.join().unwrap();
        let (sent, producer) = writer.join().unwrap();
        taken.extend(take_tries(&mut consumer, 1));
        assert!(!producer.is_closed());
        check_shares(&[&taken, &others], sent);
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// A producer leaves with messages in its ring, and another one goes on behind them: one order.
#[test]
fn ring_is_taken_over_with_its_messages() {
    check(|| {
        let tokens = Arc::new(());
        let (mut leaver, mut consumer) = mpmc::with(Settings::new(2).first(u64::MAX)).unwrap();
        let joiner = leaver.register().unwrap();
        assert_eq!(send_tries(&mut leaver, &tokens, 0, 2), 2);
        drop(leaver);
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || {
                // There is one ring that nobody sends on.
                let mut next = joiner.register().unwrap();
                (send_tries(&mut next, &tokens, 2, 2), next, joiner)
            })
        };
        let mut taken = take_tries(&mut consumer, 2);
        let (sent, next, joiner) = writer.join().unwrap();
        taken.extend(take_tries(&mut consumer, 2));
        assert!(taken.iter().copied().eq(0..sent), "{taken:?} of {sent}");
        drop((next, joiner, consumer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As above, where the one leaves while the other comes: it has the ring that was left, or one of its own.
#[test]
fn producer_leaves_while_another_comes() {
    check(|| {
        let tokens = Arc::new(());
        let (mut leaver, mut consumer) = mpmc::channel(1);
        let joiner = leaver.register().unwrap();
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || assert_eq!(send_tries(&mut leaver, &tokens, 0, 1), 1))
        };
        let second = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || {
                let mut next = joiner.register().unwrap();
                (send_tries(&mut next, &tokens, 1, 1), next, joiner)
            })
        };
        let mut taken = take_tries(&mut consumer, 1);
        writer.join().unwrap();
        let (sent, next, joiner) = second.join().unwrap();
        taken.extend(take_tries(&mut consumer, 2));
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(0..sent), "{taken:?} of {sent}");
        drop((next, joiner, consumer));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// What nobody received is dropped with the last handle, once.
fn left<K: QueueKind>(
    producer: queue::Producer<Token, K>,
    consumer: queue::Consumer<Token, K>,
    tokens: &Arc<()>,
) {
    let mut producer = producer;
    let mut consumer = consumer;
    assert_eq!(send_tries(&mut producer, tokens, 0, 2), 2);
    let mine = Arc::clone(tokens);
    let writer = thread::spawn(move || (send_tries(&mut producer, &mine, 2, 1), producer));
    let taken = take_tries(&mut consumer, 1);
    drop(writer.join().unwrap());
    drop(consumer);
    assert_eq!(taken, [0]);
    assert_eq!(Arc::strong_count(tokens), 1);
}

#[test]
fn messages_left_are_dropped() {
    check(|| {
        let (producer, consumer) = spmc::channel(2);
        left(producer, consumer, &Arc::new(()));
    });
}

#[test]
fn messages_left_in_two_rings_are_dropped() {
    fn join<K: Joinable>(producer: &queue::Producer<Token, K>) -> queue::Producer<Token, K> {
        producer.register().unwrap()
    }
    check(|| {
        let tokens = Arc::new(());
        let (producer, consumer) = mpmc::channel(2);
        let mut second = join(&producer);
        left(producer, consumer, &tokens);
        // Nobody receives any more: it comes back.
        assert_eq!(second.try_send(Token::new(9, &tokens)).unwrap_err().into_inner().number(), 9);
        drop(second);
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}
