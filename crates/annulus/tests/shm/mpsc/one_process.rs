//! All mappings of one queue in one process: what goes in through one comes out through another, as without
//! them.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use annulus::shm::mpsc::{self, Builder, Producer};
use annulus::shm::{AttachError, Invitation, RingInfo, ShareError, Shared, ShmKind, WhenGone, spsc};
use annulus::{CapacityError, RecvTimeoutError, TryRecvError, TrySendError, WaitStrategy};
use proptest::prelude::*;

use crate::mpsc::{BLOCK, Payload, Received, ending, joined, payload, queue, receive_all};
use crate::support::sleeping;

#[derive(Clone, Debug)]
enum Step {
    Join,
    Leave(usize),
    TrySend(usize),
    SendBatch(usize, usize),
    TryRecv,
    RecvBatch(usize),
    Consume,
    ConsumeUpTo(usize),
    InPlace(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Join),
        2 => (0..4usize).prop_map(Step::Leave),
        8 => (0..4usize).prop_map(Step::TrySend),
        4 => (0..4usize, 0..9usize).prop_map(|(who, count)| Step::SendBatch(who, count)),
        8 => Just(Step::TryRecv),
        3 => (0..9usize).prop_map(Step::RecvBatch),
        1 => Just(Step::Consume),
        2 => (0..9usize).prop_map(Step::ConsumeUpTo),
        3 => (0..9usize).prop_map(Step::InPlace),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    /// Producers join, send and leave in any order: each message comes once, each producer's in order, and
    /// the numbers are right after each step.
    #[test]
    fn messages_are_not_lost_or_doubled(
        slots in 1..9usize,
        places in 1..5usize,
        first in prop_oneof![Just(0), Just(7), Just(u64::MAX - 9)],
        steps in steps(),
    ) {
        let builder = Builder::new(annulus::Settings::new(slots).first(first)).producers(places);
        let Shared { handle: mut consumer, peers: table, invitation, .. } =
            builder.build::<Payload>().unwrap();
        let mut producers: Vec<(u64, u64, Producer<Payload>)> = Vec::new();
        let (mut joins, mut sent) = (0, 0);
        let mut received = Received::default();
        for step in steps {
            let count = producers.len().max(1);
            match step {
                Step::Join => match mpsc::producer::<Payload>(&invitation) {
                    Ok((producer, _)) => {
                        producers.push((joins, 0, producer));
                        joins += 1;
                    }
                    Err(AttachError::NoPlace { places: all }) => {
                        prop_assert_eq!((all, producers.len()), (places, places));
                    }
                    Err(error) => panic!("{error}"),
                },
                Step::Leave(who) if who < producers.len() => drop(producers.remove(who)),
                Step::TrySend(who) => if let Some((sender, next, producer)) = producers.get_mut(who % count) {
                    let was_full = producer.is_full();
                    let result = producer.try_send(payload(*sender, *next));
                    prop_assert_eq!(result.is_err(), was_full);
                    *next += u64::from(result.is_ok());
                    sent += u64::from(result.is_ok());
                },
                Step::SendBatch(who, most) => if let Some((sender, next, producer)) = producers.get_mut(who % count) {
                    let batch: Vec<_> = (0..most as u64).map(|ahead| payload(*sender, *next + ahead)).collect();
                    let room = producer.capacity() - producer.len();
                    let accepted = most.min(room);
                    let left = producer.try_send_batch(&batch).map_or_else(TrySendError::into_inner, |()| &[]);
                    prop_assert_eq!(left, &batch[accepted..]);
                    *next += accepted as u64;
                    sent += accepted as u64;
                },
                Step::TryRecv => match consumer.try_recv() {
                    Ok(message) => received.note(&message),
                    Err(error) => prop_assert_eq!((error, sent), (TryRecvError::Empty, received.all())),
                },
                Step::RecvBatch(most) => {
                    let mut batch = [[0; 5]; 9];
                    let count = consumer.try_recv_batch(&mut batch[..most]);
                    prop_assert_eq!(count as u64, (sent - received.all()).min(most as u64));
                    batch[..count].iter().for_each(|message| received.note(message));
                }
                Step::Consume => {
                    consumer.consume(usize::MAX, |message| received.note(&message));
                    prop_assert_eq!(received.all(), sent);
                }
                Step::ConsumeUpTo(most) => {
                    let left = sent - received.all();
                    let count = consumer.consume(most, |message| received.note(&message));
                    prop_assert_eq!(count as u64, left.min(most as u64));
                }
                Step::InPlace(most) => {
                    let messages = consumer.readable_shared();
                    let messages = messages.slice(..most.min(messages.len()));
                    for message in messages.iter() {
                        received.note(&message);
                    }
                    let count = messages.len();
                    consumer.advance(count);
                }
                Step::Leave(_) => {}
            }
            prop_assert_eq!(consumer.len() as u64, sent - received.all());
            prop_assert_eq!((table.taken(), table.joined(), table.died()), (producers.len(), joins, 0));
            let stats = consumer.stats();
            prop_assert_eq!((stats.writers.now, stats.writers.joined), (producers.len(), joins));
            prop_assert!(!consumer.is_closed());
        }
        receive_all(&mut consumer, &mut received);
        prop_assert_eq!(received.all(), sent);
    }
}

