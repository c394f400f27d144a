//! What the guide's page for real-time threads says of verbs: none of these asks the system or the allocator
//! for anything. Its table is compared with what is tried here.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom))))]

use std::time::Duration;

use annulus::{
    RecvTimeoutError, WaitStrategy, broadcast, event, mpmc, mpsc, oneshot, pool, queue, spmc, spsc,
};

use crate::counting::allocations;
use crate::support::sleeping::spawn;
use crate::system_calls::makes_a_system_call;

const PAGE: &str = include_str!("../../src/guide/real_time.rs");

/// Runs `round` many times, after a first one, and fails if it calls the system or the allocator. The table
/// of the guide has this row.
fn is_quiet(ring: &str, verbs: &[&str], mut round: impl FnMut(u64)) {
    const ROUNDS: u64 = 1_000;
    let verbs: Vec<_> = verbs.iter().map(|verb| format!("`{verb}`")).collect();
    let row = format!("| {ring} | {} |", verbs.join(", "));
    assert!(PAGE.contains(&row), "the guide has no row {row:?}");
    // Long enough for a ring to be young no more.
    (0..ROUNDS).for_each(&mut round);
    let mut called = None;
    let allocated =
        allocations(|| called = makes_a_system_call(|| (ROUNDS..2 * ROUNDS).for_each(&mut round)));
    assert_eq!(allocated, 0, "{ring}");
    assert_ne!(called, Some(true), "{ring}");
}

#[test]
fn calls_are_seen() {
    crate::support::alone!();
    if let Some(called) = makes_a_system_call(|| _ = std::hint::black_box(std::process::id())) {
        assert!(called);
        assert_eq!(makes_a_system_call(|| ()), Some(false));
    }
}

/// Each verb of the table, where nobody sleeps at the ring.
#[test]
fn verbs_of_the_guide_make_no_system_call() {
    crate::support::alone!();
    annulus::wait::prepare_process();

    let (mut producer, mut consumer) = spsc::channel::<[u64; 8]>(4);
    let verbs = ["try_send", "try_recv", "peek", "advance", "try_reserve", "len", "is_full", "is_empty"];
    is_quiet("`spsc`", &verbs, |round| {
        for _ in 0..5 {
            let _ = producer.try_send([round; 8]);
        }
        assert!(producer.is_full() && producer.try_reserve(1).is_err());
        assert_eq!((consumer.try_recv(), consumer.peek().copied()), (Ok([round; 8]), Some([round; 8])));
        consumer.advance(1);
        assert_eq!((consumer.len(), producer.len()), (2, 2));
        while consumer.try_recv().is_ok() {}
        assert!(consumer.is_empty());
    });

    let (mut producer, mut consumer) = mpsc::channel::<u64>(4);
    let mut other = producer.clone();
    is_quiet("`mpsc`, `mpmc`", &["try_send"], |round| {
        producer.try_send(round).unwrap();
        other.try_send(round).unwrap();
        while consumer.try_recv().is_ok() {}
    });
    let (mut producer, mut consumer) = mpmc::channel::<u64>(4);
    is_quiet("`mpsc`, `mpmc`", &["try_send"], |round| {
        producer.try_send(round).unwrap();
        while consumer.try_recv().is_ok() {}
    });
    let (mut producer, mut consumer) = spmc::channel::<u64>(4);
    is_quiet("`spmc`", &["try_send", "try_recv"], |round| {
        producer.try_send(round).unwrap();
        assert_eq!(consumer.try_recv(), Ok(round));
        assert!(consumer.try_recv().is_err());
    });
    let (sender, receiver) = queue::ordered::channel::<u64>(4);
    is_quiet("`queue::ordered`", &["try_send", "try_recv"], |round| {
        while sender.try_send(round).is_ok() {}
        while receiver.try_recv().is_ok() {}
    });

    let (mut publisher, subscribable) = broadcast::lossy::<[u64; 8]>(4);
    let mut subscriber = subscribable.subscribe();
    let verbs = ["publish", "publish_batch", "try_recv", "latest", "skip_to_latest", "len"];
    is_quiet("`broadcast::lossy`", &verbs, |round| {
        publisher.publish([round; 8]);
        publisher.publish_batch(&[[round; 8]; 7]);
        let _ = (subscriber.try_recv(), subscriber.try_recv(), subscriber.latest(), subscriber.len());
        subscriber.skip_to_latest();
    });
    let (mut publisher, subscribable) = broadcast::lossless::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    is_quiet("`broadcast::lossless`", &["try_publish", "try_recv"], |round| {
        while publisher.try_publish(round).is_ok() {}
        while subscriber.try_recv().is_ok() {}
    });
    let (mut publisher, subscribable) = event::channel(4, || vec![0_u64; 8]);
    let mut subscriber = subscribable.subscribe();
    is_quiet("`event`", &["try_publish", "try_process", "peek"], |round| {
        while publisher.try_publish(|event| event.fill(round)).is_ok() {}
        if let Some(event) = subscriber.peek() {
            event.pass();
        }
        while subscriber.try_process(|event| assert_eq!(event[7], round)).is_ok() {}
    });

    let pool = pool::BufferPool::new(64, 2);
    is_quiet("`pool`", &["alloc", "drop"], |round| {
        let [mut first, second] = [(); 2].map(|()| pool.alloc().unwrap());
        first[0] = round as u8;
        assert!(pool.alloc().is_none());
        drop((first, second));
    });

    let mut replies: Vec<_> = (0..2_000).map(|_| oneshot::channel::<u64>()).collect();
    let mut asked = Vec::with_capacity(replies.len());
    is_quiet("`oneshot`", &["send", "try_recv"], |round| {
        let (sender, mut receiver) = replies.pop().unwrap();
        assert!(receiver.try_recv().is_err());
        sender.send(round).unwrap();
        assert_eq!(receiver.try_recv(), Ok(round));
        // Its drop frees the channel: that is another thread's affair.
        asked.push(receiver);
    });
}

/// A side that spins is no sleeper: the other one asks nobody. One that sleeps is woken by a system call.
#[test]
fn sleeper_alone_costs_a_system_call() {
    const COUNT: u64 = 10_000;
    crate::support::alone!();
    annulus::wait::prepare_process();
    let (mut producer, mut consumer) = spsc::channel::<u64>(16);
    let reader = std::thread::spawn(move || {
        (0..COUNT).for_each(|number| assert_eq!(consumer.recv_until(WaitStrategy::BackoffSpin), Ok(number)));
        consumer
    });
    let called = makes_a_system_call(|| {
        for number in 0..COUNT {
            while producer.try_send(number).is_err() {
                std::hint::spin_loop();
            }
        }
    });
    assert_ne!(called, Some(true));
    let mut consumer = reader.join().unwrap();
    // It looks again after a while: the call that is to wake it is counted, and not made.
    let (reader, sleeper) = spawn(move || {
        loop {
            match consumer.recv_timeout(Duration::from_millis(500)) {
                Err(RecvTimeoutError::Timeout) => {}
                found => return found,
            }
        }
    });
    sleeper.await_sleep();
    let called = makes_a_system_call(|| producer.try_send(7).unwrap());
    assert_ne!(called, Some(false), "a sleeper is woken");
    assert_eq!(reader.join().unwrap(), Ok(7));
}
