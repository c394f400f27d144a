//! A process registers for barriers with its first ring, as long as that takes no time. Where it takes some,
//! neither a ring nor a short sleep waits for it (and `prepare.rs` does it in advance).
//!
//! The kernel refuses a barrier to a process that has not registered for it, so it can be asked whether this
//! one has. A process for each test, because a process registers once.
#![cfg(all(target_os = "linux", feature = "std", not(miri)))]

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Pauses, STUCK, join, spawn};
use annulus::{Shutdown, WaitStrategy, pool::BufferPool};
use rustix::io::Errno;
use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

const ROUNDS: u64 = if cfg!(debug_assertions) { 3000 } else { 20_000 };

const SPIN: WaitStrategy = WaitStrategy::adaptive_after(8, 8);

fn is_registered() -> bool {
    match membarrier(MembarrierCommand::PrivateExpedited) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error, Errno::PERM, "it says that nobody registered");
            false
        }
    }
}

/// Two broadcast rings: each sends and receives between threads, spins, closes.
fn broadcast() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
    let mut subscriber = subscribable.subscribe();
    let reader = thread::spawn(move || (0..100).map_while(|_| subscriber.recv_until(SPIN).ok()).count());
    (0..1000).for_each(|number| publisher.publish(number));
    drop(publisher);
    // (The last message stands. How many of those before it the reader loses, the threads decide.)
    assert!(reader.join().unwrap() > 0);

    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(16);
    let mut first = subscribable.subscribe_tracked();
    let mut last = subscribable.subscribe().after(&[&first]);
    let writer =
        thread::spawn(move || (0..100).for_each(|number| publisher.publish_until(number, SPIN).unwrap()));
    for number in 0..100 {
        assert_eq!(first.recv_until(SPIN), Ok(number));
        first.done();
        assert_eq!(last.recv_until(SPIN), Ok(number));
    }
    writer.join().unwrap();
    assert!(first.recv_until(SPIN).is_err());
}

/// Whether the kernel has these barriers. (An emulator may have none: wakers pay for a fence of their own
/// there.)
fn has_barriers() -> bool {
    membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
}

/// A second thread, until this is dropped.
fn second_thread() -> impl Sized {
    let (end, ends) = mpsc::channel::<()>();
    let (begins, begun) = mpsc::channel();
    spawn(move || {
        begins.send(()).unwrap();
        ends.recv()
    });
    begun.recv().unwrap();
    end
}

/// The one thread of a process registers with its first ring: no sleep has to wait for it later.
#[test]
fn one_thread_registers_with_its_first_ring() {
    crate::support::alone!();
    if !has_barriers() {
        return;
    }
    let ring = || {
        let before = is_registered();
        drop(annulus::spsc::channel::<u64>(4));
        i32::from(before) << 1 | i32::from(is_registered())
    };
    // SAFETY: a ring calls the system and the allocator only.
    assert_eq!(unsafe { crate::support::fork::in_a_child(ring) }, 1, "not before, and then");
}

/// Where there are more threads it takes milliseconds, and first sleeps do not wait for that: a nap that ends
/// by its deadline, or by a wake-up, leaves the process as it was. Once longer naps have run out, it
/// registers.
#[test]
fn first_sleep_does_not_register() {
    crate::support::alone!();
    if !has_barriers() {
        return;
    }
    let _second = second_thread();
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let (producer, mut consumer) = grown();
    (0..MANY).for_each(|number| publisher.publish(number));
    let mut subscriber = subscribable.subscribe();
    let soon = Duration::from_micros(100);
    for _ in 0..500 {
        assert!(subscriber.recv_timeout(soon).is_err());
        assert!(consumer.recv_timeout(soon).is_err());
    }
    assert!(!is_registered(), "a nap was shorter than a millisecond");

    let begun = Instant::now();
    while !is_registered() {
        assert!(subscriber.recv_timeout(Duration::from_secs(1)).is_err());
        assert!(begun.elapsed() < STUCK, "it naps for ever");
    }
    drop((publisher, producer));
}

