//! What one notifier does, step by step; and notifiers that go while others publish.

use std::mem;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use annulus::Readiness::{Armed, Ready};
use annulus::{Notifier, RecvError, TryRecvError, broadcast, mpsc, spmc, spsc};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::notifier::{is_readable, writes};
use crate::support::{spawn, without_standing_still};

#[test]
fn armed_one_is_quiet_until_something_comes() {
    let (mut producer, consumer) = spsc::channel(4);
    let mut notifier = Notifier::new(consumer).unwrap();
    assert!(!is_readable(&notifier));
    for number in 0..3 {
        assert_eq!(notifier.arm(), Armed);
        assert_eq!(notifier.arm(), Armed, "armed anew");
        assert!(!is_readable(&notifier));
        producer.send(number).unwrap();
        assert!(is_readable(&notifier));
        assert_eq!(notifier.arm(), Ready);
        assert!(!is_readable(&notifier), "cleared");
        assert_eq!(notifier.get_mut().try_recv(), Ok(number));
    }
    // Not armed: nobody writes.
    producer.send(3).unwrap();
    assert!(!is_readable(&notifier));
    assert_eq!(notifier.arm(), Ready);
    assert_eq!(format!("{notifier:?}"), "Notifier { is_armed: false, .. }");
}

#[test]
fn one_write_for_each_arming() {
    let (mut publisher, source) = broadcast::lossy(4);
    let mut notifier = Notifier::new(source.subscribe()).unwrap();
    for _ in 0..3 {
        assert_eq!(notifier.arm(), Armed);
        for number in 0..10 {
            publisher.publish(number);
        }
        assert_eq!(writes(&notifier), 1);
        while notifier.get_mut().try_recv() != Err(annulus::TryRecvError::Empty) {}
    }
}

#[test]
fn disarmed_one_is_not_woken() {
    let (mut producer, consumer) = spsc::channel(4);
    let mut notifier = Notifier::new(consumer).unwrap();
    assert_eq!(notifier.arm(), Armed);
    notifier.disarm();
    producer.send(1).unwrap();
    assert_eq!(writes(&notifier), 0);
    assert_eq!(notifier.get_mut().try_recv(), Ok(1));

    assert_eq!(notifier.arm(), Armed);
    producer.send(2).unwrap();
    notifier.disarm();
    assert!(!is_readable(&notifier), "cleared");

    // By access, too.
    assert_eq!(notifier.get_mut().try_recv(), Ok(2));
    assert_eq!(notifier.arm(), Armed);
    assert_eq!(notifier.get_mut().try_recv(), Err(TryRecvError::Empty));
    producer.send(3).unwrap();
    assert_eq!(writes(&notifier), 0);

    // A look by reference leaves it armed.
    assert_eq!(notifier.get_mut().try_recv(), Ok(3));
    assert_eq!(notifier.arm(), Armed);
    assert_eq!(notifier.get_ref().capacity(), 4);
    producer.send(4).unwrap();
    assert_eq!(writes(&notifier), 1);
    assert_eq!(notifier.into_inner().try_recv(), Ok(4));
}

/// The receiver may be exchanged for another one: the notifier is then armed at that one.
#[test]
fn receiver_is_exchanged_for_another() {
    let (mut first, consumer) = spsc::channel(4);
    let (mut second, mut other) = spsc::channel(4);
    let mut notifier = Notifier::new(consumer).unwrap();
    assert_eq!(notifier.arm(), Armed);
    mem::swap(notifier.get_mut(), &mut other);
    assert_eq!(notifier.arm(), Armed);
    first.send(1).unwrap();
    assert_eq!(writes(&notifier), 0);
    drop((first, other));
    second.send(2).unwrap();
    assert_eq!(writes(&notifier), 1);
    assert_eq!(notifier.get_mut().try_recv(), Ok(2));
}

#[test]
fn a_close_wakes() {
    let (producer, consumer) = mpsc::channel::<u64>(4);
    let mut notifier = Notifier::new(consumer).unwrap();
    assert_eq!(notifier.arm(), Armed);
    drop(producer);
    assert!(is_readable(&notifier));
    assert_eq!(notifier.arm(), Ready, "the end is there for good");
    assert_eq!(notifier.get_mut().try_recv(), Err(TryRecvError::Closed));

    let (publisher, source) = broadcast::lossless::<u64>(4);
    let mut subscriber = source.subscribe();
    let mut notifier = Notifier::new(&mut subscriber).unwrap();
    assert_eq!(notifier.arm(), Armed);
    source.closer().close();
    assert!(is_readable(&notifier));
    drop(notifier);
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
    drop(publisher);
}

/// A notifier that is woken for a message and goes wakes another one, whether somebody had looked at its
/// receiver or not.
#[test]
fn a_wake_up_goes_on() {
    for ends_by in 0..4 {
        let (mut producer, consumer) = spmc::channel(4);
        let mut other = Notifier::new(consumer.clone()).unwrap();
        let mut woken = Notifier::new(consumer).unwrap();
        assert_eq!([woken.arm(), other.arm()], [Armed; 2]);
        producer.send(7).unwrap();
        assert_eq!([is_readable(&woken), is_readable(&other)], [true, false], "one for one");
        let kept = match ends_by {
            0 => {
                drop(woken);
                None
            }
            1 => {
                assert_eq!(woken.get_mut().capacity(), 4);
                drop(woken);
                None
            }
            2 => Some(woken.into_inner()),
            _ => {
                woken.disarm();
                Some(woken.into_inner())
            }
        };
        assert_eq!(writes(&other), 1);
        assert_eq!(other.get_mut().try_recv(), Ok(7));
        drop(kept);
    }
}

