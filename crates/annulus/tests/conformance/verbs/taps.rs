//! Taps: subscribers of a lossless ring that nobody waits for.

use annulus::{LossyTryRecvError, TryRecvError, TrySendError};

/// A tap that sleeps holds nobody up, is told exactly what it lost, and costs the others nothing.
#[test]
fn tap_loses_and_knows_how_much() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut tap = subscribable.subscribe_lossy();
    let mut subscriber = subscribable.subscribe();
    for number in 0..10 {
        publisher.try_publish(number).unwrap();
        assert_eq!(subscriber.try_recv(), Ok(number));
    }
    assert_eq!(tap.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 6 }));
    assert_eq!(tap.latest(), Some(9));
    assert_eq!((tap.total_received(), tap.total_lagged()), (1, 9));
    // Where publishers stand still for the subscriber, the tap loses nothing.
    (10..14).for_each(|number| publisher.try_publish(number).unwrap());
    assert_eq!(publisher.try_publish(14), Err(TrySendError::Full(14)));
    assert_eq!(tap.try_iter().collect::<Vec<_>>(), [10, 11, 12, 13]);
    drop(publisher);
    assert_eq!(tap.try_recv(), Err(TryRecvError::Closed));
}

/// A headroom keeps messages in the ring that every subscriber has received: a tap that is not too late finds
/// them.
#[test]
fn headroom_keeps_messages_for_late_taps() {
    let (publisher, subscribable) =
        annulus::broadcast::mp_lossless_with::<u64>(annulus::Settings::new(8).headroom(6)).unwrap();
    let mut tap = subscribable.subscribe_lossy();
    let mut subscriber = subscribable.subscribe();
    for number in 0..8 {
        publisher.try_publish(number).unwrap();
        assert_eq!(subscriber.try_recv(), Ok(number));
    }
    assert_eq!(tap.try_iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert_eq!(tap.total_lagged(), 0);
}

/// A clone of a tap is a tap; a tap counts as a receiver.
#[test]
fn tap_keeps_the_ring_open() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let tap = subscribable.subscribe_lossy();
    drop(subscribable);
    let mut clone = tap.clone();
    drop(tap);
    (0..10).for_each(|number| publisher.publish(number).unwrap());
    assert_eq!(clone.latest(), Some(9));
    assert!(!publisher.is_closed());
    drop(clone);
    assert!(publisher.is_closed());
}
