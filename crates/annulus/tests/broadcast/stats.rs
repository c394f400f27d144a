//! The numbers that a ring counts where its builder was asked for that, and what each handle says of itself.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread;
use std::time::Duration;

use crate::support::sleeping;
use annulus::Settings;
use annulus::broadcast;
use annulus::broadcast::Subscriber;
use annulus::event;
use annulus::queue::ordered;
use annulus::stats::{Counted, Stats};
use annulus::{Observer, WaitStrategy, mpmc, mpsc, spmc, spsc};

/// Sleeps at once.
const SLEEP: WaitStrategy = WaitStrategy::block_after(0, 0);

fn counted(observer: &Observer) -> Counted {
    observer.stats().expect("the ring is there").counted.expect("it counts")
}

/// A thread that waits sleeps once; the message wakes it, and both are counted.
fn sleeps_and_wakes(
    name: &str,
    observer: &Observer,
    send: impl FnOnce(),
    (reader, sleeper): (thread::JoinHandle<()>, sleeping::Sleeper),
) {
    while counted(observer).sleeps == 0 {
        thread::yield_now();
    }
    // It is counted just before it sleeps.
    sleeper.await_sleep();
    send();
    reader.join().unwrap();
    let counted = counted(observer);
    assert!(counted.sleeps >= 1 && counted.wake_ups >= 1, "{name}: {counted:?}");
}

#[test]
fn sleeps_and_wake_ups_are_counted() {
    macro_rules! queues {
        ($($module:ident),*) => {$(
            let (mut producer, mut consumer) =
                $module::with(Settings::new(8).statistics(true).wait_strategy(SLEEP)).unwrap();
            let observer = producer.observer();
            let reader = sleeping::spawn(move || assert_eq!(consumer.recv(), Ok(1)));
            sleeps_and_wakes(stringify!($module), &observer, || producer.send(1).unwrap(), reader);
        )*};
    }
    queues!(spsc, mpsc, spmc, mpmc);
    let (sender, receiver) = ordered::with(Settings::new(8).statistics(true).wait_strategy(SLEEP)).unwrap();
    let observer = receiver.observer();
    let reader = sleeping::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
    sleeps_and_wakes("shared", &observer, || sender.send(1).unwrap(), reader);

    let settings = Settings::new(8).statistics(true).wait_strategy(SLEEP);
    let (mut publisher, subscribable) = broadcast::lossy_with(settings.clone()).unwrap();
    let (observer, mut subscriber) = (subscribable.observer(), subscribable.subscribe());
    let reader = sleeping::spawn(move || assert_eq!(subscriber.recv(), Ok(1)));
    sleeps_and_wakes("lossy", &observer, || publisher.publish(1), reader);
    let (publisher, subscribable) = broadcast::mp_lossless_with(settings.clone()).unwrap();
    let mut subscriber = subscribable.subscribe();
    let observer = subscriber.observer();
    let reader = sleeping::spawn(move || assert_eq!(subscriber.recv(), Ok(1)));
    sleeps_and_wakes("lossless", &observer, || publisher.publish(1).unwrap(), reader);
    let (mut publisher, subscribable) = event::with(settings, || 0).unwrap();
    let mut subscriber = subscribable.subscribe();
    let observer = subscriber.observer();
    let reader = sleeping::spawn(move || assert_eq!(subscriber.process(|event| *event), Ok(1)));
    sleeps_and_wakes("events", &observer, || publisher.publish(|event| *event = 1).unwrap(), reader);
}

/// Which was the highest in a ring of eight that had up to `most` messages.
#[test]
fn high_water_mark_stays() {
    macro_rules! queues {
        ($($module:ident),*) => {$(
            let (mut producer, mut consumer) = $module::with(Settings::new(8).statistics(true)).unwrap();
            assert_eq!(counted(&consumer.observer()).high_water, 0);
            (0..5).for_each(|number| producer.send(number).unwrap());
            assert_eq!(producer.stats().counted.unwrap().high_water, 5, "a snapshot sees it");
            while consumer.try_recv().is_ok() {}
            assert_eq!(consumer.stats().counted.unwrap().high_water, 5);
            // Without a snapshot, a publisher that finds no room has seen it.
            (0..8).for_each(|number| producer.send(number).unwrap());
            assert!(producer.send_timeout(8, Duration::ZERO).is_err());
            while consumer.try_recv().is_ok() {}
            assert_eq!(consumer.stats().counted.unwrap().high_water, 8, stringify!($module));
        )*};
    }
    queues!(spsc, mpsc, spmc, mpmc);
    let (sender, receiver) = ordered::with(Settings::new(8).statistics(true)).unwrap();
    (0..8).for_each(|number| sender.send(number).unwrap());
    assert!(sender.send_timeout(8, Duration::ZERO).is_err());
    while receiver.try_recv().is_ok() {}
    assert_eq!(receiver.stats().counted.unwrap().high_water, 8);

    let (mut publisher, subscribable) =
        broadcast::lossless_with(Settings::new(8).headroom(2).statistics(true)).unwrap();
    let mut subscriber = subscribable.subscribe();
    (0..6).for_each(|number| publisher.publish(number).unwrap());
    assert!(publisher.try_publish(6).is_err());
    while subscriber.try_recv().is_ok() {}
    let stats = subscriber.stats();
    assert_eq!((stats.counted.unwrap().high_water, stats.pending), (6, Some(0)));
}