/// A wake-up for a message of the ring before belongs to that ring, whatever the notifier does at the next
/// one.
#[test]
fn wake_up_goes_on_where_the_receiver_is_replaced() {
    for has_looked in [false, true] {
        let (mut producer, consumer) = spmc::channel(4);
        let (mut second, another) = spmc::channel(4);
        let mut other = Notifier::new(consumer.clone()).unwrap();
        let mut woken = Notifier::new(consumer).unwrap();
        assert_eq!([woken.arm(), other.arm()], [Armed; 2]);
        producer.send(7).unwrap();
        assert_eq!([is_readable(&woken), is_readable(&other)], [true, false], "one for one");
        if has_looked {
            assert_eq!(woken.get_mut().capacity(), 4);
        }
        let mut before = woken.replace(another);
        assert_eq!((writes(&other), is_readable(&woken)), (1, false));
        assert_eq!(woken.arm(), Armed);
        second.send(8).unwrap();
        assert_eq!((writes(&woken), woken.get_mut().try_recv()), (1, Ok(8)));
        drop(woken);
        assert_eq!((before.try_recv(), other.get_mut().try_recv()), (Ok(7), Err(TryRecvError::Empty)));
    }
}

/// A receiver is put in another one's place, and taken back: the other ring has nothing to do with the
/// wake-up.
#[test]
fn wake_up_waits_for_its_receiver() {
    for is_armed_there in [false, true] {
        let (mut producer, consumer) = spmc::channel(4);
        let (_second, mut another) = spmc::channel::<u64>(4);
        let mut other_there = Notifier::new(another.clone()).unwrap();
        let mut other = Notifier::new(consumer.clone()).unwrap();
        let mut woken = Notifier::new(consumer).unwrap();
        assert_eq!([woken.arm(), other.arm(), other_there.arm()], [Armed; 3]);
        producer.send(7).unwrap();
        mem::swap(woken.get_mut(), &mut another);
        if is_armed_there {
            assert_eq!(woken.arm(), Armed);
        }
        woken.disarm();
        assert_eq!([is_readable(&other_there), is_readable(&other)], [false; 2]);
        mem::swap(woken.get_mut(), &mut another);
        drop(woken);
        assert_eq!((writes(&other), is_readable(&other_there)), (1, false));
    }
}

/// A receiver that finds nothing has used its wake-up.
#[test]
fn wake_up_that_was_used_does_not_go_on() {
    let (mut producer, consumer) = spmc::channel(4);
    let mut other = Notifier::new(consumer.clone()).unwrap();
    let mut woken = Notifier::new(consumer).unwrap();
    assert_eq!([woken.arm(), other.arm()], [Armed; 2]);
    producer.send(7).unwrap();
    assert_eq!(woken.get_mut().try_recv(), Ok(7));
    assert_eq!(woken.arm(), Armed);
    drop(woken);
    assert!(!is_readable(&other));
}

const NOTIFIERS: usize = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

/// Notifiers come and go while two threads publish. Whatever the number of a closed descriptor is given to
/// afterwards is not written to.
#[test]
fn closed_descriptor_is_not_written_to() {
    without_standing_still(|| {
        let (publisher, source) = broadcast::mp_lossy::<u64>(4);
        let is_over = AtomicBool::new(false);
        let reused = thread::scope(|scope| {
            for _ in 0..2 {
                let mut publisher = publisher.clone();
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        publisher.publish(1);
                    }
                });
            }
            let mut subscriber = source.subscribe();
            let mut reused = 0;
            for _ in 0..NOTIFIERS {
                subscriber.skip_to_latest();
                let mut notifier = Notifier::new(&mut subscriber).unwrap();
                _ = notifier.arm();
                let number = notifier.as_raw_fd();
                drop(notifier);
                let another = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
                reused += usize::from(another.as_raw_fd() == number);
                for _ in 0..20 {
                    std::hint::spin_loop();
                }
                assert_eq!(rustix::io::read(&another, &mut [0; 8]), Err(Errno::AGAIN));
            }
            is_over.store(true, Ordering::Relaxed);
            reused
        });
        assert!(reused > 0, "numbers are used again");
    });
}

/// A thread that blocks and a notifier share a queue.
#[test]
fn thread_and_a_notifier_share_a_queue() {
    const COUNT: u64 = 20_000;
    without_standing_still(|| {
        let (mut producer, consumer) = spmc::channel(4);
        let mut other = consumer.clone();
        let thread = spawn(move || other.iter().sum::<u64>());
        let mut notifier = Notifier::new(consumer).unwrap();
        let at_loop = spawn(move || {
            let mut sum = 0;
            loop {
                match notifier.get_mut().try_recv() {
                    Ok(number) => sum += number,
                    Err(TryRecvError::Closed) => return sum,
                    Err(TryRecvError::Empty) => {
                        if notifier.arm() == Armed {
                            use rustix::event::{PollFd, PollFlags, poll};
                            poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
                        }
                    }
                }
            }
        });
        (0..COUNT).for_each(|number| producer.send(number).unwrap());
        drop(producer);
        assert_eq!(thread.join().unwrap() + at_loop.join().unwrap(), COUNT * (COUNT - 1) / 2);
    });
}
