//! Event loops: every message once, batches, ends of every kind, and stops beside everything else.
#![allow(missing_docs, reason = "a test")]
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod support;

use std::panic::{catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::{Duration, Instant};

use annulus::event_loop::{Builder, Finished};
use annulus::queue::shared;
use annulus::{EventLoop, Receive, ReceiveRef, WaitStrategy, broadcast, event, mpmc, mpsc, spmc, spsc};
use support::{Pauses, STUCK, join, spawn, without_standing_still};

/// Slots of most rings here.
const CAPACITY: usize = 64;

/// Sends a number, and says whether somebody can receive it.
type Send1 = Box<dyn FnMut(u64) -> bool + Send>;

/// Begins a loop that pushes what it gets, with the flag, and calls something before.
type Begin = Box<dyn FnOnce(&dyn Fn(Make) -> Make, Before) -> EventLoop<Seen>>;

type Seen = Vec<(u64, bool)>;
type Before = Box<dyn FnMut(&mut Seen, u64) + Send>;
type OnIdle = Box<dyn FnMut(&mut Seen) + Send>;

/// What a test sets before the loop begins; the same for every receiver.
#[derive(Default)]
struct Make {
    most: Option<usize>,
    strategy: Option<WaitStrategy>,
    idle: Option<(Duration, OnIdle)>,
}

impl Make {
    fn of<R>(self, receiver: R) -> Builder<R, Seen> {
        let mut builder = EventLoop::builder(receiver, Seen::new());
        if let Some(most) = self.most {
            builder = builder.max_batch(most);
        }
        if let Some(strategy) = self.strategy {
            builder = builder.wait_strategy(strategy);
        }
        if let Some((timeout, callback)) = self.idle {
            builder = builder.on_idle(timeout, callback);
        }
        builder
    }
}

/// A ring: its sending side, and its loop.
struct Ring {
    name: &'static str,
    send: Send1,
    begin: Begin,
    /// Whether others may take its messages, so that each is a batch.
    is_shared: bool,
}

fn by_value<R: Receive<Item = u64> + Send + 'static>(receiver: R) -> Begin {
    Box::new(|set, mut before| {
        let handler = move |seen: &mut Seen, number, end_of_batch| {
            before(seen, number);
            seen.push((number, end_of_batch));
        };
        set(Make::default()).of(receiver).spawn(handler).unwrap()
    })
}

fn by_ref<R: ReceiveRef<Item = u64> + Send + 'static>(receiver: R) -> Begin {
    Box::new(|set, mut before| {
        let handler = move |seen: &mut Seen, number: &u64, end_of_batch| {
            before(seen, *number);
            seen.push((*number, end_of_batch));
        };
        set(Make::default()).of(receiver).spawn_ref(handler).unwrap()
    })
}

