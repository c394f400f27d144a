//! Owned events: references, batches, and closures inside closures.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

use annulus::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, WaitStrategy,
};

const SHORT: Duration = Duration::from_millis(5);

/// Events 0, 1, 2 … are the numbers 0, 1, 2 …
fn publish(publisher: &mut annulus::event::Publisher<u64>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| publisher.publish(|event| *event = number).unwrap());
}

/// What stands in the ring is reused as it was left: buffers in it keep their memory.
#[test]
fn event_is_changed_in_place() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || String::with_capacity(100));
    let mut subscriber = subscribable.subscribe();
    for lap in 0..6 {
        let mut before = String::new();
        publisher
            .publish(|text| {
                assert!(text.capacity() >= 100);
                before.clone_from(text);
                text.clear();
                text.push_str(&lap.to_string());
            })
            .unwrap();
        assert_eq!(before, if lap < 2 { String::new() } else { (lap - 2).to_string() });
        assert_eq!(subscriber.process(String::clone), Ok(lap.to_string()));
    }
}

/// A reference may be looked at for as long as it is held: publishers wait. Dropped, the event is still the
/// next; passed, it is not.
#[test]
fn reference_holds_its_event() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
    let mut subscriber = subscribable.subscribe();
    assert!(subscriber.peek().is_none());
    publish(&mut publisher, 0..2);
    for _ in 0..3 {
        let event = subscriber.peek().unwrap();
        assert_eq!(*event, 0);
        assert!(publisher.try_publish(|event| *event = 9).unwrap_err().is_full());
        assert_eq!(*event, 0);
    }
    assert_eq!((subscriber.cursor(), subscriber.total_received()), (0, 0));
    subscriber.peek().unwrap().pass();
    assert_eq!((subscriber.cursor(), subscriber.total_received()), (1, 1));
    publish(&mut publisher, 2..3);
    assert_eq!(subscriber.try_process(|event| *event), Ok(1));
    drop(publisher);
    subscriber.peek().unwrap().pass();
    assert!(subscriber.peek().is_none());
    assert_eq!(subscriber.wait(), Err(RecvError::CLOSED));
}

/// The flag is true for the last event of a batch and no other, whatever ends it: `most`, or what is there.
#[test]
fn batch_ends_where_it_says() {
    let (mut publisher, subscribable) = annulus::event::channel(5, || 0_u64);
    let mut subscriber = subscribable.subscribe();
    assert_eq!(subscriber.try_process_batch(0, |_, _| unreachable!()), Err(TryRecvError::Empty));
    for (most, expected) in [(0, 0), (1, 1), (3, 3), (4, 1), (usize::MAX, 5), (7, 5)] {
        let start = subscriber.cursor();
        let there = publisher.published() - start;
        publish(&mut publisher, start + there..start + if most == 4 { there.max(1) } else { 5 });
        let mut seen = Vec::new();
        let count = subscriber.try_process_batch(most, |event, end| seen.push((*event, end)));
        assert_eq!(count, Ok(expected), "at most {most}");
        let expected = expected as u64;
        let all: Vec<_> = (0..expected).map(|offset| (start + offset, offset + 1 == expected)).collect();
        assert_eq!(seen, all, "at most {most}");
        if most == 3 {
            // One is left for the next turn.
            subscriber.peek().unwrap().pass();
        }
    }
    drop(publisher);
    assert_eq!(subscriber.try_process_batch(0, |_, _| unreachable!()), Err(TryRecvError::Closed));
    assert_eq!(subscriber.process_batch(9, |_, _| unreachable!()), Err(RecvError::CLOSED));
}

/// Events of a batch are given back together, at its end; those of single calls one by one.
#[test]
fn batch_is_processed_at_its_end() {
    let (mut publisher, subscribable) = annulus::event::channel(3, || 0_u64);
    let mut subscriber = subscribable.subscribe();
    publish(&mut publisher, 0..3);
    let count = subscriber.try_process_batch(2, |_, _| {
        assert!(publisher.try_publish(|_| ()).unwrap_err().is_full());
    });
    assert_eq!(count, Ok(2));
    publish(&mut publisher, 3..5);
    assert!(publisher.try_publish(|_| ()).unwrap_err().is_full());
}

/// A handler that panics in a batch is done with the events up to that one; the rest is still to come.
#[test]
fn panic_ends_a_batch_behind_its_event() {
    for (at, next) in [(0, 1), (1, 2), (4, 5)] {
        let (mut publisher, subscribable) = annulus::event::channel(6, || 0_u64);
        let mut subscriber = subscribable.subscribe();
        publish(&mut publisher, 0..6);
        let batch = || {
            subscriber.process_batch(5, |event, _| {
                if *event == at {
                    resume_unwind(Box::new("on purpose"));
                }
            })
        };
        catch_unwind(AssertUnwindSafe(batch)).unwrap_err();
        assert_eq!((subscriber.cursor(), subscriber.total_received()), (next, next));
        publish(&mut publisher, 6..6 + next);
        assert!(publisher.try_publish(|_| ()).unwrap_err().is_full());
        (next..6 + next).for_each(|number| assert_eq!(subscriber.process(|event| *event), Ok(number)));
    }
}

