//! Lossless rings of several publishers: each waits for the slowest subscriber that has a seat, claims only
//! where there is room, and waits for no dead process.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Awaited, Lossless, Subscriber};
use annulus::schema::BadValue;
use annulus::shm::mp_broadcast::{self, Publisher, lossless_publisher};
use annulus::shm::{AttachError, Directory, Invitation, PeerState, RingObserver, Shared, ShmKind, WhenGone};
use annulus::{
    LossyTryRecvError, RecvError, Select, SendError, SendTimeoutError, Settings, TryRecvError, TrySendError,
    WaitStrategy,
};

use crate::mp_broadcast::by_hand::{Hand, Step};
use crate::mp_broadcast::{Payload, check, payload, ring};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);
const LONG: Duration = Duration::from_secs(60);

fn joined(invitation: &Invitation) -> Publisher<u64, Lossless> {
    lossless_publisher(invitation).unwrap()
}

fn seated(invitation: &Invitation) -> Subscriber<u64, Awaited> {
    invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap()
}

/// The next thing that a subscriber receives, or learns. It waits by looking.
fn next(subscriber: &mut Subscriber<u64, Awaited>) -> Result<u64, LossyTryRecvError<BadValue>> {
    let begun = Instant::now();
    loop {
        match subscriber.try_recv_or_lag() {
            Err(LossyTryRecvError::Empty) => assert!(begun.elapsed() < LONG, "stuck"),
            other => return other,
        }
        thread::yield_now();
    }
}

/// Publishes it as soon as there is room.
fn publish(publisher: &mut Publisher<u64, Lossless>, message: u64) {
    publisher.publish_timeout(message, LONG).unwrap();
}

#[test]
fn publishers_wait_for_the_slowest_seat() {
    let Shared { handle: mut first, peers: places, invitation, .. } =
        ring(4, 3).build_lossless::<u64>(2).unwrap();
    let mut second = joined(&invitation);
    (0..5).for_each(|number| first.publish(number).unwrap());
    (5..10).for_each(|number| second.publish(number).unwrap());
    let accepted = invitation.accept_lossless::<u64>().unwrap();
    let (mut slow, mut fast) = (accepted.subscribe().unwrap(), accepted.subscribe().unwrap());
    assert!(accepted.subscribe().is_err(), "two seats");
    assert_eq!((slow.cursor(), fast.cursor(), first.subscriber_count()), (10, 10, 2));
    first.publish_batch(&[10, 11]).unwrap();
    second.publish_batch(&[12, 13]).unwrap();
    assert!(first.try_publish(14) == Err(TrySendError::Full(14)));
    assert_eq!(fast.try_iter().collect::<Vec<_>>(), [10, 11, 12, 13]);
    let timeout = second.publish_timeout(14, Duration::from_millis(1));
    assert!(timeout == Err(SendTimeoutError::Timeout(14)), "one is still behind");
    assert_eq!(slow.recv(), Ok(10));
    second.try_publish(14).unwrap();
    assert!(first.publish_batch_timeout(&[15], Duration::ZERO) == Err(SendTimeoutError::Timeout(&[15][..])));
    assert_eq!(first.published(), 15, "nothing is claimed without room");
    assert_eq!(slow.try_iter().collect::<Vec<_>>(), [11, 12, 13, 14]);
    first.publish_with(|| 15).unwrap();
    second.close();
    assert!(first.publish(16) == Err(SendError(16)) && first.is_closed());
    assert!(first.try_publish(16) == Err(TrySendError::Closed(16)));
    assert_eq!(fast.iter().collect::<Vec<_>>(), [14, 15]);
    assert_eq!((slow.recv(), slow.recv()), (Ok(15), Err(RecvError::CLOSED)));
    assert_eq!((slow.total_lagged(), fast.total_lagged(), places.died()), (0, 0, 0));
    assert_eq!(accepted.state(), PeerState::Closed);
    assert!(lossless_publisher::<u64>(&invitation).is_err());
}

