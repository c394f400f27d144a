//! Every way to wait at a subscriber of a pattern, and everything that ends the wait: a topic that is made
//! meanwhile, a message in a topic that was there, and the end of the bus. Nothing else wakes the waiter.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use annulus::bus::{Bus, MatchingSubscriber};
use annulus::{Receive, RecvError, Select, Worker};

const PAUSE: Duration = Duration::from_millis(if cfg!(miri) { 1 } else { 5 });

const ROUNDS: usize = if cfg!(miri) { 1 } else { 5 };

/// What was received: the topics with their numbers, until the end.
type Seen = Vec<(String, u64)>;

/// Receives until the end in some way, and says `()` after each message.
type Receiving = fn(MatchingSubscriber<u64>, mpsc::Sender<()>) -> Seen;

/// A thread receives, and waits before each of these: a new topic, a message in it, one in a topic that was
/// there from the beginning, the same again, and the end.
fn wakes_for_all(receives: Receiving) {
    for _ in 0..ROUNDS {
        let bus = Bus::<u64>::new(8);
        let mut old = bus.topic("old").lossless().publisher().unwrap();
        let matching = bus.subscribe_matching("*").unwrap();
        let (said, hears) = mpsc::channel();
        let reader = thread::spawn(move || receives(matching, said));
        let next = || hears.recv_timeout(Duration::from_secs(60)).expect("it was not woken");
        thread::sleep(PAUSE);
        let mut new = bus.publisher("new");
        new.publish(1);
        next();
        thread::sleep(PAUSE);
        new.publish(2);
        next();
        for number in 3..5 {
            thread::sleep(PAUSE);
            old.publish(number).unwrap();
            next();
        }
        thread::sleep(PAUSE);
        new.close();
        thread::sleep(PAUSE);
        drop(bus);
        thread::sleep(PAUSE);
        drop(old);
        let of = |topic: &str, number| (topic.to_owned(), number);
        assert_eq!(reader.join().unwrap(), [of("new", 1), of("new", 2), of("old", 3), of("old", 4)]);
    }
}

/// Notes each message that `next` returns.
fn noted<N: AsRef<str>>(
    said: &mpsc::Sender<()>,
    mut next: impl FnMut(&mut dyn FnMut(Result<(N, u64), RecvError>)),
) -> Seen {
    let (mut seen, mut is_over) = (Seen::new(), false);
    while !is_over {
        next(&mut |found| match found {
            Ok((topic, number)) => {
                seen.push((topic.as_ref().to_owned(), number));
                said.send(()).unwrap();
            }
            Err(_) => is_over = true,
        });
    }
    seen
}

#[test]
fn thread_is_woken() {
    wakes_for_all(|mut matching, said| {
        noted(&said, |found| found(matching.recv().map(|(topic, number)| (topic.to_owned(), number))))
    });
}

#[test]
fn thread_that_knows_only_the_trait_is_woken() {
    wakes_for_all(|mut matching, said| noted(&said, |found| found(Receive::recv(&mut matching))));
}

#[test]
fn select_beside_another_ring_is_woken() {
    wakes_for_all(|mut matching, said| {
        let (_producer, mut other) = annulus::spsc::channel::<u64>(2);
        noted(&said, |found| {
            annulus::select! {
                recv(matching) -> next => found(next),
                recv(other) -> next => panic!("{next:?}"),
            }
        })
    });
}

#[test]
fn select_that_takes_nothing_is_woken() {
    wakes_for_all(|mut matching, said| {
        noted(&said, |found| {
            let mut select = Select::new();
            select.recv(&mut matching);
            assert_eq!(select.ready(), 0);
            drop(select);
            match matching.try_recv() {
                Ok((topic, number)) => found(Ok((topic.to_owned(), number))),
                Err(annulus::TryRecvError::Closed) => found(Err(RecvError::CLOSED)),
                Err(error) => panic!("it was ready, and then {error}"),
            }
        })
    });
}

#[test]
fn worker_is_woken() {
    wakes_for_all(|matching, said| {
        let seen = Worker::builder(matching, Seen::new()).spawn(
            move |seen: &mut Seen, (topic, number): (std::sync::Arc<str>, u64), _| {
                seen.push((topic.to_string(), number));
                said.send(()).unwrap();
            },
        );
        seen.unwrap().join().unwrap().context
    });
}

