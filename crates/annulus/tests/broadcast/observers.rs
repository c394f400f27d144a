//! Rings with a name, as `Observer::list` lists them: from the builder to the last handle, whatever the
//! messages are. Each test has names of its own, since the list is that of the process.
#![allow(clippy::disallowed_types, reason = "a test")]

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use annulus::Settings;
use annulus::bus::Bus;
use annulus::queue::ordered;
use annulus::{Observer, broadcast, mpmc, mpsc, queue, spmc, spsc};

/// The one ring of that name.
#[track_caller]
fn only(name: &str) -> Observer {
    let mut found = Observer::named(name);
    assert_eq!(found.len(), 1, "{name}");
    found.remove(0)
}

/// Both handles of a ring that was just made: it is in the list as long as one of them is there.
#[track_caller]
fn is_listed_to_the_end<W, R>(name: &'static str, (writer, reader): (W, R)) {
    let observer = only(name);
    assert_eq!(observer.stats().unwrap().name.as_deref(), Some(name));
    assert!(
        Observer::list().iter().filter_map(Observer::stats).any(|stats| stats.name.as_deref() == Some(name))
    );
    assert!(!observer.is_closed() && !observer.is_gone());
    drop(writer);
    assert_eq!(only(name).stats().unwrap().writers.now, 0, "{name}: a side is left");
    assert!(observer.is_closed() && !observer.is_gone());
    drop(reader);
    assert!(Observer::named(name).is_empty(), "{name}");
    assert!(observer.is_gone() && observer.is_closed() && observer.stats().is_none());
}

#[test]
fn builders_list_their_rings() {
    is_listed_to_the_end("of spsc", spsc::with::<u64>(Settings::new(4).name("of spsc")).unwrap());
    is_listed_to_the_end("of mpsc", mpsc::with::<u64>(Settings::new(4).name("of mpsc")).unwrap());
    is_listed_to_the_end("of spmc", spmc::with::<u64>(Settings::new(4).name("of spmc")).unwrap());
    is_listed_to_the_end("of mpmc", mpmc::with::<u64>(Settings::new(4).name("of mpmc")).unwrap());
    is_listed_to_the_end("of shared", ordered::with::<u64>(Settings::new(4).name("of shared")).unwrap());
    let bytes = queue::bytes::with(Settings::new(64).name("of a queue's bytes")).unwrap();
    is_listed_to_the_end("of a queue's bytes", bytes);
    let ring = |name| Settings::new(4).name(name);
    is_listed_to_the_end("of lossy", broadcast::lossy_with::<u64>(ring("of lossy")).unwrap());
    is_listed_to_the_end("of lossless", broadcast::lossless_with::<u64>(ring("of lossless")).unwrap());
    is_listed_to_the_end("of mp_lossy", broadcast::mp_lossy_with::<u64>(ring("of mp_lossy")).unwrap());
    is_listed_to_the_end(
        "of mp_lossless",
        broadcast::mp_lossless_with::<u64>(ring("of mp_lossless")).unwrap(),
    );
    is_listed_to_the_end("of events", annulus::event::with(ring("of events"), String::new).unwrap());
    is_listed_to_the_end("of mp_events", annulus::event::mp_with(ring("of mp_events"), String::new).unwrap());
    let records = broadcast::bytes::lossy_with(Settings::new(64).name("of records")).unwrap();
    is_listed_to_the_end("of records", records);
    let records = broadcast::bytes::lossless_with(Settings::new(64).name("of lossless records")).unwrap();
    is_listed_to_the_end("of lossless records", records);
}