/// A producer of this process counts itself, too.
#[test]
fn producers_are_counted_by_either_side() {
    let Shared { handle: consumer, peers: places, invitation, .. } = queue(4, 3).build::<u64>().unwrap();
    let first = joined::<u64>(&invitation);
    let second = joined::<u64>(&invitation);
    for stats in [first.stats(), second.stats(), consumer.stats()] {
        assert_eq!((stats.writers.now, stats.writers.joined), (2, 2));
    }
    drop(first);
    assert_eq!((second.stats().writers.now, second.stats().writers.joined), (1, 2));
    let debug = format!("{places:?}");
    assert_eq!(debug, "Places { count: 3, taken: 1, joined: 2, died: 0 }");
}

/// A sleeping consumer is woken by each of them, and a producer that sleeps is woken, whichever place it has.
#[test]
fn wake_ups_come() {
    const PRODUCERS: u64 = 3;
    let Shared { handle: mut consumer, invitation, .. } = ending(1, 3).build::<Payload>().unwrap();
    let (mut ask, asked): (Vec<_>, Vec<_>) =
        (0..PRODUCERS).map(|_| annulus::spsc::channel::<bool>(1)).unzip();
    let mut writers = Vec::new();
    let invitation = invitation.with_wait_strategy(BLOCK);
    let mut producers: Vec<_> =
        (0..PRODUCERS).map(|_| mpsc::producer::<Payload>(&invitation).unwrap().0).collect();
    let sent = Arc::new(Mutex::new(Instant::now()));
    for (sender, (mut producer, mut asked)) in producers.drain(..).zip(asked).enumerate() {
        let (sent, receiver) = (Arc::clone(&sent), sleeping::Sleeper::this());
        writers.push(sleeping::spawn(move || {
            let mut number = 0;
            while let Ok(waits_for_receiver) = asked.recv_until(BLOCK) {
                if waits_for_receiver {
                    receiver.await_sleep();
                }
                *sent.lock().unwrap() = Instant::now();
                // The second one finds no room, and sleeps.
                producer.send(payload(sender as u64, 2 * number)).unwrap();
                producer.send(payload(sender as u64, 2 * number + 1)).unwrap();
                number += 1;
            }
        }));
    }
    let mut received = Received::default();
    let mut rounds = [0; PRODUCERS as usize];
    // With naps alone, each would take what is left of one of 50 ms.
    let soon = Duration::from_millis(10);
    for (sender, ask) in ask.iter_mut().enumerate() {
        sleeping::once_in_less_than(soon, || {
            rounds[sender] += 1;
            ask.send(true).unwrap();
            received.note(&consumer.recv_until(BLOCK).unwrap());
            let took = sent.lock().unwrap().elapsed();
            received.note(&consumer.recv_until(BLOCK).unwrap());
            took
        });
        sleeping::once_in_less_than(soon, || {
            rounds[sender] += 1;
            ask.send(false).unwrap();
            writers[sender].1.await_sleep();
            let begun = Instant::now();
            received.note(&consumer.recv_until(BLOCK).unwrap());
            received.note(&consumer.recv_until(BLOCK).unwrap());
            begun.elapsed()
        });
    }
    drop(ask);
    for (writer, _) in writers {
        writer.join().unwrap();
    }
    assert_eq!(consumer.recv_until(BLOCK), Err(RecvTimeoutError::Closed));
    assert!((0..PRODUCERS).all(|sender| received.of(sender) == 2 * rounds[sender as usize]));
}

