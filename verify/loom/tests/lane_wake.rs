//! A queue from one thread to another whose sides sleep, and which is closed while they run.
//!
//! A lost wake-up is a deadlock, which loom reports. A message is received, dropped with the queue, or given
//! back: once.
#![cfg(annulus_loom)]

use annulus::{RecvTimeoutError, spsc};
use annulus_loom::{BLOCK, Counted, alive, check, check_up_to, receive_all};
use loom::thread;

/// The producer lives on after its message: only that message can wake the consumer.
#[test]
fn a_message_wakes_the_consumer() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<u64>(2);
        let reader = thread::spawn(move || (consumer.recv_until(BLOCK), consumer));
        assert!(producer.try_send(0).is_ok());
        assert_eq!(reader.join().unwrap().0, Ok(0));
    });
}

/// The second message must wake a consumer that went back to sleep after the first, whichever wake-up it saw.
#[test]
fn second_message_wakes_the_consumer_again() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<u64>(2);
        let reader = thread::spawn(move || [consumer.recv_until(BLOCK), consumer.recv_until(BLOCK)]);
        assert!(producer.try_send(0).is_ok());
        assert!(producer.try_send(1).is_ok());
        assert_eq!(reader.join().unwrap(), [Ok(0), Ok(1)]);
    });
}

/// The consumer lives on after it took something, by whichever verb: only that can wake the producer.
#[test]
fn room_wakes_the_producer() {
    let take: [fn(&mut spsc::Consumer<u64>); 3] = [
        |consumer| assert_eq!(consumer.try_recv(), Ok(0)),
        |consumer| assert_eq!(consumer.consume(usize::MAX, |message| assert_eq!(message, 0)), 1),
        |consumer| {
            assert_eq!(consumer.readable(), [0]);
            consumer.advance(1);
        },
    ];
    for take in take {
        check(move || {
            let (mut producer, mut consumer) = spsc::channel::<u64>(1);
            assert!(producer.try_send(0).is_ok());
            let reader = thread::spawn(move || {
                take(&mut consumer);
                consumer
            });
            assert!(producer.send_until(1, BLOCK).is_ok());
            assert_eq!(reader.join().unwrap().try_recv(), Ok(1));
        });
    }
}

/// The producer's close and its drop wake the consumer, which first receives what came before.
#[test]
fn producer_s_end_wakes_the_consumer() {
    for drops in [false, true] {
        check(move || {
            let (mut producer, mut consumer) = spsc::channel::<u64>(2);
            let writer = thread::spawn(move || {
                assert!(producer.try_send(0).is_ok());
                producer.close();
                (!drops).then_some(producer)
            });
            assert_eq!(consumer.recv_until(BLOCK), Ok(0));
            assert_eq!(consumer.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
            writer.join().unwrap();
        });
    }
}

/// The consumer's close and its drop wake a producer that waits for room.
#[test]
fn consumer_s_end_wakes_the_producer() {
    for drops in [false, true] {
        check(move || {
            let (mut producer, consumer) = spsc::channel::<u64>(1);
            assert!(producer.try_send(0).is_ok());
            let writer = thread::spawn(move || (producer.send_until(1, BLOCK).is_ok(), producer));
            let consumer = if drops {
                drop(consumer);
                None
            } else {
                consumer.close();
                Some(consumer)
            };
            let (sent, _producer) = writer.join().unwrap();
            assert!(!sent || drops, "nobody made room");
            assert_eq!(consumer.map(|mut consumer| receive_all(&mut consumer)), (!drops).then(|| vec![0]));
        });
    }
}

/// A close beside sends: each message that was acknowledged is received, and no other one is.
#[test]
fn close_beside_sends() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<u64>(2);
        let writer = thread::spawn(move || {
            let sent = (0..2).take_while(|&number| producer.try_send(number).is_ok()).count();
            (sent, producer)
        });
        consumer.close();
        let received = receive_all(&mut consumer);
        let (sent, _producer) = writer.join().unwrap();
        assert_eq!(received.len(), sent, "acknowledged and received");
        assert_eq!(consumer.len(), 0);
    });
}

/// As above, for several messages that are sent at once: all of them, or none.
#[test]
fn close_beside_a_batch() {
    for in_place in [false, true] {
        check(move || {
            let (mut producer, mut consumer) = spsc::channel::<u64>(2);
            let writer = thread::spawn(move || {
                let sent = if in_place {
                    producer.try_reserve(2).map_or(0, |reservation| reservation.write_iter([0, 1]))
                } else {
                    producer.try_send_batch(&[0, 1]).map_or_else(|error| 2 - error.into_inner().len(), |()| 2)
                };
                (sent, producer)
            });
            consumer.close();
            let received = receive_all(&mut consumer);
            let (sent, _producer) = writer.join().unwrap();
            assert_eq!((received.len(), sent % 2), (sent, 0));
        });
    }
}

/// The consumer goes while messages come: each is given back or dropped with it, once.
#[test]
fn consumer_goes_beside_sends() {
    check(|| {
        let alive = alive();
        let (mut producer, consumer) = spsc::channel::<Counted>(2);
        let messages = [(); 2].map(|()| Counted::new(&alive));
        let writer = thread::spawn(move || {
            let back: Vec<_> =
                messages.into_iter().filter_map(|message| producer.try_send(message).err()).collect();
            (back, producer)
        });
        drop(consumer);
        let (back, producer) = writer.join().unwrap();
        assert_eq!(Counted::count(&alive), back.len(), "what was not given back was dropped");
        drop((back, producer));
        assert_eq!(Counted::count(&alive), 0);
    });
}

/// What a reservation wrote is dropped once, by whichever side, where the consumer goes meanwhile.
#[test]
fn consumer_goes_beside_a_reservation() {
    check_up_to(3, || {
        let alive = alive();
        let (mut producer, consumer) = spsc::channel::<Counted>(2);
        let messages = [(); 2].map(|()| Counted::new(&alive));
        let writer = thread::spawn(move || {
            if let Ok(reservation) = producer.try_reserve(2) {
                let _ = reservation.write_iter(messages);
            }
            producer
        });
        drop(consumer);
        let producer = writer.join().unwrap();
        assert_eq!(Counted::count(&alive), 0);
        drop(producer);
    });
}
