//! Tasks at broadcast rings: of the messages whose publication came to its end, each subscriber receives
//! every one, once and in order, or counts it as lost.

use std::thread;

use annulus::broadcast::{Mode, Subscriber};
use annulus::{broadcast, event};
use futures_util::StreamExt;

use super::poll_some;
use crate::support::{Pauses, without_standing_still};

const FUTURES: u64 = if cfg!(miri) { 12 } else { 20_000 };

/// Publishes a message, or drops the future that would have. Whether it is published.
type Publish = Box<dyn FnMut(u64, &mut Pauses) -> bool + Send>;

/// Receives into the list, or drops the future that would have. At the end: how many messages it has lost.
type Receive = Box<dyn FnMut(&mut Vec<u64>, &mut Pauses) -> Option<u64> + Send>;

/// Each of `publishers` and `receivers` has a thread. Publishers that are dropped close the ring.
fn dropped_at_random(publishers: Vec<Publish>, receivers: Vec<Receive>) {
    dropped_where(false, publishers, receivers);
}

/// The same. Where the ring `passes_over` a number, that counts as lost, though there was no message.
fn dropped_where(passes_over: bool, publishers: Vec<Publish>, receivers: Vec<Receive>) {
    without_standing_still(move || {
        let (published, received) = thread::scope(|scope| {
            let publishers: Vec<_> = (0..)
                .zip(publishers)
                .map(|(id, mut publish)| {
                    scope.spawn(move || {
                        let mut random = Pauses::new(id + 1);
                        let numbers = (0..FUTURES).map(|number| id << 32 | number);
                        numbers.filter(|number| publish(*number, &mut random)).collect::<Vec<_>>()
                    })
                })
                .collect();
            let receivers: Vec<_> = (0..)
                .zip(receivers)
                .map(|(id, mut receive)| {
                    scope.spawn(move || {
                        let (mut random, mut received) = (Pauses::new(id + 11), Vec::new());
                        loop {
                            if let Some(lost) = receive(&mut received, &mut random) {
                                return (received, lost);
                            }
                        }
                    })
                })
                .collect();
            let join = |publisher: thread::ScopedJoinHandle<'_, _>| publisher.join().unwrap();
            let published: Vec<Vec<u64>> = publishers.into_iter().map(join).collect();
            let join = |receiver: thread::ScopedJoinHandle<'_, _>| receiver.join().unwrap();
            (published, receivers.into_iter().map(join).collect::<Vec<(Vec<u64>, u64)>>())
        });
        let all: u64 = published.iter().map(|numbers| numbers.len() as u64).sum();
        for (received, lost) in received {
            let came = received.len() as u64 + lost;
            assert!(came == all || passes_over && came > all, "{came} received and lost, of {all} published");
            for (id, published) in (0..).zip(&published) {
                // In order, each once, and none that was given up.
                let mut published = published.iter();
                for number in received.iter().filter(|number| *number >> 32 == id) {
                    assert!(published.any(|one| one == number), "{number} was not to come here");
                }
            }
        }
    });
}

/// Receives by any verb of a subscriber or a group; `$lost` says what it has lost.
macro_rules! receives {
    ($handle:expr, $lost:expr) => {{
        let mut handle = $handle;
        Box::new(move |received: &mut Vec<u64>, random: &mut Pauses| {
            let found = match random.next() % 4 {
                0 => Some(handle.recv().ok()),
                1 => {
                    let mut buffer = [0; 3];
                    poll_some(handle.recv_batch_async(&mut buffer), random).map(|count| {
                        let (last, others) = buffer[..count.ok()?].split_last()?;
                        received.extend(others);
                        Some(*last)
                    })
                }
                2 => poll_some(handle.stream().next(), random),
                _ => poll_some(handle.recv_async(), random).map(Result::ok),
            };
            match found {
                Some(Some(number)) => received.push(number),
                Some(None) => return Some($lost(&handle)),
                None => {}
            }
            None
        }) as Receive
    }};
}

fn receives<M: Mode + 'static>(subscriber: Subscriber<u64, M>) -> Receive
where
    Subscriber<u64, M>: Send,
{
    receives!(subscriber, Subscriber::total_lagged)
}

/// Publishes by a verb for tasks, or by one that blocks.
macro_rules! publishes {
    ($publisher:expr, $in_task:ident, $blocking:ident) => {{
        let mut publisher = $publisher;
        Box::new(move |number: u64, random: &mut Pauses| {
            // (Each kind of publisher needs `mut`, or does not.)
            let publisher = &mut publisher;
            match random.next() % 8 {
                0 => publisher.$blocking(number).is_ok(),
                _ => poll_some(publisher.$in_task(number), random).is_some_and(|done| done.is_ok()),
            }
        }) as Publish
    }};
}

/// Processes what is there where it lies, in a task or not. It loses nothing.
macro_rules! processes {
    ($stage:expr) => {{
        let mut stage = $stage;
        Box::new(move |received: &mut Vec<u64>, random: &mut Pauses| {
            let found = match random.next() % 4 {
                0 => Some(stage.process(|number| *number)),
                _ => poll_some(stage.process_async(|number| *number), random),
            };
            match found {
                Some(Ok(number)) => received.push(number),
                Some(Err(_)) => return Some(0_u64),
                None => {}
            }
            None
        }) as Receive
    }};
}

