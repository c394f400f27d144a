//! Lossless rings of records: the publisher waits for each subscriber that has a seat, for slots and for
//! bytes, and for no dead one.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use annulus::broadcast::bytes::{Publisher, Subscriber, TryWriteError, WriteError, WriteTimeoutError};
use annulus::broadcast::{Awaited, Lossless};
use annulus::shm::broadcast::NoSeat;
use annulus::shm::broadcast::bytes::AcceptedBytes;
use annulus::shm::{
    AttachError, Directory, Invitation, PeerState, RingObserver, ShareError, Shared, ShmKind, broadcast,
};
use annulus::{CapacityError, RecvError, Settings, TryRecvError, Until, WaitStrategy};
use proptest::prelude::*;

use super::{check, record};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// A ring of so many bytes and seats, for processes that join by the invitation.
pub(super) fn invited(capacity: usize, seats: usize) -> (Publisher<Lossless>, Invitation) {
    let settings = Settings::new(capacity).wait_strategy(BLOCK);
    let Shared { handle, invitation, .. } = broadcast::bytes::lossless(settings, seats).unwrap();
    (handle, invitation)
}

/// The same, and what another process would have of it.
fn ring(capacity: usize, seats: usize) -> (Publisher<Lossless>, AcceptedBytes<Awaited>) {
    let (publisher, invitation) = invited(capacity, seats);
    (publisher, invitation.with_wait_strategy(BLOCK).accept_lossless_bytes().unwrap())
}

/// The next record.
pub(super) fn next(publisher: &Publisher<Lossless>) -> Vec<u8> {
    record(publisher.published(), publisher.max_len())
}

pub(super) fn publish(publisher: &mut Publisher<Lossless>) -> u64 {
    publisher.publish(&next(publisher)).unwrap();
    publisher.published() - 1
}

/// Receives the next record, which is the one of its number.
pub(super) fn receive(subscriber: &mut Subscriber<Awaited>, buffer: &mut Vec<u8>) -> Result<(), RecvError> {
    let (number, most) = (subscriber.cursor(), subscriber.max_len());
    subscriber.recv(buffer)?;
    assert_eq!((subscriber.cursor(), subscriber.total_lagged()), (number + 1, 0));
    check(buffer, number, most);
    Ok(())
}

/// Slots are there, and the bytes are not, and the other way round.
#[test]
fn publisher_waits_for_bytes_and_for_slots() {
    let (mut publisher, ring) = ring(64, 2);
    let mut buffer = Vec::new();
    assert_eq!((publisher.capacity(), publisher.max_len(), publisher.max_records()), (64, 32, 2));
    // (Nobody has a seat yet.)
    (0..10).for_each(|_| _ = publish(&mut publisher));
    let (mut slow, mut fast) = (ring.subscribe().unwrap(), ring.subscribe().unwrap());
    assert_eq!((slow.cursor(), fast.cursor(), publisher.subscriber_count()), (10, 10, 2));
    for number in [1, 2] {
        publisher.publish(&[number; 32]).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(publisher.try_publish(&[3]), Err(TryWriteError::Full));
        assert_eq!(
            publisher.publish_timeout(&[3], Duration::from_millis(1)),
            Err(WriteTimeoutError::Timeout)
        );
        fast.try_recv(&mut buffer).unwrap();
    }
    assert_eq!(fast.try_recv(&mut buffer), Err(TryRecvError::Empty));
    assert_eq!(slow.try_recv(&mut buffer), Ok(32));
    assert_eq!(buffer, [1; 32]);
    // Half of the bytes are free, and one slot.
    publisher.try_publish(&[3; 8]).unwrap();
    assert_eq!(publisher.try_publish(b""), Err(TryWriteError::Full), "there is no slot");
    assert_eq!((slow.try_recv(&mut buffer), slow.try_recv(&mut buffer)), (Ok(32), Ok(8)));
    assert_eq!(fast.try_recv(&mut buffer), Ok(8));
    publisher.close();
    assert_eq!(publisher.publish(b"late"), Err(WriteError::Closed));
    assert_eq!(slow.recv(&mut buffer), Err(RecvError::CLOSED));
    assert_eq!((ring.state(), ring.is_closed(), slow.total_lagged()), (PeerState::Closed, true, 0));
}

