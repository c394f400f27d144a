//! `select!`: one sleep for several rings. A lost wake-up leaves a thread asleep, which loom reports as a
//! deadlock.
#![cfg(annulus_loom)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use annulus::Settings;
use annulus::queue::ordered;
use annulus::{RecvError, Select, broadcast, select, select_biased, spsc};
use annulus_loom::{BLOCK, Signal, check, check_up_to};
use loom::thread;

/// Each of two producers sends once, and lives on: only these messages can wake the thread.
#[test]
fn message_in_either_of_two_rings_wakes() {
    check_up_to(2, || {
        let [mut first, mut second] =
            [(); 2].map(|()| spsc::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap());
        let [mut left, mut right] = [first.1, second.1];
        let reader = thread::spawn(move || {
            let mut received = [0; 2];
            for _ in 0..2 {
                select_biased! {
                    recv(left) -> message => received[0] += message.unwrap(),
                    recv(right) -> message => received[1] += message.unwrap(),
                }
            }
            received
        });
        first.0.send(7).unwrap();
        second.0.send(8).unwrap();
        assert_eq!(reader.join().unwrap(), [7, 8]);
        drop((first.0, second.0));
    });
}

/// Only the second of two rings gets a message.
#[test]
fn the_second_ring_wakes() {
    check(|| {
        let (mut producers, mut consumers): (Vec<_>, Vec<_>) =
            (0..2).map(|_| spsc::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap()).unzip();
        let reader = thread::spawn(move || {
            let [first, second] = &mut consumers[..] else { unreachable!() };
            select! {
                recv(first) -> _ => 0,
                recv(second) -> message => message.unwrap(),
            }
        });
        producers[1].send(7).unwrap();
        assert_eq!(reader.join().unwrap(), 7);
        drop(producers);
    });
}

/// A close of either wakes, too.
#[test]
fn a_close_wakes() {
    check(|| {
        let (_producer, mut consumer) = spsc::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap();
        let (publisher, subscribable) = broadcast::lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let reader = thread::spawn(move || {
            select! {
                recv(consumer) -> message => message,
                recv(subscriber) -> message => message,
            }
        });
        drop(publisher);
        assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
    });
}

/// A task beside a select.
struct Task<'r> {
    future: Pin<Box<dyn Future<Output = Result<u64, RecvError>> + 'r>>,
    signal: Arc<Signal>,
}

impl<'r> Task<'r> {
    fn of(receiver: &'r ordered::Receiver<u64>) -> Self {
        Self { future: Box::pin(receiver.recv_async()), signal: Arc::default() }
    }

    fn poll(&mut self) -> Poll<Result<u64, RecvError>> {
        let waker = Waker::from(Arc::clone(&self.signal));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Waits for a wake-up, and looks.
    fn poll_when_woken(&mut self) -> Poll<Result<u64, RecvError>> {
        self.signal.wait();
        self.poll()
    }
}

/// A task that waits. An earlier waiter is woken first.
fn waiting_task(receiver: &ordered::Receiver<u64>) -> Task<'_> {
    let mut task = Task::of(receiver);
    assert!(task.poll().is_pending());
    task
}

/// A select is woken in place of a task, and takes a message of another ring: it passes the wake-up on.
#[test]
fn a_wake_up_for_another_arm_is_passed_on() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::with::<u64>(Settings::new(2).wait_strategy(BLOCK)).unwrap();
        let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap();
        let mine = receiver.clone();
        let selects = thread::spawn(move || {
            select_biased! {
                recv(consumer) -> message => message.unwrap(),
                recv(mine) -> message => message.unwrap(),
            }
        });
        let mut task = waiting_task(&receiver);
        producer.send(1).unwrap();
        sender.send(2).unwrap();
        let next = if selects.join().unwrap() == 1 {
            2
        } else {
            // It saw only this one.
            sender.send(3).unwrap();
            3
        };
        assert_eq!(task.poll_when_woken(), Poll::Ready(Ok(next)));
    });
}

/// `Select` takes nothing: the message that it was woken for reaches a task that waits, too.
#[test]
fn select_that_takes_nothing_passes_its_wake_up_on() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::with::<u64>(Settings::new(2).wait_strategy(BLOCK)).unwrap();
        let mut mine = receiver.clone();
        let looks = thread::spawn(move || {
            let mut select = Select::new();
            select.recv(&mut mine);
            select.ready()
        });
        let mut task = waiting_task(&receiver);
        sender.send(2).unwrap();
        assert_eq!(task.poll_when_woken(), Poll::Ready(Ok(2)));
        // For a select that came late.
        sender.close();
        assert_eq!(looks.join().unwrap(), 0);
    });
}

/// A slot that becomes free wakes a send.
#[test]
fn a_free_slot_wakes() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap();
        let (_producer, mut consumer) = spsc::with::<u64>(Settings::new(1).wait_strategy(BLOCK)).unwrap();
        sender.send(1).unwrap();
        let writer = thread::spawn(move || {
            select! {
                recv(consumer) -> _ => unreachable!("nobody sends there"),
                send(sender, 2) -> sent => sent.unwrap(),
            }
            sender
        });
        assert_eq!(receiver.recv_until(BLOCK), Ok(1));
        let _sender = writer.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}