/// So many messages end the youth of a ring.
const MANY: u64 = 1000;

/// A queue whose producer has light fences.
fn grown() -> (annulus::spsc::Producer<u64>, annulus::spsc::Consumer<u64>) {
    let (mut producer, mut consumer) = annulus::spsc::channel(4);
    for number in 0..MANY {
        producer.send(number).unwrap();
        assert_eq!(consumer.recv(), Ok(number));
    }
    (producer, consumer)
}

/// A young ring needs no barrier, so sleeps at it are none that would register the process in the end.
#[test]
fn sleep_at_a_young_ring_does_not_register() {
    crate::support::alone!();
    if !has_barriers() {
        return;
    }
    let _second = second_thread();
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let (_producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    for _ in 0..3 {
        assert!(subscriber.recv_timeout(Duration::from_millis(50)).is_err());
        assert!(consumer.recv_timeout(Duration::from_millis(50)).is_err());
    }
    assert!(!is_registered(), "longer than the longest naps");
}

/// Nor does the end of a queue, a `select!`, a notifier or a task wait for the registration.
///
/// (A thread naps for the last three: it would register after five naps, in each of which somebody asks for
/// one. They ask four times.)
#[test]
fn no_verb_waits_for_the_registration() {
    crate::support::alone!();
    if !has_barriers() {
        return;
    }
    let _second = second_thread();
    let (sender, receiver) = annulus::queue::ordered::channel(4);
    for number in 0..MANY {
        sender.send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
    drop(receiver);
    assert!(sender.try_send(7).is_err());
    let (mut producer, consumer) = grown();
    drop(consumer);
    assert!(producer.try_send(7).is_err());
    let (publisher, _subscribable) = annulus::broadcast::lossy::<u64>(4);
    publisher.closer().close();
    assert!(!is_registered(), "after the ends of rings");

    let (_producer, mut consumer) = grown();
    annulus::select! {
        recv(consumer) -> message => panic!("{message:?}"),
        default(Duration::from_micros(100)) => {}
    }
    assert!(!is_registered(), "after a `select!`");
    let mut notifier = annulus::Notifier::new(consumer).unwrap();
    assert_eq!(notifier.arm(), annulus::Readiness::Armed);
    assert!(!is_registered(), "after a notifier");

    #[cfg(feature = "async")]
    {
        use crate::support::tasks::Counting;

        let (mut producer, mut consumer) = grown();
        let mut future = consumer.recv_async();
        let woken = Counting::new();
        assert!(woken.poll(&mut future).is_pending());
        assert!(!is_registered(), "after a task");
        // A thread that waits on is woken to look again, until there are barriers.
        let begun = Instant::now();
        while !is_registered() {
            let before = woken.wakes();
            assert!(woken.poll(&mut future).is_pending());
            while woken.wakes() == before && !is_registered() {
                assert!(begun.elapsed() < STUCK, "it waits for ever");
                thread::yield_now();
            }
        }
        producer.send(7).unwrap();
        assert_eq!(woken.poll(&mut future), std::task::Poll::Ready(Ok(7)));
        drop(future);
        woken.await_nobody();
    }
}

/// A sleep is counted once, however many naps it is.
#[test]
fn sleep_of_many_naps_is_one_sleep() {
    crate::support::alone!();
    let _second = second_thread();
    let (publisher, subscribable) =
        annulus::broadcast::lossy_with::<u64>(annulus::Settings::new(4).statistics(true)).unwrap();
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.recv_timeout(Duration::from_millis(30)).is_err());
    // (None, where the time was over before.)
    let sleeps = publisher.stats().counted.unwrap().sleeps;
    assert!(sleeps <= 1, "{sleeps}");
}

#[test]
fn rings_and_short_sleeps_do_not_register() {
    crate::support::alone!();
    if !has_barriers() {
        return;
    }
    let _second = second_thread();
    assert!(!is_registered(), "at the start");

    broadcast();
    let (mut events, subscribable) = annulus::event::channel(4, String::new);
    let mut reader = subscribable.subscribe();
    events.publish(|text| text.push('a')).unwrap();
    assert_eq!(reader.process(String::len), Ok(1));
    let pool = BufferPool::new(64, 4);
    // The end of a queue is settled by a barrier, so these live on.
    let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    let (mut many, mut one) = annulus::mpsc::channel::<u64>(4);
    let (mut shared, mut consumers) = annulus::mpmc::channel::<u64>(4);
    let (pooled, mut taker) = annulus::spmc::channel(4);
    let mut pooled = Some(pooled);
    thread::scope(|scope| {
        scope.spawn(|| (0..100).for_each(|number| producer.send_until(number, SPIN).unwrap()));
        scope.spawn(|| (0..100).for_each(|number| many.send_until(number, SPIN).unwrap()));
        scope.spawn(|| (0..100).for_each(|number| shared.send_until(number, SPIN).unwrap()));
        let buffer = pool.alloc().unwrap();
        pooled.as_mut().unwrap().send_until(buffer.into_handle(), SPIN).unwrap();
        for _ in 0..100 {
            let received = (consumer.recv_until(SPIN), one.recv_until(SPIN), consumers.recv_until(SPIN));
            assert!(received.0.is_ok() && received.1.is_ok() && received.2.is_ok());
        }
    });
    assert!(pool.redeem(taker.try_recv().unwrap()).is_ok());
    assert!(!is_registered(), "rings on which nobody slept");
    let quiet = a_few_quiet_rings();
    assert!(!is_registered(), "a consumer that spins, with quiet producers");

    publishers_were_there_before();
    drop(quiet);
}

/// A consumer finds nothing in eight rings, often enough to take them off its list where barriers are cheap,
/// and not so often that it would register.
fn a_few_quiet_rings() -> impl Sized {
    const POLLS: usize = if cfg!(debug_assertions) { 12 } else { 10_000 };
    let (first, mut consumer) = annulus::mpsc::channel::<u64>(4);
    let mut producers: Vec<_> = (0..8).map(|_| first.clone()).collect();
    // A ring is on the list from its first message on.
    for producer in &mut producers {
        producer.try_send(1).unwrap();
    }
    (0..8).for_each(|_| assert_eq!(consumer.try_recv(), Ok(1)));
    for _ in 0..POLLS {
        assert!(consumer.try_recv().is_err());
    }
    // The end of a queue is settled by a barrier, too: so it is the caller's.
    (first, producers, consumer)
}

/// Publishers and their threads begin while nobody has registered, and learn nothing of it when somebody
/// does: sleepers are woken before and after.
fn publishers_were_there_before() {
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(2);
    let mut subscriber = subscribable.subscribe();
    let goes_on = Shutdown::new();
    let (begun, told) = mpsc::channel();
    let threads = [1, 2].map(|seed| {
        let (publisher, goes_on, begun) = (publisher.clone(), goes_on.clone(), begun.clone());
        spawn(move || {
            let mut pauses = Pauses::new(seed);
            // The first message comes before anybody sleeps.
            publisher.publish_until(0, SPIN).unwrap();
            begun.send(()).unwrap();
            while !goes_on.is_shutdown() {
                core::hint::spin_loop();
            }
            for number in 1..=ROUNDS {
                pauses.rest();
                publisher.publish_until(number, SPIN).unwrap();
            }
        })
    });
    (0..2).for_each(|_| told.recv().unwrap());
    assert_eq!((subscriber.try_recv(), subscriber.try_recv()), (Ok(0), Ok(0)));
    assert!(!is_registered(), "nobody has slept yet");
    goes_on.trigger();
    for _ in 0..2 * ROUNDS {
        let asked = Instant::now();
        subscriber.recv_timeout(STUCK).unwrap();
        // A sleeper that nobody woke still finds its message at the deadline.
        assert!(asked.elapsed() < STUCK / 2, "a wake-up was lost");
    }
    join(threads);
}
