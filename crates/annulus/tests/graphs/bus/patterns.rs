//! Topics that match a pattern, received through one handle.

use std::thread;
use std::time::Duration;

use annulus::bus::{Bus, MatchingSubscriber, PatternError, RemoveError, TypedBus};
use annulus::{LossyRecvError, LossyTryRecvError, RecvTimeoutError, TryRecvError, Waitable};

use crate::support::STUCK;

const ROUNDS: u64 = if cfg!(miri) { 10 } else { 2_000 };

/// What is there, in order, with the names.
fn drain(matching: &mut MatchingSubscriber<u64>) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    while let Ok((topic, number)) = matching.try_recv() {
        all.push((topic.to_owned(), number));
    }
    all
}

#[test]
fn topics_before_and_after_are_received() {
    let bus = Bus::<u64>::new(8);
    let mut before = bus.publisher("q.before");
    before.publish(1);
    let mut matching = bus.subscribe_matching("q.*").unwrap();
    assert_eq!((matching.pattern(), matching.topics().collect::<Vec<_>>()), ("q.*", vec!["q.before"]));
    before.publish(2);
    let mut after = bus.topic("q.after").lossless().publisher().unwrap();
    after.publish(3).unwrap();
    bus.publisher("other").publish(4);
    bus.topic("q.many").mp_lossy().publisher().unwrap().publish(5);
    let of = |topic: &str, number| (topic.to_owned(), number);
    assert_eq!(drain(&mut matching), [of("q.before", 2), of("q.after", 3), of("q.many", 5)]);
    assert_eq!(matching.topics().count(), 3);
    assert!(format!("{matching:?}").contains("q.after"));
    for pattern in ["a*", "**.b"] {
        assert!(bus.subscribe_matching(pattern).unwrap_err().to_string().contains(pattern));
    }
    let error = PatternError::NotLast { pattern: "**.b".into() };
    assert_eq!(bus.subscribe_matching("**.b").unwrap_err(), error);
}

#[test]
fn pattern_holds_its_topics_until_they_close() {
    let bus = Bus::<u64>::new(8);
    let mut matching = bus.subscribe_matching("**").unwrap();
    let mut publisher = bus.publisher("a");
    publisher.publish(1);
    assert!(matches!(bus.remove("a"), Err(RemoveError::InUse { publishers: 1, receivers: 1, .. })));
    publisher.close();
    assert_eq!(bus.remove("a"), Ok(()));
    bus.publisher("a").publish(2);
    assert_eq!(drain(&mut matching), [("a".to_owned(), 1), ("a".to_owned(), 2)]);
    assert_eq!(matching.topics().count(), 1, "the old one is left");
    drop(matching);
    assert_eq!(bus.remove("a"), Ok(()));
    drop(bus.publisher("a"));
    assert_eq!(bus.remove("a"), Ok(()), "nobody joins any more");
}

#[test]
fn lag_is_reported_once_and_its_topic_is_in_the_numbers() {
    let bus = Bus::<u64>::new(2);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publisher = bus.publisher("a");
    publisher.publish_batch(&[1, 2, 3, 4, 5]);
    bus.publisher("b").publish(1);
    assert_eq!(matching.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 3 }));
    let lost = |matching: &MatchingSubscriber<u64>| {
        let numbers = matching.stats().map(|(topic, stats)| (topic.to_owned(), stats.own.unwrap().lagged));
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(lost(&matching), [("a".to_owned(), 3), ("b".to_owned(), 0)]);
    assert_eq!(matching.try_recv_or_lag(), Ok(("b", 1)), "it goes on with any topic");
    assert_eq!(matching.recv(), Ok(("a", 4)));
    publisher.publish_batch(&[6, 7, 8]);
    publisher.close();
    assert_eq!(matching.recv(), Ok(("a", 7)), "it goes on after a lag");
    assert_eq!(matching.recv(), Ok(("a", 8)));
    assert_eq!(matching.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((matching.topics().count(), matching.total_lagged()), (1, 5), "of topics that are left, too");
}

/// A loop over a plain verb gets all that is there, whatever was lost before it.
#[test]
fn plain_verbs_pass_a_lag_and_count_it() {
    let bus = Bus::<u64>::new(2);
    let mut matching = bus.subscribe_matching("*").unwrap();
    for topic in ["a", "b"] {
        bus.publisher(topic).publish_batch(&[1, 2, 3]);
    }
    let mut received = Vec::new();
    while let Ok((topic, number)) = matching.try_recv() {
        received.push((topic.to_owned(), number));
    }
    received.sort();
    let expected = [("a", 2), ("a", 3), ("b", 2), ("b", 3)].map(|(topic, number)| (topic.to_owned(), number));
    assert_eq!(received, expected);
    assert_eq!(matching.total_lagged(), 2);
    bus.publisher("a").publish_batch(&[4, 5, 6]);
    assert_eq!(matching.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 1 }));
    assert_eq!(matching.recv_or_lag(), Ok(("a", 5)));
    assert_eq!(matching.recv_or_lag_timeout(STUCK), Ok(("a", 6)));
    assert_eq!(matching.recv_or_lag_until(Duration::ZERO), Err(LossyTryRecvError::Empty));
    bus.publisher("b").publish_batch(&[4, 5, 6, 7]);
    assert_eq!(matching.recv_or_lag_until(STUCK), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    #[cfg(feature = "async")]
    {
        use crate::support::tasks::block_on;

        assert_eq!(block_on(matching.recv_or_lag_async()), Ok(("b".into(), 6)));
        bus.publisher("b").publish_batch(&[8, 9]);
        assert_eq!(block_on(matching.recv_or_lag_async()), Err(LossyRecvError::Lagged { skipped: 1 }));
    }
    drop(bus);
    while matching.recv().is_ok() {}
    assert_eq!(matching.recv_or_lag(), Err(LossyRecvError::Closed));
    assert_eq!(matching.try_recv_or_lag(), Err(LossyTryRecvError::Closed));
    assert_eq!(matching.recv_or_lag_timeout(STUCK), Err(LossyTryRecvError::Closed));
}

