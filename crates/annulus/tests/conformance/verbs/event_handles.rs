//! What the handles of a ring of events say of it: how much it holds, how far it is, and whether anybody is
//! on the other side.

use annulus::event::{self, channel, mp_channel};
#[cfg(feature = "std")]
use annulus::{SendTimeoutError, Settings};
use annulus::{TryRecvError, TrySendError};

/// A subscriber of a ring of three events, of which the first two, 7 and 8, are published meanwhile.
fn says_what_there_is(subscribable: event::Subscribable<u64>, publish: impl FnOnce()) {
    let mut subscriber = subscribable.subscribe();
    assert_eq!((subscribable.capacity(), subscriber.capacity()), (3, 3));
    assert_eq!((subscriber.len(), subscriber.is_empty(), subscriber.cursor()), (0, true, 0));
    assert_eq!((subscribable.is_closed(), subscriber.is_closed()), (false, false));
    assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
    let clone = subscribable.clone();
    drop(subscribable);
    publish();
    // The publishers are gone.
    assert_eq!((clone.is_closed(), subscriber.is_closed()), (true, true));
    assert_eq!((subscriber.len(), subscriber.is_empty()), (2, false));
    assert_eq!(subscriber.clone().try_iter().collect::<Vec<_>>(), [7, 8]);
    assert_eq!((subscriber.try_recv(), subscriber.len()), (Ok(7), 1));
    assert_eq!((subscriber.cursor(), subscriber.total_received()), (1, 1));
    assert_eq!(subscriber.iter().collect::<Vec<_>>(), [8]);
    assert_eq!((subscriber.try_recv(), subscriber.is_empty()), (Err(TryRecvError::Closed), true));
    assert_eq!(clone.subscribe_from_oldest().into_iter().last(), Some(8));
}

#[test]
fn event_publisher_counts_and_closes() {
    let (mut publisher, subscribable) = channel(3, || 0);
    assert_eq!((publisher.capacity(), publisher.published(), publisher.is_closed()), (3, 0, false));
    says_what_there_is(subscribable, move || {
        publisher.publish(|event| *event = 7).unwrap();
        assert_eq!((publisher.published(), publisher.is_closed()), (1, false));
        publisher.send(8).unwrap();
        assert_eq!(publisher.published(), 2);
    });
}

#[test]
fn one_of_many_event_publishers_counts_and_closes() {
    let (mut publisher, subscribable) = mp_channel(3, || 0);
    let mut other = publisher.clone();
    assert_eq!((publisher.capacity(), publisher.published(), publisher.is_closed()), (3, 0, false));
    says_what_there_is(subscribable, move || {
        publisher.publish(|event| *event = 7).unwrap();
        assert_eq!((publisher.published(), other.published()), (1, 1));
        drop(publisher);
        other.send(8).unwrap();
        assert_eq!((other.published(), other.is_closed()), (2, false));
    });
}

/// Where nobody can come any more, an event is for nobody, and every publisher says so.
#[test]
fn event_ring_without_readers_is_closed() {
    let (mut publisher, subscribable) = channel(2, || 0);
    let subscriber = subscribable.subscribe();
    drop(subscribable);
    assert!(!publisher.is_closed());
    drop(subscriber);
    assert!(publisher.is_closed());
    assert!(matches!(publisher.try_publish(|_| ()), Err(TrySendError::Closed(()))));
    assert!(publisher.publish(|_| ()).is_err() && publisher.send(1).is_err());

    let (mut publisher, subscribable) = mp_channel(2, || 0);
    drop(subscribable);
    assert!(publisher.is_closed());
    assert!(publisher.try_publish(|_| ()).is_err() && publisher.publish(|_| ()).is_err());
    assert_eq!(publisher.send(5).unwrap_err().into_inner(), 5);
}

/// A closure that takes longer than the timeout leaves no time to sleep for room.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[test]
fn timeout_of_an_event_publisher_is_for_its_closure_too() {
    let timeout = std::time::Duration::from_millis(10);
    let settings = Settings::new(2).statistics(true);
    let (mut publisher, subscribable) = event::mp_with(settings, || 0).unwrap();
    let _subscriber = subscribable.subscribe();
    (0..2).for_each(|number| publisher.send(number).unwrap());
    let late = publisher.publish_timeout(timeout, |_| std::thread::sleep(2 * timeout));
    assert_eq!(late, Err(SendTimeoutError::Timeout(())));
    assert_eq!(publisher.stats().counted.unwrap().sleeps, 0);
}