#[test]
fn rings_of_other_kinds_are_refused() {
    let Shared { handle: _own, invitation, .. } = ring(8, 2).build_lossless::<u64>(1).unwrap();
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::MpLossless);
    let refused = mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Kind { found: ShmKind::MpLossless, .. }), "{refused}");
    let refused = invitation.accept::<u64>().map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Kind { found: ShmKind::MpLossless, .. }), "{refused}");
    let _second = joined(&invitation);
    let refused = lossless_publisher::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::NoPlace { places: 2 }), "{refused}");
    let Shared { handle: _own, invitation, .. } = ring(8, 2).build::<u64>().unwrap();
    let refused = lossless_publisher::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Kind { found: ShmKind::MpLossy, .. }), "{refused}");
    for headroom in [8, 9] {
        let builder = mp_broadcast::Builder::new(Settings::new(8).headroom(headroom));
        assert!(builder.build_lossless::<u64>(1).is_err());
    }
}

/// The headroom is the same for all processes.
#[test]
fn headroom_stays_free_for_each_publisher() {
    let builder = mp_broadcast::Builder::new(Settings::new(14).headroom(10));
    let Shared { handle: mut own, invitation, .. } = builder.build_lossless::<u64>(2).unwrap();
    let mut other = joined(&invitation);
    (0..100).for_each(|number| own.publish(number).unwrap());
    let accepted = invitation.accept_lossless::<u64>().unwrap();
    let subscriber = accepted.subscribe_from_oldest().unwrap();
    let behind = 100 - subscriber.cursor();
    assert!(behind <= 4, "{behind}");
    (0..4 - behind).for_each(|number| other.try_publish(100 + number).unwrap());
    assert!(
        own.try_publish(0).is_err() && other.try_publish(0).is_err(),
        "four of fourteen are for messages"
    );
}

/// Both sides sleep: each wakes the other.
#[test]
fn sides_sleep_and_are_woken() {
    let builder = mp_broadcast::Builder::new(Settings::new(2).wait_strategy(BLOCK)).publishers(3);
    let Shared { handle: own, invitation, .. } = builder.build_lossless::<u64>(2).unwrap();
    let invitation = invitation.with_wait_strategy(BLOCK);
    let mut subscriber = seated(&invitation);
    let publishers = [(0, own), (1, joined(&invitation))].map(|(sender, mut publisher)| {
        thread::spawn(move || {
            (0..300).for_each(|number| publisher.publish(sender << 32 | number).unwrap());
        })
    });
    let mut next = HashMap::from([(0, 0), (1, 0)]);
    for _ in 0..600 {
        let message = subscriber.recv().unwrap();
        let next = next.get_mut(&(message >> 32)).unwrap();
        assert_eq!(message & 0xFFFF_FFFF, *next);
        *next += 1;
    }
    for publisher in publishers {
        publisher.join().unwrap();
    }
    assert_eq!(subscriber.total_lagged(), 0);
}

/// Publishers beside each other, in rings of all sizes, with subscribers that come and go: each of them
/// receives all from its first message on, in the order of all.
#[test]
fn subscribers_that_come_and_go_receive_all() {
    for capacity in [2, 3, 8, 64] {
        let builder = ring(capacity, 3).when_no_publisher(WhenGone::Close);
        let Shared { handle: own, invitation, .. } = builder.build_lossless::<Payload>(3).unwrap();
        let all = invitation.accept_lossless::<Payload>().unwrap().subscribe().unwrap();
        let publishers =
            [own, lossless_publisher(&invitation).unwrap(), lossless_publisher(&invitation).unwrap()];
        thread::scope(|scope| {
            for (sender, mut publisher) in (0..).zip(publishers) {
                scope.spawn(move || {
                    let mut number = 0;
                    while number < 3_000 {
                        let batch: [Payload; 70] =
                            std::array::from_fn(|ahead| payload(sender, number + ahead as u64));
                        let count = [1, 3, 70][number as usize % 3];
                        publisher.publish_batch(&batch[..count]).unwrap();
                        number += count as u64;
                    }
                });
            }
            let (tell, told) = mpsc::channel();
            for from_oldest in [false, true] {
                let (invitation, tell) = (&invitation, tell.clone());
                scope.spawn(move || {
                    let accepted = invitation.accept_lossless::<Payload>().unwrap();
                    for _ in 0..20 {
                        let joined =
                            if from_oldest { accepted.subscribe_from_oldest() } else { accepted.subscribe() };
                        let mut subscriber = joined.unwrap();
                        for _ in 0..50 {
                            let at = subscriber.cursor();
                            let Ok(message) = subscriber.recv_timeout(LONG) else { break };
                            tell.send((at, message)).unwrap();
                        }
                        assert_eq!(subscriber.total_lagged(), 0);
                    }
                });
            }
            drop(tell);
            let (mut all, mut log) = (all, Vec::new());
            let mut next = [0; 3];
            while let Ok(message) = all.recv_timeout(LONG) {
                check(&message);
                assert_eq!(message[1], next[message[0] as usize]);
                next[message[0] as usize] += 1;
                log.push(message);
            }
            assert_eq!((all.total_lagged(), log.len() as u64), (0, next.iter().sum()));
            assert!(next.iter().all(|&next| next >= 3_000));
            for (at, message) in told {
                assert_eq!(log[at as usize], message);
            }
        });
    }
}

