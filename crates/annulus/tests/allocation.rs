//! Nothing is allocated after the ring is made, but for the cells of a lossless ring's subscribers, which are used again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local cell that needs no
// allocation and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(action: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    action();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn counting_counts() {
    // What nobody looks at the compiler may leave out.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn messages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::channel::<[u64; 40]>(16);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = [[0; 40]; 8];
    let count = allocations(|| {
        for number in 0..100 {
            publisher.publish([number; 40]);
            publisher.publish_batch(&[[number; 40]; 20]);
            publisher.publish_with(|| [number; 40]);
            let _ = subscriber.try_recv();
            let _ = subscriber.recv();
            let _ = subscriber.recv_timeout(std::time::Duration::ZERO);
            subscriber.recv_batch(&mut buffer);
            subscriber.drain().take(2).for_each(drop);
            let _ = (subscriber.latest(), subscriber.skip_to_latest(), subscriber.pending());
            let joined = subscribable.subscribe();
            drop((joined.clone(), joined, subscribable.subscribe_from_oldest()));
        }
    });
    assert_eq!(count, 0);
}

/// Publishes and receives in step, so that nobody waits, after a first round that may allocate places for cursors.
fn steady(mut step: impl FnMut(u64)) {
    step(0);
    assert_eq!(allocations(|| (1..100).for_each(&mut step)), 0);
}

#[test]
fn lossless_messages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::channel_bounded::<[u64; 40]>(16, 2);
    let mut subscriber = subscribable.subscribe();
    let mut tap = subscribable.subscribe_lossy();
    let mut buffer = [[0; 40]; 16];
    steady(|round| {
        publisher.publish([round; 40]).unwrap();
        publisher.publish_batch(&[[round; 40]; 8]).unwrap();
        publisher.try_publish([round; 40]).unwrap();
        publisher.publish_with(|| [round; 40]).unwrap();
        publisher.publish_timeout([round; 40], std::time::Duration::ZERO).unwrap();
        let _ = publisher.publish_batch_timeout(&[[round; 40]; 8], std::time::Duration::from_micros(1));
        let joined = subscribable.subscribe();
        drop((joined.clone(), joined, subscribable.subscribe_from_oldest()));
        let _ =
            (subscriber.try_recv(), subscriber.recv(), subscriber.recv_timeout(std::time::Duration::ZERO));
        subscriber.recv_batch(&mut buffer);
        subscriber.drain().for_each(drop);
        let _ = (tap.latest(), tap.pending());
    });
}

/// Subscribers use the cells of those that left, however many come and go.
#[test]
fn subscribers_that_come_and_go_allocate_nothing() {
    let (publisher, subscribable) = annulus::channel_bounded::<u64>(16, 0);
    let (events, event_subscribable) = annulus::event_channel(8, || 0);
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
    let (_publisher, subscribable) = annulus::channel_bounded::<u64>(16, 0);
    let most: u64 = if cfg!(miri) { 30 } else { 1000 };
    let crowd = |count: u64| -> Vec<_> { (0..count).map(|_| subscribable.subscribe()).collect() };
    // One more: of the vector.
    let first = allocations(|| drop(crowd(most)));
    assert!(first <= 2 + most.div_ceil(8), "{first}");
    for count in [most, most / 2, 1, most] {
        assert!(allocations(|| drop(crowd(count))) <= 1);
    }
}

#[test]
fn many_publishers_allocate_nothing() {
    let (publisher, subscribable) = annulus::channel_mpmc::<[u64; 40]>(16);
    let (other, other_subscribable) = annulus::channel_mpmc_bounded::<[u64; 40]>(16, 0);
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
        other_subscriber.drain().for_each(drop);
    });
}

#[test]
fn owned_events_allocate_nothing() {
    let text = || String::with_capacity(64);
    let (mut publisher, subscribable) = annulus::event_channel(8, text);
    let (mut other, other_subscribable) = annulus::event_channel_mpmc(8, text);
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

#[test]
fn groups_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::channel_bounded::<u64>(16, 0);
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
    let (mut publisher, subscribable) = annulus::channel_bounded::<u64>(16, 0);
    let mut first = subscribable.subscribe_tracked();
    let mut last = subscribable.subscribe().after(&[&first]);
    steady(|round| {
        publisher.publish_batch(&[round; 8]).unwrap();
        first.drain().for_each(drop);
        first.done();
        assert_eq!(last.drain().count(), 8);
    });
}
