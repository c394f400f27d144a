//! Lossless rings between processes: the publisher waits for each subscriber that has a seat, and for no dead
//! one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::{Awaited, Lossless, Publisher, Subscriber};
use annulus::shm::broadcast::{AcceptedLossless, NoSeat};
use annulus::shm::{
    AttachError, Invitation, PeerState, ShareError, Shared, ShmKind, broadcast, recv_fd, send_fd,
};
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, SendError, TryRecvError, TrySendError, WaitStrategy,
};
use proptest::prelude::*;
use rustix::process::Signal;

use crate::broadcast::processes::{Payload, check, payload};
use crate::process::{Child, moment, rounds};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// A ring with two seats, and what another process would have of it.
fn ring(capacity: usize) -> (Publisher<u64, Lossless>, AcceptedLossless<u64>) {
    let settings = Settings::new(capacity).wait_strategy(BLOCK);
    let Shared { handle: publisher, invitation, .. } = broadcast::lossless(settings, 2).unwrap();
    (publisher, invitation.with_wait_strategy(BLOCK).accept_lossless().unwrap())
}

/// A subscriber that takes no seat begins with the next message, or with the oldest.
#[test]
fn subscriber_without_a_seat_begins_where_it_likes() {
    let (mut publisher, ring) = ring(4);
    let seated = ring.subscribe().unwrap();
    (0..3).for_each(|number| publisher.publish(number).unwrap());
    let (mut next, mut oldest) = (ring.subscribe_lossy(), ring.subscribe_lossy_from_oldest());
    assert_eq!((next.cursor(), oldest.cursor(), seated.cursor()), (3, 0, 0));
    assert_eq!((next.try_recv(), oldest.try_recv()), (Err(TryRecvError::Empty), Ok(0)));
    drop(seated);
    (3..9).for_each(|number| publisher.publish(number).unwrap());
    assert_eq!((next.total_lagged(), oldest.try_recv()), (0, Ok(5)), "nobody waits for it");
}

#[test]
fn publisher_waits_for_the_slowest() {
    let (mut publisher, ring) = ring(4);
    assert_eq!(ring.state(), PeerState::Alive);
    (0..10).for_each(|number| publisher.publish(number).unwrap());
    let (mut slow, mut fast) = (ring.subscribe().unwrap(), ring.subscribe().unwrap());
    assert_eq!((slow.cursor(), fast.cursor()), (10, 10));
    publisher.publish_batch(&[10, 11, 12, 13]).unwrap();
    assert!(publisher.try_publish(14) == Err(TrySendError::Full(14)));
    assert_eq!(fast.try_iter().collect::<Vec<_>>(), [10, 11, 12, 13]);
    assert!(publisher.try_publish(14) == Err(TrySendError::Full(14)), "one is still behind");
    assert_eq!(slow.recv(), Ok(10));
    publisher.try_publish(14).unwrap();
    let mut rest = [0; 8];
    assert_eq!(slow.recv_batch(&mut rest), Ok(4));
    assert_eq!(rest[..4], [11, 12, 13, 14]);
    publisher.close();
    assert!(publisher.publish(15) == Err(SendError(15)));
    assert_eq!(
        (fast.recv(), fast.recv(), slow.recv()),
        (Ok(14), Err(RecvError::CLOSED), Err(RecvError::CLOSED))
    );
    assert_eq!(ring.state(), PeerState::Closed);
    assert_eq!(slow.total_lagged() + fast.total_lagged(), 0);
}

#[test]
fn seats_are_as_many_as_there_are() {
    let (mut publisher, ring) = ring(8);
    let first = ring.subscribe().unwrap();
    let second = ring.subscribe_from_oldest().unwrap();
    assert_eq!(ring.subscribe().unwrap_err(), NoSeat);
    assert!(NoSeat.to_string().contains("all seats"));
    // A subscriber without a seat can still receive as a tap.
    let mut tap = ring.subscribe_lossy();
    (0..8).for_each(|number| publisher.publish(number).unwrap());
    assert!(publisher.try_publish(8).is_err());
    drop(first);
    let third = ring.subscribe().unwrap();
    assert_eq!(third.cursor(), 8);
    assert!(publisher.try_publish(8).is_err(), "the second is still at the first message");
    drop(second);
    // (It has looked for dead ones a moment ago, and does not look again so soon.)
    publisher.try_publish(8).unwrap();
    assert!(matches!(tap.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { .. })));
    drop(third);
    (9..100).for_each(|number| publisher.publish(number).unwrap());
    let oldest = ring.subscribe_from_oldest().unwrap();
    assert!((92..=96).contains(&oldest.cursor()), "{}", oldest.cursor());
    assert!(format!("{ring:?}").starts_with("AcceptedLossless(Accepted"));
}

