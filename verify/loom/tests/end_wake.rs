//! A close from elsewhere, while publishers publish: messages before it are received by all, refused ones by
//! none, and all sleepers are woken.
//!
//! Publishers live on until all is received: where they go, that ends the ring, too.
//!
//! With the waker's fence: it is part of what is shown here (end.close3 and end.send4 of `ring/end.rs`).
#![cfg(annulus_loom)]

use annulus::Settings;
use annulus::broadcast;
use annulus::broadcast::{Lossless, Mode, MpPublisher, Subscriber};
use annulus::{RecvError, RecvTimeoutError, Shutdown, TryRecvError};
use annulus_loom::{BLOCK, Checked, SPIN, check, check_up_to, receive_checked, receive_lossless};
use loom::thread;

/// Receives until the close; the messages are those from number 0 on.
fn receive_to_the_end<M: Mode>(subscriber: &mut Subscriber<u64, M>) -> u64 {
    let start = subscriber.cursor();
    while let Ok(message) = subscriber.recv_until(SPIN) {
        assert_eq!(message.number(), subscriber.cursor() - 1);
    }
    assert!(subscriber.is_closed());
    assert_eq!(subscriber.recv_until(SPIN), Err(RecvTimeoutError::Closed), "the end is final");
    subscriber.cursor() - start
}

/// Of two messages beside a close, a prefix is published, and that is what each subscriber receives.
#[test]
fn one_publisher_beside_a_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let closer = subscribable.closer();
        let mut early = subscribable.subscribe();
        let mut late = subscribable.subscribe();
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            publisher.publish(Checked::of(1));
            publisher
        });
        closer.close();
        assert!(early.is_closed());
        let count = receive_to_the_end(&mut early);
        let publisher = writer.join().unwrap();
        assert_eq!(count, publisher.published());
        assert_eq!(receive_to_the_end(&mut late), count);
    });
}

/// A publisher that leaves out numbers beside a close: they all come before it, or none does, and each
/// subscriber comes to the same end.
#[test]
fn numbers_left_out_beside_a_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let closer = subscribable.closer();
        let mut early = subscribable.subscribe();
        let mut late = subscribable.subscribe();
        let writer = thread::spawn(move || {
            publisher.publish(Checked::of(0));
            let left_out = publisher.skip_to(3).unwrap();
            publisher.publish(Checked::of(1 + left_out));
            (left_out, publisher)
        });
        closer.close();
        let count = receive_to_the_end(&mut early);
        let (left_out, publisher) = writer.join().unwrap();
        assert!(left_out == 0 || left_out == 2);
        assert_eq!(count, publisher.published());
        assert_eq!((receive_to_the_end(&mut late), late.total_lagged()), (count, left_out));
    });
}

/// On a lossless ring each publisher is told which: `Ok` is received, and what was refused comes back.
#[test]
fn one_lossless_publisher_beside_a_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
        let closer = publisher.closer();
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            let publish = |number: &u64| publisher.publish_until(Checked::of(*number), SPIN).is_ok();
            let accepted = (0..2).take_while(publish).count();
            (accepted, publisher)
        });
        closer.close();
        let received = receive_to_the_end(&mut subscriber);
        assert_eq!(received, writer.join().unwrap().0 as u64);
    });
}

/// Two closes at the same moment decide the same end, while a reader receives.
#[test]
fn closes_at_one_moment_decide_one_end() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
        let [here, there] = [(); 2].map(|()| publisher.closer());
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            let publish = |number: &u64| publisher.try_publish(Checked::of(*number)).is_ok();
            let accepted = (0..2).take_while(publish).count();
            (accepted, publisher)
        });
        let other = thread::spawn(move || there.close());
        here.close();
        let received = receive_to_the_end(&mut subscriber);
        other.join().unwrap();
        assert_eq!(received, writer.join().unwrap().0 as u64);
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    });
}

/// Events, changed in place: one that was announced when the ring was closed is published, or given back.
#[test]
fn one_publisher_of_events_beside_a_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let closer = publisher.closer();
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            let publish = |number: &u64| publisher.try_publish(|event| *event = *number).is_ok();
            let accepted = (0..2).take_while(publish).count();
            (accepted, publisher)
        });
        closer.close();
        let mut received = 0;
        while let Ok(number) = subscriber.process_until(SPIN, |event| *event) {
            assert_eq!(number, received);
            received += 1;
        }
        assert_eq!(received, writer.join().unwrap().0 as u64);
    });
}

/// Publishes message `number` if the ring is open, and says whether it was; the publisher lives on.
fn publish_one(
    publisher: MpPublisher<u64, Lossless>,
    number: u64,
) -> (Option<u64>, MpPublisher<u64, Lossless>) {
    let accepted = publisher.publish_until(Checked::of(number), SPIN).is_ok();
    (accepted.then_some(number), publisher)
}

