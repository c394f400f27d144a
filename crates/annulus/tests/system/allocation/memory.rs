//! What is dropped gives its memory back.

use crate::counting::gives_back;

#[test]
fn ring_gives_its_memory_back() {
    gives_back("a ring", || {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
        drop((subscribable.subscribe(), publisher, subscribable));
    });
    gives_back("many subscribers of a lossless ring", || {
        let (publisher, subscribable) =
            annulus::broadcast::lossless_with::<u64>(annulus::Settings::new(16).headroom(2)).unwrap();
        let subscribers: Vec<_> = (0..20).map(|_| subscribable.subscribe()).collect();
        drop((publisher, subscribable, subscribers));
    });
    gives_back("a queue of many producers", || {
        let (producer, mut consumer) = annulus::queue::mpsc::channel(16);
        let producers: Vec<_> = (0..100).map(|_| producer.clone()).collect();
        for mut producer in producers {
            producer.send(Box::new(7)).unwrap();
        }
        assert_eq!(consumer.recv().map(|message| *message), Ok(7));
    });
    gives_back("a queue of many consumers", || {
        let (producer, mut consumer) = annulus::queue::mpmc::channel(16);
        let producers: Vec<_> = (0..100).map(|_| producer.clone()).collect();
        for mut producer in producers {
            producer.send(Box::new(7)).unwrap();
        }
        let consumers: Vec<_> = (0..20).map(|_| consumer.clone()).collect();
        assert_eq!(consumer.recv().map(|message| *message), Ok(7));
        drop(consumers);
    });
    gives_back("a pool", || {
        let pool = annulus::pool::BufferPool::new(100, 3);
        let (first, second) = (pool.alloc().unwrap(), pool.alloc().unwrap().into_handle());
        drop((pool, second, first));
    });
}

/// Also while the ring is there: what the first of them needed is enough for the others.
#[test]
fn handles_that_come_and_go_leave_no_memory() {
    const TIMES: usize = if cfg!(miri) { 3 } else { 1_000 };
    let (_publisher, lossy) = annulus::broadcast::lossy::<u64>(16);
    let (_bounded, lossless) = annulus::broadcast::lossless::<u64>(16);
    let (_events, events) = annulus::event::channel(16, || 0_u64);
    let again = |name, action: &dyn Fn()| gives_back(name, || (0..TIMES).for_each(|_| action()));
    again("subscribers", &|| drop((lossy.subscribe(), lossless.subscribe(), events.subscribe())));
    again("taps", &|| drop((lossless.subscribe_lossy(), lossless.subscribe_lossy().clone())));
    again("stages of a lossy ring", &|| {
        let upstream = lossy.subscribe_tracked();
        drop(lossy.subscribe().after(&[&upstream]));
    });
    again("stages of a lossless ring", &|| {
        let upstream = lossless.subscribe_tracked();
        let stage = lossless.subscribe().after(&[&upstream]);
        drop((upstream, lossless.subscribe().after(&[&stage])));
    });
    again("stages of events", &|| {
        let upstream = events.subscribe_tracked();
        drop(events.subscribe().after(&[&upstream]));
    });
    again("groups", &|| drop((lossy.subscribe_group::<4>(), lossless.subscribe_group::<4>())));
    again("members of a group that read alone", &|| {
        let mut group = lossless.subscribe_group::<4>();
        (0..3).for_each(|member| group.pause(member));
    });
}
