//! The ordered queue: one order, one capacity, by shared reference; between threads, and at its edges.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::queue::ordered::{self, Receiver, Sender};
use annulus::{CapacityError, RecvError, SendTimeoutError, TrySendError, WaitStrategy};

use super::dice::Dice;
use super::{Counted, panics, sent_of};
use crate::support::{join, spawn, without_standing_still};

const MESSAGES: u64 = if cfg!(miri) {
    100
} else if cfg!(debug_assertions) {
    20_000
} else {
    200_000
};

/// Sleeps at once.
const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

fn number(whose: u64, count: u64) -> u64 {
    whose << 32 | count
}

/// Sends the numbers from 0 to before `MESSAGES` by every verb in turn.
fn send_by_all_verbs(sender: &Sender<u64>, whose: u64) {
    let mut dice = Dice(whose + 1);
    let mut next = 0;
    while next < MESSAGES {
        let end = MESSAGES.min(next + 1 + dice.throw(9));
        let some: Vec<_> = (next..end).map(|count| number(whose, count)).collect();
        let one = some[0];
        match dice.throw(7) {
            0 => next += u64::from(sender.try_send(one).is_ok()),
            1 => {
                sender.send(one).unwrap();
                next += 1;
            }
            2 => next += sent_of(&some, sender.try_send_batch(&some)),
            3 => {
                sender.send_batch(&some).unwrap();
                next = end;
            }
            4 => next += u64::from(sender.send_timeout(one, Duration::from_micros(10)).is_ok()),
            5 => {
                sender.clone().send_until(one, BLOCK).unwrap();
                next += 1;
            }
            _ => {
                sender.send_until(one, WaitStrategy::BackoffSpin).unwrap();
                next += 1;
            }
        }
    }
}

/// Receives by every verb until the queue is closed and empty.
fn receive_by_all_verbs(receiver: &Receiver<u64>, seed: u64) -> Vec<u64> {
    let mut dice = Dice(seed);
    let mut got = Vec::new();
    let mut places = [0; 7];
    loop {
        match dice.throw(10) {
            0 => got.extend(receiver.try_recv()),
            1 => match receiver.recv_until(BLOCK) {
                Ok(number) => got.push(number),
                Err(_) => return got,
            },
            2 => got.extend(receiver.recv_timeout(Duration::from_micros(10))),
            3 => drop(receiver.consume(usize::MAX, |number| got.push(number))),
            4 => drop(receiver.consume(3, |number| got.push(number))),
            5 => got.extend(receiver.try_iter().take(5)),
            6 => {
                let count = receiver.try_recv_batch(&mut places);
                got.extend(&places[..count]);
            }
            7 => match receiver.recv_batch(&mut places) {
                Ok(count) => got.extend(&places[..count]),
                Err(_) => return got,
            },
            8 => {
                if receiver.recv_many(&mut got, 5).is_err() {
                    return got;
                }
            }
            _ => got.extend(receiver.clone().recv()),
        }
    }
}

/// Several senders, which share one handle, and several receivers, which share another: each message comes
/// once, and to each receiver in its sender's order.
fn every_verb_at_once(senders: u64, receivers: u64, capacity: usize) {
    without_standing_still(move || {
        let (sender, receiver) = ordered::with(Settings::new(capacity).first(u64::MAX - 100)).unwrap();
        let (sender, receiver) = (Arc::new(sender), Arc::new(receiver));
        let writers: Vec<_> = (0..senders)
            .map(|whose| {
                let sender = Arc::clone(&sender);
                spawn(move || send_by_all_verbs(&sender, whose))
            })
            .collect();
        drop(sender);
        let readers: Vec<_> = (0..receivers)
            .map(|seed| {
                let receiver = Arc::clone(&receiver);
                spawn(move || receive_by_all_verbs(&receiver, seed + 1))
            })
            .collect();
        join(writers);
        let shares = join(readers);
        assert!(receiver.is_fully_drained());
        for share in &shares {
            for whose in 0..senders {
                assert!(share.iter().filter(|&&got| got >> 32 == whose).is_sorted(), "out of order");
            }
        }
        let mut all = shares.concat();
        all.sort_unstable();
        let sent = (0..senders).flat_map(|whose| (0..MESSAGES).map(move |count| number(whose, count)));
        assert!(all.into_iter().eq(sent), "lost, or twice");
    });
}

