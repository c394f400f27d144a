//! Notifiers: no wake-up is lost, none is written twice, and none is kept by a waiter that does not use it. A
//! lost one leaves a loop at its descriptor, which loom reports as a deadlock. In place of the kernel's
//! counter there is one of loom's.
#![cfg(all(annulus_loom, target_os = "linux"))]

use annulus::queue::ordered;
use annulus::{Notifier, Readiness, TryRecvError, spmc};
use annulus_loom::{Checked, check, check_up_to};
use loom::thread;

/// A subscriber's loop, until something other than "empty" is there.
fn receive(notifier: &mut Notifier<annulus::broadcast::Subscriber<u64>>) -> Result<u64, TryRecvError> {
    loop {
        match notifier.get_mut().try_recv() {
            Err(TryRecvError::Empty) => {}
            found => return found,
        }
        if notifier.arm() == Readiness::Armed {
            notifier.wait_until_readable();
        }
    }
}

/// The publisher lives on after its message: only that message can wake the loop.
#[test]
fn a_message_makes_the_descriptor_readable() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut notifier = Notifier::new(subscribable.subscribe()).unwrap();
        let reader = thread::spawn(move || receive(&mut notifier));
        publisher.publish(Checked::of(0));
        assert_eq!(reader.join().unwrap(), Ok(u64::of(0)));
        drop(publisher);
    });
}

/// A close does, too.
#[test]
fn a_close_makes_the_descriptor_readable() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut notifier = Notifier::new(subscribable.subscribe()).unwrap();
        let reader = thread::spawn(move || receive(&mut notifier));
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(TryRecvError::Closed));
    });
}

/// The second arming clears what the first one's wake-up wrote, and nothing else.
#[test]
fn second_message_makes_the_descriptor_readable_again() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut notifier = Notifier::new(subscribable.subscribe()).unwrap();
        let reader = thread::spawn(move || [receive(&mut notifier), receive(&mut notifier)]);
        publisher.publish(Checked::of(0));
        publisher.publish(Checked::of(1));
        assert_eq!(reader.join().unwrap(), [Ok(u64::of(0)), Ok(u64::of(1))]);
        drop(publisher);
    });
}

/// Two messages from two publishers: one arming is worth one write.
#[test]
fn an_arming_is_worth_one_write() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut notifier = Notifier::new(subscribable.subscribe()).unwrap();
        assert_eq!(notifier.arm(), Readiness::Armed);
        let mut other = publisher.clone();
        let writer = thread::spawn(move || {
            other.publish(Checked::of(0));
            other
        });
        publisher.publish(Checked::of(1));
        drop(writer.join().unwrap());
        assert_eq!(notifier.writes(), 1);
        drop(publisher);
    });
}

/// A notifier is dropped beside the message for which it is woken: nothing of it is left (loom looks for
/// leaks), and the message is there.
#[test]
fn a_notifier_is_dropped_beside_its_wake_up() {
    check(|| {
        let (mut producer, mut consumer) = spmc::channel(1);
        let reader = thread::spawn(move || {
            let mut notifier = Notifier::new(&mut consumer).unwrap();
            _ = notifier.arm();
            drop(notifier);
            consumer
        });
        producer.try_send(7).unwrap();
        let mut consumer = reader.join().unwrap();
        assert_eq!(consumer.try_recv(), Ok(7));
        drop(producer);
    });
}

/// Two notifiers wait for one message. One of them is dropped, whether it was woken or not: the other one
/// gets the message.
#[test]
fn a_wake_up_of_a_dropped_notifier_goes_to_another() {
    for is_looked_at in [false, true] {
        check_up_to(2, move || {
            let (mut producer, first) = spmc::channel(1);
            let mut second = Notifier::new(first.clone()).unwrap();
            let mut first = Notifier::new(first).unwrap();
            assert_eq!([first.arm(), second.arm()], [Readiness::Armed; 2]);
            let writer = thread::spawn(move || {
                producer.try_send(7).unwrap();
                producer
            });
            if is_looked_at {
                // Somebody looks at the receiver, and receives nothing.
                _ = first.get_mut().capacity();
            }
            drop(first);
            second.wait_until_readable();
            assert_eq!(second.get_mut().try_recv(), Ok(7));
            drop(writer.join().unwrap());
        });
    }
}

/// A notifier finds a message at its second look, while it is woken for another one.
#[test]
fn notifier_uses_the_message_of_its_second_look() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel(2);
        let mut notifier = Notifier::new(receiver).unwrap();
        let writer = thread::spawn(move || {
            sender.try_send(1).unwrap();
            sender.try_send(2).unwrap();
            sender
        });
        let mut sum = 0;
        while sum < 3 {
            while let Ok(number) = notifier.get_mut().try_recv() {
                sum += number;
            }
            if sum < 3 && notifier.arm() == Readiness::Armed {
                notifier.wait_until_readable();
            }
        }
        drop(writer.join().unwrap());
    });
}
