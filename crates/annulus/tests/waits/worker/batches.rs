//! What the handler gets, and when a batch ends.

use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::worker::Delivery;
use annulus::{Numbered, Receive, Worker, broadcast, event, spsc};

use crate::support::without_standing_still;
use crate::worker::rings::{
    CAPACITY, Gate, Make, Ring, Seen, by_value, ends, for_each, nothing, numbers, plain,
};

#[test]
fn message_comes_once_until_the_ring_is_closed() {
    const COUNT: u64 = if cfg!(miri) { 100 } else { 10_000 };
    for_each(CAPACITY, |ring| {
        let Ring { name, mut send, begin, .. } = ring;
        let worker = begin(&plain, nothing());
        for number in 0..COUNT {
            assert!(send(number));
            if name.ends_with("lossy") && number % 8 == 7 {
                thread::sleep(Duration::from_micros(50));
            }
        }
        drop(send);
        let finished = worker.join().unwrap();
        let numbers = numbers(&finished);
        assert!(numbers.is_sorted_by(|before, after| before < after));
        assert_eq!(finished.messages + finished.lost, COUNT, "{finished:?}");
        assert!(finished.lost == 0 || name.ends_with("lossy"));
        assert!(ends(&finished.context, 64, true).last() == numbers.last(), "nothing came after it");
    });
}

/// While the other side rests, a batch ends with the last message, and before that only where it is full.
#[test]
fn batch_ends_with_the_last_message() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, is_shared, .. } = ring;
        let (gate, before) = Gate::new();
        let worker = begin(&|make| Make { most: Some(4), ..make }, before);
        send(0);
        gate.came.recv().unwrap();
        (1..=10).for_each(|number| _ = send(number));
        gate.go_on.send(()).unwrap();
        worker.stop();
        let finished = worker.join().unwrap();
        assert_eq!(numbers(&finished), (0..=10).collect::<Vec<_>>());
        let expected = if is_shared { (0..=10).collect() } else { vec![0, 4, 8, 10] };
        assert_eq!(ends(&finished.context, 4, true), expected);
    });
}

/// It gets no longer, and comes to its end.
#[test]
fn a_batch_goes_on_after_a_stop() {
    for_each(CAPACITY, |ring| {
        let Ring { mut send, begin, is_shared, .. } = ring;
        (0..10).for_each(|number| _ = send(number));
        let (gate, before) = Gate::new();
        let worker = begin(&|make| Make { most: Some(4), ..make }, before);
        gate.came.recv().unwrap();
        worker.stop();
        gate.go_on.send(()).unwrap();
        let finished = worker.join().unwrap();
        assert_eq!(numbers(&finished), (0..10).collect::<Vec<_>>());
        let expected = if is_shared { (0..10).collect() } else { vec![3, 7, 9] };
        assert_eq!(ends(&finished.context, 4, true), expected);
    });
}

/// A batch that has no end of its own ends at a stop: another message is always there.
#[test]
fn stop_ends_a_batch_without_end() {
    without_standing_still(|| {
        let (mut producer, consumer) = spsc::channel(4);
        producer.send(0).unwrap();
        producer.send(1).unwrap();
        let builder = Worker::builder(consumer, Seen::new()).max_batch(usize::MAX);
        let stopper = builder.stopper();
        let handler = move |seen: &mut Seen, number, end_of_batch| {
            seen.push((number, end_of_batch));
            producer.send(number + 2).unwrap();
            if number == 100 {
                stopper.stop();
            }
        };
        let finished = builder.spawn(handler).unwrap().join().unwrap();
        // The two that were there.
        assert_eq!(numbers(&finished), (0..=102).collect::<Vec<_>>());
        assert_eq!(ends(&finished.context, usize::MAX, true), [102]);
    });
}

/// Everything that a worker fell behind is counted, and no more.
#[test]
fn lost_messages_are_counted() {
    let (mut publisher, subscribable) = broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    // What was lost before does not count.
    (0..10_u64).for_each(|number| publisher.publish(number));
    assert_eq!(subscriber.try_iter().count(), 4);
    let (gate, before) = Gate::new();
    let worker = by_value(subscriber)(&plain, before);
    publisher.publish(10);
    gate.came.recv().unwrap();
    (11..111).for_each(|number| publisher.publish(number));
    gate.go_on.send(()).unwrap();
    worker.stop();
    let finished = worker.join().unwrap();
    assert_eq!(finished.messages + finished.lost, 101);
    assert_eq!(numbers(&finished).last(), Some(&110));
}

