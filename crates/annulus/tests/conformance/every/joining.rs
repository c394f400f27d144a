//! Where a subscriber begins, and that from there on it misses nothing.

use std::thread;

use annulus::Settings;
use annulus::Shutdown;

use super::{CAPACITIES, STARTS, join, spawn, without_standing_still};
use crate::rings::{Publish, Receive, Ring};

/// Joins beside running publishers, for each capacity.
const JOINS: usize = if cfg!(miri) {
    3
} else if cfg!(debug_assertions) {
    300
} else {
    6_000
};

/// Messages that each of them receives.
const FEW: usize = 4;

/// How many messages may come before, up to so many laps: each number where the ring is small, else one in
/// every few, and other ones for another `salt`.
fn some_of(capacity: usize, laps: u64, salt: u64) -> impl Iterator<Item = u64> {
    let step = 1 + capacity / 4;
    (salt % step as u64..laps * capacity as u64).step_by(step)
}

/// Nothing from before, everything from now on.
pub(crate) fn joiner_begins_with_the_next_message<R: Ring>() {
    for &capacity in CAPACITIES {
        for &start in STARTS {
            let (mut publisher, source) = R::begin(capacity, start);
            for number in 0..3 * capacity as u64 {
                let mut subscriber = R::subscribe(&source);
                assert_eq!(subscriber.cursor(), start + number, "capacity {capacity}, from {start}");
                assert_eq!((subscriber.len(), subscriber.received()), (0, 0));
                publisher.publish(number).unwrap();
                assert_eq!(subscriber.try_recv(), Ok(number));
            }
        }
    }
}

/// A subscriber that begins with the oldest message finds, of those that stand, at least half where
/// publishers wait for their subscribers and all where they don't; and publishers overwrite none of them
/// before it has received it.
pub(crate) fn joiner_at_the_oldest_finds_the_promised_messages<R: Ring>() {
    for &capacity in CAPACITIES {
        for &first in STARTS {
            for published in some_of(capacity, 4, first) {
                let (mut publisher, source) = R::begin(capacity, first);
                (0..published).for_each(|number| publisher.publish(number).unwrap());
                let Some(mut subscriber) = R::from_oldest(&source) else { return };
                let start = subscriber.cursor() - first;
                let (stand, found) = (published.min(capacity as u64), published - start);
                assert_eq!((subscriber.len() as u64, subscriber.received()), (found, 0));
                let promised = if R::LOSSLESS { stand.min((capacity as u64).div_ceil(2)) } else { stand };
                assert!(found >= promised, "{found} of {stand}, capacity {capacity}, from {first}");
                let mut end = published;
                while R::LOSSLESS && publisher.try_publish(end).is_ok() {
                    end += 1;
                    assert!(end - start <= capacity as u64, "overtaken");
                }
                assert!(!R::LOSSLESS || end - start == capacity as u64, "it holds publishers up at no less");
                (start..end).for_each(|number| assert_eq!(subscriber.try_recv(), Ok(number)));
                assert_eq!((subscriber.received(), subscriber.lagged()), (end - start, 0));
            }
        }
    }
}

/// No subscriber is further behind than `capacity − headroom` messages, wherever and whenever it joined:
/// publishers are told that the ring is full as soon as it is so far behind.
pub(crate) fn subscriber_is_no_further_behind_than_the_room<R: Ring>() {
    if !R::LOSSLESS {
        return;
    }
    for &capacity in CAPACITIES {
        for headroom in (0..capacity).step_by(1 + capacity / 10) {
            for published in some_of(capacity, 3, headroom as u64) {
                let settings = Settings::new(capacity).headroom(headroom);
                let room = (capacity - headroom) as u64;
                let (mut publisher, source) = R::make(settings).unwrap();
                (0..published).for_each(|number| publisher.publish(number).unwrap());
                let subscriber = R::from_oldest(&source).unwrap_or_else(|| R::subscribe(&source));
                let mut end = published;
                let behind = |end: u64| end - subscriber.cursor();
                while publisher.try_publish(end).is_ok() {
                    end += 1;
                    assert!(behind(end) <= room, "{capacity} slots, {headroom} free, {published} before");
                }
                assert_eq!(behind(end), room, "{capacity} slots, {headroom} free, {published} before");
            }
        }
    }
}