/// One of each.
fn rings(capacity: usize) -> Vec<Ring> {
    let mut rings = Vec::new();
    let mut ring = |name, send, begin, is_shared| rings.push(Ring { name, send, begin, is_shared });
    {
        let (mut publisher, subscribable) = broadcast::lossy(capacity);
        let send = move |number| {
            publisher.publish(number);
            publisher.subscriber_count() > 0
        };
        ring("lossy", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    {
        let (publisher, subscribable) = broadcast::mp_lossy(capacity);
        let send = move |number| {
            publisher.publish(number);
            publisher.subscriber_count() > 0
        };
        ring("mp_lossy", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    let lossless = || {
        let (mut publisher, subscribable) = broadcast::lossless(capacity);
        let send = move |number| publisher.publish(number).is_ok() && publisher.subscriber_count() > 0;
        (Box::new(send), subscribable)
    };
    {
        let (send, subscribable) = lossless();
        ring("lossless", send, by_value(subscribable.subscribe()), false);
        let (send, subscribable) = lossless();
        ring("stage", send, by_value(subscribable.subscribe_tracked()), false);
        let (send, subscribable) = lossless();
        ring("group", send, by_value(subscribable.subscribe_group::<2>()), false);
    }
    {
        let (publisher, subscribable) = broadcast::mp_lossless(capacity);
        let send = move |number| publisher.publish(number).is_ok() && publisher.subscriber_count() > 0;
        ring("mp_lossless", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    let events = || {
        let (mut publisher, subscribable) = event::channel(capacity, || 0);
        let send = move |number| publisher.send(number).is_ok() && publisher.subscriber_count() > 0;
        (Box::new(send), subscribable.subscribe())
    };
    {
        let (send, subscriber) = events();
        ring("events, cloned", send, by_value(subscriber), false);
        let (send, subscriber) = events();
        ring("events", send, by_ref(subscriber), false);
        let (publisher, subscribable) = event::mp_channel(capacity, || 0);
        let send = move |number| publisher.send(number).is_ok() && publisher.subscriber_count() > 0;
        ring("events of many", Box::new(send), by_ref(subscribable.subscribe()), false);
    }
    macro_rules! queues {
        ($($module:ident $is_shared:literal),*) => {$(
            let (mut producer, consumer) = $module::channel(capacity);
            let send = move |number| producer.send(number).is_ok();
            ring(stringify!($module), Box::new(send), by_value(consumer), $is_shared);
        )*};
    }
    queues!(spsc false, mpsc false, spmc true, mpmc true);
    {
        let (sender, receiver) = shared::channel(capacity);
        let send = move |number| sender.send(number).is_ok();
        ring("shared", Box::new(send), by_value(receiver), true);
    }
    rings
}

/// Of each ring of so many slots: the ring.
fn for_each(capacity: usize, mut check: impl FnMut(Ring) + Send + 'static) {
    without_standing_still(move || {
        for ring in rings(capacity) {
            println!("{}", ring.name);
            check(ring);
        }
    });
}

fn plain(make: Make) -> Make {
    make
}

fn nothing() -> Before {
    Box::new(|_, _| {})
}

/// A handler that waits at its first message until the test lets it go on.
struct Gate {
    came: std_mpsc::Receiver<()>,
    go_on: std_mpsc::Sender<()>,
}

impl Gate {
    fn new() -> (Self, Before) {
        let (come, came) = std_mpsc::channel();
        let (go_on, may_go_on) = std_mpsc::channel();
        let before = move |seen: &mut Seen, _| {
            if seen.is_empty() {
                come.send(()).unwrap();
                may_go_on.recv().unwrap();
            }
        };
        (Self { came, go_on }, Box::new(before))
    }
}

fn numbers(finished: &Finished<Seen>) -> Vec<u64> {
    assert_eq!(finished.messages as usize, finished.context.len());
    finished.context.iter().map(|&(number, _)| number).collect()
}

#[test]
fn each_message_comes_once_until_the_ring_is_closed() {
    const COUNT: u64 = if cfg!(miri) { 100 } else { 10_000 };
    for_each(CAPACITY, |ring| {
        let Ring { name, mut send, begin, .. } = ring;
        let event_loop = begin(&plain, nothing());
        for number in 0..COUNT {
            assert!(send(number));
            if name.ends_with("lossy") && number % 8 == 7 {
                thread::sleep(Duration::from_micros(50));
            }
        }
        drop(send);
        let finished = event_loop.join().unwrap();
        let numbers = numbers(&finished);
        assert!(numbers.is_sorted_by(|before, after| before < after));
        assert_eq!(finished.messages + finished.lost, COUNT, "{finished:?}");
        assert!(finished.lost == 0 || name.ends_with("lossy"));
        assert!(finished.context.last().unwrap().1, "nothing came after it");
    });
}

/// While the other side rests, a batch ends with the last message, and before that only where it is full.
#[test]
fn batches_end_with_what_is_there() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, is_shared, .. } = ring;
        let (gate, before) = Gate::new();
        let event_loop = begin(&|make| Make { most: Some(4), ..make }, before);
        send(0);
        gate.came.recv().unwrap();
        (1..=10).for_each(|number| _ = send(number));
        gate.go_on.send(()).unwrap();
        event_loop.stop();
        let finished = event_loop.join().unwrap();
        assert_eq!(numbers(&finished), (0..=10).collect::<Vec<_>>());
        let ends: Vec<u64> =
            finished.context.iter().filter(|(_, end)| *end).map(|(number, _)| *number).collect();
        let expected = if is_shared { (0..=10).collect() } else { vec![0, 4, 8, 10] };
        assert_eq!(ends, expected);
    });
}

#[test]
fn a_stop_comes_after_what_was_sent_before() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (gate, before) = Gate::new();
        let event_loop = begin(&plain, before);
        send(0);
        gate.came.recv().unwrap();
        (1..40).for_each(|number| _ = send(number));
        event_loop.stop();
        assert!(!event_loop.is_finished());
        gate.go_on.send(()).unwrap();
        assert_eq!(numbers(&event_loop.join().unwrap()), (0..40).collect::<Vec<_>>());
        assert!(!send(40), "nobody receives any more");
    });
}

