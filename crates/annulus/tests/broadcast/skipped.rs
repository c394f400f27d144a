//! Numbers that the publisher leaves out: each subscriber is told how many, and no message is lost to them.
//!
//! A message is its own number. The model (`model.rs`) leaves out numbers, too.

use std::thread;

use annulus::Settings;
use annulus::broadcast;
use annulus::broadcast::{DependencyBarrier, Publisher, Subscribable, Subscriber, lossy};
use annulus::{CapacityError, LossyRecvError, LossyTryRecvError, TryRecvError};

use crate::support::sleeping;

use LossyTryRecvError::{Closed, Empty, Lagged};

const CAPACITIES: [usize; 6] = [2, 3, 4, 8, 21, 64];

/// Publishes the numbers from the next one up to before `end`.
fn publish_to(publisher: &mut Publisher<u64>, end: u64) {
    while publisher.published() < end {
        publisher.publish(publisher.published());
    }
}

/// Receives until there is nothing: the messages, and each lag with the number at which it was told.
fn all(subscriber: &mut Subscriber<u64>) -> (Vec<u64>, Vec<(u64, u64)>) {
    let (mut messages, mut lags) = (Vec::new(), Vec::new());
    let counted_before = [subscriber.total_received(), subscriber.total_lagged()];
    loop {
        let before = subscriber.cursor();
        match subscriber.try_recv_or_lag() {
            Ok(message) => {
                assert_eq!((message, subscriber.cursor()), (before, before + 1), "its own number");
                messages.push(message);
            }
            Err(Lagged { skipped }) => {
                assert_eq!(subscriber.cursor(), before + skipped);
                lags.push((before, skipped));
            }
            Err(Empty | Closed) => {
                let counted = [subscriber.total_received(), subscriber.total_lagged()];
                let told = [messages.len() as u64, lags.iter().map(|lag| lag.1).sum()];
                assert_eq!([0, 1].map(|kind| counted[kind] - counted_before[kind]), told);
                return (messages, lags);
            }
        }
    }
}

/// A ring after so many messages, and a subscriber that has received all of them.
fn ring(capacity: usize, published: u64) -> (Publisher<u64>, Subscribable<u64>, Subscriber<u64>) {
    let (mut publisher, subscribable) = lossy(capacity);
    publish_to(&mut publisher, published);
    let subscriber = subscribable.subscribe();
    assert_eq!(subscriber.cursor(), published);
    (publisher, subscribable, subscriber)
}

/// A gap of each size around a lap, at each place of a lap: before the first message, between messages, and
/// at the end. A subscriber that has kept up is told once, at the gap, and receives all others.
#[test]
fn gap_of_any_size_is_one_exact_lag() {
    for capacity in CAPACITIES {
        let lap = capacity as u64;
        let gaps = [1, 2, lap - 1, lap, lap + 1, 2 * lap, 10 * lap, 10 * lap + 1, 1 << 40];
        for (gap, before) in gaps.into_iter().flat_map(|gap| (0..=lap + 1).map(move |before| (gap, before))) {
            let (mut publisher, subscribable, mut subscriber) = ring(capacity, before);
            assert_eq!(publisher.skip_to(before + gap), Ok(gap));
            let head = before + gap;
            assert_eq!(publisher.published(), head);
            let mut late = subscribable.subscribe();
            assert_eq!(late.cursor(), head, "{capacity} slots, {gap} left out behind {before}");
            assert!(subscriber.is_empty() && subscriber.latest().is_none());
            assert_eq!(subscriber.skip_to_latest(), 0);
            let mut trailing = subscriber.clone();
            assert_eq!(all(&mut trailing), (vec![], vec![(before, gap)]));

            publisher.publish(head);
            assert_eq!(subscriber.len(), 1);
            assert_eq!(subscriber.clone().latest(), Some(head));
            assert_eq!(all(&mut subscriber), (vec![head], vec![(before, gap)]));
            assert_eq!((trailing.try_recv(), late.try_recv()), (Ok(head), Ok(head)));
        }
    }
}

