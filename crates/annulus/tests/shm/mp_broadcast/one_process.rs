//! Publishers of one process: joins, leaves, and the end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use annulus::Settings as Ring;
use annulus::memory::Memory;
use annulus::shm::WhenGone;
use annulus::shm::mp_broadcast::{self, Builder};
use annulus::shm::{AttachError, PeerState, ShareError, Shared, ShmKind};
use annulus::stats::Stats;
use annulus::{
    LossyTryRecvError, RecvError, SendTimeoutError, Transmit, TryRecvError, TrySendError, WaitStrategy,
};
use proptest::prelude::*;

use crate::mp_broadcast::{Payload, check, joined, payload, ring};

#[test]
fn places_are_taken_and_given_back() {
    let Shared { handle: first, peers: places, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
    let [second, third] = [(); 2].map(|()| joined::<u64>(&invitation));
    assert_eq!([first.place(), second.place(), third.place()], [0, 1, 2]);
    let refused = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::NoPlace { places: 3 }), "{refused}");
    drop(second);
    assert_eq!((places.taken(), places.joined(), places.died()), (2, 3, 0));
    assert_eq!(joined::<u64>(&invitation).place(), 1);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::MpLossy);
    assert!(format!("{first:?}").contains("place: 0"));
}

#[test]
fn rings_that_cant_be() {
    let refused = ring(1, 3).build::<u64>().map(drop).unwrap_err();
    assert!(matches!(refused, ShareError::Capacity(_)), "{refused}");
    for places in [0, 1025] {
        let refused = ring(8, places).build::<u64>().map(drop).unwrap_err();
        assert!(matches!(refused, ShareError::Producers { most: 1024, .. }), "{refused}");
    }
    let Shared { handle: _publisher, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
    let refused = mp_broadcast::publisher::<i64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Type { .. }), "{refused}");
    let refused = invitation.accept_lossless::<u64>().map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Kind { found: ShmKind::MpLossy, .. }), "{refused}");
}

/// By each publisher and each subscriber, of a lossy and of a lossless ring.
#[test]
fn publishers_are_counted_by_every_process() {
    fn counts(all: [Stats; 3], expected: (usize, u64)) {
        assert_eq!(all.map(|stats| (stats.writers.now, stats.writers.joined)), [expected; 3]);
    }
    let Shared { handle: first, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
    let subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
    assert_eq!((subscriber.stats().writers.now, subscriber.stats().writers.joined), (1, 1));
    let [second, third] = [(); 2].map(|()| joined::<u64>(&invitation));
    counts([first.stats(), third.stats(), subscriber.stats()], (3, 3));
    drop(second);
    counts([first.stats(), third.observer().stats().unwrap(), subscriber.stats()], (2, 3));
    drop(first);
    assert_eq!((third.stats().writers.now, subscriber.stats().writers.now), (1, 1));
    drop(third);
    assert_eq!((subscriber.stats().writers.now, subscriber.stats().writers.joined), (0, 3));

    let Shared { handle: first, invitation, .. } = ring(8, 3).build_lossless::<u64>(1).unwrap();
    let subscriber = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
    let [second, third] = [(); 2].map(|()| mp_broadcast::lossless_publisher::<u64>(&invitation).unwrap());
    counts([first.stats(), third.stats(), subscriber.stats()], (3, 3));
    drop(second);
    counts([first.stats(), third.stats(), subscriber.stats()], (2, 3));
}

/// Whatever a message is published by: it comes, and in its place.
#[test]
fn verbs_publish() {
    let Shared { handle: mut publisher, invitation, .. } = ring(16, 2).build::<u64>().unwrap();
    let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
    publisher.publish(1);
    publisher.publish_with(|| 2);
    let making = || publisher.publish_with(|| resume_unwind(Box::new("on purpose")));
    assert!(catch_unwind(AssertUnwindSafe(making)).is_err());
    publisher.publish_batch(&[3, 4]);
    assert!(publisher.try_send(5).is_ok() && publisher.send(6).is_ok());
    assert!(publisher.send_until(7, WaitStrategy::BusySpin).is_ok());
    assert!(publisher.send_timeout(8, Duration::ZERO).is_ok());
    assert_eq!(publisher.published(), 8, "nothing was claimed for what was never made");
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    publisher.close();
    assert_eq!(publisher.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!(publisher.send_timeout(9, Duration::MAX), Err(SendTimeoutError::Closed(9)));
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
}

/// A task that publishes waits for nobody.
#[cfg(feature = "async")]
#[test]
fn task_publishes() {
    use crate::support::tasks::block_on;
    use annulus::SendError;
    let Shared { handle: mut publisher, invitation, .. } = ring(4, 2).build::<u64>().unwrap();
    let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
    (0..9).for_each(|number| block_on(publisher.send_async(number)).unwrap());
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 5 }));
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [5, 6, 7, 8]);
    publisher.close();
    assert_eq!(block_on(publisher.send_async(9)), Err(SendError(9)));
}