/// Many publishers: what was claimed before the close is received, also where it is written after it.
#[test]
fn two_publishers_beside_a_close() {
    check_up_to(2, || {
        let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(4);
        let closer = subscribable.closer();
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        let first = thread::spawn(move || publish_one(publisher, 10));
        let second = thread::spawn(move || publish_one(other, 20));
        closer.close();
        let mut received = Vec::new();
        while let Ok(message) = subscriber.recv_until(SPIN) {
            received.push(message.number());
        }
        let accepted: Vec<_> =
            [first.join().unwrap().0, second.join().unwrap().0].into_iter().flatten().collect();
        received.sort_unstable();
        assert_eq!(received, accepted);
    });
}

/// The same on a lossy ring.
#[test]
fn two_lossy_publishers_beside_a_close() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(4);
        let mut subscriber = subscribable.subscribe();
        let mut other = publisher.clone();
        let writer = thread::spawn(move || {
            other.publish(Checked::of(10));
            other
        });
        let closer = publisher.closer();
        let closing = thread::spawn(move || closer.close());
        publisher.publish(Checked::of(20));
        let other = writer.join().unwrap();
        let mut received = 0;
        while subscriber.recv_until(SPIN).is_ok() {
            received += 1;
        }
        closing.join().unwrap();
        assert_eq!([publisher.published(), other.published()], [received; 2]);
        assert_eq!(subscribable.subscribe().cursor(), received);
    });
}

/// A subscriber that sleeps at the next message, and a stage that sleeps behind it.
#[test]
fn a_close_wakes_subscribers() {
    check_up_to(2, || {
        let (publisher, subscribable) =
            broadcast::lossless_with::<u64>(Settings::new(4).wait_strategy(BLOCK)).unwrap();
        let mut first = subscribable.subscribe_tracked();
        let mut second = subscribable.subscribe().after(&[&first]);
        let closer = publisher.closer();
        let stage = thread::spawn(move || second.recv());
        let closing = thread::spawn(move || closer.close());
        assert_eq!(first.recv(), Err(RecvError::CLOSED));
        assert_eq!(stage.join().unwrap(), Err(RecvError::CLOSED));
        closing.join().unwrap();
        drop(publisher);
    });
}

/// A publisher that sleeps at the gate is refused, and gets its message back.
#[test]
fn a_close_wakes_a_publisher() {
    check(|| {
        let (mut publisher, subscribable) =
            broadcast::lossless_with::<u64>(Settings::new(2).wait_strategy(BLOCK)).unwrap();
        let mut subscriber = subscribable.subscribe();
        (0..2).for_each(|number| publisher.try_publish(Checked::of(number)).unwrap());
        let closer = publisher.closer();
        let closing = thread::spawn(move || closer.close());
        assert_eq!(publisher.publish(Checked::of(2)).unwrap_err().into_inner(), u64::of(2));
        closing.join().unwrap();
        assert_eq!(receive_lossless(&mut subscriber, 4), [0, 1]);
    });
}

/// A trigger and an attachment at the same moment: the ring is closed by one of the two.
#[test]
fn attaching_beside_a_trigger() {
    check(|| {
        let (publisher, subscribable) =
            broadcast::lossy_with::<u64>(Settings::new(2).wait_strategy(BLOCK)).unwrap();
        let mut subscriber = subscribable.subscribe();
        let shutdown = Shutdown::new();
        let closer = publisher.closer();
        let other = shutdown.clone();
        let attaching = thread::spawn(move || other.attach(closer));
        let sleeper = thread::spawn(move || subscriber.recv());
        shutdown.trigger();
        attaching.join().unwrap();
        assert!(publisher.is_closed());
        assert_eq!(sleeper.join().unwrap(), Err(RecvError::CLOSED));
    });
}

/// A thread and a task that wait for the trigger, and for nothing else.
#[test]
fn trigger_wakes_a_thread_and_a_task() {
    check(|| {
        let shutdown = Shutdown::new();
        let [first, second] = [(); 2].map(|()| shutdown.clone());
        let waits = thread::spawn(move || first.wait_until(BLOCK));
        let selects = thread::spawn(move || annulus::select! { wait(second) -> () => {} });
        shutdown.trigger();
        waits.join().unwrap();
        selects.join().unwrap();
    });
}

/// What is left for a subscriber that comes later: what stands, then the end.
#[test]
fn joining_beside_a_close() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        publisher.publish(Checked::of(0));
        let closer = publisher.closer();
        let closing = thread::spawn(move || closer.close());
        let mut subscriber = subscribable.subscribe_from_oldest();
        assert_eq!(receive_checked(&mut subscriber, 2), [0]);
        closing.join().unwrap();
        publisher.publish(Checked::of(1));
        assert_eq!(receive_to_the_end(&mut subscriber), 0);
    });
}
