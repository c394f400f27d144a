//! What ends are: their errors, their counts, and what a panic leaves.

use annulus::{CapacityError, LossyTryRecvError, RecvError, Shutdown};
use std::time::Duration;

#[test]
fn handles_implement_the_promised_traits() {
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

/// `?` takes each error to the wider ones.
#[test]
fn narrow_errors_become_wide_ones() {
    use annulus::{
        LossyRecvError, RecvTimeoutError, RegisterError, SendError, SendTimeoutError, TryRecvError,
        TrySendError,
    };
    assert_eq!(<TryRecvError>::from(RecvError::CLOSED), TryRecvError::Closed);
    assert_eq!(<LossyRecvError>::from(RecvError::CLOSED), LossyRecvError::Closed);
    assert_eq!(<LossyTryRecvError>::from(RecvError::CLOSED), LossyTryRecvError::Closed);
    assert_eq!(RecvTimeoutError::from(RecvError::CLOSED), RecvTimeoutError::Closed);
    for (narrow, wide) in
        [(TryRecvError::Empty, LossyTryRecvError::Empty), (TryRecvError::Closed, LossyTryRecvError::Closed)]
    {
        assert_eq!(<LossyTryRecvError>::from(narrow), wide);
    }
    let lagged: LossyRecvError = LossyRecvError::Lagged { skipped: 3 };
    assert_eq!(LossyTryRecvError::from(lagged), LossyTryRecvError::Lagged { skipped: 3 });
    assert_eq!(<LossyTryRecvError>::from(LossyRecvError::Closed), LossyTryRecvError::Closed);
    assert!(TrySendError::from(SendError(7)) == TrySendError::Closed(7));
    assert!(SendTimeoutError::from(SendError(7)) == SendTimeoutError::Closed(7));
    assert!(TrySendError::from(SendError(7)) == TrySendError::Closed(7));
    assert!(SendTimeoutError::from(SendError(7)) == SendTimeoutError::Closed(7));
    let capacity = CapacityError::TooSmall { capacity: 0, minimum: 1 };
    assert_eq!(RegisterError::from(capacity.clone()), RegisterError::Capacity(capacity));
}

/// Each handle that receives counts, however it was made; a handle that only makes others does not.
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

/// Where a slot is free, too, and by every verb that gives a message back.
#[test]
fn publishers_are_refused_after_a_close() {
    let (mut one, _one) = annulus::broadcast::lossless(8);
    // From here on it knows of free slots.
    one.publish(0).unwrap();
    one.close();
    assert!(one.is_closed());
    assert_eq!(one.try_publish(1).unwrap_err().into_inner(), 1);
    assert_eq!(one.publish_timeout(2, Duration::from_millis(1)).unwrap_err().into_inner(), 2);
    assert_eq!(one.publish(3).unwrap_err().into_inner(), 3);

    let (mut many, subscribable) = annulus::broadcast::mp_lossy(8);
    many.publish(0);
    assert!(!many.is_closed());
    subscribable.closer().close();
    assert!(many.is_closed());
    // It is dropped, and not counted.
    many.publish(4);
    many.publish_batch(&[5, 6]);
    assert_eq!((many.published(), subscribable.is_closed()), (1, true));
}

#[test]
fn ends_of_a_queue_have_closers() {
    macro_rules! closes {
        ($($kind:ident)*) => { $(
            for from_consumer in [true, false] {
                let (mut producer, mut consumer) = annulus::$kind::channel(4);
                producer.send(1).unwrap();
                let closer = if from_consumer { consumer.closer() } else { producer.closer() };
                assert!(!closer.is_closed());
                closer.close();
                assert!(closer.is_closed() && closer.clone().is_closed());
                assert_eq!(producer.send(2).unwrap_err().into_inner(), 2);
                assert_eq!((consumer.recv(), consumer.recv()), (Ok(1), Err(RecvError::CLOSED)));
            }
        )* };
    }
    closes!(spsc mpsc spmc mpmc);
}
