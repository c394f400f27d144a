//! Look-ups, new topics and removals at the same time.

use std::sync::Barrier;
use std::thread;

use annulus::bus::{Bus, Lossless, RemoveError, TopicError};

const THREADS: usize = 4;
const ROUNDS: u64 = if cfg!(miri) { 8 } else { 5_000 };

/// All threads ask for one new name: all get the same topic.
#[test]
fn topic_is_made_once() {
    let bus = Bus::<u64>::new(8);
    let barrier = Barrier::new(THREADS);
    let taken: u64 = thread::scope(|scope| {
        let takes = || {
            let mut taken = 0;
            for round in 0..ROUNDS / 4 {
                let name = format!("topic {round}");
                barrier.wait();
                let mut subscriber = bus.subscribe(&name);
                let publisher = match bus.try_publisher(&name) {
                    Ok(publisher) => Some(publisher),
                    Err(error) => {
                        assert_eq!(error, TopicError::Taken { topic: name.clone() });
                        None
                    }
                };
                barrier.wait();
                if let Some(mut publisher) = publisher {
                    taken += 1;
                    publisher.publish(round);
                    publisher.close();
                }
                assert_eq!(subscriber.recv(), Ok(round));
                assert!(subscriber.recv().is_err());
            }
            taken
        };
        let threads = [(); THREADS].map(|()| scope.spawn(takes));
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, ROUNDS / 4, "one publisher each");
    assert_eq!(bus.topics().len() as u64, ROUNDS / 4);
}

/// The publisher goes from thread to thread, and no message is lost.
#[test]
fn publisher_moves_between_threads_without_loss() {
    let bus = Bus::<u64, Lossless>::with(annulus::Settings::new(8));
    let mut subscriber = bus.subscribe("shared");
    let reader = thread::spawn(move || subscriber.iter().collect::<Vec<_>>());
    let per_thread = ROUNDS / 4;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..per_thread {
                    loop {
                        match bus.try_publisher("shared") {
                            Ok(mut publisher) => {
                                let number = publisher.publisher().published();
                                publisher.publish(number).unwrap();
                                break;
                            }
                            Err(TopicError::Taken { .. }) => thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    drop(bus);
    assert_eq!(reader.join().unwrap(), (0..THREADS as u64 * per_thread).collect::<Vec<_>>());
}

/// Threads subscribe, publish and remove one name. A handle is never of a topic that was removed while the
/// handle was there.
#[test]
fn removal_never_takes_a_topic_in_use() {
    let bus = Bus::<u64>::new(8);
    let removed: u64 = thread::scope(|scope| {
        let bus = &bus;
        let work = move |thread| {
            let mut removed = 0;
            for round in 0..ROUNDS {
                match (round + thread) % 2 {
                    0 => {
                        let subscriber = bus.subscribe("name");
                        assert!(!subscriber.is_closed(), "nobody closes it");
                        if let Ok(mut publisher) = bus.try_publisher("name") {
                            publisher.publish(round);
                        }
                        assert!(!subscriber.is_closed(), "it is held");
                    }
                    _ => match bus.remove("name") {
                        Ok(()) => removed += 1,
                        Err(RemoveError::Unknown { .. } | RemoveError::InUse { .. }) => {}
                        Err(error) => panic!("{error}"),
                    },
                }
            }
            removed
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // Now nobody holds it: if it was never removed, it is there.
    assert!(removed > 0 || bus.remove("name").is_ok());
}

/// Look-ups of one topic while others come and go.
#[test]
fn look_ups_find_their_topic_during_changes() {
    let bus = Bus::<u64>::new(2);
    let kept = bus.subscribable("kept");
    thread::scope(|scope| {
        for thread in 1..THREADS {
            let bus = &bus;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = format!("{thread}.{}", round % 100);
                    drop(bus.subscribe(&name));
                    bus.remove(&name).unwrap();
                }
            });
        }
        for _ in 0..ROUNDS {
            assert!(bus.contains("kept"));
            drop(bus.publisher("kept"));
        }
    });
    assert_eq!(bus.topics().len(), 1);
    drop(kept);
}