#[test]
fn a_stop_now_comes_after_one_message() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (gate, before) = Gate::new();
        let event_loop = begin(&plain, before);
        send(0);
        gate.came.recv().unwrap();
        (1..40).for_each(|number| _ = send(number));
        // The second breaks off what the first has begun.
        event_loop.stop();
        event_loop.stop_now();
        gate.go_on.send(()).unwrap();
        assert_eq!(numbers(&event_loop.join().unwrap()), [0]);
        // A lossless publisher does not wait for it.
        assert!((0..2 * CAPACITY as u64).all(|number| !send(number)));
    });
}

/// However it sleeps, with a timeout or without, and however it is stopped.
#[test]
fn a_stop_wakes_a_sleeper() {
    for idle in [None, Some(Duration::from_secs(3600))] {
        for now in [false, true] {
            for_each(CAPACITY, move |ring| {
                let Ring { mut send, begin, .. } = ring;
                let set = |make: Make| Make {
                    idle: idle.map(|idle| (idle, Box::new(|_: &mut Seen| ()) as _)),
                    ..make
                };
                let event_loop = begin(&set, nothing());
                send(7);
                thread::sleep(Duration::from_millis(3));
                let begun = Instant::now();
                if now {
                    event_loop.stop_now();
                } else {
                    event_loop.stop();
                }
                event_loop.join().unwrap();
                assert!(begun.elapsed() < STUCK / 2, "nobody woke it");
                drop(send);
            });
        }
    }
}

#[test]
fn a_panic_of_the_handler_is_returned_and_the_other_side_is_told() {
    for_each(4, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let event_loop = begin(
            &plain,
            Box::new(|_, number| {
                if number >= 2 {
                    panic_any("on purpose");
                }
            }),
        );
        // More than fit: those that wait are told.
        (0..100).for_each(|number| _ = send(number));
        let panic = event_loop.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
        assert!(!send(101));
    });
}

/// Time and again, and messages come in between.
#[test]
fn an_idle_loop_calls_back_and_goes_on() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (idle, is_idle) = std_mpsc::channel();
        let set = |make: Make| {
            let idle = idle.clone();
            let callback = Box::new(move |seen: &mut Seen| _ = idle.send(seen.len()));
            Make { idle: Some((Duration::from_millis(1), callback)), ..make }
        };
        let event_loop = begin(&set, nothing());
        for count in 0..3 {
            // Three times without anything new.
            let calls = std::iter::from_fn(|| is_idle.recv_timeout(STUCK).ok());
            assert_eq!(calls.filter(|&seen| seen == count).take(3).count(), 3);
            assert!(send(count as u64));
        }
        event_loop.stop();
        assert_eq!(numbers(&event_loop.join().unwrap()), [0, 1, 2]);
    });
}

