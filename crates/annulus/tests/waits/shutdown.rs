//! Threads, tasks and selects that wait for a shutdown; and joins of workers with a timeout.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use annulus::{Select, Shutdown, WaitStrategy, Waitable, Worker, select, spsc};

use crate::support::STUCK;
use crate::support::sleeping::{Sleeper, spawn};

const SOON: Duration = Duration::from_millis(1);

#[test]
fn trigger_wakes_all_sleepers() {
    for strategy in [WaitStrategy::default(), WaitStrategy::PauseSpin, WaitStrategy::Monitor] {
        let shutdown = Shutdown::new();
        let of = || shutdown.clone();
        let (one, two, three) = (of(), of(), of());
        let (first, first_sleeps) = spawn(move || assert!(one.wait_until(strategy)));
        let (second, second_sleeps) = spawn(move || assert!(two.wait_timeout(Duration::MAX)));
        let (third, third_sleeps) = spawn(move || {
            let (_producer, mut consumer) = spsc::channel::<u64>(4);
            select! {
                recv(consumer) -> message => panic!("{message:?}"),
                wait(three) -> () => {}
            }
        });
        if strategy == WaitStrategy::default() {
            [first_sleeps, second_sleeps, third_sleeps].iter().for_each(Sleeper::await_sleep);
        }
        shutdown.trigger();
        for thread in [first, second, third] {
            thread.join().unwrap();
        }
        shutdown.wait();
        assert!(shutdown.wait_timeout(Duration::ZERO) && shutdown.wait_until(Instant::now()));
    }
}

#[test]
fn wait_for_a_trigger_ends_at_its_timeout() {
    let shutdown = Shutdown::new();
    assert!(!shutdown.wait_timeout(Duration::ZERO) && !shutdown.wait_timeout(SOON));
    assert!(!shutdown.wait_until(Instant::now() + SOON));
    select! {
        wait(shutdown) -> () => panic!("nobody has triggered it"),
        default(SOON) => {}
    }
}

/// One of the things that a `Select` waits for: there is nothing to receive.
#[test]
fn shutdown_among_handles() {
    let (_producer, mut consumer) = spsc::channel::<u64>(4);
    let mut shutdown = Shutdown::new();
    let other = shutdown.clone();
    let mut select = Select::new();
    assert_eq!((select.recv(&mut consumer), select.recv(&mut shutdown)), (0, 1));
    assert_eq!(select.ready_timeout(SOON), None);
    let thread = thread::spawn(move || other.trigger());
    assert_eq!(select.ready(), 1);
    thread.join().unwrap();
}

/// It is what any code takes that waits: the first of a select, too, which waits as it does.
#[test]
fn shutdown_is_something_to_wait_for() {
    fn is_over(handle: &impl Waitable) -> bool {
        handle.is_closed()
    }
    let (_producer, mut consumer) = spsc::channel::<u64>(4);
    let mut shutdown = Shutdown::new();
    let other = shutdown.clone();
    assert!(!is_over(&shutdown));
    assert_eq!(format!("{shutdown:?}"), "Shutdown { triggered: false }");
    let mut select = Select::new();
    assert_eq!((select.recv(&mut shutdown), select.recv(&mut consumer)), (0, 1));
    assert_eq!(select.ready_timeout(SOON), None);
    other.trigger();
    assert_eq!(select.ready(), 0);
    drop(select);
    assert!(is_over(&shutdown));
    assert_eq!(format!("{other:?}"), "Shutdown { triggered: true }");
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn shutdown_has_a_descriptor() {
    use annulus::{Notifier, Readiness};
    use rustix::event::{PollFd, PollFlags, poll};
    let shutdown = Shutdown::new();
    let mut notifier = Notifier::new(shutdown.clone()).unwrap();
    assert_eq!(notifier.arm(), Readiness::Armed);
    let thread = thread::spawn(move || shutdown.trigger());
    poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
    assert_eq!(notifier.arm(), Readiness::Ready);
    thread.join().unwrap();
}

#[test]
#[cfg(feature = "async")]
fn task_waits_for_a_trigger() {
    use crate::support::tasks::block_on;
    let shutdown = Shutdown::new();
    let other = shutdown.clone();
    let thread = thread::spawn(move || other.trigger());
    block_on(shutdown.wait_async());
    assert!(shutdown.is_shutdown());
    thread.join().unwrap();
    block_on(shutdown.wait_async());
}

#[test]
fn join_gives_the_worker_back_when_the_time_is_over() {
    let (mut producer, consumer) = spsc::channel(4);
    let worker = Worker::builder(consumer, 0).spawn(|sum, n: u64, _| *sum += n).unwrap();
    let worker = worker.join_timeout(SOON).unwrap_err().join_timeout(Duration::ZERO).unwrap_err();
    producer.send(5).unwrap();
    drop(producer);
    let finished = worker.join_timeout(STUCK).map_err(|_| "it goes on").unwrap();
    assert_eq!(finished.unwrap().context, 5);
}

/// It waits for what the handler is doing, and gets its panic.
#[test]
fn join_in_time_gets_a_panic() {
    let (mut producer, consumer) = spsc::channel(4);
    let (go_on, gate) = channel::<()>();
    let handler = move |(): &mut (), _: u64, _| {
        gate.recv().unwrap();
        std::panic::resume_unwind(Box::new("on purpose"))
    };
    let worker = Worker::builder(consumer, ()).spawn(handler).unwrap();
    producer.send(5).unwrap();
    let worker = worker.join_timeout(SOON).unwrap_err();
    go_on.send(()).unwrap();
    let ended = worker.join_timeout(Duration::MAX).map_err(|_| "it goes on").unwrap();
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"on purpose"));
}
