//! The shared queue: a batch wakes as many as it has something for, whoever sleeps.

use std::thread;
use std::time::Duration;

use annulus::WaitStrategy;
use annulus::queue::shared;

use super::support::{join, spawn, without_standing_still};

const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, yield_iters: 0 };

const ROUNDS: usize = if cfg!(miri) { 2 } else { 20 };

/// Not a synchronisation: it lets the others lie down, so that there is somebody to wake.
fn let_them_sleep() {
    thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_batch_wakes_a_receiver_for_each_message() {
    without_standing_still(|| {
        for _ in 0..ROUNDS {
            let (sender, receiver) = shared::channel(8);
            let receivers = [(); 3].map(|()| {
                let receiver = receiver.clone();
                spawn(move || receiver.recv_by(BLOCK).unwrap())
            });
            let_them_sleep();
            assert_eq!(sender.try_send_batch(&[1, 2, 3]), 3);
            let mut received = join(receivers);
            received.sort_unstable();
            assert_eq!(received, [1, 2, 3]);
        }
    });
}

#[test]
fn a_batch_wakes_a_sender_for_each_slot() {
    without_standing_still(|| {
        for _ in 0..ROUNDS {
            let (sender, receiver) = shared::channel(3);
            sender.send_batch(&[0; 3]).unwrap();
            let senders = [1, 2, 3].map(|number| {
                let sender = sender.clone();
                spawn(move || sender.send_by(number, BLOCK).unwrap())
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