/// It sleeps, and no timer wakes it.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_loop_uses_no_cpu() {
    use support::{time_on_a_core, time_on_a_core_since};
    const IDLE: Duration = Duration::from_millis(300);
    let (mut producer, consumer) = mpsc::channel(CAPACITY);
    let handler = |used: &mut Vec<_>, (), _| {
        used.push(time_on_a_core());
        if let [before, _] = used[..] {
            let used = time_on_a_core_since(before).unwrap_or_default();
            assert!(used < IDLE / 10, "idle for {IDLE:?}, {used:?} of it on a core");
        }
    };
    let event_loop = EventLoop::builder(consumer, Vec::new()).spawn(handler).unwrap();
    producer.send(()).unwrap();
    thread::sleep(IDLE);
    producer.send(()).unwrap();
    drop(producer);
    event_loop.join().unwrap_or_else(|panic| resume_unwind(panic));
}

#[test]
fn the_handler_may_stop_its_loop() {
    for now in [false, true] {
        let (mut producer, consumer) = spsc::channel(CAPACITY);
        (0..10).for_each(|number| producer.send(number).unwrap());
        let builder = EventLoop::builder(consumer, ());
        let stopper = builder.stopper();
        let handler = move |(): &mut (), number, _| {
            if number == 4 {
                assert!(!stopper.is_stopped());
                if now {
                    stopper.stop_now();
                } else {
                    stopper.stop();
                }
                assert!(stopper.is_stopped());
            }
        };
        let event_loop = builder.spawn(handler).unwrap();
        assert_eq!(event_loop.join().unwrap().messages, if now { 5 } else { 10 });
        assert!(producer.send(10).is_err());
    }
}

/// Stopped before it begins.
#[test]
fn a_loop_that_was_stopped_handles_what_was_sent() {
    for (now, count) in [(false, 3), (true, 0)] {
        let (mut producer, consumer) = mpsc::channel(CAPACITY);
        (0..3).for_each(|number| producer.send(number).unwrap());
        let builder = EventLoop::builder(consumer, ());
        if now {
            builder.stopper().stop_now();
        } else {
            builder.stopper().stop();
        }
        let event_loop = builder.spawn(|(), _, _| ()).unwrap();
        assert_eq!(event_loop.join().unwrap().messages, count);
    }
}

#[test]
fn a_loop_that_is_dropped_stops_and_one_that_is_detached_goes_on() {
    let handled = Arc::new(AtomicU64::new(0));
    let until = |condition: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < STUCK);
            thread::yield_now();
        }
    };
    let begin = |consumer| {
        let handled = Arc::clone(&handled);
        let handler = move |(): &mut (), _: u64, _| _ = handled.fetch_add(1, Ordering::Relaxed);
        EventLoop::builder(consumer, ()).spawn(handler).unwrap()
    };
    let (mut producer, consumer) = spsc::channel(CAPACITY);
    let event_loop = begin(consumer);
    (0..10).for_each(|number| producer.send(number).unwrap());
    drop(event_loop);
    until(&|| producer.is_closed());
    assert_eq!(handled.load(Ordering::Relaxed), 10);

    let (mut producer, consumer) = spsc::channel(CAPACITY);
    begin(consumer).detach();
    thread::sleep(Duration::from_millis(2));
    (0..10).for_each(|number| producer.send(number).unwrap());
    until(&|| handled.load(Ordering::Relaxed) == 20);
}

/// Everything that a loop fell behind is counted, and no more.
#[test]
fn what_is_lost_is_counted() {
    let (mut publisher, subscribable) = broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    // What was lost before does not count.
    (0..10_u64).for_each(|number| publisher.publish(number));
    assert_eq!(subscriber.try_iter().count(), 4);
    let (gate, before) = Gate::new();
    let event_loop = by_value(subscriber)(&plain, before);
    publisher.publish(10);
    gate.came.recv().unwrap();
    (11..111).for_each(|number| publisher.publish(number));
    gate.go_on.send(()).unwrap();
    event_loop.stop();
    let finished = event_loop.join().unwrap();
    assert_eq!(finished.messages + finished.lost, 101);
    assert_eq!(numbers(&finished).last(), Some(&110));
}