/// A publisher dies after each step. What it had claimed is left out, as soon as a subscriber comes there.
/// Its slot is used again, and the ring goes on.
#[test]
fn claims_of_the_dead_are_left_out() {
    for step in Step::ALL {
        let Shared { handle: mut own, invitation, .. } = ring(4, 3).build_lossless::<u64>(3).unwrap();
        let [mut here, mut blocked] = [(); 2].map(|()| seated(&invitation));
        publish(&mut own, 100);
        let dead = Hand::at_lossless(step, &invitation).dies();
        assert_eq!(dead, 1);
        publish(&mut own, 101);
        assert_eq!(next(&mut here), Ok(100));
        let is_claimed = u64::from(step >= Step::Claimed);
        if is_claimed == 1 {
            assert_eq!(next(&mut here), Err(LossyTryRecvError::Lagged { skipped: 1 }), "{step:?}");
        }
        assert_eq!(next(&mut here), Ok(101), "{step:?}");
        assert_eq!((blocked.recv_until(BLOCK), blocked.recv_until(BLOCK)), (Ok(100), Ok(101)), "{step:?}");
        // Round and round, over its slot.
        for number in 102..120 {
            publish(&mut own, number);
            assert_eq!((next(&mut here), blocked.recv_until(BLOCK)), (Ok(number), Ok(number)), "{step:?}");
        }
        assert_eq!([here.total_lagged(), blocked.total_lagged()], [is_claimed; 2]);
        assert_eq!(here.cursor(), own.published());
    }
}

/// All that a ring has room for was claimed by publishers that are dead. A subscriber that passes it makes
/// room by that alone, also where it then sleeps.
#[test]
fn left_out_numbers_make_room() {
    for sleeps in [false, true] {
        let Shared { handle: mut own, invitation, .. } = ring(2, 3).build_lossless::<u64>(1).unwrap();
        let mut subscriber = seated(&invitation);
        let dead = [(); 2].map(|()| Hand::at_lossless(Step::Claimed, &invitation));
        assert_eq!(dead.map(Hand::dies), [0, 1]);
        assert!(own.try_publish(7) == Err(TrySendError::Full(7)), "nobody has passed them yet");
        let publisher = thread::spawn(move || {
            publish(&mut own, 7);
            own
        });
        let received = if sleeps {
            subscriber.recv_until(BLOCK).unwrap()
        } else {
            loop {
                match subscriber.try_recv() {
                    Ok(message) => break message,
                    Err(error) => assert_eq!(error, TryRecvError::Empty),
                }
                thread::yield_now();
            }
        };
        assert_eq!((received, subscriber.total_lagged()), (7, 2));
        drop(publisher.join().unwrap());
    }
}

/// The next publisher in the place of a dead one: the number is left out, and nobody takes it for one of the
/// next publisher's.
#[test]
fn the_place_of_the_dead_is_used() {
    for step in Step::ALL {
        let Shared { handle: mut own, invitation, .. } = ring(4, 2).build_lossless::<u64>(1).unwrap();
        let mut subscriber = seated(&invitation);
        Hand::at_lossless(step, &invitation).dies();
        let mut heir = joined(&invitation);
        assert_eq!(heir.place(), 1);
        publish(&mut heir, 1);
        publish(&mut own, 2);
        assert_eq!(subscriber.recv_timeout(LONG).unwrap(), 1);
        assert_eq!(subscriber.recv_timeout(LONG).unwrap(), 2);
        assert_eq!(subscriber.total_lagged(), u64::from(step >= Step::Claimed));
    }
}

