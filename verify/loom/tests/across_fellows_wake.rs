//! A lossy ring that several processes publish to, one of which dies in the middle of a publish. In a model
//! the processes are threads, and the lock of a place is a bool, which the end of a process sets to false.
//!
//! A lost wake-up leaves a thread asleep, which loom reports as a deadlock: it knows no naps.
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::broadcast::{Foreign, Subscriber};
use annulus::{LossyTryRecvError, RecvError, TryRecvError};
use annulus_loom::{BLOCK, check, check_up_to};
use loom::thread;

/// Two words, which are the same in a whole message.
type Pair = [u64; 2];

/// All messages up to `end`: received whole, or counted.
fn receive_up_to(subscriber: &mut Subscriber<Pair, Foreign>, end: u64) -> Vec<u64> {
    let mut received = Vec::new();
    while subscriber.cursor() < end {
        match subscriber.try_recv_or_lag() {
            Ok([first, second]) => {
                assert_eq!(first, second, "torn");
                received.push(first);
            }
            Err(LossyTryRecvError::Empty) => thread::yield_now(),
            Err(LossyTryRecvError::Lagged { .. }) => {}
            Err(LossyTryRecvError::Corrupt(bad)) => panic!("any number is one: {bad}"),
            Err(LossyTryRecvError::Closed) => panic!("nobody has closed it"),
        }
    }
    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), subscriber.cursor());
    received
}

/// A publisher dies with a message half written. Another one needs its slot a lap later, while a subscriber
/// stands at that message: neither waits, and what the dead one has written is received by nobody.
#[test]
fn a_slot_of_the_dead_is_taken() {
    check(|| {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (dies, mut lives) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().subscribe();
        let dead = thread::spawn(move || dies.dies_with_a_half(&[7, 8]));
        lives.publish([1, 1]);
        lives.publish([2, 2]);
        let received = receive_up_to(&mut subscriber, 2);
        assert!(received.iter().all(|number| [1, 2].contains(number)), "{received:?}");
        dead.join().unwrap();
    });
}

/// Nobody takes a slot from a publisher that lives: what is received is whole, and comes once.
#[test]
fn slot_of_the_living_is_left_alone() {
    check_up_to(2, || {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (mut first, mut second) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().subscribe();
        let other = thread::spawn(move || first.publish([1, 1]));
        for number in 2..5 {
            second.publish([number, number]);
        }
        other.join().unwrap();
        let end = second.published();
        let mut received = receive_up_to(&mut subscriber, end);
        let count = received.len();
        received.dedup();
        assert!(received.len() == count && end >= 4, "{received:?} up to {end}");
    });
}

/// The same with batches, of which each takes the slots of the other one.
#[test]
fn batches_beside_each_other() {
    check(|| {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (mut first, mut second) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().subscribe();
        let other = thread::spawn(move || first.publish_batch(&[[1, 1], [2, 2]]));
        second.publish_batch(&[[3, 3], [4, 4]]);
        other.join().unwrap();
        let received = receive_up_to(&mut subscriber, second.published());
        let in_order = |pair: [u64; 2]| {
            let [first, second] = pair.map(|number| received.iter().position(|one| *one == number));
            first.is_none() || second.is_none() || first < second
        };
        let mut once = received.clone();
        once.sort_unstable();
        once.dedup();
        assert!(once.len() == received.len() && in_order([1, 2]) && in_order([3, 4]), "{received:?}");
    });
}

/// A publisher dies with a batch that it has claimed, beside one that needs its slots. What it had claimed is
/// lost, and its slots are taken.
#[test]
fn batch_of_the_dead_is_lost() {
    check(|| {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (dies, mut lives) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().subscribe();
        let dead = thread::spawn(move || dies.dies_with_a_claim(2));
        lives.publish_batch(&[[1, 1], [2, 2]]);
        dead.join().unwrap();
        let end = lives.published();
        let received = receive_up_to(&mut subscriber, end);
        assert!(end >= 4 && received.iter().all(|number| [1, 2].contains(number)), "{received:?}");
    });
}

/// A subscriber that looks for a message while its publisher goes on to the next one does not take it for
/// lost.
#[test]
fn present_message_is_not_taken_for_lost() {
    check(|| {
        let ring = Settings::new(4).lossy_for_processes::<Pair>(true, 1);
        let mut publisher = ring.publisher();
        let mut subscriber = ring.subscribable().subscribe();
        let other = thread::spawn(move || (1..4).for_each(|number| publisher.publish([number, number])));
        assert_eq!(receive_up_to(&mut subscriber, 3), [1, 2, 3]);
        other.join().unwrap();
    });
}

/// The next owner of a place begins while others look at the message that the last one had claimed: nobody
/// waits for it.
#[test]
fn next_owner_gives_the_lost_message_up() {
    check_up_to(2, || {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (dies, mut lives) = (ring.publisher(), ring.publisher());
        let mut subscriber = ring.subscribable().subscribe();
        dies.dies_with_a_claim(1);
        let other = thread::spawn(move || {
            lives.publish([1, 1]);
            lives.publish([2, 2]);
        });
        let mut heir = ring.publisher();
        heir.publish([3, 3]);
        other.join().unwrap();
        let mut received = receive_up_to(&mut subscriber, heir.published());
        received.sort_unstable();
        received.dedup();
        assert!(received.iter().all(|number| (1..4).contains(number)), "{received:?}");
    });
}

/// Somebody closes the ring beside a publish: the message is received by all, or by nobody.
#[test]
fn close_beside_a_publish() {
    check(|| {
        let ring = Settings::new(2).lossy_for_processes::<Pair>(true, 2);
        let (mut first, second) = (ring.publisher(), ring.publisher());
        let subscribable = ring.subscribable();
        let [mut here, mut there] = [(); 2].map(|()| subscribable.subscribe());
        let closer = thread::spawn(move || second.close());
        first.publish([1, 1]);
        let one: Vec<_> = std::iter::from_fn(|| here.try_recv().ok()).collect();
        closer.join().unwrap();
        drop(first);
        let all: Vec<_> = std::iter::from_fn(|| there.try_recv().ok()).collect();
        assert_eq!(there.try_recv(), Err(TryRecvError::Closed));
        assert!(one.len() <= all.len() && there.cursor() == all.len() as u64, "{one:?} {all:?}");
    });
}

/// A message of another process wakes a sleeper.
#[test]
fn message_of_another_process_wakes_a_sleeper() {
    for is_asymmetric in [false, true] {
        check(move || {
            let ring = Settings::new(2).wait_strategy(BLOCK).lossy_for_processes::<Pair>(is_asymmetric, 2);
            let mut publisher = ring.publisher();
            let mut subscriber = ring.subscribable().subscribe();
            let other = thread::spawn(move || {
                publisher.publish([1, 1]);
                publisher
            });
            assert_eq!(subscriber.recv(), Ok([1, 1]));
            drop(other.join().unwrap());
        });
    }
}

/// A message and a close of another process wake a sleeper.
#[test]
fn message_and_close_wake_a_sleeper() {
    for is_asymmetric in [false, true] {
        check(move || {
            let ring = Settings::new(2).wait_strategy(BLOCK).lossy_for_processes::<Pair>(is_asymmetric, 2);
            let mut publisher = ring.publisher();
            let mut subscriber = ring.subscribable().subscribe();
            let other = thread::spawn(move || {
                publisher.publish([1, 1]);
                publisher.close();
            });
            assert_eq!(subscriber.recv(), Ok([1, 1]));
            assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
            other.join().unwrap();
        });
    }
}
