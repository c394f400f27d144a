//! Tasks: no wake-up is lost, and none is kept by a task that does not use it. A lost one leaves an executor
//! asleep, which loom reports as a deadlock.
#![cfg(annulus_loom)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use annulus::queue::ordered;
use annulus::{RecvError, mpmc, spmc};
use annulus_loom::{BLOCK, Checked, Signal, block_on, check, check_up_to};
use loom::thread;

fn poll<F: Future>(future: &mut Pin<Box<F>>, signal: &Arc<Signal>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(signal));
    future.as_mut().poll(&mut Context::from_waker(&waker))
}

/// Polls once, and drops the future.
fn is_there<F: Future>(future: F) -> bool {
    poll(&mut Box::pin(future), &Arc::default()).is_ready()
}

/// The publisher lives on after its message: only that message can wake the task.
#[test]
fn a_message_wakes_a_task() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || block_on(subscriber.recv_async()));
        publisher.publish(Checked::of(0));
        assert_eq!(reader.join().unwrap(), Ok(u64::of(0)));
        drop(publisher);
    });
}

/// A close wakes, too.
#[test]
fn a_close_wakes_a_task() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || block_on(subscriber.recv_async()));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
    });
}

/// The second message must wake a task that waits again after the first.
#[test]
fn second_message_wakes_a_task_again() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || {
            block_on(async { [subscriber.recv_async().await, subscriber.recv_async().await] })
        });
        publisher.publish(Checked::of(0));
        publisher.publish(Checked::of(1));
        assert_eq!(reader.join().unwrap(), [Ok(u64::of(0)), Ok(u64::of(1))]);
        drop(publisher);
    });
}

/// A task that waits again needs no fence, because one that waited before had it: neither while nobody was
/// woken in between, nor where the waker finds nobody, and takes down that somebody waits.
#[test]
fn task_that_waits_while_the_bit_is_cleared_is_woken() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        // The bits are set, and nobody waits.
        assert!(!is_there(subscriber.recv_async()));
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            publisher.publish(Checked::of(1));
            publisher
        });
        let received = block_on(async { [subscriber.recv_async().await, subscriber.recv_async().await] });
        assert_eq!(received, [Ok(u64::of(0)), Ok(u64::of(1))]);
        drop(writer.join().unwrap());
    });
}

/// Two tasks: one has the fence, the other one waits without it.
#[test]
fn a_fence_of_one_task_is_good_for_another() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let [mut first, mut second] = [subscribable.subscribe(), subscribable.subscribe()];
        let other = thread::spawn(move || is_there(first.recv_async()));
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            publisher
        });
        assert_eq!(block_on(second.recv_async()), Ok(u64::of(0)));
        other.join().unwrap();
        drop(writer.join().unwrap());
    });
}

/// A receive wakes a task that waits for room.
#[test]
fn a_receive_wakes_a_sender() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel(1);
        sender.try_send(1).unwrap();
        let writer = thread::spawn(move || (block_on(sender.send_async(2)).is_ok(), sender));
        assert_eq!(receiver.recv_until(BLOCK), Ok(1));
        let (sent, _sender) = writer.join().unwrap();
        assert!(sent);
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

/// A future that is dropped beside the message for which it is woken: nothing of it is left, and the message
/// is there.
#[test]
fn future_is_dropped_beside_its_wake_up() {
    check(|| {
        let (mut producer, mut consumer) = spmc::channel(1);
        let reader = thread::spawn(move || {
            let signal = Arc::default();
            let mut future = Box::pin(consumer.recv_async());
            let received = match poll(&mut future, &signal) {
                Poll::Ready(found) => found.ok(),
                Poll::Pending => None,
            };
            drop(future);
            (received, consumer)
        });
        producer.try_send(7).unwrap();
        let (received, mut consumer) = reader.join().unwrap();
        assert_eq!(received.or_else(|| consumer.try_recv().ok()), Some(7));
        drop(producer);
    });
}

