//! Where there are many rings: each is looked at, none is looked at for ever, and a producer that leaves
//! hands its ring on.

use annulus::{RecvError, RegisterError, mpmc, mpsc};

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
            assert_eq!(consumer.consume(usize::MAX, |got| assert_eq!(got, round)), 1);
        }
        assert_eq!(consumer.try_recv(), Err(annulus::TryRecvError::Empty));
    }
    assert!(consumer.rings() <= 3, "{} rings for two producers", consumer.rings());
    first.send(1).unwrap();
    assert_eq!(consumer.recv(), Ok(1));
}

/// A round comes by every ring, also where another consumer takes what it was about to take.
#[test]
fn round_passes_no_ring_over() {
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
            consumer.consume(usize::MAX, take);
        }
        assert_eq!(taken, 7);
    }
}

#[test]
fn thousand_producers() {
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
    assert_eq!(consumer.recv(), Err(RecvError::CLOSED));
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
fn no_producer_starves() {
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
fn closed_queue_refuses_producers() {
    let (producer, consumer) = mpsc::channel::<u8>(4);
    drop(consumer);
    assert_eq!(producer.register().unwrap_err(), RegisterError::Closed);
    assert_eq!(producer.clone().send(1).unwrap_err().into_inner(), 1);
}