#[test]
fn matching_subscriber_ends_with_the_bus_and_its_publishers() {
    let bus = Bus::<u64>::new(8);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publisher = bus.publisher("a");
    bus.publisher("b").publish(1);
    drop(bus);
    assert_eq!(matching.try_recv(), Ok(("b", 1)));
    assert_eq!(matching.try_recv(), Err(TryRecvError::Empty), "somebody publishes");
    assert!(!matching.is_closed());
    publisher.publish(2);
    drop(publisher);
    assert!(matching.is_closed());
    assert_eq!(matching.recv(), Ok(("a", 2)));
    assert!(matching.recv().is_err());
    assert_eq!(matching.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(matching.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Closed));
}

#[test]
fn no_topic_waits_for_the_messages_of_others() {
    let bus = Bus::<u64>::new(1024);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publishers = ["a", "b", "c", "d"].map(|name| bus.publisher(name));
    (0..500).for_each(|number| publishers[1].publish(number));
    (0..500).for_each(|number| publishers[2].publish(number));
    for number in 0..100 {
        publishers[3].publish(number);
        let came = (0..4).position(|_| matching.try_recv() == Ok(("d", number)));
        assert!(came.is_some(), "within as many receives as there are topics");
    }
}

#[test]
fn pattern_of_a_typed_bus_receives_its_type_only() {
    let bus = TypedBus::new(8);
    bus.publisher::<u32>("a").publish(1);
    let mut matching = bus.subscribe_matching::<u64>("*").unwrap();
    bus.publisher::<u64>("b").publish(2);
    bus.publisher::<u32>("c").publish(3);
    assert_eq!(matching.try_recv(), Ok(("b", 2)));
    assert_eq!(matching.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(matching.topics().collect::<Vec<_>>(), ["b"]);
    assert_eq!(bus.remove("c"), Ok(()), "nobody holds it");
}

#[test]
fn matching_subscriber_sleeps_until_a_message_comes() {
    let bus = Bus::<u64>::new(8);
    let mut matching = bus.subscribe_matching("**").unwrap();
    let short = Duration::from_millis(if cfg!(miri) { 1 } else { 20 });
    assert_eq!(matching.recv_timeout(short), Err(RecvTimeoutError::Timeout));
    let (bus, first) = (&bus, bus.publisher("first"));
    thread::scope(|scope| {
        let mut publisher = first;
        let reader = scope.spawn(move || {
            let mut received = Vec::new();
            for _ in 0..3 {
                let (topic, number) = matching.recv().unwrap();
                received.push((topic.to_owned(), number));
            }
            received
        });
        thread::sleep(short);
        publisher.publish(1);
        thread::sleep(short);
        bus.publisher("second").publish(2);
        thread::sleep(short);
        publisher.publish(3);
        let mut received = reader.join().unwrap();
        // In the order of each topic; a reader that was late may have taken from one of them first.
        let of_first: Vec<_> = received.iter().filter(|(topic, _)| topic == "first").collect();
        assert!(of_first.is_sorted_by_key(|(_, number)| number), "{received:?}");
        received.sort_by_key(|&(_, number)| number);
        let of = |topic: &str, number| (topic.to_owned(), number);
        assert_eq!(received, [of("first", 1), of("second", 2), of("first", 3)]);
    });
}

/// Threads make topics while another receives from all of them: nothing is lost.
#[test]
fn new_topics_join_with_their_first_message() {
    let bus = Bus::<u64>::new(8);
    let mut matching = bus.subscribe_matching("t.**").unwrap();
    let threads = 3;
    let reader = thread::spawn(move || {
        let mut sum = 0;
        while let Ok((_, number)) = matching.recv() {
            sum += number;
        }
        assert_eq!(matching.total_lagged(), 0);
        sum
    });
    thread::scope(|scope| {
        for thread in 0..threads {
            let bus = &bus;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = format!("t.{thread}.{round}");
                    let mut publisher = bus.topic(&name).lossless().publisher().unwrap();
                    (1..=3).for_each(|number| publisher.publish(number).unwrap());
                    publisher.close();
                    bus.remove(&name).unwrap();
                }
            });
        }
    });
    drop(bus);
    assert_eq!(reader.join().unwrap(), threads * ROUNDS * 6);
}

#[test]
fn stats_has_the_numbers_of_each_topic() {
    let bus = Bus::<u64>::new(4);
    let mut all = bus.subscribe_matching("**").unwrap();
    let mut prices = bus.publisher("prices");
    for number in 0..6 {
        prices.publish(number);
    }
    bus.publisher("names").publish(7);
    assert_eq!(all.stats().count(), 0, "they have not joined yet");
    assert!(all.try_recv_or_lag().is_err(), "it has lost two");
    let mut numbers: Vec<_> = all
        .stats()
        .map(|(topic, stats)| {
            assert_eq!(stats.name.as_deref(), Some(topic));
            let own = stats.own.unwrap();
            (topic.to_owned(), stats.published, own.received, own.lagged)
        })
        .collect();
    numbers.sort();
    assert_eq!(numbers, [("names".to_owned(), 1, 0, 0), ("prices".to_owned(), 6, 0, 2)]);
}
