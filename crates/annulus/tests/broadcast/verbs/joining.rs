//! Subscribers that a publisher makes: nobody has to keep what makes them.

use annulus::{broadcast, event};

#[test]
fn publisher_makes_subscribers() {
    let (mut publisher, subscribable) = broadcast::lossy(4);
    drop(subscribable);
    publisher.publish(1);
    let mut subscriber = publisher.subscribe();
    let mut oldest = publisher.subscribable().subscribe_from_oldest();
    publisher.publish(2);
    assert_eq!((subscriber.try_recv(), oldest.try_recv(), oldest.try_recv()), (Ok(2), Ok(1), Ok(2)));
    assert_eq!(publisher.subscriber_count(), 2);

    let (mut publisher, _) = broadcast::mp_lossy(4);
    let mut subscriber = publisher.clone().subscribe();
    publisher.publish(3);
    assert_eq!(subscriber.try_recv(), Ok(3));

    let (mut publisher, _) = broadcast::bytes::lossy(64);
    let mut subscriber = publisher.subscribe();
    publisher.publish(b"abc").unwrap();
    let mut record = Vec::new();
    assert_eq!(subscriber.try_recv(&mut record), Ok(3));
    assert_eq!(record, b"abc");
}

/// A lossless ring refuses messages while nobody can receive them, and takes them again after a join.
#[test]
fn lossless_ring_accepts_again_after_a_join() {
    let (mut publisher, subscribable) = broadcast::lossless(2);
    drop(subscribable);
    assert_eq!(publisher.publish(1).unwrap_err().into_inner(), 1);
    assert!(publisher.is_closed());
    let mut subscriber = publisher.subscribe();
    assert!(!publisher.is_closed());
    publisher.publish_batch(&[2, 3]).unwrap();
    assert!(publisher.try_publish(4).is_err(), "it waits for the new one");
    assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(2), Ok(3)));

    let (publisher, _) = broadcast::mp_lossless(2);
    assert!(publisher.publish(1).is_err());
    let mut subscriber = publisher.subscribe();
    publisher.publish(2).unwrap();
    assert_eq!(subscriber.try_recv(), Ok(2));
}

#[test]
fn publisher_of_events_makes_subscribers() {
    let (mut publisher, _) = event::channel(2, String::new);
    assert!(publisher.publish(|text| text.push('a')).is_err());
    let mut subscriber = publisher.subscribe();
    publisher.send("b".to_owned()).unwrap();
    assert_eq!(subscriber.recv().as_deref(), Ok("b"));

    let (mut publisher, _) = event::mp_channel(2, String::new);
    let mut subscriber = publisher.subscribe();
    let mut other = publisher.subscribable().subscribe();
    publisher.send("c".to_owned()).unwrap();
    assert_eq!((subscriber.recv().as_deref(), other.recv().as_deref()), (Ok("c"), Ok("c")));
}

/// A ring that was closed stays so.
#[test]
fn closed_ring_stays_closed_for_joiners() {
    let (mut publisher, _) = broadcast::lossless(2);
    publisher.close();
    let mut subscriber = publisher.subscribe();
    assert!(publisher.publish(1).is_err());
    assert_eq!(subscriber.recv(), Err(annulus::RecvError::CLOSED));
}
