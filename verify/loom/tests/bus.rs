//! Buses: look-ups beside threads that make topics and remove them, and publishers that go to and fro.
//!
//! Loom watches the cell of each version of the map while somebody looks at it. So it reports a version that
//! is freed too early, and one whose end does not come after the last look.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::bus::{Bus, Lossy, RemoveError, TopicError, TopicInfo, TypedBus};
use annulus::{Select, TryRecvError};
use annulus_loom::{check, check_up_to};
use loom::thread;

type Shared = Arc<Bus<u64>>;

fn bus() -> Shared {
    Arc::new(Bus::with(Settings::new(2)))
}

/// The names of all topics.
fn names(bus: &Bus<u64>) -> Vec<String> {
    bus.topics().into_iter().map(|topic: TopicInfo| topic.name).collect()
}

/// Two threads make topics of different names: neither is lost.
#[test]
fn two_names_at_once() {
    check(|| {
        let bus = bus();
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || drop(bus.subscribe("a"))
        });
        drop(bus.subscribe("b"));
        other.join().unwrap();
        assert_eq!(names(&bus), ["a", "b"]);
    });
}

/// Two threads make a topic of one name: both get the same.
#[test]
fn one_name_at_once() {
    check(|| {
        let bus = bus();
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || bus.subscribe("a")
        });
        let mut here = bus.subscribe("a");
        let mut there = other.join().unwrap();
        bus.publisher("a").publish(7);
        assert_eq!((here.try_recv(), there.try_recv()), (Ok(7), Ok(7)));
    });
}

/// A look-up of one name, while others are made and removed: it finds its topic, in a map that lives.
#[test]
fn a_look_up_beside_changes() {
    check_up_to(2, || {
        let bus = bus();
        let kept = bus.subscribable("kept");
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || {
                drop(bus.subscribe("other"));
                bus.remove("other").unwrap();
            }
        });
        assert!(bus.contains("kept"));
        let subscriber = bus.subscribe("kept");
        assert_eq!(kept.subscriber_count(), 1);
        other.join().unwrap();
        drop(subscriber);
        assert_eq!(names(&bus), ["kept"]);
    });
}

/// Two look-ups while the map changes: the last of them frees the old one, and nobody before.
#[test]
fn two_look_ups_beside_a_change() {
    check_up_to(2, || {
        let bus = bus();
        let kept = bus.subscribable("kept");
        let others = [(); 2].map(|()| {
            let bus = Arc::clone(&bus);
            thread::spawn(move || assert!(bus.contains("kept")))
        });
        drop(bus.subscribe("other"));
        for other in others {
            other.join().unwrap();
        }
        drop(kept);
    });
}

/// A topic is removed while somebody subscribes to it: the subscriber is of a topic that lives.
#[test]
fn a_removal_beside_a_subscription() {
    check(|| {
        let bus = bus();
        drop(bus.subscribe("a"));
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || bus.remove("a")
        });
        let mut subscriber = bus.subscribe("a");
        let removed = other.join().unwrap();
        let in_use = RemoveError::InUse { topic: "a".into(), publishers: 0, receivers: 1 };
        assert!(removed == Ok(()) || removed == Err(in_use), "{removed:?}");
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty), "it is not closed");
        bus.publisher("a").publish(7);
        assert_eq!(subscriber.try_recv(), Ok(7));
    });
}

/// A topic is removed while somebody takes its publisher, publishes, and gives it back.
#[test]
fn a_removal_beside_a_publisher() {
    check_up_to(2, || {
        let bus = bus();
        drop(bus.publisher("a"));
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || bus.remove("a").is_ok()
        });
        let mut publisher = bus.publisher("a");
        publisher.publish(7);
        let removed_before = other.join().unwrap();
        assert!(bus.remove("a").is_err(), "it is held");
        assert_eq!(publisher.publisher().published(), 1);
        drop(publisher);
        assert!(bus.remove("a").is_ok());
        assert!(names(&bus).is_empty(), "{removed_before}");
    });
}

/// Two threads take one publisher: one of them gets it, or both after each other.
#[test]
fn publisher_is_taken_by_two() {
    check(|| {
        let bus = bus();
        let mut subscriber = bus.subscribe("a");
        let publish = |bus: &Bus<u64>| match bus.try_publisher("a") {
            Ok(mut publisher) => {
                let number = publisher.publisher().published();
                publisher.publish(number);
                1
            }
            Err(error) => {
                assert_eq!(error, TopicError::Taken { topic: "a".into() });
                0
            }
        };
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || publish(&bus)
        });
        let published = publish(&bus) + other.join().unwrap();
        let received: Vec<_> = subscriber.try_iter().collect();
        assert_eq!(received, (0..published).collect::<Vec<_>>());
        assert!(published > 0);
    });
}

