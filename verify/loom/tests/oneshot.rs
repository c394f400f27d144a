//! A channel for one value, without sleepers: the value is received, dropped, or given back, once, and the
//! last side frees the block. Loom watches the value, and reports a block that is never freed.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::{TryRecvError, oneshot};
use annulus_loom::check;
use annulus_loom::shared::Token;
use loom::thread;

/// The receiver looks twice, and then goes, with the value or without.
#[test]
fn a_value_is_received_once_or_dropped() {
    check(|| {
        let shares = Arc::new(());
        let (sender, mut receiver) = oneshot::channel();
        let token = Token::new(7, &shares);
        let writer = thread::spawn(move || drop(sender.send(token)));
        for _ in 0..2 {
            match receiver.try_recv() {
                Ok(token) => {
                    assert_eq!(token.number(), 7);
                    assert_eq!(receiver.try_recv().err(), Some(TryRecvError::Closed));
                    break;
                }
                Err(error) => assert_eq!(error, TryRecvError::Empty),
            }
        }
        drop(receiver);
        writer.join().unwrap();
        assert_eq!(Arc::strong_count(&shares), 1);
    });
}

/// A send beside a close: the sender has the value back, or the receiver has it.
#[test]
fn a_value_beside_a_close_is_on_one_side() {
    check(|| {
        let shares = Arc::new(());
        let (sender, mut receiver) = oneshot::channel();
        let token = Token::new(7, &shares);
        let writer = thread::spawn(move || sender.send(token).is_ok());
        receiver.close();
        let received = receiver.try_recv();
        let is_sent = writer.join().unwrap();
        assert_eq!(received.is_ok(), is_sent);
        drop((received, receiver));
        assert_eq!(Arc::strong_count(&shares), 1);
    });
}

/// Both sides go without a value, one after the other or at once.
#[test]
fn last_side_frees_the_block() {
    check(|| {
        let (sender, receiver) = oneshot::channel::<u64>();
        let writer = thread::spawn(move || {
            let is_closed = sender.is_closed();
            drop(sender);
            is_closed
        });
        drop(receiver);
        writer.join().unwrap();
    });
}
