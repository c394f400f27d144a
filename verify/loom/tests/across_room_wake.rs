//! A lossless ring that several processes publish to. A publisher claims only where there is room,
//! subscribers join beside it, and a process may die at any moment. In a model the processes are threads,
//! and the locks are bools.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::broadcast::{Awaited, Lossless, Subscriber};
use annulus::{LossyTryRecvError, TrySendError};
use annulus_loom::{BLOCK, check_up_to};
use loom::thread;

type Ring = annulus::broadcast::FellowRing<Pair, Lossless>;
type Publisher = annulus::broadcast::FellowPublisher<Pair, Lossless>;

/// Two words, which are the same in a whole message.
type Pair = [u64; 2];

/// A ring of two slots, with three places and two seats.
fn ring(is_asymmetric: bool) -> Ring {
    Settings::new(2).wait_strategy(BLOCK).lossless_for_processes(is_asymmetric, 3, 2)
}

/// Waits by trying again.
fn publish(publisher: &mut Publisher, number: u64) {
    while let Err(error) = publisher.try_publish([number; 2]) {
        assert!(error == TrySendError::Full([number; 2]));
        thread::yield_now();
    }
}

/// All messages up to `end`: received whole, or left out.
fn receive_up_to(subscriber: &mut Subscriber<Pair, Awaited>, end: u64) -> Vec<u64> {
    let mut received = Vec::new();
    while subscriber.cursor() < end {
        match subscriber.try_recv_or_lag() {
            Ok([first, second]) => {
                assert_eq!(first, second, "torn");
                received.push(first);
            }
            Err(LossyTryRecvError::Empty) => thread::yield_now(),
            Err(LossyTryRecvError::Lagged { skipped }) => assert_eq!(skipped, 1),
            Err(error) => panic!("{error:?}"),
        }
    }
    received
}

/// Two publishers beside a subscriber that joins: from where it begins, it receives all, once.
fn joiner_beside_two_publishers(from_oldest: bool) {
    check_up_to(2, move || {
        let ring = ring(true);
        let [mut first, second] = [(); 2].map(|()| ring.publisher());
        publish(&mut first, 0);
        let subscribable = ring.subscribable();
        let threads = [(first, 1), (second, 2)]
            .map(|(mut publisher, number)| thread::spawn(move || publish(&mut publisher, number)));
        let mut subscriber = subscribable.awaited(from_oldest).unwrap();
        let begun = subscriber.cursor();
        let received = receive_up_to(&mut subscriber, 3);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!((received.len() as u64, subscriber.total_lagged()), (3 - begun, 0), "{received:?}");
        assert!(received[usize::from(begun == 0)..].iter().all(|&number| number > 0), "{received:?}");
    });
}

#[test]
fn joiner_at_the_next_misses_nothing() {
    joiner_beside_two_publishers(false);
}

#[test]
fn joiner_at_the_oldest_misses_nothing() {
    joiner_beside_two_publishers(true);
}

/// A publisher dies in the middle of a message, which is left out. The other one goes on over its slot.
#[test]
fn claim_of_the_dead_is_left_out() {
    check_up_to(2, || {
        let ring = ring(true);
        let (dies, mut lives) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().awaited(false).unwrap();
        let dead = thread::spawn(move || dies.dies_in_room(1, Some(&[7, 8])));
        let mut received = Vec::new();
        for number in 1..4 {
            while lives.try_publish([number; 2]).is_err() {
                let next = subscriber.cursor() + 1;
                received.extend(receive_up_to(&mut subscriber, next));
            }
        }
        dead.join().unwrap();
        received.extend(receive_up_to(&mut subscriber, lives.published()));
        assert_eq!(received, [1, 2, 3]);
        assert!(subscriber.total_lagged() <= 1);
    });
}

/// A publisher announces what another one claims, which dies, and finds no room then. Subscribers do not wait
/// for it.
#[test]
fn slower_publisher_gives_its_intent_up() {
    check_up_to(2, || {
        let ring = ring(true);
        let (dies, mut slower) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().awaited(false).unwrap();
        publish(&mut slower, 0);
        let dead = thread::spawn(move || dies.dies_in_room(1, None));
        let published = slower.try_publish([1, 1]).is_ok();
        dead.join().unwrap();
        let received = receive_up_to(&mut subscriber, slower.published());
        assert_eq!(received.len(), 1 + usize::from(published));
    });
}

/// Without a subscriber, a publisher waits for one that is in the middle of a write, a lap later, and nothing
/// is written over that one's message.
#[test]
fn publisher_waits_for_a_slower_one() {
    check_up_to(2, || {
        let ring = ring(true);
        let (mut slower, mut faster) = (ring.publisher(), ring.publisher());
        let other = thread::spawn(move || {
            (2..5).for_each(|number| faster.publish([number; 2]).unwrap());
            faster
        });
        slower.publish([1, 1]).unwrap();
        assert_eq!(other.join().unwrap().published(), 4);
        receives_the_last(&ring, 4);
    });
}

/// Three publishers, of which each may be a lap behind another one: what a publisher knows of the two others
/// comes with the head.
#[test]
fn publisher_beside_two_others_writes_over_neither() {
    check_up_to(2, || {
        let ring = ring(true);
        let [mut first, second, third] = [(); 3].map(|()| ring.publisher());
        let threads = [second, third].map(|mut one| thread::spawn(move || publish(&mut one, 2)));
        publish(&mut first, 1);
        for thread in threads {
            thread.join().unwrap();
        }
        receives_the_last(&ring, 3);
    });
}

/// One that joins at the oldest receives what it is promised.
fn receives_the_last(ring: &Ring, end: u64) {
    let mut subscriber = ring.subscribable().awaited(true).unwrap();
    let begun = subscriber.cursor();
    let received = receive_up_to(&mut subscriber, end);
    assert!(begun < end, "it begins at {begun}");
    assert_eq!((received.len() as u64, subscriber.total_lagged()), (end - begun, 0), "{received:?}");
}

/// Two publishers sleep for room: a subscriber that receives wakes both.
#[test]
fn receives_wake_each_publisher() {
    for is_asymmetric in [false, true] {
        check_up_to(2, move || {
            let ring = ring(is_asymmetric);
            let [mut first, mut second] = [(); 2].map(|()| ring.publisher());
            let mut subscriber = ring.subscribable().awaited(false).unwrap();
            (0..2).for_each(|number| publish(&mut first, number));
            let other = thread::spawn(move || first.publish([2, 2]).unwrap());
            let reader = thread::spawn(move || receive_up_to(&mut subscriber, 2));
            second.publish([3, 3]).unwrap();
            other.join().unwrap();
            assert_eq!(reader.join().unwrap(), [0, 1]);
        });
    }
}

/// Two publishers that have no room because of a dead subscriber: either frees its seat, and both go on.
#[test]
fn dead_seat_is_freed_by_either_publisher() {
    check_up_to(2, || {
        let ring = ring(true);
        let [mut first, mut second] = [(); 2].map(|()| ring.publisher());
        let dead = ring.subscribable().awaited(false).unwrap();
        (0..2).for_each(|number| publish(&mut first, number));
        core::mem::forget(dead);
        ring.kill(0);
        let other = thread::spawn(move || publish(&mut first, 2));
        publish(&mut second, 3);
        other.join().unwrap();
        assert_eq!(second.published(), 4);
    });
}