/// The number of an event, which is in memory of its own: a read that is too early or too late is found out.
#[derive(Clone, Default)]
struct Boxed(Box<u64>);

fn publishes_events_of_one(mut publisher: event::Publisher<Boxed>) -> Publish {
    Box::new(move |number, random| match random.next() % 8 {
        0 => publisher.send(Boxed(number.into())).is_ok(),
        1..=3 => poll_some(publisher.publish_async(|event: &mut Boxed| *event.0 = number), random)
            .is_some_and(|done| done.is_ok()),
        _ => poll_some(publisher.send_async(Boxed(number.into())), random).is_some_and(|done| done.is_ok()),
    })
}

fn publishes_events(mut publisher: event::MpPublisher<Boxed>) -> Publish {
    Box::new(move |number, random| match random.next() % 8 {
        0 => publisher.send(Boxed(number.into())).is_ok(),
        1..=3 => poll_some(publisher.publish_async(|event| *event.0 = number), random)
            .is_some_and(|done| done.is_ok()),
        _ => poll_some(publisher.send_async(Boxed(number.into())), random).is_some_and(|done| done.is_ok()),
    })
}

fn receives_events(mut events: event::Subscriber<Boxed>) -> Receive {
    Box::new(move |received, random| {
        let found = match random.next() % 5 {
            0 => Some(events.recv().ok()),
            1 => poll_some(events.stream().next(), random),
            2 => poll_some(events.process_async(Boxed::clone), random).map(Result::ok),
            3 => {
                // A clone of each that is there, by one call.
                let note = |event: &Boxed, _is_last: bool| received.push(*event.0);
                match poll_some(events.process_batch_async(2, note), random) {
                    Some(Ok(_)) | None => return None,
                    Some(Err(_)) => Some(None),
                }
            }
            _ => poll_some(events.recv_async(), random).map(Result::ok),
        };
        match found {
            Some(Some(Boxed(number))) => received.push(*number),
            Some(None) => return Some(0_u64),
            None => {}
        }
        None
    })
}

#[test]
fn lossy() {
    let (mut publisher, source) = broadcast::lossy(2);
    let mut or_lag = source.subscribe();
    let readers = vec![
        receives(source.subscribe()),
        receives!(source.subscribe_group::<2>(), |group: &broadcast::SubscriberGroup<_, 2>| group
            .total_lagged(1)),
        Box::new(move |received: &mut Vec<u64>, random: &mut Pauses| {
            match poll_some(or_lag.recv_or_lag_async(), random)? {
                Ok(number) => received.push(number),
                Err(annulus::LossyRecvError::Lagged { .. }) => {}
                Err(annulus::LossyRecvError::Closed) => return Some(or_lag.total_lagged()),
            }
            None
        }) as Receive,
    ];
    let publish = move |number, random: &mut Pauses| {
        publisher.publish(number);
        random.rest();
        true
    };
    dropped_at_random(vec![Box::new(publish)], readers);
}

#[test]
fn lossy_with_many_publishers() {
    let (publisher, source) = broadcast::mp_lossy(2);
    let publish = |mut publisher: broadcast::MpPublisher<u64>| {
        Box::new(move |number: u64, random: &mut Pauses| {
            random.rest();
            publisher.publish(number);
            true
        }) as Publish
    };
    dropped_where(
        true,
        vec![publish(publisher.clone()), publish(publisher)],
        vec![receives(source.subscribe())],
    );
}

#[test]
fn lossless() {
    let (publisher, source) = broadcast::lossless(2);
    let tracked = source.subscribe_tracked();
    let stage = source.subscribe().after(&[&tracked]);
    let readers = vec![receives(source.subscribe()), processes!(tracked), processes!(stage)];
    dropped_at_random(vec![publishes!(publisher, publish_async, publish)], readers);
}

#[test]
fn a_lossless_group() {
    let (publisher, source) = broadcast::lossless(2);
    let lost = |group: &broadcast::SubscriberGroup<_, 3, broadcast::Lossless>| group.total_lagged(2);
    let readers = vec![receives!(source.subscribe_group::<3>(), lost)];
    dropped_at_random(vec![publishes!(publisher, publish_async, publish)], readers);
}

#[test]
fn lossless_with_many_publishers() {
    let (publisher, source) = broadcast::mp_lossless(2);
    let publishers = [publisher.clone(), publisher];
    let publishers = publishers.map(|publisher| publishes!(publisher, publish_async, publish));
    dropped_at_random(publishers.into(), vec![receives(source.subscribe())]);
}

#[test]
fn events() {
    let (publisher, source) = event::channel(2, Boxed::default);
    let readers = vec![receives_events(source.subscribe()), receives_events(source.subscribe())];
    dropped_at_random(vec![publishes_events_of_one(publisher)], readers);
}

#[test]
fn events_with_many_publishers() {
    let (publisher, source) = event::mp_channel(2, Boxed::default);
    let publishers = [publisher.clone(), publisher].map(publishes_events);
    dropped_at_random(publishers.into(), vec![receives_events(source.subscribe())]);
}