/// What was sent before the stop is received, of topics that the loop has not seen, too.
#[test]
fn stop_drains_all_topics() {
    for _ in 0..10 * ROUNDS {
        let bus = Bus::<u64>::new(64);
        let matching = bus.subscribe_matching("*").unwrap();
        let (lets, go) = mpsc::channel::<()>();
        let work = Worker::builder(matching, 0)
            .spawn(move |sum: &mut u64, (_, number), _| {
                if *sum == 0 {
                    // What comes meanwhile is in the ring when the stop comes.
                    let _ = go.recv();
                }
                *sum += number;
            })
            .unwrap();
        let mut publishers = ["a", "b"].map(|name| bus.publisher(name));
        for publisher in &mut publishers {
            publisher.publish_batch(&[1; 20]);
        }
        bus.publisher("c").publish(1);
        work.stop();
        thread::sleep(PAUSE);
        drop(lets);
        let finished = work.join().unwrap();
        assert_eq!((finished.context, finished.messages, finished.lost), (41, 41, 0));
    }
}

/// A batch ends where no topic has a message.
#[test]
fn worker_knows_its_batches() {
    let bus = Bus::<u64>::new(8);
    let matching = bus.subscribe_matching("*").unwrap();
    for name in ["a", "b", "c"] {
        bus.publisher(name).publish_batch(&[1, 2]);
    }
    drop(bus);
    let ends = Worker::builder(matching, Vec::new()).spawn(|ends: &mut Vec<_>, _, end| ends.push(end));
    let ends = ends.unwrap().join().unwrap().context;
    assert_eq!(ends, [false, false, false, false, false, true]);
}

#[test]
fn lag_is_passed_over() {
    let bus = Bus::<u64>::new(2);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publisher = bus.publisher("a");
    publisher.publish_batch(&[1, 2, 3, 4]);
    let found = annulus::select! {
        recv(matching) -> next => next,
    };
    assert_eq!(found.map(|(topic, number)| (topic.to_string(), number)), Ok(("a".to_owned(), 3)));
    assert_eq!(matching.total_lagged(), 2);
}

#[cfg(all(target_os = "linux", not(any(miri, annulus_loom))))]
#[test]
fn notifier_is_woken() {
    use annulus::{Notifier, Readiness, TryRecvError};
    use rustix::event::{PollFd, PollFlags, poll};

    wakes_for_all(|matching, said| {
        let mut notifier = Notifier::new(matching).unwrap();
        noted(&said, |found| {
            let next = notifier.get_mut().try_recv().map(|(topic, number)| (topic.to_owned(), number));
            match next {
                Ok(next) => found(Ok(next)),
                Err(TryRecvError::Closed) => found(Err(RecvError::CLOSED)),
                Err(TryRecvError::Empty) => {
                    if notifier.arm() == Readiness::Armed {
                        poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
                    }
                }
            }
        })
    });
}

#[cfg(feature = "async")]
mod tasks {
    use futures_util::{FutureExt, StreamExt};

    use super::*;

    #[test]
    fn task_is_woken() {
        wakes_for_all(|mut matching, said| {
            noted(&said, |found| found(pollster::block_on(matching.recv_async())))
        });
    }

    #[test]
    fn stream_is_woken() {
        wakes_for_all(|matching, said| {
            let mut stream = matching.into_stream();
            noted(&said, |found| found(pollster::block_on(stream.next()).ok_or(RecvError::CLOSED)))
        });
    }

    #[test]
    fn stream_that_borrows_receives_and_gives_back() {
        let bus = Bus::<u64>::new(8);
        let mut all = bus.subscribe_matching("**").unwrap();
        let mut publisher = bus.publisher("a");
        publisher.publish(1);
        let (name, number) = pollster::block_on(all.stream().next()).unwrap();
        assert_eq!((&*name, number), ("a", 1));
        publisher.publish(2);
        assert_eq!(all.try_recv(), Ok(("a", 2)));
    }

    /// Futures that are dropped leave nothing in the rings, and take nothing.
    #[test]
    fn dropped_future_takes_nothing() {
        let bus = Bus::<u64>::new(8);
        let mut matching = bus.subscribe_matching("*").unwrap();
        let mut old = bus.publisher("old");
        for number in 0..10 {
            assert!(matching.recv_async().now_or_never().is_none());
            old.publish(number);
            let mut new = bus.publisher(&format!("new.{number}").replace('.', " "));
            new.publish(number);
            new.close();
            drop(matching.recv_async());
            let mut two = [(); 2].map(|()| matching.recv_async().now_or_never().unwrap().unwrap().1);
            two.sort_unstable();
            assert_eq!(two, [number, number]);
        }
    }
}
