//! Sleeping and waking on real threads: nobody burns a core while idle, nobody is forgotten.
//!
//! Of a lossy ring with one publisher. Publishers that sleep, and stages, are in `asleep.rs`, and every ring
//! idle in `conformance/`.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::sleeping::{self, Sleeper};
use crate::support::{Backlog, Pauses, STUCK, soak_time, time_on_a_core, time_on_a_core_since};
use annulus::Settings;
use annulus::{RecvTimeoutError, WaitStrategy};

/// How often this thread goes to sleep in `verb`.
#[cfg(target_os = "linux")]
fn sleeps(verb: &mut dyn FnMut()) -> u64 {
    let thread = Sleeper::this();
    let before = thread.sleeps().expect("Linux tells it");
    verb();
    thread.sleeps().unwrap() - before
}

/// Whether `verb`, which waits for a while without success, once doesn't sleep at all, as a spinning thread
/// does not. One that sleeps does so each time. (The system itself may put any thread to sleep now and then.)
#[cfg(target_os = "linux")]
fn spins(verb: &mut dyn FnMut()) -> bool {
    (0..100).any(|_| sleeps(verb) == 0)
}

/// A subscriber that waits sleeps.
#[test]
fn idle_subscriber_uses_no_cpu() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let (reader, sleeper) = sleeping::spawn(move || subscriber.recv());
    sleeper.await_sleep();
    publisher.publish(7);
    assert_eq!(reader.join().unwrap(), Ok(7));
}

/// The same with a deadline, which must not turn the sleep into polling: it may get up early, but not once in
/// ten milliseconds.
#[test]
#[cfg(target_os = "linux")]
fn idle_subscriber_with_a_timeout_uses_no_cpu() {
    const IDLE: Duration = Duration::from_millis(500);
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let begun = Instant::now();
    let sleeps = sleeps(&mut || assert_eq!(subscriber.recv_timeout(IDLE), Err(RecvTimeoutError::Timeout)));
    assert!(begun.elapsed() >= IDLE, "gave up after {:?}", begun.elapsed());
    assert!(sleeps < 50, "it slept {sleeps} times");
}

/// A handle without a strategy of its own waits by the strategy of the ring, on both sides, in each family: a
/// spinning thread does not sleep.
#[test]
#[cfg(target_os = "linux")]
fn handle_waits_by_the_strategy_of_its_ring() {
    use annulus::{broadcast, spmc, spsc};
    const WHILE: Duration = Duration::from_millis(20);
    let spins = |verb: &mut dyn FnMut()| assert!(spins(verb), "it slept");
    let spin = WaitStrategy::BusySpin;

    let (_publisher, subscribable) =
        broadcast::lossy_with::<u64>(Settings::new(8).wait_strategy(spin)).unwrap();
    let mut subscriber = subscribable.subscribe();
    spins(&mut || assert!(subscriber.recv_timeout(WHILE).is_err()));

    let (mut publisher, subscribable) =
        broadcast::lossless_with(Settings::new(2).wait_strategy(spin)).unwrap();
    let _slow = subscribable.subscribe();
    publisher.publish_batch(&[1, 2]).unwrap();
    spins(&mut || assert!(publisher.publish_timeout(3, WHILE).is_err()));

    let (publisher, subscribable) =
        broadcast::mp_lossless_with(Settings::new(2).wait_strategy(spin)).unwrap();
    let _slow = subscribable.subscribe();
    publisher.publish_batch(&[1, 2]).unwrap();
    spins(&mut || assert!(publisher.publish_timeout(3, WHILE).is_err()));

    let (mut publisher, subscribable) =
        annulus::event::with(Settings::new(2).wait_strategy(spin), || 0).unwrap();
    let mut subscriber = subscribable.subscribe();
    spins(&mut || assert!(subscriber.process_timeout(WHILE, |_| ()).is_err()));
    (0..2).for_each(|_| publisher.publish(|_| ()).unwrap());
    spins(&mut || assert!(publisher.publish_timeout(WHILE, |_| ()).is_err()));

    let (mut producer, mut consumer) = spsc::with(Settings::new(1).wait_strategy(spin)).unwrap();
    spins(&mut || assert!(consumer.recv_timeout(WHILE).is_err()));
    producer.send(1).unwrap();
    spins(&mut || assert!(producer.send_timeout(2, WHILE).is_err()));

    let (mut producer, _consumer) = spmc::with(Settings::new(1).wait_strategy(spin)).unwrap();
    producer.send(1).unwrap();
    spins(&mut || assert!(producer.send_timeout(2, WHILE).is_err()));

    let (sender, receiver) =
        annulus::queue::ordered::with(annulus::Settings::new(1).wait_strategy(spin)).unwrap();
    spins(&mut || assert!(receiver.recv_timeout(WHILE).is_err()));
    sender.send(1).unwrap();
    spins(&mut || assert!(sender.send_timeout(2, WHILE).is_err()));

    // And a batch, and a verb without a deadline.
    let (mut publisher, subscribable) =
        broadcast::lossless_with(Settings::new(2).wait_strategy(spin)).unwrap();
    let mut late = subscribable.subscribe();
    publisher.publish_batch(&[1, 2]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(WHILE);
            assert_eq!(late.recv(), Ok(1));
        });
        // Once only, so its sleeps are printed.
        println!("{} sleeps", sleeps(&mut || publisher.publish(3).unwrap()));
    });
}

