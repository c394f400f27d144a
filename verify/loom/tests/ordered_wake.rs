//! The ordered queue: no wake-up is lost, also where messages are written, and slots left, in another order
//! than they are claimed in; a close wakes all; and what nobody will receive is dropped.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::RecvTimeoutError;
use annulus::queue::ordered;
use annulus_loom::shared::Token;
use annulus_loom::{BLOCK, check, check_up_to};
use loom::thread;

/// Only the message can wake the receiver: the sender lives on.
#[test]
fn a_message_wakes_a_receiver() {
    check(|| {
        let (sender, receiver) = ordered::channel(1);
        let reader = thread::spawn(move || receiver.recv_until(BLOCK));
        sender.send_until(7, BLOCK).unwrap();
        assert_eq!(reader.join().unwrap(), Ok(7));
        drop(sender);
    });
}

/// Two senders send one message each to two receivers that receive one each: both get one. (With one
/// preemption: four threads with two are more than loom gets through in minutes. The next model has a message
/// that is written before an earlier one while both sleep.)
#[test]
fn message_for_each_receiver() {
    check_up_to(1, || {
        let (sender, receiver) = ordered::channel(2);
        let readers = [receiver.clone(), receiver].map(|receiver| {
            thread::spawn(move || {
                let number: u64 = receiver.recv_until(BLOCK).unwrap();
                (number, receiver)
            })
        });
        let other = sender.clone();
        let writer = thread::spawn(move || {
            other.try_send(1).unwrap();
            other
        });
        sender.try_send(2).unwrap();
        let received = readers.map(|reader| reader.join().unwrap());
        assert_eq!(received[0].0 + received[1].0, 3);
        drop((sender, writer.join().unwrap()));
    });
}

/// A message that is written before an earlier one wakes a receiver that finds nothing, and sleeps again: the
/// sender of the earlier one then wakes two. (One of the two that sleep sent the later message before:
/// another thread would be more than loom gets through in minutes.)
#[test]
fn a_message_that_overtakes_another() {
    check_up_to(1, || {
        let (sender, receiver) = ordered::channel(2);
        let earlier = {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.try_send(1).unwrap();
                sender
            })
        };
        let later = {
            let receiver = receiver.clone();
            thread::spawn(move || {
                sender.try_send(2).unwrap();
                (receiver.recv_until(BLOCK).unwrap(), receiver, sender)
            })
        };
        let mine: u64 = receiver.recv_until(BLOCK).unwrap();
        let (others, receiver, sender) = later.join().unwrap();
        assert_eq!(mine + others, 3);
        drop((receiver, sender, earlier.join().unwrap()));
    });
}

/// A message that is taken wakes the sender, which nobody else would.
#[test]
fn taken_message_wakes_a_sender() {
    check(|| {
        let (sender, receiver) = ordered::channel(1);
        sender.try_send(1).unwrap();
        let writer = thread::spawn(move || {
            sender.send_until(2, BLOCK).unwrap();
            sender
        });
        assert_eq!(receiver.try_recv(), Ok(1));
        drop(writer.join().unwrap());
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

/// Two receivers take one message each while two senders wait for room: both have it. (With one preemption,
/// as above.)
#[test]
fn slot_for_each_sender() {
    check_up_to(1, || {
        let (sender, receiver) = ordered::channel(2);
        sender.try_send_batch(&[1, 2]).unwrap();
        let writers = [(sender.clone(), 3), (sender, 4)].map(|(sender, number)| {
            thread::spawn(move || {
                sender.send_until(number, BLOCK).unwrap();
                sender
            })
        });
        let other = receiver.clone();
        let reader = thread::spawn(move || other.try_recv().unwrap());
        let mine = receiver.try_recv().unwrap();
        assert_eq!(mine + reader.join().unwrap(), 3);
        let senders = writers.map(|writer| writer.join().unwrap());
        assert_eq!(receiver.try_iter().sum::<u64>(), 7);
        drop(senders);
    });
}

/// A slot that is left before an earlier one wakes a sender that finds no room, and sleeps again: the
/// receiver that leaves the earlier one then wakes two. (One of the two that sleep left the later slot
/// before.)
#[test]
fn a_slot_that_overtakes_another() {
    check_up_to(1, || {
        let (sender, receiver) = ordered::channel(2);
        sender.try_send_batch(&[1, 2]).unwrap();
        let earlier = {
            let receiver = receiver.clone();
            thread::spawn(move || (receiver.try_recv().unwrap(), receiver))
        };
        let later = {
            let sender = sender.clone();
            thread::spawn(move || {
                let received: u64 = receiver.try_recv().unwrap();
                sender.send_until(3, BLOCK).unwrap();
                (received, sender, receiver)
            })
        };
        sender.send_until(4, BLOCK).unwrap();
        let (others, other, receiver) = later.join().unwrap();
        let (first, first_receiver) = earlier.join().unwrap();
        assert_eq!(first + others, 3);
        drop((sender, other, receiver, first_receiver));
    });
}

/// Several slots that are left at once wake as many senders.
#[test]
fn a_batch_wakes_two_senders() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel(2);
        sender.try_send_batch(&[1, 2]).unwrap();
        let reader = thread::spawn(move || {
            let mut places = [0; 2];
            assert_eq!(receiver.try_recv_batch(&mut places), 2);
            receiver
        });
        let other = sender.clone();
        let writer = thread::spawn(move || {
            other.send_until(3, BLOCK).unwrap();
            other
        });
        sender.send_until(4, BLOCK).unwrap();
        let other = writer.join().unwrap();
        let receiver = reader.join().unwrap();
        assert_eq!(receiver.try_iter().sum::<u64>(), 7);
        drop((sender, other));
    });
}