/// Two tasks wait for one message. One of them is dropped, whether it was woken or not: the other one gets
/// the message.
#[test]
fn a_wake_up_of_a_dropped_task_goes_to_another() {
    check_up_to(2, || {
        let (mut producer, mut dropped) = spmc::channel(1);
        let mut other = dropped.clone();
        let signals = [(); 2].map(|()| Arc::<Signal>::default());
        let mut future = Box::pin(dropped.recv_async());
        assert!(poll(&mut future, &signals[0]).is_pending());
        let mut waiting = Box::pin(other.recv_async());
        assert!(poll(&mut waiting, &signals[1]).is_pending());
        let writer = thread::spawn(move || {
            producer.try_send(7).unwrap();
            producer
        });
        drop(future);
        signals[1].wait();
        assert_eq!(poll(&mut waiting, &signals[1]), Poll::Ready(Ok(7)));
        drop(waiting);
        drop(writer.join().unwrap());
    });
}

/// A task takes a message that it finds at its second look, while it is woken for another one: the waiting
/// task gets that one.
#[test]
fn waiting_task_gets_the_message_another_was_woken_for() {
    check_up_to(2, || {
        let (mut producer, mut consumer) = spmc::channel(2);
        let mut other = consumer.clone();
        let signal = Arc::<Signal>::default();
        let mut waiting = Box::pin(other.recv_async());
        assert!(poll(&mut waiting, &signal).is_pending());
        let writer = thread::spawn(move || {
            producer.try_send(1).unwrap();
            producer.try_send(2).unwrap();
            producer
        });
        let mut future = Box::pin(consumer.recv_async());
        let mine = match poll(&mut future, &Arc::default()) {
            Poll::Ready(found) => found.unwrap(),
            Poll::Pending => 0,
        };
        drop(future);
        signal.wait();
        let others = match poll(&mut waiting, &signal) {
            Poll::Ready(found) => found.unwrap(),
            // Somebody was faster, so the other message wakes it.
            Poll::Pending => {
                signal.wait();
                let Poll::Ready(found) = poll(&mut waiting, &signal) else { panic!("woken for nothing") };
                found.unwrap()
            }
        };
        drop(waiting);
        drop(writer.join().unwrap());
        let rest: u64 = consumer.try_iter().sum();
        assert_eq!(mine + others + rest, 3);
    });
}

/// Two tasks have the same node, one after the other, during a message that wakes the one that has it.
#[test]
fn a_node_is_used_again() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let [mut first, mut second] = [subscribable.subscribe(), subscribable.subscribe()];

        let other = thread::spawn(move || is_there(first.recv_async()));
        assert!(!is_there(second.recv_async()));
        publisher.publish(Checked::of(0));
        other.join().unwrap();
        drop(publisher);
    });
}

/// A task is polled anew, with another waker, beside the message: the last waker is woken.
#[test]
fn a_task_is_polled_anew_beside_its_wake_up() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let mut future = Box::pin(subscriber.recv_async());
        let signals = [(); 2].map(|()| Arc::<Signal>::default());
        let first = poll(&mut future, &signals[0]);
        assert!(first.is_pending());
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            publisher
        });
        let received = match poll(&mut future, &signals[1]) {
            Poll::Ready(received) => received,
            Poll::Pending => {
                signals[1].wait();
                let Poll::Ready(received) = poll(&mut future, &signals[1]) else {
                    panic!("woken for nothing")
                };
                received
            }
        };
        assert_eq!(received, Ok(u64::of(0)));
        drop(future);
        drop(writer.join().unwrap());
    });
}

/// A thread and a task wait, and there is a message for each.
#[test]
fn a_message_for_a_thread_and_one_for_a_task() {
    check_up_to(2, || {
        let (mut producer, mut first) = mpmc::channel(2);
        let mut second = first.clone();
        let readers = [
            thread::spawn(move || (first.recv_until(BLOCK).ok(), first)),
            thread::spawn(move || (block_on(second.recv_async()).ok(), second)),
        ];
        producer.try_send(1).unwrap();
        producer.try_send(2).unwrap();
        let received = readers.map(|reader| reader.join().unwrap().0.unwrap());
        assert_eq!(received[0] + received[1], 3);
        drop(producer);
    });
}