/// Messages before a gap stand as long as the numbers behind them leave room, and no longer.
#[test]
fn messages_before_gap_stand_until_their_slots_are_needed() {
    for capacity in CAPACITIES {
        let lap = capacity as u64;
        for gap in 1..=2 * lap {
            let (mut publisher, subscribable, _) = ring(capacity, 0);
            let mut subscriber = subscribable.subscribe();
            publish_to(&mut publisher, lap);
            publisher.skip_to(lap + gap).unwrap();
            let standing: Vec<u64> = (gap.min(lap)..lap).collect();
            assert_eq!(subscribable.subscribe_from_oldest().latest(), standing.last().copied());
            let mut oldest = subscribable.subscribe_from_oldest();
            assert_eq!(oldest.cursor(), standing.first().copied().unwrap_or(lap + gap), "no lag at once");
            assert_eq!(all(&mut oldest).0, standing);
            let (messages, lags) = all(&mut subscriber);
            assert_eq!(messages, standing);
            let lost = if gap < lap { vec![(0, gap), (lap, gap)] } else { vec![(0, lap + gap)] };
            assert_eq!(lags, lost, "{capacity} slots, {gap} left out");
        }
    }
}

/// Several in a row are one lag, and no message is lost between others.
#[test]
fn gaps_in_row_are_one_lag() {
    let (mut publisher, _subscribable, mut subscriber) = ring(8, 3);
    assert_eq!((publisher.skip_to(4), publisher.skip_to(6)), (Ok(1), Ok(2)));
    publisher.publish(6);
    assert_eq!(publisher.skip_to(8), Ok(1));
    assert_eq!(all(&mut subscriber), (vec![6], vec![(3, 3), (7, 1)]));
    // A lap of gaps.
    (9..30).for_each(|number| assert_eq!(publisher.skip_to(number), Ok(1)));
    publisher.publish(29);
    assert_eq!(all(&mut subscriber), (vec![29], vec![(8, 21)]));
}

/// Every second number, for many laps: nothing that stands is lost to a margin, and a drain goes over gaps.
#[test]
fn every_second_number_is_received() {
    for capacity in CAPACITIES {
        let (mut publisher, _subscribable, mut subscriber) = ring(capacity, 0);
        let mut drained = subscriber.clone();
        for pair in 0..5 * capacity as u64 {
            publisher.skip_to(2 * pair + 1).unwrap();
            publisher.publish(2 * pair + 1);
            assert_eq!(all(&mut subscriber), (vec![2 * pair + 1], vec![(2 * pair, 1)]));
            if pair % (capacity as u64 / 2) == 0 {
                drained.try_iter().for_each(|number| assert_eq!(number % 2, 1));
                assert_eq!(drained.total_received(), pair + 1, "{capacity} slots");
            }
        }
        assert_eq!(drained.total_lagged(), drained.total_received());
    }
}

/// A subscriber that was lapped before loses nothing to the margin of its next recovery because numbers were
/// left out: not where it has kept up, and not where a whole lap was.
#[test]
fn no_margin_is_kept_from_gap() {
    let (mut publisher, _subscribable, mut subscriber) = ring(64, 0);
    publish_to(&mut publisher, 100);
    assert_eq!(all(&mut subscriber).1, [(0, 36)]);
    for _ in 0..20 {
        let cursor = publisher.published();
        publisher.skip_to(cursor + 100).unwrap();
        publish_to(&mut publisher, cursor + 150);
        let received: Vec<u64> = (cursor + 100..cursor + 150).collect();
        let mut buffer = [0; 64];
        assert_eq!(subscriber.try_recv_batch(&mut buffer), 50);
        assert_eq!(buffer[..50], received);
    }
}

