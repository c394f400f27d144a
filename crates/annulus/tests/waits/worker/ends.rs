//! How workers end.

use std::panic::{panic_any, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::{Duration, Instant};

use annulus::{Worker, broadcast, mpsc, spsc};

use crate::support::{STUCK, without_standing_still};
use crate::worker::rings::{CAPACITY, Gate, Make, Ring, Seen, by_value, for_each, nothing, numbers, plain};

#[test]
fn stop_comes_after_earlier_messages() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (gate, before) = Gate::new();
        let worker = begin(&plain, before);
        send(0);
        gate.came.recv().unwrap();
        (1..40).for_each(|number| _ = send(number));
        worker.stop();
        assert!(!worker.is_finished());
        gate.go_on.send(()).unwrap();
        assert_eq!(numbers(&worker.join().unwrap()), (0..40).collect::<Vec<_>>());
        assert!(!send(40), "nobody receives any more");
    });
}

#[test]
fn stop_now_comes_after_one_message() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let (gate, before) = Gate::new();
        let worker = begin(&plain, before);
        send(0);
        gate.came.recv().unwrap();
        (1..40).for_each(|number| _ = send(number));
        // The second breaks off what the first has begun.
        worker.stop();
        worker.stop_now();
        gate.go_on.send(()).unwrap();
        assert_eq!(numbers(&worker.join().unwrap()), [0]);
        // A lossless publisher does not wait for it.
        assert!((0..2 * CAPACITY as u64).all(|number| !send(number)));
    });
}

/// It does not wait for stages before it, and handles what they have processed.
#[test]
fn stop_of_a_stage() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = broadcast::lossless(CAPACITY);
        let mut first = subscribable.subscribe_tracked();
        let second = subscribable.subscribe().after(&[&first]);
        publisher.publish_batch(&[0, 1, 2, 3]).unwrap();
        assert_eq!([first.recv(), first.recv(), first.recv()], [Ok(0), Ok(1), Ok(2)]);
        let worker = by_value(second)(&plain, nothing());
        worker.stop();
        // The third is not processed yet.
        assert_eq!(numbers(&worker.join().unwrap()), [0, 1]);
        assert_eq!(first.recv(), Ok(3));

        let second = by_value(subscribable.subscribe().after(&[&first]))(&plain, nothing());
        let first = by_value(first)(&plain, nothing());
        publisher.publish_batch(&[4, 5, 6]).unwrap();
        first.stop();
        assert_eq!(numbers(&first.join().unwrap()), [4, 5, 6]);
        second.stop();
        assert_eq!(numbers(&second.join().unwrap()), [4, 5, 6]);
    });
}

/// The handler was told that another message comes, and that one is overwritten before it gets it. Those
/// before the stage process nothing any more.
#[test]
fn stop_of_a_lossy_stage_that_lost_the_rest_of_a_batch() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = broadcast::lossy(4);
        let mut first = subscribable.subscribe_tracked();
        let second = subscribable.subscribe().after(&[&first]);
        publisher.publish_batch(&[0, 1]);
        assert_eq!(first.try_iter().count(), 2);
        first.done();
        let (gate, before) = Gate::new();
        let worker = by_value(second)(&plain, before);
        gate.came.recv().unwrap();
        (2..20).for_each(|number| publisher.publish(number));
        worker.stop();
        gate.go_on.send(()).unwrap();
        let finished = worker.join().unwrap();
        assert_eq!(finished.context, [(0, false)]);
        assert!(finished.lost >= 1, "{finished:?}");
    });
}

/// However it sleeps, with a timeout or without, and however it is stopped.
#[test]
fn stop_wakes_a_sleeper() {
    for idle in [None, Some(Duration::from_secs(3600))] {
        for now in [false, true] {
            for_each(CAPACITY, move |ring| {
                let Ring { mut send, begin, .. } = ring;
                let set = |make: Make| Make {
                    idle: idle.map(|idle| (idle, Box::new(|_: &mut Seen| ()) as _)),
                    ..make
                };
                let worker = begin(&set, nothing());
                send(7);
                thread::sleep(Duration::from_millis(3));
                let begun = Instant::now();
                if now {
                    worker.stop_now();
                } else {
                    worker.stop();
                }
                worker.join().unwrap();
                assert!(begun.elapsed() < STUCK / 2, "nobody woke it");
                drop(send);
            });
        }
    }
}

#[test]
fn handler_panic_is_returned_and_closes_the_ring() {
    for_each(4, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let worker = begin(
            &plain,
            Box::new(|_, number| {
                if number >= 2 {
                    panic_any("on purpose");
                }
            }),
        );
        // More than fit: those that wait are told.
        (0..100).for_each(|number| _ = send(number));
        let panic = worker.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
        assert!(!send(101));
    });
}

/// A sender that learns that the receiver is gone can see why.
#[test]
fn panic_is_visible_once_the_receiver_is_gone() {
    for_each(4, |ring| {
        let Ring { mut send, begin, .. } = ring;
        let worker = begin(&plain, Box::new(|_, _| panic_any("on purpose")));
        assert!(!worker.panicked());
        // A queue is closed; a ring has no subscriber any more.
        while send(0) {}
        assert!(worker.panicked());
        assert_eq!(worker.join().unwrap_err().downcast_ref(), Some(&"on purpose"));
    });
}

