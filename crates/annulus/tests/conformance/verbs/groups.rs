//! Groups: pausing, catching up, lagging alone, and counters of each member.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use annulus::{RecvError, RecvTimeoutError, TryRecvError};

/// A paused member keeps its place, gets its messages alone, and receives with the others again from where it
/// meets them.
#[test]
fn member_pauses_and_catches_up() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut group = subscribable.subscribe_group::<3>();
    publisher.publish_batch(&[0, 1, 2, 3]);
    assert_eq!(group.try_recv(), Ok(0));
    group.pause(1);
    group.pause(1); // once is enough
    assert_eq!((group.aligned_count(), group.is_aligned(1), group.is_aligned(0)), (2, false, true));
    assert_eq!((group.try_recv(), group.try_recv()), (Ok(1), Ok(2)));
    assert_eq!([0, 1, 2].map(|member| group.cursor(member)), [3, 1, 3]);
    assert_eq!([0, 1, 2].map(|member| group.total_received(member)), [3, 1, 3]);
    assert_eq!([0, 1, 2].map(|member| group.len(member)), [1, 3, 1]);
    assert_eq!(group.try_recv_member(1), Ok(1));
    assert!(!group.is_aligned(1));
    assert_eq!(group.try_recv_member(1), Ok(2));
    assert!(group.is_aligned(1), "it has come to where the others are");
    assert_eq!(group.try_recv_member(1), Err(TryRecvError::Empty), "its next message comes with theirs");
    assert_eq!(group.try_recv(), Ok(3));
    assert_eq!([0, 1, 2].map(|member| group.total_received(member)), [4; 3]);
}

/// A member that pauses on a lossy ring loses alone: the others' counters don't know of it.
#[test]
fn paused_member_lags_alone() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(0);
    for number in 0..10 {
        publisher.publish(number);
        assert_eq!(group.try_recv(), Ok(number));
    }
    assert_eq!(group.try_recv_member(0), Ok(6));
    assert_eq!([group.total_lagged(0), group.total_lagged(1)], [6, 0]);
    (7..10).for_each(|number| assert_eq!(group.try_recv_member(0), Ok(number)));
    assert_eq!([group.total_received(0), group.total_received(1)], [4, 10]);
    assert_eq!(group.aligned_count(), 2);
    // And what all lose after that counts for all.
    (10..20).for_each(|number| publisher.publish(number));
    assert_eq!(group.try_recv(), Ok(16));
    assert_eq!([group.total_lagged(0), group.total_lagged(1)], [12, 6]);
}

/// A verb that waits, for a group of two.
type Waits = fn(&mut annulus::broadcast::SubscriberGroup<u64, 2>) -> bool;

/// With every member paused the group has nobody to receive for: it says Empty, or panics rather than waiting
/// for nobody. Asking for the one that paused last brings the group back.
#[test]
fn a_group_of_which_all_pause() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    publisher.publish_batch(&[0, 1]);
    group.pause(0);
    assert_eq!(group.try_recv(), Ok(0));
    group.pause(1);
    assert_eq!(group.aligned_count(), 0);
    assert_eq!(group.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(group.try_recv_batch(&mut [0; 4]), 0);
    assert_eq!((group.try_iter().next(), group.try_iter().size_hint()), (None, (0, Some(0))));
    let waits: [Waits; 9] = [
        |group| group.recv().is_ok(),
        |group| group.recv_until(annulus::WaitStrategy::BusySpin).is_ok(),
        |group| group.recv_timeout(Duration::ZERO).is_ok(),
        |group| group.recv_until(Instant::now()).is_ok(),
        |group| group.recv_batch(&mut [0; 4]).is_ok(),
        |group| group.recv_batch_timeout(&mut [0; 4], Duration::ZERO).is_ok(),
        |group| group.recv_many(&mut Vec::new(), 4).is_ok(),
        |group| group.recv_many_timeout(&mut Vec::new(), 4, Duration::ZERO).is_ok(),
        |group| group.iter().next().is_some(),
    ];
    for wait in waits {
        let panic = catch_unwind(AssertUnwindSafe(|| wait(&mut group))).unwrap_err();
        assert_eq!(
            panic.downcast_ref::<&str>(),
            Some(&"every member of the group is paused: nobody would receive")
        );
    }
    assert_eq!(group.try_recv_member(1), Err(TryRecvError::Empty));
    assert_eq!(group.aligned_count(), 1);
    assert_eq!(group.recv(), Ok(1));
    assert_eq!(group.try_recv_member(0), Ok(0));
    assert_eq!(group.try_recv_member(0), Ok(1));
    assert_eq!(group.aligned_count(), 2);
}