/// In every way to wait.
#[test]
fn sides_wait_in_every_way() {
    for strategy in ["busy-spin", "pause-spin", "block:0,0", "block:100,10", "monitor"] {
        let strategy: WaitStrategy = strategy.parse().unwrap();
        let rings = annulus::Settings::new(2).wait_strategy(strategy);
        let builder = Builder::new(rings).producers(3).when_no_producer(WhenGone::Close);
        let Shared { handle: mut consumer, invitation, .. } = builder.build::<Payload>().unwrap();
        let invitation = invitation.with_wait_strategy(strategy);
        let producers: Vec<_> = (0..3).map(|_| mpsc::producer::<Payload>(&invitation).unwrap().0).collect();
        let mut writers = Vec::new();
        for (mut producer, sender) in producers.into_iter().zip(0..) {
            writers.push(thread::spawn(move || {
                for number in 0..100 {
                    producer.send(payload(sender, number)).unwrap();
                    if number % 40 == 39 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            }));
        }
        let mut received = Received::default();
        while let Ok(message) = consumer.recv() {
            received.note(&message);
            if received.all() % 90 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        assert_eq!(received.all(), 300);
        for writer in writers {
            writer.join().unwrap();
        }
    }
}

/// A ring with a message has its turn after at most 128 messages of each other ring.
#[test]
fn ring_has_its_turn() {
    const SLOTS: usize = 1000;
    const PLACES: usize = 4;
    let Shared { handle: mut consumer, invitation, .. } = queue(SLOTS, PLACES).build::<u64>().unwrap();
    let mut producers: Vec<_> = (0..PLACES).map(|_| joined::<u64>(&invitation)).collect();
    for (sender, producer) in producers.iter_mut().enumerate() {
        producer.try_send_batch(&[sender as u64; SLOTS]).unwrap();
    }
    let mut since = [0; PLACES];
    for _ in 0..PLACES * 500 {
        let sender = consumer.try_recv().unwrap() as usize;
        for count in &mut since {
            *count += 1;
        }
        since[sender] = 0;
        assert!(since.iter().all(|&count| count <= 128 * (PLACES - 1)), "{since:?}");
    }
}

/// A ring that is full does not hold up another one.
#[test]
fn full_lane_does_not_hold_up_another() {
    let Shared { handle: mut consumer, invitation, .. } = queue(2, 2).build::<u64>().unwrap();
    let (mut first, mut second) = (joined::<u64>(&invitation), joined::<u64>(&invitation));
    assert_eq!(first.try_send_batch(&[1; 9]).unwrap_err().into_inner().len(), 7);
    assert_eq!(first.try_send(1), Err(TrySendError::Full(1)));
    for _ in 0..20 {
        second.try_send(2).unwrap();
        while consumer.try_recv().unwrap() != 2 {
            first.try_send(1).unwrap();
        }
    }
}

/// A reservation, and what shows messages.
#[test]
fn messages_in_place() {
    let Shared { handle: mut consumer, invitation, .. } = queue(8, 2).build::<u64>().unwrap();
    let mut producer = joined::<u64>(&invitation);
    let reservation = producer.try_reserve(5).unwrap();
    assert_eq!(reservation.write_iter(1..), 5);
    assert_eq!(consumer.readable_shared().to_vec(), [1, 2, 3, 4, 5]);
    consumer.advance(5);
    assert!(consumer.readable_shared().is_empty());
    let placement = producer.placement();
    assert_eq!(placement.to_string(), "128 bytes in memory that processes share");
}

#[test]
fn messages_without_a_size() {
    let Shared { handle: mut consumer, invitation, .. } = queue(3, 2).build::<()>().unwrap();
    assert_eq!(joined::<()>(&invitation).try_send_batch(&[(); 5]).unwrap_err().into_inner().len(), 2);
    assert_eq!(consumer.try_iter().count(), 3);
}

#[test]
fn impossible_queues_are_refused() {
    let make = |builder: Builder| builder.build::<u64>().map(drop).unwrap_err();
    for places in [0, 1025, usize::MAX] {
        let error = make(queue(8, places));
        assert!(
            matches!(error, ShareError::Producers { producers, most: 1024 } if producers == places),
            "{error}"
        );
        assert!(error.to_string().contains(&places.to_string()), "{error}");
    }
    queue(8, 1024).build::<u64>().map(drop).unwrap();
    let error = make(queue(0, 2));
    assert!(matches!(error, ShareError::Capacity(CapacityError::TooSmall { capacity: 0, minimum: 1 })));
    for too_many in [usize::MAX, usize::MAX / 8, 1 << 58] {
        let error = make(queue(too_many, 2));
        assert!(
            matches!(error, ShareError::Capacity(CapacityError::TooLarge { .. }) | ShareError::System(_)),
            "{error}"
        );
    }

    // Another kind, another type.
    let policy = annulus::shm::WhenGone::Close;
    let Shared { handle: _producer, invitation: one, .. } =
        spsc::producer::<u64>(annulus::Settings::new(8), policy).unwrap();
    let error = mpsc::producer::<u64>(&one).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Spsc, wanted: ShmKind::Mpsc }), "{error}");
    let error = mpsc::consumer::<u64>(&one).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Spsc, wanted: ShmKind::Mpsc }), "{error}");
    let Shared { handle: _consumer, invitation: many, .. } = queue(8, 2).build::<u64>().unwrap();
    let error = spsc::consumer::<u64>(&many).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Mpsc, wanted: ShmKind::Spsc }), "{error}");
    let error = mpsc::producer::<i64>(&many).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Type { .. }), "{error}");
}

/// By name, in a directory.
#[test]
fn queue_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-many-{}", std::process::id()));
    let directory = annulus::shm::Directory::open(&path).unwrap();
    let Shared { handle: mut consumer, invitation, .. } = queue(8, 2).build::<u64>().unwrap();
    let name = invitation.publish(&directory, "orders").unwrap();
    let found = Invitation::find(&directory.find("orders").unwrap()).unwrap();
    let mut producer = joined::<u64>(&found);
    producer.send(7).unwrap();
    assert_eq!(consumer.recv(), Ok(7));
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}

/// What a header says: all slots of all rings.
#[test]
fn header_of_a_queue_can_be_looked_at() {
    let Shared { handle: _consumer, invitation, .. } = queue(5, 3).build::<[u64; 3]>().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let info: RingInfo = Invitation::receive(&there).unwrap().info().unwrap();
    assert_eq!((info.kind(), info.capacity(), info.payload_bytes()), (ShmKind::Mpsc, 15, 24));
}
