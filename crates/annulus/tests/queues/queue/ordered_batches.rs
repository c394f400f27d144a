//! The ordered queue: a message, or a batch, wakes as many sleepers as it has something for, whichever sleep.

use std::thread;
use std::time::Duration;

use annulus::WaitStrategy;
use annulus::queue::ordered;

use super::wakes::sleeps;
use crate::support::{join, spawn, without_standing_still};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

const ROUNDS: usize = if cfg!(miri) { 2 } else { 20 };

/// Not a synchronisation: it lets the others lie down, so that there is somebody to wake.
fn let_them_sleep() {
    thread::sleep(Duration::from_millis(5));
}

#[test]
fn batch_wakes_a_receiver_for_each_message() {
    without_standing_still(|| {
        for _ in 0..ROUNDS {
            let (sender, receiver) = ordered::channel(8);
            let receivers = [(); 3].map(|()| {
                let receiver = receiver.clone();
                spawn(move || receiver.recv_until(BLOCK).unwrap())
            });
            let_them_sleep();
            sender.try_send_batch(&[1, 2, 3]).unwrap();
            let mut received = join(receivers);
            received.sort_unstable();
            assert_eq!(received, [1, 2, 3]);
        }
    });
}

#[test]
fn batch_wakes_a_sender_for_each_slot() {
    without_standing_still(|| {
        for _ in 0..ROUNDS {
            let (sender, receiver) = ordered::channel(3);
            sender.send_batch(&[0; 3]).unwrap();
            let senders = [1, 2, 3].map(|number| {
                let sender = sender.clone();
                spawn(move || sender.send_until(number, BLOCK).unwrap())
            });
            let_them_sleep();
            let mut places = [9; 3];
            assert_eq!((receiver.try_recv_batch(&mut places), places), (3, [0; 3]));
            join(senders);
            let mut received: Vec<_> = receiver.try_iter().collect();
            received.sort_unstable();
            assert_eq!(received, [1, 2, 3]);
        }
    });
}

/// Each message to receivers that all sleep makes one of them get up, not all of them.
#[test]
fn message_wakes_one_receiver() {
    const MESSAGES: u64 = if cfg!(miri) { 3 } else { 50 };
    const RECEIVERS: u64 = 8;
    without_standing_still(|| {
        let (sender, receiver) = ordered::channel(64);
        let receivers: Vec<_> = (0..RECEIVERS)
            .map(|_| {
                let receiver = receiver.clone();
                spawn(move || {
                    let before = sleeps();
                    let received = std::iter::from_fn(|| receiver.recv_until(BLOCK).ok()).count();
                    (received as u64, sleeps().zip(before).map(|(now, before)| now - before))
                })
            })
            .collect();
        for number in 0..MESSAGES {
            let_them_sleep();
            sender.send(number).unwrap();
        }
        drop(sender);
        let results = join(receivers);
        assert_eq!(results.iter().map(|(received, _)| received).sum::<u64>(), MESSAGES);
        if let Some(sleeps) = results.iter().map(|(_, sleeps)| *sleeps).sum::<Option<u64>>() {
            let enough = 4 * MESSAGES + 10 * RECEIVERS;
            assert!(sleeps <= enough, "{sleeps} sleeps of {RECEIVERS} receivers for {MESSAGES} messages");
        }
    });
}
