//! A channel for one value whose sides sleep. A lost wake-up is a deadlock, which loom reports, as it does a
//! block that is never freed.
#![cfg(annulus_loom)]

use annulus::{RecvError, oneshot};
use annulus_loom::{BLOCK, block_on, check};
use loom::thread;

/// The receiver sleeps, or not yet, or no more; then it goes, beside the sender.
#[test]
fn a_value_wakes_the_receiver() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let reader = thread::spawn(move || receiver.recv_by(BLOCK));
        assert!(sender.send(7).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(7));
    });
}

#[test]
fn the_drop_of_the_sender_wakes_the_receiver() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel::<u64>();
        let reader = thread::spawn(move || receiver.recv_by(BLOCK));
        drop(sender);
        assert_eq!(reader.join().unwrap(), Err(RecvError));
    });
}

#[test]
fn a_value_wakes_a_task() {
    check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let reader = thread::spawn(move || block_on(receiver.recv_async()));
        assert!(sender.send(7).is_ok());
        assert_eq!(reader.join().unwrap(), Ok(7));
    });
}

/// By its drop, and by its close.
#[test]
fn the_end_of_the_receiver_wakes_the_sender() {
    for is_dropped in [true, false] {
        check(move || {
            let (mut sender, mut receiver) = oneshot::channel::<u64>();
            let asker = thread::spawn(move || {
                if is_dropped {
                    drop(receiver);
                    return None;
                }
                receiver.close();
                Some(receiver)
            });
            block_on(sender.closed_async());
            assert!(sender.send(7).is_err());
            drop(asker.join().unwrap());
        });
    }
}
