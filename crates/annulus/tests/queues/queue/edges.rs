//! What is not a matter of sequence: sizes, limits, drops, what a wait returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{InPlace, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{CapacityError, RecvError, RecvTimeoutError, SendTimeoutError, mpsc, spsc};

use super::{Counted, panics};

for_each_kind! { any_capacity waits_end close_wakes zero_sized drops_what_is_left values_come_back }

fn any_capacity<K: QueueKind>() {
    for capacity in [1, 2, 3, 5, if cfg!(miri) { 20 } else { 1000 }] {
        let (mut producer, mut consumer) = queue::with::<usize, K>(Settings::new(capacity)).unwrap();
        assert_eq!((producer.capacity(), consumer.capacity()), (capacity, capacity));
        for lap in 0..3 {
            for number in 0..capacity {
                assert!(producer.try_send(lap * capacity + number).is_ok());
            }
            assert!(producer.is_full());
            assert!(producer.try_send(0).unwrap_err().is_full());
            for number in 0..capacity {
                assert_eq!(consumer.try_recv(), Ok(lap * capacity + number));
            }
        }
    }
    let error = queue::with::<u8, K>(Settings::new(0)).unwrap_err();
    assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
    let error = queue::with::<u64, K>(Settings::new(usize::MAX)).unwrap_err();
    assert!(matches!(error, CapacityError::TooLarge { capacity: usize::MAX, slot_bytes: 8.. }));
    assert!(error.to_string().contains("no memory for 18446744073709551615 slots of"), "{error}");
}

#[test]
fn messages_may_have_any_size() {
    any_size_of::<spsc::Spsc>();
    any_size_of::<mpsc::Mpsc>();
}

fn any_size_of<K: InPlace + QueueKind>() {
    #[repr(align(256))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Wide([u8; 300]);
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(3)).unwrap();
    for lap in 0..3 {
        assert_eq!(producer.try_send_batch(&[Wide([lap; 300]); 4]).unwrap_err().into_inner().len(), 1);
        let readable = consumer.readable();
        assert_eq!(readable.as_ptr() as usize % 256, 0);
        assert_eq!(readable, [Wide([lap; 300]); 3]);
        assert_eq!(consumer.skip(9), 3);
    }
}

fn zero_sized<K: QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(2)).unwrap();
    assert_eq!(producer.try_send_batch(&[(); 3]).unwrap_err().into_inner().len(), 1);
    assert!(producer.try_send(()).unwrap_err().is_full());
    assert_eq!(consumer.try_iter().count(), 2);
}

fn waits_end<K: QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(1)).unwrap();
    let wait = Duration::from_millis(20);
    let begun = Instant::now();
    assert_eq!(consumer.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
    assert_eq!(consumer.recv_until(begun + 2 * wait), Err(RecvTimeoutError::Timeout));
    assert!(producer.send_timeout(1, wait).is_ok());
    assert!(producer.send_timeout(2, wait) == Err(SendTimeoutError::Timeout(2)));
    assert!(producer.send_until(2, begun + 4 * wait) == Err(SendTimeoutError::Timeout(2)));
    assert!(begun.elapsed() >= 4 * wait);
    // What is there is had at once, whatever the time.
    assert_eq!(consumer.recv_timeout(Duration::ZERO), Ok(1));
    assert!(producer.send_timeout(2, Duration::ZERO).is_ok());
    assert_eq!(consumer.recv_timeout(Duration::MAX), Ok(2));
    producer.close();
    assert_eq!(consumer.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert!(producer.send_timeout(3, Duration::MAX) == Err(SendTimeoutError::Closed(3)));
}

fn close_wakes<K: QueueKind>() {
    // A sleeping consumer.
    let (producer, mut consumer) = queue::with::<u64, K>(Settings::new(1)).unwrap();
    thread::scope(|scope| {
        let sleeper = scope.spawn(move || consumer.recv());
        thread::sleep(Duration::from_millis(20));
        producer.close();
        assert_eq!(sleeper.join().unwrap(), Err(RecvError::CLOSED));
    });
    // A sleeping producer: closed by the consumer, and left alone by it.
    for close in [true, false] {
        let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(1)).unwrap();
        producer.send(1).unwrap();
        thread::scope(|scope| {
            let sleeper = scope.spawn(move || producer.send(2).map_err(annulus::SendError::into_inner));
            thread::sleep(Duration::from_millis(20));
            if close {
                consumer.close();
                assert_eq!(consumer.recv(), Ok(1));
                assert_eq!(consumer.recv(), Err(RecvError::CLOSED));
            }
            drop(consumer);
            assert_eq!(sleeper.join().unwrap(), Err(2));
        });
    }
}

fn drops_what_is_left<K: QueueKind>() {
    for consumer_first in [true, false] {
        let alive = Arc::new(AtomicUsize::new(0));
        let (mut producer, consumer) = queue::with::<_, K>(Settings::new(3).first(u64::MAX)).unwrap();
        for number in 0..3 {
            producer.send(Counted::new(number, &alive)).unwrap();
        }
        if consumer_first {
            drop(consumer);
            assert_eq!(alive.load(Ordering::Relaxed), 0, "nobody can receive them");
            assert_eq!(producer.send(Counted::new(4, &alive)).unwrap_err().into_inner().number, 4);
        } else {
            drop(producer);
            assert_eq!(alive.load(Ordering::Relaxed), 3);
            drop(consumer);
        }
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

fn values_come_back<K: QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(2)).unwrap();
    let text = String::from("once");
    let address = text.as_ptr();
    producer.close();
    let text = producer.try_send(text).unwrap_err().into_inner();
    let text = producer.send(text).unwrap_err().into_inner();
    assert_eq!(text.as_ptr(), address);
    assert_eq!(consumer.try_recv(), Err(annulus::TryRecvError::Closed));
}