/// A handle that was told how to wait does so by each verb, and so does what is made of it. Other handles of
/// its ring wait as before.
#[test]
#[cfg(target_os = "linux")]
fn a_handle_waits_by_its_own_strategy() {
    use annulus::queue::{self, ordered};
    use annulus::{broadcast, event, spmc};
    const WHILE: Duration = Duration::from_millis(20);
    /// A verb without a deadline.
    type Receives = fn(&mut broadcast::Subscriber<u64>) -> bool;
    // Whether a verb that waits in vain sleeps: each time, if it had a core before its time was over.
    let does_sleep = |verb: &mut dyn FnMut()| (0..100).any(|_| sleeps(verb) > 0);
    let spin = WaitStrategy::BusySpin;

    let (_publisher, subscribable) = broadcast::lossless::<u64>(8);
    let (mut other, mut subscriber) = (subscribable.subscribe(), subscribable.subscribe());
    subscriber.set_wait_strategy(spin);
    assert!(does_sleep(&mut || assert!(other.recv_timeout(WHILE).is_err())));
    assert!(spins(&mut || assert!(subscriber.recv_timeout(WHILE).is_err())));
    let mut clone = subscriber.clone();
    assert!(spins(&mut || assert!(clone.recv_until(Instant::now() + WHILE).is_err())));
    let mut stage = subscriber.after(&[&subscribable.subscribe_tracked()]);
    assert!(spins(&mut || assert!(stage.process_timeout(WHILE, |_| ()).is_err())));

    // Verbs without a deadline, until the ring is closed: a receive, a batch, an iterator.
    let receives: [Receives; 5] = [
        |subscriber| subscriber.recv().is_ok(),
        |subscriber| subscriber.recv_or_lag().is_ok(),
        |subscriber| subscriber.recv_batch(&mut [0]).is_ok(),
        |subscriber| subscriber.recv_many(&mut Vec::new(), 1).is_ok(),
        |subscriber| subscriber.iter().next().is_some(),
    ];
    for receives in receives {
        let sleeps_until_the_close = || {
            let (publisher, subscribable) = broadcast::lossy(8);
            let mut subscriber = subscribable.subscribe();
            subscriber.set_wait_strategy(spin);
            let writer = thread::spawn(move || {
                thread::sleep(WHILE);
                drop(publisher);
            });
            let sleeps = sleeps(&mut || assert!(!receives(&mut subscriber)));
            writer.join().unwrap();
            sleeps
        };
        assert!((0..100).any(|_| sleeps_until_the_close() == 0));
    }

    let (_publisher, subscribable) = broadcast::lossy::<u64>(8);
    let mut group = subscribable.subscribe_group::<2>();
    group.set_wait_strategy(spin);
    assert!(spins(&mut || assert!(group.recv_timeout(WHILE).is_err())));

    let (_publisher, subscribable) = event::channel(8, || 0);
    let mut subscriber = subscribable.subscribe();
    subscriber.set_wait_strategy(spin);
    let mut clone = subscriber.clone();
    assert!(spins(&mut || assert!(clone.wait_timeout(WHILE).is_err())));
    let mut stage = subscriber.after(&[&subscribable.subscribe_tracked()]);
    assert!(spins(&mut || assert!(stage.recv_timeout(WHILE).is_err())));

    let (_publisher, subscribable) = broadcast::bytes::lossy(64);
    let mut subscriber = subscribable.subscribe();
    subscriber.set_wait_strategy(spin);
    let mut clone = subscriber.clone();
    assert!(spins(&mut || assert!(clone.recv_timeout(&mut Vec::new(), WHILE).is_err())));

    let (_producer, mut other) = spmc::channel::<u64>(8);
    let mut consumer = other.clone();
    consumer.set_wait_strategy(spin);
    assert!(does_sleep(&mut || assert!(other.recv_timeout(WHILE).is_err())));
    let mut clone = consumer.clone();
    assert!(spins(&mut || assert!(clone.recv_timeout(WHILE).is_err())));

    let (_producer, mut consumer) = queue::bytes::channel(64);
    consumer.set_wait_strategy(spin);
    assert!(spins(&mut || assert!(consumer.read_timeout(WHILE).is_err())));

    let (_sender, mut receiver) = ordered::channel::<u64>(8);
    let other = receiver.clone();
    receiver.set_wait_strategy(spin);
    assert!(does_sleep(&mut || assert!(other.recv_timeout(WHILE).is_err())));
    let clone = receiver.clone();
    assert!(spins(&mut || assert!(clone.recv_timeout(WHILE).is_err())));
}