/// Several messages that are sent at once wake as many receivers, also where the first is taken before their
/// sender looks for how many there are.
#[test]
fn a_batch_wakes_two_receivers() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel(2);
        let other = receiver.clone();
        let reader = thread::spawn(move || (other.recv_until(BLOCK).unwrap(), other));
        let writer = thread::spawn(move || {
            sender.try_send_batch(&[1, 2]).unwrap();
            sender
        });
        let mine: u64 = receiver.recv_until(BLOCK).unwrap();
        let (others, other) = reader.join().unwrap();
        assert_eq!(mine + others, 3);
        drop((other, writer.join().unwrap()));
    });
}

/// A close wakes receivers that sleep.
#[test]
fn a_close_wakes_two_receivers() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel::<u64>(1);
        let other = receiver.clone();
        let reader = thread::spawn(move || other.recv_until(BLOCK));
        let closer = thread::spawn(move || drop(sender));
        assert_eq!(receiver.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
        assert_eq!(reader.join().unwrap(), Err(RecvTimeoutError::Closed));
        closer.join().unwrap();
    });
}

/// A close beside a send: where the message was claimed before it and is written after it, one receiver has
/// it, and the other is told the end.
#[test]
fn a_close_while_a_message_is_written() {
    check_up_to(2, || {
        let (sender, receiver) = ordered::channel::<u64>(1);
        let other = receiver.clone();
        let reader = thread::spawn(move || other.recv_until(BLOCK));
        // It lives on: its drop would wake all.
        let writer = thread::spawn(move || (sender.try_send(1).is_ok(), sender));
        receiver.close();
        let received = [receiver.recv_until(BLOCK), reader.join().unwrap()];
        let (is_sent, sender) = writer.join().unwrap();
        drop(sender);
        let sent = usize::from(is_sent);
        assert_eq!(received.iter().filter(|received| received.is_ok()).count(), sent, "received, and sent");
    });
}

/// The last receiver goes: a sender that waits for room learns of it, and gets its value back.
#[test]
fn the_last_receiver_wakes_a_sender() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(1);
        sender.try_send(Token::new(0, &tokens)).unwrap();
        let mine = Arc::clone(&tokens);
        let writer = thread::spawn(move || {
            let error = sender.send_until(Token::new(1, &mine), BLOCK).unwrap_err();
            assert_eq!(error.into_inner().number(), 1);
            sender
        });
        drop(receiver);
        let sender = writer.join().unwrap();
        assert_eq!(Arc::strong_count(&tokens), 1, "what it left is dropped, while a sender lives");
        drop(sender);
    });
}

/// The last receiver goes beside two sends: what was sent is dropped, also where it is written after the
/// receiver looked, and while senders live.
#[test]
fn messages_without_receivers_are_dropped() {
    check_up_to(2, || {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(2);
        let writers = [sender.clone(), sender].map(|sender| {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || {
                drop(sender.try_send(Token::new(0, &tokens)));
                sender
            })
        });
        drop(receiver);
        let senders = writers.map(|writer| writer.join().unwrap());
        assert_eq!(Arc::strong_count(&tokens), 1, "a message is left in a queue that nobody receives from");
        drop(senders);
    });
}