/// A message of a stage is processed when the handler has returned, the last one of a batch, too.
#[test]
fn a_stage_has_processed_what_its_handler_has_handled() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = broadcast::lossless(CAPACITY);
        let first = subscribable.subscribe_tracked();
        let mut second = subscribable.subscribe().after(&[&first]);
        let (gate, before) = Gate::new();
        publisher.publish_batch(&[0, 1, 2]).unwrap();
        let event_loop = by_value(first)(&plain, before);
        gate.came.recv().unwrap();
        assert_eq!(second.try_iter().count(), 0, "it is at the first");
        gate.go_on.send(()).unwrap();
        assert_eq!([second.recv(), second.recv(), second.recv()], [Ok(0), Ok(1), Ok(2)]);
        drop(event_loop);
    });
}

#[test]
fn strategies_of_the_loop() {
    for strategy in ["busy-spin", "yield-spin", "backoff-spin", "adaptive", "block:0,0"] {
        let strategy: WaitStrategy = strategy.parse().unwrap();
        for_each(CAPACITY, move |ring| {
            let Ring { mut send, begin, .. } = ring;
            let event_loop = begin(&|make| Make { strategy: Some(strategy), ..make }, nothing());
            thread::sleep(Duration::from_millis(1));
            send(1);
            event_loop.stop();
            assert_eq!(numbers(&event_loop.join().unwrap()), [1]);
        });
    }
}

#[test]
fn a_name_and_a_core() {
    let (mut producer, consumer) = spsc::channel(4);
    let handler = |name: &mut String, (), _| *name = thread::current().name().unwrap().to_owned();
    let event_loop = EventLoop::builder(consumer, String::new()).name("orders").spawn(handler).unwrap();
    producer.send(()).unwrap();
    drop(producer);
    assert_eq!(event_loop.join().unwrap().context, "orders");
    let (_producer, consumer) = spsc::channel::<u8>(4);
    assert!(catch_unwind(move || EventLoop::builder(consumer, ()).name("a\0b")).is_err());
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn a_core_of_its_own() {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let cores = || {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect::<Vec<_>>()
    };
    let all = cores();
    for &core in &all {
        let (mut producer, consumer) = spsc::channel(4);
        producer.send(()).unwrap();
        drop(producer);
        let builder = EventLoop::builder(consumer, Vec::new()).core(core);
        let event_loop = builder.spawn(move |on: &mut Vec<usize>, (), _| *on = cores()).unwrap();
        assert_eq!(event_loop.join().unwrap().context, [core]);
    }
    assert_eq!(cores(), all, "this thread runs where it ran");
}

/// What there is no core for comes back whole, and may be tried again.
#[test]
fn a_core_that_is_not_there() {
    for core in [100_000, 1023] {
        let (mut producer, consumer) = spsc::channel(4);
        producer.send(7).unwrap();
        let builder = EventLoop::builder(consumer, vec![1]).core(core).name("here");
        let error = builder.spawn(|seen, number, _| seen.push(number)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("core {core}")) && text.contains("\"here\""), "{text}");
        assert!(std::error::Error::source(&error).is_some());
        assert!(!cfg!(all(target_os = "linux", not(miri))) || text.contains("may run on [0"), "{text}");
        assert!(producer.send(8).is_ok(), "the receiver is alive");
        let (builder, handler) = error.into_parts();
        let event_loop = builder.core(None).spawn(handler).unwrap();
        event_loop.stop();
        assert_eq!(event_loop.join().unwrap().context, [1, 7, 8]);
    }
}

