//! Events that are let go once everybody has processed them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use annulus::event;

/// A value that somebody else looks after.
type Value = Option<Arc<u64>>;

fn ring(capacity: usize) -> (event::Publisher<Value>, event::Subscribable<Value>) {
    event::channel(capacity, || None)
}

/// Sends a value of its own for each number.
fn send(publisher: &mut event::Publisher<Value>, numbers: std::ops::Range<u64>) -> Vec<Weak<u64>> {
    let send = |number| {
        let value = Arc::new(number);
        let weak = Arc::downgrade(&value);
        publisher.try_send(Some(value)).unwrap();
        weak
    };
    numbers.map(send).collect()
}

fn clear(publisher: &mut event::Publisher<Value>) -> Vec<u64> {
    let mut cleared = vec![];
    let count = publisher.clear_processed(|event| cleared.extend(event.take().map(|value| *value)));
    assert_eq!(count, cleared.len());
    cleared
}

fn alive(values: &[Weak<u64>]) -> Vec<u64> {
    values.iter().filter_map(Weak::upgrade).map(|value| *value).collect()
}

/// Over several laps: the slowest decides, each event is cleared once, and the first laps are no exception.
#[test]
fn events_that_all_have_processed_are_cleared() {
    const CAPACITY: u64 = 5;
    let (mut publisher, subscribable) = ring(CAPACITY as usize);
    let (mut fast, mut slow) = (subscribable.subscribe(), subscribable.subscribe());
    assert_eq!(clear(&mut publisher), []);
    for begin in (0..4 * CAPACITY).step_by(4) {
        let sent = send(&mut publisher, begin..begin + 4);
        while fast.try_process(|event| assert!(event.is_some())).is_ok() {}
        assert_eq!(clear(&mut publisher), [0; 0], "the slow one has seen none");
        for number in begin..begin + 2 {
            assert_eq!(slow.process(|event| **event.as_ref().unwrap()), Ok(number));
        }
        assert_eq!(clear(&mut publisher), [begin, begin + 1]);
        assert_eq!(alive(&sent), [begin + 2, begin + 3]);
        while slow.try_process(|event| assert!(event.is_some())).is_ok() {}
        assert_eq!(clear(&mut publisher), [begin + 2, begin + 3]);
        assert_eq!(clear(&mut publisher), [0; 0], "once");
        assert_eq!(alive(&sent), [0; 0]);
    }
}

/// An event that somebody has by reference is not let go.
#[test]
fn reference_keeps_its_event() {
    let (mut publisher, subscribable) = ring(4);
    let mut subscriber = subscribable.subscribe();
    send(&mut publisher, 0..1);
    let event = subscriber.peek().unwrap();
    assert_eq!(clear(&mut publisher), [0; 0]);
    assert_eq!(**event.as_ref().unwrap(), 0);
    event.pass();
    assert_eq!(clear(&mut publisher), [0]);
}

/// A stage has its own say, and so has a clone.
#[test]
fn stages_and_clones_are_waited_for() {
    let (mut publisher, subscribable) = ring(4);
    let mut first = subscribable.subscribe_tracked();
    let mut second = subscribable.subscribe().after(&[&first]);
    send(&mut publisher, 0..2);
    first.process(|_| ()).unwrap();
    first.process(|_| ()).unwrap();
    assert_eq!(clear(&mut publisher), [0; 0]);
    second.process(|_| ()).unwrap();
    assert_eq!(clear(&mut publisher), [0]);
    drop((first, second));
    assert_eq!(clear(&mut publisher), [1]);
    let mut original = subscribable.subscribe();
    send(&mut publisher, 2..3);
    let clone = original.clone();
    original.process(|_| ()).unwrap();
    assert_eq!(clear(&mut publisher), [0; 0]);
    drop(clone);
    assert_eq!(clear(&mut publisher), [2]);
}

/// Nobody finds an event that was cleared.
#[test]
fn joiner_begins_behind_cleared_events() {
    let (mut publisher, subscribable) = ring(8);
    send(&mut publisher, 0..3);
    assert_eq!(clear(&mut publisher), [0, 1, 2], "nobody is there");
    let mut oldest = subscribable.subscribe_from_oldest();
    assert_eq!(oldest.cursor(), 3);
    let mut next = subscribable.subscribe();
    send(&mut publisher, 3..5);
    for subscriber in [&mut oldest, &mut next] {
        assert_eq!(subscriber.process(|event| **event.as_ref().unwrap()), Ok(3));
    }
    assert_eq!(clear(&mut publisher), [3]);
    assert_eq!(subscribable.subscribe_from_oldest().cursor(), 4);
}

/// Of a ring that was not cleared for long, the events that are still there.
#[test]
fn overwritten_events_are_not_cleared() {
    let (mut publisher, subscribable) = ring(3);
    let mut subscriber = subscribable.subscribe();
    for number in 0..10 {
        send(&mut publisher, number..number + 1);
        subscriber.process(|_| ()).unwrap();
    }
    assert_eq!(clear(&mut publisher), [7, 8, 9]);
    drop(subscriber);
    publisher.close();
    assert_eq!(clear(&mut publisher), [0; 0]);
}

#[test]
fn panic_ends_the_call_and_nothing_else() {
    let (mut publisher, subscribable) = ring(4);
    let sent = send(&mut publisher, 0..3);
    let clearing = catch_unwind(AssertUnwindSafe(|| {
        publisher.clear_processed(|event| {
            assert_ne!(event.take().as_deref(), Some(&1), "it panics");
        })
    }));
    assert!(clearing.is_err());
    assert_eq!(alive(&sent), [2]);
    assert_eq!(clear(&mut publisher), [0; 0]);
    let mut subscriber = subscribable.subscribe();
    send(&mut publisher, 3..7);
    assert_eq!(alive(&sent), [0; 0]);
    assert_eq!(subscriber.process(|event| **event.as_ref().unwrap()), Ok(3));
}