/// A producer that sends one by one looks once in a while, without a snapshot and with room to spare.
#[test]
fn producer_looks_now_and_then() {
    let (mut producer, mut consumer) = spsc::with(Settings::new(4096).statistics(true)).unwrap();
    (0..1_000).for_each(|number| producer.send(number).unwrap());
    assert_eq!(consumer.consume(usize::MAX, drop), 1_000);
    let seen = consumer.stats().counted.unwrap().high_water;
    assert!((1_000 - 256..=1_000).contains(&seen), "{seen}");
}

#[test]
fn losses_of_lossy_subscribers_add_up() {
    for many in [false, true] {
        let settings = Settings::new(4).statistics(true);
        let (mut one, mut several, subscribable) = if many {
            let (publisher, subscribable) = broadcast::mp_lossy_with(settings).unwrap();
            (None, Some(publisher), subscribable)
        } else {
            let (publisher, subscribable) = broadcast::lossy_with(settings).unwrap();
            (Some(publisher), None, subscribable)
        };
        let mut subscribers = [subscribable.subscribe(), subscribable.subscribe()];
        let mut latest = subscribable.subscribe();
        for number in 0..100 {
            if let Some(publisher) = &mut one {
                publisher.publish(number);
            }
            if let Some(publisher) = &mut several {
                publisher.publish(number);
            }
            if number % 9 == 0 {
                let _ = subscribers[0].try_recv();
                _ = latest.latest();
            }
        }
        while subscribers[1].recv_timeout(Duration::ZERO).is_ok() {}
        let lost = |lagged: u64| lagged + subscribers.iter().map(Subscriber::total_lagged).sum::<u64>();
        let stats = subscribable.stats();
        assert_eq!(stats.counted.unwrap().lagged, lost(latest.total_lagged()));
        assert!(subscribers[1].total_lagged() >= 96 && latest.total_lagged() > 0);
        assert_eq!((stats.published, stats.received), (100, None));
        let own = subscribers[1].stats().own.unwrap();
        assert_eq!((own.received, own.lagged, own.pending, own.position), (4, 96, 0, 100));
    }
}

#[test]
fn consumer_that_follows_closely_rests() {
    let (mut producer, mut consumer) = spsc::with(Settings::new(4096).statistics(true)).unwrap();
    for _ in 0..20 {
        producer.send_batch(&[1, 2, 3, 4]).unwrap();
        assert_eq!(consumer.consume(usize::MAX, drop), 4);
    }
    assert!(consumer.stats().counted.unwrap().rests >= 1, "{}", consumer.stats());
    let (mut producer, mut consumer) = mpsc::with(Settings::new(4096).statistics(true)).unwrap();
    for _ in 0..20 {
        producer.send_batch(&[1, 2, 3, 4]).unwrap();
        (0..4).for_each(|_| assert!(consumer.try_recv().is_ok()));
        assert!(consumer.try_recv().is_err());
    }
    assert!(consumer.stats().counted.unwrap().rests >= 1, "{}", consumer.stats());
}

/// The subscribers that are there, and that were.
#[test]
fn joins_are_counted() {
    fn handles(stats: &Stats) -> [(usize, u64); 2] {
        [(stats.writers.now, stats.writers.joined), (stats.readers.now, stats.readers.joined)]
    }
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(8);
    assert_eq!(handles(&publisher.stats()), [(1, 1), (0, 0)]);
    let (other, subscriber) = (publisher.clone(), subscribable.subscribe());
    let tap = subscribable.subscribe_lossy();
    drop((other, subscriber.clone()));
    assert_eq!(handles(&tap.stats()), [(1, 2), (2, 3)]);
    assert_eq!(tap.stats().followed.len(), 1);

    let (producer, consumer) = mpmc::channel::<u64>(8);
    drop((producer.clone(), consumer.clone()));
    assert_eq!(handles(&consumer.stats()), [(1, 2), (1, 2)]);
    let (sender, receiver) = ordered::channel::<u64>(8);
    drop((sender.clone(), receiver.clone()));
    assert_eq!(handles(&receiver.stats()), [(1, 2), (1, 2)]);
}

