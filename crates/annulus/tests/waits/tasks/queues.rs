//! Tasks at queues whose messages reach one consumer each: a wake-up that is not used goes to another waiter;
//! and futures that are dropped at random, beside threads that block, lose and double nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{mpmc, spmc};

use super::poll_some;
use crate::support::tasks::{Counting, block_on_until};
use crate::support::{Pauses, spawn, without_standing_still};

/// A waiter that is woken for a message and dropped passes its wake-up on to a task.
#[test]
fn a_wake_up_goes_on_to_a_task() {
    let (mut producer, mut first) = spmc::channel(4);
    let mut others = [first.clone(), first.clone()];
    let counts = [(); 3].map(|()| Counting::new());
    let mut future = first.recv_async();
    let [mut second, mut third] = others.each_mut().map(Consumer::recv_async);
    for (count, future) in
        counts.iter().zip([&mut future as &mut (dyn Future<Output = _> + Unpin), &mut second, &mut third])
    {
        let mut future = future;
        assert!(count.poll(&mut future).is_pending());
    }
    let wakes = || counts.each_ref().map(|count| count.wakes());
    producer.send(7).unwrap();
    assert_eq!(wakes(), [1, 0, 0], "one for one");
    drop(future);
    assert_eq!(wakes(), [1, 1, 0], "the next");
    assert_eq!(counts[1].poll(&mut second), Poll::Ready(Ok(7)));
    drop(second);
    assert_eq!(wakes(), [1, 1, 0], "it was used");
    // A waiter that was not woken passes nothing on.
    drop(third);
    assert_eq!(wakes(), [1, 1, 0]);
    assert!(counts.iter().all(|count| count.alive() == 0));
}

/// And to a thread.
#[test]
fn a_wake_up_goes_on_to_a_thread() {
    without_standing_still(|| {
        let (sender, receiver) = ordered::channel(4);
        let count = Counting::new();
        let mut future = receiver.recv_async();
        assert!(count.poll(&mut future).is_pending());
        let other = receiver.clone();
        let thread = spawn(move || other.recv());
        // One of both is woken, whichever; if it is the task, it does not come.
        thread::sleep(Duration::from_millis(20));
        sender.send(7).unwrap();
        thread::sleep(Duration::from_millis(5));
        drop(future);
        assert_eq!(thread.join().unwrap(), Ok(7));
    });
}

/// Senders that wait for a slot of the ordered queue have their turns.
#[test]
fn no_sender_waits_for_ever() {
    let (sender, receiver) = ordered::channel(1);
    sender.send(0).unwrap();
    let counts = [(); 3].map(|()| Counting::new());
    let mut waiting = [1, 2, 3].map(|number| sender.send_async(number));
    for (count, future) in counts.iter().zip(&mut waiting) {
        assert!(count.poll(future).is_pending());
    }
    for turn in 0..9 {
        receiver.recv().unwrap();
        let woken = counts.each_ref().map(|count| count.wakes());
        assert_eq!(woken, [0, 1, 2].map(|id| (turn + 3 - id) / 3), "one is woken, in turn");
        // It sends, and waits at once again.
        let id = turn % 3;
        assert!(counts[id].poll(&mut waiting[id]).is_ready());
        waiting[id] = sender.send_async(turn as u64);
        assert!(counts[id].poll(&mut waiting[id]).is_pending());
    }
}

const FUTURES: u64 = if cfg!(miri) { 40 } else { 100_000 };

/// Two threads that send and two that receive, by futures that they drop at random, or blocking: each message
/// that was sent is received once. At the end everybody is told.
fn dropped_at_random<S: Send, R: Send>(
    senders: [S; 2],
    receivers: [R; 2],
    send: impl Fn(&mut S, u64, &mut Pauses) -> bool + Sync,
    receive: impl Fn(&mut R, &mut Pauses) -> Option<Result<u64, annulus::RecvError>> + Sync,
) {
    let sent = AtomicU64::new(0);
    let received = thread::scope(|scope| {
        let (sent, send, receive) = (&sent, &send, &receive);
        for (id, mut sender) in senders.into_iter().enumerate() {
            scope.spawn(move || {
                let mut random = Pauses::new(id as u64 + 1);
                for number in 0..FUTURES / 2 {
                    if send(&mut sender, (id as u64) << 32 | number, &mut random) {
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let receivers: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(id, mut receiver)| {
                scope.spawn(move || {
                    let mut random = Pauses::new(id as u64 + 3);
                    let mut received = Vec::new();
                    loop {
                        match receive(&mut receiver, &mut random) {
                            Some(Ok(number)) => received.push(number),
                            Some(Err(_)) => return received,
                            None => {}
                        }
                    }
                })
            })
            .collect();
        receivers.into_iter().flat_map(|receiver| receiver.join().unwrap()).collect::<Vec<_>>()
    });
    let mut times = BTreeMap::<u64, u32>::new();
    for &number in &received {
        *times.entry(number).or_default() += 1;
    }
    assert!(times.values().all(|&times| times == 1), "a message came twice");
    assert_eq!(received.len() as u64, sent.into_inner());
}

fn send<K: QueueKind>(producer: &mut Producer<u64, K>, number: u64, random: &mut Pauses) -> bool {
    match random.next() % 8 {
        0 => producer.send(number).is_ok(),
        _ => poll_some(producer.send_async(number), random).is_some_and(|sent| sent.is_ok()),
    }
}

fn receive<K: QueueKind>(
    consumer: &mut Consumer<u64, K>,
    random: &mut Pauses,
) -> Option<Result<u64, annulus::RecvError>> {
    match random.next() % 8 {
        0 => Some(consumer.recv()),
        1 => {
            block_on_until(consumer.recv_async(), Some(std::time::Instant::now() + Duration::from_micros(50)))
        }
        _ => poll_some(consumer.recv_async(), random),
    }
}

#[test]
fn dropped_at_random_mpmc() {
    without_standing_still(|| {
        let (producer, consumer) = mpmc::channel(2);
        dropped_at_random([producer.clone(), producer], [consumer.clone(), consumer], send, receive);
    });
}

#[test]
fn dropped_at_random_shared() {
    without_standing_still(|| {
        let (sender, receiver) = ordered::channel(2);
        dropped_at_random(
            [sender.clone(), sender],
            [receiver.clone(), receiver],
            |sender, number, random| match random.next() % 8 {
                0 => sender.send(number).is_ok(),
                _ => poll_some(sender.send_async(number), random).is_some_and(|sent| sent.is_ok()),
            },
            |receiver, random| match random.next() % 8 {
                0 => Some(receiver.recv()),
                1 => block_on_until(
                    receiver.recv_async(),
                    Some(std::time::Instant::now() + Duration::from_micros(50)),
                ),
                _ => poll_some(receiver.recv_async(), random),
            },
        );
    });
}
