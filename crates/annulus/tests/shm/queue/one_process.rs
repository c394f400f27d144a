//! Two mappings of one queue in one process: what goes in through one comes out through the other, as without
//! them.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use annulus::Message;
use annulus::Settings;
use annulus::shm::spsc::{self, Consumer, Producer};
use annulus::shm::{AttachError, Invitation, PeerState, RingInfo, ShareError, Shared, ShmKind, broadcast};
use annulus::shm::{Peer, WhenGone};
use annulus::stats::Stats;
use annulus::{
    CapacityError, Observer, RecvError, RecvTimeoutError, TryRecvError, TrySendError, WaitStrategy,
};
use bytemuck::Pod;
use proptest::prelude::*;

use crate::support::sleeping;

/// A queue, as two processes would have it.
fn queue_of<T: Message + Pod>(settings: Settings) -> (Producer<T>, Consumer<T>, [Peer; 2]) {
    let Shared { handle: producer, peers: to_consumer, invitation, .. } =
        spsc::producer(settings, WhenGone::Close).unwrap();
    let (consumer, to_producer) = spsc::consumer(&invitation).unwrap();
    (producer, consumer, [to_producer, to_consumer])
}

#[test]
fn placement_says_memory_is_shared() {
    let (producer, consumer, _peers) = queue_of::<u64>(Settings::new(64));
    assert_eq!(producer.placement().to_string(), "512 bytes in memory that processes share");
    assert_eq!(consumer.placement(), producer.placement());
    assert!(producer.placement().is_shared());
}

