//! What is received and lost, in one process, beside a subscriber of the publisher's process.

use std::thread;
use std::time::Duration;

use annulus::shm::broadcast;
use annulus::shm::{AttachError, Directory, Invitation, PeerState, RingObserver, ShareError, ShmKind};
use annulus::{
    LossyTryRecvError, Receive, RecvTimeoutError, Settings, TooLong, TryRecvError, broadcast as local,
};
use proptest::prelude::*;

use super::{check, publish, record, ring};

#[test]
fn records_of_any_length_come_in_order() {
    let (mut publisher, _, invitation) = ring(1000);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::BroadcastBytes);
    let ring = invitation.accept_broadcast_bytes().unwrap();
    let (mut subscriber, mut buffer) = (ring.subscribable().subscribe(), vec![7; 3]);
    assert_eq!((subscriber.capacity(), subscriber.max_len(), subscriber.max_records()), (1024, 512, 32));
    assert_eq!(ring.state(), PeerState::Alive);
    let said = format!("AcceptedBytes {{ subscribable: {:?}, .. }}", ring.subscribable());
    assert_eq!(format!("{ring:?}"), said);
    assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Empty));
    assert!(buffer.is_empty());
    for length in (0..=512).chain([512, 0, 512]) {
        let record = record(publisher.published(), length);
        publisher.publish(&record).unwrap();
        assert_eq!(subscriber.recv(&mut buffer), Ok(record.len()));
        assert_eq!(buffer, record);
    }
    let error = publisher.publish(&[7; 513]).unwrap_err();
    let TooLong { len, max, .. } = error;
    assert_eq!((len, max), (513, 512));
    assert_eq!(subscriber.stats().writers.now, 1);
    drop(publisher);
    let end = subscriber.recv(&mut buffer).unwrap_err();
    assert!(!end.peer_died(), "{end:?}");
    assert_eq!(subscriber.stats().writers.now, 0);
    assert_eq!((ring.state(), subscriber.total_lagged()), (PeerState::Closed, 0));
}

/// What a subscriber does in a step.
#[derive(Clone, Debug)]
enum Step {
    Publish(usize),
    Receive(usize),
    OrLag(usize),
    Join(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..40_usize).prop_map(Step::Publish),
        (0..12_usize).prop_map(Step::Receive),
        (0..12_usize).prop_map(Step::OrLag),
        any::<bool>().prop_map(Step::Join),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// A subscriber of another process's ring does what one of the publisher's process does.
    #[test]
    fn subscribers_of_both_processes_agree(power in 6..13_u32, steps in steps()) {
        let (mut publisher, here, invitation) = ring(1 << power);
        let ring = invitation.accept_broadcast_bytes().unwrap();
        let there = ring.subscribable();
        let (mut one, mut other) = (here.subscribe(), there.subscribe());
        let (most, mut buffer, mut same) = (one.max_len(), Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Publish(count) => (0..count).for_each(|_| _ = publish(&mut publisher)),
                Step::Receive(count) => for _ in 0..count {
                    let received = other.try_recv(&mut same);
                    prop_assert_eq!(one.try_recv(&mut buffer), received);
                    if received.is_ok() {
                        check(&same, other.cursor() - 1, most);
                    }
                },
                Step::OrLag(count) => for _ in 0..count {
                    let received = other.try_recv_or_lag(&mut same);
                    prop_assert_eq!(one.try_recv_or_lag(&mut buffer), received);
                    if received.is_ok() {
                        check(&same, other.cursor() - 1, most);
                    }
                },
                Step::Join(true) => {
                    (one, other) = (here.subscribe_from_oldest(), there.subscribe_from_oldest());
                }
                Step::Join(false) => (one, other) = (here.subscribe(), other.clone()),
            }
            if let Step::Join(false) = step {
                other = there.subscribe();
            }
            prop_assert_eq!(&buffer, &same);
            prop_assert_eq!(one.cursor(), other.cursor());
            prop_assert_eq!((one.len(), one.total_received()), (other.len(), other.total_received()));
            prop_assert_eq!(one.total_lagged(), other.total_lagged());
        }
    }
}

/// A ring that begins at another number, and one that is as small as can be.
#[test]
fn first_number_is_what_the_settings_say() {
    let settings = Settings::new(1).first(1 << 40);
    let shared = broadcast::bytes::lossy(settings).unwrap();
    let (mut publisher, invitation) = (shared.handle, shared.invitation);
    let ring = invitation.accept_broadcast_bytes().unwrap();
    let (mut subscriber, mut buffer) = (ring.subscribable().subscribe_from_oldest(), Vec::new());
    assert_eq!((subscriber.cursor(), subscriber.capacity()), (1 << 40, 64));
    for number in 0..100_u8 {
        publisher.publish(&[number; 32]).unwrap();
    }
    assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 98 }));
    assert_eq!(subscriber.recv(&mut buffer), Ok(32));
    assert_eq!((&*buffer, subscriber.cursor()), (&[98; 32][..], (1 << 40) + 99));
}