/// A topic is made and published to by two threads: a subscriber to all that match gets the first message.
#[test]
fn a_new_topic_joins_with_its_first_message() {
    check_up_to(2, || {
        let bus = bus();
        let mut matching = bus.subscribe_matching("*").unwrap();
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || drop(bus.subscribe("a"))
        });
        bus.publisher("a").publish(7);
        let seen_early = matching.try_recv().is_ok();
        other.join().unwrap();
        assert!(seen_early || matching.try_recv() == Ok(("a", 7)));
        assert_eq!(matching.try_recv(), Err(TryRecvError::Empty));
    });
}

/// A topic is made while somebody begins to receive from all that match.
#[test]
fn pattern_beside_a_new_topic() {
    check_up_to(2, || {
        let bus = bus();
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || bus.publisher("a")
        });
        let mut matching = bus.subscribe_matching("*").unwrap();
        let _ = matching.try_recv();
        other.join().unwrap().publish(7);
        assert_eq!(matching.try_recv(), Ok(("a", 7)));
        assert_eq!(matching.try_recv(), Err(TryRecvError::Empty));
    });
}

/// The bus ends while somebody looks: a topic that was made before is received first.
#[test]
fn end_of_a_bus_comes_last() {
    check_up_to(2, || {
        let bus = bus();
        let mut matching = bus.subscribe_matching("*").unwrap();
        let other = thread::spawn(move || {
            bus.publisher("a").publish(7);
            drop(bus);
        });
        let mut received = Vec::new();
        loop {
            match matching.try_recv() {
                Ok((_, number)) => received.push(number),
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Closed) => break,
            }
        }
        assert_eq!(received, [7]);
        other.join().unwrap();
    });
}

/// A topic comes to its end during a look: a subscriber is ready only if it has something to receive, and the
/// end of a topic is nothing to receive.
#[test]
fn an_end_beside_a_look() {
    check_up_to(2, || {
        let bus = bus();
        let mut matching = bus.subscribe_matching("*").unwrap();
        let publisher = bus.publisher("a");
        let other = thread::spawn(move || publisher.close());
        let mut select = Select::new();
        select.recv(&mut matching);
        assert_eq!(select.try_ready(), None, "nothing was published, and the bus is open");
        drop(select);
        other.join().unwrap();
    });
}

/// The thread that has the publisher closes the topic, and gives the publisher back, while another thread
/// asks for it. That thread gets none: a message that is published to a closed topic is dropped.
#[test]
fn a_closed_topic_has_no_publisher() {
    check(|| {
        let bus = bus();
        let publisher = bus.publisher("a");
        let other = thread::spawn(move || {
            publisher.close();
            drop(publisher);
        });
        let error = bus.try_publisher("a").map(drop).unwrap_err();
        assert!(matches!(&error, TopicError::Taken { .. } | TopicError::Closed { .. }), "{error:?}");
        other.join().unwrap();
        assert_eq!(bus.try_publisher("a").map(drop), Err(TopicError::Closed { topic: "a".into() }));
    });
}

/// A pattern for another type comes while somebody counts the receivers of a topic: it is none of them.
#[test]
fn pattern_of_another_type_is_no_receiver() {
    check_up_to(2, || {
        let bus = Arc::new(TypedBus::<Lossy>::with(Settings::new(2)));
        drop(bus.subscribable::<u64>("a"));
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || drop(bus.subscribe_matching::<u32>("*").unwrap())
        });
        assert_eq!(bus.topics()[0].subscribers, 0);
        assert_eq!(bus.remove("a"), Ok(()));
        other.join().unwrap();
    });
}

/// A topic is closed and removed while the thread that has made it takes its publisher: the topic that this
/// makes in its place joins as well.
#[test]
fn topic_in_the_place_of_another_joins() {
    check_up_to(2, || {
        let bus = bus();
        let mut matching = bus.subscribe_matching("*").unwrap();
        let other = thread::spawn({
            let bus = Arc::clone(&bus);
            move || {
                if let Ok(publisher) = bus.try_publisher("a") {
                    publisher.close();
                    drop(publisher);
                    bus.remove("a").unwrap();
                }
            }
        });
        if let Ok(mut publisher) = bus.try_publisher("a") {
            publisher.publish(7);
            assert_eq!(matching.try_recv(), Ok(("a", 7)));
        }
        other.join().unwrap();
    });
}
