//! Owned events: a publisher never changes an event that a subscriber still reads, and each reader sees it
//! whole.
//!
//! Neither the ring's cell nor the one in each event is atomic: loom reports a race in either, the first
//! where a reference is handed out, the second for as long as it is used.
#![cfg(annulus_loom)]

use annulus::TryRecvError;
use annulus::event;
use annulus_loom::{SPIN, check, check_up_to};
use loom::cell::UnsafeCell;
use loom::thread;

/// Two words that belong together.
struct Event(UnsafeCell<[u64; 2]>);

// SAFETY: loom fails the model where two threads meet in the cell and one of them writes.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// What no publisher has changed yet.
    fn blank() -> Self {
        Self(UnsafeCell::new([0; 2]))
    }

    fn set(&mut self, number: u64) {
        // SAFETY: loom watches that nobody else looks meanwhile.
        self.0.with_mut(|words| unsafe { *words = [number, !number] });
    }

    fn number(&self) -> u64 {
        // SAFETY: loom watches that nobody writes meanwhile.
        let [number, check] = self.0.with(|words| unsafe { *words });
        assert_eq!(number, !check, "a torn event, or one that nobody published");
        number
    }
}

/// Publishes the events of `numbers` as long as there is room, each once, and returns how many.
fn publish(publisher: &mut event::Publisher<Event>, numbers: core::ops::Range<u64>) -> usize {
    numbers.take_while(|&number| publisher.try_publish(|event| event.set(number)).is_ok()).count()
}

/// Processes up to `times` events that are there, whose numbers are their sequences. Each is looked at when
/// it comes, and when it has been handed out for a while.
fn process(subscriber: &mut event::Subscriber<Event>, times: usize) {
    for _ in 0..times {
        let sequence = subscriber.cursor();
        let looked = subscriber.try_process(|event| {
            assert_eq!(event.number(), sequence);
            thread::yield_now();
            assert_eq!(event.number(), sequence);
        });
        match looked {
            Ok(()) => {}
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
}

/// Two events more than the ring has, as the subscriber makes room for them.
#[test]
fn one_subscriber_over_a_lap() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let mut subscriber = subscribable.subscribe();
        let writer = thread::spawn(move || {
            for number in 0..4 {
                assert!(publisher.publish_until(SPIN, |event| event.set(number)).is_ok());
            }
        });
        process(&mut subscriber, 3);
        while subscriber.cursor() < 4 {
            process(&mut subscriber, 1);
        }
        writer.join().unwrap();
    });
}

/// The slower of two readers decides, and both may read one event at once.
#[test]
fn two_subscribers_over_a_lap() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let [mut here, mut there] = [(); 2].map(|()| subscribable.subscribe());
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || publish(&mut publisher, 2..4));
        let reader = thread::spawn(move || {
            process(&mut there, 2);
            there
        });
        process(&mut here, 2);
        let published = 2 + writer.join().unwrap();
        let mut there = reader.join().unwrap();
        process(&mut there, 4);
        process(&mut here, 4);
        assert_eq!([there.cursor(), here.cursor()], [published as u64; 2]);
    });
}

/// A batch gives all its events back at once, when the last was looked at; a reference, when it is passed.
#[test]
fn batch_and_a_reference() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let mut subscriber = subscribable.subscribe();
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || publish(&mut publisher, 2..4));
        let event = subscriber.peek().unwrap();
        assert_eq!(event.number(), 0);
        thread::yield_now();
        assert_eq!(event.number(), 0);
        event.pass();
        let mut sequence = 1;
        let looked = subscriber.try_process_batch(2, |event, _| {
            assert_eq!(event.number(), sequence);
            thread::yield_now();
            sequence += 1;
        });
        assert_eq!(looked, Ok(sequence as usize - 1));
        let published = 2 + writer.join().unwrap();
        process(&mut subscriber, 4);
        assert_eq!(subscriber.cursor(), published as u64);
    });
}

/// A subscriber that joins at the next event is seen by the publisher, or begins where it is not needed.
#[test]
fn joining_at_the_next() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let writer = thread::spawn(move || publish(&mut publisher, 0..4));
        let mut subscriber = subscribable.subscribe();
        process(&mut subscriber, 2);
        let published = writer.join().unwrap();
        process(&mut subscriber, 4);
        assert_eq!(subscriber.cursor(), published as u64);
    });
}

/// A subscriber that joins at the oldest promised event finds it unchanged.
#[test]
fn joining_at_the_oldest() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || publish(&mut publisher, 2..4));
        let mut subscriber = subscribable.subscribe_from_oldest();
        process(&mut subscriber, 2);
        let published = 2 + writer.join().unwrap();
        process(&mut subscriber, 4);
        assert_eq!(subscriber.cursor(), published as u64);
    });
}

