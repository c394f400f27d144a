//! Messages go their way without the allocator: nothing is taken from it, and nothing given back. What joins a ring may need memory: `JOINS` says
//! which verbs do.

#[path = "support/hang.rs"]
mod hang;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;
use std::time::Duration;

thread_local! {
    /// Calls of the allocator, in either direction.
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that were taken and not given back.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local cell that needs no
// allocation and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get().wrapping_add(layout.size())));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get().wrapping_sub(layout.size())));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(action: impl FnOnce()) -> u64 {
    let before = CALLS.with(Cell::get);
    action();
    CALLS.with(Cell::get) - before
}

#[test]
fn counting_counts() {
    // What nobody looks at the compiler may leave out.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 2);
}

/// Runs `action`, which drops all that it makes, and fails if memory is left.
fn gives_back(name: &str, mut action: impl FnMut()) {
    // What is made once for all is made now.
    action();
    let before = BYTES.with(Cell::get);
    action();
    assert_eq!(BYTES.with(Cell::get), before, "{name}");
}

#[test]
fn a_ring_gives_its_memory_back() {
    gives_back("a ring", || {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
        drop((subscribable.subscribe(), publisher, subscribable));
    });
    gives_back("many subscribers of a lossless ring", || {
        let (publisher, subscribable) =
            annulus::broadcast::Builder::new(16).headroom(2).lossless::<u64>().unwrap();
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

#[test]
fn messages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 40]>(16);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = [[0; 40]; 8];
    let count = allocations(|| {
        for number in 0..100 {
            publisher.publish([number; 40]);
            publisher.publish_batch(&[[number; 40]; 20]);
            publisher.publish_with(|| [number; 40]);
            let _ = subscriber.try_recv();
            let _ = subscriber.recv();
            let _ = subscriber.recv_timeout(Duration::ZERO);
            subscriber.try_recv_batch(&mut buffer);
            subscriber.try_iter().take(2).for_each(drop);
            let _ = (subscriber.latest(), subscriber.skip_to_latest(), subscriber.len());
            let joined = subscribable.subscribe();
            drop((joined.clone(), joined, subscribable.subscribe_from_oldest()));
        }
    });
    assert_eq!(count, 0);
}

/// Sends and receives in step, so that nobody waits, after a first round in which those that join find their places.
fn steady(mut step: impl FnMut(u64)) {
    step(0);
    assert_eq!(allocations(|| (1..100).for_each(&mut step)), 0);
}

#[test]
fn lossless_messages_allocate_nothing() {
    let (mut publisher, subscribable) =
        annulus::broadcast::Builder::new(16).headroom(2).lossless::<[u64; 40]>().unwrap();
    let mut subscriber = subscribable.subscribe();
    let mut tap = subscribable.subscribe_lossy();
    let mut buffer = [[0; 40]; 16];
    steady(|round| {
        publisher.publish([round; 40]).unwrap();
        publisher.publish_batch(&[[round; 40]; 8]).unwrap();
        publisher.try_publish([round; 40]).unwrap();
        publisher.publish_with(|| [round; 40]).unwrap();
        publisher.publish_timeout([round; 40], Duration::ZERO).unwrap();
        let _ = publisher.publish_batch_timeout(&[[round; 40]; 8], Duration::from_micros(1));
        let joined = subscribable.subscribe();
        drop((joined.clone(), joined, subscribable.subscribe_from_oldest()));
        let _ = (subscriber.try_recv(), subscriber.recv(), subscriber.recv_timeout(Duration::ZERO));
        subscriber.try_recv_batch(&mut buffer);
        subscriber.try_iter().for_each(drop);
        let _ = (tap.latest(), tap.len());
    });
}

/// Subscribers use the cells of those that left, however many come and go.
#[test]
fn subscribers_that_come_and_go_allocate_nothing() {
    let (publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let (events, event_subscribable) = annulus::event::channel(8, || 0);
    let rounds = if cfg!(miri) { 20 } else { 10_000 };
    let round = || {
        let [first, second, third] = [(); 3].map(|()| subscribable.subscribe());
        drop((second.clone(), second, subscribable.subscribe_from_oldest(), first.clone(), third, first));
        let [first, second] = [(); 2].map(|()| event_subscribable.subscribe());
        drop((first.clone(), first, second));
    };
    round();
    assert_eq!(allocations(|| (0..rounds).for_each(|_| round())), 0);
    drop((publisher, events));
}

/// Cells are kept for those who come next, and there are no more of them than subscribers at one time: they come in families of eight.
#[test]
fn the_most_subscribers_at_one_time_decide() {
    let (_publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let most: u64 = if cfg!(miri) { 30 } else { 1000 };
    let crowd = |count: u64| -> Vec<_> { (0..count).map(|_| subscribable.subscribe()).collect() };
    // Two more: the vector's memory is taken, and given back.
    let first = allocations(|| drop(crowd(most)));
    assert!(first <= 3 + most.div_ceil(8), "{first}");
    for count in [most, most / 2, 1, most] {
        assert!(allocations(|| drop(crowd(count))) <= 2);
    }
}

#[test]
fn many_publishers_allocate_nothing() {
    let (publisher, subscribable) = annulus::broadcast::mp_lossy::<[u64; 40]>(16);
    let (other, other_subscribable) = annulus::broadcast::mp_lossless::<[u64; 40]>(16);
    let mut subscriber = subscribable.subscribe();
    let mut other_subscriber = other_subscribable.subscribe();
    steady(|round| {
        publisher.publish([round; 40]);
        publisher.publish_batch(&[[round; 40]; 20]);
        drop(publisher.clone());
        other.publish([round; 40]).unwrap();
        other.publish_batch(&[[round; 40]; 8]).unwrap();
        let _ = (other.clone().try_publish([round; 40]), subscriber.try_recv(), subscriber.recv());
        let _ = subscriber.latest();
        other_subscriber.try_iter().for_each(drop);
    });
}

#[test]
fn owned_events_allocate_nothing() {
    let text = || String::with_capacity(64);
    let (mut publisher, subscribable) = annulus::event::channel(8, text);
    let (mut other, other_subscribable) = annulus::event::mp_channel(8, text);
    let mut subscriber = subscribable.subscribe();
    let mut other_subscriber = other_subscribable.subscribe();
    steady(|round| {
        for _ in 0..6 {
            let change = |text: &mut String| {
                text.clear();
                write!(text, "round {round}").unwrap();
            };
            publisher.publish(change).unwrap();
            other.publish(change).unwrap();
        }
        subscriber.process(|text| assert!(text.starts_with("round"))).unwrap();
        subscriber.peek().unwrap().pass();
        subscriber.process_batch(99, |text, _| assert_eq!(text.capacity(), 64)).unwrap();
        while other_subscriber.try_process(|text| assert_eq!(text.capacity(), 64)).is_ok() {}
    });
}

/// A value that needs no memory goes in and out without any.
#[test]
fn events_by_value_allocate_nothing_of_their_own() {
    let (mut publisher, subscribable) = annulus::event::channel(8, || [0; 40]);
    let (other, other_subscribable) = annulus::event::mp_channel(8, || [0; 40]);
    let (mut subscriber, mut other_subscriber) = (subscribable.subscribe(), other_subscribable.subscribe());
    steady(|round| {
        publisher.send([round; 40]).unwrap();
        other.send([round; 40]).unwrap();
        publisher.try_send([round; 40]).unwrap();
        other.send_timeout([round; 40], NOW).unwrap();
        assert_eq!(subscriber.recv().unwrap()[0] + other_subscriber.recv().unwrap()[39], 2 * round);
        assert_eq!((subscriber.try_iter().count(), other_subscriber.try_iter().count()), (1, 1));
    });
}

/// The frames of the example `video_frames`: one camera, three viewers on threads of their own. Nobody allocates for a frame, and nobody copies one:
/// all see it where the camera filled it.
#[test]
fn frames_for_many_readers_allocate_nothing() {
    const PLACES: usize = 4;
    const BYTES: usize = if cfg!(miri) { 64 } else { 64 * 1024 };
    let frames: u64 = if cfg!(miri) { 20 } else { 2000 };
    let empty = || (0_u64, vec![0_u8; BYTES].into_boxed_slice());
    let (mut camera, viewers) = annulus::event::channel(PLACES, empty);
    // A first sleep takes what it takes.
    annulus::prepare();
    let watching = [(); 3].map(|()| {
        let mut viewer = viewers.subscribe();
        std::thread::spawn(move || {
            let (mut seen, mut places) = (0, [0; PLACES]);
            let count = allocations(|| {
                let watch = |(number, pixels): &(u64, Box<[u8]>)| {
                    assert_eq!(*number, seen);
                    assert!(pixels.iter().all(|&pixel| pixel == seen as u8));
                    let place = &mut places[seen as usize % PLACES];
                    assert!(*place == 0 || *place == pixels.as_ptr().addr(), "a copy");
                    *place = pixels.as_ptr().addr();
                    seen += 1;
                };
                let mut watch = watch;
                while viewer.process(&mut watch).is_ok() {}
            });
            (count, seen, places)
        })
    });
    let count = allocations(|| {
        for number in 0..frames {
            let fill = |(frame, pixels): &mut (u64, Box<[u8]>)| {
                *frame = number;
                pixels.fill(number as u8);
            };
            assert!(camera.publish(fill).is_ok());
        }
    });
    assert_eq!(count, 0, "the camera");
    drop(camera);
    let accounts = watching.map(|viewer| viewer.join().unwrap());
    assert!(accounts.iter().all(|account| *account == (0, frames, accounts[0].2)), "{accounts:?}");
}

#[test]
fn groups_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let mut group = subscribable.subscribe_group::<20>();
    steady(|round| {
        publisher.publish_batch(&[round; 8]).unwrap();
        (0..20).step_by(3).for_each(|member| group.pause(member));
        while group.try_recv().is_ok() {}
        for member in 0..20 {
            while group.try_recv_member(member).is_ok() {}
        }
        assert_eq!((group.aligned_count(), group.total_received(3)), (20, 8 * (round + 1)));
    });
}

#[test]
fn stages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
    let mut first = subscribable.subscribe_tracked();
    let mut last = subscribable.subscribe().after(&[&first]);
    steady(|round| {
        publisher.publish_batch(&[round; 8]).unwrap();
        first.try_iter().for_each(drop);
        first.done();
        assert_eq!(last.try_iter().count(), 8);
    });
}

/// At no time, for nobody.
const NOW: Duration = Duration::ZERO;

#[test]
fn queues_of_one_consumer_allocate_nothing() {
    let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(16);
    let (mut many, mut one) = annulus::mpsc::channel::<u64>(16);
    let mut another = many.clone();
    let mut buffer = [0; 8];
    steady(|round| {
        producer.try_send(round).unwrap();
        producer.send(round).unwrap();
        producer.send_timeout(round, NOW).unwrap();
        assert_eq!(producer.try_send_batch(&[round; 9]), 9);
        producer.send_batch(&[round; 2]).unwrap();
        assert_eq!(producer.reserve(2).unwrap().fill(round), 2);
        assert!(producer.try_send(round).is_err() && producer.send_timeout(round, NOW).is_err());
        assert_eq!(consumer.peek(), Some(&round));
        assert!(!consumer.readable().is_empty());
        consumer.advance(1);
        assert_eq!(consumer.skip(1), 1);
        let received = (consumer.try_recv(), consumer.recv(), consumer.recv_timeout(NOW));
        assert_eq!(received, (Ok(round), Ok(round), Ok(round)));
        assert_eq!(consumer.try_recv_batch(&mut buffer), 8);
        assert_eq!(consumer.consume_up_to(1, drop) + consumer.consume(drop) + consumer.try_iter().count(), 3);
        assert!(consumer.recv_timeout(Duration::from_micros(1)).is_err());

        many.try_send(round).unwrap();
        another.send(round).unwrap();
        another.send_batch(&[round; 4]).unwrap();
        assert_eq!(one.recv(), Ok(round));
        assert_eq!(one.try_recv_batch(&mut buffer) + one.consume(drop) + one.try_iter().count(), 5);
    });
}

/// Whoever joined has paid for all that its consumer needs to know of it.
#[test]
fn a_receive_allocates_nothing_however_many_producers_there_are() {
    let (producer, mut consumer) = annulus::mpsc::channel::<u64>(4);
    let mut producers: Vec<_> = (0..200).map(|_| producer.clone()).collect();
    let count = allocations(|| {
        for producer in &mut producers {
            producer.send(1).unwrap();
        }
        (0..200).for_each(|_| assert_eq!(consumer.try_recv(), Ok(1)));
        assert!(consumer.try_recv().is_err());
    });
    assert_eq!(count, 0);
}

#[test]
fn queues_of_many_consumers_allocate_nothing() {
    let (mut producer, mut consumer) = annulus::spmc::channel::<u64>(16);
    let (mut many, mut any) = annulus::mpmc::channel::<u64>(16);
    let (mut another, mut other) = (many.clone(), any.clone());
    let mut buffer = [0; 8];
    steady(|round| {
        producer.send_batch(&[round; 16]).unwrap();
        assert!(producer.try_send(round).is_err());
        let mut thief = consumer.clone();
        assert_eq!((consumer.try_recv(), thief.recv()), (Ok(round), Ok(round)));
        assert_eq!(thief.try_recv_batch(&mut buffer) + consumer.try_iter().count(), 14);
        drop(thief);

        many.send_batch(&[round; 8]).unwrap();
        another.send(round).unwrap();
        assert_eq!((any.try_recv(), other.recv_timeout(NOW)), (Ok(round), Ok(round)));
        let taken = other.try_recv_batch(&mut buffer) + any.consume(drop) + other.consume(drop);
        assert_eq!(taken, 7);
    });
}

#[test]
fn the_shared_queue_allocates_nothing() {
    let (sender, receiver) = annulus::queue::shared::channel::<u64>(16);
    let mut buffer = [0; 8];
    steady(|round| {
        let (another, other) = (sender.clone(), receiver.clone());
        sender.send_batch(&[round; 15]).unwrap();
        another.send(round).unwrap();
        assert!(sender.try_send(round).is_err() && another.send_timeout(round, NOW).is_err());
        assert_eq!((receiver.try_recv(), other.recv()), (Ok(round), Ok(round)));
        assert_eq!((other.recv_timeout(NOW), receiver.recv_batch(&mut buffer)), (Ok(round), Ok(8)));
        assert_eq!(other.consume_up_to(1, drop) + other.try_recv_batch(&mut buffer[..2]), 3);
        assert_eq!(receiver.try_iter().count(), 2);
    });
}

#[test]
fn buffers_allocate_nothing() {
    let pool = annulus::pool::BufferPool::new(256, 2);
    let (mut producer, mut consumer) = annulus::spsc::channel(2);
    steady(|_| {
        let (buffer, freed) = (pool.alloc().unwrap(), pool.clone().alloc().unwrap());
        assert!(pool.alloc().is_none());
        drop(freed);
        producer.send(buffer.into_handle()).unwrap();
        let handle = consumer.recv().unwrap();
        drop(pool.redeem(handle).unwrap());
        assert!(pool.redeem(handle).is_err() && pool.available() == 2);
    });
}

/// Whether a thread that joins a ring needs memory for it.
#[derive(Debug, PartialEq)]
enum Needs {
    Nothing,
    /// A place for its cursor, if none is free.
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

/// Every verb that joins, as the crate's front page lists them. A ring that a producer leaves is its queue's affair, so producers are asked while all
/// are there.
#[test]
fn who_joins_needs_what_is_listed_here() {
    let (_publisher, lossy) = annulus::broadcast::lossy::<u64>(16);
    let (_bounded, lossless) = annulus::broadcast::lossless::<u64>(16);
    let (many, _subscribable) = annulus::broadcast::mp_lossy::<u64>(16);
    let (many_bounded, _subscribable) = annulus::broadcast::mp_lossless::<u64>(16);
    let (many_events, events) = annulus::event::mp_channel(16, || 0_u64);
    let (lossy_reader, lossless_reader) = (lossy.subscribe(), lossless.subscribe());
    let (spmc_producer, spmc) = annulus::spmc::channel::<u64>(16);
    let (_mpmc_producer, mpmc) = annulus::mpmc::channel::<u64>(16);
    let one_order = annulus::queue::shared::channel::<u64>(16);
    let pool = annulus::pool::BufferPool::new(64, 1);
    let shutdown = annulus::Shutdown::new();
    let nothing = [
        needs(|| lossy.clone()),
        needs(|| lossy.subscribe()),
        needs(|| lossy.subscribe_from_oldest()),
        needs(|| lossy_reader.clone()),
        needs(|| lossless.clone()),
        needs(|| lossless.subscribe_lossy()),
        needs(|| many.clone()),
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

    let place = [needs(|| lossless.subscribe()), needs(|| events.subscribe()), {
        let (_publisher, lossless) = annulus::broadcast::lossless::<u64>(16);
        needs(|| lossless.subscribe_from_oldest())
    }];
    assert_eq!(place, [Needs::Place, Needs::Place, Needs::Place]);
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

    // A ring for each: at least the ring, whatever else the queue needs to know of it.
    let (mpsc, _consumer) = annulus::mpsc::channel::<u64>(16);
    let (mpmc, _consumer) = annulus::mpmc::channel::<u64>(16);
    let mut joined = (Vec::with_capacity(100), Vec::with_capacity(100));
    assert!(allocations(|| joined.0.extend((0..100).map(|_| mpsc.clone()))) >= 100);
    assert!(allocations(|| joined.1.extend((0..100).map(|_| mpmc.register().unwrap()))) >= 100);
}
