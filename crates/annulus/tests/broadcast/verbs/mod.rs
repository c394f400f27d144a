//! What each verb promises at its edges, and the traps that other rings of this kind fell into.

mod beside;
mod ends;
mod joining;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use annulus::{CapacityError, LossyTryRecvError, RecvError, Shutdown, TryRecvError};

const MESSAGES: u64 = if cfg!(miri) { 200 } else { 200_000 };

#[test]
fn capacity_too_small_is_named() {
    for capacity in [0, 1] {
        let error = annulus::broadcast::lossy_with::<u64>(annulus::Settings::new(capacity)).unwrap_err();
        assert_eq!(error, CapacityError::TooSmall { capacity, minimum: 2 });
        let panic = catch_unwind(|| drop(annulus::broadcast::lossy::<u64>(capacity))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains(&format!("capacity {capacity} is too small")), "{text}");
        assert!(text.contains("at least 2"), "{text}");
    }
}

#[test]
fn capacity_too_large_is_an_error_and_not_an_abort() {
    for capacity in [usize::MAX, usize::MAX / 16, usize::MAX / 64] {
        let error =
            annulus::broadcast::lossy_with::<[u8; 100]>(annulus::Settings::new(capacity)).unwrap_err();
        assert_eq!(error, CapacityError::TooLarge { capacity, slot_bytes: 128 });
        assert!(error.to_string().contains(&capacity.to_string()));
    }
}

#[test]
fn capacity_is_kept_as_it_is() {
    for capacity in [2, 3, 5, 100, 1000, 1023, 1024, 1025] {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(capacity);
        assert_eq!(publisher.capacity(), capacity);
        (0..3 * capacity as u32).for_each(|number| publisher.publish(number));
        let all: Vec<u32> = subscribable.subscribe_from_oldest().try_iter().collect();
        assert_eq!(all, (2 * capacity as u32..3 * capacity as u32).collect::<Vec<_>>());
    }
}

/// Types with invalid bit patterns, with a size of nothing, with an odd size.
#[test]
fn message_of_any_type_comes_back() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&['ß', '\u{10FFFF}']);
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), ['ß', '\u{10FFFF}']);

    let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(());
    assert_eq!((subscriber.try_recv(), subscriber.try_recv()), (Ok(()), Err(TryRecvError::Empty)));
    publisher.publish_batch(&[(); 5]);
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 3 }));

    let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    let mut subscriber = subscribable.subscribe();
    publisher.publish([true, false, true]);
    assert_eq!(subscriber.try_recv(), Ok([true, false, true]));
}

#[test]
fn a_closure_that_panics_publishes_nothing() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(1);
    catch_unwind(AssertUnwindSafe(|| publisher.publish_with(|| panic!("on purpose")))).unwrap_err();
    assert_eq!(publisher.published(), 1);
    publisher.publish_with(|| 2);
    drop(publisher);
    assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1, 2]);
}

/// A publisher that dies in a panic closes its ring.
#[test]
fn publisher_that_panics_closes_the_ring() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let writer = thread::spawn(move || {
        publisher.publish(1);
        panic!("on purpose");
    });
    assert_eq!(subscriber.recv(), Ok(1));
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
    writer.join().unwrap_err();
}

#[test]
fn clone_starts_at_the_same_cursor_with_counters_at_zero() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut first = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2]);
    assert_eq!(first.try_recv(), Ok(0));
    let mut second = first.clone();
    assert_eq!((second.cursor(), second.total_received(), second.total_lagged()), (1, 0, 0));
    assert_eq!(second.try_iter().collect::<Vec<_>>(), first.try_iter().collect::<Vec<_>>());
}

#[test]
fn joiner_of_a_closed_ring_receives_the_rest_then_closed() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    publisher.publish_batch(&[0, 1, 2]);
    drop(publisher);
    assert!(subscribable.is_closed());
    assert_eq!(subscribable.subscribe().recv(), Err(RecvError::CLOSED));
    assert_eq!(subscribable.subscribe_from_oldest().into_iter().collect::<Vec<_>>(), [1, 2]);
}

/// `while let Ok` must not end on a lag.
#[test]
fn receive_loop_ends_on_close_alone() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let reader = thread::spawn(move || {
        let (mut count, mut before) = (0, None);
        while let Ok(number) = subscriber.recv() {
            assert!(before < Some(number), "out of order");
            (before, count) = (Some(number), count + 1);
        }
        (count, subscriber.total_received(), subscriber.total_lagged(), before)
    });
    (0..MESSAGES).for_each(|number| publisher.publish(number));
    drop(publisher);
    let (count, received, lagged, last) = reader.join().unwrap();
    assert_eq!((count, received + lagged), (received, MESSAGES));
    assert_eq!(last, Some(MESSAGES - 1), "the last message stands, so it is received");
}

#[test]
fn shutdown_is_seen_by_every_clone() {
    let shutdown = Shutdown::default();
    let clone = shutdown.clone();
    assert!(!clone.is_shutdown());
    shutdown.trigger();
    shutdown.trigger();
    assert!(clone.is_shutdown() && shutdown.is_shutdown());
}

/// Each end keeps the ring alive for itself, whichever goes first. (Miri sees what leaks or is used too
/// late.)
#[test]
fn ends_may_be_dropped_in_any_order() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    drop(subscribable);
    publisher.publish(1);
    drop(publisher);
    assert_eq!(subscriber.try_recv(), Ok(1));

    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    drop(subscribable.subscribe());
    publisher.publish(1);
    drop(subscribable);
    publisher.publish(2);
    assert_eq!(publisher.published(), 2);
}

#[test]
fn debug_output_says_how_far_each_end_is() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[1, 2]);
    subscriber.try_recv().unwrap();
    assert_eq!(format!("{publisher:?}"), "Publisher { published: 2, capacity: 4 }");
    assert_eq!(format!("{subscribable:?}"), "Subscribable { capacity: 4, closed: false }");
    assert_eq!(format!("{subscriber:?}"), "Subscriber { cursor: 1, received: 1, lagged: 0, .. }");
}