/// The numbers of a queue are those of all its producers, also of those that have left.
#[test]
fn producers_add_up() {
    macro_rules! queues {
        ($($module:ident),*) => {$(
            let (first, mut consumer) = $module::with(Settings::new(8).first(u64::MAX - 3)).unwrap();
            for number in 0..20 {
                let mut producer = first.clone();
                producer.send(number).unwrap();
                drop(producer);
                if number % 3 == 0 {
                    consumer.recv().unwrap();
                }
                if number >= 8 {
                    consumer.recv().unwrap();
                }
            }
            let stats = first.stats();
            let received = 20 - stats.pending.unwrap();
            assert_eq!((stats.published, stats.received), (20, Some(received)));
            // The last one's number, sent and still there; and the first one, which sent nothing.
            let ids: Vec<_> = stats.producers.iter().map(|producer| producer.id).collect();
            assert_eq!(ids[0], 0);
            assert_eq!(stats.producers.iter().map(|producer| producer.pending).sum::<u64>(), 20 - received);
        )*};
    }
    queues!(mpsc, mpmc);
}

#[test]
fn ring_has_the_name_it_was_given() {
    let (_producer, consumer) = spsc::with::<u64>(Settings::new(4).name("orders")).unwrap();
    assert_eq!(consumer.stats().name.as_deref(), Some("orders"));
    assert!(consumer.stats().to_string().starts_with("orders"));
    let (publisher, _subscribable) = broadcast::lossy_with::<u64>(Settings::new(4).name("prices")).unwrap();
    assert_eq!(publisher.stats().name.as_deref(), Some("prices"));
    let (sender, _receiver) = ordered::with::<u64>(Settings::new(4).name("jobs")).unwrap();
    let stats = sender.stats();
    assert_eq!((stats.name.as_deref(), &stats.counted), (Some("jobs"), &None));
}

#[test]
fn lossy_ring_is_as_deep_as_its_messages() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    for (number, depth) in [1, 2, 3, 4, 4, 4].into_iter().enumerate() {
        publisher.publish(number);
        assert_eq!(publisher.stats().depth(), depth);
        assert_eq!(subscribable.subscribe_from_oldest().len() as u64, depth);
    }
    let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[1, 2, 3]).unwrap();
    subscriber.recv().unwrap();
    assert_eq!(publisher.stats().depth(), 2, "those that wait");
    drop(subscriber);
    assert_eq!(publisher.stats().depth(), 3, "nobody is waited for");
}

#[test]
fn group_shows_its_positions() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut group = subscribable.subscribe_group::<2>();
    publisher.publish_batch(&[1, 2, 3]);
    group.try_recv().unwrap();
    group.pause(1);
    group.try_recv().unwrap();
    let own = group.stats().own.unwrap();
    assert_eq!((own.position, own.received, own.lagged, own.pending), (2, 2, 0, 1));
    assert_eq!(group.observer().stats().unwrap().own, None);
}

/// A stage needs a message until it has processed it, and publishers see each subscriber by itself.
#[test]
fn publishers_see_each_subscriber_by_itself() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    let mut first = subscribable.subscribe();
    let mut stage = subscribable.subscribe_tracked();
    publisher.publish_batch(&[1, 2, 3, 4]).unwrap();
    (0..3).for_each(|_| _ = first.recv());
    stage.process(|_| ()).unwrap();
    let stats = publisher.stats();
    let mut seen: Vec<_> = stats.followed.iter().map(|reader| (reader.position, reader.lag)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 3), (3, 1)]);
    assert_ne!(stats.followed[0].cell, stats.followed[1].cell);
    assert_eq!((stats.received, stats.pending), (Some(1), Some(3)));
    // Many have cells of their own, and keep them.
    let many: Vec<_> = (0..100).map(|_| subscribable.subscribe()).collect();
    let mut cells: Vec<_> = publisher.stats().followed.iter().map(|reader| reader.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), 102);
    drop(many);
    assert_eq!(publisher.stats().followed, stats.followed);
}

#[test]
fn observer_may_be_anywhere() {
    fn anywhere<T: Clone + Send + Sync + UnwindSafe + RefUnwindSafe + 'static>(_: &T) {}
    let (producer, consumer) = spsc::channel::<u64>(4);
    let observer = consumer.observer();
    anywhere(&observer);
    let other = observer.clone();
    drop(observer);
    assert_eq!(format!("{other:?}"), "Observer { closed: false }");
    drop((producer, consumer));
    assert_eq!(format!("{other:?}"), "Observer { closed: true }");
}

#[test]
fn event_subscriber_shows_its_position() {
    let begun = std::time::Instant::now();
    let (mut publisher, subscribable) = event::with(Settings::new(8), || 0).unwrap();
    let mut subscriber = subscribable.subscribe();
    for number in 0..3 {
        publisher.publish(|event| *event = number).unwrap();
    }
    assert_eq!(subscriber.process(|event| *event), Ok(0));
    let stats = subscriber.stats();
    assert!(begun <= stats.taken_at() && stats.taken_at() <= std::time::Instant::now());
    let own = stats.own.unwrap();
    assert_eq!((own.position, own.received, own.lagged, own.pending), (1, 1, 0, 2));
}
