//! Many laps on one thread: every message comes, once, in order.

use super::{CAPACITIES, STARTS};
use crate::rings::{Got, Publish, Receive, Ring};

/// Asks `verb`s in turn until `count` messages have come, which must be those from `number` on.
fn receive<R: Ring>(subscriber: &mut R::Subscriber, turn: &mut usize, number: u64, count: usize) {
    let verbs = R::Subscriber::verbs();
    let mut received = Vec::new();
    while received.len() < count {
        let verb = &verbs[*turn % verbs.len()];
        *turn += 1;
        match (verb.ask)(subscriber) {
            Got::Messages(messages) => received.extend(messages),
            other => panic!("{}: {other:?} after {received:?}, {count} messages are there", verb.name),
        }
    }
    let expected: Vec<u64> = (number..number + count as u64).collect();
    assert_eq!(received, expected);
}

/// Bursts of every size up to the whole ring, for four laps and more, at each capacity and each start: the
/// index, the stamps and the gate hold where sequences are large as where they are small.
pub(crate) fn messages_come_in_order_at_every_capacity_and_start<R: Ring>() {
    for &capacity in CAPACITIES {
        for &start in STARTS {
            let (mut publisher, source) = R::begin(capacity, start);
            let mut subscriber = R::subscribe(&source);
            let mut number = 0;
            let mut turn = 0;
            for burst in (1..=capacity).chain((1..=capacity).rev()).chain([capacity, 1, capacity]) {
                let messages: Vec<u64> = (number..number + burst as u64).collect();
                if burst % 2 == 0 {
                    publisher.publish_batch(&messages).unwrap();
                } else {
                    (number..number + burst as u64)
                        .for_each(|message| publisher.try_publish(message).unwrap());
                }
                assert_eq!(subscriber.len(), burst);
                receive::<R>(&mut subscriber, &mut turn, number, burst);
                number += burst as u64;
                assert_eq!(publisher.published(), number);
                assert_eq!(subscriber.cursor(), start + number, "capacity {capacity}, from {start}");
                assert_eq!((subscriber.received(), subscriber.lagged()), (number, 0));
                assert_eq!(subscriber.len(), 0);
            }
            assert_eq!((publisher.capacity(), subscriber.capacity()), (capacity, capacity));
        }
    }
}

/// Each verb by itself receives everything, and has nothing to say when nothing is there.
pub(crate) fn verbs_receive_everything_in_order<R: Ring>() {
    for verb in R::Subscriber::verbs() {
        let (mut publisher, source) = R::new(8);
        let mut subscriber = R::subscribe(&source);
        let mut expected = 0;
        for burst in [5, 8, 1, 0, 3] {
            (0..burst).for_each(|offset| publisher.publish(expected + offset).unwrap());
            let end = expected + burst;
            while expected < end {
                match (verb.ask)(&mut subscriber) {
                    Got::Messages(messages) => {
                        for message in messages {
                            assert_eq!(message, expected, "{}", verb.name);
                            expected += 1;
                        }
                    }
                    other => panic!("{}: {other:?} where message {expected} is there", verb.name),
                }
            }
            if !verb.waits {
                assert_eq!((verb.ask)(&mut subscriber), Got::Nothing, "{}", verb.name);
            }
        }
    }
}