#[test]
fn verbs_of_one_to_one() {
    every_verb_at_once(1, 1, 8);
}

#[test]
fn verbs_of_three_to_one() {
    every_verb_at_once(3, 1, 5);
}

#[test]
fn verbs_of_three_to_three() {
    every_verb_at_once(3, 3, 16);
}

#[test]
fn verbs_of_two_to_two_in_one_slot() {
    every_verb_at_once(2, 2, 1);
}

/// Each sender draws a ticket before its send and one after it. Where the second ticket of one message is
/// smaller than the first of another, its send had returned before the other began: so it is received before
/// it.
#[test]
fn earlier_send_is_received_earlier() {
    const SENDERS: u64 = 4;
    without_standing_still(|| {
        let tickets = Arc::new(AtomicU64::new(0));
        let (sender, receiver) = ordered::channel::<(u64, u64)>(64);
        let writers: Vec<_> = (0..SENDERS)
            .map(|whose| {
                let (sender, tickets) = (sender.clone(), Arc::clone(&tickets));
                spawn(move || {
                    let sent = (0..MESSAGES / SENDERS).map(|count| {
                        let before = tickets.fetch_add(1, Ordering::AcqRel);
                        sender.send((number(whose, count), before)).unwrap();
                        tickets.fetch_add(1, Ordering::AcqRel)
                    });
                    sent.collect::<Vec<_>>()
                })
            })
            .collect();
        drop(sender);
        let received: Vec<_> = receiver.iter().collect();
        let after = join(writers);
        assert_eq!(received.len() as u64, MESSAGES / SENDERS * SENDERS);
        // From the last on: none of those behind was over before this one began.
        let mut earliest = u64::MAX;
        for &(message, before) in received.iter().rev() {
            assert!(
                earliest > before,
                "a message whose send was over before that of {message:x} began came after it"
            );
            earliest = earliest.min(after[(message >> 32) as usize][message as u32 as usize]);
        }
    });
}

/// However many senders, handles and threads: never more messages than slots.
#[test]
fn one_bound_for_all_senders() {
    for capacity in [1, 2, 3, 7, 8, 100] {
        let (sender, receiver) = ordered::channel(capacity);
        let sent = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                let (sender, sent) = (&sender, &sent);
                scope.spawn(move || {
                    while sender.clone().try_send(0).is_ok() {
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(sent.into_inner(), capacity);
        assert!(sender.is_full());
        assert_eq!((sender.len(), receiver.len()), (capacity, capacity));
    }
}

/// For any observer, the length is never above the capacity.
#[test]
fn no_observer_sees_too_many() {
    const CAPACITY: usize = 4;
    let (sender, receiver) = ordered::channel(CAPACITY);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(sender.len() <= CAPACITY && receiver.len() <= CAPACITY);
                }
            });
        }
        let writer = scope.spawn(|| (0..MESSAGES).for_each(|number| sender.send(number).unwrap()));
        (0..MESSAGES).for_each(|number| assert_eq!(receiver.recv(), Ok(number)));
        writer.join().unwrap();
        over.store(true, Ordering::Relaxed);
    });
}