#[test]
fn sides_sleep_and_are_woken() {
    let (mut publisher, ring) = ring(2);
    let mut subscriber = ring.subscribe().unwrap();
    let reader = thread::spawn(move || {
        let first = subscriber.recv();
        thread::sleep(Duration::from_millis(20));
        (first, subscriber.iter().collect::<Vec<_>>())
    });
    thread::sleep(Duration::from_millis(20));
    (0..6).for_each(|number| publisher.publish(number).unwrap());
    drop(publisher);
    assert_eq!(reader.join().unwrap(), (Ok(0), vec![1, 2, 3, 4, 5]));
}

/// Subscribers of many threads of one process, which come and go.
#[test]
fn threads_of_one_process_take_one_seat_each() {
    let (mut publisher, ring) = ring(8);
    let had = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while ring.state() == PeerState::Alive {
                    let Ok(mut subscriber) = ring.subscribe() else {
                        thread::yield_now();
                        continue;
                    };
                    let first = subscriber.cursor();
                    for number in first..first + 20 {
                        match subscriber.recv() {
                            Ok(message) => assert_eq!(message, number),
                            Err(_) => return,
                        }
                        had.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // However late they begin.
        let mut number = 0;
        while number < 20_000 || had.load(Ordering::Relaxed) == 0 {
            publisher.publish(number).unwrap();
            number += 1;
        }
        drop(publisher);
    });
}

/// A publisher counts, and waits for, the subscribers of all processes that have a seat.
#[test]
fn publisher_waits_for_awaited_subscribers() {
    let (publisher, ring) = ring(8);
    let none = Duration::ZERO;
    assert!(publisher.subscriber_count() == 0 && !publisher.wait_for_subscribers_timeout(1, none));
    let (first, second) = thread::scope(|scope| {
        let both = scope.spawn(|| publisher.wait_for_subscribers(2));
        let first = ring.subscribe().unwrap();
        // It sleeps, as a rule: the second one wakes it.
        thread::sleep(Duration::from_millis(20));
        assert!(!both.is_finished());
        let second = ring.subscribe_from_oldest().unwrap();
        assert!(both.join().unwrap());
        (first, second)
    });
    assert_eq!((publisher.subscriber_count(), publisher.stats().readers.now), (2, 2));
    assert_eq!(first.stats().readers.now, 2, "whichever process asks");
    let lossy = ring.subscribe_lossy();
    assert_eq!(publisher.subscriber_count(), 2, "it has no seat");
    drop((second, lossy));
    let readers = publisher.stats().readers;
    assert_eq!((publisher.subscriber_count(), readers.now, readers.joined), (1, 1, 2));
    assert!(publisher.wait_for_subscribers(1) && !publisher.wait_for_subscribers_timeout(2, none));
    publisher.close();
    assert!(publisher.wait_for_subscribers(1) && !publisher.wait_for_subscribers(2), "nobody comes any more");
}

/// The dead do not count, although nobody has needed their seats.
#[test]
fn dead_subscriber_does_not_count() {
    let Shared { handle: publisher, invitation, .. } =
        broadcast::lossless::<Payload>(Settings::new(8), 2).unwrap();
    let mut child = Child::new("await block:0,0");
    invitation.send(&child.socket).unwrap();
    assert!(publisher.wait_for_subscribers(1));
    let waits = |count| publisher.wait_for_subscribers_timeout(count, Duration::ZERO);
    assert_eq!((publisher.subscriber_count(), waits(1)), (1, true));
    child.kill();
    assert!(!waits(1));
    assert_eq!((publisher.subscriber_count(), publisher.stats().readers.now), (0, 0));
}