/// A message that stops the thread which drops it, until the test has looked.
struct Stops {
    came: std_mpsc::Sender<()>,
    go_on: std_mpsc::Receiver<()>,
}

impl Drop for Stops {
    fn drop(&mut self) {
        _ = self.came.send(());
        _ = self.go_on.recv();
    }
}

/// Panics when it is dropped.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic_any("on purpose");
    }
}

/// While the worker drops its consumer, and with it what is left in the queue, it has noted the panic: of the
/// handler, of the callback, or of the destructor of one of them.
#[test]
fn a_panic_is_noted_before_the_receiver_is_dropped() {
    #[derive(Clone, Copy, PartialEq)]
    enum What {
        Nothing,
        Call,
        Destructor,
    }
    fn check(in_handler: bool, what: What) {
        let (mut producer, consumer) = mpsc::channel(4);
        let (came, comes) = std_mpsc::channel();
        let (goes_on, go_on) = std_mpsc::channel();
        let (mut first, mut left_behind) = (producer.clone(), Some(Stops { came, go_on }));
        let builder = Worker::builder(consumer, ());
        let (stopper, panics) = (builder.stopper(), (what == What::Destructor).then(|| Panics));
        // It runs once, and leaves a message in the queue.
        let mut runs = move || {
            let _of_this_closure = &panics;
            producer.send(left_behind.take()).unwrap();
            if what == What::Call {
                panic_any("on purpose");
            }
            stopper.stop_now();
        };
        let worker = if in_handler {
            first.send(None).unwrap();
            builder.spawn(move |(), _: Option<Stops>, _| runs()).unwrap()
        } else {
            builder.on_idle(Duration::ZERO, move |()| runs()).spawn(|(), _, _| ()).unwrap()
        };
        comes.recv().unwrap();
        assert_eq!(worker.panicked(), what != What::Nothing);
        goes_on.send(()).unwrap();
        assert_eq!(worker.join().is_err(), what != What::Nothing);
    }
    without_standing_still(|| {
        for in_handler in [true, false] {
            for what in [What::Nothing, What::Call, What::Destructor] {
                check(in_handler, what);
            }
        }
    });
}

#[test]
fn handler_may_stop_its_worker() {
    for now in [false, true] {
        let (mut producer, consumer) = spsc::channel(CAPACITY);
        (0..10).for_each(|number| producer.send(number).unwrap());
        let builder = Worker::builder(consumer, ());
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
        let worker = builder.spawn(handler).unwrap();
        assert_eq!(worker.join().unwrap().messages, if now { 5 } else { 10 });
        assert!(producer.send(10).is_err());
    }
}

/// Stopped before it begins.
#[test]
fn stopped_worker_handles_earlier_messages() {
    for (now, count) in [(false, 3), (true, 0)] {
        let (mut producer, consumer) = mpsc::channel(CAPACITY);
        (0..3).for_each(|number| producer.send(number).unwrap());
        let builder = Worker::builder(consumer, ());
        if now {
            builder.stopper().stop_now();
        } else {
            builder.stopper().stop();
        }
        let worker = builder.spawn(|(), _, _| ()).unwrap();
        assert_eq!(worker.join().unwrap().messages, count);
    }
}

#[test]
fn worker_that_is_dropped_stops_and_one_that_is_detached_goes_on() {
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
        Worker::builder(consumer, ()).spawn(handler).unwrap()
    };
    let (mut producer, consumer) = spsc::channel(CAPACITY);
    let worker = begin(consumer);
    (0..10).for_each(|number| producer.send(number).unwrap());
    drop(worker);
    until(&|| producer.is_closed());
    assert_eq!(handled.load(Ordering::Relaxed), 10);

    let (mut producer, consumer) = spsc::channel(CAPACITY);
    begin(consumer).detach();
    thread::sleep(Duration::from_millis(2));
    (0..10).for_each(|number| producer.send(number).unwrap());
    until(&|| handled.load(Ordering::Relaxed) == 20);
}

/// What panics when it is dropped, and says so before.
struct Tells(std_mpsc::Sender<()>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
        resume_unwind(Box::new("on purpose"));
    }
}

/// The thread is not joined, so its context, or its panic's payload, is dropped there: a destructor of either
/// that panics ends neither the process nor the thread that has the handle.
#[test]
fn panic_of_a_destructor_behind_a_worker_ends_no_other_thread() {
    for (is_context, is_over, is_detached) in (0..8).map(|bits| (bits & 1 == 0, bits & 2 == 0, bits & 4 == 0))
    {
        let (tell, told) = std_mpsc::channel();
        let (mut producer, consumer) = spsc::channel(4);
        let mut panics = Some(Tells(tell));
        let context = panics.take_if(|_| is_context);
        let handler = move |_: &mut Option<Tells>, (), _| {
            if let Some(panics) = panics.take() {
                resume_unwind(Box::new(panics));
            }
        };
        let worker = Worker::builder(consumer, context).spawn(handler).unwrap();
        producer.send(()).unwrap();
        let mut producer = Some(producer);
        if is_over {
            producer = None;
            let begun = Instant::now();
            while !worker.is_finished() {
                assert!(begun.elapsed() < STUCK);
                thread::yield_now();
            }
        }
        if is_detached {
            worker.detach();
        } else {
            drop(worker);
        }
        drop(producer);
        told.recv().unwrap();
        assert!(told.recv().is_err(), "once");
    }
}
