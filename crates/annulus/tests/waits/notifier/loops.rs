//! Loops of three kinds, over every kind of ring at once.

use std::os::fd::AsRawFd;

use annulus::{Notifier, Readiness, TryRecvError, broadcast, spsc};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::notifier::rings::{self, AtLoop};
use crate::support::{join, sleeping, spawn, without_standing_still};

/// Begins threads that publish to each ring, and runs `all_at` with the rings' other ends.
fn beside_publishers(all_at: impl FnOnce(Vec<Box<dyn AtLoop>>) + Send + 'static) {
    without_standing_still(|| {
        let (ends, publishers): (Vec<_>, Vec<_>) = rings::all().into_iter().unzip();
        let publishers: Vec<_> = publishers.into_iter().map(spawn).collect();
        all_at(ends);
        join(publishers);
    });
}

/// An `epoll` of all of them, until each has come to its end.
fn by_epoll(mut ends: Vec<Box<dyn AtLoop>>, trigger: EventFlags) {
    let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
    let mut open = 0;
    for (id, end) in ends.iter_mut().enumerate() {
        epoll::add(&epoll, end.fd(), EventData::new_u64(id as u64), EventFlags::IN | trigger).unwrap();
        open += usize::from(!end.turn());
    }
    let mut events = Vec::with_capacity(ends.len());
    while open > 0 {
        events.clear();
        retry_on_intr(|| epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)).unwrap();
        for event in &events {
            let end = &mut ends[event.data.u64() as usize];
            if end.turn() {
                epoll::delete(&epoll, end.fd()).unwrap();
                open -= 1;
            }
        }
    }
}

#[test]
fn loop_by_epoll_level_triggered_loses_nothing() {
    beside_publishers(|ends| by_epoll(ends, EventFlags::empty()));
}

#[test]
fn loop_by_epoll_edge_triggered_loses_nothing() {
    beside_publishers(|ends| by_epoll(ends, EventFlags::ET));
}

#[test]
fn loop_by_poll_loses_nothing() {
    beside_publishers(|mut ends| {
        ends.retain_mut(|end| !end.turn());
        while !ends.is_empty() {
            let mut polled: Vec<_> =
                ends.iter().map(|end| PollFd::from_borrowed_fd(end.fd(), PollFlags::IN)).collect();
            retry_on_intr(|| poll(&mut polled, None)).unwrap();
            let mut are_ready: Vec<_> = polled.iter().map(|polled| !polled.revents().is_empty()).collect();
            drop(polled);
            let mut is_ready = are_ready.drain(..);
            ends.retain_mut(|end| !(is_ready.next().unwrap() && end.turn()));
        }
    });
}

fn in_async_fd<T: AsRawFd + Send + Sync + 'static>(fd: T) -> AsyncFd<T> {
    // SAFETY: neither a notifier nor an `OwnedFd` closes its descriptor, or changes to another one, before it
    // is dropped, and these tests put no other one in its place.
    unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }.unwrap()
}

/// One loop for each, all in one runtime of one thread.
#[test]
fn loop_by_tokio_loses_nothing() {
    beside_publishers(|ends| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let tasks: Vec<_> = ends
            .into_iter()
            .map(|mut end| {
                runtime.spawn(async move {
                    // Beside the notifier, which is not this `dyn` type.
                    let fd = end.fd().try_clone_to_owned().unwrap();
                    let fd = in_async_fd(fd);
                    while !end.turn() {
                        fd.readable().await.unwrap().clear_ready();
                    }
                    end.name()
                })
            })
            .collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
    });
}

/// As the documentation says it: the notifier itself is in the `AsyncFd`.
#[test]
fn notifier_is_in_an_async_fd() {
    const COUNT: u64 = 10_000;
    without_standing_still(|| {
        let (mut producer, consumer) = spsc::channel(4);
        let writer = spawn(move || (0..COUNT).for_each(|number| producer.send(number).unwrap()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let notifier = Notifier::new(consumer).unwrap();
            let mut notifier = in_async_fd(notifier);
            let mut next = 0;
            loop {
                match notifier.get_mut().get_mut().try_recv() {
                    Ok(number) => {
                        assert_eq!(number, next);
                        next += 1;
                    }
                    Err(TryRecvError::Closed) => break,
                    Err(TryRecvError::Empty) => {
                        if notifier.get_mut().arm() == Readiness::Armed {
                            notifier.readable().await.unwrap().clear_ready();
                        }
                    }
                }
            }
            assert_eq!(next, COUNT);
        });
        writer.join().unwrap();
    });
}

/// A loop at which nothing comes sleeps, and one message ends its wait.
#[test]
fn idle_loop_uses_no_core() {
    let (mut publisher, source) = broadcast::lossy(4);
    let mut notifier = Notifier::new(source.subscribe()).unwrap();
    let (waiting, sleeper) = sleeping::spawn(move || {
        let mut wakes = 0;
        loop {
            match notifier.get_mut().try_recv() {
                Err(TryRecvError::Empty) => {}
                found => {
                    assert_eq!(found, Ok(7));
                    return wakes;
                }
            }
            if notifier.arm() == Readiness::Armed {
                retry_on_intr(|| poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None)).unwrap();
                wakes += 1;
            }
        }
    });
    sleeper.await_sleep();
    publisher.publish(7);
    assert_eq!(waiting.join().unwrap(), 1);
}