/// Loops that begin, and are stopped or closed while they sleep, receive or drain.
#[test]
fn starts_and_stops() {
    const CYCLES: u64 = if cfg!(miri) { 5 } else { 10_000 };
    without_standing_still(|| {
        let mut dice = Pauses::new(7);
        let mut cycles = 0;
        while cycles < CYCLES {
            for ring in rings(4) {
                let Ring { name, mut send, begin, .. } = ring;
                let strategy = dice.strategy();
                let event_loop = begin(&|make| Make { strategy: Some(strategy), ..make }, nothing());
                let stopper = event_loop.stopper();
                let count = dice.next() % 6;
                for number in 0..count {
                    send(number);
                    dice.rest();
                }
                let end = dice.next() % 5;
                // Somebody else does the same, or breaks it off, a moment earlier or later.
                let other = (dice.next() % 4 == 0).then(|| {
                    let (mut dice, stopper) = (Pauses::new(dice.next()), stopper.clone());
                    spawn(move || {
                        dice.rest();
                        if end == 1 { stopper.stop_now() } else { stopper.stop() }
                    })
                });
                match end {
                    0 => drop(send),
                    1 => event_loop.stop_now(),
                    2 => {
                        event_loop.stop();
                        drop(send);
                    }
                    _ => stopper.stop(),
                }
                let finished = event_loop.join().unwrap();
                let all = finished.messages + finished.lost;
                assert!(if end == 1 { all <= count } else { all == count }, "{name}: {all} of {count}");
                join(other);
                cycles += 1;
            }
        }
    });
}

/// What a thread has sent before it stops a loop is handled, while others send on without end.
#[test]
fn a_stop_beside_senders() {
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
    fn check<R: Receive<Item = u64> + Send + 'static, S: Clone + Send + 'static>(
        make: impl Fn() -> (S, R),
        send: impl Fn(&mut S, u64) -> bool + Copy + Send + 'static,
    ) {
        for round in 0..ROUNDS {
            let (mut sender, receiver) = make();
            let over = Arc::new(AtomicBool::new(false));
            let others = [(); 2].map(|()| {
                let (mut sender, over) = (sender.clone(), Arc::clone(&over));
                spawn(move || while !over.load(Ordering::Relaxed) && send(&mut sender, 0) {})
            });
            let event_loop =
                EventLoop::builder(receiver, 0).spawn(|sum, number: u64, _| *sum += number).unwrap();
            let count = round as u64 % 20;
            (0..count).for_each(|_| assert!(send(&mut sender, 1)));
            event_loop.stop();
            let finished = event_loop.join().unwrap();
            assert_eq!(finished.context, count, "of {finished:?}");
            over.store(true, Ordering::Relaxed);
            join(others);
        }
    }
    without_standing_still(|| {
        check(|| mpsc::channel(8), |sender, number| sender.send(number).is_ok());
        check(|| mpmc::channel(8), |sender, number| sender.send(number).is_ok());
        check(|| shared::channel(8), |sender, number| sender.send(number).is_ok());
        check(
            || {
                let (publisher, subscribable) = broadcast::mp_lossless(8);
                (publisher, subscribable.subscribe())
            },
            |publisher, number| publisher.publish(number).is_ok(),
        );
    });
}

/// Where two loops share a queue, and one that was woken for a message is stopped, the other one gets the
/// message.
#[test]
fn a_wake_up_goes_on_to_the_other_loop() {
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 3_000 };
    without_standing_still(|| {
        let mut dice = Pauses::new(3);
        let (mut producer, consumer) = spmc::channel(64);
        let (handled, came) = std_mpsc::channel();
        let block = WaitStrategy::Block { spin_iters: 0, yield_iters: 0 };
        let begin = |consumer| {
            let handled = handled.clone();
            let builder = EventLoop::builder(consumer, ()).wait_strategy(block);
            builder.spawn(move |(), number: u64, _| handled.send(number).unwrap()).unwrap()
        };
        let stays = begin(consumer.clone());
        for round in 0..ROUNDS {
            let goes = begin(consumer.clone());
            if dice.next() % 2 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
            dice.rest();
            producer.send(round).unwrap();
            goes.stop_now();
            assert_eq!(came.recv_timeout(STUCK), Ok(round), "a wake-up was lost");
            goes.join().unwrap();
        }
        drop((producer, consumer));
        stays.join().unwrap();
    });
}
