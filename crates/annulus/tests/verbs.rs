//! What each verb promises at its edges, and the traps that other rings of this kind fell into.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use annulus::{CapacityError, LossyTryRecvError, RecvError, Shutdown};
use support::without_standing_still;

const MESSAGES: u64 = if cfg!(miri) { 200 } else { 200_000 };

#[test]
fn ends_are_what_they_say() {
    use static_assertions::{assert_impl_all, assert_not_impl_any};
    assert_impl_all!(annulus::broadcast::Publisher<u64>: Send);
    assert_not_impl_any!(annulus::broadcast::Publisher<u64>: Clone);
    assert_impl_all!(annulus::broadcast::Subscribable<u64>: Send, Sync, Clone);
    assert_impl_all!(annulus::broadcast::Subscriber<u64>: Send, Clone, IntoIterator);
    assert_impl_all!(Shutdown: Send, Sync, Clone);
    assert_impl_all!(CapacityError: std::error::Error);
    assert_impl_all!(LossyTryRecvError: std::error::Error);
    assert_impl_all!(annulus::RecvTimeoutError: std::error::Error);
    assert_impl_all!(RecvError: std::error::Error);
}

/// As the channels of `std`: a panic leaves a ring whole. What is changed in place is as safe as its type.
#[test]
fn a_panic_leaves_every_handle_whole() {
    use annulus::broadcast::{
        Lossless, MpPublisher, Publisher, Staged, Subscribable, Subscriber, SubscriberGroup,
    };
    use annulus::event::{EventPublisher, EventSubscribable, EventSubscriber, MpEventPublisher};
    use annulus::{mpmc, mpsc, pool, queue::shared, spmc, spsc};
    use static_assertions::{assert_impl_all, assert_not_impl_any};
    use std::cell::Cell;
    use std::panic::{RefUnwindSafe, UnwindSafe};

    macro_rules! whole {
        ($($type:ty),* $(,)?) => { $(assert_impl_all!($type: UnwindSafe, RefUnwindSafe);)* };
    }
    whole!(Publisher<u64>, Publisher<u64, Lossless>, MpPublisher<u64>, MpPublisher<u64, Lossless>);
    whole!(Subscribable<u64>, Subscriber<u64>, Subscriber<u64, Lossless>, Subscriber<u64, Staged<Lossless>>);
    whole!(SubscriberGroup<u64, 2>, annulus::broadcast::DependencyBarrier);
    whole!(EventPublisher<String>, EventPublisher<String, fn(&mut String)>, MpEventPublisher<String>);
    whole!(EventSubscribable<String>, EventSubscriber<String>);
    // Moved in and out: whatever they carry.
    whole!(
        spsc::Producer<Cell<u8>>,
        spsc::Consumer<Cell<u8>>,
        mpsc::Producer<Cell<u8>>,
        mpsc::Consumer<Cell<u8>>
    );
    whole!(
        spmc::Producer<Cell<u8>>,
        spmc::Consumer<Cell<u8>>,
        mpmc::Producer<Cell<u8>>,
        mpmc::Consumer<Cell<u8>>
    );
    whole!(shared::Sender<Cell<u8>>, shared::Receiver<Cell<u8>>);
    whole!(pool::BufferPool, pool::Buffer, pool::Handle, Shutdown);
    assert_not_impl_any!(EventPublisher<Cell<u8>>: UnwindSafe, RefUnwindSafe);
}

/// `?` takes each error to the wider ones.
#[test]
fn narrow_errors_become_wide_ones() {
    use annulus::{
        LossyRecvError, PublishError, PublishTimeoutError, RecvTimeoutError, RegisterError, SendError,
        SendTimeoutError, TryPublishError, TryRecvError, TrySendError,
    };
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Closed);
    assert_eq!(LossyRecvError::from(RecvError), LossyRecvError::Closed);
    assert_eq!(LossyTryRecvError::from(RecvError), LossyTryRecvError::Closed);
    assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Closed);
    for (narrow, wide) in
        [(TryRecvError::Empty, LossyTryRecvError::Empty), (TryRecvError::Closed, LossyTryRecvError::Closed)]
    {
        assert_eq!(LossyTryRecvError::from(narrow), wide);
    }
    let lagged = LossyRecvError::Lagged { skipped: 3 };
    assert_eq!(LossyTryRecvError::from(lagged), LossyTryRecvError::Lagged { skipped: 3 });
    assert_eq!(LossyTryRecvError::from(LossyRecvError::Closed), LossyTryRecvError::Closed);
    assert!(TryPublishError::from(PublishError(7)) == TryPublishError::Closed(7));
    assert!(PublishTimeoutError::from(PublishError(7)) == PublishTimeoutError::Closed(7));
    assert!(TrySendError::from(SendError(7)) == TrySendError::Closed(7));
    assert!(SendTimeoutError::from(SendError(7)) == SendTimeoutError::Closed(7));
    let capacity = CapacityError::TooSmall { capacity: 0, minimum: 1 };
    assert_eq!(RegisterError::from(capacity), RegisterError::Capacity(capacity));
}