#[test]
fn recv_timeout_receives_messages_in_time_and_sees_the_close() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let writer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        publisher.publish(1);
        thread::sleep(Duration::from_millis(30));
    });
    let long = Duration::from_secs(60);
    assert_eq!(subscriber.recv_timeout(long), Ok(1));
    assert_eq!(subscriber.recv_until(Instant::now() + long), Err(RecvTimeoutError::Closed));
    assert_eq!(subscriber.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    writer.join().unwrap();
}

#[test]
fn zero_timeout_receives_a_present_message() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    assert_eq!(subscriber.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    publisher.publish_batch(&[1, 2]);
    assert_eq!(subscriber.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(subscriber.recv_until(Instant::now()), Ok(2));
}

/// The longest timeout means no timeout, and wakes all the same.
#[test]
fn endless_timeout_wakes() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let (reader, sleeper) = sleeping::spawn(move || subscriber.recv_timeout(Duration::MAX));
    sleeper.await_sleep();
    publisher.publish(1);
    assert_eq!(reader.join().unwrap(), Ok(1));
}

#[test]
fn strategies_receive_and_see_the_close() {
    let most = u32::MAX;
    for strategy in [
        WaitStrategy::BusySpin,
        WaitStrategy::PauseSpin,
        WaitStrategy::Monitor,
        WaitStrategy::BackoffSpin,
        WaitStrategy::adaptive_after(10, 10),
        WaitStrategy::adaptive_after(most, most),
        WaitStrategy::block_after(0, 0),
        WaitStrategy::block_after(most, most),
        WaitStrategy::default(),
    ] {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || [(); 3].map(|()| subscriber.recv_until(strategy)));
        thread::sleep(Duration::from_millis(5));
        publisher.publish(1);
        thread::sleep(Duration::from_millis(5));
        publisher.publish(2);
        drop(publisher);
        assert_eq!(reader.join().unwrap(), [Ok(1), Ok(2), Err(RecvTimeoutError::Closed)], "{strategy:?}");
    }
}

/// One message wakes all sleepers.
#[test]
fn message_wakes_every_sleeper() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let (readers, sleepers) = sleeping::spawn_all((0..16).map(|_| {
        let mut subscriber = subscribable.subscribe();
        move || subscriber.recv()
    }));
    sleeping::await_all(&sleepers);
    publisher.publish(9);
    for reader in readers {
        assert_eq!(reader.join().unwrap(), Ok(9));
    }
}

/// A batch wakes as a message does.
#[test]
fn a_batch_wakes_a_sleeper() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    let (reader, sleeper) = sleeping::spawn(move || subscriber.recv_timeout(STUCK));
    sleeper.await_sleep();
    let begun = Instant::now();
    publisher.publish_batch(&[1, 2, 3]);
    assert_eq!(reader.join().unwrap(), Ok(1));
    assert!(begun.elapsed() < STUCK / 2, "found at its deadline, not woken");
}

/// Two threads hand a number back and forth and pause at random, so that each is now asleep, now about to
/// sleep, now awake when the other publishes. One of them sends its number at the end of a burst that may lap
/// the other. A lost wake-up stands still: the other side's deadline tells.
#[test]
fn no_wake_up_is_lost_under_random_pauses() {
    const FILLER: u64 = u64::MAX;
    let (mut ping, pings) = annulus::broadcast::lossy::<u64>(4);
    let (mut pong, pongs) = annulus::broadcast::lossy::<u64>(4);
    let (mut ping_in, mut pong_in) = (pings.subscribe(), pongs.subscribe());
    let echo = thread::spawn(move || {
        let (mut pause, mut backlog) = (Pauses::new(2), Backlog::new(2));
        // Without a deadline: what wakes it is the message alone.
        while let Ok(number) = ping_in.recv_until(pause.strategy()) {
            if number != FILLER {
                pause.rest();
                backlog.pile_up();
                pong.publish(number);
            }
        }
    });
    let (mut pause, mut backlog) = (Pauses::new(1), Backlog::new(1));
    let (begun, time) = (Instant::now(), soak_time(Duration::from_millis(1500)));
    let mut rounds = 0;
    while begun.elapsed() < time || rounds < 3 {
        pause.rest();
        let sent = Instant::now();
        (0..pause.next() % 8).for_each(|_| ping.publish(FILLER));
        backlog.pile_up();
        ping.publish(rounds);
        match pong_in.recv_timeout(STUCK) {
            Ok(number) => assert_eq!(number, rounds),
            Err(error) => panic!("round {rounds}: {error}: the echo's wake-up was lost"),
        }
        // A sleeper that nobody woke still finds its message at the deadline.
        let took = sent.elapsed();
        assert!(took < STUCK / 2, "round {rounds}: a wake-up was lost, found after {took:?}");
        rounds += 1;
    }
    drop(ping);
    echo.join().unwrap();
    println!("{rounds} round trips in {:?}", begun.elapsed());
}

