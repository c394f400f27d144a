//! A group whose members part and come together again.

use annulus::TryRecvError;

/// A lag would take a member past a group that was not asked since: it lags up to the group, and the rest
/// comes with the group's.
#[test]
fn member_does_not_recover_past_the_group() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(1);
    publisher.publish(0);
    assert_eq!(group.try_recv(), Ok(0));
    publisher.publish_batch(&[1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(group.try_recv_member(1), Err(TryRecvError::Empty), "it has come to the group");
    assert_eq!((group.cursor(0), group.cursor(1), group.aligned_count()), (1, 1, 2));
    assert_eq!((group.total_received(1), group.total_lagged(1)), (0, 1));
    assert_eq!(group.try_recv_member(1), Err(TryRecvError::Empty), "its next message comes with the group's");
    assert_eq!(group.try_recv(), Ok(4));
    assert_eq!((group.total_received(0), group.total_lagged(0)), (2, 3));
    assert_eq!((group.total_received(1), group.total_lagged(1)), (1, 4));
    // And again, from where they are.
    group.pause(1);
    assert_eq!(group.try_recv(), Ok(5));
    publisher.publish_batch(&[8, 9, 10, 11, 12, 13, 14]);
    assert_eq!((group.try_recv_member(1), group.total_lagged(1)), (Err(TryRecvError::Empty), 5));
    assert_eq!((group.cursor(0), group.cursor(1), group.aligned_count()), (6, 6, 2));
}

/// After all members paused, the first one that receives at the group's position is the group again; no
/// member is lost.
#[test]
fn group_without_members_goes_on_with_the_first_that_comes_to_it() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    publisher.publish(0);
    group.pause(0);
    assert_eq!(group.try_recv(), Ok(0));
    group.pause(1);
    assert_eq!((group.aligned_count(), group.try_recv()), (0, Err(TryRecvError::Empty)));
    publisher.publish_batch(&[1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((group.try_recv_member(0), group.total_lagged(0)), (Err(TryRecvError::Empty), 1));
    assert_eq!((group.aligned_count(), group.is_aligned(0)), (1, true));
    assert_eq!(group.try_recv_member(1), Err(TryRecvError::Empty));
    assert_eq!(group.aligned_count(), 2);
    assert_eq!(group.try_recv(), Ok(4));
    for member in 0..2 {
        let passed = group.total_received(member) + group.total_lagged(member);
        assert_eq!(passed, group.cursor(member), "member {member}");
    }
}

/// A lag that ends before the group: the member goes on behind it, alone, in the same call.
#[test]
fn member_that_lagged_receives_what_is_left_before_the_group() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(1);
    for number in 0..6 {
        publisher.publish(number);
        assert_eq!(group.try_recv(), Ok(number));
    }
    assert_eq!((group.try_recv_member(1), group.total_lagged(1), group.total_lagged(0)), (Ok(2), 2, 0));
    assert!((3..6).all(|number| group.try_recv_member(1) == Ok(number)));
    assert!(group.is_aligned(1));
}

/// On a lossless ring publishers wait for a member that paused.
#[test]
fn publishers_wait_for_a_paused_member() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let mut group = subscribable.subscribe_group::<3>();
    publisher.publish_batch(&[0, 1]).unwrap();
    group.pause(2);
    let mut buffer = [0; 8];
    assert_eq!(group.try_recv_batch(&mut buffer), 2);
    assert!(publisher.try_publish(2).unwrap_err().is_full());
    assert_eq!(group.len(2), 2);
    assert_eq!(group.try_recv_member(2), Ok(0));
    publisher.try_publish(2).unwrap();
    assert_eq!(group.try_recv(), Ok(2));
    assert_eq!(group.try_recv_member(2), Ok(1));
    assert_eq!(group.try_recv_member(2), Ok(2));
    assert_eq!(group.aligned_count(), 3);
    assert!((0..3).all(|member| group.total_received(member) == 3));
}