/// Whoever receives counts, however it came to do so; what can make others does not.
#[test]
fn subscribers_are_counted() {
    let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    let another = subscribable.clone();
    let count = || {
        assert_eq!(publisher.subscriber_count(), subscribable.subscriber_count());
        publisher.subscriber_count()
    };
    assert_eq!(count(), 0);
    let first = subscribable.subscribe();
    let tap = another.subscribe_lossy();
    assert_eq!(count(), 2);
    let (clone, other_tap) = (first.clone(), tap.clone());
    let oldest = subscribable.subscribe_from_oldest();
    assert_eq!(count(), 5);
    let stage = subscribable.subscribe_tracked();
    let behind = first.after(&[&stage]);
    assert_eq!(count(), 6, "it became a stage");
    let mut group = subscribable.subscribe_group::<4>();
    assert_eq!(count(), 7);
    group.pause(2);
    assert_eq!(count(), 8);
    // Nobody that can be followed: it is gone with the error.
    let (_, elsewhere) = annulus::broadcast::lossless::<u64>(8);
    assert!(clone.try_after(&[&elsewhere.subscribe_tracked()]).is_err());
    assert_eq!(count(), 7);
    drop((tap, other_tap, oldest, stage, behind, group, another));
    assert_eq!(count(), 0);

    let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(8);
    let subscribers = [subscribable.subscribe(), subscribable.subscribe_from_oldest()];
    assert_eq!([publisher.subscriber_count(), subscribable.subscriber_count()], [2; 2]);
    drop(subscribers);
    assert_eq!(publisher.subscriber_count(), 0);

    let (publisher, subscribable) = annulus::event::channel(8, String::new);
    let subscriber = subscribable.clone().subscribe();
    let clone = subscriber.clone();
    assert_eq!([publisher.subscriber_count(), subscribable.subscriber_count()], [2; 2]);
    drop((subscriber, clone));
    assert_eq!(publisher.subscriber_count(), 0);
    let (publisher, subscribable) = annulus::event::mp_channel(8, String::new);
    let stage = subscribable.subscribe_tracked();
    assert_eq!(publisher.subscriber_count(), 1);
    drop(stage);
    assert_eq!(publisher.subscriber_count(), 0);
}

#[test]
fn a_capacity_too_small_is_named() {
    for capacity in [0, 1] {
        let error = annulus::broadcast::Builder::new(capacity).lossy::<u64>().unwrap_err();
        assert_eq!(error, CapacityError::TooSmall { capacity, minimum: 2 });
        let panic = catch_unwind(|| drop(annulus::broadcast::lossy::<u64>(capacity))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains(&format!("capacity {capacity} is too small")), "{text}");
        assert!(text.contains("at least 2"), "{text}");
    }
}

#[test]
fn a_capacity_too_large_is_an_error_and_not_an_abort() {
    for capacity in [usize::MAX, usize::MAX / 16, usize::MAX / 64] {
        let error = annulus::broadcast::Builder::new(capacity).lossy::<[u8; 100]>().unwrap_err();
        assert_eq!(error, CapacityError::TooLarge { capacity, slot_bytes: 128 });
        assert!(error.to_string().contains(&capacity.to_string()));
    }
}

#[test]
fn a_capacity_is_kept_as_it_is() {
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
fn any_message_comes_back() {
    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::NoUninit)]
    #[repr(u8)]
    enum Side {
        Buy = 1,
        Sell = 2,
    }
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[Side::Buy, Side::Sell]);
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [Side::Buy, Side::Sell]);

    let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(());
    assert_eq!((subscriber.try_recv(), subscriber.try_recv()), (Ok(()), Err(LossyTryRecvError::Empty)));
    publisher.publish_batch(&[(); 5]);
    assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Lagged { skipped: 3 }));

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
fn a_publisher_that_panics_closes_the_ring() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let writer = thread::spawn(move || {
        publisher.publish(1);
        panic!("on purpose");
    });
    assert_eq!(subscriber.recv(), Ok(1));
    assert_eq!(subscriber.recv(), Err(RecvError));
    writer.join().unwrap_err();
}

