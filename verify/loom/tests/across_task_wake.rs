//! Tasks that another process wakes: by a thread of their own process, which sleeps in their place. In a
//! model the two processes are threads, and that thread is the library's own; it ends with the ring.
//!
//! A lost wake-up leaves an executor asleep, or the thread, which loom reports as a deadlock: it knows no
//! naps.
#![cfg(annulus_loom)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use annulus::RecvError;
use annulus::Settings;
use annulus::broadcast::{Foreign, Publisher, Subscribable};
use annulus_loom::{BLOCK, Checked, Signal, block_on, check_up_to};
use loom::thread;

fn poll<F: Future>(future: &mut Pin<Box<F>>, signal: &Arc<Signal>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(signal));
    future.as_mut().poll(&mut Context::from_waker(&waker))
}

/// `is_asymmetric`: the publisher has a light fence, and sleepers ask for a barrier in its process.
fn ring(is_asymmetric: bool) -> (Publisher<u64>, Subscribable<u64, Foreign>) {
    Settings::new(2).wait_strategy(BLOCK).lossy_for_two_processes(is_asymmetric, || false)
}

/// With full fences on both sides, and with a light one on one side. (Three threads, and one that is begun
/// on the way: two changes of thread are what there is time for.)
fn check_both(model: fn(is_asymmetric: bool)) {
    for is_asymmetric in [false, true] {
        check_up_to(2, move || model(is_asymmetric));
    }
}

/// Nothing but the message wakes the task: the publisher lives on. The thread ends with the subscribers.
#[test]
fn a_message_wakes_a_task() {
    check_both(|is_asymmetric| {
        let (mut publisher, subscribable) = ring(is_asymmetric);
        let mut subscriber = subscribable.subscribe();
        drop(subscribable);
        let reader = thread::spawn(move || block_on(subscriber.recv_async()));
        publisher.publish(u64::of(0));
        assert_eq!(reader.join().unwrap(), Ok(u64::of(0)));
        drop(publisher);
    });
}

/// The second message wakes a task that waits again after the first.
#[test]
fn second_message_wakes_a_task_again() {
    check_both(|is_asymmetric| {
        let (mut publisher, subscribable) = ring(is_asymmetric);
        let mut subscriber = subscribable.subscribe();
        drop(subscribable);
        let reader = thread::spawn(move || {
            block_on(async { [subscriber.recv_async().await, subscriber.recv_async().await] })
        });
        publisher.publish(u64::of(0));
        publisher.publish(u64::of(1));
        assert_eq!(reader.join().unwrap(), [Ok(u64::of(0)), Ok(u64::of(1))]);
        drop(publisher);
    });
}

/// The second task comes while the thread is there for the first.
#[test]
fn message_wakes_two_tasks() {
    check_both(|is_asymmetric| {
        let (mut publisher, subscribable) = ring(is_asymmetric);
        let [mut first, mut second] = [(); 2].map(|()| subscribable.subscribe());
        drop(subscribable);
        let reader = thread::spawn(move || {
            let (mut one, mut two) = (Box::pin(first.recv_async()), Box::pin(second.recv_async()));
            let signals: [Arc<Signal>; 2] = Default::default();
            let mut seen = [poll(&mut one, &signals[0]), poll(&mut two, &signals[1])];
            if seen[0].is_pending() {
                signals[0].wait();
                seen[0] = poll(&mut one, &signals[0]);
            }
            if seen[1].is_pending() {
                signals[1].wait();
                seen[1] = poll(&mut two, &signals[1]);
            }
            seen
        });
        publisher.publish(u64::of(0));
        assert_eq!(reader.join().unwrap(), [Poll::Ready(Ok(u64::of(0))); 2]);
        drop(publisher);
    });
}

#[test]
fn end_wakes_a_task() {
    check_both(|is_asymmetric| {
        let (publisher, subscribable) = ring(is_asymmetric);
        let mut subscriber = subscribable.subscribe();
        drop(subscribable);
        let reader = thread::spawn(move || block_on(subscriber.recv_async()));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
    });
}

/// A task that sends: the room that another process makes wakes it.
#[test]
fn room_wakes_a_task() {
    check_both(|is_asymmetric| {
        let (mut producer, mut consumer, _) =
            Settings::new(1).wait_strategy(BLOCK).for_two_processes::<u64>(is_asymmetric, || false, || false);
        producer.try_send(1).unwrap();
        let writer = thread::spawn(move || (block_on(producer.send_async(2)), producer));
        assert_eq!(consumer.try_recv(), Ok(1));
        assert_eq!(writer.join().unwrap().0, Ok(()));
        assert_eq!(consumer.try_recv(), Ok(2));
    });
}