#[test]
fn skip_to_an_earlier_number_is_refused() {
    let (mut publisher, _subscribable, mut subscriber) = ring(8, 3);
    assert_eq!([0, 2, 3].map(|to| publisher.skip_to(to)), [Ok(0), Ok(0), Ok(0)]);
    assert_eq!((publisher.published(), subscriber.try_recv()), (3, Err(TryRecvError::Empty)));
    let largest = (1 << 63) - (1 << 32);
    let error = CapacityError::FirstSequence { first: largest + 1, largest };
    assert_eq!(publisher.skip_to(largest + 1), Err(error));
    assert_eq!(publisher.skip_to(u64::MAX).unwrap_err().to_string(), {
        format!(
            "a ring can't begin or go on with message {}: the largest number for that is {largest}",
            u64::MAX
        )
    });
    assert_eq!((publisher.published(), subscriber.try_recv()), (3, Err(TryRecvError::Empty)));
    assert_eq!(publisher.skip_to(largest), Ok(largest - 3));
    publisher.publish(largest);
    assert_eq!(all(&mut subscriber), (vec![largest], vec![(3, largest - 3)]));

    let (mut publisher, subscribable) = broadcast::lossy_with::<u64>(Settings::new(4).first(7)).unwrap();
    assert_eq!((publisher.skip_to(7), publisher.skip_to(9), publisher.published()), (Ok(0), Ok(2), 2));
    assert_eq!(subscribable.subscribe_from_oldest().cursor(), 9);
}

/// What is left out before a close is told, then the close, and nothing is left out of a closed ring.
#[test]
fn close_behind_gap_comes_after_its_lag() {
    for drops in [false, true] {
        let (mut publisher, subscribable, mut subscriber) = ring(4, 0);
        publisher.publish(0);
        publisher.skip_to(3).unwrap();
        let mut publisher = Some(publisher);
        if drops {
            publisher = None;
        } else {
            subscribable.closer().close();
        }
        if let Some(publisher) = &mut publisher {
            assert_eq!((publisher.skip_to(9), publisher.published()), (Ok(0), 3));
        }
        assert_eq!(subscribable.subscribe().cursor(), 3);
        assert_eq!((subscriber.recv_or_lag(), subscriber.cursor()), (Ok(0), 1));
        assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 2 }));
        assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Closed));
        assert_eq!((subscriber.try_recv(), subscriber.cursor()), (Err(TryRecvError::Closed), 3));
    }
}

/// A message that a closed ring drops has taken its slot: behind a gap that may be the last one that stood.
#[test]
fn dropped_message_behind_gap_leaves_nothing_newest() {
    for capacity in CAPACITIES {
        let (mut publisher, _subscribable, mut subscriber) = ring(capacity, 0);
        publisher.publish(0);
        publisher.skip_to(capacity as u64).unwrap();
        let mut latest = subscriber.clone();
        publisher.close();
        publisher.publish(1);
        assert_eq!((latest.latest(), latest.skip_to_latest(), latest.len()), (None, 0, 0));
        assert_eq!(all(&mut subscriber), (vec![], vec![(0, capacity as u64)]));
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    }
}

/// A subscriber that sleeps is woken and told, also where no message follows.
#[test]
fn gap_wakes_sleeper() {
    for gap in [1, 3, 4, 5, 40] {
        let (mut publisher, _subscribable, mut subscriber) = ring(4, 2);
        let (reader, sleeper) = sleeping::spawn(move || (subscriber.recv_or_lag(), subscriber.cursor()));
        sleeper.await_sleep();
        publisher.skip_to(2 + gap).unwrap();
        assert_eq!(reader.join().unwrap(), (Err(LossyRecvError::Lagged { skipped: gap }), 2 + gap));
    }
}

/// What a stage has processed is not lost to its followers because numbers behind it were left out.
#[test]
fn stages_pass_gap_by_themselves() {
    let (mut publisher, subscribable) = lossy::<u64>(8);
    let mut stage = subscribable.subscribe_tracked();
    let mut follower = subscribable.subscribe().after(&[&stage]);
    let barrier = DependencyBarrier::new(&[&stage]);
    publish_to(&mut publisher, 2);
    publisher.skip_to(4).unwrap();
    publisher.publish(4);
    assert_eq!([(); 2].map(|()| stage.try_recv()), [Ok(0), Ok(1)]);
    assert_eq!(stage.try_recv_or_lag(), Err(Lagged { skipped: 2 }));
    assert_eq!((barrier.processed(), follower.len()), (Some(0..4), 4));
    assert_eq!(stage.try_recv(), Ok(4));
    stage.done();
    assert_eq!([(); 2].map(|()| follower.try_recv()), [Ok(0), Ok(1)]);
    assert_eq!(follower.try_recv_or_lag(), Err(Lagged { skipped: 2 }));
    assert_eq!((follower.try_recv(), follower.try_recv()), (Ok(4), Err(TryRecvError::Empty)));
    assert_eq!((follower.total_received(), follower.total_lagged()), (3, 2));
}

