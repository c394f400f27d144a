//! Workers: a stop is not slept through, comes after what was sent before it, and keeps no wake-up of
//! another reader. A lost wake-up leaves a thread asleep, which loom reports as a deadlock.
#![cfg(annulus_loom)]

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use annulus::{Receive, Worker, broadcast, spmc, spsc};
use annulus_loom::{BLOCK, check, check_up_to};
use loom::thread;

fn begin<R: Receive<Item = u64> + Send + 'static>(receiver: R) -> Worker<u64> {
    let builder = Worker::builder(receiver, 0).wait_strategy(BLOCK);
    builder.spawn(|sum, number, _| *sum += number).unwrap()
}

/// Nothing but the stop can wake the thread.
#[test]
fn a_stop_wakes_a_sleeper() {
    check(|| {
        let (producer, consumer) = spsc::channel(1);
        let worker = begin(consumer);
        worker.stop();
        assert_eq!(worker.join().unwrap().messages, 0);
        drop(producer);
    });
}

/// It comes beside a message and its wake-up.
#[test]
fn stop_comes_after_earlier_messages() {
    check_up_to(2, || {
        let (mut producer, consumer) = spsc::channel(1);
        let worker = begin(consumer);
        producer.send(5).unwrap();
        worker.stop();
        assert_eq!(worker.join().unwrap().context, 5);
        drop(producer);
    });
}

/// Also if another thread sent it, which the one that stops knows of.
#[test]
fn stop_of_another_thread() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = broadcast::lossless(2);
        let worker = begin(subscribable.subscribe());
        let stopper = worker.stopper();
        let other = thread::spawn(move || {
            publisher.publish(5).unwrap();
            stopper.stop();
            publisher
        });
        assert_eq!(worker.join().unwrap().context, 5);
        drop(other.join().unwrap());
    });
}

/// A stop beside the end of the ring, and of the thread: it finds the event, or that there is none.
#[test]
fn stop_beside_a_close() {
    check_up_to(2, || {
        let (producer, consumer) = spsc::channel::<u64>(1);
        let worker = begin(consumer);
        let stopper = worker.stopper();
        let other = thread::spawn(move || drop(producer));
        stopper.stop_now();
        assert_eq!(worker.join().unwrap().messages, 0);
        other.join().unwrap();
    });
}

/// A task that was woken.
#[derive(Default)]
struct Woken(Mutex<bool>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap() = true;
    }
}

/// A message for the worker or a task. The worker may have been woken for it, and does not take it.
#[test]
fn a_stop_passes_a_wake_up_on() {
    check_up_to(2, || {
        let (mut producer, consumer) = spmc::channel(1);
        let mut other = consumer.clone();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut future = other.recv_async();
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        let worker = begin(consumer);
        producer.send(1).unwrap();
        worker.stop_now();
        let is_taken = worker.join().unwrap().messages == 1;
        assert!(is_taken || *woken.0.lock().unwrap(), "nobody comes for the message");
        drop(future);
        drop(producer);
    });
}
