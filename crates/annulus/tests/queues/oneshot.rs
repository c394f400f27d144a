//! Channels for one value: what both sides see of each other, and that nothing is lost or dropped twice.

#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annulus::{RecvError, RecvTimeoutError, TryRecvError, WaitStrategy, oneshot};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Each order in which both sides can end: the value is dropped once.
#[test]
fn a_value_is_dropped_once() {
    let drops = Arc::<AtomicUsize>::default();
    let value = || Counted(Arc::clone(&drops));
    let dropped = |count| assert_eq!(drops.swap(0, Ordering::Relaxed), count);

    let (sender, mut receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    assert!(receiver.recv().is_ok()); // and goes
    dropped(1);
    drop(receiver);
    dropped(0);

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    drop(receiver);
    dropped(1);

    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    let back = sender.send(value()).unwrap_err();
    dropped(0);
    drop(back);
    dropped(1);

    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    assert!(sender.send(value()).is_err());
    dropped(1);
    assert_eq!(receiver.recv().err(), Some(RecvError));

    let (sender, mut receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    receiver.close();
    assert!(receiver.recv().is_ok(), "what was sent before the close is there");
    dropped(1);
}

#[test]
fn both_sides_see_the_end_of_the_other() {
    let (sender, mut receiver) = oneshot::channel::<u64>();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert!(!sender.is_closed() && !receiver.is_closed());
    drop(sender);
    assert!(receiver.is_closed());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));

    let (sender, mut receiver) = oneshot::channel::<u64>();
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(receiver.recv(), Err(RecvError), "nobody waits for a value that would be refused");

    let (sender, mut receiver) = oneshot::channel();
    sender.send(5).unwrap();
    assert!(!receiver.is_closed(), "the value is still there");
    assert_eq!(receiver.recv(), Ok(5));
    assert!(receiver.is_closed());
}

/// A value of any size and alignment, and one that is no data at all.
#[test]
fn any_value_comes_as_it_was_sent() {
    #[repr(align(128))]
    #[derive(Debug, PartialEq)]
    struct Aligned([u8; 300]);

    let (sender, mut receiver) = oneshot::channel();
    sender.send(Aligned([7; 300])).unwrap();
    assert_eq!(receiver.recv(), Ok(Aligned([7; 300])));

    let (sender, mut receiver) = oneshot::channel();
    sender.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(()));

    let (sender, mut receiver) = oneshot::channel();
    sender.send(Some(Box::new(1))).unwrap();
    assert_eq!(receiver.recv(), Ok(Some(Box::new(1))));
}

/// A destructor that panics leaves nothing behind: the sender sees the end.
#[test]
fn a_value_whose_drop_panics() {
    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(Panics).is_ok());
    assert!(std::panic::catch_unwind(move || drop(receiver)).is_err());
}

/// Replies from another thread, by each strategy, to a receiver that waits, and to one that comes late.
#[test]
fn replies_come_from_another_thread() {
    const REPLIES: u64 = if cfg!(miri) { 20 } else { 2_000 };
    for strategy in [WaitStrategy::default(), WaitStrategy::YieldSpin, WaitStrategy::Monitor] {
        let (mut questions, mut asked) = annulus::spsc::channel::<(u64, oneshot::Sender<u64>)>(4);
        let answers = std::thread::spawn(move || {
            for (number, reply) in &mut asked {
                if number % 5 == 0 {
                    drop(reply);
                } else {
                    reply.send(number * 3).unwrap();
                }
            }
        });
        for number in 0..REPLIES {
            let (reply, mut answer) = oneshot::channel();
            questions.send((number, reply)).unwrap();
            let expected = if number % 5 == 0 { Err(RecvError) } else { Ok(number * 3) };
            assert_eq!(answer.recv_by(strategy), expected);
        }
        drop(questions);
        answers.join().unwrap();
    }
}

/// A receiver is an arm of a select beside others.
#[cfg(feature = "std")]
#[test]
fn a_receiver_in_a_select() {
    let (_producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    let (sender, mut receiver) = oneshot::channel();
    let writer = std::thread::spawn(move || sender.send(9).unwrap());
    let found = annulus::select! {
        recv(consumer) -> _ => panic!("nobody sends"),
        recv(receiver) -> value => value,
    };
    assert_eq!(found, Ok(9));
    writer.join().unwrap();
}

/// An event loop handles the value, and ends.
#[cfg(feature = "std")]
#[test]
fn a_loop_over_a_receiver() {
    let (sender, receiver) = oneshot::channel();
    let seen = Arc::<AtomicUsize>::default();
    let of_loop = Arc::clone(&seen);
    let handler = move |value: usize| {
        of_loop.store(value, Ordering::Relaxed);
    };
    let reader = annulus::EventLoop::builder(receiver, ()).spawn(move |(), value, _| handler(value)).unwrap();
    sender.send(6).unwrap();
    reader.join().unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 6);
}

/// As the handles of other rings, both sides may go to another thread, whatever can.
#[test]
fn handles_are_send() {
    fn sends<T: Send + Sync>(_: &T) {}
    let (sender, receiver) = oneshot::channel::<std::cell::Cell<u64>>();
    sends(&sender);
    sends(&receiver);
    assert_eq!(Rc::strong_count(&Rc::new((sender, receiver))), 1);
}
