//! Publishers that sleep at the gate: whatever lets them go on wakes them. A lost wake-up is a deadlock,
//! which loom reports.
#![cfg(annulus_loom)]

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Waker};

use annulus::broadcast::{Lossless, Publisher, Subscribable, Subscriber};
use annulus_loom::{BLOCK, Checked, Signal, check, check_up_to, receive_lossless};
use loom::thread;

/// A ring of two slots with one subscriber, and its publisher at the limit.
fn full() -> (Publisher<u64, Lossless>, Subscribable<u64, Lossless>, Subscriber<u64, Lossless>) {
    let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    let subscriber = subscribable.subscribe();
    publisher.publish_batch(&[0, 1].map(Checked::of)).unwrap();
    (publisher, subscribable, subscriber)
}

/// The subscriber lives on after it has received: only that can wake the publisher.
#[test]
fn a_receive_wakes_the_publisher() {
    check(|| {
        let (mut publisher, _subscribable, mut subscriber) = full();
        let reader = thread::spawn(move || {
            assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
            subscriber
        });
        publisher.publish_until(Checked::of(2), BLOCK).unwrap();
        assert_eq!(receive_lossless(&mut reader.join().unwrap(), 2), [1, 2]);
    });
}

/// So it does a publisher that is a task.
#[test]
fn a_receive_wakes_a_task_at_the_gate() {
    check(|| {
        let (mut publisher, _subscribable, mut subscriber) = full();
        let reader = thread::spawn(move || {
            assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
            subscriber
        });
        let mut future = Box::pin(publisher.publish_async(Checked::of(2)));
        let signal = Arc::<Signal>::default();
        let waker = Waker::from(Arc::clone(&signal));
        while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            signal.wait();
        }
        drop(future);
        assert_eq!(receive_lossless(&mut reader.join().unwrap(), 2), [1, 2]);
    });
}

/// Two receives, two messages: the second must wake a publisher that went back to sleep after the first.
#[test]
fn second_receive_wakes_the_publisher_again() {
    check(|| {
        let (mut publisher, _subscribable, mut subscriber) = full();
        let reader = thread::spawn(move || {
            assert_eq!(receive_lossless(&mut subscriber, 2), [0, 1]);
            subscriber
        });
        publisher.publish_until(Checked::of(2), BLOCK).unwrap();
        publisher.publish_until(Checked::of(3), BLOCK).unwrap();
        assert_eq!(receive_lossless(&mut reader.join().unwrap(), 2), [2, 3]);
    });
}

/// So do a batch of receives, at its end, and a drain.
#[test]
fn receiving_many_wakes_the_publisher() {
    for drain in [false, true] {
        check(move || {
            let (mut publisher, _subscribable, mut subscriber) = full();
            let reader = thread::spawn(move || {
                let received = if drain {
                    subscriber.try_iter().count()
                } else {
                    subscriber.try_recv_batch(&mut [0; 2])
                };
                assert!(received >= 2, "both happen before");
                subscriber
            });
            publisher.publish_until(Checked::of(2), BLOCK).unwrap();
            drop(reader.join().unwrap());
        });
    }
}

/// A publisher of a larger ring would rather have room for a few messages, but goes on with room for one when
/// no more comes: here nobody notifies again.
#[test]
fn a_little_room_is_enough_in_the_end() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(16);
        let mut subscriber = subscribable.subscribe();
        (0..16).for_each(|number| publisher.publish(Checked::of(number)).unwrap());
        let reader = thread::spawn(move || {
            assert_eq!(subscriber.try_recv(), Ok(u64::of(0)));
            subscriber
        });
        publisher.publish_until(Checked::of(16), BLOCK).unwrap();
        drop(reader.join().unwrap());
    });
}

