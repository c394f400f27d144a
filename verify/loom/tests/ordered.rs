//! The ordered queue: many senders and many receivers claim in one ring. Each message reaches one receiver,
//! whole, in one order, and there are never more of them than slots.
//!
//! Loom watches the slots: it fails a model where two threads meet in one, or where what one wrote there does
//! not come before what the other reads. Each message has a share in a counter besides, so that one that is
//! lost, or dropped twice, shows.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::Settings;
use annulus::queue::ordered::{self, Receiver, Sender};
use annulus::{TryRecvError, TrySendError};
use annulus_loom::shared::Token;
use annulus_loom::{check, check_up_to};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// Numbers of the second sender begin here.
const SECOND: u64 = 100;

/// Sends messages from number `first` on, with `tries` calls of `try_send`, and returns those that were sent.
fn send_tries(sender: &Sender<Token>, tokens: &Arc<()>, first: u64, tries: usize) -> Vec<u64> {
    let mut sent = Vec::new();
    let mut next = first;
    for _ in 0..tries {
        match sender.try_send(Token::new(next, tokens)) {
            Ok(()) => {
                sent.push(next);
                next += 1;
            }
            Err(error) => {
                assert!(error.is_full(), "nobody closed it");
                assert_eq!(error.into_inner().number(), next, "another message came back");
                thread::yield_now();
            }
        }
    }
    sent
}

/// Receives with `tries` calls of `try_recv`, and returns the numbers.
fn take_tries(receiver: &Receiver<Token>, tries: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..tries {
        match receiver.try_recv() {
            Ok(token) => taken.push(token.number()),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => panic!("nobody closed it"),
        }
    }
    taken
}

/// What receivers took: in order of each sender for each of them, and together all that was sent, each once.
fn check_shares(shares: &[&[u64]], sent: &[Vec<u64>]) {
    for share in shares {
        for side in [0..SECOND, SECOND..u64::MAX] {
            let of_one: Vec<_> = share.iter().filter(|number| side.contains(number)).collect();
            assert!(of_one.is_sorted(), "{shares:?} is out of order");
        }
    }
    let (mut all, mut expected) = (shares.concat(), sent.concat());
    all.sort_unstable();
    expected.sort_unstable();
    assert_eq!(all, expected, "received, and sent");
}

/// `senders` and `receivers`, of which each tries so often, over a wrap; main is the first receiver.
fn over_a_wrap<const S: usize, const R: usize>(
    capacity: usize,
    ready: usize,
    sends: [usize; S],
    takes: [usize; R],
) {
    let tokens = Arc::new(());
    // The numbers wrap, too.
    let (sender, receiver) = ordered::with(Settings::new(capacity).first(u64::MAX)).unwrap();
    let mut sent = vec![send_tries(&sender, &tokens, 0, ready)];
    assert_eq!(sent[0].len(), ready);
    let senders = [0, 1].map(|who| {
        let (sender, tokens) = (sender.clone(), Arc::clone(&tokens));
        let tries = sends.get(who).copied()?;
        let first = if who == 0 { ready as u64 } else { SECOND };
        Some(thread::spawn(move || send_tries(&sender, &tokens, first, tries)))
    });
    let other = takes.get(1).map(|&tries| {
        let receiver = receiver.clone();
        thread::spawn(move || take_tries(&receiver, tries))
    });
    let mut taken = take_tries(&receiver, takes[0]);
    let others = other.map_or(Vec::new(), |other| other.join().unwrap());
    sent.extend(senders.into_iter().flatten().map(|sender| sender.join().unwrap()));
    let left = receiver.len();
    let rest = take_tries(&receiver, capacity);
    assert_eq!(rest.len(), left);
    taken.extend(rest);
    check_shares(&[&taken, &others], &sent);
    drop((sender, receiver));
    assert_eq!(Arc::strong_count(&tokens), 1);
}

#[test]
fn two_senders_and_two_receivers_over_a_wrap_of_one_slot() {
    check_up_to(2, || over_a_wrap(1, 1, [1, 1], [1, 1]));
}

#[test]
fn two_senders_over_a_wrap_of_one_slot() {
    check(|| over_a_wrap(1, 0, [1, 1], [2]));
}

#[test]
fn two_senders_over_a_wrap_of_two_slots() {
    check(|| over_a_wrap(2, 1, [2, 1], [2]));
}

#[test]
fn two_receivers_over_a_wrap_of_two_slots() {
    check(|| over_a_wrap(2, 2, [2], [2, 1]));
}

/// One sender and one receiver, so that loom gets further: three laps of one slot.
#[test]
fn one_to_one_over_three_laps() {
    check(|| over_a_wrap(1, 0, [3], [3]));
}

