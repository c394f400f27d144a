//! A ring for each producer, which the consumer looks at only while it is busy: nothing is ever hidden from
//! it, asleep or not, whichever handles join, leave or close meanwhile.
//!
//! Under loom a lane is deactivated after one look that found nothing, and one message is taken from it at a
//! time.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::{RecvTimeoutError, TryRecvError, mpsc};
use annulus_loom::{BLOCK, Counted, alive, check, check_up_to, receive_all};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// How many messages were sent, in all, by sends that are over.
#[derive(Clone)]
struct Sent(Arc<AtomicUsize>);

impl Sent {
    fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(0)))
    }

    /// Sends `value`, and counts it.
    fn send(&self, producer: &mut mpsc::Producer<u64>, value: u64) {
        assert!(producer.try_send(value).is_ok());
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Polls once: if that finds nothing, whatever was sent before was received.
    fn poll(&self, consumer: &mut mpsc::Consumer<u64>, received: &mut Vec<u64>) {
        let sent = self.0.load(Ordering::Acquire);
        match consumer.try_recv() {
            Ok(value) => received.push(value),
            Err(_) => assert!(received.len() >= sent, "a message is hidden"),
        }
    }

    /// Polls up to `times` times, and gives way after each.
    fn polls(&self, consumer: &mut mpsc::Consumer<u64>, received: &mut Vec<u64>, times: usize) {
        for _ in 0..times {
            self.poll(consumer, received);
            thread::yield_now();
        }
    }
}

fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

/// Messages beside a poll that deactivates their lane: a first one that the poll may have missed, and one
/// that activates its lane. The next poll finds the first, also while the second one's send is not over.
#[test]
fn messages_in_a_quiet_ring() {
    check(|| {
        let (first, mut consumer) = mpsc::channel(2);
        let mut second = first.clone();
        let sent = Sent::new();
        let counts = sent.clone();
        let writer = thread::spawn(move || {
            counts.send(&mut second, 2);
            thread::yield_now();
            counts.send(&mut second, 3);
            second
        });
        let mut received = Vec::new();
        (0..3).for_each(|_| sent.poll(&mut consumer, &mut received));
        let _second = writer.join().unwrap();
        sent.polls(&mut consumer, &mut received, 3);
        assert_eq!(received, [2, 3]);
        drop(first);
    });
}

/// The same, where the consumer sleeps.
#[test]
fn quiet_ring_wakes_the_consumer() {
    check(|| {
        let (first, mut consumer) = mpsc::channel(2);
        let mut second = first.clone();
        let reader = thread::spawn(move || [consumer.recv_until(BLOCK), consumer.recv_until(BLOCK)]);
        assert!(second.try_send(2).is_ok());
        assert!(second.try_send(3).is_ok());
        assert_eq!(reader.join().unwrap(), [Ok(2), Ok(3)]);
        drop((first, second));
    });
}

/// Messages of two producers beside polls.
#[test]
fn two_rings() {
    check_up_to(2, || {
        let (mut first, mut consumer) = mpsc::channel(1);
        let mut second = first.clone();
        let sent = Sent::new();
        let [here, there] = [sent.clone(), sent.clone()];
        let here = thread::spawn(move || {
            here.send(&mut first, 1);
            first
        });
        let there = thread::spawn(move || {
            there.send(&mut second, 2);
            second
        });
        let mut received = Vec::new();
        sent.polls(&mut consumer, &mut received, 2);
        let _producers = (here.join().unwrap(), there.join().unwrap());
        sent.polls(&mut consumer, &mut received, 3);
        assert_eq!(sorted(received), [1, 2]);
    });
}

/// A producer that joins during polls is seen when it has sent something.
#[test]
fn message_of_a_joiner_is_seen() {
    check(|| {
        let (first, mut consumer) = mpsc::channel(1);
        let sent = Sent::new();
        let counts = sent.clone();
        let writer = thread::spawn(move || {
            let mut second = first.clone();
            counts.send(&mut second, 2);
            (first, second)
        });
        let mut received = Vec::new();
        sent.polls(&mut consumer, &mut received, 2);
        let _producers = writer.join().unwrap();
        sent.polls(&mut consumer, &mut received, 2);
        assert_eq!(received, [2]);
    });
}

/// One producer leaves while another one joins, which may get its ring: whatever the leaving one still does,
/// the other one's message is seen, and wakes.
#[test]
fn message_of_a_joiner_after_a_leaver_is_seen() {
    for (sleeps, preemptions) in [(true, 2), (false, 3)] {
        check_up_to(preemptions, move || {
            let (stays, mut consumer) = mpsc::channel(1);
            let leaver = stays.clone();
            let sent = Sent::new();
            let counts = sent.clone();
            let leaves = thread::spawn(move || drop(leaver));
            let comes = thread::spawn(move || {
                let mut next = stays.clone();
                counts.send(&mut next, 2);
                (stays, next)
            });
            let mut received = Vec::new();
            if sleeps {
                received.push(consumer.recv_until(BLOCK).unwrap());
            } else {
                sent.polls(&mut consumer, &mut received, 3);
            }
            leaves.join().unwrap();
            let _producers = comes.join().unwrap();
            sent.polls(&mut consumer, &mut received, if sleeps { 0 } else { 3 });
            assert_eq!(received, [2]);
        });
    }
}