/// Publisher and subscriber wait for each other in turn, through both ends of the ring.
#[test]
fn publisher_and_subscriber_wake_each_other() {
    check_up_to(2, || {
        let (mut publisher, subscribable) =
            annulus::broadcast::lossless_with::<u64>(annulus::Settings::new(2).headroom(1)).unwrap();
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || {
            for number in 0..2 {
                assert_eq!(subscriber.recv_until(BLOCK), Ok(u64::of(number)));
            }
        });
        for number in 0..2 {
            publisher.publish_until(Checked::of(number), BLOCK).unwrap();
        }
        reader.join().unwrap();
    });
}

/// A batch larger than the ring wakes its reader before it waits for room.
#[test]
fn batch_and_its_reader_wake_each_other() {
    check_up_to(1, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || [(); 3].map(|()| subscriber.recv_until(BLOCK).unwrap()));
        publisher.publish_batch_until(&[0, 1, 2].map(Checked::of), BLOCK).unwrap();
        assert_eq!(reader.join().unwrap(), [0, 1, 2].map(u64::of));
    });
}

/// A subscriber that leaves wakes the publisher it held up. A handle that can make subscribers lives on.
#[test]
fn leaving_subscriber_wakes_the_publisher() {
    check(|| {
        let (mut publisher, _subscribable, subscriber) = full();
        let leaving = thread::spawn(move || drop(subscriber));
        publisher.publish_until(Checked::of(2), BLOCK).unwrap();
        leaving.join().unwrap();
    });
}

/// When the last possible receiver goes, a publisher that sleeps is woken: it gets its message out, or back.
#[test]
fn last_one_out_wakes_the_publisher() {
    check(|| {
        let (mut publisher, subscribable, subscriber) = full();
        let leaving = thread::spawn(move || drop((subscribable, subscriber)));
        let result = publisher.publish_until(Checked::of(2), BLOCK);
        leaving.join().unwrap();
        if let Err(error) = result {
            assert_eq!(error.into_inner(), u64::of(2));
        }
        assert!(publisher.is_closed());
        assert_eq!(publisher.publish_until(Checked::of(3), BLOCK).unwrap_err().into_inner(), u64::of(3));
    });
}

/// A joining subscriber holds the publisher up at an early cursor for a moment. Once it stands where it
/// begins, it wakes the publisher.
#[test]
fn joining_subscriber_wakes_the_publisher() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        publisher.publish_batch(&[0, 1].map(Checked::of)).unwrap();
        let joining = thread::spawn(move || {
            let subscriber = subscribable.subscribe();
            assert!(subscriber.cursor() >= 2, "message 1 happens before");
            (subscriber, subscribable)
        });
        publisher.publish_until(Checked::of(2), BLOCK).unwrap();
        publisher.publish_until(Checked::of(3), BLOCK).unwrap();
        drop(joining.join().unwrap());
    });
}

/// Where nobody holds publishers up, one that comes round to a slot still being written is woken by the
/// writer of that one.
#[test]
fn the_writer_a_lap_before_wakes_a_publisher() {
    check(|| {
        let (publisher, _subscribable) = annulus::broadcast::mp_lossless::<u64>(2);
        let other = publisher.clone();
        let first = thread::spawn(move || {
            other.publish_until(Checked::of(10), BLOCK).unwrap();
            other
        });
        for number in [20, 21] {
            publisher.publish_until(Checked::of(number), BLOCK).unwrap();
        }
        drop(first.join().unwrap());
        assert_eq!(publisher.published(), 3);
    });
}

/// Two publishers sleep at the gate; each receive lets one of them through.
#[test]
fn receive_wakes_both_publishers() {
    check_up_to(2, || {
        let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        publisher.publish_batch(&[0, 1].map(Checked::of)).unwrap();
        let writers = [10, 20].map(|number| {
            let publisher = publisher.clone();
            thread::spawn(move || publisher.publish_until(Checked::of(number), BLOCK).unwrap())
        });
        assert_eq!(receive_lossless(&mut subscriber, 2), [0, 1]);
        for writer in writers {
            writer.join().unwrap();
        }
        let mut received = receive_lossless(&mut subscriber, 2);
        received.sort_unstable();
        assert_eq!(received, [10, 20]);
    });
}