#[test]
fn reservation_can_not_be_overdrawn() {
    let (mut producer, consumer) = spsc::channel(4);
    let mut reservation = producer.try_reserve(9).unwrap();
    reservation.as_uninit().fill(std::mem::MaybeUninit::new(7));
    // SAFETY: it panics.
    let message = panics(|| assert_eq!(unsafe { reservation.commit(5) }, 0)).unwrap();
    assert_eq!(message, "can't commit 5 slots: 4 are reserved");
    assert!(consumer.is_empty());
    assert_eq!(panics(|| drop(producer.try_reserve(0))).unwrap(), "no slot is asked for");
}

#[test]
fn reservation_ends_where_the_ring_does() {
    let (mut producer, mut consumer) = spsc::channel(4);
    producer.send_batch(&[1, 2, 3]).unwrap();
    consumer.skip(2);
    assert_eq!(producer.try_reserve(9).unwrap().len(), 1);
    assert_eq!(producer.try_reserve(9).unwrap().fill(4), 1);
    assert_eq!(producer.try_reserve(9).unwrap().len(), 2);
}

#[test]
fn closed_is_not_full() {
    let (mut producer, consumer) = spsc::channel(1);
    producer.send(1).unwrap();
    assert_eq!(producer.try_reserve(1).unwrap_err(), annulus::TrySendError::Full(()));
    drop(consumer);
    assert_eq!(producer.try_reserve(1).unwrap_err(), annulus::TrySendError::Closed(()));
    assert!(producer.try_send(2) == Err(annulus::TrySendError::Closed(2)));
}

/// What one side knows of the slots before it, from single messages, is not true any more after a batch.
#[test]
fn a_batch_ends_a_run() {
    for rotation in 0..8 {
        let (mut producer, mut consumer) = spsc::channel(8);
        for message in 0..rotation {
            producer.try_send(message).unwrap();
            assert_eq!(consumer.try_recv(), Ok(message));
        }
        producer.try_send(0).unwrap();
        producer.try_send_batch(&[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert!(producer.try_send(8).is_err(), "the ring is full");
        assert_eq!(consumer.try_recv(), Ok(0));
        let mut rest = [0; 7];
        assert_eq!(consumer.try_recv_batch(&mut rest), 7);
        assert_eq!(rest, [1, 2, 3, 4, 5, 6, 7]);
        assert!(consumer.try_recv().is_err(), "the ring is empty");
        assert_eq!(producer.try_reserve(3).unwrap().write_slice(&[8, 9, 10]), 3.min(8 - (rotation + 8) % 8));
        assert_eq!(consumer.try_recv(), Ok(8));
        consumer.advance(consumer.len());
        assert!(consumer.try_recv().is_err(), "the ring is empty");
    }
}

/// What waits in place: it finds what is there, gives up in time, and sees the close.
fn waits_in_place<K: InPlace + QueueKind>(make: impl Fn(usize) -> (Producer<u8, K>, Consumer<u8, K>)) {
    let short = Duration::from_millis(1);
    let (mut producer, mut consumer) = make(4);
    assert_eq!(consumer.wait_readable_timeout(short), Err(RecvTimeoutError::Timeout));
    assert_eq!(producer.reserve(9).unwrap().fill(7), 4);
    assert!(producer.reserve_timeout(1, short).err() == Some(SendTimeoutError::Timeout(())));
    assert_eq!(consumer.wait_readable_timeout(short), Ok(&[7; 4][..]));
    assert_eq!(consumer.wait_readable(), Ok(&[7; 4][..]));
    consumer.advance(3);
    assert_eq!(producer.reserve_timeout(2, short).unwrap().len(), 2);
    producer.close();
    assert!(producer.reserve(1).is_err());
    assert!(producer.reserve_timeout(1, short).err() == Some(SendTimeoutError::Closed(())));
    assert_eq!(consumer.wait_readable(), Ok(&[7][..]));
    consumer.advance(1);
    assert_eq!(consumer.wait_readable(), Err(RecvError::CLOSED));
    assert_eq!(consumer.wait_readable_timeout(short), Err(RecvTimeoutError::Closed));

    // Each side sleeps until the other one has been there.
    let (mut producer, mut consumer) = make(2);
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        while let Ok(some) = consumer.wait_readable() {
            let count = some.len();
            all.extend_from_slice(some);
            consumer.advance(count);
        }
        all
    });
    for number in 0..100 {
        assert_eq!(producer.reserve(1).unwrap().fill(number), 1);
    }
    drop(producer);
    assert_eq!(reader.join().unwrap(), (0..100).collect::<Vec<_>>());
}

#[test]
fn verbs_in_place_wait() {
    waits_in_place(spsc::channel);
    waits_in_place(mpsc::channel);
    assert!(panics(|| drop(spsc::channel::<u8>(1).0.reserve(0))).is_some());
}