#[test]
fn a_clone_starts_at_the_same_cursor_with_counters_at_zero() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut first = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2]);
    assert_eq!(first.try_recv(), Ok(0));
    let mut second = first.clone();
    assert_eq!((second.cursor(), second.total_received(), second.total_lagged()), (1, 0, 0));
    assert_eq!(second.try_iter().collect::<Vec<_>>(), first.try_iter().collect::<Vec<_>>());
}

#[test]
fn subscribing_to_a_closed_ring_finds_what_stands_and_then_the_close() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    publisher.publish_batch(&[0, 1, 2]);
    drop(publisher);
    assert!(subscribable.is_closed());
    assert_eq!(subscribable.subscribe().recv(), Err(RecvError));
    assert_eq!(subscribable.subscribe_from_oldest().into_iter().collect::<Vec<_>>(), [1, 2]);
}

/// `while let Ok` must not end on a lag.
#[test]
fn a_receive_loop_ends_on_close_alone() {
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

/// Runs `read` again and again beside a publisher that never pauses, for a while.
fn beside_a_fast_publisher(mut read: impl FnMut(&mut annulus::broadcast::Subscriber<u64>)) {
    let time = Duration::from_millis(if cfg!(miri) { 0 } else { 200 });
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let mut subscriber = subscribable.subscribe();
    let stop = Shutdown::new();
    let writer = thread::spawn({
        let stop = stop.clone();
        move || {
            let mut next = 0;
            while !stop.is_shutdown() {
                publisher.publish(next);
                next += 1;
            }
            next
        }
    });
    let begun = Instant::now();
    loop {
        read(&mut subscriber);
        if begun.elapsed() >= time {
            break;
        }
    }
    stop.trigger();
    let published = writer.join().unwrap();
    subscriber.try_iter().for_each(drop);
    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), published);
}

/// What could be received, also after a lag, and of events.
#[test]
fn a_length_is_what_can_be_received() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.is_empty());
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!((subscriber.len(), subscriber.is_empty()), (4, false));
    assert_eq!(subscriber.try_iter().count(), 4);
    assert!(subscriber.is_empty());

    let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.is_empty());
    publisher.publish(|event| *event = 7).unwrap();
    assert_eq!((subscriber.len(), subscriber.is_empty()), (1, false));
    assert_eq!(subscriber.process(|event| *event), Ok(7));
    assert!(subscriber.is_empty());
}

/// A receive that waits, and says what was lost instead of going on: at once, and where it was lapped while it waited.
#[test]
fn a_lag_is_said() {
    use annulus::LossyRecvError;
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 2 }));
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    let reader = thread::spawn(move || {
        let (mut next, mut lost) = (6, 0);
        loop {
            match subscriber.recv_or_lag() {
                Ok(number) => {
                    assert_eq!(number, next);
                    next += 1;
                }
                Err(LossyRecvError::Lagged { skipped }) => {
                    next += skipped;
                    lost += skipped;
                }
                Err(LossyRecvError::Closed) => return (next, lost, subscriber.total_lagged()),
            }
        }
    });
    for first in (6..6 + MESSAGES).step_by(10) {
        publisher.publish_batch(&(first..first + 10).collect::<Vec<_>>());
        if first % 1_000 == 6 {
            thread::yield_now();
        }
    }
    drop(publisher);
    let (next, lost, counted) = reader.join().unwrap();
    assert_eq!((next, lost + 2), (6 + MESSAGES, counted));
    assert!(lost > 0, "each batch is longer than the ring");
}

/// A drain ends at the head it began with. (A ring that only asks "is there more?" never ends here.)
#[test]
fn a_drain_ends_although_the_publisher_is_faster() {
    beside_a_fast_publisher(|subscriber| {
        let before = subscriber.cursor();
        let drained: Vec<u64> = subscriber.try_iter().collect();
        assert!(drained.is_sorted_by(|a, b| a < b));
        assert!(drained.first().is_none_or(|&first| first >= before));
    });
}