/// Threads as processes: each record is whole, and each is received or counted.
#[test]
fn threads_receive_while_records_are_written() {
    const COUNT: u64 = 100_000;
    let (mut publisher, _, invitation) = ring(2048);
    let ring = invitation.accept_broadcast_bytes().unwrap();
    thread::scope(|scope| {
        let readers = [false, true].map(|in_batches| {
            let mut subscriber = ring.subscribable().subscribe();
            scope.spawn(move || {
                let (most, mut buffer) = (subscriber.max_len(), Vec::new());
                while subscriber.recv(&mut buffer).is_ok() {
                    check(&buffer, subscriber.cursor() - 1, most);
                    while in_batches && subscriber.try_recv(&mut buffer).is_ok() {
                        check(&buffer, subscriber.cursor() - 1, most);
                    }
                }
                subscriber.total_received() + subscriber.total_lagged()
            })
        });
        (0..COUNT).for_each(|_| _ = publish(&mut publisher));
        drop(publisher);
        assert_eq!(readers.map(|reader| reader.join().unwrap()), [COUNT; 2]);
    });
}

/// A thread that waits is woken, by a record and by the end.
#[test]
fn subscriber_sleeps_until_a_record_comes() {
    let (mut publisher, _, invitation) = ring(1024);
    let mut subscriber = invitation.accept_broadcast_bytes().unwrap().subscribable().subscribe();
    let (mut buffer, briefly) = (Vec::new(), Duration::from_millis(1));
    assert_eq!(subscriber.recv_timeout(&mut buffer, briefly), Err(RecvTimeoutError::Timeout));
    let reader = thread::spawn(move || {
        let lengths: Vec<_> = subscriber.iter().map(|record| record.len()).collect();
        (lengths, subscriber.is_closed())
    });
    for record in ["one", "", "three"] {
        thread::sleep(Duration::from_millis(20));
        publisher.publish(record.as_bytes()).unwrap();
    }
    drop(publisher);
    assert_eq!(reader.join().unwrap(), (vec![3, 0, 5], true));
}

/// In a task, and in a select beside a ring of this process.
#[cfg(feature = "async")]
#[test]
fn tasks_and_selects_receive_records() {
    let (mut publisher, _, invitation) = ring(1024);
    let mut subscriber = invitation.accept_broadcast_bytes().unwrap().subscribable().subscribe();
    let (_other, never) = local::lossy::<u64>(8);
    let mut never = never.subscribe();
    let writer = thread::spawn(move || {
        for record in ["one", "four", "fives"] {
            thread::sleep(Duration::from_millis(20));
            publisher.publish(record.as_bytes()).unwrap();
        }
    });
    let mut buffer = Vec::new();
    assert_eq!(pollster::block_on(subscriber.recv_async(&mut buffer)), Ok(3));
    annulus::select! {
        recv(subscriber) -> record => assert_eq!(&*record.unwrap(), b"four"),
        recv(never) -> _ => panic!("nothing is sent there"),
    }
    annulus::select! {
        recv_or_lag(subscriber) -> record => assert_eq!(&*record.unwrap(), b"fives"),
        recv(never) -> _ => panic!("nothing is sent there"),
    }
    assert!(pollster::block_on(subscriber.recv_or_lag_async(&mut buffer)).is_err());
    writer.join().unwrap();
}

#[test]
fn rings_that_cant_be() {
    for capacity in [usize::MAX, usize::MAX / 2, 1 << 62] {
        let error = broadcast::bytes::lossy(Settings::new(capacity)).map(drop).unwrap_err();
        assert!(matches!(error, ShareError::Capacity(_) | ShareError::System(_)), "{capacity}: {error}");
    }
    let headroom = broadcast::bytes::lossy(Settings::new(64).headroom(1)).map(drop).unwrap_err();
    assert!(matches!(headroom, ShareError::Capacity(_)), "{headroom}");
    let (_publisher, _, invitation) = ring(64);
    let error = invitation.accept::<[u64; 2]>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::BroadcastBytes, .. }), "{error}");
    let plain = broadcast::lossy::<[u64; 2]>(Settings::new(4)).unwrap();
    let error = plain.invitation.accept_broadcast_bytes().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Lossy, .. }), "{error}");
}

/// By a name, as other rings; a process that looks sees how far it is.
#[test]
fn ring_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-records-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let (mut publisher, _, invitation) = ring(1024);
    let name = invitation.publish(&directory, "log").unwrap();
    let found = Invitation::find(&directory.find("log").unwrap()).unwrap();
    let ring = found.accept_broadcast_bytes().unwrap();
    let (mut subscriber, mut buffer) = (ring.subscribable().subscribe(), Vec::new());
    let mark = ring.mark().unwrap();
    publisher.publish(b"by a name").unwrap();
    assert_eq!(subscriber.recv(&mut buffer), Ok(9));
    mark.set(subscriber.cursor());
    let observer = RingObserver::of(&directory.find("log").unwrap()).unwrap();
    assert_eq!((observer.numbers().unwrap().published, observer.state()), (1, PeerState::Alive));
    drop((name, ring));
    std::fs::remove_dir_all(path).unwrap();
}