/// The options of the ring's memory are those of all its processes.
#[test]
fn memory_is_as_it_was_asked_for() {
    let memory = Memory::prefer().prefault();
    let builder = Builder::new(Ring::new(16).memory(memory)).publishers(2);
    let Shared { handle: publisher, invitation, .. } = builder.build::<u64>().unwrap();
    let other = joined::<u64>(&invitation);
    let accepted = invitation.accept::<u64>().unwrap();
    let there = [publisher.placement(), other.placement(), accepted.subscribable().placement()];
    assert!(there.iter().all(|placement| placement.is_shared() && placement.mapped_bytes() >= 16 * 32));
    assert!(there[0].prefault().is_granted(), "{there:?}");
}

/// By default it waits for the next ones.
#[test]
fn policy_decides_the_end_without_publishers() {
    for policy in [WhenGone::Wait, WhenGone::Close] {
        let builder = ring(8, 2).when_no_publisher(policy);
        let Shared { handle: mut first, invitation, .. } = builder.build::<u64>().unwrap();
        let ring = invitation.accept::<u64>().unwrap();
        let mut subscriber = ring.subscribable().subscribe();
        let mut second = joined::<u64>(&invitation);
        first.publish(1);
        drop(first);
        second.publish(2);
        assert_eq!(ring.state(), PeerState::Alive);
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
        drop(second);
        if policy == WhenGone::Close {
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
            assert_eq!(ring.state(), PeerState::Closed);
            let refused = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
            assert!(matches!(refused, AttachError::Closed), "{refused}");
        } else {
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(ring.state(), PeerState::Dead);
            let mut next = joined::<u64>(&invitation);
            next.publish(3);
            assert_eq!(subscriber.recv(), Ok(3));
        }
    }
}