/// The same without a race: for each message drained, one more is published.
#[test]
fn a_drain_ends_at_the_head_it_began_with() {
    for (published, drained) in [(3, 3), (20, 6)] {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
        let mut subscriber = subscribable.subscribe();
        (0..published).for_each(|number| publisher.publish(number));
        let mut count = 0;
        for _ in subscriber.try_iter() {
            publisher.publish(99);
            publisher.publish(99);
            count += 1;
            assert!(count <= published);
        }
        // Of twenty, sixteen stood. Each one drained let two others overwrite the next.
        assert_eq!(count, drained);
        assert_eq!(publisher.published(), published + 2 * count);
    }
}

#[test]
fn a_batch_ends_although_the_publisher_is_faster() {
    let mut buffer = vec![0; 1000];
    beside_a_fast_publisher(|subscriber| {
        let count = subscriber.try_recv_batch(&mut buffer);
        assert!(buffer[..count].is_sorted_by(|a, b| a < b));
        // Not equal: it may have been lapped after the last one.
        assert!(buffer[..count].last().is_none_or(|&last| last < subscriber.cursor()));
    });
}

/// A batch says how many messages it brought, and leaves the places behind them as they were.
#[test]
fn a_batch_says_how_many_came() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    let mut subscriber = subscribable.subscribe();
    assert_eq!(subscriber.capacity(), 16);
    publisher.publish_batch(&[1, 2, 3, 4, 5, 6]);
    let mut places = [0; 3];
    assert_eq!(subscriber.recv_batch(&mut []), Ok(0));
    assert_eq!((subscriber.recv_batch(&mut places), places), (Ok(3), [1, 2, 3]));
    assert_eq!((subscriber.recv_batch(&mut places[..1]), places), (Ok(1), [4, 2, 3]));
    assert_eq!((subscriber.recv_batch(&mut places), places), (Ok(2), [5, 6, 3]));
    publisher.publish_batch(&[7, 8, 9, 10, 11, 12]);
    let mut values = vec![0];
    assert_eq!((subscriber.recv_many(&mut values, 0), values.len()), (Ok(0), 1));
    assert_eq!(subscriber.recv_many(&mut values, 1), Ok(1));
    assert_eq!(subscriber.recv_many(&mut values, 3), Ok(3));
    assert_eq!(values, [0, 7, 8, 9, 10]);
    assert_eq!(subscriber.recv_many(&mut values, 9), Ok(2));
    assert_eq!(values, [0, 7, 8, 9, 10, 11, 12]);
    assert!(!subscriber.is_closed());
    drop(publisher);
    assert!(subscriber.is_closed());
    assert_eq!((subscriber.recv_batch(&mut places), places), (Err(RecvError), [5, 6, 3]));
    assert_eq!((subscriber.recv_many(&mut values, 9), values.len()), (Err(RecvError), 7));
    assert_eq!((subscriber.recv_batch(&mut []), subscriber.recv_many(&mut values, 0)), (Ok(0), Ok(0)));
}

/// `latest` never goes back, never delivers twice, and has an answer whenever something is new.
#[test]
fn latest_moves_forward_beside_a_fast_publisher() {
    let mut before = None;
    beside_a_fast_publisher(|subscriber| {
        let pending = subscriber.len();
        match subscriber.latest() {
            Some(number) => {
                assert!(before < Some(number), "{number} after {before:?}");
                assert_eq!(subscriber.cursor(), number + 1);
                before = Some(number);
            }
            None => assert_eq!(pending, 0, "something was new, and latest said None"),
        }
    });
}

/// A publisher that laps its reader can't keep it in `recv`: each of a thousand calls returns, although the publisher never pauses.
#[test]
fn a_lapped_reader_makes_progress() {
    without_standing_still(|| {
        beside_a_fast_publisher(|subscriber| {
            for _ in 0..1000 {
                let cursor = subscriber.cursor();
                assert!(subscriber.recv().unwrap() >= cursor);
            }
        });
    });
}

#[test]
fn a_shutdown_is_seen_by_every_clone() {
    let shutdown = Shutdown::default();
    let clone = shutdown.clone();
    assert!(!clone.is_shutdown());
    shutdown.trigger();
    shutdown.trigger();
    assert!(clone.is_shutdown() && shutdown.is_shutdown());
}

/// Each end keeps the ring alive for itself, whichever goes first. (Miri sees what leaks or is used too late.)
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