#[test]
fn listing_ends_with_the_last_side() {
    let (producer, consumer) = mpsc::with::<u64>(Settings::new(4).name("backwards")).unwrap();
    let (other, observer) = (producer.clone(), only("backwards"));
    drop(consumer);
    drop(producer);
    assert!(!observer.is_gone(), "a producer is left");
    drop(other);
    assert!(observer.is_gone() && Observer::named("backwards").is_empty());
    let (publisher, source) = broadcast::lossless_with::<u64>(Settings::new(4).name("late")).unwrap();
    let subscriber = source.subscribe();
    drop((source, publisher));
    assert_eq!(only("late").stats().unwrap().readers.now, 1);
    drop(subscriber);
    assert!(Observer::named("late").is_empty());
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
            assert!(observer.is_gone() && Observer::named($name).is_empty(), $name);
        })*};
    }
    let ring = |name| Settings::new(4).name(name);
    comes_back! {
        "back: lossy": broadcast::lossy_with::<u64>(ring("back: lossy")),
        "back: lossless": broadcast::lossless_with::<u64>(ring("back: lossless")),
        "back: mp_lossy": broadcast::mp_lossy_with::<u64>(ring("back: mp_lossy")),
        "back: mp_lossless": broadcast::mp_lossless_with::<u64>(ring("back: mp_lossless")),
        "back: events": annulus::event::with(ring("back: events"), String::new),
        "back: mp_events": annulus::event::mp_with(ring("back: mp_events"), String::new),
        "back: records": broadcast::bytes::lossy_with(Settings::new(64).name("back: records")),
        "back: lossless records":
            broadcast::bytes::lossless_with(Settings::new(64).name("back: lossless records")),
    }
}

#[test]
fn rings_of_one_name_are_in_their_order() {
    let rings = [3, 2, 5].map(|capacity| spsc::with::<u64>(Settings::new(capacity).name("alike")).unwrap());
    let capacities =
        || -> Vec<_> { Observer::named("alike").iter().map(|ring| ring.stats().unwrap().capacity).collect() };
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
    assert!(Observer::list().iter().filter_map(Observer::stats).all(|stats| stats.capacity != 77_777));
}

#[test]
fn topic_is_listed_by_its_name() {
    let bus = Bus::<u64>::new(8);
    let name = String::from("prices.of.the.list");
    let subscriber = bus.subscribe(&name);
    bus.publisher(&name).publish(1);
    assert_eq!(only(&name).stats().unwrap().published, 1);
    drop((subscriber, bus));
    assert!(Observer::named(&name).is_empty());
}

/// The list holds no share: the messages go with the handles, and so may borrow.
#[test]
fn messages_may_borrow() {
    let words = [String::from("one"), String::from("two")];
    let (mut producer, mut consumer) = mpmc::with::<&str>(Settings::new(4).name("of words")).unwrap();
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
    let (sender, receiver) = ordered::with::<&str>(Settings::new(4).name("of leaked words")).unwrap();
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
                for stats in Observer::named("of a moment").iter().filter_map(Observer::stats) {
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
                        mpsc::with::<Message<'_>>(Settings::new(2).name("of a moment")).unwrap();
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
    assert!(Observer::named("of a moment").is_empty());
}

/// An observer from the list is as any other.
#[test]
fn observer_may_be_anywhere_and_holds_nothing_open() {
    fn anywhere<T: Clone + Send + Sync + 'static>(_: &T) {}
    let value = Arc::new(());
    let (mut producer, mut consumer) = spsc::with::<Arc<()>>(Settings::new(4).name("open")).unwrap();
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

/// A name need not be known when the program is built, nor live for ever.
#[test]
fn ring_of_each_symbol_has_name_made_at_run_time() {
    let rings: Vec<_> = (0..3)
        .map(|symbol| {
            broadcast::lossy_with::<u64>(Settings::new(4).name(format!("symbol-{symbol}"))).unwrap()
        })
        .collect();
    let queue = ordered::with::<u64>(Settings::new(4).name(String::from("symbol-3"))).unwrap();
    let lane = mpsc::with::<u64>(Settings::new(4).name(format!("symbol-{}", 4))).unwrap();
    let all = || (0..5).map(|symbol| Observer::named(&format!("symbol-{symbol}")).len()).sum::<usize>();
    assert_eq!(all(), 5);
    assert_eq!(rings[1].0.stats().name.as_deref(), Some("symbol-1"));
    assert_eq!(queue.0.stats().name.as_deref(), Some("symbol-3"));
    assert_eq!(lane.1.stats().name.as_deref(), Some("symbol-4"));
    drop((rings, queue, lane));
    assert_eq!(all(), 0);
}