/// Bytes alone: records of half the area each, in a ring of 32 slots.
#[test]
fn bytes_are_free_once_all_have_passed_them() {
    let (mut publisher, ring) = ring(1024, 1);
    let (mut subscriber, mut buffer) = (ring.subscribe().unwrap(), Vec::new());
    publisher.publish(&[0; 512]).unwrap();
    publisher.publish(&[1; 512]).unwrap();
    for number in 2..200_u8 {
        assert_eq!(publisher.try_publish(&[number; 512]), Err(TryWriteError::Full), "{number}");
        assert_eq!(subscriber.try_recv(&mut buffer), Ok(512));
        assert_eq!(buffer, [number - 2; 512]);
        publisher.try_publish(&[number; 512]).unwrap();
    }
    // It leaves, so nobody needs them.
    drop(subscriber);
    (0..200).for_each(|_| publisher.publish(&[7; 500]).unwrap());
    // What was received by all that had a seat may be overwritten, so nobody begins there.
    let mut late = ring.subscribe_from_oldest().unwrap();
    assert!((198..=200).contains(&(late.cursor() - 200)), "{}", late.cursor());
    while late.cursor() < 400 {
        assert_eq!(late.try_recv(&mut buffer), Ok(500));
        assert_eq!(buffer, [7; 500]);
    }
}

#[test]
fn seats_are_as_many_as_there_are() {
    let (mut publisher, ring) = ring(64, 2);
    let (first, second) = (ring.subscribe().unwrap(), ring.subscribe_from_oldest().unwrap());
    assert_eq!(ring.subscribe().map(drop), Err(NoSeat));
    let (mut tap, mut buffer) = (ring.subscribe_lossy(), Vec::new());
    publisher.publish(&[1; 32]).unwrap();
    publisher.publish(&[2; 32]).unwrap();
    drop(first);
    assert_eq!(publisher.subscriber_count(), 1);
    assert_eq!(publisher.try_publish(&[3; 32]), Err(TryWriteError::Full));
    drop(second);
    publisher.try_publish(&[3; 32]).unwrap();
    // The publisher does not wait for it.
    assert_eq!(tap.try_recv(&mut buffer), Ok(32));
    assert_eq!((buffer[0], tap.total_lagged()), (2, 1));
    let mut late = ring.clone().subscribe_lossy_from_oldest();
    assert_eq!((late.try_recv(&mut buffer), buffer[0]), (Ok(32), 2));
    assert!(publisher.wait_for_subscribers_until(0, Until::FOREVER));
    assert!(!publisher.wait_for_subscribers_timeout(1, Duration::ZERO));
    let _third = ring.subscribe().unwrap();
    assert!(publisher.wait_for_subscribers(1));
    assert!(format!("{ring:?}").starts_with("AcceptedBytes"));
}