/// A subscriber's process closes it for itself only.
#[test]
fn subscriber_closes_its_own_ring() {
    let Shared { handle: mut publisher, invitation, .. } = ring(8, 2).build::<u64>().unwrap();
    let [near, far] = [(); 2].map(|()| invitation.accept::<u64>().unwrap());
    let [mut here, mut there] = [&near, &far].map(|ring| ring.subscribable().subscribe());
    publisher.publish(1);
    near.subscribable().closer().close();
    publisher.publish(2);
    assert!(publisher.send(3).is_ok() && !publisher.is_closed());
    // What is there, and then it has ended.
    assert_eq!(here.iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(there.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    publisher.closer().close();
    assert!(publisher.send(4).is_err());
    assert_eq!(there.recv().ok(), None);
}

/// Publishers of several threads, small rings, and readers: whole messages, in the order of each publisher.
#[test]
fn publishers_beside_each_other() {
    const MESSAGES: u64 = 20_000;
    for capacity in [2, 3, 64, 1 << 12] {
        let Shared { handle: first, invitation, .. } = ring(capacity, 4).build::<Payload>().unwrap();
        let mut publishers = vec![first];
        publishers.extend((0..2).map(|_| joined::<Payload>(&invitation)));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let mut subscriber = invitation.accept::<Payload>().unwrap().subscribable().subscribe();
                thread::spawn(move || {
                    let mut next = [0; 3];
                    while let Ok(message) = subscriber.recv() {
                        check(&message);
                        let next = &mut next[message[0] as usize];
                        assert!(message[1] >= *next, "it comes twice, or late");
                        *next = message[1] + 1;
                    }
                    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), subscriber.cursor());
                    subscriber.cursor()
                })
            })
            .collect();
        thread::scope(|scope| {
            for (sender, publisher) in (0..).zip(&mut publishers) {
                scope.spawn(move || {
                    for number in 0..MESSAGES / 2 {
                        publisher.publish(payload(sender, 2 * number));
                        publisher.publish_batch(&[payload(sender, 2 * number + 1)]);
                    }
                });
            }
        });
        let end = publishers[0].published();
        assert!(end >= 3 * MESSAGES, "each has a number of its own");
        publishers[0].close();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == end));
        // Of the last lap nothing is missing but what was passed over.
        let mut late = invitation.accept::<Payload>().unwrap().subscribable().subscribe_from_oldest();
        let mut last = [None; 3];
        for message in &mut late {
            let last = &mut last[message[0] as usize];
            assert!(last.is_none_or(|last| message[1] == last + 1), "one is missing");
            *last = Some(message[1]);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Play {
    Join,
    Leave(usize),
    Publish(usize, u8),
    Receive,
    Subscribe,
}

fn play() -> impl Strategy<Value = Play> {
    prop_oneof![
        2 => Just(Play::Join),
        1 => (0..3usize).prop_map(Play::Leave),
        6 => (0..3usize, 1..4u8).prop_map(|(who, count)| Play::Publish(who, count)),
        5 => Just(Play::Receive),
        1 => Just(Play::Subscribe),
    ]
}

proptest! {
    /// One thread: every number is known.
    #[test]
    fn places_and_messages_agree_in_any_order(
        plays in prop::collection::vec(play(), 0..60),
        capacity in 2..6usize,
        first in prop_oneof![Just(0), Just(1), Just((1 << 53) - 3), Just((1 << 63) - (1 << 32))],
    ) {
        let builder = annulus::Settings::new(capacity).first(first);
        let builder = mp_broadcast::Builder::new(builder).publishers(3);
        let Shared { handle: publisher, peers: places, invitation, .. } = builder.build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let mut publishers = vec![publisher];
        let mut subscriber = subscribable.subscribe_from_oldest();
        let mut published = 0;
        for play in plays {
            match play {
                Play::Join => publishers.extend(mp_broadcast::publisher::<u64>(&invitation).ok()),
                Play::Leave(who) if who < publishers.len() => drop(publishers.swap_remove(who)),
                Play::Publish(who, count) if who < publishers.len() => {
                    let batch: Vec<u64> = (published..published + u64::from(count)).collect();
                    publishers[who].publish_batch(&batch);
                    published += u64::from(count);
                }
                Play::Receive => {
                    let at = subscriber.cursor() - first;
                    let expected = if at + (capacity as u64) < published {
                        None
                    } else if at < published {
                        Some(Ok(at))
                    } else {
                        Some(Err(LossyTryRecvError::Empty))
                    };
                    let received = subscriber.try_recv_or_lag();
                    if let Some(expected) = expected {
                        prop_assert_eq!(received, expected);
                    } else {
                        let is_lag = matches!(received, Err(LossyTryRecvError::Lagged { .. }));
                        prop_assert!(is_lag, "{:?}", received);
                    }
                }
                Play::Subscribe => {
                    prop_assert_eq!(subscribable.subscribe().cursor() - first, published);
                    subscriber = subscribable.subscribe_from_oldest();
                    let oldest = published.saturating_sub(capacity as u64);
                    prop_assert_eq!(subscriber.cursor() - first, oldest);
                    prop_assert_eq!(subscriber.len() as u64, published - oldest);
                }
                _ => {}
            }
            prop_assert_eq!(places.taken(), publishers.len());
            if let Some(publisher) = publishers.first() {
                prop_assert_eq!(publisher.published(), published);
            }
        }
    }
}