/// A member that was paused before a gap, and one that goes on, count the same.
#[test]
fn members_of_group_count_gap_alike() {
    let (mut publisher, subscribable) = lossy::<u64>(8);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(1);
    publish_to(&mut publisher, 2);
    publisher.skip_to(4).unwrap();
    assert_eq!((group.try_recv(), group.try_recv()), (Ok(0), Ok(1)));
    assert_eq!((group.try_recv(), group.total_lagged(0)), (Err(TryRecvError::Empty), 2));
    // In a row with the one that the group has passed.
    publisher.skip_to(6).unwrap();
    publisher.publish(6);
    assert_eq!([(); 2].map(|()| group.try_recv_member(1)), [Ok(0), Ok(1)]);
    assert_eq!((group.try_recv_member(1), group.total_lagged(1)), (Err(TryRecvError::Empty), 2));
    assert!(group.is_aligned(1));
    assert_eq!(group.try_recv(), Ok(6));
    for member in 0..2 {
        let counted = (group.total_received(member), group.total_lagged(member), group.cursor(member));
        assert_eq!(counted, (3, 4, 7));
    }
}

/// The numbers of the ring count what was left out.
#[test]
fn statistics_count_left_out_numbers() {
    let (mut publisher, _subscribable) =
        broadcast::lossy_with::<u64>(Settings::new(4).statistics(true)).unwrap();
    let mut subscriber = publisher.subscribe();
    publisher.skip_to(3).unwrap();
    publisher.publish(3);
    assert_eq!(all(&mut subscriber), (vec![3], vec![(0, 3)]));
    let stats = publisher.stats();
    assert_eq!((stats.published, stats.counted.map(|counted| counted.lagged)), (4, Some(3)));
}

/// Beside readers on other threads: each number is received or counted, none is received as another, and all
/// come to the same end.
#[test]
fn readers_beside_publisher_count_every_number() {
    const NUMBERS: u64 = if cfg!(miri) { 300 } else { 200_000 };
    for capacity in [2, 8, 100] {
        let (mut publisher, subscribable) = lossy::<u64>(capacity);
        let readers: Vec<_> = (0..2)
            .map(|reader| {
                let mut subscriber = subscribable.subscribe();
                thread::spawn(move || {
                    let (mut received, mut lagged) = (0, 0);
                    loop {
                        let before = subscriber.cursor();
                        let newest = if reader == 0 { None } else { subscriber.latest() };
                        match newest.map_or_else(|| subscriber.recv_or_lag(), Ok) {
                            Ok(number) => {
                                assert_eq!(number, subscriber.cursor() - 1, "its own number");
                                received += 1;
                            }
                            Err(LossyRecvError::Lagged { skipped }) => lagged += skipped,
                            Err(_) => break,
                        }
                        assert!(subscriber.cursor() > before);
                    }
                    assert_eq!(subscriber.total_received(), received);
                    assert!(subscriber.total_lagged() >= lagged);
                    (subscriber.cursor(), subscriber.total_received() + subscriber.total_lagged())
                })
            })
            .collect();
        let mut random = 7_u64;
        while publisher.published() < NUMBERS {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match random >> 60 {
                0 => _ = publisher.skip_to(publisher.published() + (random >> 32) % (3 * capacity as u64)),
                1 => _ = publisher.skip_to(publisher.published() + 1),
                _ => publisher.publish(publisher.published()),
            }
        }
        let end = publisher.published();
        drop(publisher);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), (end, end));
        }
    }
}
