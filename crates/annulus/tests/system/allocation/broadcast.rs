//! Broadcast rings of copied messages.

use std::time::Duration;

use crate::counting::{allocations, steady};

#[test]
fn messages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 40]>(16);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = [[0; 40]; 8];
    let count = allocations(|| {
        for number in 0..100 {
            publisher.publish([number; 40]);
            publisher.publish_batch(&[[number; 40]; 20]);
            let _ = publisher.skip_to(publisher.published() + number % 8);
            publisher.publish_with(|| [number; 40]);
            let _ = subscriber.try_recv_or_lag();
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

#[test]
fn lossless_messages_allocate_nothing() {
    let (mut publisher, subscribable) =
        annulus::broadcast::lossless_with::<[u64; 40]>(annulus::Settings::new(16).headroom(2)).unwrap();
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

/// Cells are kept for the next subscribers, and there are no more of them than subscribers at one time: they
/// come in families of eight.
#[test]
fn most_subscribers_at_one_time_decide() {
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
    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<[u64; 40]>(16);
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
