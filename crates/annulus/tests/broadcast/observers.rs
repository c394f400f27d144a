//! Rings with a name, as `Observers` lists them: from the builder to the last handle, whatever the messages
//! are. Each test has names of its own, since the list is that of the process.
#![allow(clippy::disallowed_types, reason = "a test")]

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use annulus::bus::Bus;
use annulus::queue::ordered;
use annulus::{Observer, Observers, broadcast, mpmc, mpsc, queue, spmc, spsc};

/// The one ring of that name.
#[track_caller]
fn only(name: &str) -> Observer {
    let mut found = Observers::named(name);
    assert_eq!(found.len(), 1, "{name}");
    found.remove(0)
}

/// Both handles of a ring that was just made: it is in the list as long as one of them is there.
#[track_caller]
fn is_listed_to_the_end<W, R>(name: &'static str, (writer, reader): (W, R)) {
    let observer = only(name);
    assert_eq!(observer.stats().unwrap().name.as_deref(), Some(name));
    assert!(
        Observers::list().iter().filter_map(Observer::stats).any(|stats| stats.name.as_deref() == Some(name))
    );
    assert!(!observer.is_closed() && !observer.is_gone());
    drop(writer);
    assert_eq!(only(name).stats().unwrap().writers.now, 0, "{name}: a side is left");
    assert!(observer.is_closed() && !observer.is_gone());
    drop(reader);
    assert!(Observers::named(name).is_empty(), "{name}");
    assert!(observer.is_gone() && observer.is_closed() && observer.stats().is_none());
}

#[test]
fn every_builder_lists_its_ring() {
    is_listed_to_the_end("of spsc", spsc::Builder::new(4).named("of spsc").build::<u64>().unwrap());
    is_listed_to_the_end("of mpsc", mpsc::Builder::new(4).named("of mpsc").build::<u64>().unwrap());
    is_listed_to_the_end("of spmc", spmc::Builder::new(4).named("of spmc").build::<u64>().unwrap());
    is_listed_to_the_end("of mpmc", mpmc::Builder::new(4).named("of mpmc").build::<u64>().unwrap());
    is_listed_to_the_end("of shared", ordered::Builder::new(4).named("of shared").build::<u64>().unwrap());
    let bytes = queue::bytes::Builder::new(64).named("of a queue's bytes").build().unwrap();
    is_listed_to_the_end("of a queue's bytes", bytes);
    let ring = |name| broadcast::Builder::new(4).named(name);
    is_listed_to_the_end("of lossy", ring("of lossy").lossy::<u64>().unwrap());
    is_listed_to_the_end("of lossless", ring("of lossless").lossless::<u64>().unwrap());
    is_listed_to_the_end("of mp_lossy", ring("of mp_lossy").mp_lossy::<u64>().unwrap());
    is_listed_to_the_end("of mp_lossless", ring("of mp_lossless").mp_lossless::<u64>().unwrap());
    is_listed_to_the_end("of events", ring("of events").events(String::new).unwrap());
    is_listed_to_the_end("of mp_events", ring("of mp_events").mp_events(String::new).unwrap());
    let records = broadcast::bytes::Builder::new(64).named("of records").lossy().unwrap();
    is_listed_to_the_end("of records", records);
}

#[test]
fn listing_ends_with_the_last_side() {
    let (producer, consumer) = mpsc::Builder::new(4).named("backwards").build::<u64>().unwrap();
    let (other, observer) = (producer.clone(), only("backwards"));
    drop(consumer);
    drop(producer);
    assert!(!observer.is_gone(), "a producer is left");
    drop(other);
    assert!(observer.is_gone() && Observers::named("backwards").is_empty());
    let (publisher, source) = broadcast::Builder::new(4).named("late").lossless::<u64>().unwrap();
    let subscriber = source.subscribe();
    drop((source, publisher));
    assert_eq!(only("late").stats().unwrap().readers.now, 1);
    drop(subscriber);
    assert!(Observers::named("late").is_empty());
}

/// A ring stays in the list while its publisher is there, also if all receiving handles go, come back by
/// the publisher, and go again; and then while the last of these is there.
#[test]
fn a_side_that_comes_back_is_there_again() {
    macro_rules! comes_back {
        ($($name:literal: $ring:expr),* $(,)?) => {$({
            let (publisher, source) = $ring.unwrap();
            let observer = only($name);
            drop(source);
            for _ in 0..3 {
                drop(publisher.subscribe());
                drop(publisher.subscribable());
                assert!(!observer.is_gone(), $name);
                assert_eq!(only($name).stats().unwrap().writers.now, 1);
            }
            let subscriber = publisher.subscribable().subscribe();
            drop(publisher);
            assert_eq!(only($name).stats().unwrap().readers.now, 1);
            drop(subscriber);
            assert!(observer.is_gone() && Observers::named($name).is_empty(), $name);
        })*};
    }
    let ring = |name| broadcast::Builder::new(4).named(name);
    comes_back! {
        "back: lossy": ring("back: lossy").lossy::<u64>(),
        "back: lossless": ring("back: lossless").lossless::<u64>(),
        "back: mp_lossy": ring("back: mp_lossy").mp_lossy::<u64>(),
        "back: mp_lossless": ring("back: mp_lossless").mp_lossless::<u64>(),
        "back: events": ring("back: events").events(String::new),
        "back: mp_events": ring("back: mp_events").mp_events(String::new),
        "back: records": broadcast::bytes::Builder::new(64).named("back: records").lossy(),
    }
}

