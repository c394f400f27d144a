//! Look-ups by name.

#[cfg(feature = "std")]
use std::time::Duration;

use annulus::Settings;
use annulus::bus::{Bus, Lossless, TypedBus};

use crate::counting::{allocations, gives_back};
use crate::support::alone;

#[test]
fn hit_allocates_nothing() {
    let (bus, typed) = (Bus::<u64>::new(8), TypedBus::new(8));
    let names: Vec<_> = (0..200).map(|number| format!("topic number {number}")).collect();
    let look_up = |name: &str| {
        drop((bus.publisher(name), bus.subscribe(name), bus.subscribable(name)));
        drop((bus.topic("many").mp_lossy().publisher().unwrap(), bus.contains(name)));
        drop((typed.publisher::<u64>(name), typed.subscribe::<u64>(name)));
    };
    let look_all_up = || {
        for name in &names {
            look_up(name);
        }
    };
    look_all_up();
    assert_eq!(allocations(look_all_up), 0);
}

/// A lossless topic makes places for subscribers where it has more of them than ever before, for eight at a
/// time. The first has its place in the ring.
#[test]
fn hit_of_a_lossless_topic_allocates_for_more_subscribers_than_ever() {
    let bus = Bus::<u64, Lossless>::with(Settings::new(8));
    let others = || drop((bus.publisher("a"), bus.subscribable("a"), bus.contains("a")));
    others();
    assert_eq!(allocations(others), 0);
    for before in [0, 25] {
        let mut subscribers = Vec::with_capacity(25);
        for number in 0..25 {
            let is_new = number >= before && number % 8 == 1;
            let allocates = allocations(|| subscribers.push(bus.subscribe("a")));
            assert_eq!(allocates > 0, is_new, "subscriber {number}");
        }
    }
}

/// A pattern for another type makes no subscriber of a topic, whichever of the two came first.
#[test]
fn pattern_of_another_type_makes_no_subscriber() {
    // The list of rings that have a name is one for the process: other tests' topics make it grow here.
    alone!();
    let bus = TypedBus::<Lossless>::with(Settings::new(8));
    let names: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let make_all = || names.iter().for_each(|name| drop(bus.subscribable::<u64>(name)));
    let remove_all = || names.iter().for_each(|name| bus.remove(name).unwrap());
    // What stays is made by the first of these.
    make_all();
    remove_all();
    let made = allocations(make_all);
    let none = allocations(|| drop(bus.subscribe_matching::<u32>("no.such.topic").unwrap()));
    assert_eq!(allocations(|| drop(bus.subscribe_matching::<u32>("*").unwrap())), none);
    remove_all();
    let _matching = bus.subscribe_matching::<u32>("*").unwrap();
    assert_eq!(allocations(make_all), made);
}

/// The first wait makes places in the rings, and no later one does.
#[cfg(feature = "std")]
#[test]
fn pattern_waits_in_places_that_it_has() {
    let bus = Bus::<u64>::new(8);
    let mut publishers = ["a", "b"].map(|name| bus.publisher(name));
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut wait_and_receive = |timeout| {
        for publisher in &mut publishers {
            assert!(matching.recv_timeout(timeout).is_err());
            publisher.publish(7);
            assert_eq!(matching.recv().unwrap().1, 7);
        }
    };
    // Long enough to come to the sleep, on a busy machine too.
    wait_and_receive(Duration::from_millis(100));
    assert_eq!(allocations(|| (0..5).for_each(|_| wait_and_receive(Duration::from_millis(1)))), 0);
}

#[test]
fn removed_topic_gives_its_memory_back() {
    // As above.
    alone!();
    let bus = Bus::<u64>::new(1024);
    // What stays is made by the first of these.
    let mut round = 0;
    gives_back("topics of names that never come again", || {
        round += 1;
        for number in 0..50 {
            let name = format!("{round:03}/{number:03}");
            bus.publisher(&name).publish(number);
            drop(bus.subscribe(&name));
        }
        for number in 0..50 {
            bus.remove(&format!("{round:03}/{number:03}")).unwrap();
        }
    });
    gives_back("a topic that is held while it is removed", || {
        let (publisher, subscriber) = (bus.publisher("held"), bus.subscribe("held"));
        publisher.close();
        bus.remove("held").unwrap();
        drop((publisher, subscriber));
    });
    gives_back("a bus", || {
        let bus = Bus::<u64>::new(8);
        let subscribers: Vec<_> = (0..100).map(|number| bus.subscribe(&number.to_string())).collect();
        let publisher = bus.publisher("7");
        drop(bus);
        drop((subscribers, publisher));
    });
}
