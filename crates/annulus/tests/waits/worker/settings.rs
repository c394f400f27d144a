//! What the builder sets.

use std::io;
use std::panic::catch_unwind;
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::affinity::PinError;
use annulus::{WaitStrategy, Worker, mpsc, spsc};

use crate::support::sleeping::Sleeper;
use crate::support::{STUCK, without_standing_still};
use crate::worker::rings::{CAPACITY, Make, Ring, Seen, for_each, nothing, numbers, plain, rings};

/// Time and again, and messages come in between.
#[test]
fn an_idle_worker_calls_back_and_goes_on() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (idle, is_idle) = std_mpsc::channel();
        let set = |make: Make| {
            let idle = idle.clone();
            let callback = Box::new(move |seen: &mut Seen| _ = idle.send(seen.len()));
            Make { idle: Some((Duration::from_millis(1), callback)), ..make }
        };
        let worker = begin(&set, nothing());
        for count in 0..3 {
            // Three times without anything new.
            let calls = std::iter::from_fn(|| is_idle.recv_timeout(STUCK).ok());
            assert_eq!(calls.filter(|&seen| seen == count).take(3).count(), 3);
            assert!(send(count as u64));
        }
        worker.stop();
        assert_eq!(numbers(&worker.join().unwrap()), [0, 1, 2]);
    });
}

/// How long workers are idle, to see that they use no core meanwhile.
/// They sleep, and no timer wakes them.
#[test]
fn idle_workers_use_no_cpu() {
    without_standing_still(|| {
        let (says, said) = std_mpsc::channel();
        let begin = |ring: Ring| {
            let says = says.clone();
            (ring.send, (ring.begin)(&plain, Box::new(move |_, _| _ = says.send(Sleeper::this()))))
        };
        let mut workers: Vec<_> = rings(CAPACITY).into_iter().map(begin).collect();
        for (send, _) in &mut workers {
            assert!(send(0));
        }
        for _ in &workers {
            said.recv().unwrap().await_sleep();
        }
        for (send, _) in &mut workers {
            assert!(send(1));
        }
        for (send, worker) in workers {
            drop(send);
            worker.join().unwrap();
        }
    });
}

/// If the ring spins, and the worker shall not, it doesn't.
#[test]
fn an_idle_worker_waits_by_its_own_strategy() {
    let settings = Settings::new(CAPACITY).wait_strategy(WaitStrategy::BusySpin);
    let (mut producer, consumer) = mpsc::with(settings).unwrap();
    let (says, said) = std_mpsc::channel();
    let settings = Worker::builder(consumer, ()).wait_strategy(WaitStrategy::default());
    let worker = settings.spawn(move |(), (), _| says.send(Sleeper::this()).unwrap()).unwrap();
    producer.send(()).unwrap();
    said.recv().unwrap().await_sleep();
    producer.send(()).unwrap();
    drop(producer);
    worker.join().unwrap();
}

#[test]
fn strategies_of_the_worker() {
    for strategy in ["busy-spin", "pause-spin", "monitor", "backoff-spin", "adaptive", "block:0,0"] {
        let strategy: WaitStrategy = strategy.parse().unwrap();
        for_each(CAPACITY, move |ring| {
            let Ring { mut send, begin, .. } = ring;
            let worker = begin(&|make| Make { strategy: Some(strategy), ..make }, nothing());
            thread::sleep(Duration::from_millis(1));
            send(1);
            worker.stop();
            assert_eq!(numbers(&worker.join().unwrap()), [1]);
        });
    }
}

#[test]
fn handles_are_shown() {
    let (producer, consumer) = spsc::channel::<u8>(4);
    let builder = Worker::builder(consumer, ()).name("shown").core(None).max_batch(3);
    let builder = builder.on_idle(Duration::from_secs(3600), |()| ());
    let text = format!("{builder:?}");
    for part in ["\"shown\"", "max_batch: 3", "idle_timeout: Some(3600s)"] {
        assert!(text.contains(part), "{text}");
    }
    let worker = builder.spawn(|(), _, _| ()).unwrap();
    assert!(format!("{worker:?}").contains("stopped: false"));
    let stopper = worker.stopper();
    stopper.stop();
    assert_eq!(format!("{stopper:?}"), "Stopper { stopped: true }");
    drop((producer, worker));
}

#[test]
fn name_and_a_core() {
    let (mut producer, consumer) = spsc::channel(4);
    let handler = |name: &mut String, (), _| *name = thread::current().name().unwrap().to_owned();
    let worker = Worker::builder(consumer, String::new()).name("orders").spawn(handler).unwrap();
    producer.send(()).unwrap();
    drop(producer);
    assert_eq!(worker.join().unwrap().context, "orders");
    let (_producer, consumer) = spsc::channel::<u8>(4);
    assert!(catch_unwind(move || Worker::builder(consumer, ()).name("a\0b")).is_err());
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
        let builder = Worker::builder(consumer, Vec::new()).core(core);
        let worker = builder.spawn(move |on: &mut Vec<usize>, (), _| *on = cores()).unwrap();
        assert_eq!(worker.join().unwrap().context, [core]);
    }
    assert_eq!(cores(), all, "this thread runs where it ran");
}

/// What there is no core for comes back whole, and may be tried again.
#[test]
fn core_that_is_not_there() {
    for core in [100_000, 1023] {
        let (mut producer, consumer) = spsc::channel(4);
        producer.send(7).unwrap();
        let builder = Worker::builder(consumer, vec![1]).core(core).name("here");
        let error = builder.spawn(|seen, number, _| seen.push(number)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("CPU {core}")) && text.contains("\"here\""), "{text}");
        let why: PinError = error.pin_error().expect("why it can't be pinned").clone();
        assert_eq!(why.cpus(), [core]);
        let kind = Some(io::Error::from(why).kind());
        assert!(format!("{error:?}").contains("Cpu"));
        assert!(!cfg!(all(target_os = "linux", not(miri))) || text.contains("may run on [0"), "{text}");
        assert!(producer.send(8).is_ok(), "the receiver is alive");
        let (builder, handler) = error.into_parts();
        let worker = builder.core(None).spawn(handler).unwrap();
        worker.stop();
        assert_eq!(worker.join().unwrap().context, [1, 7, 8]);

        let (mut producer, consumer) = spsc::channel::<u64>(4);
        let error = Worker::builder(consumer, ()).core(core).name("here").spawn(|(), _, _| ());
        let error = io::Error::from(error.unwrap_err());
        assert_eq!((Some(error.kind()), error.to_string()), (kind, text));
        assert!(producer.send(8).is_err(), "the receiver is gone");
    }
}
