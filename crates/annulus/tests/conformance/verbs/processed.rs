//! What a stage says of itself, to the message: how much is pending, what it has processed, and who follows it.

use annulus::{DependencyBarrier, TryRecvError, channel};

/// The one before has processed messages that are overwritten before the stage comes to them: they are not pending.
#[test]
fn what_was_overwritten_is_not_pending() {
    let (mut publisher, subscribable) = channel::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    publisher.publish_batch(&[0, 1, 2, 3]);
    assert_eq!(before.drain().count(), 4);
    before.done();
    publisher.publish_batch(&[4, 5, 6]);
    let pending = stage.pending();
    assert_eq!((pending, stage.drain().collect::<Vec<_>>()), (1, vec![3]));
}

/// What the one before lost is not pending either.
#[test]
fn what_was_lost_before_is_not_pending() {
    let (mut publisher, subscribable) = channel::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    (0..100).for_each(|number| publisher.publish(number));
    assert_eq!(before.try_recv(), Err(TryRecvError::Lagged { skipped: 96 }));
    assert_eq!(stage.pending(), 0);
    assert_eq!((before.try_recv(), before.try_recv()), (Ok(96), Ok(97)));
    let pending = stage.pending();
    assert_eq!((pending, stage.drain().collect::<Vec<_>>()), (1, vec![96]));
}

#[test]
fn what_was_lost_was_not_processed() {
    let (mut publisher, subscribable) = channel::<u64>(4);
    let mut stage = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&stage]);
    (0..100).for_each(|number| publisher.publish(number));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Lagged { skipped: 96 }));
    assert_ne!(barrier.processed(), Some(96), "never received, lagged 96");
}