/// A subscriber that has a seat, and does not know yet where it begins, may begin behind what is published
/// now.
#[test]
fn seat_counts_once_its_subscriber_begins() {
    let Shared { handle: publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(8), 2).unwrap();
    let (page, invitation) = with_page(&invitation);
    let _subscriber = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
    for begun in [0_u64, 1] {
        page.write_all_at(&begun.to_ne_bytes(), 392).unwrap();
        assert_eq!(publisher.subscriber_count() as u64, begun);
        assert_eq!(publisher.wait_for_subscribers_timeout(1, Duration::ZERO), begun == 1);
    }
}

/// A task waits for them, too.
#[cfg(feature = "async")]
#[test]
fn task_waits_for_awaited_subscribers() {
    use crate::support::tasks::block_on;
    let (publisher, ring) = ring(8);
    thread::scope(|scope| {
        let both = scope.spawn(|| block_on(publisher.wait_for_subscribers_async(2)));
        let _first = ring.subscribe().unwrap();
        thread::sleep(Duration::from_millis(20));
        let _second = ring.subscribe().unwrap();
        assert!(both.join().unwrap());
    });
}

/// A subscriber is killed at any moment. The publisher goes on, and the other subscriber receives all.
#[test]
fn a_subscriber_that_is_killed() {
    let capacity = 64;
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<Payload>(Settings::new(capacity).wait_strategy(BLOCK), 2).unwrap();
    let invitation = invitation.with_wait_strategy(BLOCK);
    let mut next = 0;
    for round in 0..rounds() {
        // The seat of the one before is free.
        let ring = invitation.accept_lossless::<Payload>().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        let mut child =
            Child::new(["await block:0,0", "await busy-spin", "await block:100,10"][round as usize % 3]);
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_micros(round * 7919 % 5_000));
            child.kill();
        });
        let first = next;
        let reader = thread::spawn(move || {
            let mut next = first;
            while next < first + 3_000 {
                let message = subscriber.recv().unwrap();
                check(&message);
                assert_eq!(message[0], next);
                next += 1;
            }
            assert_eq!(subscriber.total_lagged(), 0);
        });
        while next < first + 3_000 {
            publisher.publish(payload(next)).unwrap();
            next += 1;
        }
        killer.join().unwrap();
        reader.join().unwrap();
    }
    // Nobody is there any more.
    let begun = Instant::now();
    for number in next..next + 10 * capacity as u64 {
        publisher.publish_timeout(payload(number), Duration::from_secs(120)).unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// A publisher is killed at any moment: what it had published is received, all of it and in order.
#[test]
fn a_publisher_that_is_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(
            ["publish-lossless 2", "publish-lossless 64", "publish-lossless 1000"][round as usize % 3],
        );
        let ring = Invitation::receive(&child.socket).unwrap().accept_lossless::<Payload>().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        (&child.socket).write_all(b"\n").unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let mut next = 0;
        while let Ok(message) = subscriber.recv() {
            check(&message);
            assert_eq!(message[0], next);
            next += 1;
        }
        killer.join().unwrap();
        assert_eq!((ring.state(), subscriber.total_lagged()), (PeerState::Dead, 0));
    }
}

/// A subscriber that is stopped is alive: the publisher waits for it.
#[test]
fn a_subscriber_that_is_stopped() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<Payload>(Settings::new(8).wait_strategy(BLOCK), 2).unwrap();
    let child = Child::new("await block:0,0");
    invitation.send(&child.socket).unwrap();
    (&child.socket).read_exact(&mut [0]).unwrap();
    child.stop();
    let mut next = 0;
    while publisher.publish_timeout(payload(next), Duration::from_millis(200)).is_ok() {
        next += 1;
    }
    assert!(next <= 9, "a ring, and the message that it was in");
    for _ in 0..5 {
        // It looks for the dead again.
        thread::sleep(Duration::from_millis(20));
        assert!(publisher.try_publish(payload(next)) == Err(TrySendError::Full(payload(next))));
    }
    assert!(!publisher.is_closed());
    child.signal(Signal::CONT);
    (next..1000).for_each(|number| publisher.publish(payload(number)).unwrap());
    drop(publisher);
    assert_eq!(child.said(), (0, 1000));
}

