//! History: a subscriber that joins begins with the last messages, exactly so many as it is told.

use annulus::broadcast::{MayLose, Subscriber};
use annulus::{Settings, broadcast, event};

const CAPACITY: usize = 8;

/// The last `count` of the messages `0..published`, of which the ring has so many.
fn last(published: u64, there: usize, count: usize) -> std::ops::Range<u64> {
    published - (published.min(there as u64)).min(count as u64)..published
}

fn begins_with<M: annulus::broadcast::Mode>(
    mut late: Subscriber<u64, M>,
    wanted: std::ops::Range<u64>,
    count: usize,
) {
    let told = late.begin_with_last(count);
    assert_eq!(told as u64, wanted.end - wanted.start, "{wanted:?}");
    let received: Vec<_> = late.try_iter().collect();
    assert_eq!(received, wanted.clone().collect::<Vec<_>>());
    assert_eq!((late.total_received(), late.total_lagged()), (told as u64, 0));
    assert_eq!(late.begin_with_last(5), 0, "all are received");
}

#[test]
fn history_is_as_long_as_it_is_told() {
    for published in 0..3 * CAPACITY as u64 {
        for count in 0..=CAPACITY + 2 {
            let wanted = last(published, CAPACITY, count);
            let (mut one, subscribable) = broadcast::lossy(CAPACITY);
            (0..published).for_each(|number| one.publish(number));
            begins_with(subscribable.subscribe_from_oldest(), wanted.clone(), count);
            let (mut one, subscribable) = broadcast::mp_lossy(CAPACITY);
            (0..published).for_each(|number| one.publish(number));
            begins_with(subscribable.subscribe_from_oldest(), wanted.clone(), count);

            // What a lossless ring promises is told by the subscriber from the oldest message on.
            let (mut one, subscribable) = broadcast::lossless(CAPACITY);
            (0..published).for_each(|number| one.publish(number).unwrap());
            let promised = subscribable.subscribe_from_oldest().len();
            assert!(promised * 2 >= CAPACITY.min(published as usize), "{published} {promised}");
            begins_with(subscribable.subscribe_from_oldest(), last(published, promised, count), count);
            let (one, subscribable) = broadcast::mp_lossless(CAPACITY);
            (0..published).for_each(|number| one.publish(number).unwrap());
            let promised = subscribable.subscribe_from_oldest().len();
            begins_with(subscribable.subscribe_from_oldest(), last(published, promised, count), count);
        }
    }
}

/// Receives all, and says of what they are the numbers, and how many were lost.
fn numbers<M: MayLose>(late: &mut Subscriber<u64, M>) -> (Vec<u64>, u64) {
    (late.try_iter().collect(), late.total_lagged())
}

#[test]
fn numbers_that_were_left_out_are_no_history() {
    let (mut publisher, subscribable) = broadcast::lossy(CAPACITY);
    for number in [0, 1, 4, 5] {
        publisher.skip_to(number).unwrap();
        publisher.publish(number);
    }
    publisher.skip_to(7).unwrap();
    for (count, wanted) in [(0, &[][..]), (1, &[5]), (2, &[4, 5]), (3, &[1, 4, 5]), (9, &[0, 1, 4, 5])] {
        let mut late = subscribable.subscribe_from_oldest();
        assert_eq!(late.begin_with_last(count), wanted.len());
        // Those between two messages are lost, as they are to all others.
        assert_eq!(numbers(&mut late).0, wanted);
    }
}

#[test]
fn publisher_of_lossless_ring_waits_for_history_and_not_for_more() {
    let (mut publisher, subscribable) = broadcast::lossless(4);
    (0..4).for_each(|number| publisher.publish(number).unwrap());
    let mut late = subscribable.subscribe_from_oldest();
    assert!(publisher.try_publish(4).is_err(), "it waits for the oldest one");
    assert_eq!(late.begin_with_last(1), 1);
    (4..7).for_each(|number| publisher.try_publish(number).unwrap());
    assert!(publisher.try_publish(7).is_err());
    assert_eq!(late.try_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn followers_of_a_stage_leave_out_what_it_leaves_out() {
    let (mut publisher, subscribable) = broadcast::lossy(CAPACITY);
    (0..6).for_each(|number| publisher.publish(number));
    let mut first = subscribable.subscribe_from_oldest().after(&[]);
    let mut second = subscribable.subscribe_from_oldest().after(&[&first]);
    assert_eq!(first.begin_with_last(2), 2);
    assert_eq!(first.try_recv(), Ok(4));
    first.done();
    assert_eq!((second.try_recv(), second.total_lagged()), (Ok(4), 4));
}

#[test]
fn events_and_records_have_a_history() {
    for published in 0..2 * CAPACITY as u64 {
        for count in 0..=CAPACITY + 1 {
            let (mut publisher, subscribable) = event::channel(CAPACITY, || 0_u64);
            let mut latest = subscribable.subscribe();
            for number in 0..published {
                publisher.publish(|event| *event = number).unwrap();
                latest.try_process(|_| ()).unwrap();
            }
            let promised = subscribable.subscribe_from_oldest().len();
            let (mut late, wanted) = (subscribable.subscribe_from_oldest(), last(published, promised, count));
            assert_eq!(late.begin_with_last(count) as u64, wanted.end - wanted.start);
            let mut seen = Vec::new();
            while late.try_process(|event| seen.push(*event)).is_ok() {}
            assert_eq!(seen, wanted.collect::<Vec<_>>());
            assert_eq!(late.total_received(), seen.len() as u64);

            let (mut publisher, subscribable) = broadcast::bytes::lossy_with(Settings::new(128)).unwrap();
            for number in 0..published {
                publisher.publish(&vec![number as u8; 4 + number as usize % 24]).unwrap();
            }
            let there = {
                let (mut all, mut buffer) = (subscribable.subscribe_from_oldest(), Vec::new());
                std::iter::from_fn(|| all.try_recv(&mut buffer).ok()).count()
            };
            let (mut late, wanted) = (subscribable.subscribe_from_oldest(), last(published, there, count));
            assert_eq!(late.begin_with_last(count) as u64, wanted.end - wanted.start, "{published} {count}");
            let (mut seen, mut buffer) = (Vec::new(), Vec::new());
            while late.try_recv(&mut buffer).is_ok() {
                seen.push(u64::from(buffer[0]));
            }
            assert_eq!((seen, late.total_lagged()), (wanted.collect(), 0));
        }
    }
}