/// As many free slots as senders that each try once: none finds it full, whichever was faster.
#[test]
fn sender_finds_one_of_enough_slots() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(2);
        let writer = {
            let (sender, tokens) = (sender.clone(), Arc::clone(&tokens));
            thread::spawn(move || sender.try_send(Token::new(SECOND, &tokens)).is_ok())
        };
        assert!(sender.try_send(Token::new(0, &tokens)).is_ok() && writer.join().unwrap());
        let taken = take_tries(&receiver, 2);
        check_shares(&[&taken], &[vec![0, SECOND]]);
    });
}

/// One slot for two senders: one of them has it, and the other gets its message back.
#[test]
fn no_more_messages_than_slots() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(1);
        let writer = {
            let (sender, tokens) = (sender.clone(), Arc::clone(&tokens));
            thread::spawn(move || send_tries(&sender, &tokens, SECOND, 1))
        };
        let mut sent = send_tries(&sender, &tokens, 0, 1);
        assert!(receiver.len() <= 1 && sender.len() <= 1);
        sent.extend(writer.join().unwrap());
        assert_eq!(sent.len(), 1, "two messages in one slot");
        assert!(sender.is_full());
        assert_eq!(take_tries(&receiver, 2), sent);
        drop((sender, receiver));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}

/// As many messages as receivers that each try once: each finds one, whichever was faster.
#[test]
fn receiver_finds_one_of_enough_messages() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(2);
        let sent = send_tries(&sender, &tokens, 0, 2);
        let other = receiver.clone();
        let reader = thread::spawn(move || other.try_recv().expect("two messages for two").number());
        let number = receiver.try_recv().expect("two messages for two").number();
        check_shares(&[&[number], &[reader.join().unwrap()]], &[sent]);
        assert!(receiver.is_empty());
    });
}

/// A send that returns before another begins comes first, whichever threads they are on.
#[test]
fn one_order_for_all_senders() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(2);
        let is_sent = Arc::new(AtomicBool::new(false));
        let writer = {
            let (sender, tokens, is_sent) = (sender.clone(), Arc::clone(&tokens), Arc::clone(&is_sent));
            thread::spawn(move || {
                assert_eq!(send_tries(&sender, &tokens, 0, 1), [0]);
                is_sent.store(true, Ordering::Release);
            })
        };
        let was_sent = is_sent.load(Ordering::Acquire);
        assert_eq!(send_tries(&sender, &tokens, SECOND, 1), [SECOND]);
        writer.join().unwrap();
        let taken = take_tries(&receiver, 2);
        assert_eq!(taken.len(), 2);
        assert!(!was_sent || taken == [0, SECOND], "{taken:?}");
    });
}

/// A batch has one claim: no other sender's message comes between its messages, and they are received
/// together.
#[test]
fn batch_beside_a_send() {
    check(|| {
        let (sender, receiver) = ordered::channel(3);
        let other = sender.clone();
        let writer = thread::spawn(move || other.try_send_batch(&[1, 2]).unwrap());
        assert!(sender.try_send(SECOND).is_ok());
        let mut places = [0; 3];
        let mut count = receiver.try_recv_batch(&mut places);
        writer.join().unwrap();
        count += receiver.try_recv_batch(&mut places[count..]);
        assert_eq!(count, 3);
        assert!([[1, 2, SECOND], [SECOND, 1, 2]].contains(&places), "{places:?}");
    });
}

/// A sender closes the queue beside a send of another: what was sent is received, what came back is not. What
/// one receiver declares the end is it for all.
#[test]
fn a_close_beside_a_send() {
    check(|| {
        let tokens = Arc::new(());
        let (sender, receiver) = ordered::channel(2);
        let writer = {
            let (sender, tokens) = (sender.clone(), Arc::clone(&tokens));
            thread::spawn(move || match sender.try_send(Token::new(0, &tokens)) {
                Ok(()) => 1,
                Err(TrySendError::Closed(token)) => token.number() as usize,
                Err(TrySendError::Full(_)) => panic!("full"),
            })
        };
        sender.close();
        assert!(sender.is_closed() && receiver.is_closed());
        let mut taken = 0;
        loop {
            match receiver.try_recv() {
                Ok(_) => taken += 1,
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Closed) => break,
            }
        }
        assert!(receiver.is_fully_drained());
        let sent = writer.join().unwrap();
        assert_eq!(taken, sent, "received, and sent");
        assert_eq!(receiver.try_recv().err(), Some(TryRecvError::Closed));
        drop((sender, receiver));
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
}