/// Somebody closes the queue while all others send and receive: what was sent is received, and what came back
/// is not.
#[test]
fn close_beside_everything() {
    const ROUNDS: u64 = if cfg!(miri) { 2 } else { 50 };
    without_standing_still(|| {
        let alive = Arc::<AtomicUsize>::default();
        for round in 0..ROUNDS {
            let (sender, receiver) = ordered::channel(3);
            let writers: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, alive) = (sender.clone(), Arc::clone(&alive));
                    spawn(move || {
                        let mut sent = 0;
                        while sender.send(Counted::new(sent, &alive)).is_ok() {
                            sent += 1;
                        }
                        sent
                    })
                })
                .collect();
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    let receiver = receiver.clone();
                    spawn(move || receiver.iter().count())
                })
                .collect();
            // Not a synchronisation.
            (0..round % 10).for_each(|_| thread::yield_now());
            if round % 2 == 0 {
                sender.close();
            } else {
                receiver.close();
            }
            let (sent, received) = (join(writers), join(readers));
            assert_eq!(sent.iter().sum::<u64>(), received.iter().sum::<usize>() as u64);
            assert_eq!(alive.load(Ordering::Relaxed), 0);
        }
    });
}

/// The receivers go while others send: everything is dropped, while the senders live.
#[test]
fn messages_without_receivers_are_dropped_at_once() {
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
    without_standing_still(|| {
        let alive = Arc::<AtomicUsize>::default();
        for round in 0..ROUNDS {
            let (sender, receiver) = ordered::channel(8);
            let writers: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, alive) = (sender.clone(), Arc::clone(&alive));
                    spawn(move || {
                        for number in 0.. {
                            if let Err(error) = sender.send(Counted::new(number, &alive)) {
                                assert_eq!(error.into_inner().number, number);
                                return;
                            }
                        }
                    })
                })
                .collect();
            receiver.iter().take(round % 20).for_each(drop);
            drop(receiver);
            join(writers);
            assert_eq!(
                alive.load(Ordering::Relaxed),
                0,
                "a message lies in a queue that nobody receives from"
            );
            drop(sender);
        }
    });
}