/// A publisher that is stopped is alive: its subscriber waits for it, keeps its seat, and misses nothing.
#[test]
fn a_publisher_that_is_stopped() {
    let child = Child::new("publish-lossless 64");
    let ring = Invitation::receive(&child.socket).unwrap().accept_lossless::<Payload>().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    (&child.socket).write_all(b"\n").unwrap();
    let mut next = 0;
    let mut received = |message: Payload| {
        check(&message);
        assert_eq!(message[0], next);
        next += 1;
    };
    received(subscriber.recv().unwrap());
    child.stop();
    while let Ok(message) = subscriber.recv_timeout(Duration::from_millis(100)) {
        received(message);
    }
    assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((ring.state(), subscriber.is_closed()), (PeerState::Alive, false));
    child.signal(Signal::CONT);
    (0..1000).for_each(|_| received(subscriber.recv().unwrap()));
}

#[test]
fn impossible_rings_are_refused() {
    let make = |builder, seats| broadcast::lossless::<u64>(builder, seats).map(|_| ()).unwrap_err();
    for seats in [0, 1025] {
        let error = make(Settings::new(8), seats);
        assert!(matches!(error, ShareError::Seats { most: 1024, .. }));
        assert!(error.to_string().contains(&format!("{seats} seats")), "{error}");
    }
    let error = make(Settings::new(8).headroom(8), 1);
    assert!(matches!(error, ShareError::Capacity(CapacityError::Headroom { headroom: 8, capacity: 8 })));
    let error = make(Settings::new(1), 1);
    assert!(matches!(error, ShareError::Capacity(CapacityError::TooSmall { capacity: 1, minimum: 2 })));
    let Shared { handle: _publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(8), 1).unwrap();
    let error = invitation.accept::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Lossless, wanted: ShmKind::Lossy }));
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let error = invitation.accept_lossless::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Lossy, wanted: ShmKind::Lossless }));
}

/// The headroom is the same on both sides: a joiner at the oldest is promised no more than what others have.
#[test]
fn headroom() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(14).headroom(10), 2).unwrap();
    let ring = invitation.accept_lossless::<u64>().unwrap();
    (0..100).for_each(|number| publisher.publish(number).unwrap());
    let subscriber = ring.subscribe_from_oldest().unwrap();
    let behind = 100 - subscriber.cursor();
    assert!(behind <= 4, "{behind}");
    (0..4 - behind).for_each(|number| publisher.try_publish(100 + number).unwrap());
    assert!(publisher.try_publish(0).is_err(), "four of fourteen are for messages");
}

/// An invitation whose page this process can write to as it likes, as any subscriber could.
pub(crate) fn with_page(invitation: &Invitation) -> (File, Invitation) {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let (ring, page) = (recv_fd(&there).unwrap(), recv_fd(&there).unwrap());
    send_fd(&here, ring.as_fd()).unwrap();
    send_fd(&here, page.as_fd()).unwrap();
    (page.into(), Invitation::receive(&there).unwrap())
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 63), (0..40u64), any::<u64>()]
}

proptest! {
    /// Any words where the seats are: every verb returns, and nothing is torn.
    #[test]
    fn seats_of_any_value_do_no_harm(writes in prop::collection::vec((0..2 + 3usize, number()), 0..40)) {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<Payload>(Settings::new(8), 2).unwrap();
        let (page, invitation) = with_page(&invitation);
        let ring = invitation.accept_lossless::<Payload>().unwrap();
        let mut subscriber: Subscriber<_, Awaited> = ring.subscribe().unwrap();
        let (mut next, mut others) = (0, Vec::new());
        for (word, number) in writes {
            // Where sleepers are counted, what the publisher says, the two cells, whether the first has
            // begun.
            let at = [128, 256, 384, 512, 392][word];
            page.write_all_at(&number.to_ne_bytes(), at).unwrap();
            prop_assert!(publisher.subscriber_count() <= 2);
            prop_assert!(!publisher.wait_for_subscribers_timeout(3, Duration::ZERO));
            for _ in 0..5 {
                next += u64::from(publisher.try_publish(payload(next)).is_ok());
            }
            if let Ok(message) = subscriber.try_recv() {
                check(&message);
            }
            others.extend(ring.subscribe_from_oldest());
            others.iter_mut().flat_map(Subscriber::try_iter).for_each(|message| check(&message));
            others.truncate((number % 2) as usize);
            let _ = (publisher.stats(), subscriber.stats(), subscriber.total_lagged(), ring.state());
            prop_assert!(subscriber.cursor() <= (1 << 63) - (1 << 31) + 100);
        }
    }
}
