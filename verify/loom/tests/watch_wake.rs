//! The newest value, for receivers that sleep. A lost wake-up is a deadlock, which loom reports.
#![cfg(annulus_loom)]

use annulus::{RecvTimeoutError, watch};
use annulus_loom::{BLOCK, block_on, check};
use loom::thread;

#[test]
fn a_change_wakes_a_receiver() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let reader = thread::spawn(move || {
            receiver.changed_until(BLOCK).unwrap();
            *receiver.borrow()
        });
        sender.send_replace(7);
        assert_eq!(reader.join().unwrap(), 7);
        drop(sender);
    });
}

#[test]
fn a_change_wakes_a_task() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let reader = thread::spawn(move || block_on(receiver.recv_async()));
        sender.send_replace(7);
        assert_eq!(reader.join().unwrap(), Ok(7));
        drop(sender);
    });
}

/// One change for both.
#[test]
fn a_change_wakes_all_receivers() {
    check(|| {
        let (sender, mut first) = watch::channel(0_u64);
        let mut second = first.clone();
        let reader = thread::spawn(move || first.recv_until(BLOCK));
        let task = thread::spawn(move || block_on(second.recv_async()));
        sender.send_replace(7);
        assert_eq!((reader.join().unwrap(), task.join().unwrap()), (Ok(7), Ok(7)));
        drop(sender);
    });
}

/// The first change is not the one that it waits for.
#[test]
fn a_change_that_is_wanted_wakes() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        receiver.set_wait_strategy(BLOCK);
        let reader = thread::spawn(move || receiver.wait_for(|value| *value == 2).map(|value| *value));
        sender.send_replace(1);
        sender.send_replace(2);
        assert_eq!(reader.join().unwrap(), Ok(2));
        drop(sender);
    });
}

#[test]
fn the_end_wakes_a_receiver() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let reader = thread::spawn(move || receiver.changed_until(BLOCK));
        drop(sender);
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
    });
}

#[test]
fn last_receiver_wakes_a_sender() {
    check(|| {
        let (sender, receiver) = watch::channel(0_u64);
        let other = receiver.clone();
        let readers = [thread::spawn(move || drop(receiver)), thread::spawn(move || drop(other))];
        block_on(sender.closed_async());
        assert_eq!(sender.receiver_count(), 0);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