/// What is left is dropped once, also where a destructor panics.
#[test]
fn destructor_that_panics_is_the_only_one_that_is_missing() {
    struct Grumpy(Counted);
    impl Drop for Grumpy {
        fn drop(&mut self) {
            assert!(self.0.number != 1, "on purpose");
        }
    }
    let alive = Arc::<AtomicUsize>::default();
    let (sender, receiver) = ordered::channel(4);
    for number in 0..4 {
        assert!(sender.try_send(Grumpy(Counted::new(number, &alive))).is_ok());
    }
    let mut places: Vec<_> = (10..13).map(|number| Grumpy(Counted::new(number, &alive))).collect();
    places[1].0.number = 1;
    // What it had claimed is dropped; the rest stays.
    let receive = || assert_eq!(receiver.try_recv_batch(&mut places), 3);
    assert!(panics(receive).is_some());
    assert_eq!(receiver.len(), 1);
    assert!(sender.try_send(Grumpy(Counted::new(5, &alive))).is_ok(), "the slots are free");
    for place in &mut places {
        place.0.number = 0;
    }
    drop((places, receiver, sender));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// Many senders wait for room, and many receivers for messages, in a queue of one slot: each wake-up reaches
/// somebody.
#[test]
fn wake_ups_reach_waiters() {
    const THREADS: u64 = if cfg!(miri) { 2 } else { 8 };
    const EACH: u64 = MESSAGES / 100;
    without_standing_still(|| {
        for capacity in [1, 2] {
            let (sender, receiver) = ordered::channel(capacity);
            let writers: Vec<_> = (0..THREADS)
                .map(|_| {
                    let sender = sender.clone();
                    spawn(move || (0..EACH).for_each(|number| sender.send_until(number, BLOCK).unwrap()))
                })
                .collect();
            // Each takes as many as one of them sends, and leaves: nobody else will take what it was woken
            // for.
            let readers: Vec<_> = (0..THREADS)
                .map(|_| {
                    let receiver = receiver.clone();
                    spawn(move || assert!((0..EACH).all(|_| receiver.recv_until(BLOCK).is_ok())))
                })
                .collect();
            join(writers);
            join(readers);
            assert!(receiver.is_empty());
        }
    });
}

#[test]
fn timeout_gives_the_value_back() {
    let (sender, receiver) = ordered::channel(1);
    sender.send("one").unwrap();
    let late = Duration::from_millis(2);
    assert!(sender.send_timeout("two", late) == Err(SendTimeoutError::Timeout("two")));
    let deadline = std::time::Instant::now() + late;
    assert!(sender.send_until("two", deadline) == Err(SendTimeoutError::Timeout("two")));
    receiver.close();
    assert!(sender.send_until("two", deadline) == Err(SendTimeoutError::Closed("two")));
    assert!(sender.try_send("two") == Err(TrySendError::Closed("two")));
    assert_eq!(sender.send_batch(&["two", "three"]).unwrap_err().into_inner(), ["two", "three"]);
    assert_eq!(sender.try_send_batch(&["two"]), Err(TrySendError::Closed(&["two"][..])));
    assert_eq!(receiver.recv(), Ok("one"));
    assert_eq!(receiver.recv(), Err(RecvError::CLOSED));
}

/// A batch that waits for room learns of the close, and gives back what was not sent.
#[test]
fn batch_that_is_closed_gives_back_the_rest() {
    without_standing_still(|| {
        let (sender, receiver) = ordered::channel(2);
        let writer =
            spawn(move || sender.send_batch(&[1, 2, 3, 4]).map_err(|error| error.into_inner().to_vec()));
        let mut got = vec![receiver.recv().unwrap()];
        receiver.close();
        got.extend(receiver.iter());
        got.extend(join([writer]).remove(0).unwrap_err());
        assert_eq!(got, [1, 2, 3, 4]);
    });
}

#[test]
fn capacities_are_exact_and_refused_as_elsewhere() {
    for capacity in 1..20 {
        let (sender, receiver) = ordered::channel(capacity);
        let numbers: Vec<_> = (0..100).collect();
        assert_eq!(sender.try_send_batch(&numbers), Err(TrySendError::Full(&numbers[capacity..])));
        assert!(sender.try_send(0) == Err(TrySendError::Full(0)));
        assert!(receiver.try_iter().eq(0..capacity));
    }
    let too_small = CapacityError::TooSmall { capacity: 0, minimum: 1 };
    assert_eq!(ordered::with::<u8>(Settings::new(0)).unwrap_err(), too_small);
    assert!(matches!(ordered::with::<u8>(Settings::new(usize::MAX)), Err(CapacityError::TooLarge { .. })));
    assert_eq!(panics(|| drop(ordered::channel::<u8>(0))).unwrap(), too_small.to_string());
}

#[test]
fn handles_go_and_are_shown() {
    fn free<T: Send + Sync + Clone>(_: &T) {}
    let (sender, receiver) = ordered::channel::<std::cell::Cell<u8>>(2);
    free(&sender);
    free(&receiver);
    sender.send(std::cell::Cell::new(1)).unwrap();
    assert_eq!(
        format!("{sender:?}, {receiver:?}"),
        "Sender { kind: \"shared\", len: 1, capacity: 2, closed: false }, Receiver { kind: \"shared\", len: 1, closed: false, .. }"
    );
    assert!(format!("{:?}", receiver.try_iter()).starts_with("TryIter { left: 1"));
    assert!(format!("{:?}", receiver.iter()).starts_with("Iter(Receiver"));
    let mut none = [];
    assert_eq!(receiver.recv_batch(&mut none), Ok(0));
    assert_eq!(receiver.recv_many(&mut vec![], 0), Ok(0));
    assert_eq!((&receiver).into_iter().next().map(|cell| cell.get()), Some(1));
    sender.send(std::cell::Cell::new(2)).unwrap();
    let mut rest = receiver.into_iter();
    assert!(format!("{rest:?}").starts_with("Iter(Receiver"));
    sender.close();
    assert_eq!((rest.next().map(|cell| cell.get()), rest.next().is_none()), (Some(2), true));
    drop(rest);
    assert!(sender.is_closed());
}