/// The consumer closes beside sends: each message that was acknowledged is received, and no other one is.
#[test]
fn consumer_closes_beside_sends() {
    check_up_to(2, || {
        let (mut first, mut consumer) = mpsc::channel(1);
        let mut second = first.clone();
        let here = thread::spawn(move || (first.try_send(1).is_ok(), first));
        let there = thread::spawn(move || (second.try_send(2).is_ok(), second));
        consumer.close();
        let received = receive_all(&mut consumer);
        let ((here, _first), (there, _second)) = (here.join().unwrap(), there.join().unwrap());
        assert_eq!(
            (received.contains(&1), received.contains(&2)),
            (here, there),
            "acknowledged and received"
        );
        assert!(consumer.is_empty());
    });
}

/// A producer closes beside another one's sends.
#[test]
fn producer_closes_beside_sends() {
    check(|| {
        let (first, mut consumer) = mpsc::channel(2);
        let mut second = first.clone();
        let writer = thread::spawn(move || {
            let sent = (0..2).filter(|&number| second.try_send(number).is_ok()).count();
            (sent, second)
        });
        let closer = thread::spawn(move || {
            first.close();
            first
        });
        let received = receive_all(&mut consumer);
        let ((sent, _second), _first) = (writer.join().unwrap(), closer.join().unwrap());
        assert_eq!(received.len(), sent, "acknowledged and received");
        assert!(consumer.is_empty());
    });
}

/// A producer that joins and sends during a close is received, or told.
#[test]
fn joining_beside_a_close() {
    for reuses in [false, true] {
        check(move || {
            let (first, mut consumer) = mpsc::channel(1);
            if reuses {
                drop(first.clone());
                assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty), "now its ring is free");
            }
            let writer = thread::spawn(move || {
                let mut second = first.clone();
                (second.try_send(2).is_ok(), first, second)
            });
            consumer.close();
            let received = receive_all(&mut consumer);
            let (sent, _first, _second) = writer.join().unwrap();
            assert_eq!(received.len(), usize::from(sent), "acknowledged and received");
        });
    }
}

/// The last of two producers wakes a consumer that sleeps, which first receives what came before.
#[test]
fn last_one_out_wakes_the_consumer() {
    check_up_to(2, || {
        let (mut first, mut consumer) = mpsc::channel(1);
        let second = first.clone();
        assert!(first.try_send(1).is_ok());
        let leave = [first, second].map(|producer| thread::spawn(move || drop(producer)));
        assert_eq!(consumer.recv_until(BLOCK), Ok(1));
        assert_eq!(consumer.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        for thread in leave {
            thread.join().unwrap();
        }
    });
}

/// A close wakes a producer that joined meanwhile, and waits for room.
#[test]
fn close_wakes_a_producer_that_joined() {
    check(|| {
        let (first, mut consumer) = mpsc::channel(1);
        let closer = first.clone();
        let writer = thread::spawn(move || {
            let mut second = first.clone();
            let sent = [second.send_until(1, BLOCK).is_ok(), second.send_until(2, BLOCK).is_ok()];
            (sent, first, second)
        });
        closer.close();
        let (sent, ..) = writer.join().unwrap();
        assert!(!sent[1], "nobody made room");
        assert_eq!(receive_all(&mut consumer).len(), usize::from(sent[0]));
    });
}

/// A close wakes the consumer, which receives what came before.
#[test]
fn close_wakes_the_consumer() {
    check_up_to(2, || {
        let (mut first, mut consumer) = mpsc::channel(1);
        let closer = first.clone();
        let writer = thread::spawn(move || (first.try_send(1).is_ok(), first));
        let closes = thread::spawn(move || {
            closer.close();
            closer
        });
        let mut received = Vec::new();
        while let Ok(value) = consumer.recv_until(BLOCK) {
            received.push(value);
        }
        let ((sent, _first), _closer) = (writer.join().unwrap(), closes.join().unwrap());
        assert_eq!(received.len(), usize::from(sent));
    });
}

/// The consumer goes: a producer that waits for room is woken, and each message is given back or dropped,
/// once.
#[test]
fn the_consumer_goes() {
    check(|| {
        let alive = alive();
        let (first, consumer) = mpsc::channel(1);
        let messages = [(); 2].map(|()| Counted::new(&alive));
        let writer = thread::spawn(move || {
            let mut second = first.clone();
            let back: Vec<_> =
                messages.into_iter().filter_map(|message| second.send_until(message, BLOCK).err()).collect();
            (back, first, second)
        });
        drop(consumer);
        let (back, ..) = writer.join().unwrap();
        assert_eq!(Counted::count(&alive), back.len(), "what was not given back was dropped");
        drop(back);
        assert_eq!(Counted::count(&alive), 0);
    });
}