/// No consumer is counted before one came, nor where the process of the other side is gone.
#[test]
fn ends_are_counted_by_both_processes() {
    let counts = |stats: Stats| {
        let Stats { writers, readers, .. } = stats;
        ((writers.now, writers.joined), (readers.now, readers.joined))
    };
    for leaves_first in ["the consumer", "the producer"] {
        let Shared { handle: producer, invitation, .. } =
            spsc::producer::<u64>(Settings::new(4), WhenGone::Wait).unwrap();
        assert_eq!(counts(producer.stats()), ((1, 1), (0, 0)));
        let (consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
        assert_eq!(counts(producer.stats()), ((1, 1), (1, 1)));
        assert_eq!(counts(consumer.observer().stats().unwrap()), ((1, 1), (1, 1)));
        if leaves_first == "the consumer" {
            drop(consumer);
            assert_eq!(counts(producer.stats()), ((1, 1), (0, 1)));
        } else {
            drop(producer);
            assert_eq!(counts(consumer.stats()), ((0, 1), (1, 1)));
        }
    }
}

/// Each process lists what it has of a ring that it gave a name, to its last handle here.
#[test]
fn ring_with_a_name_is_listed_to_the_last_handle_of_this_process() {
    let listed = |name| Observer::named(name).len();
    let (mut producer, mut consumer, _peers) = queue_of::<u64>(Settings::new(4).name("a queue across"));
    assert_eq!(listed("a queue across"), 1);
    producer.send(7).unwrap();
    assert_eq!(Observer::named("a queue across")[0].stats().unwrap().pending, Some(1));
    assert_eq!(consumer.recv(), Ok(7));
    drop(producer);
    assert_eq!(listed("a queue across"), 0);
    drop(consumer);

    let ring = |name| annulus::Settings::new(4).name(name);
    let Shared { handle: publisher, peers: source, invitation: _invitation, .. } =
        broadcast::lossy::<u64>(ring("a ring across")).unwrap();
    drop(publisher);
    assert_eq!(listed("a ring across"), 1, "both sides are here");
    drop(source);
    assert_eq!(listed("a ring across"), 0);
    let Shared { handle: publisher, invitation: _invitation, .. } =
        broadcast::lossless::<u64>(ring("a lossless ring across"), 2).unwrap();
    assert_eq!(listed("a lossless ring across"), 1);
    drop(publisher);
    assert_eq!(listed("a lossless ring across"), 0, "its subscribers are elsewhere");
}

/// What is done to two queues, which must say the same.
#[derive(Clone, Debug)]
enum Step {
    TrySend,
    SendBatch(u8),
    TryRecv,
    RecvBatch(u8),
    Consume(u8),
    Len,
    Close(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => Just(Step::TrySend),
        3 => (0..9u8).prop_map(Step::SendBatch),
        8 => Just(Step::TryRecv),
        3 => (0..9u8).prop_map(Step::RecvBatch),
        2 => (0..9u8).prop_map(Step::Consume),
        3 => Just(Step::Len),
        1 => any::<bool>().prop_map(Step::Close),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    /// As the queue in one process, step by step, also where the numbers wrap.
    #[test]
    fn ring_behaves_as_without_the_mapping(
        capacity in 1..20usize,
        first in prop_oneof![Just(0), Just(7), Just(u64::MAX - 9)],
        steps in steps(),
    ) {
        let settings = Settings::new(capacity).first(first);
        let (mut producer, mut consumer, _) = queue_of::<u64>(settings.clone());
        let (mut sends, mut receives) = annulus::spsc::with::<u64>(settings).unwrap();
        let mut next = 0;
        for step in steps {
            match step {
                Step::TrySend => {
                    prop_assert_eq!(producer.try_send(next), sends.try_send(next));
                    next += 1;
                }
                Step::SendBatch(count) => {
                    let batch: Vec<_> = (next..next + u64::from(count)).collect();
                    prop_assert_eq!(producer.try_send_batch(&batch), sends.try_send_batch(&batch));
                    next += u64::from(count);
                }
                Step::TryRecv => prop_assert_eq!(consumer.try_recv(), receives.try_recv()),
                Step::RecvBatch(count) => {
                    let mut batches = [[0; 9]; 2];
                    let [here, there] = &mut batches;
                    let count = usize::from(count);
                    prop_assert_eq!(
                        consumer.try_recv_batch(&mut here[..count]),
                        receives.try_recv_batch(&mut there[..count])
                    );
                    prop_assert_eq!(here, there);
                }
                Step::Consume(count) => {
                    let (mut here, mut there) = (Vec::new(), Vec::new());
                    consumer.consume(count.into(), |message| here.push(message));
                    receives.consume(count.into(), |message| there.push(message));
                    prop_assert_eq!(here, there);
                }
                Step::Len => {
                    prop_assert_eq!((producer.len(), consumer.len()), (sends.len(), receives.len()));
                    prop_assert_eq!((producer.is_closed(), consumer.is_closed()), (sends.is_closed(), receives.is_closed()));
                    prop_assert_eq!(consumer.is_fully_drained(), receives.is_fully_drained());
                }
                Step::Close(true) => {
                    producer.close();
                    sends.close();
                }
                Step::Close(false) => {
                    consumer.close();
                    receives.close();
                }
            }
        }
        drop((producer, sends));
        loop {
            let (here, there) = (consumer.recv(), receives.recv());
            prop_assert_eq!(here, there);
            if here.is_err() {
                break;
            }
        }
    }
}

/// Either side sleeps until the other one acts, in every way to wait.
#[test]
fn sides_wait_in_every_way() {
    for strategy in ["busy-spin", "pause-spin", "block:0,0", "block:100,10"] {
        let strategy: WaitStrategy = strategy.parse().unwrap();
        let settings = Settings::new(2).wait_strategy(strategy);
        let Shared { handle: mut producer, invitation, .. } =
            spsc::producer::<[u64; 3]>(settings, WhenGone::Close).unwrap();
        let (mut consumer, _) = spsc::consumer::<[u64; 3]>(&invitation.with_wait_strategy(strategy)).unwrap();
        let reader = thread::spawn(move || {
            let mut next = 0;
            while let Ok(message) = consumer.recv() {
                assert_eq!(message, [next, !next, 0]);
                next += 1;
                if next % 50 == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            next
        });
        for number in 0..300 {
            producer.send([number, !number, 0]).unwrap();
            if number % 70 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        drop(producer);
        assert_eq!(reader.join().unwrap(), 300);
    }
}

/// What another process does is seen by a sleeper soon, and not only when its nap is over.
#[test]
fn wake_ups_come() {
    let settings = Settings::new(1).wait_strategy(WaitStrategy::block_after(0, 0));
    let (mut ask, mut asked, _) = queue_of::<u64>(settings.clone());
    let (mut answer, mut answered, _) = queue_of::<u64>(settings);
    let block = WaitStrategy::block_after(0, 0);
    let (server, sleeper) = sleeping::spawn(move || {
        while let Ok(number) = asked.recv_until(block) {
            answer.send(number + 1).unwrap();
        }
    });
    let mut number = 0;
    let mut round = || {
        ask.send(number).unwrap();
        assert_eq!(answered.recv_until(block), Ok(number + 1));
        number += 1;
    };
    (0..200).for_each(|_| round());
    // With naps alone, it would take what is left of one of 50 ms, and most of another one.
    sleeping::once_in_less_than(Duration::from_millis(20), || {
        sleeper.await_sleep();
        let begun = Instant::now();
        round();
        begun.elapsed()
    });
    drop(ask);
    server.join().unwrap();
}

#[test]
fn close_is_seen_on_the_other_side() {
    let (mut producer, mut consumer, [to_producer, to_consumer]) = queue_of::<u64>(Settings::new(4));
    producer.send(1).unwrap();
    consumer.close();
    assert!(producer.is_closed());
    assert_eq!(producer.try_send(2), Err(TrySendError::Closed(2)));
    assert_eq!(producer.send(2), Err(annulus::SendError(2)));
    assert_eq!(producer.try_send_batch(&[1, 2]), Err(TrySendError::Closed(&[1, 2][..])));
    assert_eq!(consumer.recv(), Ok(1));
    assert_eq!(consumer.try_recv(), Err(TryRecvError::Closed));
    let closed = PeerState::Closed;
    assert_eq!((to_producer.state(), to_consumer.state()), (closed, closed));

    // A sleeper is woken.
    let (producer, mut consumer, _) = queue_of::<u64>(Settings::new(4));
    let (reader, sleeper) = sleeping::spawn(move || consumer.recv());
    sleeper.await_sleep();
    drop(producer);
    assert_eq!(reader.join().unwrap(), Err(RecvError::CLOSED));
    let (mut producer, consumer, _) = queue_of::<u64>(Settings::new(1));
    producer.send(1).unwrap();
    let (writer, sleeper) = sleeping::spawn(move || producer.send(2));
    sleeper.await_sleep();
    drop(consumer);
    assert_eq!(writer.join().unwrap(), Err(annulus::SendError(2)));
}

#[test]
fn times_are_kept() {
    let (mut producer, mut consumer, _) = queue_of::<u8>(Settings::new(1));
    let begun = Instant::now();
    assert_eq!(consumer.recv_timeout(Duration::from_millis(120)), Err(RecvTimeoutError::Timeout));
    producer.send(1).unwrap();
    assert!(producer.send_timeout(2, Duration::from_millis(120)).is_err());
    assert!(begun.elapsed() >= Duration::from_millis(240), "{:?}", begun.elapsed());
}

/// Messages without a size are just counted.
#[test]
fn messages_without_a_size() {
    let (mut producer, mut consumer, _) = queue_of::<()>(Settings::new(3));
    assert_eq!(producer.try_send_batch(&[(); 5]).unwrap_err().into_inner().len(), 2);
    assert_eq!(consumer.try_iter().count(), 3);
}

/// One at a time; the next one goes on.
#[test]
fn consumer_is_alone() {
    let Shared { handle: mut producer, peers: peer, invitation, .. } =
        spsc::producer::<u64>(Settings::new(8), WhenGone::Close).unwrap();
    assert_eq!(peer.state(), PeerState::NotYet);
    producer.send_batch(&[1, 2, 3]).unwrap();
    producer.close();
    assert_eq!(peer.state(), PeerState::Closed);
    let (mut consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
    let refused = spsc::consumer::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Occupied));
    assert_eq!(consumer.recv(), Ok(1));
    drop(consumer);
    // What is left was dropped with it, as in one process.
    let (mut next, _) = spsc::consumer::<u64>(&invitation).unwrap();
    assert_eq!(next.recv(), Err(RecvError::CLOSED));
}

#[test]
fn impossible_queues_are_refused() {
    let make = |builder| spsc::producer::<u64>(builder, WhenGone::Close).map(drop).unwrap_err();
    let error = make(Settings::new(0));
    assert!(matches!(error, ShareError::Capacity(CapacityError::TooSmall { capacity: 0, minimum: 1 })));
    for too_many in [usize::MAX, usize::MAX / 8, 1 << 58] {
        let error = make(Settings::new(too_many));
        assert!(
            matches!(error, ShareError::Capacity(CapacityError::TooLarge { .. }) | ShareError::System(_)),
            "{error}"
        );
    }

    // Another kind, another type.
    let Shared { invitation: lossy, .. } = broadcast::lossy::<u64>(annulus::Settings::new(8)).unwrap();
    // (Nobody can write to it.)
    assert!(spsc::consumer::<u64>(&lossy).is_err());
    let Shared { handle: _producer, invitation: queue, .. } =
        spsc::producer::<u64>(Settings::new(8), WhenGone::Close).unwrap();
    let error = spsc::consumer::<i64>(&queue).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Type { .. }), "{error}");
    let error = queue.accept::<u64>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Spsc, wanted: ShmKind::Lossy }), "{error}");
}

/// By name, in a directory.
#[test]
fn queue_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-queues-{}", std::process::id()));
    let directory = annulus::shm::Directory::open(&path).unwrap();
    let Shared { handle: mut producer, invitation, .. } =
        spsc::producer::<u64>(Settings::new(8), WhenGone::Close).unwrap();
    let name = invitation.publish(&directory, "orders").unwrap();
    let found = directory.find("orders").unwrap();
    let (mut consumer, _) = spsc::consumer::<u64>(&Invitation::find(&found).unwrap()).unwrap();
    producer.send(7).unwrap();
    assert_eq!(consumer.recv(), Ok(7));
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}

/// What a header says.
#[test]
fn header_of_a_queue_can_be_looked_at() {
    let Shared { handle: _producer, invitation, .. } =
        spsc::producer::<[u64; 3]>(Settings::new(5), WhenGone::Close).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let info: RingInfo = Invitation::receive(&there).unwrap().info().unwrap();
    assert_eq!((info.kind(), info.capacity(), info.payload_bytes()), (ShmKind::Spsc, 5, 24));
}