/// A message of a stage is processed when the handler has returned, the last one of a batch, too.
#[test]
fn message_of_a_stage_is_processed_after_its_handler() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = broadcast::lossless(CAPACITY);
        let first = subscribable.subscribe_tracked();
        let mut second = subscribable.subscribe().after(&[&first]);
        let (gate, before) = Gate::new();
        publisher.publish_batch(&[0, 1, 2]).unwrap();
        let worker = by_value(first)(&plain, before);
        gate.came.recv().unwrap();
        assert_eq!(second.try_iter().count(), 0, "it is at the first");
        gate.go_on.send(()).unwrap();
        assert_eq!([second.recv(), second.recv(), second.recv()], [Ok(0), Ok(1), Ok(2)]);
        drop(worker);
    });
}

/// A handler that waits for a credit, which a worker behind it gives back for each event: two are there.
#[test]
fn worker_behind_gives_credits_back() {
    const COUNT: u64 = 3 * CAPACITY as u64;
    without_standing_still(|| {
        let (mut publisher, subscribable) = event::channel(CAPACITY, || 0);
        let first = subscribable.subscribe_tracked();
        let second = subscribable.subscribe().after(&[&first]);
        let (give, credits) = std_mpsc::channel();
        (0..2).for_each(|_| give.send(()).unwrap());
        // As many as fit, before the workers begin: the first batch has all of them.
        (0..CAPACITY as u64).for_each(|number| publisher.send(number).unwrap());
        let take = move |(): &mut (), _: &u64, _| credits.recv().unwrap();
        let first = Worker::builder(first, ()).spawn_ref(take).unwrap();
        let give = move |(): &mut (), _: &u64, _| _ = give.send(());
        let second = Worker::builder(second, ()).spawn_ref(give).unwrap();
        (CAPACITY as u64..COUNT).for_each(|number| publisher.send(number).unwrap());
        drop(publisher);
        assert_eq!(first.join().unwrap().messages, COUNT);
        assert_eq!(second.join().unwrap().messages, COUNT);
    });
}

/// The number of a message is that of its ring, whatever was lost or received before.
#[test]
fn handler_gets_the_number_of_its_message() {
    fn numbered<R: Receive<Item = u64> + Numbered + Send + 'static>(receiver: R) -> Worker<Numbers> {
        let handler = |seen: &mut Numbers, message, at: Delivery| seen.push((message, at));
        Worker::builder(receiver, Vec::new()).max_batch(3).spawn_numbered(handler).unwrap()
    }
    type Numbers = Vec<(u64, Delivery)>;
    fn check(worker: Worker<Numbers>, first: u64, last: u64) {
        let seen = worker.join().unwrap().context;
        assert!(seen.iter().map(|(message, _)| *message).eq(first..=last), "{seen:?}");
        for (message, at) in &seen {
            let end_of_batch = (message - first) % 3 == 2 || *message == last;
            assert_eq!((at.sequence, at.end_of_batch), (*message, end_of_batch));
        }
    }
    without_standing_still(|| {
        let (mut publisher, subscribable) = broadcast::lossy(8);
        (0..5).for_each(|number| publisher.publish(number));
        let (late, mut early) = (subscribable.subscribe(), subscribable.subscribe_from_oldest());
        assert_eq!(early.try_recv(), Ok(0));
        (5..30).for_each(|number| publisher.publish(number));
        let (tracked, group) = (subscribable.subscribe_tracked(), subscribable.subscribe_group::<2>());
        (30..35).for_each(|number| publisher.publish(number));
        drop(publisher);
        // The first two have lost messages.
        for subscriber in [late, early] {
            check(numbered(subscriber), 27, 34);
        }
        check(numbered(tracked), 30, 34);
        check(numbered(group), 30, 34);

        let events = |count| {
            let (mut publisher, subscribable) = event::channel(8, || 0);
            let mut subscriber = subscribable.subscribe();
            publisher.send(0).unwrap();
            subscriber.process(|_| ()).unwrap();
            (1..=count).for_each(|number| publisher.send(number).unwrap());
            subscriber
        };
        check(numbered(events(5)), 1, 5);
        let handler = |seen: &mut Numbers, message: &u64, at: Delivery| seen.push((*message, at));
        let builder = Worker::builder(events(7), Vec::new()).max_batch(3);
        check(builder.spawn_ref_numbered(handler).unwrap(), 1, 7);

        // Of records, which are numbered although they have any length.
        let (mut publisher, subscribable) = broadcast::bytes::lossy_with(Settings::new(64)).unwrap();
        let subscriber = subscribable.subscribe();
        (0..100_u8).for_each(|number| publisher.publish(&[number; 5]).unwrap());
        drop(publisher);
        let handler = |lost: &mut Vec<_>, record: Box<[u8]>, at: Delivery| {
            assert_eq!(u64::from(record[0]), at.sequence);
            lost.push(at.sequence);
        };
        let finished =
            Worker::builder(subscriber, Vec::new()).spawn_numbered(handler).unwrap().join().unwrap();
        assert_eq!(finished.context.first(), Some(&finished.lost));
        assert_eq!(finished.context.last(), Some(&99));
    });
}
