//! Joins and leaves: places, producers that leave, closes. All mappings are in one process.

use std::thread;
use std::time::Duration;

use annulus::shm::mpsc;
use annulus::shm::{AttachError, PeerState, Shared};
use annulus::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::mpsc::{
    BLOCK, Payload, Received, ending, joined, payload, queue, receive_all, until_taken, waiting,
};

/// A free place is taken by the next producer, which sends behind the messages that are there.
#[test]
fn a_place_goes_to_the_next_with_its_messages() {
    let Shared { handle: mut consumer, peers: places, invitation, .. } = queue(4, 1).build::<u64>().unwrap();
    let mut first = joined::<u64>(&invitation);
    first.send_batch(&[1, 2, 3]).unwrap();
    let refused = mpsc::producer::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::NoPlace { places: 1 }), "{refused}");
    assert!(refused.to_string().contains("all 1 places"), "{refused}");
    drop(first);
    let mut second = joined::<u64>(&invitation);
    assert_eq!(second.len(), 3);
    assert_eq!(second.try_send_batch(&[4, 5]).unwrap_err().into_inner().len(), 1);
    assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!((places.joined(), places.died()), (2, 0));
    // The first free one is taken, and any other stays as it is.
    let Shared { handle: _consumer, peers: places, invitation, .. } = queue(4, 3).build::<u64>().unwrap();
    let mut producers: Vec<_> = (0..3).map(|_| joined::<u64>(&invitation)).collect();
    producers[1].send(7).unwrap();
    drop(producers.remove(1));
    assert_eq!(joined::<u64>(&invitation).len(), 1);
    assert_eq!(places.taken(), 2);
}

/// Without producers the queue is open, or it ends, as its creator has said.
#[test]
fn queue_that_all_producers_leave_is_open_or_ends() {
    let Shared { handle: mut consumer, invitation, .. } = queue(4, 2).build::<u64>().unwrap();
    for number in 0..3 {
        joined::<u64>(&invitation).send(number).unwrap();
        assert_eq!(consumer.try_recv(), Ok(number));
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(consumer.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
        assert!(!consumer.is_closed());
    }

    let Shared { handle: mut consumer, invitation, .. } = ending(4, 2).build::<u64>().unwrap();
    assert_eq!(consumer.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
    let (mut first, mut second) = (joined::<u64>(&invitation), joined::<u64>(&invitation));
    first.send(1).unwrap();
    drop(first);
    second.send(2).unwrap();
    assert!(!consumer.is_closed() && !second.is_closed());
    let reader = thread::spawn(move || {
        let mut both = [consumer.recv_until(BLOCK), consumer.recv_until(BLOCK)].map(Result::unwrap);
        both.sort_unstable();
        assert_eq!(consumer.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        (both, consumer)
    });
    thread::sleep(Duration::from_millis(5));
    drop(second);
    let (both, consumer) = reader.join().unwrap();
    assert_eq!(both, [1, 2]);
    let refused = mpsc::producer::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Closed), "{refused}");
    assert!(consumer.is_closed());
}

/// Any process that closes the queue closes it for all, and wakes them.
#[test]
fn close_is_seen_by_all() {
    for closer in 0..2 {
        let Shared { handle: mut consumer, invitation, .. } = queue(1, 3).build::<u64>().unwrap();
        let invitation = invitation.with_wait_strategy(BLOCK);
        let (mut producer, peer) = mpsc::producer::<u64>(&invitation).unwrap();
        let other = joined::<u64>(&invitation);
        producer.send(1).unwrap();
        let writer = thread::spawn(move || (producer.send(2), producer));
        thread::sleep(Duration::from_millis(10));
        if closer == 0 {
            consumer.close();
        } else {
            other.close();
        }
        let (refused, mut producer) = writer.join().unwrap();
        assert_eq!(refused, Err(SendError(2)));
        assert!(producer.is_closed() && other.is_closed() && consumer.is_closed());
        assert_eq!(producer.try_send(3), Err(TrySendError::Closed(3)));
        assert_eq!((consumer.recv(), consumer.recv()), (Ok(1), Err(RecvError::CLOSED)));
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(peer.state(), PeerState::Closed);
    }
    // The drop of the consumer, too, which drops what is left.
    let Shared { handle: consumer, invitation, .. } = waiting(4, 2).build::<u64>().unwrap();
    let mut producer = joined::<u64>(&invitation);
    producer.send_batch(&[1, 2]).unwrap();
    drop(consumer);
    assert_eq!(producer.send(3), Err(SendError(3)));
    let (mut next, _) = mpsc::consumer::<u64>(&invitation).unwrap();
    assert_eq!(next.recv(), Err(RecvError::CLOSED));
}

#[test]
fn consumer_is_alone() {
    let Shared { handle: consumer, invitation, .. } = queue(8, 2).build::<u64>().unwrap();
    let refused = mpsc::consumer::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Occupied), "{refused}");
    drop(consumer);
    mpsc::consumer::<u64>(&invitation).map(drop).unwrap();
}

/// Producers that come and go on threads, more than there are places: each that is refused tries again.
#[test]
fn more_producers_than_places() {
    const THREADS: u64 = 4;
    const JOINS: u64 = if cfg!(debug_assertions) { 50 } else { 200 };
    let Shared { handle: mut consumer, peers: places, invitation, .. } =
        queue(3, 2).build::<Payload>().unwrap();
    let mut received = Received::default();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let invitation = &invitation;
            scope.spawn(move || {
                for join in 0..JOINS {
                    let mut producer = loop {
                        match mpsc::producer::<Payload>(invitation) {
                            Ok((producer, _)) => break producer,
                            Err(AttachError::NoPlace { places: 2 }) => thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    };
                    for number in 0..5 {
                        producer.send(payload(thread * JOINS + join, number)).unwrap();
                    }
                }
            });
        }
        for _ in 0..THREADS * JOINS * 5 {
            received.note(&consumer.recv().unwrap());
        }
    });
    receive_all(&mut consumer, &mut received);
    assert!((0..THREADS * JOINS).all(|sender| received.of(sender) == 5));
    until_taken(&places, 0);
    assert_eq!((places.joined(), places.died()), (THREADS * JOINS, 0));
}

/// The last two leave at the same moment: the queue ends.
#[test]
fn producers_leave_at_once_and_the_queue_ends() {
    for _ in 0..200 {
        let Shared { handle: mut consumer, invitation, .. } = ending(2, 2).build::<u64>().unwrap();
        let producers = [joined::<u64>(&invitation), joined::<u64>(&invitation)];
        let leaving = producers.map(|producer| thread::spawn(move || drop(producer)));
        assert_eq!(consumer.recv(), Err(RecvError::CLOSED));
        for thread in leaving {
            thread.join().unwrap();
        }
    }
}
