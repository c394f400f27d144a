//! Topics from the first look-up to the removal.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use annulus::Settings;
use annulus::bus::{
    Bus, Lossless, Lossy, Many, MatchingSubscriber, RemoveError, TopicError, TopicKind, TopicPublisher,
    TopicRing, TypedBus,
};
use annulus::{CapacityError, Transmit, TryRecvError, TrySendError, WaitStrategy, broadcast};

/// What a panic says.
fn panic_of(action: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(action)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn taken_publisher_is_named() {
    let bus = Bus::<u64>::new(8);
    let publisher = bus.publisher("prices");
    assert_eq!(publisher.topic(), "prices");
    assert_eq!(bus.try_publisher("prices").unwrap_err(), TopicError::Taken { topic: "prices".into() });
    let text = panic_of(|| drop(bus.publisher("prices")));
    assert!(text.contains("publisher of a bus: topic \"prices\" has a publisher already"), "{text}");
    drop(publisher);
    drop(bus.publisher("prices"));
}

#[test]
fn subscribers_continue_with_the_next_publisher() {
    let bus = Bus::<u64>::new(8);
    let mut subscriber = bus.subscribe("prices");
    let mut received = Vec::new();
    for number in 0..100 {
        bus.publisher("prices").publish(number);
        received.extend(subscriber.try_iter());
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
    }
    assert_eq!(received, (0..100).collect::<Vec<_>>());
    assert_eq!(bus.publisher("prices").publisher().published(), 100);
}

#[test]
fn panic_gives_the_publisher_back() {
    let bus = Bus::<u64>::new(8);
    let mut subscriber = bus.subscribe("prices");
    let text = panic_of(|| {
        let mut publisher = bus.publisher("prices");
        publisher.publish(1);
        std::panic::panic_any("on purpose".to_owned());
    });
    assert_eq!(text, "on purpose");
    bus.publisher("prices").publish(2);
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn closed_topic_is_removed_and_made_anew() {
    let bus = Bus::<u64>::new(8);
    let mut old = bus.subscribe("prices");
    let mut publisher = bus.publisher("prices");
    publisher.publish(1);
    publisher.close();
    let closed = TopicError::Closed { topic: "prices".into() };
    assert_eq!(bus.try_publisher("prices").unwrap_err(), closed, "although its publisher is out");
    assert_eq!(bus.subscribe("prices").try_recv(), Err(TryRecvError::Closed));
    assert!(bus.topics()[0].closed);
    assert_eq!(bus.remove("prices"), Ok(()));
    assert_eq!(bus.remove("prices"), Err(RemoveError::Unknown { topic: "prices".into() }));

    let (mut new, mut next) = (bus.subscribe("prices"), bus.publisher("prices"));
    next.publish(2);
    drop(publisher);
    next.publish(3);
    assert_eq!(new.try_iter().collect::<Vec<_>>(), [2, 3]);
    assert_eq!((old.try_recv(), old.try_recv()), (Ok(1), Err(TryRecvError::Closed)));
}

#[test]
fn topic_in_use_is_not_removed() {
    let bus = Bus::<u64>::new(8);
    let in_use =
        |publishers, receivers| Err(RemoveError::InUse { topic: "prices".into(), publishers, receivers });
    let publisher = bus.publisher("prices");
    assert_eq!(bus.remove("prices"), in_use(1, 0));
    let subscriber = bus.subscribe("prices");
    let subscribable = bus.subscribable("prices");
    assert_eq!(bus.remove("prices"), in_use(1, 2));
    drop(publisher);
    assert_eq!(bus.remove("prices"), in_use(0, 2));
    drop(subscriber);
    assert_eq!(bus.remove("prices"), in_use(0, 1));
    drop(subscribable);
    assert_eq!(bus.remove("prices"), Ok(()));

    let many = Bus::<u64, Many<Lossy>>::with(Settings::new(8));
    let publishers = (many.publisher("prices"), many.publisher("prices"));
    assert_eq!(many.remove("prices"), in_use(2, 0));
    drop(publishers);
    assert_eq!(many.remove("prices"), Ok(()));
}

#[test]
fn end_of_the_bus_closes_topics_without_publishers() {
    let bus = Bus::<u64>::new(8);
    let (mut idle, mut busy) = (bus.subscribe("idle"), bus.subscribe("busy"));
    bus.publisher("idle").publish(1);
    let mut publisher = bus.publisher("busy");
    let other = bus.clone();
    drop(bus);
    assert_eq!(idle.try_recv(), Ok(1));
    assert_eq!(idle.try_recv(), Err(TryRecvError::Empty));
    drop(other);
    assert_eq!(idle.try_recv(), Err(TryRecvError::Closed));
    publisher.publish(2);
    assert_eq!((busy.try_recv(), busy.try_recv()), (Ok(2), Err(TryRecvError::Empty)));
    drop(publisher);
    assert_eq!(busy.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn topic_has_the_kind_that_it_was_made_with() {
    let bus = Bus::<u64>::new(4);
    let mut lossless = bus.topic("a").lossless().publisher().unwrap();
    let mut slow = bus.topic("a").lossless().subscribe().unwrap();
    (0..4).for_each(|number| lossless.publish(number).unwrap());
    assert!(lossless.try_publish(4).is_err());
    assert_eq!(slow.try_iter().sum::<u64>(), 6);
    assert_eq!(slow.try_recv(), Err(TryRecvError::Empty));

    let mut many =
        [bus.topic("b").mp_lossy().publisher().unwrap(), bus.topic("b").mp_lossy().publisher().unwrap()];
    let mut all = bus.topic("b").mp_lossy().subscribe().unwrap();
    for publisher in &mut many {
        publisher.publish(1);
    }
    assert_eq!(all.try_iter().count(), 2);
    assert!(bus.topic("c").mp_lossless().capacity(2).publisher().unwrap().try_publish(1).is_ok());
    drop(bus.topic("d").of_kind::<Lossless>().headroom(1).publisher().unwrap());

    let kinds: Vec<_> =
        bus.topics().into_iter().map(|topic| (topic.name, topic.kind, topic.capacity)).collect();
    assert_eq!(
        kinds,
        [
            ("a".to_owned(), TopicKind::Lossless, 4),
            ("b".to_owned(), TopicKind::MpLossy, 4),
            ("c".to_owned(), TopicKind::MpLossless, 2),
            ("d".to_owned(), TopicKind::Lossless, 4)
        ]
    );
    let error = bus.topic("a").mp_lossy().subscribe().unwrap_err();
    let (has, requested) = (TopicKind::Lossless, TopicKind::MpLossy);
    assert_eq!(error, TopicError::Kind { topic: "a".into(), has, requested });
    assert_eq!(
        error.to_string(),
        "topic \"a\" is lossless, with one publisher, and was requested to be lossy, with many publishers"
    );
    let error = bus.topic("b").mp_lossy().capacity(5).publisher().unwrap_err();
    assert_eq!(error, TopicError::Capacity { topic: "b".into(), has: 4, requested: 5 });
    assert_eq!(error.to_string(), "topic \"b\" has a capacity of 4, and 5 was requested");
}

#[test]
fn error_names_a_topic_that_cannot_be_made() {
    let bus = Bus::<u64>::new(1);
    let error = CapacityError::TooSmall { capacity: 1, minimum: 2 };
    assert_eq!(bus.try_subscribe("x").unwrap_err(), TopicError::Ring { topic: "x".into(), error });
    let text = panic_of(|| drop(bus.subscribable("x")));
    assert!(text.contains("topic \"x\" can't be made: capacity 1 is too small"), "{text}");
    let text = panic_of(|| drop(bus.subscribe("x")));
    assert!(text.contains("subscribe of a bus"), "{text}");
    assert!(bus.topics().is_empty() && !bus.contains("x"), "nothing was made");
    let error = bus.topic("x").capacity(4).headroom(1).publisher().unwrap_err();
    assert!(error.to_string().contains("headroom of 1"), "{error}");
}

#[test]
fn topics_of_a_typed_bus_have_one_type_each() {
    let bus = TypedBus::new(8);
    let mut numbers = bus.subscribe::<u64>("a");
    let mut pairs = bus.subscribe::<[u32; 2]>("b");
    bus.publisher::<u64>("a").publish(7);
    bus.publisher::<[u32; 2]>("b").publish([1, 2]);
    assert_eq!((numbers.try_recv(), pairs.try_recv()), (Ok(7), Ok([1, 2])));
    let error = bus.try_subscribe::<[u32; 2]>("a").unwrap_err();
    let (has, requested) = ("u64", "[u32; 2]");
    assert_eq!(error, TopicError::Type { topic: "a".into(), has, requested });
    let text = panic_of(|| drop(bus.publisher::<i8>("b")));
    assert!(text.contains("topic \"b\" has messages of type [u32; 2], and i8 was requested"), "{text}");
    assert_eq!(bus.topics().iter().map(|topic| topic.message).collect::<Vec<_>>(), ["u64", "[u32; 2]"]);
    assert!(bus.contains("a") && !bus.contains("c"));
    let other = bus.clone();
    drop((numbers, pairs));
    assert_eq!((other.remove("a"), bus.contains("a")), (Ok(()), false));
    assert!(bus.try_subscribe::<[u32; 2]>("a").is_ok(), "a new topic has a type of its own");
    let kind = TypedBus::<Many<Lossless>>::with(Settings::new(4));
    assert!(kind.publisher::<u64>("a").publish(1).is_ok());
    drop((kind.subscribe::<u64>("a"), kind.subscribable::<u64>("a")));
    assert!(format!("{bus:?} {kind:?} {:?}", bus.topic::<u8>("z")).contains("MpLossless"));
}

/// Handles go where a ring's handles go.
#[test]
fn handles_go_to_other_threads() {
    const fn is_shared<T: Send + Sync>() {}
    const fn is_sent<T: Send>() {}
    is_shared::<Bus<u64, Lossless>>();
    is_shared::<TypedBus>();
    is_shared::<TopicPublisher<u64, Many<Lossy>>>();
    is_sent::<TopicPublisher<u64, Lossless>>();
    is_sent::<MatchingSubscriber<u64>>();
}

/// A clone of a publisher counts as one more.
#[test]
fn publishers_of_many_are_cloned() {
    let bus = Bus::<u64, Many<Lossy>>::with(Settings::new(8));
    let first = bus.publisher("a");
    let second = first.clone();
    assert_eq!(bus.topics()[0].publishers, 2);
    drop(first);
    assert!(matches!(bus.remove("a"), Err(RemoveError::InUse { publishers: 1, receivers: 0, .. })));
    drop(second);
    assert_eq!(bus.remove("a"), Ok(()));
}

/// What is not removed is told how many handles there are, also where a publisher is outside the handle that
/// the bus gave: moved out, or a clone.
#[test]
fn receivers_are_counted_beside_publishers_outside_the_bus() {
    fn in_use<K: TopicRing>(bus: &Bus<u64, K>) -> (usize, usize) {
        match bus.remove("a") {
            Err(RemoveError::InUse { publishers, receivers, .. }) => (publishers, receivers),
            removed => panic!("{removed:?}"),
        }
    }
    fn counts<K: TopicRing>(strange: K::Publisher<u64>) {
        let bus = Bus::<u64, K>::with(Settings::new(4));
        let (subscriber, mut publisher) = (bus.subscribe("a"), bus.publisher("a"));
        assert_eq!(in_use(&bus), (1, 1));
        let own = std::mem::replace(publisher.publisher_mut(), strange);
        assert_eq!(in_use(&bus), (1, 1));
        drop(publisher);
        assert_eq!(in_use(&bus), (1, 1), "the publisher that was moved out, and the subscriber");
        drop(subscriber);
        assert_eq!(in_use(&bus), (1, 0));
        drop(own);
    }
    counts::<Lossy>(broadcast::lossy(4).0);
    counts::<Lossless>(broadcast::lossless(4).0);
    counts::<Many<Lossy>>(broadcast::mp_lossy(4).0);
    counts::<Many<Lossless>>(broadcast::mp_lossless(4).0);

    let bus = Bus::<u64, Many<Lossy>>::with(Settings::new(4));
    let (_subscriber, publisher) = (bus.subscribe("a"), bus.publisher("a"));
    let own = publisher.publisher().clone();
    assert_eq!(in_use(&bus), (2, 1));
    let another = publisher.clone();
    assert_eq!(in_use(&bus), (3, 1));
    drop((publisher, another));
    assert_eq!(in_use(&bus), (1, 1));
    drop(own);
    assert_eq!(in_use(&bus), (0, 1));
}

/// The publisher of a topic of any kind, for code that has the kind as a parameter.
#[test]
fn publisher_of_any_kind_is_a_sending_handle() {
    fn sends<K: TopicRing>() {
        let bus = Bus::<u64, K>::with(Settings::new(4));
        let (mut subscriber, mut publisher) = (bus.subscribe_matching("a").unwrap(), bus.publisher("a"));
        assert_eq!((publisher.topic(), publisher.is_closed()), ("a", false));
        publisher.send(1).unwrap();
        publisher.try_send(2).unwrap();
        publisher.send_timeout(3, Duration::ZERO).unwrap();
        publisher.send_until(4, WaitStrategy::BusySpin).unwrap();
        for number in 1..=4 {
            assert_eq!(subscriber.try_recv(), Ok(("a", number)));
        }
        publisher.close();
        assert!(publisher.is_closed() && bus.topics()[0].closed);
        assert_eq!(publisher.send(5).unwrap_err().into_inner(), 5);
        assert!(subscriber.try_recv().is_err());
    }
    sends::<Lossy>();
    sends::<Lossless>();
    sends::<Many<Lossy>>();
    sends::<Many<Lossless>>();
}

/// What waits for its subscriber says so, and gives back what it does not take.
#[test]
fn publisher_of_a_lossless_topic_gives_back_what_finds_no_room() {
    let bus = Bus::<u64>::new(2);
    let mut one = bus.topic("one").lossless().publisher().unwrap();
    let many = bus.topic("many").mp_lossless().publisher().unwrap();
    let mut subscriber = bus.subscribe_matching("*").unwrap();
    one.publish_batch(&[1, 2]).unwrap();
    many.publish_batch(&[1, 2]).unwrap();
    assert_eq!(one.try_publish(3), Err(TrySendError::Full(3)));
    assert_eq!(many.try_publish(3), Err(TrySendError::Full(3)));
    assert!(one.publisher_mut().publish_timeout(3, Duration::ZERO).is_err());
    assert_eq!((one.publisher().published(), many.publisher().published()), (2, 2));
    while subscriber.try_recv().is_ok() {}
    one.publish(3).unwrap();
    many.publish(3).unwrap();
    one.close();
    many.close();
    assert_eq!(one.try_publish(4), Err(TrySendError::Closed(4)));
    assert_eq!(one.publish_batch(&[4, 5]).unwrap_err().into_inner(), [4, 5]);
    assert_eq!(many.publish(4).unwrap_err().into_inner(), 4);
    assert_eq!(subscriber.total_lagged(), 0);
}

/// A publisher that is in the place of another one does not become its topic's: the topics that were
/// mixed up end, and no message reaches another topic.
#[test]
fn a_topic_takes_back_its_own_publisher_only() {
    let bus = Bus::<u64>::new(4);
    let names = ["a", "b"];
    let mut subscribers = names.map(|name| bus.subscribe(name));
    let [mut first, mut second] = names.map(|name| bus.publisher(name));
    std::mem::swap(first.publisher_mut(), second.publisher_mut());
    first.publish(2);
    second.publish(1);
    drop((first, second));
    for (name, number) in names.into_iter().zip(1..) {
        assert_eq!(bus.try_publisher(name).err(), Some(TopicError::Closed { topic: name.into() }));
        let subscriber = &mut subscribers[number as usize - 1];
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(number), Err(annulus::RecvError::CLOSED)));
        assert_eq!(bus.remove(name), Ok(()));
    }

    // Swapped twice, each is where it was.
    let [mut first, mut second] = names.map(|name| bus.publisher(name));
    (0..2).for_each(|_| std::mem::swap(first.publisher_mut(), second.publisher_mut()));
    drop((first, second));
    let mut subscriber = bus.subscribe("a");
    bus.publisher("a").publish(3);
    assert_eq!(subscriber.recv(), Ok(3));

    // Nor one of no topic. The topic's own is in use until it goes.
    let (strange, strangers) = annulus::broadcast::lossy::<u64>(4);
    let mut strange_subscriber = strangers.subscribe();
    let mut publisher = bus.publisher("a");
    let own = std::mem::replace(publisher.publisher_mut(), strange);
    drop(publisher);
    assert!(strange_subscriber.recv().is_err(), "it went with the guard");
    assert_eq!(bus.try_publisher("a").err(), Some(TopicError::Taken { topic: "a".into() }));
    drop(own);
    assert!(subscriber.recv().is_err());
}

#[test]
fn names_may_be_anything() {
    let bus = Bus::<u64>::new(4);
    let long = "x".repeat(1000);
    let names = ["", " ", "\0", "\0\0", "ü", "a\nb", long.as_str()];
    let mut subscribers = names.map(|name| bus.subscribe(name));
    for (number, name) in names.into_iter().enumerate() {
        bus.publisher(name).publish(number as u64);
    }
    for (number, subscriber) in subscribers.iter_mut().enumerate() {
        assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [number as u64]);
    }
    assert_eq!(format!("{:?}", bus.publisher("ü")), "TopicPublisher { topic: \"ü\", closed: false, .. }");
}

#[test]
fn forgotten_publisher_is_freed_by_a_close() {
    let bus = Bus::<u64>::new(4);
    // Kept, where Miri looks for what is lost.
    let publisher = std::mem::ManuallyDrop::new(bus.publisher("a"));
    assert!(bus.remove("a").is_err());
    bus.subscribable("a").closer().close();
    assert_eq!(bus.remove("a"), Ok(()));
    drop(bus.publisher("a"));
    drop(std::mem::ManuallyDrop::into_inner(publisher));
}

#[test]
fn a_topics_ring_has_its_name_and_counts_if_asked_to() {
    let bus = Bus::<u64>::new(4);
    let topic = |name| bus.topic(name).statistics(true);
    let all = [
        topic("a").subscribe().unwrap().stats(),
        topic("b").lossless().subscribe().unwrap().stats(),
        topic("c").mp_lossy().subscribable().unwrap().stats(),
        topic("d").mp_lossless().subscribe().unwrap().stats(),
    ];
    for (stats, name) in all.iter().zip(["a", "b", "c", "d"]) {
        assert_eq!((stats.name.as_deref(), stats.counted.is_some()), (Some(name), true));
    }
    let plain = bus.subscribe("e").stats();
    assert_eq!((plain.name.as_deref(), plain.counted), (Some("e"), None));
    assert_eq!(bus.topic("f").name("g").subscribe().unwrap().stats().name.as_deref(), Some("g"));
    let named = Bus::<u64>::with(Settings::new(4).name("all topics"));
    assert_eq!(named.subscribe("a").stats().name.as_deref(), Some("all topics"));
}
