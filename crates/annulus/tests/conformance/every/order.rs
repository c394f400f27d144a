//! Threads: all subscribers see one order, each publisher's messages in its own, none twice, and on a
//! lossless ring all of them.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use annulus::{LossyTryRecvError, RecvTimeoutError};

use super::{join, spawn, without_standing_still};
use crate::rings::{Publish, Receive, Ring};

/// Messages of each publisher.
const MESSAGES: u64 = if cfg!(miri) {
    12
} else if cfg!(debug_assertions) {
    1_000
} else {
    4_000
};

const PUBLISHERS: u64 = 3;

/// Capacities, and where the ring begins.
const RINGS: &[(usize, u64)] = if cfg!(miri) {
    &[(2, 0)]
} else {
    &[(2, 0), (3, (1 << 62) - 1), (7, (1 << 32) - 3), (64, 0), (1000, (1 << 63) - (1 << 32))]
};

/// How a subscriber's thread asks.
#[derive(Clone, Copy, Debug)]
enum Asks {
    Waiting,
    Polling,
    InTime,
}

/// The next message, passing over lags; `None` once the ring is closed.
fn next<S: Receive>(subscriber: &mut S, asks: Asks) -> Option<u64> {
    loop {
        match asks {
            Asks::Waiting => return subscriber.recv().ok(),
            Asks::Polling => match subscriber.try_recv() {
                Ok(number) => return Some(number),
                Err(LossyTryRecvError::Closed) => return None,
                Err(LossyTryRecvError::Empty) => thread::yield_now(),
                Err(LossyTryRecvError::Lagged { skipped }) => assert!(skipped > 0),
            },
            Asks::InTime => match subscriber.recv_timeout(Duration::from_millis(3)) {
                Ok(number) => return Some(number),
                Err(RecvTimeoutError::Closed) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            },
        }
    }
}

/// The message that a publisher sends as its number `count`.
fn message(publisher: u64, count: u64) -> u64 {
    publisher << 32 | count
}

fn publish<P: Publish>(mut publisher: P, id: u64) {
    let mut count = 0;
    while count < MESSAGES {
        let batch: Vec<u64> =
            (count..MESSAGES.min(count + 1 + count % 5)).map(|count| message(id, count)).collect();
        count += batch.len() as u64;
        match batch[..] {
            [one] => publisher.publish(one).unwrap(),
            _ => publisher.publish_batch(&batch).unwrap(),
        }
    }
}

/// Receives all, and checks what one subscriber can see alone. Returns the message of each sequence it
/// received.
fn subscribe<R: Ring>(mut subscriber: R::Subscriber, asks: Asks, total: u64) -> BTreeMap<u64, u64> {
    let start = subscriber.cursor();
    let mut seen = BTreeMap::new();
    let mut counts = [None; PUBLISHERS as usize];
    while let Some(number) = next(&mut subscriber, asks) {
        let sequence = subscriber.cursor() - 1;
        assert!(seen.last_key_value().is_none_or(|(&last, _)| last < sequence), "{asks:?}: twice, or back");
        seen.insert(sequence, number);
        let (id, count) = ((number >> 32) as usize, number & u64::from(u32::MAX));
        let expected = counts[id].map_or(0, |last| last + 1);
        if R::LOSSLESS {
            assert_eq!(count, expected, "{asks:?}: lost or out of order, of publisher {id}");
        }
        assert!(count >= expected, "{asks:?}: out of its publisher's order");
        counts[id] = Some(count);
    }
    assert_eq!(subscriber.received(), seen.len() as u64);
    assert_eq!(subscriber.received() + subscriber.lagged(), subscriber.cursor() - start);
    let came = subscriber.cursor() - start;
    assert!(
        came == total || R::PASSES_OVER && came > total,
        "{asks:?}: it came to the end: {came} of {total}"
    );
    seen
}

pub(crate) fn threads_agree_on_one_order<R: Ring>() {
    for &(capacity, first) in RINGS {
        without_standing_still(move || agree::<R>(capacity, first));
    }
}

fn agree<R: Ring>(capacity: usize, first: u64) {
    let (publisher, source) = R::begin(capacity, first);
    let publishers = if R::MANY { PUBLISHERS } else { 1 };
    let total = publishers * MESSAGES;
    let subscribers = [Asks::Waiting, Asks::Polling, Asks::InTime].map(|asks| {
        let subscriber = R::subscribe(&source);
        spawn(move || subscribe::<R>(subscriber, asks, total))
    });
    drop(source);
    let mut handles: Vec<R::Publisher> =
        (1..publishers).map(|_| publisher.another().expect("there may be many")).collect();
    handles.push(publisher);
    let publishers: Vec<_> =
        handles.into_iter().zip(0..).map(|(publisher, id)| spawn(move || publish(publisher, id))).collect();
    join(publishers);
    let mut all = BTreeMap::new();
    for (sequence, number) in join(subscribers).into_iter().flatten() {
        let agreed = *all.entry(sequence).or_insert(number);
        assert_eq!(agreed, number, "two subscribers saw different messages as number {sequence}");
    }
    if R::LOSSLESS {
        assert!(all.keys().copied().eq(first..first + total));
    }
}