/// A clone stands where its original does, counts from nothing, and holds publishers up by itself.
pub(crate) fn clone_begins_at_its_originals_position<R: Ring>() {
    for &capacity in CAPACITIES {
        let (mut publisher, source) = R::begin(capacity, STARTS[capacity % STARTS.len()]);
        let mut original = R::subscribe(&source);
        let room = capacity as u64;
        (0..room).for_each(|number| publisher.publish(number).unwrap());
        assert_eq!(original.try_recv(), Ok(0));
        let Some(mut clone) = original.fork() else { return };
        assert_eq!((clone.cursor(), clone.received(), clone.lagged()), (original.cursor(), 0, 0));
        (1..room).for_each(|number| assert_eq!(original.try_recv(), Ok(number)));
        publisher.try_publish(room).unwrap();
        if R::LOSSLESS {
            assert!(publisher.try_publish(0).unwrap_err().is_full(), "the clone is a ring behind");
        }
        assert_eq!(clone.len() as u64, room);
        (1..=room).for_each(|number| assert_eq!(clone.try_recv(), Ok(number)));
        let before = (original.cursor(), original.received());
        drop(clone);
        assert_eq!((original.cursor(), original.received()), before);
        assert_eq!(original.try_recv(), Ok(room));
    }
}

/// Checks that messages of two publishers come in order, and, on a lossless ring, without a gap from the
/// first one on.
struct Watch {
    lossless: bool,
    last: [Option<u64>; 2],
}

impl Watch {
    fn see(&mut self, number: u64) {
        let (id, count) = ((number >> 40) as usize, number & ((1 << 40) - 1));
        if let Some(last) = self.last[id] {
            assert!(count > last, "message {count} of publisher {id} after {last}");
            assert!(!self.lossless || count == last + 1, "lost from {last} to {count} of publisher {id}");
        }
        self.last[id] = Some(count);
    }

    fn take<S: Receive>(&mut self, subscriber: &mut S, most: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.len() < most {
            let before = subscriber.cursor();
            let number = subscriber.recv().expect("publishers go on");
            assert!(!self.lossless || subscriber.cursor() == before + 1, "passed over something");
            self.see(number);
            numbers.push(number);
        }
        numbers
    }
}

/// Joins again and again beside publishers at full speed: from its first message on, each joiner misses
/// nothing, and a clone sees what its original sees.
pub(crate) fn joiners_beside_a_publisher_miss_nothing<R: Ring>() {
    for capacity in [2, 8, 1024] {
        without_standing_still(move || join_beside_publishers::<R>(capacity));
    }
}

/// Stops the publishers, also where a check fails.
struct Stop(Shutdown);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.trigger();
    }
}

fn join_beside_publishers<R: Ring>(capacity: usize) {
    let (publisher, source) = R::new(capacity);
    let stop = Shutdown::new();
    let _at_the_end = Stop(stop.clone());
    let other = publisher.another();
    let publishers: Vec<_> = [Some(publisher), other]
        .into_iter()
        .flatten()
        .zip(0_u64..)
        .map(|(mut publisher, id)| {
            let stop = stop.clone();
            spawn(move || {
                let mut count = 0;
                while !stop.is_shutdown() {
                    publisher.publish(id << 40 | count).unwrap();
                    count += 1;
                    // The emulator has no other way to let the joiner run.
                    if cfg!(miri) {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    for turn in 0..JOINS {
        let mut watch = Watch { lossless: R::LOSSLESS, last: [None; 2] };
        let mut subscriber = match turn % 3 {
            1 => R::from_oldest(&source).unwrap_or_else(|| R::subscribe(&source)),
            _ => R::subscribe(&source),
        };
        let start = subscriber.cursor();
        watch.take(&mut subscriber, FEW);
        if turn % 3 == 2
            && let Some(mut clone) = subscriber.fork()
        {
            let mut second = Watch { lossless: R::LOSSLESS, last: watch.last };
            // The original goes on first, so the clone alone keeps its message from being overwritten.
            for _ in 0..FEW {
                let (ours, theirs) = (watch.take(&mut subscriber, 1), second.take(&mut clone, 1));
                assert!(!R::LOSSLESS || ours == theirs, "{ours:?} {theirs:?}");
            }
        }
        let came = subscriber.cursor() - start;
        assert_eq!(subscriber.received() + subscriber.lagged(), came);
        assert!(!R::LOSSLESS || subscriber.received() == came);
    }
    stop.trigger();
    join(publishers);
}
