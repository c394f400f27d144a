//! What is not a matter of sequence: sizes, limits, drops, what a wait returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::queue::{Builder, InPlace, Kind};
use annulus::{
    CapacityError, RecvError, RecvTimeoutError, RegisterError, SendTimeoutError, mpmc, mpsc, spsc,
};

use super::{Counted, panics};

for_each_kind! { any_capacity presets waits_end close_wakes zero_sized drops_what_is_left values_come_back }

fn any_capacity<K: Kind>() {
    for capacity in [1, 2, 3, 5, if cfg!(miri) { 20 } else { 1000 }] {
        let (mut producer, mut consumer) = Builder::<K>::new(capacity).build::<usize>().unwrap();
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
    let error = Builder::<K>::new(0).build::<u8>().unwrap_err();
    assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
    let error = Builder::<K>::new(usize::MAX).build::<u64>().unwrap_err();
    assert!(matches!(error, CapacityError::TooLarge { capacity: usize::MAX, slot_bytes: 8.. }));
    assert!(error.to_string().contains("no memory for 18446744073709551615 slots of"), "{error}");
}

#[test]
fn any_size() {
    any_size_of::<spsc::Spsc>();
    any_size_of::<mpsc::Mpsc>();
}

fn any_size_of<K: InPlace>() {
    #[repr(align(256))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Wide([u8; 300]);
    let (mut producer, mut consumer) = Builder::<K>::new(3).build().unwrap();
    for lap in 0..3 {
        assert_eq!(producer.try_send_batch(&[Wide([lap; 300]); 4]), 3);
        let readable = consumer.readable();
        assert_eq!(readable.as_ptr() as usize % 256, 0);
        assert_eq!(readable, [Wide([lap; 300]); 3]);
        assert_eq!(consumer.skip(9), 3);
    }
}

fn zero_sized<K: Kind>() {
    let (mut producer, mut consumer) = Builder::<K>::new(2).build().unwrap();
    assert_eq!(producer.try_send_batch(&[(); 3]), 2);
    assert!(producer.try_send(()).unwrap_err().is_full());
    assert_eq!(consumer.try_iter().count(), 2);
}

fn presets<K: Kind>() {
    let presets = [
        (Builder::<K>::default(), 65_536),
        (Builder::low_latency(), 4_096),
        (Builder::ultra_low_latency(), 1_024),
        (Builder::high_throughput(), 262_144),
    ];
    // The emulator would take minutes for the large ones.
    for (builder, capacity) in presets.into_iter().filter(|&(_, capacity)| !cfg!(miri) || capacity < 5000) {
        assert_eq!(builder.build::<u8>().unwrap().0.capacity(), capacity);
    }
}

fn waits_end<K: Kind>() {
    let (mut producer, mut consumer) = Builder::<K>::new(1).build().unwrap();
    let wait = Duration::from_millis(20);
    let begun = Instant::now();
    assert_eq!(consumer.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
    assert_eq!(consumer.recv_deadline(begun + 2 * wait), Err(RecvTimeoutError::Timeout));
    assert!(producer.send_timeout(1, wait).is_ok());
    assert!(producer.send_timeout(2, wait) == Err(SendTimeoutError::Timeout(2)));
    assert!(producer.send_deadline(2, begun + 4 * wait) == Err(SendTimeoutError::Timeout(2)));
    assert!(begun.elapsed() >= 4 * wait);
    // What is there is had at once, whatever the time.
    assert_eq!(consumer.recv_timeout(Duration::ZERO), Ok(1));
    assert!(producer.send_timeout(2, Duration::ZERO).is_ok());
    assert_eq!(consumer.recv_timeout(Duration::MAX), Ok(2));
    producer.close();
    assert_eq!(consumer.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert!(producer.send_timeout(3, Duration::MAX) == Err(SendTimeoutError::Closed(3)));
}

fn close_wakes<K: Kind>() {
    // A sleeping consumer.
    let (producer, mut consumer) = Builder::<K>::new(1).build::<u64>().unwrap();
    thread::scope(|scope| {
        let sleeper = scope.spawn(move || consumer.recv());
        thread::sleep(Duration::from_millis(20));
        producer.close();
        assert_eq!(sleeper.join().unwrap(), Err(RecvError));
    });
    // A sleeping producer: closed by the consumer, and left alone by it.
    for close in [true, false] {
        let (mut producer, mut consumer) = Builder::<K>::new(1).build().unwrap();
        producer.send(1).unwrap();
        thread::scope(|scope| {
            let sleeper = scope.spawn(move || producer.send(2).map_err(annulus::SendError::into_inner));
            thread::sleep(Duration::from_millis(20));
            if close {
                consumer.close();
                assert_eq!(consumer.recv(), Ok(1));
                assert_eq!(consumer.recv(), Err(RecvError));
            }
            drop(consumer);
            assert_eq!(sleeper.join().unwrap(), Err(2));
        });
    }
}

fn drops_what_is_left<K: Kind>() {
    for consumer_first in [true, false] {
        let alive = Arc::new(AtomicUsize::new(0));
        let (mut producer, consumer) = Builder::<K>::new(3).first(u64::MAX).build().unwrap();
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

fn values_come_back<K: Kind>() {
    let (mut producer, mut consumer) = Builder::<K>::new(2).build().unwrap();
    let text = String::from("once");
    let address = text.as_ptr();
    producer.close();
    let text = producer.try_send(text).unwrap_err().into_inner();
    let text = producer.send(text).unwrap_err().into_inner();
    assert_eq!(text.as_ptr(), address);
    assert_eq!(consumer.try_recv(), Err(annulus::TryRecvError::Closed));
}

#[test]
fn a_reservation_can_not_be_overdrawn() {
    let (mut producer, consumer) = spsc::channel(4);
    let mut reservation = producer.reserve(9).unwrap();
    reservation.as_uninit().fill(std::mem::MaybeUninit::new(7));
    // SAFETY: it panics.
    let message = panics(|| assert_eq!(unsafe { reservation.commit(5) }, 0)).unwrap();
    assert_eq!(message, "can't commit 5 slots: 4 are reserved");
    assert!(consumer.is_empty());
    assert!(producer.reserve(0).is_none());
}

#[test]
fn a_reservation_ends_where_the_ring_does() {
    let (mut producer, mut consumer) = spsc::channel(4);
    producer.send_batch(&[1, 2, 3]).unwrap();
    consumer.skip(2);
    assert_eq!(producer.reserve(9).unwrap().len(), 1);
    assert_eq!(producer.reserve(9).unwrap().fill(4), 1);
    assert_eq!(producer.reserve(9).unwrap().len(), 2);
}

#[test]
fn closed_is_not_full() {
    let (mut producer, consumer) = spsc::channel(1);
    producer.send(1).unwrap();
    assert!(producer.reserve(1).is_none());
    drop(consumer);
    assert!(producer.reserve(1).is_none());
    assert!(producer.try_send(2) == Err(annulus::TrySendError::Closed(2)));
}

/// 10,000 joins and leaves: no more rings than there were producers at once.
#[test]
fn rings_are_used_again() {
    let (mut first, mut consumer) = mpsc::channel(4);
    for round in 0..if cfg!(miri) { 50 } else { 10_000 } {
        let mut producer = first.register().unwrap();
        producer.send(round).unwrap();
        drop(producer);
        if round % 2 == 0 {
            assert_eq!(consumer.recv(), Ok(round));
        } else {
            assert_eq!(consumer.consume(|got| assert_eq!(got, round)), 1);
        }
        assert_eq!(consumer.try_recv(), Err(annulus::TryRecvError::Empty));
    }
    assert!(consumer.rings() <= 3, "{} rings for two producers", consumer.rings());
    first.send(1).unwrap();
    assert_eq!(consumer.recv(), Ok(1));
}

/// A destructor that panics while a consumer drops what is left: the others are dropped all the same, with the queue.
#[test]
fn a_destructor_that_panics_keeps_nothing() {
    struct Panics(Counted);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0.number != 1, "on purpose");
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let (mut producer, consumer) = spsc::channel(4);
    for number in 0..4 {
        producer.send(Panics(Counted::new(number, &alive))).map_err(drop).unwrap();
    }
    assert!(panics(|| drop(consumer)).is_some());
    assert!(producer.is_closed());
    drop(producer);
    assert_eq!(alive.load(Ordering::Relaxed), 0);

    // Nor what was written to slots and could not be sent.
    let (mut producer, consumer) = spsc::channel(4);
    let reservation = producer.reserve(3).unwrap();
    drop(consumer);
    let values = (0..3).map(|number| Panics(Counted::new(number, &alive)));
    let message = panics(|| assert_eq!(reservation.write_iter(values), 0));
    assert!(message.is_some());
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// A destructor that panics while a consumer fills places: the others that it has claimed are dropped, and their slots are free again.
#[test]
fn a_destructor_that_panics_holds_up_no_producer() {
    struct Panics(Counted);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0.number != 99, "on purpose");
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let (mut producer, mut consumer) = annulus::spmc::channel(4);
    for number in 0..4 {
        producer.send(Panics(Counted::new(number, &alive))).map_err(drop).unwrap();
    }
    let mut places = [0, 99, 0].map(|number| Panics(Counted::new(number, &alive)));
    assert!(panics(|| _ = consumer.try_recv_batch(&mut places)).is_some());
    drop(places);
    assert_eq!((alive.load(Ordering::Relaxed), producer.len()), (1, 1));
    for number in 4..7 {
        assert!(producer.try_send(Panics(Counted::new(number, &alive))).is_ok(), "its slot is free");
    }
    assert_eq!(consumer.into_iter().take(2).map(|message| message.0.number).sum::<u64>(), 3 + 4);
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
        assert_eq!(producer.try_send_batch(&[1, 2, 3, 4, 5, 6, 7]), 7);
        assert!(producer.try_send(8).is_err(), "the ring is full");
        assert_eq!(consumer.try_recv(), Ok(0));
        let mut rest = [0; 7];
        assert_eq!(consumer.try_recv_batch(&mut rest), 7);
        assert_eq!(rest, [1, 2, 3, 4, 5, 6, 7]);
        assert!(consumer.try_recv().is_err(), "the ring is empty");
        assert_eq!(producer.reserve(3).unwrap().write_slice(&[8, 9, 10]), 3.min(8 - (rotation + 8) % 8));
        assert_eq!(consumer.try_recv(), Ok(8));
        consumer.advance(consumer.len());
        assert!(consumer.try_recv().is_err(), "the ring is empty");
    }
}

/// A round comes by every ring, also where another consumer takes what it was about to take.
#[test]
fn a_round_passes_no_ring_over() {
    for drained in [false, true] {
        let (mut first, mut consumer) = mpmc::channel(4);
        let mut others = [(); 3].map(|()| first.register().unwrap());
        // Both a clone and a round begin with the next ring.
        let mut thief = consumer.clone();
        for producer in others.iter_mut().chain([&mut first]) {
            producer.send_batch(&[1, 2]).unwrap();
        }
        let mut taken = 0;
        let take = |_| {
            if taken == 0 {
                assert_eq!(thief.try_recv(), Ok(2), "the other message of this ring");
            }
            taken += 1;
        };
        if drained {
            consumer.try_iter().for_each(take);
        } else {
            consumer.consume(take);
        }
        assert_eq!(taken, 7);
    }
}

#[test]
fn a_thousand_producers() {
    let count = if cfg!(miri) { 20 } else { 1000 };
    let (first, mut consumer) = mpsc::channel(2);
    let mut producers: Vec<_> = (0..count).map(|_| first.clone()).collect();
    for round in 0..3_u64 {
        for (number, producer) in producers.iter_mut().enumerate() {
            producer.send((number, round)).unwrap();
        }
        let mut seen = vec![false; count];
        for (number, of_round) in consumer.try_iter() {
            assert!(of_round == round && !std::mem::replace(&mut seen[number], true));
        }
        assert!(seen.iter().all(|&seen| seen));
        // Long enough for all of them to leave the list of those that the consumer looks at.
        for _ in 0..if cfg!(miri) { 10 } else { 3000 } {
            assert!(consumer.try_recv().is_err());
        }
    }
    drop((producers, first));
    assert_eq!(consumer.recv(), Err(RecvError));
}

/// More rings than the first buckets of the roster have room for.
#[test]
fn ten_thousand_producers() {
    let count = if cfg!(miri) { 70 } else { 10_000 };
    let (mut first, mut consumer) = mpsc::channel(1);
    let mut others: Vec<_> = (1..count).map(|_| first.clone()).collect();
    first.send(0).unwrap();
    for (number, other) in (1..).zip(&mut others) {
        other.send(number).unwrap();
    }
    let mut received: Vec<_> = consumer.try_iter().collect();
    received.sort_unstable();
    assert!(received.into_iter().eq(0..count));
}

#[test]
fn nobody_starves() {
    let (mut greedy, mut consumer) = mpsc::channel(1024);
    let mut modest: Vec<_> = (0..3).map(|_| greedy.clone()).collect();
    greedy.send_batch(&[0; 1024]).unwrap();
    for (number, producer) in (1..).zip(&mut modest) {
        producer.send(number).unwrap();
    }
    let first: Vec<_> = (0..3 * 128 + 3).map(|_| consumer.recv().unwrap()).collect();
    assert!(
        (1..=3).all(|number| first.contains(&number)),
        "a producer waits while another one has all turns"
    );
}

#[test]
fn nobody_joins_a_closed_queue() {
    let (producer, consumer) = mpsc::channel::<u8>(4);
    drop(consumer);
    assert_eq!(producer.register().unwrap_err(), RegisterError::Closed);
    assert_eq!(producer.clone().send(1).unwrap_err().into_inner(), 1);
}

#[test]
fn a_snapshot_counts_for_each_producer() {
    let (mut first, mut consumer) = mpsc::Builder::new(8).first(u64::MAX - 1).build().unwrap();
    let mut second = first.clone();
    first.send_batch(&[1, 2, 3]).unwrap();
    assert_eq!(consumer.consume(drop), 3);
    second.send_batch(&[4, 5]).unwrap();
    drop(first);
    consumer.recv().unwrap();
    assert!(consumer.try_recv().is_ok());
    // The first one's ring goes to a third producer, which starts from nothing.
    assert!(consumer.try_recv().is_err());
    let mut third = second.clone();
    third.send(6).unwrap();
    let stats = consumer.snapshot();
    let counts: Vec<_> =
        stats.producers.iter().map(|stats| (stats.id, stats.sent, stats.received, stats.pending)).collect();
    assert_eq!(counts, [(1, 2, 2, 0), (2, 1, 0, 1)]);
    assert_eq!((stats.pending(), stats.closed), (1, false));
    assert!(second.is_empty() && !third.is_empty());
    third.send_batch(&[7, 8]).unwrap();
    assert_eq!(consumer.snapshot().pending(), 3);
    assert!(stats.producers.iter().all(|stats| stats.latency.is_none()), "not asked for");
    assert_eq!(consumer.rings(), 2);
}

/// A producer that left is in the snapshot as long as its messages are; who has its ring next has received none of them.
#[test]
fn a_snapshot_tells_what_was_left_behind() {
    let (mut first, mut consumer) = mpsc::channel(8);
    let mut second = first.clone();
    let counts = |consumer: &mut mpsc::Consumer<u8>| -> Vec<_> {
        let producers = consumer.snapshot().producers;
        producers.iter().map(|stats| (stats.id, stats.sent, stats.received, stats.pending)).collect()
    };
    first.send_batch(&[1, 2, 3]).unwrap();
    second.send(4).unwrap();
    drop(second);
    assert_eq!(counts(&mut consumer), [(0, 3, 0, 3), (1, 1, 0, 1)]);
    assert_eq!(consumer.consume(drop), 4);
    assert_eq!(counts(&mut consumer), [(0, 3, 3, 0)]);
    // The ring goes on with three messages of its last producer.
    first.send_batch(&[5, 6, 7]).unwrap();
    let mut third = first.clone();
    third.send_batch(&[8, 9, 10]).unwrap();
    drop(third);
    let mut fourth = first.clone();
    fourth.send(11).unwrap();
    assert_eq!(counts(&mut consumer)[1..], [(3, 1, 0, 4)]);
    assert_eq!(consumer.consume(drop), 7);
    assert_eq!(counts(&mut consumer)[1..], [(3, 1, 1, 0)]);
}

#[test]
fn latency_is_measured_where_that_is_asked_for() {
    let wait = Duration::from_millis(5);
    let (mut producer, mut consumer) = spsc::Builder::new(1024).statistics(true).build().unwrap();
    for number in 0..300 {
        producer.send(number).unwrap();
    }
    thread::sleep(wait);
    for number in 0..300 {
        assert_eq!(consumer.recv(), Ok(number));
    }
    // Batches are as large as ever.
    let numbers: Vec<_> = (0..1000).collect();
    for _ in 0..10 {
        assert_eq!(producer.try_send_batch(&numbers), 1000);
        assert_eq!(consumer.consume(drop), 1000);
        assert!(producer.try_send(0).is_ok());
        assert_eq!(consumer.try_iter().count(), 1);
    }
    let latency = consumer.snapshot().producers[0].latency.unwrap();
    assert!(latency.samples >= 2, "{latency:?}");
    assert!(latency.min_ns <= latency.mean_ns && latency.mean_ns <= latency.max_ns, "{latency:?}");
    assert!(u128::from(latency.max_ns) >= wait.as_nanos(), "{latency:?}");
    assert!(latency.max_ns < 60_000_000_000, "{latency:?}");
}

#[cfg(all(feature = "numa", target_os = "linux", not(miri)))]
mod numa {
    use annulus::queue::{Builder, InPlace, Kind};
    use annulus::{CapacityError, mpmc, mpsc, spmc, spsc};

    /// Where the page lies in which this value is.
    fn policy_of<T>(value: &T) -> (i32, usize) {
        let (mut mode, mut mask) = (-1_i32, [0_usize; 16]);
        let address = std::ptr::from_ref(value);
        // SAFETY: the mask has as many bits as are said; the last argument is `MPOL_F_ADDR`.
        let code = unsafe {
            libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, mask.as_mut_ptr(), 1024_usize, address, 2)
        };
        assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
        (mode, mask[0])
    }

    fn works<K: Kind>() {
        let (mut producer, mut consumer) = Builder::<K>::new(5).numa_node(0).build().unwrap();
        assert_eq!(producer.try_send_batch(&[1, 2, 3]), 3);
        assert_eq!(consumer.try_iter().sum::<i32>(), 6);
        let missing = Builder::<K>::new(5).numa_node(1023).build::<u64>().unwrap_err();
        assert!(matches!(missing, CapacityError::NumaNode { node: 1023, os_error: Some(_) }));
        assert!(missing.to_string().contains("NUMA node 1023"));
    }

    #[test]
    fn every_kind() {
        works::<spsc::Spsc>();
        works::<mpsc::Mpsc>();
        works::<spmc::Spmc>();
        works::<mpmc::Mpmc>();
    }

    fn bound<K: InPlace>() {
        let (mut producer, mut consumer) = Builder::<K>::new(10_000).numa_node(0).build().unwrap();
        producer.send_batch(&vec![7_u64; 10_000]).unwrap();
        let values = consumer.readable();
        // `MPOL_BIND`, to node 0.
        assert_eq!((policy_of(&values[0]), policy_of(&values[9_999])), ((2, 1), (2, 1)));
    }

    #[test]
    fn the_memory_is_where_it_was_asked_for() {
        bound::<spsc::Spsc>();
        bound::<mpsc::Mpsc>();
    }
}

/// A message that was handed over lies in its slot from the first look on: what is done to it there stays.
#[test]
fn handed_over_once() {
    use std::cell::Cell;
    let (mut producer, mut consumer) = spsc::Builder::new(2).hand_off(true).build().unwrap();
    for number in 0..5 {
        // It has asked for the next one.
        assert_eq!(consumer.recv_timeout(Duration::ZERO).err(), Some(RecvTimeoutError::Timeout));
        producer.try_send(Cell::new(number)).unwrap();
        consumer.peek().unwrap().set(number + 100);
        producer.try_send(Cell::new(number + 50)).unwrap();
        let received: Vec<_> = consumer.try_iter().map(Cell::into_inner).collect();
        assert_eq!(received, [number + 100, number + 50]);
    }
}

/// What does not fit beside the tail, for its size or its alignment, comes by its slot as ever.
#[test]
fn what_is_too_large_to_be_handed_over() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(32))]
    struct Aligned(u8);
    fn goes_through<T: Copy + PartialEq + std::fmt::Debug + Send>(messages: [T; 3]) {
        let (mut producer, mut consumer) = spsc::Builder::new(2).hand_off(true).build().unwrap();
        for message in messages {
            assert_eq!(consumer.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            producer.try_send(message).unwrap();
            assert_eq!(consumer.recv(), Ok(message));
        }
    }
    goes_through([(); 3]);
    goes_through([1_u8, 2, 3]);
    goes_through([1, 2, 3].map(|word| [word; 5]));
    goes_through([1, 2, 3].map(|byte| [byte; 41]));
    goes_through([1, 2, 3].map(|word| [word; 100]));
    goes_through([1, 2, 3].map(Aligned));
}
