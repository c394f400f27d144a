//! Rings that live for one message, counted: making, using and dropping one asks the system for no barrier.

use alloc::boxed::Box;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::vec::Vec;

use crate::pool::BufferPool;
use crate::wait::{BARRIERS, is_asymmetric};
use crate::{broadcast, event, mpmc, mpsc, oneshot, queue, spmc, spsc};

const RINGS: u64 = 1_000;

/// How often this thread asks for a barrier meanwhile.
fn barriers(meanwhile: impl FnOnce()) -> u64 {
    let before = BARRIERS.get();
    meanwhile();
    BARRIERS.get() - before
}

/// A thread that runs what it is sent, and tells how often it asked for a barrier meanwhile.
struct Other {
    jobs: Sender<Box<dyn FnOnce() + Send>>,
    answers: Receiver<u64>,
}

impl Other {
    fn new() -> Self {
        let (jobs, jobs_here) = channel::<Box<dyn FnOnce() + Send>>();
        let (answers_there, answers) = channel();
        thread::spawn(move || {
            for job in jobs_here {
                answers_there.send(barriers(job)).unwrap();
            }
        });
        Self { jobs, answers }
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.jobs.send(Box::new(job)).unwrap();
    }
}

/// A queue for the reply of another thread. The receiver sleeps, if the reply is not there, and goes while
/// the sender is there, or goes at that moment, or is gone.
macro_rules! reply {
    ($other:ident, $name:literal, |$sender:ident, $receiver:ident| $channel:expr) => {{
        let mut one = |number: u64| {
            let (mut $sender, mut $receiver) = $channel;
            $other.run(move || $sender.send(number).unwrap());
            assert_eq!($receiver.recv(), Ok(number));
            drop($receiver);
            $other.answers.recv().unwrap()
        };
        let mut there = 0;
        let here = barriers(|| there = (0..RINGS).map(&mut one).sum());
        assert_eq!((here, there), (0, 0), "{}, the sender on another thread", $name);
        let here = barriers(|| {
            for number in 0..RINGS {
                let (mut $sender, mut $receiver) = $channel;
                $sender.send(number).unwrap();
                assert_eq!($receiver.recv(), Ok(number));
                drop($receiver);
                drop($sender);
            }
        });
        assert_eq!(here, 0, "{}, the receiver goes first", $name);
        let here = barriers(|| {
            for number in 0..RINGS {
                let (mut $sender, mut $receiver) = $channel;
                $sender.send(number).unwrap();
                drop($sender);
                assert_eq!($receiver.recv(), Ok(number));
            }
        });
        assert_eq!(here, 0, "{}, the sender goes first", $name);
    }};
}

#[test]
#[allow(unused_mut, reason = "some verbs take `&mut`")]
fn a_ring_for_one_reply_asks_for_no_barrier() {
    let other = Other::new();
    reply!(other, "spsc", |sender, receiver| spsc::channel::<u64>(1));
    reply!(other, "mpsc", |sender, receiver| mpsc::channel::<u64>(1));
    reply!(other, "spmc", |sender, receiver| spmc::channel::<u64>(1));
    reply!(other, "mpmc", |sender, receiver| mpmc::channel::<u64>(1));
    reply!(other, "shared", |sender, receiver| queue::ordered::channel::<u64>(1));
    let here = barriers(|| {
        for number in 0..RINGS {
            let (sender, receiver) = oneshot::channel();
            other.run(move || sender.send(number).unwrap());
            assert_eq!(receiver.recv(), Ok(number));
            assert_eq!(other.answers.recv(), Ok(0));
        }
    });
    assert_eq!(here, 0, "oneshot");
}

#[test]
fn broadcast_ring_or_pool_asks_for_no_barrier() {
    let other = Other::new();
    let here = barriers(|| {
        for number in 0..RINGS {
            let (mut publisher, subscribable) = broadcast::lossy::<u64>(2);
            let mut subscriber = subscribable.subscribe();
            other.run(move || publisher.publish(number));
            assert_eq!(subscriber.recv(), Ok(number));
            assert_eq!(other.answers.recv(), Ok(0));

            let (publisher, subscribable) = broadcast::mp_lossless::<u64>(2);
            let mut subscriber = subscribable.subscribe();
            other.run(move || publisher.publish(number).unwrap());
            assert_eq!(subscriber.recv(), Ok(number));
            assert_eq!(other.answers.recv(), Ok(0));

            let (mut publisher, subscribable) = event::channel(2, Vec::new);
            let mut subscriber = subscribable.subscribe();
            other.run(move || publisher.publish(|event| event.push(number)).unwrap());
            assert_eq!(subscriber.process(|event| event[0]), Ok(number));
            assert_eq!(other.answers.recv(), Ok(0));

            let pool = BufferPool::new(64, 1);
            let handle = pool.alloc().unwrap().into_handle();
            other.run(move || assert!(pool.redeem(handle).is_ok()));
            assert_eq!(other.answers.recv(), Ok(0));
        }
    });
    assert_eq!(here, 0);
}

/// The count is one: a queue that has sent many messages needs a barrier where its consumer goes first.
#[test]
fn ring_that_has_grown_asks_for_one() {
    if !is_asymmetric() {
        return; // an emulator: wakers pay for a fence of their own there
    }
    let (mut sender, mut receiver) = spsc::channel::<u64>(1);
    for number in 0..RINGS {
        sender.send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
    assert_eq!(barriers(|| drop(receiver)), 1);
}