/// A subscriber that joins at the oldest event finds it as it was published, or begins after those that are
/// cleared.
#[test]
fn joining_beside_a_clearing() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(4, Event::blank);
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || publisher.clear_processed(|event| event.set(99)));
        let mut subscriber = subscribable.subscribe_from_oldest();
        process(&mut subscriber, 2);
        let cleared = writer.join().unwrap();
        assert!(cleared <= 2);
        process(&mut subscriber, 1);
        assert_eq!(subscriber.cursor(), 2);
    });
}

/// What a subscriber has read is cleared after, and what it has not read is not.
#[test]
fn reading_beside_a_clearing() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(4, Event::blank);
        let mut subscriber = subscribable.subscribe();
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || {
            let clear = |event: &mut Event| event.set(99);
            publisher.clear_processed(clear) + publisher.clear_processed(clear)
        });
        process(&mut subscriber, 2);
        assert!(writer.join().unwrap() <= 2);
        assert_eq!(subscriber.cursor(), 2);
    });
}

/// What a subscriber read before it left, the publisher changes after.
#[test]
fn leaving() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let mut subscriber = subscribable.subscribe();
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let reader = thread::spawn(move || {
            let event = subscriber.peek().unwrap();
            assert_eq!(event.number(), 0);
        });
        publish(&mut publisher, 2..4);
        reader.join().unwrap();
        assert_eq!(publish(&mut publisher, 4..5), 1);
    });
}

/// A clone holds on to its original's event, also where the original moves on at once. The clone's cell comes
/// before the original's in the list, so that a look may have passed it.
#[test]
fn a_clone_keeps_its_place() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let [leaver, mut original] = [(); 2].map(|()| subscribable.subscribe());
        drop(leaver);
        assert_eq!(publish(&mut publisher, 0..2), 2);
        let writer = thread::spawn(move || publish(&mut publisher, 2..3));
        let mut clone = original.clone();
        process(&mut original, 1);
        process(&mut clone, 1);
        let published = 2 + writer.join().unwrap();
        process(&mut clone, 3);
        assert_eq!(clone.cursor(), published as u64);
    });
}

/// The clone takes the cell of one that leaves: what that one read, the publisher changes after.
///
/// The publisher's thread begins before the clone: loom's fence acquires whatever was seen before the thread
/// began, and would hide a missing order.
#[test]
fn a_clone_where_another_leaves() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::event::channel(2, Event::blank);
        let [mut leaver, mut original] = [(); 2].map(|()| subscribable.subscribe());
        assert_eq!(publish(&mut publisher, 0..2), 2);
        process(&mut original, 1);
        let reader = thread::spawn(move || leaver.try_process(|event| assert_eq!(event.number(), 0)));
        let writer = thread::spawn(move || publish(&mut publisher, 2..3));
        let mut clone = original.clone();
        assert_eq!(clone.try_process(|event| assert_eq!(event.number(), 1)), Ok(()));
        assert_eq!(reader.join().unwrap(), Ok(()));
        writer.join().unwrap();
    });
}

/// Publishes each of `numbers` if there is room at that moment, and returns those that there was room for.
fn swap_in(mut publisher: event::MpPublisher<Event>, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().filter(|&number| publisher.try_publish(|event| event.set(number)).is_ok()).collect()
}

/// Reads up to `times` events, as [`process`] does, and returns their numbers.
fn read(subscriber: &mut event::Subscriber<Event>, times: usize) -> Vec<u64> {
    let look = |event: &Event| {
        let number = event.number();
        thread::yield_now();
        assert_eq!(event.number(), number);
        number
    };
    (0..times).filter_map(|_| subscriber.try_process(look).ok()).collect()
}

/// Two publishers swap their events for those that the subscriber has read.
#[test]
fn two_publishers_over_a_lap() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::mp_channel(2, Event::blank);
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        for number in [10, 11] {
            assert!(publisher.try_publish(|event| event.set(number)).is_ok());
        }
        let first = thread::spawn(move || swap_in(publisher, [12]));
        let second = thread::spawn(move || swap_in(other, [20]));
        assert_eq!(read(&mut subscriber, 2), [10, 11]);
        let published = [first.join().unwrap(), second.join().unwrap()].concat();
        let mut received = read(&mut subscriber, 3);
        received.sort_unstable();
        assert_eq!(received, published);
    });
}

/// Where nobody reads, only the writer of the lap before is in the way.
#[test]
fn two_publishers_without_readers_wait_for_each_other() {
    check(|| {
        let (publisher, subscribable) = annulus::event::mp_channel(2, Event::blank);
        let other = publisher.clone();
        let first = thread::spawn(move || swap_in(publisher, [10, 11]));
        let second = swap_in(other, [20, 21]);
        let published = [first.join().unwrap(), second].concat();
        let received = read(&mut subscribable.subscribe_from_oldest(), 2);
        assert!(received.iter().all(|number| published.contains(number)), "{received:?} of {published:?}");
    });
}