/// A publisher that is stopped in the middle of a write is alive: subscribers wait for its message, and
/// publishers wait for its slot, with and without a subscriber. Once it goes on, nothing is lost.
#[test]
fn stopped_publisher_is_waited_for() {
    for (step, has_reader) in [Step::Claimed, Step::Writing, Step::Written]
        .into_iter()
        .flat_map(|step| [(step, false), (step, true)])
    {
        let Shared { handle: mut own, invitation, .. } = ring(4, 3).build_lossless::<u64>(1).unwrap();
        let mut subscriber = has_reader.then(|| seated(&invitation));
        let stopped = Hand::at_lossless(step, &invitation);
        (1..4).for_each(|number| own.try_publish(number).unwrap());
        for _ in 0..3 {
            assert!(own.try_publish(4) == Err(TrySendError::Full(4)), "{step:?}");
            let timeout = own.publish_timeout(4, Duration::from_millis(15));
            assert!(timeout == Err(SendTimeoutError::Timeout(4)), "{step:?}");
            assert_eq!(own.published(), 4, "and it has claimed nothing");
            let nothing = subscriber.as_mut().map(|one| one.recv_timeout(Duration::from_millis(15)).is_err());
            assert!(nothing.unwrap_or(true), "{step:?}");
        }
        let waits = thread::spawn(move || {
            publish(&mut own, 4);
            own
        });
        thread::sleep(Duration::from_millis(5));
        stopped.goes_on(1000);
        if let Some(subscriber) = &mut subscriber {
            let received: Vec<_> = (0..5).map(|_| subscriber.recv_timeout(LONG).unwrap()).collect();
            assert_eq!((received, subscriber.total_lagged()), (vec![1000, 1, 2, 3, 4], 0));
        }
        let mut own = waits.join().unwrap();
        // It is a publisher like any other.
        let mut stopped = stopped.publisher;
        let mut subscriber = subscriber.unwrap_or_else(|| seated(&invitation));
        publish(&mut stopped, 5);
        publish(&mut own, 6);
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(5), Ok(6)));
    }
}

/// A publisher that waits for the slot of a stopped one goes on when that one dies, also in a task.
#[test]
fn publisher_takes_the_slot_of_one_that_dies() {
    let Shared { handle: mut own, invitation, .. } = ring(2, 3).build_lossless::<u64>(1).unwrap();
    let stopped = Hand::at_lossless(Step::Writing, &invitation);
    own.try_publish(1).unwrap();
    assert!(own.try_publish(2).is_err());
    let waits = thread::spawn(move || own.publish_until(2, BLOCK));
    thread::sleep(Duration::from_millis(20));
    assert!(!waits.is_finished());
    stopped.dies();
    assert!(waits.join().unwrap().is_ok());
}

/// Somebody is about to claim what another publisher claims, which dies: it gives that up before it waits for
/// subscribers, which would wait for it.
#[test]
fn slower_publisher_gives_its_intent_up() {
    let Shared { handle: mut own, peers: places, invitation, .. } =
        ring(2, 3).build_lossless::<u64>(1).unwrap();
    let memory = crate::mp_broadcast::Memory::of(&invitation);
    let mut subscriber = seated(&invitation);
    let racers = [(); 2].map(|()| joined(&invitation));
    let racing = racers.map(|mut racer| {
        thread::spawn(move || {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(100) {
                let _ = racer.try_publish(1);
            }
            racer
        })
    });
    while racing.iter().any(|racer| !racer.is_finished()) {
        let _ = (own.try_publish(2), subscriber.try_recv());
    }
    let _racers = racing.map(|racer| racer.join().unwrap());
    let _ = subscriber.try_iter().count();
    publish(&mut own, 3);
    publish(&mut own, 4);
    assert!(own.try_publish(5).is_err());
    let claimed = memory.word(128);
    for place in 0..3 {
        let (first, count) = memory.intent(place);
        assert!(first + count <= claimed, "place {place} announces {first}, {count} behind {claimed}");
    }
    assert_eq!((places.taken(), subscriber.total_lagged()), (3, 0));
}

#[test]
fn policy_decides_the_end_without_publishers() {
    for policy in [WhenGone::Wait, WhenGone::Close] {
        let builder = ring(8, 2).when_no_publisher(policy);
        let Shared { handle: mut first, invitation, .. } = builder.build_lossless::<u64>(1).unwrap();
        let mut subscriber = seated(&invitation);
        let mut second = joined(&invitation);
        publish(&mut first, 1);
        drop(first);
        publish(&mut second, 2);
        drop(second);
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
        if policy == WhenGone::Close {
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
            assert!(lossless_publisher::<u64>(&invitation).is_err());
        } else {
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
            publish(&mut joined(&invitation), 3);
            assert_eq!(subscriber.recv(), Ok(3));
        }
    }
}