/// A batch, a vector and an iterator of a group receive for the members that are aligned, and for no other.
#[test]
fn group_receives_many_at_once() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let mut group = subscribable.subscribe_group::<3>();
    assert!((0..3).all(|member| group.is_empty(member)));
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let mut places = [9; 3];
    assert_eq!((group.recv_batch_timeout(&mut places, Duration::ZERO), places), (Ok(3), [0, 1, 2]));
    group.pause(1);
    let mut values = vec![9];
    assert_eq!((group.recv_many_until(&mut values, 2, Instant::now()), &*values), (Ok(2), &[9, 3, 4][..]));
    assert_eq!(group.try_iter().take(2).collect::<Vec<_>>(), [5, 6]);
    assert_eq!(group.try_iter().collect::<Vec<_>>(), [7]);
    assert_eq!([0, 1, 2].map(|member| group.len(member)), [0, 5, 0]);
    assert_eq!([0, 1, 2].map(|member| group.is_empty(member)), [true, false, true]);
    assert_eq!([0, 1, 2].map(|member| group.total_received(member)), [8, 3, 8]);
    let late = Err(RecvTimeoutError::Timeout);
    assert_eq!((group.recv_batch_until(&mut places, Instant::now()), places), (late, [0, 1, 2]));
    assert_eq!((group.recv_many_timeout(&mut values, 2, Duration::ZERO), values.len()), (late, 3));
    publisher.publish(8).unwrap();
    drop(publisher);
    assert_eq!((&mut group).into_iter().collect::<Vec<_>>(), [8]);
    assert_eq!((group.recv_many(&mut values, 9), values.len()), (Err(RecvError::CLOSED), 3));
    assert_eq!((group.recv_batch(&mut places), group.recv_batch(&mut [])), (Err(RecvError::CLOSED), Ok(0)));
    (3..9).for_each(|number| assert_eq!(group.try_recv_member(1), Ok(number)));
    assert_eq!((group.aligned_count(), group.total_received(1)), (3, 9));
}

/// Publishers of a lossless ring wait for the slowest member, paused or not, and for nobody once the group is
/// gone.
#[test]
fn publishers_wait_for_the_slowest_member() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let mut group = subscribable.subscribe_group::<3>();
    group.pause(2);
    publisher.publish_batch(&[0, 1]).unwrap();
    assert_eq!((group.try_recv(), group.try_recv()), (Ok(0), Ok(1)));
    assert!(publisher.try_publish(2).is_err(), "member 2 has received nothing");
    assert_eq!(group.try_recv_member(2), Ok(0));
    publisher.try_publish(2).unwrap();
    assert!(publisher.try_publish(3).is_err());
    assert_eq!(group.try_recv_member(2), Ok(1));
    assert_eq!(group.aligned_count(), 3, "its place in the gate is given up with that");
    assert_eq!(group.try_recv(), Ok(2));
    (3..5).for_each(|number| publisher.try_publish(number).unwrap());
    group.pause(0);
    drop(group);
    (0..9).for_each(|number| publisher.try_publish(number).unwrap());
}

/// After the close each member drains what is its own, and is told.
#[test]
fn members_see_the_close_each_at_its_place() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(1);
    publisher.publish_batch(&[0, 1]).unwrap();
    assert_eq!(group.try_recv(), Ok(0));
    group.pause(0);
    drop(publisher);
    assert!(group.is_closed());
    assert_eq!((group.try_recv_member(1), group.is_aligned(1)), (Ok(0), true));
    assert_eq!(group.recv(), Ok(1));
    assert_eq!(group.recv(), Err(RecvError::CLOSED));
    assert_eq!(group.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(group.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert_eq!((group.try_recv_member(0), group.is_aligned(0)), (Ok(1), true), "it paused before message 1");
    assert_eq!(group.recv(), Err(RecvError::CLOSED));
    assert_eq!(group.capacity(), 4);
}

#[test]
fn no_such_member_is_a_panic_that_names_it() {
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    let panic = catch_unwind(AssertUnwindSafe(|| group.pause(2))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert_eq!(text, "no member 2: a group of 2 has members 0 to 1");
    assert!(catch_unwind(AssertUnwindSafe(|| group.try_recv_member(9))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| group.cursor(2))).is_err());
    assert_eq!(group.aligned_count(), 2);
}

/// A group waits as a subscriber does, for all of its members at once.
#[test]
fn group_sleeps_and_is_woken() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let mut group = subscribable.subscribe_group::<100>();
    let reader = thread::spawn(move || {
        let received: Vec<_> = std::iter::from_fn(|| group.recv().ok()).collect();
        (received, [0, 50, 99].map(|member| group.total_received(member)))
    });
    (0..20).for_each(|number| publisher.publish(number).unwrap());
    drop(publisher);
    assert_eq!(reader.join().unwrap(), ((0..20).collect(), [20; 3]));
}
