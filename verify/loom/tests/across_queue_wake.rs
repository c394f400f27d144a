//! Queues between processes: a producer of one, and a consumer of another, which have nothing in common but
//! the slots, the lane's numbers, and the words where they sleep. In a model the two processes are threads.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::queue::{Across, Consumer, Producer};
use annulus::{RecvError, SendError, TryRecvError};
use annulus_loom::{BLOCK, check, check_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// A queue whose processes both live on. `is_asymmetric`: wakers have a light fence, and sleepers ask for a
/// barrier in their process.
fn queue(capacity: usize, is_asymmetric: bool) -> (Producer<u64, Across<u64>>, Consumer<u64, Across<u64>>) {
    let settings = Settings::new(capacity).first(u64::MAX).wait_strategy(BLOCK);
    let (producer, consumer, _) = settings.for_two_processes(is_asymmetric, || false, || false);
    (producer, consumer)
}

/// Runs a model with full fences on both sides, and with a light one on one side.
fn check_both(model: fn(is_asymmetric: bool)) {
    for is_asymmetric in [false, true] {
        check(move || model(is_asymmetric));
    }
}

#[test]
fn message_wakes_the_consumer_each_time() {
    check_both(|is_asymmetric| {
        let (mut producer, mut consumer) = queue(2, is_asymmetric);
        let reader = thread::spawn(move || ([consumer.recv(), consumer.recv()], consumer));
        producer.send(1).unwrap();
        producer.send(2).unwrap();
        assert_eq!(reader.join().unwrap().0, [Ok(1), Ok(2)]);
    });
}

#[test]
fn room_wakes_the_producer() {
    check_both(|is_asymmetric| {
        let (mut producer, mut consumer) = queue(1, is_asymmetric);
        producer.send(1).unwrap();
        let writer = thread::spawn(move || (producer.send(2), producer));
        assert_eq!(consumer.try_recv(), Ok(1));
        let (sent, _producer) = writer.join().unwrap();
        assert_eq!((sent, consumer.try_recv()), (Ok(()), Ok(2)));
    });
}

#[test]
fn a_close_wakes_either_side() {
    check_both(|is_asymmetric| {
        let (producer, mut consumer) = queue(1, is_asymmetric);
        let reader = thread::spawn(move || consumer.recv());
        producer.close();
        assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
    });
    check_both(|is_asymmetric| {
        let (mut producer, consumer) = queue(1, is_asymmetric);
        producer.send(1).unwrap();
        let writer = thread::spawn(move || producer.send(2));
        consumer.close();
        assert_eq!(writer.join().unwrap(), Err(SendError(2)));
    });
}

/// A close beside sends, by the other process: each message that was acknowledged is received, no other one.
#[test]
fn a_close_beside_sends() {
    check_both(|is_asymmetric| {
        let (mut producer, mut consumer) = queue(2, is_asymmetric);
        let writer = thread::spawn(move || {
            let sent = (0..2).take_while(|&number| producer.try_send(number).is_ok()).count();
            (sent, producer)
        });
        consumer.close();
        let mut received = 0;
        loop {
            match consumer.try_recv() {
                Ok(number) => {
                    assert_eq!(number, received);
                    received += 1;
                }
                Err(error) => break assert_eq!(error, TryRecvError::Closed),
            }
        }
        let (sent, _producer) = writer.join().unwrap();
        assert_eq!(received, sent as u64, "acknowledged and received");
    });
}

/// The producer's process is gone, at any moment: what it had sent is received, and then the queue is closed.
#[test]
fn a_producer_that_is_gone() {
    check(|| {
        let is_gone = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_gone);
        let (mut producer, mut consumer, _) =
            Settings::new(2).for_two_processes::<u64>(true, move || asked.load(Ordering::Acquire), || false);
        let writer = thread::spawn(move || {
            producer.try_send(0).unwrap();
            producer.try_send(1).unwrap();
            is_gone.store(true, Ordering::Release);
            producer
        });
        let mut received = 0;
        loop {
            match consumer.try_recv() {
                Ok(number) => {
                    assert_eq!(number, received);
                    received += 1;
                }
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Closed) => break,
            }
        }
        assert_eq!(received, 2);
        drop(writer.join().unwrap());
    });
}

/// A producer finds out that its consumer's process is gone, when it finds no room.
#[test]
fn consumer_that_is_gone() {
    check(|| {
        let is_gone = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_gone);
        let (mut producer, mut consumer, _) =
            Settings::new(1).for_two_processes::<u64>(true, || false, move || asked.load(Ordering::Acquire));
        let reader = thread::spawn(move || {
            let received = consumer.try_recv().is_ok();
            is_gone.store(true, Ordering::Release);
            (received, consumer)
        });
        let mut sent = 0;
        while sent < 3 {
            match producer.try_send(sent) {
                Ok(()) => sent += 1,
                Err(error) if error.is_full() => thread::yield_now(),
                Err(_) => break,
            }
        }
        let (received, consumer) = reader.join().unwrap();
        // One more than was received, unless it was gone before the producer looked for that room.
        assert!((1..=1 + u64::from(received)).contains(&sent), "{sent}");
        assert!(producer.is_closed());
        drop(consumer);
    });
}

/// A next consumer goes on with the message behind the last one that was received, while the producer sends.
#[test]
fn the_next_consumer_goes_on() {
    check_up_to(2, || {
        let (mut producer, mut consumer, next) =
            Settings::new(2).for_two_processes::<u64>(true, || false, || false);
        let writer = thread::spawn(move || {
            let sent = (0..3).take_while(|&number| producer.try_send(number).is_ok()).count() as u64;
            (sent, producer)
        });
        let first = u64::from(consumer.try_recv().is_ok());
        // Its process is killed here: it does no more, and its lock is free.
        let mut next = next();
        let mut received = first;
        while let Ok(number) = next.try_recv() {
            assert_eq!(number, received);
            received += 1;
        }
        let (sent, producer) = writer.join().unwrap();
        while let Ok(number) = next.try_recv() {
            assert_eq!(number, received);
            received += 1;
        }
        assert_eq!(received, sent);
        drop((producer, next, consumer));
    });
}

/// A next consumer, of a queue whose first one has closed it and decided where it ends: what a sender gets
/// back is not received.
#[test]
fn the_next_consumer_keeps_to_the_end() {
    check(|| {
        let (mut producer, mut consumer, next) =
            Settings::new(2).for_two_processes::<u64>(true, || false, || false);
        let writer = thread::spawn(move || (u64::from(producer.try_send(0).is_ok()), producer));
        consumer.close();
        let mut received = 0;
        while consumer.try_recv().is_ok() {
            received += 1;
        }
        // Its process is killed here.
        let mut next = next();
        while next.try_recv().is_ok() {
            received += 1;
        }
        let (sent, producer) = writer.join().unwrap();
        assert_eq!(received, sent);
        drop((producer, next, consumer));
    });
}