/// While an event is read nobody changes it, and while it is changed nobody reads it: also where one closure
/// calls the other side.
#[test]
fn closures_inside_closures_never_meet_in_an_event() {
    for capacity in [2, 3, 8] {
        let (mut publisher, subscribable) = annulus::event::channel(capacity, || 0_u64);
        // A publisher in a handler.
        let mut subscriber = subscribable.subscribe();
        publish(&mut publisher, 0..1);
        subscriber
            .process(|event| {
                let mut next = 1;
                while publisher.try_publish(|other| *other = next).is_ok() {
                    next += 1;
                }
                assert_eq!((*event, next), (0, capacity as u64));
            })
            .unwrap();
        while subscriber.try_process(|_| ()).is_ok() {}
        // A subscriber, a clone and joiners in a change.
        for number in capacity as u64..6 * capacity as u64 {
            publisher
                .publish(|event| {
                    assert_eq!(subscriber.try_process(|_| ()), Err(TryRecvError::Empty));
                    assert_eq!(subscriber.clone().try_process(|_| ()), Err(TryRecvError::Empty));
                    assert_eq!(subscribable.subscribe().try_process(|_| ()), Err(TryRecvError::Empty));
                    let mut oldest = subscribable.subscribe_from_oldest();
                    for expected in oldest.cursor()..number {
                        assert_eq!(oldest.try_process(|event| *event), Ok(expected));
                    }
                    assert_eq!(oldest.try_process(|_| ()), Err(TryRecvError::Empty));
                    *event = number;
                })
                .unwrap();
            assert_eq!(subscriber.try_process(|event| *event), Ok(number));
        }
    }
}

/// A closure that was not run may be passed again, if it was passed by reference.
#[test]
fn closure_that_did_not_run_can_be_passed_again() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
    let subscriber = subscribable.subscribe();
    publish(&mut publisher, 0..2);
    let mut runs = 0;
    let mut change = |_: &mut u64| runs += 1;
    let begun = Instant::now();
    assert_eq!(publisher.try_publish(&mut change), Err(TrySendError::Full(())));
    assert_eq!(publisher.publish_timeout(SHORT, &mut change), Err(SendTimeoutError::Timeout(())));
    assert_eq!(publisher.publish_until(begun, &mut change), Err(SendTimeoutError::Timeout(())));
    drop((subscriber, subscribable));
    assert_eq!(publisher.publish(&mut change), Err(SendError(())));
    assert_eq!(publisher.publish_timeout(SHORT, &mut change), Err(SendTimeoutError::Closed(())));
    assert_eq!(publisher.try_publish(&mut change), Err(TrySendError::Closed(())));
    let closed = publisher.publish_until(WaitStrategy::BusySpin, &mut change);
    assert_eq!(closed, Err(SendTimeoutError::Closed(())));
    change(&mut 0);
    assert_eq!((runs, publisher.published()), (1, 2));
    assert!(publisher.is_closed());
}

/// One of many runs its closure before it waits for room; the event waits as the closure left it for the next
/// one. What only tries looks for room first.
#[test]
fn one_of_many_keeps_an_unpublished_event() {
    let (mut publisher, subscribable) = annulus::event::mp_channel(2, Vec::new);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_until(WaitStrategy::BusySpin, |event| event.push(1)).unwrap();
    publisher.publish_timeout(Duration::ZERO, |event| event.push(2)).unwrap();
    assert_eq!(publisher.try_publish(|_| unreachable!()), Err(TrySendError::Full(())));
    assert_eq!(publisher.publish_timeout(SHORT, |event| event.push(4)), Err(SendTimeoutError::Timeout(())));
    assert_eq!(publisher.published(), 2);
    assert_eq!(subscriber.process(Vec::clone), Ok(vec![1]));
    publisher.publish_until(Instant::now(), |event| event.push(5)).unwrap();
    assert_eq!(subscriber.process(Vec::clone), Ok(vec![2]));
    assert_eq!(subscriber.process(Vec::clone), Ok(vec![4, 5]));
    drop((subscriber, subscribable));
    assert_eq!(publisher.publish(|_| ()), Err(SendError(())));
    assert_eq!(publisher.try_publish(|_| ()), Err(TrySendError::Closed(())));
    assert_eq!(publisher.publish_timeout(SHORT, |_| ()), Err(SendTimeoutError::Closed(())));
    assert!(publisher.is_closed());
}

/// `wait` and its kin find what the others then get, and tell a close from a timeout.
#[test]
fn waiting_takes_nothing() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
    let mut subscriber = subscribable.subscribe();
    assert_eq!(subscriber.wait_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!(subscriber.wait_until(Instant::now()), Err(RecvTimeoutError::Timeout));
    let timeout = subscriber.process_batch_timeout(3, SHORT, |_, _| unreachable!());
    assert_eq!(timeout, Err(RecvTimeoutError::Timeout));
    let reader = thread::spawn(move || {
        subscriber.wait().unwrap();
        subscriber
    });
    publish(&mut publisher, 0..1);
    let mut subscriber = reader.join().unwrap();
    (0..3).for_each(|_| subscriber.wait_timeout(Duration::ZERO).unwrap());
    subscriber.wait_until(WaitStrategy::BusySpin).unwrap();
    assert_eq!(subscriber.len(), 1);
    assert_eq!(subscriber.process_until(Instant::now(), |event| *event), Ok(0));
    drop(publisher);
    assert_eq!(subscriber.wait_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert_eq!(subscriber.wait_until(Instant::now()), Err(RecvTimeoutError::Closed));
    assert_eq!(subscriber.wait_until(WaitStrategy::BusySpin), Err(RecvTimeoutError::Closed));
}