/// What one of some subscribers does, or the publisher.
#[derive(Clone, Debug)]
enum Step {
    Publish(usize),
    Receive(usize, usize),
    Join(bool),
    Leave(usize),
    History(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..12_usize).prop_map(Step::Publish),
        4 => (0..3_usize, 0..12_usize).prop_map(|(reader, count)| Step::Receive(reader, count)),
        1 => any::<bool>().prop_map(Step::Join),
        1 => (0..3_usize).prop_map(Step::Leave),
        1 => (0..6_usize).prop_map(Step::History),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Beside a model: each subscriber receives each record from where it began; the publisher has room as
    /// long as the records that somebody needs leave some, and is refused only where they do not.
    #[test]
    fn agrees(power in 6..12_u32, steps in steps()) {
        let (mut publisher, ring) = ring(1 << power, 3);
        let (mut subscribers, mut buffer) = (Vec::new(), Vec::new());
        let words = |number| record(number, 1 << (power - 1)).len().div_ceil(8);
        for step in steps {
            match step {
                Step::Publish(count) => for _ in 0..count {
                    let (number, record) = (publisher.published(), next(&publisher));
                    let slowest = subscribers.iter().map(Subscriber::cursor).min().unwrap_or(number);
                    let needed: usize = (slowest..number).map(words).sum();
                    let slots = (number - slowest) as usize;
                    // (Where nobody lags, there is always room.)
                    let has_room = needed + words(number) <= (1 << power) / 8
                        && slots < publisher.max_records();
                    let published = publisher.try_publish(&record);
                    prop_assert_eq!(published, if has_room { Ok(()) } else { Err(TryWriteError::Full) });
                },
                Step::Receive(reader, count) => if let Some(subscriber) = subscribers.get_mut(reader) {
                    for _ in 0..count {
                        let number: u64 = Subscriber::cursor(subscriber);
                        if number == publisher.published() {
                            prop_assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Empty));
                        } else {
                            prop_assert!(subscriber.try_recv(&mut buffer).is_ok());
                            check(&buffer, number, publisher.max_len());
                        }
                    }
                },
                Step::Join(from_oldest) => {
                    let joined = if from_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() };
                    prop_assert_eq!(joined.is_err(), subscribers.len() == 3);
                    let (end, most) = (publisher.published(), publisher.max_records() as u64);
                    if let Ok(subscriber) = joined {
                        let cursor = subscriber.cursor();
                        let is_right = if from_oldest { end - cursor <= most } else { cursor == end };
                        prop_assert!(is_right, "{} of {}", cursor, end);
                        subscribers.push(subscriber);
                    }
                }
                Step::Leave(reader) => if reader < subscribers.len() {
                    subscribers.remove(reader);
                },
                Step::History(count) => if let Some(subscriber) = subscribers.first_mut() {
                    let waits = subscriber.len();
                    prop_assert_eq!(subscriber.begin_with_last(count), waits.min(count));
                    prop_assert_eq!(subscriber.len(), waits.min(count));
                },
            }
            prop_assert!(subscribers.iter().all(|subscriber| subscriber.total_lagged() == 0));
            prop_assert_eq!(publisher.subscriber_count(), subscribers.len());
        }
    }
}

/// Either side waits for the other one, asleep.
#[test]
fn sides_sleep_and_are_woken() {
    const COUNT: u64 = 2_000;
    let (mut publisher, ring) = ring(256, 3);
    thread::scope(|scope| {
        for _ in 0..3 {
            let mut subscriber = ring.subscribe().unwrap();
            scope.spawn(move || {
                let mut buffer = Vec::new();
                while receive(&mut subscriber, &mut buffer).is_ok() {}
                assert_eq!(subscriber.cursor(), COUNT);
            });
        }
        (0..COUNT).for_each(|_| _ = publish(&mut publisher));
        publisher.close();
    });
}

