//! The newest value, without sleepers: a receiver sees versions and values in step, and one that sees a
//! change, or the end, sees what came before.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::watch;
use annulus_loom::check;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// What a sender did before `last`, without the channel, is seen by a receiver that `sees` that.
fn what_came_before(
    last: impl Fn(watch::Sender<u64>) + Clone + Send + Sync + 'static,
    sees: impl Fn(&watch::Receiver<u64>) -> bool + Send + Sync + 'static,
) {
    check(move || {
        let (sender, receiver) = watch::channel(0_u64);
        let before = Arc::new(AtomicU64::new(0));
        let (of_writer, last) = (Arc::clone(&before), last.clone());
        let writer = thread::spawn(move || {
            of_writer.store(7, Ordering::Relaxed);
            last(sender);
        });
        if sees(&receiver) {
            assert_eq!(before.load(Ordering::Relaxed), 7);
        }
        writer.join().unwrap();
    });
}

/// The end is seen, too, where it comes at once.
#[test]
fn receiver_that_sees_a_change_sees_earlier_writes() {
    what_came_before(|sender| sender.send(1).unwrap(), |receiver| receiver.has_changed() == Ok(true));
}

#[test]
fn receiver_that_sees_the_end_sees_earlier_writes() {
    what_came_before(drop, |receiver| receiver.has_changed().is_err());
}

/// Two senders, and a receiver that reads: what it borrows is new or seen, and never an older value.
#[test]
fn values_come_with_their_versions() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let other = sender.clone();
        let writers = [
            thread::spawn(move || sender.send_modify(|value| *value += 1)),
            thread::spawn(move || other.send_modify(|value| *value += 1)),
        ];
        let mut last = 0;
        for _ in 0..2 {
            let value = receiver.borrow_and_update();
            assert_eq!(value.has_changed(), *value > last, "from {last} to {}", *value);
            last = *value;
        }
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(receiver.has_changed().is_ok(), last < 2);
        assert_eq!(*receiver.borrow(), 2);
    });
}

/// A send beside a close: its value is seen, or given back.
#[test]
fn send_beside_a_close() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let closer = receiver.closer();
        let writer = thread::spawn(move || sender.send(1).is_ok());
        closer.close();
        let first = receiver.try_recv();
        let is_sent = writer.join().unwrap();
        assert_eq!(first.is_ok() || receiver.try_recv().is_ok(), is_sent);
        assert_eq!(*receiver.borrow(), u64::from(is_sent));
    });
}
