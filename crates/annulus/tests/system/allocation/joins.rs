//! What joins a ring may need memory: this says which verbs do.

use crate::counting::allocations;

/// Whether a thread that joins a ring needs memory for it.
#[derive(Debug, PartialEq)]
enum Needs {
    Nothing,
    /// A place for its cursor, or for what it claims, if none is free.
    Place,
    /// Something of its own, each time: a ring, the progress of a stage, the readers of a group.
    Own,
}

/// What `join` needs: a hundred that are there at once, and a few that come when those have left.
fn needs<J>(mut join: impl FnMut() -> J) -> Needs {
    let mut joined = Vec::with_capacity(100);
    let at_once = allocations(|| joined.extend((0..100).map(|_| join())));
    drop(joined);
    let mut later = None;
    let again = allocations(|| later = Some(join()));
    match (at_once, again) {
        (0, 0) => Needs::Nothing,
        (1..100, 0) => Needs::Place,
        _ => Needs::Own,
    }
}

/// Every verb that joins, as the crate's front page lists them. A ring that a producer leaves is its queue's
/// affair, so producers are asked while all are there.
#[test]
fn joins_allocate_as_listed() {
    let (_publisher, lossy) = annulus::broadcast::lossy::<u64>(16);
    let (_bounded, lossless) = annulus::broadcast::lossless::<u64>(16);
    let (many, _subscribable) = annulus::broadcast::mp_lossy::<u64>(16);
    let (many_bounded, _subscribable) = annulus::broadcast::mp_lossless::<u64>(16);
    let (many_events, events) = annulus::event::mp_channel(16, || 0_u64);
    let (lossy_reader, lossless_reader) = (lossy.subscribe(), lossless.subscribe());
    let (spmc_producer, spmc) = annulus::spmc::channel::<u64>(16);
    let (_mpmc_producer, mpmc) = annulus::mpmc::channel::<u64>(16);
    let one_order = annulus::queue::ordered::channel::<u64>(16);
    let pool = annulus::pool::BufferPool::new(64, 1);
    let shutdown = annulus::Shutdown::new();
    let nothing = [
        needs(|| lossy.clone()),
        needs(|| lossy.subscribe()),
        needs(|| lossy.subscribe_from_oldest()),
        needs(|| lossy_reader.clone()),
        needs(|| lossless.clone()),
        needs(|| lossless.subscribe_lossy()),
        needs(|| many_bounded.clone()),
        needs(|| many_events.clone()),
        needs(|| spmc.clone()),
        needs(|| mpmc.clone()),
        needs(|| one_order.0.clone()),
        needs(|| one_order.1.clone()),
        needs(|| pool.clone()),
        needs(|| shutdown.clone()),
    ];
    for (number, needs) in nothing.iter().enumerate() {
        assert_eq!(*needs, Needs::Nothing, "number {number}");
    }
    drop(spmc_producer);

    let place = [needs(|| many.clone()), needs(|| lossless.subscribe()), needs(|| events.subscribe()), {
        let (_publisher, lossless) = annulus::broadcast::lossless::<u64>(16);
        needs(|| lossless.subscribe_from_oldest())
    }];
    assert_eq!(place, [Needs::Place, Needs::Place, Needs::Place, Needs::Place]);
    assert_eq!(needs(|| lossless_reader.clone()), Needs::Nothing, "there are places now");
    let (_publisher, fresh) = annulus::broadcast::lossless::<u64>(16);
    let mut group = fresh.subscribe_group::<100>();
    assert_ne!(
        allocations(|| (0..100).for_each(|member| group.pause(member))),
        0,
        "each has a cursor of its own now"
    );

    let (tracked, tracked_lossless) = (lossy.subscribe_tracked(), lossless.subscribe_tracked());
    let stages = [
        needs(|| lossy.subscribe_tracked()),
        needs(|| lossless.subscribe_tracked()),
        needs(|| lossy.subscribe().after(&[&tracked])),
        needs(|| lossless.subscribe().after(&[&tracked_lossless])),
        needs(|| events.subscribe_tracked()),
        needs(|| annulus::broadcast::DependencyBarrier::new(&[&tracked])),
        needs(|| lossy.subscribe_group::<4>()),
        needs(|| lossless.subscribe_group::<4>()),
    ];
    for (number, needs) in stages.iter().enumerate() {
        assert_eq!(*needs, Needs::Own, "number {number}");
    }

    // The first handle of a topic needs its ring, and a place among the topics; the others look it up.
    let names: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let (bus, typed) = (annulus::bus::Bus::<u64>::new(16), annulus::bus::TypedBus::new(16));
    let (mut new, mut old) = (names.iter(), names.iter());
    assert_eq!(needs(|| bus.subscribe(new.next().unwrap())), Needs::Own);
    assert_eq!(needs(|| bus.subscribe(old.next().unwrap())), Needs::Nothing);
    let (mut new, mut old) = (names.iter(), names.iter());
    assert_eq!(needs(|| typed.subscribe::<u64>(new.next().unwrap())), Needs::Own);
    assert_eq!(needs(|| typed.subscribe::<u64>(old.next().unwrap())), Needs::Nothing);

    // A ring for each: at least the ring, whatever else the queue needs to know of it.
    let (mpsc, _consumer) = annulus::mpsc::channel::<u64>(16);
    let (mpmc, _consumer) = annulus::mpmc::channel::<u64>(16);
    let mut joined = (Vec::with_capacity(100), Vec::with_capacity(100));
    assert!(allocations(|| joined.0.extend((0..100).map(|_| mpsc.clone()))) >= 100);
    assert!(allocations(|| joined.1.extend((0..100).map(|_| mpmc.register().unwrap()))) >= 100);
}