#[test]
fn rings_of_one_name_are_in_their_order() {
    let rings = [3, 2, 5].map(|capacity| spsc::Builder::new(capacity).named("alike").build::<u64>().unwrap());
    let capacities = || -> Vec<_> {
        Observers::named("alike").iter().map(|ring| ring.stats().unwrap().capacity).collect()
    };
    assert_eq!(capacities(), [3, 2, 5]);
    let [first, second, third] = rings;
    drop(second);
    assert_eq!(capacities(), [3, 5]);
    drop((first, third));
    assert_eq!(capacities(), []);
}

#[test]
fn ring_without_a_name_is_not_listed() {
    let (_producer, consumer) = spsc::channel::<u64>(77_777);
    assert_eq!(consumer.stats().capacity, 77_777);
    assert!(Observers::list().iter().filter_map(Observer::stats).all(|stats| stats.capacity != 77_777));
}

#[test]
fn a_topic_is_listed_by_its_name() {
    let bus = Bus::<u64>::new(8);
    let name = String::from("prices.of.the.list");
    let subscriber = bus.subscribe(&name);
    bus.publisher(&name).publish(1);
    assert_eq!(only(&name).stats().unwrap().published, 1);
    drop((subscriber, bus));
    assert!(Observers::named(&name).is_empty());
}

/// The list holds no share: the messages go with the handles, and so may borrow.
#[test]
fn messages_may_borrow() {
    let words = [String::from("one"), String::from("two")];
    let (mut producer, mut consumer) = mpmc::Builder::new(4).named("of words").build::<&str>().unwrap();
    let observer = only("of words");
    producer.send(&words[0]).unwrap();
    producer.send(&words[1]).unwrap();
    assert_eq!(observer.stats().unwrap().pending, Some(2));
    assert_eq!(consumer.recv(), Ok("one"));
    drop((producer, consumer));
    assert_eq!(observer.stats(), None);
}

/// Then the ring is there for good, and what its messages borrowed is not.
#[test]
fn handles_may_be_leaked() {
    let word = String::from("leaked");
    let (sender, receiver) = ordered::Builder::new(4).named("of leaked words").build::<&str>().unwrap();
    sender.send(&word).unwrap();
    mem::forget((sender, receiver));
    drop(word);
    let stats = only("of leaked words").stats().unwrap();
    assert_eq!((stats.published, stats.pending), (1, Some(1)));
}

/// Counts its drop.
struct Message<'a>(&'a AtomicUsize);

impl Drop for Message<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Rings come and go while a thread looks at all of them. It never sees what is gone, and no message is lost
/// or dropped twice.
#[test]
fn rings_may_go_while_a_thread_observes() {
    const ROUNDS: usize = if cfg!(miri) { 15 } else { 2_000 };
    let (dropped, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let looks = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                for stats in Observers::named("of a moment").iter().filter_map(Observer::stats) {
                    assert!(stats.published <= 2 && stats.pending <= Some(2), "{stats}");
                    looks += 1;
                }
                thread::yield_now();
            }
            looks
        });
        let makers = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let (mut producer, consumer) =
                        mpsc::Builder::new(2).named("of a moment").build::<Message<'_>>().unwrap();
                    let mut other = producer.clone();
                    assert!(
                        producer.send(Message(&dropped)).is_ok() && other.send(Message(&dropped)).is_ok()
                    );
                    // The two last handles go at the same time.
                    thread::scope(|scope| {
                        scope.spawn(move || drop((producer, other)));
                        drop(consumer);
                    });
                }
            })
        });
        for maker in makers {
            maker.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    println!("{looks} looks");
    assert_eq!(dropped.into_inner(), 2 * 2 * ROUNDS);
    assert!(Observers::named("of a moment").is_empty());
}

/// An observer from the list is as any other.
#[test]
fn it_may_be_anywhere_and_holds_nothing_open() {
    fn anywhere<T: Clone + Send + Sync + 'static>(_: &T) {}
    let value = Arc::new(());
    let (mut producer, mut consumer) = spsc::Builder::new(4).named("open").build::<Arc<()>>().unwrap();
    let observer = only("open");
    anywhere(&observer);
    let other = thread::spawn({
        let observer = observer.clone();
        move || observer.stats().unwrap().capacity
    });
    assert_eq!(other.join().unwrap(), 4);
    producer.send(Arc::clone(&value)).unwrap();
    assert_eq!(format!("{observer:?}"), "Observer { closed: false }");
    drop(producer);
    assert!(observer.is_closed());
    assert!(consumer.recv().is_ok() && consumer.recv().is_err(), "nobody holds it open");
    drop(consumer);
    assert_eq!((format!("{observer:?}"), Arc::strong_count(&value)), ("Observer { closed: true }".into(), 1));
}
