//! What a bus says, and settings that nothing else uses.

use annulus::bus::{Bus, Lossless, Lossy, RemoveError, TopicError};
use annulus::{LossyTryRecvError, WaitStrategy};

#[test]
fn errors_name_the_topic_and_the_reason() {
    let bus = Bus::<u64>::new(8);
    let publisher = bus.topic("prices").mp_lossless().publisher().unwrap();
    let error = bus.topic("prices").lossy().publisher().unwrap_err();
    assert_eq!(
        error.to_string(),
        "topic \"prices\" is lossless, with many publishers, and was requested to be lossy, with one publisher"
    );

    let subscriber = bus.topic("prices").mp_lossless().subscribe().unwrap();
    let in_use = bus.remove("prices").unwrap_err();
    assert_eq!(in_use.to_string(), "topic \"prices\" is open and in use: publishers 1, receiving handles 1");
    publisher.close();
    let closed = bus.topic("prices").mp_lossless().publisher().unwrap_err();
    assert_eq!(closed.to_string(), "topic \"prices\" is closed: remove it to make a new one");
    drop((publisher, subscriber));
    bus.remove("prices").unwrap();
    let unknown = bus.remove("prices").unwrap_err();
    assert_eq!(unknown, RemoveError::Unknown { topic: "prices".into() });
    assert_eq!(unknown.to_string(), "there is no topic \"prices\"");

    let error = bus.topic("small").capacity(1).publisher().unwrap_err();
    assert!(matches!(error, TopicError::Ring { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "topic \"small\" can't be made: capacity 1 is too small: this ring needs at least 2 slots"
    );
}

#[test]
fn end_of_a_pattern_has_words() {
    let bus = Bus::<u64>::new(2);
    let mut all = bus.subscribe_matching("**").unwrap();
    assert_eq!(all.try_recv().unwrap_err().to_string(), "no new message");
    let mut publisher = bus.publisher("a");
    (0..3).for_each(|x| publisher.publish(x));
    let lagged = all.try_recv_or_lag().unwrap_err();
    assert_eq!(lagged, LossyTryRecvError::Lagged { skipped: 1 });
    drop((publisher, bus));
    assert_eq!(all.try_recv(), Ok(("a", 1)));
    assert_eq!(all.try_recv(), Ok(("a", 2)));
    let end = all.try_recv().unwrap_err();
    assert_eq!(end.to_string(), annulus::RecvError::CLOSED.to_string());
}

#[test]
fn a_topic_waits_as_it_was_made() {
    let bus = Bus::<u64>::new(8);
    let publisher = bus.topic("a").lossless().wait_strategy(WaitStrategy::PauseSpin).publisher().unwrap();
    let mut subscriber = bus.topic("a").lossless().subscribe().unwrap();
    let mut publisher = publisher;
    let sender = std::thread::spawn(move || publisher.publish(5));
    assert_eq!(subscriber.recv(), Ok(5));
    sender.join().unwrap().unwrap();
    drop(bus.topic("b").of_kind::<Lossy>().publisher().unwrap());
    drop(bus.topic("c").of_kind::<Lossless>().publisher().unwrap());
    assert!(format!("{bus:?}").starts_with("Bus { topics: ["), "{bus:?}");
}

#[test]
fn a_pattern_waits_until_a_deadline() {
    let bus = Bus::<u64>::new(8);
    let mut all = bus.subscribe_matching("**").unwrap();
    let soon = || std::time::Instant::now() + std::time::Duration::from_millis(5);
    assert_eq!(all.recv_until(soon()), Err(annulus::RecvTimeoutError::Timeout));
    bus.publisher("a").publish(1);
    assert_eq!(all.recv_until(soon()), Ok(("a", 1)));
    bus.publisher("a").publish(2);
    assert_eq!(all.recv_timeout(std::time::Duration::from_secs(120)), Ok(("a", 2)));
    drop(bus);
    assert_eq!(all.recv_until(soon()), Err(annulus::RecvTimeoutError::Closed));
}