/// Two threads of one CPU: the waiting one gives it to the one that it waits for.
#[cfg(target_os = "linux")]
mod on_one_cpu {
    use std::sync::{Arc, Barrier};

    use annulus::{affinity, broadcast, mpmc, spsc};

    use super::*;

    /// So few that the changes of threads are most of what a stream costs.
    const CAPACITY: usize = 16;
    const MESSAGES: u64 = 10_000;

    /// So many tries: where other programs want the CPU, a thread that gives it away does not know which
    /// thread gets it.
    const TRIES: usize = 40;

    /// Messages from one thread to another, both on one CPU, by the verbs that `ring` returns. Prints what
    /// each message takes of it at best, and asserts that it is less than two thirds of what it takes where
    /// the waiter sleeps at once.
    fn streams<S, R>(name: &str, ring: impl Fn(WaitStrategy) -> (S, R))
    where
        S: FnMut(u64) + Send + 'static,
        R: FnMut() -> u64 + Send + 'static,
    {
        let sleep = WaitStrategy::block_after(0, 0);
        let mut best = [Duration::MAX; 2];
        for _ in 0..TRIES {
            for (best, strategy) in best.iter_mut().zip([WaitStrategy::default(), sleep]) {
                let (send, receive) = ring(strategy);
                let Some(each) = stream(send, receive) else {
                    println!("{name}: skipped, threads can't be pinned here, or there is no /proc");
                    return;
                };
                *best = each.min(*best);
            }
            // Without optimization it is not the changes of threads that cost the most.
            if 3 * best[0] < 2 * best[1] || cfg!(debug_assertions) {
                println!("{name}: {best:?} a message");
                return;
            }
        }
        panic!("{name}: {best:?} a message");
    }

    /// What a message takes.
    fn stream(
        mut send: impl FnMut(u64) + Send + 'static,
        mut receive: impl FnMut() -> u64 + Send + 'static,
    ) -> Option<Duration> {
        let cpu = affinity::allowed().ok()?[0];
        let here = Arc::new(Barrier::new(2));
        let there = here.clone();
        let pinned = move |both: &Barrier| {
            let is_pinned = affinity::pin_to(cpu);
            both.wait();
            is_pinned.ok().and(time_on_a_core())
        };
        let reader = crate::support::spawn(move || {
            let before = pinned(&there);
            (0..MESSAGES).for_each(|number| assert_eq!(receive(), number));
            time_on_a_core_since(before)
        });
        let writer = crate::support::spawn(move || {
            let before = pinned(&here);
            (0..MESSAGES).for_each(&mut send);
            time_on_a_core_since(before)
        });
        let [written, read] = [writer, reader].map(|thread| thread.join().unwrap());
        Some((written? + read?) / u32::try_from(MESSAGES).unwrap())
    }

    #[test]
    fn spsc_streams() {
        streams("spsc", |strategy| {
            let (mut producer, mut consumer) =
                spsc::with(Settings::new(CAPACITY).wait_strategy(strategy)).unwrap();
            (move |number| producer.send(number).unwrap(), move || consumer.recv().unwrap())
        });
    }

    #[test]
    fn mpmc_streams() {
        streams("mpmc", |strategy| {
            let (mut producer, mut consumer) =
                mpmc::with(Settings::new(CAPACITY).wait_strategy(strategy)).unwrap();
            (move |number| producer.send(number).unwrap(), move || consumer.recv().unwrap())
        });
    }

    #[test]
    fn lossless_streams() {
        streams("lossless", |strategy| {
            let (mut publisher, subscribable) =
                broadcast::lossless_with(Settings::new(CAPACITY).wait_strategy(strategy)).unwrap();
            let mut subscriber = subscribable.subscribe();
            (move |number| publisher.publish(number).unwrap(), move || subscriber.recv().unwrap())
        });
    }

    #[test]
    fn events_stream() {
        streams("events", |strategy| {
            let (mut publisher, subscribable) =
                annulus::event::with(Settings::new(CAPACITY).wait_strategy(strategy), || 0).unwrap();
            let mut subscriber = subscribable.subscribe();
            (
                move |number| publisher.publish(|event| *event = number).unwrap(),
                move || subscriber.process(|event| *event).unwrap(),
            )
        });
    }
}