/// A close wakes each publisher that waits for room.
#[test]
fn close_wakes_publishers_that_wait() {
    let Shared { handle: mut own, invitation, .. } = ring(2, 3).build_lossless::<u64>(1).unwrap();
    let _subscriber = seated(&invitation);
    let waiting = [(); 2].map(|()| joined(&invitation));
    (0..2).for_each(|number| own.publish(number).unwrap());
    let waiting = waiting.map(|mut one| thread::spawn(move || one.publish_until(7, BLOCK)));
    thread::sleep(Duration::from_millis(10));
    own.close();
    for one in waiting {
        assert!(one.join().unwrap() == Err(SendTimeoutError::Closed(7)));
    }
}

#[test]
fn publishers_wait_for_subscribers_to_come() {
    let Shared { handle: own, invitation, .. } = ring(8, 2).build_lossless::<u64>(2).unwrap();
    let other = joined(&invitation);
    assert!(!other.wait_for_subscribers_timeout(1, Duration::ZERO));
    thread::scope(|scope| {
        let both = [own, other].map(|publisher| scope.spawn(move || publisher.wait_for_subscribers(2)));
        let _subscribers = [(); 2].map(|()| seated(&invitation));
        for one in both {
            assert!(one.join().unwrap());
        }
    });
}

#[test]
fn select_sends_where_there_is_room() {
    let Shared { handle: mut own, invitation, .. } = ring(2, 2).build_lossless::<u64>(1).unwrap();
    let mut subscriber = seated(&invitation);
    for number in 0..2 {
        annulus::select! {
            send(own, number) -> sent => sent.unwrap(),
            default => panic!("there is room"),
        }
    }
    annulus::select! {
        send(own, 2) -> _sent => panic!("there is none"),
        default => {},
    }
    let mut select = Select::new();
    let at = select.send(&mut own);
    assert!(select.try_ready().is_none());
    drop(select);
    let _ = at;
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [0, 1]);
}

/// A task waits for room, and for the slot of a publisher that dies.
#[cfg(feature = "async")]
#[test]
fn task_waits_for_room() {
    use crate::support::tasks::block_on;
    let Shared { handle: mut own, invitation, .. } = ring(2, 3).build_lossless::<u64>(1).unwrap();
    let mut subscriber = seated(&invitation);
    (0..2).for_each(|number| own.publish(number).unwrap());
    let task = thread::spawn(move || {
        block_on(own.publish_async(2)).unwrap();
        own
    });
    thread::sleep(Duration::from_millis(10));
    assert!(!task.is_finished());
    assert_eq!(subscriber.recv(), Ok(0));
    let mut own = task.join().unwrap();
    drop(subscriber);
    let stopped = Hand::at_lossless(Step::Writing, &invitation);
    own.try_publish(4).unwrap();
    let task = thread::spawn(move || block_on(own.publish_async(5)));
    thread::sleep(Duration::from_millis(10));
    assert!(!task.is_finished());
    stopped.dies();
    task.join().unwrap().unwrap();
}

/// By name, and what somebody sees who only looks.
#[test]
fn ring_has_a_name_and_can_be_observed() {
    let path = std::env::temp_dir().join(format!("annulus-mp-lossless-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let Shared { handle: mut own, invitation, .. } = ring(8, 2).build_lossless::<u64>(2).unwrap();
    let name = invitation.publish(&directory, "orders").unwrap();
    let found = Invitation::find(&directory.find("orders").unwrap()).unwrap();
    let mut other = joined(&found);
    let mut subscriber = seated(&found);
    own.publish(1).unwrap();
    other.publish(2).unwrap();
    assert_eq!(subscriber.recv(), Ok(1));
    let observer = RingObserver::of(&directory.find("orders").unwrap()).unwrap();
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.published, numbers.pending), (2, Some(1)));
    let readers: Vec<_> =
        numbers.readers.iter().map(|reader| (reader.seat, reader.state, reader.lag)).collect();
    assert_eq!(readers, [(3, PeerState::Alive, 1)], "behind the lock of place 1");
    let mut bytes = Vec::new();
    assert!(observer.read(1, &mut bytes));
    assert_eq!((bytes, observer.state()), (2_u64.to_ne_bytes().to_vec(), PeerState::Alive));
    drop((own, other, name));
    std::fs::remove_dir_all(path).unwrap();
}