/// Subscribers of many threads, which come at the oldest record and go, beside a publisher that reuses bytes.
#[test]
fn joiners_begin_with_records_that_stand() {
    for capacity in [64, 1024] {
        let (mut publisher, ring) = ring(capacity, 3);
        let (joined, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for from_oldest in [true, true, true, false] {
                let (ring, joined, is_over) = (&ring, &joined, &is_over);
                scope.spawn(move || {
                    let mut buffer = Vec::new();
                    while !is_over.load(Ordering::Relaxed) {
                        let subscriber =
                            if from_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() };
                        let Ok(mut subscriber) = subscriber else {
                            thread::yield_now();
                            continue;
                        };
                        joined.fetch_add(1, Ordering::Relaxed);
                        for _ in 0..joined.load(Ordering::Relaxed) % 7 {
                            let number = subscriber.cursor();
                            match subscriber.try_recv(&mut buffer) {
                                Ok(_) => check(&buffer, number, subscriber.max_len()),
                                Err(_) => break,
                            }
                        }
                        assert_eq!(subscriber.total_lagged(), 0);
                    }
                });
            }
            // However late they begin.
            while publisher.published() < 20_000 || joined.load(Ordering::Relaxed) < 100 {
                publish(&mut publisher);
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

/// A task publishes, and one receives, with little room.
#[cfg(feature = "async")]
#[test]
fn tasks_wait_on_both_sides() {
    use crate::support::tasks::block_on;
    const COUNT: u64 = 500;
    let (mut publisher, ring) = ring(64, 1);
    let mut subscriber = ring.subscribe().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            block_on(async {
                for _ in 0..COUNT {
                    let record = next(&publisher);
                    publisher.publish_async(&record).await.unwrap();
                }
            });
        });
        let mut buffer = Vec::new();
        let most = subscriber.max_len();
        let received = block_on(async {
            while subscriber.recv_async(&mut buffer).await.is_ok() {
                check(&buffer, subscriber.cursor() - 1, most);
            }
            subscriber.total_received()
        });
        assert_eq!((received, subscriber.total_lagged()), (COUNT, 0));
    });
}

#[test]
fn rings_that_cant_be() {
    let make = |settings, seats| broadcast::bytes::lossless(settings, seats).map(drop).unwrap_err();
    for seats in [0, 1025] {
        let error = make(Settings::new(64), seats);
        assert!(matches!(error, ShareError::Seats { most: 1024, .. }), "{error}");
    }
    for capacity in [usize::MAX, 1 << 62] {
        let error = make(Settings::new(capacity), 1);
        assert!(matches!(error, ShareError::Capacity(_) | ShareError::System(_)), "{capacity}: {error}");
    }
    let error = make(Settings::new(64).headroom(1), 1);
    assert!(matches!(error, ShareError::Capacity(CapacityError::NoHeadroom { headroom: 1 })), "{error}");
    let (publisher, invitation) = invited(64, 1);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::LosslessBytes);
    let found = ShmKind::LosslessBytes;
    for error in [
        invitation.accept_broadcast_bytes().map(drop).unwrap_err(),
        invitation.accept_lossless::<[u64; 2]>().map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, AttachError::Kind { found: kind, .. } if kind == found), "{error}");
    }
    let (_publisher, _, lossy) = super::ring(64);
    let error = lossy.accept_lossless_bytes().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { wanted, .. } if wanted == found), "{error}");
    // It has no `Subscribable`.
    catch_unwind(|| publisher.subscribable()).map(drop).unwrap_err();
}

/// By a name, and from another first number; a process that looks sees how far each is.
#[test]
fn ring_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-lossless-records-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let settings = Settings::new(64).first(1 << 40);
    let Shared { handle: mut publisher, invitation, .. } = broadcast::bytes::lossless(settings, 2).unwrap();
    let name = invitation.publish(&directory, "log").unwrap();
    let found = Invitation::find(&directory.find("log").unwrap()).unwrap();
    let ring = found.accept_lossless_bytes().unwrap();
    publisher.publish(b"by a name").unwrap();
    let (mut subscriber, mut buffer) = (ring.subscribe_from_oldest().unwrap(), Vec::new());
    assert_eq!((subscriber.cursor(), subscriber.recv(&mut buffer)), (1 << 40, Ok(9)));
    let observer = RingObserver::of(&directory.find("log").unwrap()).unwrap();
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.published, observer.state()), (1, PeerState::Alive));
    while publisher.try_publish(&[7; 32]).is_ok() {}
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.published, numbers.readers.len()), (3, 1));
    assert_eq!(publisher.stats().followed[0].lag, 2);
    drop((name, ring));
    std::fs::remove_dir_all(path).unwrap();
}
